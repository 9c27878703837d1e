//! The options that the tool has in common with `carom`.

#[allow(dead_code, reason = "the tool `carom` uses more of it")]
#[path = "../../cli/src/read_args.rs"]
pub(crate) mod read_args;
#[allow(dead_code, reason = "the tool `carom` uses more of it")]
#[path = "../../cli/src/world_args.rs"]
pub(crate) mod world_args;

//! Tools that know nothing of collisions: memory, threads, time, SIMD lanes, limits and the checks of inputs.

pub(crate) mod blocking;
pub(crate) mod clock;
pub(crate) mod lanes;
pub(crate) mod limits;
pub(crate) mod memory;
pub(crate) mod reuse;
pub(crate) mod threads;
pub(crate) mod validate;

//! The shaders: their texts, the constants and structures that they share with the host, and the
//! pipelines made from them.
//!
//! A kernel is an entry point of a file in `shaders/`. The file begins with a directive for each
//! file in `shaders/shared/`, called a shared part, from which it takes items: `#import
//! part::{item, ...}`. A shared part that reads variables of the kernel names them in another
//! directive: `#needs params`. The kernel's variables declare its bindings. The host binds to each
//! variable the buffer of the same name.

pub(crate) mod bindings;
pub(crate) mod constants;
mod import;
pub(crate) mod kernels;
pub(crate) mod layout;
#[cfg(test)]
mod tests;

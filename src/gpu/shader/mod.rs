//! The shaders: their sources, the constants and structures that they share with the
//! host, and the pipelines made of them.
//!
//! A kernel is an entry point of a file in `shaders/`. The file begins with the items
//! that it takes from files in `shaders/shared/`: `#import part::{item, ...}`. A shared
//! file that reads variables of the kernel says so: `#needs params`. The kernel's
//! variables declare its bindings; the host binds buffers by their names.

pub(crate) mod bindings;
pub(crate) mod constants;
mod import;
pub(crate) mod kernels;
pub(crate) mod layout;
#[cfg(test)]
mod tests;

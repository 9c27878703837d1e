//! The shaders: their sources, the constants and structures that they share with the host, and the
//! pipelines made from them.
//!
//! A kernel is an entry point of a file in `shaders/`. The file begins with directives for the
//! items that it takes from files in `shaders/shared/`, the shared parts:
//! `#import part::{item, ...}`. A shared part that reads variables of the kernel declares this:
//! `#needs params`. The kernel's variables declare its bindings, and the host binds to each
//! variable the buffer of the same name.

pub(crate) mod bindings;
pub(crate) mod constants;
mod import;
pub(crate) mod kernels;
pub(crate) mod layout;
#[cfg(test)]
mod tests;

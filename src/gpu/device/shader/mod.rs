//! The WGSL compute shaders: their texts, the constants and structures that they share with Rust,
//! and the compute pipelines made from them.
//!
//! A *kernel* is one entry point of a WGSL file in `shaders/`. A *part* is a file in `shaders/shared/` or
//! in a folder `parts`. The line `#import part::{item, ...}` imports items from a part. The line
//! `#needs params` in a part says that it reads the kernel's variable `params`. Each variable of a kernel
//! is bound to the buffer of the same name.

pub(crate) mod bindings;
pub(crate) mod constants;
mod import;
pub(crate) mod kernels;
pub(crate) mod layout;
#[cfg(test)]
mod tests;

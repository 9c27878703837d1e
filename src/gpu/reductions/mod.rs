//! What is made of the list of pairs on the GPU for those who ask for it: each
//! sphere's earliest impact, the sorted list, each sphere's contacts, and what
//! changed since the last step.
//!
//! Each reduction has a file here that makes its buffers and its stage, shaders of the
//! same name, and a twin on the CPU in `src/reduce/`.

mod all;
mod changes;
mod contacts;
mod earliest;
mod maker;
mod sort;
#[cfg(test)]
mod tests;

pub(crate) use all::{Reductions, Wanted};

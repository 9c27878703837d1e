//! The reductions on the GPU, which are computed from the list of pairs if the options of the
//! buffers request them: each sphere's earliest impact, the sorted list, each sphere's contacts,
//! and the changes since the last complete step.
//!
//! Each reduction has a file in this folder that makes its buffers and its stage, shaders of the
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

//! The reductions on the GPU: each sphere's earliest impact, the sorted list, each sphere's
//! contacts, and the changes since the last complete step. They are computed from the list of pairs
//! if the options of the buffers request them.
//!
//! Each reduction has a file in this folder, which makes the reduction's buffers and its stage, and
//! a twin on the CPU in `src/reduce/`. Its shaders in `shaders/` have the name of the reduction,
//! except that the sorted list uses `sort_count.wgsl`, `sort_scatter.wgsl` and `unique.wgsl`.

mod all;
mod changes;
mod contacts;
mod earliest;
mod maker;
mod sort;
#[cfg(test)]
mod tests;

pub(crate) use all::{Reductions, Wanted};

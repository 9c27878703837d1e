//! Reductions on the GPU: results that are computed from the list of touching pairs if the application
//! requests them. The reductions are the earliest impact of each sphere, the sorted list of pairs, the
//! contacts of each sphere, and the changes since the last complete step.
//!
//! Each reduction has one file in this folder, with the reduction's buffers and dispatches, and a CPU twin in
//! `src/reduce/`. The shaders in `shaders/` have the same names. The sorted list is an exception: its shaders
//! are `sort_count.wgsl`, `sort_scatter.wgsl` and `unique.wgsl`.

mod all;
mod changes;
mod contacts;
mod earliest;
mod maker;
mod sort;
#[cfg(test)]
mod tests;

pub(crate) use all::{Reductions, Wanted};

//! Reductions on the GPU: results that are computed from the list of touching pairs on request.
//! They are the earliest impact of each sphere, the sorted list of pairs, the contacts of each
//! sphere, and the changes since the last complete step.
//!
//! Each reduction has a file in this folder for its buffers and dispatches, shaders of the same
//! name in `shaders/`, and a CPU twin in `src/reduce/`. The shaders of the sorted list are
//! `sort_rows.wgsl`, `sort_runs.wgsl` and `unique.wgsl`. Those of the contacts are `contact_rows.wgsl`,
//! `sort_runs.wgsl` and `contacts.wgsl`.

mod all;
mod changes;
mod contacts;
mod earliest;
mod maker;
mod sort;
#[cfg(test)]
mod tests;

pub(crate) use all::{ReduceKernels, Reductions, Wanted};

//! Reductions: results computed from the list of pairs. The code in this folder runs on the host,
//! and is the reference for the shaders of the same names.

pub(crate) mod changes;
pub(crate) mod contacts;
pub(crate) mod earliest;
pub(crate) mod rows;
pub(crate) mod sort;

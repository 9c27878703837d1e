//! Results that are computed from the list of pairs (reductions). This code runs on the host, and
//! is the reference for the shaders of the same names.

pub(crate) mod changes;
pub(crate) mod contacts;
pub(crate) mod earliest;
pub(crate) mod rows;
pub(crate) mod sort;

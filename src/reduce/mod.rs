//! Reductions on the host: results that are computed from the list of pairs. They are the reference
//! for the shaders of the same names.

pub(crate) mod changes;
pub(crate) mod contacts;
pub(crate) mod earliest;
pub(crate) mod rows;
pub(crate) mod sort;

//! What is made of a list of pairs: on the host, and the reference for the shaders of
//! the same names.

pub(crate) mod changes;
pub(crate) mod contacts;
pub(crate) mod earliest;
pub(crate) mod rows;
pub(crate) mod sort;

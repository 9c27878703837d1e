//! Results that the CPU computes from the list of pairs, such as the contacts of each sphere. They
//! are the reference for the shaders of the same names.

pub(crate) mod changes;
pub(crate) mod contacts;
pub(crate) mod earliest;
pub(crate) mod rows;
pub(crate) mod sort;

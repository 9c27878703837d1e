//! Results that the CPU computes from the list of pairs, such as the contacts of each sphere. The
//! tests compare the shaders of the same names with them.

pub(crate) mod changes;
pub(crate) mod contacts;
pub(crate) mod earliest;
pub(crate) mod rows;
pub(crate) mod sort;

//! The results on the device, and their way to the host.

pub(crate) mod capacity;
pub(crate) mod decode;
pub(crate) mod gathering;
pub(crate) mod outputs;
pub(crate) mod pair_list;
pub(crate) mod read_layout;
pub(crate) mod read_now;
pub(crate) mod read_results;
pub(crate) mod staging;
pub(crate) mod status;
pub(crate) mod summary;
pub(crate) mod ticket;

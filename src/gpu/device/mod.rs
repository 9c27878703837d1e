//! The device, and what runs on it: buffers by name, kernels, dispatches and timestamps.

pub(crate) mod allocator;
pub(crate) mod context;
pub(crate) mod device_kernels;
pub(crate) mod dispatch;
pub(crate) mod named_buffers;
pub(crate) mod shader;
pub(crate) mod timing;

//! What a step reads: spheres in buffers of the application or on the host, and their upload.

pub(crate) mod bind_cache;
pub(crate) mod bound_spheres;
pub(crate) mod device_spheres;
pub(crate) mod device_step;
pub(crate) mod host_step;
pub(crate) mod load;
pub(crate) mod upload;

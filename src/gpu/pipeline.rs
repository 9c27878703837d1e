//! The public type `CollisionPipeline`: carom's shaders, compiled for one device.

use std::sync::Arc;

use crate::Error;
use crate::gpu::collide::buffers::BufferCapacity;
use crate::gpu::collide::collision_buffers::CollisionBuffers;
use crate::gpu::collide::options::BufferOptions;
use crate::gpu::device::context::{Context, Late};
use crate::gpu::device::device_kernels::DeviceKernels;

/// carom's shaders, compiled for one device, for any number of worlds of spheres. Clones share the
/// compiled shaders.
#[derive(Clone)]
pub struct CollisionPipeline {
    pub(super) kernels: Arc<DeviceKernels>,
}

impl std::fmt::Debug for CollisionPipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CollisionPipeline")
            .field("device", &self.kernels.context.device)
            .finish_non_exhaustive()
    }
}

/// No limit above `wgpu::Limits::default()` is needed.
fn check_limits(limits: &wgpu::Limits) -> Result<(), Error> {
    let least = [
        (
            "max_storage_buffers_per_shader_stage",
            limits.max_storage_buffers_per_shader_stage,
            8,
        ),
        (
            "max_bindings_per_bind_group",
            limits.max_bindings_per_bind_group,
            9,
        ),
        (
            "max_uniform_buffers_per_shader_stage",
            limits.max_uniform_buffers_per_shader_stage,
            2,
        ),
        (
            "max_compute_invocations_per_workgroup",
            limits.max_compute_invocations_per_workgroup,
            256,
        ),
        (
            "max_compute_workgroup_size_x",
            limits.max_compute_workgroup_size_x,
            256,
        ),
        (
            "max_compute_workgroup_storage_size",
            limits.max_compute_workgroup_storage_size,
            16_384,
        ),
        (
            "max_compute_workgroups_per_dimension",
            limits.max_compute_workgroups_per_dimension,
            65_535,
        ),
    ];
    for (limit, available, needed) in least {
        if available < needed {
            return Err(Error::DeviceTooSmall {
                limit,
                needed: needed.into(),
                available: available.into(),
            });
        }
    }
    Ok(())
}

impl CollisionPipeline {
    /// Compiles carom's shaders for a device, without blocking the thread.
    ///
    /// In a browser, if the device refuses a shader, only a later call returns the error.
    /// [`new_async`](Self::new_async) waits for the error instead.
    ///
    /// # Errors
    /// Returns one of these errors:
    /// - [`Error::DeviceTooSmall`] if a limit of the device is too small.
    /// - [`Error::DeviceLost`] if the device is lost.
    /// - [`Error::Device`] if the device refuses a shader.
    pub fn new(device: &wgpu::Device) -> Result<Self, Error> {
        let context = Arc::new(Context::new(device));
        check_limits(&context.limits)?;
        context.scoped_for(&context.shaders, || Self::compile(&context))
    }

    /// Compiles carom's shaders as [`new`](Self::new) does, and waits until the device has accepted
    /// them.
    ///
    /// # Errors
    /// Returns the same errors as [`new`](Self::new).
    pub async fn new_async(device: &wgpu::Device) -> Result<Self, Error> {
        let context = Arc::new(Context::new(device));
        check_limits(&context.limits)?;
        context.scoped_async(|| Self::compile(&context)).await
    }

    fn compile(context: &Arc<Context>) -> Result<Self, Error> {
        let kernels = DeviceKernels::new(context.clone())?;
        context.probe()?;
        Ok(Self {
            kernels: Arc::new(kernels),
        })
    }

    /// Creates carom's GPU buffers for one world of spheres, without blocking the thread.
    ///
    /// In a browser, if the device is out of memory, only a later call returns the error.
    /// [`create_buffers_async`](Self::create_buffers_async) waits for the error instead.
    ///
    /// # Errors
    /// Returns one of these errors:
    /// - [`Error::ZeroCapacity`] if `options` has a capacity of 0 for spheres or for recordings.
    /// - [`Error::NotAskedFor`] for a capacity for wall collisions without walls or triangles, or for times of kernels
    ///   without the period of timestamps.
    /// - [`Error::TooManySpheres`] if `options` has more spheres than carom supports.
    /// - [`Error::DeviceLimit`] if a buffer would exceed a limit of the device.
    /// - [`Error::DeviceLost`] if the device is lost.
    /// - [`Error::Device`] if the device is out of memory.
    pub fn create_buffers(&self, options: &BufferOptions) -> Result<CollisionBuffers, Error> {
        self.with_capacity(options, options.capacity(), &Late::default())
    }

    /// Creates buffers as [`create_buffers`](Self::create_buffers) does, and waits until the device
    /// has created them.
    ///
    /// # Errors
    /// Returns the same errors as [`create_buffers`](Self::create_buffers).
    pub async fn create_buffers_async(
        &self,
        options: &BufferOptions,
    ) -> Result<CollisionBuffers, Error> {
        let context = &self.kernels.context;
        context.alive()?;
        let (kernels, capacity) = (self.kernels.clone(), options.capacity());
        context
            .scoped_async(|| CollisionBuffers::new(kernels, options.clone(), capacity))
            .await
    }

    pub(super) fn with_capacity(
        &self,
        options: &BufferOptions,
        capacity: BufferCapacity,
        late: &Late,
    ) -> Result<CollisionBuffers, Error> {
        let context = &self.kernels.context;
        context.alive()?;
        let kernels = self.kernels.clone();
        let make = || CollisionBuffers::new(kernels, options.clone(), capacity);
        let mut buffers = context.scoped_for(late, make)?;
        buffers.late = late.clone();
        Ok(buffers)
    }
}

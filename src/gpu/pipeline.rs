//! The shaders, compiled for one device.

use std::sync::Arc;

use super::buffers::Capacity;
use super::collision_buffers::CollisionBuffers;
use super::context::Context;
use super::device_kernels::DeviceKernels;
use super::options::BufferOptions;
use crate::Error;

/// carom's shaders, compiled for a device. One is enough for any number of worlds;
/// clones are the same pipeline.
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

/// What the shaders need of a device: no more than `wgpu::Limits::default()` has.
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
    /// Compiles the shaders. Never blocks: in a browser, which reports errors late, a
    /// refused shader is an error of a later call; [`new_async`](Self::new_async) waits.
    ///
    /// # Errors
    /// [`Error::DeviceTooSmall`] names a limit that the device lacks;
    /// [`Error::DeviceLost`]; [`Error::Device`] if it refuses a shader.
    pub fn new(device: &wgpu::Device) -> Result<Self, Error> {
        let context = Arc::new(Context::new(device));
        check_limits(&context.limits)?;
        context.scoped(|| Self::compile(&context))
    }

    /// [`new`](Self::new), which waits until the device has accepted the shaders.
    ///
    /// # Errors
    /// As [`new`](Self::new).
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

    /// Makes the buffers of one world. Never blocks: in a browser, which reports errors
    /// late, memory that runs out is an error of a later call;
    /// [`create_buffers_async`](Self::create_buffers_async) waits.
    ///
    /// # Errors
    /// [`Error::ZeroCapacity`]; [`Error::TooManySpheres`]; [`Error::DeviceLimit`] if the
    /// device cannot hold as much; [`Error::DeviceLost`]; [`Error::Device`], when it is
    /// out of memory.
    pub fn create_buffers(&self, options: &BufferOptions) -> Result<CollisionBuffers, Error> {
        self.with_capacity(options, options.capacity())
    }

    /// [`create_buffers`](Self::create_buffers), which waits until the device has made
    /// the buffers.
    ///
    /// # Errors
    /// As [`create_buffers`](Self::create_buffers).
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

    /// The buffers of one world with just so much room.
    pub(super) fn with_capacity(
        &self,
        options: &BufferOptions,
        capacity: Capacity,
    ) -> Result<CollisionBuffers, Error> {
        let context = &self.kernels.context;
        context.alive()?;
        let kernels = self.kernels.clone();
        context.scoped(|| CollisionBuffers::new(kernels, options.clone(), capacity))
    }
}

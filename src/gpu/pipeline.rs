//! What is made once for a device.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use wgpu::DeviceType;

use super::buffers::Capacity;
use super::collision_buffers::CollisionBuffers;
use super::dispatch::Binder;
use super::options::BufferOptions;
use super::scoped;
use super::shader::kernels::{Gather, Load, Reduce, Stages};
use crate::Error;

/// carom's shaders, compiled for a device. One is enough for any number of worlds;
/// clones are the same pipeline.
#[derive(Clone)]
pub struct CollisionPipeline {
    pub(super) shared: Arc<Shared>,
}

/// What a pipeline and all of its buffers have in common.
pub(super) struct Shared {
    pub(super) device: wgpu::Device,
    pub(super) limits: wgpu::Limits,
    /// Whether the adapter is one in software.
    pub(super) software: bool,
    pub(super) stages: Stages,
    pub(super) load: Load,
    pub(super) gather: Gather,
    /// Compiled when one is asked for.
    reduce: OnceLock<Reduce>,
    /// Set when a mapping fails, as it does when the device is lost.
    pub(super) lost: AtomicBool,
}

impl Shared {
    pub(super) fn binder(&self) -> Binder<'_> {
        Binder {
            device: &self.device,
            widest: self.limits.max_compute_workgroups_per_dimension,
        }
    }

    pub(super) fn reduce(&self) -> Result<&Reduce, Error> {
        if let Some(reduce) = self.reduce.get() {
            return Ok(reduce);
        }
        let reduce = Reduce::new(&self.device)?;
        Ok(self.reduce.get_or_init(|| reduce))
    }

    /// To be called when a buffer could not be mapped: as a rule because the device is
    /// lost.
    pub(super) fn mapping_failed(&self) {
        // It is remembered; there is nobody to tell.
        let _ = scoped(&self.device, || self.probe());
    }

    /// An error once the device is known to be lost.
    pub(super) fn alive(&self) -> Result<(), Error> {
        if self.lost.load(Relaxed) {
            return Err(Error::DeviceLost);
        }
        Ok(())
    }

    /// An error if the device is lost: a new buffer that cannot be mapped tells.
    pub(super) fn probe(&self) -> Result<(), Error> {
        self.alive()?;
        let probe = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("carom probe"),
            size: 8,
            usage: wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: true,
        });
        if probe.get_mapped_range_mut(..).is_err() {
            self.lost.store(true, Relaxed);
        }
        self.alive()
    }
}

impl std::fmt::Debug for CollisionPipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CollisionPipeline")
            .field("device", &self.shared.device)
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
    /// Compiles the shaders.
    ///
    /// # Errors
    /// [`Error::DeviceTooSmall`] names a limit that the device lacks;
    /// [`Error::DeviceLost`]; [`Error::Device`] if it refuses a shader.
    pub fn new(device: &wgpu::Device) -> Result<Self, Error> {
        let limits = device.limits();
        check_limits(&limits)?;
        let shared = scoped(device, || {
            Ok(Shared {
                stages: Stages::new(device)?,
                load: Load::new(device)?,
                gather: Gather::new(device)?,
                reduce: OnceLock::new(),
                software: device.adapter_info().device_type == DeviceType::Cpu,
                device: device.clone(),
                limits,
                lost: AtomicBool::new(false),
            })
        })?;
        scoped(device, || shared.probe())?;
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// Makes the buffers of one world.
    ///
    /// # Errors
    /// [`Error::ZeroCapacity`]; [`Error::DeviceLimit`] if the device cannot hold as
    /// much; [`Error::DeviceLost`]; [`Error::Device`], when it is out of memory.
    pub fn create_buffers(&self, options: &BufferOptions) -> Result<CollisionBuffers, Error> {
        self.with_capacity(options, options.capacity())
    }

    /// The same with just so much room.
    pub(super) fn with_capacity(
        &self,
        options: &BufferOptions,
        capacity: Capacity,
    ) -> Result<CollisionBuffers, Error> {
        scoped(&self.shared.device, || self.shared.probe())?;
        CollisionBuffers::new(self.shared.clone(), options.clone(), capacity)
    }
}

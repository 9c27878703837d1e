//! The application's own wgpu device, which carom and the renderer share.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, bail};

use carom::gpu::wgpu;
use wgpu::DeviceType;

pub(crate) struct Gpu {
    pub(crate) adapter: wgpu::Adapter,
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    failure: Arc<Mutex<Option<String>>>,
}

impl Gpu {
    /// Opens a wgpu device on the best adapter. Hardware adapters are better than software adapters. With a
    /// `surface`, considers only adapters that can present to it.
    pub(crate) fn open(
        instance: &wgpu::Instance,
        surface: Option<&wgpu::Surface<'_>>,
    ) -> anyhow::Result<Self> {
        let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
        adapters
            .retain(|adapter| surface.is_none_or(|surface| adapter.is_surface_supported(surface)));
        adapters.sort_by_key(|adapter| rank(adapter.get_info().device_type));
        let adapter = adapters.into_iter().next().context(
            "no graphics adapter was found; install a driver (Mesa's software driver suffices)",
        )?;
        let offered = adapter.limits();
        let (device, queue) =
            pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
                label: Some("embed"),
                // wgpu's default limits suffice for carom, but larger buffers allow more spheres.
                required_limits: wgpu::Limits {
                    max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
                    max_buffer_size: offered.max_buffer_size,
                    max_texture_dimension_2d: offered.max_texture_dimension_2d,
                    ..wgpu::Limits::default()
                },
                ..wgpu::DeviceDescriptor::default()
            }))?;
        // Without an error handler, wgpu panics on an error that no error scope catches.
        let failure = Arc::new(Mutex::new(None));
        let keep = |failure: &Arc<Mutex<Option<String>>>| {
            let failure = Arc::clone(failure);
            move |message| {
                let mut first = failure.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert(message);
            }
        };
        let tell = keep(&failure);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| tell(error.to_string())));
        let tell = keep(&failure);
        device.set_device_lost_callback(move |reason, message| {
            // wgpu also calls the device-lost callback when the device is destroyed on purpose.
            if reason != wgpu::DeviceLostReason::Destroyed {
                tell(format!("the device is lost: {message}"));
            }
        });
        Ok(Self {
            adapter,
            device,
            queue,
            failure,
        })
    }

    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        match &*failure {
            Some(message) => bail!("{message}"),
            None => Ok(()),
        }
    }

    pub(crate) fn name(&self) -> String {
        let info = self.adapter.get_info();
        format!("{} ({})", info.name, info.backend)
    }
}

/// Returns the rank of a type of graphics adapter, 0 for the best.
fn rank(kind: DeviceType) -> u32 {
    match kind {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    }
}

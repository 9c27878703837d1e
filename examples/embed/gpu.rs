//! The application's own wgpu device, which carom and the renderer share.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::bail;

use carom::gpu::wgpu;

pub(crate) struct Gpu {
    pub(crate) adapter: wgpu::Adapter,
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    failure: Arc<Mutex<Option<String>>>,
}

impl Gpu {
    /// Opens the device of an adapter.
    pub(crate) async fn new(adapter: wgpu::Adapter) -> anyhow::Result<Self> {
        let offered = adapter.limits();
        let asked = wgpu::DeviceDescriptor {
            label: Some("embed"),
            // wgpu's default limits suffice for carom, but larger buffers allow more spheres.
            required_limits: wgpu::Limits {
                max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
                max_buffer_size: offered.max_buffer_size,
                max_texture_dimension_2d: offered.max_texture_dimension_2d,
                ..wgpu::Limits::default()
            },
            ..wgpu::DeviceDescriptor::default()
        };
        let (device, queue) = adapter.request_device(&asked).await?;
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

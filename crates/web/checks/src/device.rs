//! A device of the browser, with the buffers of some worlds.

use std::mem::offset_of;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use carom::gpu::{
    Attribute, BufferOptions, CollisionBuffers, CollisionPipeline, DeviceSpheres, ExactCollisions,
    RecordableSpheres, wgpu,
};
use carom::{Error, Sphere, Step};
use wasm_bindgen::{JsCast, JsValue};

use crate::{Checked, text};

pub(crate) struct Device {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) pipeline: CollisionPipeline,
}

impl Device {
    /// With the default limits.
    pub(crate) async fn open() -> Checked<Self> {
        let (device, queue) = Self::bare().await?;
        let pipeline = CollisionPipeline::new_async(&device).await.map_err(text)?;
        Ok(Self {
            device,
            queue,
            pipeline,
        })
    }

    pub(crate) async fn bare() -> Checked<(wgpu::Device, wgpu::Queue)> {
        let descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        let instance = wgpu::Instance::new(descriptor);
        let adapter = instance.request_adapter(&Default::default()).await;
        let adapter = adapter.map_err(|error| format!("no adapter: {error}"))?;
        adapter
            .request_device(&Default::default())
            .await
            .map_err(text)
    }

    pub(crate) fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&Default::default())
    }

    pub(crate) async fn buffers(&self, options: &BufferOptions) -> Checked<CollisionBuffers> {
        self.pipeline
            .create_buffers_async(options)
            .await
            .map_err(text)
    }

    pub(crate) fn filled(&self, bytes: &[u8]) -> wgpu::Buffer {
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: bytes.len() as u64,
            usage: wgpu::BufferUsages::STORAGE
                | wgpu::BufferUsages::COPY_SRC
                | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.queue.write_buffer(&buffer, 0, bytes);
        buffer
    }

    /// The words of a buffer that is a copy source.
    pub(crate) async fn read(&self, buffer: &wgpu::Buffer) -> Checked<Vec<u32>> {
        let copy = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: buffer.size(),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = self.encoder();
        encoder.copy_buffer_to_buffer(buffer, 0, &copy, 0, buffer.size());
        self.queue.submit([encoder.finish()]);
        let arrived = Arc::new(AtomicBool::new(false));
        let tell = arrived.clone();
        copy.map_async(wgpu::MapMode::Read, .., move |_| tell.store(true, SeqCst));
        while !arrived.load(SeqCst) {
            pause().await?;
        }
        let mapped = copy.get_mapped_range(..).map_err(text)?;
        Ok(bytemuck::pod_collect_to_vec(&mapped))
    }

    /// Runs a step, and returns its exact list. Grows the buffers as often as necessary.
    pub(crate) async fn exact<S: RecordableSpheres>(
        &self,
        buffers: &mut CollisionBuffers,
        step: &Step<'_, S>,
    ) -> Result<ExactCollisions, Error> {
        let mut attempts = 0;
        loop {
            let mut encoder = self.encoder();
            buffers.record(&mut encoder, step)?;
            let ticket = buffers.read_exact(&mut encoder)?;
            self.queue.submit([encoder.finish()]);
            attempts += 1;
            match ticket.take().await {
                Err(Error::Truncated { required, .. }) if attempts < 6 => {
                    buffers.grow_async(&required).await?;
                }
                found => return found,
            }
        }
    }
}

/// Returns to the event loop of the browser.
pub(crate) async fn pause() -> Checked {
    let soon = js_sys::Promise::new(&mut |resolve, _| {
        let global = js_sys::global();
        let set = js_sys::Reflect::get(&global, &JsValue::from_str("setTimeout"));
        if let Some(set) = set
            .ok()
            .and_then(|set| set.dyn_into::<js_sys::Function>().ok())
        {
            let _ = set.call1(&global, &resolve);
        }
    });
    let waited = wasm_bindgen_futures::JsFuture::from(soon).await;
    waited.map(drop).map_err(|error| format!("{error:?}"))
}

/// Spheres in a buffer, in the layout of [`Sphere`].
pub(crate) fn interleaved(buffer: &wgpu::Buffer, count: usize) -> DeviceSpheres<'_> {
    let at = |offset: usize| Attribute::new(buffer, offset as u64, size_of::<Sphere>() as u64);
    let (center, radius) = (
        at(offset_of!(Sphere, center)),
        at(offset_of!(Sphere, radius)),
    );
    DeviceSpheres::new(count as u32, center, radius)
        .with_velocity(at(offset_of!(Sphere, velocity)))
        .with_groups(at(offset_of!(Sphere, groups)))
}

//! A wgpu device of an application, which records the errors that reach the application's error handler.

#![allow(
    dead_code,
    reason = "shared by several tests, each of which uses a part"
)]

use std::mem::offset_of;
use std::sync::{Arc, Mutex, OnceLock};

use carom::gpu::{
    Attribute, BufferOptions, CollisionBuffers, CollisionPipeline, DeviceSpheres, ExactCollisions,
    RecordableSpheres, Ticket, wgpu,
};
use carom::{Error, Sphere, Step};
use wgpu::util::DeviceExt;

pub(crate) struct Device {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    complaints: Arc<Mutex<Vec<String>>>,
    pipeline: OnceLock<CollisionPipeline>,
    /// Whether other tests may use the device afterwards.
    serves_again: bool,
}

/// Devices that no test uses now. A software adapter takes seconds to compile the shaders for a new one. No two tests use
/// one at the same time, because a thread that submits or polls may run the callbacks of others.
static IDLE: Mutex<Vec<Device>> = Mutex::new(Vec::new());

impl Drop for Device {
    fn drop(&mut self) {
        if self.serves_again
            && !std::thread::panicking()
            && let Ok(mut idle) = IDLE.lock()
        {
            idle.push(Self {
                device: self.device.clone(),
                queue: self.queue.clone(),
                complaints: self.complaints.clone(),
                pipeline: self.pipeline.clone(),
                serves_again: true,
            });
        }
    }
}

impl Device {
    pub(crate) fn with(device: wgpu::Device, queue: wgpu::Queue) -> Self {
        let complaints = Arc::new(Mutex::new(Vec::new()));
        let heard = complaints.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            if let Ok(mut heard) = heard.lock() {
                heard.push(error.to_string());
            }
        }));
        Self {
            device,
            queue,
            complaints,
            pipeline: OnceLock::new(),
            serves_again: false,
        }
    }

    /// Returns a device of the first Vulkan, Metal or DX12 adapter, possibly a software adapter. It may have served other
    /// tests of the program before.
    pub(crate) fn real() -> Self {
        let idle = IDLE.lock().ok().and_then(|mut idle| idle.pop());
        idle.unwrap_or_else(|| {
            let mut device = Self::with_limits(wgpu::Limits::default());
            device.serves_again = true;
            device
        })
    }

    /// The device has passed the self-test of this pipeline, unless it computes nothing.
    pub(crate) fn pipeline(&self) -> CollisionPipeline {
        let make = || {
            let pipeline = CollisionPipeline::new(&self.device).expect("the pipeline");
            let made = pipeline.create_buffers(&BufferOptions::new(1));
            let mut encoder = self.encoder();
            let recorded =
                made.and_then(|mut made| made.record(&mut encoder, &Step::new(&[], 1.0)));
            recorded.expect("a recording");
            self.queue.submit([encoder.finish()]);
            self.wait();
            pipeline
        };
        self.pipeline.get_or_init(make).clone()
    }

    pub(crate) fn with_limits(required_limits: wgpu::Limits) -> Self {
        let descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
        let instance = wgpu::Instance::new(descriptor);
        let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
        let Some(adapter) = adapters.into_iter().next() else {
            panic!("this test needs a graphics adapter");
        };
        let features = adapter.features() & wgpu::Features::TIMESTAMP_QUERY;
        let request = adapter.request_device(&wgpu::DeviceDescriptor {
            required_features: features,
            required_limits,
            ..Default::default()
        });
        let (device, queue) = pollster::block_on(request)
            .unwrap_or_else(|error| panic!("the adapter gives no device: {error}"));
        Self::with(device, queue)
    }

    /// Returns a device of wgpu's noop backend, which validates every call and computes nothing.
    pub(crate) fn noop(descriptor: &wgpu::DeviceDescriptor<'_>) -> Self {
        let (device, queue) = wgpu::Device::noop(descriptor);
        Self::with(device, queue)
    }

    pub(crate) fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&Default::default())
    }

    pub(crate) fn words(&self, words: &[u32]) -> wgpu::Buffer {
        self.device
            .create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: None,
                contents: bytemuck::cast_slice(words),
                usage: wgpu::BufferUsages::STORAGE
                    | wgpu::BufferUsages::COPY_SRC
                    | wgpu::BufferUsages::COPY_DST,
            })
    }

    pub(crate) fn wait(&self) {
        if let Err(error) = self.device.poll(wgpu::PollType::wait_indefinitely()) {
            panic!("{error}");
        }
    }

    pub(crate) fn finish<T>(
        &self,
        encoder: wgpu::CommandEncoder,
        mut ticket: Ticket<T>,
    ) -> Result<Option<T>, Error> {
        self.queue.submit([encoder.finish()]);
        self.wait();
        ticket.try_take()
    }

    pub(crate) fn read(&self, buffer: &wgpu::Buffer) -> Vec<u32> {
        let copy = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: buffer.size(),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = self.encoder();
        encoder.copy_buffer_to_buffer(buffer, 0, &copy, 0, buffer.size());
        self.queue.submit([encoder.finish()]);
        copy.map_async(wgpu::MapMode::Read, .., |_| {});
        self.wait();
        match copy.get_mapped_range(..) {
            Ok(mapped) => bytemuck::pod_collect_to_vec(&mapped),
            Err(error) => panic!("{error}"),
        }
    }

    pub(crate) fn assert_silent(&self) {
        let complaints = self.complaints.lock().map(|heard| heard.clone());
        assert_eq!(complaints.unwrap_or_default(), Vec::<String>::new());
    }
}

/// A device buffer of spheres, each in the memory layout of [`Sphere`].
pub(crate) struct Interleaved {
    pub(crate) buffer: wgpu::Buffer,
    pub(crate) count: u32,
}

impl Interleaved {
    pub(crate) fn new(device: &Device, spheres: &[Sphere]) -> Self {
        let words: &[u32] = bytemuck::cast_slice(spheres);
        Self {
            // wgpu cannot bind a buffer of size 0, so an empty list of spheres gets a buffer with one
            // sphere.
            buffer: device.words(if words.is_empty() { &[0; 8] } else { words }),
            count: u32::try_from(spheres.len()).unwrap_or(u32::MAX),
        }
    }

    pub(crate) fn spheres(&self) -> DeviceSpheres<'_> {
        self.first(self.count)
    }

    pub(crate) fn first(&self, count: u32) -> DeviceSpheres<'_> {
        let at =
            |offset: usize| Attribute::new(&self.buffer, offset as u64, size_of::<Sphere>() as u64);
        DeviceSpheres::new(
            count,
            at(offset_of!(Sphere, center)),
            at(offset_of!(Sphere, radius)),
        )
        .with_velocity(at(offset_of!(Sphere, velocity)))
        .with_groups(at(offset_of!(Sphere, groups)))
    }
}

/// Returns what a ticket has returned as ready.
pub(crate) fn ready<T>(taken: Result<Option<T>, Error>) -> T {
    match taken {
        Ok(Some(value)) => value,
        Ok(None) => panic!("not ready"),
        Err(error) => panic!("{error}"),
    }
}

/// Runs a time step on the device and returns its exact list of collisions. Grows carom's buffers
/// as often as necessary.
pub(crate) fn exact<S: RecordableSpheres>(
    device: &Device,
    buffers: &mut CollisionBuffers,
    step: &Step<'_, S>,
) -> ExactCollisions {
    let mut attempt = || {
        let mut encoder = device.encoder();
        buffers.record(&mut encoder, step)?;
        let ticket = buffers.read_exact(&mut encoder)?;
        let list = device.finish(encoder, ticket);
        if let Err(Error::Truncated { required, .. }) = &list {
            buffers.grow(required)?;
        }
        list
    };
    // Each attempt that fails enlarges the buffers that were too small. At most three attempts fail: one
    // because there are too many spheres, one because there are too many time segments (parts of long paths),
    // and one because there are too many pairs.
    for _ in 0..4 {
        match attempt() {
            Err(Error::Truncated { .. }) => {}
            list => return ready(list),
        }
    }
    panic!("the buffers are still too small after four attempts")
}

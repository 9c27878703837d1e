//! Hard spheres on the GPU of the page, in buffers that the page can use.

use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::cast_slice;
use carom::gpu::{
    Attribute, CollisionPipeline, DeviceSpheres, SimulationBufferOptions, SimulationBuffers,
    SimulationState, wgpu,
};
use js_sys::{Function, Object, Promise, Reflect};
use wasm_bindgen::prelude::*;

use crate::dynamics;
use crate::js::{Fields, Js, error, failed, object};

/// Bytes from one sphere to the next in a buffer.
const STRIDE: u64 = 16;

/// Hard spheres on the GPU, in buffers that the page can use.
#[wasm_bindgen]
pub struct GpuSimulation {
    device: wgpu::Device,
    queue: wgpu::Queue,
    positions: wgpu::Buffer,
    velocities: wgpu::Buffer,
    buffers: SimulationBuffers,
    count: u32,
    lost: Arc<Mutex<Option<String>>>,
}

#[wasm_bindgen]
impl GpuSimulation {
    /// Puts spheres on the GPU: on a `device` of the page, or else on one that is made for them.
    pub async fn create(
        #[wasm_bindgen(unchecked_param_type = "GpuSimulationInput")] input: JsValue,
    ) -> Js<GpuSimulation> {
        let mut known = dynamics::KNOWN.to_vec();
        known.extend(["device", "substeps"]);
        let fields = Fields::new(&input, "GpuSimulation.create", &known)?;
        let (spheres, options) = dynamics::world(&fields)?;
        let substeps = match fields.number("substeps")? {
            None => 3,
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is whole"
            )]
            Some(x) if x.fract() == 0.0 && (1.0..=1000.0).contains(&x) => x as u32,
            Some(_) => return Err(fields.wrong("substeps", "a whole number from 1 to 1000")),
        };
        let (device, queue) = open(fields.get("device")).await?;
        let lost = Arc::new(Mutex::new(None));
        let tell = Arc::clone(&lost);
        device.set_device_lost_callback(move |_, message| {
            let mut first = tell.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert(format!("the device is lost: {message}"));
        });
        let too_many = |_| error("limit", "there are more spheres than a GPU has indices");
        let count = u32::try_from(spheres.len()).map_err(too_many)?;
        let pipeline = CollisionPipeline::new_async(&device)
            .await
            .map_err(failed)?;
        let options = SimulationBufferOptions::new(count)
            .with_substeps(substeps)
            .with_simulation(options);
        let buffers = pipeline
            .create_simulation_async(&options)
            .await
            .map_err(failed)?;
        let filled = |label, of: &dyn Fn(&carom::HardSphere) -> ([f64; 3], f64)| {
            #[allow(clippy::cast_possible_truncation, reason = "rounding is intended")]
            let rounded = spheres.iter().map(|sphere| {
                let ([x, y, z], w) = of(sphere);
                [x, y, z, w].map(|x| x as f32)
            });
            let rounded: Vec<[f32; 4]> = rounded.collect();
            let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
            let buffer = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size: (STRIDE * u64::from(count)).max(STRIDE),
                usage: usage | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::VERTEX,
                mapped_at_creation: false,
            });
            queue.write_buffer(&buffer, 0, cast_slice(&rounded));
            buffer
        };
        Ok(Self {
            positions: filled("positions", &|sphere| (sphere.center, sphere.radius)),
            velocities: filled("velocities", &|sphere| (sphere.velocity, 1.0 / sphere.mass)),
            device,
            queue,
            buffers,
            count,
            lost,
        })
    }

    /// The `GPUDevice`.
    #[wasm_bindgen(getter, unchecked_return_type = "any")]
    pub fn device(&self) -> JsValue {
        let device = self.device.as_webgpu();
        device.map_or(JsValue::NULL, |device| device.clone().into())
    }

    /// The `GPUBuffer` of the positions: x, y, z and the radius of each sphere, in float32. It may be a storage or vertex
    /// buffer.
    #[wasm_bindgen(getter, unchecked_return_type = "any")]
    pub fn positions(&self) -> JsValue {
        handle(&self.positions)
    }

    /// The `GPUBuffer` of the velocities: x, y, z and the inverse mass of each sphere, in float32.
    #[wasm_bindgen(getter, unchecked_return_type = "any")]
    pub fn velocities(&self) -> JsValue {
        handle(&self.velocities)
    }

    /// The number of spheres.
    #[wasm_bindgen(getter)]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Submits a step. What the page submits later sees the spheres after it. Returns false, and does nothing, while the GPU
    /// still has too many earlier steps to do.
    pub fn step(&mut self, duration: f32) -> Js<bool> {
        self.alive()?;
        let spheres = DeviceSpheres::new(
            self.count,
            Attribute::new(&self.positions, 0, STRIDE),
            Attribute::new(&self.positions, 12, STRIDE),
        )
        .with_velocity(Attribute::new(&self.velocities, 0, STRIDE))
        .with_inverse_mass(Attribute::new(&self.velocities, 12, STRIDE));
        let mut encoder = self.device.create_command_encoder(&Default::default());
        match self.buffers.record(&mut encoder, &spheres, duration) {
            Ok(()) => {}
            Err(carom::Error::TooManyInFlight { .. }) => return Ok(false),
            Err(cause) => return Err(failed(cause)),
        }
        self.queue.submit([encoder.finish()]);
        Ok(true)
    }

    /// Waits for the steps submitted so far, and returns the time reached and the number of impacts.
    #[wasm_bindgen(unchecked_return_type = "Promise<GpuState>")]
    pub fn state(&mut self) -> Js<Promise> {
        self.alive()?;
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let ticket = self.buffers.read_state(&mut encoder).map_err(failed)?;
        self.queue.submit([encoder.finish()]);
        Ok(wasm_bindgen_futures::future_to_promise(async move {
            let state = ticket.take().await.map_err(failed)?;
            Ok(described(&state).into())
        }))
    }

    fn alive(&self) -> Js {
        match &*self.lost.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(message) => Err(error("device", message)),
            None => Ok(()),
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "counts below 2^53")]
fn described(state: &SimulationState) -> Object {
    object([
        ("time", state.time.into()),
        ("remaining", state.remaining.into()),
        ("sphereImpacts", (state.sphere_impacts as f64).into()),
        ("wallImpacts", (state.wall_impacts as f64).into()),
    ])
}

fn handle(buffer: &wgpu::Buffer) -> JsValue {
    let buffer = buffer.as_webgpu();
    buffer.map_or(JsValue::NULL, |buffer| buffer.clone().into())
}

/// Opens a device. wgpu takes no device of a page, but asks `navigator.gpu` for an adapter, and the adapter for a device. So
/// while it asks, `navigator.gpu` has an adapter that lends the page's device.
async fn open(lent: Option<JsValue>) -> Js<(wgpu::Device, wgpu::Queue)> {
    let no_device =
        |cause: &dyn std::fmt::Display| error("device", &format!("there is no GPU: {cause}"));
    let descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    let instance = wgpu::Instance::new(descriptor);
    let options = wgpu::RequestAdapterOptions::default();
    let asked = match lent {
        None => instance.request_adapter(&options),
        Some(device) => {
            let gpu = Reflect::get(&js_sys::global(), &"navigator".into())?;
            let gpu = Reflect::get(&gpu, &"gpu".into())?;
            let name: JsValue = "requestAdapter".into();
            let function = Closure::once_into_js(move || Promise::resolve(&lender(&device)));
            Reflect::set(&gpu, &name, &function)?;
            // This calls the function at once, and nothing else can call it.
            let asked = instance.request_adapter(&options);
            Reflect::delete_property(gpu.unchecked_ref::<Object>(), &name)?;
            asked
        }
    };
    let adapter = asked.await.map_err(|cause| no_device(&cause))?;
    let device = adapter.request_device(&wgpu::DeviceDescriptor::default());
    device.await.map_err(|cause| no_device(&cause))
}

/// Returns an adapter that has one device.
fn lender(device: &JsValue) -> Object {
    let field = |name: &str| Reflect::get(device, &name.into()).unwrap_or_default();
    let (limits, features, info) = (field("limits"), field("features"), field("adapterInfo"));
    let device = device.clone();
    let function = Closure::<dyn FnMut() -> Promise>::new(move || Promise::resolve(&device));
    let function: Function = function.into_js_value().unchecked_into();
    object([
        ("limits", limits),
        ("features", features),
        ("info", info),
        ("requestDevice", function.into()),
    ])
}

//! What only the page uses: the start of its world, the camera, and the world on the GPU.

use carom::gpu::wgpu;
use js_sys::{Float32Array, Object, Uint32Array};
use wasm_bindgen::prelude::*;
use web_sys::HtmlCanvasElement;

use crate::camera::Camera;
use crate::draw::Drawing;
use crate::gpu::Gpu;
use crate::js::{Js, error, object};
use crate::simulation::{Rules, Simulation, World};
use crate::start;

/// Simulated time of a step, in seconds.
const DT: f32 = 1.0 / 60.0;

fn failed(cause: &anyhow::Error) -> JsValue {
    error("device", &format!("{cause:#}"))
}

/// The spheres, box and torus with which the page begins.
#[wasm_bindgen]
pub struct Scene(World);

#[wasm_bindgen]
impl Scene {
    /// `mix` is the fraction by which the smallest radius is smaller than the largest.
    #[wasm_bindgen(constructor)]
    pub fn new(count: u32, mix: f32, seed: u32) -> Js<Scene> {
        let made = start::world(count.max(1), mix.clamp(0.0, 0.9), seed.into());
        Ok(Self(made.map_err(|error| failed(&error))?))
    }

    /// Half the sides of the box.
    #[wasm_bindgen(getter)]
    pub fn half(&self) -> Float32Array {
        Float32Array::from(&self.0.half[..])
    }

    /// Position and radius, four numbers for each sphere.
    #[wasm_bindgen(getter)]
    pub fn positions(&self) -> Float32Array {
        Float32Array::from(self.0.positions.as_flattened())
    }

    /// Velocity and inverse mass, four numbers for each sphere.
    #[wasm_bindgen(getter)]
    pub fn velocities(&self) -> Float32Array {
        Float32Array::from(self.0.velocities.as_flattened())
    }

    #[wasm_bindgen(getter)]
    pub fn vertices(&self) -> Float32Array {
        let meshes = self.0.walls.meshes().iter();
        let all: Vec<f32> = meshes
            .flat_map(|mesh| mesh.vertices().as_flattened())
            .copied()
            .collect();
        Float32Array::from(&*all)
    }

    #[wasm_bindgen(getter)]
    pub fn triangles(&self) -> Uint32Array {
        let meshes = self.0.walls.meshes().iter();
        let all: Vec<u32> = meshes
            .flat_map(|mesh| mesh.triangles().as_flattened())
            .copied()
            .collect();
        Uint32Array::from(&*all)
    }
}

/// The camera, which drawings on the GPU and in WebGL share.
#[wasm_bindgen]
pub struct View(Camera);

#[wasm_bindgen]
impl View {
    #[wasm_bindgen(constructor)]
    pub fn new(x: f32, y: f32, z: f32) -> View {
        Self(Camera::new([x, y, z]))
    }

    pub fn drag(&mut self, dx: f32, dy: f32) {
        self.0.drag(dx, dy);
    }

    pub fn wheel(&mut self, notches: f32) {
        self.0.wheel(notches);
    }

    /// 16 numbers of the matrix, the eye, the direction up, and the angle of a pixel.
    pub fn numbers(&self, width: u32, height: u32) -> Float32Array {
        let size = [width.max(1), height.max(1)];
        let mut all = self.0.clip_from_world(size).to_cols_array().to_vec();
        all.extend(self.0.eye().to_array());
        all.extend(self.0.up().to_array());
        all.push(self.0.pixel(size));
        Float32Array::from(&*all)
    }
}

/// The world on the GPU, and its picture on a canvas.
#[wasm_bindgen]
pub struct Stage {
    gpu: Gpu,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    half: [f32; 3],
    simulation: Simulation,
    drawing: Drawing,
}

#[wasm_bindgen]
impl Stage {
    pub async fn create(
        canvas: HtmlCanvasElement,
        count: u32,
        mix: f32,
        seed: u32,
        restitution: f32,
    ) -> Js<Stage> {
        let made = Self::open(canvas, count, mix, seed, restitution).await;
        made.map_err(|error| failed(&error))
    }

    async fn open(
        canvas: HtmlCanvasElement,
        count: u32,
        mix: f32,
        seed: u32,
        restitution: f32,
    ) -> anyhow::Result<Self> {
        let size = [canvas.width().max(1), canvas.height().max(1)];
        let descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        let instance = wgpu::Instance::new(descriptor);
        let surface = instance.create_surface(wgpu::SurfaceTarget::Canvas(canvas))?;
        let options = wgpu::RequestAdapterOptions {
            compatible_surface: Some(&surface),
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..wgpu::RequestAdapterOptions::default()
        };
        let gpu = Gpu::new(instance.request_adapter(&options).await?).await?;
        let config = surface.get_default_config(&gpu.adapter, size[0], size[1]);
        let config = config.ok_or_else(|| anyhow::anyhow!("the canvas cannot be drawn to"))?;
        surface.configure(&gpu.device, &config);
        let world = start::world(count.max(1), mix.clamp(0.0, 0.9), seed.into())?;
        let rules = Rules {
            dt: DT,
            restitution,
            // Only buffers that are made with gravity have room for spheres at rest.
            gravity: [0.0, -1.0, 0.0],
        };
        let mut simulation = Simulation::new(&gpu.device, &gpu.queue, &world, rules)?;
        simulation.buffers.set_gravity([0.0; 3])?;
        let drawing = Drawing::new(
            &gpu.device,
            &gpu.queue,
            config.format,
            &simulation,
            world.half,
        )?;
        Ok(Self {
            gpu,
            surface,
            config,
            half: world.half,
            simulation,
            drawing,
        })
    }

    /// Half the sides of the box.
    #[wasm_bindgen(getter)]
    pub fn half(&self) -> Float32Array {
        Float32Array::from(&self.half[..])
    }

    pub fn resize(&mut self, width: u32, height: u32) {
        self.config.width = width.max(1);
        self.config.height = height.max(1);
        self.surface.configure(&self.gpu.device, &self.config);
    }

    /// Sets the rules of the steps to come.
    #[wasm_bindgen(js_name = setRules)]
    pub fn set_rules(&mut self, restitution: f64, gravity: f64) -> Js {
        let buffers = &mut self.simulation.buffers;
        buffers
            .set_restitution(restitution)
            .map_err(crate::js::failed)?;
        buffers
            .set_wall_restitution(restitution)
            .map_err(crate::js::failed)?;
        buffers
            .set_gravity([0.0, -gravity, 0.0])
            .map_err(crate::js::failed)
    }

    /// Simulates a sixtieth of a second, if `moves`, and draws. Returns false if the device is not ready for a step.
    pub fn frame(&mut self, view: &View, moves: bool) -> Js<bool> {
        self.gpu.check().map_err(|error| failed(&error))?;
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        if moves && let Err(cause) = self.simulation.step(&mut encoder) {
            // Nothing on the web waits for a device, which compiles shaders at first.
            return match cause.downcast_ref::<carom::Error>() {
                Some(carom::Error::TooManyInFlight { .. }) => Ok(false),
                _ => Err(failed(&cause)),
            };
        }
        let target = match self.surface.get_current_texture() {
            wgpu::CurrentSurfaceTexture::Success(target)
            | wgpu::CurrentSurfaceTexture::Suboptimal(target) => target,
            _ => {
                self.gpu.queue.submit([encoder.finish()]);
                return Ok(true);
            }
        };
        let shown = target.texture.create_view(&Default::default());
        let size = [self.config.width, self.config.height];
        self.drawing.draw(&mut encoder, &shown, size, &view.0);
        self.gpu.queue.submit([encoder.finish()]);
        self.gpu.queue.present(target);
        Ok(true)
    }

    /// The latest state that the device has sent.
    #[allow(clippy::cast_precision_loss, reason = "numbers for people")]
    pub fn report(&mut self) -> Js<Object> {
        let state = self.simulation.report().map_err(|error| failed(&error))?;
        let impacts = state.sphere_impacts + state.wall_impacts;
        Ok(object([
            ("time", state.time.into()),
            ("pairs", f64::from(state.candidates).into()),
            ("impacts", (impacts as f64).into()),
            ("behind", state.remaining.into()),
        ]))
    }
}

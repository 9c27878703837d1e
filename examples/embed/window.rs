//! The window of the example program `embed`: opens it, handles its events, and draws into it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::{
    ElementState, KeyEvent, MouseButton, MouseScrollDelta, StartCause, WindowEvent,
};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::{Key, NamedKey};
use winit::window::{Window, WindowId};

use crate::adapter;
use crate::args::Args;
use crate::camera::Camera;
use crate::draw::Drawing;
use crate::gpu::Gpu;
use crate::overlay::{self, Frames};
use crate::simulation::{Simulation, World};
use crate::start;
use crate::text::Text;
use carom::gpu::wgpu;

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let events =
        EventLoop::new().context("no window can be opened; use --headless to run without one")?;
    let mut app = App {
        args,
        scene: None,
        failure: None,
    };
    events.run_app(&mut app)?;
    app.failure.map_or(Ok(()), Err)
}

struct App<'a> {
    args: &'a Args,
    scene: Option<Scene>,
    failure: Option<anyhow::Error>,
}

impl App<'_> {
    fn pass(&mut self, events: &ActiveEventLoop, result: anyhow::Result<()>) {
        if let Err(error) = result {
            self.failure.get_or_insert(error);
            events.exit();
        }
    }
}

impl ApplicationHandler for App<'_> {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        if self.scene.is_none() {
            let scene = Scene::new(self.args, events).map(|scene| self.scene = Some(scene));
            self.pass(events, scene);
        }
    }

    fn new_events(&mut self, events: &ActiveEventLoop, cause: StartCause) {
        if let (StartCause::ResumeTimeReached { .. }, Some(scene)) = (cause, &self.scene) {
            events.set_control_flow(ControlFlow::Wait);
            scene.window.request_redraw();
        }
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(scene) = &mut self.scene else {
            return;
        };
        match event {
            WindowEvent::CloseRequested => events.exit(),
            WindowEvent::KeyboardInput {
                event:
                    KeyEvent {
                        logical_key,
                        state: ElementState::Pressed,
                        repeat: false,
                        ..
                    },
                ..
            } => {
                if logical_key == Key::Named(NamedKey::Escape) {
                    events.exit();
                } else {
                    scene.key(&logical_key);
                }
            }
            WindowEvent::RedrawRequested => {
                let result = scene.frame(events);
                self.pass(events, result);
            }
            other => scene.event(&other),
        }
    }

    fn exiting(&mut self, _: &ActiveEventLoop) {
        // The scene holds the surface of the window. It is dropped here, before the connection to
        // the window system closes.
        self.scene = None;
    }
}

struct Scene {
    window: Arc<Window>,
    instance: wgpu::Instance,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    gpu: Gpu,
    world: World,
    simulation: Simulation,
    drawing: Drawing,
    camera: Camera,
    text: Text,
    frames: Frames,
    paused: bool,
    pointer: Option<[f64; 2]>,
    drags: bool,
}

impl Scene {
    fn new(args: &Args, events: &ActiveEventLoop) -> anyhow::Result<Self> {
        let [width, height] = args.size;
        let attributes = Window::default_attributes()
            .with_title("carom: embed")
            .with_inner_size(PhysicalSize::new(width, height));
        let window = Arc::new(events.create_window(attributes)?);
        let instance = wgpu::Instance::new(
            wgpu::InstanceDescriptor::new_without_display_handle_from_env()
                .with_display_handle(Box::new(events.owned_display_handle())),
        );
        let surface = instance.create_surface(Arc::clone(&window))?;
        let gpu = adapter::open(&instance, Some(&surface))?;
        let size = window.inner_size();
        let mut config = surface
            .get_default_config(&gpu.adapter, size.width.max(1), size.height.max(1))
            .context("the graphics adapter cannot draw to this window")?;
        config.present_mode = wgpu::PresentMode::AutoVsync;
        let formats = surface.get_capabilities(&gpu.adapter).formats;
        if let Some(format) = formats.into_iter().find(wgpu::TextureFormat::is_srgb) {
            config.format = format;
        }

        let world = start::world(args.spheres, start::MIX, args.seed)?;
        let simulation = Simulation::new(&gpu.device, &gpu.queue, &world, args.rules())?;
        let drawing = Drawing::new(
            &gpu.device,
            &gpu.queue,
            config.format,
            &simulation,
            world.half,
        )?;
        let mut scene = Self {
            camera: Camera::new(world.half),
            text: Text::new()?,
            frames: Frames::new(),
            paused: false,
            pointer: None,
            drags: false,
            window,
            instance,
            surface,
            config,
            gpu,
            world,
            simulation,
            drawing,
        };
        scene.configure();
        scene.window.request_redraw();
        Ok(scene)
    }

    fn key(&mut self, key: &Key) {
        match key {
            Key::Named(NamedKey::Space) => {
                self.paused = !self.paused;
                self.frames = Frames::new();
            }
            Key::Character(text) if text.eq_ignore_ascii_case("r") => {
                self.simulation.restart(&self.gpu.queue, &self.world);
                self.frames = Frames::new();
            }
            _ => return,
        }
        self.window.request_redraw();
    }

    fn event(&mut self, event: &WindowEvent) {
        match *event {
            WindowEvent::Resized(_) => self.configure(),
            WindowEvent::MouseInput {
                state,
                button: MouseButton::Left,
                ..
            } => self.drags = state == ElementState::Pressed,
            WindowEvent::CursorMoved { position, .. } => {
                let now = [position.x, position.y];
                let before = self.pointer.replace(now).filter(|_| self.drags);
                let Some(before) = before else {
                    return;
                };
                let [dx, dy] = [now[0] - before[0], now[1] - before[1]].map(narrow);
                self.camera.drag(dx, dy);
            }
            WindowEvent::MouseWheel { delta, .. } => self.camera.wheel(match delta {
                MouseScrollDelta::LineDelta(_, lines) => lines,
                MouseScrollDelta::PixelDelta(way) => narrow(way.y / 50.0),
            }),
            WindowEvent::Occluded(false) => {}
            _ => return,
        }
        self.window.request_redraw();
    }

    fn frame(&mut self, events: &ActiveEventLoop) -> anyhow::Result<()> {
        self.gpu.check()?;
        let size = self.window.inner_size();
        if size.width == 0 || size.height == 0 {
            // A minimized window has no pixels, so nothing is drawn.
            return Ok(());
        }
        let Some((target, fits)) = self.target(events)? else {
            return Ok(());
        };
        let mut encoder = self
            .gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        if !self.paused {
            self.simulation.step(&mut encoder)?;
        }
        let report = self.simulation.report()?;
        if self.frames.tick() {
            let rows = overlay::rows(self.world.positions.len(), report, self.frames.per_second);
            let scale = narrow(self.window.scale_factor());
            let words = self
                .text
                .table(&rows, scale * overlay::HEIGHT, scale * overlay::WIDTH);
            self.drawing.say(&self.simulation, &words)?;
        }
        let view = target
            .texture
            .create_view(&wgpu::TextureViewDescriptor::default());
        let size = [self.config.width, self.config.height];
        self.drawing.draw(&mut encoder, &view, size, &self.camera);
        self.gpu.queue.submit([encoder.finish()]);
        self.window.pre_present_notify();
        self.gpu.queue.present(target);
        if !fits {
            self.configure();
        }
        if !self.paused {
            self.window.request_redraw();
        }
        Ok(())
    }

    fn configure(&mut self) {
        let PhysicalSize { width, height } = self.window.inner_size();
        // A minimized window has size 0, which a wgpu surface must not have.
        if width > 0 && height > 0 {
            let most = self.gpu.device.limits().max_texture_dimension_2d;
            self.config.width = width.min(most);
            self.config.height = height.min(most);
            self.surface.configure(&self.gpu.device, &self.config);
        }
    }

    /// Returns the texture of the surface to draw to, and whether its size fits the window, or `None` if
    /// there is no texture at the moment.
    fn target(
        &mut self,
        events: &ActiveEventLoop,
    ) -> anyhow::Result<Option<(wgpu::SurfaceTexture, bool)>> {
        use wgpu::CurrentSurfaceTexture as Current;
        match self.surface.get_current_texture() {
            Current::Success(target) => return Ok(Some((target, true))),
            Current::Suboptimal(target) => return Ok(Some((target, false))),
            Current::Outdated => self.configure(),
            Current::Lost => {
                self.surface = self.instance.create_surface(Arc::clone(&self.window))?;
                self.configure();
            }
            Current::Timeout | Current::Occluded => {}
            Current::Validation => self.gpu.check()?,
        }
        // The program waits before it tries again to get a texture, because retrying at once would keep a
        // core busy while the window is hidden.
        let soon = Instant::now() + Duration::from_millis(20);
        events.set_control_flow(ControlFlow::WaitUntil(soon));
        Ok(None)
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "pixels need no more digits"
)]
fn narrow(value: f64) -> f32 {
    value as f32
}

//! A camera that circles the box.

use glam::camera::rh::proj::directx::perspective_infinite_reverse;
use glam::camera::rh::view::look_at_mat4;
use glam::{Mat4, Vec3};

pub(crate) struct Camera {
    /// Radians: around the vertical, and above the ground.
    turn: f32,
    rise: f32,
    /// From the middle of the box, in half diagonals of it.
    distance: f32,
    half_diagonal: f32,
}

/// Of the view's lesser side, in radians.
const FIELD: f32 = 0.45;

impl Camera {
    pub(crate) fn new(half: [f32; 3]) -> Self {
        Self {
            turn: 0.55,
            rise: 0.42,
            distance: 4.15,
            half_diagonal: Vec3::from(half).length(),
        }
    }

    /// By a way of the pointer, in pixels.
    pub(crate) fn drag(&mut self, dx: f32, dy: f32) {
        self.turn = (self.turn - 0.005 * dx) % std::f32::consts::TAU;
        // Over the pole there is no up.
        self.rise = (self.rise + 0.005 * dy).clamp(-1.5, 1.5);
    }

    /// By notches of the wheel: each comes a tenth closer.
    pub(crate) fn wheel(&mut self, notches: f32) {
        self.distance = (self.distance * 0.9_f32.powf(notches)).clamp(0.2, 20.0);
    }

    pub(crate) fn eye(&self) -> Vec3 {
        let [sin, cos] = [self.rise.sin(), self.rise.cos()];
        self.half_diagonal
            * self.distance
            * Vec3::new(self.turn.sin() * cos, sin, self.turn.cos() * cos)
    }

    /// Upwards on the screen.
    pub(crate) fn up(&self) -> Vec3 {
        let [sin, cos] = [self.rise.sin(), self.rise.cos()];
        Vec3::new(-self.turn.sin() * sin, cos, -self.turn.cos() * sin)
    }

    /// Depth 1 is near, 0 infinitely far: float32 is finest about 0, where the
    /// far is crowded.
    pub(crate) fn clip_from_world(&self, size: [u32; 2]) -> Mat4 {
        let aspect = size[0] as f32 / size[1] as f32;
        let field = 2.0 * ((0.5 * FIELD).tan() / aspect.min(1.0)).atan();
        let near = 0.001 * self.half_diagonal;
        perspective_infinite_reverse(field, aspect, near)
            * look_at_mat4(self.eye(), Vec3::ZERO, Vec3::Y)
    }

    /// The angle of a pixel, in radians.
    pub(crate) fn pixel(&self, size: [u32; 2]) -> f32 {
        FIELD / size[0].min(size[1]) as f32
    }
}

//! A camera that moves around the box of the simulation and looks at its centre.

use glam::camera::rh::proj::directx::perspective_infinite_reverse;
use glam::camera::rh::view::look_at_mat4;
use glam::{Mat4, Vec3};

pub(crate) struct Camera {
    /// Angle of the camera around the vertical axis, in radians.
    turn: f32,
    /// Angle of the camera above the horizontal plane, in radians.
    rise: f32,
    /// Distance of the camera from the centre of the box, in units of half the diagonal of the box.
    distance: f32,
    half_diagonal: f32,
}

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

    /// Turns the camera by a mouse movement in pixels.
    pub(crate) fn drag(&mut self, dx: f32, dy: f32) {
        self.turn = (self.turn - 0.005 * dx) % std::f32::consts::TAU;
        // The camera never looks straight up or down, where the upward direction is undefined.
        self.rise = (self.rise + 0.005 * dy).clamp(-1.5, 1.5);
    }

    /// Zooms the camera. Each notch of the mouse wheel reduces its distance to the centre of the box by a
    /// tenth.
    pub(crate) fn wheel(&mut self, notches: f32) {
        self.distance = (self.distance * 0.9_f32.powf(notches)).clamp(0.2, 20.0);
    }

    pub(crate) fn eye(&self) -> Vec3 {
        let [sin, cos] = [self.rise.sin(), self.rise.cos()];
        self.half_diagonal
            * self.distance
            * Vec3::new(self.turn.sin() * cos, sin, self.turn.cos() * cos)
    }

    pub(crate) fn up(&self) -> Vec3 {
        let [sin, cos] = [self.rise.sin(), self.rise.cos()];
        Vec3::new(-self.turn.sin() * sin, cos, -self.turn.cos() * sin)
    }

    /// Returns the matrix from world to clip space with reversed depth: 1 at the near plane, 0 at infinity.
    /// float32 is most precise near 0, where the depths of distant points are close together.
    pub(crate) fn clip_from_world(&self, size: [u32; 2]) -> Mat4 {
        let aspect = size[0] as f32 / size[1] as f32;
        let field = 2.0 * ((0.5 * FIELD).tan() / aspect.min(1.0)).atan();
        let near = 0.001 * self.half_diagonal;
        perspective_infinite_reverse(field, aspect, near)
            * look_at_mat4(self.eye(), Vec3::ZERO, Vec3::Y)
    }

    pub(crate) fn pixel(&self, size: [u32; 2]) -> f32 {
        FIELD / size[0].min(size[1]) as f32
    }
}

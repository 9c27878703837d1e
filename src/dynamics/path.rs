//! The path of a sphere during a substep: pieces of free motion between impacts.

use glam::DVec3;

use super::HardSphere;

/// A part of a path without impacts. Times count from the start of the substep.
///
/// `center` is extrapolated to time 0, as if the piece began then. So the positions of two spheres
/// can be compared directly, although their pieces begin at different times. Gravity is left out:
/// it displaces all falling spheres by the same vector, so it does not change the position of one
/// of them relative to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// Time at which the sphere's motion on this piece of its path begins.
    pub(crate) start: f64,
    pub(crate) center: DVec3,
    pub(crate) velocity: DVec3,
    /// Whether gravity acts on the sphere. It does not if there is no gravity, if the sphere has
    /// infinite mass, or while the sphere rests (see `rest.rs`).
    pub(crate) falls: bool,
}

impl Piece {
    /// Returns the motion of a sphere that meets nothing.
    pub(crate) fn straight(sphere: &HardSphere, falls: bool) -> Self {
        Self {
            start: 0.0,
            center: sphere.place(),
            velocity: sphere.motion(),
            falls,
        }
    }

    /// Returns the velocity at a time after the start of the substep.
    pub(crate) fn velocity_at(&self, time: f64, gravity: DVec3) -> DVec3 {
        self.velocity + gravity * if self.falls { time } else { 0.0 }
    }

    /// Returns the centre of the sphere at a time, without the displacement by gravity.
    pub(crate) fn place(&self, time: f64) -> DVec3 {
        self.center + self.velocity * time
    }

    /// Returns the next piece of a sphere's path, which begins at `time` with a velocity changed by
    /// `change`.
    pub(crate) fn turn(&self, time: f64, change: DVec3) -> Self {
        Self {
            start: time,
            center: self.center - change * time,
            velocity: self.velocity + change,
            falls: self.falls,
        }
    }

    /// Returns the motion from `time` on if gravity begins to act then (`falls`), or ceases to.
    pub(crate) fn falling(&self, falls: bool, time: f64, gravity: DVec3) -> Self {
        let sign = if falls { -1.0 } else { 1.0 };
        let velocity = self.velocity + gravity * (sign * time);
        let place = self.place(time) + gravity * (sign * 0.5 * time * time);
        Self {
            start: time,
            center: place - velocity * time,
            velocity,
            falls,
        }
    }
}

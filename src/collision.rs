//! The entries of lists of collisions.

use bytemuck::{Pod, Zeroable};

/// Two spheres that touch during a time step, with their time of impact.
///
/// A `Collision` has 16 bytes, and an array of them has the layout of an array in a GPU storage buffer.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Collision {
    /// Index of one sphere. In a step of one set, it is the smaller index of the pair. In a step of
    /// two sets ([`Step::between`](crate::Step::between)), it is the index in the first set.
    pub a: u32,
    /// Index of the other sphere. In a step of one set, it is the larger index of the pair. In a
    /// step of two sets, it is the index in the second set.
    pub b: u32,
    /// Time of impact: the earliest time in [0, dt] at which the spheres touch, in the unit of dt. The time
    /// is 0 if they touch or overlap at the start of the step.
    pub toi: f32,
    /// Penetration depth at the start of the step, in the unit of length: the sum of the radii minus the
    /// distance of the centres. The depth is 0 for spheres that touch only later.
    pub depth: f32,
}

/// A [`Collision`] of spheres in float64.
///
/// A `Collision64` has 24 bytes.
// It is a type of its own, because `Collision` is `Pod`, which no generic type can be without unsafe code.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Collision64 {
    /// Index of one sphere, as in [`Collision::a`].
    pub a: u32,
    /// Index of the other sphere, as in [`Collision::b`].
    pub b: u32,
    /// Time of impact, as in [`Collision::toi`].
    pub toi: f64,
    /// Penetration depth at the start of the step, as in [`Collision::depth`].
    pub depth: f64,
}

/// A sphere and a wall that touch during a time step, with their time of impact.
///
/// A `WallCollision` has 16 bytes, and an array of them has the layout of an array in a GPU storage buffer.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct WallCollision {
    /// Index of the sphere. In a step of two sets, sphere `i` of the second set has the index of
    /// [`Collisions::second_set_start`](crate::Collisions::second_set_start) plus `i`.
    pub sphere: u32,
    /// Number of the wall. [`Walls`](crate::Walls) says how walls are numbered.
    pub wall: u32,
    /// Time of impact: the earliest time in [0, dt] at which sphere and wall touch, in the unit of dt. The
    /// time is 0 if they touch or overlap at the start of the step.
    pub toi: f32,
    /// Penetration depth at the start of the step, in the unit of length. The depth is 0 if sphere and wall
    /// touch only later.
    ///
    /// The depth for each kind of wall is:
    /// - Half-space: how far the sphere reaches beyond the plane.
    /// - Hollow wall: how far the sphere reaches through the surface of the wall, measured along a radius of
    ///   the wall.
    /// - Solid sphere or cylinder: the sum of the radii minus the distance of the sphere's centre from the
    ///   centre or axis of the wall.
    /// - Triangle: the radius minus the distance of the sphere's centre from the triangle.
    pub depth: f32,
}

/// A [`WallCollision`] of a sphere in float64.
///
/// A `WallCollision64` has 24 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct WallCollision64 {
    /// Index of the sphere, as in [`WallCollision::sphere`].
    pub sphere: u32,
    /// Number of the wall, as in [`WallCollision::wall`].
    pub wall: u32,
    /// Time of impact, as in [`WallCollision::toi`].
    pub toi: f64,
    /// Penetration depth at the start of the step, as in [`WallCollision::depth`].
    pub depth: f64,
}

/// Two spheres, or a sphere and a wall, that touch at some time, in numbers of type `T`: for functions that take the
/// results of steps in float32 and in float64.
pub trait Touching<T> {
    /// Returns the indices a and b of two spheres, or the index of a sphere and the number of a wall.
    fn sides(&self) -> [u32; 2];
    /// Returns the time of impact, as in [`Collision::toi`].
    fn toi(&self) -> T;
    /// Returns the same numbers in float64.
    fn wide(&self) -> Collision64;
    /// Returns the numbers of `wide`, rounded to type `T`.
    fn of_wide(wide: &Collision64) -> Self;
}

impl Touching<f32> for Collision {
    fn sides(&self) -> [u32; 2] {
        [self.a, self.b]
    }

    fn toi(&self) -> f32 {
        self.toi
    }

    fn wide(&self) -> Collision64 {
        Collision64 {
            a: self.a,
            b: self.b,
            toi: self.toi.into(),
            depth: self.depth.into(),
        }
    }

    fn of_wide(wide: &Collision64) -> Self {
        Self {
            a: wide.a,
            b: wide.b,
            toi: rounded(wide.toi),
            depth: rounded(wide.depth),
        }
    }
}

impl Touching<f64> for Collision64 {
    fn sides(&self) -> [u32; 2] {
        [self.a, self.b]
    }

    fn toi(&self) -> f64 {
        self.toi
    }

    fn wide(&self) -> Collision64 {
        Collision64 {
            a: self.a,
            b: self.b,
            toi: self.toi,
            depth: self.depth,
        }
    }

    fn of_wide(wide: &Collision64) -> Self {
        Self {
            a: wide.a,
            b: wide.b,
            toi: wide.toi,
            depth: wide.depth,
        }
    }
}

impl Touching<f32> for WallCollision {
    fn sides(&self) -> [u32; 2] {
        [self.sphere, self.wall]
    }

    fn toi(&self) -> f32 {
        self.toi
    }

    fn wide(&self) -> Collision64 {
        Collision64 {
            a: self.sphere,
            b: self.wall,
            toi: self.toi.into(),
            depth: self.depth.into(),
        }
    }

    fn of_wide(wide: &Collision64) -> Self {
        Self {
            sphere: wide.a,
            wall: wide.b,
            toi: rounded(wide.toi),
            depth: rounded(wide.depth),
        }
    }
}

impl Touching<f64> for WallCollision64 {
    fn sides(&self) -> [u32; 2] {
        [self.sphere, self.wall]
    }

    fn toi(&self) -> f64 {
        self.toi
    }

    fn wide(&self) -> Collision64 {
        Collision64 {
            a: self.sphere,
            b: self.wall,
            toi: self.toi,
            depth: self.depth,
        }
    }

    fn of_wide(wide: &Collision64) -> Self {
        Self {
            sphere: wide.a,
            wall: wide.b,
            toi: wide.toi,
            depth: wide.depth,
        }
    }
}

#[allow(clippy::cast_possible_truncation, reason = "rounding is intended")]
fn rounded(x: f64) -> f32 {
    x as f32
}

//! Defines [`Sphere`]: centre, radius, velocity and collision groups of a moving sphere.

use bytemuck::{Pod, Zeroable};

/// Largest magnitude allowed for a coordinate, radius, velocity, displacement or time step: 2⁶⁰.
///
/// The sum of the squares of three numbers up to this limit is far below the largest float32.
pub const MAX_MAGNITUDE: f32 = (1_u64 << 60) as f32;

/// Largest magnitude allowed for a number of a step in float64: 10¹⁰⁰.
pub const MAX_MAGNITUDE_F64: f64 = 1e100;

/// A sphere that moves with constant velocity during a time step.
///
/// A `Sphere` takes 32 bytes, in the layout of a GPU storage buffer.
///
/// You choose the units of length and time of all spheres. The numbers in a sphere may have a
/// magnitude of up to [`MAX_MAGNITUDE`].
///
/// ```
/// use carom::Sphere;
/// let bullet = Sphere::new([0.0, 0.0, 0.0], 0.1).with_velocity([100.0, 0.0, 0.0]);
/// assert_eq!(bullet.velocity, [100.0, 0.0, 0.0]);
/// ```
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Sphere {
    /// Centre at the start of the time step.
    pub center: [f32; 3],
    /// Radius, 0 or more. A sphere of radius 0 is a point, which acts as a ray of finite length if it moves.
    pub radius: f32,
    /// Velocity during the time step, in units of length per unit of `dt`. In a step `dt`, the sphere
    /// moves by `velocity * dt`.
    pub velocity: [f32; 3],
    /// Collision groups, packed by [`Sphere::with_groups`]. With 0, the default, the sphere collides with
    /// every other sphere.
    pub groups: u32,
}

impl Sphere {
    /// Creates a sphere at rest that collides with every other sphere.
    pub fn new(center: impl Into<[f32; 3]>, radius: f32) -> Self {
        Self {
            center: center.into(),
            radius,
            ..Self::default()
        }
    }

    /// Returns the same sphere with this velocity.
    #[must_use]
    pub fn with_velocity(mut self, velocity: impl Into<[f32; 3]>) -> Self {
        self.velocity = velocity.into();
        self
    }

    /// Returns the same sphere with collision groups: the sphere belongs to the groups `member_of` and
    /// ignores the groups `ignored`.
    ///
    /// `member_of` and `ignored` are masks of sixteen groups, one bit per group. A pair is left out if one
    /// sphere ignores a group to which the other belongs. [`Sphere::groups`] holds `member_of | ignored <<
    /// 16`. A sphere that belongs to no group cannot be ignored.
    ///
    /// ```
    /// use carom::Sphere;
    /// const BULLETS: u16 = 1;
    /// // Bullets hit everything except each other.
    /// let bullet = Sphere::new([0.0; 3], 0.1).with_groups(BULLETS, BULLETS);
    /// let wall = Sphere::new([1.0, 0.0, 0.0], 5.0);
    /// assert!(bullet.ignores(&bullet));
    /// assert!(!bullet.ignores(&wall));
    /// ```
    #[must_use]
    pub fn with_groups(mut self, member_of: u16, ignored: u16) -> Self {
        self.groups = u32::from(member_of) | u32::from(ignored) << 16;
        self
    }

    /// Returns whether collision groups leave out the pair of these two spheres.
    pub fn ignores(&self, other: &Self) -> bool {
        ((self.groups >> 16 & other.groups) | (other.groups >> 16 & self.groups)) & 0xffff != 0
    }
}

//! The input: moving spheres.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

/// The largest magnitude of any coordinate, radius, velocity, displacement and
/// time step: 2⁶⁰. Sums of squares of such values stay far from overflow.
pub const MAX_MAGNITUDE: f32 = (1_u64 << 60) as f32;

/// A sphere that moves with constant velocity during a time step.
///
/// 32 bytes, laid out for a GPU storage buffer. Lengths and times are in
/// whatever units the caller uses, as long as they agree: a velocity is a
/// length per unit of `dt`.
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
    /// Centre at the start of the step.
    pub center: [f32; 3],
    /// Radius, 0 or more. A sphere of radius 0 is a point; when it moves, a
    /// ray.
    pub radius: f32,
    /// Velocity over the step, length per time.
    pub velocity: [f32; 3],
    /// Which pairs to leave out; 0, the default, collides with everything. See
    /// [`Sphere::with_groups`].
    pub groups: u32,
}

impl Sphere {
    /// A sphere at rest that collides with everything.
    pub fn new(center: impl Into<Vec3>, radius: f32) -> Self {
        Self {
            center: center.into().to_array(),
            radius,
            ..Self::default()
        }
    }

    /// The same sphere, moving.
    #[must_use]
    pub fn with_velocity(mut self, velocity: impl Into<Vec3>) -> Self {
        self.velocity = velocity.into().to_array();
        self
    }

    /// The same sphere as a member of `member_of`, blind to `ignored`: both are
    /// sets of sixteen groups, one a bit. A pair is left out when either of the
    /// two ignores a group that the other is in. Kept in [`Sphere::groups`] as
    /// `member_of | ignored << 16`.
    ///
    /// ```
    /// use carom::{Sphere, time_of_impact};
    /// const BULLETS: u16 = 1;
    /// // Bullets hit everything but one another.
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

    /// Whether the groups of the two spheres leave this pair out.
    pub fn ignores(&self, other: &Self) -> bool {
        ((self.groups >> 16 & other.groups) | (other.groups >> 16 & self.groups)) & 0xffff != 0
    }
}

//! The input: moving spheres, and which values of them carom can work with.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;
use rayon::prelude::*;
use wide::f32x4;

use crate::cpu::CHUNK;
use crate::error::{Error, Field};

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

/// A magnitude carom can work with: not NaN, not infinite, at most 2⁶⁰.
fn in_range(x: f32) -> bool {
    x.abs() <= MAX_MAGNITUDE
}

/// Checks a time step.
pub(crate) fn check_dt(dt: f32) -> Result<(), Error> {
    if dt >= 0.0 && in_range(dt) {
        Ok(())
    } else {
        Err(Error::InvalidTimeStep { dt })
    }
}

/// The first field of a sphere that carom cannot work with, and its value.
pub(crate) fn invalid_field(sphere: &Sphere, dt: f32) -> Option<(Field, f32)> {
    let &Sphere {
        center,
        radius,
        velocity,
        ..
    } = sphere;
    let mut fields = (0..3)
        .map(|k| (Field::Center(k), center[k]))
        .chain((0..3).map(|k| (Field::Velocity(k), velocity[k])))
        .chain((0..3).map(|k| (Field::Displacement(k), velocity[k] * dt)));
    if !(radius >= 0.0 && in_range(radius)) {
        return Some((Field::Radius, radius));
    }
    fields.find(|&(_, x)| !in_range(x))
}

/// What of the spheres tells how to work on them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// Whether carom can work with all of them.
    valid: bool,
    /// The largest magnitude of a coordinate, radius or displacement.
    extent: f32,
    /// All bits that any has.
    groups: u32,
}

impl Default for Facts {
    fn default() -> Self {
        Self {
            valid: true,
            extent: 0.0,
            groups: 0,
        }
    }
}

impl Facts {
    /// Of two sets together.
    pub(crate) fn merge(self, other: Self) -> Self {
        Self {
            valid: self.valid && other.valid,
            extent: self.extent.max(other.extent),
            groups: self.groups | other.groups,
        }
    }

    /// The largest magnitude of a coordinate, radius or displacement.
    pub(crate) fn extent(self) -> f32 {
        self.extent
    }

    /// Whether there are groups that may leave out a pair.
    pub(crate) fn groups(self) -> bool {
        self.groups >> 16 & self.groups & 0xffff != 0
    }
}

/// Checks a slice of spheres against the range in which carom is exact, and
/// tells what there is. `set` is what an error is to say of the slice.
pub(crate) fn check_spheres(
    spheres: &[Sphere],
    dt: f32,
    set: Option<usize>,
) -> Result<Facts, Error> {
    let facts = spheres
        .par_chunks(CHUNK)
        .map(|spheres| facts_of(spheres, dt))
        .reduce(Facts::default, Facts::merge);
    if facts.valid {
        return Ok(facts);
    }
    let invalid = spheres
        .iter()
        .position(|sphere| invalid_field(sphere, dt).is_some());
    match invalid.and_then(|index| Some((index, invalid_field(spheres.get(index)?, dt)?))) {
        Some((index, (field, value))) => Err(Error::InvalidSphere {
            index,
            set,
            field,
            value,
        }),
        None => Ok(facts),
    }
}

fn facts_of(spheres: &[Sphere], dt: f32) -> Facts {
    const MOST: f32 = MAX_MAGNITUDE;
    // Of centre and radius, and of velocity; the groups are none of these numbers.
    let least = f32x4::new([-MOST, -MOST, -MOST, 0.0]);
    let most = f32x4::splat(MOST);
    let all = f32::from_bits(u32::MAX);
    let no_groups = f32x4::new([all, all, all, 0.0]);
    let mut valid = f32x4::splat(all);
    let mut extent = f32x4::splat(0.0);
    let mut groups = 0;
    for sphere in spheres {
        let &[place, velocity] = bytemuck::cast_ref::<Sphere, [[f32; 4]; 2]>(sphere);
        let (place, velocity) = (f32x4::new(place), f32x4::new(velocity) & no_groups);
        let shift = (velocity * f32x4::splat(dt)).abs();
        valid = valid
            & place.simd_ge(least)
            & place.simd_le(most)
            & velocity.abs().simd_le(most)
            & shift.simd_le(most);
        extent = extent.fast_max(place.abs()).fast_max(shift);
        groups |= sphere.groups;
    }
    Facts {
        valid: valid.to_bitmask() == 0b1111,
        extent: extent.to_array().into_iter().fold(0.0, f32::max),
        groups,
    }
}

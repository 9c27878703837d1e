//! Which values of spheres and time steps carom can work with. `check_spheres` has a twin in
//! `shaders/load_spheres.wgsl`.

use rayon::prelude::*;
use wide::f32x4;

use crate::error::{Error, Field};
use crate::limits::CHUNK;
use crate::sphere::{MAX_MAGNITUDE, Sphere};

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

/// Facts about all spheres of a step on which the work depends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InputSummary {
    /// Whether all values are in range.
    valid: bool,
    /// The largest magnitude of a coordinate, radius or displacement.
    extent: f32,
    /// The bits of [`Sphere::groups`] that are set in any sphere.
    groups: u32,
}

impl Default for InputSummary {
    fn default() -> Self {
        Self {
            valid: true,
            extent: 0.0,
            groups: 0,
        }
    }
}

impl InputSummary {
    /// The facts about two sets together.
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

/// Checks that all values of some spheres are in the range in which carom is exact. An error
/// names `set`, if there are two.
pub(crate) fn check_spheres(
    spheres: &[Sphere],
    dt: f32,
    set: Option<usize>,
) -> Result<InputSummary, Error> {
    let summary = spheres
        .par_chunks(CHUNK)
        .map(|spheres| summary_of(spheres, dt))
        .reduce(InputSummary::default, InputSummary::merge);
    if summary.valid {
        return Ok(summary);
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
        None => Ok(summary),
    }
}

fn summary_of(spheres: &[Sphere], dt: f32) -> InputSummary {
    const MAX: f32 = MAX_MAGNITUDE;
    // Of centre and radius, and of velocity; the groups are none of these numbers.
    let least = f32x4::new([-MAX, -MAX, -MAX, 0.0]);
    let most = f32x4::splat(MAX);
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
    InputSummary {
        valid: valid.to_bitmask() == 0b1111,
        extent: extent.to_array().into_iter().fold(0.0, f32::max),
        groups,
    }
}

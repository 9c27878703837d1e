//! Checks that the numbers in spheres and time steps are in the range in which carom is exact. The GPU
//! version of `check_spheres` is in `shaders/collide/load_spheres.wgsl`.

use rayon::prelude::*;
use wide::f32x4;

use crate::error::{Error, Field};
use crate::limits::CHUNK;
use crate::sphere::{MAX_MAGNITUDE, Sphere};

fn in_range(x: f32) -> bool {
    x.abs() <= MAX_MAGNITUDE
}

pub(crate) fn check_dt(dt: f32) -> Result<(), Error> {
    if dt >= 0.0 && in_range(dt) {
        Ok(())
    } else {
        Err(Error::InvalidTimeStep {
            dt: dt.into(),
            limit: MAX_MAGNITUDE.into(),
        })
    }
}

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

#[derive(Clone, Copy, Debug)]
pub(crate) struct InputSummary {
    valid: bool,
    extent: f32,
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
    pub(crate) fn merge(self, other: Self) -> Self {
        Self {
            valid: self.valid && other.valid,
            extent: self.extent.max(other.extent),
            groups: self.groups | other.groups,
        }
    }

    fn or_first_invalid(
        self,
        spheres: &[Sphere],
        dt: f32,
        set: Option<usize>,
    ) -> Result<Self, Error> {
        if self.valid {
            return Ok(self);
        }
        let mut all = spheres.iter().enumerate();
        let invalid = all.find_map(|(index, sphere)| Some((index, invalid_field(sphere, dt)?)));
        match invalid {
            Some((index, (field, value))) => Err(Error::InvalidSphere {
                index,
                set,
                field,
                value: value.into(),
                limit: MAX_MAGNITUDE.into(),
            }),
            None => Ok(self),
        }
    }

    #[cfg(feature = "gpu")]
    pub(crate) fn is_valid(self) -> bool {
        self.valid
    }

    pub(crate) fn extent(self) -> f32 {
        self.extent
    }

    /// The low 16 bits are the groups of a sphere, the high 16 those that it ignores. If no
    /// group is in both, groups exclude no pair.
    pub(crate) fn groups(self) -> bool {
        self.groups >> 16 & self.groups & 0xffff != 0
    }
}

/// An error names the set `set`: 0 or 1, or `None` in a step of one set.
pub(crate) fn check_spheres(
    spheres: &[Sphere],
    dt: f32,
    set: Option<usize>,
) -> Result<InputSummary, Error> {
    let summaries = spheres
        .par_chunks(CHUNK)
        .map(|spheres| summary_of(spheres, dt));
    let summary = summaries.reduce(InputSummary::default, InputSummary::merge);
    summary.or_first_invalid(spheres, dt, set)
}

/// Without branches, four numbers at once.
pub(crate) fn summary_of(spheres: &[Sphere], dt: f32) -> InputSummary {
    const MAX: f32 = MAX_MAGNITUDE;
    // The groups follow the velocity in memory. `no_groups` sets them to 0.
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

//! Units of time and length in which the step is not far from 1 and the largest
//! length not far below: so that no square underflows which matters. Powers of
//! two, so that nothing is rounded.

use std::borrow::Cow;

use rayon::prelude::*;

use crate::Sphere;
use crate::cpu::CHUNK;

/// Worlds smaller than this get a unit of length of their own.
pub(crate) const LEAST_USUAL: f32 = 1.0 / 256.0;

/// A unit of time and one of length: 2^these of the caller's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Units {
    pub(crate) time_power: i32,
    pub(crate) length_power: i32,
}

/// The exponent of the greatest power of two that is not greater than x > 0.
fn octave(x: f32) -> i32 {
    // Of a float32, a normal float64.
    i32::try_from(f64::from(x).to_bits() >> 52 & 0x7ff).unwrap_or(0) - 1023
}

/// x · 2^power, rounded where it is subnormal.
fn times_power(x: f32, power: i32) -> f32 {
    times(x, f64::from(power).exp2())
}

/// The same by the power's value.
#[allow(
    clippy::cast_possible_truncation,
    reason = "exact, or subnormal and far below rounding"
)]
fn times(x: f32, scale: f64) -> f32 {
    (f64::from(x) * scale) as f32
}

/// How spheres become those of a world in other units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    length: f64,
    velocity: f64,
}

impl Scale {
    /// The sphere in those units.
    pub(crate) fn of(self, sphere: &Sphere) -> Sphere {
        Sphere {
            center: sphere.center.map(|x| times(x, self.length)),
            radius: times(sphere.radius, self.length),
            velocity: sphere.velocity.map(|v| times(v, self.velocity)),
            ..*sphere
        }
    }
}

impl Units {
    /// For a step of length `dt` and lengths of `extent` at most.
    pub(crate) fn new(dt: f32, extent: f32) -> Self {
        Self {
            time_power: Self::of_time(dt),
            length_power: if extent == 0.0 || extent >= LEAST_USUAL {
                0
            } else {
                octave(extent)
            },
        }
    }

    fn of_time(dt: f32) -> i32 {
        if dt == 0.0 || (LEAST_USUAL..=LEAST_USUAL.recip()).contains(&dt) {
            0
        } else {
            octave(dt)
        }
    }

    /// The step in these units.
    pub(crate) fn step(self, dt: f32) -> f32 {
        times_power(dt, -self.time_power)
    }

    /// The unit of time in the caller's.
    pub(crate) fn time(self) -> f32 {
        times_power(1.0, self.time_power)
    }

    /// The powers of two that lengths and velocities take in a step of length
    /// `dt`. In one of length 0 velocities are of no account, and perhaps too
    /// large: they become 0.
    pub(crate) fn powers(self, dt: f32) -> [i32; 2] {
        let velocity = if dt == 0.0 {
            -10_000
        } else {
            self.time_power - self.length_power
        };
        [-self.length_power, velocity]
    }

    /// How spheres come into these units in a step of length `dt`; `None` if they are the
    /// caller's.
    pub(crate) fn scale(self, dt: f32) -> Option<Scale> {
        let [length, velocity] = self.powers(dt).map(|power| f64::from(power).exp2());
        (self != Self::default()).then_some(Scale { length, velocity })
    }

    /// The spheres in these units.
    pub(crate) fn scale_all(self, spheres: &[Sphere], dt: f32) -> Cow<'_, [Sphere]> {
        let Some(scale) = self.scale(dt) else {
            return Cow::Borrowed(spheres);
        };
        let several = spheres.par_iter().with_min_len(CHUNK);
        several.map(|sphere| scale.of(sphere)).collect()
    }
}

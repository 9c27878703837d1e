//! Units of time and length in which the step is neither very short nor very long, and the
//! largest length is not very small, so that no square that matters underflows. The units are
//! powers of two, so that nothing is rounded. Twin of `shaders/load_units.wgsl` and
//! `shaders/shared/units.wgsl`.

use wide::f32x4;

use super::moving_sphere::MovingSphere;
use super::scaled_sphere::ScaledSphere;
use super::segments::{Frame, SpherePath};
use crate::lanes::{LANES, four, rows, three};

/// Worlds smaller than this get a unit of length of their own, and steps shorter than
/// this, or longer than its reciprocal, one of time.
pub(crate) const LEAST_USUAL: f32 = 1.0 / 256.0;

/// A unit of time and one of length, as powers of two of the caller's units.
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

/// x · scale, where `scale` is a power of two; rounded where the product is subnormal.
#[allow(
    clippy::cast_possible_truncation,
    reason = "exact, or subnormal and far below rounding"
)]
fn times(x: f32, scale: f64) -> f32 {
    (f64::from(x) * scale) as f32
}

/// Conversion of a step into the units of the grids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// Factors of lengths and of velocities, if the units are not the caller's.
    factors: Option<[f64; 2]>,
    /// The length of the step in these units.
    pub(crate) dt: f32,
}

impl Scale {
    /// The caller's sphere in these units.
    #[inline(always)]
    pub(crate) fn sphere(&self, given: &impl MovingSphere) -> ScaledSphere {
        match self.factors {
            None => ScaledSphere::new(given.center(), given.radius(), given.velocity()),
            Some(factors) => scaled(given, factors),
        }
    }

    /// The path of the caller's sphere, in these units.
    #[inline(always)]
    pub(crate) fn path(&self, given: &impl MovingSphere, frame: &Frame) -> SpherePath {
        SpherePath::new(&self.sphere(given), frame, self.dt)
    }

    /// The paths of several of the caller's spheres, in these units.
    #[inline(always)]
    pub(crate) fn paths<S: MovingSphere>(
        &self,
        given: [&S; LANES],
        frame: &Frame,
    ) -> SpherePath<f32x4> {
        let rows = match self.factors {
            None => rows(given),
            Some(factors) => scaled_rows(given, factors),
        };
        SpherePath::of_rows(rows, frame, self.dt)
    }
}

/// Not inlined: that would slow down the steps that have no use for it.
#[inline(never)]
fn scaled_rows<S: MovingSphere>(given: [&S; LANES], factors: [f64; 2]) -> [[f32x4; LANES]; 2] {
    let spheres = four(given, |sphere| scaled(sphere, factors));
    rows(spheres.each_ref())
}

#[inline(always)]
fn scaled(given: &impl MovingSphere, [length, velocity]: [f64; 2]) -> ScaledSphere {
    ScaledSphere::new(
        three(given.center(), |x| times(x, length)),
        times(given.radius(), length),
        three(given.velocity(), |v| times(v, velocity)),
    )
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

    /// The length of a step in these units.
    pub(crate) fn step(self, dt: f32) -> f32 {
        times_power(dt, -self.time_power)
    }

    /// The unit of time, in the caller's.
    #[cfg(feature = "gpu")]
    pub(crate) fn time(self) -> f32 {
        times_power(1.0, self.time_power)
    }

    /// The powers of two that lengths and velocities are multiplied by in a step of length
    /// `dt`. In a step of length 0 velocities do not matter, and may be too large: they become
    /// 0.
    pub(crate) fn powers(self, dt: f32) -> [i32; 2] {
        let velocity = if dt == 0.0 {
            -10_000
        } else {
            self.time_power - self.length_power
        };
        [-self.length_power, velocity]
    }

    /// The conversion of a step of length `dt` into these units.
    pub(crate) fn scale(self, dt: f32) -> Scale {
        let factors = self.powers(dt).map(|power| f64::from(power).exp2());
        Scale {
            factors: (self != Self::default()).then_some(factors),
            dt: self.step(dt),
        }
    }
}

//! Units of time and length in which the grids compute, chosen so that no relevant square
//! underflows. A unit is the caller's unit times a power of two, so the conversion rounds only
//! subnormal results. Twin of `shaders/shared/step_params.wgsl` and `shaders/shared/units.wgsl`.

use wide::f32x4;

use super::moving_sphere::MovingSphere;
use super::scaled_sphere::ScaledSphere;
use super::segments::{Frame, SpherePath};
use crate::lanes::{LANES, four, rows, three};

/// The grids have their own unit of length if the largest length is below this, and of time if
/// the duration is below it or above its reciprocal.
pub(crate) const LEAST_USUAL: f32 = 1.0 / 256.0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Units {
    pub(crate) time_power: i32,
    pub(crate) length_power: i32,
}

fn octave(x: f32) -> i32 {
    // Even a subnormal float32 is a normal float64.
    i32::try_from(f64::from(x).to_bits() >> 52 & 0x7ff).unwrap_or(0) - 1023
}

fn times_power(x: f32, power: i32) -> f32 {
    times(x, f64::from(power).exp2())
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the product is exact, or subnormal and far smaller than the rounding errors"
)]
fn times(x: f32, scale: f64) -> f32 {
    (f64::from(x) * scale) as f32
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    factors: Option<[f64; 2]>,
    pub(crate) dt: f32,
}

impl Scale {
    pub(crate) fn length(&self, x: f32) -> f64 {
        f64::from(x) * self.factors.map_or(1.0, |[length, _]| length)
    }

    #[inline(always)]
    pub(crate) fn sphere(&self, given: &impl MovingSphere) -> ScaledSphere {
        match self.factors {
            None => ScaledSphere::new(given.center(), given.radius(), given.velocity()),
            Some(factors) => scaled(given, factors),
        }
    }

    #[inline(always)]
    pub(crate) fn path(&self, given: &impl MovingSphere, frame: &Frame) -> SpherePath {
        SpherePath::new(&self.sphere(given), frame, self.dt)
    }

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

/// Not inlined, so that steps without a conversion do not contain its code.
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

    pub(crate) fn step(self, dt: f32) -> f32 {
        times_power(dt, -self.time_power)
    }

    #[cfg(feature = "gpu")]
    pub(crate) fn time(self) -> f32 {
        times_power(1.0, self.time_power)
    }

    /// Exponents of 2 for lengths and velocities. In a step of duration 0, velocities
    /// become 0, because they might overflow.
    pub(crate) fn powers(self, dt: f32) -> [i32; 2] {
        let velocity = if dt == 0.0 {
            -10_000
        } else {
            self.time_power - self.length_power
        };
        [-self.length_power, velocity]
    }

    pub(crate) fn scale(self, dt: f32) -> Scale {
        let factors = self.powers(dt).map(|power| f64::from(power).exp2());
        Scale {
            factors: (self != Self::default()).then_some(factors),
            dt: self.step(dt),
        }
    }
}

//! Units of time and length in which the step is neither very short nor very long, and
//! the largest length not very small: so that no square underflows which matters. Powers
//! of two, so that nothing is rounded.

use wide::f32x4;

use super::segments::{Frame, Motion};
use crate::Sphere;
use crate::lanes::{LANES, four, three};

/// Worlds smaller than this get a unit of length of their own, and steps shorter than
/// this, or longer than its reciprocal, one of time.
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

/// How a step comes into such units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// What lengths and velocities are multiplied by, if the units are not the caller's.
    factors: Option<[f64; 2]>,
    /// The length of the step in these units.
    pub(crate) dt: f32,
}

impl Scale {
    /// The caller's sphere in these units.
    #[inline(always)]
    pub(crate) fn sphere(&self, given: &Sphere) -> Sphere {
        match self.factors {
            None => *given,
            Some(factors) => scaled(given, factors),
        }
    }

    /// Its path.
    #[inline(always)]
    pub(crate) fn motion(&self, given: &Sphere, frame: &Frame) -> Motion {
        match self.factors {
            None => Motion::new(given, frame, self.dt),
            Some(factors) => Motion::new(&scaled(given, factors), frame, self.dt),
        }
    }

    /// Those of several.
    #[inline(always)]
    pub(crate) fn motions(&self, given: [&Sphere; LANES], frame: &Frame) -> Motion<f32x4> {
        let own;
        let spheres = match self.factors {
            None => given,
            Some(factors) => {
                own = several_scaled(given, factors);
                four([0, 1, 2, 3], |k| &own[k])
            }
        };
        Motion::of_several(spheres, frame, self.dt)
    }
}

/// Not inlined: that would slow down the steps that have no use for it.
#[inline(never)]
fn several_scaled(given: [&Sphere; LANES], factors: [f64; 2]) -> [Sphere; LANES] {
    four(given, |sphere| scaled(sphere, factors))
}

#[inline(always)]
fn scaled(given: &Sphere, [length, velocity]: [f64; 2]) -> Sphere {
    Sphere {
        center: three(given.center, |x| times(x, length)),
        radius: times(given.radius, length),
        velocity: three(given.velocity, |v| times(v, velocity)),
        ..*given
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
    #[cfg(feature = "gpu")]
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

    /// A step of length `dt` in these units.
    pub(crate) fn scale(self, dt: f32) -> Scale {
        let factors = self.powers(dt).map(|power| f64::from(power).exp2());
        Scale {
            factors: (self != Self::default()).then_some(factors),
            dt: self.step(dt),
        }
    }
}

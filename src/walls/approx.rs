//! Float64 arithmetic in which every number carries a bound of its error.

use std::array::from_fn;
use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};

/// Largest relative error of one float64 operation: half a unit in the last place of 1.
const U: f64 = f64::EPSILON / 2.0;

/// A float64 number and a bound of its error: the exact number is at most `error` away from `value`. The
/// bound is 0 only if `value` is exact. docs/exact.md (section 6) has the proof.
///
/// The magnitudes of all numbers must stay below 2⁵⁰⁰, so that no product of two of them overflows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Approx {
    pub(super) value: f64,
    error: f64,
}

/// Enlarges a computed sum of error terms so that it covers the rounding errors of the sum itself, including
/// underflow.
fn covered(error: f64) -> f64 {
    error * (1.0 + 16.0 * U) + f64::MIN_POSITIVE
}

/// Returns whether a number has at most 26 significant bits, so that the square of the number, and its
/// product with another such number, need no rounding.
fn is_short(x: f64) -> bool {
    x.to_bits() & ((1 << 27) - 1) == 0
}

impl Approx {
    pub(super) const fn exact(value: f64) -> Self {
        Self { value, error: 0.0 }
    }

    /// Converts a vector from float32 to float64. This conversion is exact, so the error bounds are 0.
    pub(super) fn vector(x: [f32; 3]) -> [Self; 3] {
        x.map(|x| Self::exact(x.into()))
    }

    /// Returns the sign of the exact number, or `None` if the error bound leaves it open.
    pub(super) fn sign(self) -> Option<Ordering> {
        if self.value.abs() > self.error || self.error == 0.0 {
            self.value.partial_cmp(&0.0)
        } else {
            None
        }
    }

    /// Rounds the exact number to float32. The number must be from 0 to `most`. Returns `None` if the error
    /// bound admits two float32 results.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "rounding to float32 is intended"
    )]
    pub(super) fn round(self, most: f64) -> Option<f32> {
        let [low, high] = [self.value - self.error, self.value + self.error];
        // Rounding moves `value - error` and `value + error`, the ends of an interval that contains
        // the exact number. Moving each end outwards to the next float64 makes sure that the
        // interval still contains the number.
        let low = if self.error > 0.0 {
            low.next_down()
        } else {
            low
        };
        let high = if self.error > 0.0 {
            high.next_up()
        } else {
            high
        };
        let [low, high] = [low.max(0.0) as f32, high.min(most) as f32];
        (low == high).then_some(low)
    }

    /// Returns the square root of this number, or `None` if the number is negative or the error
    /// bound admits a negative number.
    pub(super) fn sqrt(self) -> Option<Self> {
        if self.sign()? == Ordering::Less {
            return None;
        }
        let value = self.value.sqrt();
        if self.error == 0.0 && (value == 0.0 || is_short(value) && value * value == self.value) {
            return Some(Self::exact(value));
        }
        Some(Self {
            value,
            error: covered(self.error / value + U * value),
        })
    }

    /// Returns the quotient of this number and `divisor`, or `None` if the divisor is 0 or the
    /// error bounds admit 0.
    pub(super) fn over(self, divisor: Self) -> Option<Self> {
        if divisor.sign()? == Ordering::Equal {
            return None;
        }
        let value = self.value / divisor.value;
        let rest = divisor.value.abs() - divisor.error;
        let error = (self.error + value.abs() * divisor.error) / rest;
        (rest > 0.0).then(|| Self {
            value,
            error: covered(error + U * value.abs()),
        })
    }
}

impl Neg for Approx {
    type Output = Self;

    fn neg(self) -> Self {
        Self {
            value: -self.value,
            ..self
        }
    }
}

impl Add for Approx {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let value = self.value + other.value;
        // The rounding error of the sum, by Knuth's two-sum.
        let of_other = value - self.value;
        let lost = (self.value - (value - of_other)) + (other.value - of_other);
        let error = self.error + other.error + lost.abs();
        Self {
            value,
            error: if error == 0.0 { 0.0 } else { covered(error) },
        }
    }
}

impl Sub for Approx {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Approx {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        // If the magnitude of an exact product is below this limit, its last digits may be too small for
        // float64.
        const LEAST: f64 = f64::MIN_POSITIVE * (1_u64 << 54) as f64;
        let (x, y) = (self.value, other.value);
        let value = x * y;
        let short = is_short(x) && is_short(y) && value.abs() >= LEAST;
        let exact = |number: Self| number.error == 0.0;
        let nothing = |number: Self| exact(number) && number.value == 0.0;
        if nothing(self) || nothing(other) || (short && exact(self) && exact(other)) {
            return Self::exact(value);
        }
        let error = x.abs() * other.error + y.abs() * self.error + self.error * other.error;
        Self {
            value,
            error: covered(error + U * value.abs()),
        }
    }
}

pub(super) fn dot(x: [Approx; 3], y: [Approx; 3]) -> Approx {
    x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
}

pub(super) fn cross(x: [Approx; 3], y: [Approx; 3]) -> [Approx; 3] {
    from_fn(|k| {
        let [i, j] = [(k + 1) % 3, (k + 2) % 3];
        x[i] * y[j] - x[j] * y[i]
    })
}

pub(super) fn difference(x: [Approx; 3], y: [Approx; 3]) -> [Approx; 3] {
    from_fn(|k| x[k] - y[k])
}

//! Float64 arithmetic in which every number carries a bound of its error.

use std::array::from_fn;
use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};

const U: f64 = f64::EPSILON / 2.0;

/// The exact number is at most `error` away from `value`, and the bound is 0 only if `value` is
/// exact (docs/exact.md, section 6).
///
/// The magnitudes of all numbers must stay below 2⁵⁰⁰, so that no product of two overflows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Approx {
    pub(super) value: f64,
    error: f64,
}

/// Covers the rounding errors of a sum of error terms, with underflow.
fn covered(error: f64) -> f64 {
    error * (1.0 + 16.0 * U) + f64::MIN_POSITIVE
}

/// At most 26 significant bits, so that products with another such number need no rounding.
fn is_short(x: f64) -> bool {
    x.to_bits() & ((1 << 27) - 1) == 0
}

impl Approx {
    pub(super) const fn exact(value: f64) -> Self {
        Self { value, error: 0.0 }
    }

    pub(super) fn vector(x: [f32; 3]) -> [Self; 3] {
        x.map(|x| Self::exact(x.into()))
    }

    /// `None` if the error bound leaves it open.
    pub(super) fn sign(self) -> Option<Ordering> {
        if self.value.abs() > self.error || self.error == 0.0 {
            self.value.partial_cmp(&0.0)
        } else {
            None
        }
    }

    /// From 0 to `most`. `None` if the error bound admits two results.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "rounding to float32 is intended"
    )]
    pub(super) fn round(self, most: f64) -> Option<f32> {
        let [low, high] = [self.value - self.error, self.value + self.error];
        // Each end is moved outwards to the next float64, because of its own rounding.
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

    /// `None` if the error bound admits a negative number.
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

    /// `None` if the error bound of the divisor admits 0.
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
        // Knuth's two-sum.
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
        // The last digits of smaller exact products may be too small for float64.
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

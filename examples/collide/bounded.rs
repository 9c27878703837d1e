//! Float64 numbers that know how wrong they may be.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// Covers the rounding of the few operations that form an error.
const INFLATE: f64 = 1.0 + 1e-14;

/// A value, and a bound on its distance from the real number it stands for. The
/// rounding error of each sum and product is computed exactly, so that it is 0
/// where nothing was rounded: contacts of round numbers stay certain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounded {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

impl Bounded {
    /// Whether the real number is positive; `None` if the error leaves it open.
    pub(crate) fn is_positive(self) -> Option<bool> {
        if self.value > self.error {
            Some(true)
        } else if self.value <= -self.error {
            Some(false)
        } else {
            None
        }
    }

    /// The square root, of 0 for a value that the error makes negative.
    pub(crate) fn sqrt(self) -> Self {
        let Self { value, error } = self;
        let root = value.max(0.0).sqrt();
        let inherited = if value > error {
            error / root
        } else {
            (value.max(0.0) + error).sqrt()
        };
        Self {
            value: root,
            error: (inherited + root * f64::EPSILON) * INFLATE,
        }
    }
}

impl From<f32> for Bounded {
    fn from(value: f32) -> Self {
        Self {
            value: value.into(),
            error: 0.0,
        }
    }
}

impl Neg for Bounded {
    type Output = Self;
    fn neg(self) -> Self {
        Self {
            value: -self.value,
            ..self
        }
    }
}

impl Add for Bounded {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (a, b) = (self.value, other.value);
        let value = a + b;
        // Knuth's two-sum: what the rounding lost, exactly.
        let of_b = value - a;
        let lost = (a - (value - of_b)) + (b - of_b);
        Self {
            value,
            error: (self.error + other.error + lost.abs()) * INFLATE,
        }
    }
}

impl Sub for Bounded {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Bounded {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let (a, b) = (self.value, other.value);
        let value = a * b;
        let lost = a.mul_add(b, -value);
        let inherited = a.abs() * other.error + b.abs() * self.error + self.error * other.error;
        Self {
            value,
            error: (inherited + lost.abs()) * INFLATE,
        }
    }
}

impl Div for Bounded {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        let least = other.value.abs() - other.error;
        let inherited = (self.error + value.abs() * other.error) / least;
        let error = if least > 0.0 {
            (inherited + value.abs() * f64::EPSILON) * INFLATE
        } else {
            f64::INFINITY
        };
        Self { value, error }
    }
}

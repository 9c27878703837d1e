//! Sums and products of float64 numbers without rounding errors, as a rounded number and its error. The functions
//! work on single numbers and on SIMD vectors.

use std::ops::{Add, Mul, Sub};

use wide::f64x2;

/// A float64, or a SIMD vector of two.
pub(super) trait Wide:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    fn of(x: f64) -> Self;
}

impl Wide for f64 {
    #[inline(always)]
    fn of(x: f64) -> Self {
        x
    }
}

impl Wide for f64x2 {
    #[inline(always)]
    fn of(x: f64) -> Self {
        Self::splat(x)
    }
}

/// Returns x + y, rounded, and the rounding error (Knuth's two-sum).
#[inline(always)]
pub(super) fn sum<T: Wide>(x: T, y: T) -> [T; 2] {
    let sum = x + y;
    let of_y = sum - x;
    [sum, (x - (sum - of_y)) + (y - of_y)]
}

/// Returns x − y, rounded, and the rounding error.
#[inline(always)]
pub(super) fn difference<T: Wide>(x: T, y: T) -> [T; 2] {
    let difference = x - y;
    let of_y = x - difference;
    [difference, (x - (difference + of_y)) + (of_y - y)]
}

/// Splits a number into the sum of two numbers of at most 26 digits (Veltkamp).
#[inline(always)]
pub(super) fn split<T: Wide>(x: T) -> [T; 2] {
    let t = x * T::of(134_217_729.0);
    let high = t - (t - x);
    [high, x - high]
}

/// Returns x·y, rounded, and the rounding error (Dekker). The arguments are x, y and the parts of both.
#[inline(always)]
pub(super) fn product<T: Wide>(x: T, y: T, [a, b]: [T; 2], [c, d]: [T; 2]) -> [T; 2] {
    let product = x * y;
    [product, ((a * c - product) + a * d + b * c) + b * d]
}

/// Returns x², rounded, and the rounding error.
#[inline(always)]
pub(super) fn square<T: Wide>(x: T) -> [T; 2] {
    let [a, b] = split(x);
    let square = x * x;
    let ab = a * b;
    [square, ((a * a - square) + (ab + ab)) + b * b]
}

/// Returns x + y + z, rounded once (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008).
pub(super) fn sum_of_three(x: f64, y: f64, z: f64) -> f64 {
    let [high, low] = sum(y, z);
    let [place, rounded] = sum(x, high);
    let [rest, error] = sum(rounded, low);
    // The rest is rounded to the neighbour with an odd last digit, which is halfway between no two possible results.
    let is_even = rest.to_bits() & 1 == 0;
    place
        + match (error > 0.0, error < 0.0) {
            (true, _) if is_even => rest.next_up(),
            (_, true) if is_even => rest.next_down(),
            _ => rest,
        }
}

//! Arithmetic on one float32 or on a vector of four. Code that is generic over both gives the same
//! bits with either.

use std::ops::{Add, Mul, Sub};

use bytemuck::Pod;
use wide::f32x4;

/// Number of lanes of a vector.
pub(crate) const LANES: usize = 4;

/// One float32, or a vector of [`LANES`] float32.
pub(crate) trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// Returns a value that has `x` in every lane.
    fn of(x: f32) -> Self;
    /// Returns the absolute value.
    fn abs(self) -> Self;
    /// Returns the square root.
    fn sqrt(self) -> Self;
    /// Returns the larger of two numbers, lane by lane. No number may be NaN.
    fn max(self, other: Self) -> Self;
}

impl Real for f32 {
    #[inline(always)]
    fn of(x: f32) -> Self {
        x
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.abs()
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        self.sqrt()
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.max(other)
    }
}

impl Real for f32x4 {
    #[inline(always)]
    fn of(x: f32) -> Self {
        Self::splat(x)
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.abs()
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        self.sqrt()
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.fast_max(other)
    }
}

/// Returns the dot product x·y.
#[inline(always)]
pub(crate) fn dot<T: Copy + Add<Output = T> + Mul<Output = T>>(x: [T; 3], y: [T; 3]) -> T {
    x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
}

/// Returns the largest of three numbers, lane by lane.
#[inline(always)]
pub(crate) fn largest<T: Real>(x: [T; 3]) -> T {
    x[0].max(x[1]).max(x[2])
}

/// Applies a function to the coordinates of two vectors in space, axis by axis.
#[inline(always)]
pub(crate) fn each<T: Real>(x: [T; 3], y: [T; 3], of: impl Fn(T, T) -> T) -> [T; 3] {
    [of(x[0], y[0]), of(x[1], y[1]), of(x[2], y[2])]
}

/// Maps an array of three items like `<[T; 3]>::map`, but is always inlined.
#[inline(always)]
pub(crate) fn three<T: Copy, U>(x: [T; 3], of: impl Fn(T) -> U) -> [U; 3] {
    [of(x[0]), of(x[1]), of(x[2])]
}

/// Maps an array of two items like `<[T; 2]>::map`, but is always inlined.
#[inline(always)]
pub(crate) fn two<T: Copy, U>(x: [T; 2], of: impl Fn(T) -> U) -> [U; 2] {
    [of(x[0]), of(x[1])]
}

/// Maps an array of [`LANES`] items like `<[T; LANES]>::map`, but is always inlined.
#[inline(always)]
pub(crate) fn four<T: Copy, U>(x: [T; LANES], of: impl Fn(T) -> U) -> [U; LANES] {
    [of(x[0]), of(x[1]), of(x[2]), of(x[3])]
}

/// Transposes [`LANES`] items of 8 words each: vector k of the result has word k of every item. The
/// first array of the result has the vectors 0 to 3, the second the vectors 4 to 7.
#[inline(always)]
pub(crate) fn rows<T: Pod>(items: [&T; LANES]) -> [[f32x4; LANES]; 2] {
    const { assert!(size_of::<T>() == 32) };
    let halves = four(items, |item| {
        bytemuck::cast_ref::<T, [[f32; LANES]; 2]>(item)
    });
    [
        f32x4::transpose(four(halves, |halves| halves[0].into())),
        f32x4::transpose(four(halves, |halves| halves[1].into())),
    ]
}

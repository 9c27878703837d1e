//! Arithmetic that is generic over one float32 and a vector of four. Both give the same bits.

use std::ops::{Add, Mul, Sub};

use bytemuck::Pod;
use wide::f32x4;

/// Number of float32 in a vector.
pub(crate) const LANES: usize = 4;

/// One float32, or a vector of [`LANES`] float32.
pub(crate) trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// Returns a vector whose numbers are all `x`.
    fn of(x: f32) -> Self;
    fn abs(self) -> Self;
    fn sqrt(self) -> Self;
    /// Returns the larger of two numbers, neither of which may be NaN.
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

#[inline(always)]
pub(crate) fn dot<T: Copy + Add<Output = T> + Mul<Output = T>>(x: [T; 3], y: [T; 3]) -> T {
    x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
}

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

#[inline(always)]
pub(crate) fn two<T: Copy, U>(x: [T; 2], of: impl Fn(T) -> U) -> [U; 2] {
    [of(x[0]), of(x[1])]
}

#[inline(always)]
pub(crate) fn four<T: Copy, U>(x: [T; LANES], of: impl Fn(T) -> U) -> [U; LANES] {
    [of(x[0]), of(x[1]), of(x[2]), of(x[3])]
}

/// Transposes four items of 8 words each into 8 vectors: vector k has word k of every item. The
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

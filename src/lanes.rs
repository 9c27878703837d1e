//! Arithmetic on one float32, or on several side by side: code written once for both
//! computes the same bits.

use std::ops::{Add, Mul, Sub};

use bytemuck::Pod;
use wide::f32x4;

/// Numbers side by side.
pub(crate) const LANES: usize = 4;

/// One float32, or [`LANES`] of them.
pub(crate) trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// `x` in every lane.
    fn of(x: f32) -> Self;
    /// |x|.
    fn abs(self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// The larger of two numbers, neither of them NaN.
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

/// x·y.
#[inline(always)]
pub(crate) fn dot<T: Copy + Add<Output = T> + Mul<Output = T>>(x: [T; 3], y: [T; 3]) -> T {
    x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
}

/// The largest of three.
#[inline(always)]
pub(crate) fn largest<T: Real>(x: [T; 3]) -> T {
    x[0].max(x[1]).max(x[2])
}

/// A function of the coordinates of two vectors, axis by axis.
#[inline(always)]
pub(crate) fn each<T: Real>(x: [T; 3], y: [T; 3], of: impl Fn(T, T) -> T) -> [T; 3] {
    [of(x[0], y[0]), of(x[1], y[1]), of(x[2], y[2])]
}

/// As `map` of an array of three, which compilers do not always inline.
#[inline(always)]
pub(crate) fn three<T: Copy, U>(x: [T; 3], of: impl Fn(T) -> U) -> [U; 3] {
    [of(x[0]), of(x[1]), of(x[2])]
}

/// As `map` of an array of two, always inlined.
#[inline(always)]
pub(crate) fn two<T: Copy, U>(x: [T; 2], of: impl Fn(T) -> U) -> [U; 2] {
    [of(x[0]), of(x[1])]
}

/// As `map` of an array of [`LANES`], always inlined.
#[inline(always)]
pub(crate) fn four<T: Copy, U>(x: [T; LANES], of: impl Fn(T) -> U) -> [U; LANES] {
    [of(x[0]), of(x[1]), of(x[2]), of(x[3])]
}

/// The numbers of several items of 8 words each: word k of all of them side by side.
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

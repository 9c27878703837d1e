//! Float32 arithmetic on single numbers and on SIMD vectors of four numbers. Both give the same
//! bits.

use std::ops::{Add, Mul, Sub};

use bytemuck::Pod;
use wide::f32x4;

pub(crate) const LANES: usize = 4;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Bits(pub(crate) u32);

impl Iterator for Bits {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let place = self.0.trailing_zeros() as usize;
        let any = self.0 != 0;
        self.0 &= self.0.wrapping_sub(1);
        any.then_some(place)
    }
}

pub(crate) trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    fn of(x: f32) -> Self;
    fn abs(self) -> Self;
    fn sqrt(self) -> Self;
    /// Neither may be NaN.
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

#[inline(always)]
pub(crate) fn each<T: Real>(x: [T; 3], y: [T; 3], of: impl Fn(T, T) -> T) -> [T; 3] {
    [of(x[0], y[0]), of(x[1], y[1]), of(x[2], y[2])]
}

/// Like `<[T; 3]>::map`, but always inlined.
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

/// Vector k has word k of every item. Returns vectors 0 to 3, and 4 to 7.
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

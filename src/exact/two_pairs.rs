//! Tests two pairs of moving spheres side by side in float64, and decides most pairs at little
//! cost.

#![allow(
    clippy::cast_possible_truncation,
    reason = "rounding to float32 is intended"
)]

use std::array::from_fn;

use wide::{f32x4, f64x2};

use super::answer::Hit;
use super::shift::Shift;
use crate::lanes::{LANES, dot, rows, three, two};
use crate::shared::moving_sphere::MovingSphere;

/// Bit masks for two pairs. A pair in neither `hits` nor `misses` needs more precise arithmetic.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Swept {
    pub(crate) hits: usize,
    pub(crate) impacts: [Hit; 2],
    /// Both bits are set if both pairs just touch at the start, otherwise none: a slower
    /// test decides a single one.
    pub(crate) just: usize,
    pub(crate) misses: usize,
    /// The pairs that just touch, or that are undecided: too close to tangency or to the
    /// end of the step.
    pub(crate) grazing: usize,
}

/// The sign of a difference, p·p − r² or the discriminant, is certain if its magnitude is at
/// least this fraction of the sum of the magnitudes of its terms.
const SIGN: f64 = 1.0 / (1_u64 << 40) as f64;
/// The time of impact and the depth are precise enough if p·p − r² and the discriminant are at
/// least this fraction of the sum of their terms.
const VALUE: f64 = 1.0 / (1_u64 << 16) as f64;
/// Bound of the relative error of a time or depth if [`VALUE`] holds.
const OFF: f64 = 1.0 / (1_u64 << 32) as f64;

/// Terms of two pairs, one in each half of a vector: relative position p, relative velocity v,
/// sum r of the radii.
struct Terms {
    r: f64x2,
    pp: f64x2,
    vv: f64x2,
    outside: f64x2,
    sum: f64x2,
    closing: f64x2,
    discriminant: f64x2,
    /// The pairs whose relative position has more than one rounding error, which the error
    /// bounds do not cover.
    inexact: usize,
}

impl Terms {
    #[inline(always)]
    fn new<S: MovingSphere, T: Shift>(pairs: [[&S; 2]; 2], shifts: [T; 2]) -> Self {
        let [[x, y, z, radius], [u, v, w, _]] = side_by_side(pairs);
        let difference = |x| {
            let [from, to] = sides(x);
            to - from
        };
        let (p, v) = (three([x, y, z], difference), three([u, v, w], difference));
        let (p, inexact) = displaced([x, y, z], p, shifts);
        let [r, other] = sides(radius);
        let r = r + other;
        let (pp, rr, vv) = (dot(p, p), r * r, dot(v, v));
        let (outside, sum) = (pp - rr, pp + rr);
        let closing = f64x2::splat(0.0) - dot(p, v);
        Self {
            r,
            pp,
            vv,
            outside,
            sum,
            closing,
            discriminant: closing * closing - outside * vv,
            inexact,
        }
    }
}

/// Adds `shifts` to the relative positions `away`. Also returns a mask of the pairs for which a
/// rounding error adds to that of the sum.
#[inline(always)]
fn displaced<T: Shift>(
    positions: [f32x4; 3],
    away: [f64x2; 3],
    shifts: [T; 2],
) -> ([f64x2; 3], usize) {
    let [Some(one), Some(next)] = [shifts[0].translation(), shifts[1].translation()] else {
        return (away, 0);
    };
    let mut off = f64x2::splat(0.0);
    let p = from_fn(|axis| {
        let [from, to] = sides(positions[axis]);
        // Knuth's two-sum.
        let part = away[axis] - to;
        off |= (to - (away[axis] - part)) - (from + part);
        away[axis] + f64x2::new([one.by[axis], next.by[axis]])
    });
    let off = off.to_array();
    let inexact = |lane: usize, exact: bool| usize::from(off[lane] != 0.0 || !exact) << lane;
    (p, inexact(0, one.exact) | inexact(1, next.exact))
}

/// Tests two pairs in a step of duration `dt`. `shifts` displaces the second spheres. The
/// errors are bounded by [`SIGN`], [`VALUE`] and [`OFF`], not for each pair (docs/exact.md,
/// section 4).
#[inline(always)]
pub(crate) fn sweep<S: MovingSphere, T: Shift>(
    pairs: [[&S; 2]; 2],
    shifts: [T; 2],
    dt: f32,
) -> Swept {
    let terms = Terms::new(pairs, shifts);
    let zero = f64x2::splat(0.0);
    let later = terms.outside.simd_gt(zero);
    let certain = leaves(SIGN, terms.outside, terms.sum);
    let certain_later = leaves(SIGN, terms.discriminant, terms.sum * terms.vv);
    // Spheres that are apart never touch if the discriminant is negative or if they move
    // apart. A discriminant of 0 is certain only if the relative velocity is 0, and then
    // they stay apart.
    let never = terms.discriminant.simd_le(zero) | terms.closing.simd_lt(zero);
    let misses = bits(certain & later & certain_later & never) & !terms.inexact;
    if misses == 3 {
        return Swept {
            misses,
            ..Swept::default()
        };
    }
    // In packings, most pairs just touch. If only one does, `impact` decides it: a branch
    // for this rarer case would slow down all other pairs.
    if bits(terms.outside.simd_eq(zero)) == 3 && just_touch(pairs, shifts) == 3 {
        return Swept {
            hits: 3,
            just: 3,
            grazing: 3,
            ..Swept::default()
        };
    }
    let uncertain = !bits(certain & later.bitselect(certain_later, all_bits()));
    terms.verdict(later, misses, uncertain, dt)
}

#[inline(always)]
fn bits(lanes: f64x2) -> usize {
    lanes.to_bitmask() as usize
}

#[inline(always)]
fn all_bits() -> f64x2 {
    f64x2::splat(f64::from_bits(u64::MAX))
}

#[inline(always)]
fn leaves(part: f64, difference: f64x2, sum: f64x2) -> f64x2 {
    difference.abs().simd_ge(f64x2::splat(part) * sum)
}

impl Terms {
    /// Computes the time of impact and the depth of two pairs, decided only if both ends of
    /// their intervals round to the same float32. `later` marks the pairs that are apart at
    /// the start, `uncertain` those too close to tangency.
    #[inline(always)]
    fn verdict(&self, later: f64x2, misses: usize, uncertain: usize, dt: f32) -> Swept {
        let zero = f64x2::splat(0.0);
        let either = |then: f64x2, at_once: f64x2| later.bitselect(then, at_once);
        // The time of impact c / (−p·v + √discriminant), or the depth −c / (r + |p|),
        // for c = p·p − r².
        let root = either(self.discriminant, self.pp).sqrt();
        let value = self.outside.abs() / (either(self.closing, self.r) + root);
        let told_later = leaves(VALUE, self.discriminant, self.sum * self.vv);
        let told = leaves(VALUE, self.outside, self.sum) & either(told_later, all_bits());
        let least = value * f64x2::splat(1.0 - OFF);
        let most = value * f64x2::splat(1.0 + OFF);
        let end = either(f64x2::splat(dt.into()), f64x2::splat(f64::MAX));
        let misses = misses | bits(told & least.simd_gt(end)) & !self.inexact;
        let within = bits(told & most.simd_le(end)) & !self.inexact;
        let grazing = (uncertain | bits(told) & !within & !self.inexact) & !misses;
        let round = |lanes: f64x2| two(lanes.to_array(), |x| x as f32);
        // One of them is always 0, but a branch would often be mispredicted.
        let (toi, depth) = (round(either(least, zero)), round(either(zero, least)));
        let (least, most) = (round(least), round(most));
        let same = |lane: usize| usize::from(least[lane] == most[lane]) << lane;
        Swept {
            hits: within & (same(0) | same(1)) & !misses,
            impacts: two([0, 1], |lane: usize| Hit {
                toi: toi[lane],
                depth: depth[lane],
            }),
            just: 0,
            misses,
            grazing: grazing & 3,
        }
    }
}

/// Returns a mask of the pairs with p·p = r² exactly. Leaves out a pair if any operation on it
/// rounds, which is rare for coordinates of similar magnitude.
#[inline(never)]
pub(super) fn just_touch<S: MovingSphere, T: Shift>(pairs: [[&S; 2]; 2], shifts: [T; 2]) -> usize {
    // Without these bits, the square of a float64 is exact.
    let past = f64x2::splat(f64::from_bits((1 << 27) - 1));
    let zero = f64x2::splat(0.0);
    // Bitwise OR of the rounding errors of all additions by `sum`, found by Knuth's two-sum.
    let mut off = zero;
    let mut sum = |x: f64x2, y: f64x2| {
        let sum = x + y;
        let of_y = sum - x;
        off |= (x - (sum - of_y)) + (y - of_y);
        sum
    };
    let [[x, y, z, radius], _] = side_by_side(pairs);
    let mut less = |x| {
        let [from, to] = sides(x);
        sum(to, zero - from)
    };
    let mut p = [less(x), less(y), less(z)];
    let mut inexact = 0;
    if let [Some(one), Some(next)] = [shifts[0].translation(), shifts[1].translation()] {
        let by = three([0, 1, 2], |axis| f64x2::new([one.by[axis], next.by[axis]]));
        p = [sum(p[0], by[0]), sum(p[1], by[1]), sum(p[2], by[2])];
        inexact = usize::from(!one.exact) | usize::from(!next.exact) << 1;
    }
    let [x, y, z] = p;
    let [r, other] = sides(radius);
    let r = sum(r, other);
    let xy = sum(x * x, y * y);
    let pp = sum(xy, z * z);
    let off = off | (x | y | z | r) & past;
    let bits = two([pp - r * r, off], |x| two(x.to_array(), f64::to_bits));
    let is = |lane: usize| usize::from(bits[0][lane] == 0 && bits[1][lane] == 0) << lane;
    (is(0) | is(1)) & !inexact
}

/// One vector for each 32-bit number of a sphere: of the two first spheres, then of the two
/// second ones.
#[inline(always)]
fn side_by_side<S: MovingSphere>([one, next]: [[&S; 2]; 2]) -> [[f32x4; LANES]; 2] {
    rows([one[0], next[0], one[1], next[1]])
}

#[inline(always)]
fn sides(x: f32x4) -> [f64x2; 2] {
    let [a, c, b, d] = x.to_array();
    two([[a, c], [b, d]], |x| f64x2::new(two(x, f64::from)))
}

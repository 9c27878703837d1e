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

/// Results of testing two pairs of moving spheres. In each bit mask, bit 0 is for the first pair
/// and bit 1 for the second. A pair in neither `hits` nor `misses` needs more precise arithmetic.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Swept {
    pub(crate) hits: usize,
    pub(crate) impacts: [Hit; 2],
    /// Both bits of this mask are 1 if both tested pairs just touch at the start, and otherwise
    /// both are 0. If only one of the pairs just touches, a slower test decides it.
    pub(crate) just: usize,
    pub(crate) misses: usize,
    /// Bit mask of the two tested pairs. The bit of a pair is 1 if its spheres just touch at the
    /// start. It is also 1 if the pair is undecided because it is too close to tangency or to the
    /// end of the step.
    pub(crate) grazing: usize,
}

/// Two differences are computed with rounding errors: p·p − r², for the relative position p of two
/// spheres and the sum r of their radii, and the discriminant of the equation for the time of
/// impact. The sign of such a difference is certain if its magnitude is at least this fraction of
/// the sum of the magnitudes of its terms.
const SIGN: f64 = 1.0 / (1_u64 << 40) as f64;
/// The time of impact and the depth of two spheres are precise enough if each of two differences is
/// at least this fraction of the sum of its terms, so that few digits cancel. One difference is
/// p·p − r², for the relative position p and the sum r of the radii. The other is the discriminant
/// of the equation for the time.
const VALUE: f64 = 1.0 / (1_u64 << 16) as f64;
/// Bound of the relative error of a computed time of impact or depth. It holds if each difference
/// in the computation is at least a certain fraction, [`VALUE`], of the sum of its terms.
/// Cancellation then costs few digits.
const OFF: f64 = 1.0 / (1_u64 << 32) as f64;

/// Terms of the tests of two pairs of spheres, one in each half of a vector. p and v are the
/// relative position and velocity of two spheres, and r is the sum of their radii.
struct Terms {
    r: f64x2,
    pp: f64x2,
    vv: f64x2,
    outside: f64x2,
    sum: f64x2,
    closing: f64x2,
    discriminant: f64x2,
    /// Bit mask of the pairs whose relative position has more than one rounding error. `sweep`
    /// leaves these pairs open, because its error bounds assume one rounding error.
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

/// Adds the displacements `shifts` of the second spheres to the relative positions `away` of two
/// pairs. Also returns a bit mask of the pairs for which a rounding error of `away` or of the
/// displacement adds to the rounding error of the sum.
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
        // Computes the rounding error of the subtraction `to` − `from` by Knuth's two-sum.
        let part = away[axis] - to;
        off |= (to - (away[axis] - part)) - (from + part);
        away[axis] + f64x2::new([one.by[axis], next.by[axis]])
    });
    let off = off.to_array();
    let inexact = |lane: usize, exact: bool| usize::from(off[lane] != 0.0 || !exact) << lane;
    (p, inexact(0, one.exact) | inexact(1, next.exact))
}

/// Tests two pairs of moving spheres in a step of duration `dt`. `shifts` displaces the second
/// sphere of each pair. The errors are bounded by the constants [`SIGN`], [`VALUE`] and [`OFF`],
/// not by bounds computed for each pair. docs/exact.md (section 4) has the proof.
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
    // Spheres that are apart at the start never touch if the discriminant is negative or if they
    // move apart. A discriminant of 0 may mean that the spheres just touch later. But a pair counts
    // as a miss only if the sign of its discriminant is certain. A discriminant of 0 is certain
    // only if the relative velocity is 0, and then the spheres stay apart.
    let never = terms.discriminant.simd_le(zero) | terms.closing.simd_lt(zero);
    let misses = bits(certain & later & certain_later & never) & !terms.inexact;
    if misses == 3 {
        return Swept {
            misses,
            ..Swept::default()
        };
    }
    // Decides both tested pairs at once if both just touch, as most pairs in packings of spheres
    // do. If only one of them just touches, it stays undecided here, and `impact` decides it later.
    // A branch for this rarer case would slow down all other pairs.
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
    /// Computes the time of impact and the depth of two pairs of spheres. The exact value of each
    /// is in an interval, which the error bounds give. A pair is decided only if both ends of its
    /// interval round to the same float32. The caller passes two masks: `later` marks the pairs
    /// that are apart at the start, and `uncertain` marks the pairs that are too close to tangency.
    #[inline(always)]
    fn verdict(&self, later: f64x2, misses: usize, uncertain: usize, dt: f32) -> Swept {
        let zero = f64x2::splat(0.0);
        let either = |then: f64x2, at_once: f64x2| later.bitselect(then, at_once);
        // If the spheres are apart at the start, this is the time of impact c / (−p·v +
        // √discriminant), otherwise the depth −c / (r + |p|). p and v are the relative position and
        // velocity, r is the sum of the radii, and c = p·p − r².
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
        // Computes both the time of impact and the depth of each pair, although one of them is
        // always 0. A branch that selects one of them would often be mispredicted.
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

/// Returns a bit mask of the pairs that just touch at the start: p·p = r² for the relative position
/// p and the sum r of the radii. Leaves out a pair if any operation on it rounds. Often no
/// operation does, because float64 has room for all digits of coordinates of similar magnitude.
#[inline(never)]
pub(super) fn just_touch<S: MovingSphere, T: Shift>(pairs: [[&S; 2]; 2], shifts: [T; 2]) -> usize {
    // The bits of a float64 after its first 26 binary digits. If they are 0, its square is exact.
    let past = f64x2::splat(f64::from_bits((1 << 27) - 1));
    let zero = f64x2::splat(0.0);
    // Bitwise OR of the rounding errors of all additions by the closure `sum`, which finds them by
    // Knuth's two-sum. It is 0 if all these additions are exact.
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

/// Transposes the spheres of two pairs into SIMD vectors, one for each 32-bit number in a sphere. A
/// vector has the numbers of the two first spheres, then those of the two second spheres.
#[inline(always)]
fn side_by_side<S: MovingSphere>([one, next]: [[&S; 2]; 2]) -> [[f32x4; LANES]; 2] {
    rows([one[0], next[0], one[1], next[1]])
}

#[inline(always)]
fn sides(x: f32x4) -> [f64x2; 2] {
    let [a, c, b, d] = x.to_array();
    two([[a, c], [b, d]], |x| f64x2::new(two(x, f64::from)))
}

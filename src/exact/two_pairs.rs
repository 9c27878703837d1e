//! Two pairs side by side in float64: what can be told of them with little work.

#![allow(
    clippy::cast_possible_truncation,
    reason = "rounding to float32 is what is asked for"
)]

use wide::{f32x4, f64x2};

use super::answer::Impact;
use crate::lanes::{LANES, dot, rows, three, two};
use crate::shared::moving_sphere::MovingSphere;

/// What of two pairs can be told with little work, one bit each. Of those that neither hit
/// nor miss it takes more to tell whether they touch, or just when or how deep.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Swept {
    /// Those that touch, and when and how deep.
    pub(crate) hits: usize,
    pub(crate) impacts: [Impact; 2],
    /// Those of them that just touch at the start, told if both do.
    pub(crate) just: usize,
    /// Those that do not.
    pub(crate) misses: usize,
    /// Those that just touch, and those of the rest that are too close to tangency, or known to
    /// meet too close to the end of the step, to tell whether they do.
    pub(crate) grazing: usize,
}

/// What c and the discriminant have to be of what they are the difference of, at least,
/// for their signs to be certain.
const SIGN: f64 = 1.0 / (1_u64 << 40) as f64;
/// And for the time or the depth to be off by less than [`OFF`] of itself.
const VALUE: f64 = 1.0 / (1_u64 << 16) as f64;
const OFF: f64 = 1.0 / (1_u64 << 32) as f64;

/// Sweeps two pairs side by side, in a step of length `dt`. docs/exact.md counts the
/// errors, which the three constants stand for.
#[inline(always)]
pub(crate) fn sweep<S: MovingSphere>([one, next]: [[&S; 2]; 2], dt: f32) -> Swept {
    let [[x, y, z, radius], [u, v, w, _]] = side_by_side([one, next]);
    let less = |x| {
        let [from, to] = sides(x);
        to - from
    };
    let (p, v) = (three([x, y, z], less), three([u, v, w], less));
    let [r, other] = sides(radius);
    let r = r + other;
    let (pp, rr, vv) = (dot(p, p), r * r, dot(v, v));
    let (outside, sum) = (pp - rr, pp + rr);
    let zero = f64x2::splat(0.0);
    let closing = zero - dot(p, v);
    let discriminant = closing * closing - outside * vv;

    let bits = |lanes: f64x2| lanes.to_bitmask() as usize;
    // Whether there is so much left of a difference.
    let leaves =
        |part: f64, difference: f64x2, of: f64x2| difference.abs().simd_ge(f64x2::splat(part) * of);
    let later = outside.simd_gt(zero);
    let certain = leaves(SIGN, outside, sum);
    let certain_later = leaves(SIGN, discriminant, sum * vv);
    // Two that are apart and do not move past one another have a discriminant of 0.
    let never = discriminant.simd_le(zero) | closing.simd_lt(zero);
    let misses = bits(certain & later & certain_later & never);
    if misses == 3 {
        return Swept {
            misses,
            ..Swept::default()
        };
    }

    // Where spheres just touch, most do. One alone is left to whoever takes more digits: to
    // tell it apart here would cost all others.
    if bits(outside.simd_eq(zero)) == 3 && just_touch([one, next]) == 3 {
        return Swept {
            hits: 3,
            just: 3,
            grazing: 3,
            ..Swept::default()
        };
    }

    let either = |then: f64x2, at_once: f64x2| later.bitselect(then, at_once);
    let all = f64x2::splat(f64::from_bits(u64::MAX));
    let grazing = !bits(certain & either(certain_later, all));
    // c / (−p·v + √discriminant), or −c / (r + |p|).
    let value = outside.abs() / (either(closing, r) + either(discriminant, pp).sqrt());
    let told = leaves(VALUE, outside, sum) & either(leaves(VALUE, discriminant, sum * vv), all);
    let least = value * f64x2::splat(1.0 - OFF);
    let most = value * f64x2::splat(1.0 + OFF);
    let end = either(f64x2::splat(dt.into()), f64x2::splat(f64::MAX));
    let misses = misses | bits(told & least.simd_gt(end));
    let within = bits(told & most.simd_le(end));
    let grazing = (grazing | bits(told) & !within) & !misses;
    let round = |lanes: f64x2| two(lanes.to_array(), |x| x as f32);
    // No branch for which of the two it is: it would be guessed wrong often.
    let (toi, depth) = (round(either(least, zero)), round(either(zero, least)));
    let (least, most) = (round(least), round(most));
    let same = |lane: usize| usize::from(least[lane] == most[lane]) << lane;
    Swept {
        hits: within & (same(0) | same(1)) & !misses,
        impacts: two([0, 1], |lane: usize| Impact {
            toi: toi[lane],
            depth: depth[lane],
        }),
        just: 0,
        misses,
        grazing: grazing & 3,
    }
}

/// Which of two pairs just touch at the start, one bit each. No bound can tell that p·p = r²,
/// but float64 can where it has room for all digits of both, as it has for coordinates that
/// are much alike; others are not among them.
#[inline(never)]
pub(super) fn just_touch<S: MovingSphere>(pairs: [[&S; 2]; 2]) -> usize {
    // Digits past 26, of which a square has no more than 52.
    let past = f64x2::splat(f64::from_bits((1 << 27) - 1));
    let zero = f64x2::splat(0.0);
    // What sums are rounded by (Knuth's two-sum): 0 with no bit set where they are not.
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
    let [x, y, z] = [less(x), less(y), less(z)];
    let [r, other] = sides(radius);
    let r = sum(r, other);
    let xy = sum(x * x, y * y);
    let pp = sum(xy, z * z);
    let off = off | (x | y | z | r) & past;
    let bits = two([pp - r * r, off], |x| two(x.to_array(), f64::to_bits));
    let is = |lane: usize| usize::from(bits[0][lane] == 0 && bits[1][lane] == 0) << lane;
    is(0) | is(1)
}

/// The numbers of the spheres of two pairs: of the first of each, and of the second.
#[inline(always)]
fn side_by_side<S: MovingSphere>([one, next]: [[&S; 2]; 2]) -> [[f32x4; LANES]; 2] {
    rows([one[0], next[0], one[1], next[1]])
}

/// Those of the first two, and of the others.
#[inline(always)]
fn sides(x: f32x4) -> [f64x2; 2] {
    let [a, c, b, d] = x.to_array();
    two([[a, c], [b, d]], |x| f64x2::new(two(x, f64::from)))
}

//! Finds the nearest float64 time or depth of most pairs at little cost.
//!
//! The time or depth of the enclosing spheres is near that of the given ones. Rounded to few digits, it makes the
//! largest products exact without further ado. docs/exact.md (section 8) has the proof.

use std::array::from_fn;

use wide::f64x2;

use super::WideSphere;
use super::double::{difference, sum};
use super::pair::{WidePair, WidePairs};
use crate::Collision;
use crate::lanes::{three, two};

/// The first 26 digits of a float64.
const DIGITS: f64 = f64::from_bits(u64::MAX << 27);
/// The greatest power of two that is at most r is 2²⁵ units of the grid. A number of up to 2⁵¹ units is rounded to one or two
/// units by adding and subtracting r times this factor, which is from 1.5·2⁵² to 3·2⁵² units.
const GRID: f64 = (3_u64 << 26) as f64;
/// Bound of the error of the residual, as a fraction of p·p + r².
const RESIDUAL: f64 = 1.0 / (1_u128 << 70) as f64;
/// Bound of the relative error of a step but for the error of the residual.
const STEP_OFF: f64 = 1.0 / (1_u64 << 45) as f64;
/// Smallest square of the slope, which must be positive, as a fraction of r²(v·v), or of r² for depths.
const STEEP: f64 = 1.0 / 64.0;
/// Largest residual, as a fraction of r².
const NEAR: f64 = 1.0 / 1024.0;
/// Smallest r², 2⁻⁴⁰⁰, and smallest square of a slope, 2⁻⁹⁰⁰.
const LEAST: [f64; 2] = [f64::from_bits(623 << 52), f64::from_bits(123 << 52)];
/// Largest sum of magnitudes of which a displaced position is made, as a multiple of r.
const FAR_TERMS: f64 = (1_u64 << 20) as f64;

/// Pairs that touch, as a bit mask. Bit 0 is for the first of two pairs. The others are undecided.
pub(super) struct QuickHits {
    pub(super) hits: usize,
    pub(super) toi: [f64; 2],
    pub(super) depth: [f64; 2],
}

impl WidePairs<'_> {
    /// Tests two pairs. `found` has the pairs of their enclosing spheres.
    #[inline(always)]
    pub(super) fn quick(&self, pairs: [&WidePair<'_>; 2], found: [&Collision; 2]) -> QuickHits {
        let Some(unit_of_depth) = self.depths else {
            return QuickHits {
                hits: 0,
                toi: [0.0; 2],
                depth: [0.0; 2],
            };
        };
        let splat = f64x2::splat;
        let zero = splat(0.0);
        let dot = |x: [f64x2; 3], y: [f64x2; 3]| x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
        let ends = |of: fn(&WideSphere) -> f64| {
            [
                f64x2::new(two(pairs, |pair| of(pair.a))),
                f64x2::new(two(pairs, |pair| of(pair.b))),
            ]
        };
        let axes = |of: [fn(&WideSphere) -> f64; 3]| three(of, ends);
        let centers = axes([|s| s.center[0], |s| s.center[1], |s| s.center[2]]);
        let velocities = axes([|s| s.velocity[0], |s| s.velocity[1], |s| s.velocity[2]]);
        let (p, off) = self.relative(pairs, centers);
        let v = three(velocities, |[from, to]| difference(to, from));
        let [own, other] = ends(|sphere| sphere.radius);
        let [rh, rl] = sum(own, other);
        let (ph, vh) = (three(p, |p| p[0]), three(v, |v| v[0]));
        let (pp, rr, vv) = (dot(ph, ph), rh * rh, dot(vh, vh));
        let (outside, all) = (pp - rr, pp + rr);
        let later = outside.simd_gt(zero);
        let toi = f64x2::new(two(found, |pair| f64::from(pair.toi)));
        let depth = f64x2::new(two(found, |pair| f64::from(pair.depth)));

        // The residual |p + v·t|² − (r − d)², of which the true time or depth is a root.
        let magic = rh * splat(GRID);
        let on_grid = |x: f64x2| (x + magic) - magic;
        let t = later & (toi * splat(self.dt)) & splat(DIGITS);
        let d = on_grid(!later & (depth * splat(unit_of_depth)));
        let q: [[f64x2; 2]; 3] = from_fn(|k| {
            let long = vh[k] & splat(DIGITS);
            let moved = long * t;
            let rest = ((vh[k] - long) + v[k][1]) * t;
            let [at, by] = [on_grid(ph[k]), on_grid(moved)];
            [at + by, (ph[k] - at) + ((moved - by) + (rest + p[k][1]))]
        });
        let wide = on_grid(rh);
        let w = [wide - d, (rh - wide) + rl];
        let qh = three(q, |q| q[0]);
        let full = three(q, |[high, low]| high + low);
        let of_low = |[high, low]: [f64x2; 2], full: f64x2| (high + full) * low;
        let reach = w[0] + w[1];
        let low = (of_low(q[0], full[0]) + of_low(q[1], full[1]))
            + (of_low(q[2], full[2]) - of_low(w, reach));
        let residual = (dot(qh, qh) - w[0] * w[0]) + low;

        // The root near the estimate. It is less than it by `residual` divided by a number near the slope.
        let either = |then: f64x2, at_once: f64x2| later.bitselect(then, at_once);
        let slope = either(zero - dot(full, vh), reach);
        let bend = either(vv, splat(1.0));
        let signed = residual ^ (!later & splat(-0.0));
        let steepness = slope * slope.abs();
        let inverse = splat(1.0) / (slope + (steepness - bend * signed).sqrt());
        let step = signed * inverse;
        let error = step.abs() * splat(STEP_OFF) + splat(RESIDUAL) * all * inverse;
        let start = t + d;
        let (low, high) = (start + (step - error), start + (step + error));

        let certain = steepness.simd_ge(splat(STEEP) * rr * bend)
            & steepness.simd_ge(splat(LEAST[1]))
            & residual.abs().simd_le(splat(NEAR) * rr)
            & rr.simd_ge(splat(LEAST[0]));
        let within = high.simd_lt(splat(self.dt)) | !later;
        let mut hits = certain & within & low.simd_eq(high);
        if let Some(off) = off {
            let most = off[0].fast_max(off[1]).fast_max(off[2]);
            hits &= most.simd_le(splat(FAR_TERMS) * rh);
        }
        QuickHits {
            hits: hits.to_bitmask() as usize,
            toi: (later & low).to_array(),
            depth: (!later & low).to_array(),
        }
    }
}

#[cfg(test)]
mod tests;

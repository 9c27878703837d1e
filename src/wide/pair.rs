//! Decides whether two spheres in float64 touch, and computes the nearest float64 time or depth.
//!
//! `sweep` tests two pairs side by side, with [`double`](super::double) arithmetic and a bound of its error. What it
//! leaves open is decided with integers. docs/exact.md (section 8) has the proof.

use std::array::from_fn;

use glam::DVec3;
use wide::f64x2;

use super::WideSphere;
use super::double::{difference, product, split, square, sum, sum_of_three};
use super::scale::WideScale;
use crate::Domain;
use crate::domain::Products;
use crate::exact::Arithmetic;
use crate::exact::integers::PairIntegers;
use crate::lanes::{three, two};
use crate::number::sealed::Numbers as _;

/// The sign of a float64 sum that cancels is certain if its magnitude is at least this fraction of the sum of the
/// magnitudes of its terms.
const SIGN: f64 = 1.0 / (1_u64 << 40) as f64;
/// Bound of the error of the residual of an estimate, as a fraction of the magnitudes of its terms.
const RESIDUAL: f64 = 1.0 / (1_u128 << 96) as f64;
/// Products below this limit, 2⁻⁹⁰⁰, may have lost digits to underflow.
const SHORT: f64 = f64::from_bits(123 << 52);

/// Bound of the relative error of a distance, 2⁻⁴⁹, and that of a displaced place, as a fraction of the sum of the
/// magnitudes of its terms along all axes.
const DISTANCE_OFF: f64 = 1.0 / (1_u64 << 49) as f64;
const PLACE_OFF: f64 = 1.0 / (1_u128 << 100) as f64;

/// The numbers of a step that its pairs need.
#[derive(Clone, Copy)]
pub(crate) struct WidePairs<'a> {
    pub(crate) domain: &'a Domain,
    pub(crate) scale: WideScale,
    pub(crate) dt: f64,
    /// The unit of the depths of enclosing pairs, or `None` if numbers are so large or small that
    /// [`quick`](Self::quick) does not apply.
    pub(super) depths: Option<f64>,
}

/// Two spheres, of which the second is displaced by an image of the domain, or `None` in open space.
#[derive(Clone, Copy)]
pub(crate) struct WidePair<'a> {
    pub(crate) a: &'a WideSphere,
    pub(crate) b: &'a WideSphere,
    pub(crate) image: Option<[i32; 3]>,
}

/// The displacement of the second sphere of a pair, as the sum of two float64 along each axis, and the sum of the
/// magnitudes of its terms.
#[derive(Clone, Copy, Default)]
struct WideShift {
    high: [f64; 3],
    low: [f64; 3],
    terms: [f64; 3],
}

impl WideShift {
    fn new(domain: &Domain, image: [i32; 3]) -> Self {
        let mut shift = Self::default();
        if image == [0; 3] {
            return shift;
        }
        for (k, times) in image.into_iter().map(f64::from).enumerate() {
            for (axis, edge) in domain.periodic_edge(k).to_array().into_iter().enumerate() {
                let [term, error] = product(edge, times, split(edge), split(times));
                let [high, rounded] = sum(shift.high[axis], term);
                shift.high[axis] = high;
                shift.low[axis] += error + rounded;
                shift.terms[axis] += term.abs();
            }
        }
        shift
    }
}

/// Returns the vector from a place to an image of another place. Each component is the nearest float64 or one next to
/// it.
pub(crate) fn displaced(domain: &Domain, from: DVec3, to: DVec3, image: [i32; 3]) -> DVec3 {
    let shift = WideShift::new(domain, image);
    let along = |k: usize| {
        let [away, error] = difference(to[k], from[k]);
        let [place, rounded] = sum(away, shift.high[k]);
        let place = place + (error + shift.low[k] + rounded);
        // The errors of the last sum are about 2⁻¹⁰³ of the terms.
        let terms = to[k].abs() + from[k].abs() + shift.terms[k];
        if place.abs() * (1_u64 << 40) as f64 >= terms {
            return place;
        }
        cancelled(domain, [to[k], -from[k]], image, k)
    };
    DVec3::new(along(0), along(1), along(2))
}

/// Returns the sum of two coordinates and of a displacement along one axis. The sum may be much smaller than its terms.
#[cold]
fn cancelled(domain: &Domain, coordinates: [f64; 2], image: [i32; 3], axis: usize) -> f64 {
    // A sum without rounding, as numbers of increasing magnitude of which each is the rounding error of a sum (Shewchuk).
    let mut parts: Vec<f64> = Vec::new();
    let mut add = |x: f64| {
        let mut rest = x;
        let mut kept = Vec::new();
        for &part in &parts {
            let [high, low] = sum(rest, part);
            if low != 0.0 {
                kept.push(low);
            }
            rest = high;
        }
        kept.push(rest);
        parts = kept;
    };
    coordinates.into_iter().for_each(&mut add);
    for (k, times) in image.into_iter().enumerate() {
        let edge = domain.periodic_edge(k)[axis];
        let times = f64::from(times);
        product(edge, times, split(edge), split(times))
            .into_iter()
            .for_each(&mut add);
    }
    parts.iter().sum()
}

/// Results of testing two pairs. In each bit mask, bit 0 is for the first pair. A pair in neither mask is undecided.
pub(super) struct WideSwept {
    pub(super) hits: usize,
    pub(super) misses: usize,
    /// Time of impact and depth of each pair, or estimates of them if it is undecided.
    pub(super) impacts: [[f64; 2]; 2],
}

/// The exact result for two spheres that touch: time of impact and depth, each rounded to the nearest float64.
pub(crate) type WideHit = [f64; 2];

impl WidePairs<'_> {
    /// Returns the relative positions of two pairs, each number as the sum of two. For pairs with displaced spheres, also
    /// returns the sums of the magnitudes of their terms. These, times 2⁻¹⁰¹, bound the errors.
    #[inline(always)]
    pub(super) fn relative(
        &self,
        pairs: [&WidePair<'_>; 2],
        centers: [[f64x2; 2]; 3],
    ) -> ([[f64x2; 2]; 3], Option<[f64x2; 3]>) {
        let zero = f64x2::splat(0.0);
        let mut p = three(centers, |[from, to]| difference(to, from));
        if !pairs
            .iter()
            .any(|pair| pair.image.is_some_and(|image| image != [0; 3]))
        {
            return (p, None);
        }
        let shifts = pairs.map(|pair| WideShift::new(self.domain, pair.image.unwrap_or_default()));
        let mut off = [zero; 3];
        for k in 0..3 {
            let part = |of: fn(&WideShift) -> &[f64; 3]| {
                f64x2::new(two([0, 1], |lane: usize| of(&shifts[lane])[k]))
            };
            let [high, low, terms] = [
                part(|shift| &shift.high),
                part(|shift| &shift.low),
                part(|shift| &shift.terms),
            ];
            let [away, error] = p[k];
            let [place, rounded] = sum(away, high);
            p[k] = sum(place, error + low + rounded);
            // An image of 0 adds nothing, and its pair has no further error.
            let counts = terms.simd_gt(zero);
            let [from, to] = centers[k];
            off[k] = counts.bitselect(to.abs() + from.abs() + terms, zero);
        }
        (p, Some(off))
    }

    /// Tests two pairs.
    #[inline(always)]
    pub(super) fn sweep(&self, pairs: [&WidePair<'_>; 2]) -> WideSwept {
        let zero = f64x2::splat(0.0);
        let WideScale {
            length,
            time,
            speed,
        } = self.scale;
        let (unit, speed) = (f64x2::splat(length), speed.map(f64x2::splat));
        let side = |of: fn(&WideSphere) -> f64| {
            let ends = two(pairs, |pair| [of(pair.a), of(pair.b)]);
            [0, 1].map(|end| f64x2::new([ends[0][end], ends[1][end]]))
        };
        let vector = |of: fn(&WideSphere) -> &[f64; 3]| {
            let ends = two(pairs, |pair| [of(pair.a), of(pair.b)]);
            three([0, 1, 2], |k| {
                [0, 1].map(|end| f64x2::new([ends[0][end][k], ends[1][end][k]]))
            })
        };
        let (p, terms) = self.relative(pairs, vector(|sphere| &sphere.center));
        let off = terms.map_or([zero; 3], |terms| three(terms, |terms| terms * unit));
        let p = three(p, |[high, low]| [high * unit, low * unit]);
        let v = three(vector(|sphere| &sphere.velocity), |[from, to]| {
            let [high, low] = difference(to, from);
            [high * speed[0] * speed[1], low * speed[0] * speed[1]]
        });
        let [own, other] = side(|sphere| sphere.radius);
        let r = {
            let [high, low] = sum(own, other);
            [high * unit, low * unit]
        };
        let dt = self.dt * time;
        self.solve(p, v, r, off, dt)
    }

    /// Tests two pairs by their relative positions `p`, relative velocities `v` and sums `r` of radii, in the units of the
    /// scale. Each number is the sum of two. `off`, times 2⁻¹⁰¹, bounds the errors of `p`.
    #[inline(always)]
    fn solve(
        &self,
        p: [[f64x2; 2]; 3],
        v: [[f64x2; 2]; 3],
        r: [f64x2; 2],
        off: [f64x2; 3],
        dt: f64,
    ) -> WideSwept {
        let splat = f64x2::splat;
        let zero = splat(0.0);
        let dot = |x: [f64x2; 3], y: [f64x2; 3]| x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
        let abs = |x: [f64x2; 3]| three(x, f64x2::abs);
        let (ph, vh) = (three(p, |p| p[0]), three(v, |v| v[0]));
        let (pp, rr, vv) = (dot(ph, ph), r[0] * r[0], dot(vh, vh));
        let (outside, all) = (pp - rr, pp + rr);
        let later = outside.simd_gt(zero);
        let closing = zero - dot(ph, vh);
        let discriminant = closing * closing - outside * vv;
        let either = |then: f64x2, at_once: f64x2| later.bitselect(then, at_once);
        // The estimate of the time or of the depth.
        let root = either(discriminant, pp).sqrt();
        let x = outside.abs() / (either(closing, r[0]) + root);
        let (t, d) = (either(x, zero), either(zero, x));

        // The residual |p + v·t|² − (r − d)², of which the true time or depth is a root.
        let parts_of_t = split(t);
        let q: [[f64x2; 2]; 3] = from_fn(|k| {
            let [moved, error] = product(vh[k], t, split(vh[k]), parts_of_t);
            let [place, rounded] = sum(ph[k], moved);
            [place, rounded + (error + (p[k][1] + v[k][1] * t))]
        });
        let qh = three(q, |q| q[0]);
        let w = {
            let [high, rounded] = difference(r[0], d);
            [high, rounded + r[1]]
        };
        let squares = three(qh, square);
        let [reach, reach_off] = square(w[0]);
        let [s, e0] = difference(squares[0][0], reach);
        let [s, e1] = sum(s, squares[1][0]);
        let [s, e2] = sum(s, squares[2][0]);
        let twice = dot(qh, three(q, |q| q[1])) - w[0] * w[1];
        let errors = (squares[0][1] - reach_off) + (squares[1][1] + squares[2][1]);
        let residual = s + ((e0 + e1 + e2) + errors + (twice + twice));
        let size = three([0, 1, 2], |k| ph[k].abs() + vh[k].abs() * t);
        let long = r[0] + d;
        let terms = dot(size, size) + dot(size, off) + long * long;

        // One step of Newton's method, and a bound of the error of its result.
        let slope = either(dot(qh, vh), zero - w[0]);
        let two_slopes = slope + slope;
        let step = either(zero - residual / two_slopes, residual / two_slopes);
        let steepness = two_slopes.abs();
        let bend = either(vv, splat(1.0));
        let off_newton = splat(4.0) * bend * step * step + splat(RESIDUAL) * terms;
        let error = off_newton / steepness * splat(1.001);
        let (low, high) = (x + (step - error), x + (step + error));

        // Errors of `p` must not reach its leading digits.
        let most = |x: [f64x2; 3]| x[0].fast_max(x[1]).fast_max(x[2]);
        let told = (most(off) * splat(SIGN)).simd_le(most(abs(ph)));
        let certain = told & outside.abs().simd_ge(splat(SIGN) * all) & all.simd_ge(splat(SHORT));
        let single = low.simd_eq(high) & low.simd_gt(zero);
        let solved = certain & slope.simd_lt(zero) & single;
        let end = splat(dt);
        let scale = self.scale;
        let result = either(low / splat(scale.time), low / splat(scale.length));
        // A result that is subnormal would be rounded twice.
        let normal = result.simd_gt(splat(f64::MIN_POSITIVE));
        let within = high.simd_lt(either(end, splat(f64::MAX)));
        let hits = solved & normal & within;
        let at_rest = vh[0].simd_eq(zero) & vh[1].simd_eq(zero) & vh[2].simd_eq(zero);
        let apart = closing.simd_lt(zero);
        let around = all * vv;
        let passing =
            (zero - discriminant).simd_gt(splat(SIGN) * around) & around.simd_ge(splat(SHORT));
        let too_late = solved & low.simd_gt(end);
        let misses = certain & later & (at_rest | apart | passing | too_late);
        let bits = |lanes: f64x2| lanes.to_bitmask() as usize;
        let (then, result) = (bits(later), result.to_array());
        WideSwept {
            hits: bits(hits) & !bits(misses),
            misses: bits(misses),
            impacts: two([0, 1], |lane: usize| {
                if then >> lane & 1 == 1 {
                    [result[lane], 0.0]
                } else {
                    [0.0, result[lane]]
                }
            }),
        }
    }

    /// Decides a pair that [`sweep`](Self::sweep) leaves open. `guess` is an estimate of the time or depth.
    #[cold]
    #[inline(never)]
    pub(super) fn decide(
        &self,
        pair: &WidePair<'_>,
        guess: WideHit,
    ) -> (Option<WideHit>, Arithmetic) {
        if self.just_touch(pair) {
            return (Some([0.0; 2]), Arithmetic::Float64);
        }
        if let Some(depth) = self.overlap(pair) {
            return (Some([0.0, depth]), Arithmetic::Float64);
        }
        let numbers = |sphere: &WideSphere| (sphere.center, sphere.radius, sphere.velocity);
        let products = self.products(pair.image.unwrap_or_default());
        let integers = PairIntegers::of(&[numbers(pair.a), numbers(pair.b)], &products);
        let guess = guess[0] + guess[1];
        (
            integers.rounded(self.dt, guess, f64::MAX),
            Arithmetic::Integers,
        )
    }

    /// Returns the terms of the displacement of an image.
    pub(crate) fn products(&self, image: [i32; 3]) -> Products {
        self.domain.products(image)
    }

    /// Returns whether two spheres just touch at the start, and no operation that shows this rounds.
    fn just_touch(&self, pair: &WidePair<'_>) -> bool {
        let image = pair.image.filter(|image| *image != [0; 3]);
        let products = image.map(|image| self.products(image));
        let mut exact = true;
        let mut keep = |[value, error]: [f64; 2]| {
            exact &= error == 0.0;
            value
        };
        let p: [f64; 3] = from_fn(|k| {
            let away = keep(difference(pair.b.center[k], pair.a.center[k]));
            let terms = products.iter().flat_map(|products| products[k]);
            terms.fold(away, |away, (edge, times)| {
                let times = f64::from(times);
                let term = keep(product(edge, times, split(edge), split(times)));
                keep(sum(away, term))
            })
        });
        let r = keep(sum(pair.a.radius, pair.b.radius));
        let unit = self.scale.length;
        let (lengths, p, r) = ([p[0], p[1], p[2], r], p.map(|x| unit * x), unit * r);
        let [x, y, z] = p.map(|x| keep(square(x)));
        let xy = keep(sum(x, y));
        let pp = keep(sum(xy, z));
        let rr = keep(square(r));
        // A square that is not 0 must not have lost digits to underflow.
        let long = |(square, length): (f64, f64)| length == 0.0 || square >= SHORT;
        exact && pp == rr && [x, y, z, rr].into_iter().zip(lengths).all(long)
    }

    /// Returns the depth of two spheres that overlap at the start, unless it is open because of the error of their distance.
    /// The depth of spheres whose centres are close together is known only by this way.
    fn overlap(&self, pair: &WidePair<'_>) -> Option<f64> {
        let centers = three([0, 1, 2], |k| {
            [pair.a, pair.b].map(|sphere| f64x2::splat(sphere.center[k]))
        });
        let (p, off) = self.relative([pair; 2], centers);
        let first = |x: f64x2| x.to_array()[0];
        let distance = f64::length(p.map(|[high, _]| first(high)).into());
        let terms = off.map_or(0.0, |off| off.map(first).iter().sum());
        let error = distance * DISTANCE_OFF + terms * PLACE_OFF;
        let [near, far] = if distance + error == 0.0 {
            [0.0; 2]
        } else {
            [(distance - error).next_down(), (distance + error).next_up()]
        };
        let depth = sum_of_three(pair.a.radius, pair.b.radius, -far);
        let is_told = depth > 0.0 && depth == sum_of_three(pair.a.radius, pair.b.radius, -near);
        is_told.then_some(depth)
    }

    /// Decides one pair.
    pub(crate) fn impact(&self, pair: &WidePair<'_>) -> Option<WideHit> {
        let swept = self.sweep([pair; 2]);
        match (swept.hits & 1, swept.misses & 1) {
            (1, _) => Some(swept.impacts[0]),
            (_, 1) => None,
            _ => self.decide(pair, swept.impacts[0]).0,
        }
    }
}

//! The swept test of two spheres: a filter in float32 that says hit, miss or
//! "too close to tell", and the answer in float64 for those it cannot tell.
//!
//! The filter's twin is `shaders/shared/sweep.wgsl`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "times and depths are rounded to float32 on purpose, and segments clamped before"
)]

use glam::{DVec3, Vec3};

use crate::Sphere;
use crate::grid::{SEGMENT_BITS, SortedProxy, segment_of, segment_power};
use crate::sphere::{check_dt, invalid_field};

/// Half a unit in the last place of 1: the relative error of one operation.
pub(crate) const U: f32 = 1.0 / (1_u32 << 24) as f32;
/// How many times u·(|p| + |v|t)·(|q| + r) the margin r² − q·q may be wrong.
/// The operations add up to 11; the rest is room for a driver that fuses.
pub(crate) const LINEAR: f32 = 16.0;
/// How many times (u·(|p| + |v|t))² it may be wrong besides: the error of the
/// time of closest approach moves q along v, so it counts squared.
pub(crate) const QUADRATIC: f32 = 128.0;
/// What squares may lose by underflow, 2⁻¹⁰⁰.
pub(crate) const ABSOLUTE: f32 = 1.0 / (1_u128 << 100) as f32;
/// Below this, v·v may have lost digits to underflow, and the time of closest
/// approach would mean nothing: 2⁻⁹⁶. The start of the step stands for it.
pub(crate) const SLOW: f32 = 1.0 / (1_u128 << 96) as f32;
/// How many times u·(|p| / |v| + t) the time of closest approach may be wrong.
pub(crate) const TIME: f32 = 16.0;

/// Two spheres that move less than this times u·|p| past one another in the
/// whole step belong to their first segments: if they ever touch, they are in
/// reach of one another there too, by the margin of their cells.
pub(crate) const STILL: f32 = 8.0;

/// What the filter found out about two spheres.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sweep {
    /// Centre of the second less that of the first.
    p: Vec3,
    /// Velocity of the second less that of the first.
    v: Vec3,
    /// Time of closest approach within [0, dt].
    t: f32,
    /// r² less the squared distance at that time.
    margin: f32,
    /// How much the margin may be wrong.
    bound: f32,
}

impl Sweep {
    /// Sweeps two spheres over a step of length `dt`.
    #[inline(always)]
    pub(crate) fn new(i: &SortedProxy, j: &SortedProxy, dt: f32) -> Self {
        let p = Vec3::from(j.center) - Vec3::from(i.center);
        let v = Vec3::from(j.velocity) - Vec3::from(i.velocity);
        let r = j.radius + i.radius;
        let a = v.dot(v);
        let b = p.dot(v);
        let t = if a >= SLOW {
            (-b / a).clamp(0.0, dt)
        } else {
            0.0
        };
        let q = p + v * t;
        let margin = r * r - q.dot(q);
        let speed = v.abs().element_sum();
        let reach = p.abs().element_sum() + speed * t;
        let mut bound = U * reach * (LINEAR * (q.abs().element_sum() + r) + QUADRATIC * U * reach)
            + LINEAR * U * r * r
            + ABSOLUTE;
        if a < SLOW {
            // What the whole motion can change of the margin.
            let shift = speed * dt;
            bound += 4.0 * shift * (reach + shift);
        }
        Self {
            p,
            v,
            t,
            margin,
            bound,
        }
    }

    /// Whether they may touch: false is certain.
    #[inline(always)]
    pub(crate) fn may_hit(&self) -> bool {
        self.margin >= -self.bound
    }

    /// Whether it takes higher precision to tell.
    pub(crate) fn is_grazing(&self) -> bool {
        self.margin <= self.bound
    }

    /// Which of two time segments (tags of sorted cells) the pair belongs to:
    /// to those that contain the time of closest approach, because there the
    /// two are in reach of one another, so their proxies are neighbours in the
    /// grid.
    pub(crate) fn ownership(&self, tags: [u32; 2], dt: f32) -> Ownership {
        if tags.map(segment_power) == [0, 0] {
            return Ownership::Own;
        }
        // In units of the finest segment.
        let finest = (1_u32 << SEGMENT_BITS) as f32;
        let speed = self.v.abs().max_element();
        let (low, high) = if speed * dt <= STILL * U * self.p.abs().max_element() {
            (0.0, 0.0)
        } else if self.v.dot(self.v) >= SLOW {
            let at = self.t / dt;
            let error = TIME * U * (self.p.abs().element_sum() / speed / dt + at + 1.0);
            ((at - error) * finest, (at + error) * finest)
        } else {
            (0.0, finest)
        };
        let [low, high] = [low, high].map(|x| x.clamp(0.0, finest - 1.0) as u32);
        let mut ownership = Ownership::Own;
        for tag in tags {
            let shift = SEGMENT_BITS - segment_power(tag);
            let k = segment_of(tag);
            if k < low >> shift || k > high >> shift {
                return Ownership::Other;
            }
            if low >> shift != high >> shift {
                ownership = Ownership::Shared;
            }
        }
        ownership
    }
}

/// Whether a pair belongs to the two proxies that met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ownership {
    /// To these two alone.
    Own,
    /// To other ones.
    Other,
    /// Rounding leaves open to which: all that it may belong to report it.
    Shared,
}

/// x + y, and what rounding has taken from it (D. E. Knuth).
fn sum_with_error(x: f64, y: f64) -> (f64, f64) {
    let sum = x + y;
    let part = sum - x;
    (sum, (x - (sum - part)) + (y - part))
}

/// p·p − r², which cancels when two spheres all but touch: summed up together
/// with the rounding errors of its parts.
fn outside(a: &Sphere, b: &Sphere) -> f64 {
    let part = |x: f32, y: f32| sum_with_error(f64::from(x), f64::from(y));
    let [x, y, z] = [0, 1, 2].map(|axis| part(b.center[axis], -a.center[axis]));
    let r = part(a.radius, b.radius);
    let (mut sum, mut errors) = (0.0, 0.0);
    for ((value, error), sign) in [(x, 1.0), (y, 1.0), (z, 1.0), (r, -1.0)] {
        let square = value * value;
        // In two halves, of which the first has 24 bits.
        let high = f64::from(value as f32);
        let low = value - high;
        let lost = (high * high - square) + 2.0 * high * low + low * low;
        let (total, rounding) = sum_with_error(sum, sign * square);
        sum = total;
        errors += rounding + sign * (lost + 2.0 * value * error);
    }
    sum + errors
}

/// The earliest time in [0, dt] at which two spheres touch, and how deep they
/// overlap at the start: in float64 from the float32 values. Not yet exact: the
/// discriminant still cancels when two spheres pass almost tangent.
pub(crate) fn impact(a: &Sphere, b: &Sphere, dt: f64) -> Option<(f64, f64)> {
    let vector = |x: [f32; 3]| DVec3::from(x.map(f64::from));
    let p = vector(b.center) - vector(a.center);
    let v = vector(b.velocity) - vector(a.velocity);
    let r = f64::from(a.radius) + f64::from(b.radius);
    let outside = outside(a, b);
    if outside <= 0.0 {
        let depth = if r > 0.0 {
            (0.0 - outside) / (r + p.length())
        } else {
            0.0
        };
        return Some((0.0, depth));
    }
    let approach = -p.dot(v);
    if approach <= 0.0 {
        return None;
    }
    let speed = v.length_squared();
    // b² − a·c cancels; by Lagrange's identity it is r²·a − |p × v|².
    let discriminant = r * r * speed - p.cross(v).length_squared();
    let hit = if approach > speed * dt {
        (p + v * dt).length_squared() <= r * r
    } else {
        discriminant >= 0.0
    };
    hit.then(|| {
        let toi = outside / (approach + discriminant.max(0.0).sqrt());
        (toi.min(dt), 0.0)
    })
}

/// When two spheres first touch during a step of length `dt`, in the unit of
/// `dt`; 0 when they touch or overlap at its start, `None` when they do not
/// touch, or when a value is one that [`Detector::detect`](crate::Detector::detect)
/// refuses. Their groups are not looked at.
///
/// ```
/// use carom::{Sphere, time_of_impact};
/// let ball = Sphere::new([0.0; 3], 1.0).with_velocity([8.0, 0.0, 0.0]);
/// let wall = Sphere::new([4.0, 0.0, 0.0], 1.0);
/// assert_eq!(time_of_impact(&ball, &wall, 0.25), Some(0.25)); // at the very end
/// assert_eq!(time_of_impact(&ball, &wall, 0.24), None);
/// ```
pub fn time_of_impact(a: &Sphere, b: &Sphere, dt: f32) -> Option<f32> {
    check_dt(dt).ok()?;
    let valid = [a, b]
        .iter()
        .all(|sphere| invalid_field(sphere, dt).is_none());
    if valid {
        impact(a, b, dt.into()).map(|(toi, _)| toi as f32)
    } else {
        None
    }
}

//! Results in float64 with an error bound, which is computed along with each number. A result is
//! returned only if the bound leaves no doubt about it.
//!
//! The inputs are float32, so products of up to six of them neither overflow nor underflow, and the
//! relative error of every operation is at most `U`. The comments count the rounding errors of each
//! quantity in units of `U`. The code uses a bound of 8 `U` where the count is at most 6, and 16
//! `U` where it is at most 14, so that it also covers the rounding of the bound itself and the
//! terms in `U`². docs/exact.md (section 4) has the proof.

#![allow(
    clippy::cast_possible_truncation,
    reason = "rounding to float32 is intended"
)]

use std::cmp::Ordering;

use glam::{DVec3, Vec3Swizzles};

use super::answer::{Impact, Touch};
use super::shift::Shift;
use crate::shared::moving_sphere::MovingSphere;

/// Largest relative error of one operation, 2⁻⁵³: half a unit in the last place of 1.
const U: f64 = f64::EPSILON / 2.0;

/// A number and an upper bound of its error.
#[derive(Clone, Copy)]
struct Bounded {
    value: f64,
    error: f64,
}

impl Bounded {
    /// Compares the true number with 0. Returns `None` if the error bound leaves its sign open.
    fn sign(self) -> Option<Ordering> {
        if self.value.abs() > self.error || self.error == 0.0 {
            self.value.partial_cmp(&0.0)
        } else {
            None
        }
    }

    /// Rounds the true number, which must be within `range`, to the nearest float32; `None` if the
    /// error bound leaves open which float32 is the nearest.
    fn round(self, range: [f64; 2]) -> Option<f32> {
        let [low, high] = [
            (self.value - self.error).max(range[0]) as f32,
            (self.value + self.error).min(range[1]) as f32,
        ];
        (low == high).then_some(low)
    }
}

/// A pair of spheres: the position p and the velocity v of the second sphere relative to the first,
/// and the sum r of the radii. Each of the three has 1 rounding error.
pub(super) struct Float64 {
    p: DVec3,
    v: DVec3,
    r: f64,
    /// p·p with 5 rounding errors, and r² with 3.
    squares: [f64; 2],
    /// Bound of the error of p beyond its 1 rounding error. It is 0 unless the second sphere is
    /// displaced in a periodic domain.
    off: DVec3,
}

impl Float64 {
    #[inline(always)]
    pub(super) fn new<S: MovingSphere>(a: &S, b: &S, shift: impl Shift) -> Self {
        let vector = |x: [f32; 3]| DVec3::from(x.map(f64::from));
        let away = vector(b.center()) - vector(a.center());
        let (p, off) = match shift.translation() {
            Some(translation) => translation.add(a.center(), b.center(), away),
            None => (away, DVec3::ZERO),
        };
        let r = f64::from(a.radius()) + f64::from(b.radius());
        Self {
            p,
            v: vector(b.velocity()) - vector(a.velocity()),
            r,
            squares: [p.length_squared(), r * r],
            off,
        }
    }

    /// Bound of the error of p·p that comes from `off`.
    fn square_off(&self) -> f64 {
        self.off.dot(2.0 * self.p.abs() + self.off)
    }

    /// c = p·p − r², for the relative position p and the sum r of the radii. It is positive when
    /// the spheres are apart at the start of the step.
    fn outside(&self) -> Bounded {
        let [pp, rr] = self.squares;
        Bounded {
            value: pp - rr,
            error: 8.0 * U * (pp + rr) + self.square_off(),
        }
    }

    /// −p·v, for the relative position p and the relative velocity v. It is positive when the
    /// spheres approach each other at the start of the step. It has 5 rounding errors.
    fn closing(&self) -> Bounded {
        Bounded {
            value: -self.p.dot(self.v),
            error: (8.0 * U * self.p.abs() + self.off).dot(self.v.abs()),
        }
    }

    /// The discriminant (p·v)² − c·v·v of the equation for the time of impact. Its terms may
    /// cancel. By Lagrange's identity it equals r²·v·v − |p × v|², which cancels only near
    /// tangency. r²·v·v has 9 rounding errors. The error of each component of p × v is 4 `U` times
    /// the sum of the magnitudes of its two products.
    fn discriminant(&self) -> Bounded {
        let (p, v) = (self.p, self.v);
        let cross = p.cross(v);
        let of_p = 8.0 * U * p.abs() + self.off;
        let off = of_p.yzx() * v.abs().zxy() + of_p.zxy() * v.abs().yzx();
        let moved = off.dot(2.0 * cross.abs() + off);
        let [cross, rrvv] = [cross.length_squared(), self.squares[1] * v.length_squared()];
        Bounded {
            value: rrvv - cross,
            error: moved + 16.0 * U * (cross + rrvv),
        }
    }

    /// q·q − r², where q = p + v·dt is the relative position at the end of the step. It is positive
    /// when the spheres are apart at the end. The error of each component of q is 4 `U` times the
    /// sum of the magnitudes of its two terms.
    fn outside_at(&self, dt: f64) -> Bounded {
        let shift = self.v * dt;
        let q = self.p + shift;
        let off = 8.0 * U * (self.p.abs() + shift.abs()) + self.off;
        let [qq, rr] = [q.length_squared(), self.squares[1]];
        Bounded {
            value: qq - rr,
            error: off.dot(2.0 * q.abs() + off) + 8.0 * U * (qq + rr),
        }
    }

    /// The time of impact, c / (−p·v + √discriminant), where c = p·p − r². `None` unless c, −p·v
    /// and the discriminant are all certainly positive.
    #[inline(always)]
    fn touch(&self, discriminant: Bounded) -> Option<Bounded> {
        let (outside, closing) = (self.outside(), self.closing());
        for number in [outside, closing, discriminant] {
            if number.sign()? != Ordering::Greater {
                return None;
            }
        }
        let root = discriminant.value.sqrt();
        let sum = closing.value + root;
        let off = closing.error + discriminant.error / root + 4.0 * U * sum;
        let value = outside.value / sum;
        Some(Bounded {
            value,
            error: (outside.error + value * off) / (sum - off) + 4.0 * U * value,
        })
        // Rejects the result if the error of the divisor may be half of the divisor or more.
        .filter(|_| off < 0.5 * sum)
    }

    /// The impact of spheres that overlap at the start of the step. The depth r − |p| is the sum of
    /// the radii minus the distance of the centres. It is computed as (r² − p·p) / (r + |p|), which
    /// avoids the cancellation.
    #[inline(always)]
    fn overlap(&self) -> Option<Impact> {
        let sum = self.r + self.squares[0].sqrt();
        let depth = Bounded {
            value: if sum > 0.0 {
                -self.outside().value / sum
            } else {
                0.0
            },
            error: 16.0 * U * sum + self.off.element_sum(),
        };
        let depth = depth.round([0.0, f64::MAX])?;
        Some(Impact { toi: 0.0, depth })
    }

    /// Decides the pair in a step of duration `dt`. Returns `Some(None)` if the spheres do not
    /// touch. Returns `None` if the error bounds leave open whether they touch, their time of
    /// impact or their depth.
    pub(super) fn impact(&self, dt: f32) -> Option<Option<Impact>> {
        let dt = f64::from(dt);
        let outside = self.outside();
        if outside.sign()? != Ordering::Greater {
            return self.overlap().map(Some);
        }
        let closing = self.closing();
        if closing.sign()? != Ordering::Greater {
            return Some(None);
        }
        // −(p + v·dt)·v, for the relative position p and the relative velocity v. It is positive
        // when the closest approach is after the end of the step.
        let at_end = self.v.length_squared() * dt;
        let late = Bounded {
            value: closing.value - at_end,
            error: closing.error + 8.0 * U * at_end,
        };
        let discriminant = self.discriminant();
        let hit = match late.sign()? {
            Ordering::Greater => self.outside_at(dt).sign()? != Ordering::Greater,
            _ => discriminant.sign()? != Ordering::Less,
        };
        if !hit {
            return Some(None);
        }
        let toi = self.touch(discriminant)?.round([0.0, dt])?;
        Some(Some(Impact { toi, depth: 0.0 }))
    }

    /// An estimate of the time of impact, or of the penetration depth if the spheres overlap at the
    /// start. It has no error bound.
    pub(super) fn guess(&self) -> f64 {
        let outside = self.outside().value;
        if outside > 0.0 {
            outside / (self.closing().value + self.discriminant().value.max(0.0).sqrt())
        } else {
            -outside / (self.r + self.squares[0].sqrt())
        }
    }

    /// The first touch of the two spheres at any time from the start of the step on; `None` if they
    /// never touch, or if the relative error of the result may exceed 10⁻⁹.
    pub(super) fn first_touch(&self) -> Option<Touch> {
        let (p, v) = (self.p, self.v);
        if self.outside().sign()? != Ordering::Greater {
            let normal = p.try_normalize().unwrap_or(DVec3::X);
            return Some(Touch {
                time: 0.0,
                normal,
                approach: -v.dot(normal),
            });
        }
        let discriminant = self.discriminant();
        let time = self.touch(discriminant)?;
        // The normal at the first touch is computed from two parts of the vector between the
        // centres. The part perpendicular to the relative velocity v does not change with time. The
        // part parallel to v has the length √discriminant / |v| at the first touch. Computing the
        // vector as p + v·time would add an error proportional to the distance travelled.
        let (root, reach) = (discriminant.value.sqrt(), self.r * v.length());
        let off = [
            time.error / time.value,
            discriminant.error / root / reach,
            (8.0 * U * p.length() + self.off.element_sum()) / self.r,
        ];
        let told = off.iter().all(|&off| off < 1e-9);
        told.then(|| Touch {
            time: time.value,
            normal: (v.cross(p).cross(v) - v * root).normalize(),
            approach: root / self.r,
        })
    }
}

//! Decides in float64 whether two spheres touch. Each number has an error bound, and there is no
//! result if a bound leaves a doubt.
//!
//! Comments count rounding errors in units of `U`, the relative error of one operation. The code
//! uses a bound of 8 `U` for up to 6 errors, and of 16 `U` for up to 14. The rest covers
//! second-order terms. No product overflows or underflows, because the inputs are float32.
//! docs/exact.md (section 4) has the proof.

#![allow(
    clippy::cast_possible_truncation,
    reason = "rounding to float32 is intended"
)]

use std::cmp::Ordering;

use glam::{DVec3, Vec3Swizzles};

use super::answer::{Hit, Touch};
use super::shift::Shift;
use crate::shared::moving_sphere::MovingSphere;

const U: f64 = f64::EPSILON / 2.0;

#[derive(Clone, Copy)]
struct Bounded {
    value: f64,
    error: f64,
}

impl Bounded {
    /// Returns the sign of the exact number, or `None` if the error may change it.
    fn sign(self) -> Option<Ordering> {
        if self.value.abs() > self.error || self.error == 0.0 {
            self.value.partial_cmp(&0.0)
        } else {
            None
        }
    }

    /// Returns the exact number, which is within `range`, rounded to float32, or `None` if
    /// the error leaves it open.
    fn round(self, range: [f64; 2]) -> Option<f32> {
        let [low, high] = [
            (self.value - self.error).max(range[0]) as f32,
            (self.value + self.error).min(range[1]) as f32,
        ];
        (low == high).then_some(low)
    }
}

/// Relative position p, relative velocity v, and sum r of the radii, each the rounded result of
/// one operation.
pub(super) struct PairFloat64 {
    p: DVec3,
    v: DVec3,
    r: f64,
    /// p·p, with 5 rounding errors, and r², with 3.
    squares: [f64; 2],
    /// Error of p beyond its one rounding error, from displacing the second sphere. 0 in
    /// open space.
    off: DVec3,
}

impl PairFloat64 {
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

    fn square_off(&self) -> f64 {
        self.off.dot(2.0 * self.p.abs() + self.off)
    }

    /// Returns p·p − r², positive if the spheres are apart at the start.
    fn outside(&self) -> Bounded {
        let [pp, rr] = self.squares;
        Bounded {
            value: pp - rr,
            error: 8.0 * U * (pp + rr) + self.square_off(),
        }
    }

    /// Returns −p·v, with 5 rounding errors, positive if the spheres approach each other.
    fn closing(&self) -> Bounded {
        Bounded {
            value: -self.p.dot(self.v),
            error: (8.0 * U * self.p.abs() + self.off).dot(self.v.abs()),
        }
    }

    /// Returns the discriminant (p·v)² − (p·p − r²)·v·v, computed as r²·v·v − |p × v|²,
    /// which cancels only near tangency. r²·v·v has 9 rounding errors. Each component of p
    /// × v has 4, relative to the sum of the magnitudes of its two products.
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

    /// Returns q·q − r², for q = p + v·dt, positive if the spheres are apart at the end.
    /// Each component of q has 4 rounding errors, relative to the sum of the magnitudes of
    /// p and v·dt.
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

    /// Returns the time of impact c / (−p·v + √d), for c = p·p − r² and the discriminant d,
    /// or `None` unless c, −p·v and d are certainly positive.
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
        .filter(|_| off < 0.5 * sum)
    }

    /// Returns the depth r − |p|, computed as (r² − p·p) / (r + |p|), because this does not cancel.
    #[inline(always)]
    fn overlap(&self) -> Option<Hit> {
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
        Some(Hit { toi: 0.0, depth })
    }

    /// Returns `Some(None)` if the spheres do not touch, and `None` if the error bounds
    /// leave this open.
    pub(super) fn impact(&self, dt: f32) -> Option<Option<Hit>> {
        let dt = f64::from(dt);
        let outside = self.outside();
        if outside.sign()? != Ordering::Greater {
            return self.overlap().map(Some);
        }
        let closing = self.closing();
        if closing.sign()? != Ordering::Greater {
            return Some(None);
        }
        // If the spheres still approach at the end, their closest approach is later.
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
        Some(Some(Hit { toi, depth: 0.0 }))
    }

    /// Estimates the time of impact, or the depth, without an error bound.
    pub(super) fn guess(&self) -> f64 {
        let outside = self.outside().value;
        if outside > 0.0 {
            outside / (self.closing().value + self.discriminant().value.max(0.0).sqrt())
        } else {
            -outside / (self.r + self.squares[0].sqrt())
        }
    }

    /// Returns the first touch, or `None` if there is none or the relative error may exceed 10⁻⁹.
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
        // The vector between the centres has a part perpendicular to v, which does not
        // change, and a part along v of length √discriminant / |v|. Adding v·time to p
        // would have a larger error.
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

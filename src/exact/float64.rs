//! The answer in float64, where its own error bound leaves no doubt.
//!
//! Inputs are float32, so products of up to six of them neither overflow nor
//! underflow, and every operation is off by at most `U` of its result. The
//! comments count operations; a bound of 8 stands for up to 6 of them, so that
//! it covers the rounding of the bound itself and terms in `U`².

#![allow(
    clippy::cast_possible_truncation,
    reason = "rounding to float32 is what is asked for"
)]

use std::cmp::Ordering;

use glam::{DVec3, Vec3Swizzles};

use super::answer::{Impact, Touch};
use crate::shared::moving_sphere::MovingSphere;

/// Half a unit in the last place of 1.
const U: f64 = f64::EPSILON / 2.0;

/// A number, and its largest error.
#[derive(Clone, Copy)]
struct Bounded {
    value: f64,
    error: f64,
}

impl Bounded {
    /// How the true number compares with 0, if that can be told.
    fn sign(self) -> Option<Ordering> {
        if self.value.abs() > self.error || self.error == 0.0 {
            self.value.partial_cmp(&0.0)
        } else {
            None
        }
    }

    /// The float32 next to the true number, which is within `range`, if that can
    /// be told.
    fn round(self, range: [f64; 2]) -> Option<f32> {
        let [low, high] = [
            (self.value - self.error).max(range[0]) as f32,
            (self.value + self.error).min(range[1]) as f32,
        ];
        (low == high).then_some(low)
    }
}

/// One sphere as seen from another: centres and velocities as differences (1),
/// radii as a sum (1).
pub(super) struct Float64 {
    p: DVec3,
    v: DVec3,
    r: f64,
    /// p·p (5) and r² (3).
    squares: [f64; 2],
}

impl Float64 {
    #[inline(always)]
    pub(super) fn new<S: MovingSphere>(a: &S, b: &S) -> Self {
        let vector = |x: [f32; 3]| DVec3::from(x.map(f64::from));
        let p = vector(b.center()) - vector(a.center());
        let r = f64::from(a.radius()) + f64::from(b.radius());
        Self {
            p,
            v: vector(b.velocity()) - vector(a.velocity()),
            r,
            squares: [p.length_squared(), r * r],
        }
    }

    /// c = p·p − r²: positive when they are apart at the start.
    fn outside(&self) -> Bounded {
        let [pp, rr] = self.squares;
        Bounded {
            value: pp - rr,
            error: 8.0 * U * (pp + rr),
        }
    }

    /// −p·v (5): positive when they approach each other.
    fn closing(&self) -> Bounded {
        Bounded {
            value: -self.p.dot(self.v),
            error: 8.0 * U * self.p.abs().dot(self.v.abs()),
        }
    }

    /// (p·v)² − c·v², which cancels; by Lagrange's identity it is r²·v² (9) less
    /// |p × v|², of which a component is off by 4 of its two products.
    fn discriminant(&self) -> Bounded {
        let (p, v) = (self.p, self.v);
        let cross = p.cross(v);
        let off = 8.0 * U * (p.abs().yzx() * v.abs().zxy() + p.abs().zxy() * v.abs().yzx());
        let moved = off.dot(2.0 * cross.abs() + off);
        let [cross, rrvv] = [cross.length_squared(), self.squares[1] * v.length_squared()];
        Bounded {
            value: rrvv - cross,
            error: moved + 16.0 * U * (cross + rrvv),
        }
    }

    /// q·q − r² with q = p + v·dt, of which a component is off by 4 of its two
    /// terms: positive when they are apart at the end.
    fn outside_at(&self, dt: f64) -> Bounded {
        let shift = self.v * dt;
        let q = self.p + shift;
        let off = 8.0 * U * (self.p.abs() + shift.abs());
        let [qq, rr] = [q.length_squared(), self.squares[1]];
        Bounded {
            value: qq - rr,
            error: off.dot(2.0 * q.abs() + off) + 8.0 * U * (qq + rr),
        }
    }

    /// When they first touch, as c / (−p·v + √discriminant). All three have to be
    /// positive beyond doubt.
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
        // A sum of which nothing is certain is no answer.
        .filter(|_| off < 0.5 * sum)
    }

    /// How deep they overlap at the start: r − |p|, without its cancellation.
    #[inline(always)]
    fn overlap(&self) -> Option<Impact> {
        let sum = self.r + self.squares[0].sqrt();
        let depth = Bounded {
            value: if sum > 0.0 {
                -self.outside().value / sum
            } else {
                0.0
            },
            error: 16.0 * U * sum,
        };
        let depth = depth.round([0.0, f64::MAX])?;
        Some(Impact { toi: 0.0, depth })
    }

    /// Whether, when and how deep they touch in a step of length `dt`; `None`
    /// when one of the three cannot be told.
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
        // Whether they are nearest after the end.
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

    /// An estimate, with no bound, of when they touch, or if they overlap at the start, of how
    /// deep.
    pub(super) fn guess(&self) -> f64 {
        let outside = self.outside().value;
        if outside > 0.0 {
            outside / (self.closing().value + self.discriminant().value.max(0.0).sqrt())
        } else {
            -outside / (self.r + self.squares[0].sqrt())
        }
    }

    /// How they first touch if they fly on for ever; `None` when that cannot be
    /// told to nine digits.
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
        // Their distance across the motion stays as it is; along it they are apart by
        // √discriminant / |v|. To take it from the time would add the error of a long way.
        let (root, reach) = (discriminant.value.sqrt(), self.r * v.length());
        let off = [
            time.error / time.value,
            discriminant.error / root / reach,
            8.0 * U * p.length() / self.r,
        ];
        let told = off.iter().all(|&off| off < 1e-9);
        told.then(|| Touch {
            time: time.value,
            normal: (v.cross(p).cross(v) - v * root).normalize(),
            approach: root / self.r,
        })
    }
}

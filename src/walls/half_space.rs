//! Decides whether a moving sphere touches a half-space. A half-space has a normal n and an offset o. The
//! free side is n·x ≥ o, and the rest is solid.
//!
//! A sphere has the centre c, the radius r and the velocity v relative to a half-space with the normal n and
//! the offset o. Its centre has the signed distance (A + B·t) / |n| from the half-space, where A = n·c − o and
//! B = n·v. The sphere touches the half-space when A + B·t ≤ r·|n|. Its depth at the start is r − A / |n|.

use std::cmp::Ordering;

use dashu_int::IBig;

use super::approx::{Approx, difference, dot};
use super::vectors::vector;
use crate::Sphere;
use crate::exact::integers::{
    self, Dyadic, Numbers3, in_units, nearest, numbers, sign, unit_of, velocity_between,
};
use crate::exact::{Hit, Touch};
use crate::number::sealed::Numbers;

#[derive(Clone, Copy, Debug)]
pub(crate) struct HalfSpace<T = f32> {
    pub(crate) normal: [T; 3],
    pub(crate) offset: T,
    pub(crate) velocity: [T; 3],
}

impl HalfSpace {
    pub(super) fn impact(&self, sphere: &Sphere, dt: f32) -> Option<Hit> {
        let decided = self.at_once(sphere, dt);
        let decided = decided.or_else(|| self.in_float64(sphere, dt));
        decided.unwrap_or_else(|| self.impact_in_integers(sphere, dt))
    }

    /// Always decided in integers.
    pub(super) fn impact_in_integers(&self, sphere: &Sphere, dt: f32) -> Option<Hit> {
        let wide = HalfSpace {
            normal: self.normal.map(f64::from),
            offset: self.offset.into(),
            velocity: self.velocity.map(f64::from),
        };
        let integers = HalfSpaceIntegers::new(&wide, &numbers(sphere));
        let rounded = integers.rounded(dt, self.guess(sphere), f32::MAX);
        rounded.map(Hit::from)
    }

    /// Decides with few operations, or returns `None` if they do not suffice near touching
    /// at the start or the end of the step (docs/exact.md, section 6).
    #[allow(
        clippy::cast_possible_truncation,
        reason = "rounding to float32 is intended"
    )]
    fn at_once(&self, sphere: &Sphere, dt: f32) -> Option<Option<Hit>> {
        /// Relative to the magnitudes of the terms of a sum: 16 times the error of one operation.
        const ERROR: f64 = 8.0 * f64::EPSILON;
        let [n, c, v, w] = [self.normal, sphere.center, sphere.velocity, self.velocity].map(vector);
        let dt = f64::from(dt);
        let length = n.length();
        let reach = f64::from(sphere.radius) * length;
        let offset = f64::from(self.offset);
        let gap = n.dot(c) - offset - reach;
        let gap_error = ERROR * (n.abs().dot(c.abs()) + offset.abs() + reach);
        let same = |value: f64, error: f64, most: f64| {
            let [low, high] = [value - error, value + error].map(|x| x as f32);
            (low == high && value + error <= most).then_some(low)
        };
        if gap < -gap_error {
            let depth = same(-gap / length, 2.0 * gap_error / length, f64::MAX)?;
            return Some(Some(Hit { toi: 0.0, depth }));
        }
        let speed = n.dot(v - w);
        let speed_error = ERROR * n.abs().dot(v.abs() + w.abs());
        let (end, end_error) = (gap + speed * dt, 2.0 * (gap_error + speed_error * dt));
        if gap <= gap_error {
            return None;
        }
        if end > end_error {
            return Some(None);
        }
        if end >= -end_error || speed >= -4.0 * speed_error {
            return None;
        }
        let toi = gap / -speed;
        let error = 2.0 * (gap_error + toi * speed_error) / -speed;
        let toi = same(toi, error, dt)?;
        Some(Some(Hit { toi, depth: 0.0 }))
    }

    /// `None` if the error bounds leave it open.
    fn in_float64(&self, sphere: &Sphere, dt: f32) -> Option<Option<Hit>> {
        let normal = Approx::vector(self.normal);
        let length = dot(normal, normal).sqrt()?;
        let away = dot(normal, Approx::vector(sphere.center)) - Approx::exact(self.offset.into());
        let gap = away - Approx::exact(sphere.radius.into()) * length;
        match gap.sign()? {
            Ordering::Greater => {}
            Ordering::Equal => return Some(Some(Hit::default())),
            Ordering::Less => {
                let depth = (-gap).over(length)?.round(f64::MAX)?;
                return Some(Some(Hit { toi: 0.0, depth }));
            }
        }
        let [v, w] = [sphere.velocity, self.velocity].map(Approx::vector);
        let speed = dot(normal, difference(v, w));
        if speed.sign()? != Ordering::Less {
            return Some(None);
        }
        let dt = f64::from(dt);
        if (gap + speed * Approx::exact(dt)).sign()? == Ordering::Greater {
            return Some(None);
        }
        let toi = gap.over(-speed)?.round(dt)?;
        Some(Some(Hit { toi, depth: 0.0 }))
    }

    /// The gap at the start of the step and the velocity, both along the unit normal.
    fn gap_and_speed(&self, sphere: &Sphere) -> [f64; 2] {
        let normal = vector(self.normal);
        let length = normal.length();
        let away = normal.dot(vector(sphere.center)) - f64::from(self.offset);
        let speed = normal.dot(vector(sphere.velocity) - vector(self.velocity));
        [away / length - f64::from(sphere.radius), speed / length]
    }

    /// The time of impact, or the depth of a sphere that touches at the start.
    fn guess(&self, sphere: &Sphere) -> f64 {
        let [gap, speed] = self.gap_and_speed(sphere);
        if gap > 0.0 { gap / -speed } else { -gap }
    }

    /// The sphere must touch at some time.
    pub(super) fn touch(&self, sphere: &Sphere) -> Touch {
        let [gap, speed] = self.gap_and_speed(sphere);
        let time = if gap > 0.0 { gap / -speed } else { 0.0 };
        Touch {
            time: if time.is_finite() { time.max(0.0) } else { 0.0 },
            normal: -vector(self.normal).normalize(),
            approach: -speed,
        }
    }
}

/// A is the distance of the centre from the plane times |n|, and B its rate of change. The
/// sphere of radius r touches at t if A + B·t ≤ r·|n|. A and r are in units of 2^`length`, B of
/// 2^`speed_unit`. The scale of n, a power of two, does not matter.
pub(super) struct HalfSpaceIntegers {
    away: IBig,
    r: IBig,
    length: i32,
    speed: IBig,
    speed_unit: i32,
    square: IBig,
}

impl HalfSpaceIntegers {
    pub(super) fn new(wall: &HalfSpace<f64>, &(center, radius, velocity): &Numbers3) -> Self {
        let dyadic = Dyadic::from;
        let normal = wall.normal.map(dyadic);
        let normal_unit = unit_of(&normal);
        let normal = normal.map(|x| in_units(x, normal_unit));
        let offset = dyadic(wall.offset);
        let offset = Dyadic {
            exponent: offset.exponent - normal_unit,
            ..offset
        };
        let [x, y, z] = center.map(dyadic);
        let lengths = [x, y, z, dyadic(radius), offset];
        let length = unit_of(&lengths);
        let [x, y, z, r, offset] = lengths.map(|x| in_units(x, length));
        let (v, speed_unit) = velocity_between(velocity, wall.velocity);
        Self {
            away: integers::dot(&normal, &[x, y, z]) - offset,
            r,
            length,
            speed: integers::dot(&normal, &v),
            speed_unit,
            square: integers::dot(&normal, &normal),
        }
    }

    /// Compares the speed at which the sphere leaves the half-space with 0.
    pub(super) fn growth(&self) -> Ordering {
        sign(&self.speed)
    }

    fn compare(&self, x: &IBig, other: &IBig) -> Ordering {
        let signs = [sign(x), sign(other)];
        let squares = (x * x * &self.square).cmp(&(other * other));
        match signs {
            [Ordering::Less, Ordering::Less] => squares.reverse(),
            [a, b] if a != b => a.cmp(&b),
            _ => squares,
        }
    }

    /// The sphere must not touch at the start, and must approach.
    fn touch_compared_with(&self, time: Dyadic) -> Ordering {
        let shift_unit = self.speed_unit + time.exponent;
        let finer = usize::try_from(self.length - shift_unit).unwrap_or(0);
        let coarser = usize::try_from(shift_unit - self.length).unwrap_or(0);
        let shift = (&self.speed * IBig::from(time.mantissa)) << coarser;
        let away = (&self.away << finer) + shift;
        self.compare(&(&self.r << finer), &away).reverse()
    }

    fn depth_compared_with(&self, depth: Dyadic) -> Ordering {
        let finer = usize::try_from(self.length - depth.exponent).unwrap_or(0);
        let coarser = usize::try_from(depth.exponent - self.length).unwrap_or(0);
        let rest = (&self.r << finer) - (IBig::from(depth.mantissa) << coarser);
        self.compare(&rest, &(&self.away << finer))
    }

    /// The depth is at most `longest`.
    pub(super) fn rounded<T: Numbers>(&self, dt: T, guess: f64, longest: T) -> Option<[T; 2]> {
        let zero = T::default();
        if self.compare(&self.r, &self.away) != Ordering::Less {
            let depth = nearest(longest, guess, |length| self.depth_compared_with(length));
            return Some([zero, depth]);
        }
        let compare = |time| self.touch_compared_with(time);
        let end = Dyadic::from(dt.into());
        let hit = sign(&self.speed) == Ordering::Less && compare(end) != Ordering::Greater;
        hit.then(|| [nearest(dt, guess, compare), zero])
    }
}

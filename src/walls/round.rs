//! Decides whether a moving sphere touches a round wall: an infinite cylinder or a sphere, from outside or from
//! inside. A solid sphere as a wall is tested like a pair of spheres, and the rest of this file is about the others.
//!
//! p is the position of the sphere's centre relative to the wall, v its relative velocity, r its radius and R
//! the radius of the wall. For a cylinder with axis a, the distance of the centre from the axis at time t is
//! |a × (p + v·t)| / |a|. So with P = a × p and V = a × v, the distance is |P + V·t| / |a|. For a hollow sphere,
//! P = p, V = v and |a| = 1 give the distance from its centre.
//! - From outside, the sphere touches when |P + V·t| ≤ K·|a|, with K = R + r.
//! - From inside, the sphere touches when |P + V·t| ≥ K·|a|, with K = R − r. If K ≤ 0, the sphere is too large
//!   for the wall and always touches.

use std::array::from_fn;
use std::cmp::Ordering::{self, Equal, Greater, Less};

use dashu_int::IBig;
use glam::DVec3;

use super::approx::{Approx, cross, difference, dot};
use super::vectors::unit;
use crate::Sphere;
use crate::domain::Products;
use crate::exact::integers::{
    self, Dyadic, Numbers3, in_units, nearest, numbers, sign, unit_of, velocity_between,
};
use crate::exact::{Hit, Shift, Touch, Translation, first_touch, impact};
use crate::number::sealed::Numbers;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Round<T = f32> {
    pub(crate) point: [T; 3],
    pub(crate) axis: Option<[T; 3]>,
    pub(crate) radius: T,
    pub(crate) inside: bool,
    pub(crate) velocity: [T; 3],
}

impl<T> Round<T> {
    pub(crate) fn is_ball(&self) -> bool {
        self.axis.is_none() && !self.inside
    }
}

impl<T: Copy + Into<f64>> Round<T> {
    pub(super) fn any_direction(&self) -> DVec3 {
        self.axis.map_or(DVec3::X, |axis| {
            unit(DVec3::from(axis.map(Into::into))).any_orthonormal_vector()
        })
    }
}

impl Round {
    pub(crate) fn ball(&self) -> Option<Sphere> {
        self.is_ball()
            .then(|| Sphere::new(self.point, self.radius).with_velocity(self.velocity))
    }

    /// `shift` displaces the sphere.
    pub(super) fn impact(&self, sphere: &Sphere, shift: impl Shift, dt: f32) -> Option<Hit> {
        if let Some(ball) = self.ball() {
            return impact(&ball, sphere, shift, dt).0;
        }
        if self.certainly_misses(sphere, shift, dt) {
            return None;
        }
        let in_float64 = RoundFloat64::new(self, sphere, shift).impact(dt);
        in_float64.unwrap_or_else(|| self.impact_in_integers(sphere, shift, dt))
    }

    /// Always decided in integers. A solid sphere is tested as two spheres either way.
    pub(super) fn impact_in_integers(
        &self,
        sphere: &Sphere,
        shift: impl Shift,
        dt: f32,
    ) -> Option<Hit> {
        if let Some(ball) = self.ball() {
            return impact(&ball, sphere, shift, dt).0;
        }
        let wide = Round {
            point: self.point.map(f64::from),
            axis: self.axis.map(|axis| axis.map(f64::from)),
            radius: self.radius.into(),
            inside: self.inside,
            velocity: self.velocity.map(f64::from),
        };
        let integers = RoundIntegers::new(&wide, &numbers(sphere), &shift.products());
        let rounded = integers.rounded(dt, self.guess(sphere, shift), f32::MAX);
        rounded.map(Hit::from)
    }

    /// In float64. For a cylinder, both are perpendicular to the axis.
    pub(super) fn relative(&self, sphere: &Sphere, shift: impl Shift) -> [DVec3; 2] {
        let vector = |x: [f32; 3]| DVec3::from(x.map(f64::from));
        let by = shift.translation().map_or(DVec3::ZERO, Translation::vector);
        let p = vector(sphere.center) - vector(self.point) + by;
        let v = vector(sphere.velocity) - vector(self.velocity);
        let axis = self.axis.map(|axis| vector(axis).normalize());
        [p, v].map(|x| axis.map_or(x, |axis| -axis.cross(axis.cross(x))))
    }

    /// It misses by a margin many times larger than the rounding errors.
    fn certainly_misses(&self, sphere: &Sphere, shift: impl Shift, dt: f32) -> bool {
        const MARGIN: f64 = 1e-12;
        let by = shift.translation().map_or(DVec3::ZERO, Translation::vector);
        let [center, point, v, w] = [sphere.center, self.point, sphere.velocity, self.velocity]
            .map(|x| DVec3::from(x.map(f64::from)));
        let dt = f64::from(dt);
        let size = center.abs() + point.abs() + by.abs() + (v.abs() + w.abs()) * dt;
        let size = size.element_sum() + f64::from(self.radius) + f64::from(sphere.radius);
        let [p, v] = self.relative(sphere, shift);
        let reach = self.reach(sphere);
        if self.inside {
            let most = p.length().max((p + v * dt).length());
            most < reach - MARGIN * size
        } else {
            let closest = -p.dot(v) / v.length_squared();
            let time = if closest > 0.0 { closest.min(dt) } else { 0.0 };
            (p + v * time).length() > reach + MARGIN * size
        }
    }

    /// Distance between the centre of the sphere and the wall's centre or axis, at contact.
    fn reach(&self, sphere: &Sphere) -> f64 {
        let [radius, r] = [self.radius, sphere.radius].map(f64::from);
        if self.inside { radius - r } else { radius + r }
    }

    /// The time of impact, or the depth of a sphere that touches at the start.
    fn guess(&self, sphere: &Sphere, shift: impl Shift) -> f64 {
        let [p, v] = self.relative(sphere, shift);
        let reach = self.reach(sphere);
        let gap = p.length() - reach;
        if (gap >= 0.0) == self.inside {
            return gap.abs();
        }
        let (gap, b) = (gap * (p.length() + reach), p.dot(v));
        let across = p.cross(v).length_squared();
        let root = (reach * reach * v.length_squared() - across)
            .max(0.0)
            .sqrt();
        if self.inside {
            -gap / (b + root)
        } else {
            gap / (root - b)
        }
    }

    /// `None` if the sphere does not touch a solid sphere. It must touch any other wall at
    /// some time.
    pub(super) fn touch(&self, sphere: &Sphere, shift: impl Shift) -> Option<Touch> {
        if let Some(ball) = self.ball() {
            return first_touch(&ball, sphere, shift).map(|touch| Touch {
                normal: -touch.normal,
                ..touch
            });
        }
        let [p, v] = self.relative(sphere, shift);
        let at_once = (p.length() >= self.reach(sphere)) == self.inside;
        let time = if at_once {
            0.0
        } else {
            self.guess(sphere, shift)
        };
        let time = if time.is_finite() { time.max(0.0) } else { 0.0 };
        let outwards = (p + v * time)
            .try_normalize()
            .unwrap_or_else(|| self.any_direction());
        let normal = if self.inside { outwards } else { -outwards };
        Some(Touch {
            time,
            normal,
            approach: v.dot(normal),
        })
    }
}

/// The position P, velocity V, distance K at contact and length |a| of the axis vector that the
/// module defines, with error bounds.
struct RoundFloat64 {
    inside: bool,
    p: [Approx; 3],
    v: [Approx; 3],
    k: Approx,
    /// `None` if its error bound cannot be computed.
    length: Option<Approx>,
    /// The square of K·|a|, where |a| is 1 for a sphere.
    square: Approx,
}

impl RoundFloat64 {
    fn new(wall: &Round, sphere: &Sphere, shift: impl Shift) -> Self {
        let [center, point, v, w] =
            [sphere.center, wall.point, sphere.velocity, wall.velocity].map(Approx::vector);
        let (mut p, mut v) = (difference(center, point), difference(v, w));
        if shift.translation().is_some() {
            let products = shift.products();
            p = from_fn(|axis| {
                products[axis].iter().fold(p[axis], |sum, &(edge, times)| {
                    sum + Approx::exact(edge) * Approx::exact(times.into())
                })
            });
        }
        let (mut square, mut length) = (Approx::exact(1.0), Some(Approx::exact(1.0)));
        if let Some(axis) = wall.axis {
            let axis = Approx::vector(axis);
            (p, v) = (cross(axis, p), cross(axis, v));
            square = dot(axis, axis);
            length = square.sqrt();
        }
        let [radius, r] = [wall.radius, sphere.radius].map(|x| Approx::exact(x.into()));
        let k = if wall.inside { radius - r } else { radius + r };
        Self {
            inside: wall.inside,
            p,
            v,
            k,
            length,
            square: k * k * square,
        }
    }

    /// `Some(None)` if the sphere does not touch, and `None` if the error bounds leave this open.
    fn impact(&self, dt: f32) -> Option<Option<Hit>> {
        if self.inside {
            self.hollow_impact(dt.into())
        } else {
            self.solid_impact(dt.into())
        }
    }

    /// Squared distance at the end of the step, minus that at contact, times |a|² for a cylinder.
    fn at_end(&self, dt: f64) -> Approx {
        let q = from_fn(|axis| self.p[axis] + self.v[axis] * Approx::exact(dt));
        dot(q, q) - self.square
    }

    /// `gap` is the squared distance minus that at contact, times |a|² for a cylinder.
    fn touching(&self, gap: Approx) -> Option<Option<Hit>> {
        let length = self.length?;
        let away = dot(self.p, self.p).sqrt()?;
        let reach = self.k * length;
        let depth = if self.k.sign()? == Less {
            away - reach
        } else {
            // `away - reach` would lose digits by cancellation, so the difference of their squares, `gap`, is
            // divided by their sum.
            let gap = if self.inside { gap } else { -gap };
            gap.over(away + reach)?
        };
        let depth = depth.over(length)?.round(f64::MAX)?;
        Some(Some(Hit { toi: 0.0, depth }))
    }

    fn solid_impact(&self, dt: f64) -> Option<Option<Hit>> {
        let gap = dot(self.p, self.p) - self.square;
        match gap.sign()? {
            Greater => {}
            Equal => return Some(Some(Hit::default())),
            Less => return self.touching(gap),
        }
        let closing = -dot(self.p, self.v);
        if closing.sign()? != Greater {
            return Some(None);
        }
        let speed = dot(self.v, self.v);
        let across = cross(self.p, self.v);
        let discriminant = self.square * speed - dot(across, across);
        let hit = match (closing - speed * Approx::exact(dt)).sign()? {
            Greater => self.at_end(dt).sign()? != Greater,
            _ => discriminant.sign()? != Less,
        };
        if !hit {
            return Some(None);
        }
        let toi = gap.over(closing + discriminant.sqrt()?)?.round(dt)?;
        Some(Some(Hit { toi, depth: 0.0 }))
    }

    fn hollow_impact(&self, dt: f64) -> Option<Option<Hit>> {
        let gap = dot(self.p, self.p) - self.square;
        if self.k.sign()? != Greater {
            return self.touching(gap);
        }
        match gap.sign()? {
            Less => {}
            Equal => return Some(Some(Hit::default())),
            Greater => return self.touching(gap),
        }
        if self.at_end(dt).sign()? == Less {
            return Some(None);
        }
        let leaving = dot(self.p, self.v);
        let speed = dot(self.v, self.v);
        let root = (leaving * leaving - gap * speed).sqrt()?;
        // The quadratic equation for the time is solved in the form in which no two close numbers are
        // subtracted.
        let toi = if leaving.value >= 0.0 {
            (-gap).over(leaving + root)?
        } else {
            (root - leaving).over(speed)?
        };
        Some(Some(Hit {
            toi: toi.round(dt)?,
            depth: 0.0,
        }))
    }
}

/// A sphere and a round wall (a hollow sphere or a cylinder) as exact integers. P and V are the
/// position and the velocity of the sphere's centre relative to a hollow sphere. For a cylinder,
/// they are the cross products of the axis vector a with the relative position and velocity. K is
/// the distance from the wall's centre or axis at contact. So the sphere just touches the wall at a
/// time t if |P + V·t| = K·|a|, where |a| is 1 for a hollow sphere. P and K are in units of
/// 2^`length`, and V is in units of 2^`speed`. The vector a is scaled by a power of two, which
/// affects no comparison.
pub(super) struct RoundIntegers {
    inside: bool,
    p: [IBig; 3],
    k: IBig,
    length: i32,
    v: [IBig; 3],
    speed: i32,
    axis_square: IBig,
}

impl RoundIntegers {
    pub(super) fn new(
        wall: &Round<f64>,
        &(center, radius, velocity): &Numbers3,
        products: &Products,
    ) -> Self {
        let dyadic = Dyadic::from;
        let lengths: [Dyadic; 8] = from_fn(|k| {
            let (place, radius) = match k {
                0..4 => (center, radius),
                _ => (wall.point, wall.radius),
            };
            dyadic(*place.get(k % 4).unwrap_or(&radius))
        });
        let edges = products.as_flattened().iter();
        let edges: Vec<_> = edges.map(|&(edge, _)| dyadic(edge)).collect();
        let length = unit_of(&[&lengths[..], &edges].concat());
        let lengths = lengths.map(|x| in_units(x, length));
        let p = from_fn(|axis| {
            let away = &lengths[axis] - &lengths[axis + 4];
            let products = products[axis].iter().filter(|&&(_, times)| times != 0);
            products.fold(away, |sum, &(edge, times)| {
                sum + in_units(dyadic(edge), length) * IBig::from(times)
            })
        });
        let (v, speed) = velocity_between(velocity, wall.velocity);
        let [r, radius] = [&lengths[3], &lengths[7]];
        let (p, v, axis_square) = match wall.axis {
            None => (p, v, IBig::from(1)),
            Some(axis) => {
                let axis = axis.map(dyadic);
                let unit = unit_of(&axis);
                let axis = axis.map(|x| in_units(x, unit));
                let square = integers::dot(&axis, &axis);
                (
                    integers::cross(&axis, &p),
                    integers::cross(&axis, &v),
                    square,
                )
            }
        };
        Self {
            inside: wall.inside,
            p,
            k: if wall.inside { radius - r } else { radius + r },
            length,
            v,
            speed,
            axis_square,
        }
    }

    /// Compares the speed at which the sphere leaves the surface of the wall with 0.
    pub(super) fn growth(&self) -> Ordering {
        let outwards = sign(&integers::dot(&self.p, &self.v));
        if self.inside {
            outwards.reverse()
        } else {
            outwards
        }
    }

    /// Compares |x| with y·|a|, for a vector x and a number y. The vector a along the axis of the cylinder need
    /// not have length 1.
    fn compare(&self, x: &[IBig; 3], y: &IBig) -> Ordering {
        if sign(y) == Less {
            return Greater;
        }
        integers::dot(x, x).cmp(&(y * y * &self.axis_square))
    }

    /// Returns two comparisons for the given `time`. The first one compares the distance between
    /// the sphere's centre and the wall's centre or axis at this time with the distance at which
    /// sphere and wall just touch. The second one compares `time` with the time at which the
    /// sphere's centre is nearest to the wall's centre or axis.
    fn at(&self, time: Dyadic) -> [Ordering; 2] {
        let shift_unit = self.speed + time.exponent;
        let finer = usize::try_from(self.length - shift_unit).unwrap_or(0);
        let coarser = usize::try_from(shift_unit - self.length).unwrap_or(0);
        let time = IBig::from(time.mantissa);
        let q = from_fn(|k| (&self.p[k] << finer) + ((&self.v[k] * &time) << coarser));
        let passed = sign(&integers::dot(&q, &self.v));
        [self.compare(&q, &(&self.k << finer)), passed]
    }

    /// Compares the time at which the sphere first touches the wall with `time`. The sphere must touch the
    /// wall later in the step, but not at the start.
    fn touch_compared_with(&self, time: Dyadic) -> Ordering {
        match (self.inside, self.at(time)) {
            (true, [order, _]) => order.reverse(),
            (false, [Less, _] | [_, Greater] | [Greater, Equal]) => Less,
            (false, [Equal, _]) => Equal,
            (false, [Greater, Less]) => Greater,
        }
    }

    /// Returns whether the depth of the sphere in the wall at the start of the step is less than,
    /// equal to or greater than `depth`. The comparison is exact.
    fn depth_compared_with(&self, depth: Dyadic) -> Ordering {
        let finer = usize::try_from(self.length - depth.exponent).unwrap_or(0);
        let coarser = usize::try_from(depth.exponent - self.length).unwrap_or(0);
        let depth = IBig::from(depth.mantissa) << coarser;
        let p = from_fn(|k| &self.p[k] << finer);
        let k = &self.k << finer;
        if self.inside {
            self.compare(&p, &(k + depth))
        } else {
            self.compare(&p, &(k - depth)).reverse()
        }
    }

    fn touches_later(&self, dt: Dyadic) -> bool {
        match (self.inside, self.at(dt)) {
            (true, [order, _]) => order != Less,
            (false, _) if sign(&integers::dot(&self.p, &self.v)) != Less => false,
            (false, [Less | Equal, _]) => true,
            (false, [Greater, Less]) => false,
            (false, [Greater, _]) => {
                let across = integers::cross(&self.p, &self.v);
                let speed = integers::dot(&self.v, &self.v);
                let reach = &self.k * &self.k * &self.axis_square;
                integers::dot(&across, &across) <= reach * speed
            }
        }
    }

    /// Returns the time of impact and the depth, each rounded to the nearest number of type `T`. The depth is at most
    /// `longest`.
    pub(super) fn rounded<T: Numbers>(&self, dt: T, guess: f64, longest: T) -> Option<[T; 2]> {
        let zero = T::default();
        let start = self.compare(&self.p, &self.k);
        if start == Equal || (start == Greater) == self.inside {
            let depth = nearest(longest, guess, |length| self.depth_compared_with(length));
            return Some([zero, depth]);
        }
        let compare = |time| self.touch_compared_with(time);
        self.touches_later(Dyadic::from(dt.into()))
            .then(|| [nearest(dt, guess, compare), zero])
    }
}

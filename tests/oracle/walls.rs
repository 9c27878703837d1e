//! Decides without rounding whether a sphere touches a wall of a simple shape during a time step.
//!
//! Every float32 is an integer divided by 2^160. At the time n/d, the position of the sphere's centre
//! relative to the wall is an integer vector divided by 2^160·d. The normal of a half-space and the axis of a
//! cylinder are integer vectors divided by 2^160. So the square of each distance is a ratio of integers. Two
//! distances are compared by their squares, in integer arithmetic.

use std::cmp::Ordering::{self, Equal, Greater, Less};

use carom::{Domain, Sphere, Wall, WallShape};
use num_bigint::{BigInt, Sign};

use super::exact::{halfway, parts};

const BITS: i32 = 160;

fn fixed(x: f64) -> BigInt {
    let (mantissa, exponent) = parts(x);
    if mantissa == BigInt::ZERO {
        return mantissa;
    }
    mantissa << u32::try_from(exponent + BITS).expect("all numbers are multiples of 2^-160")
}

fn vector(x: [f32; 3]) -> [BigInt; 3] {
    x.map(|x| fixed(x.into()))
}

fn dot(x: &[BigInt; 3], y: &[BigInt; 3]) -> BigInt {
    &x[0] * &y[0] + &x[1] * &y[1] + &x[2] * &y[2]
}

fn cross([a, b, c]: &[BigInt; 3], [x, y, z]: &[BigInt; 3]) -> [BigInt; 3] {
    [b * z - c * y, c * x - a * z, a * y - b * x]
}

/// Compares the numbers x·√`square` and y·√`other`, in integer arithmetic.
fn compare_roots(x: &BigInt, square: &BigInt, y: &BigInt, other: &BigInt) -> Ordering {
    let squares = (x * x * square).cmp(&(y * y * other));
    match (x.sign(), y.sign()) {
        (Sign::Minus, Sign::Minus) => squares.reverse(),
        (Sign::Minus, _) => Less,
        (_, Sign::Minus) => Greater,
        _ => squares,
    }
}

/// A sphere and a wall. The sphere may be displaced by whole multiples of the edges of a periodic
/// domain.
pub(crate) struct AtWall {
    kind: Kind,
    /// Centre of the sphere, relative to the centre or axis of the wall. For a half-space, relative
    /// to the origin.
    p: [BigInt; 3],
    v: [BigInt; 3],
    r: BigInt,
}

enum Kind {
    HalfSpace {
        normal: [BigInt; 3],
        offset: BigInt,
    },
    Round {
        axis: Option<[BigInt; 3]>,
        radius: BigInt,
        inside: bool,
    },
}

impl AtWall {
    pub(crate) fn new(sphere: &Sphere, wall: &Wall, domain: &Domain, image: [i32; 3]) -> Self {
        let (kind, point) = match wall.shape() {
            WallShape::HalfSpace { normal, offset } => {
                let (normal, offset) = (vector(normal), fixed(offset.into()));
                (Kind::HalfSpace { normal, offset }, [0.0; 3])
            }
            WallShape::Sphere {
                center,
                radius,
                hollow,
            } => (round(None, radius, hollow), center),
            WallShape::Cylinder {
                point,
                axis,
                radius,
                hollow,
            } => (round(Some(axis), radius, hollow), point),
            #[allow(
                unreachable_patterns,
                reason = "the unit tests of carom know all shapes"
            )]
            shape => panic!("an unknown shape: {shape:?}"),
        };
        let (mut p, point) = (vector(sphere.center), vector(point));
        for k in 0..3 {
            p[k] -= &point[k];
            for (edge, times) in image.into_iter().enumerate() {
                if domain.periodic()[edge] {
                    p[k] += fixed(domain.edges()[edge][k]) * times;
                }
            }
        }
        let (mut v, w) = (vector(sphere.velocity), vector(wall.velocity()));
        for k in 0..3 {
            v[k] -= &w[k];
        }
        Self {
            kind,
            p,
            v,
            r: fixed(sphere.radius.into()),
        }
    }

    /// Returns a vector y and a number s such that the point `x` has the squared distance |y|²/s from the
    /// axis of a cylinder. For the axis vector a, y = a × x and s = a·a. For a spherical wall, y is `x` and s
    /// is 1, and |y|²/s is the squared distance from its centre.
    fn scaled(&self, x: &[BigInt; 3]) -> ([BigInt; 3], BigInt) {
        match &self.kind {
            Kind::Round {
                axis: Some(axis), ..
            } => (cross(axis, x), dot(axis, axis)),
            _ => (x.clone(), BigInt::from(1)),
        }
    }

    /// Compares the distance of the sphere's centre from the wall at the time n/d with the distance
    /// at which the sphere touches, less `depth`. Returns `Greater` if the sphere is free.
    fn compare(&self, [n, d]: &[BigInt; 2], depth: &BigInt) -> Ordering {
        let q = [0, 1, 2].map(|k| &self.p[k] * d + &self.v[k] * n);
        match &self.kind {
            Kind::HalfSpace { normal, offset } => {
                let away = dot(normal, &q) - ((offset * d) << BITS);
                let reach = (&self.r - depth) * d;
                compare_roots(&away, &BigInt::from(1), &reach, &dot(normal, normal))
            }
            Kind::Round { radius, inside, .. } => {
                let (q, square) = self.scaled(&q);
                let one = BigInt::from(1);
                if *inside {
                    let reach = (radius - &self.r + depth) * d;
                    compare_roots(&reach, &square, &one, &dot(&q, &q))
                } else {
                    let reach = (radius + &self.r - depth) * d;
                    compare_roots(&one, &dot(&q, &q), &reach, &square)
                }
            }
        }
    }

    /// Compares the time of the first touch with the time `x`. Returns `Less` if the first touch is earlier,
    /// and `Equal` if it is at this time. Returns `None` if the sphere does not touch the wall up to the time
    /// `x`.
    fn touched(&self, x: f64) -> Option<Ordering> {
        let nothing = BigInt::ZERO;
        let one = BigInt::from(1);
        let time = [fixed(x), &one << BITS];
        if self.compare(&[nothing.clone(), one], &nothing) != Greater {
            return Some(if x > 0.0 { Less } else { Equal });
        }
        let at = self.compare(&time, &nothing);
        if !matches!(self.kind, Kind::Round { inside: false, .. }) {
            return (at != Greater).then_some(if at == Equal { Equal } else { Less });
        }
        let (p, _) = self.scaled(&self.p);
        let (v, _) = self.scaled(&self.v);
        let (closing, speed) = (-dot(&p, &v), dot(&v, &v));
        // Let p be the position of the sphere's centre relative to the axis or centre of the wall,
        // and v the relative velocity. Their distance |p + v·t| is smallest at the time t = −p·v /
        // v·v, which is `closing / speed`.
        if closing.sign() != Sign::Plus {
            return None;
        }
        if &closing * &time[1] < &time[0] * &speed {
            let closest = self.compare(&[closing, speed], &nothing);
            return (closest != Greater).then_some(Less);
        }
        (at != Greater).then_some(if at == Equal { Equal } else { Less })
    }

    pub(crate) fn touches(&self, dt: f32) -> bool {
        self.touched(dt.into()).is_some()
    }

    /// Returns whether `found` is the exact time of impact of a touching sphere, rounded to the nearest
    /// float32, ties to even.
    pub(crate) fn rounds_to_toi(&self, found: f32) -> bool {
        let even = found.to_bits().is_multiple_of(2);
        let (below, above) = halfway(found);
        let early = below.and_then(|x| self.touched(x));
        let early = early == Some(Less) || (early == Some(Equal) && !even);
        let in_time = match self.touched(above) {
            Some(Equal) => even,
            order => order.is_some(),
        };
        !early && in_time
    }

    /// Returns whether `found` is the exact depth at the start, rounded to the nearest float32,
    /// ties to even.
    pub(crate) fn rounds_to_depth(&self, found: f32) -> bool {
        let start = [BigInt::ZERO, BigInt::from(1)];
        // The closure `depth` compares the depth at the start with a number x. For this, the method
        // `compare` tests a sphere whose radius is smaller by x. The depth exceeds x if this
        // smaller sphere still overlaps the wall.
        let depth = |x: f64| self.compare(&start, &fixed(x)).reverse();
        if depth(0.0) != Greater {
            return found == 0.0;
        }
        let even = found.to_bits().is_multiple_of(2);
        let (below, above) = halfway(found);
        let below = below.map_or(Greater, depth);
        let above = depth(above);
        (below == Greater || (below == Equal && even))
            && (above == Less || (above == Equal && even))
    }
}

fn round(axis: Option<[f32; 3]>, radius: f32, inside: bool) -> Kind {
    Kind::Round {
        axis: axis.map(vector),
        radius: fixed(radius.into()),
        inside,
    }
}

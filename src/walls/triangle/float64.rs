//! Decides in float64 whether a moving sphere touches a triangle. A result is returned only if bounds of the
//! rounding errors prove it.
//!
//! All vectors are relative to the centre of the sphere at the start of the step. docs/exact.md ("Triangles")
//! counts the rounding errors, in units of `U`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "rounding to float32 is intended"
)]

use std::array::from_fn;

use glam::DVec3;

use super::corners::Triangle;
use crate::exact::{Hit, Shift, Touch};
use crate::walls::vector;
use crate::{Feature, Sphere};

/// Largest relative error of one float64 operation: half a unit in the last place of 1.
const U: f64 = f64::EPSILON / 2.0;
/// Bound for the errors of up to 14 operations, relative to the sum of the magnitudes of all terms.
const ERRORS: f64 = 16.0 * U;
/// Greater than the sum of all underflow errors, and smaller than any product of two float32 numbers except 0.
const UNDERFLOW: f64 = f64::MIN_POSITIVE;
/// Underflow does not affect the length of a vector whose computed square is at least this number.
const SHORTEST_SQUARED: f64 = f64::MIN_POSITIVE * (1_u64 << 60) as f64;
/// Limit on the number of separating planes that the search for the time of impact tries.
const MOST_PLANES: usize = 32;
/// The search for the time of impact advances a time in iterations. It ends when the next iteration would
/// advance the time by less than this fraction of the time.
const NEGLIGIBLE: f64 = 1.0 / (1_u64 << 36) as f64;

/// A sphere and a triangle in float64, with bounds of the rounding errors.
pub(in crate::walls) struct TriangleFloat64 {
    /// The corners of the triangle, relative to the centre of the sphere. Each coordinate is rounded once. In
    /// a periodic domain, each coordinate has a further error of at most `off`.
    corners: [DVec3; 3],
    /// For each axis, a bound on the error that a periodic displacement of the sphere adds to `corners`,
    /// because these are relative to the centre of the sphere.
    off: DVec3,
    /// For each axis, the largest magnitude of a coordinate of the triangle's corners.
    reach: DVec3,
    /// Velocity of the sphere relative to the triangle, with one rounding error.
    v: DVec3,
    r: f64,
}

/// The point of the triangle that is nearest to the centre of the sphere at some time.
#[derive(Clone, Copy)]
struct NearestPoint {
    time: f64,
    point: DVec3,
    distance: f64,
    feature: Feature,
    /// Vector from the centre of the sphere towards the nearest point of the triangle. Its length is arbitrary.
    direction: DVec3,
}

/// The state in which the search for the time of impact ended.
struct Advancement {
    time: f64,
    /// The point of the triangle nearest to the sphere's centre in the previous iteration. The plane through it
    /// gives a lower bound of the time of impact.
    before: NearestPoint,
    /// The point of the triangle nearest to the sphere's centre at `time`.
    last: NearestPoint,
    ended: Ended,
}

enum Ended {
    AtTouch,
    /// The sphere does not touch the triangle in the step. The search has found a plane that separates the
    /// two until the end of the step.
    AtEnd,
    /// At `time`, the sphere does not touch the triangle and no longer approaches it.
    Parting,
    Undecided,
}

/// Returns whether three points certainly span a triangle with a positive area.
pub(super) fn has_area(corners: &[[f64; 3]; 3]) -> bool {
    let [a, b, c] = corners.map(DVec3::from);
    let (b, c) = (b - a, c - a);
    // Each difference of coordinates has one rounding error. So each product of two differences has three, and
    // each component of the cross product has four.
    let errors = ERRORS * cross_of_magnitudes(b.abs(), c.abs()) + UNDERFLOW;
    b.cross(c).abs().cmpgt(errors).any()
}

fn cross_of_magnitudes(x: DVec3, y: DVec3) -> DVec3 {
    let [x, y] = [x.to_array(), y.to_array()];
    DVec3::from(from_fn(|k| {
        let [i, j] = [(k + 1) % 3, (k + 2) % 3];
        x[i] * y[j] + x[j] * y[i]
    }))
}

impl TriangleFloat64 {
    pub(super) fn new(triangle: &Triangle, sphere: &Sphere, shift: impl Shift) -> Self {
        let mut off = DVec3::ZERO;
        let corners = triangle.corners.map(|corner| {
            let away = vector(corner) - vector(sphere.center);
            let Some(translation) = shift.translation() else {
                return away;
            };
            let (toward, error) = translation.add(corner, sphere.center, -away);
            off = off.max(error);
            -toward
        });
        let v = vector(sphere.velocity) - vector(triangle.velocity);
        Self::of(corners, off, v, sphere.radius.into())
    }

    /// Returns the test of a sphere of radius `r`, which must be exact. `corners` are relative to its centre, and `v` is its
    /// velocity relative to the triangle, each rounded once. `corners` may have a further error of `off`. The triangle must
    /// have an area.
    pub(in crate::walls) fn of(corners: [DVec3; 3], off: DVec3, v: DVec3, r: f64) -> Self {
        let [a, b, c] = corners.map(DVec3::abs);
        Self {
            corners,
            off,
            reach: a.max(b).max(c),
            v,
            r,
        }
    }

    /// Returns whether a plane perpendicular to `direction` certainly separates the sphere from the triangle at
    /// all times from `from` to `to`.
    fn is_separated(&self, direction: DVec3, [from, to]: [f64; 2]) -> bool {
        if direction.length_squared() < SHORTEST_SQUARED {
            return false;
        }
        let magnitudes = direction.abs();
        let [length, speed] = [direction.length(), direction.dot(self.v)];
        let along = (speed * from).max(speed * to);
        let scale = magnitudes.dot(self.reach + self.v.abs() * to) + self.r * length;
        let errors = ERRORS * scale + magnitudes.dot(self.off) + UNDERFLOW;
        self.least_along(direction) - along - self.r * length > errors
    }

    fn least_along(&self, direction: DVec3) -> f64 {
        let [a, b, c] = self.corners.map(|corner| direction.dot(corner));
        a.min(b).min(c)
    }

    /// Returns whether the boxes around the path of the sphere and around the triangle are certainly apart.
    fn is_far(&self, dt: f64) -> bool {
        let [a, b, c] = self.corners;
        let path = self.v * dt;
        let before = a.min(b).min(c) - path.max(DVec3::ZERO);
        let after = path.min(DVec3::ZERO) - a.max(b).max(c);
        let errors = ERRORS * (self.reach + path.abs() + self.r) + self.off;
        (before.max(after) - self.r).cmpgt(errors + UNDERFLOW).any()
    }

    /// Returns a bound of the rounding error of [`NearestPoint::distance`], the computed distance of a point of the
    /// triangle from the centre of the sphere at `time`.
    fn distance_error(&self, time: f64) -> f64 {
        ERRORS * (self.reach + self.v.abs() * time).element_sum()
            + self.off.element_sum()
            + UNDERFLOW
    }

    /// Returns whether the sphere certainly touches the triangle at `time`, or at an earlier time.
    fn has_touched(&self, time: f64) -> bool {
        self.nearest(time).distance + self.distance_error(time) < self.r || self.has_pierced(time)
    }

    /// Returns whether the centre of the sphere has certainly passed through the triangle before `time`.
    fn has_pierced(&self, time: f64) -> bool {
        if self.off != DVec3::ZERO {
            return false;
        }
        let path = self.v * time;
        let [a, b, c] = self.corners;
        let start = sign_of_volume(a, b, c);
        let end = sign_of_volume_with_errors(a - path, b - path, c - path, self.reach + path.abs());
        let [p, q, r] = [(a, b), (b, c), (c, a)].map(|(x, y)| sign_of_volume(path, x, y));
        start * end < 0.0 && p * q > 0.0 && q * r > 0.0
    }

    /// Returns the point of the triangle nearest to the sphere's centre at `time`. Rounding may give a point
    /// close to it.
    fn nearest(&self, time: f64) -> NearestPoint {
        let center = self.v * time;
        let [a, b, c] = self.corners;
        let normal = (b - a).cross(c - a);
        let weights =
            [(b, c), (c, a), (a, b)].map(|(from, to)| normal.dot((to - from).cross(center - from)));
        if weights.iter().all(|&weight| weight > 0.0) {
            let [p, q, r] = weights;
            let sum = p + q + r;
            let point = a * (p / sum) + b * (q / sum) + c * (r / sum);
            let height = normal.dot(a - center);
            return NearestPoint {
                time,
                point,
                distance: (point - center).length(),
                feature: Feature::Face,
                direction: if height < 0.0 { -normal } else { normal },
            };
        }
        let [first, second, third] = [0, 1, 2].map(|k| self.nearest_on_edge(k, center, time));
        let less = |one: NearestPoint, other: NearestPoint| {
            if one.distance <= other.distance {
                one
            } else {
                other
            }
        };
        less(less(first, second), third)
    }

    fn nearest_on_edge(&self, k: u8, center: DVec3, time: f64) -> NearestPoint {
        let next = (k + 1) % 3;
        let [from, to] = [k, next].map(|k| self.corners[usize::from(k)]);
        let edge = to - from;
        let [along, whole] = [(center - from).dot(edge), edge.length_squared()];
        let (point, feature) = if along <= 0.0 {
            (from, Feature::Corner(k))
        } else if along >= whole {
            (to, Feature::Corner(next))
        } else {
            (from + edge * (along / whole), Feature::Edge(k))
        };
        let mut direction = point - center;
        if matches!(feature, Feature::Edge(_)) {
            // The line from a sphere's centre to the nearest point on an edge is perpendicular to the edge.
            // So the component of `direction` along the edge is only a rounding error, and is subtracted.
            direction -= edge * (direction.dot(edge) / whole);
        }
        NearestPoint {
            time,
            point,
            distance: (point - center).length(),
            feature,
            direction,
        }
    }

    /// Searches for the time of impact from below. Each iteration takes the plane through the triangle's
    /// nearest point, perpendicular to the line to the sphere's centre, and advances to the time at which the
    /// sphere reaches this plane. `start` is the nearest point at the start of the step, when the sphere must
    /// not touch the triangle.
    fn search(&self, start: NearestPoint, dt: f64) -> Advancement {
        let mut last = start;
        let mut before = start;
        for _ in 0..MOST_PLANES {
            let time = last.time;
            let search = |ended| Advancement {
                time,
                before,
                last,
                ended,
            };
            let remaining = (last.distance - self.r) / self.v.length();
            if time > 0.0 && remaining <= NEGLIGIBLE * time {
                return search(Ended::AtTouch);
            }
            let speed = last.direction.dot(self.v);
            if speed <= 0.0 {
                return search(Ended::Parting);
            }
            let gap = self.least_along(last.direction) - self.r * last.direction.length();
            let next = gap / speed;
            if next > dt {
                return search(Ended::AtEnd);
            }
            if next.is_nan() || next <= time {
                return search(Ended::AtTouch);
            }
            before = last;
            last = self.nearest(next);
        }
        Advancement {
            time: last.time,
            before,
            last,
            ended: Ended::Undecided,
        }
    }

    /// Decides whether and when the sphere touches the triangle in a step of duration `dt`. If rounding errors
    /// leave this open, returns `Err` with an estimate of the time of impact, or of the depth if the sphere
    /// seems to touch at the start.
    pub(in crate::walls) fn impact(&self, dt: f64) -> Result<Option<Hit>, f64> {
        if self.is_far(dt) {
            return Ok(None);
        }
        let start = self.nearest(0.0);
        if start.distance + self.distance_error(0.0) < self.r {
            let depth = self.depth(&start).ok_or(self.r - start.distance)?;
            return Ok(Some(Hit { toi: 0.0, depth }));
        }
        if !self.is_separated(start.direction, [0.0, 0.0]) {
            return Err((self.r - start.distance).max(0.0));
        }
        let search = self.search(start, dt);
        let misses = match search.ended {
            Ended::AtTouch => return self.rounded(&search, dt).ok_or(search.time).map(Some),
            Ended::AtEnd => self.is_separated(search.last.direction, [0.0, dt]),
            Ended::Parting => self.is_passed(&search, dt),
            Ended::Undecided => false,
        };
        if misses { Ok(None) } else { Err(search.time) }
    }

    /// Estimates the time of impact and the depth, of which one is 0.
    pub(in crate::walls) fn estimate(&self, dt: f64) -> [f64; 2] {
        let start = self.nearest(0.0);
        if start.distance <= self.r {
            return [0.0, self.r - start.distance];
        }
        let last = self.search(start, dt).last;
        let speed = last.direction.dot(self.v) / last.direction.length();
        let time = last.time + (last.distance - self.r) / speed;
        [time.max(0.0).min(dt), 0.0]
    }

    /// Returns the depth, rounded to float32, of a sphere that certainly touches at the start. Returns `None`
    /// if rounding errors in float64 allow more than one float32 result.
    fn depth(&self, start: &NearestPoint) -> Option<f32> {
        let most = start.distance + self.distance_error(0.0);
        let direction = start.direction;
        let magnitudes = direction.abs();
        let errors = ERRORS * magnitudes.dot(self.reach) + magnitudes.dot(self.off) + UNDERFLOW;
        let least = if direction.length_squared() < SHORTEST_SQUARED {
            0.0
        } else {
            (self.least_along(direction) - errors) / direction.length()
        };
        let least = (least * (1.0 - ERRORS)).max(0.0);
        let [low, high] = [self.r - most, self.r - least];
        let rounding = ERRORS * self.r;
        let [low, high] = [(low - rounding).max(0.0) as f32, (high + rounding) as f32];
        (low == high).then_some(low)
    }

    /// Rounds the time of impact to float32. Returns `None` if the rounding is not certain.
    fn rounded(&self, search: &Advancement, dt: f64) -> Option<Hit> {
        let toi = search.time.min(dt) as f32;
        let halfway = |to: f32| (f64::from(toi) + f64::from(to)) / 2.0;
        let [early, late] = [halfway(toi.next_down().max(0.0)), halfway(toi.next_up())];
        let is_later = self.is_separated(search.before.direction, [0.0, early])
            || self.is_separated(search.last.direction, [0.0, early]);
        let certain = is_later && self.has_touched(late.min(dt));
        certain.then_some(Hit { toi, depth: 0.0 })
    }

    /// Returns whether two planes prove that the sphere misses the triangle. One plane separates
    /// the sphere from the triangle up to some time, the other from then on. The planes are the
    /// last two of the search for the time of impact.
    fn is_passed(&self, search: &Advancement, dt: f64) -> bool {
        let [one, other] = [search.before.direction, search.last.direction];
        if search.time == 0.0 {
            return self.is_separated(other, [0.0, dt]);
        }
        // Of the two planes, the first separates the sphere from the triangle better up to the time `change`,
        // and the second from then on.
        let [one_speed, other_speed] = [one, other].map(|n| n.dot(self.v) / n.length());
        let gap = search.last.distance - self.r;
        let change = search.time - gap / (one_speed - other_speed);
        change >= 0.0
            && self.is_separated(one, [0.0, change])
            && self.is_separated(other, [change, dt])
    }

    /// Returns the contact at the time of impact `toi`, and the part of the triangle that is touched.
    pub(super) fn touch(&self, toi: f32) -> (Touch, Feature) {
        let rounded = f64::from(toi);
        let late = (rounded + f64::from(toi.next_up())) / 2.0;
        let nearest = if toi > 0.0 {
            let search = self.search(self.nearest(0.0), late);
            let is_near = (search.time - rounded).abs() <= 2.0 * (late - rounded);
            if is_near {
                search.last
            } else {
                self.nearest(rounded)
            }
        } else {
            self.nearest(0.0)
        };
        self.touch_of(&nearest)
    }

    /// Returns the contact at a time, and the part of the triangle that is touched.
    pub(in crate::walls) fn touch_at(&self, time: f64) -> (Touch, Feature) {
        self.touch_of(&self.nearest(time))
    }

    fn touch_of(&self, nearest: &NearestPoint) -> (Touch, Feature) {
        let apart = nearest.point - self.v * nearest.time;
        // If the centre almost lies on the triangle, the direction to the nearest point is only rounding error.
        let is_told = nearest.distance > 1e6 * self.distance_error(nearest.time);
        let normal = if is_told { apart } else { self.facing() };
        let normal = normal.try_normalize().unwrap_or(DVec3::X);
        let touch = Touch {
            time: nearest.time,
            normal,
            approach: self.v.dot(normal),
        };
        (touch, nearest.feature)
    }

    /// Of the two normals of the triangle, returns the one in the direction in which the sphere moves relative
    /// to the triangle.
    fn facing(&self) -> DVec3 {
        let [a, b, c] = self.corners;
        let normal = (b - a).cross(c - a);
        let backward = normal.dot(self.v) < 0.0;
        // Scaling the normal avoids underflow of the square of its length.
        let normal = normal / normal.abs().max_element();
        if backward { -normal } else { normal }
    }
}

/// Returns the sign of the triple product a·(b × c), or 0 if rounding leaves it open. Each
/// coordinate of the three vectors may have up to three rounding errors.
fn sign_of_volume(a: DVec3, b: DVec3, c: DVec3) -> f64 {
    let volume = a.dot(b.cross(c));
    let errors = ERRORS * a.abs().dot(cross_of_magnitudes(b.abs(), c.abs())) + UNDERFLOW;
    if volume.abs() > errors {
        volume.signum()
    } else {
        0.0
    }
}

/// Returns the sign of the triple product a·(b × c), or 0 if rounding leaves it open. Along each axis, `reach` bounds
/// the coordinates of the three vectors. Each coordinate may have an error of 5·`U` times its bound.
fn sign_of_volume_with_errors(a: DVec3, b: DVec3, c: DVec3, reach: DVec3) -> f64 {
    let volume = a.dot(b.cross(c));
    let errors = 2.0 * ERRORS * reach.dot(cross_of_magnitudes(reach, reach)) + UNDERFLOW;
    if volume.abs() > errors {
        volume.signum()
    } else {
        0.0
    }
}

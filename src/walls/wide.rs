//! Decides without error whether a sphere in float64 touches a wall. Integers decide. Before, float64 arithmetic with a
//! wide margin discards walls that the sphere misses, and estimates the result.

use std::cmp::Ordering;

use glam::DVec3;

use super::half_space::{HalfSpace, HalfSpaceIntegers};
use super::round::{Round, RoundIntegers};
use super::triangle::{Triangle, TriangleFloat64, TriangleIntegers};
use super::vectors::unit;
use super::wall::Solid;
use crate::Feature;
use crate::domain::Products;
use crate::exact::integers::{Numbers3, PairIntegers};
use crate::number::sealed::Numbers;
use crate::wide::{WideScale, to_one};

/// Far larger than the rounding errors.
const MARGIN: f64 = 1e-9;
/// Covers underflow, for lengths of about 1.
const LEAST: f64 = 1e-18;

/// A wall in float64.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WideWall {
    Solid(Solid<f64>),
    Triangle(Triangle<f64>),
}

pub(crate) struct WallEstimate {
    pub(crate) misses: bool,
    /// The time of impact, or the depth of a sphere that touches at the start.
    pub(crate) guess: f64,
}

impl WideWall {
    /// `products` displaces the sphere. The depth is at most `longest`, and `guess` affects
    /// only the speed.
    pub(crate) fn rounded<T: Numbers>(
        &self,
        sphere: &Numbers3,
        products: &Products,
        [dt, longest]: [T; 2],
        guess: f64,
    ) -> Option<[T; 2]> {
        match self {
            Self::Solid(Solid::HalfSpace(wall)) => {
                HalfSpaceIntegers::new(wall, sphere).rounded(dt, guess, longest)
            }
            Self::Solid(Solid::Round(wall)) if wall.is_ball() => {
                let ball = (wall.point, wall.radius, wall.velocity);
                PairIntegers::of(&[ball, *sphere], products).rounded(dt, guess, longest)
            }
            Self::Solid(Solid::Round(wall)) => {
                RoundIntegers::new(wall, sphere, products).rounded(dt, guess, longest)
            }
            Self::Triangle(triangle) => {
                TriangleIntegers::new(triangle, sphere, products).rounded(dt, guess, longest)
            }
        }
    }

    /// Returns whether the distance of a sphere's centre, displaced by `products`, from the wall does not decrease at the
    /// start of a step.
    pub(crate) fn parts(&self, sphere: &Numbers3, products: &Products) -> bool {
        let growth = match self {
            Self::Solid(Solid::HalfSpace(wall)) => HalfSpaceIntegers::new(wall, sphere).growth(),
            Self::Solid(Solid::Round(wall)) => RoundIntegers::new(wall, sphere, products).growth(),
            Self::Triangle(triangle) => TriangleIntegers::new(triangle, sphere, products).growth(),
        };
        growth != Ordering::Less
    }

    pub(crate) fn impact(
        &self,
        sphere: &Numbers3,
        products: &Products,
        dt: f64,
    ) -> Option<[f64; 2]> {
        let estimate = self.estimate(sphere, products, dt);
        if estimate.misses {
            return None;
        }
        self.rounded(sphere, products, [dt, f64::MAX], estimate.guess)
    }

    pub(crate) fn size(&self, dt: f64) -> f64 {
        let largest = |x: [f64; 3]| DVec3::from(x).abs().max_element();
        let (size, velocity) = match self {
            Self::Solid(Solid::HalfSpace(wall)) => (wall.distance().abs(), wall.velocity),
            Self::Solid(Solid::Round(wall)) => {
                (largest(wall.point).max(wall.radius), wall.velocity)
            }
            Self::Triangle(Triangle { corners, velocity }) => (
                corners.map(largest).into_iter().fold(0.0, f64::max),
                *velocity,
            ),
        };
        size.max(largest(velocity) * dt)
    }

    /// The direction of a half-space or a cylinder becomes a unit vector.
    pub(crate) fn scaled(&self, scale: &WideScale) -> Self {
        let places = |x: [f64; 3]| x.map(|x| x * scale.length);
        let direction = |x: [f64; 3]| unit(x.into()).to_array();
        let speeds = |x: [f64; 3]| scale.speeds(x);
        match self {
            Self::Solid(Solid::HalfSpace(wall)) => Self::Solid(Solid::HalfSpace(HalfSpace {
                normal: direction(wall.normal),
                offset: wall.distance() * scale.length,
                velocity: speeds(wall.velocity),
            })),
            Self::Solid(Solid::Round(wall)) => Self::Solid(Solid::Round(Round {
                point: places(wall.point),
                axis: wall.axis.map(direction),
                radius: wall.radius * scale.length,
                inside: wall.inside,
                velocity: speeds(wall.velocity),
            })),
            Self::Triangle(Triangle { corners, velocity }) => Self::Triangle(Triangle {
                corners: corners.map(places),
                velocity: speeds(*velocity),
            }),
        }
    }

    pub(crate) fn touch(
        &self,
        sphere: &Numbers3,
        products: &Products,
        toi: f64,
    ) -> (DVec3, f64, Feature) {
        let (visitor, scale) = self.visitor(sphere, products, toi);
        let ScaledVisitor {
            center,
            shift,
            velocity,
            dt: time,
            ..
        } = visitor;
        let scaled = self.scaled(&scale);
        let (normal, feature, w) = match (self, &scaled) {
            (Self::Solid(Solid::HalfSpace(wall)), Self::Solid(Solid::HalfSpace(plane))) => {
                (-DVec3::from(plane.normal), Feature::Face, wall.velocity)
            }
            (Self::Solid(Solid::Round(wall)), _) if wall.is_ball() => {
                let ball = (wall.point, wall.radius, wall.velocity);
                let contact = PairIntegers::of(&[ball, *sphere], products).contact();
                let (normal, approach) = contact.unwrap_or((DVec3::NEG_X, 0.0));
                return (-normal, approach, Feature::Face);
            }
            (Self::Solid(Solid::Round(wall)), Self::Solid(Solid::Round(round))) => {
                let v = velocity - DVec3::from(round.velocity);
                let mut away = center - DVec3::from(round.point) + shift + v * time;
                if let Some(axis) = round.axis.map(DVec3::from) {
                    // Even if only rounding errors are left.
                    away = axis.cross(away.cross(axis));
                }
                let out = away.try_normalize().unwrap_or_else(|| wall.any_direction());
                let normal = if wall.inside { out } else { -out };
                (normal, Feature::Face, wall.velocity)
            }
            (Self::Triangle(wall), Self::Triangle(triangle)) => {
                let corners = triangle
                    .corners
                    .map(|corner| DVec3::from(corner) - center - shift);
                let v = velocity - DVec3::from(triangle.velocity);
                let triangle = TriangleFloat64::of(corners, DVec3::ZERO, v, visitor.radius);
                let (touch, feature) = triangle.touch_at(time);
                (touch.normal, feature, wall.velocity)
            }
            (Self::Solid(Solid::HalfSpace(_) | Solid::Round(_)) | Self::Triangle(_), _) => {
                (DVec3::X, Feature::Face, [0.0; 3])
            }
        };
        let approach = (DVec3::from(sphere.2) - DVec3::from(w)).dot(normal);
        (normal, approach, feature)
    }

    pub(crate) fn estimate(&self, sphere: &Numbers3, products: &Products, dt: f64) -> WallEstimate {
        let (sphere, scale) = self.visitor(sphere, products, dt);
        let (misses, [time, depth]) = self.scaled(&scale).meet(&sphere);
        WallEstimate {
            misses,
            guess: time / scale.time + depth / scale.length,
        }
    }

    /// In units in which the largest lengths are about 1.
    fn visitor(
        &self,
        &(center, radius, velocity): &Numbers3,
        products: &Products,
        dt: f64,
    ) -> (ScaledVisitor, WideScale) {
        let largest = |x: [f64; 3]| DVec3::from(x).abs().max_element();
        let term = |(edge, times): (f64, i32)| edge * f64::from(times);
        let terms = DVec3::from(products.map(|of| of.map(|x| term(x).abs()).iter().sum::<f64>()));
        let shift = DVec3::from(products.map(|of| of.map(term).iter().sum::<f64>()));
        let size = largest(center).max(radius).max(largest(velocity) * dt);
        let size = size.max(terms.max_element()).max(self.size(dt));
        let scale = WideScale::new(size, 1.0, dt);
        let sphere = ScaledVisitor {
            center: DVec3::from(center) * scale.length,
            shift: shift * scale.length,
            terms: terms * scale.length,
            radius: radius * scale.length,
            velocity: scale.speeds(velocity).into(),
            dt: dt * scale.time,
        };
        (sphere, scale)
    }

    /// Whether the sphere certainly misses, and the time of impact and the depth, of which
    /// one is 0.
    fn meet(&self, sphere: &ScaledVisitor) -> (bool, [f64; 2]) {
        let ScaledVisitor {
            center,
            shift,
            terms,
            radius,
            velocity,
            dt,
        } = *sphere;
        let away = |to: [f64; 3]| center - DVec3::from(to) + shift;
        let relative = |w: [f64; 3]| velocity - DVec3::from(w);
        let lengths = |x: [f64; 3]| DVec3::from(x).abs().element_sum();
        let of_sphere = center.abs().element_sum() + terms.element_sum() + radius;
        let margin = |of_wall: f64, v: DVec3| {
            MARGIN * (of_sphere + of_wall + v.abs().element_sum() * dt) + LEAST
        };
        match self {
            Self::Solid(Solid::HalfSpace(wall)) => {
                let v = relative(wall.velocity);
                let normal = DVec3::from(wall.normal);
                let gap = normal.dot(center) - wall.offset - radius;
                let speed = normal.dot(v);
                let least = gap.min(gap + speed * dt);
                let misses = least > margin(wall.offset.abs(), v);
                if gap > 0.0 {
                    (misses, [within(gap / -speed, dt), 0.0])
                } else {
                    (misses, [0.0, -gap])
                }
            }
            Self::Solid(Solid::Round(wall)) => {
                let mut v = relative(wall.velocity);
                let mut p = away(wall.point);
                let margin = margin(lengths(wall.point) + wall.radius, v);
                if let Some(axis) = wall.axis {
                    let axis = DVec3::from(axis);
                    (p, v) = (p - axis * axis.dot(p), v - axis * axis.dot(v));
                }
                let (b, vv) = (p.dot(v), v.length_squared());
                let across = p.cross(v).length_squared();
                if wall.inside {
                    let reach = wall.radius - radius;
                    let most = p.length().max((p + v * dt).length());
                    let gap = p.length() - reach;
                    let misses = most < reach - margin;
                    if gap >= 0.0 {
                        return (misses, [0.0, gap]);
                    }
                    let root = (reach * reach * vv - across).max(0.0).sqrt();
                    let gap = -gap * (p.length() + reach);
                    (misses, [within(gap / (b + root), dt), 0.0])
                } else {
                    let reach = wall.radius + radius;
                    let nearest = within(-b / vv, dt);
                    let misses = (p + v * nearest).length() > reach + margin;
                    let gap = p.length() - reach;
                    if gap <= 0.0 {
                        return (misses, [0.0, -gap]);
                    }
                    let root = (reach * reach * vv - across).max(0.0).sqrt();
                    let gap = gap * (p.length() + reach);
                    (misses, [within(gap / (root - b), dt), 0.0])
                }
            }
            Self::Triangle(triangle) => {
                let corners = triangle.corners;
                let relative_corners = corners.map(|corner| {
                    let away = DVec3::from(corner) - center;
                    if shift == DVec3::ZERO {
                        away
                    } else {
                        away - shift
                    }
                });
                let off = if terms == DVec3::ZERO {
                    DVec3::ZERO
                } else {
                    let reach = corners.map(|corner| DVec3::from(corner).abs());
                    let reach = reach
                        .into_iter()
                        .fold(center.abs() + terms, |sum, x| sum + x);
                    8.0 * f64::EPSILON * reach
                };
                let v = relative(triangle.velocity);
                let triangle = TriangleFloat64::of(relative_corners, off, v, radius);
                (triangle.impact(dt) == Ok(None), triangle.estimate(dt))
            }
        }
    }
}

struct ScaledVisitor {
    center: DVec3,
    shift: DVec3,
    terms: DVec3,
    radius: f64,
    velocity: DVec3,
    dt: f64,
}

fn within(time: f64, dt: f64) -> f64 {
    time.max(0.0).min(dt)
}

impl HalfSpace<f64> {
    pub(crate) fn distance(&self) -> f64 {
        let normal = DVec3::from(self.normal);
        let unit = to_one(normal.abs().max_element());
        self.offset * unit / (normal * unit).length()
    }
}

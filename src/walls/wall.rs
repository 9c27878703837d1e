//! Walls of a simple shape: half-spaces, spheres and cylinders.

use glam::DVec3;

use super::half_space::HalfSpace;
use super::round::Round;
use super::vectors::{ALIGNED, is_parallel, unit};
use crate::error::Shortest;
use crate::exact::{Hit, Shift};
use crate::number::sealed::Numbers;
use crate::{Domain, Error, Number, Sphere};

/// Shape of a wall. Every vector has the components x, y and z, in numbers of type `T`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum WallShape<T = f32> {
    /// A half-space, bounded by a plane. The points x with normal·x ≥ offset are free, all others are solid.
    HalfSpace {
        /// Vector of any length but 0, perpendicular to the plane. It points away from the solid
        /// side.
        normal: [T; 3],
        /// The number normal·x for the points x of the plane.
        offset: T,
    },
    /// A sphere, which other spheres touch from outside, or from inside if it is hollow.
    Sphere {
        /// Centre of the sphere.
        center: [T; 3],
        /// Radius of the sphere, 0 or more.
        radius: T,
        /// Whether all points outside the sphere are solid, instead of those inside.
        hollow: bool,
    },
    /// A cylinder of infinite length, which spheres touch from outside, or from inside if it is hollow, as a pipe is.
    Cylinder {
        /// A point on the axis.
        point: [T; 3],
        /// Direction of the axis, a vector of any length but 0.
        axis: [T; 3],
        /// Radius of the cylinder, 0 or more.
        radius: T,
        /// Whether all points outside the cylinder are solid, instead of those inside.
        hollow: bool,
    },
}

impl<T> WallShape<T> {
    /// Returns the same shape with other numbers.
    pub fn map<U>(self, number: impl Fn(T) -> U) -> WallShape<U> {
        match self {
            Self::HalfSpace { normal, offset } => WallShape::HalfSpace {
                normal: normal.map(&number),
                offset: number(offset),
            },
            Self::Sphere {
                center,
                radius,
                hollow,
            } => WallShape::Sphere {
                center: center.map(&number),
                radius: number(radius),
                hollow,
            },
            Self::Cylinder {
                point,
                axis,
                radius,
                hollow,
            } => WallShape::Cylinder {
                point: point.map(&number),
                axis: axis.map(&number),
                radius: number(radius),
                hollow,
            },
        }
    }
}

/// A wall of a simple shape, which may move with constant velocity during the step.
///
/// The numbers `T` are those of the spheres of the step: float32 or float64 ([`Number`]).
///
/// ```
/// use carom::Wall;
/// let floor = Wall::half_space([0.0, 0.0, 1.0], 0.0); // solid below z = 0
/// let piston = Wall::half_space([-1.0, 0.0, 0.0], -5.0).with_velocity([-0.5, 0.0, 0.0]);
/// assert_eq!(piston.velocity(), [-0.5, 0.0, 0.0]);
/// # let _ = floor;
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Wall<T = f32> {
    shape: WallShape<T>,
    velocity: [T; 3],
    groups: u32,
    restitution: Option<f64>,
}

impl<T: Number> From<WallShape<T>> for Wall<T> {
    fn from(shape: WallShape<T>) -> Self {
        Self {
            shape,
            velocity: [T::default(); 3],
            groups: 0,
            restitution: None,
        }
    }
}

impl<T: Number> Wall<T> {
    /// Returns a half-space at rest: the points x with normal·x ≥ offset are free, all others are solid.
    ///
    /// `normal` is perpendicular to the boundary plane, and points away from the solid side. It may
    /// have any length but 0.
    pub fn half_space(normal: impl Into<[T; 3]>, offset: T) -> Self {
        let normal = normal.into();
        WallShape::HalfSpace { normal, offset }.into()
    }

    /// Returns a solid sphere at rest, which other spheres touch from outside.
    pub fn sphere(center: impl Into<[T; 3]>, radius: T) -> Self {
        let center = center.into();
        WallShape::Sphere {
            center,
            radius,
            hollow: false,
        }
        .into()
    }

    /// Returns a hollow sphere at rest, which other spheres touch from inside.
    ///
    /// ```
    /// use carom::{Detector, Options, Sphere, Step, Wall, Walls};
    /// let ball = [Sphere::new([0.0; 3], 4.0).with_velocity([10.0, 0.0, 0.0])];
    /// let walls = Walls::from_iter([Wall::sphere_inside([0.0; 3], 100.0)]);
    /// let step = Step::new(&ball, 10.0).with_walls(&walls);
    /// let found = Detector::new(Options::default())?.detect(&step)?;
    /// assert_eq!(found.walls[0].toi, 9.6);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn sphere_inside(center: impl Into<[T; 3]>, radius: T) -> Self {
        let center = center.into();
        WallShape::Sphere {
            center,
            radius,
            hollow: true,
        }
        .into()
    }

    /// Returns a solid cylinder of infinite length at rest, which spheres touch from outside.
    ///
    /// `point` is a point on the axis, and `axis` is the direction of the axis, a vector of any length but 0.
    pub fn cylinder(point: impl Into<[T; 3]>, axis: impl Into<[T; 3]>, radius: T) -> Self {
        let [point, axis] = [point.into(), axis.into()];
        WallShape::Cylinder {
            point,
            axis,
            radius,
            hollow: false,
        }
        .into()
    }

    /// Returns a pipe of infinite length at rest, which spheres touch from inside. The arguments are those of
    /// [`cylinder`](Self::cylinder).
    pub fn cylinder_inside(point: impl Into<[T; 3]>, axis: impl Into<[T; 3]>, radius: T) -> Self {
        let [point, axis] = [point.into(), axis.into()];
        WallShape::Cylinder {
            point,
            axis,
            radius,
            hollow: true,
        }
        .into()
    }

    /// Returns the shape of the wall, and its place at the start of the step.
    pub fn shape(&self) -> WallShape<T> {
        self.shape
    }

    /// Returns the velocity during the step, in units of length per unit of `dt`. In a step `dt`, the wall moves by
    /// `velocity * dt`.
    pub fn velocity(&self) -> [T; 3] {
        self.velocity
    }

    /// Returns the collision groups, as in [`Sphere::groups`]. With 0, the default, every sphere may touch the wall.
    pub fn groups(&self) -> u32 {
        self.groups
    }

    /// Returns the same wall with this velocity.
    #[must_use]
    pub fn with_velocity(mut self, velocity: impl Into<[T; 3]>) -> Self {
        self.velocity = velocity.into();
        self
    }

    /// Returns the same wall with collision groups: see [`Sphere::with_groups`].
    #[must_use]
    pub fn with_groups(self, member_of: u16, ignored: u16) -> Self {
        self.with_all_groups(Sphere::default().with_groups(member_of, ignored).groups)
    }

    pub(crate) fn with_all_groups(self, groups: u32) -> Self {
        Self { groups, ..self }
    }

    /// Returns the same wall with this coefficient of restitution, from 0 to 1, for a simulation of hard spheres. Without it,
    /// the wall has that of
    /// [`SimulationOptions::with_wall_restitution`](crate::SimulationOptions::with_wall_restitution).
    #[must_use]
    pub fn with_restitution(mut self, restitution: f64) -> Self {
        self.restitution = Some(restitution);
        self
    }

    /// Returns the coefficient of restitution, if the wall has one of its own.
    pub fn restitution(&self) -> Option<f64> {
        self.restitution
    }

    /// Returns the same wall with this coefficient of restitution, or without one of its own.
    #[cfg(feature = "serde")]
    pub(crate) fn with_any_restitution(self, restitution: Option<f64>) -> Self {
        Self {
            restitution,
            ..self
        }
    }

    /// Returns the same wall with this shape.
    pub(crate) fn with_shape(self, shape: WallShape<T>) -> Self {
        Self { shape, ..self }
    }

    /// Returns the same wall in float64.
    pub(crate) fn wide(&self) -> Wall<f64> {
        Wall {
            shape: self.shape.map(Into::into),
            velocity: self.velocity.map(Into::into),
            groups: self.groups,
            restitution: self.restitution,
        }
    }

    pub(crate) fn solid(&self) -> Solid<T> {
        let velocity = self.velocity;
        let (point, axis, radius, hollow) = match self.shape {
            WallShape::HalfSpace { normal, offset } => {
                return Solid::HalfSpace(HalfSpace {
                    normal,
                    offset,
                    velocity,
                });
            }
            WallShape::Sphere {
                center,
                radius,
                hollow,
            } => (center, None, radius, hollow),
            WallShape::Cylinder {
                point,
                axis,
                radius,
                hollow,
            } => (point, Some(axis), radius, hollow),
        };
        Solid::Round(Round {
            point,
            axis,
            radius,
            inside: hollow,
            velocity,
        })
    }

    /// An error names the wall by `index`.
    pub(crate) fn check(&self, index: usize, dt: T, domain: &Domain) -> Result<(), Error> {
        let checked = self.check_numbers(dt).and_then(|()| self.repeats(domain));
        checked.map_err(|problem| Error::InvalidWall {
            wall: index,
            problem,
        })
    }

    fn check_numbers(&self, dt: T) -> Result<(), String> {
        check_motion(self.velocity, dt)?;
        check_restitution(self.restitution)?;
        let round = match self.solid() {
            Solid::HalfSpace(HalfSpace { normal, offset, .. }) => {
                check_direction("normal", normal)?;
                check_number("offset", offset)?;
                let length = T::length(vector(normal));
                let distance = (offset.into() / length).abs();
                if distance > T::MAX.into() {
                    let limit = Shortest(T::MAX.into());
                    return Err(format!(
                        "its plane is {distance:e} away from the origin (offset {offset:?} divided \
                         by the length of the normal), but must be within {limit:e}"
                    ));
                }
                return Ok(());
            }
            Solid::Round(round) => round,
        };
        let place = round.axis.map_or("center", |_| "point");
        check_vector(place, round.point)?;
        if let Some(axis) = round.axis {
            check_direction("axis", axis)?;
        }
        let radius = round.radius;
        if (T::default()..=T::MAX).contains(&radius) {
            return Ok(());
        }
        let limit = Shortest(T::MAX.into());
        Err(format!(
            "its radius is {radius:?}, but must be a finite number from 0 to {limit:e}"
        ))
    }

    /// A displacement by any periodic edge must map the wall to itself, except for solid
    /// spheres and for solid cylinders across their axis, which have images.
    fn repeats(&self, domain: &Domain) -> Result<(), String> {
        let edges = (0..3).filter(|&k| domain.periodic()[k]);
        let edges = || edges.clone().map(|k| domain.periodic_edge(k));
        let along = |axis: [T; 3]| move |edge: &DVec3| is_parallel(vector(axis), *edge);
        let (repeats, problem) = match self.shape {
            WallShape::HalfSpace { normal, .. } => (
                edges().all(|edge| unit(vector(normal)).dot(unit(edge)).abs() <= ALIGNED),
                "the half-space does not repeat with the periodic domain; make its normal \
                 perpendicular to each periodic edge, or the edge open",
            ),
            WallShape::Sphere { hollow, .. } => (
                !hollow || edges().next().is_none(),
                "a hollow sphere cannot be in a periodic domain, because every sphere has infinitely \
                 many images outside it, and all of them touch it; make all edges open",
            ),
            WallShape::Cylinder {
                axis, hollow: true, ..
            } => (
                edges().all(|edge| along(axis)(&edge)),
                "a hollow wall does not repeat with the periodic domain unless it is a cylinder along \
                 the only periodic edge; make the other edges open",
            ),
            WallShape::Cylinder { axis, .. } => {
                let beside: Vec<_> = edges().filter(|edge| !along(axis)(edge)).collect();
                let axis = unit(vector(axis));
                let repeats = match beside[..] {
                    [] | [_] => true,
                    [a, b] => axis.dot(unit(a).cross(unit(b))).abs() > ALIGNED,
                    _ => false,
                };
                (
                    repeats,
                    "the cylinder does not repeat with the periodic domain; make its axis parallel to a \
                     periodic edge",
                )
            }
        };
        if repeats {
            Ok(())
        } else {
            Err(problem.to_owned())
        }
    }
}

impl Wall {
    /// Returns the same wall, displaced by a vector, and rounded.
    pub(crate) fn displaced(self, by: DVec3) -> Self {
        if by == DVec3::ZERO {
            return self;
        }
        let displaced = |place| (vector(place) + by).as_vec3().to_array();
        self.with_shape(match self.shape {
            WallShape::HalfSpace { normal, offset } => {
                let offset = f64::from(offset) + vector(normal).dot(by);
                WallShape::HalfSpace {
                    normal,
                    offset: f32::nearest(offset),
                }
            }
            WallShape::Sphere {
                center,
                radius,
                hollow,
            } => WallShape::Sphere {
                center: displaced(center),
                radius,
                hollow,
            },
            WallShape::Cylinder {
                point,
                axis,
                radius,
                hollow,
            } => WallShape::Cylinder {
                point: displaced(point),
                axis,
                radius,
                hollow,
            },
        })
    }
}

fn vector<T: Number>(x: [T; 3]) -> DVec3 {
    x.map(Into::into).into()
}

pub(super) fn check_motion<T: Number>(velocity: [T; 3], dt: T) -> Result<(), String> {
    check_vector("velocity", velocity)?;
    let moved = velocity.map(|x| T::nearest(x.into() * dt.into()));
    check_vector("velocity * dt", moved)
}

/// Checks the coefficient of restitution of a wall.
pub(super) fn check_restitution(restitution: Option<f64>) -> Result<(), String> {
    match restitution {
        Some(e) if !(0.0..=1.0).contains(&e) => {
            Err(format!("its restitution is {e:?}, but must be from 0 to 1"))
        }
        _ => Ok(()),
    }
}

fn check_vector<T: Number>(name: &str, vector: [T; 3]) -> Result<(), String> {
    let axes = ["x", "y", "z"];
    for (x, axis) in vector.into_iter().zip(axes) {
        check_number(&format!("{name}.{axis}"), x)?;
    }
    Ok(())
}

fn check_direction<T: Number>(name: &str, vector: [T; 3]) -> Result<(), String> {
    check_vector(name, vector)?;
    if vector == [T::default(); 3] {
        return Err(format!("its {name} is 0; give it a direction"));
    }
    Ok(())
}

fn check_number<T: Number>(name: &str, x: T) -> Result<(), String> {
    if x.into().abs() <= T::MAX.into() {
        return Ok(());
    }
    let limit = Shortest(T::MAX.into());
    Err(format!(
        "its {name} is {x:?}, but must be a finite number of magnitude at most {limit:e}"
    ))
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Solid<T = f32> {
    HalfSpace(HalfSpace<T>),
    Round(Round<T>),
}

impl Solid {
    /// `shift` displaces the sphere. It is parallel to the plane of a half-space.
    pub(crate) fn impact(&self, sphere: &Sphere, shift: impl Shift, dt: f32) -> Option<Hit> {
        match self {
            Self::HalfSpace(wall) => wall.impact(sphere, dt),
            Self::Round(wall) => wall.impact(sphere, shift, dt),
        }
    }
}

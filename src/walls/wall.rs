//! Walls of a simple shape: half-spaces, spheres and cylinders.

use glam::{DVec3, Vec3};

use super::half_space::HalfSpace;
use super::round::Round;
use crate::exact::{Hit, Shift, impact};
use crate::{Domain, Error, MAX_MAGNITUDE, Sphere};

/// Shape of a wall. Every vector has the components x, y and z.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum WallShape {
    /// A half-space, bounded by a plane. The points x with normal·x ≥ offset are free, all others are solid.
    HalfSpace {
        /// Vector of any length but 0, perpendicular to the plane. It points away from the solid
        /// side.
        normal: [f32; 3],
        /// The number normal·x for the points x of the plane.
        offset: f32,
    },
    /// A solid sphere, which other spheres touch from outside.
    Sphere {
        /// Centre of the sphere.
        center: [f32; 3],
        /// Radius of the sphere, 0 or more.
        radius: f32,
    },
    /// A hollow sphere, which other spheres touch from inside. All points outside are solid.
    SphereInside {
        /// Centre of the sphere.
        center: [f32; 3],
        /// Radius of the sphere, 0 or more.
        radius: f32,
    },
    /// A solid cylinder of infinite length, which spheres touch from outside.
    Cylinder {
        /// A point on the axis.
        point: [f32; 3],
        /// Direction of the axis, a vector of any length but 0.
        axis: [f32; 3],
        /// Radius of the cylinder, 0 or more.
        radius: f32,
    },
    /// A pipe of infinite length, which spheres touch from inside. All points outside the pipe are solid.
    CylinderInside {
        /// A point on the axis.
        point: [f32; 3],
        /// Direction of the axis, a vector of any length but 0.
        axis: [f32; 3],
        /// Inner radius of the pipe, 0 or more.
        radius: f32,
    },
}

/// A wall of a simple shape, which may move with constant velocity during the step.
///
/// ```
/// use carom::Wall;
/// let floor = Wall::half_space([0.0, 0.0, 1.0], 0.0); // solid below z = 0
/// let piston = Wall::half_space([-1.0, 0.0, 0.0], -5.0).with_velocity([-0.5, 0.0, 0.0]);
/// assert_eq!(piston.velocity, [-0.5, 0.0, 0.0]);
/// # let _ = floor;
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Wall {
    /// Shape of the wall, and its place at the start of the step.
    pub shape: WallShape,
    /// Velocity during the step, in units of length per unit of `dt`. In a step `dt`, the wall moves by
    /// `velocity * dt`.
    pub velocity: [f32; 3],
    /// Collision groups, as in [`Sphere::groups`]. With 0, the default, every sphere may touch the wall.
    pub groups: u32,
}

impl From<WallShape> for Wall {
    fn from(shape: WallShape) -> Self {
        Self {
            shape,
            velocity: [0.0; 3],
            groups: 0,
        }
    }
}

impl Wall {
    /// Returns a half-space at rest: the points x with normal·x ≥ offset are free, all others are solid.
    ///
    /// `normal` is perpendicular to the boundary plane, and points away from the solid side. It may
    /// have any length but 0.
    pub fn half_space(normal: impl Into<Vec3>, offset: f32) -> Self {
        let normal = normal.into().to_array();
        WallShape::HalfSpace { normal, offset }.into()
    }

    /// Returns a solid sphere at rest, which other spheres touch from outside.
    pub fn sphere(center: impl Into<Vec3>, radius: f32) -> Self {
        let center = center.into().to_array();
        WallShape::Sphere { center, radius }.into()
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
    pub fn sphere_inside(center: impl Into<Vec3>, radius: f32) -> Self {
        let center = center.into().to_array();
        WallShape::SphereInside { center, radius }.into()
    }

    /// Returns a solid cylinder of infinite length at rest, which spheres touch from outside.
    ///
    /// `point` is a point on the axis, and `axis` is the direction of the axis, a vector of any length but 0.
    pub fn cylinder(point: impl Into<Vec3>, axis: impl Into<Vec3>, radius: f32) -> Self {
        let [point, axis] = [point.into().to_array(), axis.into().to_array()];
        WallShape::Cylinder {
            point,
            axis,
            radius,
        }
        .into()
    }

    /// Returns a pipe of infinite length at rest, which spheres touch from inside. The arguments are those of
    /// [`cylinder`](Self::cylinder).
    pub fn cylinder_inside(point: impl Into<Vec3>, axis: impl Into<Vec3>, radius: f32) -> Self {
        let [point, axis] = [point.into().to_array(), axis.into().to_array()];
        WallShape::CylinderInside {
            point,
            axis,
            radius,
        }
        .into()
    }

    /// Returns the same wall with this velocity.
    #[must_use]
    pub fn with_velocity(mut self, velocity: impl Into<Vec3>) -> Self {
        self.velocity = velocity.into().to_array();
        self
    }

    /// Returns the same wall with collision groups: see [`Sphere::with_groups`].
    #[must_use]
    pub fn with_groups(mut self, member_of: u16, ignored: u16) -> Self {
        self.groups = Sphere::default().with_groups(member_of, ignored).groups;
        self
    }

    pub(crate) fn solid(&self) -> Solid {
        let velocity = self.velocity;
        let round = |point, axis, radius, inside| {
            Solid::Round(Round {
                point,
                axis,
                radius,
                inside,
                velocity,
            })
        };
        match self.shape {
            WallShape::HalfSpace { normal, offset } => Solid::HalfSpace(HalfSpace {
                normal,
                offset,
                velocity,
            }),
            WallShape::Sphere { center, radius } => {
                Solid::Sphere(Sphere::new(center, radius).with_velocity(velocity))
            }
            WallShape::SphereInside { center, radius } => round(center, None, radius, true),
            WallShape::Cylinder {
                point,
                axis,
                radius,
            } => round(point, Some(axis), radius, false),
            WallShape::CylinderInside {
                point,
                axis,
                radius,
            } => round(point, Some(axis), radius, true),
        }
    }

    /// Checks that the numbers of the wall are valid, and that the wall fits the periodic domain. An error
    /// names the wall by its number `index`.
    pub(crate) fn check(&self, index: usize, dt: f32, domain: &Domain) -> Result<(), Error> {
        let checked = self.check_numbers(dt).and_then(|()| self.repeats(domain));
        checked.map_err(|problem| Error::InvalidWall {
            wall: index,
            problem,
        })
    }

    fn check_numbers(&self, dt: f32) -> Result<(), String> {
        check_motion(self.velocity, dt)?;
        let (place, direction, radius) = match self.shape {
            WallShape::HalfSpace { normal, offset } => {
                check_direction("normal", normal)?;
                check_number("offset", offset)?;
                let length = Vec3::from(normal).as_dvec3().length();
                let distance = (f64::from(offset) / length).abs();
                if distance > f64::from(MAX_MAGNITUDE) {
                    return Err(format!(
                        "its plane is {distance:e} away from the origin (offset {offset:?} divided \
                         by the length of the normal), but must be within {MAX_MAGNITUDE:e}"
                    ));
                }
                return Ok(());
            }
            WallShape::Sphere { center, radius } | WallShape::SphereInside { center, radius } => {
                (("center", center), None, radius)
            }
            WallShape::Cylinder {
                point,
                axis,
                radius,
            }
            | WallShape::CylinderInside {
                point,
                axis,
                radius,
            } => (("point", point), Some(axis), radius),
        };
        check_vector(place.0, place.1)?;
        if let Some(axis) = direction {
            check_direction("axis", axis)?;
        }
        if (0.0..=MAX_MAGNITUDE).contains(&radius) {
            return Ok(());
        }
        Err(format!(
            "its radius is {radius:?}, but must be a finite number from 0 to {MAX_MAGNITUDE:e}"
        ))
    }

    /// Checks that the wall fits a periodic domain: a displacement by any periodic edge must map
    /// the wall to itself. Solid spheres and solid cylinders are exceptions, because they may have
    /// images (displaced copies). A solid sphere has images along every periodic edge. A solid
    /// cylinder has images along every periodic edge that is not parallel to its axis.
    fn repeats(&self, domain: &Domain) -> Result<(), String> {
        let edges = (0..3).filter(|&k| domain.periodic()[k]);
        let edges = || edges.clone().map(|k| domain.periodic_edge(k));
        let along = |axis: [f32; 3]| move |edge: &DVec3| is_parallel(axis, *edge);
        let repeats = match self.shape {
            WallShape::Sphere { .. } => true,
            WallShape::SphereInside { .. } => edges().next().is_none(),
            WallShape::HalfSpace { normal, .. } => edges().all(|edge| {
                let normal = Vec3::from(normal).as_dvec3();
                normal.dot(edge).abs() <= ALIGNED * normal.length() * edge.length()
            }),
            WallShape::CylinderInside { axis, .. } => edges().all(|edge| along(axis)(&edge)),
            WallShape::Cylinder { axis, .. } => {
                let beside: Vec<_> = edges().filter(|edge| !along(axis)(edge)).collect();
                let axis = Vec3::from(axis).as_dvec3();
                match beside[..] {
                    [] | [_] => true,
                    [a, b] => {
                        let volume = axis.dot(a.cross(b)).abs();
                        volume > ALIGNED * axis.length() * a.length() * b.length()
                    }
                    _ => false,
                }
            }
        };
        if repeats {
            return Ok(());
        }
        Err(match self.shape {
            WallShape::HalfSpace { .. } => {
                "the half-space does not repeat with the periodic domain; make its normal \
                 perpendicular to each periodic edge, or the edge open"
            }
            WallShape::Cylinder { .. } => {
                "the cylinder does not repeat with the periodic domain; make its axis parallel to a \
                 periodic edge"
            }
            WallShape::SphereInside { .. } => {
                "a hollow sphere cannot be in a periodic domain, because every sphere has infinitely \
                 many images outside it, and all of them touch it; make all edges open"
            }
            _ => {
                "a hollow wall does not repeat with the periodic domain unless it is a cylinder along \
                 the only periodic edge; make the other edges open"
            }
        }
        .to_owned())
    }
}

/// Largest sine of the angle between two vectors that count as parallel. It is not 0, because float32 rounds
/// the directions of vectors.
const ALIGNED: f64 = 1e-6;

pub(crate) fn is_parallel(axis: [f32; 3], edge: DVec3) -> bool {
    let axis = Vec3::from(axis).as_dvec3();
    axis.cross(edge).length() <= ALIGNED * axis.length() * edge.length()
}

/// Checks the velocity of a wall, and its displacement during the step.
pub(super) fn check_motion(velocity: [f32; 3], dt: f32) -> Result<(), String> {
    check_vector("velocity", velocity)?;
    check_vector("velocity * dt", velocity.map(|x| x * dt))
}

fn check_vector(name: &str, vector: [f32; 3]) -> Result<(), String> {
    let axes = ["x", "y", "z"];
    for (x, axis) in vector.into_iter().zip(axes) {
        check_number(&format!("{name}.{axis}"), x)?;
    }
    Ok(())
}

fn check_direction(name: &str, vector: [f32; 3]) -> Result<(), String> {
    check_vector(name, vector)?;
    if vector == [0.0; 3] {
        return Err(format!("its {name} is 0; give it a direction"));
    }
    Ok(())
}

fn check_number(name: &str, x: f32) -> Result<(), String> {
    if x.abs() <= MAX_MAGNITUDE {
        return Ok(());
    }
    Err(format!(
        "its {name} is {x:?}, but must be a finite number of magnitude at most {MAX_MAGNITUDE:e}"
    ))
}

/// A wall in the form that the exact tests use.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Solid {
    HalfSpace(HalfSpace),
    /// A wall in the form of a solid sphere. The test of a moving sphere against this wall is the
    /// same as the test of two spheres.
    Sphere(Sphere),
    Round(Round),
}

impl Solid {
    /// Returns the exact impact of a sphere, displaced by `shift`, in a step of duration `dt`, or `None` if it
    /// does not touch. `shift` is ignored for half-spaces, because a periodic displacement is parallel to their
    /// planes.
    pub(crate) fn impact(&self, sphere: &Sphere, shift: impl Shift, dt: f32) -> Option<Hit> {
        match self {
            Self::HalfSpace(wall) => wall.impact(sphere, dt),
            Self::Sphere(wall) => impact(wall, sphere, shift, dt).0,
            Self::Round(wall) => wall.impact(sphere, shift, dt),
        }
    }

    /// Returns the same result as [`impact`](Self::impact), but decides in integers only, without
    /// float64 arithmetic. If the wall is a solid sphere, the two functions do not differ: both
    /// call the test of two spheres.
    pub(crate) fn impact_in_integers(
        &self,
        sphere: &Sphere,
        shift: impl Shift,
        dt: f32,
    ) -> Option<Hit> {
        match self {
            Self::HalfSpace(wall) => wall.impact_in_integers(sphere, dt),
            Self::Sphere(wall) => impact(wall, sphere, shift, dt).0,
            Self::Round(wall) => wall.impact_in_integers(sphere, shift, dt),
        }
    }
}

//! Verification of a list of spheres that touch walls.

use std::marker::PhantomData;

use glam::DVec3;

use super::{Reach, Row, Verification, check_image_count, compare, sorted};
use crate::domain::Products;
use crate::exact::integers::Numbers3;
use crate::limits::MAX_SPHERES;
use crate::memory::allocate;
use crate::number::sealed::{Family, Split};
use crate::validate::check_spheres;
use crate::walls::{HalfSpace, Round, Solid, Triangle, WideWall, is_parallel};
use crate::wide::{WideScale, WideSphere, check};
use crate::{Error, Hits, Number, Sphere, Spheres, Step, Touching, Walls};

/// Checks a list of spheres that touch walls, from carom or from another program, against exact arithmetic on every
/// pair of a sphere and a wall. Each triangle of a mesh is a wall.
///
/// In a periodic domain, the image of each entry of `hits` is the periodic image of the sphere
/// ([`Hits::with_images`]). In open space, `hits` has no images. The order of the list does not matter.
///
/// The function tests all N·W pairs of N spheres and W walls, in parallel. In a periodic domain, it tests all images
/// of the sphere that the wall can reach. It shares neither a grid nor a tree with [`Detector`](crate::Detector). A
/// few operations in float64 discard pairs that are far apart, so 400 million pairs take some seconds. All other
/// pairs are decided in integers, which takes some microseconds per pair.
///
/// ```
/// use carom::{Hits, Sphere, Step, Wall, Walls, verify_walls};
/// let ball = [Sphere::new([0.0, 0.0, 0.5], 1.0)];
/// let walls = Walls::from_iter([Wall::half_space([0.0, 0.0, 1.0], 0.0)]);
/// let truth = verify_walls(&Step::new(&ball, 1.0).with_walls(&walls), &Hits::default())?;
/// assert!(!truth.passed());
/// assert_eq!((truth.missing[0].sphere, truth.missing[0].wall), (0, 0));
/// assert_eq!(truth.missing[0].depth, 0.5);
/// # Ok::<(), carom::Error>(())
/// ```
///
/// # Errors
/// Returns one of these errors:
/// - [`Error::InvalidTimeStep`], [`Error::InvalidSphere`], [`Error::InvalidWall`] or
///   [`Error::TooManySpheres`] if `step` has an invalid time step, sphere or wall, or too many
///   spheres.
/// - [`Error::ColumnLength`] or [`Error::InvalidColumn`] if columns of the spheres differ in length or
///   have no values.
/// - [`Error::InvalidDomain`] if the periodic domain of `step` has an invalid number or an edge of
///   length 0.
/// - [`Error::ImageCount`] if `hits` lacks images in a periodic domain, or has images in open space.
/// - [`Error::OutOfMemory`] if memory is too short for a copy of `hits`, or for its differences
///   from the exact list.
pub fn verify_walls<T: Number>(
    step: &Step<'_, Spheres<'_, T>>,
    hits: &Hits<T::WallCollision>,
) -> Result<Verification<T::WallCollision>, Error> {
    let images = hits.images();
    let dt = step.dt();
    if !(0.0..=T::MAX.into()).contains(&step.dt) {
        let (dt, limit) = (step.dt, T::MAX.into());
        return Err(Error::InvalidTimeStep { dt, limit });
    }
    step.domain.check::<T>()?;
    check_image_count(step, hits.len(), images.len())?;
    step.check_columns()?;
    let first = packed(step.first, dt, step.second.map(|_| 0))?;
    let second = step.second.map(|set| packed(set, dt, Some(1)));
    let second = second.transpose()?.unwrap_or_default();
    let count = first.len() + second.len();
    if count > MAX_SPHERES {
        return Err(Error::TooManySpheres {
            count,
            limit: MAX_SPHERES,
        });
    }
    let none = Walls::new();
    let walls = step.walls().unwrap_or(&none);
    walls.check(dt, &step.domain)?;
    let targets = Target::of_all(walls)?;
    let edges = [0, 1, 2].map(|k| step.domain.periodic_edge(k));
    let size = |sphere: &WideSphere| {
        let largest = |x: [f64; 3]| DVec3::from(x).abs().max_element();
        let moved = largest(sphere.velocity) * step.dt;
        largest(sphere.center).max(sphere.radius).max(moved)
    };
    let all = || first.iter().chain(&second);
    let sizes = all().map(size).chain(edges.map(|x| x.abs().max_element()));
    let sizes = sizes.chain(targets.iter().map(|target| target.wall.size(step.dt)));
    let scale = WideScale::new(sizes.fold(0.0, f64::max), 1.0, step.dt);
    let world = World {
        given: edges,
        edges: edges.map(|edge| edge * scale.length),
        is_open: step.domain.is_open(),
        approaching: step.approaching,
        dt,
        scaled_dt: step.dt * scale.time,
    };
    let targets: Vec<_> = targets
        .into_iter()
        .map(|t| t.scaled(&scale, &world))
        .collect();
    let mut copy = allocate(hits.len(), "a copy of the list")?;
    copy.extend(hits.iter().map(Touching::wide));
    let list = sorted(&copy, images, false)?;
    let mistakes = compare(&list, count, |index, row| {
        let after = || second.get(index - first.len());
        if let Some(sphere) = first.get(index).or_else(after) {
            row.mistakes.tried = targets.len() as u64;
            let visitor = Visitor {
                numbers: (sphere.center, sphere.radius, sphere.velocity),
                near: Reach {
                    center: sphere.center.map(|x| x * scale.length),
                    radius: sphere.radius * scale.length
                        + world.moved(scale.speeds(sphere.velocity)),
                },
            };
            let groups = Sphere {
                groups: sphere.groups,
                ..Sphere::default()
            };
            for (wall, target) in targets.iter().enumerate() {
                if !groups.ignores(&target.groups) {
                    target.compare(wall, &visitor, &world, row);
                }
            }
        }
    })?;
    Ok(mistakes.public(!step.domain.is_open(), T::WallCollision::of_wide))
}

struct Packed<'a>(PhantomData<&'a ()>);

impl<'a> Family for Packed<'a> {
    type Of<T: Number> = (&'a [T::Packed], T);
}

/// An error names the set `set`.
fn packed<T: Number>(
    spheres: Spheres<'_, T>,
    dt: T,
    set: Option<usize>,
) -> Result<Vec<WideSphere>, Error> {
    let mut packed = allocate(spheres.len(), "a copy of the spheres")?;
    packed.resize(spheres.len(), T::Packed::default());
    spheres.pack(0, &mut packed);
    match T::split::<Packed<'_>>((&packed, dt)) {
        Split::Float32((packed, dt)) => check_spheres(packed, dt, set).map(|_| ())?,
        Split::Float64((packed, dt)) => {
            let mut all = packed.iter().enumerate();
            all.try_for_each(|(index, sphere)| check(index, sphere, dt, set))?;
        }
    }
    let mut wide = allocate(spheres.len(), "a copy of the spheres")?;
    wide.extend(packed.iter().map(T::wide));
    Ok(wide)
}

struct Target {
    wall: WideWall,
    /// In the units of [`World::edges`].
    scaled: WideWall,
    /// During the whole step, in the same units. `None` for an infinite wall.
    around: Option<Reach>,
    /// With the groups of the wall, for `Sphere::ignores`.
    groups: Sphere,
}

struct Visitor {
    numbers: Numbers3,
    near: Reach,
}

impl Target {
    fn of_all<T: Number>(walls: &Walls<T>) -> Result<Vec<Self>, Error> {
        let target = |wall: WideWall, groups| Self {
            wall,
            scaled: wall,
            around: None,
            groups: Sphere {
                groups,
                ..Sphere::default()
            },
        };
        let mut targets = allocate(walls.len(), "the walls to check")?;
        targets.extend(walls.simple().iter().map(|wall| {
            let solid = WideWall::Solid(wall.wide().solid());
            target(solid, wall.groups())
        }));
        for mesh in walls.meshes() {
            let triangles = (0..mesh.triangles().len()).filter_map(|k| mesh.triangle(k));
            targets.extend(triangles.map(|Triangle { corners, velocity }| {
                let wide = |x: [T; 3]| x.map(Into::into);
                let triangle = Triangle {
                    corners: corners.map(wide),
                    velocity: wide(velocity),
                };
                target(WideWall::Triangle(triangle), mesh.groups())
            }));
        }
        Ok(targets)
    }

    fn scaled<T>(self, scale: &WideScale, world: &World<T>) -> Self {
        let scaled = self.wall.scaled(scale);
        let around = match &scaled {
            WideWall::Solid(Solid::Round(wall)) if wall.is_ball() => Some(Reach {
                center: wall.point,
                radius: wall.radius + world.moved(wall.velocity),
            }),
            WideWall::Solid(Solid::HalfSpace(_) | Solid::Round(_)) => None,
            WideWall::Triangle(triangle) => Some(around(triangle, world)),
        };
        Self {
            scaled,
            around,
            ..self
        }
    }

    /// Exact tests cover the sphere and all its images.
    fn compare<T: Number>(
        &self,
        wall: usize,
        sphere: &Visitor,
        world: &World<T>,
        row: &mut Row<'_>,
    ) {
        let near = &sphere.near;
        let mut decide = |image: [i32; 3]| {
            let products = world.products(image);
            let guess = self
                .wall
                .estimate(&sphere.numbers, &products, world.dt.into())
                .guess;
            let longest = T::nearest(f64::MAX);
            let rounded = self
                .wall
                .rounded(&sphere.numbers, &products, [world.dt, longest], guess);
            let rounded = rounded.map(|hit| hit.map(Into::into));
            let rounded = rounded.filter(|&[toi, _]: &[f64; 2]| {
                let parts = || self.wall.parts(&sphere.numbers, &products);
                !(world.approaching && toi == 0.0 && parts())
            });
            row.compare(wall, image, rounded);
        };
        match (&self.scaled, &self.around) {
            (WideWall::Solid(Solid::HalfSpace(plane)), _) => {
                if !is_far_from_plane(plane, near, world) {
                    decide([0; 3]);
                }
            }
            // All images of a sphere touch a hollow wall in the same way.
            (WideWall::Solid(Solid::Round(round)), _) if round.inside => {
                if !is_far_inside(round, near, world) {
                    decide([0; 3]);
                }
            }
            (_, Some(around)) => {
                let images = world.images(around, near, world.edges);
                images.into_iter().for_each(decide);
            }
            (WideWall::Solid(Solid::Round(round)), None) => {
                let (reach, near, edges) = across(round, near, world);
                let images = world.images(&reach, &near, edges);
                images.into_iter().for_each(decide);
            }
            (WideWall::Triangle(_), None) => {}
        }
    }
}

struct World<T> {
    /// Then in the units in which lengths are about 1.
    given: [DVec3; 3],
    edges: [DVec3; 3],
    is_open: bool,
    /// As in [`Step`].
    approaching: bool,
    dt: T,
    scaled_dt: f64,
}

impl<T> World<T> {
    fn products(&self, image: [i32; 3]) -> Products {
        [0, 1, 2].map(|axis| [0, 1, 2].map(|k| (self.given[k][axis], image[k])))
    }

    fn moved(&self, velocity: [f64; 3]) -> f64 {
        DVec3::from(velocity).abs().element_sum() * self.scaled_dt
    }

    /// In ascending order. The balls contain the wall and the sphere during the whole step.
    /// For a cylinder, they and `edges` are projected along its axis.
    fn images(&self, wall: &Reach, sphere: &Reach, edges: [DVec3; 3]) -> Vec<[i32; 3]> {
        if !self.is_open {
            wall.images(sphere, edges)
        } else if wall.is_far(sphere) {
            Vec::new()
        } else {
            vec![[0; 3]]
        }
    }
}

/// Relative margin of the float64 tests, far larger than their rounding errors.
const MARGIN: f64 = 1e-9;

fn around<T>(triangle: &Triangle<f64>, world: &World<T>) -> Reach {
    let [a, b, c] = triangle.corners.map(DVec3::from);
    let center = (a + b + c) / 3.0;
    let away = [a, b, c].map(|corner| (corner - center).length());
    let size = center.abs().element_sum();
    let away = away.into_iter().fold(0.0, f64::max);
    Reach {
        center: center.to_array(),
        radius: away + world.moved(triangle.velocity) + MARGIN * size,
    }
}

fn is_far_from_plane<T>(plane: &HalfSpace<f64>, near: &Reach, world: &World<T>) -> bool {
    let (normal, center) = (DVec3::from(plane.normal), DVec3::from(near.center));
    let reach = near.radius + world.moved(plane.velocity);
    let size = center.abs().element_sum() + plane.offset.abs() + reach;
    normal.dot(center) - plane.offset - reach > MARGIN * size
}

fn is_far_inside<T>(round: &Round<f64>, near: &Reach, world: &World<T>) -> bool {
    let away = DVec3::from(near.center) - DVec3::from(round.point);
    let axis = round.axis.map(DVec3::from);
    let distance = axis.map_or(away, |axis| axis.cross(away)).length();
    let reach = near.radius + world.moved(round.velocity);
    round.radius - reach - distance > MARGIN * (away.length() + reach + round.radius)
}

/// Projects the cylinder, the sphere and the edges onto the plane perpendicular to the axis.
fn across<T>(round: &Round<f64>, near: &Reach, world: &World<T>) -> (Reach, Reach, [DVec3; 3]) {
    let away = DVec3::from(near.center) - DVec3::from(round.point);
    let axis = round.axis.map_or(DVec3::X, DVec3::from);
    let project = |x: DVec3| x - axis * axis.dot(x);
    let edges = world.edges.map(|edge| {
        if edge == DVec3::ZERO || is_parallel(axis, edge) {
            DVec3::ZERO
        } else {
            project(edge)
        }
    });
    let wall = Reach {
        center: [0.0; 3],
        radius: round.radius + world.moved(round.velocity),
    };
    let sphere = Reach {
        center: project(away).to_array(),
        radius: near.radius + MARGIN * away.length(),
    };
    (wall, sphere, edges)
}

//! Verification of a list of spheres that touch walls.

use std::marker::PhantomData;

use glam::DVec3;

use super::images::{Course, Images, TouchingImage};
use super::{Reach, Verification, check_image_count, compare, sorted};
use crate::domain::Products;
use crate::exact::integers::Numbers3;
use crate::limits::MAX_SPHERES;
use crate::memory::allocate;
use crate::number::sealed::{Family, Split};
use crate::threads;
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
/// - [`Error::InvalidDomain`] if the periodic domain of `step` has an invalid number, an edge of
///   length 0 or parallel edges.
/// - [`Error::ImageOutOfRange`] or [`Error::TooManyImages`] if a sphere or a wall is so large or so fast that a test
///   of all images would take too long.
/// - [`Error::ImageCount`] if `hits` lacks images in a periodic domain, or has images in open space.
/// - [`Error::OutOfMemory`] if memory is too short for a copy of `hits`, or for its differences
///   from the exact list.
pub fn verify_walls<T: Number>(
    step: &Step<'_, Spheres<'_, T>>,
    hits: &Hits<T::WallCollision>,
) -> Result<Verification<T::WallCollision>, Error> {
    threads::ready()?;
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
        approaching: step.approaching,
        dt,
        scaled_dt: step.dt * scale.time,
    };
    let scaled = targets.into_iter().map(|t| t.scaled(&scale, &world));
    let targets = scaled.collect::<Result<Vec<_>, Error>>()?;
    let of_domain = world.images(world.edges)?;
    let mut copy = allocate(hits.len(), "a copy of the list")?;
    copy.extend(hits.iter().map(Touching::wide));
    let list = sorted(&copy, images, false)?;
    let mistakes = compare(&list, count, |index, row| {
        let after = || second.get(index - first.len());
        if let Some(sphere) = first.get(index).or_else(after) {
            row.mistakes.tried = targets.len() as u64;
            let visitor = Visitor {
                numbers: (sphere.center, sphere.radius, sphere.velocity),
                flight: Course {
                    center: DVec3::from(sphere.center) * scale.length,
                    moved: world.moved(scale.speeds(sphere.velocity)),
                    radius: sphere.radius * scale.length,
                },
            };
            let far = |limit| Error::ImageOutOfRange {
                index: if index < first.len() {
                    index
                } else {
                    index - first.len()
                },
                set: step.second.map(|_| usize::from(index >= first.len())),
                limit,
            };
            let groups = Sphere {
                groups: sphere.groups,
                ..Sphere::default()
            };
            for (wall, target) in targets.iter().enumerate() {
                if !groups.ignores(&target.groups) {
                    let touching = target.touching(&visitor, &world, of_domain.as_ref(), far)?;
                    for (image, touch) in touching {
                        row.compare(wall, image, Some(touch));
                    }
                }
            }
        }
        Ok(())
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
    /// In the same units. `None` for a half-space or a hollow wall. Perpendicular to its axis for a cylinder.
    around: Option<Course>,
    /// Those of a cylinder in a periodic domain, perpendicular to its axis.
    images: Option<Images>,
    /// With the groups of the wall, for `Sphere::ignores`.
    groups: Sphere,
}

struct Visitor {
    numbers: Numbers3,
    flight: Course,
}

impl Target {
    fn of_all<T: Number>(walls: &Walls<T>) -> Result<Vec<Self>, Error> {
        let target = |wall: WideWall, groups| Self {
            wall,
            scaled: wall,
            around: None,
            images: None,
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

    fn scaled<T>(self, scale: &WideScale, world: &World<T>) -> Result<Self, Error> {
        let scaled = self.wall.scaled(scale);
        let around = match &scaled {
            WideWall::Solid(Solid::Round(wall)) if !wall.inside => Some(Course {
                center: across(wall, wall.point.into()),
                moved: across(wall, world.moved(wall.velocity)),
                radius: wall.radius,
            }),
            WideWall::Solid(Solid::HalfSpace(_) | Solid::Round(_)) => None,
            WideWall::Triangle(triangle) => Some(around(triangle, world)),
        };
        let images = match &scaled {
            WideWall::Solid(Solid::Round(wall)) if !wall.inside && !wall.is_ball() => {
                world.images(edges_across(wall, world.edges))?
            }
            _ => None,
        };
        Ok(Self {
            scaled,
            around,
            images,
            ..self
        })
    }

    /// Decides the images of the sphere that may touch, in ascending order. `images` are those of the domain.
    fn touching<T: Number>(
        &self,
        sphere: &Visitor,
        world: &World<T>,
        images: Option<&Images>,
        far: impl FnOnce(i32) -> Error,
    ) -> Result<Vec<TouchingImage>, Error> {
        let decide = |image: [i32; 3]| {
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
            rounded.filter(|&[toi, _]: &[f64; 2]| {
                let parts = || self.wall.parts(&sphere.numbers, &products);
                !(world.approaching && toi == 0.0 && parts())
            })
        };
        let near = &Reach::of(&sphere.flight);
        let (is_far, images) = match (&self.scaled, &self.around) {
            (WideWall::Solid(Solid::HalfSpace(plane)), _) => {
                (is_far_from_plane(plane, near, world), None)
            }
            // All images of a sphere touch a hollow wall in the same way.
            (WideWall::Solid(Solid::Round(round)), None) => {
                (is_far_inside(round, near, world), None)
            }
            (WideWall::Solid(Solid::Round(round)), Some(around)) if !round.is_ball() => {
                let flight = Course {
                    center: across(round, sphere.flight.center),
                    moved: across(round, sphere.flight.moved),
                    // The projection rounds.
                    radius: sphere.flight.radius + MARGIN * sphere.flight.center.length(),
                };
                if let Some(images) = &self.images {
                    return images.touching([around, &flight], decide, far);
                }
                (Reach::of(around).is_far(&Reach::of(&flight)), None)
            }
            (_, Some(around)) => (Reach::of(around).is_far(near), images.zip(Some(around))),
            (WideWall::Triangle(_), None) => (true, None),
        };
        if let Some((images, around)) = images {
            return images.touching([around, &sphere.flight], decide, far);
        }
        let touch = if is_far { None } else { decide([0; 3]) };
        Ok(touch.map(|touch| ([0; 3], touch)).into_iter().collect())
    }
}

struct World<T> {
    /// Then in the units in which lengths are about 1.
    given: [DVec3; 3],
    edges: [DVec3; 3],
    /// As in [`Step`].
    approaching: bool,
    dt: T,
    scaled_dt: f64,
}

impl<T> World<T> {
    fn products(&self, image: [i32; 3]) -> Products {
        [0, 1, 2].map(|axis| [0, 1, 2].map(|k| (self.given[k][axis], image[k])))
    }

    fn moved(&self, velocity: [f64; 3]) -> DVec3 {
        DVec3::from(velocity) * self.scaled_dt
    }

    /// Returns `None` if no edge is periodic.
    fn images(&self, edges: [DVec3; 3]) -> Result<Option<Images>, Error> {
        if edges == [DVec3::ZERO; 3] {
            return Ok(None);
        }
        Images::new(edges).map(Some)
    }
}

/// Relative margin of the float64 tests, far larger than their rounding errors.
const MARGIN: f64 = 1e-9;

fn around<T>(triangle: &Triangle<f64>, world: &World<T>) -> Course {
    let [a, b, c] = triangle.corners.map(DVec3::from);
    let center = (a + b + c) / 3.0;
    let away = [a, b, c].map(|corner| (corner - center).length());
    let size = center.abs().element_sum();
    let away = away.into_iter().fold(0.0, f64::max);
    Course {
        center,
        moved: world.moved(triangle.velocity),
        radius: away + MARGIN * size,
    }
}

fn is_far_from_plane<T>(plane: &HalfSpace<f64>, near: &Reach, world: &World<T>) -> bool {
    let (normal, center) = (DVec3::from(plane.normal), DVec3::from(near.center));
    let reach = near.radius + length_of(world.moved(plane.velocity));
    let size = center.abs().element_sum() + plane.offset.abs() + reach;
    normal.dot(center) - plane.offset - reach > MARGIN * size
}

fn is_far_inside<T>(round: &Round<f64>, near: &Reach, world: &World<T>) -> bool {
    let away = DVec3::from(near.center) - DVec3::from(round.point);
    let axis = round.axis.map(DVec3::from);
    let distance = axis.map_or(away, |axis| axis.cross(away)).length();
    let reach = near.radius + length_of(world.moved(round.velocity));
    round.radius - reach - distance > MARGIN * (away.length() + reach + round.radius)
}

/// At least the length.
fn length_of(moved: DVec3) -> f64 {
    moved.abs().element_sum()
}

/// Projects a vector onto the plane perpendicular to the axis of a cylinder.
fn across(round: &Round<f64>, x: DVec3) -> DVec3 {
    round.axis.map_or(x, |axis| {
        let axis = DVec3::from(axis);
        x - axis * axis.dot(x)
    })
}

/// An edge along the axis becomes 0.
fn edges_across(round: &Round<f64>, edges: [DVec3; 3]) -> [DVec3; 3] {
    let axis = round.axis.map_or(DVec3::X, DVec3::from);
    edges.map(|edge| {
        if edge == DVec3::ZERO || is_parallel(axis, edge) {
            DVec3::ZERO
        } else {
            across(round, edge)
        }
    })
}

//! Verification of a list of spheres that touch walls.

use glam::DVec3;

use super::{Reach, Row, Verification, check_image_count, compare, sorted};
use crate::Touching;
use crate::exact::{Hit, Translation};
use crate::limits::MAX_SPHERES;
use crate::memory::allocate;
use crate::reuse::ReusedVec;
use crate::validate::{check_dt, check_spheres};
use crate::walls::{HalfSpace, Round, Solid, Triangle, is_parallel, vector};
use crate::{Domain, Error, Hits, Sphere, Step, WallCollision, Walls};

/// Checks a list of spheres that touch walls, from carom or from another program, against exact arithmetic on every
/// pair of a sphere and a wall. Each triangle of a mesh is a wall.
///
/// In a periodic domain, the image of each entry of `hits` is the periodic image of the sphere
/// ([`Hits::with_images`]). In open space, `hits` has no images. The order of the list does not matter.
///
/// The function tests all N·W pairs of N spheres and W walls, in parallel. In a periodic domain, it tests all images
/// of the sphere that the wall can reach. It shares neither a grid nor a tree with [`Detector`](crate::Detector). A
/// few operations in float64 discard pairs that are far apart, so 400 million pairs take some seconds. All other
/// pairs are decided in integers, which takes some microseconds per pair. A wall that is a solid sphere is compared
/// in the same way as a second sphere in [`verify`](crate::verify()).
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
pub fn verify_walls(
    step: &Step<'_>,
    hits: &Hits<WallCollision>,
) -> Result<Verification<WallCollision>, Error> {
    let images = hits.images();
    let dt = step.dt();
    check_dt(dt)?;
    step.domain.check()?;
    check_image_count(step, hits.len(), images.len())?;
    let mut packed = ReusedVec::default();
    let (first, second) = step.in_slices(&mut packed)?;
    check_spheres(first, dt, second.map(|_| 0))?;
    let second = second.unwrap_or_default();
    check_spheres(second, dt, Some(1))?;
    let count = first.len() + second.len();
    if count > MAX_SPHERES {
        return Err(Error::TooManySpheres {
            count,
            limit: MAX_SPHERES,
        });
    }
    let none = Walls::new();
    let walls = step.walls.unwrap_or(&none);
    walls.check(dt, &step.domain)?;
    let targets = Target::of_all(walls, dt)?;
    let world = World {
        domain: &step.domain,
        edges: [0, 1, 2].map(|k| step.domain.periodic_edge(k)),
        dt,
    };
    let mut copy = allocate(hits.len(), "a copy of the list")?;
    copy.extend(hits.iter().map(Touching::wide));
    let list = sorted(&copy, images, false)?;
    let mistakes = compare(&list, count, |index, row| {
        let after = || second.get(index - first.len());
        if let Some(sphere) = first.get(index).or_else(after) {
            row.mistakes.tried = targets.len() as u64;
            let near = Reach::new(sphere, dt);
            for (wall, target) in targets.iter().enumerate() {
                if !sphere.ignores(&target.groups) {
                    target.compare(wall, sphere, &near, &world, row);
                }
            }
        }
    })?;
    Ok(mistakes.public(!step.domain.is_open(), WallCollision::of_wide))
}

/// Returns the exact time and depth as float64.
fn wide(touch: Option<Hit>) -> Option<[f64; 2]> {
    touch.map(|Hit { toi, depth }| [toi.into(), depth.into()])
}

/// One wall, with the data for the exact tests that verify the collisions with this wall.
struct Target {
    kind: TargetKind,
    /// A sphere with the same collision groups as the wall. It is needed because `Sphere::ignores`
    /// compares the groups of two spheres.
    groups: Sphere,
}

enum TargetKind {
    HalfSpace(HalfSpace),
    /// A solid sphere, and a ball that contains it during the whole step.
    Sphere(Round, Reach),
    Round(Round),
    Triangle(Triangle, Reach),
}

impl Target {
    fn of_all(walls: &Walls, dt: f32) -> Result<Vec<Self>, Error> {
        let of_groups = |groups| Sphere {
            groups,
            ..Sphere::default()
        };
        let mut targets = allocate(walls.len(), "the walls to check")?;
        targets.extend(walls.simple().iter().map(|wall| Self {
            kind: match wall.solid() {
                Solid::HalfSpace(wall) => TargetKind::HalfSpace(wall),
                Solid::Round(wall) => match wall.ball() {
                    Some(ball) => TargetKind::Sphere(wall, Reach::new(&ball, dt)),
                    None => TargetKind::Round(wall),
                },
            },
            groups: of_groups(wall.groups()),
        }));
        for mesh in walls.meshes() {
            let triangles = (0..mesh.triangles().len()).filter_map(|k| mesh.triangle(k));
            targets.extend(triangles.map(|triangle| Self {
                kind: TargetKind::Triangle(triangle, around(&triangle, dt)),
                groups: of_groups(mesh.groups()),
            }));
        }
        Ok(targets)
    }

    /// Compares the collisions of a sphere with this wall in the verified list with those that
    /// exact tests find. The tests cover the sphere and all its periodic images. `near` is a ball
    /// that contains the sphere during the whole step.
    fn compare(
        &self,
        wall: usize,
        sphere: &Sphere,
        near: &Reach,
        world: &World,
        row: &mut Row<'_>,
    ) {
        let dt = world.dt;
        match &self.kind {
            TargetKind::HalfSpace(plane) => {
                if !is_far_from_plane(plane, near, dt) {
                    let touch = Solid::HalfSpace(*plane).impact_in_integers(sphere, (), dt);
                    row.compare(wall, [0; 3], wide(touch));
                }
            }
            // A periodic displacement maps a hollow wall to itself, so all images of a sphere touch
            // the wall in the same way. One image is enough.
            TargetKind::Round(round) if round.inside => {
                if !is_far_inside(round, near, dt) {
                    let touch = Solid::Round(*round).impact_in_integers(sphere, (), dt);
                    row.compare(wall, [0; 3], wide(touch));
                }
            }
            TargetKind::Round(round) => {
                let (reach, near, edges) = across(round, near, world);
                for (image, shift) in world.images(&reach, &near, edges) {
                    let touch = Solid::Round(*round).impact_in_integers(sphere, shift, dt);
                    row.compare(wall, image, wide(touch));
                }
            }
            TargetKind::Sphere(other, reach) => {
                for (image, shift) in world.images(reach, near, world.edges) {
                    let touch = Solid::Round(*other).impact_in_integers(sphere, shift, dt);
                    row.compare(wall, image, wide(touch));
                }
            }
            TargetKind::Triangle(triangle, reach) => {
                for (image, shift) in world.images(reach, near, world.edges) {
                    let touch = triangle.impact_in_integers(sphere, shift, dt);
                    row.compare(wall, image, wide(touch));
                }
            }
        }
    }
}

/// The domain and the duration of a step.
struct World<'a> {
    domain: &'a Domain,
    edges: [DVec3; 3],
    dt: f32,
}

impl World<'_> {
    /// Returns the periodic images of a sphere that may meet a wall, in ascending order. `wall` is
    /// a ball that contains the wall during the whole step, and `sphere` is a ball that contains
    /// the sphere. For a cylinder, the caller projects both balls and the domain's edges along the
    /// cylinder's axis.
    fn images(
        &self,
        wall: &Reach,
        sphere: &Reach,
        edges: [DVec3; 3],
    ) -> impl Iterator<Item = ([i32; 3], Translation)> {
        let images = if !self.domain.is_open() {
            wall.images(sphere, edges)
        } else if wall.is_far(sphere) {
            Vec::new()
        } else {
            vec![[0; 3]]
        };
        let shifted = |image| (image, Translation::new(self.domain, image));
        images.into_iter().map(shifted)
    }
}

/// Relative margin of the float64 tests, far larger than their rounding errors.
const MARGIN: f64 = 1e-9;

/// Returns an upper bound of the length by which a wall is displaced during the step.
fn moved(velocity: [f32; 3], dt: f32) -> f64 {
    vector(velocity).abs().element_sum() * f64::from(dt)
}

/// Returns a ball that contains a triangle during the whole step.
fn around(triangle: &Triangle, dt: f32) -> Reach {
    let [a, b, c] = triangle.corners.map(vector);
    let center = (a + b + c) / 3.0;
    let away = [a, b, c].map(|corner| (corner - center).length());
    let size = center.abs().element_sum();
    Reach {
        center: center.to_array(),
        radius: away.into_iter().fold(0.0, f64::max) + moved(triangle.velocity, dt) + MARGIN * size,
    }
}

/// Returns whether a sphere certainly does not touch a half-space.
fn is_far_from_plane(plane: &HalfSpace, near: &Reach, dt: f32) -> bool {
    let (normal, center) = (vector(plane.normal), DVec3::from(near.center));
    let length = normal.length();
    let offset = f64::from(plane.offset) / length;
    let reach = near.radius + moved(plane.velocity, dt);
    let size = center.abs().element_sum() + offset.abs() + reach;
    normal.dot(center) / length - offset - reach > MARGIN * size
}

/// Returns whether a sphere certainly does not touch a hollow wall (a hollow sphere or cylinder,
/// which encloses the sphere).
fn is_far_inside(round: &Round, near: &Reach, dt: f32) -> bool {
    let away = DVec3::from(near.center) - vector(round.point);
    let axis = round.axis.map(|axis| vector(axis).normalize());
    let distance = axis.map_or(away, |axis| axis.cross(away)).length();
    let reach = near.radius + moved(round.velocity, dt);
    let radius = f64::from(round.radius);
    radius - reach - distance > MARGIN * (away.length() + reach + radius)
}

/// Prepares the search for the periodic images of a sphere that may touch a solid cylinder.
/// Projects the cylinder, the sphere and the periodic edges onto the plane perpendicular to the
/// cylinder's axis. Returns a ball around the projected cylinder, a ball around the projected
/// sphere, and the projected edges. If the wall is a sphere, nothing is projected.
fn across(round: &Round, near: &Reach, world: &World) -> (Reach, Reach, [DVec3; 3]) {
    let away = DVec3::from(near.center) - vector(round.point);
    let axis = round.axis.map(|axis| vector(axis).normalize());
    let project = |x: DVec3| axis.map_or(x, |axis| x - axis * axis.dot(x));
    let edges = world.edges.map(|edge| match round.axis {
        Some(axis) if is_parallel(axis, edge) => DVec3::ZERO,
        _ => project(edge),
    });
    let wall = Reach {
        center: [0.0; 3],
        radius: f64::from(round.radius) + moved(round.velocity, world.dt),
    };
    let sphere = Reach {
        center: project(away).to_array(),
        radius: near.radius + MARGIN * away.length(),
    };
    (wall, sphere, edges)
}

//! The surfaces of walls in float64: when a sphere meets them, and where.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use glam::DVec3;

use super::descent::{Polynomial, first_descent};
use super::predict::RESTING;
use crate::Error;
use crate::memory::{collect, extend, out_of_memory, push};
use crate::walls::{HalfSpace, Round, Solid, vector};
use crate::{Wall, Walls};

/// Motion of the centre of a sphere relative to a surface: place and velocity at time 0, and acceleration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Motion {
    pub(crate) place: DVec3,
    pub(crate) velocity: DVec3,
    pub(crate) acceleration: DVec3,
}

impl Motion {
    pub(crate) fn place_at(&self, time: f64) -> DVec3 {
        self.place + (self.velocity + self.acceleration * (time / 2.0)) * time
    }

    pub(crate) fn velocity_at(&self, time: f64) -> DVec3 {
        self.velocity + self.acceleration * time
    }

    /// Returns the same motion with its times counted from `time`.
    pub(crate) fn from(&self, time: f64) -> Self {
        Self {
            place: self.place_at(time),
            velocity: self.velocity_at(time),
            acceleration: self.acceleration,
        }
    }

    fn map(&self, map: impl Fn(DVec3) -> DVec3) -> Self {
        Self {
            place: map(self.place),
            velocity: map(self.velocity),
            acceleration: map(self.acceleration),
        }
    }
}

/// A surface at rest.
#[derive(Clone, Debug)]
pub(crate) enum Surface {
    /// The half-space of the points x with normal·x ≥ offset is free. The normal is a unit vector.
    Plane { normal: DVec3, offset: f64 },
    Round {
        point: DVec3,
        /// If the wall is a cylinder, this unit vector is the direction of its axis. If the wall is
        /// a sphere, this field is `None`.
        axis: Option<DVec3>,
        radius: f64,
        inside: bool,
    },
    Triangle {
        corners: [DVec3; 3],
        normal: DVec3,
        around: Surroundings,
    },
}

/// What adjoins a triangle. A sphere touches a surface of several triangles where it is nearest to all of them. So it
/// does not hit an edge or a corner of one of them if another one is nearer, as inside a flat surface.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surroundings {
    /// For each edge, the directions from it into the triangles that have it.
    pub(crate) edges: [Arc<[DVec3]>; 3],
    /// For each corner, the directions from it along the edges that end there.
    pub(crate) corners: [Arc<[DVec3]>; 3],
    /// Whether spheres touch only the side from which the corners run counterclockwise.
    pub(crate) one_sided: bool,
}

/// The part of a triangle that is nearest to a sphere.
#[derive(Clone, Copy, Debug)]
enum Part {
    Face,
    Edge(usize),
    Corner(usize),
}

/// The cosine of an angle that rounding may leave between a direction away from an edge and a plane.
const INSIDE: f64 = 1e-12;

/// The geometry of the contact between a sphere and its partner (a wall or another sphere).
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactGeometry {
    /// Unit vector from the centre of the sphere towards its partner.
    pub(crate) normal: DVec3,
    /// Acceleration of the sphere towards its partner. Gravity contributes to it. If the sphere slides along a round
    /// surface from outside, the curvature of this surface makes it smaller. The curvature of a hollow wall is not
    /// included: see `curvature`. The acceleration is negative if the sphere would leave its partner.
    pub(crate) pressing: f64,
    /// The velocity of the sphere along a hollow wall, perpendicular to the axis if the wall is a cylinder. It is 0
    /// at all other walls.
    pub(crate) sliding: DVec3,
    /// Curvature of the path of the centre of a sphere that slides along a hollow wall. It is 0 at all other walls.
    pub(crate) curvature: f64,
}

impl ContactGeometry {
    fn flat(normal: DVec3, pressing: f64) -> Self {
        Self {
            normal,
            pressing,
            sliding: DVec3::ZERO,
            curvature: 0.0,
        }
    }
}

/// Returns the part of a vector that is perpendicular to an axis, or the vector itself for `None`.
fn beside(x: DVec3, axis: Option<DVec3>) -> DVec3 {
    axis.map_or(x, |axis| x - axis * axis.dot(x))
}

impl Surface {
    pub(crate) fn of_wall(wall: &Wall) -> Self {
        match wall.solid() {
            Solid::HalfSpace(HalfSpace { normal, offset, .. }) => {
                let normal = vector(normal);
                Self::Plane {
                    normal: normal.normalize(),
                    offset: f64::from(offset) / normal.length(),
                }
            }
            Solid::Round(Round {
                point,
                axis,
                radius,
                inside,
                ..
            }) => Self::Round {
                point: vector(point),
                axis: axis.map(|axis| vector(axis).normalize()),
                radius: radius.into(),
                inside,
            },
        }
    }

    pub(crate) fn triangle(corners: [[f32; 3]; 3], around: Surroundings) -> Self {
        let corners = corners.map(vector);
        let [a, b, c] = corners;
        let normal = (b - a).cross(c - a).normalize();
        Self::Triangle {
            corners,
            normal,
            around,
        }
    }

    /// Returns whether a sphere at a place can touch this surface: false for a triangle if the sphere is behind it, or
    /// nearer to an adjoining one.
    pub(crate) fn faces(&self, place: DVec3) -> bool {
        let Self::Triangle {
            corners,
            normal,
            around,
        } = self
        else {
            return true;
        };
        let (point, part) = nearest(corners, *normal, place);
        let away = place - point;
        if around.one_sided && away.dot(*normal) <= 0.0 {
            return false;
        }
        let nearer = match part {
            Part::Face => return true,
            Part::Edge(k) => &around.edges[k],
            Part::Corner(k) => &around.corners[k],
        };
        let most = INSIDE * away.length();
        nearer.iter().all(|nearer| nearer.dot(away) <= most)
    }

    /// Returns the first time from `from` to `until` at which a moving sphere meets the wall
    /// surface `self`, or `None` if the sphere does not meet it.
    pub(crate) fn meeting(
        &self,
        motion: &Motion,
        radius: f64,
        [from, until]: [f64; 2],
    ) -> Option<f64> {
        let motion = motion.from(from);
        let end = until - from;
        let time = match *self {
            Self::Plane { normal, offset } => {
                let force = normal.dot(motion.acceleration);
                let polynomial = [
                    normal.dot(motion.place) - offset - radius,
                    normal.dot(motion.velocity),
                    // If gravity is parallel to the wall, rounding may leave a tiny acceleration
                    // into the wall, which must not count.
                    if force.abs() <= RESTING * motion.acceleration.length() {
                        0.0
                    } else {
                        0.5 * force
                    },
                    0.0,
                    0.0,
                ];
                let tolerance = RESTING * motion.velocity.length();
                first_descent(&polynomial, end, tolerance, |_| true)
            }
            Self::Round {
                point,
                axis,
                radius: round,
                inside,
            } => {
                let reach = if inside {
                    (round - radius).max(0.0)
                } else {
                    round + radius
                };
                let motion = Motion {
                    place: motion.place - point,
                    ..motion
                };
                let across = motion.map(|x| beside(x, axis));
                let speed = motion.velocity.length();
                round_meeting(&across, speed, reach, inside, end, |_| true)
            }
            // A point passes through a triangle.
            Self::Triangle { .. } if radius == 0.0 => None,
            Self::Triangle {
                ref corners,
                normal,
                ..
            } => {
                let faces = |time| self.faces(motion.place_at(time));
                let is_approached = |time| faces(time) && self.is_approached(&motion, time);
                triangle_meeting(corners, normal, &motion, radius, end, is_approached, faces)
            }
        };
        time.map(|time| from + time)
    }

    /// Returns the distance between the surface and a sphere, negative where they overlap.
    pub(crate) fn gap(&self, center: DVec3, radius: f64) -> f64 {
        match *self {
            Self::Plane { normal, offset } => normal.dot(center) - offset - radius,
            Self::Round {
                point,
                axis,
                radius: round,
                inside,
            } => {
                let away = beside(center - point, axis).length();
                if inside {
                    round - radius - away
                } else {
                    away - round - radius
                }
            }
            Self::Triangle {
                ref corners,
                normal,
                ..
            } => (center - nearest(corners, normal, center).0).length() - radius,
        }
    }

    /// Returns whether a sphere that touches the wall surface `self` at the given time approaches
    /// it, or is pressed against it while it moves along it.
    fn is_approached(&self, motion: &Motion, time: f64) -> bool {
        let ContactGeometry {
            normal, pressing, ..
        } = self.touch(motion, time);
        let velocity = motion.velocity_at(time);
        let approach = normal.dot(velocity);
        let tolerance = RESTING * velocity.length();
        approach > tolerance || (approach >= -tolerance && pressing > 0.0)
    }

    /// Returns the geometry of the contact between a moving sphere and the wall surface `self`. The
    /// two must touch each other at the given time.
    pub(crate) fn touch(&self, motion: &Motion, time: f64) -> ContactGeometry {
        let motion = motion.from(time);
        match *self {
            Self::Plane { normal, .. } => {
                ContactGeometry::flat(-normal, -normal.dot(motion.acceleration))
            }
            Self::Round {
                point,
                axis,
                inside,
                ..
            } => {
                let motion = Motion {
                    place: motion.place - point,
                    ..motion
                };
                let any = axis.map_or(DVec3::X, DVec3::any_orthonormal_vector);
                // Far along the axis of a cylinder, rounding errors leave a part of the component along the axis.
                // The second call removes this part.
                let across = motion.map(|x| beside(beside(x, axis), axis));
                round_touch(&across, inside, any)
            }
            Self::Triangle {
                ref corners,
                normal,
                ..
            } => {
                let (point, _) = nearest(corners, normal, motion.place);
                let motion = Motion {
                    place: motion.place - point,
                    ..motion
                };
                // The curvature of a wall presses a sphere against the wall only where the wall curves
                // towards the sphere. A face of a triangle is flat, and its edges and corners curve away from
                // a sphere that touches them. So only gravity can press a sphere against a triangle.
                let ContactGeometry { normal, .. } = round_touch(&motion, false, normal);
                ContactGeometry::flat(normal, normal.dot(motion.acceleration))
            }
        }
    }
}

/// Returns the first time from 0 to `end` at which a moving point is at the distance `reach` from
/// the origin. If `inside` is true, the distance must rise to `reach`, and otherwise it must fall
/// to it.
///
/// `motion` may leave out components of the real motion, such as the component along the axis of a
/// cylinder. `speed` is the real speed. The rounding error of each component is proportional to it.
pub(crate) fn round_meeting(
    motion: &Motion,
    speed: f64,
    reach: f64,
    inside: bool,
    end: f64,
    accept: impl FnMut(f64) -> bool,
) -> Option<f64> {
    let &Motion {
        place: p,
        velocity: v,
        acceleration: a,
    } = motion;
    let distance = p.length();
    let gap = if inside {
        reach - distance
    } else {
        distance - reach
    };
    let moved = (v.length() + 0.5 * a.length() * end) * end;
    // Most edges and corners of triangles are too far away. The number 1e-9 is far above rounding errors.
    if gap > moved + 1e-9 * (moved + distance) {
        return None;
    }
    let mut polynomial: Polynomial = [
        p.length_squared() - reach * reach,
        2.0 * p.dot(v),
        v.length_squared() + p.dot(a),
        v.dot(a),
        0.25 * a.length_squared(),
    ];
    if inside {
        polynomial = polynomial.map(|c| -c);
    }
    let tolerance = 2.0 * RESTING * distance * speed;
    first_descent(&polynomial, end, tolerance, accept)
}

/// Returns the contact of a sphere with a round surface. `motion` is the motion of the sphere's
/// centre relative to the centre or axis of the surface. `any` is used as the outward direction if
/// the two centres coincide, or if the sphere's centre is on the axis.
pub(crate) fn round_touch(motion: &Motion, inside: bool, any: DVec3) -> ContactGeometry {
    let &Motion {
        place: p,
        velocity: v,
        acceleration: a,
    } = motion;
    let distance = p.length();
    let outwards = p.try_normalize().unwrap_or(any);
    let along = v - outwards * outwards.dot(v);
    let curvature = if distance > 0.0 {
        distance.recip()
    } else {
        0.0
    };
    let falling = outwards.dot(a);
    if inside {
        ContactGeometry {
            normal: outwards,
            pressing: falling,
            sliding: along,
            curvature,
        }
    } else {
        ContactGeometry::flat(-outwards, -(falling + along.length_squared() * curvature))
    }
}

/// Returns the time at which a sphere first meets the face, an edge or a corner of a triangle, or
/// `None` if it meets none of them until the time `end`.
///
/// A sphere that overlaps a triangle and moves away from it may come closer to an edge or a corner
/// that is not the nearest part of the triangle. This is no meeting. So a time at which the sphere
/// meets an edge or a corner counts only if `is_approached` says that the sphere then approaches
/// the triangle as a whole.
fn triangle_meeting(
    corners: &[DVec3; 3],
    normal: DVec3,
    motion: &Motion,
    radius: f64,
    end: f64,
    is_approached: impl Fn(f64) -> bool,
    faces: impl Fn(f64) -> bool,
) -> Option<f64> {
    // For each face, edge and corner, the search ends at the earliest meeting found so far.
    let mut first = None;
    let speed = motion.velocity.length();
    let mut seek = |motion: &Motion, accept: &dyn Fn(f64) -> bool| {
        let end = first.unwrap_or(end);
        first = round_meeting(motion, speed, radius, false, end, accept).or(first);
    };
    let from_face = Motion {
        place: motion.place - corners[0],
        ..*motion
    };
    seek(&from_face.map(|x| normal * normal.dot(x)), &|time| {
        is_above(corners, normal, motion.place_at(time)) && faces(time)
    });
    for k in 0..3 {
        let [from, to] = [corners[k], corners[(k + 1) % 3]];
        let away = Motion {
            place: motion.place - from,
            ..*motion
        };
        seek(&away, &is_approached);
        let (axis, length) = (to - from).normalize_and_length();
        seek(&away.map(|x| beside(x, Some(axis))), &|time| {
            (0.0..=length).contains(&axis.dot(away.place_at(time))) && is_approached(time)
        });
    }
    first
}

/// Returns whether the point of the plane of a triangle that is nearest to `place` lies in the triangle.
fn is_above(corners: &[DVec3; 3], normal: DVec3, place: DVec3) -> bool {
    (0..3).all(|k| {
        let [from, to] = [corners[k], corners[(k + 1) % 3]];
        (to - from).cross(place - from).dot(normal) >= 0.0
    })
}

/// Returns the point of a triangle that is nearest to a place, and the part of the triangle that has it.
fn nearest(corners: &[DVec3; 3], normal: DVec3, place: DVec3) -> (DVec3, Part) {
    if is_above(corners, normal, place) {
        let point = place - normal * normal.dot(place - corners[0]);
        return (point, Part::Face);
    }
    let on_edges = (0..3).map(|k| {
        let [from, to] = [corners[k], corners[(k + 1) % 3]];
        let edge = to - from;
        let along = edge.dot(place - from) / edge.length_squared();
        let part = if along <= 0.0 {
            Part::Corner(k)
        } else if along >= 1.0 {
            Part::Corner((k + 1) % 3)
        } else {
            Part::Edge(k)
        };
        (from + edge * along.clamp(0.0, 1.0), part)
    });
    let distance = |(point, _): &(DVec3, Part)| (place - point).length_squared();
    let nearest = on_edges.min_by(|one, other| distance(one).total_cmp(&distance(other)));
    nearest.unwrap_or((corners[0], Part::Corner(0)))
}

const MESHES: &str = "what adjoins triangles";

/// The corners of a triangle, and a key. Triangles with different keys do not adjoin each other.
type Keyed<K> = ([[f32; 3]; 3], K);

/// A triangle, and the velocity and the groups of its mesh.
type OfMesh = Keyed<([u32; 3], u32)>;

/// Returns the triangles of all meshes. Their keys are the velocities and the groups of their meshes.
pub(crate) fn adjoined(walls: &Walls) -> Result<Vec<OfMesh>, Error> {
    let triangles = walls.meshes().iter().flat_map(|mesh| {
        let key = (mesh.velocity().map(f32::to_bits), mesh.groups());
        let corners = mesh.triangles().iter();
        corners.map(move |corners| (corners.map(|k| mesh.vertices()[k as usize]), key))
    });
    collect(triangles, MESHES)
}

/// Finds what adjoins each triangle: the triangles that share an edge or a corner with it. Corners are the same if they
/// are at the same place. `key` tells apart triangles that move or are met in different ways.
pub(crate) fn surroundings<K: Copy + Eq + Hash>(
    triangles: &[Keyed<K>],
    one_sided: bool,
) -> Result<Vec<Surroundings>, Error> {
    let bits = |place: [f32; 3]| place.map(|x| if x == 0.0 { 0 } else { x.to_bits() });
    let mut at_edges: HashMap<_, Vec<DVec3>> = HashMap::new();
    let mut at_corners: HashMap<_, Vec<DVec3>> = HashMap::new();
    let edge_key = |corners: &[[f32; 3]; 3], k: usize, key: K| {
        let ends = [bits(corners[k]), bits(corners[(k + 1) % 3])];
        ([ends[0].min(ends[1]), ends[0].max(ends[1])], key)
    };
    for &(corners, key) in triangles {
        let places = corners.map(vector);
        let room = at_edges
            .try_reserve(3)
            .and_then(|()| at_corners.try_reserve(3));
        room.map_err(|_| out_of_memory::<Keyed<K>>(triangles.len(), MESHES))?;
        for k in 0..3 {
            let [from, to, third] = [0, 1, 2].map(|n| places[(k + n) % 3]);
            let along = (to - from).normalize_or_zero();
            let into = (third - from) - along * along.dot(third - from);
            let edge = at_edges.entry(edge_key(&corners, k, key)).or_default();
            push(edge, into.normalize_or_zero(), MESHES)?;
            let corner = at_corners.entry((bits(corners[k]), key)).or_default();
            extend(corner, [along, (third - from).normalize_or_zero()], MESHES)?;
        }
    }
    let (at_edges, at_corners) = (shared(at_edges)?, shared(at_corners)?);
    let all = triangles.iter().map(|&(corners, key)| Surroundings {
        edges: [0, 1, 2].map(|k| at_edges[&edge_key(&corners, k, key)].clone()),
        corners: corners.map(|corner| at_corners[&(bits(corner), key)].clone()),
        one_sided,
    });
    collect(all, MESHES)
}

fn shared<K: Eq + Hash>(lists: HashMap<K, Vec<DVec3>>) -> Result<HashMap<K, Arc<[DVec3]>>, Error> {
    let mut all = HashMap::new();
    let room = all.try_reserve(lists.len());
    room.map_err(|_| out_of_memory::<(K, Arc<[DVec3]>)>(lists.len(), MESHES))?;
    all.extend(lists.into_iter().map(|(key, list)| (key, list.into())));
    Ok(all)
}

//! The data of a candidate (two spheres, or a sphere and a wall, that may touch) from which the time of its impact
//! and the change of the velocities are computed.

use glam::DVec3;

use super::HardSphere;
use super::candidate::Candidate;
use super::path::Piece;
use super::predict::{RESTING, meeting};
use super::report::Partner;
use super::setting::Setting;
use super::surface::{ContactGeometry, Motion, Surface, round_meeting, round_touch};
use super::walls::MovingWall;

/// Two spheres that pass through each other count as separate once the gap between them exceeds
/// this number times the sum of their radii.
pub(crate) const APART: f64 = 1e-9;

/// Bodies that approach slowly may overlap by this fraction of the sum of their radii, until the end of the substep.
pub(crate) const OVERLAP: f64 = 1e-4;

/// Two spheres, or a sphere and a wall.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ContactPair<'a> {
    Spheres {
        /// Displacement of the image of the second sphere.
        shift: DVec3,
        /// Sum of the radii.
        reach: f64,
        /// Acceleration of a sphere that falls, of which there may be one or two.
        gravity: DVec3,
    },
    Wall {
        wall: &'a MovingWall,
        /// Displacement of the image of the sphere, minus the displacement of the moving wall at the
        /// start of the substep from where its shape is.
        shift: DVec3,
        radius: f64,
        gravity: DVec3,
    },
}

/// Data of an impact of a sphere and its partner, from which the change of
/// their velocities is computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blow {
    pub(crate) touch: ContactGeometry,
    /// Speed of approach along the normal.
    pub(crate) approach: f64,
    /// Distance between the centres of two spheres, or 0 at a wall.
    pub(crate) distance: f64,
}

impl<'a> ContactPair<'a> {
    /// Returns the contact of two spheres, of which the second one is displaced by `shift`.
    #[inline]
    pub(crate) fn between([a, b]: [&HardSphere; 2], shift: DVec3, setting: &Setting<'_>) -> Self {
        Self::Spheres {
            shift,
            reach: a.radius + b.radius,
            gravity: setting.options.gravity,
        }
    }

    pub(crate) fn new(candidate: &Candidate, setting: &Setting<'a>) -> Self {
        let shift = setting.lattice.shift(candidate.image);
        let sphere = &setting.spheres[candidate.sphere as usize];
        match candidate.partner {
            Partner::Sphere(other) => {
                let other = &setting.spheres[other as usize];
                Self::between([sphere, other], shift, setting)
            }
            Partner::Wall(number) => {
                let wall = setting.walls.get(number);
                Self::Wall {
                    wall,
                    shift: shift - wall.motion.displacement(setting.time),
                    radius: sphere.radius,
                    gravity: setting.options.gravity,
                }
            }
        }
    }

    /// Returns the motion of the second sphere relative to the first, or of the sphere relative to the wall.
    fn motion(&self, a: &Piece, b: &Piece) -> Motion {
        match *self {
            Self::Spheres { shift, gravity, .. } => Motion {
                place: (b.center - a.center) + shift,
                velocity: b.velocity - a.velocity,
                acceleration: match (a.falls, b.falls) {
                    (false, true) => gravity,
                    (true, false) => -gravity,
                    _ => DVec3::ZERO,
                },
            },
            Self::Wall {
                wall,
                shift,
                gravity,
                ..
            } => Motion {
                place: a.center + shift,
                velocity: a.velocity - wall.motion.velocity,
                acceleration: if a.falls { gravity } else { DVec3::ZERO },
            },
        }
    }

    /// Returns the first time in `range` at which the sphere on the piece `a` of its path meets the
    /// sphere on `b`, or the wall. At a wall, `b` is ignored.
    #[inline]
    pub(crate) fn meeting(&self, a: &Piece, b: &Piece, range: [f64; 2]) -> Option<f64> {
        match *self {
            Self::Spheres { shift, reach, .. } if a.falls == b.falls => {
                meeting(a, b, shift, reach, range)
            }
            Self::Spheres { reach, .. } => {
                let motion = self.motion(a, b).from(range[0]);
                let (speed, end) = (motion.velocity.length(), range[1] - range[0]);
                let time = round_meeting(&motion, speed, reach, false, end, |_| true)?;
                Some(range[0] + time)
            }
            Self::Wall { wall, radius, .. } => {
                wall.surface.meeting(&self.motion(a, b), radius, range)
            }
        }
    }

    /// Returns the distance at a time between the surfaces of the two spheres, or of the sphere and
    /// the wall. It is negative if they overlap.
    pub(crate) fn gap(&self, a: &Piece, b: &Piece, time: f64) -> f64 {
        let place = self.motion(a, b).place_at(time);
        match *self {
            Self::Spheres { reach, .. } => place.length() - reach,
            Self::Wall { wall, radius, .. } => wall.surface.gap(place, radius),
        }
    }

    /// Returns whether the two touch each other where they are nearest, and no adjoining triangle is nearer to the sphere.
    pub(crate) fn faces(&self, a: &Piece, b: &Piece, time: f64) -> bool {
        match *self {
            Self::Spheres { .. } => true,
            Self::Wall { wall, .. } => wall.surface.faces(self.motion(a, b).place_at(time)),
        }
    }

    /// Returns whether the partner is a plane.
    pub(crate) fn is_flat(&self) -> bool {
        matches!(self, Self::Wall { wall, .. } if matches!(wall.surface, Surface::Plane { .. }))
    }

    /// Returns the sum of the radii of two spheres, or the radius of a sphere at a wall.
    pub(crate) fn size(&self) -> f64 {
        match *self {
            Self::Spheres { reach, .. } => reach,
            Self::Wall { radius, .. } => radius,
        }
    }

    /// Returns whether the two spheres, or the sphere and the wall, approach each other at a time. If
    /// their approach speed may be a rounding error, they do not.
    pub(crate) fn is_approaching(&self, a: &Piece, b: &Piece, time: f64) -> bool {
        let other = match *self {
            Self::Spheres { .. } => b.velocity,
            Self::Wall { wall, .. } => wall.motion.velocity,
        };
        let speeds = a.velocity.length() + other.length();
        self.blow(a, b, time).approach > RESTING * speeds
    }

    pub(crate) fn blow(&self, a: &Piece, b: &Piece, time: f64) -> Blow {
        let motion = self.motion(a, b);
        let velocity = motion.velocity_at(time);
        match *self {
            Self::Spheres { .. } => {
                let motion = motion.from(time);
                // Spheres with coincident centres have no normal.
                let touch = round_touch(&motion, false, DVec3::X);
                Blow {
                    touch: ContactGeometry {
                        normal: -touch.normal,
                        ..touch
                    },
                    approach: velocity.dot(touch.normal),
                    distance: motion.place.length(),
                }
            }
            Self::Wall { wall, .. } => {
                let touch = wall.surface.touch(&motion, time);
                Blow {
                    touch,
                    approach: velocity.dot(touch.normal),
                    distance: 0.0,
                }
            }
        }
    }
}

impl Setting<'_> {
    /// Returns whether the two of a candidate touch or overlap at the start of the substep.
    pub(crate) fn touches(&self, candidate: &Candidate) -> bool {
        let [a, b] = candidate.ends().map(|sphere| self.straight(sphere));
        let contact = ContactPair::new(candidate, self);
        contact.gap(&a, &b, 0.0) <= APART * contact.size()
    }

    /// Returns the time at which the two spheres of a candidate, or its sphere and its wall, meet on straight paths,
    /// if they do.
    pub(crate) fn hit(&self, candidate: &Candidate) -> Option<f64> {
        let ends = candidate.ends();
        let [a, b] = ends.map(|sphere| self.straight(sphere));
        ContactPair::new(candidate, self).meeting(&a, &b, [0.0, self.duration])
    }

    /// Returns for how long a pair that has had many slow impacts has no more: the contact time or, if that is more,
    /// the time in which a slow approach makes the two overlap by a small fraction of their size.
    pub(crate) fn pause(&self, contact: &ContactPair<'_>) -> f64 {
        let overlap = OVERLAP * contact.size();
        (overlap / self.slow).max(self.options.contact_time)
    }
}

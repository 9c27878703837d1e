//! The state at the start of a substep, and its candidates.

use std::ops::Deref;

use glam::DVec3;

use super::candidate::Candidate;
use super::candidates::Candidates;
use super::options::slow_speed;
use super::path::Piece;
use super::report::{Partner, Removal};
use super::start::Start;
use super::surface::ContactGeometry;
use super::{HardSphere, SimulationOptions};
use crate::lanes::LANES;
use crate::lattice::Lattice;

/// The acceleration of a sphere that slides along a hollow wall, towards the centre of the wall, may be this fraction
/// of gravity while the sphere rests.
const CURVED: f64 = 0.01;

/// The state at the start of a substep, and its candidates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting<'a> {
    start: Start<'a>,
    /// How far gravity displaces a sphere during the substep.
    pub(super) falls: f64,
    /// Speed of approach below which an impact is slow: see `rest.rs`. 0 if no sphere can rest.
    pub(crate) slow: f64,
    /// Whether there is gravity.
    any_falls: bool,
    pub(crate) candidates: &'a Candidates,
}

impl<'a> Deref for Setting<'a> {
    type Target = Start<'a>;

    #[inline(always)]
    fn deref(&self) -> &Start<'a> {
        &self.start
    }
}

impl<'a> Start<'a> {
    pub(crate) fn setting(&self, candidates: &'a Candidates) -> Setting<'a> {
        Setting {
            start: *self,
            falls: 0.5 * self.options.gravity.length() * (self.duration * self.duration),
            slow: slow_speed(self.options),
            any_falls: self.options.gravity != DVec3::ZERO,
            candidates,
        }
    }
}

impl Setting<'_> {
    /// Returns the time of the last impact of a sphere before this substep.
    pub(crate) fn last(&self, sphere: u32) -> f64 {
        let last = self.last.get(sphere as usize);
        last.copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// Returns the caller's index of a sphere.
    pub(crate) fn id(&self, sphere: u32) -> u32 {
        self.ids[sphere as usize]
    }

    /// Returns whether the two of a candidate pass through each other, since before this substep.
    pub(crate) fn is_passing(&self, candidate: &Candidate) -> bool {
        !self.passing.is_empty() && self.passing.binary_search(&self.key(candidate)).is_ok()
    }

    /// Returns how the caller names a partner: by the caller's index of a sphere, or by the number
    /// of a wall.
    pub(crate) fn known(&self, partner: Partner) -> Partner {
        match partner {
            Partner::Sphere(other) => Partner::Sphere(self.id(other)),
            Partner::Wall(_) => partner,
        }
    }

    /// Returns the sort key of a candidate: its sphere, its partner and its
    /// periodic image. Simultaneous impacts are processed in the order of their keys.
    pub(crate) fn key(&self, candidate: &Candidate) -> (u32, Partner, [i32; 3]) {
        let partner = self.known(candidate.partner);
        (self.id(candidate.sphere), partner, candidate.image)
    }

    /// Returns the restitution of a sphere and its partner.
    pub(crate) fn restitution(&self, candidate: &Candidate) -> f64 {
        let options = self.options;
        let at_wall = |wall: u32| {
            let own = self.walls.get(wall).restitution;
            own.unwrap_or(options.wall_restitution)
        };
        if options.restitutions.is_empty() {
            return match candidate.partner {
                Partner::Sphere(_) => options.restitution,
                Partner::Wall(wall) => at_wall(wall),
            };
        }
        let of = |sphere: u32| {
            let own = options.restitutions.get(self.id(sphere) as usize);
            own.copied().unwrap_or(options.restitution)
        };
        let other = match candidate.partner {
            Partner::Sphere(other) => of(other),
            Partner::Wall(wall) => at_wall(wall),
        };
        options.combine.of([of(candidate.sphere), other])
    }

    /// Returns whether a contact lasts: gravity pressed the two together in the last substep. Elastic ones do not last.
    pub(crate) fn lasts(&self, candidate: &Candidate) -> bool {
        let inelastic = self.restitution(candidate) < 1.0;
        inelastic
            && self
                .rest
                .is_some_and(|rest| rest.of(&self.key(candidate)) > Some(0.0))
    }

    /// Returns whether gravity pressed a sphere against others in the last substep.
    pub(crate) fn bears(&self, sphere: u32) -> bool {
        self.rest.is_some_and(|rest| rest.bears(self.id(sphere)))
    }

    /// Returns whether a sphere sleeps.
    #[inline]
    pub(crate) fn sleeps(&self, sphere: u32) -> bool {
        self.rest.is_some_and(|rest| rest.sleeps(self.id(sphere)))
    }

    /// Returns whether a sphere can rest on its partner: it does not slide fast along a hollow wall.
    pub(crate) fn is_bearing(&self, touch: &ContactGeometry) -> bool {
        let curved = touch.sliding.length_squared() * touch.curvature;
        curved <= CURVED * self.options.gravity.length()
    }

    /// Returns the image of a candidate as the caller sees it. The caller sees the spheres wrapped
    /// into the cell of a periodic domain, while the simulation leaves some of them a little
    /// outside.
    pub(crate) fn image_in_cell(&self, candidate: &Candidate) -> [i32; 3] {
        if self.lattice.is_open() {
            return candidate.image;
        }
        let cell = |sphere: u32| self.lattice.cell(self.spheres[sphere as usize].place());
        let own = cell(candidate.sphere);
        match candidate.partner {
            Partner::Sphere(other) => {
                let image = Lattice::sum(candidate.image, cell(other), 1);
                Lattice::sum(image, own, -1)
            }
            Partner::Wall(_) => {
                let own = self.walls.told_apart(candidate.partner, own);
                Lattice::sum(candidate.image, own, 1)
            }
        }
    }

    /// Returns the centre of the sphere of a candidate at the given time, as the caller sees it: the sphere is wrapped
    /// into the cell of a periodic domain. At a wall, it is then displaced by `image`, the image of the impact.
    pub(crate) fn center_in_cell(
        &self,
        candidate: &Candidate,
        image: [i32; 3],
        piece: &Piece,
        time: f64,
    ) -> DVec3 {
        let own = &self.spheres[candidate.sphere as usize];
        let center = piece.place(time) + self.fall(piece, time);
        if self.lattice.is_open() {
            return center;
        }
        let image = match candidate.partner {
            Partner::Sphere(_) => [0; 3],
            Partner::Wall(_) => image,
        };
        let cell = self.lattice.cell(own.place());
        center + self.lattice.shift(Lattice::sum(image, cell, -1))
    }

    /// Returns the velocities, at the given time, of the two objects of a candidate: a sphere, and
    /// another sphere or a wall.
    pub(crate) fn velocities(
        &self,
        candidate: &Candidate,
        pieces: [&Piece; 2],
        time: f64,
    ) -> [DVec3; 2] {
        let velocity = |piece: &Piece| piece.velocity_at(time, self.options.gravity);
        let other = match candidate.partner {
            Partner::Sphere(_) => velocity(pieces[1]),
            Partner::Wall(wall) => self.walls.get(wall).motion.velocity,
        };
        [velocity(pieces[0]), other]
    }

    /// Returns how far gravity displaces a sphere on a piece of its path in a time.
    pub(crate) fn fall(&self, piece: &Piece, time: f64) -> DVec3 {
        fall(self.options, piece, time)
    }

    /// Returns whether gravity acts on a sphere at the start of the substep.
    #[inline]
    pub(crate) fn falls(&self, sphere: u32) -> bool {
        let apart = self.mixed && {
            let rests = self.resting.get(sphere as usize).copied();
            rests.unwrap_or(false) || self.spheres[sphere as usize].is_fixed()
        };
        !apart && self.any_falls
    }

    /// Returns the motion of a sphere that meets nothing.
    #[inline]
    pub(crate) fn straight(&self, sphere: u32) -> Piece {
        Piece::straight(&self.spheres[sphere as usize], self.falls(sphere))
    }

    /// Returns a 4-bit mask: on which of four spheres gravity acts at the start of the substep if it does not act on
    /// another one, or the opposite. The float32 tests of pairs assume that it accelerates all spheres alike, so
    /// these pairs are tested further.
    #[inline]
    pub(crate) fn unlike(&self, falls: bool, others: [u32; LANES]) -> u32 {
        if !self.mixed {
            let alike = falls == self.any_falls;
            return if alike { 0 } else { (1 << LANES) - 1 };
        }
        let lanes = others.iter().zip(0..);
        lanes.fold(0, |mask, (&other, lane)| {
            mask | u32::from(self.falls(other) != falls) << lane
        })
    }

    /// Returns the time at which the path of a sphere ends: its removal, or the end of the substep.
    pub(crate) fn end(&self, removal: Option<&Removal>) -> f64 {
        removal.map_or(self.duration, |removal| removal.time)
    }

    /// Returns an upper bound of the distance of a sphere from its origin (its centre at the search for
    /// candidates), for all points of its path up to the time `end`.
    pub(crate) fn distance_moved(&self, index: u32, path: &[Piece], end: f64) -> f64 {
        let sphere = &self.spheres[index as usize];
        let origin = self.candidates.origin(index);
        let mut farthest = (sphere.place() - origin).length_squared();
        let mut bulge = 0.0_f64;
        for (k, piece) in path.iter().enumerate() {
            let end = path.get(k + 1).map_or(end, |next| next.start);
            let place = piece.place(end) + self.fall(piece, end);
            farthest = farthest.max((place - origin).length_squared());
            // During a free fall of duration T, a sphere is at most gravity·T²/8 away from the
            // chord of its path. This is a quarter of gravity·T²/2, the displacement that `fall`
            // returns.
            bulge = bulge.max(self.fall(piece, end - piece.start).length() / 4.0);
        }
        farthest.sqrt() + bulge
    }

    /// Returns an upper bound of the distance of a path's first point from any other point of the
    /// path. The path ends at the time `end`.
    pub(crate) fn span_of(&self, sphere: &HardSphere, path: &[Piece], end: f64) -> f64 {
        let ends = (1..=path.len()).map(|k| path.get(k).map_or(end, |next| next.start));
        let places = path.iter().zip(ends).map(|(piece, end)| piece.place(end));
        let squares = places.map(|place| (place - sphere.place()).length_squared());
        // A path on which a sphere comes to rest or begins to fall is displaced there by at most `falls`.
        let falls = if self.slow > 0.0 {
            3.0 * self.falls
        } else {
            self.falls
        };
        (squares.fold(0.0, f64::max).sqrt() + falls) * (1.0 + 1e-9)
    }

    /// Returns whether a sphere certainly stays within its pad. In the substep, the sphere moves by at most
    /// `span`.
    #[inline]
    pub(crate) fn remains(&self, index: u32, span: f64) -> bool {
        let origin = self.candidates.origin(index);
        let away = (self.spheres[index as usize].place() - origin).length();
        (away + span) * (1.0 + 1e-9) <= self.candidates.pad(index)
    }
}

/// Returns the displacement by gravity of a sphere on a piece of its path.
pub(crate) fn fall(options: &SimulationOptions, piece: &Piece, time: f64) -> DVec3 {
    if piece.falls {
        options.gravity * (0.5 * time * time)
    } else {
        DVec3::ZERO
    }
}

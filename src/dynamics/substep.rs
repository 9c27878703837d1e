//! A substep: one search for candidates, and rounds of replays until the impacts are consistent.

use glam::DVec3;
use rayon::prelude::*;

use super::candidates::{Candidate, Candidates};
use super::contact::{Blow, Contact};
use super::islands::Islands;
use super::lattice::Lattice;
use super::merge::settle;
use super::pace::Load;
use super::path::Piece;
use super::report::Removal;
use super::rules::Rule;
use super::walls::MovingWalls;
use super::{HardSphere, Partner, SimulationOptions};
use crate::{Detector, Error};

/// The state at the start of a substep, which does not change until the substep is complete.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'a> {
    pub(crate) spheres: &'a [HardSphere],
    /// Whether each sphere has been removed.
    pub(crate) removed: &'a [bool],
    /// Time of the last impact of each sphere, relative to the start of the substep. Empty if there is no
    /// contact time.
    pub(crate) last: &'a [f64],
    pub(crate) options: &'a SimulationOptions,
    pub(crate) lattice: &'a Lattice,
    pub(crate) walls: &'a MovingWalls,
    pub(crate) rule: Rule<'a>,
    /// Time of the simulation at the start of the substep.
    pub(crate) time: f64,
    pub(crate) duration: f64,
}

/// The state at the start of a substep, and its candidates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting<'a> {
    pub(crate) spheres: &'a [HardSphere],
    last: &'a [f64],
    pub(crate) options: &'a SimulationOptions,
    pub(crate) lattice: &'a Lattice,
    pub(crate) walls: &'a MovingWalls,
    pub(crate) rule: Rule<'a>,
    pub(crate) time: f64,
    pub(crate) duration: f64,
    pub(crate) candidates: &'a Candidates,
}

impl<'a> Start<'a> {
    /// Returns the number of spheres that have not been removed.
    pub(crate) fn present(&self) -> usize {
        self.removed.iter().filter(|&&removed| !removed).count()
    }

    pub(crate) fn setting(&self, candidates: &'a Candidates) -> Setting<'a> {
        let &Self {
            spheres,
            removed: _,
            last,
            options,
            lattice,
            walls,
            rule,
            time,
            duration,
        } = self;
        Setting {
            spheres,
            last,
            options,
            lattice,
            walls,
            rule,
            time,
            duration,
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

    /// Returns the speed at which the two of an impact separate along the normal. `last` are the times of their
    /// last impacts.
    pub(crate) fn separation(&self, partner: Partner, blow: &Blow, last: f64, time: f64) -> f64 {
        let contact_time = self.options.contact_time;
        let restitution = match partner {
            _ if time - last < contact_time => 1.0,
            Partner::Sphere(_) => self.options.restitution,
            Partner::Wall(_) => self.options.wall_restitution,
        };
        // A sphere that is pressed against its partner leaves it for the contact time at least.
        let least = 0.5 * blow.pressing * contact_time;
        (restitution * blow.approach).max(least)
    }

    /// Returns the velocities of the sphere of a candidate and of its partner at a time.
    pub(crate) fn velocities(
        &self,
        candidate: &Candidate,
        pieces: [&Piece; 2],
        time: f64,
    ) -> [DVec3; 2] {
        let velocity = |sphere: u32, piece: &Piece| {
            let falls = !self.spheres[sphere as usize].is_fixed();
            piece.velocity + self.options.gravity * if falls { time } else { 0.0 }
        };
        let other = match candidate.partner {
            Partner::Sphere(other) => velocity(other, pieces[1]),
            Partner::Wall(wall) => self.walls.get(wall).velocity,
        };
        [velocity(candidate.sphere, pieces[0]), other]
    }

    /// Returns the displacement of spheres of finite mass by gravity.
    pub(crate) fn fall(&self, sphere: &HardSphere, time: f64) -> DVec3 {
        fall(self.options, sphere, time)
    }

    /// Returns the time at which the path of a sphere ends: its removal, or the end of the substep.
    pub(crate) fn end(&self, removal: Option<&Removal>) -> f64 {
        removal.map_or(self.duration, |removal| removal.time)
    }

    /// Returns a bound of the distance of a path, which ends at `end`, from its first point.
    pub(crate) fn distance_moved(&self, index: u32, path: &[Piece], end: f64) -> f64 {
        let sphere = &self.spheres[index as usize];
        let mut farthest = 0.0_f64;
        for (k, piece) in path.iter().enumerate() {
            let end = path.get(k + 1).map_or(end, |next| next.start);
            let ends = [piece.start, end].map(|time| {
                let place = piece.place(time) + self.fall(sphere, time);
                (place - sphere.center).length()
            });
            // A parabola is at most this far from its chord.
            let bulge = self.fall(sphere, end - piece.start).length() / 4.0;
            farthest = farthest.max(ends[0].max(ends[1]) + bulge);
        }
        farthest
    }

    /// Returns a bound of the distance that a sphere without impacts moves.
    pub(crate) fn straight_distance(&self, index: u32) -> f64 {
        let sphere = &self.spheres[index as usize];
        let fall = self.fall(sphere, self.duration).length();
        (sphere.velocity.length() * self.duration + fall) * (1.0 + 1e-9)
    }

    /// Returns the distance between the two spheres of a candidate at the start, less rounding, or −∞ for a
    /// candidate at a wall.
    pub(crate) fn gap(&self, candidate: &Candidate) -> f64 {
        let Some(other) = candidate.other() else {
            return f64::NEG_INFINITY;
        };
        let [a, b] = [candidate.sphere, other].map(|sphere| &self.spheres[sphere as usize]);
        let away = b.center - a.center + self.lattice.shift(candidate.image);
        away.length() * (1.0 - 1e-9) - (a.radius + b.radius)
    }

    /// Returns the spheres of a candidate, and the time, if they meet on straight paths. A sphere that meets a wall
    /// is returned twice.
    fn hits(&self, candidate: &Candidate) -> Option<([u32; 2], f64)> {
        let ends = [
            candidate.sphere,
            candidate.other().unwrap_or(candidate.sphere),
        ];
        let [a, b] = ends.map(|sphere| Piece::straight(&self.spheres[sphere as usize]));
        let range = [0.0, self.duration];
        Contact::new(candidate, self)
            .meeting(&a, &b, range)
            .map(|time| (ends, time))
    }
}

/// Returns the displacement of a sphere by gravity.
pub(crate) fn fall(options: &SimulationOptions, sphere: &HardSphere, time: f64) -> DVec3 {
    if sphere.is_fixed() {
        DVec3::ZERO
    } else {
        options.gravity * (0.5 * time * time)
    }
}

/// Working memory and result of a substep.
#[derive(Debug, Default)]
pub(crate) struct Substep {
    pub(crate) candidates: Candidates,
    pub(crate) islands: Islands,
}

impl Substep {
    /// Finds the candidates of a substep, and its impacts unless `accept` says that there are too many.
    /// Returns the number of rounds, or `None` without impacts.
    pub(crate) fn run(
        &mut self,
        detector: &mut Detector,
        start: &Start<'_>,
        accept: impl FnOnce(Load) -> bool,
    ) -> Result<Option<u64>, Error> {
        let Self {
            candidates,
            islands,
        } = self;
        let spheres = start.spheres;
        candidates.search(detector, start)?;
        let setting = start.setting(candidates);
        let list = candidates.list().par_iter();
        let hits: Vec<_> = list
            .filter_map(|candidate| setting.hits(candidate))
            .collect();
        let load = Load {
            spheres: start.present(),
            pairs: candidates.pairs(),
            // Shorter substeps would not have fewer meetings at their starts.
            hits: hits.iter().filter(|(_, time)| *time > 0.0).count(),
        };
        if !accept(load) {
            return Ok(None);
        }
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the detector allows 2³⁰ spheres"
        )]
        islands.reset(spheres.len() as u32);
        let hits: Vec<_> = hits.into_iter().map(|(ends, _)| ends).collect();
        settle(&hits, start, candidates, islands, detector).map(Some)
    }
}

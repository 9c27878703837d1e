//! A substep: one search for candidates, and rounds of replays until the impacts are consistent.

use rayon::prelude::*;

use super::candidates::{Candidate, Candidates};
use super::islands::Islands;
use super::lattice::Lattice;
use super::merge::settle;
use super::path::Piece;
use super::predict::meeting;
use super::{HardSphere, SimulationOptions};
use crate::{Detector, Error};

/// The state at the start of a substep, which does not change until the substep is complete.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'a> {
    pub(crate) spheres: &'a [HardSphere],
    /// Time of the last impact of each sphere, relative to the start of the substep. Empty if there is no
    /// contact time.
    pub(crate) last: &'a [f64],
    pub(crate) options: &'a SimulationOptions,
    pub(crate) lattice: &'a Lattice,
    pub(crate) duration: f64,
}

/// The state at the start of a substep, and its candidates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting<'a> {
    pub(crate) spheres: &'a [HardSphere],
    last: &'a [f64],
    pub(crate) options: &'a SimulationOptions,
    pub(crate) lattice: &'a Lattice,
    pub(crate) duration: f64,
    pub(crate) candidates: &'a Candidates,
}

impl<'a> Start<'a> {
    pub(crate) fn setting(&self, candidates: &'a Candidates) -> Setting<'a> {
        let &Self {
            spheres,
            last,
            options,
            lattice,
            duration,
        } = self;
        Setting {
            spheres,
            last,
            options,
            lattice,
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

    /// Returns the coefficient of restitution of an impact of two spheres whose last impacts were at `last`.
    pub(crate) fn restitution(&self, last: [f64; 2], time: f64) -> f64 {
        let since = time - last[0].max(last[1]);
        if since < self.options.contact_time {
            1.0
        } else {
            self.options.restitution
        }
    }

    /// Returns a bound of the distance of a path from its first point.
    pub(crate) fn distance_moved(&self, sphere: u32, path: &[Piece]) -> f64 {
        let from = self.spheres[sphere as usize].center;
        let moved = |piece: &Piece, time| (piece.place(time) - from).length_squared();
        let starts = path.iter().map(|piece| moved(piece, piece.start));
        let end = path.last().map_or(0.0, |piece| moved(piece, self.duration));
        starts.fold(end, f64::max).sqrt()
    }

    fn hits(&self, candidate: &Candidate) -> Option<[u32; 2]> {
        let other = candidate.other()?;
        let [a, b] = [candidate.sphere, other].map(|sphere| &self.spheres[sphere as usize]);
        let shift = self.lattice.shift(candidate.image);
        let pieces = [a, b].map(Piece::straight);
        let range = [0.0, self.duration];
        meeting(&pieces[0], &pieces[1], shift, a.radius + b.radius, range)?;
        Some([candidate.sphere, other])
    }
}

/// Working memory and result of a substep.
#[derive(Debug, Default)]
pub(crate) struct Substep {
    pub(crate) candidates: Candidates,
    pub(crate) islands: Islands,
}

/// How much work a substep is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) candidates: usize,
    /// Number of pairs that meet on straight paths.
    pub(crate) hits: usize,
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
        let &Start {
            spheres, lattice, ..
        } = start;
        candidates.search(
            detector,
            spheres,
            &start.options.groups,
            lattice,
            start.duration,
        )?;
        let setting = start.setting(candidates);
        let hits: Vec<_> = detector.threads().run(spheres.len(), || {
            let list = candidates.list().par_iter();
            Ok(list
                .filter_map(|candidate| setting.hits(candidate))
                .collect())
        })?;
        let load = Load {
            candidates: candidates.list().len(),
            hits: hits.len(),
        };
        if !accept(load) {
            return Ok(None);
        }
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the detector allows 2³⁰ spheres"
        )]
        islands.reset(spheres.len() as u32);
        settle(&hits, start, candidates, islands, detector).map(Some)
    }
}

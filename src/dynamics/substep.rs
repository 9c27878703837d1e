//! A substep: searches for candidates, unless those of an earlier search suffice, and replays
//! islands (groups of spheres that hit each other) until no two islands meet.

use std::slice::from_ref;

use glam::DVec3;
use rayon::prelude::*;

use super::candidates::{Candidate, Candidates, Near};
use super::contact::{Blow, ContactPair};
use super::flights::Four;
use super::islands::Islands;
use super::merge::settle;
use super::pace::Load;
use super::path::Piece;
use super::predict::meeting;
use super::replay::APART;
use super::report::Removal;
use super::rest::{CURVED, OVERLAP, TouchKey, slow_speed};
use super::rows::push;
use super::rules::{Encounter, ResponseRule};
use super::state::State;
use super::surface::ContactGeometry;
use super::walls::MovingWalls;
use super::{HardSphere, Partner, SimulationOptions};
use crate::lanes::{Bits, LANES};
use crate::lattice::Lattice;
use crate::{Detector, Error};

/// Upper limit of half the distance that a sphere in a hollow wall flies within a contact time, divided by the radius
/// of the path along which its centre slides. Beyond this limit, the sphere is turned as if it flew only so far. This
/// avoids overflow and hardly changes the angle.
const MOST_TURNED: f64 = 1e3;

/// Number of spheres that a thread tests at a time.
const SPHERES: usize = 1024;

/// The state at the start of a substep, which does not change until the substep is complete.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'a> {
    pub(crate) spheres: &'a [HardSphere],
    /// The caller's index of each sphere.
    pub(crate) ids: &'a [u32],
    /// Whether each sphere has been removed.
    pub(crate) removed: &'a [bool],
    /// Time of the last impact of each sphere, relative to the start of the substep. Empty if
    /// [`SimulationOptions::with_contact_time`] is 0.
    pub(crate) last: &'a [f64],
    pub(crate) options: &'a SimulationOptions,
    pub(crate) lattice: &'a Lattice,
    pub(crate) walls: &'a MovingWalls,
    pub(crate) rule: ResponseRule<'a>,
    /// Time of the simulation at the start of the substep.
    pub(crate) time: f64,
    pub(crate) duration: f64,
    /// Largest number of impacts of one sphere in the substep.
    pub(crate) most_impacts: u32,
    /// Whether each sphere rests at the start of the substep. Empty if no sphere can rest.
    pub(crate) resting: &'a [bool],
    /// The pairs that pass through each other since a rule has ignored their impact, sorted.
    pub(crate) passing: &'a [TouchKey],
    /// Whether gravity may accelerate only some of the spheres.
    pub(crate) mixed: bool,
}

impl<'a> Start<'a> {
    /// Returns the state at a time, for a substep without a duration in which no sphere rests.
    pub(crate) fn at(
        state: &'a State,
        options: &'a SimulationOptions,
        lattice: &'a Lattice,
        walls: &'a MovingWalls,
        rule: ResponseRule<'a>,
        time: f64,
    ) -> Self {
        Self {
            spheres: &state.spheres,
            ids: &state.ids,
            removed: &state.removed,
            last: &[],
            options,
            lattice,
            walls,
            rule,
            time,
            duration: 0.0,
            most_impacts: 0,
            resting: &[],
            passing: &[],
            mixed: false,
        }
    }
}

/// The state at the start of a substep, and its candidates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting<'a> {
    pub(crate) spheres: &'a [HardSphere],
    pub(crate) ids: &'a [u32],
    last: &'a [f64],
    pub(crate) options: &'a SimulationOptions,
    pub(crate) lattice: &'a Lattice,
    pub(crate) walls: &'a MovingWalls,
    pub(crate) rule: ResponseRule<'a>,
    pub(crate) time: f64,
    pub(crate) duration: f64,
    /// Largest number of impacts of one sphere in the substep.
    pub(crate) most_impacts: u32,
    /// How far gravity displaces a sphere during the substep.
    falls: f64,
    /// Speed of approach below which an impact is slow: see `rest.rs`. 0 if no sphere can rest.
    pub(crate) slow: f64,
    /// Whether each sphere rests at the start of the substep. Empty if no sphere can rest.
    resting: &'a [bool],
    passing: &'a [TouchKey],
    /// Whether gravity may accelerate only some of the spheres.
    pub(crate) mixed: bool,
    /// Whether there is gravity.
    any_falls: bool,
    pub(crate) candidates: &'a Candidates,
}

impl<'a> Start<'a> {
    /// Returns the number of spheres that have not been removed.
    pub(crate) fn present(&self) -> usize {
        self.removed.iter().filter(|&&removed| !removed).count()
    }

    /// Returns true if every two spheres can meet. This is so if there are no compound bodies, no
    /// collision groups, no removed spheres and no spheres of infinite mass.
    pub(crate) fn all_meet(&self) -> bool {
        self.options.bodies.is_empty()
            && self.options.groups.is_empty()
            && !self.removed.par_iter().any(|&removed| removed)
            && !self.spheres.par_iter().any(HardSphere::is_fixed)
    }

    pub(crate) fn setting(&self, candidates: &'a Candidates) -> Setting<'a> {
        let &Self {
            spheres,
            ids,
            removed: _,
            last,
            options,
            lattice,
            walls,
            rule,
            time,
            duration,
            most_impacts,
            resting,
            passing,
            mixed,
        } = self;
        Setting {
            spheres,
            ids,
            last,
            options,
            lattice,
            walls,
            rule,
            time,
            duration,
            most_impacts,
            falls: 0.5 * options.gravity.length() * (duration * duration),
            slow: slow_speed(options),
            resting,
            passing,
            mixed,
            any_falls: options.gravity != DVec3::ZERO,
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

    /// Returns whether the two of a candidate touch or overlap at the start of the substep.
    pub(crate) fn touches(&self, candidate: &Candidate) -> bool {
        let [a, b] = candidate.ends().map(|sphere| self.straight(sphere));
        let contact = ContactPair::new(candidate, self);
        contact.gap(&a, &b, 0.0) <= APART * contact.size()
    }

    /// Returns how the caller names a partner: by the caller's index of a sphere, or by the number
    /// of a wall.
    pub(crate) fn known(&self, partner: Partner) -> Partner {
        match partner {
            Partner::Sphere(other) => Partner::Sphere(self.id(other)),
            Partner::Wall(_) => partner,
        }
    }

    /// Returns the sort key of a candidate: its sphere, its partner (a sphere or a wall) and its
    /// periodic image. Simultaneous impacts are processed in the order of their keys.
    pub(crate) fn key(&self, candidate: &Candidate) -> (u32, Partner, [i32; 3]) {
        let partner = self.known(candidate.partner);
        (self.id(candidate.sphere), partner, candidate.image)
    }

    /// Returns the speed at which a sphere and its partner (a sphere or a wall) separate along the normal
    /// after an impact, and the change of the sphere's velocity along the surface of its partner. `last` is the time
    /// of the last earlier impact of either. Walls and spheres of infinite mass do not count for `last`. The impact is
    /// elastic if the time since `last` is less than the contact time.
    pub(crate) fn separation(
        &self,
        partner: Partner,
        blow: &Blow,
        last: f64,
        time: f64,
        is_plastic: bool,
    ) -> (f64, DVec3) {
        let contact_time = self.options.contact_time;
        let restitution = match partner {
            _ if is_plastic => 0.0,
            _ if self.slow == 0.0 && time - last < contact_time => 1.0,
            _ => self.restitution(partner),
        };
        let ContactGeometry {
            pressing,
            sliding,
            curvature,
            ..
        } = blow.touch;
        // Gravity may press a sphere back against the object that it has hit. A sphere that leaves with at least
        // the speed `least` hits the object again only after `contact_time`.
        let least = if self.slow > 0.0 && self.is_bearing(&blow.touch) {
            0.0
        } else {
            0.5 * pressing * contact_time
        };
        let speed = (restitution * blow.approach).max(least);
        let slide = sliding.length_squared();
        if slide == 0.0 {
            return (speed, DVec3::ZERO);
        }
        // A hollow wall turns a sphere that slides along it, but does not change its kinetic energy. The sphere
        // leaves with the speed `turned`, and its squared speed along the wall becomes
        // `slide + speed² - turned²`. Unless it is turned by a large angle, it hits the wall again after about
        // `contact_time` if `turned = least + bend * (slide + speed² - turned²)`. The code solves this equation.
        let squared = slide + speed * speed;
        let bend = (0.5 * curvature * contact_time).min(MOST_TURNED / squared.sqrt());
        let known = least + bend * squared;
        let turned = 2.0 * known / (1.0 + (1.0 + 4.0 * bend * known).max(0.0).sqrt());
        // If the sphere approaches no faster than `turned`, it slides along the wall, and the impact is elastic. If it
        // approaches faster, it leaves the wall at least with the speed `turned`.
        let speed = speed.max(blow.approach.min(turned));
        if turned <= speed {
            return (speed, DVec3::ZERO);
        }
        // However long the contact time is, the sphere keeps at least half of its speed along the wall.
        let lost = ((turned * turned - speed * speed) / slide).min(0.75);
        let change = -lost / (1.0 + (1.0 - lost).sqrt());
        ((speed * speed + lost * slide).sqrt(), sliding * change)
    }

    /// Returns the restitution of a sphere and its partner.
    pub(crate) fn restitution(&self, partner: Partner) -> f64 {
        match partner {
            Partner::Sphere(_) => self.options.restitution,
            Partner::Wall(_) => self.options.wall_restitution,
        }
    }

    /// Returns for how long a pair that has had many slow impacts has no more: the contact time or, if that is more,
    /// the time in which a slow approach makes the two overlap by a small fraction of their size.
    pub(crate) fn pause(&self, contact: &ContactPair<'_>) -> f64 {
        let overlap = OVERLAP * contact.size();
        (overlap / self.slow).max(self.options.contact_time)
    }

    /// Returns whether a sphere can rest on its partner: it does not slide fast along a hollow wall.
    pub(crate) fn is_bearing(&self, touch: &ContactGeometry) -> bool {
        let curved = touch.sliding.length_squared() * touch.curvature;
        curved <= CURVED * self.options.gravity.length()
    }

    /// Describes the meeting of a candidate to a rule.
    #[inline(always)]
    pub(crate) fn encounter(
        &self,
        candidate: &Candidate,
        pieces: [&Piece; 2],
        blow: &Blow,
        time: f64,
    ) -> Encounter {
        let image = self.image_in_cell(candidate);
        let own = &self.spheres[candidate.sphere as usize];
        let center = self.center_in_cell(candidate, image, pieces[0], time);
        let point = center + blow.touch.normal * own.radius;
        let other = candidate.other();
        Encounter {
            time: self.time + time,
            sphere: self.id(candidate.sphere),
            partner: self.known(candidate.partner),
            image,
            point: point.to_array(),
            normal: blow.touch.normal.to_array(),
            masses: [
                own.mass,
                other.map_or(f64::INFINITY, |other| self.spheres[other as usize].mass),
            ],
            velocities: self
                .velocities(candidate, pieces, time)
                .map(|velocity| velocity.to_array()),
            approach_speed: blow.approach,
        }
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
        let velocity = |piece: &Piece| {
            piece.velocity + self.options.gravity * if piece.falls { time } else { 0.0 }
        };
        let other = match candidate.partner {
            Partner::Sphere(_) => velocity(pieces[1]),
            Partner::Wall(wall) => self.walls.get(wall).velocity,
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

    /// Returns the time at which the two spheres of a candidate, or its sphere and its wall, meet on straight paths,
    /// if they do.
    pub(crate) fn hit(&self, candidate: &Candidate) -> Option<f64> {
        let ends = candidate.ends();
        let [a, b] = ends.map(|sphere| self.straight(sphere));
        ContactPair::new(candidate, self).meeting(&a, &b, [0.0, self.duration])
    }

    /// Returns whether a sphere without impacts certainly stays within its pad (an assumed bound on
    /// its displacement since the search for candidates).
    #[inline]
    fn stays(&self, index: u32, sphere: &HardSphere) -> bool {
        let away = sphere.place() - self.candidates.origin(index);
        let travel = sphere.motion() * self.duration;
        let farthest = away.length_squared().max((away + travel).length_squared());
        let pad = self.candidates.pad(index) * (1.0 - 1e-9) - 2.0 * self.falls;
        pad >= 0.0 && farthest <= pad * pad
    }

    /// Returns whether a sphere certainly stays within its pad (an assumed bound of its displacement since the
    /// search for candidates). In the substep, the sphere moves by at most `span`.
    #[inline]
    pub(crate) fn remains(&self, index: u32, span: f64) -> bool {
        let origin = self.candidates.origin(index);
        let away = (self.spheres[index as usize].place() - origin).length();
        (away + span) * (1.0 + 1e-9) <= self.candidates.pad(index)
    }

    /// Tests the straight path of a sphere: whether the sphere leaves its pad (the bound on its displacement), and
    /// which walls and which spheres of larger index it meets.
    fn test_straight(&self, index: u32, straight: &mut Straight) -> Result<(), Error> {
        let sphere = &self.spheres[index as usize];
        if !self.stays(index, sphere) {
            let piece = self.straight(index);
            let moved = self.distance_moved(index, from_ref(&piece), self.duration);
            // If the distance moved is NaN, the sphere counts as having left its pad (the bound on
            // its displacement). The search that then widens the pad reports the sphere as invalid.
            if moved.is_nan() || moved > self.candidates.pad(index) {
                push(&mut straight.leavers, (index, moved))?;
            }
        }
        let (flights, units) = self.candidates.flights();
        let probe = units.probe_of(&flights[index as usize], self.duration);
        for (others, count) in self.candidates.neighbors().groups_of_larger(index) {
            let mut may_meet = probe.may_meet(&Four::new(flights, others));
            if self.mixed {
                may_meet |= self.unlike(self.falls(index), others);
            }
            may_meet &= (1 << count) - 1;
            for lane in Bits(may_meet) {
                let near = Near::plain(others[lane]);
                if let Some(time) = self.meets_straight(index, near) {
                    straight.note(self.is_ahead(index, near, time), [index, near.other])?;
                }
            }
        }
        for near in self.candidates.special_of(index) {
            if near.other < index {
                continue;
            }
            if let Some(time) = self.meets_straight(index, near) {
                straight.note(self.is_ahead(index, near, time), [index, near.other])?;
            }
        }
        Ok(())
    }

    /// Returns whether a meeting at the given time counts for the duration of substeps. A shorter substep would have the
    /// same meetings at its very start, so these do not count, and nor do slow impacts.
    fn is_ahead(&self, index: u32, near: Near<'_>, time: f64) -> bool {
        if time <= 0.0 || !self.mixed || self.slow == 0.0 {
            return time > 0.0;
        }
        let candidate = near.candidate(index, self.ids);
        let [a, b] = candidate.ends().map(|sphere| self.straight(sphere));
        ContactPair::new(&candidate, self)
            .blow(&a, &b, time)
            .approach
            >= self.slow
    }

    /// Returns the time at which a sphere and its partner in a candidate (a sphere or a wall) meet
    /// on straight paths, if they do.
    #[inline]
    fn meets_straight(&self, index: u32, near: Near<'_>) -> Option<f64> {
        if let Some(candidate) = near.special {
            return self.hit(candidate);
        }
        let [sphere, other] = [index, near.other].map(|index| &self.spheres[index as usize]);
        let [a, b] = [index, near.other].map(|index| self.straight(index));
        if a.falls != b.falls {
            return self.hit(&near.candidate(index, self.ids));
        }
        let reach = sphere.radius + other.radius;
        meeting(&a, &b, DVec3::ZERO, reach, [0.0, self.duration])
    }
}

/// Results of moving spheres along straight paths for a substep: the spheres that leave their pads
/// (bounds on their displacements), and the pairs that meet.
#[derive(Debug, Default)]
struct Straight {
    leavers: Vec<(u32, f64)>,
    hits: Vec<[u32; 2]>,
    /// How many of the pairs in `hits` meet after the start of the substep, and not at the start itself.
    ahead: usize,
}

impl Straight {
    fn note(&mut self, is_ahead: bool, ends: [u32; 2]) -> Result<(), Error> {
        self.ahead += usize::from(is_ahead);
        push(&mut self.hits, ends)
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

/// Working memory and result of a substep.
#[derive(Debug, Default)]
pub(crate) struct Substep {
    pub(crate) candidates: Candidates,
    pub(crate) islands: Islands,
}

impl Substep {
    /// Finds the impacts of a substep. Returns the number of rounds in which islands of spheres were
    /// replayed, or `None` if the caller's function `accept` rejects the substep because it has too many
    /// predicted impacts. If new candidates are needed, the search covers all motion of the next `horizon`
    /// units of time, so that its candidates serve several substeps.
    pub(crate) fn run(
        &mut self,
        detector: &mut Detector,
        start: &Start<'_>,
        horizon: f64,
        accept: impl FnOnce(Load) -> bool,
    ) -> Result<Option<u64>, Error> {
        let Self {
            candidates,
            islands,
        } = self;
        let count = start.spheres.len();
        let searched = !candidates.cover(start.time, start.duration, count);
        if searched {
            let found = candidates.search(detector, start, horizon);
            if horizon > start.duration && found.is_err() {
                // The search for the candidates of several substeps returned an error, such as too
                // many pairs. A search for only this substep uses smaller pads (bounds on the
                // displacements of spheres), so it finds fewer pairs and periodic images.
                candidates.search(detector, start, start.duration)?;
            } else {
                found?;
            }
        }
        let setting = start.setting(candidates);

        let chunks = (0..count).into_par_iter().step_by(SPHERES);
        let straight = chunks.map(|first| {
            let mut straight = Straight::default();
            for index in first..count.min(first + SPHERES) {
                if !start.removed[index] {
                    setting.test_straight(id(index), &mut straight)?;
                }
            }
            Ok(straight)
        });
        let straight: Result<Vec<_>, Error> = straight.collect();
        let mut straight = straight?;
        let mut leavers = Vec::new();
        for &leaver in straight.iter().flat_map(|straight| &straight.leavers) {
            push(&mut leavers, leaver)?;
        }
        let new = candidates.widen(detector, start, &leavers)?;
        let setting = start.setting(candidates);
        let mut later = Straight::default();
        for candidate in &new {
            if let Some(time) = setting.hit(candidate) {
                later.note(time > 0.0, candidate.ends())?;
            }
        }
        straight.push(later);
        let load = Load {
            spheres: start.present(),
            pairs: candidates.pairs(),
            searched,
            hits: straight.iter().map(|straight| straight.ahead).sum(),
        };
        if !accept(load) {
            return Ok(None);
        }

        islands.reset(count)?;

        let hits: Vec<_> = straight.into_iter().map(|straight| straight.hits).collect();
        settle(&hits, start, candidates, islands, detector).map(Some)
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³⁰ spheres"
)]
fn id(index: usize) -> u32 {
    index as u32
}

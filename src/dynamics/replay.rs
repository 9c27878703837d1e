//! Replay: processes the impacts of one island from the start of the substep, in the order of time.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use glam::DVec3;

use super::candidate::Candidate;
use super::contact::{APART, Blow, ContactPair, OVERLAP};
use super::impulses::{Body, Pressed};
use super::islands::{Island, IslandPart, Lookup, Track};
use super::options::check_restitution;
use super::path::Piece;
use super::report::{Impact, Partner, Removal};
use super::rows::{Rows, push, reserve};
use super::rules::{Outcome, Response};
use super::setting::Setting;
use crate::memory::out_of_memory;
use crate::{Error, MAX_MAGNITUDE};

/// If a pair has had this number of impacts within a contact time and a substep, its next ones are without restitution.
/// So the impacts of bodies without room between them, each of which brings about others, soon end.
const FREQUENT: u16 = 4;

/// The same number if spheres cannot rest. Until then, the contact-time model makes the impacts elastic.
const OFTEN: u16 = 64;

/// If an inelastic pair has had this number of impacts within a contact time and a substep, there is no room for one of its
/// spheres, as between two walls that close. It has no more impacts until the end of the substep, so it overlaps.
const SQUEEZED: u16 = 256;

/// Slow impacts of a pair in a substep and a pause ([`Setting::pause`]): at most this number, and after the first one
/// only if the approach is faster than this fraction of the slow speed. Each impact takes away the approach of the pair, but others
/// may bring it back in part. What remains waits for the end of the substep.
const MOST_SLOW: u8 = 8;
pub(crate) const FLOOR: f64 = 0.05;

/// If the spheres of an island have several times as many links, the limit of their impacts is as many times lower.
const USUAL_LINKS: usize = 16;

/// If gravity presses two bodies together that approach at less than this fraction of the slow speed, a rule sees them
/// this fraction of the contact time later.
const SEEN: f64 = 1e-3;

/// Elastic bodies rest only if they approach at less than this fraction of the slow speed.
const ELASTIC: f64 = 1e-6;

/// The time at which two spheres come apart that pass through each other is one of this number of equal parts of the
/// rest of a substep.
const PARTS: u32 = 16;

/// If at most this number of pairs may meet in an island, the next impact is found by comparing the
/// times of all pairs. This is faster than a queue.
const FEW: usize = 12;

/// Working memory for joint impacts (`joint.rs`): contacts, and the bodies that they connect.
#[derive(Debug, Default)]
pub(crate) struct Joint {
    /// The place of each body in the members of the island.
    pub(crate) members: Vec<u32>,
    pub(crate) bodies: Vec<Body>,
    pub(crate) contacts: Vec<Pressed>,
    /// The link of each contact.
    pub(crate) links: Vec<u32>,
    /// For each member of the island, its place in `bodies`, or `u32::MAX`.
    pub(crate) places: Vec<u32>,
    /// For each link, whether it is in `links`.
    pub(crate) listed: Vec<bool>,
}

/// Working memory for an island, reused for the next.
#[derive(Debug, Default)]
pub(crate) struct ReplayScratch<'a> {
    /// The pairs that may meet in the island: two spheres, or a sphere and a wall. Sorted.
    pub(crate) links: Vec<Link<'a>>,
    /// The time of the next impact of each pair in `links`, or infinity if the pair has none.
    times: Vec<f64>,
    pub(crate) members: Vec<MemberState>,
    /// For each sphere, the indices in `links` of the pairs with this sphere. The rows are not used
    /// if `links` has at most [`FEW`] pairs.
    rows: Rows<u32>,
    /// A priority queue of the predicted impacts. A prediction is outdated if its time differs from
    /// the time of its pair in `times`. The queue is not used if `links` has at most [`FEW`] pairs.
    queue: BinaryHeap<Event>,
    /// Pieces of the paths of the island's spheres, in the order of time. An impact starts a new
    /// piece in the path of each sphere that takes part. The number beside a piece is the index of
    /// its sphere in `members`.
    pub(crate) turns: Vec<(u32, Piece)>,
    pub(crate) joint: Joint,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Link<'a> {
    pub(crate) candidate: Candidate,
    /// The places in `members` of the two spheres of the candidate. With a wall, both are the place of the sphere.
    pub(crate) ends: [u32; 2],
    pub(crate) contact: ContactPair<'a>,
    /// Whether the sphere and its partner pass through each other without an
    /// impact, as a result of the caller's rule. This lasts until a gap separates the two.
    pub(crate) passing: bool,
    /// Number of impacts of the pair since the time `first`, within one contact time.
    impacts: u16,
    first: f64,
    /// Number of impacts of the pair in the substep.
    hits: u16,
    /// Whether the contact lasts: its impacts wait for the end of the substep if the two then hardly overlap.
    lasts: bool,
    /// Number of slow impacts of the pair since the time `slowed`.
    slow: u8,
    slowed: f64,
}

impl Link<'_> {
    /// Returns the indices in `members` of the spheres of this pair: two, or one with a wall.
    pub(crate) fn places(&self) -> impl Iterator<Item = u32> + use<> {
        let both = matches!(self.candidate.partner, Partner::Sphere(_));
        self.ends.into_iter().take(1 + usize::from(both))
    }

    /// Counts an impact at `time`.
    pub(crate) fn count(&mut self, time: f64, contact_time: f64) {
        if time - self.first >= contact_time {
            (self.impacts, self.first) = (0, time);
        }
        self.impacts = self.impacts.saturating_add(1);
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct MemberState {
    pub(crate) sphere: u32,
    pub(crate) piece: Piece,
    /// Number of impacts so far. A joint impact counts once.
    pub(crate) impacts: u32,
    /// Time of the last impact.
    pub(crate) last: f64,
    /// Whether the sphere was removed at its last impact.
    pub(crate) removed: bool,
    pub(crate) inverse_mass: f64,
}

/// A predicted impact. The order is reversed, because the standard heap returns the largest element.
#[derive(Clone, Copy, Debug)]
struct Event {
    time: f64,
    link: u32,
}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_time = other.time.total_cmp(&self.time);
        by_time.then_with(|| other.link.cmp(&self.link))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Event {}

/// Returns an error if a velocity that a rule gives to a sphere is not finite, or too large.
fn check_velocity(sphere: u32, velocity: DVec3) -> Result<(), Error> {
    let most = f64::from(MAX_MAGNITUDE);
    if velocity.abs().cmple(DVec3::splat(most)).all() {
        return Ok(());
    }
    Err(Error::InvalidHardSphere {
        index: sphere as usize,
        problem: format!(
            "the function passed to `step_with` gives it the velocity {velocity}, but each component must be a finite \
             number of at most {most:e} in magnitude"
        ),
    })
}

/// Processes the impacts of an island. Writes them and the paths of its spheres to `part`. Returns an error if a sphere
/// has more than `Setting::most_impacts` impacts, or if `part` gets more than `most` impacts.
pub(crate) fn replay<'a>(
    island: &mut Island,
    tracks: &mut [Track],
    part: &mut IslandPart,
    most: usize,
    lookup: Lookup<'_>,
    setting: &Setting<'a>,
    scratch: &mut ReplayScratch<'a>,
) -> Result<(), Error> {
    let [impacts, removed] = [number(part.impacts.len())?, number(part.removed.len())?];
    island.virial = 0.0;
    scratch.begin(island, lookup, setting)?;
    for link in 0..scratch.links.len() {
        scratch.predict(link, 0.0, setting)?;
    }
    while let Some((time, index)) = scratch.next() {
        scratch.times[index] = f64::INFINITY;
        // If the pair has passed through each other, it has come apart since.
        scratch.links[index].passing = false;
        let link = scratch.links[index];
        let [a, b] = [link.ends[0] as usize, link.ends[1] as usize];
        if link.impacts > 0 && scratch.is_crowded(index, time, setting) {
            island.virial += scratch.collide_jointly(index, time, setting, part)?;
            scratch.check_limits(&link, part.impacts.len(), most, setting)?;
            continue;
        }
        let Some((impact, distance, is_slow)) = scratch.strike(&link, time, setting, part)? else {
            scratch.links[index].passing = true;
            scratch.predict(index, time, setting)?;
            continue;
        };
        if setting.options.contact_time > 0.0 {
            let link = &mut scratch.links[index];
            link.count(time, setting.options.contact_time);
            link.hits = link.hits.saturating_add(1);
            if link.hits >= FREQUENT
                && !link.lasts
                && setting.slow > 0.0
                && setting.restitution(&link.candidate) < 1.0
            {
                // Others have hit one of the two as often, or press it.
                let most = u32::from(link.hits) + u32::from(FREQUENT);
                link.lasts = link.places().any(|end| {
                    let member = &scratch.members[end as usize];
                    member.impacts >= most || setting.bears(member.sphere)
                });
                if link.lasts {
                    for end in link.places() {
                        push(&mut part.waiting, scratch.members[end as usize].sphere)?;
                    }
                }
            }
            if is_slow {
                if time - link.slowed >= setting.pause(&link.contact) {
                    (link.slow, link.slowed) = (0, time);
                }
                link.slow = link.slow.saturating_add(1);
            }
        }
        island.virial += distance * DVec3::from(impact.impulse).dot(impact.normal.into());
        push(&mut part.impacts, impact)?;
        if !setting.rule.is_default() {
            let [a, b] = [a, b].map(|end| scratch.members[end].piece);
            scratch.links[index].passing = !is_slow && link.contact.is_approaching(&a, &b, time);
        }
        scratch.check_limits(&link, part.impacts.len(), most, setting)?;
        scratch.predict_again([a, b], time, setting)?;
    }
    island.impacts = impacts..number(part.impacts.len())?;
    island.removed = removed..number(part.removed.len())?;
    let passing = number(part.passing.len())?;
    if !setting.rule.is_default() {
        for link in scratch.links.iter().filter(|link| link.passing) {
            push(&mut part.passing, link.candidate)?;
        }
    }
    island.passing = passing..number(part.passing.len())?;
    part.removed[removed as usize..].sort_unstable_by_key(|removal| removal.sphere);
    scratch.write_paths(tracks, &mut part.pieces, setting)
}

impl<'a> ReplayScratch<'a> {
    /// Lists the spheres of an island, and the pairs that may meet in it.
    fn begin(
        &mut self,
        island: &Island,
        lookup: Lookup<'_>,
        setting: &Setting<'a>,
    ) -> Result<(), Error> {
        self.members.clear();
        self.links.clear();
        self.turns.clear();
        self.queue.clear();
        for (place, member) in (0..).zip(lookup.members(island)) {
            let sphere = member.sphere;
            let state = &setting.spheres[sphere as usize];
            let member = MemberState {
                sphere,
                piece: setting.straight(sphere),
                impacts: 0,
                last: setting.last(sphere),
                removed: false,
                inverse_mass: state.inverse_mass(),
            };
            push(&mut self.members, member)?;
            // Each sphere of a pair has the other one among its candidates. `of_larger` leaves out
            // partners of smaller index, so the pair is added only once.
            for near in setting.candidates.of_larger(sphere) {
                if let Some(other) = lookup.place(island, near.other) {
                    let candidate = near.candidate(sphere, setting.ids);
                    let ends = if candidate.sphere == sphere {
                        [place, other]
                    } else {
                        [other, place]
                    };
                    let link = Link {
                        candidate,
                        ends,
                        contact: ContactPair::new(&candidate, setting),
                        passing: setting.is_passing(&candidate),
                        impacts: 0,
                        first: 0.0,
                        hits: 0,
                        lasts: setting.lasts(&candidate),
                        slow: 0,
                        slowed: 0.0,
                    };
                    push(&mut self.links, link)?;
                }
            }
        }
        // Simultaneous impacts are processed in this order.
        if self.links.len() > 1 {
            self.links
                .sort_unstable_by_key(|link| setting.key(&link.candidate));
        }
        let links = &self.links;
        self.times.clear();
        reserve(&mut self.times, links.len())?;
        self.times.resize(links.len(), f64::INFINITY);
        if self.is_small() {
            return Ok(());
        }
        self.rows
            .fill(self.members.len(), number(links.len())?, |link| {
                links[link as usize]
                    .places()
                    .map(move |place| (place, link))
            })
    }

    /// Returns an error if a sphere of a pair that has collided has had too many impacts. An impact takes time in
    /// proportion to the links of its spheres, of which those larger than a periodic cell have one for each image.
    fn check_limits(
        &self,
        link: &Link<'_>,
        impacts: usize,
        most: usize,
        setting: &Setting<'_>,
    ) -> Result<(), Error> {
        let each = 2 * self.links.len() / self.members.len().max(1);
        let dearer = u32::try_from(each / USUAL_LINKS).map_or(u32::MAX, |dearer| dearer.max(1));
        for end in link.places() {
            let member = &self.members[end as usize];
            if member.impacts > setting.most_impacts / dearer || impacts > most {
                return Err(Error::TooManyImpacts {
                    sphere: setting.id(member.sphere) as usize,
                    limit: setting.options.max_impacts() / dearer,
                });
            }
        }
        Ok(())
    }

    /// Returns what the pair `links[index]` would do to each other at a time.
    pub(crate) fn blow(&self, index: usize, time: f64) -> Blow {
        let link = &self.links[index];
        let [a, b] = link.ends.map(|end| &self.members[end as usize]);
        link.contact.blow(&a.piece, &b.piece, time)
    }

    /// Returns the links of a member.
    pub(crate) fn links_of(&self, member: usize) -> impl Iterator<Item = usize> {
        let few = if self.is_small() { self.links.len() } else { 0 };
        let few = (0..few).filter(move |&link| {
            let ends = self.links[link].ends;
            ends.iter().any(|&end| end as usize == member)
        });
        let many: &[u32] = if self.is_small() {
            &[]
        } else {
            self.rows.row(member)
        };
        few.chain(many.iter().map(|&link| link as usize))
    }

    fn is_small(&self) -> bool {
        self.links.len() <= FEW
    }

    /// Returns the time of the next impact in the island, and the index in `links` of the pair that meets.
    fn next(&mut self) -> Option<(f64, usize)> {
        if self.is_small() {
            let mut next = (f64::INFINITY, 0);
            for (link, &time) in self.times.iter().enumerate() {
                if time < next.0 {
                    next = (time, link);
                }
            }
            return (next.0 < f64::INFINITY).then_some(next);
        }
        while let Some(Event { time, link }) = self.queue.pop() {
            if self.times[link as usize] == time {
                return Some((time, link as usize));
            }
        }
        None
    }

    /// After an impact of two members, predicts the next impact of every link of one of them.
    pub(crate) fn predict_again(
        &mut self,
        [a, b]: [usize; 2],
        from: f64,
        setting: &Setting<'_>,
    ) -> Result<(), Error> {
        if self.is_small() {
            for link in 0..self.links.len() {
                let ends = self.links[link].ends;
                if ends.iter().any(|&end| [a, b].contains(&(end as usize))) {
                    self.predict(link, from, setting)?;
                }
            }
            return Ok(());
        }
        let both = [Some(a), (a != b).then_some(b)];
        for end in both.into_iter().flatten() {
            for place in 0..self.rows.row(end).len() {
                let link = self.rows.row(end)[place] as usize;
                self.predict(link, from, setting)?;
            }
        }
        Ok(())
    }

    /// Finds the next impact of the pair `links[index]` after the time `from`, and writes its time
    /// to `times` and `queue`.
    fn predict(&mut self, index: usize, from: f64, setting: &Setting<'_>) -> Result<(), Error> {
        let link = &mut self.links[index];
        let [a, b] = [link.ends[0], link.ends[1]].map(|end| &self.members[end as usize]);
        let mut range = [from, setting.duration];
        self.times[index] = f64::INFINITY;
        if a.removed || b.removed {
            return Ok(());
        }
        if link.passing {
            let is_apart = |time: f64| {
                link.contact.gap(&a.piece, &b.piece, time) > APART * link.contact.size()
            };
            // Gravity may bring the two together again after they have come apart.
            let shares = (0..=PARTS).map(|part| f64::from(part) / f64::from(PARTS));
            let mut times = shares.map(|share| from + share * (setting.duration - from));
            let Some(apart) = times.find(|&time| is_apart(time)) else {
                return Ok(());
            };
            range[0] = apart;
            // If they come apart later, an impact before may still change that.
            link.passing = apart > from;
        }
        if let Some(time) = link.contact.meeting(&a.piece, &b.piece, range) {
            if (link.impacts > 0 || link.lasts) && self.waits(index, time, setting) {
                return Ok(());
            }
            self.times[index] = time;
            if !self.is_small() {
                reserve_one(&mut self.queue)?;
                let link = number(index)?;
                self.queue.push(Event { time, link });
            }
        }
        Ok(())
    }

    /// Returns whether the next impact of a pair waits for the end of the substep, because it is slow and not the first, or
    /// because the pair is squeezed.
    fn waits(&self, index: usize, time: f64, setting: &Setting<'_>) -> bool {
        let link = &self.links[index];
        if link.impacts >= SQUEEZED && self.is_frequent(link, time, setting) {
            return true;
        }
        if link.slow == 0 && !link.lasts {
            return false;
        }
        let [a, b] = [link.ends[0], link.ends[1]].map(|end| &self.members[end as usize]);
        let blow = link.contact.blow(&a.piece, &b.piece, time);
        if link.lasts {
            let left = setting.duration - time;
            let closing = (blow.approach + 0.5 * blow.touch.pressing.max(0.0) * left) * left;
            let depth = closing - link.contact.gap(&a.piece, &b.piece, time).min(0.0);
            if depth <= OVERLAP * link.contact.size() {
                return true;
            }
        }
        if link.slow == 0 {
            return false;
        }
        let many = link.slow >= MOST_SLOW && time - link.slowed < setting.pause(&link.contact);
        let restitution = setting.restitution(&link.candidate);
        let is_slow = self.is_slow(link, &blow, restitution, time, setting);
        is_slow && blow.touch.pressing <= 0.0 && (many || blow.approach < FLOOR * setting.slow)
    }

    /// Returns whether an impact is slow: gravity presses the pair together, or one sphere of it rests, or they
    /// have hit each other many times within a contact time.
    fn is_slow(
        &self,
        link: &Link<'_>,
        blow: &Blow,
        restitution: f64,
        time: f64,
        setting: &Setting<'_>,
    ) -> bool {
        if blow.approach >= setting.slow {
            return false;
        }
        let [a, b] = [link.ends[0], link.ends[1]].map(|end| &self.members[end as usize]);
        let partner = link.candidate.partner;
        if restitution == 1.0 && blow.approach >= ELASTIC * setting.slow {
            return false;
        }
        let pile = matches!(partner, Partner::Sphere(_)) && !(a.piece.falls && b.piece.falls);
        blow.touch.pressing > 0.0 || pile || self.is_frequent(link, time, setting)
    }

    /// Returns whether a pair has had many impacts within a contact time and again meets fast, so that all that touch it
    /// collide with it.
    fn is_crowded(&self, index: usize, time: f64, setting: &Setting<'_>) -> bool {
        let link = &self.links[index];
        if !self.is_frequent(link, time, setting) {
            return false;
        }
        let blow = self.blow(index, time);
        if blow.approach < setting.slow {
            return false;
        }
        setting.rule.is_default() || {
            let [a, b] = link.ends.map(|end| &self.members[end as usize].piece);
            let encounter = setting.encounter(&link.candidate, [a, b], &blow, time);
            setting.rule.response(&encounter).bounces()
        }
    }

    /// Returns whether a pair has had many impacts within a contact time.
    fn is_frequent(&self, link: &Link<'_>, time: f64, setting: &Setting<'_>) -> bool {
        let many = if setting.slow > 0.0 { FREQUENT } else { OFTEN };
        link.impacts >= many
            && time - link.first < setting.options.contact_time
            && setting.restitution(&link.candidate) < 1.0
    }

    /// Lets a sphere collide with its partner at `time`, which changes their velocities. Returns the impact
    /// and the distance of the centres, or `None` if the rule of the simulation lets them pass through each
    /// other.
    fn strike(
        &mut self,
        link: &Link<'_>,
        time: f64,
        setting: &Setting<'_>,
        part: &mut IslandPart,
    ) -> Result<Option<(Impact, f64, bool)>, Error> {
        let [a, b] = [link.ends[0], link.ends[1]].map(|end| self.members[end as usize]);
        let Candidate {
            sphere, partner, ..
        } = link.candidate;
        let blow = link.contact.blow(&a.piece, &b.piece, time);
        let at_wall = matches!(partner, Partner::Wall(_));
        let encounter = setting.encounter(&link.candidate, [&a.piece, &b.piece], &blow, time);
        let velocities = encounter.velocities.map(DVec3::from);
        let mut seen = encounter;
        if blow.touch.pressing > 0.0 && blow.approach < SEEN * setting.slow {
            // The two do not approach yet, but gravity presses them together. The rule sees them a little later, so
            // that rounding does not turn the velocity around.
            let later = SEEN * setting.options.contact_time;
            for (k, end) in [a, b].into_iter().enumerate() {
                if end.piece.falls && (k == 0 || !at_wall) {
                    let velocity = velocities[k] + setting.options.gravity * later;
                    seen.velocities[k] = velocity.to_array();
                }
            }
        }
        let response = setting.rule.response(&seen);
        let outcomes = match response {
            Response::Ignore => return Ok(None),
            Response::Bounce | Response::BounceWith(_) => [Outcome::Bounce; 2],
            Response::Each(outcomes) => outcomes,
        };
        let restitution = match response {
            Response::BounceWith(restitution) => {
                check_restitution(
                    format_args!("restitution that the rule returns"),
                    restitution,
                )?;
                restitution
            }
            _ => setting.restitution(&link.candidate),
        };
        // A rule that computes velocities need not make them elastic.
        let given = outcomes
            .iter()
            .any(|outcome| matches!(outcome, Outcome::Velocity(_)));
        let known = if given { 0.0 } else { restitution };
        let mut is_slow = self.is_slow(link, &blow, known, time, setting);
        let rests = is_slow && blow.touch.pressing > 0.0 && setting.is_bearing(&blow.touch);
        let was_slow = is_slow;
        let inverse_masses = a.inverse_mass + if at_wall { 0.0 } else { b.inverse_mass };
        let bounce = || {
            // Many spheres may hit a fixed sphere within a contact time. Like a wall, it does not make their
            // impacts elastic.
            let finite = [a, b].into_iter().filter(|end| end.inverse_mass > 0.0);
            let last = finite.map(|end| end.last).fold(f64::NEG_INFINITY, f64::max);
            let is_plastic = was_slow || self.is_frequent(link, time, setting);
            let (mut speed, mut along) =
                setting.separation(restitution, &blow, last, time, is_plastic);
            if rests {
                (speed, along) = (0.0, DVec3::ZERO);
            }
            let change = blow.approach + speed;
            let impulse = blow.touch.normal * (change / inverse_masses).max(0.0);
            let changes = [along - impulse * a.inverse_mass, impulse * b.inverse_mass];
            // A sphere that hits a wall has a finite mass.
            let impulse = if at_wall {
                impulse - along / a.inverse_mass
            } else {
                impulse
            };
            (changes, impulse)
        };
        // On which of the two spheres gravity acts after the impact.
        let released = || {
            let gravity = setting.options.gravity != DVec3::ZERO;
            [a, b].map(|end| gravity && end.inverse_mass > 0.0)
        };
        let mut falls = if rests {
            [false; 2]
        } else if blow.approach >= setting.slow {
            released()
        } else {
            [a.piece.falls, b.piece.falls]
        };
        let (changes, impulse, removed) = if outcomes == [Outcome::Bounce; 2] {
            let (changes, impulse) = bounce();
            (changes, impulse, [false; 2])
        } else {
            let bounced = if outcomes.contains(&Outcome::Bounce) {
                bounce().0
            } else {
                [DVec3::ZERO; 2]
            };
            let mut new = [0, 1].map(|k| match outcomes[k] {
                Outcome::Velocity(velocity) => Some(DVec3::from(velocity)),
                Outcome::Keep => Some(velocities[k]),
                Outcome::Bounce => Some(velocities[k] + bounced[k]),
                Outcome::Remove => None,
            });
            for (end, new) in link.places().zip(new) {
                if let Some(new) = new {
                    check_velocity(setting.id(self.members[end as usize].sphere), new)?;
                }
            }
            if at_wall {
                new[1] = Some(velocities[1]);
            }
            let normal = blow.touch.normal;
            let parting = match new {
                [Some(v), Some(w)] => normal.dot(w - v),
                _ => f64::INFINITY,
            };
            is_slow = rests && (0.0..setting.slow).contains(&parting) && inverse_masses > 0.0;
            if is_slow {
                // A slow answer to a slow impact does not lift the sphere.
                let shares = [a.inverse_mass, -b.inverse_mass].map(|x| x / inverse_masses);
                for (new, share) in new.iter_mut().zip(shares).take(2 - usize::from(at_wall)) {
                    *new = new.map(|new| new + normal * (parting * share));
                }
            } else {
                falls = released();
            }
            let changes = [0, 1].map(|k| new[k].map_or(DVec3::ZERO, |new| new - velocities[k]));
            // The impulse is computed from the change of velocity of one of the two spheres. It must be a
            // sphere of finite mass that the impact does not remove.
            let impulse = match new {
                [Some(_), _] if a.inverse_mass > 0.0 => -changes[0] / a.inverse_mass,
                [_, Some(_)] if !at_wall && b.inverse_mass > 0.0 => changes[1] / b.inverse_mass,
                _ => DVec3::ZERO,
            };
            (changes, impulse, new.map(|new| new.is_none()))
        };
        for (k, end) in link.places().enumerate() {
            let (change, member) = (changes[k], &mut self.members[end as usize]);
            if removed[k] {
                member.removed = true;
                let removal = Removal {
                    time,
                    sphere: member.sphere,
                    velocity: velocities[k].to_array(),
                };
                push(&mut part.removed, removal)?;
            }
            let piece = member.piece.turn(time, change);
            member.piece = if piece.falls == falls[k] {
                piece
            } else {
                piece.falling(falls[k], time, setting.options.gravity)
            };
            member.impacts += 1;
            member.last = time;
            push(&mut self.turns, (end, member.piece))?;
        }
        let impact = Impact {
            time,
            sphere: setting.id(sphere),
            partner: encounter.partner,
            image: encounter.image,
            point: encounter.point,
            normal: encounter.normal,
            impulse: impulse.to_array(),
        };
        Ok(Some((impact, blow.distance, is_slow)))
    }

    /// Writes the paths of all spheres of the island to `pieces`, and the range of each path to `tracks`.
    fn write_paths(
        &self,
        tracks: &mut [Track],
        pieces: &mut Vec<Piece>,
        setting: &Setting<'_>,
    ) -> Result<(), Error> {
        reserve(pieces, self.turns.len() + self.members.len())?;
        for (track, member) in tracks.iter_mut().zip(&self.members) {
            let straight = setting.straight(member.sphere);
            track.first = number(pieces.len())?;
            // At first, the path of a sphere has one piece, which is straight. The loop over
            // `turns` then appends the other pieces, each of which begins with an impact.
            track.count = 1;
            pieces.resize(pieces.len() + member.impacts as usize + 1, straight);
        }
        number(pieces.len())?;
        for &(end, piece) in &self.turns {
            let track = &mut tracks[end as usize];
            pieces[(track.first + track.count) as usize] = piece;
            track.count += 1;
        }
        Ok(())
    }
}

fn reserve_one(queue: &mut BinaryHeap<Event>) -> Result<(), Error> {
    if queue.len() == queue.capacity() {
        let reserved = queue.try_reserve(1);
        reserved.map_err(|_| out_of_memory::<Event>(1, "a substep"))?;
    }
    Ok(())
}

pub(crate) fn number(count: usize) -> Result<u32, Error> {
    u32::try_from(count).map_err(|_| out_of_memory::<Piece>(count, "a substep"))
}

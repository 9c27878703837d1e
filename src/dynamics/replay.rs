//! Replay: processes the impacts of one island from the start of the substep, in the order of time.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use glam::DVec3;

use super::candidates::Candidate;
use super::contact::Contact;
use super::islands::{Island, Lookup};
use super::path::Piece;
use super::report::{Impact, Partner, Removal};
use super::rows::Rows;
use super::rules::{Encounter, Response};
use super::substep::Setting;
use crate::Error;

/// Two that pass through each other are separate from this distance on, relative to the sum of their radii.
const APART: f64 = 1e-9;

/// Working memory of a replay, reused from island to island.
#[derive(Debug, Default)]
pub(crate) struct Scratch<'a> {
    /// The candidates within the island, sorted.
    links: Vec<Link<'a>>,
    /// The links of each member.
    rows: Rows,
    members: Vec<Member>,
    queue: BinaryHeap<Event>,
    /// The pieces that follow on impacts, in the order of time, with the place of their sphere.
    turns: Vec<(u32, Piece)>,
}

#[derive(Clone, Copy, Debug)]
struct Link<'a> {
    candidate: Candidate,
    /// Places of both spheres among the members. The place of a sphere at a wall stands twice.
    ends: [u32; 2],
    contact: Contact<'a>,
    /// Whether both are passing through each other.
    passing: bool,
}

impl Link<'_> {
    /// Returns the places of the one or two spheres.
    fn places(&self) -> impl Iterator<Item = u32> + use<> {
        let both = matches!(self.candidate.partner, Partner::Sphere(_));
        self.ends.into_iter().take(1 + usize::from(both))
    }
}

#[derive(Clone, Copy, Debug)]
struct Member {
    piece: Piece,
    /// Number of impacts so far.
    impacts: u32,
    /// Time of the last impact.
    last: f64,
    /// Whether the sphere was removed at its last impact.
    removed: bool,
    inverse_mass: f64,
}

/// A predicted impact. The order is reversed, because the standard heap returns the largest element.
#[derive(Clone, Copy, Debug)]
struct Event {
    time: f64,
    link: u32,
    /// Number of impacts of both spheres when this impact was predicted.
    impacts: [u32; 2],
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

/// Replays an island, and writes the paths of its members and its impacts.
pub(crate) fn replay<'a>(
    island: &mut Island,
    lookup: Lookup<'_>,
    setting: &Setting<'a>,
    scratch: &mut Scratch<'a>,
) -> Result<(), Error> {
    scratch.begin(&island.members, lookup, setting)?;
    for link in 0..number(scratch.links.len()) {
        scratch.predict(link, 0.0, setting);
    }
    while let Some(event) = scratch.queue.pop() {
        let link = scratch.links[event.link as usize];
        let [a, b] = link.ends.map(|end| end as usize);
        if event.impacts != [a, b].map(|end| scratch.members[end].impacts) {
            continue;
        }
        let Some(impact) = scratch.strike(&link, event.time, setting, island) else {
            scratch.links[event.link as usize].passing = true;
            continue;
        };
        island.impacts.push(impact);
        if !setting.rule.is_default() {
            let [a, b] = [a, b].map(|end| scratch.members[end].piece);
            let parting = link.contact.blow(&a, &b, event.time).approach <= 0.0;
            scratch.links[event.link as usize].passing = !parting;
        }
        for end in link.places().map(|place| place as usize) {
            let member = &scratch.members[end];
            if member.impacts > setting.options.max_impacts {
                scratch.queue.clear();
                return Err(Error::TooManyImpacts {
                    sphere: island.members[end] as usize,
                    limit: setting.options.max_impacts,
                });
            }
            for place in 0..scratch.rows.row(end).len() {
                let other = scratch.rows.row(end)[place];
                // The link between both spheres is in both rows.
                if end == a || other != event.link {
                    scratch.predict(other, event.time, setting);
                }
            }
        }
    }
    island
        .removed
        .sort_unstable_by_key(|removal| removal.sphere);
    scratch.write_paths(island, setting);
    Ok(())
}

impl<'a> Scratch<'a> {
    /// Collects the members and the candidates among them.
    fn begin(
        &mut self,
        members: &[u32],
        lookup: Lookup<'_>,
        setting: &Setting<'a>,
    ) -> Result<(), Error> {
        self.members.clear();
        self.links.clear();
        self.turns.clear();
        self.queue.clear();
        for &sphere in members {
            let state = &setting.spheres[sphere as usize];
            self.members.push(Member {
                piece: Piece::straight(state),
                impacts: 0,
                last: setting.last(sphere),
                removed: false,
                inverse_mass: state.inverse_mass(),
            });
            for candidate in setting.candidates.of(sphere) {
                let candidate = setting.candidates.get(candidate);
                let other = candidate.other().unwrap_or(sphere);
                if candidate.sphere == sphere && lookup.island(other) == lookup.island(sphere) {
                    self.links.push(Link {
                        candidate: *candidate,
                        ends: [sphere, other].map(|sphere| lookup.place(sphere)),
                        contact: Contact::new(candidate, setting),
                        passing: false,
                    });
                }
            }
        }
        // The order of the links decides between simultaneous impacts.
        self.links.sort_unstable_by_key(|link| link.candidate);
        let links = &self.links;
        let count = number(links.len());
        self.rows
            .fill(members.len(), count, |link| links[link as usize].places())
    }

    /// Adds the next impact of a link from a time on to the queue, if there is one.
    fn predict(&mut self, number: u32, from: f64, setting: &Setting<'_>) {
        let link = &mut self.links[number as usize];
        let [a, b] = link.ends.map(|end| &self.members[end as usize]);
        let range = [from, setting.duration];
        if a.removed || b.removed {
            return;
        }
        if link.passing {
            if link.contact.gap(&a.piece, &b.piece, from) <= APART * link.contact.size() {
                return;
            }
            link.passing = false;
        }
        if let Some(time) = link.contact.meeting(&a.piece, &b.piece, range) {
            let impacts = [a.impacts, b.impacts];
            self.queue.push(Event {
                time,
                link: number,
                impacts,
            });
        }
    }

    /// Changes the velocities of a sphere and its partner, which meet at a time, or returns `None` if they pass
    /// through each other.
    fn strike(
        &mut self,
        link: &Link<'_>,
        time: f64,
        setting: &Setting<'_>,
        island: &mut Island,
    ) -> Option<Impact> {
        let [a, b] = link.ends.map(|end| self.members[end as usize]);
        let Candidate {
            sphere,
            partner,
            image,
        } = link.candidate;
        let blow = link.contact.blow(&a.piece, &b.piece, time);
        let at_wall = matches!(partner, Partner::Wall(_));
        let velocities = setting.velocities(&link.candidate, [&a.piece, &b.piece], time);
        let response = setting.rule.response(&Encounter {
            time: setting.time + time,
            sphere,
            partner,
            image,
            normal: blow.normal,
            velocities,
            approach_speed: blow.approach,
        });
        let given = |new: [Option<DVec3>; 2]| {
            let changes = [0, 1].map(|k| new[k].map_or(DVec3::ZERO, |new| new - velocities[k]));
            // The one that stays tells the impulse.
            let impulse = match new {
                [Some(_), _] => -changes[0].dot(blow.normal) / a.inverse_mass,
                [None, Some(_)] if !at_wall => changes[1].dot(blow.normal) / b.inverse_mass,
                _ => 0.0,
            };
            let impulse = if impulse.is_finite() { impulse } else { 0.0 };
            (changes, impulse, new.map(|new| new.is_none()))
        };
        let (changes, impulse, removed) = match response {
            Response::Ignore => return None,
            Response::Bounce => {
                let last = a.last.max(b.last);
                let change = blow.approach + setting.separation(partner, &blow, last, time);
                let inverse_masses = a.inverse_mass + if at_wall { 0.0 } else { b.inverse_mass };
                let impulse = (change / inverse_masses).max(0.0);
                let changes = [-a.inverse_mass, b.inverse_mass];
                (
                    changes.map(|share| blow.normal * (impulse * share)),
                    impulse,
                    [false; 2],
                )
            }
            Response::Velocities(new) => given(new.map(Some)),
            Response::Remove(new) => given(new),
        };
        for (k, end) in link.places().enumerate() {
            let (change, member) = (changes[k], &mut self.members[end as usize]);
            if removed[k] {
                member.removed = true;
                island.removed.push(Removal {
                    time,
                    sphere: island.members[end as usize],
                    velocity: velocities[k],
                });
            }
            member.piece = member.piece.turn(time, change);
            member.impacts += 1;
            member.last = time;
            self.turns.push((end, member.piece));
        }
        island.virial += blow.distance * impulse;
        Some(Impact {
            time,
            sphere,
            partner,
            image,
            normal: blow.normal,
            impulse,
        })
    }

    /// Writes the paths of all members.
    fn write_paths(&self, island: &mut Island, setting: &Setting<'_>) {
        let Island {
            members,
            pieces,
            ends,
            ..
        } = island;
        ends.clear();
        let mut sum = 0;
        ends.extend(self.members.iter().map(|member| {
            sum += member.impacts + 1;
            sum
        }));
        pieces.clear();
        let firsts = members.iter().zip(&self.members);
        for (&sphere, member) in firsts {
            let straight = Piece::straight(&setting.spheres[sphere as usize]);
            pieces.extend((0..=member.impacts).map(|_| straight));
        }
        // Each end is moved back by the pieces of the path, from the last to the first, and then restored.
        for &(end, piece) in self.turns.iter().rev() {
            let end = &mut ends[end as usize];
            *end -= 1;
            pieces[*end as usize] = piece;
        }
        for (end, member) in ends.iter_mut().zip(&self.members) {
            *end += member.impacts;
        }
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "candidates are numbered with u32"
)]
fn number(links: usize) -> u32 {
    links as u32
}

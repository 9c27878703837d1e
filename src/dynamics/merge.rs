//! The merge stage replays new islands, tests their paths against the spheres outside them, and
//! merges the islands that these tests connect, until no sphere meets another one outside its
//! island.

use std::hint::black_box;
use std::slice::from_ref;
use std::sync::atomic::{AtomicU32, Ordering};

use glam::DVec3;
use rayon::prelude::*;

use super::candidate::{Candidate, Near};
use super::candidates::Candidates;
use super::contact::ContactPair;
use super::flights::{FlightProbe, Four};
use super::islands::{Island, IslandTask, Islands, Lookup, Member};
use super::path::Piece;
use super::predict::{may_meet, meeting, paths_meet};
use super::replay::{ReplayScratch, replay};
use super::rows::{SUBSTEP, push};
use super::setting::Setting;
use super::start::Start;
use crate::lanes::Bits;
use crate::memory::{collect_in_parallel, joined};
use crate::{Detector, Error};

/// Number of islands that a thread tests at a time.
const ISLANDS: usize = 64;

/// The spheres of a task may have this number of impacts on average in a substep, even if their
/// sum exceeds the largest number of impacts of one sphere.
const MEAN: usize = 100;

/// Processes the impacts of all islands from number `first` on. Returns the spheres that have left
/// their pads, each with its displacement.
pub(crate) fn replay_from(
    first: usize,
    islands: &mut Islands,
    setting: &Setting<'_>,
) -> Result<Vec<(u32, f64)>, Error> {
    let (mut tasks, lookup) = islands.tasks(first)?;
    // The number of the first task that has failed so far. Only its error is returned, so later
    // tasks are left out. Each of them might have as many impacts as are allowed.
    let failed = AtomicU32::new(u32::MAX);
    let replays = tasks
        .par_iter_mut()
        .map_init(ReplayScratch::default, |scratch, task| {
            if task.number > failed.load(Ordering::Relaxed) {
                return Ok(());
            }
            let result = replay_task(task, lookup, setting, scratch);
            if result.is_err() {
                failed.fetch_min(task.number, Ordering::Relaxed);
            }
            result
        });
    // The results are in the order of the islands. So the returned error does not depend on which
    // thread fails first.
    let results = collect_in_parallel(replays, SUBSTEP)?;
    results.into_iter().collect::<Result<(), Error>>()?;
    let mut leavers = Vec::new();
    for task in &tasks {
        for &leaver in &task.part.leavers {
            push(&mut leavers, leaver)?;
        }
    }
    Ok(leavers)
}

/// Processes the impacts of the islands of one task.
fn replay_task<'a>(
    task: &mut IslandTask<'_>,
    lookup: Lookup<'_>,
    setting: &Setting<'a>,
    scratch: &mut ReplayScratch<'a>,
) -> Result<(), Error> {
    let islands = task.islands.iter();
    read_early(islands.flat_map(|island| lookup.members(island)), setting);
    let most = (MEAN * task.tracks.len()).max(setting.most_impacts as usize);
    let in_step = setting.options.max_step_impacts(setting.spheres.len());
    let most = most.min(usize::try_from(in_step).unwrap_or(usize::MAX));
    let mut tracks = &mut *task.tracks;
    for island in &mut *task.islands {
        let members = lookup.members(island);
        let (own, others) = std::mem::take(&mut tracks).split_at_mut(members.len());
        tracks = others;
        island.part = task.number;
        replay(island, own, task.part, most, lookup, setting, scratch)?;
        for (track, member) in own.iter_mut().zip(members) {
            let sphere = member.sphere;
            let path = &task.part.pieces[track.first as usize..][..track.count as usize];
            let removed = &task.part.removed[island.removed.start as usize..];
            let removal = removed.iter().find(|removal| removal.sphere == sphere);
            let end = setting.end(removal);
            track.span = setting.span_of(&setting.spheres[sphere as usize], path, end);
            if setting.remains(sphere, track.span) {
                continue;
            }
            let moved = setting.distance_moved(sphere, path, end);
            if moved > setting.candidates.pad(sphere) {
                push(&mut task.part.leavers, (sphere, moved))?;
            }
        }
    }
    Ok(())
}

/// Returns the pairs of spheres that meet, so that their islands have to be merged. The function tests
/// the spheres of the islands from number `first` on against their candidates outside their island. It
/// also tests the pairs in `new`, which have just become candidates.
pub(crate) fn find_meetings(
    first: usize,
    new: &[Candidate],
    islands: &Islands,
    setting: &Setting<'_>,
) -> Result<Vec<[u32; 2]>, Error> {
    let fresh = islands.list()[first..].par_chunks(ISLANDS);
    let found = fresh.map(|fresh| {
        let (mut meetings, mut probes) = (Vec::new(), Vec::new());
        let members = fresh.iter().flat_map(|island| islands.members(island));
        read_early(members.clone(), setting);
        read_flights_early(members, setting);
        for island in fresh {
            find_outside(first, island, islands, setting, &mut probes, &mut meetings)?;
        }
        Ok(meetings)
    });
    let mut meetings = joined(collect_in_parallel(found, SUBSTEP)?, SUBSTEP)?;
    for candidate in new {
        // `hit` tests the straight paths even if impacts have changed them. So islands that do not
        // meet may be merged, which only costs time.
        if setting.hit(candidate).is_some() || meets(candidate, islands, setting) {
            push(&mut meetings, candidate.ends())?;
        }
    }
    Ok(meetings)
}

/// Reads the memory that the replays or tests of some islands will need, so that the cache misses overlap.
fn read_early<'a>(members: impl Iterator<Item = &'a Member>, setting: &Setting<'_>) {
    let neighbors = setting.candidates.neighbors();
    let read = members.fold(0, |read, member| {
        let first = neighbors.of(member.sphere).first().copied();
        let fixed = setting.spheres[member.sphere as usize].is_fixed();
        read ^ first.unwrap_or_default() ^ u32::from(fixed)
    });
    black_box(read);
}

/// Reads the flights of all neighbours of the spheres `members` before the tests need them, so that the cache misses
/// overlap.
fn read_flights_early<'a>(members: impl Iterator<Item = &'a Member>, setting: &Setting<'_>) {
    let (neighbors, (flights, _)) = (setting.candidates.neighbors(), setting.candidates.flights());
    let others = members.flat_map(|member| neighbors.of(member.sphere));
    black_box(others.fold(0, |read, &other| read ^ flights[other as usize].bits()));
}

/// Tests the spheres of a new island against spheres outside it.
fn find_outside(
    first: usize,
    island: &Island,
    islands: &Islands,
    setting: &Setting<'_>,
    probes: &mut Vec<FlightProbe>,
    meetings: &mut Vec<[u32; 2]>,
) -> Result<(), Error> {
    let (flights, units) = setting.candidates.flights();
    for member in islands.members(island) {
        let sphere = member.sphere;
        let (Some(path), Some(span)) = (islands.path(sphere), islands.span(sphere)) else {
            continue;
        };
        let own = &setting.spheres[sphere as usize];
        let until = setting.end(islands.removal(sphere));
        let flight = units.probe_of(&flights[sphere as usize], setting.duration);
        probes.clear();
        let ends = (2..=path.len()).map(|k| path.get(k).map_or(until, |next| next.start));
        for (piece, end) in path.iter().skip(1).zip(ends) {
            push(probes, units.probe(piece, own.radius, [piece.start, end]))?;
        }
        let outside = |other: u32| {
            // If both spheres of a pair are in new islands, the loop over the islands reaches the
            // pair twice. The pair is tested only from the sphere of smaller index.
            islands.member(other).is_none_or(|others| {
                let is_new = others.island as usize >= first;
                others.island != member.island && !(is_new && other < sphere)
            })
        };
        for (others, count) in setting.candidates.neighbors().groups_of(sphere) {
            let four = Four::new(flights, others);
            let may_meet = |mask, probe: &FlightProbe| mask | probe.may_meet(&four);
            let mut may_meet = probes.iter().fold(0, may_meet);
            if setting.mixed || setting.slow > 0.0 {
                for piece in path.iter().skip(1) {
                    may_meet |= setting.unlike(piece.falls, others);
                }
            }
            let joined = |lane: usize| {
                let other = others[lane];
                // If `first` is 0, every island is new, so the loop reaches each pair twice, as above.
                let is_tested = islands.is_member(other) && !(first == 0 && other < sphere);
                (
                    u32::from(is_tested) << lane,
                    u32::from(islands.is_member(other)) << lane,
                )
            };
            let lanes = [joined(0), joined(1), joined(2), joined(3)];
            let [tested, joined] = lanes.iter().fold([0; 2], |[a, b], (c, d)| [a | c, b | d]);
            let near = tested & flight.is_near(&four);
            for lane in Bits((may_meet & !joined | near) & ((1 << count) - 1)) {
                let other = others[lane];
                if let Some(spans) = islands.span(other) {
                    let others = &setting.spheres[other as usize];
                    let away = (others.place() - own.place()).length_squared();
                    let reach = own.radius + span + others.radius + spans;
                    if away > reach * reach * (1.0 + 1e-9) || !outside(other) {
                        continue;
                    }
                }
                if meets_near((sphere, path, until), Near::plain(other), islands, setting) {
                    push(meetings, [sphere, other])?;
                }
            }
        }
        for near in setting.candidates.special_of(sphere) {
            let other = near.other;
            let is_met = if islands.is_member(other) {
                outside(other)
            } else {
                other != sphere
            };
            if is_met && meets_near((sphere, path, until), near, islands, setting) {
                push(meetings, [sphere, other])?;
            }
        }
    }
    Ok(())
}

/// Returns whether a sphere and its partner (another sphere or a wall) meet on their present paths.
/// The function tests only the time after the first impact of one of the two. Before that time,
/// both paths are straight, and the search for the first impacts has already tested them.
#[inline]
fn meets_near(
    (sphere, path, until): (u32, &[Piece], f64),
    near: Near<'_>,
    islands: &Islands,
    setting: &Setting<'_>,
) -> bool {
    let others = islands.path(near.other);
    if path.len() == 1 && others.is_none_or(|others| others.len() == 1) {
        return false;
    }
    let other = &setting.spheres[near.other as usize];
    let own = &setting.spheres[sphere as usize];
    if near.special.is_some() || setting.mixed || setting.slow > 0.0 {
        return meets(&near.candidate(sphere, setting.ids), islands, setting);
    }
    let straight = setting.straight(near.other);
    let others = others.unwrap_or(from_ref(&straight));
    let reach = own.radius + other.radius;
    let until = until.min(setting.end(islands.removal(near.other)));
    paths_meet(path, others, until, |a, b, range| {
        may_meet(a, b, DVec3::ZERO, reach, range)
            && meeting(a, b, DVec3::ZERO, reach, range).is_some()
    })
}

/// As [`meets_near`], for any candidate.
fn meets(candidate: &Candidate, islands: &Islands, setting: &Setting<'_>) -> bool {
    let ends = candidate.ends();
    let straight = ends.map(|sphere| setting.straight(sphere));
    let [a, b] = ends.map(|sphere| islands.path(sphere));
    let [a, b] = [
        a.unwrap_or(from_ref(&straight[0])),
        b.unwrap_or(from_ref(&straight[1])),
    ];
    let contact = ContactPair::new(candidate, setting);
    let [end_a, end_b] = ends.map(|sphere| setting.end(islands.removal(sphere)));
    paths_meet(a, b, end_a.min(end_b), |a, b, range| {
        contact.meeting(a, b, range).is_some()
    })
}

/// Processes all impacts of a substep in rounds, and returns the number of rounds. `hits` are the
/// pairs that meet on straight paths. They form the first islands.
///
/// A round processes the impacts inside each new island. Then it tests the new paths against
/// spheres outside the island, and merges islands whose spheres meet into new islands. The rounds
/// end when no new island arises.
pub(crate) fn settle(
    hits: &[Vec<[u32; 2]>],
    start: &Start<'_>,
    candidates: &mut Candidates,
    islands: &mut Islands,
    detector: &mut Detector,
) -> Result<u64, Error> {
    let mut rounds = 0;

    let mut first = islands.join(hits.iter().flatten())?;

    while first < islands.list().len() {
        rounds += 1;
        let leavers = replay_from(first, islands, &start.setting(candidates))?;
        candidates.raise_speeds(first, islands, start.duration);

        let new = candidates.widen(detector, start, &leavers)?;

        let setting = start.setting(candidates);
        let meetings = find_meetings(first, &new, islands, &setting)?;

        first = islands.join(meetings.iter())?;
    }
    Ok(rounds)
}

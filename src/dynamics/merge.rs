//! Merge: tests the paths of new islands against the spheres outside them, until no more islands meet.

use rayon::prelude::*;

use super::candidates::Candidates;
use super::contact::Contact;
use super::islands::{Island, Islands};
use super::path::Piece;
use super::predict::paths_meet;
use super::replay::{Scratch, replay};
use super::substep::{Setting, Start};
use crate::{Detector, Error};

/// Replays the islands from number `first` on.
pub(crate) fn replay_from(
    first: usize,
    islands: &mut Islands,
    setting: &Setting<'_>,
) -> Result<(), Error> {
    let (fresh, lookup) = islands.split(first);
    let replays = fresh
        .par_iter_mut()
        .map_init(Scratch::default, |scratch, island| {
            if let Err(error) = replay(island, lookup, setting, scratch) {
                return Some(error);
            }
            let paths = island.paths();
            let moved = paths.map(|(sphere, path)| {
                let end = setting.end(island.removal(sphere as usize));
                setting.distance_moved(sphere, path, end)
            });
            island.moved = moved.collect();
            None
        });
    let errors: Vec<_> = replays.filter_map(|error| error).collect();
    // The first error in the order of islands does not depend on the threads.
    errors.into_iter().next().map_or(Ok(()), Err)
}

/// Returns the spheres of the islands from number `first` on that have left their pads, with the distances that
/// they have moved.
pub(crate) fn find_leavers(
    first: usize,
    islands: &Islands,
    setting: &Setting<'_>,
) -> Vec<(u32, f64)> {
    let leavers = |island: &'_ Island| {
        let mut leavers = Vec::new();
        for (&sphere, &moved) in island.members.iter().zip(&island.moved) {
            if moved > setting.candidates.pad(sphere) {
                leavers.push((sphere, moved));
            }
        }
        leavers
    };
    let fresh = islands.list()[first..].par_iter();
    fresh.flat_map_iter(leavers).collect()
}

/// Returns the pairs of spheres that meet outside of the islands: the spheres of the islands from number
/// `first` on are tested against spheres outside their islands, and the candidates in `new` as well.
pub(crate) fn find_meetings(
    first: usize,
    new: std::ops::Range<u32>,
    islands: &Islands,
    setting: &Setting<'_>,
) -> Vec<[u32; 2]> {
    let outside = |island: &'_ Island| {
        let mut meetings = Vec::new();
        for ((sphere, path), &moved) in island.paths().zip(&island.moved) {
            for index in setting.candidates.of(sphere) {
                let candidate = setting.candidates.get(index);
                let Some(other) = candidate.other() else {
                    continue;
                };
                let other = if other == sphere {
                    candidate.sphere
                } else {
                    other
                };
                // Two new islands are tested once.
                let number = islands.number(other);
                let is_new = (first..islands.list().len()).contains(&number);
                if islands.together(sphere, other) || is_new && other < sphere {
                    continue;
                }
                let others = islands.moved(other);
                let others = others.unwrap_or_else(|| setting.straight_distance(other));
                if setting.gap(candidate) > moved + others {
                    continue;
                }
                // Two spheres without impacts have been tested before the first round.
                let both_straight = path.len() == 1
                    && islands
                        .path(other as usize)
                        .is_none_or(|path| path.len() == 1);
                if !both_straight && meets(index, islands, setting) {
                    meetings.push([sphere, other]);
                }
            }
        }
        meetings
    };
    let fresh = islands.list()[first..].par_iter();
    let mut meetings: Vec<_> = fresh.flat_map_iter(outside).collect();
    let new = new.filter(|&index| meets(index, islands, setting));
    meetings.extend(new.map(|index| {
        let candidate = setting.candidates.get(index);
        [
            candidate.sphere,
            candidate.other().unwrap_or(candidate.sphere),
        ]
    }));
    meetings
}

/// Returns whether the present paths of a sphere and its partner meet.
fn meets(index: u32, islands: &Islands, setting: &Setting<'_>) -> bool {
    let candidate = setting.candidates.get(index);
    // Along a wall, the path of the sphere stands for both.
    let ends = [
        candidate.sphere,
        candidate.other().unwrap_or(candidate.sphere),
    ];
    let straight = ends.map(|sphere| [Piece::straight(&setting.spheres[sphere as usize])]);
    let [a, b] = ends.map(|sphere| islands.path(sphere as usize));
    let [a, b] = [a.unwrap_or(&straight[0]), b.unwrap_or(&straight[1])];
    let contact = Contact::new(candidate, setting);
    let [end_a, end_b] = ends.map(|sphere| setting.end(islands.removal(sphere as usize)));
    paths_meet(a, b, end_a.min(end_b), |a, b, range| {
        contact.meeting(a, b, range).is_some()
    })
}

/// Runs rounds of replays and tests until no islands meet and no sphere has left its pad. Returns the number
/// of rounds. `hits` are the pairs that meet on straight paths.
pub(crate) fn settle(
    hits: &[[u32; 2]],
    start: &Start<'_>,
    candidates: &mut Candidates,
    islands: &mut Islands,
    detector: &mut Detector,
) -> Result<u64, Error> {
    let mut rounds = 0;
    let mut first = islands.join(hits);
    while first < islands.list().len() {
        rounds += 1;
        let setting = start.setting(candidates);
        replay_from(first, islands, &setting)?;
        let leavers = find_leavers(first, islands, &setting);
        let new = candidates.widen(detector, start, &leavers)?;
        let setting = start.setting(candidates);
        let meetings = find_meetings(first, new, islands, &setting);
        first = islands.join(&meetings);
    }
    Ok(rounds)
}

//! Islands: groups of spheres that hit each other in a substep, directly or through others.

use std::ops::Range;

use super::candidate::Candidate;
use super::narrow::narrow;
use super::path::Piece;
use super::report::{Impact, Removal};
use super::rows::{push, reserve};
use crate::Error;

/// The entry of `Islands::places` for a sphere that belongs to no island.
const NONE: u32 = u32::MAX;

/// Number of islands in a task. One thread replays the islands of a task, and writes their results
/// to one [`IslandPart`].
const ISLANDS: usize = 128;

/// A group of spheres whose impacts are processed together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Island {
    /// The range of the island's spheres in `Islands::members`. The range is empty if the island
    /// has been merged into another one.
    pub(crate) members: Range<u32>,
    /// Index in `Islands::parts` of the [`IslandPart`] with the results of this island, of which the fields below are
    /// ranges.
    pub(crate) part: u32,
    /// The impacts, sorted by time: a range of [`IslandPart::impacts`].
    pub(crate) impacts: Range<u32>,
    /// The spheres that impacts have removed from the simulation, sorted by sphere.
    pub(crate) removed: Range<u32>,
    /// The pairs that pass through each other at the end of the substep, as a rule wants.
    pub(crate) passing: Range<u32>,
    pub(crate) virial: f64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) sphere: u32,
    /// Number of the island.
    pub(crate) island: u32,
}

/// The path of a sphere of an island: a range of [`IslandPart::pieces`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Track {
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// An upper bound of the distance between the first point of the path and its other points.
    pub(crate) span: f64,
}

/// The results of one task. Times count from the start of the substep.
#[derive(Debug, Default)]
pub(crate) struct IslandPart {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) impacts: Vec<Impact>,
    pub(crate) removed: Vec<Removal>,
    pub(crate) passing: Vec<Candidate>,
    /// Spheres with contacts that wait for the end of the substep.
    pub(crate) waiting: Vec<u32>,
    /// The spheres that have left their pads, each with the distance that it has moved.
    pub(crate) leavers: Vec<(u32, f64)>,
}

/// A task for one thread: up to [`ISLANDS`] islands to replay.
#[derive(Debug)]
pub(crate) struct IslandTask<'a> {
    pub(crate) number: u32,
    pub(crate) islands: &'a mut [Island],
    /// The tracks of all spheres of `islands`.
    pub(crate) tracks: &'a mut [Track],
    pub(crate) part: &'a mut IslandPart,
}

/// All islands of a substep.
#[derive(Debug, Default)]
pub(crate) struct Islands {
    /// Disjoint-set forest. The root of a set is its smallest sphere.
    parents: Vec<u32>,
    /// For each sphere: its index in `members`, or [`NONE`].
    places: Vec<u32>,
    /// One bit for each sphere: whether the sphere belongs to an island.
    joined: Vec<u64>,
    members: Vec<Member>,
    /// The path of each sphere in `members`, in the same order.
    tracks: Vec<Track>,
    list: Vec<Island>,
    /// The results of the tasks. The first `used` parts belong to the current substep. The others only keep their
    /// memory.
    parts: Vec<IslandPart>,
    used: usize,
    /// One bit for each sphere: whether the running call of `join` puts it into a new island. All bits are 0 between
    /// two calls.
    touched: Vec<u64>,
    /// The spheres of the islands that a call of `join` makes. They are in ascending order, each
    /// with the number of its island.
    sorted: Vec<Member>,
}

impl Islands {
    /// Prepares for a new substep: removes all islands.
    pub(crate) fn reset(&mut self, spheres: usize) -> Result<(), Error> {
        let Self {
            parents,
            places,
            touched,
            joined,
            ..
        } = self;
        parents.clear();
        reserve(parents, spheres)?;
        parents.extend((0_u32..).take(spheres));
        places.clear();
        reserve(places, spheres)?;
        places.resize(spheres, NONE);
        for bits in [touched, joined] {
            bits.clear();
            reserve(bits, spheres.div_ceil(64))?;
            bits.resize(spheres.div_ceil(64), 0);
        }
        self.members.clear();
        self.tracks.clear();
        self.list.clear();
        self.used = 0;
        Ok(())
    }

    /// Puts the two spheres of each pair into the same island. Islands that the pairs connect become one new island,
    /// and the old ones are left without members. A sphere that meets only a wall is passed as a pair with itself, and
    /// gets a new island, too. Returns the number of the first new island.
    pub(crate) fn join<'a>(
        &mut self,
        pairs: impl Iterator<Item = &'a [u32; 2]> + Clone,
    ) -> Result<usize, Error> {
        let first = self.list.len();
        for &[a, b] in pairs.clone() {
            let [a, b] = [root(&mut self.parents, a), root(&mut self.parents, b)];
            self.parents[a.max(b) as usize] = a.min(b);
        }
        for &sphere in pairs.flatten() {
            self.touch(sphere);
            let island = self.member(sphere).map(|member| member.island as usize);
            if let Some(island) = island {
                // If the sphere belongs to an old island, all spheres of that island go into the
                // new one. This empties the old island's list of members, so it happens only once:
                // for the first of its spheres in this loop.
                for place in std::mem::take(&mut self.list[island].members) {
                    self.touch(self.members[place as usize].sphere);
                }
            }
        }
        // This loop visits the spheres in ascending order, so it reaches the root of an island, its smallest sphere,
        // first.
        self.sorted.clear();
        for word in 0..self.touched.len() {
            let mut bits = std::mem::take(&mut self.touched[word]);
            self.joined[word] |= bits;
            while bits != 0 {
                let sphere = narrow(64 * word) + bits.trailing_zeros();
                bits &= bits - 1;
                let root = root(&mut self.parents, sphere);
                if root == sphere {
                    self.places[sphere as usize] = narrow(self.list.len());
                    push(&mut self.list, Island::default())?;
                }
                let island = self.places[root as usize];
                // In this loop, `members.end` counts the spheres of an island.
                self.list[island as usize].members.end += 1;
                push(&mut self.sorted, Member { sphere, island })?;
            }
        }
        let before = self.members.len();
        let mut end = narrow(before);
        for island in &mut self.list[first..] {
            let count = island.members.end;
            island.members = end..end;
            end += count;
        }
        let added = self.sorted.len();
        reserve(&mut self.members, added)?;
        reserve(&mut self.tracks, added)?;
        let empty = Member {
            sphere: 0,
            island: NONE,
        };
        self.members.resize(before + added, empty);
        self.tracks.resize(before + added, Track::default());
        for &member in &self.sorted {
            let end = &mut self.list[member.island as usize].members.end;
            self.members[*end as usize] = member;
            self.places[member.sphere as usize] = *end;
            *end += 1;
        }
        Ok(first)
    }

    fn touch(&mut self, sphere: u32) {
        self.touched[sphere as usize / 64] |= 1 << (sphere % 64);
    }

    /// Divides the islands from number `first` on into tasks. Also returns a [`Lookup`], which finds the spheres of an
    /// island.
    pub(crate) fn tasks(
        &mut self,
        first: usize,
    ) -> Result<(Vec<IslandTask<'_>>, Lookup<'_>), Error> {
        let count = self.list[first..].len().div_ceil(ISLANDS);
        let from = self.used;
        self.used += count;
        let missing = self.used.saturating_sub(self.parts.len());
        reserve(&mut self.parts, missing)?;
        while self.parts.len() < self.used {
            self.parts.push(IslandPart::default());
        }
        let lookup = Lookup {
            joined: &self.joined,
            places: &self.places,
            members: &self.members,
        };
        let begin = self
            .list
            .get(first)
            .map_or(0, |island| island.members.start);
        let mut tracks = &mut self.tracks[begin as usize..];
        let mut tasks = Vec::new();
        reserve(&mut tasks, count)?;
        let islands = self.list[first..].chunks_mut(ISLANDS);
        let parts = self.parts[from..].iter_mut();
        for (number, (islands, part)) in (from..).zip(islands.zip(parts)) {
            let members = islands.iter().map(|island| island.members.len());
            let (own, others) = std::mem::take(&mut tracks).split_at_mut(members.sum());
            tracks = others;
            part.pieces.clear();
            part.impacts.clear();
            part.removed.clear();
            part.passing.clear();
            part.waiting.clear();
            part.leavers.clear();
            tasks.push(IslandTask {
                number: narrow(number),
                islands,
                tracks: own,
                part,
            });
        }
        Ok((tasks, lookup))
    }

    /// Returns spheres with contacts that wait for the end of the substep. Some may be listed twice.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = u32> {
        let parts = self.parts[..self.used].iter();
        parts.flat_map(|part| &part.waiting).copied()
    }

    pub(crate) fn list(&self) -> &[Island] {
        &self.list
    }

    pub(crate) fn part(&self, island: &Island) -> &IslandPart {
        &self.parts[island.part as usize]
    }

    pub(crate) fn impacts(&self, island: &Island) -> &[Impact] {
        let Range { start, end } = island.impacts;
        &self.part(island).impacts[start as usize..end as usize]
    }

    pub(crate) fn removed(&self, island: &Island) -> &[Removal] {
        let Range { start, end } = island.removed;
        &self.part(island).removed[start as usize..end as usize]
    }

    pub(crate) fn passing(&self, island: &Island) -> &[Candidate] {
        let Range { start, end } = island.passing;
        &self.part(island).passing[start as usize..end as usize]
    }

    pub(crate) fn members(&self, island: &Island) -> &[Member] {
        &self.members[island.members.start as usize..island.members.end as usize]
    }

    /// Returns the spheres of an island, each with its track.
    pub(crate) fn tracks(&self, island: &Island) -> impl Iterator<Item = (&Member, &Track)> {
        let places = island.members.start as usize..island.members.end as usize;
        self.members[places.clone()]
            .iter()
            .zip(&self.tracks[places])
    }

    /// Returns whether a sphere belongs to an island.
    #[inline]
    pub(crate) fn is_member(&self, sphere: u32) -> bool {
        has_bit(&self.joined, sphere)
    }

    /// Returns the entry of a sphere, or `None` if it belongs to no island.
    #[inline]
    pub(crate) fn member(&self, sphere: u32) -> Option<Member> {
        let place = self.places[sphere as usize];
        self.members.get(place as usize).copied()
    }

    /// Returns when and how a sphere is removed in this substep, or `None` if it is not removed.
    #[inline]
    pub(crate) fn removal(&self, sphere: u32) -> Option<&Removal> {
        let island = &self.list[self.member(sphere)?.island as usize];
        if island.removed.is_empty() {
            return None;
        }
        let removed = self.removed(island);
        let found = removed.binary_search_by_key(&sphere, |removal| removal.sphere);
        found.ok().map(|place| &removed[place])
    }

    /// Returns [`Track::span`], or `None` if the sphere belongs to no island.
    #[inline]
    pub(crate) fn span(&self, sphere: u32) -> Option<f64> {
        let track = self.tracks.get(self.places[sphere as usize] as usize);
        track.map(|track| track.span)
    }

    /// Returns the path of a sphere, or `None` if it belongs to no island: its path is straight.
    #[inline]
    pub(crate) fn path(&self, sphere: u32) -> Option<&[Piece]> {
        let place = self.places[sphere as usize] as usize;
        let member = self.members.get(place)?;
        let Track { first, count, .. } = self.tracks[place];
        let pieces = &self.part(&self.list[member.island as usize]).pieces;
        Some(&pieces[first as usize..(first + count) as usize])
    }
}

/// Finds the list of an island's spheres, and the place of a given sphere in this list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lookup<'a> {
    joined: &'a [u64],
    places: &'a [u32],
    members: &'a [Member],
}

impl<'a> Lookup<'a> {
    pub(crate) fn members(&self, island: &Island) -> &'a [Member] {
        &self.members[island.members.start as usize..island.members.end as usize]
    }

    /// Returns the place of a sphere in the list of an island's spheres, or `None` if the sphere does not belong to
    /// this island.
    #[inline]
    pub(crate) fn place(&self, island: &Island, sphere: u32) -> Option<u32> {
        // Most spheres belong to no island. Reading the bit is faster than reading `places`, because the bits take less
        // memory.
        if !has_bit(self.joined, sphere) {
            return None;
        }
        let place = self.places[sphere as usize];
        island
            .members
            .contains(&place)
            .then(|| place - island.members.start)
    }
}

fn has_bit(bits: &[u64], sphere: u32) -> bool {
    bits[sphere as usize / 64] >> (sphere % 64) & 1 != 0
}

/// Returns the root of a member of a disjoint-set forest.
pub(crate) fn root(parents: &mut [u32], mut sphere: u32) -> u32 {
    while parents[sphere as usize] != sphere {
        let grandparent = parents[parents[sphere as usize] as usize];
        parents[sphere as usize] = grandparent;
        sphere = grandparent;
    }
    sphere
}

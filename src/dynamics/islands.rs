//! Islands: groups of spheres that hit each other in a substep, directly or through others.

use super::path::Piece;
use super::report::{Impact, Removal};

/// Island of a sphere that meets nothing.
const NONE: u32 = u32::MAX;

/// A group of spheres whose impacts are processed together.
#[derive(Debug, Default)]
pub(crate) struct Island {
    /// Indices of the spheres, sorted. An island that has become a part of another one has none.
    pub(crate) members: Vec<u32>,
    /// The paths of all members, one after the other.
    pub(crate) pieces: Vec<Piece>,
    /// For each member, the end of its path in `pieces`.
    pub(crate) ends: Vec<u32>,
    /// The impacts in order, with times from the start of the substep.
    pub(crate) impacts: Vec<Impact>,
    pub(crate) virial: f64,
    /// The members that are removed, sorted by sphere, with times from the start of the substep.
    pub(crate) removed: Vec<Removal>,
    /// For each member, a bound of the distance that it moves from its first point.
    pub(crate) moved: Vec<f64>,
}

impl Island {
    pub(crate) fn path(&self, place: usize) -> &[Piece] {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.pieces[start as usize..self.ends[place] as usize]
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = (u32, &[Piece])> {
        let members = self.members.iter().enumerate();
        members.map(|(place, &sphere)| (sphere, self.path(place)))
    }

    /// Returns the removal of a member, if it is removed.
    pub(crate) fn removal(&self, sphere: usize) -> Option<&Removal> {
        let found = self
            .removed
            .binary_search_by_key(&sphere, |removal| removal.sphere as usize);
        found.ok().map(|place| &self.removed[place])
    }
}

/// All islands of a substep.
#[derive(Debug, Default)]
pub(crate) struct Islands {
    /// Disjoint-set forest. The root of a set is its smallest sphere.
    parents: Vec<u32>,
    /// Island of each sphere, or [`NONE`].
    of: Vec<u32>,
    /// Place of each sphere among the members of its island.
    places: Vec<u32>,
    list: Vec<Island>,
}

impl Islands {
    /// Starts a substep without islands.
    pub(crate) fn reset(&mut self, spheres: u32) {
        self.parents.clear();
        self.parents.extend(0..spheres);
        self.of.clear();
        self.of.resize(spheres as usize, NONE);
        self.places.resize(spheres as usize, 0);
        self.list.clear();
    }

    /// Makes islands of the pairs that meet, and merges the islands that these pairs connect. A pair of a
    /// sphere with itself makes or renews the island of this sphere. Returns the number of the first new
    /// island. Islands that became parts of new ones are left without members.
    pub(crate) fn join(&mut self, pairs: &[[u32; 2]]) -> usize {
        for &[a, b] in pairs {
            let [a, b] = [a, b].map(|sphere| root(&mut self.parents, sphere));
            self.parents[a.max(b) as usize] = a.min(b);
        }
        let mut touched: Vec<_> = pairs
            .iter()
            .flatten()
            .map(|&sphere| (root(&mut self.parents, sphere), sphere))
            .collect();
        touched.sort_unstable();
        touched.dedup();
        let first = self.list.len();
        for group in touched.chunk_by(|one, other| one.0 == other.0) {
            let mut members = Vec::with_capacity(group.len());
            for &(_, sphere) in group {
                match self.list.get_mut(self.of[sphere as usize] as usize) {
                    // The first of several spheres of an island takes all its members.
                    Some(island) => members.append(&mut island.members),
                    None => members.push(sphere),
                }
            }
            members.sort_unstable();
            self.list.push(Island {
                members,
                ..Island::default()
            });
        }
        for (number, island) in self.list.iter().enumerate().skip(first) {
            for (place, &sphere) in island.members.iter().enumerate() {
                self.of[sphere as usize] = index(number);
                self.places[sphere as usize] = index(place);
            }
        }
        first
    }

    /// Returns the islands from number `first` on, and a function to look up islands of spheres, so that the
    /// islands can change meanwhile.
    pub(crate) fn split(&mut self, first: usize) -> (&mut [Island], Lookup<'_>) {
        let lookup = Lookup {
            of: &self.of,
            places: &self.places,
        };
        (&mut self.list[first..], lookup)
    }

    pub(crate) fn list(&self) -> &[Island] {
        &self.list
    }

    /// Returns whether two spheres are in one island.
    pub(crate) fn together(&self, a: u32, b: u32) -> bool {
        let [a, b] = [a, b].map(|sphere| self.of[sphere as usize]);
        a == b && a != NONE
    }

    /// Returns the number of the island of a sphere, or a number past the last one.
    pub(crate) fn number(&self, sphere: u32) -> usize {
        self.of[sphere as usize] as usize
    }

    /// Returns a bound of the distance that a sphere of an island moves, or `None` for the straight path of a
    /// sphere without an island.
    pub(crate) fn moved(&self, sphere: u32) -> Option<f64> {
        let island = self.list.get(self.number(sphere))?;
        island
            .moved
            .get(self.places[sphere as usize] as usize)
            .copied()
    }

    /// Returns the removal of a sphere, if it is removed in this substep.
    pub(crate) fn removal(&self, sphere: usize) -> Option<&Removal> {
        self.list.get(self.of[sphere] as usize)?.removal(sphere)
    }

    /// Returns the path of a sphere, or `None` for the straight path of a sphere without an island.
    pub(crate) fn path(&self, sphere: usize) -> Option<&[Piece]> {
        let island = self.list.get(self.of[sphere] as usize)?;
        Some(island.path(self.places[sphere] as usize))
    }
}

/// Tells the island of a sphere, and its place there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lookup<'a> {
    of: &'a [u32],
    places: &'a [u32],
}

impl Lookup<'_> {
    pub(crate) fn island(&self, sphere: u32) -> u32 {
        self.of[sphere as usize]
    }

    pub(crate) fn place(&self, sphere: u32) -> u32 {
        self.places[sphere as usize]
    }
}

fn root(parents: &mut [u32], mut sphere: u32) -> u32 {
    while parents[sphere as usize] != sphere {
        let grandparent = parents[parents[sphere as usize] as usize];
        parents[sphere as usize] = grandparent;
        sphere = grandparent;
    }
    sphere
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³⁰ spheres"
)]
fn index(number: usize) -> u32 {
    number as u32
}

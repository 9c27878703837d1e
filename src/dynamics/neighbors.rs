//! Finds all candidate pairs of spheres in the tree of boxes. Lists, in a row for each sphere, its
//! pairs without images.

use std::sync::atomic::{AtomicU64, Ordering};

use glam::DVec3;
use rayon::prelude::*;

use super::boxes::{Boxes, EIGHT, NearLeaves, bounds_of};
use super::candidates::{can_meet, enlarged, out_of_range};
use super::rows::{push, reserve};
use super::substep::Start;
use crate::lanes::LANES;
use crate::limits::most_images;
use crate::{Error, Options, Sphere};

/// Number of successive spheres whose rows share a list.
const SPHERES: usize = 64 * EIGHT;

/// The candidate pairs without images. Each pair is in the rows of both spheres. A row has first the spheres of smaller
/// index than its own, and then those of larger index.
#[derive(Debug, Default)]
pub(crate) struct Neighbors {
    chunks: Vec<Chunk>,
    pairs: usize,
}

/// The rows of some successive spheres.
#[derive(Debug, Default)]
struct Chunk {
    /// The rows one after the other: for each sphere, the other spheres of its pairs. A row is read
    /// four numbers at a time, so four unused numbers follow the last row.
    entries: Vec<u32>,
    /// The start of the row of each sphere, and the end of the last row.
    starts: Vec<u32>,
    /// For each sphere, the start of those entries in its row that are larger than its own index.
    middles: Vec<u32>,
    /// The pairs with images. The image is that of the second sphere.
    with_images: Vec<([u32; 2], [i32; 3])>,
}

/// A search for pairs that overlap.
#[derive(Debug)]
struct Search<'a> {
    /// All spheres with their pads.
    padded: &'a [Sphere],
    boxes: &'a Boxes,
    start: &'a Start<'a>,
    /// For each edge of a periodic domain, the largest distance, in cells, by which the centre of a
    /// sphere lies outside the cell.
    beyond: [f64; 3],
    /// Whether any two spheres may meet, because there are no bodies, no groups, no removed spheres
    /// and no spheres of infinite mass.
    all_meet: bool,
    /// Number of entries that the search has added to rows, two for each pair, and number of periodic images
    /// that it has searched.
    entries: AtomicU64,
    images: AtomicU64,
}

/// Working memory of a search.
#[derive(Debug, Default)]
struct Scratch {
    near: NearLeaves,
    displaced: Vec<Sphere>,
}

impl Neighbors {
    /// Finds all pairs that overlap among `padded`, the spheres enlarged by their pads. `boxes` is
    /// the tree of these spheres. Along each edge, their centres lie at most `beyond` cells outside
    /// the cell of a periodic domain.
    pub(crate) fn search(
        &mut self,
        padded: &[Sphere],
        boxes: &Boxes,
        start: &Start<'_>,
        beyond: [f64; 3],
    ) -> Result<(), Error> {
        let count = padded.len().div_ceil(SPHERES);
        let missing = count.saturating_sub(self.chunks.len());
        reserve(&mut self.chunks, missing)?;
        self.chunks.resize_with(count, Chunk::default);
        let search = Search {
            padded,
            boxes,
            start,
            beyond,
            all_meet: start.all_meet(),
            entries: AtomicU64::new(0),
            images: AtomicU64::new(0),
        };
        let chunks = self.chunks.par_iter_mut().enumerate();
        let results = chunks.map_init(Scratch::default, |scratch, (number, chunk)| {
            let first = SPHERES * number;
            chunk.fill(first..padded.len().min(first + SPHERES), &search, scratch)
        });
        let results: Vec<_> = results.collect();
        results.into_iter().collect::<Result<(), Error>>()?;
        let chunks = self.chunks.iter();
        let entries = chunks.map(|chunk| chunk.entries.len() - LANES + 2 * chunk.with_images.len());
        self.pairs = entries.sum::<usize>() / 2;
        Ok(())
    }

    /// Returns the pairs with images. The image is that of the second sphere.
    pub(crate) fn with_images(&self) -> impl Iterator<Item = ([u32; 2], [i32; 3])> {
        let chunks = self.chunks.iter();
        chunks.flat_map(|chunk| chunk.with_images.iter().copied())
    }

    /// Returns the number of pairs that the search has found.
    pub(crate) fn pairs(&self) -> usize {
        self.pairs
    }

    /// Returns the spheres in the row of a sphere.
    #[inline]
    pub(crate) fn of(&self, sphere: u32) -> &[u32] {
        let (chunk, place) = self.place(sphere);
        &chunk.entries[chunk.starts[place] as usize..chunk.starts[place + 1] as usize]
    }

    /// Returns the spheres of larger index in the row of a sphere.
    #[inline]
    pub(crate) fn of_larger(&self, sphere: u32) -> &[u32] {
        let (chunk, place) = self.place(sphere);
        &chunk.entries[chunk.middles[place] as usize..chunk.starts[place + 1] as usize]
    }

    /// Returns the spheres in the row of a sphere in groups of four. With each group comes its
    /// number of spheres that belong to the row, which is smaller than four only in the last group.
    #[inline]
    pub(crate) fn groups_of(&self, sphere: u32) -> impl Iterator<Item = ([u32; LANES], usize)> {
        let (chunk, place) = self.place(sphere);
        chunk.groups(chunk.starts[place], chunk.starts[place + 1])
    }

    /// Returns the spheres of larger index in the row of a sphere in groups of four. With each
    /// group comes its number of spheres that belong to the row, which is smaller than four only in
    /// the last group.
    #[inline]
    pub(crate) fn groups_of_larger(
        &self,
        sphere: u32,
    ) -> impl Iterator<Item = ([u32; LANES], usize)> {
        let (chunk, place) = self.place(sphere);
        chunk.groups(chunk.middles[place], chunk.starts[place + 1])
    }

    #[inline]
    fn place(&self, sphere: u32) -> (&Chunk, usize) {
        let sphere = sphere as usize;
        (&self.chunks[sphere / SPHERES], sphere % SPHERES)
    }
}

impl Chunk {
    /// Lists the pairs of a range of spheres.
    fn fill(
        &mut self,
        spheres: std::ops::Range<usize>,
        search: &Search<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        self.entries.clear();
        self.starts.clear();
        self.middles.clear();
        self.with_images.clear();
        push(&mut self.starts, 0)?;
        for first in spheres.clone().step_by(EIGHT) {
            let leaf = first..spheres.end.min(first + EIGHT);
            self.list(leaf.clone(), search, scratch)?;
            if !search.start.lattice.is_open() {
                self.list_images(leaf, search, scratch)?;
            }
        }
        reserve(&mut self.entries, LANES)?;
        self.entries.extend([0; LANES]);
        Ok(())
    }

    /// Lists the pairs of each sphere of a leaf with other spheres, without images.
    fn list(
        &mut self,
        leaf: std::ops::Range<usize>,
        search: &Search<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let own = &search.padded[leaf.clone()];
        let before = self.entries.len();
        search.boxes.near(&bounds_of(own), &mut scratch.near)?;
        for (sphere, place) in own.iter().zip(leaf) {
            let place = index(place);
            search.boxes.find(&mut scratch.near, sphere)?;
            let found = scratch.near.found();
            reserve(&mut self.entries, found.len())?;
            let mut middle = self.entries.len();
            for &other in found {
                if search.meet([place, other]) {
                    middle += usize::from(other < place);
                    self.entries.push(other);
                }
            }
            push(&mut self.middles, index(middle))?;
            push(&mut self.starts, index(self.entries.len()))?;
        }
        search.count_entries(self.entries.len() - before)
    }

    /// Lists the pairs of a sphere of a leaf and an image of a sphere of larger index.
    fn list_images(
        &mut self,
        leaf: std::ops::Range<usize>,
        search: &Search<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let own = &search.padded[leaf.clone()];
        let lattice = search.start.lattice;
        let (center, reach) = bounds_of(own).center_and_reach();
        let reach = reach + f64::from(search.boxes.most_radius());
        let images = lattice.images_within(center, reach, search.beyond);
        let images = images.ok_or_else(|| search.out_of_range())?;
        search.count_images(images.count() - 1)?;
        let mut result = Ok(());
        images.each(|image| {
            if image == [0; 3] || result.is_err() {
                return;
            }
            scratch.displaced.clear();
            // Instead of displacing the second sphere of each pair by `shift`, the first one is
            // displaced by −`shift`.
            let shift = lattice.shift(image);
            scratch.displaced.extend(own.iter().map(|sphere| {
                let center = DVec3::from(sphere.center.map(f64::from)) - shift;
                enlarged(center, sphere.radius.into(), lattice)
            }));
            result = self.list_image(leaf.start, image, search, scratch);
        });
        result
    }

    /// Lists the pairs of a sphere in `scratch.displaced`, whose indices start with `first`, and
    /// the image `image` of a sphere of larger index.
    fn list_image(
        &mut self,
        first: usize,
        image: [i32; 3],
        search: &Search<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let Scratch { near, displaced } = scratch;
        let before = self.with_images.len();
        search.boxes.near(&bounds_of(displaced), near)?;
        for (sphere, place) in displaced.iter().zip(first..) {
            let place = index(place);
            search.boxes.find(near, sphere)?;
            for &other in near.found() {
                if place < other && search.meet([place, other]) {
                    push(&mut self.with_images, ([place, other], image))?;
                }
            }
        }
        search.count_entries(2 * (self.with_images.len() - before))
    }

    #[inline]
    fn groups(&self, first: u32, end: u32) -> impl Iterator<Item = ([u32; LANES], usize)> {
        let count = (end - first) as usize;
        let groups = self.entries[first as usize..].windows(LANES).step_by(LANES);
        let groups = groups.take(count.div_ceil(LANES)).enumerate();
        groups.map(move |(group, entries)| {
            let others = [entries[0], entries[1], entries[2], entries[3]];
            (others, (count - LANES * group).min(LANES))
        })
    }
}

impl Search<'_> {
    #[inline]
    fn meet(&self, pair: [u32; 2]) -> bool {
        pair[0] != pair[1] && (self.all_meet || can_meet(pair, self.start))
    }

    /// Returns an error for the sphere that reaches farthest with its pad.
    fn out_of_range(&self) -> Error {
        let all = self.padded.iter().zip(self.start.ids);
        let widest = all.max_by(|(a, _), (b, _)| a.radius.total_cmp(&b.radius));
        out_of_range(widest.map_or(0, |(_, &id)| id))
    }

    /// Adds to the number of entries, two for each pair. Returns an error if there are too many
    /// pairs. The error always names one pair more than the limit, because the count at which the
    /// threads stop depends on timing.
    fn count_entries(&self, count: usize) -> Result<(), Error> {
        let count = count as u64;
        let limit = Options::new().max_pairs;
        if self.entries.fetch_add(count, Ordering::Relaxed) + count > 2 * limit {
            let needed = limit + 1;
            return Err(Error::TooManyPairs { needed, limit });
        }
        Ok(())
    }

    /// Adds to the number of images. Returns an error if they are too many.
    fn count_images(&self, count: u64) -> Result<(), Error> {
        let limit = most_images(self.padded.len());
        let before = self
            .images
            .fetch_add(count.min(limit + 1), Ordering::Relaxed);
        if before + count.min(limit + 1) > limit {
            let needed = limit + 1;
            return Err(Error::TooManyImages { needed, limit });
        }
        Ok(())
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³⁰ spheres, and fewer entries than 2³²"
)]
fn index(number: usize) -> u32 {
    number as u32
}

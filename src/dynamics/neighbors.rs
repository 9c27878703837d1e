//! Finds all candidate pairs of spheres in the tree of boxes. The *row* of a sphere lists the other
//! spheres that it forms a pair with. Pairs with a periodic image of a sphere are listed
//! separately.

use std::sync::atomic::{AtomicU64, Ordering};

use glam::DVec3;
use rayon::prelude::*;

use super::boxes::{Boxes, EIGHT, NearLeaves, bounds_of};
#[cfg(feature = "serde")]
use super::coded::{Coded, Coder, check};
use super::narrow::narrow;
use super::padded::{Fine, can_meet, enlarged, images_of_pair, out_of_range, overlap};
use super::rows::{SUBSTEP, push, reserve};
use super::start::Start;
use super::work::Work;
use crate::lanes::LANES;
use crate::lattice::ImageBlock;
use crate::limits::most_images;
use crate::memory::collect_in_parallel;
use crate::{Error, Options, Sphere};

/// Number of successive spheres whose neighbours are stored in one [`RowChunk`].
const SPHERES: usize = 64 * EIGHT;

/// The candidate pairs of spheres. The row of a sphere lists its neighbours: first the spheres of
/// smaller index than its own, and then the spheres of larger index. Pairs with a periodic image of
/// a sphere are not in the rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct CandidateRows {
    chunks: Vec<RowChunk>,
    pairs: usize,
}

/// The neighbours of up to [`SPHERES`] spheres with successive indices.
#[derive(Clone, Debug, Default)]
struct RowChunk {
    /// The rows one after the other. A row is read four numbers at a time, so four unused numbers follow the last.
    entries: Vec<u32>,
    /// The start of the row of each sphere, and the end of the last row.
    starts: Vec<u32>,
    /// For each sphere, the place in `entries` where its neighbours of larger index begin.
    middles: Vec<u32>,
    /// The pairs of a sphere and a periodic image of a second sphere, with the number of the image.
    with_images: Vec<([u32; 2], [i32; 3])>,
}

/// What some spheres have in common: bits of their collision groups, and a compound body.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Common {
    groups: u32,
    /// `None` if the spheres belong to several bodies, or some to none.
    body: Option<u32>,
}

impl Common {
    /// Returns what the present spheres of a range have in common, or `None` if there are none.
    fn of(
        places: impl Iterator<Item = usize>,
        padded: &[Sphere],
        start: &Start<'_>,
    ) -> Option<Self> {
        let present = places.filter(|&place| !start.removed[place]);
        let each = present.map(|place| Self {
            groups: padded[place].groups,
            body: (start.options.bodies.get(start.ids[place] as usize))
                .copied()
                .flatten(),
        });
        each.reduce(Self::both)
    }

    fn both(self, other: Self) -> Self {
        Self {
            groups: self.groups & other.groups,
            body: self.body.filter(|_| self.body == other.body),
        }
    }

    /// Returns whether none of the spheres can meet any of others.
    fn pass(self, others: Self) -> bool {
        let [own, other] = [self, others].map(|common| Sphere {
            groups: common.groups,
            ..Sphere::default()
        });
        own.ignores(&other) || (self.body.is_some() && self.body == others.body)
    }
}

/// The data that all threads of a search share. The search finds the pairs of spheres that overlap
/// when their radii are enlarged by their pads.
#[derive(Debug)]
struct CandidateSearch<'a> {
    /// All spheres, each with its radius enlarged by its pad.
    padded: &'a [Sphere],
    boxes: &'a Boxes,
    start: &'a Start<'a>,
    /// How far the centres of spheres lie outside the cell of a periodic domain: for each edge, the
    /// largest distance as a multiple of the edge.
    beyond: [f64; 3],
    /// Whether every two spheres can meet, because there are no compound bodies, no collision
    /// groups, no removed spheres and no spheres of infinite mass.
    all_meet: bool,
    /// What the spheres of each leaf have in common, and what all spheres have. Empty without collision groups and
    /// compound bodies.
    common: Vec<Option<Common>>,
    of_all: Option<Common>,
    /// Whether to search for pairs of a sphere and a periodic image of another sphere.
    any_images: bool,
    /// Tests the pairs in float64, if float32 is too coarse for the extent of all spheres.
    fine: Option<Fine<'a>>,
    /// Number of entries in the lists so far, two for each pair.
    entries: AtomicU64,
}

/// Working memory with which a thread searches for candidate pairs.
#[derive(Debug, Default)]
struct SearchScratch {
    near: NearLeaves,
    displaced: Vec<Sphere>,
}

impl CandidateRows {
    /// Finds all pairs that overlap among `padded`, the spheres enlarged by their pads. `boxes` is the
    /// tree of these spheres. `any_images` says whether to find pairs with periodic images of spheres,
    /// too. `beyond` says how far the centres lie outside the cell of a periodic domain, as a multiple of
    /// each edge. `fine` tests the pairs further. What the search takes is added to `work`.
    #[allow(
        clippy::too_many_arguments,
        reason = "each is a part of the candidates"
    )]
    pub(crate) fn search(
        &mut self,
        padded: &[Sphere],
        boxes: &Boxes,
        start: &Start<'_>,
        any_images: bool,
        beyond: [f64; 3],
        fine: Option<Fine<'_>>,
        work: &mut Work,
    ) -> Result<(), Error> {
        let count = padded.len().div_ceil(SPHERES);
        let missing = count.saturating_sub(self.chunks.len());
        reserve(&mut self.chunks, missing)?;
        self.chunks.resize_with(count, RowChunk::default);
        let mut common = Vec::new();
        if !(start.options.groups.is_empty() && start.options.bodies.is_empty()) {
            reserve(&mut common, padded.len().div_ceil(EIGHT))?;
            let all = (0..padded.len()).step_by(EIGHT);
            common.extend(all.map(|first| {
                let leaf = first..padded.len().min(first + EIGHT);
                Common::of(leaf, padded, start)
            }));
        }
        let search = CandidateSearch {
            padded,
            boxes,
            start,
            beyond,
            all_meet: start.all_meet(),
            of_all: common.iter().copied().flatten().reduce(Common::both),
            common,
            any_images,
            fine,
            entries: AtomicU64::new(0),
        };
        work.add(Work::IMAGE, search.check_images()?);
        let chunks = self.chunks.par_iter_mut().enumerate();
        let results = chunks.map_init(SearchScratch::default, |scratch, (number, chunk)| {
            let first = SPHERES * number;
            chunk.fill(first..padded.len().min(first + SPHERES), &search, scratch)
        });
        let results = collect_in_parallel(results, SUBSTEP)?;
        let result = results.into_iter().collect::<Result<(), Error>>();
        if let Err(Error::TooManyPairs { limit, .. }) = result {
            work.add(Work::PAIR, limit);
        }
        result?;
        let chunks = self.chunks.iter();
        let entries = chunks.map(|chunk| chunk.entries.len() - LANES + 2 * chunk.with_images.len());
        self.pairs = entries.sum::<usize>() / 2;
        work.add(Work::PAIR, self.pairs as u64);
        Ok(())
    }

    /// Writes the rows of all spheres, or reads them. The pairs with images are not needed after the search.
    #[cfg(feature = "serde")]
    pub(crate) fn code(&mut self, coder: &mut Coder, spheres: usize) -> Result<(), String> {
        self.pairs.code(coder)?;
        self.chunks
            .resize_with(spheres.div_ceil(SPHERES), RowChunk::default);
        for (number, chunk) in self.chunks.iter_mut().enumerate() {
            let own = SPHERES.min(spheres - SPHERES * number);
            chunk
                .entries
                .truncate(chunk.entries.len().saturating_sub(LANES));
            chunk.entries.code(coder)?;
            chunk.starts.code(coder)?;
            chunk.middles.code(coder)?;
            let (starts, middles) = (&chunk.starts, &chunk.middles);
            let rows = starts.windows(2).zip(middles);
            let valid = starts.len() == own + 1
                && middles.len() == own
                && starts[0] == 0
                && starts[own] as usize == chunk.entries.len()
                && rows
                    .clone()
                    .all(|(row, middle)| (row[0]..=row[1]).contains(middle))
                && chunk
                    .entries
                    .iter()
                    .all(|&other| (other as usize) < spheres);
            check(valid, "rows")?;
            chunk.entries.extend([0; LANES]);
        }
        Ok(())
    }

    /// Returns the pairs of a sphere and a periodic image of a second sphere, each with the numbers
    /// of this image along the three edges of the domain.
    pub(crate) fn with_images(&self) -> impl Iterator<Item = ([u32; 2], [i32; 3])> {
        let chunks = self.chunks.iter();
        chunks.flat_map(|chunk| chunk.with_images.iter().copied())
    }

    /// Returns the number of pairs that the search has found.
    pub(crate) fn pairs(&self) -> usize {
        self.pairs
    }

    /// Returns the spheres that form a pair with a given sphere.
    #[inline]
    pub(crate) fn of(&self, sphere: u32) -> &[u32] {
        let (chunk, place) = self.place(sphere);
        &chunk.entries[chunk.starts[place] as usize..chunk.starts[place + 1] as usize]
    }

    /// Returns the neighbours of a sphere that have a larger index than the sphere.
    #[inline]
    pub(crate) fn of_larger(&self, sphere: u32) -> &[u32] {
        let (chunk, place) = self.place(sphere);
        &chunk.entries[chunk.middles[place] as usize..chunk.starts[place + 1] as usize]
    }

    /// Returns the neighbours of a sphere in arrays of four, each with the number of neighbours in
    /// it. Only the last array can have fewer than four neighbours.
    #[inline]
    pub(crate) fn groups_of(&self, sphere: u32) -> impl Iterator<Item = ([u32; LANES], usize)> {
        let (chunk, place) = self.place(sphere);
        chunk.groups(chunk.starts[place], chunk.starts[place + 1])
    }

    /// As [`groups_of`](Self::groups_of), for the neighbours of larger index.
    #[inline]
    pub(crate) fn groups_of_larger(
        &self,
        sphere: u32,
    ) -> impl Iterator<Item = ([u32; LANES], usize)> {
        let (chunk, place) = self.place(sphere);
        chunk.groups(chunk.middles[place], chunk.starts[place + 1])
    }

    #[inline]
    fn place(&self, sphere: u32) -> (&RowChunk, usize) {
        let sphere = sphere as usize;
        (&self.chunks[sphere / SPHERES], sphere % SPHERES)
    }
}

impl RowChunk {
    /// Finds the neighbours of the spheres with the indices `spheres`, and stores them in this
    /// chunk.
    fn fill(
        &mut self,
        spheres: std::ops::Range<usize>,
        search: &CandidateSearch<'_>,
        scratch: &mut SearchScratch,
    ) -> Result<(), Error> {
        self.entries.clear();
        self.starts.clear();
        self.middles.clear();
        self.with_images.clear();
        push(&mut self.starts, 0)?;
        for first in spheres.clone().step_by(EIGHT) {
            let leaf = first..spheres.end.min(first + EIGHT);
            self.list(leaf.clone(), search, scratch)?;
            if search.any_images {
                for group in search.groups(leaf) {
                    self.list_images(group, search, scratch)?;
                }
            }
        }
        reserve(&mut self.entries, LANES)?;
        self.entries.extend([0; LANES]);
        Ok(())
    }

    /// Writes the row of each sphere of a leaf.
    fn list(
        &mut self,
        leaf: std::ops::Range<usize>,
        search: &CandidateSearch<'_>,
        scratch: &mut SearchScratch,
    ) -> Result<(), Error> {
        let own = &search.padded[leaf.clone()];
        let before = self.entries.len();
        let number = leaf.start / EIGHT;
        if search.passes(number, search.of_all) {
            for _ in leaf {
                push(&mut self.middles, narrow(before))?;
                push(&mut self.starts, narrow(before))?;
            }
            return Ok(());
        }
        search.boxes.near(&bounds_of(own), &mut scratch.near)?;
        if !search.common.is_empty() {
            let others = |leaf: u32| search.common[leaf as usize];
            (scratch.near).retain(|leaf| !search.passes(number, others(leaf)));
        }
        for (sphere, place) in own.iter().zip(leaf) {
            let place = narrow(place);
            search.boxes.find(&mut scratch.near, sphere)?;
            let found = scratch.near.found();
            reserve(&mut self.entries, found.len())?;
            let mut middle = self.entries.len();
            for &other in found {
                let is_near = search.fine.is_none_or(|fine| fine.overlap([place, other]));
                if is_near && search.meet([place, other]) {
                    middle += usize::from(other < place);
                    self.entries.push(other);
                }
            }
            push(&mut self.middles, narrow(middle))?;
            push(&mut self.starts, narrow(self.entries.len()))?;
        }
        search.count_entries(self.entries.len() - before)
    }

    /// Lists the pairs of a sphere with a periodic image of another sphere. `group` is the range of
    /// the indices of the first spheres. Each pair is listed once. If only one of the two spheres
    /// is wide, the pair is listed for the wide sphere. Otherwise, it is listed for the sphere of
    /// smaller index.
    fn list_images(
        &mut self,
        group: std::ops::Range<usize>,
        search: &CandidateSearch<'_>,
        scratch: &mut SearchScratch,
    ) -> Result<(), Error> {
        let own = &search.padded[group.clone()];
        let lattice = search.start.lattice;
        for other in search.wide_after(&group) {
            self.list_wide([narrow(group.start), other], search)?;
        }
        let images = search.images(&group).ok_or_else(|| search.out_of_range())?;
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
            result = self.list_image(group.start, image, search, scratch);
        });
        result
    }

    /// Lists the periodic images of a wide sphere that overlap another wide sphere.
    fn list_wide(&mut self, pair: [u32; 2], search: &CandidateSearch<'_>) -> Result<(), Error> {
        if !search.meet(pair) {
            return Ok(());
        }
        let before = self.with_images.len();
        let spheres = pair.map(|place| &search.padded[place as usize]);
        let images = images_of_pair(spheres, search.start.lattice);
        let mut result = Ok(());
        images.ok_or_else(|| search.out_of_range())?.each(|image| {
            let counts = image != [0; 3] && result.is_ok();
            if counts && overlap(spheres, image, search.start.lattice) {
                result = push(&mut self.with_images, (pair, image));
            }
        });
        result?;
        search.count_entries(2 * (self.with_images.len() - before))
    }

    /// Lists pairs of a sphere with the periodic image `image` of a second sphere. `scratch.displaced` has
    /// the first spheres of the pairs, displaced by the opposite of the image's displacement. The indices of
    /// the first spheres are consecutive and start at `first`. Pairs whose second sphere is wide are left
    /// out.
    fn list_image(
        &mut self,
        first: usize,
        image: [i32; 3],
        search: &CandidateSearch<'_>,
        scratch: &mut SearchScratch,
    ) -> Result<(), Error> {
        let SearchScratch { near, displaced } = scratch;
        let before = self.with_images.len();
        let is_wide = search.is_wide(first);
        search.boxes.near(&bounds_of(displaced), near)?;
        for (sphere, place) in displaced.iter().zip(first..) {
            let place = narrow(place);
            search.boxes.find(near, sphere)?;
            for &other in near.found() {
                let counts = (is_wide || place < other) && !search.is_wide(other as usize);
                if counts && search.meet([place, other]) {
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

impl CandidateSearch<'_> {
    #[inline]
    fn is_wide(&self, place: usize) -> bool {
        self.boxes.is_wide(&self.padded[place])
    }

    /// Divides the spheres of a leaf into groups. One search finds the periodic images near all spheres of a group. A
    /// wide sphere is a group of its own.
    fn groups(&self, leaf: std::ops::Range<usize>) -> impl Iterator<Item = std::ops::Range<usize>> {
        let mut end = leaf.start;
        let own = self.padded[leaf].chunk_by(|one, other| {
            let wide = self.boxes.is_wide(one) || self.boxes.is_wide(other);
            !wide
        });
        own.map(move |group| {
            let first = end;
            end += group.len();
            first..end
        })
    }

    /// Returns the periodic images of spheres that may overlap a group of spheres. Images of wide spheres
    /// are left out. Returns `None` if an image is more than `MAX_CELLS` periodic cells away.
    fn images(&self, group: &std::ops::Range<usize>) -> Option<ImageBlock> {
        let own = &self.padded[group.clone()];
        let (center, reach) = match own {
            [one] => (DVec3::from(one.center.map(f64::from)), one.radius.into()),
            _ => bounds_of(own).center_and_reach(),
        };
        self.images_within(center, reach)
    }

    /// Returns the periodic images in which a sphere may reach into the ball of radius `reach`
    /// around the point `place`. Wide spheres are left out. Returns `None` if such an image is more
    /// than `MAX_CELLS` periodic cells away.
    fn images_within(&self, place: DVec3, reach: f64) -> Option<ImageBlock> {
        let reach = reach + f64::from(self.boxes.most_radius());
        let lattice = self.start.lattice;
        lattice.images_within(place, reach, self.beyond)
    }

    /// Returns two numbers for a group of spheres: in how many periodic images other spheres may overlap the group and,
    /// for a wide sphere, about how many of these images overlap it only because its radius includes its pad (otherwise
    /// 0). Returns `None` if an image is more than `MAX_CELLS` periodic cells away.
    fn count_images(&self, group: &std::ops::Range<usize>) -> Option<[u64; 2]> {
        let count = self.images(group)?.count();
        if !self.is_wide(group.start) {
            return Some([count - 1, 0]);
        }
        let sphere = &self.start.spheres[group.start];
        let at_rest = self.images_within(sphere.place(), sphere.radius)?.count();
        let mut sum = count - 1;
        for other in self.wide_after(group) {
            let pair = [group.start, other as usize].map(|place| &self.padded[place]);
            let images = images_of_pair(pair, self.start.lattice)?;
            sum = sum.saturating_add(images.count().saturating_sub(1));
        }
        Some([sum, count.saturating_sub(8 * at_rest)])
    }

    /// If the first sphere of `group` is wide, returns the wide spheres with larger indices than
    /// this sphere. Otherwise, returns no spheres.
    fn wide_after(&self, group: &std::ops::Range<usize>) -> impl Iterator<Item = u32> {
        let wide: &[u32] = if self.is_wide(group.start) {
            self.boxes.wide()
        } else {
            &[]
        };
        let first = group.start;
        let wide = wide.iter().copied();
        wide.filter(move |&other| other as usize > first)
    }

    /// Returns the number of periodic images that a search needs, or an error if they are too many or too far
    /// away. This check precedes the search for pairs, so its error does not depend on the number
    /// of threads.
    fn check_images(&self) -> Result<u64, Error> {
        if !self.any_images {
            return Ok(0);
        }
        let count = |leaf: std::ops::Range<usize>| {
            let mut counts = self.groups(leaf).map(|group| self.count_images(&group));
            counts.try_fold([0; 2], |sum, counts| Some(add(sum, counts?)))
        };
        let all = self.padded.len();
        let leaves = (0..all).into_par_iter().step_by(EIGHT);
        let counts = leaves.map(|first| count(first..all.min(first + EIGHT)));
        let sum = counts.reduce(|| Some([0; 2]), |a, b| Some(add(a?, b?)));
        let [images, of_pads] = sum.ok_or_else(|| self.out_of_range())?;
        // In most periodic images that a wide sphere reaches, it overlaps nearly all spheres. So an image that it
        // reaches only because of its pad adds about as many pairs as there are spheres. If there are too many of
        // these, shorter substeps cost less time and memory.
        let needed = images.max(of_pads.saturating_mul(all as u64));
        let limit = most_images(all);
        if needed > limit {
            return Err(Error::TooManyImages { needed, limit });
        }
        Ok(images)
    }

    /// Returns whether no sphere of a leaf can meet any of others, which have something in common.
    fn passes(&self, leaf: usize, others: Option<Common>) -> bool {
        let own = self.common.get(leaf).copied().flatten();
        own.zip(others)
            .is_some_and(|(own, others)| own.pass(others))
    }

    #[inline]
    fn meet(&self, pair: [u32; 2]) -> bool {
        pair[0] != pair[1] && (self.all_meet || can_meet(pair, self.start))
    }

    /// Returns an error that names the sphere with the largest padded radius.
    fn out_of_range(&self) -> Error {
        let all = self.padded.iter().zip(self.start.ids);
        let widest = all.max_by(|(a, _), (b, _)| a.radius.total_cmp(&b.radius));
        out_of_range(widest.map_or(0, |(_, &id)| id))
    }

    /// Adds `count` to the number of list entries so far. Each pair of spheres has two entries.
    /// Returns an error if there are more pairs than the limit. The error gives the limit plus 1 as
    /// the number of pairs, because the count at which the threads stop depends on timing.
    fn count_entries(&self, count: usize) -> Result<(), Error> {
        let count = count as u64;
        let limit = Options::new().max_pairs;
        if self.entries.fetch_add(count, Ordering::Relaxed) + count > 2 * limit {
            let needed = limit + 1;
            return Err(Error::TooManyPairs { needed, limit });
        }
        Ok(())
    }
}

fn add(a: [u64; 2], b: [u64; 2]) -> [u64; 2] {
    [0, 1].map(|k| a[k].saturating_add(b[k]))
}

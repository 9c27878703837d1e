//! `measure`: how far apart the spheres are, how each is cut into segments, and
//! how many proxies there are of each size, and where.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies and slots, and everything else is less"
)]

use std::array::from_fn;
use std::iter::repeat_n;
use std::num::NonZeroU16;
use std::ops::Range;

use glam::Vec3;
use rayon::prelude::*;
use wide::f32x4;

use super::buckets::{for_each_part, take};
use crate::lanes::{LANES, each, largest};
use crate::limits::CHUNK;
use crate::reuse::{Kept, Piece, Scratch};
use crate::shared::segments::{Cut, Frame, Motion, Segment, Size};
use crate::shared::sets::Sets;
use crate::shared::size_class::{BINS, bin_power};
use crate::shared::tuning::{
    COARSER_RANGES, ENOUGH, FINEST, LENGTHS, LOOK, NEAREST, OCTAVES, OWN_RANGES, SHORTEST, TRIM,
    WEIGHED, sample_size,
};
use crate::shared::units::Scale;
use crate::{Error, MAX_MAGNITUDE, Sphere};

/// What a sample of the spheres tells of how they lie in space.
#[derive(Debug)]
pub(crate) struct Space {
    /// Number of spheres.
    pub(crate) spheres: f32,
    /// log₂ of how many others the cube of half edge 2^(i − 127) around a
    /// sphere holds, on average over the spheres. Because it is taken where
    /// spheres are, no stray and no empty room counts, and clusters, sheets and
    /// lines come out as what they are: this is the correlation integral of
    /// fractal geometry (Grassberger and Procaccia, 1983).
    pub(crate) log_others: [f32; OCTAVES],
    /// Edge of the cube that a sphere has to itself: the median over the
    /// spheres, so that a dense clump speaks only for those within it.
    spacing: f32,
    /// How long segments should be.
    pub(crate) segment: f32,
    /// The middle of the world, moving as most of it does.
    pub(crate) frame: Frame,
    /// A box, in that frame, that holds most spheres and no far stray: its two
    /// corners.
    pub(crate) trimmed: [Vec3; 2],
}

impl Space {
    /// Of `proxies` that lie as the spheres do, how many others are within the
    /// cube of half edge `distance` around one.
    pub(crate) fn others(&self, proxies: f32, distance: f32) -> f32 {
        let x = (distance.log2() + 127.0).clamp(0.0, (OCTAVES - 2) as f32);
        let i = x as usize;
        let log =
            self.log_others[i] + (self.log_others[i + 1] - self.log_others[i]) * (x - i as f32);
        log.exp2() * (proxies / self.spheres)
    }

    /// Edge of the cube that holds one of `proxies` that lie as the spheres do.
    pub(crate) fn spacing_of(&self, proxies: f32) -> f32 {
        let level = (self.spheres / proxies).log2();
        let Some(i) = self.log_others.iter().rposition(|&log| log <= level) else {
            return 0.0;
        };
        let Some(next) = self.log_others.get(i + 1) else {
            return f32::MAX;
        };
        let part = (level - self.log_others[i]) / (next - self.log_others[i]);
        2.0 * (i as f32 + part - 127.0).exp2()
    }

    /// Edge of the cells that a level should have: as small as its proxies
    /// allow, but not much finer than the spacing between them, where it saves
    /// no tests. `proxies` are those of one time slab.
    pub(crate) fn cell_edge(&self, proxies: f32, half_cell: f32) -> f32 {
        Self::edge_at_least(FINEST * self.spacing_of(proxies), half_cell)
    }

    fn edge_at_least(least: f32, half_cell: f32) -> f32 {
        (2.0 * half_cell).max(least).min(8.0 * MAX_MAGNITUDE)
    }

    /// The length of segments that is expected to cost least: the spacing, or
    /// where that would make more segments than they save tests, more.
    fn length_of_segments(
        &self,
        sample: impl ExactSizeIterator<Item = Motion>,
        cut: &mut Kept<Motion>,
    ) -> f32 {
        let extent = (self.trimmed[1] - self.trimmed[0]).max_element();
        let shortest = self.spacing.max(extent * SHORTEST).max(f32::MIN_POSITIVE);
        // The others cost the same, whatever the length.
        let is_cut = |motion: &Motion| Size::new(motion, shortest).power > 0;
        let all = sample.len() as f32;
        let cut = cut.refill(sample.filter(is_cut));
        let whole = all - cut.len() as f32;
        if cut.is_empty() {
            // What is cut all the same is rare: this is what costs it least.
            return 2.0 * shortest;
        }
        let each = cut.len().div_ceil(WEIGHED);
        let looks = (OWN_RANGES[0] + COARSER_RANGES[0]) * LOOK;
        let least_edge = self.cell_edge(self.spheres, 0.0);
        // What it is expected to cost when each segment is within a length, and whether
        // any sphere is cut then: of some of those.
        let weigh = |length: f32| {
            let some = cut.iter().step_by(each);
            let sizes = some.map(|motion| Size::new(motion, length));
            let proxies: usize = sizes.clone().map(|size| 1 << size.power).sum();
            // Where they are few, they look for what is never cut, and no farther than
            // they reach (`Plan::looks_down`); or else all are in cells as wide as theirs.
            let share_reached = if ((proxies * each) as f32) < whole {
                whole / all
            } else {
                0.0
            };
            let cuts_any = proxies > sizes.len();
            let mut cost = 0.0;
            for size in sizes {
                let cell = Self::edge_at_least(least_edge, size.half_cell);
                let in_cells = 0.5 * self.others(self.spheres, 1.5 * cell);
                // Not half of them, for those do not look for it; and theirs are the
                // cells, so it is up to one more on each side.
                let reached = self.others(self.spheres, size.half_cell + least_edge);
                let tests = in_cells + share_reached * (reached - in_cells);
                cost += (1_u32 << size.power) as f32 * (looks + tests);
            }
            (cost, cuts_any)
        };
        let mut best = (f32::MAX, self.spacing);
        let lengths = (0..LENGTHS - 1).map(|octave| shortest * (octave as f32).exp2());
        // The last does not cut at all.
        for length in lengths.chain([f32::MAX]) {
            let (cost, cuts_any) = weigh(length);
            if cost < best.0 {
                best = (cost, length);
            }
            // Longer ones cut nothing either.
            if !cuts_any {
                break;
            }
        }
        best.1
    }
}

/// The sphere number k of a sample of `count`: one out of each stretch of the
/// input, which one by chance, so that no regular order of the spheres shows.
fn nth_of_sample(spheres: &[Sphere], count: usize, k: usize) -> &Sphere {
    let (each, rest) = (spheres.len() / count, spheres.len() % count);
    let begin = |k: usize| k * each + k * rest / count;
    let mut chance = (k as u32).wrapping_mul(0x9e37_79b1);
    chance = (chance ^ chance >> 15).wrapping_mul(0x85eb_ca77);
    chance ^= chance >> 13;
    &spheres[begin(k) + chance as usize % (begin(k + 1) - begin(k))]
}

/// Counts in `rows`, see [`Octaves`]. `blocks` are the centres, some side by side, and
/// `distances` memory for as many. Not inlined, so that it is plain that these do not
/// overlap.
#[inline(never)]
fn count_pairs(
    centers: &[Vec3],
    blocks: &[[f32x4; 3]],
    distances: &mut [[f32; LANES]],
    rows: &mut [u16],
) {
    for (i, own) in centers.iter().enumerate() {
        let own = own.to_array().map(f32x4::splat);
        let before = &blocks[..i.div_ceil(LANES)];
        for (distances, block) in distances.iter_mut().zip(before) {
            *distances = largest(each(*block, own, |x, y| (x - y).abs())).to_array();
        }
        for (j, distance) in distances.as_flattened()[..i].iter().enumerate() {
            let row = (distance.to_bits() >> 23) as usize * centers.len();
            rows[row + i] += 1;
            rows[row + j] += 1;
        }
    }
}

/// How many of a sample are in each octave of distance around each of them.
#[derive(Debug)]
struct Octaves {
    count: usize,
    /// A row for each octave, by the exponent of a float32: near ones are in few
    /// octaves, so few rows are worked on.
    rows: Kept<u16>,
    /// Of all of them together: ordered pairs.
    pairs: [u32; OCTAVES],
    /// No pair is in an octave before this.
    first: usize,
    /// The sample, some side by side, and how far they are from one of it.
    blocks: Kept<[f32x4; 3]>,
    distances: Kept<[f32; LANES]>,
}

impl Default for Octaves {
    fn default() -> Self {
        Self {
            count: 0,
            rows: Kept::default(),
            pairs: [0; OCTAVES],
            first: 0,
            blocks: Kept::default(),
            distances: Kept::default(),
        }
    }
}

impl Octaves {
    fn fill(&mut self, centers: &[Vec3]) {
        let count = centers.len();
        // Those that fill up the last block are not looked at.
        let blocks = self.blocks.refill(centers.chunks(LANES).map(|block| {
            let lane = |k: usize| block[k.min(block.len() - 1)];
            from_fn(|axis| from_fn(|k| lane(k)[axis]).into())
        }));
        let rows = self.rows.refill(repeat_n(0, OCTAVES * count));
        let distances = self.distances.refill(repeat_n([0.0; LANES], blocks.len()));
        count_pairs(centers, blocks, distances, rows);
        for (pairs, row) in self.pairs.iter_mut().zip(rows.chunks(count)) {
            *pairs = row.iter().map(|&pairs| u32::from(pairs)).sum();
        }
        let first = self.pairs.iter().position(|&pairs| pairs > 0);
        self.first = first.unwrap_or(0);
        self.count = count;
    }

    /// log₂ of the distance of the nearest `rank` around number i.
    fn log_distance(&self, i: usize, rank: u32) -> f32 {
        let mut before = 0;
        for octave in self.first..OCTAVES {
            let until = before + u32::from(self.rows[octave * self.count + i]);
            if until >= rank {
                // As if they filled space no more than evenly.
                let growth = (until as f32 / before as f32).log2().min(3.0);
                return octave as f32 - 126.0 + (rank as f32 / until as f32).log2() / growth;
            }
            before = until;
        }
        128.0
    }
}

fn median(kept: &mut Kept<f32>, values: impl Iterator<Item = f32>) -> f32 {
    let values = kept.refill(values);
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f32::total_cmp).1
}

/// Tells from a sample how the spheres lie in space.
pub(crate) fn spacing(spheres: &[Sphere], scale: &Scale, memory: &mut Memory) -> Space {
    let Memory {
        sample,
        centers,
        values,
        octaves,
        cut,
        ..
    } = memory;
    let dt = scale.dt;
    let count = sample_size(spheres.len());
    let of_sample = (0..count).map(|k| scale.sphere(nth_of_sample(spheres, count, k)));
    let sample = sample.refill(of_sample);
    // Half way through the step: it is neither before a burst nor after a
    // crush.
    let half_way =
        |sphere: &Sphere| Vec3::from(sphere.center) + Vec3::from(sphere.velocity) * (0.5 * dt);
    let centers = centers.refill(sample.iter().map(half_way));
    let mut space = Space {
        spheres: spheres.len() as f32,
        log_others: [-64.0; OCTAVES],
        spacing: f32::MAX,
        segment: f32::MAX,
        frame: Frame::default(),
        trimmed: [Vec3::ZERO; 2],
    };
    if count == 0 {
        return space;
    }

    for axis in 0..3 {
        let sorted = values.refill(centers.iter().map(|center| center[axis]));
        sorted.sort_unstable_by(f32::total_cmp);
        let [low, middle, high] =
            [count / TRIM, count / 2, count - 1 - count / TRIM].map(|rank| sorted[rank]);
        let wider = (high - low) * 0.25;
        let drift = median(values, sample.iter().map(|sphere| sphere.velocity[axis]));
        // Where the middle was at the start of the step.
        space.frame.origin[axis] = middle - drift * (0.5 * dt);
        space.frame.drift[axis] = drift;
        space.trimmed[0][axis] = low - wider - middle;
        space.trimmed[1][axis] = high + wider - middle;
    }
    if count == 1 {
        return space;
    }

    octaves.fill(centers);
    let ranks = NEAREST.map(|rank| rank.min(count as u32 - 1));
    let medians =
        ranks.map(|rank| median(values, (0..count).map(|i| octaves.log_distance(i, rank))));
    // Whether they fill space, a sheet, or a line.
    let growth = (ranks[1] as f32 / ranks[0] as f32).log2();
    let apart = medians[1] - medians[0];
    let dimension = if apart > 0.0 {
        (growth / apart).clamp(1.5, 3.0)
    } else {
        3.0
    };
    let within = ranks[0] as f32 * (space.spheres / count as f32);
    space.spacing = (medians[0] + 1.0 - within.log2() / dimension).exp2();

    // All ordered pairs nearer than the upper end of each octave.
    let mut within = octaves.pairs;
    let mut sum = 0;
    for pairs in &mut within {
        sum += *pairs;
        *pairs = sum;
    }
    let log = |pairs: u32| (pairs as f32 / sum as f32 * space.spheres).log2();
    let first = within
        .iter()
        .position(|&pairs| pairs >= ENOUGH.min(sum))
        .unwrap_or(OCTAVES - 1);
    let slope = (log(within[(first + 1).min(OCTAVES - 1)]) - log(within[first])).clamp(1.0, 3.0);
    for (i, others) in space.log_others.iter_mut().enumerate() {
        // `within[i]` counts up to 2^(i − 126): one octave more than `others`
        // does.
        *others = match i.checked_sub(1) {
            Some(below) if below >= first => log(within[below]),
            // What lies in one place does so at every scale.
            _ if first == 0 => log(within[0]),
            _ => log(within[first]) - slope * (first + 1 - i) as f32,
        };
    }
    let frame = space.frame;
    let motions = || sample.iter().map(|sphere| Motion::new(sphere, &frame, dt));
    space.segment = space.length_of_segments(motions(), cut);
    // Worlds as small as a fuzzer makes them are never worth cutting; and a list
    // must not depend on how they are cut.
    if cfg!(carom_fuzzing) {
        let longest = motions().map(|motion| motion.extent()).fold(0.0, f32::max);
        space.segment = longest * (-((spheres[0].groups >> 28) as f32)).exp2();
    }
    space
}

/// One bin of the histogram of sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bin {
    /// Proxies in it.
    pub(crate) count: u32,
    /// How many of them are of spheres that begin and end within
    /// [`Space::trimmed`].
    pub(crate) inside: u32,
    /// The largest half cell that one of them needs.
    pub(crate) half_cell: f32,
    /// The box of their centres, in the frame: its two corners.
    pub(crate) bounds: [Vec3; 2],
}

impl Bin {
    pub(crate) const EMPTY: Self = Self {
        count: 0,
        inside: 0,
        half_cell: 0.0,
        bounds: [Vec3::INFINITY, Vec3::NEG_INFINITY],
    };

    /// Two bins as one.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.inside = self.inside.saturating_add(other.inside);
        self.half_cell = self.half_cell.max(other.half_cell);
        self.bounds = [
            self.bounds[0].min(other.bounds[0]),
            self.bounds[1].max(other.bounds[1]),
        ];
    }
}

/// Memory for what is told of the spheres, kept from step to step.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The sample, in the units of the grids, and where its centres are half way.
    sample: Kept<Sphere>,
    centers: Kept<Vec3>,
    /// Of which there is a median to take.
    values: Kept<f32>,
    octaves: Octaves,
    /// Of those of the sample that may be cut.
    cut: Kept<Motion>,
    /// Of a [`Histogram`].
    places: Scratch<Option<NonZeroU16>>,
    tallies: Scratch<(usize, Tally)>,
    /// See [`Sizes`].
    bin_of: Kept<u16>,
    segments: Kept<Segment>,
    bins: Kept<(usize, Bin)>,
}

impl Memory {
    /// Bytes of it.
    pub(crate) fn bytes(&self) -> usize {
        self.sample.bytes()
            + self.centers.bytes()
            + self.values.bytes()
            + self.octaves.rows.bytes()
            + self.octaves.blocks.bytes()
            + self.octaves.distances.bytes()
            + self.cut.bytes()
            + self.places.bytes()
            + self.tallies.bytes()
            + self.bin_of.bytes()
            + self.segments.bytes()
            + self.bins.bytes()
    }
}

/// How the spheres are cut, and how many proxies there are of each size.
pub(crate) struct Sizes<'a> {
    /// The bin of each sphere.
    pub(crate) bin_of: &'a [u16],
    /// The segments after the first of each sphere: proxies from N on.
    pub(crate) segments: &'a [Segment],
    /// The histogram: its bins in use, by their numbers.
    pub(crate) bins: &'a [(usize, Bin)],
}

impl Sizes<'_> {
    /// Which segment of which sphere a proxy is.
    pub(crate) fn segment(&self, proxy: usize) -> Segment {
        match proxy.checked_sub(self.bin_of.len()) {
            Some(further) => self.segments[further],
            None => Segment {
                sphere: proxy as u32,
                number: 0,
            },
        }
    }
}

/// Bins in use, as they come: of thousands that there may be, most worlds use a
/// few.
struct Histogram<'a> {
    /// For each number the place of its bin, if it has one.
    places: Piece<'a, Option<NonZeroU16>>,
    bins: Piece<'a, (usize, Tally)>,
}

/// A [`Bin`] as it is filled: the lower corner; the upper one, and the largest half
/// cell.
#[derive(Clone, Copy, Debug)]
struct Tally {
    count: u32,
    inside: u32,
    low: f32x4,
    high: f32x4,
}

impl Tally {
    #[inline(always)]
    fn merge(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.inside = self.inside.saturating_add(other.inside);
        self.low = self.low.fast_min(other.low);
        self.high = self.high.fast_max(other.high);
    }

    fn bin(&self) -> Bin {
        let ([x, y, z, _], [u, v, w, half_cell]) = (self.low.to_array(), self.high.to_array());
        Bin {
            count: self.count,
            inside: self.inside,
            half_cell,
            bounds: [Vec3::new(x, y, z), Vec3::new(u, v, w)],
        }
    }
}

impl<'a> Histogram<'a> {
    fn new(places: &'a Scratch<Option<NonZeroU16>>, bins: &'a Scratch<(usize, Tally)>) -> Self {
        let (mut places, mut bins) = (places.take(), bins.take());
        places.refill(repeat_n(None, BINS));
        bins.empty();
        Self { places, bins }
    }

    #[inline(always)]
    fn add(&mut self, number: usize, tally: &Tally) {
        match self.places[number] {
            Some(place) => self.bins[usize::from(place.get()) - 1].1.merge(tally),
            None => {
                self.bins.push((number, *tally));
                self.places[number] = NonZeroU16::new(self.bins.len() as u16);
            }
        }
    }

    fn merge(mut self, other: Self) -> Self {
        for (number, tally) in other.bins.iter() {
            self.add(*number, tally);
        }
        self
    }
}

/// Measures spheres.
struct Sizer<'a> {
    space: &'a Space,
    scale: &'a Scale,
    length: f32,
}

impl Sizer<'_> {
    /// Adds one sphere of a set, and returns its bin.
    fn add(&self, histogram: &mut Histogram<'_>, sphere: &Sphere, set: u32) -> u16 {
        let motion = self.scale.motion(sphere, &self.space.frame);
        let size = Size::new(&motion, self.length);
        let Size { power, half_cell } = size;
        let count = 1 << power;
        let ends =
            [0, count - 1].map(|segment| Vec3::from(motion.at(Cut { power, segment }.middle())));
        let [low, high] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
        let trimmed = self.space.trimmed;
        let inside = low.cmpge(trimmed[0]).all() && high.cmple(trimmed[1]).all();
        let tally = Tally {
            count,
            inside: if inside { count } else { 0 },
            low: f32x4::from(low.extend(half_cell).to_array()),
            high: f32x4::from(high.extend(half_cell).to_array()),
        };
        let number = size.bin(set);
        histogram.add(number as usize, &tally);
        number as u16
    }

    /// Adds several spheres of a set, if none is cut. The same as one by one.
    #[inline(always)]
    fn add_uncut(
        &self,
        histogram: &mut Histogram<'_>,
        spheres: &[Sphere; LANES],
        set: u32,
    ) -> Option<[u16; LANES]> {
        let motion = self.scale.motions(spheres.each_ref(), &self.space.frame);
        let half_cell = Size::of_uncut(&motion, self.length)?;
        let whole = Cut {
            power: 0,
            segment: 0,
        };
        let [x, y, z] = motion.at(f32x4::splat(whole.middle()));
        let [low, high] = self.space.trimmed.map(|corner| corner.to_array());
        let within = [(x, 0), (y, 1), (z, 2)]
            .map(|(x, k)| x.simd_ge(f32x4::splat(low[k])) & x.simd_le(f32x4::splat(high[k])));
        let inside = (within[0] & within[1] & within[2]).to_bitmask();
        let points = f32x4::transpose([x, y, z, half_cell]);
        let half_cells = half_cell.to_array();
        Some(from_fn(|lane| {
            let tally = Tally {
                count: 1,
                inside: inside >> lane & 1,
                low: points[lane],
                high: points[lane],
            };
            let size = Size {
                power: 0,
                half_cell: half_cells[lane],
            };
            let number = size.bin(set);
            histogram.add(number as usize, &tally);
            number as u16
        }))
    }
}

/// Cuts every sphere into segments and counts the proxies of each size. The segments
/// become longer than planned as far as it takes to have at most `most` proxies.
pub(crate) fn sizes<'a>(
    spheres: &[Sphere],
    scale: &Scale,
    space: &Space,
    sets: Sets,
    most: u64,
    memory: &'a mut Memory,
) -> Result<Sizes<'a>, Error> {
    let Memory {
        places,
        tallies,
        bin_of,
        segments,
        bins,
        ..
    } = memory;
    let bin_of = bin_of.enough(spheres.len(), "the sizes of the spheres")?;
    let empty = || Histogram::new(places, tallies);
    let first_len = sets.first_len(spheres.len());
    let mut length = space.segment;
    loop {
        let sizer = Sizer {
            space,
            scale,
            length,
        };
        let of_chunk = |mut histogram, chunk: (usize, (&[Sphere], &mut [u16]))| {
            let (k, (spheres, bin_of)) = chunk;
            // Spheres of the chunk in the first set.
            let first = first_len.saturating_sub(k * CHUNK).min(spheres.len());
            for (range, set) in [(0..first, 0), (first..spheres.len(), 1)] {
                let (blocks, rest) = spheres[range.clone()].as_chunks::<LANES>();
                let (bin_blocks, bin_rest) = bin_of[range].as_chunks_mut::<LANES>();
                for (spheres, bins) in blocks.iter().zip(bin_blocks) {
                    *bins = sizer
                        .add_uncut(&mut histogram, spheres, set)
                        .unwrap_or_else(|| {
                            spheres
                                .each_ref()
                                .map(|sphere| sizer.add(&mut histogram, sphere, set))
                        });
                }
                for (sphere, bin) in rest.iter().zip(bin_rest) {
                    *bin = sizer.add(&mut histogram, sphere, set);
                }
            }
            histogram
        };
        let histogram = spheres
            .par_chunks(CHUNK)
            .zip(bin_of.par_chunks_mut(CHUNK))
            .enumerate()
            .fold(empty, of_chunk)
            .reduce_with(Histogram::merge)
            .unwrap_or_else(empty);
        let tallies = &*histogram.bins;
        let proxies: u64 = tallies
            .iter()
            .map(|(_, tally)| u64::from(tally.count))
            .sum();
        if proxies > most && length <= MAX_MAGNITUDE {
            // From 0, too.
            length = (2.0 * length).max(f32::MIN_POSITIVE);
            continue;
        }
        let of_tally = |(number, tally): &(usize, Tally)| (*number, tally.bin());
        let bins = bins.refill(tallies.iter().map(of_tally));
        bins.sort_unstable_by_key(|&(number, _)| number);
        let bin_of = &*bin_of;
        let further = (proxies - spheres.len() as u64) as usize;
        let segments = segments.enough(further, "the segments of the spheres")?;
        if !segments.is_empty() {
            list_segments(bin_of, segments)?;
        }
        return Ok(Sizes {
            bin_of,
            segments,
            bins,
        });
    }
}

/// Lists the segments after the first of each sphere, as many as there are.
fn list_segments(bin_of: &[u16], segments: &mut [Segment]) -> Result<(), Error> {
    let after_first = |bin: &u16| (1_usize << bin_power(usize::from(*bin))) - 1;
    let bins = |chunks: Range<usize>| {
        let [begin, end] = [chunks.start, chunks.end].map(|chunk| bin_of.len().min(chunk * CHUNK));
        &bin_of[begin..end]
    };
    let take_all = |segments: &mut _, chunks| {
        let count = bins(chunks).iter().map(after_first).sum();
        take(segments, count)
    };
    let chunks = 0..bin_of.len().div_ceil(CHUNK);
    for_each_part(chunks, segments, take_all, |chunk, mut part| {
        for (sphere, bin) in (chunk * CHUNK..).zip(bins(chunk..chunk + 1)) {
            let sphere = sphere as u32;
            for (segment, number) in take(&mut part, after_first(bin)).iter_mut().zip(1..) {
                *segment = Segment { sphere, number };
            }
        }
        Ok(())
    })
}

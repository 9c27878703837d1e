//! `measure`: how far apart the spheres are, how each is cut into segments, and
//! how many proxies there are of each size, and where.

use glam::Vec3;
use rayon::prelude::*;

use crate::error::allocate;
use crate::grid::{BINS, Size, segment_center};
use crate::{Error, Sphere};

/// Spheres that stand for all: one in 512, but no fewer and no more than these.
/// Enough to tell the spacing within clusters of some thousands, few enough that all their
/// pairs are nothing beside the rest.
const SAMPLE: [usize; 2] = [512, 2048];
/// Octaves of distance, by the exponent of a float32.
pub(crate) const OCTAVES: usize = 256;
/// Fewer ordered pairs than this within a distance tell nothing: what is below is
/// extrapolated.
pub(crate) const ENOUGH: u32 = 64;
/// This part of the sample is left out on each side of each axis, so that strays do not
/// stretch the box.
pub(crate) const TRIM: usize = 64;

/// What a sample of the spheres tells of how they lie in space.
#[derive(Debug)]
pub(crate) struct Space {
    /// Number of spheres.
    pub(crate) spheres: f32,
    /// log₂ of how many others the cube of half edge 2^(i − 127) around a sphere holds,
    /// on average over the spheres. Because it is taken where spheres are, no
    /// stray and no empty room counts, and clusters, sheets and lines come
    /// out as what they are: this is the correlation integral of fractal
    /// geometry (Grassberger and Procaccia, 1983).
    pub(crate) log_others: [f32; OCTAVES],
    /// Edge of the cube that holds one sphere by this measure.
    pub(crate) spacing: f32,
    /// A box that holds most spheres and no far stray: its two corners.
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
}

/// How many spheres stand for all.
pub(crate) fn sample_size(spheres: usize) -> usize {
    (spheres / 512).clamp(SAMPLE[0], SAMPLE[1]).min(spheres)
}

/// Tells from a sample how the spheres lie in space.
pub(crate) fn spacing(spheres: &[Sphere]) -> Space {
    let count = (spheres.len() / 512)
        .clamp(SAMPLE[0], SAMPLE[1])
        .min(spheres.len());
    let sample: Vec<[f32; 3]> = (0..count)
        .map(|i| spheres[(i as u64 * spheres.len() as u64 / count as u64) as usize].center)
        .collect();

    let mut within = [0_u32; OCTAVES];
    for (i, &[x, y, z]) in sample.iter().enumerate() {
        for &[x2, y2, z2] in &sample[..i] {
            let distance = (x - x2).abs().max((y - y2).abs()).max((z - z2).abs());
            within[(distance.to_bits() >> 23) as usize] += 2;
        }
    }
    // From pairs at each octave to pairs nearer than its upper end.
    let mut sum = 0;
    for pairs in &mut within {
        sum += *pairs;
        *pairs = sum;
    }

    let spheres = spheres.len() as f32;
    let mut log_others = [-64.0; OCTAVES];
    let all = (count * count.saturating_sub(1)) as u32;
    if all > 0 {
        // `within[i]` counts up to 2^(i − 126): one octave above what it is filed under here.
        let log = |pairs: u32| (pairs as f32 / all as f32 * spheres).log2();
        let first = within
            .iter()
            .position(|&pairs| pairs >= ENOUGH.min(all))
            .unwrap_or(OCTAVES - 1);
        let slope =
            (log(within[(first + 1).min(OCTAVES - 1)]) - log(within[first])).clamp(1.0, 3.0);
        for (i, other) in log_others.iter_mut().enumerate() {
            *other = match i.checked_sub(1) {
                Some(j) if j >= first => log(within[j]),
                // What lies in one place is so at every scale.
                _ if first == 0 => log(within[0]),
                _ => log(within[first]) - slope * (first + 1 - i) as f32,
            };
        }
    }

    let mut trimmed = [Vec3::ZERO; 2];
    for axis in 0..3 {
        let mut values: Vec<f32> = sample.iter().map(|center| center[axis]).collect();
        values.sort_unstable_by(f32::total_cmp);
        if let (Some(&low), Some(&high)) = (
            values.get(count / TRIM),
            values.get(count.saturating_sub(1 + count / TRIM)),
        ) {
            let wider = (high - low) * 0.25;
            trimmed[0][axis] = low - wider;
            trimmed[1][axis] = high + wider;
        }
    }
    let mut space = Space {
        spheres,
        log_others,
        spacing: 0.0,
        trimmed,
    };
    space.spacing = space.spacing_of(spheres);
    space
}

/// One bin of the histogram of sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bin {
    /// Proxies in it.
    pub(crate) count: u32,
    /// The largest half cell that one of them needs.
    pub(crate) half_cell: f32,
    /// The box of their centres: its two corners.
    pub(crate) bounds: [Vec3; 2],
}

impl Bin {
    const EMPTY: Self = Self {
        count: 0,
        half_cell: 0.0,
        bounds: [Vec3::INFINITY, Vec3::NEG_INFINITY],
    };

    /// Two bins as one.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.half_cell = self.half_cell.max(other.half_cell);
        self.bounds = [
            self.bounds[0].min(other.bounds[0]),
            self.bounds[1].max(other.bounds[1]),
        ];
    }
}

/// A time segment after a sphere's first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// The sphere it is of.
    pub(crate) sphere: u32,
    /// Its number, from 1.
    pub(crate) number: u32,
}

/// How the spheres are cut, and how many proxies there are of each size.
pub(crate) struct Sizes {
    /// For each sphere its bin and its power of two of segments: see [`class`].
    pub(crate) classes: Vec<u16>,
    /// The segments after the first of each sphere: proxies from N on.
    pub(crate) segments: Vec<Segment>,
    /// The histogram.
    pub(crate) bins: Vec<Bin>,
}

/// A sphere's bin and power of segments, from its class.
pub(crate) fn class(class: u16) -> (usize, u32) {
    (usize::from(class >> 4), u32::from(class & 15))
}

/// Cuts every sphere into segments and counts the proxies of each size. The
/// segments become longer than `spacing` as far as it takes to have at most
/// `most` proxies.
pub(crate) fn sizes(spheres: &[Sphere], dt: f32, spacing: f32, most: u64) -> Result<Sizes, Error> {
    let mut spacing = spacing.max(f32::MIN_POSITIVE);
    loop {
        let proxies: u64 = spheres
            .par_iter()
            .with_min_len(1 << 14)
            .map(|sphere| 1_u64 << Size::new(sphere, dt, spacing).power)
            .sum();
        if proxies <= most || spacing > crate::MAX_MAGNITUDE {
            break;
        }
        spacing *= 2.0;
    }

    let size = |sphere: &Sphere| Size::new(sphere, dt, spacing);
    let mut classes = allocate(spheres.len(), "the sizes of the spheres")?;
    classes.par_extend(spheres.par_iter().map(|sphere| {
        let size = size(sphere);
        (size.bin() as u16) << 4 | size.power as u16
    }));
    let segments: Vec<Segment> = classes
        .par_iter()
        .zip(0..spheres.len() as u32)
        .with_min_len(1 << 14)
        .flat_map_iter(|(&of, sphere)| {
            (1..1 << class(of).1).map(move |number| Segment { sphere, number })
        })
        .collect();
    let empty = || vec![Bin::EMPTY; BINS];
    let bins = spheres
        .par_iter()
        .with_min_len(1 << 16)
        .fold(empty, |mut bins, sphere| {
            let size = size(sphere);
            let last = (1 << size.power) - 1;
            let ends = [0, last].map(|k| segment_center(sphere, dt, size.power, k));
            bins[size.bin() as usize].merge(&Bin {
                count: last + 1,
                half_cell: size.half_cell,
                bounds: [ends[0].min(ends[1]), ends[0].max(ends[1])],
            });
            bins
        })
        .reduce(empty, |mut bins, others| {
            bins.iter_mut()
                .zip(&others)
                .for_each(|(bin, other)| bin.merge(other));
            bins
        });
    Ok(Sizes {
        classes,
        segments,
        bins,
    })
}

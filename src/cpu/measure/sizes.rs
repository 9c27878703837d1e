//! Cuts each path into time segments, and counts the proxies by size. Twin of
//! `shaders/collide/measure_sizes.wgsl`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies"
)]

use rayon::prelude::*;

use super::histogram::{CLASSES, Histogram, HistogramMemory, RunningClass, SizeClass};
use super::segment_list::list_segments;
use super::sizer::Sizer;
use crate::cpu::images::Cell;
use crate::limits::{CHUNK, most_proxies, most_proxies_in_cell};
use crate::reuse::ReusedVec;
use crate::shared::segments::Segment;
use crate::shared::sets::Sets;
use crate::shared::size_class::OUTSIDE;
use crate::shared::space::Space;
use crate::shared::units::Scale;
use crate::{Error, MAX_MAGNITUDE, Sphere};

#[derive(Debug, Default)]
pub(crate) struct SizesMemory {
    histograms: HistogramMemory,
    class_of: ReusedVec<u16>,
    segments: ReusedVec<Segment>,
    classes: ReusedVec<(usize, SizeClass)>,
}

impl SizesMemory {
    pub(crate) fn bytes(&self) -> usize {
        self.histograms.bytes()
            + self.class_of.bytes()
            + self.segments.bytes()
            + self.classes.bytes()
    }
}

pub(crate) struct Sizes<'a> {
    /// With the flag [`OUTSIDE`] for a sphere that may reach out of the periodic cell.
    pub(crate) class_of: &'a [u16],
    /// Without the first segment of each sphere, which has the sphere's index; the others
    /// follow. Empty in a periodic domain, where the list of images has them.
    pub(crate) segments: &'a [Segment],
    pub(crate) cut: bool,
    pub(crate) classes: &'a [(usize, SizeClass)],
}

impl Sizes<'_> {
    #[inline(always)]
    pub(crate) fn class(&self, sphere: u32) -> usize {
        usize::from(self.class_of[sphere as usize] & !OUTSIDE)
    }

    pub(crate) fn segment(&self, proxy: usize) -> Segment {
        match proxy.checked_sub(self.class_of.len()) {
            Some(further) => self.segments[further],
            None => Segment {
                sphere: proxy as u32,
                number: 0,
            },
        }
    }
}

/// Doubles the allowed length of a segment until there are at most [`most_proxies`] segments, or
/// the length exceeds [`MAX_MAGNITUDE`].
pub(crate) fn measure_sizes<'a>(
    spheres: &[Sphere],
    scale: &Scale,
    space: &Space,
    cell: Option<&Cell>,
    sets: Sets,
    memory: &'a mut SizesMemory,
) -> Result<Sizes<'a>, Error> {
    let SizesMemory {
        histograms,
        class_of,
        segments,
        classes,
    } = memory;
    let class_of = class_of.enough(spheres.len(), "the sizes of the spheres")?;
    // A longer segment would have many images in the cell, so more segments are worth it.
    let width = cell.map_or(f32::INFINITY, Cell::width);
    let mut length = space.segment.min(width);
    let (histogram, proxies) = loop {
        let sizer = Sizer {
            space,
            scale,
            length,
            cell,
        };
        let histogram = count(&sizer, spheres, sets, class_of, histograms)?;
        let counts = histogram.classes.iter().map(|(_, class)| class.count);
        let proxies: u64 = counts.map(u64::from).sum();
        let most = if length < width {
            most_proxies(spheres.len())
        } else {
            most_proxies_in_cell(spheres.len())
        };
        if proxies <= most || length > MAX_MAGNITUDE {
            break (histogram, proxies);
        }
        // A length of 0 would stay 0 when doubled.
        let longer = (2.0 * length).max(f32::MIN_POSITIVE);
        length = if length < width {
            longer.min(width)
        } else {
            longer
        };
    };
    let size_class = |(number, class): &(usize, RunningClass)| (*number, class.size_class());
    classes.room(histogram.classes.len(), CLASSES)?;
    let classes = classes.refill(histogram.classes.iter().map(size_class));
    if cell.is_some() {
        // An image that reaches into the cell is at most half its extent outside.
        for (_, class) in &mut *classes {
            class.bounds[0] -= class.half_cell;
            class.bounds[1] += class.half_cell;
        }
    }
    classes.sort_unstable_by_key(|&(number, _)| number);
    let further = match cell {
        None => (proxies - spheres.len() as u64) as usize,
        Some(_) => 0,
    };
    let segments = segments.enough(further, "the segments of the spheres")?;
    if !segments.is_empty() {
        list_segments(class_of, segments)?;
    }
    Ok(Sizes {
        class_of,
        segments,
        cut: proxies > spheres.len() as u64,
        classes,
    })
}

fn count<'a>(
    sizer: &Sizer<'_>,
    spheres: &[Sphere],
    sets: Sets,
    class_of: &mut [u16],
    memory: &'a HistogramMemory,
) -> Result<Histogram<'a>, Error> {
    let first_len = sets.first_len(spheres.len());
    let add_chunk = |histogram: Option<_>, chunk: (usize, (&[Sphere], &mut [u16]))| {
        let mut histogram = match histogram {
            Some(histogram) => histogram,
            None => Histogram::new(memory)?,
        };
        let (k, (spheres, class_of)) = chunk;
        let first = first_len.saturating_sub(k * CHUNK).min(spheres.len());
        for (range, set) in [(0..first, 0), (first..spheres.len(), 1)] {
            let class_of = &mut class_of[range.clone()];
            sizer.add_all(&mut histogram, &spheres[range], set, class_of);
        }
        Ok::<_, Error>(Some(histogram))
    };
    let merge = |one: Option<Histogram<'a>>, other| match (one, other) {
        (Some(one), Some(other)) => Ok(Some(one.merge(other))),
        (one, other) => Ok(one.or(other)),
    };
    let histogram = spheres
        .par_chunks(CHUNK)
        .zip(class_of.par_chunks_mut(CHUNK))
        .enumerate()
        .try_fold(|| None, add_chunk)
        .try_reduce(|| None, merge)?;
    match histogram {
        Some(histogram) => histogram.checked(),
        None => Histogram::new(memory),
    }
}

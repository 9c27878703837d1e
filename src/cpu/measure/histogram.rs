//! The histogram of proxies by size class.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are fewer than 2¹⁶ size classes"
)]

use std::iter::repeat_n;
use std::num::NonZeroU16;

use glam::Vec3;
use wide::f32x4;

use crate::reuse::{ScratchGuard, ScratchPool};
use crate::shared::size_class::SIZE_CLASSES;

/// Summary of the proxies of one size class, or of several classes merged: their number, their
/// largest size and the box around them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SizeClass {
    /// Number of proxies.
    pub(crate) count: u32,
    /// Number of these proxies that count as inside the trimmed box, which contains most of the
    /// sample. A proxy counts as inside if the middles of the first and of the last time segment of
    /// its sphere are within that box.
    pub(crate) inside: u32,
    /// Half the edge of the smallest cell that fits every proxy of the size class.
    pub(crate) half_cell: f32,
    /// Lower and upper corner, in the frame, of the box around the middles of the proxies.
    pub(crate) bounds: [Vec3; 2],
}

impl SizeClass {
    /// A size class without proxies.
    pub(crate) const EMPTY: Self = Self {
        count: 0,
        inside: 0,
        half_cell: 0.0,
        bounds: [Vec3::INFINITY, Vec3::NEG_INFINITY],
    };

    /// Adds the proxies of another size class to this one.
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

/// A [`SizeClass`] while proxies are added to it, stored in vectors of four lanes. The first three
/// lanes of `low` and `high` are the corners of the box around the middles of the proxies. The last
/// lane of `high` is the largest half cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunningClass {
    pub(super) count: u32,
    pub(super) inside: u32,
    pub(super) low: f32x4,
    pub(super) high: f32x4,
}

impl RunningClass {
    #[inline(always)]
    fn merge(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.inside = self.inside.saturating_add(other.inside);
        self.low = self.low.fast_min(other.low);
        self.high = self.high.fast_max(other.high);
    }

    /// Returns the size class of all proxies added so far.
    pub(super) fn size_class(&self) -> SizeClass {
        let ([x, y, z, _], [u, v, w, half_cell]) = (self.low.to_array(), self.high.to_array());
        SizeClass {
            count: self.count,
            inside: self.inside,
            half_cell,
            bounds: [Vec3::new(x, y, z), Vec3::new(u, v, w)],
        }
    }
}

/// Memory of histograms, kept from step to step.
#[derive(Debug, Default)]
pub(super) struct HistogramMemory {
    places: ScratchPool<Option<NonZeroU16>>,
    classes: ScratchPool<(usize, RunningClass)>,
}

impl HistogramMemory {
    /// Returns the size in bytes of the memory that is kept from step to step.
    pub(super) fn bytes(&self) -> usize {
        self.places.bytes() + self.classes.bytes()
    }
}

/// A histogram of proxies by size class. It stores only the classes that have proxies, in the order
/// in which they received their first one. There are thousands of size classes, and most worlds use
/// few of them.
pub(super) struct Histogram<'a> {
    /// For each number of a size class, the position of the class in `classes`, counted from 1.
    /// `None` if the class has no proxies.
    places: ScratchGuard<'a, Option<NonZeroU16>>,
    /// The size classes that have proxies, each with its number.
    pub(super) classes: ScratchGuard<'a, (usize, RunningClass)>,
}

impl<'a> Histogram<'a> {
    /// Returns an empty histogram.
    pub(super) fn new(memory: &'a HistogramMemory) -> Self {
        let (mut places, mut classes) = (memory.places.take(), memory.classes.take());
        places.refill(repeat_n(None, SIZE_CLASSES));
        classes.empty();
        Self { places, classes }
    }

    /// Adds proxies to the size class with this number.
    #[inline(always)]
    pub(super) fn add(&mut self, number: usize, proxies: &RunningClass) {
        match self.places[number] {
            Some(place) => self.classes[usize::from(place.get()) - 1].1.merge(proxies),
            None => {
                self.classes.push((number, *proxies));
                self.places[number] = NonZeroU16::new(self.classes.len() as u16);
            }
        }
    }

    /// Returns the sum of two histograms.
    pub(super) fn merge(mut self, other: Self) -> Self {
        for (number, proxies) in other.classes.iter() {
            self.add(*number, proxies);
        }
        self
    }
}

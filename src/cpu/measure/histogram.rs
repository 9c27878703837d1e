//! Counts the proxies of each size class.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are fewer than 2¹⁶ size classes"
)]

use std::iter::repeat_n;
use std::num::NonZeroU16;

use glam::Vec3;
use wide::f32x4;

use crate::Error;
use crate::memory::{out_of_memory, push};
use crate::reuse::{ScratchGuard, ScratchPool};
use crate::shared::size_class::SIZE_CLASSES;

#[derive(Clone, Copy, Debug)]
pub(crate) struct SizeClass {
    pub(crate) count: u32,
    /// All segments of a sphere count as inside if the first and the last one are.
    pub(crate) inside: u32,
    pub(crate) half_cell: f32,
    pub(crate) bounds: [Vec3; 2],
}

impl SizeClass {
    pub(crate) const EMPTY: Self = Self {
        count: 0,
        inside: 0,
        half_cell: 0.0,
        bounds: [Vec3::INFINITY, Vec3::NEG_INFINITY],
    };

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

/// A [`SizeClass`] to which proxies are being added. The fourth component of `high` is half the
/// edge of the smallest cell that fits every proxy; that of `low` is not used.
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

#[derive(Debug, Default)]
pub(super) struct HistogramMemory {
    places: ScratchPool<Option<NonZeroU16>>,
    classes: ScratchPool<(usize, RunningClass)>,
}

impl HistogramMemory {
    pub(super) fn bytes(&self) -> usize {
        self.places.bytes() + self.classes.bytes()
    }
}

pub(super) const CLASSES: &str = "the size classes";

/// Most inputs use few of the thousands of size classes.
pub(super) struct Histogram<'a> {
    /// The position of each size class in `classes`, counted from 1.
    places: ScratchGuard<'a, Option<NonZeroU16>>,
    pub(super) classes: ScratchGuard<'a, (usize, RunningClass)>,
    /// Whether memory was too short for a size class.
    lacks_class: bool,
}

impl<'a> Histogram<'a> {
    pub(super) fn new(memory: &'a HistogramMemory) -> Result<Self, Error> {
        let (mut places, mut classes) = (memory.places.take(), memory.classes.take());
        places.room(SIZE_CLASSES, CLASSES)?;
        places.refill(repeat_n(None, SIZE_CLASSES));
        classes.empty();
        Ok(Self {
            places,
            classes,
            lacks_class: false,
        })
    }

    pub(super) fn checked(self) -> Result<Self, Error> {
        if self.lacks_class {
            let more = self.classes.len() + 1;
            return Err(out_of_memory::<(usize, RunningClass)>(more, CLASSES));
        }
        Ok(self)
    }

    #[inline(always)]
    pub(super) fn add(&mut self, number: usize, proxies: &RunningClass) {
        match self.places[number] {
            Some(place) => self.classes[usize::from(place.get()) - 1].1.merge(proxies),
            None => {
                if push(&mut self.classes, (number, *proxies), CLASSES).is_err() {
                    self.lacks_class = true;
                    return;
                }
                self.places[number] = NonZeroU16::new(self.classes.len() as u16);
            }
        }
    }

    pub(super) fn merge(mut self, other: Self) -> Self {
        for (number, proxies) in other.classes.iter() {
            self.add(*number, proxies);
        }
        self.lacks_class |= other.lacks_class;
        self
    }
}

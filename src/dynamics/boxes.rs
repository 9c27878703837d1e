//! A tree of boxes around the spheres with their pads, which finds the spheres near one sphere.
//!
//! The spheres are sorted along a curve that keeps neighbours together (Morton order). Each eight neighbours
//! share a box, each eight boxes share a box of the next level, and so on. So the tree needs no links.

use std::ops::Range;

use rayon::prelude::*;

use super::rows::reserve;
use crate::{Error, Sphere};

/// Number of spheres or boxes in a box.
const FANOUT: usize = 8;

/// Number of trees for which an order is kept. The spheres move little meanwhile, and an old order only makes the
/// boxes larger.
const SORTED: u32 = 16;

/// An axis-aligned box: its lower and its upper corner.
type Corners = [[f32; 3]; 2];

const NOWHERE: Corners = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];

fn joined([a, b]: Corners, [c, d]: Corners) -> Corners {
    let each = |x: [f32; 3], y: [f32; 3], of: fn(f32, f32) -> f32| {
        [of(x[0], y[0]), of(x[1], y[1]), of(x[2], y[2])]
    };
    [each(a, c, f32::min), each(b, d, f32::max)]
}

fn overlap([a, b]: &Corners, [c, d]: &Corners) -> bool {
    let apart = |k: usize| (a[k] > d[k]) | (c[k] > b[k]);
    !(apart(0) | apart(1) | apart(2))
}

/// Returns a box around a sphere.
fn around(sphere: &Sphere) -> Corners {
    [
        sphere.center.map(|x| (x - sphere.radius).next_down()),
        sphere.center.map(|x| (x + sphere.radius).next_up()),
    ]
}

#[derive(Debug, Default)]
pub(crate) struct Boxes {
    /// The spheres along the curve.
    order: Vec<u32>,
    /// Place of each sphere in `order`.
    places: Vec<u32>,
    /// The levels one after the other. The first one has the boxes around spheres, and the last one is one box.
    boxes: Vec<Corners>,
    levels: Vec<Range<usize>>,
    /// Number of trees since the spheres were sorted.
    age: u32,
    most_radius: f32,
}

impl Boxes {
    /// Makes the tree of these spheres.
    pub(crate) fn fill(&mut self, spheres: &[Sphere]) -> Result<(), Error> {
        self.age += 1;
        if self.order.len() != spheres.len() || self.age > SORTED {
            self.sort(spheres)?;
            self.age = 0;
        }
        let Self {
            order,
            boxes,
            levels,
            ..
        } = self;
        boxes.clear();
        levels.clear();
        reserve(boxes, spheres.len() / (FANOUT - 1) + 32)?;
        let groups = order.par_chunks(FANOUT);
        boxes.par_extend(groups.map(|group| {
            let all = group.iter().map(|&index| around(&spheres[index as usize]));
            all.fold(NOWHERE, joined)
        }));
        levels.push(0..boxes.len());
        let mut level = 0..boxes.len();
        while level.len() > 1 {
            for first in level.clone().step_by(FANOUT) {
                let group = first..(first + FANOUT).min(level.end);
                let joined = boxes[group].iter().copied().fold(NOWHERE, joined);
                boxes.push(joined);
            }
            level = level.end..boxes.len();
            levels.push(level.clone());
        }
        let radii = spheres.par_iter().map(|sphere| sphere.radius);
        self.most_radius = radii.reduce(|| 0.0, f32::max);
        Ok(())
    }

    /// Sorts the spheres along the curve.
    fn sort(&mut self, spheres: &[Sphere]) -> Result<(), Error> {
        let bounds = spheres.par_iter().map(|sphere| [sphere.center; 2]);
        let [low, high] = bounds.reduce(|| NOWHERE, joined);
        let mut keys = Vec::new();
        reserve(&mut keys, spheres.len())?;
        keys.par_extend(spheres.par_iter().zip(0..u32::MAX).map(|(sphere, index)| {
            let key = (0..3).map(|k| {
                let share = (sphere.center[k] - low[k]) / (high[k] - low[k]);
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "the conversion saturates"
                )]
                let cell = (share * 1024.0) as u32;
                spread(cell.min(1023)) << k
            });
            (key.sum::<u32>(), index)
        }));
        keys.par_sort_unstable();
        self.order.clear();
        reserve(&mut self.order, keys.len())?;
        self.order.extend(keys.iter().map(|&(_, index)| index));
        self.places.clear();
        reserve(&mut self.places, keys.len())?;
        self.places.resize(keys.len(), 0);
        for (place, &index) in (0..).zip(&self.order) {
            self.places[index as usize] = place;
        }
        Ok(())
    }

    /// Makes the boxes around a sphere as large as the sphere needs.
    pub(crate) fn grow(&mut self, index: u32, sphere: &Sphere) {
        let own = around(sphere);
        self.most_radius = self.most_radius.max(sphere.radius);
        let mut place = self.places[index as usize] as usize;
        for level in &self.levels {
            place /= FANOUT;
            let corners = &mut self.boxes[level.start + place];
            *corners = joined(*corners, own);
        }
    }

    /// Returns the largest radius of all spheres.
    pub(crate) fn most_radius(&self) -> f32 {
        self.most_radius
    }

    /// Calls `each` with the index of every sphere whose box of eight overlaps the box around a sphere.
    pub(crate) fn each_near(&self, sphere: &Sphere, each: &mut impl FnMut(u32)) {
        if let Some(top) = self.levels.len().checked_sub(1) {
            self.descend(top, 0, &around(sphere), each);
        }
    }

    fn descend(&self, level: usize, place: usize, around: &Corners, each: &mut impl FnMut(u32)) {
        if !overlap(&self.boxes[self.levels[level].start + place], around) {
            return;
        }
        let first = place * FANOUT;
        let count = match level.checked_sub(1) {
            Some(below) => self.levels[below].len(),
            None => self.order.len(),
        };
        let group = first..(first + FANOUT).min(count);
        match level.checked_sub(1) {
            Some(below) => group.for_each(|place| self.descend(below, place, around, each)),
            None => self.order[group].iter().for_each(|&index| each(index)),
        }
    }
}

/// Spreads the lower ten bits of a number, with two bits of 0 after each.
fn spread(x: u32) -> u32 {
    let x = (x | x << 16) & 0x0300_00ff;
    let x = (x | x << 8) & 0x0300_f00f;
    let x = (x | x << 4) & 0x030c_30c3;
    (x | x << 2) & 0x0924_9249
}

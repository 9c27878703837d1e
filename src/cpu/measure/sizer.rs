//! Finds the number and the size of the segments of each sphere, and counts them by size.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are fewer than 2¹⁶ size classes"
)]

use std::array::from_fn;

use glam::Vec3;
use wide::f32x4;

use super::histogram::{Histogram, RunningClass};
use crate::Sphere;
use crate::cpu::images::{Cell, Stays};
use crate::lanes::LANES;
use crate::shared::segments::{Cut, ProxySize, SpherePath};
use crate::shared::size_class::OUTSIDE;
use crate::shared::space::Space;
use crate::shared::units::Scale;

pub(super) struct Sizer<'a> {
    pub(super) space: &'a Space,
    pub(super) scale: &'a Scale,
    pub(super) length: f32,
    pub(super) cell: Option<&'a Cell>,
}

impl Sizer<'_> {
    /// Writes the size class of each sphere to `class_of`, and adds its proxies to the histogram.
    pub(super) fn add_all(
        &self,
        histogram: &mut Histogram<'_>,
        spheres: &[Sphere],
        set: u32,
        class_of: &mut [u16],
    ) {
        let (blocks, rest) = spheres.as_chunks::<LANES>();
        let (class_blocks, class_rest) = class_of.as_chunks_mut::<LANES>();
        let blocks = blocks.iter().zip(class_blocks);
        // Separate loops, so that the one for open space has no test for each block.
        match self.cell {
            None => blocks.for_each(|(spheres, classes)| {
                *classes = self.add_block(histogram, spheres, set, None);
            }),
            Some(cell) => blocks.for_each(|(spheres, classes)| {
                *classes = self.add_block(histogram, spheres, set, Some(cell));
            }),
        }
        for (sphere, class) in rest.iter().zip(class_rest) {
            let paths = self.scale.paths([sphere; LANES], &self.space.frame);
            *class = self.add(histogram, sphere, set, stays(self.cell, &paths).inside != 0);
        }
    }

    fn add(&self, histogram: &mut Histogram<'_>, sphere: &Sphere, set: u32, inside: bool) -> u16 {
        let mut path = self.scale.path(sphere, &self.space.frame);
        let mut size = ProxySize::new(&path, self.length);
        let outside = self.cell.filter(|_| !inside);
        if let Some(cell) = outside {
            let scaled = self.scale.sphere(sphere);
            size = cell.proxy_size(&scaled, &path, self.length);
            path = cell.wrapped(&scaled, &path);
        }
        let ProxySize { power, half_cell } = size;
        let count = 1 << power;
        let ends =
            [0, count - 1].map(|segment| Vec3::from(path.at(Cut { power, segment }.middle())));
        let [mut low, mut high] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
        let trimmed = self.space.trimmed;
        let usual = low.cmpge(trimmed[0]).all() && high.cmple(trimmed[1]).all();
        if let Some(cell) = outside {
            [low, high] = cell.wrap_box([low, high], half_cell);
        }
        let proxies = RunningClass {
            count,
            inside: if usual { count } else { 0 },
            low: f32x4::from(low.extend(half_cell).to_array()),
            high: f32x4::from(high.extend(half_cell).to_array()),
        };
        let number = size.class(set);
        histogram.add(number as usize, &proxies);
        number as u16 | if outside.is_some() { OUTSIDE } else { 0 }
    }

    #[inline(always)]
    fn add_block(
        &self,
        histogram: &mut Histogram<'_>,
        spheres: &[Sphere; LANES],
        set: u32,
        cell: Option<&Cell>,
    ) -> [u16; LANES] {
        let paths = self.scale.paths(spheres.each_ref(), &self.space.frame);
        let stays = stays(cell, &paths);
        let stays_inside = |lane: usize| stays.inside >> lane & 1 == 1;
        let Some(half_cell) = ProxySize::of_uncut(&paths, self.length) else {
            return from_fn(|lane| self.add(histogram, &spheres[lane], set, stays_inside(lane)));
        };
        let whole = Cut {
            power: 0,
            segment: 0,
        };
        let [x, y, z] = paths.at(f32x4::splat(whole.middle()));
        let [low, high] = self.space.trimmed.map(|corner| corner.to_array());
        let within = [(x, 0), (y, 1), (z, 2)]
            .map(|(x, k)| x.simd_ge(f32x4::splat(low[k])) & x.simd_le(f32x4::splat(high[k])));
        let inside = (within[0] & within[1] & within[2]).to_bitmask();
        let points = f32x4::transpose([x, y, z, half_cell]);
        let half_cells = half_cell.to_array();
        let near_cells = match cell {
            Some(cell) if stays != Stays::INSIDE => {
                Some((cell, cell.near_sizes(&paths).to_array()))
            }
            _ => None,
        };
        let mut classes = [0; LANES];
        // The compiler does not inline a closure of `from_fn`.
        for (lane, own) in classes.iter_mut().enumerate() {
            let inside = inside >> lane & 1;
            if let Some((cell, near_cells)) = near_cells
                && !stays_inside(lane)
            {
                *own = if stays.near >> lane & 1 == 0 {
                    self.add(histogram, &spheres[lane], set, false)
                } else {
                    add_near(histogram, cell, points[lane], near_cells[lane], inside, set)
                };
                continue;
            }
            let proxies = RunningClass {
                count: 1,
                inside,
                low: points[lane],
                high: points[lane],
            };
            let size = ProxySize {
                power: 0,
                half_cell: half_cells[lane],
            };
            let number = size.class(set);
            histogram.add(number as usize, &proxies);
            *own = number as u16;
        }
        classes
    }
}

/// The first three numbers of `point` are the middle of the path. `inside` is 1 if it is in the
/// trimmed box, otherwise 0.
#[inline(never)]
fn add_near(
    histogram: &mut Histogram<'_>,
    cell: &Cell,
    point: f32x4,
    half_cell: f32,
    inside: u32,
    set: u32,
) -> u16 {
    let [x, y, z, _] = point.to_array();
    let corners = cell.wrap_box([Vec3::new(x, y, z); 2], half_cell);
    let [low, high] = corners.map(|corner| f32x4::from(corner.extend(half_cell).to_array()));
    let proxies = RunningClass {
        count: 1,
        inside,
        low,
        high,
    };
    let size = ProxySize {
        power: 0,
        half_cell,
    };
    let number = size.class(set);
    histogram.add(number as usize, &proxies);
    number as u16 | OUTSIDE
}

#[inline(always)]
fn stays(cell: Option<&Cell>, paths: &SpherePath<f32x4>) -> Stays {
    cell.map_or(Stays::INSIDE, |cell| cell.stays(paths))
}

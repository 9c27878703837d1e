//! Finds how many time segments each sphere has, and how large they are, and counts them by size.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are fewer than 2¹⁶ size classes"
)]

use std::array::from_fn;

use glam::Vec3;
use wide::f32x4;

use super::histogram::{Histogram, RunningClass};
use crate::Sphere;
use crate::lanes::LANES;
use crate::shared::segments::{Cut, ProxySize};
use crate::shared::space::Space;
use crate::shared::units::Scale;

pub(super) struct Sizer<'a> {
    pub(super) space: &'a Space,
    pub(super) scale: &'a Scale,
    pub(super) length: f32,
}

impl Sizer<'_> {
    /// Adds the time segments of `spheres`, which are all of set `set`, to the histogram of sizes.
    /// Writes the size class of each sphere to `class_of`.
    pub(super) fn add_all(
        &self,
        histogram: &mut Histogram<'_>,
        spheres: &[Sphere],
        set: u32,
        class_of: &mut [u16],
    ) {
        let (blocks, rest) = spheres.as_chunks::<LANES>();
        let (class_blocks, class_rest) = class_of.as_chunks_mut::<LANES>();
        for (spheres, classes) in blocks.iter().zip(class_blocks) {
            *classes = self.add_uncut(histogram, spheres, set).unwrap_or_else(|| {
                spheres
                    .each_ref()
                    .map(|sphere| self.add(histogram, sphere, set))
            });
        }
        for (sphere, class) in rest.iter().zip(class_rest) {
            *class = self.add(histogram, sphere, set);
        }
    }

    fn add(&self, histogram: &mut Histogram<'_>, sphere: &Sphere, set: u32) -> u16 {
        let path = self.scale.path(sphere, &self.space.frame);
        let size = ProxySize::new(&path, self.length);
        let ProxySize { power, half_cell } = size;
        let count = 1 << power;
        let ends =
            [0, count - 1].map(|segment| Vec3::from(path.at(Cut { power, segment }.middle())));
        let [low, high] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
        let trimmed = self.space.trimmed;
        let inside = low.cmpge(trimmed[0]).all() && high.cmple(trimmed[1]).all();
        let proxies = RunningClass {
            count,
            inside: if inside { count } else { 0 },
            low: f32x4::from(low.extend(half_cell).to_array()),
            high: f32x4::from(high.extend(half_cell).to_array()),
        };
        let number = size.class(set);
        histogram.add(number as usize, &proxies);
        number as u16
    }

    /// Does the work of [`Sizer::add`] for four spheres at once, if the path of none is cut into
    /// time segments. Otherwise adds nothing and returns `None`.
    #[inline(always)]
    fn add_uncut(
        &self,
        histogram: &mut Histogram<'_>,
        spheres: &[Sphere; LANES],
        set: u32,
    ) -> Option<[u16; LANES]> {
        let paths = self.scale.paths(spheres.each_ref(), &self.space.frame);
        let half_cell = ProxySize::of_uncut(&paths, self.length)?;
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
        Some(from_fn(|lane| {
            let proxies = RunningClass {
                count: 1,
                inside: inside >> lane & 1,
                low: points[lane],
                high: points[lane],
            };
            let size = ProxySize {
                power: 0,
                half_cell: half_cells[lane],
            };
            let number = size.class(set);
            histogram.add(number as usize, &proxies);
            number as u16
        }))
    }
}

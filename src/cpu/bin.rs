//! `bin`: computes the grid cell of each proxy (a sphere or one time segment of its path), and the
//! slot of this cell in the table of cells. Twin of `shaders/bin.wgsl`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies and slots, and all other numbers are smaller"
)]

use bytemuck::Zeroable;

use super::buckets::Buckets;
use super::measure::Sizes;
use super::plan::Plan;
use crate::limits::CHUNK;
use crate::shared::segments::{Cut, Segment};
use crate::shared::size_class::class_power;
use crate::shared::space::Space;
use crate::shared::tag::{INSIDE, make_tag, slab_of};
use crate::shared::units::Scale;
use crate::{Error, Sphere};

#[derive(Clone, Copy, Debug, Zeroable)]
pub(crate) struct Binned {
    /// Index of the grid cell in the table of cells.
    pub(crate) slot: u32,
    pub(crate) sphere: u32,
    /// Grid and time segment of the proxy, packed by [`make_tag`]. The flag [`INSIDE`] says that
    /// the search for its neighbours in its own grid visits only cells with their own table
    /// entries.
    pub(crate) tag: u32,
}

pub(crate) fn bin(
    spheres: &[Sphere],
    scale: &Scale,
    space: &Space,
    sizes: &Sizes<'_>,
    plan: &Plan,
    binned: &mut Buckets<Binned>,
) -> Result<(), Error> {
    let proxies = spheres.len() + sizes.segments.len();
    let make = |chunk: usize, binned: &mut Vec<Binned>| {
        let begin = chunk * CHUNK;
        let end = proxies.min(begin + CHUNK);
        binned.extend((begin..end).map(|proxy| {
            let Segment {
                sphere,
                number: segment,
            } = sizes.segment(proxy);
            let class = usize::from(sizes.class_of[sphere as usize]);
            let power = class_power(class);
            let number = plan.level_of_class[class];
            let level = &plan.levels[usize::from(number)];
            let path = scale.path(&spheres[sphere as usize], &space.frame);
            let cell = level.cell_of(path.at(Cut { power, segment }.middle()));
            let tag = make_tag(number.into(), power, segment);
            let slot = level.slot_of(cell, slab_of(tag, level.time_power));
            let inside = if level.is_around_in_box(cell) {
                INSIDE
            } else {
                0
            };
            Binned {
                slot,
                sphere,
                tag: tag | inside,
            }
        }));
        Ok(())
    };
    let chunks = proxies.div_ceil(CHUNK);
    binned.fill(chunks, plan.slots as usize, proxies, make, |binned| {
        binned.slot
    })
}

//! `bin`: each proxy's cell and slot, and how many proxies a slot holds.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::measure::{Segment, Sizes, Space};
use super::plan::Plan;
use crate::error::allocate;
use crate::grid::{Motion, SortedCell, bin_power, make_tag, slab_of};
use crate::{Error, Sphere};

/// Where a proxy goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binned {
    /// Its cell.
    pub(crate) cell: SortedCell,
    /// The slot of that cell.
    pub(crate) slot: u32,
    /// How many proxies came to the slot before it.
    pub(crate) place: u32,
}

/// Bins every proxy. Also returns the number of proxies of each slot, with a 0
/// at the end where `scan` will put their total.
pub(crate) fn bin(
    spheres: &[Sphere],
    dt: f32,
    space: &Space,
    sizes: &Sizes,
    plan: &Plan,
) -> Result<(Vec<Binned>, Vec<u32>), Error> {
    let mut counts = allocate(plan.slots as usize + 1, "the slot table")?;
    counts.resize_with(plan.slots as usize + 1, || AtomicU32::new(0));
    let firsts = (0..spheres.len() as u32)
        .into_par_iter()
        .map(|sphere| Segment { sphere, number: 0 });
    let mut binned = allocate(
        spheres.len() + sizes.segments.len(),
        "the cells of the proxies",
    )?;
    binned.par_extend(firsts.chain(sizes.segments.par_iter().copied()).map(
        |Segment { sphere, number }| {
            let bin = usize::from(sizes.bin_of[sphere as usize]);
            let power = bin_power(bin);
            let number_of_level = plan.level_of_bin[bin];
            let level = &plan.levels[usize::from(number_of_level)];
            let motion = Motion::new(&spheres[sphere as usize], &space.frame, dt);
            let cell = level.cell_of(motion.middle(power, number));
            let tag = make_tag(u32::from(number_of_level), power, number);
            let slot = level.slot_of(cell, slab_of(tag, level.time_power));
            let place = counts[slot as usize].fetch_add(1, Relaxed);
            Binned {
                cell: SortedCell { cell, tag },
                slot,
                place,
            }
        },
    ));
    Ok((
        binned,
        counts.into_iter().map(AtomicU32::into_inner).collect(),
    ))
}

//! `scatter`: the proxies in the order of their slots, in the form in which
//! `pairs` reads them.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::bin::Binned;
use super::measure::Segment;
use crate::error::allocate;
use crate::grid::{SortedCell, SortedProxy};
use crate::{Error, Sphere};

/// Sorts the proxies by slot.
pub(crate) fn scatter(
    spheres: &[Sphere],
    segments: &[Segment],
    binned: &[Binned],
    starts: &[u32],
) -> Result<(Vec<SortedProxy>, Vec<SortedCell>), Error> {
    // The order first, then the records: written in a row, from wherever they
    // are.
    let mut order = allocate(binned.len(), "the order of the proxies")?;
    order.resize_with(binned.len(), || AtomicU32::new(0));
    binned
        .par_iter()
        .zip(0..binned.len() as u32)
        .with_min_len(1 << 12)
        .for_each(|(binned, proxy)| {
            order[(starts[binned.slot as usize] + binned.place) as usize].store(proxy, Relaxed);
        });
    let mut sorted = allocate(order.len(), "the sorted proxies")?;
    sorted.par_extend(order.par_iter().map(|proxy| {
        let proxy = proxy.load(Relaxed);
        let sphere = match (proxy as usize).checked_sub(spheres.len()) {
            Some(segment) => segments[segment].sphere,
            None => proxy,
        };
        let Sphere {
            center,
            radius,
            velocity,
            ..
        } = spheres[sphere as usize];
        SortedProxy {
            center,
            radius,
            velocity,
            sphere,
        }
    }));
    let mut cells = allocate(order.len(), "the sorted cells")?;
    cells.par_extend(
        order
            .par_iter()
            .map(|proxy| binned[proxy.load(Relaxed) as usize].cell),
    );
    Ok((sorted, cells))
}

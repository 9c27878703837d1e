//! The dispatches of a prefix sum (scan).

use super::allocator::ScanTable;
use super::dispatch::{Binder, Dispatch};
use super::named_buffers::NamedBuffers;
use super::shader::constants::SCAN_BLOCK;
use super::shader::kernels::Stages;
use crate::Error;

/// Returns the dispatches that replace the words of a table by their exclusive prefix sums.
///
/// `scan_reduce` sums the blocks of each level into the next level. `scan_spine` scans the last
/// level, which is one block. `scan_apply` then scans each level from the sums of its blocks.
pub(crate) fn scan(
    binder: Binder<'_>,
    kernels: &Stages,
    table: &ScanTable,
) -> Result<Vec<Dispatch>, Error> {
    let mut dispatches = Vec::new();
    let levels: Vec<(NamedBuffers, u64)> = (table.levels.windows(2))
        .map(|pair| {
            let named = NamedBuffers::default();
            let named = named.with::<u32>("counts", &pair[0]);
            let blocks = pair[1].size() / size_of::<u32>() as u64;
            (named.with::<u32>("sums", &pair[1]), blocks)
        })
        .collect();
    for (named, blocks) in &levels {
        dispatches.push(binder.dispatch(&kernels.scan_reduce, &[named], *blocks)?);
    }
    if let Some(last) = table.levels.last() {
        debug_assert!(last.size() <= size_of::<u32>() as u64 * u64::from(SCAN_BLOCK));
        let named = NamedBuffers::default().with::<u32>("sums", last);
        dispatches.push(binder.dispatch(&kernels.scan_spine, &[&named], 1)?);
    }
    for (named, blocks) in levels.iter().rev() {
        dispatches.push(binder.dispatch(&kernels.scan_apply, &[named], *blocks)?);
    }
    Ok(dispatches)
}

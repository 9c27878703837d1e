//! The dispatches of a prefix sum (scan).

use super::allocator::ScanTable;
use super::dispatch::{Binder, Dispatch};
use super::named_buffers::NamedBuffers;
use super::shader::kernels::Stages;
use crate::Error;

/// Returns the dispatches that replace the words of a table by their exclusive prefix sums.
///
/// `scan_reduce` sums the blocks of each level into the next level. From the last level but one
/// back to the first, `scan_apply` then scans each level from the sums of its blocks.
pub(crate) fn scan(
    binder: Binder<'_>,
    kernels: &Stages,
    table: &ScanTable,
) -> Result<Vec<Dispatch>, Error> {
    let mut dispatches = Vec::new();
    // Each level of the table with the sums of its blocks.
    let levels: Vec<(NamedBuffers, u64)> = (table.levels.windows(2))
        .map(|pair| {
            let named = NamedBuffers::default().with::<[u32; 4]>("counts", &pair[0].buffer);
            (named.with::<u32>("sums", &pair[1].buffer), pair[1].words)
        })
        .collect();
    for (named, blocks) in &levels {
        // A single block needs no sum, because no block comes before it.
        if *blocks > 1 {
            dispatches.push(binder.dispatch(&kernels.scan_reduce, &[named], *blocks)?);
        }
    }
    // The sums of the first level to be scanned are no more than one block, and are not scanned
    // themselves. All further sums have been scanned as the level before.
    let mut kernel = &kernels.scan_apply;
    for (named, blocks) in levels.iter().rev() {
        dispatches.push(binder.dispatch(kernel, &[named], *blocks)?);
        kernel = &kernels.scan_apply_scanned;
    }
    Ok(dispatches)
}

//! The dispatches of a prefix sum (scan).

use super::allocator::ScanTable;
use super::dispatch::{Binder, Dispatch};
use super::named_buffers::NamedBuffers;
use super::shader::kernels::Stages;
use crate::Error;

/// Returns the dispatches that replace the words of a table by their exclusive prefix sums.
///
/// First, `scan_reduce` writes the sum of each block of a level into the next level. Then, from the
/// last level but one back to the first, `scan_apply` replaces each level by its prefix sums. It
/// starts each block from the sum of the blocks before it.
pub(crate) fn scan(
    binder: Binder<'_>,
    kernels: &Stages,
    table: &ScanTable,
) -> Result<Vec<Dispatch>, Error> {
    let mut dispatches = Vec::new();
    // Each level of the table except the last, together with the level of its blocks' sums, and its
    // number of blocks.
    let levels: Vec<(NamedBuffers, u64)> = (table.levels.windows(2))
        .map(|pair| {
            let named = NamedBuffers::default().with::<[u32; 4]>("counts", &pair[0].buffer);
            (named.with::<u32>("sums", &pair[1].buffer), pair[1].words)
        })
        .collect();
    for (named, blocks) in &levels {
        // The sum of a block is used only for the blocks after it, so a level of one block needs no
        // sum.
        if *blocks > 1 {
            dispatches.push(binder.dispatch(&kernels.scan_reduce, &[named], *blocks)?);
        }
    }
    // The first level that is scanned has at most one block of sums. These sums are not scanned
    // themselves: each workgroup adds up those that it needs. For every further level, the sums are
    // the level that was scanned just before.
    let mut kernel = &kernels.scan_apply;
    for (named, blocks) in levels.iter().rev() {
        dispatches.push(binder.dispatch(kernel, &[named], *blocks)?);
        kernel = &kernels.scan_apply_scanned;
    }
    Ok(dispatches)
}

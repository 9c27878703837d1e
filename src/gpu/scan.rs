//! Dispatches of the compute kernels of a prefix sum (scan).

use super::allocator::ScanTable;
use super::dispatch::{Binder, Dispatch};
use super::named_buffers::NamedBuffers;
use super::shader::kernels::Stages;
use crate::Error;

/// Returns the dispatches that replace the words of a table by their exclusive prefix sums.
///
/// The kernel `scan_reduce` first writes the sums of each level's blocks into the next level. Then,
/// from the last level but one back to the first, `scan_apply` replaces each level by its prefix
/// sums, starting each block from the sum of the blocks before it.
pub(crate) fn scan(
    binder: Binder<'_>,
    kernels: &Stages,
    table: &ScanTable,
) -> Result<Vec<Dispatch>, Error> {
    let mut dispatches = Vec::new();
    let levels: Vec<(NamedBuffers, u64)> = (table.levels.windows(2))
        .map(|pair| {
            let named = NamedBuffers::default().with::<[u32; 4]>("counts", &pair[0].buffer);
            (named.with::<u32>("sums", &pair[1].buffer), pair[1].words)
        })
        .collect();
    for (named, blocks) in &levels {
        // The sum of a block serves only the blocks after it, so a level of one block needs no sum.
        if *blocks > 1 {
            dispatches.push(binder.dispatch(&kernels.scan_reduce, &[named], *blocks)?);
        }
    }
    // The first `scan_apply` dispatch of a prefix sum reads at most one block of block sums, which
    // each workgroup adds up. Each further dispatch reads block sums that the dispatch before it
    // has replaced by their prefix sums.
    let mut kernel = &kernels.scan_apply;
    for (named, blocks) in levels.iter().rev() {
        dispatches.push(binder.dispatch(kernel, &[named], *blocks)?);
        kernel = &kernels.scan_apply_scanned;
    }
    Ok(dispatches)
}

//! Dispatches of the compute kernels of a prefix sum.

use super::allocator::ScanTable;
use super::dispatch::{Binder, Dispatch};
use super::named_buffers::NamedBuffers;
use super::shader::kernels::Stages;
use crate::Error;

/// Returns the dispatches that replace the words of a table by their exclusive prefix sums.
///
/// The words of the table are divided into blocks. The kernel `scan_reduce` writes the sum of each
/// block into a second, shorter list. It reduces this list in the same way, until a list is at most
/// one block long. Then `scan_apply` replaces the words by their prefix sums in each list except
/// that last one, from the shortest to the table itself. The prefix sums of a block start from the
/// sum of all blocks before it, which the next shorter list gives.
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
        // The sum of a block is used only for later blocks, so a list of one block needs no sum.
        if *blocks > 1 {
            dispatches.push(binder.dispatch(&kernels.scan_reduce, &[named], *blocks)?);
        }
    }
    // The first dispatch of `scan_apply` reads block sums that are not prefix sums yet. There are
    // so few that each workgroup adds up the sums of all blocks before its own. Each later dispatch
    // reads block sums that the dispatch before it has replaced by prefix sums.
    let mut kernel = &kernels.scan_apply;
    for (named, blocks) in levels.iter().rev() {
        dispatches.push(binder.dispatch(kernel, &[named], *blocks)?);
        kernel = &kernels.scan_apply_scanned;
    }
    Ok(dispatches)
}

//! Dispatches of the compute kernels of a prefix sum.

use crate::Error;
use crate::gpu::device::allocator::ScanTable;
use crate::gpu::device::dispatch::{Binder, Dispatch};
use crate::gpu::device::named_buffers::NamedBuffers;
use crate::gpu::device::shader::kernels::Stages;

/// Returns the dispatches that replace the words of a table by their exclusive prefix sums.
///
/// `scan_reduce` writes the sum of each block to a shorter list, and so on, until a list fits
/// into one block. Then `scan_apply` replaces the words of each list, from the shortest, adding
/// the sum of all earlier blocks.
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
        // The sum of a block is used only for later blocks.
        if *blocks > 1 {
            dispatches.push(binder.dispatch(&kernels.scan_reduce, &[named], *blocks)?);
        }
    }
    // In the shortest list, each workgroup adds up the few sums itself. In the others, the
    // sums are prefix sums already.
    let mut kernel = &kernels.scan_apply;
    for (named, blocks) in levels.iter().rev() {
        dispatches.push(binder.dispatch(kernel, &[named], *blocks)?);
        kernel = &kernels.scan_apply_scanned;
    }
    Ok(dispatches)
}

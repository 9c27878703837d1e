//! Dispatches of the compute kernels of a prefix sum.

use crate::Error;
use crate::gpu::device::allocator::ScanTable;
use crate::gpu::device::dispatch::{Binder, Dispatch};
use crate::gpu::device::named_buffers::NamedBuffers;
use crate::gpu::device::shader::kernels::Stages;

/// Returns the dispatches that replace the words of a table by their exclusive prefix sums.
///
/// The table is divided into blocks. The kernel `scan_reduce` writes the sum of each block to a
/// second list, which is shorter. It then reduces the second list to a third, and so on, until a
/// list fits into one block. Then the kernel `scan_apply` replaces the words of each list by their
/// prefix sums, from the shortest of these lists back to the table. For each block, it takes the
/// sum of all earlier blocks from the next shorter list.
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
    // To replace the words of a block by their prefix sums, a workgroup needs the sum of all
    // earlier blocks. The first dispatch processes the shortest list, which has few blocks, so each
    // workgroup adds up their sums itself. Each later dispatch processes a longer list. The
    // dispatch before it has already replaced the sums of the blocks by their prefix sums.
    let mut kernel = &kernels.scan_apply;
    for (named, blocks) in levels.iter().rev() {
        dispatches.push(binder.dispatch(kernel, &[named], *blocks)?);
        kernel = &kernels.scan_apply_scanned;
    }
    Ok(dispatches)
}

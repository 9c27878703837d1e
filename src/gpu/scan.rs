//! The recording of a prefix sum.

use super::allocator::ScanTable;
use super::dispatch::{Binder, Dispatch};
use super::scope::Scope;
use super::shader::constants::SCAN_BLOCK;
use super::shader::kernels::Stages;
use crate::Error;

/// Dispatches that replace the words of a table by their exclusive prefix sums.
pub(crate) fn scan(
    binder: Binder<'_>,
    kernels: &Stages,
    table: &ScanTable,
) -> Result<Vec<Dispatch>, Error> {
    let mut dispatches = Vec::new();
    let levels: Vec<(Scope, u64)> = (table.levels.windows(2))
        .map(|pair| {
            let scope = Scope::default();
            let scope = scope.with::<u32>("counts", &pair[0]);
            let blocks = pair[1].size() / size_of::<u32>() as u64;
            (scope.with::<u32>("sums", &pair[1]), blocks)
        })
        .collect();
    for (scope, blocks) in &levels {
        dispatches.push(binder.dispatch(&kernels.scan_reduce, &[scope], *blocks)?);
    }
    if let Some(last) = table.levels.last() {
        debug_assert!(last.size() <= size_of::<u32>() as u64 * u64::from(SCAN_BLOCK));
        let scope = Scope::default().with::<u32>("sums", last);
        dispatches.push(binder.dispatch(&kernels.scan_spine, &[&scope], 1)?);
    }
    for (scope, blocks) in levels.iter().rev() {
        dispatches.push(binder.dispatch(&kernels.scan_apply, &[scope], *blocks)?);
    }
    Ok(dispatches)
}

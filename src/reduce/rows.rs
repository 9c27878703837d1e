//! Converts the indices of a pair, which count within each set of spheres, to indices among all
//! spheres of the step.

use crate::shared::sets::Sets;

/// Returns the indices of a pair's spheres among all `spheres` spheres of the step, or `None` if
/// one of them does not exist. If there are two sets, the second follows the first.
pub(crate) fn rows([a, b]: [u32; 2], spheres: usize, sets: Sets) -> Option<[usize; 2]> {
    let rows = [a as usize, (b as usize).checked_add(sets.b_offset())?];
    rows.iter().all(|&row| row < spheres).then_some(rows)
}

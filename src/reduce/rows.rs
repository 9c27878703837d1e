//! Converts the indices of a pair, which count within each set of spheres, to indices among all
//! spheres of the step.

use crate::shared::sets::Sets;

/// Indices among all spheres, the second set after the first, or `None` if one does not exist.
pub(crate) fn rows([a, b]: [u32; 2], spheres: usize, sets: Sets) -> Option<[usize; 2]> {
    let rows = [a as usize, (b as usize).checked_add(sets.b_offset())?];
    rows.iter().all(|&row| row < spheres).then_some(rows)
}

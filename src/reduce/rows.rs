//! Converts the indices of a pair, which count within each set of spheres, to indices among all
//! spheres of the step.

use crate::Collision;
use crate::shared::sets::Sets;

/// Returns the indices of a pair's spheres among all `spheres` spheres of the step, or `None` if
/// one of them does not exist. If there are two sets, the second follows the first.
pub(crate) fn rows(pair: &Collision, spheres: usize, sets: Sets) -> Option<[usize; 2]> {
    let rows = [
        pair.a as usize,
        (pair.b as usize).checked_add(sets.b_offset())?,
    ];
    rows.iter().all(|&row| row < spheres).then_some(rows)
}

//! Indices of the spheres of a pair among all spheres of the step.

use crate::Collision;
use crate::shared::sets::Sets;

/// Returns the rows of the two spheres of a pair, in a result that has one row for each of
/// `spheres` spheres. With two sets, the rows of the second set follow those of the first. `None`
/// if one of the two spheres does not exist.
pub(crate) fn rows(pair: &Collision, spheres: usize, sets: Sets) -> Option<[usize; 2]> {
    let rows = [
        pair.a as usize,
        (pair.b as usize).checked_add(sets.b_offset())?,
    ];
    rows.iter().all(|&row| row < spheres).then_some(rows)
}

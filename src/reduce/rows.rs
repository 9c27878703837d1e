//! Where the spheres of a pair stand among all.

use crate::Collision;
use crate::shared::sets::Sets;

/// The rows of a pair's two spheres among `spheres`, where the second of two sets follows
/// the first; `None` if a sphere does not exist.
pub(crate) fn rows(pair: &Collision, spheres: usize, sets: Sets) -> Option<[usize; 2]> {
    let rows = [
        pair.a as usize,
        (pair.b as usize).checked_add(sets.b_offset())?,
    ];
    rows.iter().all(|&row| row < spheres).then_some(rows)
}

//! `contacts`: each sphere's own contacts, in rows. Twin of `shaders/contacts.wgsl`.

use super::rows::rows;
use crate::Collision;
use crate::shared::sets::Sets;

/// The contacts of each sphere, as indices into [`Collisions::pairs`](crate::Collisions::pairs). See
/// [`Collisions::contacts`](crate::Collisions::contacts).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Contacts {
    pub(crate) offsets: Vec<usize>,
    pub(crate) indices: Vec<u32>,
}

impl Contacts {
    /// Those of one sphere: first where it is b, then where it is a, both in the
    /// order of the list; so that in a world of one set the others come in order, if the
    /// list is sorted by (a, b).
    /// Sphere `i` of the second of two sets is at [`Collisions::second_set_start`](crate::Collisions::second_set_start) + `i`.
    /// None for a sphere that there is not.
    pub fn of(&self, sphere: usize) -> &[u32] {
        match self.offsets.get(sphere..).unwrap_or_default() {
            [begin, end, ..] => self.indices.get(*begin..*end).unwrap_or_default(),
            _ => &[],
        }
    }
}

/// Rows of indices into `pairs`. In each, those where the sphere is b come before
/// those where it is a, and both are in the order of `pairs`. Pairs of spheres that do
/// not exist are skipped.
pub(crate) fn contacts(pairs: &[Collision], spheres: usize, sets: Sets) -> Contacts {
    let numbered = || {
        let pairs = pairs.iter().zip(0..=u32::MAX);
        pairs.filter_map(|(pair, index)| Some((rows(pair, spheres, sets)?, index)))
    };
    let mut offsets = vec![0; spheres + 1];
    for row in numbered().flat_map(|(rows, _)| rows) {
        offsets[row] += 1;
    }
    let mut sum: usize = 0;
    for offset in &mut offsets {
        sum += std::mem::replace(offset, sum);
    }
    let mut next = offsets.clone();
    let mut indices = vec![0; sum];
    for side in [1, 0] {
        for (rows, index) in numbered() {
            let place = &mut next[rows[side]];
            indices[*place] = index;
            *place += 1;
        }
    }
    Contacts { offsets, indices }
}

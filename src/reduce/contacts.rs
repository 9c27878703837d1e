//! Lists the contacts of each sphere. The twins `shaders/reduce/contact_rows.wgsl` and
//! `shaders/reduce/contacts.wgsl` do the same on a GPU.

use super::rows::rows;
use crate::Touching as _;
use crate::memory::{copied, filled};
use crate::shared::sets::Sets;
use crate::{Error, Number};

const CONTACTS: &str = "the contacts of the spheres";

/// The contacts of each sphere, as indices into
/// [`Collisions::pairs`](crate::Collisions::pairs). See
/// [`Collisions::contacts`](crate::Collisions::contacts).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Contacts {
    pub(crate) offsets: Vec<usize>,
    pub(crate) indices: Vec<u32>,
}

impl Contacts {
    /// Returns the contacts of one sphere, as indices into the list of pairs.
    ///
    /// Pairs in which the sphere is `b` come first, then pairs in which it is `a`. Both are in the
    /// order of the list.
    ///
    /// `sphere` is the index of a sphere. In a step with two sets, sphere `i` of the second set has
    /// the index [`Collisions::second_set_start`](crate::Collisions::second_set_start) + `i`. For
    /// an index past the last sphere, this method returns an empty slice.
    pub fn of(&self, sphere: usize) -> &[u32] {
        match self.offsets.get(sphere..).unwrap_or_default() {
            [begin, end, ..] => self.indices.get(*begin..*end).unwrap_or_default(),
            _ => &[],
        }
    }
}

pub(crate) fn contacts<T: Number>(
    pairs: &[T::Collision],
    spheres: usize,
    sets: Sets,
) -> Result<Contacts, Error> {
    let numbered = || {
        let pairs = pairs.iter().zip(0..=u32::MAX);
        pairs.filter_map(|(pair, index)| Some((rows(pair.sides(), spheres, sets)?, index)))
    };
    let mut offsets: Vec<usize> = filled(spheres + 1, 0, CONTACTS)?;
    for row in numbered().flat_map(|(rows, _)| rows) {
        offsets[row] += 1;
    }
    let mut sum: usize = 0;
    for offset in &mut offsets {
        sum += std::mem::replace(offset, sum);
    }
    let mut next = copied(&offsets, CONTACTS)?;
    let mut indices = filled(sum, 0, CONTACTS)?;
    for side in [1, 0] {
        for (rows, index) in numbered() {
            let place = &mut next[rows[side]];
            indices[*place] = index;
            *place += 1;
        }
    }
    Ok(Contacts { offsets, indices })
}

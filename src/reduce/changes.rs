//! `changes`: pairs that began, last and ended. Twin of `shaders/changes.wgsl`.

use super::sort::sort;
use crate::Collision;

/// What changed from one step to another: indices a and b of pairs, sorted. See
/// [`Collisions::changes_since`](crate::Collisions::changes_since).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Changes {
    /// Pairs that were not there before.
    pub began: Vec<[u32; 2]>,
    /// Pairs that were.
    pub lasted: Vec<[u32; 2]>,
    /// Pairs that no longer touch.
    pub ended: Vec<[u32; 2]>,
}

/// From one list to a later one.
pub(crate) fn changes(previous: &[Collision], pairs: &[Collision]) -> Changes {
    let [before, now] = [previous, pairs].map(in_order);
    let mut changes = Changes::default();
    let mut ended = before.into_iter().peekable();
    for pair in now {
        while let Some(other) = ended.next_if(|other| *other < pair) {
            changes.ended.push(other);
        }
        if ended.next_if_eq(&pair).is_some() {
            changes.lasted.push(pair);
        } else {
            changes.began.push(pair);
        }
    }
    changes.ended.extend(ended);
    changes
}

/// The indices of the pairs, in order, as a list is unless somebody altered it.
fn in_order(pairs: &[Collision]) -> Vec<[u32; 2]> {
    let mut pairs: Vec<[u32; 2]> = pairs.iter().map(|pair| [pair.a, pair.b]).collect();
    if !pairs.is_sorted_by(|one, next| one < next) {
        sort(&mut pairs, |pair| *pair);
    }
    pairs
}

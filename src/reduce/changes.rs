//! `changes`: finds the pairs that began, lasted and ended since an earlier step. Twin of
//! `shaders/changes.wgsl`.

use super::sort::sort;
use crate::Collision;

/// Pairs that began, lasted and ended between two steps. Each pair is stored as its indices `[a,
/// b]`, and each list is sorted. See
/// [`Collisions::changes_since`](crate::Collisions::changes_since).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Changes {
    /// Pairs that touch only in the later step.
    pub began: Vec<[u32; 2]>,
    /// Pairs that touch in both steps.
    pub lasted: Vec<[u32; 2]>,
    /// Pairs that touch only in the earlier step.
    pub ended: Vec<[u32; 2]>,
}

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

/// Returns the indices `[a, b]` of the pairs, sorted and without repeats. A list that the caller
/// has not altered is already sorted.
fn in_order(pairs: &[Collision]) -> Vec<[u32; 2]> {
    let mut pairs: Vec<[u32; 2]> = pairs.iter().map(|pair| [pair.a, pair.b]).collect();
    if !pairs.is_sorted_by(|one, next| one < next) {
        sort(&mut pairs, |pair| *pair);
    }
    pairs
}

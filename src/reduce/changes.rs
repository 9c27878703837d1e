//! Finds the pairs that began, lasted and ended since an earlier step. Twin of
//! `shaders/reduce/changes.wgsl`.

use super::sort::sort;
use crate::Touching as _;
use crate::{Hits, Number};

/// Pairs that began, lasted and ended between two steps. Each pair is stored as its indices `[a,
/// b]`, and each list is sorted. See
/// [`Collisions::changes_since`](crate::Collisions::changes_since).
///
/// In a periodic domain, the image of a pair tells which periodic copy of sphere b touches sphere a.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Changes {
    /// Pairs that have begun to touch: they touch in the later of the two compared steps, but not
    /// in the earlier one.
    pub began: Hits<[u32; 2]>,
    /// Pairs that touch in both of the two compared steps.
    pub lasted: Hits<[u32; 2]>,
    /// Pairs that have ceased to touch: they touch in the earlier of the two compared steps, but
    /// not in the later one.
    pub ended: Hits<[u32; 2]>,
}

pub(crate) type Pairs<'a, P> = (&'a [P], &'a [[i32; 3]]);

pub(crate) fn changes<T: Number>(
    previous: Pairs<'_, T::Collision>,
    pairs: Pairs<'_, T::Collision>,
) -> Changes {
    let periodic = !previous.1.is_empty() || !pairs.1.is_empty();
    let [before, now] = [previous, pairs].map(in_order::<T>);
    let mut changes = Changes::default();
    let Changes {
        began,
        lasted,
        ended,
    } = &mut changes;
    let add = |(pair, image), to: &mut Hits<_>| {
        to.items.push(pair);
        if periodic {
            to.images.push(image);
        }
    };
    let mut before = before.into_iter().peekable();
    for pair in now {
        while let Some(other) = before.next_if(|other| *other < pair) {
            add(other, ended);
        }
        if before.next_if_eq(&pair).is_some() {
            add(pair, lasted);
        } else {
            add(pair, began);
        }
    }
    before.for_each(|pair| add(pair, ended));
    changes
}

fn in_order<T: Number>((pairs, images): Pairs<'_, T::Collision>) -> Vec<([u32; 2], [i32; 3])> {
    let image = |index: usize| images.get(index).copied().unwrap_or_default();
    let pairs = pairs.iter().enumerate();
    let mut pairs: Vec<_> = pairs
        .map(|(index, pair)| (pair.sides(), image(index)))
        .collect();
    if !pairs.is_sorted_by(|one, next| one < next) {
        sort(&mut pairs, |pair| *pair);
    }
    pairs
}

//! Finds the pairs that began, lasted and ended since an earlier step. Twin of
//! `shaders/changes.wgsl`.

use super::sort::sort;
use crate::Collision;

/// Pairs that began, lasted and ended between two steps. Each pair is stored as its indices `[a,
/// b]`, and each list is sorted. See
/// [`Collisions::changes_since`](crate::Collisions::changes_since).
///
/// In a periodic domain, each list of pairs has a list of images beside it. The image of a pair
/// tells which periodic copy of sphere b touches sphere a. In open space, the lists of images are
/// empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Changes {
    /// Pairs that have begun to touch: they touch in the later of the two compared steps, but not
    /// in the earlier one.
    pub began: Vec<[u32; 2]>,
    /// For each pair (a, b) that has begun to touch, in the order of `began`: the periodic image of
    /// sphere b.
    pub began_images: Vec<[i32; 3]>,
    /// Pairs that touch in both of the two compared steps.
    pub lasted: Vec<[u32; 2]>,
    /// For each pair (a, b) that touches in both steps, in the order of `lasted`: the periodic
    /// image of sphere b.
    pub lasted_images: Vec<[i32; 3]>,
    /// Pairs that have ceased to touch: they touch in the earlier of the two compared steps, but
    /// not in the later one.
    pub ended: Vec<[u32; 2]>,
    /// For each pair (a, b) that has ceased to touch, in the order of `ended`: the periodic image
    /// of sphere b.
    pub ended_images: Vec<[i32; 3]>,
}

pub(crate) type Pairs<'a> = (&'a [Collision], &'a [[i32; 3]]);

pub(crate) fn changes(previous: Pairs<'_>, pairs: Pairs<'_>) -> Changes {
    let periodic = !previous.1.is_empty() || !pairs.1.is_empty();
    let [before, now] = [previous, pairs].map(in_order);
    let mut changes = Changes::default();
    let Changes {
        began,
        began_images,
        lasted,
        lasted_images,
        ended,
        ended_images,
    } = &mut changes;
    let add = |(pair, image), pairs: &mut Vec<_>, images: &mut Vec<_>| {
        pairs.push(pair);
        if periodic {
            images.push(image);
        }
    };
    let mut before = before.into_iter().peekable();
    for pair in now {
        while let Some(other) = before.next_if(|other| *other < pair) {
            add(other, ended, ended_images);
        }
        if before.next_if_eq(&pair).is_some() {
            add(pair, lasted, lasted_images);
        } else {
            add(pair, began, began_images);
        }
    }
    before.for_each(|pair| add(pair, ended, ended_images));
    changes
}

/// Returns the pairs of a list and their periodic images, sorted and without repeats. The list may
/// be in any order, because the caller may have sorted it in another way.
fn in_order((pairs, images): Pairs<'_>) -> Vec<([u32; 2], [i32; 3])> {
    let image = |index: usize| images.get(index).copied().unwrap_or_default();
    let pairs = pairs.iter().enumerate();
    let mut pairs: Vec<_> = pairs
        .map(|(index, pair)| ([pair.a, pair.b], image(index)))
        .collect();
    if !pairs.is_sorted_by(|one, next| one < next) {
        sort(&mut pairs, |pair| *pair);
    }
    pairs
}

//! Finds the pairs that began, lasted and ended since an earlier step. Twin of
//! `shaders/reduce/changes.wgsl`.

use super::sort::sort;
use crate::memory::{collect, push};
use crate::{Error, Hits, Number, Touching};

const CHANGES: &str = "the changes between two lists";

/// Pairs, and contacts with walls, that began, lasted and ended between two steps. Each pair is stored as its indices `[a,
/// b]`, and each list is sorted. See
/// [`Collisions::changes_since`](crate::Collisions::changes_since).
///
/// In a periodic domain, the image of a pair tells which periodic copy of sphere b touches sphere a, and at a wall, which
/// copy of the sphere touches it.
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
    /// Spheres that have begun to touch a wall: the index of the sphere and the number of the wall.
    pub walls_began: Hits<[u32; 2]>,
    /// Spheres that touch a wall in both steps.
    pub walls_lasted: Hits<[u32; 2]>,
    /// Spheres that have ceased to touch a wall.
    pub walls_ended: Hits<[u32; 2]>,
}

pub(crate) type Pairs<'a, P> = (&'a [P], &'a [[i32; 3]]);

/// Returns what began, lasted and ended from a list to a later one.
pub(crate) fn changes<T: Number, H: Touching<T>>(
    previous: Pairs<'_, H>,
    pairs: Pairs<'_, H>,
) -> Result<[Hits<[u32; 2]>; 3], Error> {
    let periodic = !previous.1.is_empty() || !pairs.1.is_empty();
    let [before, now] = [in_order::<T, H>(previous)?, in_order::<T, H>(pairs)?];
    let [mut began, mut lasted, mut ended] = [(); 3].map(|()| Hits::default());
    let add = |(pair, image), to: &mut Hits<_>| {
        push(&mut to.items, pair, CHANGES)?;
        if periodic {
            push(&mut to.images, image, CHANGES)?;
        }
        Ok(())
    };
    let mut before = before.into_iter().peekable();
    for pair in now {
        while let Some(other) = before.next_if(|other| *other < pair) {
            add(other, &mut ended)?;
        }
        if before.next_if_eq(&pair).is_some() {
            add(pair, &mut lasted)?;
        } else {
            add(pair, &mut began)?;
        }
    }
    before.try_for_each(|pair| add(pair, &mut ended))?;
    Ok([began, lasted, ended])
}

type NamedPair = ([u32; 2], [i32; 3]);

fn in_order<T: Number, H: Touching<T>>(
    (pairs, images): Pairs<'_, H>,
) -> Result<Vec<NamedPair>, Error> {
    let image = |index: usize| images.get(index).copied().unwrap_or_default();
    let pairs = pairs.iter().enumerate();
    let named = pairs.map(|(index, pair)| (pair.sides(), image(index)));
    let mut pairs = collect(named, CHANGES)?;
    if !pairs.is_sorted_by(|one, next| one < next) {
        sort(&mut pairs, |pair| *pair);
    }
    Ok(pairs)
}

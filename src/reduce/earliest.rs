//! Finds the first impact of each sphere. Twin of `shaders/reduce/earliest.wgsl` and
//! `shaders/walls/wall_earliest.wgsl`.

use super::rows::rows;
use crate::Touching as _;
use crate::memory::filled;
use crate::shared::sets::Sets;
use crate::{Error, Number, Partner};

/// The first impact of a sphere. See [`Collisions::earliest`](crate::Collisions::earliest).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Earliest<T = f32> {
    /// Time of impact, as in [`Collision::toi`](crate::Collision::toi).
    pub toi: T,
    /// The other sphere or the wall that is touched at the time `toi`. In a step with two sets, the
    /// index of the other sphere counts from the start of its set. If several spheres are touched at
    /// the time `toi`, the smallest index counts, and if only walls are, the smallest number.
    pub partner: Partner,
    /// Periodic image of the touched sphere or wall. If several images are touched at the time
    /// `toi`, it is the smallest one, compared by the first component, then the second, then the
    /// third. In open space it is `[0, 0, 0]`.
    pub image: [i32; 3],
}

/// The pairs may be in any order. Those with an index past the last sphere are skipped.
pub(crate) fn earliest<T: Number>(
    pairs: &[T::Collision],
    images: &[[i32; 3]],
    spheres: usize,
    sets: Sets,
) -> Result<Vec<Option<Earliest<T>>>, Error> {
    let mut earliest: Vec<Option<Earliest<T>>> = filled(spheres, None, "the first impacts")?;
    for (index, pair) in pairs.iter().enumerate() {
        let [of_a, of_b] = pair.sides();
        let Some([a, b]) = rows([of_a, of_b], spheres, sets) else {
            continue;
        };
        let image = images.get(index).copied().unwrap_or_default();
        let opposite = image.map(i32::wrapping_neg);
        for (row, partner, image) in [(a, of_b, image), (b, of_a, opposite)] {
            let toi = pair.toi().positive();
            let partner = Partner::Sphere(partner);
            let sooner = earliest[row].is_none_or(|best| {
                let tie = (partner, image) < (best.partner, best.image);
                toi < best.toi || (toi == best.toi && tie)
            });
            if sooner {
                earliest[row] = Some(Earliest {
                    toi,
                    partner,
                    image,
                });
            }
        }
    }
    Ok(earliest)
}

/// Replaces an impact by that with a wall if it is earlier. `images` are those of the sphere,
/// and [`Earliest::image`] is that of the wall, its negative.
pub(crate) fn with_walls<T: Number>(
    earliest: &mut [Option<Earliest<T>>],
    walls: &[T::WallCollision],
    images: &[[i32; 3]],
) {
    for (index, hit) in walls.iter().enumerate() {
        let [sphere, wall] = hit.sides();
        let Some(first) = earliest.get_mut(sphere as usize) else {
            continue;
        };
        let image = images.get(index).copied().unwrap_or_default();
        let at_wall = Earliest {
            toi: hit.toi().positive(),
            partner: Partner::Wall(wall),
            image: image.map(i32::wrapping_neg),
        };
        let order = |first: &Earliest<T>| (first.partner, first.image);
        let sooner = first.is_none_or(|best| {
            let tie = order(&at_wall) < order(&best);
            at_wall.toi < best.toi || (at_wall.toi == best.toi && tie)
        });
        if sooner {
            *first = Some(at_wall);
        }
    }
}

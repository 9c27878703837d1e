//! `earliest`: finds the first impact of each sphere. Twin of `shaders/earliest.wgsl`.

use super::rows::rows;
use crate::Collision;
use crate::shared::sets::Sets;

/// The first impact of a sphere. See [`Collisions::earliest`](crate::Collisions::earliest).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Earliest {
    /// Time of impact, as in [`Collision::toi`].
    pub toi: f32,
    /// Index of the sphere that is touched at the time `toi`. With two sets, it is an index into
    /// the other set. If several spheres are touched at this time, it is the smallest of their
    /// indices.
    pub partner: u32,
}

pub(crate) fn earliest(pairs: &[Collision], spheres: usize, sets: Sets) -> Vec<Option<Earliest>> {
    let mut earliest: Vec<Option<Earliest>> = vec![None; spheres];
    for pair in pairs {
        let Some([a, b]) = rows(pair, spheres, sets) else {
            continue;
        };
        for (row, partner) in [(a, pair.b), (b, pair.a)] {
            // The addition turns a time of −0 into 0.
            let toi = pair.toi + 0.0;
            let sooner = earliest[row]
                .is_none_or(|best| toi < best.toi || (toi == best.toi && partner < best.partner));
            if sooner {
                earliest[row] = Some(Earliest { toi, partner });
            }
        }
    }
    earliest
}

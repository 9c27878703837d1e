//! `earliest`: the first impact of each sphere.

use super::rows;
use crate::{Collision, Earliest};

/// Of pairs in any order; `split` is where the second of two sets begins, 0 if
/// there is one set. Pairs of spheres that there are not are skipped.
pub(crate) fn earliest(pairs: &[Collision], spheres: usize, split: usize) -> Vec<Option<Earliest>> {
    let mut earliest: Vec<Option<Earliest>> = vec![None; spheres];
    for pair in pairs {
        let Some([a, b]) = rows(pair, spheres, split) else {
            continue;
        };
        for (row, partner) in [(a, pair.b), (b, pair.a)] {
            // 0 may have a sign.
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

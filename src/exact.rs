//! From what the filter reported to the list a user gets: decides the grazing
//! pairs, gives each pair its time and depth, sorts, and removes repeats.

#![allow(
    clippy::cast_possible_truncation,
    reason = "times and depths are rounded to float32 on purpose"
)]

use rayon::prelude::*;

use crate::sweep::impact;
use crate::{Collision, Error, Sphere};

/// Set in [`Reported::b`] when the filter could not tell.
pub(crate) const GRAZING: u32 = 1 << 31;

/// A pair as the `pairs` stage reports it: indices into the whole world, a < b.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Reported {
    /// The smaller index.
    pub(crate) a: u32,
    /// The larger index, and [`GRAZING`].
    pub(crate) b: u32,
}

/// The sorted list of collisions, and how many distinct pairs were grazing.
/// `split` is where the second of two sets begins, 0 if there is one set.
pub(crate) fn decide(
    spheres: &[Sphere],
    split: usize,
    dt: f32,
    mut reported: Vec<Reported>,
) -> Result<(Vec<Collision>, u64), Error> {
    // A pair that several proxies reported is grazing in each of them.
    reported
        .par_sort_unstable_by_key(|pair| (u64::from(pair.a) << 32) | u64::from(pair.b & !GRAZING));
    reported.dedup_by_key(|pair| (pair.a, pair.b & !GRAZING));
    let grazing = reported
        .par_iter()
        .filter(|pair| pair.b & GRAZING != 0)
        .count();
    let mut pairs = crate::error::allocate(reported.len(), "the list of collisions")?;
    pairs.par_extend(reported.par_iter().filter_map(|&Reported { a, b }| {
        let (certain, b) = (b & GRAZING == 0, b & !GRAZING);
        let (one, other) = (spheres.get(a as usize)?, spheres.get(b as usize)?);
        let (toi, depth) = match impact(one, other, dt.into()) {
            Some(times) => times,
            None if certain => {
                log::error!("the filter called the pair ({a}, {b}) certain, but it does not touch");
                return None;
            }
            None => return None,
        };
        let b = b - if split > 0 {
            u32::try_from(split).ok()?
        } else {
            0
        };
        Some(Collision {
            a,
            b,
            toi: toi as f32,
            depth: depth as f32,
        })
    }));
    Ok((pairs, grazing as u64))
}

//! The list of spheres that touch walls, and blocks of spheres to test.

use rayon::prelude::*;

use crate::lanes::LANES;
use crate::memory::{collect, reserve};
use crate::{Error, Sphere, WallCollision};

pub(super) const LIST: &str = "the list of wall collisions";

/// Sorted by sphere, by wall and by image.
#[derive(Clone, Debug, Default)]
pub(crate) struct WallHits {
    pub(crate) hits: Vec<WallCollision>,
    /// The images of `hits`. Empty in open space.
    pub(crate) images: Vec<[i32; 3]>,
}

impl WallHits {
    pub(super) fn sort(&mut self) -> Result<(), Error> {
        let by_names = |hit: &WallCollision| (hit.sphere, hit.wall);
        if self.images.is_empty() {
            self.hits.par_sort_unstable_by_key(by_names);
            return Ok(());
        }
        let (hits, images) = (self.hits.iter().copied(), self.images.iter().copied());
        let mut both = collect(hits.zip(images), LIST)?;
        both.par_sort_unstable_by_key(|(hit, image)| (by_names(hit), *image));
        for ((hit, image), (to, to_image)) in both
            .into_iter()
            .zip(self.hits.iter_mut().zip(&mut self.images))
        {
            (*to, *to_image) = (hit, image);
        }
        Ok(())
    }
}

pub(super) fn append<T: Copy>(all: &mut Vec<T>, more: &[T]) -> Result<(), Error> {
    reserve(all, more.len(), LIST)?;
    all.extend_from_slice(more);
    Ok(())
}

/// Calls `visit` for every four spheres, with the number of spheres before them. The mask tells
/// which of the last four are real.
#[inline(always)]
pub(super) fn each_block(
    spheres: &[Sphere],
    mut visit: impl FnMut(usize, &[Sphere; LANES], u32) -> Result<(), Error>,
) -> Result<(), Error> {
    let (blocks, rest) = spheres.as_chunks();
    for (number, block) in blocks.iter().enumerate() {
        visit(number * LANES, block, (1 << LANES) - 1)?;
    }
    let [first, ..] = rest else {
        return Ok(());
    };
    let mut block = [*first; LANES];
    block[..rest.len()].copy_from_slice(rest);
    visit(blocks.len() * LANES, &block, (1 << rest.len()) - 1)
}

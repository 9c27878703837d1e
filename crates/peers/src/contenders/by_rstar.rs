//! The R*-tree of the crate rstar as one of the benchmarked methods.

use rstar::RTree;
use rstar::primitives::{GeomWithData, Rectangle};

use super::contender::Contender;
use crate::step::{Bounds, Found, World, index, sorted, test};

/// An R*-tree of the bounding boxes of all moving spheres. Each time step builds the tree by bulk loading,
/// and then joins the tree with itself to find overlapping boxes.
pub(crate) struct Rstar;

impl Contender for Rstar {
    fn name(&self) -> &'static str {
        "rstar"
    }

    fn step(&mut self, world: World<'_>) -> anyhow::Result<Found> {
        let leaves = world.spheres.iter().enumerate().map(|(i, sphere)| {
            let Bounds { min, max } = Bounds::new(sphere, world.dt);
            GeomWithData::new(Rectangle::from_corners(min, max), index(i))
        });
        let tree = RTree::bulk_load(leaves.collect());
        let mut pairs = Vec::new();
        let mut candidates = 0;
        // The join of the tree with itself returns each pair of spheres in both orders, and each sphere with
        // itself.
        for (one, other) in tree.intersection_candidates_with_other_tree(&tree) {
            if one.data < other.data {
                candidates += 1;
                test(world, one.data, other.data, &mut pairs);
            }
        }
        Ok(Found {
            pairs: sorted(&pairs, world.spheres.len()),
            candidates,
        })
    }
}

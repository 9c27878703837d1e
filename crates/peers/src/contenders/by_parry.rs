//! The bounding volume hierarchy of the crate parry3d as one of the benchmarked methods.

use carom::Sphere;
use parry3d::bounding_volume::Aabb;
use parry3d::math::Vector;
use parry3d::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};

use super::contender::Contender;
use crate::step::{Bounds, Found, World, before, index, sorted, test};

/// The bounding volume hierarchy of parry3d, built anew in each time step.
#[derive(Default)]
pub(crate) struct Parry {
    workspace: BvhWorkspace,
}

/// The bounding volume hierarchy of parry3d, kept from the previous time step. Each step updates every leaf
/// and refits the whole tree.
#[derive(Default)]
pub(crate) struct ParryKept {
    workspace: BvhWorkspace,
    tree: Bvh,
}

fn aabb(sphere: &Sphere, dt: f32) -> Aabb {
    let Bounds { min, max } = Bounds::new(sphere, dt);
    Aabb::new(Vector::from_array(min), Vector::from_array(max))
}

fn build(World { spheres, dt }: World<'_>) -> Bvh {
    let leaves = spheres.iter().map(|sphere| aabb(sphere, dt)).enumerate();
    Bvh::from_iter(BvhBuildStrategy::Binned, leaves)
}

fn traverse(tree: &Bvh, workspace: &mut BvhWorkspace, world: World<'_>) -> Found {
    let mut pairs = Vec::new();
    let mut candidates = 0;
    tree.traverse_bvtt_single_tree::<false>(workspace, &mut |a, b| {
        candidates += 1;
        test(world, a, b, &mut pairs);
    });
    Found {
        pairs: sorted(&pairs, world.spheres.len()),
        candidates,
    }
}

impl Contender for Parry {
    fn name(&self) -> &'static str {
        "parry"
    }

    fn step(&mut self, world: World<'_>) -> anyhow::Result<Found> {
        Ok(traverse(&build(world), &mut self.workspace, world))
    }
}

impl Contender for ParryKept {
    fn name(&self) -> &'static str {
        "parry-kept"
    }

    fn prepare(&mut self, world: World<'_>) -> anyhow::Result<()> {
        self.tree = build(World {
            spheres: &before(world, 1.0),
            ..world
        });
        Ok(())
    }

    fn step(&mut self, world: World<'_>) -> anyhow::Result<Found> {
        for (i, sphere) in world.spheres.iter().enumerate() {
            let leaf = aabb(sphere, world.dt);
            self.tree.insert_or_update_partially(leaf, index(i), 0.0);
        }
        self.tree.refit(&mut self.workspace);
        Ok(traverse(&self.tree, &mut self.workspace, world))
    }
}

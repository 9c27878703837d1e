//! The broad phase of the physics engine rapier3d as one of the benchmarked methods. The colliders are the
//! bounding boxes of the spheres' motions. There are no rigid bodies, and the margin for predicted contacts
//! is 0.

use std::collections::HashSet;

use anyhow::ensure;
use rapier3d::prelude::{
    Aabb, ActiveCollisionTypes, BroadPhaseBvh, BroadPhasePairEvent, ColliderBuilder,
    ColliderHandle, ColliderSet, IntegrationParameters, RigidBodySet, Vector,
};

use super::contender::Contender;
use crate::step::{Bounds, Found, World, before, index, sorted, test};

/// The broad phase of rapier3d, built anew in each time step.
pub(crate) struct Rapier;

/// The broad phase of rapier3d, kept from the previous time step. rapier3d reports only the pairs of
/// overlapping boxes that were added or removed, so this struct also keeps the set of all such pairs.
#[derive(Default)]
pub(crate) struct RapierKept {
    /// The broad phase of rapier3d at the end of the previous time step.
    last: Option<State>,
    /// Copy of `last`, which the benchmark makes before it times a step. The timed step changes
    /// this copy, and leaves `last` unchanged.
    state: Option<State>,
}

#[derive(Clone)]
struct State {
    colliders: ColliderSet,
    handles: Vec<ColliderHandle>,
    broad_phase: BroadPhaseBvh,
    pairs: HashSet<(u32, u32)>,
}

fn parameters(dt: f32) -> IntegrationParameters {
    IntegrationParameters {
        dt,
        normalized_prediction_distance: 0.0,
        ..IntegrationParameters::default()
    }
}

fn aabb(bounds: &Bounds) -> Aabb {
    Aabb::new(
        Vector::from_array(bounds.min),
        Vector::from_array(bounds.max),
    )
}

/// Makes a rapier3d broad phase of the bounding boxes of all moving spheres. Returns the broad phase and the
/// events that report every pair of overlapping boxes.
fn fill(World { spheres, dt }: World<'_>) -> anyhow::Result<(State, Vec<BroadPhasePairEvent>)> {
    let mut colliders = ColliderSet::new();
    let mut handles = Vec::with_capacity(spheres.len());
    for (i, sphere) in spheres.iter().enumerate() {
        let aabb = aabb(&Bounds::new(sphere, dt));
        let half = aabb.half_extents();
        // rapier3d treats colliders without rigid bodies as fixed, and ignores pairs of fixed colliders by
        // default.
        let collider = ColliderBuilder::cuboid(half.x, half.y, half.z)
            .translation(aabb.center())
            .active_collision_types(ActiveCollisionTypes::all());
        let handle = colliders.insert(collider);
        ensure!(
            handle.into_raw_parts().0 == index(i),
            "rapier3d does not number its colliders in the order of insertion"
        );
        handles.push(handle);
    }
    let mut state = State {
        colliders,
        handles,
        broad_phase: BroadPhaseBvh::new(),
        pairs: HashSet::new(),
    };
    let mut events = Vec::new();
    state.broad_phase.update(
        &parameters(dt),
        &state.colliders,
        &RigidBodySet::new(),
        &state.handles,
        &[],
        &mut events,
    );
    Ok((state, events))
}

impl State {
    fn update(&mut self, World { spheres, dt }: World<'_>) {
        let parameters = parameters(dt);
        for (sphere, &handle) in spheres.iter().zip(&self.handles) {
            let aabb = aabb(&Bounds::new(sphere, dt));
            self.broad_phase.set_aabb(&parameters, handle, aabb);
        }
        let mut events = Vec::new();
        self.broad_phase.update(
            &parameters,
            &self.colliders,
            &RigidBodySet::new(),
            &[],
            &[],
            &mut events,
        );
        self.heed(&events);
    }

    fn heed(&mut self, events: &[BroadPhasePairEvent]) {
        for event in events {
            match event {
                BroadPhasePairEvent::AddPair(pair) => {
                    self.pairs
                        .insert(spheres_of(pair.collider1, pair.collider2));
                }
                BroadPhasePairEvent::DeletePair(pair) => {
                    self.pairs
                        .remove(&spheres_of(pair.collider1, pair.collider2));
                }
            }
        }
    }
}

fn spheres_of(one: ColliderHandle, other: ColliderHandle) -> (u32, u32) {
    let [a, b] = [one, other].map(|handle| handle.into_raw_parts().0);
    (a.min(b), a.max(b))
}

impl Contender for Rapier {
    fn name(&self) -> &'static str {
        "rapier"
    }

    fn step(&mut self, world: World<'_>) -> anyhow::Result<Found> {
        let (_, events) = fill(world)?;
        let mut pairs = Vec::new();
        for event in &events {
            if let BroadPhasePairEvent::AddPair(pair) = event {
                let (a, b) = spheres_of(pair.collider1, pair.collider2);
                test(world, a, b, &mut pairs);
            }
        }
        Ok(Found {
            pairs: sorted(&pairs, world.spheres.len()),
            candidates: events.len() as u64,
        })
    }
}

impl Contender for RapierKept {
    fn name(&self) -> &'static str {
        "rapier-kept"
    }

    fn prepare(&mut self, world: World<'_>) -> anyhow::Result<()> {
        if self.last.is_none() {
            let past = |steps| before(world, steps);
            // The rapier3d broad phase defers some work of an update to the next update.
            let (mut state, events) = fill(World {
                spheres: &past(2.0),
                ..world
            })?;
            state.heed(&events);
            state.update(World {
                spheres: &past(1.0),
                ..world
            });
            self.last = Some(state);
        }
        self.state.clone_from(&self.last);
        Ok(())
    }

    fn step(&mut self, world: World<'_>) -> anyhow::Result<Found> {
        let state = self.state.get_or_insert_with(|| State {
            colliders: ColliderSet::new(),
            handles: Vec::new(),
            broad_phase: BroadPhaseBvh::new(),
            pairs: HashSet::new(),
        });
        state.update(world);
        let mut pairs = Vec::new();
        for &(a, b) in &state.pairs {
            test(world, a, b, &mut pairs);
        }
        Ok(Found {
            pairs: sorted(&pairs, world.spheres.len()),
            candidates: state.pairs.len() as u64,
        })
    }
}

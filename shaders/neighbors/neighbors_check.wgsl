// Decides whether an earlier neighbour list is still valid. `compare` checks whether
// any particle has moved too far. `decide` writes the sizes of the dispatches that make
// a new list: 0 if the old one is kept.

#import dispatch::{DispatchArguments}
#import invocation::{invocation}
#import neighbors::{NeighborRequest, NeighborState, is_same_request, padded_radius}
#import types::{Params, Sphere}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> neighbor_request: NeighborRequest;
// The particles of this search, and those of the existing list, with enlarged radii.
@group(0) @binding(2) var<storage, read> given_spheres: array<Sphere>;
@group(0) @binding(3) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(4) var<storage, read_write> neighbor_state: NeighborState;
// Workgroups along x and y of each dispatch that makes a new list.
@group(0) @binding(5) var<storage, read> list_sizes: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read_write> list_dispatches: array<DispatchArguments>;

// Of the square of the movement, as a fraction of half the skin. Less than 1 by more
// than the rounding errors: docs/exact.md, "Neighbour lists".
const MOST_MOVED = 1.0 - 1.0 / 262144.0;

fn is_near(old: Sphere, now: Sphere) -> bool {
    let same = all(old.center == now.center);
    if neighbor_request.inverse_reach == 0.0 {
        return same;
    }
    let moved = (now.center - old.center) * neighbor_request.inverse_reach;
    return same || dot(moved, moved) <= MOST_MOVED;
}

@compute @workgroup_size(WORKGROUP)
fn compare(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index >= params.spheres {
        return;
    }
    let now = given_spheres[index];
    let old = spheres[index];
    let same = now.groups == old.groups && padded_radius(now.radius) == old.radius;
    if !same || !is_near(old, now) {
        atomicStore(&neighbor_state.moved, 1u);
    }
}

@compute @workgroup_size(WORKGROUP)
fn decide(@builtin(local_invocation_index) local: u32) {
    let same = is_same_request(neighbor_state.request, neighbor_request)
        && neighbor_state.particles == params.spheres;
    let kept = same && atomicLoad(&neighbor_state.moved) == 0u;
    for (var i = local; i < arrayLength(&list_dispatches); i += WORKGROUP) {
        let size = select(list_sizes[i], vec2<u32>(0u), kept);
        list_dispatches[i] = DispatchArguments(size.x, size.y, 1u);
    }
    // All have read the state. One invocation changes it.
    storageBarrier();
    if local == 0u {
        atomicStore(&neighbor_state.moved, 0u);
        neighbor_state.kept = select(0u, 1u, kept);
        if !kept {
            neighbor_state.request.made = 0u;
        }
    }
}

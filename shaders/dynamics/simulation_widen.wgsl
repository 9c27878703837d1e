// Finds candidates that the search has missed because a sphere moved farther than its pad. All
// spheres are examined. A pair that is found twice does no harm.

#import carom::{CaromSimulation}
#import compounds::{is_one_body}
#import dynamics::{Candidate, NEXT_WALL, SimulationRequest}
#import further_candidates::{add_pair, left_count}
#import groups::{ignore_each_other}
#import image_word::{pack_image}
#import invocation::{invocation}
#import left_cells::{ALL_BITS, left_nearby}
#import sum::{Sum, add}
#import types::{Params, Sphere}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> simulation: CaromSimulation;
@group(0) @binding(2) var<storage, read> padded_spheres: array<Sphere>;
@group(0) @binding(3) var<storage, read> row_starts: array<u32>;
@group(0) @binding(4) var<storage, read> row_entries: array<u32>;
@group(0) @binding(5) var<storage, read> left_spheres: array<u32>;
@group(0) @binding(6) var<storage, read_write> candidates: array<Candidate>;
@group(0) @binding(7) var<storage, read_write> round_spheres: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read> compounds: array<u32>;
@group(0) @binding(9) var<uniform> simulation_request: SimulationRequest;

// Returns whether two spheres are a candidate pair that the search has found.
fn is_known(sphere: u32, other: u32) -> bool {
    for (var k = row_starts[sphere]; k < row_starts[sphere + 1u]; k++) {
        let index = row_entries[k];
        if index < NEXT_WALL && candidates[index].a + candidates[index].b - sphere == other {
            return true;
        }
    }
    return false;
}

// Adds the spheres `i` and `left` to the list of candidates if they may meet, unless the search has
// found this pair. Sphere `left` has moved farther than its pad.
fn pair(i: u32, left: u32) {
    let sphere = padded_spheres[i];
    let padded = padded_spheres[left];
    // The factor 1 + 1e-6 covers the rounding errors of the distance between the two centres.
    let reach = (sphere.radius + padded.radius) * (1.0 + 1e-6);
    let roughly = padded.center - sphere.center;
    if dot(roughly, roughly) > reach * reach || left == i {
        return;
    }
    let a = min(i, left);
    let b = max(i, left);
    if ignore_each_other(sphere.groups, padded.groups) || is_one_body(a, b) || is_known(left, i) {
        return;
    }
    let between = Sum(padded.center, vec3<f32>(0.0));
    let sum = add(between, -sphere.center);
    let beside = sum.rounded + sum.errors;
    let apart = select(-beside, beside, i < left);
    add_pair(Candidate(apart, a, b, pack_image(vec3<i32>(0)), 0u, 0u));
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = invocation(workgroup, workgroups, local, WORKGROUP);
    if i >= simulation.spheres || padded_spheres[i].radius < 0.0 {
        return;
    }
    var nearby = left_nearby(padded_spheres[i]);
    if left_spheres[1] != 0u {
        nearby = ALL_BITS;
    }
    while nearby != 0u {
        for (var k = firstTrailingBit(nearby); k < left_count(); k += 32u) {
            pair(i, left_spheres[2u + k]);
        }
        nearby &= nearby - 1u;
    }
}

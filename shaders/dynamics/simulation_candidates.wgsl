// Counts the candidates of each sphere: the other spheres that it may meet in a substep of hard-sphere
// dynamics. After a prefix sum over the counts, `simulation_fill.wgsl` lists them. Their order varies
// from run to run, but no result depends on this order. If `simulation_plan.wgsl` has skipped the
// substep, no search has run. Then this kernel and `simulation_fill.wgsl` do nothing, because they would
// read the results of an earlier search.

#import carom::{CaromCollision, CaromResults, CaromSimulation, carom_b, carom_image}
#import compounds::{is_one_body}
#import dynamics::{Body, Candidate, NEXT_NONE, SimulationCounters, SimulationRequest}
#import image_word::{pack_image}
#import invocation::{invocation}
#import opaque::{opaque3}
#import sum::{Sum, add}
#import types::{Params}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(2) var<storage, read> results: CaromResults;
@group(0) @binding(3) var<storage, read> pairs: array<CaromCollision>;
@group(0) @binding(4) var<storage, read> pair_images: array<u32>;
@group(0) @binding(5) var<storage, read> bodies: array<Body>;
@group(0) @binding(6) var<storage, read_write> candidates: array<Candidate>;
@group(0) @binding(7) var<storage, read_write> row_starts: array<atomic<u32>>;
// For each sphere, the index of the first sphere of its compound body, or its own index if it belongs to none. Without
// compound bodies, the array has one element.
@group(0) @binding(8) var<storage, read> compounds: array<u32>;
@group(0) @binding(9) var<storage, read_write> simulation_counters: SimulationCounters;
@group(0) @binding(10) var<uniform> simulation: CaromSimulation;

// Returns the vector from sphere a to the image of sphere b. The coordinates nearly cancel, so the rounding
// errors of the sum are computed and added to it.
fn apart(a: u32, b: u32, word: u32) -> vec3<f32> {
    var sum = Sum(bodies[b].center, vec3<f32>(0.0));
    sum = add(sum, -bodies[a].center);
    let image = vec3<f32>(carom_image(word));
    if any(image != vec3<f32>(0.0)) {
        sum = add(sum, opaque3(simulation_request.edges[0].xyz * image.x));
        sum = add(sum, opaque3(simulation_request.edges[1].xyz * image.y));
        sum = add(sum, opaque3(simulation_request.edges[2].xyz * image.z));
    }
    return sum.rounded + sum.errors;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index >= select(results.pairs, 0u, simulation.spheres == 0u) {
        return;
    }
    let a = pairs[index].a;
    let b = carom_b(pairs[index]);
    var image = pack_image(vec3<i32>(0));
    if simulation_request.periodic != 0u {
        image = pair_images[index];
    }
    var candidate = Candidate(apart(a, b, image), a, b, image, NEXT_NONE, NEXT_NONE);
    // A sphere and its own image move alike and never meet. Two spheres of infinite mass pass through each
    // other.
    let one_body = is_one_body(a, b);
    if a != b && (one_body || length(candidate.apart) < bodies[a].radius + bodies[b].radius) {
        atomicAdd(&simulation_counters.together, 1u);
    }
    if a != b && !one_body && bodies[a].inverse_mass + bodies[b].inverse_mass > 0.0 {
        candidate.place_a = atomicAdd(&row_starts[a], 1u);
        candidate.place_b = atomicAdd(&row_starts[b], 1u);
    }
    candidates[index] = candidate;
}

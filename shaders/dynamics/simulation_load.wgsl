// Copies the spheres of a hard-sphere simulation from the application's buffers. A sphere with an invalid value takes
// no part.

#import dynamics::{Body, SimulationCounters, SimulationRequest}
#import invocation::{invocation}
#import sources::{SourceLayout}
#import types::{Sphere}

@group(0) @binding(0) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(1) var<uniform> source: SourceLayout;
@group(0) @binding(2) var<storage, read> centers: array<u32>;
@group(0) @binding(3) var<storage, read> radii: array<u32>;
@group(0) @binding(4) var<storage, read> motions: array<u32>;
@group(0) @binding(5) var<storage, read> groups: array<u32>;
@group(0) @binding(6) var<storage, read> inverse_masses: array<u32>;
@group(0) @binding(7) var<storage, read_write> bodies: array<Body>;
@group(0) @binding(8) var<storage, read_write> padded_spheres: array<Sphere>;
@group(0) @binding(9) var<storage, read_write> simulation_counters: SimulationCounters;

fn vector_at(words: vec3<u32>) -> vec3<f32> {
    return bitcast<vec3<f32>>(words);
}

fn is_allowed(words: vec3<u32>) -> bool {
    return all((words & vec3<u32>(0x7fffffffu)) <= vec3<u32>(bitcast<u32>(MAX_MAGNITUDE)));
}

// Number of spheres of the workgroup with invalid values, and the largest speed and radius of the others.
var<workgroup> sh_invalid: atomic<u32>;
var<workgroup> sh_fastest: atomic<u32>;
var<workgroup> sh_largest: atomic<u32>;
var<workgroup> sh_far_away: atomic<u32>;
var<workgroup> sh_edited: atomic<u32>;

fn load(i: u32) {
    let first = source.center.x + i * source.center.y;
    let place = vec3<u32>(centers[first], centers[first + 1u], centers[first + 2u]);
    let begin = source.motion.x + i * source.motion.y;
    let motion = vec3<u32>(motions[begin], motions[begin + 1u], motions[begin + 2u]);
    var radius = bitcast<u32>(source.constant_radius);
    if source.radius.y > 0u {
        radius = radii[source.radius.x + i * source.radius.y];
    }
    radius = select(radius, 0u, radius == 0x80000000u);
    var own = source.constant_groups;
    if source.groups.y > 0u {
        own = groups[source.groups.x + i * source.groups.y];
    }
    var mass = bitcast<u32>(1.0);
    if simulation_request.mass_stride > 0u {
        mass = inverse_masses[simulation_request.mass_first + i * simulation_request.mass_stride];
    }
    let before = bodies[i];
    let had_groups = padded_spheres[i].groups;
    padded_spheres[i] = Sphere(vec3<f32>(0.0), -1.0, vec3<f32>(0.0), own);
    // This test also rejects negative radii and inverse masses: as unsigned integers, their bits are
    // larger than the bits of MAX_MAGNITUDE. A mass so large that its inverse is nearly 0 has no energy in float32.
    let numbers = max(radius, mass) <= bitcast<u32>(MAX_MAGNITUDE)
        && (mass == 0u || mass >= bitcast<u32>(1.0 / MAX_MAGNITUDE));
    if !(numbers && is_allowed(place) && is_allowed(motion)) {
        bodies[i] = Body(vec3<f32>(0.0), -1.0, vec3<f32>(0.0), 0.0, vec3<f32>(0.0), 0.0);
        atomicAdd(&sh_invalid, 1u);
        if before.radius >= 0.0 {
            atomicStore(&sh_edited, 1u);
        }
        return;
    }
    let velocity = vector_at(motion);
    // If the application has moved the sphere since the last recording, the residue of its old centre no longer applies.
    let stays = all(place == bitcast<vec3<u32>>(before.center));
    let residue = select(vec3<f32>(0.0), before.residue, stays);
    // Nor does a sphere rest on that the application has moved.
    let rests = stays && all(motion == bitcast<vec3<u32>>(before.velocity));
    let held = select(select(0.0, before.held, rests), 1.0, mass == 0u);
    if !rests || radius != bitcast<u32>(before.radius) || mass != bitcast<u32>(before.inverse_mass) || own != had_groups {
        atomicStore(&sh_edited, 1u);
    }
    bodies[i] = Body(vector_at(place), bitcast<f32>(radius), velocity, bitcast<f32>(mass), residue, held);
    let far = abs(vector_at(place));
    let apart = EPSILON * max(max(far.x, far.y), far.z);
    if radius > 0u && apart > bitcast<f32>(radius) && any(velocity != vec3<f32>(0.0)) {
        atomicStore(&sh_far_away, 1u);
    }
    atomicMax(&sh_fastest, bitcast<u32>(length(velocity)));
    atomicMax(&sh_largest, radius);
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = invocation(workgroup, workgroups, local, WORKGROUP);
    if i < simulation_request.spheres {
        load(i);
    }
    workgroupBarrier();
    if local == 0u {
        atomicMax(&simulation_counters.fastest, atomicLoad(&sh_fastest));
        atomicMax(&simulation_counters.largest, atomicLoad(&sh_largest));
        atomicMax(&simulation_counters.far_away, atomicLoad(&sh_far_away));
        atomicMax(&simulation_counters.edited, atomicLoad(&sh_edited));
        if atomicLoad(&sh_invalid) > 0u {
            atomicAdd(&simulation_counters.invalid, atomicLoad(&sh_invalid));
        }
    }
}

// Copies the caller's spheres into the layout that the other shaders read, and sets
// aside those with an invalid value. `first_set` copies the first or only set, and
// `second_set` the second. Twin of `check_spheres` in `src/support/validate.rs`.

#import invocation::{invocation}
#import opaque::{opaque3}
#import sets::{are_two_sets}
#import sources::{SourceLayout}
#import types::{Counters, Params, Sphere}
#import units::{vector_times_power}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> source: SourceLayout;
@group(0) @binding(2) var<storage, read> centers: array<u32>;
@group(0) @binding(3) var<storage, read> radii: array<u32>;
@group(0) @binding(4) var<storage, read> motions: array<u32>;
@group(0) @binding(5) var<storage, read> groups: array<u32>;
@group(0) @binding(6) var<storage, read_write> spheres: array<Sphere>;
@group(0) @binding(7) var<storage, read_write> counters: Counters;

var<workgroup> sh_extent: atomic<u32>;
var<workgroup> sh_invalid: atomic<u32>;
var<workgroup> sh_before: u32;

// As bits, which have the order of the magnitudes, with infinity and NaN above all
// others.
fn magnitude(word: u32) -> u32 {
    return word & 0x7fffffffu;
}

fn largest_magnitude(words: vec3<u32>) -> u32 {
    return max(max(magnitude(words.x), magnitude(words.y)), magnitude(words.z));
}

// In the caller's units. `most` is the largest magnitude of all values.
struct Loaded {
    sphere: Sphere,
    // Of the coordinates, the radius, and the displacement along each axis.
    lengths: u32,
    most: u32,
}

fn radius_at(i: u32) -> u32 {
    var radius = bitcast<u32>(source.constant_radius);
    if source.radius.y > 0u {
        radius = radii[source.radius.x + i * source.radius.y];
    }
    // A radius of -0 is valid and means 0.
    return select(radius, 0u, radius == 0x80000000u);
}

fn groups_at(i: u32) -> u32 {
    var own = source.constant_groups;
    if source.groups.y > 0u {
        own = groups[source.groups.x + i * source.groups.y];
    }
    return own;
}

// Radius and groups are in `loaded` already.
fn load_motion(loaded: ptr<function, Loaded>, i: u32) {
    let first = source.center.x + i * source.center.y;
    let place = vec3<u32>(centers[first], centers[first + 1u], centers[first + 2u]);
    (*loaded).sphere.center = bitcast<vec3<f32>>(place);
    (*loaded).lengths = max((*loaded).lengths, largest_magnitude(place));
    if source.motion_kind == MOTION_NONE {
        return;
    }
    let begin = source.motion.x + i * source.motion.y;
    let motion = vec3<u32>(motions[begin], motions[begin + 1u], motions[begin + 2u]);
    (*loaded).most = max((*loaded).most, largest_magnitude(motion));
    var velocity = bitcast<vec3<f32>>(motion);
    if source.motion_kind == MOTION_PREVIOUS {
        // With previous centres, the step has length 1.
        (*loaded).lengths = max((*loaded).lengths, largest_magnitude(motion));
        velocity = opaque3(bitcast<vec3<f32>>(place) - bitcast<vec3<f32>>(motion));
        (*loaded).sphere.center = bitcast<vec3<f32>>(motion);
        (*loaded).most = max((*loaded).most, largest_magnitude(bitcast<vec3<u32>>(velocity)));
    }
    (*loaded).sphere.velocity = velocity;
    // Infinity and NaN must not enter the arithmetic.
    if (*loaded).most <= bitcast<u32>(MAX_MAGNITUDE) {
        let displacement = opaque3(vector_times_power(velocity, params.velocity_power) * params.dt);
        (*loaded).lengths = max((*loaded).lengths, largest_magnitude(bitcast<vec3<u32>>(displacement)));
    }
}

// The bits of a negative radius are above those of every valid magnitude.
fn sphere_of(i: u32) -> Loaded {
    let radius = radius_at(i);
    var loaded = Loaded(Sphere(vec3<f32>(0.0), bitcast<f32>(radius), vec3<f32>(0.0), groups_at(i)), radius, radius);
    load_motion(&loaded, i);
    loaded.most = max(loaded.most, loaded.lengths);
    return loaded;
}

// Stores sphere i of a set at index `begin` + i, below `end`, with a negative radius if
// it is invalid.
fn load(i: u32, begin: u32, end: u32, local: u32) {
    let to = begin + i;
    var lengths = 0u;
    var invalid = false;
    var place = 0u;
    if i < end - begin && to < end {
        let loaded = sphere_of(i);
        if loaded.most <= bitcast<u32>(MAX_MAGNITUDE) {
            spheres[to] = loaded.sphere;
            lengths = loaded.lengths;
        } else {
            spheres[to] = Sphere(vec3<f32>(0.0), -1.0, vec3<f32>(0.0), 0u);
            invalid = true;
            place = atomicAdd(&sh_invalid, 1u);
        }
    }
    atomicMax(&sh_extent, lengths);
    workgroupBarrier();
    if local == 0u {
        if atomicLoad(&sh_extent) > 0u {
            atomicMax(&counters.extent, atomicLoad(&sh_extent));
        }
        if atomicLoad(&sh_invalid) > 0u {
            sh_before = atomicAdd(&counters.invalid, atomicLoad(&sh_invalid));
        }
    }
    workgroupBarrier();
    if invalid && sh_before + place < INVALID_LISTED {
        atomicStore(&counters.invalid_index[sh_before + place], to);
    }
}

@compute @workgroup_size(WORKGROUP)
fn first_set(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let end = select(params.spheres, params.b_offset, are_two_sets());
    load(invocation(workgroup, workgroups, local, WORKGROUP), 0u, end, local);
}

@compute @workgroup_size(WORKGROUP)
fn second_set(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    load(invocation(workgroup, workgroups, local, WORKGROUP), params.b_offset, params.spheres, local);
}

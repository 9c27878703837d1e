// The caller's spheres in the form in which the stages read them. One whose values
// carom cannot work with is set aside, and counted.
// Twin of `check_spheres` in `src/sphere.rs`.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> source: SourceLayout;
@group(0) @binding(2) var<storage, read> centers: array<u32>;
@group(0) @binding(3) var<storage, read> radii: array<u32>;
@group(0) @binding(4) var<storage, read> motions: array<u32>;
@group(0) @binding(5) var<storage, read> groups: array<u32>;
@group(0) @binding(6) var<storage, read_write> spheres: array<Sphere>;
@group(0) @binding(7) var<storage, read_write> counters: Counters;

// Whether these are of the second of two sets.
override SECOND: bool = false;

var<workgroup> sh_extent: atomic<u32>;
// Spheres of the workgroup that are set aside, and how many there were before.
var<workgroup> sh_invalid: atomic<u32>;
var<workgroup> sh_before: u32;

// Bits of magnitudes are ordered as these are, with infinities and NaN above all.
fn magnitude(word: u32) -> u32 {
    return word & 0x7fffffffu;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = invocation(workgroup, workgroups, local, WORKGROUP);
    let begin = select(0u, params.split, SECOND);
    let end = select(select(params.spheres, params.split, params.split > 0u), params.spheres, SECOND);
    let to = begin + i;
    var lengths = 0u;
    var invalid = false;
    var place = 0u;
    if i < end - begin && to < end {
        var radius = bitcast<u32>(source.constant_radius);
        if source.radius.y > 0u {
            radius = radii[source.radius.x + i * source.radius.y];
        }
        // A radius of -0 is 0.
        radius = select(radius, 0u, radius == 0x80000000u);
        var group = source.constant_groups;
        if source.groups.y > 0u {
            group = groups[source.groups.x + i * source.groups.y];
        }
        var most = radius;
        lengths = radius;
        var center: vec3<f32>;
        var velocity: vec3<f32>;
        for (var axis = 0u; axis < 3u; axis++) {
            let place = centers[source.center.x + i * source.center.y + axis];
            center[axis] = bitcast<f32>(place);
            lengths = max(lengths, magnitude(place));
            if source.motion_kind != MOTION_NONE {
                let motion = motions[source.motion.x + i * source.motion.y + axis];
                most = max(most, magnitude(motion));
                velocity[axis] = bitcast<f32>(motion);
                if source.motion_kind == MOTION_PREVIOUS {
                    // It goes from there to here.
                    lengths = max(lengths, magnitude(motion));
                    velocity[axis] = opaque(center[axis] - bitcast<f32>(motion));
                    center[axis] = bitcast<f32>(motion);
                    most = max(most, magnitude(bitcast<u32>(velocity[axis])));
                }
                // Nothing that is too large may enter the arithmetic.
                if most <= bitcast<u32>(MAX_MAGNITUDE) {
                    let scaled = times_power(velocity[axis], params.velocity_power);
                    lengths = max(lengths, magnitude(bitcast<u32>(opaque(scaled * params.dt))));
                }
            }
        }
        most = max(most, lengths);
        if most <= bitcast<u32>(MAX_MAGNITUDE) {
            spheres[to] = Sphere(center, bitcast<f32>(radius), velocity, group);
        } else {
            lengths = 0u;
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

// Cuts every sphere into segments and counts the proxies of each size.
// Twin of `src/cpu/measure.rs`.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read> space: Space;
@group(0) @binding(3) var<storage, read_write> bin_of: array<u32>;
@group(0) @binding(4) var<storage, read_write> segments: array<Segment>;
@group(0) @binding(5) var<storage, read_write> bins: array<Bin>;
@group(0) @binding(6) var<storage, read_write> counters: Counters;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = invocation(workgroup, workgroups, local, WORKGROUP);
    if i >= params.spheres {
        return;
    }
    let sphere = sphere_at(i);
    if is_invalid(sphere) {
        bin_of[i] = NO_BIN;
        return;
    }
    let motion = motion_of(sphere.center, sphere.radius, sphere.velocity, space.frame);
    let power = segments_power(motion, max(space.segment, params.shortest_segment));
    let size = segment_size(motion, power);
    let half_cell = bitcast<u32>(size.half_cell);
    let of_set = select(0u, 1u, params.split > 0u && i >= params.split);
    let bin = ((half_cell >> SIZE_SHIFT) - FIRST_SIZE) | (power << BIN_BITS) | (of_set << (BIN_BITS + POWER_BITS));
    bin_of[i] = bin;

    let first = middle(motion, power, 0u);
    let last = middle(motion, power, (1u << power) - 1u);
    let low = min(first, last);
    let high = max(first, last);
    atomicAdd(&bins[bin].count, 1u << power);
    if all(low >= space.trimmed_low) && all(high <= space.trimmed_high) {
        atomicAdd(&bins[bin].inside, 1u << power);
    }
    // A word that would not change is left alone: spheres are much alike, and
    // their bins are few.
    if atomicLoad(&bins[bin].half_cell) < half_cell {
        atomicMax(&bins[bin].half_cell, half_cell);
    }
    for (var axis = 0u; axis < 3u; axis++) {
        if atomicLoad(&bins[bin].low[axis]) < sortable(-low[axis]) {
            atomicMax(&bins[bin].low[axis], sortable(-low[axis]));
        }
        if atomicLoad(&bins[bin].high[axis]) < sortable(high[axis]) {
            atomicMax(&bins[bin].high[axis], sortable(high[axis]));
        }
    }

    let more = (1u << power) - 1u;
    if more > 0u {
        let base = atomicAdd(&counters.segments[0], more);
        if base + more < base {
            atomicAdd(&counters.segments[1], 1u);
        }
        // A count that has wrapped lands on places that others have: no matter,
        // such a step is run again.
        for (var k = 0u; k < more && base + k < params.segment_capacity; k++) {
            segments[base + k] = Segment(i, k + 1u);
        }
    }
}

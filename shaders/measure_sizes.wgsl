// Cuts every sphere into segments and counts the proxies of each size.
// Twin of `src/cpu/measure.rs`.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read> space: Space;
@group(0) @binding(3) var<storage, read_write> bin_of: array<u32>;
@group(0) @binding(4) var<storage, read_write> segments: array<Segment>;
@group(0) @binding(5) var<storage, read_write> bins: array<Bin>;
@group(0) @binding(6) var<storage, read_write> counters: Counters;

// What spheres add to a bin.
struct Addition {
    // Spheres, and 2^16 for each of them that is inside.
    spheres: u32,
    half_cell: u32,
    // As those of a bin: words that only grow, the lower ones of the negated coordinate.
    low: vec3<u32>,
    high: vec3<u32>,
}

// What those of the workgroup add to a bin: spheres are much alike and their bins
// few, and memory that all share takes additions to one word one by one.
struct Gathered {
    // The bin and 1, or 0 if there is none.
    bin: atomic<u32>,
    spheres: atomic<u32>,
    half_cell: atomic<u32>,
    low: array<atomic<u32>, 3>,
    high: array<atomic<u32>, 3>,
}

const PLACES = 32u;
var<workgroup> sh_gathered: array<Gathered, PLACES>;
var<workgroup> sh_base: u32;

// Where the workgroup gathers a bin; PLACES if there is no room for it.
fn place_of(bin: u32) -> u32 {
    var place = (bin + (bin >> BIN_BITS)) % PLACES;
    for (var tries = 0u; tries < 2u * PLACES; tries++) {
        var found = atomicLoad(&sh_gathered[place].bin);
        if found == 0u {
            let taken = atomicCompareExchangeWeak(&sh_gathered[place].bin, 0u, bin + 1u);
            found = select(taken.old_value, bin + 1u, taken.exchanged);
        }
        if found == bin + 1u {
            return place;
        }
        // It may also have failed for no reason.
        place = (place + select(0u, 1u, found != 0u)) % PLACES;
    }
    return PLACES;
}

// Words that would not change are left alone.
fn gather(place: u32, own: Addition) {
    atomicAdd(&sh_gathered[place].spheres, own.spheres);
    if atomicLoad(&sh_gathered[place].half_cell) < own.half_cell {
        atomicMax(&sh_gathered[place].half_cell, own.half_cell);
    }
    for (var axis = 0u; axis < 3u; axis++) {
        if atomicLoad(&sh_gathered[place].low[axis]) < own.low[axis] {
            atomicMax(&sh_gathered[place].low[axis], own.low[axis]);
        }
        if atomicLoad(&sh_gathered[place].high[axis]) < own.high[axis] {
            atomicMax(&sh_gathered[place].high[axis], own.high[axis]);
        }
    }
}

fn add(bin: u32, own: Addition) {
    // All that is there is asked for before any of it is waited for.
    let half_cell = atomicLoad(&bins[bin].half_cell);
    let low = vec3<u32>(
        atomicLoad(&bins[bin].low[0]),
        atomicLoad(&bins[bin].low[1]),
        atomicLoad(&bins[bin].low[2]),
    );
    let high = vec3<u32>(
        atomicLoad(&bins[bin].high[0]),
        atomicLoad(&bins[bin].high[1]),
        atomicLoad(&bins[bin].high[2]),
    );
    let bit = 1u << (bin % 32u);
    let used = atomicLoad(&counters.used[bin / 32u]);

    let power = (bin >> BIN_BITS) & ((1u << POWER_BITS) - 1u);
    atomicAdd(&bins[bin].count, (own.spheres & 0xffffu) << power);
    if (own.spheres >> 16u) > 0u {
        atomicAdd(&bins[bin].inside, (own.spheres >> 16u) << power);
    }
    if half_cell < own.half_cell {
        atomicMax(&bins[bin].half_cell, own.half_cell);
    }
    for (var axis = 0u; axis < 3u; axis++) {
        if low[axis] < own.low[axis] {
            atomicMax(&bins[bin].low[axis], own.low[axis]);
        }
        if high[axis] < own.high[axis] {
            atomicMax(&bins[bin].high[axis], own.high[axis]);
        }
    }
    if (used & bit) == 0u {
        atomicOr(&counters.used[bin / 32u], bit);
    }
}

// Whose the workgroup's further segment number k is: how many of the sums are not
// above it. Written out, because a driver may end an invocation that has spent too
// many rounds of loops in all.
fn owner_of(k: u32) -> u32 {
    var owner = select(0u, 128u, sh_sums[127] <= k);
    owner += select(0u, 64u, sh_sums[owner + 63u] <= k);
    owner += select(0u, 32u, sh_sums[owner + 31u] <= k);
    owner += select(0u, 16u, sh_sums[owner + 15u] <= k);
    owner += select(0u, 8u, sh_sums[owner + 7u] <= k);
    owner += select(0u, 4u, sh_sums[owner + 3u] <= k);
    owner += select(0u, 2u, sh_sums[owner + 1u] <= k);
    owner += select(0u, 1u, sh_sums[owner] <= k);
    return owner;
}
const_assert SCAN_WORKGROUP == 256u;

@compute @workgroup_size(SCAN_WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = invocation(workgroup, workgroups, local, SCAN_WORKGROUP);
    var bin = NO_BIN;
    var own: Addition;
    var more = 0u;
    if i < params.spheres {
        let sphere = sphere_at(i);
        if !is_invalid(sphere) {
            let motion = motion_of(sphere.center, sphere.radius, sphere.velocity, space.frame);
            let power = segments_power(motion, max(space.segment, params.shortest_segment));
            own.half_cell = bitcast<u32>(half_cell_of(motion, power));
            let of_set = select(0u, 1u, params.split > 0u && i >= params.split);
            bin = ((own.half_cell >> SIZE_SHIFT) - FIRST_SIZE) | (power << BIN_BITS)
                | (of_set << (BIN_BITS + POWER_BITS));
            more = (1u << power) - 1u;

            let first = middle(motion, power, 0u);
            let last = middle(motion, power, (1u << power) - 1u);
            let low = min(first, last);
            let high = max(first, last);
            let inside = all(low >= space.trimmed_low) && all(high <= space.trimmed_high);
            own.spheres = select(1u, 0x10001u, inside);
            for (var axis = 0u; axis < 3u; axis++) {
                own.low[axis] = sortable(-low[axis]);
                own.high[axis] = sortable(high[axis]);
            }
        }
        bin_of[i] = bin;
    }
    // A few go first: the bounds that they set hold for most others, who then have
    // nothing to change.
    for (var turn = 0u; turn < 2u; turn++) {
        if bin != NO_BIN && (local % 16u == 0u) == (turn == 0u) {
            let place = place_of(bin);
            if place < PLACES {
                gather(place, own);
            } else {
                add(bin, own);
            }
        }
        workgroupBarrier();
    }
    if local < PLACES && atomicLoad(&sh_gathered[local].bin) > 0u {
        var all: Addition;
        all.spheres = atomicLoad(&sh_gathered[local].spheres);
        all.half_cell = atomicLoad(&sh_gathered[local].half_cell);
        for (var axis = 0u; axis < 3u; axis++) {
            all.low[axis] = atomicLoad(&sh_gathered[local].low[axis]);
            all.high[axis] = atomicLoad(&sh_gathered[local].high[axis]);
        }
        add(atomicLoad(&sh_gathered[local].bin) - 1u, all);
    }

    // The workgroup's further segments have places one after another, and all write
    // them together.
    let before = sum_before(more, local);
    if local == SCAN_WORKGROUP - 1u && before + more > 0u {
        let base = atomicAdd(&counters.segments[0], before + more);
        if base + before + more < base {
            atomicAdd(&counters.segments[1], 1u);
        }
        sh_base = base;
    }
    workgroupBarrier();
    // A count that has wrapped lands on places that others have: no matter, such a
    // step is run again.
    let room = params.segment_capacity - min(sh_base, params.segment_capacity);
    for (var k = local; k < min(sh_sums[SCAN_WORKGROUP - 1u], room); k += SCAN_WORKGROUP) {
        let owner = owner_of(k);
        let number = k - select(0u, sh_sums[max(owner, 1u) - 1u], owner > 0u);
        segments[sh_base + k] = Segment(i - local + owner, number + 1u);
    }
}

// Determines into how many segments each sphere is cut, writes the list of segments, and fills
// the histogram of proxies by size class.
// Twin of `src/cpu/measure/sizes.rs`.

#import invocation::{invocation}
#import scan_block::{sh_sums, sum_before}
#import segments::{Path, half_cell_of, middle, path_of, segments_power}
#import sets::{set_of}
#import size_class::{size_class_of, size_class_power}
#import sortable::{sortable}
#import spheres::{is_invalid, sphere_at}
#import types::{Counters, Params, Segment, SizeClass, Space, Sphere}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read> space: Space;
@group(0) @binding(3) var<storage, read_write> size_class_of_sphere: array<u32>;
@group(0) @binding(4) var<storage, read_write> segments: array<Segment>;
@group(0) @binding(5) var<storage, read_write> size_classes: array<SizeClass>;
@group(0) @binding(6) var<storage, read_write> counters: Counters;

// The contribution of one or more spheres to a size class.
struct Addition {
    // Number of spheres in the low 16 bits, number of those inside the trimmed box in the high
    // 16 bits.
    spheres: u32,
    // Bits of the largest half cell.
    half_cell: u32,
    // Bounds in the form that SizeClass has: sortable() words that only grow, with the lower
    // bounds negated.
    low: vec3<u32>,
    high: vec3<u32>,
}

// The contribution of the workgroup's spheres to a size class. Additions to one word of global
// memory are serialized, and most spheres of a workgroup are in few size classes. So the
// workgroup first sums them up here.
struct GatheredClass {
    // Number of the size class, plus 1; 0 if the entry is free.
    size_class: atomic<u32>,
    spheres: atomic<u32>,
    half_cell: atomic<u32>,
    low: array<atomic<u32>, 3>,
    high: array<atomic<u32>, 3>,
}

// A hash table of the workgroup's size classes, with linear probing.
const PLACES = 32u;
var<workgroup> sh_gathered: array<GatheredClass, PLACES>;
// Index of the first of the workgroup's segments in `segments`.
var<workgroup> sh_base: u32;
// 1 if a sphere of the workgroup is cut, else 0; and a copy that is read uniformly.
var<workgroup> sh_cut: atomic<u32>;
var<workgroup> sh_any_cut: u32;

// Returns the entry of a size class in sh_gathered, or PLACES if there is no room for it.
fn place_of(size_class: u32) -> u32 {
    var place = (size_class + (size_class >> SIZE_BITS)) % PLACES;
    for (var tries = 0u; tries < 2u * PLACES; tries++) {
        var found = atomicLoad(&sh_gathered[place].size_class);
        if found == 0u {
            let taken = atomicCompareExchangeWeak(&sh_gathered[place].size_class, 0u, size_class + 1u);
            found = select(taken.old_value, size_class + 1u, taken.exchanged);
        }
        if found == size_class + 1u {
            return place;
        }
        // A weak exchange may fail spuriously. Then the entry is still free and is tried again.
        place = (place + select(0u, 1u, found != 0u)) % PLACES;
    }
    return PLACES;
}

// Raises the bounds of an entry of sh_gathered along one axis.
fn raise_gathered(place: u32, axis: u32, low: u32, high: u32) {
    if atomicLoad(&sh_gathered[place].low[axis]) < low {
        atomicMax(&sh_gathered[place].low[axis], low);
    }
    if atomicLoad(&sh_gathered[place].high[axis]) < high {
        atomicMax(&sh_gathered[place].high[axis], high);
    }
}

// Adds to an entry of sh_gathered. Words that would not change are not written.
fn gather(place: u32, own: Addition) {
    atomicAdd(&sh_gathered[place].spheres, own.spheres);
    if atomicLoad(&sh_gathered[place].half_cell) < own.half_cell {
        atomicMax(&sh_gathered[place].half_cell, own.half_cell);
    }
    raise_gathered(place, 0u, own.low.x, own.high.x);
    raise_gathered(place, 1u, own.low.y, own.high.y);
    raise_gathered(place, 2u, own.low.z, own.high.z);
}

// Raises the bounds of a size class of the whole world along one axis. `bounds` holds the two
// words read earlier. A bound that would not change is not written.
fn raise(size_class: u32, axis: u32, bounds: vec2<u32>, low: u32, high: u32) {
    if bounds.x < low {
        atomicMax(&size_classes[size_class].low[axis], low);
    }
    if bounds.y < high {
        atomicMax(&size_classes[size_class].high[axis], high);
    }
}

// Adds to a size class in global memory.
fn add(size_class: u32, own: Addition) {
    // All words are loaded before the first one is used, so that the latencies overlap.
    let half_cell = atomicLoad(&size_classes[size_class].half_cell);
    let low = vec3<u32>(
        atomicLoad(&size_classes[size_class].low[0]),
        atomicLoad(&size_classes[size_class].low[1]),
        atomicLoad(&size_classes[size_class].low[2]),
    );
    let high = vec3<u32>(
        atomicLoad(&size_classes[size_class].high[0]),
        atomicLoad(&size_classes[size_class].high[1]),
        atomicLoad(&size_classes[size_class].high[2]),
    );
    let bit = 1u << (size_class % 32u);
    let used = atomicLoad(&counters.used[size_class / 32u]);

    let power = size_class_power(size_class);
    atomicAdd(&size_classes[size_class].count, (own.spheres & 0xffffu) << power);
    if (own.spheres >> 16u) > 0u {
        atomicAdd(&size_classes[size_class].inside, (own.spheres >> 16u) << power);
    }
    if half_cell < own.half_cell {
        atomicMax(&size_classes[size_class].half_cell, own.half_cell);
    }
    raise(size_class, 0u, vec2<u32>(low.x, high.x), own.low.x, own.high.x);
    raise(size_class, 1u, vec2<u32>(low.y, high.y), own.low.y, own.high.y);
    raise(size_class, 2u, vec2<u32>(low.z, high.z), own.low.z, own.high.z);
    if (used & bit) == 0u {
        atomicOr(&counters.used[size_class / 32u], bit);
    }
}

// Returns the invocation whose sphere has segment k of the workgroup's list: the number of sums
// in sh_sums that are at most k. The binary search is unrolled because some drivers end an
// invocation after too many loop iterations in total (docs/design.md, "Limits that are kept").
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

// How a sphere is cut, and its contribution to its size class.
struct Sized {
    size_class: u32,
    // Number of segments after the first.
    further: u32,
    addition: Addition,
}

// Returns the contribution of one sphere to its size class.
fn addition_of(path: Path, power: u32, half_cell: f32) -> Addition {
    let first = middle(path, power, 0u);
    let last = middle(path, power, (1u << power) - 1u);
    let low = min(first, last);
    let high = max(first, last);
    let inside = all(low >= space.trimmed_low) && all(high <= space.trimmed_high);
    var own: Addition;
    own.spheres = select(1u, 0x10001u, inside);
    own.half_cell = bitcast<u32>(half_cell);
    own.low = vec3<u32>(sortable(-low.x), sortable(-low.y), sortable(-low.z));
    own.high = vec3<u32>(sortable(high.x), sortable(high.y), sortable(high.z));
    return own;
}

// Returns how sphere i is cut. A sphere that is set aside has no size class.
fn size_of(i: u32) -> Sized {
    var sized: Sized;
    sized.size_class = NO_SIZE_CLASS;
    let sphere = sphere_at(i);
    if is_invalid(sphere) {
        return sized;
    }
    let path = path_of(sphere.center, sphere.radius, sphere.velocity, space.frame);
    let power = segments_power(path, max(space.segment, params.shortest_segment));
    let half_cell = half_cell_of(path, power);
    sized.size_class = size_class_of(half_cell, power, set_of(i));
    sized.further = (1u << power) - 1u;
    sized.addition = addition_of(path, power, half_cell);
    return sized;
}

// Sums up the contributions of all invocations in sh_gathered. A contribution for which there
// is no room goes to global memory at once.
fn gather_all(size_class: u32, own: Addition, local: u32) {
    // One invocation in 16 goes first. The bounds that these set contain most other spheres,
    // whose invocations then have nothing to write.
    for (var turn = 0u; turn < 2u; turn++) {
        if size_class != NO_SIZE_CLASS && (local % 16u == 0u) == (turn == 0u) {
            let place = place_of(size_class);
            if place < PLACES {
                gather(place, own);
            } else {
                add(size_class, own);
            }
        }
        workgroupBarrier();
    }
}

// Adds one entry of sh_gathered to global memory.
fn add_gathered(place: u32) {
    let gathered = atomicLoad(&sh_gathered[place].size_class);
    if gathered == 0u {
        return;
    }
    var sum: Addition;
    sum.spheres = atomicLoad(&sh_gathered[place].spheres);
    sum.half_cell = atomicLoad(&sh_gathered[place].half_cell);
    sum.low = vec3<u32>(
        atomicLoad(&sh_gathered[place].low[0]),
        atomicLoad(&sh_gathered[place].low[1]),
        atomicLoad(&sh_gathered[place].low[2]),
    );
    sum.high = vec3<u32>(
        atomicLoad(&sh_gathered[place].high[0]),
        atomicLoad(&sh_gathered[place].high[1]),
        atomicLoad(&sh_gathered[place].high[2]),
    );
    add(gathered - 1u, sum);
}

// Reserves `count` entries of `segments` and returns the first. The counter goes on past the
// capacity.
fn take_segments(count: u32) -> u32 {
    let base = atomicAdd(&counters.segments[0], count);
    if base + count < base {
        atomicAdd(&counters.segments[1], 1u);
    }
    return base;
}

// Writes the workgroup's segments, of which this invocation has `further`. They are consecutive
// in `segments`, and all invocations share the writing. `begin` is the index of the workgroup's
// first sphere.
fn write_segments(further: u32, begin: u32, local: u32) {
    let before = sum_before(further, local);
    if local == SCAN_WORKGROUP - 1u && before + further > 0u {
        sh_base = take_segments(before + further);
    }
    // Makes sh_base and all of sh_sums visible.
    workgroupBarrier();
    // If the low word of the counter has wrapped, the reserved entries overlap those of other
    // workgroups. This is harmless: the step has too many segments, and nothing is searched.
    let room = params.segment_capacity - min(sh_base, params.segment_capacity);
    for (var k = local; k < min(sh_sums[SCAN_WORKGROUP - 1u], room); k += SCAN_WORKGROUP) {
        let owner = owner_of(k);
        let number = k - select(0u, sh_sums[max(owner, 1u) - 1u], owner > 0u);
        segments[sh_base + k] = Segment(begin + owner, number + 1u);
    }
}

@compute @workgroup_size(SCAN_WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = invocation(workgroup, workgroups, local, SCAN_WORKGROUP);
    var own: Sized;
    own.size_class = NO_SIZE_CLASS;
    if i < params.spheres {
        own = size_of(i);
        size_class_of_sphere[i] = own.size_class;
    }
    if own.further > 0u {
        atomicOr(&sh_cut, 1u);
    }
    gather_all(own.size_class, own.addition, local);
    if local < PLACES {
        add_gathered(local);
    }
    if local == 0u {
        sh_any_cut = atomicLoad(&sh_cut);
    }
    // In most workgroups no sphere is cut.
    if workgroupUniformLoad(&sh_any_cut) != 0u {
        write_segments(own.further, i - local, local);
    }
}

// Determines into how many time segments each sphere is cut, lists the segments, and
// counts the proxies by size class. Twin of `src/cpu/measure/sizes.rs`.

#import invocation::{invocation}
#import scan_block::{sh_sums, sum_before}
#import segments::{Path, extent_of, half_cell_of, middle, path_of, segments_power}
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

struct Addition {
    // Low 16 bits: number of spheres. High 16 bits: those in the trimmed box.
    spheres: u32,
    // Half the edge of the smallest cell for each of them, as bits.
    half_cell: u32,
    // Box of the centres in the middle of each segment, by sortable(). Lower bounds
    // are negated first, for atomicMax().
    low: vec3<u32>,
    high: vec3<u32>,
}

// Summed in workgroup memory, because additions to one word of global memory are
// serialized.
struct GatheredClass {
    // Plus 1, or 0 if this entry of the hash table is free.
    size_class: atomic<u32>,
    spheres: atomic<u32>,
    half_cell: atomic<u32>,
    low: array<atomic<u32>, 3>,
    high: array<atomic<u32>, 3>,
}

// Size of the hash table.
const PLACES = 32u;
var<workgroup> sh_gathered: array<GatheredClass, PLACES>;
var<workgroup> sh_base: u32;
// 1 if any sphere is cut. `sh_any_cut` is a copy, because workgroupUniformLoad() cannot
// read an atomic.
var<workgroup> sh_cut: atomic<u32>;
var<workgroup> sh_any_cut: u32;

// Inserts the class if it is new. Returns PLACES if the table is full.
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
        // A weak compare-and-exchange may fail although the entry is free.
        place = (place + select(0u, 1u, found != 0u)) % PLACES;
    }
    return PLACES;
}

fn gathered_at(place: u32) -> Addition {
    return Addition(
        atomicLoad(&sh_gathered[place].spheres),
        atomicLoad(&sh_gathered[place].half_cell),
        vec3<u32>(
            atomicLoad(&sh_gathered[place].low[0]),
            atomicLoad(&sh_gathered[place].low[1]),
            atomicLoad(&sh_gathered[place].low[2]),
        ),
        vec3<u32>(
            atomicLoad(&sh_gathered[place].high[0]),
            atomicLoad(&sh_gathered[place].high[1]),
            atomicLoad(&sh_gathered[place].high[2]),
        ),
    );
}

fn gather(place: u32, own: Addition) {
    let gathered = gathered_at(place);
    atomicAdd(&sh_gathered[place].spheres, own.spheres);
    // For most spheres, this test avoids seven atomic operations.
    if gathered.half_cell < own.half_cell || any(gathered.low < own.low) || any(gathered.high < own.high) {
        atomicMax(&sh_gathered[place].half_cell, own.half_cell);
        atomicMax(&sh_gathered[place].low[0], own.low.x);
        atomicMax(&sh_gathered[place].low[1], own.low.y);
        atomicMax(&sh_gathered[place].low[2], own.low.z);
        atomicMax(&sh_gathered[place].high[0], own.high.x);
        atomicMax(&sh_gathered[place].high[1], own.high.y);
        atomicMax(&sh_gathered[place].high[2], own.high.z);
    }
}

fn raise(size_class: u32, axis: u32, bounds: vec2<u32>, low: u32, high: u32) {
    if bounds.x < low {
        atomicMax(&size_classes[size_class].low[axis], low);
    }
    if bounds.y < high {
        atomicMax(&size_classes[size_class].high[axis], high);
    }
}

fn add(size_class: u32, own: Addition) {
    // All loads come first, so that their latencies overlap.
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

// The invocation whose sphere has segment k of the workgroup. Without a loop, because
// some drivers end an invocation after too many iterations (docs/design.md, "Limits
// that are kept").
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

struct Sized {
    size_class: u32,
    further: u32,
    addition: Addition,
}

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

fn size_of(i: u32) -> Sized {
    var sized: Sized;
    sized.size_class = NO_SIZE_CLASS;
    let sphere = sphere_at(i);
    if is_invalid(sphere) {
        return sized;
    }
    let path = path_of(sphere.center, sphere.radius, sphere.velocity, space.frame);
    let extent = extent_of(path);
    let power = segments_power(extent, max(space.segment, params.shortest_segment));
    let half_cell = half_cell_of(extent, power);
    sized.size_class = size_class_of(half_cell, power, set_of(i));
    sized.further = (1u << power) - 1u;
    sized.addition = addition_of(path, power, half_cell);
    return sized;
}

fn gather_all(size_class: u32, own: Addition, local: u32) {
    // One invocation in 16 goes first. Most others then need not enlarge the boxes.
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

fn add_gathered(place: u32) {
    let gathered = atomicLoad(&sh_gathered[place].size_class);
    if gathered > 0u {
        add(gathered - 1u, gathered_at(place));
    }
}

fn take_segments(count: u32) -> u32 {
    let base = atomicAdd(&counters.segments[0], count);
    if base + count < base {
        atomicAdd(&counters.segments[1], 1u);
    }
    return base;
}

// Writes the segments of the workgroup's spheres, from sphere `begin` on, except the
// first of each: `further` for this invocation's sphere.
fn write_segments(further: u32, begin: u32, local: u32) {
    let before = sum_before(further, local);
    if local == SCAN_WORKGROUP - 1u && before + further > 0u {
        sh_base = take_segments(before + further);
    }
    workgroupBarrier();
    // If the low word has wrapped around, segments are overwritten, but such a step
    // searches nothing.
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
    if workgroupUniformLoad(&sh_any_cut) != 0u {
        write_segments(own.further, i - local, local);
    }
}

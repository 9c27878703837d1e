// The filter on every proxy and each of those in reach of it; or, with TALLY, only how
// many tests there will be, where these may be too many.
// Twin of `src/cpu/pairs` and `src/cpu/neighbors.rs`, but that here no coarse proxy
// searches for finer ones, for its invocation would keep all others waiting, and no balls
// or paths are tested before the filter.

#import carom::{CAROM_GRAZING, CaromCollision}
#import crowd::{may_be_crowded}
#import filter::{Filtered, filter_pair}
#import grid::{in_box, slot_of}
#import impact::{rough_impact}
#import invocation::{invocation}
#import opaque::{opaque3}
#import ownership::{OTHER, SHARED, ownership}
#import segments::{middle, path_of, reaches}
#import sets::{are_two_sets}
#import tag::{level_of, segment_of, segment_power, slab_of}
#import types::{Counters, Params, Plan, SortedCell, SortedProxy, Sphere}
#import units::{times_power}

override TALLY: bool = false;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read> plan: Plan;
@group(0) @binding(3) var<storage, read> slot_starts: array<u32>;
@group(0) @binding(4) var<storage, read> sorted_proxies: array<SortedProxy>;
@group(0) @binding(5) var<storage, read> sorted_cells: array<SortedCell>;
@group(0) @binding(6) var<storage, read_write> counters: Counters;
@group(0) @binding(7) var<storage, read_write> pairs: array<CaromCollision>;

// Whether there is nothing to do.
var<workgroup> sh_idle: u32;
// Pairs that a workgroup keeps until its end, so that the list has them in one piece.
const STAGED = 2u * WORKGROUP;
var<workgroup> sh_found: array<CaromCollision, STAGED>;
// How many there would be, with no end to the room for them; and the place of the
// first in the list.
var<workgroup> sh_pairs: atomic<u32>;
var<workgroup> sh_base: u32;
// The workgroup's part of the counters of the same names.
var<workgroup> sh_candidates: array<atomic<u32>, 2>;
var<workgroup> sh_finished: atomic<u32>;

// Whether the tally says that the world is too crowded.
fn refused() -> bool {
    let low = atomicLoad(&counters.candidates[0]);
    let high = atomicLoad(&counters.candidates[1]);
    return high > params.most_candidates_high
        || (high == params.most_candidates_high && low > params.most_candidates_low);
}

// Places in the list for so many pairs: the first of them.
fn reserve(count: u32) -> u32 {
    let first = atomicAdd(&counters.pairs[0], count);
    if first + count < first {
        atomicAdd(&counters.pairs[1], 1u);
    }
    return first;
}

// A count that has wrapped lands on places that others have: no matter, such a step
// is run again.
fn list(place: u32, found: CaromCollision) {
    if place < params.pair_capacity {
        pairs[place] = found;
    }
}

// Lists what is staged at this place.
fn list_staged(staged: u32) {
    if staged < min(atomicLoad(&sh_pairs), STAGED) {
        list(sh_base + staged, sh_found[staged]);
    }
}

// Whether one of two spheres, by their collision groups, ignores the other.
fn ignore_each_other(groups_a: u32, groups_b: u32) -> bool {
    return ((((groups_a >> 16u) & groups_b) | ((groups_b >> 16u) & groups_a)) & 0xffffu) != 0u;
}

// Reports the pair of two proxies that may touch, if it is one to report, and these two
// own it.
fn report(s: Filtered, i: SortedProxy, j: SortedProxy, tag_i: u32, tag_j: u32) {
    let a = min(i.sphere, j.sphere);
    let b = max(i.sphere, j.sphere);
    if a == b {
        return;
    }
    if ignore_each_other(spheres[a].groups, spheres[b].groups) {
        return;
    }
    let owned = ownership(s, tag_i, tag_j, params.dt);
    if owned == OTHER {
        return;
    }
    let grazing = owned == SHARED || s.margin <= s.bound;
    let times = rough_impact(s, params.dt);
    let found = CaromCollision(
        a,
        (b - params.b_offset) | select(0u, CAROM_GRAZING, grazing),
        times.x * params.time_unit,
        times_power(times.y, -params.length_power),
    );
    let staged = atomicAdd(&sh_pairs, 1u);
    if staged < STAGED {
        sh_found[staged] = found;
    } else {
        list(reserve(1u), found);
    }
}

// A count of two words, low one first, and so many more.
fn counted(count: vec2<u32>, more: u32) -> vec2<u32> {
    let low = count.x + more;
    return vec2<u32>(low, count.y + select(0u, 1u, low < more));
}

// The first and the last of a level's 2^time_power slabs that a segment of 2^power spans.
fn slabs_of(power: u32, segment: u32, time_power: u32) -> vec2<u32> {
    if power >= time_power {
        return vec2<u32>(segment >> (power - time_power));
    }
    let shift = time_power - power;
    let first = segment << shift;
    return vec2<u32>(first, first + (1u << shift) - 1u);
}

// Tests a proxy against those in reach of it, or only counts them: how many they
// are, low word first.
fn search(index: u32) -> vec2<u32> {
    let proxy = sorted_proxies[index];
    let own = sorted_cells[index];
    let own_level = level_of(own.tag);
    let own_set = plan.level[own_level].of_set;
    let power = segment_power(own.tag);
    let segment = segment_of(own.tag);
    let path = path_of(proxy.center, proxy.radius, proxy.velocity, plan.frame);
    let center = middle(path, power, segment);
    let reach = reaches(path, power);
    var tally = vec2<u32>(0u);

    // Goes once more round at the end: a driver that ends long loops never
    // comes to it.
    for (var number = own_level; number <= plan.levels; number++) {
        if number == plan.levels {
            if (params.flags & FLAG_WATCH) != 0u {
                atomicAdd(&sh_finished, 1u);
            }
            break;
        }
        let level = plan.level[number];
        if are_two_sets() && level.of_set == own_set {
            continue;
        }
        let slabs = slabs_of(power, segment, level.time_power);
        // Own level: half the neighbourhood, so that each pair is met from one
        // side only. The others: as far as the two reach.
        var low = own.cell - vec3<i32>(1, 1, 0);
        var high = own.cell + vec3<i32>(1);
        if number != own_level {
            let at = opaque3(center * level.inverse_cell);
            let around = opaque3(reach * level.inverse_cell + level.reach);
            low = vec3<i32>(floor(at - around));
            high = vec3<i32>(floor(at + around));
        }
        for (var slab = slabs.x; slab <= slabs.y; slab++) {
            for (var z = low.z; z <= high.z; z++) {
                let own_plane = number == own_level && z == own.cell.z;
                for (var y = select(low.y, own.cell.y, own_plane); y <= high.y; y++) {
                    let own_row = own_plane && y == own.cell.y;
                    let first_x = select(low.x, own.cell.x, own_row);
                    // Within the box the row is one range; outside, each cell
                    // is one.
                    let whole = in_box(level, first_x, high.x, y, z);
                    var x = first_x;
                    while x <= high.x {
                        let last_x = select(x, high.x, whole);
                        let slot = slot_of(level, vec3<i32>(x, y, z), slab);
                        let end = slot_starts[slot + u32(last_x - x) + 1u];
                        var other = slot_starts[slot];
                        if own_row && x == own.cell.x {
                            other = index + 1u;
                        }
                        tally = counted(tally, end - other);
                        if !TALLY {
                            for (; other < end; other++) {
                                let candidate = sorted_proxies[other];
                                let s = filter_pair(proxy, candidate, params.dt);
                                if s.margin >= -s.bound {
                                    // Rows outside the box may share slots, so what is found
                                    // is compared with what was asked for.
                                    let found = sorted_cells[other];
                                    if found.cell.x >= x && found.cell.x <= last_x && found.cell.y == y
                                        && found.cell.z == z && level_of(found.tag) == number
                                        && slab_of(found.tag, level.time_power) == slab {
                                        report(s, proxy, candidate, own.tag, found.tag);
                                    }
                                }
                            }
                        }
                        x = last_x + 1;
                    }
                }
            }
        }
    }
    return tally;
}

// Whether there is nothing to do: nothing to tally, or too much to test.
fn is_idle() -> bool {
    return (TALLY && !may_be_crowded()) || (!TALLY && refused());
}

// Adds to the workgroup's count of candidates.
fn count_candidates(tally: vec2<u32>) {
    let before = atomicAdd(&sh_candidates[0], tally.x);
    let carry = counted(vec2<u32>(before, tally.y), tally.x).y;
    if carry > 0u {
        atomicAdd(&sh_candidates[1], carry);
    }
}

// Adds the workgroup's counts to those of all. Memory that all share takes additions to
// one word one by one: one for all of the workgroup.
fn count_for_all() {
    let tally = vec2<u32>(atomicLoad(&sh_candidates[0]), atomicLoad(&sh_candidates[1]));
    if any(tally != vec2<u32>(0u)) && (TALLY || !may_be_crowded()) {
        let before = atomicAdd(&counters.candidates[0], tally.x);
        let carry = counted(vec2<u32>(before, tally.y), tally.x).y;
        if carry > 0u {
            atomicAdd(&counters.candidates[1], carry);
        }
    }
    if atomicLoad(&sh_finished) > 0u {
        atomicAdd(&counters.finished, atomicLoad(&sh_finished));
    }
    if atomicLoad(&sh_pairs) > 0u {
        sh_base = reserve(min(atomicLoad(&sh_pairs), STAGED));
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    if local == 0u {
        sh_idle = select(0u, 1u, is_idle());
    }
    // The same for all, so that none waits for it at the barriers below.
    if workgroupUniformLoad(&sh_idle) != 0u {
        return;
    }
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index < plan.sorted {
        count_candidates(search(index));
    }
    workgroupBarrier();
    if local == 0u {
        count_for_all();
    }
    workgroupBarrier();
    // Not in a loop, which a driver that ends long ones might not enter any more.
    list_staged(local);
    list_staged(local + WORKGROUP);
}

// The filter on every proxy and each of those in reach of it; or, with TALLY, only how
// many tests there will be, where these may be too many.
// Twin of `src/cpu/pairs` and `src/cpu/neighbors.rs`, but that here no coarse proxy
// searches for finer ones, for its invocation would keep all others waiting, and that what
// comes first is not a test of balls, but that of `near`.

#import carom::{CAROM_GRAZING, CaromCollision}
#import crowd::{may_be_crowded}
#import filter::{Filtered, filter_pair}
#import grid::{in_box, slot_in_box, slot_of}
#import impact::{rough_impact}
#import invocation::{invocation}
#import near::{may_touch, window_of}
#import opaque::{opaque3}
#import ownership::{OTHER, SHARED, ownership}
#import segments::{middle, path_of, reaches}
#import sets::{are_two_sets}
#import tag::{level_of, segment_of, segment_power, slab_of}
#import types::{Counters, Level, Params, Plan, SortedCell, SortedProxy, Sphere}
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

// A proxy that looks for others: its place among the sorted proxies, and its tag. The proxy
// itself is read where it is needed, which is cheaper than to keep it in registers.
struct Searcher {
    index: u32,
    tag: u32,
}

// Up to five ranges of the sorted proxies, taken for one: what is in them is numbered
// through, from 0 to `count`.
struct Candidates {
    count: u32,
    // The first number past each range but the last.
    past: vec4<u32>,
    // What makes of a number in each range a place among the sorted proxies, when added.
    shift: vec4<u32>,
    last_shift: u32,
}

// The place of a candidate. Selected, because what is indexed by a variable is kept in
// memory.
fn place_of(candidates: Candidates, number: u32) -> u32 {
    let past = candidates.past;
    let shift = candidates.shift;
    let of_two = select(shift.y, shift.x, number < past.x);
    let of_three = select(shift.z, of_two, number < past.y);
    let of_others = select(candidates.last_shift, shift.w, number < past.w);
    return number + select(of_others, of_three, number < past.z);
}

// Half the neighbourhood of a proxy, so that each pair is met from one side only; if all
// of it is in the box. All that there is to read is asked for before any of it is waited for.
fn own_candidates(index: u32, level: Level, slot: u32) -> Candidates {
    let row = level.dims.x;
    let plane = row * level.dims.y;
    let middles = slot + vec4<u32>(row, plane - row, plane, plane + row);
    let end = slot_starts[slot + 2u];
    let first_y = slot_starts[middles.x - 1u];
    let end_y = slot_starts[middles.x + 2u];
    let first_below = slot_starts[middles.y - 1u];
    let end_below = slot_starts[middles.y + 2u];
    let first_z = slot_starts[middles.z - 1u];
    let end_z = slot_starts[middles.z + 2u];
    let first_above = slot_starts[middles.w - 1u];
    let end_above = slot_starts[middles.w + 2u];
    let past_own = end - (index + 1u);
    let past_y = past_own + (end_y - first_y);
    let past_below = past_y + (end_below - first_below);
    let past_z = past_below + (end_z - first_z);
    return Candidates(
        past_z + (end_above - first_above),
        vec4<u32>(past_own, past_y, past_below, past_z),
        vec4<u32>(index + 1u, first_y - past_own, first_below - past_y, first_z - past_below),
        first_above - past_z,
    );
}

// Which of 32 candidates from number `first` on may touch the proxy, one bit each.
fn near(searcher: Searcher, candidates: Candidates, first: u32) -> u32 {
    let proxy = sorted_proxies[searcher.index];
    let window = window_of(searcher.tag, params.dt);
    var found = 0u;
    let end = min(candidates.count, first + 32u);
    for (var number = first; number < end; number++) {
        let candidate = sorted_proxies[place_of(candidates, number)];
        if may_touch(proxy, candidate, window) {
            found |= 1u << (number - first);
        }
    }
    return found;
}

// The filter on two proxies that may touch.
fn filter_and_report(searcher: Searcher, place: u32) {
    // With a zero that no compiler knows, so that it is read once more and not kept.
    let proxy = sorted_proxies[searcher.index ^ params.zero];
    let candidate = sorted_proxies[place];
    let s = filter_pair(proxy, candidate, params.dt);
    if s.margin >= -s.bound {
        report(s, proxy, candidate, searcher.tag, sorted_cells[place].tag);
    }
}

// Tests a proxy against candidates. Those that may touch it are put off until 32 are
// tested: they are few, and while one of the invocations that run side by side has one,
// the others wait.
fn test(searcher: Searcher, candidates: Candidates) {
    for (var first = 0u; first < candidates.count; first += 32u) {
        var found = near(searcher, candidates, first);
        while found != 0u {
            filter_and_report(searcher, place_of(candidates, first + firstTrailingBit(found)));
            found &= found - 1u;
        }
    }
}

// Whether half the neighbourhood of a proxy is five ranges, all in the box.
fn is_inside(level: Level, cell: vec3<i32>) -> bool {
    let at = vec3<u32>(cell - level.origin);
    // There may be no box at all.
    return all(at >= vec3<u32>(1u)) && all(at < max(level.dims, vec3<u32>(1u)) - 1u);
}

// Tests a proxy against those around it in its own level, all in the box, or only counts
// them.
fn search_inside(searcher: Searcher, level: Level, cell: vec3<i32>, tally: ptr<function, vec2<u32>>) {
    let slot = slot_in_box(level, cell, slab_of(searcher.tag, level.time_power));
    let candidates = own_candidates(searcher.index, level, slot);
    *tally = counted(*tally, candidates.count);
    if !TALLY {
        test(searcher, candidates);
    }
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

// The cells of a level from one corner to the other, in some of its slabs.
struct Block {
    low: vec3<i32>,
    high: vec3<i32>,
    slabs: vec2<u32>,
    // Where to begin: not in the corner for half a neighbourhood, and there not with the
    // first that is found.
    first: vec3<i32>,
    begin: u32,
}

// Half the neighbourhood of a proxy, so that each pair is met from one side only.
fn own_block(searcher: Searcher, level: Level, cell: vec3<i32>) -> Block {
    let slab = slab_of(searcher.tag, level.time_power);
    return Block(cell - vec3<i32>(1, 1, 0), cell + 1, vec2<u32>(slab), cell, searcher.index + 1u);
}

// The cells of another level in reach of a proxy and of the largest there.
fn other_block(searcher: Searcher, level: Level) -> Block {
    let proxy = sorted_proxies[searcher.index];
    let power = segment_power(searcher.tag);
    let segment = segment_of(searcher.tag);
    let path = path_of(proxy.center, proxy.radius, proxy.velocity, plan.frame);
    let at = opaque3(middle(path, power, segment) * level.inverse_cell);
    let around = opaque3(reaches(path, power) * level.inverse_cell + level.reach);
    let low = vec3<i32>(floor(at - around));
    let high = vec3<i32>(floor(at + around));
    return Block(low, high, slabs_of(power, segment, level.time_power), low, 0u);
}

// Cells of one row of a level, and the sorted proxies in their slots.
struct Piece {
    begin: u32,
    end: u32,
    // Whether it is the rest of the row, in the box; else it is one cell, which may share
    // its slots with others.
    whole: bool,
}

// What there is of a row from a cell on: within the box the row is one range; outside,
// each cell is one.
fn piece_of(level: Level, first: vec3<i32>, high_x: i32, slab: u32) -> Piece {
    let whole = in_box(level, first.x, high_x, first.y, first.z);
    let slot = slot_of(level, first, slab);
    let cells = u32(select(first.x, high_x, whole) - first.x) + 1u;
    return Piece(slot_starts[slot], slot_starts[slot + cells], whole);
}

// Tests a proxy against those in a piece of a level.
fn test_piece(searcher: Searcher, piece: Piece, number: u32, at: vec3<i32>, slab: u32) {
    for (var other = piece.begin; other < piece.end; other++) {
        let proxy = sorted_proxies[searcher.index];
        if !may_touch(proxy, sorted_proxies[other], window_of(searcher.tag, params.dt)) {
            continue;
        }
        if !piece.whole {
            let found = sorted_cells[other];
            if any(found.cell != at) || level_of(found.tag) != number
                || slab_of(found.tag, plan.level[number].time_power) != slab {
                continue;
            }
        }
        filter_and_report(searcher, other);
    }
}

// The cell of a block from which it goes on, row by row, then plane by plane. Past the last
// it is above the block.
fn next_cell(block: Block, at: vec3<i32>, whole_row: bool) -> vec3<i32> {
    var next = at;
    next.x++;
    if whole_row || next.x > block.high.x {
        next = vec3<i32>(block.low.x, at.y + 1, at.z);
    }
    if next.y > block.high.y {
        next = vec3<i32>(next.x, block.low.y, at.z + 1);
    }
    return next;
}

// Tests a proxy against those in some cells of a level, or only counts them. All in one
// loop, for every one around it would take registers.
fn search_block(searcher: Searcher, number: u32, block: Block, tally: ptr<function, vec2<u32>>) {
    var at = block.first;
    var begin = block.begin;
    var slab = block.slabs.x;
    while slab <= block.slabs.y {
        var piece = piece_of(plan.level[number], at, block.high.x, slab);
        piece.begin = max(piece.begin, begin);
        begin = 0u;
        *tally = counted(*tally, piece.end - piece.begin);
        if !TALLY {
            test_piece(searcher, piece, number, at, slab);
        }
        at = next_cell(block, at, piece.whole);
        if at.z > block.high.z {
            at.z = block.low.z;
            slab++;
        }
    }
}

// Tests a proxy against those in reach of it in a level, or only counts them.
fn search_level(searcher: Searcher, number: u32, tally: ptr<function, vec2<u32>>) {
    let level = plan.level[number];
    let own_level = level_of(searcher.tag);
    if are_two_sets() && level.of_set == plan.level[own_level].of_set {
        return;
    }
    var block: Block;
    if number == own_level {
        let cell = sorted_cells[searcher.index].cell;
        if is_inside(level, cell) {
            search_inside(searcher, level, cell, tally);
            return;
        }
        block = own_block(searcher, level, cell);
    } else {
        block = other_block(searcher, level);
    }
    search_block(searcher, number, block, tally);
}

// Tests a proxy against those in reach of it, or only counts them: how many they
// are, low word first.
fn search(index: u32) -> vec2<u32> {
    let tag = sorted_cells[index].tag;
    let searcher = Searcher(index, tag);
    var tally = vec2<u32>(0u);
    // Goes once more round at the end: a driver that ends long loops never
    // comes to it.
    for (var number = level_of(tag); number <= plan.levels; number++) {
        if number == plan.levels {
            if (params.flags & FLAG_WATCH) != 0u {
                atomicAdd(&sh_finished, 1u);
            }
            break;
        }
        search_level(searcher, number, &tally);
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

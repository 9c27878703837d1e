// Finds the candidates of each proxy. The importing kernel declares
// `filter_and_report`, which tests one. If there may be too many, each workgroup first
// counts its own, and tests them only if the count of all is within the limit. Twin of
// `src/cpu/pairs` and `src/cpu/neighbors.rs`, except that the near test replaces the
// ball test.

#import crowd::{may_be_crowded, must_be_crowded}
#import found_pairs::{STAGED, reserve, sh_base, sh_pairs}
#import grid::{in_box, slot_in_box, slot_of}
#import near::{may_touch, window_of}
#import opaque::{opaque3}
#import segments::{middle, path_of, reaches}
#import sorted::{cell_of_stored, proxy_of, tag_of_stored}
#import tag::{level_of, segment_of, segment_power, slab_of}
#import types::{Level}
#needs counters, params, plan, slot_starts, sorted_cells, sorted_proxies

// One of the next constants or STOP.
var<workgroup> sh_task: u32;
const COUNT_AND_TEST = 0u;
// The number of candidates may exceed the limit.
const COUNT = 1u;
// They have counted already.
const TEST = 2u;
const STOP = 3u;
var<workgroup> sh_candidates: array<atomic<u32>, 2>;
var<workgroup> sh_finished: atomic<u32>;

fn refused() -> bool {
    let low = atomicLoad(&counters.candidates[0]);
    let high = atomicLoad(&counters.candidates[1]);
    return high > params.most_candidates_high
        || (high == params.most_candidates_high && low > params.most_candidates_low);
}

fn counted(count: vec2<u32>, more: u32) -> vec2<u32> {
    let low = count.x + more;
    return vec2<u32>(low, count.y + select(0u, 1u, low < more));
}

// Reloading the proxy for each use costs less than keeping it in registers.
struct Searcher {
    index: u32,
    tag: u32,
}

// The candidates in a proxy's own cell and in 13 of the 26 around it: five ranges of
// the sorted proxies, numbered across them from 0 to `count` - 1.
struct Candidates {
    count: u32,
    // Entry k is the number in ranges 0 to k. The total is `count`.
    past: vec4<u32>,
    // Candidate n in range k is sorted proxy n + shift[k] (modulo 2^32).
    // `last_shift` is for the fifth range.
    shift: vec4<u32>,
    last_shift: u32,
}

// With a dynamic vector index instead of select(), compilers move the vector from
// registers to memory.
fn place_of(candidates: Candidates, number: u32) -> u32 {
    let past = candidates.past;
    let shift = candidates.shift;
    let of_two = select(shift.y, shift.x, number < past.x);
    let of_three = select(shift.z, of_two, number < past.y);
    let of_others = select(candidates.last_shift, shift.w, number < past.w);
    return number + select(of_others, of_three, number < past.z);
}

// Of two neighbouring cells on opposite sides, only one is searched, so each pair is
// found once. All cells must be in the box. All slots are loaded first, so that the
// latencies overlap.
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

// A bit mask of 32 candidates from `first` on.
fn near(searcher: Searcher, candidates: Candidates, first: u32) -> u32 {
    let proxy = proxy_of(sorted_proxies[searcher.index]);
    let window = window_of(searcher.tag, params.dt);
    var found = 0u;
    let end = min(candidates.count, first + 32u);
    for (var number = first; number < end; number++) {
        let candidate = proxy_of(sorted_proxies[place_of(candidates, number)]);
        if may_touch(proxy, candidate, window) {
            found |= 1u << (number - first);
        }
    }
    return found;
}

// In batches of 32: first a cheap test of all, then an expensive one of the few that
// pass. So the invocations of a subgroup wait less.
fn test(searcher: Searcher, candidates: Candidates) {
    for (var first = 0u; first < candidates.count; first += 32u) {
        var found = near(searcher, candidates, first);
        while found != 0u {
            filter_and_report(searcher, place_of(candidates, first + firstTrailingBit(found)));
            found &= found - 1u;
        }
    }
}

// With its 26 neighbours.
fn is_inside(level: Level, cell: vec3<i32>) -> bool {
    let at = vec3<u32>(cell - level.origin);
    // The dimensions are 0 without a box.
    return all(at >= vec3<u32>(1u)) && all(at < max(level.dims, vec3<u32>(1u)) - 1u);
}

fn search_inside(searcher: Searcher, level: Level, cell: vec3<i32>, tally: ptr<function, vec2<u32>>) {
    let slot = slot_in_box(level, cell, slab_of(searcher.tag, level.time_power));
    let candidates = own_candidates(searcher.index, level, slot);
    *tally = counted(*tally, candidates.count);
    if sh_task != COUNT {
        test(searcher, candidates);
    }
}

// The first and the last of 2^time_power slabs that overlap one of 2^power segments.
fn slabs_of(power: u32, segment: u32, time_power: u32) -> vec2<u32> {
    if power >= time_power {
        return vec2<u32>(segment >> (power - time_power));
    }
    let shift = time_power - power;
    let first = segment << shift;
    return vec2<u32>(first, first + (1u << shift) - 1u);
}

// From corner `low` to corner `high`, in the slabs from `slabs.x` to `slabs.y`.
struct Block {
    low: vec3<i32>,
    high: vec3<i32>,
    slabs: vec2<u32>,
    // Begins in cell `first`, and skips proxies before `begin`. In its own level, a
    // proxy starts right after itself, so that each pair is found once.
    first: vec3<i32>,
    begin: u32,
}

fn own_block(searcher: Searcher, level: Level, cell: vec3<i32>) -> Block {
    let slab = slab_of(searcher.tag, level.time_power);
    return Block(cell - vec3<i32>(1, 1, 0), cell + 1, vec2<u32>(slab), cell, searcher.index + 1u);
}

// Contains all proxies of another level that may touch: the extents of both on each
// side of the middle.
fn other_block(searcher: Searcher, level: Level) -> Block {
    let proxy = proxy_of(sorted_proxies[searcher.index]);
    let power = segment_power(searcher.tag);
    let segment = segment_of(searcher.tag);
    let path = path_of(proxy.center, proxy.radius, proxy.velocity, plan.frame);
    let at = opaque3(middle(path, power, segment) * level.inverse_cell);
    let around = opaque3(reaches(path, power) * level.inverse_cell + level.reach);
    // Otherwise the coordinates of a distant sphere in a level with small cells
    // might overflow.
    let low = vec3<i32>(clamp(floor(at - around), vec3<f32>(-FAR), vec3<f32>(FAR)));
    let high = vec3<i32>(clamp(floor(at + around), vec3<f32>(-FAR), vec3<f32>(FAR)));
    var block = Block(low, high, slabs_of(power, segment, level.time_power), low, 0u);
    // If no proxy is outside the box, the search is limited to it, where a row of
    // cells is one range.
    if slot_starts[level.first_hashed] == slot_starts[level.first_hashed + level.hash_mask + 1u] {
        block.low = max(low, level.origin);
        block.high = min(high, level.origin + vec3<i32>(level.dims) - 1);
        block.first = block.low;
    }
    return block;
}

struct Piece {
    begin: u32,
    end: u32,
    // If `whole`, of all cells of a row, otherwise of one slot, which several cells
    // may share.
    whole: bool,
}

// Up to x = `high_x` if all these cells are in the box, otherwise only cell `first`.
fn piece_of(level: Level, first: vec3<i32>, high_x: i32, slab: u32) -> Piece {
    let whole = in_box(level, first.x, high_x, first.y, first.z);
    let slot = slot_of(level, first, slab);
    let cells = u32(select(first.x, high_x, whole) - first.x) + 1u;
    return Piece(slot_starts[slot], slot_starts[slot + cells], whole);
}

fn test_piece(searcher: Searcher, piece: Piece, number: u32, at: vec3<i32>, slab: u32) {
    for (var other = piece.begin; other < piece.end; other++) {
        let proxy = proxy_of(sorted_proxies[searcher.index]);
        if !may_touch(proxy, proxy_of(sorted_proxies[other]), window_of(searcher.tag, params.dt)) {
            continue;
        }
        // Of other cells that share the slot.
        if !piece.whole {
            let found = sorted_cells[other];
            if any(cell_of_stored(found) != at) || level_of(tag_of_stored(found)) != number
                || slab_of(tag_of_stored(found), plan.level[number].time_power) != slab {
                continue;
            }
        }
        filter_and_report(searcher, other);
    }
}

// Row by row and plane by plane. At the end, z is above the block.
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

// A single loop takes fewer registers than nested ones.
fn search_block(searcher: Searcher, number: u32, block: Block, tally: ptr<function, vec2<u32>>) {
    var at = block.first;
    var begin = block.begin;
    var slab = block.slabs.x;
    let is_empty = any(block.low > block.high);
    while slab <= block.slabs.y && !is_empty {
        var piece = piece_of(plan.level[number], at, block.high.x, slab);
        piece.begin = max(piece.begin, begin);
        begin = 0u;
        *tally = counted(*tally, piece.end - piece.begin);
        if sh_task != COUNT {
            test_piece(searcher, piece, number, at, slab);
        }
        at = next_cell(block, at, piece.whole);
        if at.z > block.high.z {
            at.z = block.low.z;
            slab++;
        }
    }
}

fn search_level(searcher: Searcher, number: u32, tally: ptr<function, vec2<u32>>) {
    let level = plan.level[number];
    var block: Block;
    if number == level_of(searcher.tag) {
        let cell = cell_of_stored(sorted_cells[searcher.index]);
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

// Returns the number of candidates, low word first.
fn search(index: u32) -> vec2<u32> {
    let tag = tag_of_stored(sorted_cells[index]);
    let searcher = Searcher(index, tag);
    var tally = vec2<u32>(0u);
    // One more iteration only counts the invocation as finished. If too few are, a
    // driver has ended a loop early.
    for (var number = 0u; number <= plan.levels; number++) {
        if number == plan.levels {
            if (params.flags & FLAG_WATCH) != 0u {
                atomicAdd(&sh_finished, 1u);
            }
            break;
        }
        let bit = 1u << (number % 32u);
        if (plan.level[level_of(tag)].searched[number / 32u] & bit) != 0u {
            search_level(searcher, number, &tally);
        }
    }
    return tally;
}

fn count_candidates(tally: vec2<u32>) {
    let before = atomicAdd(&sh_candidates[0], tally.x);
    let carry = counted(vec2<u32>(before, tally.y), tally.x).y;
    if carry > 0u {
        atomicAdd(&sh_candidates[1], carry);
    }
}

// Additions to one word of global memory are serialized.
fn count_candidates_for_all() {
    let tally = vec2<u32>(atomicLoad(&sh_candidates[0]), atomicLoad(&sh_candidates[1]));
    if any(tally != vec2<u32>(0u)) {
        let before = atomicAdd(&counters.candidates[0], tally.x);
        let carry = counted(vec2<u32>(before, tally.y), tally.x).y;
        if carry > 0u {
            atomicAdd(&counters.candidates[1], carry);
        }
    }
}

// After all its invocations have finished a search.
fn next_task() {
    if sh_task != TEST {
        count_candidates_for_all();
    }
    if sh_task == COUNT && !refused() && !must_be_crowded() {
        // The search that only counted has increased it, too.
        atomicStore(&sh_finished, 0u);
        sh_task = TEST;
        return;
    }
    sh_task = STOP;
    if atomicLoad(&sh_finished) > 0u {
        atomicAdd(&counters.finished, atomicLoad(&sh_finished));
    }
    if atomicLoad(&sh_pairs) > 0u {
        sh_base = reserve(min(atomicLoad(&sh_pairs), STAGED));
    }
}

fn search_all(index: u32, local: u32) {
    if local == 0u && may_be_crowded() {
        sh_task = COUNT;
    }
    while workgroupUniformLoad(&sh_task) != STOP {
        if index < plan.sorted {
            let tally = search(index);
            if sh_task != TEST {
                count_candidates(tally);
            }
        }
        workgroupBarrier();
        if local == 0u {
            next_task();
        }
    }
}

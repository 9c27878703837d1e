// Which size ranges become one level: the best division, by dynamic programming.
// Twin of `src/cpu/plan/levels.rs`.

#import plan_ranges::{SizeRange, merged, one_set, sh_range, share_level}
#import space::{cell_edge, others}

// Cost of the level from each range to the current end, and all before it.
var<workgroup> sh_cost: array<f32, MAX_LEVELS>;
// Proxies before each range; least cost up to each end; where its last level
// begins.
var<workgroup> sh_before: array<f32, MAX_LEVELS + 1>;
var<workgroup> sh_best: array<f32, MAX_LEVELS + 1>;
var<workgroup> sh_first: array<u32, MAX_LEVELS + 1>;
// The ranges of each level: from .x to before .y.
var<workgroup> sh_level: array<vec2<u32>, MAX_LEVELS>;
var<workgroup> sh_level_count: u32;

// Begins the search for the best cut.
fn begin_cut(ranges: u32) {
    sh_before[0] = 0.0;
    sh_best[0] = 0.0;
    for (var range = 0u; range < ranges; range++) {
        sh_before[range + 1u] = sh_before[range] + sh_range[range].proxies;
    }
}

// What a level is expected to cost, and all `before` it.
fn cost_up_to(before: f32, level: SizeRange) -> f32 {
    let proxies = level.proxies;
    let slab = proxies / f32(1u << level.power);
    let cell = cell_edge(slab, level.half_cell);
    let own = proxies * (OWN_RANGES * SEARCH_COST + 0.5 * others(slab, 1.5 * cell)) * one_set();
    let from_finer = level.finer * (COARSER_RANGES * SEARCH_COST + others(proxies, cell));
    return before + own + from_finer;
}

// The best cut up to each end, from the best cuts up to the ends before it. Each
// thread has the level that begins with its range.
fn find_best_cut(ranges: u32, thread: u32) {
    var level_so_far: SizeRange;
    for (var end = 1u; end <= ranges; end++) {
        if thread < end {
            let last = sh_range[end - 1u];
            if thread == end - 1u {
                level_so_far = last;
            } else {
                level_so_far = merged(level_so_far, last);
            }
            let cost = cost_up_to(sh_best[thread], level_so_far);
            sh_cost[thread] = select(GREATEST, cost, share_level(thread, end - 1u));
        }
        workgroupBarrier();
        if thread == 0u {
            var first = end - 1u;
            for (var k = 0u; k < end; k++) {
                if sh_cost[k] < sh_cost[first] {
                    first = k;
                }
            }
            sh_best[end] = sh_cost[first];
            sh_first[end] = first;
        }
        workgroupBarrier();
    }
}

// Lists the levels of the best cut.
fn list_levels(ranges: u32) {
    var levels = 0u;
    for (var end = ranges; end > 0u; end = sh_first[end]) {
        levels++;
    }
    sh_level_count = levels;
    for (var end = ranges; end > 0u; end = sh_first[end]) {
        levels--;
        sh_level[levels] = vec2<u32>(sh_first[end], end);
    }
}

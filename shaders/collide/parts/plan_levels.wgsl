// Distributes the size ranges among levels, at the least expected cost, by dynamic programming. Twin of
// `src/cpu/plan/levels.rs`.

#import plan_ranges::{SizeRange, merged, one_set, sh_range, share_level}
#import space::{cell_edge, others}

// Entry k is the least cost of a division of the first n size ranges whose last level
// begins with range k, for one n after another.
var<workgroup> sh_cost: array<f32, MAX_LEVELS>;
var<workgroup> sh_before: array<f32, MAX_LEVELS + 1>;
// For the first n size ranges: the least cost, and the first range of the last level.
var<workgroup> sh_best: array<f32, MAX_LEVELS + 1>;
var<workgroup> sh_first: array<u32, MAX_LEVELS + 1>;
// From range .x up to, but not including, .y.
var<workgroup> sh_level: array<vec2<u32>, MAX_LEVELS>;
var<workgroup> sh_level_count: u32;

fn begin_cut(ranges: u32) {
    sh_before[0] = 0.0;
    sh_best[0] = 0.0;
    for (var range = 0u; range < ranges; range++) {
        sh_before[range + 1u] = sh_before[range] + sh_range[range].proxies;
    }
}

fn cost_up_to(before: f32, level: SizeRange) -> f32 {
    let proxies = level.proxies;
    let slab = proxies / f32(1u << level.power);
    let cell = cell_edge(slab, level.half_cell);
    let own = proxies * (OWN_RANGES * SEARCH_COST + 0.5 * others(slab, 1.5 * cell)) * one_set();
    let from_finer = level.finer * (COARSER_RANGES * SEARCH_COST + others(proxies, cell));
    return before + own + from_finer;
}

// Thread k computes the divisions whose last level begins with range k.
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
        // Before the next iteration overwrites sh_cost.
        workgroupBarrier();
    }
}

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

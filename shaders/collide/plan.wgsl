// Chooses the levels of the step, their cells, and their slots. Dispatched as one
// workgroup. Twin of `src/cpu/plan`.

#import plan_layout::{best_layout, cheapest, lay_out, sh_layout}
#import plan_levels::{begin_cut, find_best_cut, list_levels, sh_before, sh_level, sh_level_count}
#import plan_ranges::{CLASSES_EACH, SizeRange, THREADS, sh_range, sh_ranges_of}
#import plan_ranges::{count_finer, count_parted, count_ranges, finest_ranges, make_ranges, merged}
#import plan_ranges::{lowest_bit, used_classes, without}
#import plan_searches::{find_finer, sh_side, side_of, write_cells, write_searches}
#import space::{sh_log_others}
#import types::{Counters, Level, Params, Plan, SizeClass, Space}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> space: Space;
@group(0) @binding(2) var<storage, read_write> counters: Counters;
@group(0) @binding(3) var<storage, read_write> size_classes: array<SizeClass>;
@group(0) @binding(4) var<storage, read_write> plan: Plan;

var<workgroup> sh_range_count: u32;
var<workgroup> sh_edge: array<f32, MAX_LEVELS>;
// Finest first.
var<workgroup> sh_slots_of: array<u32, MAX_LEVELS>;
var<workgroup> sh_place: array<u32, MAX_LEVELS>;

fn ranges_of_level(number: u32) -> SizeRange {
    let from_to = sh_level[number];
    var all = sh_range[from_to.x];
    for (var k = from_to.x + 1u; k < from_to.y; k++) {
        all = merged(all, sh_range[k]);
    }
    return all;
}

// In proportion to the proxies. Each level also gets at least MIN_HASHED_SLOTS.
fn share_of_slots(level: SizeRange, ranges: u32) -> f32 {
    let available = f32(params.slots) - f32(ranges * 2u * MIN_HASHED_SLOTS);
    return available * (level.proxies / sh_before[ranges]) * USABLE_SLOTS;
}

// In the order of cell edges.
fn place_level(level: Level, levels: u32, thread: u32) {
    var place = 0u;
    for (var k = 0u; k < levels; k++) {
        let before = sh_edge[k] < sh_edge[thread] || (sh_edge[k] == sh_edge[thread] && k < thread);
        place += select(0u, 1u, before);
    }
    sh_place[thread] = place;
    sh_slots_of[place] = level.first_hashed + level.hash_mask + 1u;
}

// The slots begin after those of the levels before.
fn write_level(counted_from_0: Level, levels: u32, place: u32) {
    var level = counted_from_0;
    var first_slot = 0u;
    for (var k = 0u; k < place; k++) {
        first_slot += sh_slots_of[k];
    }
    level.first_slot = first_slot;
    level.first_hashed += first_slot;
    plan.level[place] = level;
    if place == levels - 1u {
        plan.slots = first_slot + sh_slots_of[place];
    }
}

// The first level whose last class is not smaller.
fn write_levels_of_classes(used: vec4<u32>, levels: u32, thread: u32) {
    var rest = used;
    while any(rest != vec4<u32>(0u)) {
        let bit = lowest_bit(rest);
        rest = without(rest, bit);
        let size_class = thread * CLASSES_EACH + bit;
        var number = 0u;
        while number + 1u < levels && size_class > sh_range[sh_level[number].y - 1u].last_class {
            number++;
        }
        plan.level_of_size_class[size_class] = sh_place[number];
    }
}

fn write_totals(levels: u32) {
    plan.levels = levels;
    plan.frame = space.frame;
    // If segments overflow, the plan has no spheres. The following stages do
    // nothing, and `results` reports it.
    let segments = atomicLoad(&counters.segments[0]);
    let fits = atomicLoad(&counters.segments[1]) == 0u && segments <= params.segment_capacity;
    plan.proxies = select(0u, params.spheres + segments, fits);
    plan.sorted = select(0u, plan.proxies - atomicLoad(&counters.invalid), fits);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(local_invocation_index) thread: u32) {
    for (var octave = thread; octave < OCTAVES; octave += THREADS) {
        sh_log_others[octave] = space.log_others[octave];
    }
    let used = used_classes(thread);
    count_parted(used);
    workgroupBarrier();
    let finest = finest_ranges();
    if thread == 0u {
        sh_range_count = finest.y;
    }
    sh_ranges_of[thread] = count_ranges(used, finest.x);
    // The following loops contain barriers, so all invocations must do the same
    // number of iterations.
    let ranges = workgroupUniformLoad(&sh_range_count);
    make_ranges(used, finest.x, thread);
    workgroupBarrier();
    if thread < ranges {
        count_finer(thread, ranges);
    }
    if thread == 0u {
        begin_cut(ranges);
    }
    workgroupBarrier();
    find_best_cut(ranges, thread);
    if thread == 0u {
        list_levels(ranges);
    }
    // Contains the barrier after thread 0 has written sh_level.
    let levels = workgroupUniformLoad(&sh_level_count);

    var own: SizeRange;
    var share = 0.0;
    if levels > 0u {
        own = ranges_of_level(thread % levels);
        share = share_of_slots(own, ranges);
        let parts = THREADS / levels;
        if thread < levels * parts {
            sh_layout[thread] = cheapest(own, ranges, share, thread / levels, parts);
        }
    }
    workgroupBarrier();
    var level: Level;
    if thread < levels {
        level = lay_out(own, best_layout(own, levels, thread), share);
        sh_edge[thread] = level.cell;
    }
    workgroupBarrier();
    if thread < levels {
        place_level(level, levels, thread);
    }
    workgroupBarrier();
    if thread < levels {
        write_level(level, levels, sh_place[thread]);
        sh_side[sh_place[thread]] = side_of(own, level);
    }
    storageBarrier();
    workgroupBarrier();
    if thread < levels {
        find_finer(thread);
    }
    workgroupBarrier();
    if thread < levels {
        write_searches(thread, levels);
    }
    workgroupBarrier();
    write_levels_of_classes(used, levels, thread);
    if thread == 0u {
        write_totals(levels);
        write_cells(levels);
    }
}

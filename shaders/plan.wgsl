// Which levels there are, and where each has its slots. One workgroup.
// Twin of `src/cpu/plan`, which tells more of the why.

#import grid::{cell_of}
#import sets::{are_two_sets}
#import size_class::{size_class_power, size_class_set}
#import sortable::{from_sortable}
#import space::{cell_edge, others, sh_log_others}
#import types::{Counters, Level, Params, Plan, SizeClass, Space}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> space: Space;
@group(0) @binding(2) var<storage, read_write> counters: Counters;
@group(0) @binding(3) var<storage, read_write> size_classes: array<SizeClass>;
@group(0) @binding(4) var<storage, read_write> plan: Plan;

const THREADS = MAX_LEVELS;
// Size classes of one thread: as many as a vec4<u32> has bits.
const CLASSES_EACH = SIZE_CLASSES / THREADS;
const_assert CLASSES_EACH == 128u;

// Neighbouring size classes of one set and one power of segments that are not all empty;
// or the size ranges of a level together.
struct SizeRange {
    proxies: f32,
    inside: f32,
    half_cell: f32,
    low: vec3<f32>,
    high: vec3<f32>,
    last_class: u32,
    // The least, of several ranges.
    power: u32,
    // The set its spheres are of.
    of_set: u32,
    // Half the edge of the smallest cells from which these are searched: in one set that
    // of the smallest range, between two sets that of the largest.
    reference: f32,
    // Proxies of all smaller ranges that search for these.
    finer: f32,
}

// A way to lay out a level: what it is expected to cost, its number, from which
// layout_power() and layout_box() tell what it is, and the edge of its cells.
struct Layout {
    cost: f32,
    number: u32,
    cell: f32,
}

// Size ranges that are not empty, in the order of these: by set, by power of segments,
// and then finest first.
var<workgroup> sh_range: array<SizeRange, MAX_LEVELS>;
// Size classes in use that come to lie in one range with the class in use before them
// when ranges of 1, 2, 4 … classes become twice as large; the last, never.
var<workgroup> sh_parted: array<atomic<u32>, MAX_RANGE_SHIFT + 1>;
// How many ranges there are, and how many begin in the size classes of each thread.
var<workgroup> sh_range_count: u32;
var<workgroup> sh_ranges_of: array<u32, THREADS>;
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
// The cheapest of the layouts that each thread has weighed: thread t is for level
// number t modulo the number of levels.
var<workgroup> sh_layout: array<Layout, THREADS>;
// Edges of the levels' cells; by place in the order of these, slots of a level,
// and for each level its place.
var<workgroup> sh_edge: array<f32, MAX_LEVELS>;
var<workgroup> sh_slots_of: array<u32, MAX_LEVELS>;
var<workgroup> sh_place: array<u32, MAX_LEVELS>;

// 0 when only pairs between two sets count, so that no level is searched for its
// own; else 1.
fn one_set() -> f32 {
    return select(1.0, 0.0, are_two_sets());
}

// ---- Size classes in use: bits of a thread's own ones.

// The number of the lowest bit, which there has to be.
fn lowest_bit(used: vec4<u32>) -> u32 {
    var word = 0u;
    while word < 3u && used[word] == 0u {
        word++;
    }
    return word * 32u + firstTrailingBit(used[word]);
}

// The others when one is taken away.
fn without(used: vec4<u32>, bit: u32) -> vec4<u32> {
    var rest = used;
    rest[bit / 32u] &= ~(1u << (bit % 32u));
    return rest;
}

fn used_classes(thread: u32) -> vec4<u32> {
    let first_word = thread * (CLASSES_EACH / 32u);
    return vec4<u32>(
        atomicLoad(&counters.used[first_word]),
        atomicLoad(&counters.used[first_word + 1u]),
        atomicLoad(&counters.used[first_word + 2u]),
        atomicLoad(&counters.used[first_word + 3u]),
    );
}

// ---- Size ranges.

// Counts in sh_parted.
fn count_parted(used: vec4<u32>) {
    var rest = used;
    var previous = CLASSES_EACH;
    while any(rest != vec4<u32>(0u)) {
        let bit = lowest_bit(rest);
        rest = without(rest, bit);
        // No range is of more size classes than a thread has.
        atomicAdd(&sh_parted[min(firstLeadingBit(bit ^ previous), MAX_RANGE_SHIFT)], 1u);
        previous = bit;
    }
}

// The finest ranges that are no more than there can be levels: their shift, when each is
// of 2^shift size classes, and how many they are.
fn finest_ranges() -> vec2<u32> {
    var shift = MAX_RANGE_SHIFT;
    var most = atomicLoad(&sh_parted[MAX_RANGE_SHIFT]);
    while shift > 0u && most + atomicLoad(&sh_parted[shift - 1u]) <= MAX_LEVELS {
        shift--;
        most += atomicLoad(&sh_parted[shift]);
    }
    return vec2<u32>(shift, most);
}

// Ranges of 2^shift size classes that are not all empty, of a thread's own.
fn count_ranges(used: vec4<u32>, shift: u32) -> u32 {
    var ranges = 0u;
    var rest = used;
    var previous = CLASSES_EACH;
    while any(rest != vec4<u32>(0u)) {
        let bit = lowest_bit(rest);
        rest = without(rest, bit);
        ranges += select(0u, 1u, (bit >> shift) != (previous >> shift));
        previous = bit;
    }
    return ranges;
}

// A range that is still empty, which begins with this size class.
fn empty_range(size_class: u32, last_class: u32) -> SizeRange {
    return SizeRange(
        0.0,
        0.0,
        0.0,
        vec3<f32>(GREATEST),
        vec3<f32>(-GREATEST),
        last_class,
        size_class_power(size_class),
        size_class_set(size_class),
        0.0,
        0.0,
    );
}

// A range with one more size class.
fn with_class(range: SizeRange, size_class: u32) -> SizeRange {
    var more = range;
    more.proxies += f32(atomicLoad(&size_classes[size_class].count));
    more.inside += f32(atomicLoad(&size_classes[size_class].inside));
    more.half_cell = max(more.half_cell, bitcast<f32>(atomicLoad(&size_classes[size_class].half_cell)));
    more.reference = more.half_cell;
    for (var axis = 0u; axis < 3u; axis++) {
        more.low[axis] = min(more.low[axis], -from_sortable(atomicLoad(&size_classes[size_class].low[axis])));
        more.high[axis] = max(more.high[axis], from_sortable(atomicLoad(&size_classes[size_class].high[axis])));
    }
    return more;
}

// Makes the ranges of a thread's own size classes.
fn make_ranges(used: vec4<u32>, shift: u32, thread: u32) {
    var at = 0u;
    for (var before = 0u; before < thread; before++) {
        at += sh_ranges_of[before];
    }
    var range: SizeRange;
    range.last_class = SIZE_CLASSES;
    var rest = used;
    while any(rest != vec4<u32>(0u)) {
        let bit = lowest_bit(rest);
        rest = without(rest, bit);
        let size_class = thread * CLASSES_EACH + bit;
        let last_class = size_class | ((1u << shift) - 1u);
        if last_class != range.last_class {
            range = empty_range(size_class, last_class);
            at++;
        }
        range = with_class(range, size_class);
        sh_range[at - 1u] = range;
    }
}

// Whether the proxies of one range search for those of another, and not these for
// them; between two sets, those of one size may do either.
fn searches_for(range: u32, of_set: u32, reference: f32) -> bool {
    let half_cell = sh_range[range].half_cell;
    if are_two_sets() {
        return sh_range[range].of_set != of_set && half_cell <= reference;
    }
    return half_cell < reference;
}

// Sets what is known of a range only when there are all.
fn count_finer(range: u32, ranges: u32) {
    var finer = 0.0;
    for (var k = 0u; k < ranges; k++) {
        finer += select(0.0, sh_range[k].proxies, searches_for(k, sh_range[range].of_set, sh_range[range].reference));
    }
    sh_range[range].finer = finer;
}

// Two ranges in one level.
fn merged(range: SizeRange, other: SizeRange) -> SizeRange {
    var both = range;
    both.proxies += other.proxies;
    both.inside += other.inside;
    both.half_cell = max(both.half_cell, other.half_cell);
    both.low = min(both.low, other.low);
    both.high = max(both.high, other.high);
    both.power = min(both.power, other.power);
    let one = !are_two_sets();
    if select(both.reference, other.reference, one) < select(other.reference, both.reference, one) {
        both.reference = other.reference;
        both.finer = other.finer;
    }
    return both;
}

// ---- Levels, each of one range or several in a row.

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

// Whether both ranges may be in one level: of one set, and none that are not cut with such
// as are.
fn share_level(range: u32, other: u32) -> bool {
    return sh_range[range].of_set == sh_range[other].of_set
        && (sh_range[range].power > 0u) == (sh_range[other].power > 0u);
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

// All ranges of a level.
fn ranges_of_level(number: u32) -> SizeRange {
    let from_to = sh_level[number];
    var all = sh_range[from_to.x];
    for (var k = from_to.x + 1u; k < from_to.y; k++) {
        all = merged(all, sh_range[k]);
    }
    return all;
}

// How many of the slots a level may have.
fn share_of_slots(level: SizeRange, ranges: u32) -> f32 {
    let available = f32(params.slots) - f32(ranges * 2u * MIN_HASHED_SLOTS);
    return available * (level.proxies / sh_before[ranges]) * USABLE_SLOTS;
}

// ---- Layouts of a level.

// The step is divided into 2^this time slabs.
fn layout_power(number: u32) -> u32 {
    return number / 3u;
}

const BOX_AROUND_ALL = 0u;
const BOX_AROUND_MOST = 1u;
const ONLY_A_HASH = 2u;

fn layout_box(number: u32) -> u32 {
    return number % 3u;
}

// Of two, the cheaper one, or else the one that comes first.
fn cheaper(one: Layout, other: Layout) -> Layout {
    if other.cost < one.cost || (other.cost == one.cost && other.number < one.number) {
        return other;
    }
    return one;
}

// The least edge, from `edge` up, with which the box has at most `slots` cells;
// 0 if there is none.
fn fit(low: vec3<f32>, high: vec3<f32>, edge: f32, slots: f32) -> f32 {
    let extent = high - low;
    if min(min(extent.x, extent.y), extent.z) < 0.0 {
        return 0.0;
    }
    var cell = edge;
    for (var k = 0u; k < CELL_GROWTH_STEPS; k++) {
        let cells = extent / cell + 4.0;
        if cells.x * cells.y * cells.z <= slots {
            return cell;
        }
        cell *= CELL_GROWTH;
    }
    return 0.0;
}

// The share of slots for what is outside a box around most.
fn hashed_of(level: SizeRange, share: f32) -> f32 {
    return share * clamp(1.0 - level.inside / level.proxies, MIN_HASHED_SHARE, 1.0);
}

// The least power of segments of the ranges that search for those of a level.
fn least_power_of_searchers(level: SizeRange, ranges: u32) -> u32 {
    var least = SEGMENT_BITS;
    for (var k = 0u; k < ranges; k++) {
        if searches_for(k, level.of_set, level.reference) {
            least = min(least, sh_range[k].power);
        }
    }
    return least;
}

// The edge of a layout's cells, 0 if there is no such layout; and the part of its proxies
// that are outside the box.
struct Fitted {
    cell: f32,
    part_hashed: f32,
}

fn fit_layout(level: SizeRange, number: u32, share: f32) -> Fitted {
    let slabs = f32(1u << layout_power(number));
    let edge = cell_edge(level.proxies / slabs, level.half_cell);
    if layout_box(number) == BOX_AROUND_ALL {
        return Fitted(fit(level.low, level.high, edge, share / slabs), 0.0);
    }
    if layout_box(number) == BOX_AROUND_MOST {
        let outside = 1.0 - level.inside / level.proxies;
        if outside >= 1.0 {
            return Fitted(0.0, outside);
        }
        let low = max(level.low, space.trimmed_low);
        let high = min(level.high, space.trimmed_high);
        return Fitted(fit(low, high, edge, (share - hashed_of(level, share)) / slabs), outside);
    }
    return Fitted(edge, 1.0);
}

// What a layout with 2^power time slabs is expected to cost.
fn cost_of_layout(level: SizeRange, ranges: u32, power: u32, fitted: Fitted) -> f32 {
    let slabs = f32(1u << power);
    let cell = fitted.cell;
    let search = mix(OWN_RANGES * SEARCH_COST, HASHED_OWN_RANGES * HASHED_SEARCH_COST, fitted.part_hashed);
    let search_coarser =
        mix(COARSER_RANGES * SEARCH_COST, HASHED_COARSER_RANGES * HASHED_SEARCH_COST, fitted.part_hashed);
    var cost = level.proxies * (search + 0.5 * others(level.proxies, 1.5 * cell) / slabs) * one_set();
    let met = others(level.proxies, cell);
    for (var k = 0u; k < ranges; k++) {
        if searches_for(k, level.of_set, level.reference) {
            // One that has longer segments searches several slabs, all it meets there
            // being as many as in its own time.
            let searches = f32(1u << (max(power, sh_range[k].power) - sh_range[k].power));
            cost += sh_range[k].proxies
                * (search_coarser * searches + met / f32(1u << min(power, sh_range[k].power)));
        }
    }
    return cost;
}

// The cheapest layout of a level, of every `parts`th from number `part` on.
fn cheapest(level: SizeRange, ranges: u32, share: f32, part: u32, parts: u32) -> Layout {
    let longest = least_power_of_searchers(level, ranges);
    var best = Layout(GREATEST, ONLY_A_HASH, 0.0);
    let layouts = 3u * (min(level.power, longest + MAX_SLABS_POWER) + 1u);
    for (var number = part; number < layouts; number += parts) {
        let fitted = fit_layout(level, number, share);
        if fitted.cell == 0.0 {
            continue;
        }
        let cost = cost_of_layout(level, ranges, layout_power(number), fitted);
        if cost < best.cost {
            best = Layout(cost, number, fitted.cell);
        }
    }
    return best;
}

// The cheapest layout of level number `thread`, of those that several threads have weighed.
fn best_layout(level: SizeRange, levels: u32, thread: u32) -> Layout {
    var chosen = sh_layout[thread];
    for (var part = 1u; part < min(THREADS / levels, 3u * (level.power + 1u)); part++) {
        chosen = cheaper(chosen, sh_layout[part * levels + thread]);
    }
    return chosen;
}

// Gives a level its time slabs, cells and slots, these counted from 0, and at
// most `share` of them. `ranges` are all of its ranges.
fn lay_out(ranges: SizeRange, chosen: Layout, share: f32) -> Level {
    var level: Level;
    level.of_set = ranges.of_set;
    level.cell = chosen.cell;
    level.inverse_cell = 1.0 / level.cell;
    level.reach = ranges.half_cell * level.inverse_cell;
    level.time_power = layout_power(chosen.number);
    var hashed = share;
    if layout_box(chosen.number) != ONLY_A_HASH {
        var low = ranges.low;
        var high = ranges.high;
        hashed = 0.0;
        if layout_box(chosen.number) == BOX_AROUND_MOST {
            low = max(low, space.trimmed_low);
            high = min(high, space.trimmed_high);
            hashed = hashed_of(ranges, share);
        }
        // One more on each side, so that most rows lie within.
        level.origin = cell_of(level, low) - 1;
        level.dims = vec3<u32>(cell_of(level, high) - level.origin + 2);
    }
    level.first_hashed = (level.dims.x * level.dims.y * level.dims.z) << level.time_power;
    level.hash_mask = (1u << firstLeadingBit(max(u32(hashed), MIN_HASHED_SLOTS))) - 1u;
    return level;
}

// ---- What is written.

// Finds a level's place in the order of cells. A proxy searches the levels after its own:
// cheap when these are coarser.
fn place_level(level: Level, levels: u32, thread: u32) {
    var place = 0u;
    for (var k = 0u; k < levels; k++) {
        let before = sh_edge[k] < sh_edge[thread] || (sh_edge[k] == sh_edge[thread] && k < thread);
        place += select(0u, 1u, before);
    }
    sh_place[thread] = place;
    sh_slots_of[place] = level.first_hashed + level.hash_mask + 1u;
}

// Writes a level whose slots are counted from 0, in its place.
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

// Writes for each of a thread's size classes in use the first level that does not end
// before it.
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
    // When the segments do not fit, the host runs the step again: do
    // nothing now.
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
    // The same for all, and so known to be by the compiler: there are barriers in
    // the loop over them.
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
    let levels = workgroupUniformLoad(&sh_level_count);

    // All threads share out the levels and their layouts.
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
    }
    write_levels_of_classes(used, levels, thread);
    if thread == 0u {
        write_totals(levels);
    }
}

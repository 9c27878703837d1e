// Which levels there are, and where each has its slots. One workgroup.
// Twin of `src/cpu/plan.rs`, which tells more of the why.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> space: Space;
@group(0) @binding(2) var<storage, read_write> counters: Counters;
@group(0) @binding(3) var<storage, read_write> bins: array<Bin>;
@group(0) @binding(4) var<storage, read_write> plan: Plan;

const THREADS = MAX_LEVELS;
const BINS_EACH = BINS / THREADS;
const_assert BINS_EACH == 128u;

struct Group {
    proxies: f32,
    inside: f32,
    half_cell: f32,
    low: vec3<f32>,
    high: vec3<f32>,
    last_bin: u32,
    // The least, of several groups.
    power: u32,
    // The set its spheres are of.
    of_set: u32,
    // Half of the cell that tells who looks for these: in one set that of the
    // smallest group, between two sets that of the largest.
    reference: f32,
    // Proxies of all smaller groups that look for these.
    finer: f32,
}

// A way to lay out a level: what it is expected to cost, its number, from which
// layout_power() and layout_box() tell what it is, and the edge of its cells.
struct Layout {
    cost: f32,
    number: u32,
    cell: f32,
}

// Two groups in one level.
fn merged(group: Group, other: Group) -> Group {
    var both = group;
    both.proxies += other.proxies;
    both.inside += other.inside;
    both.half_cell = max(both.half_cell, other.half_cell);
    both.low = min(both.low, other.low);
    both.high = max(both.high, other.high);
    both.power = min(both.power, other.power);
    let one = params.split == 0u;
    if select(both.reference, other.reference, one) < select(other.reference, both.reference, one) {
        both.reference = other.reference;
        both.finer = other.finer;
    }
    return both;
}

// Groups of neighbouring bins that are not empty, in the order of these: by set, by
// power of segments, and then finest first.
var<workgroup> sh_group: array<Group, MAX_LEVELS>;
// Bins in use that come to lie in one group with the bin in use before them when
// groups of 1, 2, 4 … bins become twice as large; the last, never.
var<workgroup> sh_parted: array<atomic<u32>, LAST_SHIFT + 1>;
// Groups there are, and those of each thread.
var<workgroup> sh_groups: u32;
var<workgroup> sh_groups_of: array<u32, THREADS>;
// Cost of the level from each group to the current end, and all before it.
var<workgroup> sh_cost: array<f32, MAX_LEVELS>;
// Proxies before each group; least cost up to each end; where its last level
// begins.
var<workgroup> sh_before: array<f32, MAX_LEVELS + 1>;
var<workgroup> sh_best: array<f32, MAX_LEVELS + 1>;
var<workgroup> sh_first: array<u32, MAX_LEVELS + 1>;
// The groups of each level: from .x to before .y.
var<workgroup> sh_level: array<vec2<u32>, MAX_LEVELS>;
var<workgroup> sh_levels: u32;
// The cheapest of the layouts that each thread has weighed: thread t is for level
// number t modulo the number of levels.
var<workgroup> sh_layout: array<Layout, THREADS>;
// Edges of the levels' cells; by place in the order of these, slots of a level,
// and for each level its place.
var<workgroup> sh_edge: array<f32, MAX_LEVELS>;
var<workgroup> sh_slots_of: array<u32, MAX_LEVELS>;
var<workgroup> sh_place: array<u32, MAX_LEVELS>;

// The number of the lowest bit, which there has to be.
fn lowest_bit(used: vec4<u32>) -> u32 {
    var word = 0u;
    while word < 3u && used[word] == 0u {
        word++;
    }
    return word * 32u + firstTrailingBit(used[word]);
}

// Without it.
fn without(used: vec4<u32>, bit: u32) -> vec4<u32> {
    var rest = used;
    rest[bit / 32u] &= ~(1u << (bit % 32u));
    return rest;
}

// Groups of 2^shift bins that are not all empty, of bins by their bits.
fn count_groups(used: vec4<u32>, shift: u32) -> u32 {
    var groups = 0u;
    var rest = used;
    var previous = BINS_EACH;
    while any(rest != vec4<u32>(0u)) {
        let bit = lowest_bit(rest);
        rest = without(rest, bit);
        groups += select(0u, 1u, (bit >> shift) != (previous >> shift));
        previous = bit;
    }
    return groups;
}

// 0 when only pairs between two sets count, so that no level is searched for its
// own; else 1.
fn one_set() -> f32 {
    return select(1.0, 0.0, params.split > 0u);
}

// The least edge, from `edge` up, with which the box has at most `slots` cells;
// 0 if there is none.
fn fit(low: vec3<f32>, high: vec3<f32>, edge: f32, slots: f32) -> f32 {
    let extent = high - low;
    if min(min(extent.x, extent.y), extent.z) < 0.0 {
        return 0.0;
    }
    var cell = edge;
    for (var k = 0u; k < 64u; k++) {
        let cells = extent / cell + 4.0;
        if cells.x * cells.y * cells.z <= slots {
            return cell;
        }
        cell *= 1.125;
    }
    return 0.0;
}

// Whether the proxies of one group look for those of another, and not these for
// them; between two sets, those of one size may do either.
fn looks_for(group: u32, of_set: u32, reference: f32) -> bool {
    let half_cell = sh_group[group].half_cell;
    if params.split > 0u {
        return sh_group[group].of_set != of_set && half_cell <= reference;
    }
    return half_cell < reference;
}

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

// The share of slots for what is outside a box around most.
fn hashed_of(group: Group, share: f32) -> f32 {
    return share * clamp(1.0 - group.inside / group.proxies, 0.25, 1.0);
}

// The cheapest layout of a level, of every `parts`th from number `part` on. `group`
// are all of its groups.
fn cheapest(group: Group, groups: u32, share: f32, part: u32, parts: u32) -> Layout {
    let outside = 1.0 - group.inside / group.proxies;
    var longest = SEGMENT_BITS;
    for (var k = 0u; k < groups; k++) {
        if looks_for(k, group.of_set, group.reference) {
            longest = min(longest, sh_group[k].power);
        }
    }
    var best = Layout(GREATEST, ONLY_A_HASH, 0.0);
    let layouts = 3u * (min(group.power, longest + MOST_SLABS) + 1u);
    for (var number = part; number < layouts; number += parts) {
        let power = layout_power(number);
        let slabs = f32(1u << power);
        let edge = cell_edge(group.proxies / slabs, group.half_cell);
        var cell = edge;
        var part_hashed = 1.0;
        if layout_box(number) == BOX_AROUND_ALL {
            cell = fit(group.low, group.high, edge, share / slabs);
            part_hashed = 0.0;
        } else if layout_box(number) == BOX_AROUND_MOST {
            let low = max(group.low, space.trimmed_low);
            let high = min(group.high, space.trimmed_high);
            cell = fit(low, high, edge, (share - hashed_of(group, share)) / slabs);
            part_hashed = outside;
        }
        if cell == 0.0 || (layout_box(number) == BOX_AROUND_MOST && outside >= 1.0) {
            continue;
        }
        let look = mix(OWN_RANGES * LOOK, OWN_RANGES_HASHED * LOOK_HASHED, part_hashed);
        let look_coarser = mix(COARSER_RANGES * LOOK, COARSER_RANGES_HASHED * LOOK_HASHED, part_hashed);
        var cost = group.proxies * (look + 0.5 * others(group.proxies, 1.5 * cell) / slabs) * one_set();
        let met = others(group.proxies, cell);
        for (var k = 0u; k < groups; k++) {
            if looks_for(k, group.of_set, group.reference) {
                // One that has longer segments looks into several slabs, all it
                // meets there being as many as in its own time.
                let looks = f32(1u << (max(power, sh_group[k].power) - sh_group[k].power));
                cost += sh_group[k].proxies
                    * (look_coarser * looks + met / f32(1u << min(power, sh_group[k].power)));
            }
        }
        if cost < best.cost {
            best = Layout(cost, number, cell);
        }
    }
    return best;
}

// Gives a level its time slabs, cells and slots, these counted from 0, and at
// most `share` of them. `group` are all of its groups.
fn lay_out(group: Group, chosen: Layout, share: f32) -> Level {
    var level: Level;
    level.of_set = group.of_set;
    level.cell = chosen.cell;
    level.inverse_cell = 1.0 / level.cell;
    level.reach = group.half_cell * level.inverse_cell;
    level.time_power = layout_power(chosen.number);
    var hashed = share;
    if layout_box(chosen.number) != ONLY_A_HASH {
        var low = group.low;
        var high = group.high;
        hashed = 0.0;
        if layout_box(chosen.number) == BOX_AROUND_MOST {
            low = max(low, space.trimmed_low);
            high = min(high, space.trimmed_high);
            hashed = hashed_of(group, share);
        }
        // One more on each side, so that most rows lie within.
        level.origin = cell_of(level, low) - 1;
        level.dims = vec3<u32>(cell_of(level, high) - level.origin + 2);
    }
    level.first_hashed = (level.dims.x * level.dims.y * level.dims.z) << level.time_power;
    level.hash_mask = (1u << firstLeadingBit(max(u32(hashed), FEWEST_HASHED))) - 1u;
    return level;
}

@compute @workgroup_size(THREADS)
fn main(@builtin(local_invocation_index) thread: u32) {
    for (var octave = thread; octave < OCTAVES; octave += THREADS) {
        sh_log_others[octave] = space.log_others[octave];
    }
    // The finest groups that are no more than there can be levels.
    let first_word = thread * (BINS_EACH / 32u);
    let used = vec4<u32>(
        atomicLoad(&counters.used[first_word]),
        atomicLoad(&counters.used[first_word + 1u]),
        atomicLoad(&counters.used[first_word + 2u]),
        atomicLoad(&counters.used[first_word + 3u]),
    );
    var rest = used;
    var previous = BINS_EACH;
    while any(rest != vec4<u32>(0u)) {
        let bit = lowest_bit(rest);
        rest = without(rest, bit);
        // No group is of more bins than a thread has.
        atomicAdd(&sh_parted[min(firstLeadingBit(bit ^ previous), LAST_SHIFT)], 1u);
        previous = bit;
    }
    workgroupBarrier();
    var shift = LAST_SHIFT;
    var most = atomicLoad(&sh_parted[LAST_SHIFT]);
    while shift > 0u && most + atomicLoad(&sh_parted[shift - 1u]) <= MAX_LEVELS {
        shift--;
        most += atomicLoad(&sh_parted[shift]);
    }
    if thread == 0u {
        sh_groups = most;
    }
    sh_groups_of[thread] = count_groups(used, shift);
    // The same for all, and so known to be by the compiler: there are barriers in
    // the loop over them.
    let groups = workgroupUniformLoad(&sh_groups);
    var at = 0u;
    for (var before = 0u; before < thread; before++) {
        at += sh_groups_of[before];
    }
    var group: Group;
    group.last_bin = BINS;
    rest = used;
    while any(rest != vec4<u32>(0u)) {
        let bit = lowest_bit(rest);
        rest = without(rest, bit);
        let bin = thread * BINS_EACH + bit;
        let last_bin = bin | ((1u << shift) - 1u);
        if last_bin != group.last_bin {
            group = Group(0.0, 0.0, 0.0, vec3<f32>(GREATEST), vec3<f32>(-GREATEST), last_bin, 0u, 0u, 0.0, 0.0);
            group.power = (bin >> BIN_BITS) & ((1u << POWER_BITS) - 1u);
            group.of_set = bin >> (BIN_BITS + POWER_BITS);
            at++;
        }
        group.proxies += f32(atomicLoad(&bins[bin].count));
        group.inside += f32(atomicLoad(&bins[bin].inside));
        group.half_cell = max(group.half_cell, bitcast<f32>(atomicLoad(&bins[bin].half_cell)));
        group.reference = group.half_cell;
        for (var axis = 0u; axis < 3u; axis++) {
            group.low[axis] = min(group.low[axis], -from_sortable(atomicLoad(&bins[bin].low[axis])));
            group.high[axis] = max(group.high[axis], from_sortable(atomicLoad(&bins[bin].high[axis])));
        }
        sh_group[at - 1u] = group;
    }
    workgroupBarrier();

    if thread < groups {
        var finer = 0.0;
        for (var k = 0u; k < groups; k++) {
            finer += select(0.0, sh_group[k].proxies, looks_for(k, sh_group[thread].of_set, sh_group[thread].reference));
        }
        sh_group[thread].finer = finer;
    }
    if thread == 0u {
        sh_before[0] = 0.0;
        sh_best[0] = 0.0;
        for (var group = 0u; group < groups; group++) {
            sh_before[group + 1u] = sh_before[group] + sh_group[group].proxies;
        }
    }
    workgroupBarrier();
    // The best cut up to each end, from the best cuts up to the ends before it. Each
    // thread has the level that begins with its group.
    var level_so_far: Group;
    for (var end = 1u; end <= groups; end++) {
        if thread < end {
            let last = sh_group[end - 1u];
            if thread == end - 1u {
                level_so_far = last;
            } else {
                level_so_far = merged(level_so_far, last);
            }
            let proxies = level_so_far.proxies;
            let slab = proxies / f32(1u << level_so_far.power);
            let cell = cell_edge(slab, level_so_far.half_cell);
            let own = proxies * (OWN_RANGES * LOOK + 0.5 * others(slab, 1.5 * cell)) * one_set();
            let from_finer = level_so_far.finer * (COARSER_RANGES * LOOK + others(proxies, cell));
            // One set, and none that are not cut with such as are.
            let alike = sh_group[thread].of_set == last.of_set
                && (sh_group[thread].power > 0u) == (last.power > 0u);
            sh_cost[thread] = select(GREATEST, sh_best[thread] + own + from_finer, alike);
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
    if thread == 0u {
        var levels = 0u;
        for (var end = groups; end > 0u; end = sh_first[end]) {
            levels++;
        }
        sh_levels = levels;
        for (var end = groups; end > 0u; end = sh_first[end]) {
            levels--;
            sh_level[levels] = vec2<u32>(sh_first[end], end);
        }
    }
    let levels = workgroupUniformLoad(&sh_levels);

    // All threads share out the levels and their layouts.
    let number = thread % max(levels, 1u);
    let parts = THREADS / max(levels, 1u);
    var own: Group;
    var share = 0.0;
    if levels > 0u {
        let from_to = sh_level[number];
        own = sh_group[from_to.x];
        for (var k = from_to.x + 1u; k < from_to.y; k++) {
            own = merged(own, sh_group[k]);
        }
        let available = f32(params.slots) - f32(groups * 2u * FEWEST_HASHED);
        share = available * (own.proxies / sh_before[groups]) * 0.999;
        if thread < levels * parts {
            sh_layout[thread] = cheapest(own, groups, share, thread / levels, parts);
        }
    }
    workgroupBarrier();
    var level: Level;
    if thread < levels {
        var chosen = sh_layout[thread];
        for (var part = 1u; part < min(parts, 3u * (own.power + 1u)); part++) {
            chosen = cheaper(chosen, sh_layout[part * levels + thread]);
        }
        level = lay_out(own, chosen, share);
        sh_edge[thread] = level.cell;
    }
    workgroupBarrier();
    // A proxy looks into the levels after its own: cheap when these are
    // coarser.
    if thread < levels {
        var place = 0u;
        for (var k = 0u; k < levels; k++) {
            let before = sh_edge[k] < sh_edge[thread] || (sh_edge[k] == sh_edge[thread] && k < thread);
            place += select(0u, 1u, before);
        }
        sh_place[thread] = place;
        sh_slots_of[place] = level.first_hashed + level.hash_mask + 1u;
    }
    workgroupBarrier();
    if thread < levels {
        let place = sh_place[thread];
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
    // Every bin in use: in the first level that does not end before it.
    rest = used;
    while any(rest != vec4<u32>(0u)) {
        let bit = lowest_bit(rest);
        rest = without(rest, bit);
        let bin = thread * BINS_EACH + bit;
        var number = 0u;
        while number + 1u < levels && bin > sh_group[sh_level[number].y - 1u].last_bin {
            number++;
        }
        plan.level_of_bin[bin] = sh_place[number];
    }
    if thread == 0u {
        plan.levels = levels;
        plan.frame = space.frame;
        // When the segments do not fit, the host runs the step again: do
        // nothing now.
        let segments = atomicLoad(&counters.segments[0]);
        let fits = atomicLoad(&counters.segments[1]) == 0u && segments <= params.segment_capacity;
        plan.proxies = select(0u, params.spheres + segments, fits);
        plan.sorted = select(0u, plan.proxies - atomicLoad(&counters.invalid), fits);
    }
}

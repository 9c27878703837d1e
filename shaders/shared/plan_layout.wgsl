// A level's time slabs, cells and slots. Twin of `src/cpu/plan/layout.rs`.

#needs space
#import grid::{cell_of}
#import plan_ranges::{SizeRange, THREADS, one_set, searches_for, sh_range}
#import space::{cell_edge, others}
#import types::{Level}

// A way to lay out a level: what it is expected to cost, its number, from which
// layout_power() and layout_box() tell what it is, and the edge of its cells.
struct Layout {
    cost: f32,
    number: u32,
    cell: f32,
}

// The cheapest of the layouts that each thread has weighed: thread t is for level
// number t modulo the number of levels.
var<workgroup> sh_layout: array<Layout, THREADS>;

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

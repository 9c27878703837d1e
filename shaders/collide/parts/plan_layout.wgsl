// Chooses the layout of a level: its time slabs, the edge of its cells, and its slots. Twin of
// `src/cpu/plan/layout.rs`.

#needs space
#import grid::{cell_of}
#import plan_ranges::{SizeRange, THREADS, one_set, searches_for, sh_range}
#import space::{cell_edge, others}
#import types::{Level}

// `number` encodes the time slabs and the box: around all proxies, around most, or
// none.
struct Layout {
    cost: f32,
    number: u32,
    cell: f32,
}

// The cheapest layout of each thread. With n levels, thread t examines level t modulo
// n.
var<workgroup> sh_layout: array<Layout, THREADS>;

fn layout_power(number: u32) -> u32 {
    return number / 3u;
}

const BOX_AROUND_ALL = 0u;
const BOX_AROUND_MOST = 1u;
const ONLY_A_HASH = 2u;

fn layout_box(number: u32) -> u32 {
    return number % 3u;
}

// At equal costs, that with the lower `number`.
fn cheaper(one: Layout, other: Layout) -> Layout {
    if other.cost < one.cost || (other.cost == one.cost && other.number < one.number) {
        return other;
    }
    return one;
}

// Returns the smallest edge with which the box has at most `slots` cells, or 0.
// CELL_GROWTH_STEPS edges are tried, from `edge` on.
fn fit(low: vec3<f32>, high: vec3<f32>, edge: f32, slots: f32) -> f32 {
    let extent = high - low;
    if min(min(extent.x, extent.y), extent.z) < 0.0 {
        return 0.0;
    }
    var cell = edge;
    for (var k = 0u; k < CELL_GROWTH_STEPS; k++) {
        // 4 more: 1 for partial cells, 2 for one more on each side, and 1 for rounding.
        let cells = extent / cell + 4.0;
        if cells.x * cells.y * cells.z <= slots {
            return cell;
        }
        cell *= CELL_GROWTH;
    }
    return 0.0;
}

// Slots for cells outside a box around most proxies. `share` is the level's number of
// slots.
fn hashed_of(level: SizeRange, share: f32) -> f32 {
    return share * clamp(1.0 - level.inside / level.proxies, MIN_HASHED_SHARE, 1.0);
}

fn least_power_of_searchers(level: SizeRange, ranges: u32) -> u32 {
    var least = SEGMENT_BITS;
    for (var k = 0u; k < ranges; k++) {
        if searches_for(k, level.of_set, level.reference) {
            least = min(least, sh_range[k].power);
        }
    }
    return least;
}

// `cell` is 0 if the layout is impossible. `part_hashed` is the fraction of the proxies
// outside the box.
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
            // A segment searches each slab that it overlaps, but finds no
            // more proxies in all of them together.
            let searches = f32(1u << (max(power, sh_range[k].power) - sh_range[k].power));
            cost += sh_range[k].proxies
                * (search_coarser * searches + met / f32(1u << min(power, sh_range[k].power)));
        }
    }
    return cost;
}

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

fn best_layout(level: SizeRange, levels: u32, thread: u32) -> Layout {
    var chosen = sh_layout[thread];
    for (var part = 1u; part < min(THREADS / levels, 3u * (level.power + 1u)); part++) {
        chosen = cheaper(chosen, sh_layout[part * levels + thread]);
    }
    return chosen;
}

// With at most `share` + MIN_HASHED_SLOTS slots, numbered from 0 until write_level().
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
        // Proxies also search the neighbours of their own cells.
        level.origin = cell_of(level, low) - 1;
        level.dims = vec3<u32>(cell_of(level, high) - level.origin + 2);
    }
    level.first_hashed = (level.dims.x * level.dims.y * level.dims.z) << level.time_power;
    level.hash_mask = (1u << firstLeadingBit(max(u32(hashed), MIN_HASHED_SLOTS))) - 1u;
    return level;
}

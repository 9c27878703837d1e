// Decides which of any two levels searches the other. Twin of
// `src/cpu/plan/searches.rs`, with one more rule: a level searches one with smaller
// cells only if each proxy searches few rows and meets few proxies there, because all
// other invocations of its subgroup wait.

#needs counters, plan
#import grid::{cell_of, in_box}
#import plan_ranges::{SizeRange}
#import sets::{are_two_sets}
#import space::{others}
#import types::{Level}

struct Side {
    proxies: f32,
    power: u32,
    all_in_box: bool,
}

var<workgroup> sh_side: array<Side, MAX_LEVELS>;
// A bit mask of the levels with smaller cells that each searches.
var<workgroup> sh_finer: array<vec2<u32>, MAX_LEVELS>;
// Bounds the cells that a proxy of each level searches.
var<workgroup> sh_cells: array<f32, MAX_LEVELS>;

fn side_of(ranges: SizeRange, level: Level) -> Side {
    let low = cell_of(level, ranges.low);
    let high = cell_of(level, ranges.high);
    let all_in_box = in_box(level, low.x, low.x, low.y, low.z) && in_box(level, high.x, high.x, high.y, high.z);
    return Side(ranges.proxies, ranges.power, all_in_box);
}

fn bit_of(number: u32) -> vec2<u32> {
    let bit = 1u << (number % 32u);
    return select(vec2<u32>(bit, 0u), vec2<u32>(0u, bit), number >= 32u);
}

fn has_bit(mask: vec2<u32>, number: u32) -> bool {
    return any((mask & bit_of(number)) != vec2<u32>(0u));
}

fn never_meet(one: u32, other: u32) -> bool {
    return are_two_sets() && plan.level[one].of_set == plan.level[other].of_set;
}

// Bounds the rows of cells in level `to` that a proxy of level `origin` searches.
fn rows_searched(origin: u32, to: u32) -> f32 {
    let along = plan.level[origin].cell * plan.level[to].inverse_cell + 2.0;
    let dims = vec2<f32>(plan.level[to].dims.yz);
    let within = select(min(vec2<f32>(along), dims), vec2<f32>(along), dims == vec2<f32>(0.0));
    return within.x * within.y;
}

fn others_met(origin: u32, to: u32) -> f32 {
    return others(sh_side[to].proxies, 0.5 * plan.level[origin].cell + plan.level[to].cell);
}

// Separately in each of `slabs` time slabs.
fn search_cost(origin: u32, to: u32, slabs: f32) -> f32 {
    return sh_side[origin].proxies * (rows_searched(origin, to) * SEARCH_COST * slabs + others_met(origin, to));
}

fn coarse_searches_fine(coarse: u32, fine: u32) -> bool {
    // Cheap only if the proxies of a row are adjacent: each cell must have a slot
    // of its own, and only one.
    if !sh_side[fine].all_in_box || plan.level[fine].time_power > 0u {
        return false;
    }
    if rows_searched(coarse, fine) > MAX_FINER_ROWS || others_met(coarse, fine) > MAX_FINER_MET {
        return false;
    }
    let power = sh_side[fine].power;
    let slabs = f32(1u << (max(plan.level[coarse].time_power, power) - power));
    return search_cost(coarse, fine, 1.0) < search_cost(fine, coarse, slabs);
}

// The levels are in ascending order of their cell edges.
fn find_finer(number: u32) {
    var finer = vec2<u32>(0u);
    for (var fine = 0u; fine < number; fine++) {
        if !never_meet(number, fine) && coarse_searches_fine(number, fine) {
            finer |= bit_of(fine);
        }
    }
    sh_finer[number] = finer;
}

fn cells_in_finer(coarse: u32, fine: u32) -> f32 {
    let along = vec3<f32>(plan.level[coarse].cell * plan.level[fine].inverse_cell + 3.0);
    let cells = min(along, vec3<f32>(plan.level[fine].dims));
    return cells.x * cells.y * cells.z;
}

// A level searches the finer levels that find_finer() has chosen, and each coarser one
// that does not search it. With one set, it searches itself, too.
fn write_searches(number: u32, levels: u32) {
    var searched = sh_finer[number];
    var cells = MAX_OWN_CELLS;
    for (var other = 0u; other < levels; other++) {
        if other < number && has_bit(searched, other) {
            cells += cells_in_finer(number, other);
        }
        if other > number && !never_meet(number, other) && !has_bit(sh_finer[other], number) {
            searched |= bit_of(other);
            cells += MAX_COARSER_CELLS * f32(1u << plan.level[other].time_power);
        }
    }
    if !are_two_sets() {
        searched |= bit_of(number);
    }
    plan.level[number].searched = searched;
    sh_cells[number] = cells;
}

// Bounds the cells that all proxies search: each by its level, and each image by the
// worst level.
fn write_cells(levels: u32) {
    var cells = 0.0;
    var most = 0.0;
    for (var number = 0u; number < levels; number++) {
        cells += sh_side[number].proxies * sh_cells[number];
        most = max(most, sh_cells[number]);
    }
    let images = f32(atomicLoad(&counters.images[0])) + 4294967296.0 * f32(atomicLoad(&counters.images[1]));
    plan.cells_searched = cells + images * most;
}

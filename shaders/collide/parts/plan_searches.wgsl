// Decides for any two levels which of them searches the other. Twin of `src/cpu/plan/searches.rs`, with one
// more rule: a level searches one with smaller cells only if each proxy searches few rows of cells and meets
// few proxies there. A long search is costly on a GPU, because all other invocations of its subgroup wait for
// it.

#needs counters, plan
#import grid::{cell_of, in_box}
#import plan_ranges::{SizeRange}
#import sets::{are_two_sets}
#import space::{others}
#import types::{Level}

// Data of one level that the plan does not hold.
struct Side {
    proxies: f32,
    power: u32,
    all_in_box: bool,
}

var<workgroup> sh_side: array<Side, MAX_LEVELS>;
// For each level, a bit mask of the levels with smaller cells that it searches.
var<workgroup> sh_finer: array<vec2<u32>, MAX_LEVELS>;
// For each level, an upper bound of the number of cells that one of its proxies searches.
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

// Returns whether both levels hold proxies of the same of two sets.
fn never_meet(one: u32, other: u32) -> bool {
    return are_two_sets() && plan.level[one].of_set == plan.level[other].of_set;
}

// Returns an upper bound of the number of rows of cells in level `to` that a proxy of level `origin`
// searches.
fn rows_searched(origin: u32, to: u32) -> f32 {
    let along = plan.level[origin].cell * plan.level[to].inverse_cell + 2.0;
    let dims = vec2<f32>(plan.level[to].dims.yz);
    let within = select(min(vec2<f32>(along), dims), vec2<f32>(along), dims == vec2<f32>(0.0));
    return within.x * within.y;
}

fn others_met(origin: u32, to: u32) -> f32 {
    return others(sh_side[to].proxies, 0.5 * plan.level[origin].cell + plan.level[to].cell);
}

// Returns the expected cost if level `origin` searches level `to`, separately in each of `slabs` time slabs.
fn search_cost(origin: u32, to: u32, slabs: f32) -> f32 {
    return sh_side[origin].proxies * (rows_searched(origin, to) * SEARCH_COST * slabs + others_met(origin, to));
}

fn coarse_searches_fine(coarse: u32, fine: u32) -> bool {
    // To search rows of a finer level is cheap only if the proxies of a row are adjacent in the sorted list.
    // So each cell must have a slot of its own, and only one: the finer level must not be divided into time
    // slabs.
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

// Chooses which levels with smaller cells level `number` searches. The plan has the levels in ascending order
// of their cell edges.
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

// Stores which levels level `number` searches. If the spheres of two levels may touch, exactly one of them
// searches the other. So a level searches the finer levels that find_finer() has chosen for it, and each
// coarser level from which it is not searched. In a step with one set, it searches itself, too.
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

// Writes an upper bound of the number of cells that all proxies search. Each sphere or segment counts with
// the most cells that a proxy of its level searches, and each image with the most that a proxy of any level
// searches.
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

// Decides for any two grids which of them is searched by the spheres of the other. Twin of
// `src/cpu/plan/searches.rs`, with one more rule: spheres search a grid with smaller cells only if each
// of them searches few rows of cells and meets few spheres there. A long search is costly on a GPU,
// because all other invocations of its subgroup wait for it.

#needs counters, plan
#import grid::{cell_of, in_box}
#import plan_ranges::{SizeRange}
#import sets::{are_two_sets}
#import space::{others}
#import types::{Level}

// Data of one grid, which help to decide which of two grids searches the other. The plan (the list of
// all grids) does not hold these data.
struct Side {
    proxies: f32,
    power: u32,
    all_in_box: bool,
}

var<workgroup> sh_side: array<Side, MAX_LEVELS>;
// For each grid, a bit mask of the grids with smaller cells that its spheres search.
var<workgroup> sh_finer: array<vec2<u32>, MAX_LEVELS>;
// For each grid, an upper bound of the number of cells that one of its spheres searches.
var<workgroup> sh_cells: array<f32, MAX_LEVELS>;

fn side_of(ranges: SizeRange, level: Level) -> Side {
    let low = cell_of(level, ranges.low);
    let high = cell_of(level, ranges.high);
    let all_in_box = in_box(level, low.x, low.x, low.y, low.z) && in_box(level, high.x, high.x, high.y, high.z);
    return Side(ranges.proxies, ranges.power, all_in_box);
}

// Returns a mask of 64 bits, low word first, in which only the bit with the index `number` is set.
fn bit_of(number: u32) -> vec2<u32> {
    let bit = 1u << (number % 32u);
    return select(vec2<u32>(bit, 0u), vec2<u32>(0u, bit), number >= 32u);
}

fn has_bit(mask: vec2<u32>, number: u32) -> bool {
    return any((mask & bit_of(number)) != vec2<u32>(0u));
}

// Returns whether the spheres of two grids are never tested against each other, because the step has
// two sets and both grids hold spheres of the same set.
fn never_meet(one: u32, other: u32) -> bool {
    return are_two_sets() && plan.level[one].of_set == plan.level[other].of_set;
}

// Returns an upper bound of the number of rows of cells in the grid `to` that a sphere of the grid `origin`
// searches. If the grid `to` has a *box* (a region in which each cell has its own table entry), the bound is
// at most the number of rows in the box.
fn rows_searched(origin: u32, to: u32) -> f32 {
    let along = plan.level[origin].cell * plan.level[to].inverse_cell + 2.0;
    let dims = vec2<f32>(plan.level[to].dims.yz);
    let within = select(min(vec2<f32>(along), dims), vec2<f32>(along), dims == vec2<f32>(0.0));
    return within.x * within.y;
}

fn others_met(origin: u32, to: u32) -> f32 {
    return others(sh_side[to].proxies, 0.5 * plan.level[origin].cell + plan.level[to].cell);
}

// Returns the expected cost if each sphere in the grid `origin` searches the grid `to` for neighbours.
// The sphere searches separately in each of `slabs` time slabs (equal parts of the step).
fn search_cost(origin: u32, to: u32, slabs: f32) -> f32 {
    return sh_side[origin].proxies * (rows_searched(origin, to) * SEARCH_COST * slabs + others_met(origin, to));
}

fn coarse_searches_fine(coarse: u32, fine: u32) -> bool {
    // Spheres of a coarse grid may search rows of cells of a finer grid. This is cheap only if the spheres of
    // a row are adjacent in the sorted list. So each cell of the finer grid must have an entry of its own in
    // the table of cells. It must be only one entry, so the finer grid must not be divided into time slabs
    // (parts of the step with separate entries).
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

// Chooses which finer grids (with smaller cells) the spheres in the grid `number` search for
// neighbours. The plan holds the grids in ascending order of their cell edges.
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

// Stores which grids are searched for neighbours of the spheres in grid `number`. If the spheres of two
// different grids may touch, the spheres of exactly one of these grids search the other grid. So the spheres
// in grid `number` search the finer grids that find_finer() has chosen for them. They also search each
// coarser grid from which grid `number` is not searched. If the step has one set of spheres, they search
// their own grid, too.
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

// Writes an upper bound on the number of grid cells that all spheres and all images (periodic copies)
// search. For each sphere, it adds the most cells that a sphere of the same grid searches. For each
// image, it adds the most cells that a sphere of any grid searches.
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

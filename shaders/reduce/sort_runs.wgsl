// Puts the items of each row in order. `rank` makes runs of at most SORT_RUN items, and `merge`
// makes one run of up to MERGED_RUNS. So a row of any length takes few reads for each item. Twin of
// `src/reduce/sort.rs`, which sorts with a library function.

#import carom::{CaromResults}
#import invocation::{invocation}
#import row_items::{precedes}

struct Run {
    // Most items of a run.
    length: u32,
    // `merge` leaves rows of at most so many items as they are.
    least: u32,
    // 0: items of the found pairs, which may repeat. 1: of the sorted list.
    distinct: u32,
    unused: u32,
}

@group(0) @binding(0) var<uniform> run: Run;
@group(0) @binding(1) var<storage, read> results: CaromResults;
@group(0) @binding(2) var<storage, read> row_bounds: array<u32>;
@group(0) @binding(3) var<storage, read> items_before: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> items_after: array<vec4<u32>>;
// Only of the rows with more than SORT_RUN items.
@group(0) @binding(5) var<storage, read_write> longest_row: atomic<u32>;

fn item_count() -> u32 {
    return select(results.pairs, results.sorted, run.distinct != 0u);
}

// The first place of a row, and that after the last.
fn bounds_of(row: u32) -> vec2<u32> {
    let begin = select(0u, row_bounds[max(row, 1u) - 1u], row > 0u);
    return vec2<u32>(begin, row_bounds[row]);
}

@compute @workgroup_size(WORKGROUP)
fn rank(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index >= item_count() {
        return;
    }
    let own = items_before[index];
    let row = bounds_of(own.x);
    let begin = index - (index - row.x) % SORT_RUN;
    let end = min(begin + SORT_RUN, row.y);
    var place = begin;
    for (var k = begin; k < end; k++) {
        place += select(0u, 1u, precedes(items_before[k], own, k < index));
    }
    items_after[place] = own;
    if index == row.x && row.y - row.x > SORT_RUN {
        atomicMax(&longest_row, row.y - row.x);
    }
}

// The items of a run that precede `own`.
fn before(own: vec4<u32>, begin: u32, end: u32, if_equal: bool) -> u32 {
    var low = begin;
    var high = end;
    while low < high {
        let half = low + (high - low) / 2u;
        if precedes(items_before[half], own, if_equal) {
            low = half + 1u;
        } else {
            high = half;
        }
    }
    return low - begin;
}

fn merge_item(index: u32) {
    // All items of a row have the same first word, also those that are out of order here.
    let own = items_before[index];
    let row = bounds_of(own.x);
    if row.y - row.x <= run.least {
        return;
    }
    let begin = index - (index - row.x) % (run.length * MERGED_RUNS);
    let end = min(begin + run.length * MERGED_RUNS, row.y);
    let of_own = index - (index - row.x) % run.length;
    var place = begin + index - of_own;
    for (var first = begin; first < end; first += run.length) {
        if first != of_own {
            place += before(own, first, min(first + run.length, end), first < of_own);
        }
    }
    items_after[place] = own;
}

@compute @workgroup_size(WORKGROUP)
fn merge(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    // Nearly always, there is nothing to do. So there are few workgroups.
    if atomicLoad(&longest_row) <= run.least {
        return;
    }
    let invocations = workgroups.x * workgroups.y * WORKGROUP;
    let first = invocation(workgroup, workgroups, local, WORKGROUP);
    for (var index = first; index < item_count(); index += invocations) {
        merge_item(index);
    }
}

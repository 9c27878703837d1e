// Lists the pairs that began (are new), lasted (were there before) and ended (are gone) since the last
// complete step. The entry point `flag` marks the pairs that began or ended. After the prefix sum of these
// flags, `write` writes the list. `keep` stores this step's pairs for the next comparison.
// Twin of `src/reduce/changes.rs`.

#import carom::{CAROM_INCOMPLETE, CaromCollision, CaromResults, carom_b}
#import invocation::{invocation}

@group(0) @binding(0) var<storage, read_write> results: CaromResults;
@group(0) @binding(1) var<storage, read> sorted_pairs: array<CaromCollision>;
// The sorted pairs (a, b) of the last complete step, and their number.
@group(0) @binding(2) var<storage, read_write> kept_pairs: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> kept_count: u32;
// First 1 for each pair that began or ended and 0 for the other pairs, then the exclusive prefix sums of
// these flags. The pairs of this step come before those of the last complete step. The last word is the
// total.
@group(0) @binding(4) var<storage, read_write> change_flags: array<u32>;
@group(0) @binding(5) var<storage, read_write> changes: array<vec2<u32>>;

fn now(index: u32) -> vec2<u32> {
    return vec2<u32>(sorted_pairs[index].a, carom_b(sorted_pairs[index]));
}

fn is_before(one: vec2<u32>, other: vec2<u32>) -> bool {
    return one.x < other.x || (one.x == other.x && one.y < other.y);
}

fn pair_at(place: u32, of_kept: bool) -> vec2<u32> {
    if of_kept {
        return kept_pairs[place];
    }
    return now(place);
}

// Returns whether `pair` is among the first `count` pairs of a sorted list: that of the last complete step if
// `of_kept` is true, otherwise that of this step.
fn is_among(pair: vec2<u32>, count: u32, of_kept: bool) -> bool {
    var low = 0u;
    var high = count;
    while low < high {
        let half = low + (high - low) / 2u;
        if is_before(pair_at(half, of_kept), pair) {
            low = half + 1u;
        } else {
            high = half;
        }
    }
    return low < count && all(pair_at(low, of_kept) == pair);
}

// Returns whether this step's list of pairs is complete. If it is not, no changes are computed, and the pairs
// of the last complete step are kept.
fn is_complete() -> bool {
    return (results.status & CAROM_INCOMPLETE) == 0u;
}

fn now_count() -> u32 {
    return select(0u, results.sorted, is_complete());
}

fn before_count() -> u32 {
    return select(0u, kept_count, is_complete());
}

fn kept_begin() -> u32 {
    return arrayLength(&change_flags) / 2u;
}

@compute @workgroup_size(WORKGROUP)
fn flag(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    let half = kept_begin();
    if index >= arrayLength(&change_flags) {
        return;
    }
    let count = now_count();
    let before = before_count();
    var changed = false;
    if index < half {
        changed = index < count && !is_among(now(index), before, true);
    } else {
        let of_kept = index - half;
        changed = of_kept < before && !is_among(kept_pairs[of_kept], count, false);
    }
    change_flags[index] = select(0u, 1u, changed);
}

@compute @workgroup_size(WORKGROUP)
fn write(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    let half = kept_begin();
    if index >= arrayLength(&change_flags) {
        return;
    }
    let count = now_count();
    let began = change_flags[half];
    if index < half {
        if index < count {
            let own = change_flags[index];
            // Of the pairs before this one in the sorted list, `own` are new. The other (index - own) pairs
            // were already there in the last complete step.
            let to = select(began + index - own, own, change_flags[index + 1u] > own);
            changes[to] = now(index);
        }
    } else if index - half < before_count() && change_flags[index + 1u] > change_flags[index] {
        // Pairs that ended are listed after all pairs of this step.
        changes[count + change_flags[index] - began] = kept_pairs[index - half];
    }
    if index == 0u {
        results.began = began;
        results.lasted = count - began;
        results.ended = change_flags[2u * half] - began;
    }
}

@compute @workgroup_size(WORKGROUP)
fn keep(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    let count = now_count();
    if index < count {
        kept_pairs[index] = now(index);
    }
    if is_complete() && index == 0u {
        kept_count = count;
    }
}

// Compares the sorted list with that of the last complete step. A pair is (a, b,
// image), with image 0 in open space. Importing kernels declare `now(index)`, a pair of
// this step, `kept(index)`, one of the last complete step, `write_change(to, pair)`,
// and `keep_pair(index, pair)`.

#import carom::{CAROM_INCOMPLETE}
#needs change_flags, kept_count, results

fn is_before(one: vec3<u32>, other: vec3<u32>) -> bool {
    if one.x != other.x {
        return one.x < other.x;
    }
    return one.y < other.y || (one.y == other.y && one.z < other.z);
}

fn pair_at(place: u32, of_kept: bool) -> vec3<u32> {
    if of_kept {
        return kept(place);
    }
    return now(place);
}

// In the last complete step, if `of_kept`, or in this one.
fn is_among(pair: vec3<u32>, count: u32, of_kept: bool) -> bool {
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

// Otherwise no changes are computed, and the kept pairs stay.
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

// Up to kept_begin(), of this step's pairs: 1 if the pair began; then of the last
// complete step's: 1 if it ended.
fn flag_change(index: u32) {
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
        changed = of_kept < before && !is_among(kept(of_kept), count, false);
    }
    change_flags[index] = select(0u, 1u, changed);
}

// Each flag has been replaced by the sum of all before it.
fn list_change(index: u32) {
    let half = kept_begin();
    if index >= arrayLength(&change_flags) {
        return;
    }
    let count = now_count();
    let began = change_flags[half];
    if index < half {
        if index < count {
            let own = change_flags[index];
            // `own` new pairs are before this one. The other (index - own) lasted.
            let to = select(began + index - own, own, change_flags[index + 1u] > own);
            write_change(to, now(index));
        }
    } else if index - half < before_count() && change_flags[index + 1u] > change_flags[index] {
        // After all pairs of this step.
        write_change(count + change_flags[index] - began, kept(index - half));
    }
    if index == 0u {
        results.began = began;
        results.lasted = count - began;
        results.ended = change_flags[2u * half] - began;
    }
}

fn keep_for_next(index: u32) {
    let count = now_count();
    if index < count {
        keep_pair(index, now(index));
    }
    if is_complete() && index == 0u {
        kept_count = count;
    }
}

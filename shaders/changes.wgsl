// Pairs that began, last and ended since the last complete step: one pass flags
// those that began and those that ended, after the scan of the flags one writes
// all, and the last keeps the sorted list for the next step.
// Twin of `src/cpu/changes.rs`.

const FLAG = 0u;
const WRITE = 1u;
const KEEP = 2u;

override PASS: u32 = FLAG;

@group(0) @binding(0) var<storage, read_write> results: CaromResults;
@group(0) @binding(1) var<storage, read> sorted: array<CaromCollision>;
// The pairs of the last complete step, and how many.
@group(0) @binding(2) var<storage, read_write> kept: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> kept_count: array<u32, 1>;
// A word for each place of `sorted`, for each of `kept`, and one more.
@group(0) @binding(4) var<storage, read_write> table: array<u32>;
@group(0) @binding(5) var<storage, read_write> changes: array<vec2<u32>>;

fn now(index: u32) -> vec2<u32> {
    return vec2<u32>(sorted[index].a, carom_b(sorted[index]));
}

fn is_before(one: vec2<u32>, other: vec2<u32>) -> bool {
    return one.x < other.x || (one.x == other.x && one.y < other.y);
}

// A pair of the last complete step, or of this one.
fn pair_at(place: u32, of_kept: bool) -> vec2<u32> {
    if of_kept {
        return kept[place];
    }
    return now(place);
}

// Whether it is one of the first `count` of these.
fn is_among(pair: vec2<u32>, count: u32, of_kept: bool) -> bool {
    var low = 0u;
    var high = count;
    while low < high {
        let middle = low + (high - low) / 2u;
        if is_before(pair_at(middle, of_kept), pair) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low < count && all(pair_at(low, of_kept) == pair);
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    let complete = (results.status & CAROM_INCOMPLETE) == 0u;
    let count = select(0u, results.sorted, complete);
    if PASS == KEEP {
        if index < count {
            kept[index] = now(index);
        }
        if complete && index == 0u {
            kept_count[0] = count;
        }
        return;
    }
    let before = select(0u, kept_count[0], complete);
    // Where the flags of `kept` begin.
    let half = arrayLength(&table) / 2u;
    if index >= arrayLength(&table) {
        return;
    }
    let of_kept = index - min(index, half);
    if PASS == FLAG {
        var flag = false;
        if index < half {
            flag = index < count && !is_among(now(index), before, true);
        } else {
            flag = of_kept < before && !is_among(kept[of_kept], count, false);
        }
        table[index] = select(0u, 1u, flag);
        return;
    }
    let began = table[half];
    if index < half {
        if index < count {
            let own = table[index];
            let to = select(began + index - own, own, table[index + 1u] > own);
            changes[to] = now(index);
        }
    } else if of_kept < before && table[index + 1u] > table[index] {
        changes[count + table[index] - began] = kept[of_kept];
    }
    if index == 0u {
        results.began = began;
        results.lasted = count - began;
        results.ended = table[2u * half] - began;
    }
}

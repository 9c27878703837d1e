// Each sphere's own contacts: indices into the sorted list, in rows. The list is in
// the order of a; one pass makes a copy to be sorted by the row of b, with which
// another finds where rows begin, and the last fills them.
// Twin of `src/cpu/contacts.rs`.

const COPY = 0u;
const ROWS = 1u;
const FILL = 2u;

override PASS: u32 = COPY;

@group(0) @binding(0) var<storage, read> results: CaromResults;
@group(0) @binding(1) var<storage, read> sorted: array<CaromCollision>;
// The row of b, and an index into `sorted`.
@group(0) @binding(2) var<storage, read_write> by_b: array<vec4<u32>>;
// How many of the sorted list have an a of an earlier row.
@group(0) @binding(3) var<storage, read_write> starts: array<u32>;
@group(0) @binding(4) var<storage, read_write> offsets: array<u32>;
@group(0) @binding(5) var<storage, read_write> indices: array<u32>;

// The row of a in the sorted list, or that of b in the other order.
fn row_at(place: u32, of_b: bool) -> u32 {
    if of_b {
        return by_b[place].x;
    }
    return sorted[place].a;
}

// How many pairs have their a, or their b, in an earlier row.
fn before(row: u32, of_b: bool) -> u32 {
    var low = 0u;
    var high = results.sorted;
    while low < high {
        let middle = low + (high - low) / 2u;
        if row_at(middle, of_b) < row {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if PASS == ROWS {
        if index < arrayLength(&offsets) {
            starts[index] = before(index, false);
            offsets[index] = starts[index] + before(index, true);
        }
        return;
    }
    if index >= results.sorted {
        return;
    }
    if PASS == COPY {
        by_b[index] = vec4<u32>(carom_b(sorted[index]) + results.split, index, 0u, 0u);
        return;
    }
    // A row has those where its sphere is b first: what comes before one of them is
    // what comes before it in the order of b, and earlier rows in the order of a.
    let reverse = by_b[index];
    indices[index + starts[reverse.x]] = reverse.y;
    // And before one where it is a, also its own row in the order of b.
    let next = sorted[index].a + 1u;
    indices[index + offsets[next] - starts[next]] = index;
}

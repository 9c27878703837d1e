// Each pair once, of a list in which repeats follow one another: one pass flags the
// first of each, and after the scan of the flags one writes those.
// Twin of `src/cpu/sort.rs`.

override WRITE: bool = false;

@group(0) @binding(0) var<storage, read_write> results: CaromResults;
@group(0) @binding(1) var<storage, read> repeated: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> table: array<u32>;
@group(0) @binding(3) var<storage, read_write> sorted: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> dispatch: array<u32, 3>;

fn is_first(index: u32) -> bool {
    if index >= results.pairs {
        return false;
    }
    let own = repeated[index].xy;
    let before = repeated[max(index, 1u) - 1u].xy;
    return index == 0u || own.x != before.x || ((own.y ^ before.y) & ~CAROM_GRAZING) != 0u;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index >= arrayLength(&table) {
        return;
    }
    if !WRITE {
        table[index] = select(0u, 1u, is_first(index));
        return;
    }
    if is_first(index) {
        sorted[table[index]] = repeated[index];
    }
    if index == 0u {
        let count = table[results.pairs];
        let size = dispatch_over(count);
        results.sorted = count;
        results.sorted_columns = size.x;
        dispatch[0] = size.x;
        dispatch[1] = size.y;
        dispatch[2] = 1u;
    }
}

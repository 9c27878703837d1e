// Compares the list of pairs with that of the last complete step. `flag` marks the
// pairs that began or ended. After the prefix sum of these flags, `write` lists those
// that began, lasted and ended. `keep` stores this step's pairs. Twin of
// `src/reduce/changes.rs`.

#import carom::{CaromCollision, CaromResults, carom_b}
#import invocation::{invocation}
#import pair_changes::{flag_change, keep_for_next, list_change}

@group(0) @binding(0) var<storage, read_write> results: CaromResults;
@group(0) @binding(1) var<storage, read> sorted_pairs: array<CaromCollision>;
@group(0) @binding(2) var<storage, read_write> kept_pairs: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> kept_count: u32;
// A flag for each sorted pair of this step, then for each of the last complete step: 1
// if it began or ended. Prefix sums make places in `changes` of them. The last word is
// their number.
@group(0) @binding(4) var<storage, read_write> change_flags: array<u32>;
@group(0) @binding(5) var<storage, read_write> changes: array<vec2<u32>>;

fn now(index: u32) -> vec3<u32> {
    return vec3<u32>(sorted_pairs[index].a, carom_b(sorted_pairs[index]), 0u);
}

fn kept(index: u32) -> vec3<u32> {
    return vec3<u32>(kept_pairs[index], 0u);
}

fn write_change(to: u32, pair: vec3<u32>) {
    changes[to] = pair.xy;
}

fn keep_pair(index: u32, pair: vec3<u32>) {
    kept_pairs[index] = pair.xy;
}

@compute @workgroup_size(WORKGROUP)
fn flag(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    flag_change(invocation(workgroup, workgroups, local, WORKGROUP));
}

@compute @workgroup_size(WORKGROUP)
fn write(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    list_change(invocation(workgroup, workgroups, local, WORKGROUP));
}

@compute @workgroup_size(WORKGROUP)
fn keep(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    keep_for_next(invocation(workgroup, workgroups, local, WORKGROUP));
}

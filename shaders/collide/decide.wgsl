// Makes the list of pairs from those that `pairs` has found. Twin of `src/exact/decide.rs`.

#import decide_found::{Kept, decided_pair, place_of_kept}
#import exact_pair::{Displacement}
#import found_count::{found_count}
#import invocation::{invocation}
#import types::{Counters, Params}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> sphere_words: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> found_bits: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> counters: Counters;
@group(0) @binding(4) var<storage, read_write> decided_bits: array<vec4<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    var kept = Kept(vec4<u32>(0u), false);
    if index < found_count() {
        kept = decided_pair(found_bits[index], Displacement());
    }
    let place = place_of_kept(kept, local);
    if kept.kept {
        decided_bits[place] = kept.pair;
    }
}

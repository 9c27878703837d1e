// Lists the candidates of each sphere, which `simulation_candidates.wgsl` has counted.

#import carom::{CaromResults}
#import dynamics::{Candidate, NEXT_NONE}
#import invocation::{invocation}

@group(0) @binding(0) var<storage, read> results: CaromResults;
@group(0) @binding(1) var<storage, read> candidates: array<Candidate>;
@group(0) @binding(2) var<storage, read> row_starts: array<u32>;
@group(0) @binding(3) var<storage, read_write> row_entries: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index >= results.pairs {
        return;
    }
    let candidate = candidates[index];
    if candidate.place_a != NEXT_NONE {
        row_entries[row_starts[candidate.a] + candidate.place_a] = index;
        row_entries[row_starts[candidate.b] + candidate.place_b] = index;
    }
}

// Lists the candidates of each sphere: the other spheres, and the triangles, that `simulation_candidates.wgsl` and
// `simulation_triangles.wgsl` have counted.

#import carom::{CaromResults, CaromSimulation}
#import dynamics::{Candidate, NEXT_NONE, NEXT_TRIANGLE, SimulationRequest}
#import invocation::{invocation}

@group(0) @binding(0) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(1) var<storage, read> results: CaromResults;
@group(0) @binding(2) var<storage, read> mesh_results: CaromResults;
@group(0) @binding(3) var<storage, read> candidates: array<Candidate>;
@group(0) @binding(4) var<storage, read> row_starts: array<u32>;
@group(0) @binding(5) var<storage, read_write> row_entries: array<u32>;
@group(0) @binding(6) var<uniform> simulation: CaromSimulation;

@compute @workgroup_size(WORKGROUP)
fn spheres(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index >= select(results.pairs, 0u, simulation.spheres == 0u) {
        return;
    }
    let candidate = candidates[index];
    if candidate.place_a != NEXT_NONE {
        row_entries[row_starts[candidate.a] + candidate.place_a] = index;
        row_entries[row_starts[candidate.b] + candidate.place_b] = index;
    }
}

@compute @workgroup_size(WORKGROUP)
fn triangles(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index >= select(mesh_results.pairs, 0u, simulation.spheres == 0u) {
        return;
    }
    let near = candidates[simulation_request.near_capacity + index];
    if near.place_a != NEXT_NONE {
        row_entries[row_starts[near.a] + near.place_a] = NEXT_TRIANGLE + index;
    }
}

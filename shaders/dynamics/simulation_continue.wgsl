// Begins the next round of a substep of hard-sphere dynamics, or ends the rounds. If a round has changed paths, the
// entry point `main` begins the next round. Otherwise, `main` ends the rounds. Then other kernels give a wider pad to
// each sphere that has left its pad. Finally, the entry point `verify` begins another round for these spheres, unless
// the substep has to be rolled back. If no further round is needed and the path of a sphere has no room for an impact,
// `verify` ends the substep before this impact. Each entry point is dispatched as one invocation.

#import carom::{CAROM_INCOMPLETE, CaromResults, CaromSimulation}
#import dispatch::{DispatchArguments, dispatch_over}
#import dynamics::{NEVER, SimulationCounters, SimulationRequest}
#import exact_part::{exact_part}
#import round_spheres::{ALL_NEAR, ALL_PAIRS, NEXT_LIST}
#import types::{Params}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(2) var<storage, read> results: CaromResults;
@group(0) @binding(3) var<storage, read_write> simulation: CaromSimulation;
@group(0) @binding(4) var<storage, read_write> round_spheres: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> round_dispatch: DispatchArguments;
@group(0) @binding(6) var<storage, read_write> pad_dispatch: DispatchArguments;
@group(0) @binding(7) var<storage, read_write> left_spheres: array<atomic<u32>>;
// In a simulation without meshes, another buffer is bound in place of `mesh_results`.
@group(0) @binding(8) var<storage, read> mesh_results: CaromResults;
@group(0) @binding(9) var<storage, read_write> simulation_counters: SimulationCounters;

// Begins the next round if any sphere is listed for it, and returns whether it does.
fn begin_round() -> bool {
    let listed = atomicExchange(&round_spheres[NEXT_LIST], 0u);
    simulation.in_round = listed;
    round_dispatch = dispatch_over(listed);
    if listed == 0u {
        return false;
    }
    simulation.round += 1u;
    simulation.settled = 0u;
    return true;
}

@compute @workgroup_size(1)
fn main() {
    if simulation.settled != 0u {
        return;
    }
    if (results.status & CAROM_INCOMPLETE) != 0u {
        atomicStore(&round_spheres[NEXT_LIST], 0u);
        simulation.settled = 2u;
        simulation.in_round = 0u;
        round_dispatch = dispatch_over(0u);
        return;
    }
    if !begin_round() {
        simulation.settled = 1u;
        pad_dispatch = dispatch_over(simulation.spheres);
        atomicMax(&round_spheres[ALL_PAIRS], results.pairs);
        atomicMax(&round_spheres[ALL_NEAR], mesh_results.pairs);
    }
}

@compute @workgroup_size(1)
fn verify() {
    if simulation.settled != 1u {
        return;
    }
    pad_dispatch = dispatch_over(0u);
    let left = atomicExchange(&left_spheres[0], 0u);
    atomicStore(&left_spheres[1], 0u);
    let most = max(atomicLoad(&round_spheres[ALL_PAIRS]), atomicLoad(&round_spheres[ALL_NEAR]));
    if left > MOST_LEFT || most > simulation_request.near_capacity {
        atomicStore(&round_spheres[NEXT_LIST], 0u);
        simulation.settled = 3u;
        return;
    }
    let full = bitcast<f32>(atomicExchange(&simulation_counters.full, bitcast<u32>(NEVER)));
    if !begin_round() {
        simulation.settled = 2u;
        // If the path of a sphere has no room for an impact, the substep ends before this impact.
        if full < simulation.substep {
            simulation.substep = exact_part(simulation.remaining, full);
        }
    }
}

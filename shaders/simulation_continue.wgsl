// Begins the next round of a substep of hard-sphere dynamics, or ends the rounds if no sphere has an impact ahead.
// Dispatched as one invocation.

#import carom::{CAROM_INCOMPLETE, CaromResults, CaromSimulation}
#import dispatch::{DispatchArguments}
#import dynamics::{SimulationCounters}

@group(0) @binding(0) var<storage, read> results: CaromResults;
@group(0) @binding(1) var<storage, read_write> simulation: CaromSimulation;
@group(0) @binding(2) var<storage, read_write> simulation_counters: SimulationCounters;
@group(0) @binding(3) var<storage, read_write> simulation_dispatch: DispatchArguments;

@compute @workgroup_size(1)
fn main() {
    let pending = atomicExchange(&simulation_counters.pending, 0u);
    if simulation.settled != 0u {
        return;
    }
    if pending == 0u || (results.status & CAROM_INCOMPLETE) != 0u {
        simulation.settled = 1u;
        simulation_dispatch = DispatchArguments(0u, 1u, 1u);
        return;
    }
    simulation.round += 1u;
}

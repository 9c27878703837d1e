// Begins a recording of hard-sphere dynamics. The recording's duration is added to the time that
// earlier recordings did not complete. Dispatched as one invocation.

#import carom::{CaromSimulation}
#import dynamics::{SimulationCounters, SimulationRequest}

@group(0) @binding(0) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(1) var<storage, read_write> simulation: CaromSimulation;
@group(0) @binding(2) var<storage, read_write> simulation_counters: SimulationCounters;

@compute @workgroup_size(1)
fn main() {
    simulation.remaining += simulation_request.duration;
    simulation.status = 0u;
    simulation.rounds = 0u;
    simulation.committed = 0u;
    simulation.listed = 0u;
    simulation.accepted = 0u;
    simulation.serial = simulation_request.serial;
    atomicStore(&simulation_counters.listed, 0u);
    atomicStore(&simulation_counters.invalid, 0u);
    atomicStore(&simulation_counters.fastest, 0u);
    atomicStore(&simulation_counters.largest, 0u);
}

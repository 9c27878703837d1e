// Begins a recording of hard-sphere dynamics. The recording's duration is added to the time that
// earlier recordings did not complete. Dispatched as one invocation.

#import carom::{CAROM_BEHIND, CaromSimulation}
#import dynamics::{SimulationCounters, SimulationRequest}
#import two_floats::{add_float}
#import types::{Params}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(2) var<storage, read_write> simulation: CaromSimulation;
@group(0) @binding(3) var<storage, read_write> simulation_counters: SimulationCounters;

@compute @workgroup_size(1)
fn main() {
    let most = simulation_request.most_remaining;
    if simulation.remaining > most {
        simulation.dropped = add_float(simulation.dropped, simulation.remaining - most);
        simulation.dropped = add_float(simulation.dropped, simulation.carried);
        simulation.remaining = most;
        simulation.carried = 0.0;
    }
    // With a duration of 0, the carried time stays as it is. It is a rounding error, too short for a substep of its own.
    if simulation_request.duration > 0.0 {
        let sum = add_float(vec2<f32>(simulation.remaining, simulation.carried), simulation_request.duration);
        let remains = sum.x > 0.0;
        simulation.remaining = select(0.0, sum.x, remains);
        simulation.carried = select(sum.x, sum.y, remains);
    }
    // Set until the requested time is reached.
    simulation.status = select(0u, CAROM_BEHIND, simulation.remaining > 0.0);
    simulation.rounds = 0u;
    simulation.committed = 0u;
    simulation.listed = 0u;
    simulation.accepted = 0u;
    simulation.serial = simulation_request.serial;
    atomicStore(&simulation_counters.listed, 0u);
    atomicStore(&simulation_counters.invalid, 0u);
    atomicStore(&simulation_counters.fastest, 0u);
    atomicStore(&simulation_counters.largest, 0u);
    atomicStore(&simulation_counters.far_away, 0u);
    atomicMax(&simulation_counters.edited, simulation_request.edited);
}

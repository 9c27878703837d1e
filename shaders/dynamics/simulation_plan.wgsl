// Chooses the duration of the next substep of hard-sphere dynamics. Dispatched as one invocation.

#import carom::{CAROM_BEHIND, CAROM_FAR_AWAY, CAROM_IMPACTS_FULL, CAROM_SPHERES_LEFT_OUT, CaromSimulation}
#import dispatch::{DispatchArguments, dispatch_over}
#import dynamics::{NEVER, SimulationCounters, SimulationRequest}
#import exact_part::{exact_part}
#import round_spheres::{ALL_NEAR, ALL_PAIRS, NEXT_LIST}
#import two_floats::{add_float}
#import types::{Params}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(2) var<storage, read_write> simulation: CaromSimulation;
@group(0) @binding(3) var<storage, read_write> simulation_counters: SimulationCounters;
// Sizes of the dispatches over all spheres, and of those over the spheres whose next impact has to be
// found in the current round.
@group(0) @binding(4) var<storage, read_write> simulation_dispatch: DispatchArguments;
@group(0) @binding(5) var<storage, read_write> round_dispatch: DispatchArguments;
@group(0) @binding(6) var<storage, read_write> round_spheres: array<atomic<u32>>;
// Number of workgroups along x and y of each dispatch of the searches.
@group(0) @binding(7) var<storage, read> list_sizes: array<vec2<u32>>;
@group(0) @binding(8) var<storage, read_write> list_dispatches: array<DispatchArguments>;
// Size of the dispatches that look for spheres which have moved farther than their pads.
@group(0) @binding(9) var<storage, read_write> pad_dispatch: DispatchArguments;

// Displacement of the fastest sphere in the first substep, as a fraction of the largest radius.
const FIRST = 0.1;
// With gravity, the contact time is at least this fraction of the time in which the largest sphere falls by its radius.
// With a shorter one, an impact after a fall through a rounding error would be a fast one.
const LEAST_CONTACT = 1e-3;

// Returns the time in which the fastest sphere moves by the fraction `FIRST` of the largest radius.
fn first_pace() -> f32 {
    let distance = FIRST * bitcast<f32>(atomicLoad(&simulation_counters.largest));
    let speed = bitcast<f32>(atomicLoad(&simulation_counters.fastest));
    let strength = length(simulation_request.gravity);
    var time = GREATEST;
    if distance > 0.0 && speed > 0.0 {
        time = distance / speed;
    }
    if distance > 0.0 && strength > 0.0 {
        time = min(time, sqrt(2.0 * distance / strength));
    }
    return time;
}

// Chooses the duration of the substep, and sets the number of spheres to be moved. This number is 0 if
// no simulated time remains.
fn choose() {
    simulation.spheres = 0u;
    simulation.accepted = 0u;
    simulation.settled = 2u;
    simulation.round = 0u;
    atomicStore(&round_spheres[NEXT_LIST], 0u);
    atomicStore(&round_spheres[ALL_PAIRS], 0u);
    atomicStore(&round_spheres[ALL_NEAR], 0u);
    atomicStore(&simulation_counters.pending, 0u);
    atomicStore(&simulation_counters.impacts, 0u);
    atomicStore(&simulation_counters.wall_impacts, 0u);
    atomicStore(&simulation_counters.left, 0u);
    atomicStore(&simulation_counters.widened, 0u);
    atomicStore(&simulation_counters.together, 0u);
    atomicStore(&simulation_counters.full, bitcast<u32>(NEVER));
    if atomicLoad(&simulation_counters.invalid) > 0u {
        simulation.status |= CAROM_SPHERES_LEFT_OUT;
    }
    if atomicLoad(&simulation_counters.far_away) > 0u {
        simulation.status |= CAROM_FAR_AWAY;
    }
    let strength = length(simulation_request.gravity);
    simulation.contact_time = simulation_request.contact_time;
    if simulation.contact_time > 0.0 && strength > 0.0 {
        let largest = bitcast<f32>(atomicLoad(&simulation_counters.largest));
        simulation.contact_time = max(simulation.contact_time, LEAST_CONTACT * sqrt(2.0 * largest / strength));
    }
    let remaining = simulation.remaining;
    if !(remaining > 0.0) {
        return;
    }
    // If the list of impacts had no room for those of the last substep, it stays full until the next recording.
    if (simulation.status & CAROM_IMPACTS_FULL) != 0u && simulation.listed > 0u && simulation.failures > 0u {
        return;
    }
    if simulation_request.spheres == 0u {
        simulation.time = add_float(simulation.time, remaining);
        simulation.remaining = 0.0;
        simulation.status &= ~CAROM_BEHIND;
        return;
    }
    if !(simulation.pace > 0.0) {
        simulation.pace = first_pace();
    }
    // A sphere that has lost what supports it falls only at the end of the substep.
    let fall = bitcast<f32>(atomicLoad(&simulation_counters.longest_moving));
    if atomicLoad(&simulation_counters.edited) > 0u && fall > 0.0 {
        simulation.pace = min(simulation.pace, fall);
    }
    atomicStore(&simulation_counters.edited, 0u);
    atomicStore(&simulation_counters.longest, bitcast<u32>(NEVER));
    atomicStore(&simulation_counters.longest_moving, bitcast<u32>(NEVER));
    // If less than two substeps remain, two equal substeps avoid a very short last one.
    let pace = simulation.pace;
    let duration = select(select(pace, 0.5 * remaining, remaining < 2.0 * pace), remaining, remaining <= pace);
    simulation.substep = exact_part(remaining, duration);
    simulation.planned = simulation.substep;
    simulation.spheres = simulation_request.spheres;
    simulation.settled = 0u;
}

// Sets the sizes of all dispatches of a substep. If the number of spheres is 0, the dispatches run nothing.
// `pad_dispatch` may still hold the size from the last substep. It is set to 0, because pads are not examined
// until the kernel `continue` ends the rounds. That kernel then sets the size.
fn dispatch_all(spheres: u32) {
    simulation_dispatch = dispatch_over(spheres);
    round_dispatch = simulation_dispatch;
    pad_dispatch = dispatch_over(0u);
    for (var i = 0u; i < arrayLength(&list_dispatches); i++) {
        let size = select(vec2<u32>(0u), list_sizes[i], spheres > 0u);
        list_dispatches[i] = DispatchArguments(size.x, size.y, 1u);
    }
}

@compute @workgroup_size(1)
fn main() {
    choose();
    simulation.in_round = simulation.spheres;
    dispatch_all(simulation.spheres);
}

// Decides whether a substep of hard-sphere dynamics is complete, and chooses the duration and the pads of the next one.
// Dispatched as one workgroup.

#import carom::{CAROM_BEHIND, CAROM_COLLAPSE, CAROM_IMPACTS_FULL, CAROM_INCOMPLETE, CAROM_LEFT_PAD, CAROM_SEARCH_INCOMPLETE, CAROM_TOO_FEW_ROUNDS}
#import carom::{CaromResults, CaromSimulation}
#import dynamics::{SimulationCounters, SimulationRequest, WallImpulse}
#import two_floats::{add_float}
#import types::{Params}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(2) var<storage, read> results: CaromResults;
@group(0) @binding(3) var<storage, read> mesh_results: CaromResults;
@group(0) @binding(4) var<storage, read> simulation_sums: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> wall_sums: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> simulation: CaromSimulation;
@group(0) @binding(7) var<storage, read_write> simulation_counters: SimulationCounters;
@group(0) @binding(8) var<storage, read_write> wall_impulses: array<WallImpulse>;

// Largest ratio of the durations of two successive substeps.
const LONGER = 2.0;
// A substep that was rolled back is begun again with this share of its duration, if a shorter one may help.
const SHORTER = 0.5;
// After many rounds, the next substep is at most this many times as long as the last one. After an early end, it is
// planned at least this many times as long as the last one was.
const LITTLE_SHORTER = 0.8;
// A substep should have at most this many candidate pairs for each sphere, but may always have `FEW` in all.
const CANDIDATES = 6.0;
const FEW = 1000u;
// If pairs of a sphere and a triangle fill more than this share of their list, the next substep is not
// longer than the last one.
const NEARLY_FULL = 0.75;
// Number of impacts that a substep should have in addition to the mean number of each sphere,
// `SimulationRequest.impacts`.
const FEW_IMPACTS = 8.0;
// A substep that ends early, after less than this fraction of the planned time, hardly takes any time.
const COLLAPSED = 1e-6;
// If a substep uses more than this share of its rounds, the next one is shorter.
const ROUNDS = 0.75;
// The pad of a sphere is at least `pad_speed` times the duration of the substep. `pad_speed` is
// multiplied by `FASTER` after a substep in which a sphere moved farther than its pad, and by `SLOWER`
// after any other. One increase makes up for about 20 decreases, so about one substep in twenty is
// rolled back. In open space, `pad_speed` grows only if more than the share `MANY` of all spheres, or more
// than half of MOST_LEFT spheres, got wider pads in the substep.
const FASTER = 1.25;
const MANY = 0.006;
// The edge of the cells that are marked near spheres outside their pads is this number times the mean of
// (radius + pad) over all spheres.
const CELL = 2.0;
const SLOWER = 0.99;
// Lower limit, initial value and upper limit of `pad_speed`, as multiples of the mean speed of the spheres.
const LEAST_PAD = 0.5;
const FIRST_PAD = 2.0;
const MOST_PAD = 16.0;

var<workgroup> sh_sums: array<vec4<f32>, SCAN_WORKGROUP>;

// Adds to a 64-bit counter that is stored as two 32-bit words.
fn count(sum: vec2<u32>, more: u32) -> vec2<u32> {
    let low = sum.x + more;
    return vec2<u32>(low, sum.y + select(0u, 1u, low < more));
}

// Returns the number of pairs of a sphere and a triangle that may meet. A simulation without meshes has
// none. Then `mesh_results` must not be used, because another buffer is bound in its place.
fn near_triangles() -> u32 {
    return select(mesh_results.found.x, 0u, simulation_request.surfaces == simulation_request.walls);
}

fn all_impacts() -> u32 {
    return atomicLoad(&simulation_counters.impacts) + atomicLoad(&simulation_counters.wall_impacts);
}

// Returns whether the list of impacts, if there is one, has room for the impacts of this substep.
fn is_room() -> bool {
    let capacity = simulation_request.impact_capacity;
    return capacity == 0u || all_impacts() <= capacity - simulation.listed;
}

// Sets the intended duration of the next substep, after a complete one.
fn lengthen() {
    // Duration for which candidate pairs were sought.
    let planned = simulation.planned;
    let spheres = f32(max(simulation.spheres, 1u));
    // An impact at a wall involves one sphere instead of two, so it counts half.
    let at_walls = 0.5 * f32(atomicLoad(&simulation_counters.wall_impacts));
    let impacts = f32(atomicLoad(&simulation_counters.impacts)) + at_walls;
    let wanted = 0.5 * spheres * simulation_request.impacts + FEW_IMPACTS;
    var longer = min(wanted / max(impacts, 0.1), LONGER);
    if f32(simulation.round) > ROUNDS * f32(simulation_request.rounds) {
        longer = min(longer, LITTLE_SHORTER);
    }
    var next = simulation.substep * longer;
    // After an early end, the next substep may end early again. This takes fewer substeps than a plan that is too short.
    if simulation.substep < planned {
        next = max(next, LITTLE_SHORTER * planned);
    }
    // Many candidate pairs make the next substep shorter. But pairs of spheres of one compound body, or that overlap, are
    // not counted for this, because a shorter substep would have as many of them.
    let pairs = results.pairs - min(results.pairs, atomicLoad(&simulation_counters.together));
    let load = f32(pairs) / (spheres * CANDIDATES);
    if pairs > FEW && load > 1.0 {
        next = min(next, planned / pow(load, 0.333));
    } else if planned < 0.5 * simulation.pace {
        // The substep was short only because little time remained, so its duration says nothing about the next
        // one.
        next = max(next, simulation.pace);
    } else {
        // The number of candidate pairs grows at most like the cube of the duration. The list must have room
        // for the candidate pairs of the next substep.
        let room = f32(max(simulation_request.near_capacity, FEW));
        next = min(next, planned * max(pow(room / f32(max(pairs, 1u)), 0.333), 1.0));
    }
    // If the list of triangles near the spheres is nearly full, the next substep must not be longer than
    // the last one. Making it shorter would not help, because nearly as many triangles would be near the
    // spheres.
    if f32(near_triangles()) > NEARLY_FULL * f32(simulation_request.near_capacity) {
        next = min(next, planned);
    }
    simulation.pace = next;
}

fn accept(sums: vec4<f32>) {
    let duration = simulation.substep;
    simulation.accepted = 1u;
    if duration < COLLAPSED * simulation.planned {
        simulation.status |= CAROM_COLLAPSE;
    }
    simulation.committed += 1u;
    simulation.substeps += 1u;
    simulation.failures = 0u;
    simulation.rounds = max(simulation.rounds, simulation.round);
    simulation.time = add_float(simulation.time, duration);
    if duration < simulation.remaining {
        let left = add_float(vec2<f32>(simulation.remaining, simulation.carried), -duration);
        simulation.remaining = left.x;
        simulation.carried = left.y;
    } else {
        simulation.remaining = 0.0;
    }
    if !(simulation.remaining > 0.0) {
        simulation.status &= ~CAROM_BEHIND;
    }
    simulation.virial = add_float(simulation.virial, sums.x);
    simulation.kinetic_energy = sums.y;
    simulation.impacts = count(simulation.impacts, atomicLoad(&simulation_counters.impacts));
    simulation.wall_impacts = count(simulation.wall_impacts, atomicLoad(&simulation_counters.wall_impacts));
    if simulation_request.impact_capacity > 0u {
        simulation.listed += all_impacts();
    }
    lengthen();
}

// Returns whether the list of candidates is complete. The search leaves out spheres with invalid values.
// The list is still complete, because they take no part in the simulation. But the list is incomplete if
// the search has left out a valid sphere, which is too large with its pad.
fn is_searched() -> bool {
    return (results.status & CAROM_INCOMPLETE) == 0u
        && results.invalid == atomicLoad(&simulation_counters.invalid);
}

// Returns whether the paths are final: no impact has to be added to a path or removed from one. They may
// not be final even if no path changed in the last round: if `verify` has not run since then, a path
// without room may still lack an impact before the end of the substep.
fn is_settled() -> bool {
    return (simulation.settled == 1u || simulation.settled == 2u) && atomicLoad(&simulation_counters.pending) == 0u;
}

fn reject(left: bool) {
    simulation.rollbacks += 1u;
    simulation.failures += 1u;
    var shorter = true;
    if !is_searched() {
        simulation.status |= CAROM_SEARCH_INCOMPLETE;
        simulation.search_status = results.status;
    } else if !left && !is_settled() && simulation.settled != 3u {
        simulation.status |= CAROM_TOO_FEW_ROUNDS;
    } else if left || simulation.settled == 3u {
        simulation.status |= CAROM_LEFT_PAD;
        // A sphere that has moved farther than its pad gets a wider pad in the next attempt. So this
        // attempt has the same duration. Only after three failures in a row is it shorter.
        shorter = !left || simulation.failures > 2u;
    } else {
        simulation.status |= CAROM_IMPACTS_FULL;
        // The list of impacts had no room for the impacts of this substep. If it contains impacts of
        // earlier substeps, a shorter substep is not needed: the next recording begins with an empty
        // list.
        shorter = simulation.listed == 0u;
    }
    simulation.pace = simulation.substep;
    if shorter {
        simulation.pace = SHORTER * simulation.substep;
    }
}

fn judge(sums: vec4<f32>) {
    let left = atomicLoad(&simulation_counters.left) > 0u;
    let settled = is_settled() && is_searched();
    simulation.candidates = max(results.found.x, near_triangles());
    if settled && !left && is_room() {
        accept(sums);
        // Spheres that rest limit the next substep.
        var longest = atomicLoad(&simulation_counters.longest);
        if sums.z > 0.0 {
            longest = min(longest, atomicLoad(&simulation_counters.longest_moving));
        }
        simulation.pace = min(simulation.pace, bitcast<f32>(longest));
    } else {
        reject(left);
    }
    let spheres = f32(max(simulation.spheres, 1u));
    let mean = sums.z / spheres;
    simulation.cell = CELL * sums.w / spheres;
    if simulation.pad_speed == 0.0 {
        simulation.pad_speed = FIRST_PAD * mean;
    } else if settled || simulation.settled == 3u {
        // Half of MOST_LEFT is the limit in large worlds, because a substep in which more than MOST_LEFT spheres leave
        // their pads is rolled back.
        let allowed = min(MANY * spheres, 0.5 * f32(MOST_LEFT));
        let many = f32(atomicLoad(&simulation_counters.widened)) > allowed;
        simulation.pad_speed *= select(SLOWER, FASTER, left || many);
    }
    simulation.pad_speed = clamp(simulation.pad_speed, LEAST_PAD * mean, MOST_PAD * mean);
}

// Adds up the vectors of all invocations of the workgroup. The sum is in element 0.
fn add_up(own: vec4<f32>, local: u32) {
    workgroupBarrier();
    sh_sums[local] = own;
    for (var half = SCAN_WORKGROUP / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if local < half {
            sh_sums[local] += sh_sums[local + half];
        }
    }
}

// Adds the momentum that a wall has received in a complete substep to its total.
fn push(wall: u32, momentum: vec4<f32>) {
    let old = wall_impulses[wall];
    for (var k = 0u; k < 3u; k++) {
        let sum = add_float(vec2<f32>(old.high[k], old.low[k]), momentum[k]);
        wall_impulses[wall].high[k] = sum.x;
        wall_impulses[wall].low[k] = sum.y;
    }
}

@compute @workgroup_size(SCAN_WORKGROUP)
fn main(@builtin(local_invocation_index) local: u32) {
    var sums = vec4<f32>(0.0);
    for (var k = local; k < arrayLength(&simulation_sums); k += SCAN_WORKGROUP) {
        sums += simulation_sums[k];
    }
    add_up(sums, local);
    if local == 0u && simulation.spheres > 0u {
        judge(sh_sums[0]);
    }
    let walls = min(simulation_request.surfaces, arrayLength(&wall_impulses));
    for (var wall = 0u; wall < walls; wall++) {
        sums = vec4<f32>(0.0);
        for (var k = local * walls + wall; k < arrayLength(&wall_sums); k += SCAN_WORKGROUP * walls) {
            sums += wall_sums[k];
        }
        add_up(sums, local);
        if local == 0u && simulation.spheres > 0u && simulation.accepted == 1u {
            push(wall, sh_sums[0]);
        }
    }
}

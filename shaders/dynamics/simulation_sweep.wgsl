// Finds the impulses that keep the spheres that rest and all that touches them from approaching one another, at the end
// of a substep of hard-sphere dynamics: no impulse pulls, and a contact that parts passes none. `simulation_touch.wgsl` has
// listed the contacts.
//
// A sweep changes the impulses of all contacts at once, from the velocities after the last sweep. Each contact of a sphere
// has an equal share of its mass, so that all changes together are not too large (F. Tonge, F. Benevolenski and A.
// Voroshilov, ACM Transactions on Graphics 31, 2012, 105). Between two sweeps, the impulses go on as they have changed
// (H. Mazhar, T. Heyn, D. Negrut and A. Tasora, ACM Transactions on Graphics 34, 2015, 32). If no velocity changes any more,
// the later sweeps do nothing.
//
// A crowded sphere collapses. It passes the collapse on to what it passes an impulse to, so that all that touches it
// collides at once, however fast.

#import carom::{CaromSimulation}
#import dynamics::{Body, NEXT_WALL, PathPiece, SimulationCounters, SimulationRequest, Track}
#import endings::{PARTNER_MASK, SPREADS, ending}
#import invocation::{invocation}
#import rests::{slow_speed}

@group(0) @binding(0) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(1) var<uniform> simulation: CaromSimulation;
@group(0) @binding(2) var<uniform> sweep_number: vec4<u32>;
@group(0) @binding(3) var<storage, read> bodies: array<Body>;
@group(0) @binding(4) var<storage, read> pieces: array<PathPiece>;
@group(0) @binding(5) var<storage, read> tracks: array<Track>;
@group(0) @binding(6) var<storage, read_write> touches: array<vec4<u32>>;
// For each sphere, its velocity without the impulses, then that after every other sweep, and then that after the others.
// The fourth component is its inverse mass times the number of its contacts, and negative if it collapses.
@group(0) @binding(7) var<storage, read_write> swept: array<vec4<f32>>;
// Element k is the largest speed by which sweep k - 1 has changed the approach at a contact, as the bits of a float32.
// Element 0 is not 0 if there are contacts.
@group(0) @binding(8) var<storage, read_write> sweep_changes: array<atomic<u32>>;
@group(0) @binding(9) var<storage, read_write> simulation_counters: SimulationCounters;

// The impulses are found when a sweep changes no approach by more than this fraction of the speed that gravity gives in
// the substep, plus this fraction of the slow speed.
const FOUND = 1e-6;
// If the last sweep changes an approach by more than this fraction of the slow speed, the next substep is shorter, so that
// what is left there is slow.
const LEFT = 0.1;
// The impulses go on after a sweep by at most this share of their last change.
const MOST_AHEAD = 0.95;

var<workgroup> sh_change: atomic<u32>;
var<workgroup> sh_goes_on: u32;

fn is_listed(sphere: u32) -> bool {
    return sphere < simulation.spheres && bodies[sphere].radius >= 0.0;
}

fn swept_by(sphere: u32, number: u32) -> u32 {
    return (1u + number % 2u) * simulation.spheres + sphere;
}

// Returns whether sweep `number` has anything to do.
fn goes_on(number: u32) -> bool {
    let time = simulation.substep + simulation.contact_time;
    let found = FOUND * length(simulation_request.gravity) * time;
    return bitcast<f32>(atomicLoad(&sweep_changes[number])) > found;
}

fn start(sphere: u32) {
    let header = touches[2u * sphere + 1u];
    let end = ending(sphere);
    let inverse_mass = bodies[sphere].inverse_mass;
    let velocity = end.velocity + simulation_request.gravity * end.owed;
    let split = inverse_mass * f32(header.x) * select(1.0, -1.0, end.crowded);
    var after = velocity;
    for (var k = 0u; k < header.x; k++) {
        let contact = bitcast<vec4<f32>>(touches[header.y + 2u * k]);
        after -= contact.xyz * (contact.w * inverse_mass);
    }
    swept[sphere] = vec4<f32>(velocity, split);
    swept[swept_by(sphere, 0u)] = vec4<f32>(after, split);
    swept[swept_by(sphere, 1u)] = vec4<f32>(after, split);
    if header.x > 0u {
        atomicMax(&sh_change, bitcast<u32>(GREATEST));
    }
}

fn sweep(sphere: u32, number: u32) {
    let header = touches[2u * sphere + 1u];
    if header.x == 0u {
        return;
    }
    let inverse_mass = bodies[sphere].inverse_mass;
    let own = swept[swept_by(sphere, number)];
    let ahead = min(f32(number) / f32(number + 3u), MOST_AHEAD);
    let start = swept[sphere];
    var after = start.xyz;
    var most = 0.0;
    var collapses = own.w < 0.0;
    for (var k = 0u; k < header.x; k++) {
        let place = header.y + 2u * k;
        let contact = bitcast<vec4<f32>>(touches[place]);
        let words = touches[place + 1u];
        let partner = words.x & PARTNER_MASK;
        var other = vec4<f32>(0.0);
        if partner < NEXT_WALL {
            other = swept[swept_by(partner, number)];
        }
        if (words.x & SPREADS) != 0u && own.w >= 0.0 && other.w >= 0.0 {
            continue;
        }
        let lacking = dot(contact.xyz, own.xyz - other.xyz) + bitcast<f32>(words.y);
        let mass = 1.0 / max(abs(own.w) + abs(other.w), MIN_POSITIVE);
        let impulse = max(bitcast<f32>(words.z) + lacking * mass, 0.0);
        let change = impulse - contact.w;
        collapses |= impulse > 0.0 && other.w < 0.0;
        let next = max(impulse + ahead * change, 0.0);
        touches[place].w = bitcast<u32>(impulse);
        touches[place + 1u].z = bitcast<u32>(next);
        after -= contact.xyz * (next * inverse_mass);
        most = max(most, abs(impulse - bitcast<f32>(words.z)) / mass);
    }
    swept[swept_by(sphere, number + 1u)] = vec4<f32>(after, select(start.w, -abs(start.w), collapses));
    touches[2u * sphere + 1u].z = u32(collapses);
    atomicMax(&sh_change, bitcast<u32>(most));
}

fn add_change(number: u32, local: u32) {
    workgroupBarrier();
    if local == 0u && atomicLoad(&sh_change) > 0u {
        atomicMax(&sweep_changes[number], atomicLoad(&sh_change));
        let change = bitcast<f32>(atomicLoad(&sh_change));
        let slow = LEFT * slow_speed(0.0);
        if number == SWEEPS && change > slow && slow > 0.0 {
            let longest = max(simulation.substep * slow / change, simulation.contact_time);
            atomicMin(&simulation_counters.longest, bitcast<u32>(longest));
        }
    }
}

// Finds the velocities with the impulses of the last substep.
@compute @workgroup_size(WORKGROUP)
fn begin(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = invocation(workgroup, workgroups, local, WORKGROUP);
    if is_listed(i) {
        start(i);
    }
    add_change(0u, local);
}

// Runs sweep number `sweep_number`.
@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let number = sweep_number.x;
    let i = invocation(workgroup, workgroups, local, WORKGROUP);
    if is_listed(i) && goes_on(number) {
        sweep(i, number);
    }
    add_change(number + 1u, local);
}

// Runs all sweeps of a small simulation. Dispatched as one workgroup.
@compute @workgroup_size(SCAN_WORKGROUP)
fn all_sweeps(@builtin(local_invocation_index) local: u32) {
    for (var number = 0u; number < SWEEPS; number++) {
        if local == 0u {
            sh_goes_on = u32(goes_on(number) && simulation.spheres > 0u);
            atomicStore(&sh_change, 0u);
        }
        if workgroupUniformLoad(&sh_goes_on) == 0u {
            break;
        }
        for (var i = local; i < simulation.spheres; i += SCAN_WORKGROUP) {
            if is_listed(i) {
                sweep(i, number);
            }
        }
        add_change(number + 1u, local);
        storageBarrier();
        workgroupBarrier();
    }
}

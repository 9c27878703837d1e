// Examines the paths at the end of a substep of hard-sphere dynamics: counts the impacts, and finds spheres
// that moved farther than their pads. Also adds up energy and virial for each workgroup, in a fixed order. If the
// substep ends early, first removes the impacts after this end.

#import carom::{CAROM_HALF_SPACE, CaromSimulation, CaromWall}
#import dynamics::{Body, Candidate, NEXT_NONE, NEXT_TRIANGLE, NEXT_WALL, PathPiece, SimulationCounters}
#import dynamics::{SimulationRequest, Track}
#import dynamics_places::{wall_of_code}
#import endings::{BEARS, PARTNER_MASK, WALL_MASK, count_until_end, ending}
#import invocation::{invocation}
#import paths::{OVERLAP, WIDER, farthest, path_piece}
#import rests::{RESTS, change_between, link_of, slow_speed}

@group(0) @binding(0) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(1) var<uniform> simulation: CaromSimulation;
@group(0) @binding(2) var<storage, read> bodies: array<Body>;
@group(0) @binding(3) var<storage, read> pieces: array<PathPiece>;
@group(0) @binding(4) var<storage, read> candidates: array<Candidate>;
@group(0) @binding(5) var<storage, read_write> tracks: array<Track>;
@group(0) @binding(6) var<storage, read_write> simulation_counters: SimulationCounters;
// For each workgroup, four sums over its spheres: of their contributions to the virial, their kinetic
// energies, their speeds, and their radii plus pads.
@group(0) @binding(7) var<storage, read_write> simulation_sums: array<vec4<f32>>;
// Momentum that the spheres of each workgroup passed to each wall and each mesh.
@group(0) @binding(8) var<storage, read_write> wall_sums: array<vec4<f32>>;
// What touches the spheres that rest: see `endings.wgsl`. Used only if spheres can rest.
@group(0) @binding(9) var<storage, read_write> touches: array<vec4<u32>>;
@group(0) @binding(10) var<uniform> simulation_walls: array<CaromWall, MOST_WALLS>;

// A sphere that rests and is slower than this fraction of the slow speed, plus this fraction of the speed that gravity
// gives in the substep, lies still.
const LYING = 1e-5;
const LYING_IN_SUBSTEP = 3e-5;
// A sphere rests on if the impulses against gravity are at least this share of its weight.
const SUPPORT = 0.01;
// A sphere that rests on a body that is not flat may slip by about this share of its radius in a substep. If its support
// is knocked away, it may miss a fall of about the share FALL of its radius. But a substep need not be shorter than the
// contact time.
const SLIP = 0.01;
const FALL = 0.001;

var<workgroup> sh_sums: array<vec4<f32>, WORKGROUP>;
var<workgroup> sh_impacts: atomic<u32>;
var<workgroup> sh_wall_impacts: atomic<u32>;
var<workgroup> sh_left: atomic<u32>;
var<workgroup> sh_pending: atomic<u32>;
// Bit k of `sh_walls` is set if any sphere of the workgroup has an impact at wall k. `sh_any_walls` is a
// copy for workgroupUniformLoad(), which reads no atomics.
var<workgroup> sh_walls: atomic<u32>;
var<workgroup> sh_any_walls: u32;

// Returns the number of the wall or mesh that a sphere has hit in an impact. `link` is the field of the
// `PathPiece` that begins with the impact.
fn wall_of(link: u32) -> u32 {
    if link >= NEXT_TRIANGLE {
        return candidates[simulation_request.near_capacity + link - NEXT_TRIANGLE].place_b;
    }
    return wall_of_code(link - NEXT_WALL);
}

// Returns the momentum that a sphere passed to a wall or a mesh during the substep.
fn impulse_at(sphere: u32, wall: u32) -> vec4<f32> {
    var sum = vec3<f32>(0.0);
    for (var number = 1u; number <= tracks[sphere].count; number++) {
        let piece = path_piece(sphere, number);
        if link_of(piece) >= NEXT_WALL && wall_of(link_of(piece)) == wall {
            sum -= change_between(sphere, path_piece(sphere, number - 1u), piece);
        }
    }
    sum /= bodies[sphere].inverse_mass;
    if RESTS {
        let header = touches[2u * sphere + 1u];
        for (var k = header.y; k < header.y + 2u * header.x; k += 2u) {
            if touches[k + 1u].x >= NEXT_WALL && (touches[k + 1u].w & WALL_MASK) == wall {
                let contact = bitcast<vec4<f32>>(touches[k]);
                sum += contact.xyz * contact.w;
            }
        }
    }
    return vec4<f32>(sum, 0.0);
}

// Adds up the vectors of a workgroup. The sum is in element 0.
fn add_up(local: u32) {
    for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if local < half {
            sh_sums[local] += sh_sums[local + half];
        }
    }
    workgroupBarrier();
}

// Returns the contribution of a sphere to the virial of its impact number `number`. The virial of an impact is the
// impulse times the distance between the centres. The lighter sphere contributes all of it, because the change of its
// velocity has more correct digits. Two spheres of the same mass contribute half of it each. Impacts at walls and
// triangles contribute 0.
fn virial_of(sphere: u32, number: u32) -> f32 {
    let piece = path_piece(sphere, number);
    let inverse_mass = bodies[sphere].inverse_mass;
    if (piece.link & NEXT_WALL) != 0u {
        return 0.0;
    }
    let pair = candidates[link_of(piece) / MOST_IMPACTS];
    let other = bodies[pair.a + pair.b - sphere].inverse_mass;
    if inverse_mass < other {
        return 0.0;
    }
    let impulse = length(change_between(sphere, path_piece(sphere, number - 1u), piece)) / inverse_mass;
    return select(0.5, 1.0, inverse_mass > other) * impulse * (bodies[pair.a].radius + bodies[pair.b].radius);
}

// Removes the impacts after the end of the substep from the path of a sphere. There are such impacts only if the
// substep ends early.
fn end_path(sphere: u32) {
    tracks[sphere].count = count_until_end(sphere);
}

// Limits the next substep: in any case, or only if any sphere moves.
fn at_most(limit: f32, in_any_case: bool) {
    let longest = bitcast<u32>(max(limit, simulation.contact_time));
    if in_any_case {
        atomicMin(&simulation_counters.longest, longest);
    } else {
        atomicMin(&simulation_counters.longest_moving, longest);
    }
}

// Decides whether a sphere rests on. Returns its velocity in the next substep, and its contribution to the virial.
fn rest(sphere: u32) -> vec4<f32> {
    let body = bodies[sphere];
    let end = ending(sphere);
    let header = touches[2u * sphere + 1u];
    let strength = length(simulation_request.gravity);
    let down = select(vec3<f32>(0.0), simulation_request.gravity / strength, strength > 0.0);
    var velocity = end.velocity + simulation_request.gravity * end.owed;
    var virial = 0.0;
    var support = 0.0;
    var is_flat = true;
    for (var k = header.y; k < header.y + 2u * header.x; k += 2u) {
        let contact = bitcast<vec4<f32>>(touches[k]);
        let partner = touches[k + 1u].x & PARTNER_MASK;
        velocity -= contact.xyz * (contact.w * body.inverse_mass);
        if partner < NEXT_WALL {
            virial += 0.5 * contact.w * (body.radius + bodies[partner].radius);
            is_flat = false;
        } else {
            let wall = touches[k + 1u].w & WALL_MASK;
            atomicOr(&sh_walls, 1u << wall);
            is_flat &= wall >= simulation_request.walls || simulation_walls[wall].kind == CAROM_HALF_SPACE;
        }
        if (touches[k + 1u].x & BEARS) != 0u {
            support += contact.w * dot(contact.xyz, down);
        }
    }
    let weight = strength * end.owed / body.inverse_mass;
    let rests = end.joins && support >= SUPPORT * weight && (support > 0.0 || !end.crowded);
    let strain = end.strain + f32(header.z);
    if strain > 0.0 {
        at_most(OVERLAP * body.radius / (slow_speed(0.0) * exp2(strain)), true);
    }
    if rests {
        let speed = length(velocity);
        if header.w == 0u && speed <= strength * (LYING * simulation.contact_time
            + LYING_IN_SUBSTEP * simulation.substep) {
            velocity = vec3<f32>(0.0);
        } else if !is_flat {
            at_most(SLIP * body.radius / speed, true);
        }
        let fall = sqrt(2.0 * FALL * body.radius / strength);
        at_most(fall, header.w != 0u);
    }
    touches[2u * sphere] = vec4<u32>(bitcast<vec3<u32>>(velocity), u32(rests));
    return vec4<f32>(velocity, virial);
}

// Examines the path of a sphere, and returns its contributions to `simulation_sums`.
fn settle(sphere: u32) -> vec4<f32> {
    end_path(sphere);
    let track = tracks[sphere];
    let body = bodies[sphere];
    var virial = 0.0;
    for (var number = 1u; number <= track.count; number++) {
        let piece = path_piece(sphere, number);
        if (piece.link & NEXT_WALL) != 0u {
            atomicAdd(&sh_wall_impacts, 1u);
            atomicOr(&sh_walls, 1u << wall_of(link_of(piece)));
        } else if candidates[link_of(piece) / MOST_IMPACTS].a == sphere {
            atomicAdd(&sh_impacts, 1u);
        }
        virial += virial_of(sphere, number);
    }
    let last = path_piece(sphere, track.count);
    let moved = farthest(sphere, track.count, simulation.substep);
    if track.next != NEXT_NONE && track.time < simulation.substep {
        atomicStore(&sh_pending, 1u);
    }
    if moved > track.pad {
        tracks[sphere].wide = WIDER * moved / simulation.substep;
        atomicAdd(&sh_left, 1u);
    }
    var velocity = last.velocity;
    var energy = 0.0;
    if body.inverse_mass > 0.0 {
        if RESTS {
            let rested = rest(sphere);
            velocity = rested.xyz;
            virial += rested.w;
        } else {
            velocity += simulation_request.gravity * simulation.substep;
        }
        energy = 0.5 * dot(velocity, velocity) / body.inverse_mass;
    }
    return vec4<f32>(virial, energy, length(velocity), body.radius + track.pad);
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = invocation(workgroup, workgroups, local, WORKGROUP);
    var sums = vec4<f32>(0.0);
    if i < simulation.spheres && bodies[i].radius >= 0.0 {
        sums = settle(i);
    }
    sh_sums[local] = sums;
    add_up(local);
    let place = workgroup.x + workgroup.y * workgroups.x;
    if local == 0u && place < arrayLength(&simulation_sums) {
        simulation_sums[place] = sh_sums[0];
        atomicAdd(&simulation_counters.impacts, atomicLoad(&sh_impacts));
        atomicAdd(&simulation_counters.wall_impacts, atomicLoad(&sh_wall_impacts));
        atomicAdd(&simulation_counters.left, atomicLoad(&sh_left));
        atomicMax(&simulation_counters.pending, atomicLoad(&sh_pending));
        sh_any_walls = atomicLoad(&sh_walls);
    }
    let walls = workgroupUniformLoad(&sh_any_walls);
    let first = place * simulation_request.surfaces;
    if local < simulation_request.surfaces && first + local < arrayLength(&wall_sums) && ((walls >> local) & 1u) == 0u {
        wall_sums[first + local] = vec4<f32>(0.0);
    }
    for (var rest = walls; rest != 0u; rest &= rest - 1u) {
        let wall = firstTrailingBit(rest);
        workgroupBarrier();
        sh_sums[local] = vec4<f32>(0.0);
        if i < simulation.spheres && ((tracks[i].walls >> wall) & 1u) != 0u {
            sh_sums[local] = impulse_at(i, wall);
        }
        add_up(local);
        if local == 0u && first + wall < arrayLength(&wall_sums) {
            wall_sums[first + wall] = sh_sums[0];
        }
    }
}

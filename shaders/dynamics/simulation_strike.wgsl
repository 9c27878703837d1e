// Adds the next impact to the path of each sphere in the list of the round, that of two spheres only if it is the next
// one of both. If the kernel `find` has found wrong impacts on a sphere's path, this kernel instead removes the first
// wrong impact and all later ones. Each sphere whose path has changed, and the spheres that are its candidates, are
// listed for the next round.

#import carom::{CAROM_HALF_SPACE, CaromSimulation, CaromWall}
#import dynamics::{Body, Candidate, LONG_AGO, MeshTriangle, NEXT_CUT, NEXT_NONE, NEXT_TRIANGLE, NEXT_WALL, PathPiece}
#import dynamics::{SimulationRequest, Track}
#import dynamics_places::{image_of_code, place_at_wall, shift_of, wall_of_code}
#import dynamics_triangles::{facing}
#import dynamics_walls::{at_wall, is_hollow}
#import encounter::{direction, pair_motion, wall_motion}
#import further_entries::{entry_after}
#import invocation::{invocation}
#import meeting::{Motion, RESTING}
#import opaque::{opaque}
#import paths::{has_room, path_piece, place_at}
#import rests::{CURVED, HELD, RESTS, is_held, pair_restitution, slow_speed, wall_restitution}
#import round_spheres::{NEXT_LIST, append_to_round, head_of, list_for_round, mark_for_round, sphere_of_round}
#import types::{Params}

@group(0) @binding(0) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(1) var<uniform> simulation: CaromSimulation;
@group(0) @binding(2) var<uniform> simulation_walls: array<CaromWall, MOST_WALLS>;
@group(0) @binding(3) var<storage, read> bodies: array<Body>;
@group(0) @binding(4) var<storage, read> candidates: array<Candidate>;
@group(0) @binding(5) var<storage, read_write> pieces: array<PathPiece>;
@group(0) @binding(6) var<storage, read_write> tracks: array<Track>;
@group(0) @binding(7) var<storage, read> simulation_triangles: array<MeshTriangle>;
@group(0) @binding(8) var<storage, read> row_starts: array<u32>;
@group(0) @binding(9) var<storage, read> row_entries: array<u32>;
@group(0) @binding(10) var<storage, read_write> round_spheres: array<atomic<u32>>;
@group(0) @binding(11) var<uniform> params: Params;

// Upper limit of half the distance that a sphere in a hollow wall flies within a contact time, divided by the radius
// of the path along which its centre slides. Beyond this limit, the sphere is turned as if it flew only so far. This
// avoids overflow and hardly changes the angle.
const MOST_TURNED = 1000.0;
// A hollow wall turns a sphere only if this makes the speed away from the wall larger by more than this factor.
const TURNED = 1.0 + 1.0 / 65536.0;

// Returns the time of the last impact of a sphere. Many spheres may hit a sphere of infinite mass within a contact time.
// Like a wall, it does not make their impacts elastic, so it is treated as if it had had no impact.
fn last_impact(sphere: u32, last: PathPiece) -> f32 {
    if bodies[sphere].inverse_mass == 0.0 {
        return LONG_AGO;
    }
    if tracks[sphere].count > 0u {
        return last.start;
    }
    let since = tracks[sphere].since;
    return select(LONG_AGO, since, since < 0.0);
}

// Returns the restitution of an impact if no spheres can rest: 1 if `since`, the time since the last impact of either
// body, is less than the contact time, and otherwise `own`. Walls and spheres of infinite mass do not count for
// `since`.
fn restitution_after(own: f32, since: f32) -> f32 {
    return select(own, 1.0, since < simulation.contact_time);
}

// Returns the lowest speed at which two bodies leave each other after an impact. `pressing` is the acceleration
// that presses them together. It must bring them together again only after the contact time. The speed
// must also be above the rounding error of an approach speed. Otherwise, bodies that touch each other may have
// further impacts that are only rounding errors. `speeds` is the sum of the speeds of the two bodies.
fn least_separation(pressing: f32, speeds: f32) -> f32 {
    return max(0.5 * max(pressing, 0.0) * simulation.contact_time, RESTING * speeds);
}

// What an impact does if spheres can rest: the restitution, the lowest speed at which the bodies leave each other, and
// whether gravity ceases to act on them, or begins to.
struct AfterImpact {
    restitution: f32,
    least: f32,
    holds: bool,
    frees: bool,
}

// Decides what an impact does if spheres can rest. A slow impact takes away the approach, if the acceleration `pressing`
// presses the bodies together, or if the partner of a sphere is held (`on_held`). If it presses them, and the sphere can
// rest on its partner (`bears`), they are held from then on. A faster impact frees them.
fn after_impact(own: f32, approach: f32, pressing: f32, on_held: bool, bears: bool, speeds: f32) -> AfterImpact {
    let is_slow = approach < slow_speed(own) && (pressing > 0.0 || on_held);
    let holds = is_slow && pressing > 0.0 && bears;
    let least = least_separation(select(pressing, 0.0, bears), speeds);
    let frees = !is_slow && approach >= slow_speed(0.0);
    return AfterImpact(select(own, 0.0, is_slow), select(least, 0.0, holds), holds, frees);
}

// Returns the impulse of an impact, which is the change of the relative velocity of two bodies divided by the sum of
// their inverse masses. `normal` is a unit vector, and the bodies approach each other if the component of their relative
// velocity along it is positive. After the impact, this component is negative, and its magnitude is at least `least`.
//
// The change is a multiple of the vector `axis`, and is divided by the square of `axis`. So with the restitution 1,
// the energy stays the same for any `axis`, except for rounding errors. The length of `axis` has the digits of the
// approach speed. So it differs from impact to impact, and these rounding errors are 0 on average, even at a plane with
// its constant normal. For the same reason, each inverse mass is multiplied by the square before they are added: the
// rounding error of the sum of two inverse masses, and that of a division by it, would be the same in all impacts of
// two kinds of spheres, and the energy would drift.
fn rebound(
    velocity: vec3<f32>,
    normal: vec3<f32>,
    restitution: f32,
    least: f32,
    inverse_masses: vec2<f32>,
) -> vec3<f32> {
    // A number from 1 to 2.
    let digits = bitcast<f32>((bitcast<u32>(dot(velocity, normal)) & 0x007fffffu) | 0x3f800000u);
    let axis = normal * digits;
    // If `normal` is 0, so is `axis`, and the change must be 0. Otherwise, the square is between 1 and 4, except for
    // rounding.
    let square = max(dot(axis, axis), 0.5);
    // The speeds before and after the impact, times the length of `axis`.
    let approach = max(dot(velocity, axis), 0.0);
    let leaving = max(restitution * approach, least * digits);
    let divisors = vec2<f32>(opaque(inverse_masses.x * square), opaque(inverse_masses.y * square));
    return axis * (-(approach + leaving) / (divisors.x + divisors.y));
}

// How a hollow wall turns a sphere that slides along it.
struct Turn {
    // The restitution of the impact.
    restitution: f32,
    // The lowest speed at which the sphere leaves the wall.
    least: f32,
    // The change of the velocity along the wall, as a share of this velocity.
    change: f32,
}

// A hollow wall turns a sphere that slides along it, but does not change its kinetic energy: the squared speed along
// the wall falls by as much as the squared speed away from it rises. `given` holds the restitution and the lowest speed
// for an impact without a turn, `approach` is the speed towards the wall, and `slide` the squared speed along it.
// `pressed` is the lowest speed away from the wall on account of gravity, or negative if gravity pulls the sphere away
// from it. `curvature` is the curvature of the path of the centre of a sphere that slides along the wall. The equations
// are explained in `Setting::separation`, which does the same in float64.
fn turn_inwards(given: Turn, approach: f32, pressed: f32, slide: f32, curvature: f32) -> Turn {
    let first = max(given.restitution * approach, given.least);
    let squared = slide + first * first;
    let bend = min(0.5 * curvature * simulation.contact_time, MOST_TURNED / max(sqrt(squared), MIN_POSITIVE));
    let known = pressed + bend * squared;
    let turned = 2.0 * known / (1.0 + sqrt(max(1.0 + 4.0 * bend * known, 0.0)));
    if turned < approach {
        return Turn(given.restitution, max(given.least, turned), 0.0);
    }
    let speed = max(first, approach);
    // If `turned` is larger than `speed` only by rounding, the sphere is not turned. Otherwise, each impact would take
    // the larger of two nearly equal speeds, and the energy would grow.
    if turned <= speed * TURNED {
        return Turn(1.0, given.least, 0.0);
    }
    let lost = min((turned * turned - speed * speed) / slide, 0.75);
    return Turn(1.0, sqrt(speed * speed + lost * slide), -lost / (1.0 + sqrt(1.0 - lost)));
}

// The spheres that the workgroup adds to the list of the next round. They are added to it together, because additions
// to one word of global memory are serialized. The spheres beyond MOST_GATHERED are not gathered, but added at once.
const MOST_GATHERED = 256u;
var<workgroup> sh_spheres: array<u32, MOST_GATHERED>;
var<workgroup> sh_gathered: atomic<u32>;
// Index of the workgroup's first entry in the list of the next round.
var<workgroup> sh_first: u32;

fn gather_for_round(sphere: u32) {
    if !mark_for_round(sphere) {
        return;
    }
    let place = atomicAdd(&sh_gathered, 1u);
    if place < MOST_GATHERED {
        sh_spheres[place] = sphere;
    } else {
        append_to_round(sphere);
    }
}

// Adds the gathered spheres to the list of the next round. All invocations of the workgroup must call this function.
fn add_gathered(local: u32) {
    workgroupBarrier();
    let count = min(atomicLoad(&sh_gathered), MOST_GATHERED);
    if local == 0u && count > 0u {
        sh_first = atomicAdd(&round_spheres[NEXT_LIST], count);
    }
    let first = workgroupUniformLoad(&sh_first);
    for (var k = local; k < count; k += WORKGROUP) {
        list_for_round(first + k, sh_spheres[k]);
    }
}

// Adds a sphere whose path has changed, and its candidates, to the list of the next round.
fn add_around(sphere: u32) {
    gather_for_round(sphere);
    for (var k = row_starts[sphere]; k < row_starts[sphere + 1u]; k++) {
        let index = row_entries[k];
        if index < NEXT_WALL {
            gather_for_round(candidates[index].a + candidates[index].b - sphere);
        }
    }
    var entry = atomicLoad(&round_spheres[head_of(sphere)]);
    while entry != NEXT_NONE {
        if entry < NEXT_WALL {
            gather_for_round(candidates[entry].a + candidates[entry].b - sphere);
        }
        entry = entry_after(entry, sphere);
    }
}

// Adds an impact at `time` to the path of a sphere. `held` is whether gravity does not act on it afterwards.
fn turn(sphere: u32, last: PathPiece, time: f32, change: vec3<f32>, link: u32, held: bool) {
    let count = tracks[sphere].count;
    var piece = PathPiece(place_at(last, time), time, last.velocity + change, link);
    if RESTS {
        let gravity = simulation_request.gravity * (f32(held) - f32(is_held(sphere, last)));
        piece.place += gravity * (0.5 * time * time);
        piece.velocity += gravity * time;
        piece.link |= select(0u, HELD, held);
    }
    pieces[sphere * simulation_request.path_room + count] = piece;
    tracks[sphere].count = count + 1u;
    add_around(sphere);
}

fn strike_pair(index: u32, time: f32) {
    let pair = candidates[index];
    let count_a = tracks[pair.a].count;
    let count_b = tracks[pair.b].count;
    if !has_room(pair.a, count_a) || !has_room(pair.b, count_b) {
        return;
    }
    let one = path_piece(pair.a, count_a);
    let other = path_piece(pair.b, count_b);
    let motion = pair_motion(pair, one, other, time);
    let normal = -direction(motion.place);
    // If gravity acts on only one of the two spheres, it may press them against each other.
    var pressing = 0.0;
    if any(motion.acceleration != vec3<f32>(0.0)) {
        let approach = max(dot(motion.velocity, normal), 0.0);
        let across = dot(motion.velocity, motion.velocity) - approach * approach;
        pressing = dot(motion.acceleration, normal) - across / max(length(motion.place), MIN_POSITIVE);
    }
    let speeds = length(one.velocity) + length(other.velocity);
    let since = time - max(last_impact(pair.a, one), last_impact(pair.b, other));
    let approach = dot(motion.velocity, normal);
    var restitution = pair_restitution(pair.a, pair.b);
    var least = least_separation(pressing, speeds);
    let inverse_masses = vec2<f32>(bodies[pair.a].inverse_mass, bodies[pair.b].inverse_mass);
    var held = vec2<bool>(false);
    if RESTS {
        held = vec2<bool>(is_held(pair.a, one), is_held(pair.b, other));
        let after = after_impact(restitution, approach, pressing, any(held), true, speeds);
        restitution = after.restitution;
        least = after.least;
        held = (held & !vec2<bool>(after.frees)) | vec2<bool>(after.holds) | (inverse_masses == vec2<f32>(0.0));
    } else {
        restitution = restitution_after(restitution, since);
    }
    let impulse = rebound(motion.velocity, normal, restitution, least, inverse_masses);
    turn(pair.a, one, time, impulse * -inverse_masses.x, index * MOST_IMPACTS + count_b, held.x);
    turn(pair.b, other, time, impulse * inverse_masses.y, index * MOST_IMPACTS + count_a, held.y);
}

// Adds an impact at wall or mesh `number` to the path of a sphere. `normal` is a unit vector from the sphere into the wall. `bend` is
// the component along `normal` of the centrifugal acceleration that the sphere has when it slides along a solid wall,
// and is negative or 0. If the wall is hollow, `sliding` is the velocity along it, perpendicular to the axis of a
// cylinder, and `curvature` is the curvature of the path of the centre of a sphere that slides along it. Both are 0
// for all other walls.
fn leave_wall(
    sphere: u32,
    last: PathPiece,
    time: f32,
    wall: CaromWall,
    number: u32,
    motion: Motion,
    normal: vec3<f32>,
    bend: f32,
    sliding: vec3<f32>,
    curvature: f32,
) {
    let speeds = length(motion.velocity) + length(wall.velocity);
    let since = time - last_impact(sphere, last);
    let towards = dot(motion.velocity, normal);
    let pressing = dot(motion.acceleration, normal) + bend;
    let slide = dot(sliding, sliding);
    var restitution = wall_restitution(sphere, number);
    var least = least_separation(pressing, speeds);
    var held = false;
    if RESTS {
        let bears = slide * curvature <= CURVED * length(simulation_request.gravity);
        let after = after_impact(restitution, towards, pressing, false, bears, speeds);
        restitution = after.restitution;
        least = after.least;
        held = after.holds || (is_held(sphere, last) && !after.frees);
    } else {
        restitution = restitution_after(restitution, since);
    }
    var leaving = Turn(restitution, least, 0.0);
    if slide > 0.0 && !held {
        let approach = max(towards, 0.0);
        let pressed = 0.5 * dot(motion.acceleration, normal) * simulation.contact_time;
        leaving = turn_inwards(leaving, approach, pressed, slide, curvature);
    }
    let away = rebound(motion.velocity, normal, leaving.restitution, leaving.least, vec2<f32>(1.0, 0.0));
    turn(sphere, last, time, away + sliding * leaving.change, tracks[sphere].next, held);
}

fn strike_triangle(sphere: u32, number: u32, time: f32) {
    if !has_room(sphere, tracks[sphere].count) {
        return;
    }
    let near = candidates[simulation_request.near_capacity + number];
    let mesh = simulation_walls[near.place_b];
    let last = path_piece(sphere, tracks[sphere].count);
    let motion = wall_motion(mesh.velocity, near.apart, last, time);
    let normal = -direction(facing(near.b, motion.place).away);
    // The centrifugal acceleration of a sphere that slides along the face is 0. At an edge or a corner, it
    // would be negative, but 0 is used there, too.
    leave_wall(sphere, last, time, mesh, near.place_b, motion, normal, 0.0, vec3<f32>(0.0), 0.0);
}

fn strike_wall(sphere: u32, code: u32, time: f32) {
    if !has_room(sphere, tracks[sphere].count) {
        return;
    }
    let number = wall_of_code(code);
    let wall = simulation_walls[number];
    let place = place_at_wall(wall, bodies[sphere].center) + shift_of(image_of_code(code));
    let last = path_piece(sphere, tracks[sphere].count);
    let motion = wall_motion(wall.velocity, place, last, time);
    // Unit vector from the sphere into the wall.
    var normal = -wall.direction;
    var bend = 0.0;
    var sliding = vec3<f32>(0.0);
    var curvature = 0.0;
    if wall.kind != CAROM_HALF_SPACE {
        // Rounding errors leave a part of the component along the axis of a cylinder, if the sphere is far along the
        // axis. The second call removes this part.
        let across = at_wall(wall, at_wall(wall, motion));
        let distance = max(length(across.place), MIN_POSITIVE);
        let outwards = direction(across.place);
        let along = across.velocity - outwards * dot(across.velocity, outwards);
        if is_hollow(wall) {
            normal = outwards;
            sliding = along;
            curvature = 1.0 / distance;
        } else {
            normal = -outwards;
            bend = -dot(along, along) / distance;
        }
    }
    leave_wall(sphere, last, time, wall, number, motion, normal, bend, sliding, curvature);
}

// Adds the next impact to the path of sphere `i`, or removes wrong impacts from it.
fn strike(i: u32) {
    let next = tracks[i].next;
    if bodies[i].radius < 0.0 || next == NEXT_NONE {
        return;
    }
    let time = tracks[i].time;
    if next == NEXT_CUT {
        tracks[i].count = u32(time);
        add_around(i);
    } else if RESTS && 3u * simulation.round >= 2u * simulation_request.rounds {
        // The last third of the rounds adds no impacts, so that all others are in the paths of both spheres when the
        // rounds end. The substep then ends before the first impact that is missing, as it does if a path is full. So even
        // if ever more impacts happen at one time, the simulation goes on.
        return;
    } else if next >= NEXT_TRIANGLE {
        strike_triangle(i, next - NEXT_TRIANGLE, time);
    } else if next >= NEXT_WALL {
        strike_wall(i, next - NEXT_WALL, time);
    } else {
        // Each sphere in the list of this round has an invocation. If both spheres of the impact are in
        // the list, only the invocation of sphere a adds the impact.
        let a = candidates[next].a;
        let other = a + candidates[next].b - i;
        let adds = a == i || tracks[other].found != simulation.round;
        if adds && tracks[other].next == next {
            strike_pair(next, time);
        }
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let number = invocation(workgroup, workgroups, local, WORKGROUP);
    if number < simulation.in_round {
        strike(sphere_of_round(number));
    }
    add_gathered(local);
}

// In each round of a hard-sphere simulation, finds the next impact of each sphere whose path, or whose candidates'
// paths, have changed in the round before. An impact that an earlier round has added may turn out wrong: another
// sphere crosses the path earlier, or the other sphere of the impact has removed it from its path. Then this kernel
// finds the first impact of the path that has to be removed.

#import carom::{CaromSimulation, CaromWall}
#import dynamics::{Body, Candidate, MeshTriangle, NEVER, NEXT_CUT, NEXT_NONE, NEXT_TRIANGLE, NEXT_WALL, PathPiece}
#import dynamics::{SimulationRequest, Track}
#import dynamics_triangles::{triangle_meeting, wall_at_triangle}
#import dynamics_walls::{wall_meeting}
#import encounter::{pair_motion, wall_motion}
#import invocation::{invocation}
#import meeting::{round_meeting, straight_meeting}
#import paths::{path_piece}
#import round_spheres::{head_of, sphere_of_round}

@group(0) @binding(0) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(1) var<uniform> simulation: CaromSimulation;
@group(0) @binding(2) var<uniform> simulation_walls: array<CaromWall, MOST_WALLS>;
@group(0) @binding(3) var<storage, read> bodies: array<Body>;
@group(0) @binding(4) var<storage, read> pieces: array<PathPiece>;
@group(0) @binding(5) var<storage, read> candidates: array<Candidate>;
@group(0) @binding(6) var<storage, read> row_starts: array<u32>;
@group(0) @binding(7) var<storage, read> row_entries: array<u32>;
@group(0) @binding(8) var<storage, read> simulation_triangles: array<MeshTriangle>;
@group(0) @binding(9) var<storage, read_write> tracks: array<Track>;
@group(0) @binding(10) var<storage, read_write> round_spheres: array<atomic<u32>>;

// Returns the time from `start` until `end` at which two spheres meet on the given pieces of their paths, or
// NEVER.
fn meeting(pair: Candidate, one: PathPiece, other: PathPiece, start: f32, end: f32) -> f32 {
    let motion = pair_motion(pair, one, other, start);
    let reach = bodies[pair.a].radius + bodies[pair.b].radius;
    let speeds = length(one.velocity) + length(other.velocity);
    var time: f32;
    if all(motion.acceleration == vec3<f32>(0.0)) {
        time = straight_meeting(motion.place, motion.velocity, reach, speeds);
    } else {
        time = round_meeting(motion, reach, false, speeds, end - start);
    }
    if time >= end - start {
        return NEVER;
    }
    return start + time;
}

// Returns the first time at which two spheres meet, apart from the impacts that their paths already have, or
// NEVER. A path consists of pieces of free motion, with an impact at the end of each but the last. A meeting
// at the end of a piece does not count, so these impacts are not found again. The result has the same bits for
// both spheres.
fn first_meeting(pair: Candidate) -> f32 {
    let count_a = tracks[pair.a].count;
    let count_b = tracks[pair.b].count;
    var number_a = 0u;
    var number_b = 0u;
    for (var k = 0u; k <= 2u * MOST_IMPACTS; k++) {
        var end_a = simulation.substep;
        var end_b = simulation.substep;
        if number_a < count_a {
            end_a = path_piece(pair.a, number_a + 1u).start;
        }
        if number_b < count_b {
            end_b = path_piece(pair.b, number_b + 1u).start;
        }
        let one = path_piece(pair.a, number_a);
        let other = path_piece(pair.b, number_b);
        let start = max(one.start, other.start);
        let end = min(end_a, end_b);
        if start < end {
            let time = meeting(pair, one, other, start, end);
            if time < end {
                return time;
            }
        }
        if number_a < count_a && (end_a <= end_b || number_b == count_b) {
            number_a++;
        } else if number_b < count_b {
            number_b++;
        } else {
            break;
        }
    }
    return NEVER;
}

// Returns how many impacts of a sphere come before the first impact that the other sphere of the impact has
// removed from its own path.
fn first_orphan(sphere: u32) -> u32 {
    let count = tracks[sphere].count;
    for (var number = 1u; number <= count; number++) {
        let link = path_piece(sphere, number).link;
        if (link & NEXT_WALL) != 0u {
            continue;
        }
        let index = link / MOST_IMPACTS;
        let place = link % MOST_IMPACTS + 1u;
        let other = candidates[index].a + candidates[index].b - sphere;
        let back = index * MOST_IMPACTS + number - 1u;
        if place > tracks[other].count || path_piece(other, place).link != back {
            return number - 1u;
        }
    }
    return count;
}

// Returns whether candidate `index` is processed before candidate `best` if both impacts are at the same time.
fn is_before(index: u32, best: u32) -> bool {
    if best == NEXT_NONE {
        return true;
    }
    let one = candidates[index];
    let other = candidates[best];
    if one.a != other.a {
        return one.a < other.a;
    }
    if one.b != other.b {
        return one.b < other.b;
    }
    return one.image < other.image || (one.image == other.image && index < best);
}

// Returns when a sphere on the last piece of its path meets a triangle, or NEVER.
fn meeting_at_triangle(sphere: u32, last: PathPiece, number: u32) -> f32 {
    let triangle = simulation_triangles[number];
    let mesh = wall_at_triangle(triangle, simulation_walls[triangle.mesh]);
    let motion = wall_motion(mesh, sphere, last, last.start);
    let speeds = length(motion.velocity) + length(mesh.velocity);
    let range = simulation.substep - last.start;
    let wait = triangle_meeting(triangle, motion, bodies[sphere].radius, speeds, range);
    return select(NEVER, last.start + wait, wait < range);
}

// The next impact of a sphere with another sphere, and with a wall or a triangle. `cut` is the first time at which the
// sphere meets another one before the last impact of its path, or NEVER.
struct Next {
    time: f32,
    index: u32,
    cut: f32,
    time_at_wall: f32,
    wall: u32,
}

// Takes a candidate of a sphere into account. `index` is an entry of a row of candidates.
fn consider(next: ptr<function, Next>, sphere: u32, last: PathPiece, index: u32) {
    if index >= NEXT_TRIANGLE {
        let met = meeting_at_triangle(sphere, last, index - NEXT_TRIANGLE);
        let tie = met == (*next).time_at_wall && met < NEVER && index < (*next).wall;
        if met < (*next).time_at_wall || tie {
            (*next).time_at_wall = met;
            (*next).wall = index;
        }
        return;
    }
    let met = first_meeting(candidates[index]);
    if met < last.start {
        (*next).cut = min((*next).cut, met);
    } else if met < (*next).time || (met == (*next).time && met < NEVER && is_before(index, (*next).index)) {
        (*next).time = met;
        (*next).index = index;
    }
}

// Finds the next impact of a sphere. If some impact of its path is wrong, finds instead how many impacts
// before it are kept.
fn find(sphere: u32) {
    let count = tracks[sphere].count;
    let last = path_piece(sphere, count);
    var next = Next(NEVER, NEXT_NONE, NEVER, NEVER, NEXT_NONE);
    for (var k = row_starts[sphere]; k < row_starts[sphere + 1u]; k++) {
        consider(&next, sphere, last, row_entries[k]);
    }
    var index = atomicLoad(&round_spheres[head_of(sphere)]);
    while index != NEXT_NONE {
        let found = candidates[index];
        consider(&next, sphere, last, select(index, found.b, found.b >= NEXT_TRIANGLE));
        index = select(found.place_b, found.place_a, found.a == sphere);
    }
    var kept = first_orphan(sphere);
    while kept > 0u && path_piece(sphere, kept).start > next.cut {
        kept--;
    }
    for (var k = 0u; k < simulation_request.walls; k++) {
        if ((tracks[sphere].walls >> k) & 1u) == 0u {
            continue;
        }
        let simple = simulation_walls[k];
        let motion = wall_motion(simple, sphere, last, last.start);
        let range = simulation.substep - last.start;
        let wait = wall_meeting(simple, motion, bodies[sphere].radius, range);
        let met = select(NEVER, last.start + wait, wait < range);
        if met < next.time_at_wall || (met == next.time_at_wall && met < NEVER && NEXT_WALL + k < next.wall) {
            next.time_at_wall = met;
            next.wall = NEXT_WALL + k;
        }
    }
    if next.time_at_wall < next.time {
        next.time = next.time_at_wall;
        next.index = next.wall;
    }
    if kept < count {
        next.index = NEXT_CUT;
        next.time = f32(kept);
    }
    tracks[sphere].time = next.time;
    tracks[sphere].next = next.index;
    tracks[sphere].found = simulation.round;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let number = invocation(workgroup, workgroups, local, WORKGROUP);
    if number >= simulation.listed {
        return;
    }
    let i = sphere_of_round(number);
    if bodies[i].radius >= 0.0 {
        find(i);
    }
}

// Runs in each round, for each sphere of which the previous round has changed the path, or that of a candidate. If all
// impacts on the sphere's path are right, finds the next impact. Otherwise finds how many impacts come before the first
// wrong one, and the kernel `strike` then removes the rest. An impact is wrong if the other sphere's path lacks it, or
// if the sphere meets a third sphere, a wall or a triangle earlier.

#import carom::{CAROM_HALF_SPACE, CaromSimulation, CaromWall}
#import dynamics::{Body, Candidate, MeshTriangle, NEVER, NEXT_CUT, NEXT_NONE, NEXT_TRIANGLE, NEXT_WALL, PathPiece}
#import dynamics::{SimulationRequest, Track}
#import dynamics_places::{code_at_wall, images_at_wall, place_at_wall, reach_at_wall, shift_of}
#import dynamics_triangles::{facing, triangle_meeting}
#import dynamics_walls::{at_wall, is_hollow, wall_meeting}
#import encounter::{direction, pair_motion, wall_motion}
#import further_entries::{entry_after}
#import image_block::{image_count, image_of_block}
#import invocation::{invocation}
#import meeting::{Motion, round_meeting, straight_meeting}
#import paths::{is_crowded, path_piece, slow_under_strain, strain_of}
#import rests::{RESTS, is_held, link_of, pair_restitution, slow_speed, wall_restitution}
#import round_spheres::{head_of, sphere_of_round}
#import switches::{lowest}
#import types::{WallLattice}

@group(0) @binding(0) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(1) var<uniform> simulation: CaromSimulation;
@group(0) @binding(2) var<uniform> simulation_walls: array<CaromWall, MOST_WALLS>;
@group(0) @binding(3) var<uniform> simulation_lattices: array<WallLattice, MOST_WALLS>;
@group(0) @binding(4) var<storage, read> bodies: array<Body>;
@group(0) @binding(5) var<storage, read> pieces: array<PathPiece>;
@group(0) @binding(6) var<storage, read> candidates: array<Candidate>;
@group(0) @binding(7) var<storage, read> row_starts: array<u32>;
@group(0) @binding(8) var<storage, read> row_entries: array<u32>;
@group(0) @binding(9) var<storage, read> simulation_triangles: array<MeshTriangle>;
@group(0) @binding(10) var<storage, read_write> tracks: array<Track>;
@group(0) @binding(11) var<storage, read_write> round_spheres: array<atomic<u32>>;

// Whether there are meshes.
override MESHES: bool = false;

// A slow impact of two bodies that are both held, or one of them crowded, waits for the end of the substep:
// `simulation_sweep.wgsl` then takes their approach away. But it happens if gravity presses them together, and they have
// no strain. `normal` is a unit vector from the other body, `then` the motion relative to it, and `reach` the distance at
// contact.
fn is_waiting(normal: vec3<f32>, then: Motion, restitution: f32, strain: f32, reach: f32) -> bool {
    let slow = slow_under_strain(slow_speed(restitution), strain, reach);
    return (dot(normal, then.acceleration) >= 0.0 || strain > 0.0) && -dot(normal, then.velocity) < slow;
}

// Returns whether impacts of a sphere at walls may wait for the end of the substep.
fn joins(sphere: u32, piece: PathPiece, number: u32) -> bool {
    return is_held(sphere, piece) || strain_of(sphere) > 0.0 || is_crowded(sphere, number);
}

// Returns the time from `start` until `end` at which two spheres meet on the given pieces of their paths, or
// NEVER. `numbers` are the numbers of the pieces.
fn meeting(pair: Candidate, one: PathPiece, other: PathPiece, numbers: vec2<u32>, start: f32, end: f32) -> f32 {
    let motion = pair_motion(pair, one, other, start);
    let reach = bodies[pair.a].radius + bodies[pair.b].radius;
    let speeds = length(one.velocity) + length(other.velocity);
    var time: f32;
    if all(motion.acceleration == vec3<f32>(0.0)) {
        time = straight_meeting(motion.place, motion.velocity, reach, speeds);
    } else {
        // A known impact at `end` is found again at the same time only by the same steps.
        let range = select(end, simulation.substep, RESTS) - start;
        time = round_meeting(motion, reach, false, speeds, range);
    }
    if time >= end - start {
        return NEVER;
    }
    if RESTS {
        let held = is_held(pair.a, one) && is_held(pair.b, other);
        let most = max(strain_of(pair.a), strain_of(pair.b));
        if held || most > 0.0 || is_crowded(pair.a, numbers.x) || is_crowded(pair.b, numbers.y) {
            let then = pair_motion(pair, one, other, start + time);
            if is_waiting(direction(then.place), then, pair_restitution(pair.a, pair.b), most, reach) {
                return NEVER;
            }
        }
    }
    return start + time;
}

// Returns the time at which two spheres first meet on their present paths, or NEVER. A path consists of pieces
// of free motion, and each piece but the last ends with an impact that is already known. A meeting at the end
// of a piece does not count, because it is this known impact. The result has the same bits for both spheres.
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
            let time = meeting(pair, one, other, vec2<u32>(number_a, number_b), start, end);
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

// An impact of two spheres is stored in the paths of both spheres. If it has been removed from one path,
// it is an *orphan* in the other. Returns how many impacts on the path of a sphere come before the first
// orphan.
fn first_orphan(sphere: u32) -> u32 {
    let count = tracks[sphere].count;
    for (var number = 1u; number <= count; number++) {
        let link = link_of(path_piece(sphere, number));
        if (link & NEXT_WALL) != 0u {
            continue;
        }
        let index = link / MOST_IMPACTS;
        let place = link % MOST_IMPACTS + 1u;
        let other = candidates[index].a + candidates[index].b - sphere;
        let back = index * MOST_IMPACTS + number - 1u;
        if place > tracks[other].count || link_of(path_piece(other, place)) != back {
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

// Returns the pair of a sphere and a triangle to which `entry` refers. `entry` is an entry of the sphere's
// row or linked list of candidates.
fn near_of(entry: u32) -> Candidate {
    return candidates[simulation_request.near_capacity + entry - NEXT_TRIANGLE];
}

// Returns when a sphere meets a triangle, or NEVER. The motion of the given piece of the sphere's path is
// assumed to continue until the end of the substep. `near` is the pair of the sphere and the triangle.
fn meeting_at_triangle(near: Candidate, piece: PathPiece, number: u32) -> f32 {
    let velocity = simulation_walls[near.place_b].velocity;
    let motion = wall_motion(velocity, near.apart, piece, piece.start);
    let speeds = length(motion.velocity) + length(velocity);
    let range = simulation.substep - piece.start;
    let radius = bodies[near.a].radius;
    let wait = triangle_meeting(near.b, motion, radius, speeds, range);
    if RESTS && wait < range && joins(near.a, piece, number) {
        let then = wall_motion(velocity, near.apart, piece, piece.start + wait);
        let normal = direction(facing(near.b, then.place).away);
        if is_waiting(normal, then, wall_restitution(near.a, near.place_b), strain_of(near.a), radius) {
            return NEVER;
        }
    }
    return select(NEVER, piece.start + wait, wait < range);
}

// The first impact of a sphere at a wall or a triangle: its time, and the code of the wall or triangle,
// as in the field `next` of the struct `Track`.
struct AtWall {
    time: f32,
    next: u32,
}

// If a sphere meets two walls or triangles at the same time, it hits them in a fixed order. Returns
// whether `next` comes before `best` in this order.
fn is_wall_before(next: u32, best: u32) -> bool {
    if next < NEXT_TRIANGLE || best < NEXT_TRIANGLE || best == NEXT_NONE {
        return next < best;
    }
    let first = simulation_request.near_capacity;
    let one = candidates[first + next - NEXT_TRIANGLE];
    let other = candidates[first + best - NEXT_TRIANGLE];
    return one.b < other.b || (one.b == other.b && one.image < other.image);
}

fn earlier(reached: AtWall, time: f32, next: u32) -> AtWall {
    if time < reached.time || (time == reached.time && time < NEVER && is_wall_before(next, reached.next)) {
        return AtWall(time, next);
    }
    return reached;
}

// Finds the first impact of a sphere at wall `number`, which is a half-space, sphere or cylinder. The motion
// of the given piece of the sphere's path is assumed to continue until the end of the substep. Returns this
// impact or the impact `given`, whichever is earlier.
fn earlier_at_wall(given: AtWall, sphere: u32, piece: PathPiece, piece_number: u32, number: u32) -> AtWall {
    var first = given;
    let wall = simulation_walls[number];
    let body = bodies[sphere];
    let place = place_at_wall(wall, body.center);
    let distance = wall.size + body.radius + reach_at_wall(wall, body.center, tracks[sphere].pad);
    let block = images_at_wall(simulation_lattices[number], place, distance);
    let range = simulation.substep - piece.start;
    let count = image_count(block);
    for (var k = 0u; k < count; k++) {
        let image = image_of_block(block, k);
        let motion = wall_motion(wall.velocity, place + shift_of(image), piece, piece.start);
        let wait = wall_meeting(wall, motion, body.radius, range);
        if RESTS && wait < range && joins(sphere, piece, piece_number) {
            let time = piece.start + wait;
            let then = at_wall(wall, wall_motion(wall.velocity, place + shift_of(image), piece, time));
            var normal = wall.direction;
            if wall.kind != CAROM_HALF_SPACE {
                normal = select(1.0, -1.0, is_hollow(wall)) * direction(then.place);
            }
            if is_waiting(normal, then, wall_restitution(sphere, number), strain_of(sphere), body.radius) {
                continue;
            }
        }
        let met = select(NEVER, piece.start + wait, wait < range);
        first = earlier(first, met, NEXT_WALL + code_at_wall(number, image));
    }
    return first;
}

// The next impact of a sphere, as far as it has been found. `time` and `index` have the meaning of the
// fields `time` and `next` of the struct `Track`. If the sphere meets anything before the last impact that is
// already on its path, `cut` is the earliest time of such a meeting, and the impacts after `cut` are wrong.
// Otherwise `cut` is NEVER.
struct Next {
    time: f32,
    index: u32,
    cut: f32,
}

// If the impact `other` comes before the next impact found so far, it becomes the next impact.
fn consider(next: ptr<function, Next>, other: Next) {
    (*next).cut = min((*next).cut, other.cut);
    let earlier = other.time < (*next).time;
    let alike = other.time == (*next).time && other.time < NEVER;
    if earlier || (alike && is_before(other.index, (*next).index)) {
        (*next).time = other.time;
        (*next).index = other.index;
    }
}

// Tests a sphere with one of its candidates. `entry` is an entry of the sphere's row or linked list of candidates,
// and `last` the last piece of the sphere's path.
fn consider_entry(next: ptr<function, Next>, last: PathPiece, entry: u32) {
    if entry >= NEXT_TRIANGLE {
        return;
    }
    let met = first_meeting(candidates[entry]);
    if met < last.start {
        consider(next, Next(NEVER, NEXT_NONE, met));
    } else {
        consider(next, Next(met, entry, NEVER));
    }
}

// Returns the first impact of a sphere at a wall or a triangle. The motion of the given piece of the sphere's
// path is assumed to continue until the end of the substep.
fn first_at_walls(sphere: u32, piece: PathPiece, number: u32) -> AtWall {
    var first = AtWall(NEVER, NEXT_NONE);
    // The loop is the same for all spheres, so that the numbers of a wall are in scalar registers.
    for (var rest = lowest(simulation_request.walls); rest != 0u; rest &= rest - 1u) {
        let k = firstTrailingBit(rest);
        if ((tracks[sphere].walls >> k) & 1u) != 0u {
            first = earlier_at_wall(first, sphere, piece, number, k);
        }
    }
    if !MESHES {
        return first;
    }
    // The row of the sphere's candidates, and then its linked list of further ones.
    var k = row_starts[sphere];
    let end = row_starts[sphere + 1u];
    var further = atomicLoad(&round_spheres[head_of(sphere)]);
    while k < end || further != NEXT_NONE {
        var entry = further;
        if k < end {
            entry = row_entries[k];
            k++;
        } else {
            further = entry_after(entry, sphere);
        }
        if entry >= NEXT_TRIANGLE {
            first = earlier(first, meeting_at_triangle(near_of(entry), piece, number), entry);
        }
    }
    return first;
}

// The LANES invocations of a sphere share its candidates. This function tests the candidates of invocation `lane`, and
// returns the first impact of the sphere with one of them.
fn first_of_lane(sphere: u32, lane: u32) -> Next {
    var next = Next(NEVER, NEXT_NONE, NEVER);
    let last = path_piece(sphere, tracks[sphere].count);
    for (var k = row_starts[sphere] + lane; k < row_starts[sphere + 1u]; k += LANES) {
        consider_entry(&next, last, row_entries[k]);
    }
    if lane == 0u {
        var entry = atomicLoad(&round_spheres[head_of(sphere)]);
        while entry != NEXT_NONE {
            consider_entry(&next, last, entry);
            entry = entry_after(entry, sphere);
        }
    }
    return next;
}

// Finds the next impact of a sphere, given its first impact with its candidates. If an impact on the sphere's path is
// wrong, finds instead how many impacts come before the first wrong one.
fn find(sphere: u32, first: Next) {
    var next = first;
    let count = tracks[sphere].count;
    // A sphere that has moved farther than its pad is tested against more walls and triangles. It may meet
    // one of them on an earlier piece of its path, so all pieces are tested. Otherwise, only the last piece
    // is tested.
    var reached = AtWall(NEVER, NEXT_NONE);
    for (var number = select(count, 0u, tracks[sphere].wide > 0.0); number <= count; number++) {
        reached = first_at_walls(sphere, path_piece(sphere, number), number);
        if number < count && reached.time < path_piece(sphere, number + 1u).start {
            next.cut = min(next.cut, reached.time);
            break;
        }
    }
    var kept = first_orphan(sphere);
    while kept > 0u && path_piece(sphere, kept).start > next.cut {
        kept--;
    }
    if reached.time < next.time {
        next.time = reached.time;
        next.index = reached.next;
    }
    if kept < count {
        next.index = NEXT_CUT;
        next.time = f32(kept);
    }
    tracks[sphere].time = next.time;
    tracks[sphere].next = next.index;
    tracks[sphere].found = simulation.round;
}

// Each sphere has this number of invocations, which share its candidates. A single one would mostly wait for memory.
const LANES = 2u;
const INVOCATIONS = LANES * WORKGROUP;
var<workgroup> sh_next: array<Next, INVOCATIONS>;

@compute @workgroup_size(INVOCATIONS)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let lane = local % LANES;
    let number = invocation(workgroup, workgroups, local / LANES, WORKGROUP);
    var sphere = 0u;
    var takes_part = number < simulation.in_round;
    if takes_part {
        sphere = sphere_of_round(number);
        takes_part = bodies[sphere].radius >= 0.0;
    }
    if takes_part {
        sh_next[local] = first_of_lane(sphere, lane);
    }
    workgroupBarrier();
    if takes_part && lane == 0u {
        var next = sh_next[local];
        for (var k = 1u; k < LANES; k++) {
            consider(&next, sh_next[local + k]);
        }
        find(sphere, next);
    }
}

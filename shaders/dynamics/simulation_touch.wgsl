// Lists what touches the spheres that rest, at the end of a substep of hard-sphere dynamics: see `endings.wgsl`.

#import carom::{CAROM_HALF_SPACE, CaromSimulation, CaromWall}
#import dynamics::{Body, Candidate, MeshTriangle, NEXT_TRIANGLE, NEXT_WALL, PathPiece, SimulationRequest, Track}
#import dynamics_places::{images_at_wall, place_at_wall, reach_at_wall, shift_of}
#import dynamics_triangles::{facing}
#import dynamics_walls::{is_hollow}
#import encounter::{direction}
#import endings::{BEARS, Ending, FORCES, PARTNER_MASK, SPREADS, WALL_MASK, contacts_from, ending, forces_of}
#import image_block::{image_count, image_of_block}
#import invocation::{invocation}
#import paths::{slow_under_strain}
#import rests::{CURVED, slow_at}
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
@group(0) @binding(10) var<storage, read> tracks: array<Track>;
@group(0) @binding(11) var<storage, read_write> touches: array<vec4<u32>>;

// Bodies touch if the gap between them is at most this fraction of the distance at contact.
const TOUCH = 0.01;
// A collapse spreads between bodies if the gap between them is at most this fraction of the distance at contact.
const CLOSE = 1e-4;
// An overlap of more than this fraction of the distance at contact is pushed out.
const DEPTH = 1e-6;

// A sphere whose contacts are being listed: its index and state, the first of its contacts in `touches`, and their number
// so far and at most.
struct Listing {
    sphere: u32,
    end: Ending,
    first: u32,
    count: u32,
    most: u32,
    carried: u32,
}

// Returns the force of a contact in the last substep. It is in the list of the sphere of the smaller index.
fn last_force(sphere: u32, partner: u32) -> f32 {
    let owner = min(sphere, partner);
    let key = max(sphere, partner);
    let first = forces_of(owner);
    for (var k = 0u; k < FORCES; k++) {
        let two = touches[first + k];
        if two.x == key {
            return bitcast<f32>(two.y);
        }
        if two.z == key {
            return bitcast<f32>(two.w);
        }
    }
    return 0.0;
}

// Returns whether a contact comes before another one in the list, which does not depend on the order of the candidates.
fn is_before(one: vec4<u32>, normal: vec4<u32>, other: vec4<u32>, other_normal: vec4<u32>) -> bool {
    if one.x != other.x {
        return one.x < other.x;
    }
    if normal.x != other_normal.x {
        return normal.x < other_normal.x;
    }
    if normal.y != other_normal.y {
        return normal.y < other_normal.y;
    }
    return normal.z < other_normal.z;
}

// Adds a contact to the list of a sphere, if the two touch. `normal` is a unit vector towards the partner, `velocity` the
// velocity of the sphere relative to it, and `reach` the distance at contact. `both` has what applies to either of the two,
// or to the sphere if the other one is a wall. `wall` is the number of the wall, and
// `drift` its velocity.
fn touch(
    listing: ptr<function, Listing>,
    partner: u32,
    normal: vec3<f32>,
    gap: f32,
    reach: f32,
    velocity: vec3<f32>,
    both: Ending,
    wall: u32,
    drift: vec3<f32>,
) {
    let code = partner & PARTNER_MASK;
    let approach = dot(normal, velocity);
    let is_slow = approach < slow_under_strain(slow_at((*listing).sphere, code, wall), both.strain, reach);
    // Crowded spheres collapse, so a gap that closes within the contact time is as good as none.
    let spreads = !((both.joins && is_slow) || both.crowded);
    var near = select(approach * simulation.contact_time, TOUCH * reach, is_slow);
    if spreads {
        near = select(-GREATEST, CLOSE * reach, has_collapsed());
    }
    if !(gap <= near) || all(normal == vec3<f32>(0.0)) {
        return;
    }
    if any(drift != vec3<f32>(0.0)) {
        (*listing).carried = 1u;
    }
    // The next substep is planned at most twice as long as this one, or nearly as long as this one was planned. Until its
    // end, bodies with a gap may approach so far that they touch.
    let ahead = max(max(2.0 * simulation.substep, simulation.planned), MIN_POSITIVE);
    var parting = -max(gap, 0.0) / ahead;
    if !is_slow || spreads {
        parting = 0.0;
    }
    let force = select(last_force((*listing).sphere, code), 0.0, spreads || both.strain > 0.0);
    let impulse = bitcast<u32>(force * simulation.substep);
    let upper = vec4<u32>(bitcast<vec3<u32>>(normal), impulse);
    let depth = bitcast<u32>(max(-gap - DEPTH * reach, 0.0)) & ~WALL_MASK;
    let lower = vec4<u32>(partner | select(0u, SPREADS, spreads), bitcast<u32>(parting - dot(normal, drift)), impulse, depth | wall);
    var place = min((*listing).count, (*listing).most);
    if place == (*listing).most {
        if place == 0u {
            return;
        }
        // There is no room, so the last contact in the order is left out.
        place--;
        let k = (*listing).first + 2u * place;
        if !is_before(lower, upper, touches[k + 1u], touches[k]) {
            return;
        }
    } else {
        (*listing).count++;
    }
    while place > 0u {
        let k = (*listing).first + 2u * place - 2u;
        if !is_before(lower, upper, touches[k + 1u], touches[k]) {
            break;
        }
        touches[k + 2u] = touches[k];
        touches[k + 3u] = touches[k + 1u];
        place--;
    }
    touches[(*listing).first + 2u * place] = upper;
    touches[(*listing).first + 2u * place + 1u] = lower;
}

fn touch_sphere(listing: ptr<function, Listing>, pair: Candidate) {
    let sphere = (*listing).sphere;
    let own = (*listing).end;
    let partner = pair.a + pair.b - sphere;
    let other = ending(partner);
    var both = own;
    both.joins |= other.joins;
    both.crowded |= other.crowded;
    both.strain = max(own.strain, other.strain);
    if !(both.joins | has_collapsed()) {
        return;
    }
    // Both spheres compute the same numbers, from sphere a to sphere b.
    let is_a = sphere == pair.a;
    var apart = other.place - own.place;
    if !is_a {
        apart = own.place - other.place;
    }
    apart += pair.apart;
    let towards = direction(apart);
    let normal = select(-towards, towards, is_a);
    let reach = bodies[pair.a].radius + bodies[pair.b].radius;
    let gap = length(apart) - reach;
    let velocity = own.velocity - other.velocity;
    touch(listing, partner | BEARS, normal, gap, reach, velocity, both, 0u, vec3<f32>(0.0));
}

fn touch_triangle(listing: ptr<function, Listing>, near: Candidate) {
    let mesh = simulation_walls[near.place_b];
    let radius = bodies[near.a].radius;
    let end = (*listing).end;
    let place = near.apart + (end.place - mesh.velocity * simulation.substep);
    let beside = facing(near.b, place);
    if !beside.touches || radius <= 0.0 {
        return;
    }
    let gap = length(beside.away) - radius;
    let normal = -direction(beside.away);
    let velocity = end.velocity - mesh.velocity;
    let partner = NEXT_TRIANGLE + near.b;
    touch(listing, partner | BEARS, normal, gap, radius, velocity, end, near.place_b, mesh.velocity);
}

fn touch_wall(listing: ptr<function, Listing>, number: u32) {
    let wall = simulation_walls[number];
    let end = (*listing).end;
    let body = bodies[(*listing).sphere];
    let velocity = end.velocity - wall.velocity;
    let start = place_at_wall(wall, body.center);
    let pad = tracks[(*listing).sphere].pad;
    let distance = wall.size + body.radius + reach_at_wall(wall, body.center, pad) + TOUCH * body.radius;
    let block = images_at_wall(simulation_lattices[number], start, distance);
    for (var k = 0u; k < image_count(block); k++) {
        let place = start + shift_of(image_of_block(block, k)) + (end.place - wall.velocity * simulation.substep);
        var partner = NEXT_WALL + number;
        var away = wall.direction;
        var gap = dot(wall.direction, place) - body.radius;
        if wall.kind != CAROM_HALF_SPACE {
            // Rounding errors leave a part of the component along the axis of a cylinder. The second step removes it.
            let axis = wall.direction;
            var across = place - axis * dot(axis, place);
            across -= axis * dot(axis, across);
            let apart = length(across);
            away = direction(across);
            gap = apart - wall.size - body.radius;
            if is_hollow(wall) {
                away = -away;
                gap = wall.size - body.radius - apart;
                let along = velocity - axis * dot(axis, velocity);
                let slide = along - away * dot(away, along);
                if dot(slide, slide) > CURVED * length(simulation_request.gravity) * apart {
                    touch(listing, partner, -away, gap, body.radius, velocity, end, number, wall.velocity);
                    continue;
                }
            }
        }
        touch(listing, partner | BEARS, -away, gap, body.radius, velocity, end, number, wall.velocity);
    }
}

// Returns whether the substep has ended early, as it does if spheres collapse.
fn has_collapsed() -> bool {
    return simulation.substep < simulation.planned;
}

fn list(sphere: u32) {
    let row = row_starts[sphere];
    let end = row_starts[sphere + 1u];
    let walls = simulation_request.walls;
    var listing = Listing(sphere, ending(sphere), contacts_from(row, sphere), 0u, end - row + walls, 0u);
    for (var k = row; k < end; k++) {
        let entry = row_entries[k];
        if entry < NEXT_WALL {
            touch_sphere(&listing, candidates[entry]);
        } else if listing.end.joins | has_collapsed() {
            touch_triangle(&listing, candidates[simulation_request.near_capacity + entry - NEXT_TRIANGLE]);
        }
    }
    for (var rest = lowest(walls); rest != 0u && (listing.end.joins | has_collapsed()); rest &= rest - 1u) {
        let k = firstTrailingBit(rest);
        if ((tracks[sphere].walls >> k) & 1u) != 0u {
            touch_wall(&listing, k);
        }
    }
    touches[2u * sphere + 1u] = vec4<u32>(listing.count, listing.first, 0u, listing.carried);
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = invocation(workgroup, workgroups, local, WORKGROUP);
    if i < simulation.spheres && bodies[i].radius >= 0.0 {
        list(i);
    }
}

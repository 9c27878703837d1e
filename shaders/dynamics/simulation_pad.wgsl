// Makes the spheres for the candidate search of a substep. Each sphere is at rest and enlarged by its pad,
// which is an assumed bound on its displacement in the substep.

#import carom::{CaromSimulation, CaromWall}
#import dynamics::{Body, MeshBox, NEXT_NONE, SimulationRequest, Track}
#import dynamics_places::{ROUNDED_UP, images_at_wall, place_at_wall, reach_at_wall, shift_of}
#import dynamics_walls::{wall_gap}
#import groups::{ignore_each_other}
#import image_block::{image_count, image_of_block}
#import invocation::{invocation}
#import round_spheres::{cell_entry_of, head_of, mark_of}
#import searched_spheres::{count_searched, searched}
#import switches::{lowest, switched_on}
#import types::{Counters, Sphere, WallLattice}

@group(0) @binding(0) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(1) var<uniform> simulation: CaromSimulation;
@group(0) @binding(2) var<uniform> simulation_walls: array<CaromWall, MOST_WALLS>;
@group(0) @binding(3) var<uniform> simulation_lattices: array<WallLattice, MOST_WALLS>;
@group(0) @binding(4) var<storage, read> bodies: array<Body>;
// The spheres of the search.
@group(0) @binding(5) var<storage, read_write> padded_spheres: array<Sphere>;
@group(0) @binding(6) var<storage, read_write> tracks: array<Track>;
@group(0) @binding(7) var<uniform> mesh_boxes: array<MeshBox, MOST_WALLS>;
@group(0) @binding(8) var<storage, read_write> round_spheres: array<atomic<u32>>;
// With meshes: 1 for each sphere that may touch the box around a mesh, and 0 for the others.
@group(0) @binding(9) var<storage, read_write> row_starts: array<u32>;
// The counters of the search.
@group(0) @binding(10) var<storage, read_write> counters: Counters;

// Smallest ratio of a sphere's pad to its displacement without impacts.
const PAD = 1.1;

struct NearWall {
    may_touch: bool,
    // Whether so many images of the sphere may touch the wall that they cannot all be tested.
    too_many: bool,
}

// Returns whether any image of a sphere may touch a wall in the substep.
fn near_wall(body: Body, pad: f32, number: u32) -> NearWall {
    let wall = simulation_walls[number];
    let place = place_at_wall(wall, body.center);
    let reach = reach_at_wall(wall, body.center, pad);
    let block = images_at_wall(simulation_lattices[number], place, wall.size + body.radius + reach);
    if block.too_many {
        return NearWall(false, true);
    }
    let count = image_count(block);
    for (var k = 0u; k < count; k++) {
        if wall_gap(wall, place + shift_of(image_of_block(block, k)), body.radius) <= reach {
            return NearWall(true, false);
        }
    }
    return NearWall(false, false);
}

// Returns whether any image of a sphere, enlarged by its pad, may touch the box around a mesh in the substep.
fn is_near_mesh(padded: Sphere, number: u32) -> bool {
    let mesh = simulation_walls[number];
    let box = mesh_boxes[number];
    let place = padded.center - box.center - mesh.point;
    let size = length(padded.center) + length(mesh.point) + length(box.center) + length(box.half_sides);
    let reach = padded.radius + length(mesh.velocity) * simulation.substep + 2e-6 * size;
    let block = images_at_wall(simulation_lattices[number], place, length(box.half_sides) * ROUNDED_UP + reach);
    let count = image_count(block);
    for (var k = 0u; k < count && !block.too_many; k++) {
        let image = place + shift_of(image_of_block(block, k));
        let aside = max(abs(image) - box.half_sides, vec3<f32>(0.0));
        if length(aside) <= reach + 2e-6 * length(image) {
            return true;
        }
    }
    return block.too_many;
}

fn pad_sphere(i: u32) {
    let body = bodies[i];
    var track = tracks[i];
    let duration = simulation.substep;
    let speed = max(max(PAD * length(body.velocity), simulation.pad_speed), track.wide);
    track.pad = (speed * duration + length(body.residue)) * ROUNDED_UP;
    track.count = 0u;
    track.found = 0u;
    track.next = NEXT_NONE;
    track.walls = 0u;
    var sphere = padded_spheres[i];
    var near = 0u;
    if body.radius >= 0.0 {
        let fallen = 0.5 * length(simulation_request.gravity) * duration * duration;
        let pad = track.pad + fallen;
        sphere.center = body.center;
        sphere.radius = (body.radius + pad) * ROUNDED_UP;
        if body.inverse_mass > 0.0 {
            let walls = simulation_request.walls;
            for (var rest = switched_on(0u, walls); rest != 0u; rest &= rest - 1u) {
                let k = firstTrailingBit(rest);
                if ignore_each_other(sphere.groups, simulation_walls[k].groups) {
                    continue;
                }
                let near = near_wall(body, track.pad, k);
                if near.may_touch {
                    track.walls |= 1u << k;
                }
                if near.too_many {
                    // The search leaves out a sphere whose radius is out of range, so the substep is rolled back.
                    sphere.radius = GREATEST;
                }
            }
            let surfaces = simulation_request.surfaces;
            track.walls |= lowest(surfaces) & ~lowest(walls);
            for (var rest = switched_on(walls, surfaces); rest != 0u; rest &= rest - 1u) {
                if is_near_mesh(sphere, firstTrailingBit(rest)) {
                    near = 1u;
                }
            }
        }
    }
    padded_spheres[i] = searched(sphere);
    tracks[i] = track;
    if simulation_request.surfaces > simulation_request.walls {
        row_starts[i] = near;
    }
    atomicStore(&round_spheres[mark_of(i)], 0u);
    atomicStore(&round_spheres[head_of(i)], NEXT_NONE);
    atomicStore(&round_spheres[cell_entry_of(i)], 0u);
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = invocation(workgroup, workgroups, local, WORKGROUP);
    if i < simulation.spheres {
        pad_sphere(i);
    }
    count_searched(local);
}

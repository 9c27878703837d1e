// Moves the walls and meshes of a hard-sphere simulation to their places at the start of a substep. Dispatched as one
// workgroup.

#import carom::{CAROM_HALF_SPACE, CaromSimulation, CaromWall}
#import dynamics::{SimulationRequest}
#import opaque::{opaque, opaque3}
#import sum::{Sum, add}
#import types::{Params, WallLattice}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(2) var<uniform> simulation: CaromSimulation;
// The walls and meshes at time 0.
@group(0) @binding(3) var<uniform> given_walls: array<CaromWall, MOST_WALLS>;
@group(0) @binding(4) var<uniform> simulation_lattices: array<WallLattice, MOST_WALLS>;
@group(0) @binding(5) var<storage, read_write> simulation_walls: array<CaromWall>;

// Returns a number rounded to 12 binary digits, half of those of a float32.
fn upper(x: f32) -> f32 {
    let large = opaque(4097.0 * x);
    return opaque(large - opaque(large - x));
}

// Adds the product of `v` and `t` to a sum that keeps track of its rounding errors. Dekker's
// "TwoProduct" algorithm computes the rounding error of the product, which is added to these errors.
fn add_product(sum: Sum, v: vec3<f32>, t: f32) -> Sum {
    let rounded = opaque3(v * t);
    let v_high = vec3<f32>(upper(v.x), upper(v.y), upper(v.z));
    let v_low = opaque3(v - v_high);
    let t_high = upper(t);
    let t_low = opaque(t - t_high);
    let most = opaque3(opaque3(v_high * t_high) - rounded);
    let error = opaque3(opaque3(most + opaque3(v_high * t_low)) + opaque3(v_low * t_high)) + v_low * t_low;
    let next = add(sum, rounded);
    return Sum(next.rounded, next.errors + error);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) local: u32) {
    if local >= simulation_request.surfaces {
        return;
    }
    var wall = given_walls[local];
    var moved = Sum(vec3<f32>(0.0), vec3<f32>(0.0));
    moved = add_product(moved, wall.velocity, simulation.time.x);
    moved = add_product(moved, wall.velocity, simulation.time.y);
    // In a periodic domain, whole edges are subtracted from the displacement of a wall that has images. So the wall
    // stays near the cell, where float32 numbers are dense.
    let far = moved.rounded;
    for (var k = 0u; k < 3u; k++) {
        let cells = floor(dot(simulation_lattices[local].duals[k].xyz, far));
        moved = add_product(moved, -simulation_lattices[local].edges[k].xyz, cells);
    }
    if wall.kind == CAROM_HALF_SPACE && local < simulation_request.walls {
        wall.size += dot(wall.direction, moved.rounded + moved.errors);
    } else {
        moved = add(moved, wall.point);
        wall.point = moved.rounded + moved.errors;
    }
    simulation_walls[local] = wall;
}

// Moves the walls and meshes of a hard-sphere simulation to their places at the start of a substep. Dispatched as one
// workgroup.

#import carom::{CAROM_HALF_SPACE, CaromSimulation, CaromWall}
#import dynamics::{SimulationRequest, WallMotion}
#import opaque::{opaque, opaque3}
#import sum::{Sum, add}
#import two_floats::{add_float}
#import types::{Params, WallLattice}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(2) var<uniform> simulation: CaromSimulation;
// The walls and meshes as the host has given them.
@group(0) @binding(3) var<uniform> given_walls: array<CaromWall, MOST_WALLS>;
@group(0) @binding(4) var<uniform> simulation_lattices: array<WallLattice, MOST_WALLS>;
@group(0) @binding(5) var<storage, read_write> simulation_walls: array<CaromWall>;
@group(0) @binding(6) var<storage, read_write> wall_motions: array<WallMotion>;

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

// Returns how far a wall has moved.
fn moved_by(motion: WallMotion) -> Sum {
    let time = simulation.time;
    let since = add_float(add_float(time, -motion.since.x), -motion.since.y);
    var moved = Sum(motion.moved, motion.errors);
    moved = add_product(moved, motion.velocity, since.x);
    return add_product(moved, motion.velocity, since.y);
}

// Returns the motion of a wall from now on, if the host has changed the wall.
fn changed(before: WallMotion, wall: u32) -> WallMotion {
    var motion = before;
    if ((simulation_request.changed >> wall) & 1u) != 0u && before.serial != simulation_request.serial {
        let moved = moved_by(before);
        motion.moved = moved.rounded;
        motion.errors = moved.errors;
        if ((simulation_request.jumped >> wall) & 1u) != 0u {
            motion.moved = vec3<f32>(0.0);
            motion.errors = vec3<f32>(0.0);
        }
        motion.since = simulation.time;
    }
    motion.serial = simulation_request.serial;
    motion.velocity = given_walls[wall].velocity;
    return motion;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) local: u32) {
    if local >= simulation_request.surfaces {
        return;
    }
    var wall = given_walls[local];
    let motion = changed(wall_motions[local], local);
    wall_motions[local] = motion;
    var moved = moved_by(motion);
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

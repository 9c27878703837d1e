// Copies the sphere of each wall collision, so that the host can decide it exactly.

#import carom::{CaromResults, CaromWallCollision}
#import invocation::{invocation}
#import sphere_bits::{sphere_bits}
#import types::{Sphere}

// Twin of `GatheredWall` in `src/gpu/device/shader/layout.rs`.
struct GatheredWall {
    sphere: u32,
    wall_and_grazing: u32,
    // The bits of centre, radius and velocity.
    values: array<u32, 7>,
}

@group(0) @binding(0) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(1) var<storage, read> wall_collisions: array<CaromWallCollision>;
@group(0) @binding(2) var<storage, read> results: CaromResults;
@group(0) @binding(3) var<storage, read_write> gathered_walls: array<GatheredWall>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let place = invocation(workgroup, workgroups, local, WORKGROUP);
    if place >= min(results.walls, arrayLength(&gathered_walls)) {
        return;
    }
    let collision = wall_collisions[place];
    gathered_walls[place] = GatheredWall(
        collision.sphere,
        collision.wall_and_grazing,
        sphere_bits(spheres[collision.sphere]),
    );
}

// Tests every sphere against every wall of a simple shape, and lists the spheres that touch walls. One
// invocation per sphere. Twin of `src/cpu/walls.rs`.

#import carom::{CAROM_GRAZING, CaromWall, CaromWallCollision}
#import groups::{ignore_each_other}
#import image_block::{ImageBlock, image_count, image_of_block}
#import invocation::{invocation}
#import opaque::{opaque3}
#import spheres::{is_invalid, sphere_at}
#import types::{Params, Sphere, WallCounters, WallLattice, WallParams}
#import units::{times_power, vector_times_power}
#import wall_collisions::{list_at_wall}
#import wall_filter::{filter_wall}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> wall_params: WallParams;
@group(0) @binding(2) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(3) var<storage, read> walls: array<CaromWall>;
@group(0) @binding(4) var<storage, read> wall_lattices: array<WallLattice>;
@group(0) @binding(5) var<storage, read_write> wall_counters: WallCounters;
@group(0) @binding(6) var<storage, read_write> wall_collisions: array<CaromWallCollision>;
@group(0) @binding(7) var<storage, read_write> wall_images: array<u32>;

fn wall_at(i: u32) -> CaromWall {
    var wall = walls[i];
    if (params.length_power | params.velocity_power) != 0 {
        wall.point = vector_times_power(wall.point, params.length_power);
        wall.size = times_power(wall.size, params.length_power);
        wall.velocity = vector_times_power(wall.velocity, params.velocity_power);
    }
    return wall;
}

fn edge_at(wall: u32, k: u32) -> vec4<f32> {
    let edge = wall_lattices[wall].edges[k];
    return vec4<f32>(vector_times_power(edge.xyz, params.length_power), times_power(edge.w, params.length_power));
}

fn dual_at(wall: u32, k: u32) -> vec4<f32> {
    let dual = wall_lattices[wall].duals[k];
    return vec4<f32>(vector_times_power(dual.xyz, -params.length_power), times_power(dual.w, -params.length_power));
}

// Returns the images of a sphere that may reach a wall.
fn block_of(index: u32, wall: CaromWall, sphere: Sphere) -> ImageBlock {
    let apart = opaque3(sphere.center - wall.point);
    let motion = opaque3((sphere.velocity - wall.velocity) * params.dt);
    let size = dot(abs(apart) + abs(motion), vec3<f32>(1.0));
    var block = ImageBlock(vec3<i32>(0), vec3<u32>(1u), false);
    let most = f32((1u << (IMAGE_BITS - 1u)) - 1u);
    for (var k = 0u; k < 3u; k++) {
        let dual = dual_at(index, k);
        if dual.w == 0.0 {
            continue;
        }
        let begin = dot(dual.xyz, apart);
        let end = begin + dot(dual.xyz, motion);
        // `around` includes a margin for rounding errors, so no image that may touch the wall is omitted.
        let around = dual.w * (wall.size + sphere.radius) * (1.0 + WALL_ERROR * EPSILON)
            + WALL_ERROR * EPSILON * dual.w * size + IMAGE_MARGIN;
        let first = ceil(-max(begin, end) - around);
        let last = floor(-min(begin, end) + around);
        if !(abs(first) <= most && abs(last) <= most) {
            block.too_many = true;
            return block;
        }
        block.first[k] = i32(first);
        block.dims[k] = u32(max(i32(last) - i32(first) + 1, 0));
    }
    block.too_many = image_count(block) > MAX_IMAGES_EACH;
    return block;
}

fn test_image(i: u32, sphere: Sphere, index: u32, wall: CaromWall, image: vec3<i32>) {
    let n = vec3<f32>(image);
    let edges = array<vec4<f32>, 3>(edge_at(index, 0u), edge_at(index, 1u), edge_at(index, 2u));
    let shift = opaque3(edges[0].xyz * n.x + edges[1].xyz * n.y + edges[2].xyz * n.z);
    let shift_size = edges[0].w * abs(n.x) + edges[1].w * abs(n.y) + edges[2].w * abs(n.z);
    let found = filter_wall(wall, sphere, shift, shift_size, params.dt);
    if found.may {
        let collision = CaromWallCollision(
            i,
            index | select(CAROM_GRAZING, 0u, found.certain),
            found.toi * params.time_unit,
            times_power(found.depth, -params.length_power),
        );
        list_at_wall(collision, image);
    }
}

fn test_wall(i: u32, sphere: Sphere, index: u32) {
    let wall = wall_at(index);
    if ignore_each_other(sphere.groups, wall.groups) {
        return;
    }
    let block = block_of(index, wall, sphere);
    if block.too_many {
        atomicMax(&wall_counters.out_of_range, i + 1u);
        return;
    }
    let count = image_count(block);
    for (var k = 0u; k < count; k++) {
        test_image(i, sphere, index, wall, image_of_block(block, k));
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = invocation(workgroup, workgroups, local, WORKGROUP);
    if i >= params.spheres {
        return;
    }
    let sphere = sphere_at(i);
    let count = select(wall_params.count, 0u, is_invalid(sphere));
    // The last iteration tests no wall, but adds 1 to the number of finished spheres. If the driver ends the
    // loop early, this number is too small, which reveals the error.
    for (var wall = 0u; wall <= count; wall++) {
        if wall < count {
            test_wall(i, sphere, wall);
        } else if (params.flags & FLAG_WATCH) != 0u {
            atomicAdd(&wall_counters.finished, 1u);
        }
    }
}

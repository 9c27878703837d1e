// The step between spheres and triangles lists the pairs in which the sphere may touch the triangle's
// bounding sphere. This shader tests each such sphere against the triangle itself, and lists the wall
// collision if the two may touch. Twin of `src/cpu/bounded_walls.rs`.

#import carom::{CAROM_GRAZING, CaromCollision, CaromResults, CaromTriangle, CaromWallCollision, carom_b, carom_image}
#import carom::{carom_is_grazing}
#import invocation::{invocation}
#import opaque::{opaque3}
#import spheres::{sphere_at}
#import triangle_filter::{filter_triangle}
#import types::{Params, Sphere, WallCounters, WallParams}
#import units::{times_power, vector_times_power}
#import wall_collisions::{list_at_wall}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> wall_params: WallParams;
@group(0) @binding(2) var<storage, read> mesh_results: CaromResults;
@group(0) @binding(3) var<storage, read> mesh_pairs: array<CaromCollision>;
@group(0) @binding(4) var<storage, read> mesh_images: array<u32>;
@group(0) @binding(5) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(6) var<storage, read> triangles: array<CaromTriangle>;
@group(0) @binding(7) var<storage, read_write> wall_counters: WallCounters;
@group(0) @binding(8) var<storage, read_write> wall_collisions: array<CaromWallCollision>;
@group(0) @binding(9) var<storage, read_write> wall_images: array<u32>;

fn triangle_at(i: u32) -> CaromTriangle {
    var triangle = triangles[i];
    if (params.length_power | params.velocity_power) != 0 {
        triangle.a = vector_times_power(triangle.a, params.length_power);
        triangle.b = vector_times_power(triangle.b, params.length_power);
        triangle.c = vector_times_power(triangle.c, params.length_power);
        triangle.velocity = vector_times_power(triangle.velocity, params.velocity_power);
    }
    return triangle;
}

fn edge(k: u32) -> vec4<f32> {
    let own = wall_params.edges[k];
    return vec4<f32>(vector_times_power(own.xyz, params.length_power), times_power(own.w, params.length_power));
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let place = invocation(workgroup, workgroups, local, WORKGROUP);
    if place >= mesh_results.pairs {
        return;
    }
    let pair = mesh_pairs[place];
    var image = vec3<i32>(0);
    var shift = vec3<f32>(0.0);
    var shift_size = 0.0;
    if wall_params.periodic != 0u {
        // Each pair names an image of a triangle. Here the sphere is displaced instead, in the opposite
        // direction.
        image = -carom_image(mesh_images[place]);
        let n = vec3<f32>(image);
        let x = edge(0u);
        let y = edge(1u);
        let z = edge(2u);
        shift = opaque3(x.xyz * n.x + y.xyz * n.y + z.xyz * n.z);
        shift_size = x.w * abs(n.x) + y.w * abs(n.y) + z.w * abs(n.z);
    }
    let triangle = carom_b(pair);
    let found = filter_triangle(triangle_at(triangle), sphere_at(pair.a), shift, shift_size, params.dt);
    if found.may {
        // A grazing pair may be listed several times, and so may its wall collision. This is allowed only for
        // grazing wall collisions.
        let certain = found.certain && !carom_is_grazing(pair);
        let collision = CaromWallCollision(
            pair.a,
            (wall_params.count + triangle) | select(CAROM_GRAZING, 0u, certain),
            found.toi * params.time_unit,
            times_power(found.depth, -params.length_power),
        );
        list_at_wall(collision, image);
    }
}

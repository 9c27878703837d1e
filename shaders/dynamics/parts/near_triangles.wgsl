// Decides which triangles of meshes a sphere may meet in a substep of hard-sphere dynamics.

#import carom::{CaromWall, carom_image}
#import dynamics::{MeshTriangle}
#import dynamics_triangles::{beside_triangle}
#import opaque::{opaque3}
#import sum::{Sum, add}
#import switches::{is_off}
#import types::{Sphere}
#needs simulation, simulation_request

// Returns the vector from corner a of an image of a triangle to a point. The vector is a sum of
// coordinates that nearly cancel, so the rounding errors of the sum are computed and added to it.
fn place_at_triangle(point: vec3<f32>, triangle: MeshTriangle, mesh: CaromWall, word: u32) -> vec3<f32> {
    var sum = Sum(point, vec3<f32>(0.0));
    sum = add(sum, -triangle.a);
    sum = add(sum, -mesh.point);
    let image = vec3<f32>(-carom_image(word));
    if any(image != vec3<f32>(0.0)) {
        sum = add(sum, opaque3(simulation_request.edges[0].xyz * image.x));
        sum = add(sum, opaque3(simulation_request.edges[1].xyz * image.y));
        sum = add(sum, opaque3(simulation_request.edges[2].xyz * image.z));
    }
    return sum.rounded + sum.errors;
}

// Returns whether a sphere may meet a triangle of a mesh in the substep. `padded` is the sphere, with
// its radius enlarged by its pad. `place` is the position of the sphere relative to the first corner of
// the triangle.
fn may_meet(triangle: MeshTriangle, mesh: CaromWall, padded: Sphere, place: vec3<f32>) -> bool {
    if is_off(triangle.mesh) {
        return false;
    }
    let gap = length(beside_triangle(triangle, place).away) - padded.radius;
    let size = length(padded.center) + length(triangle.a) + length(mesh.point);
    return gap <= length(mesh.velocity) * simulation.substep + 2e-6 * size;
}

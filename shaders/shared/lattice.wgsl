// Images (periodic copies) of spheres in a periodic domain. Image (x, y, z) is displaced by x, y and z times
// the three edges of the lattice.
// Twin of `src/shared/lattice.rs`.

#import opaque::{opaque3}
#needs lattice

// Converts a vector to coordinates along the three edges of the lattice, in which the first edge is (1, 0,
// 0).
fn along_edges(v: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(
        dot(lattice.duals[0].xyz, v),
        dot(lattice.duals[1].xyz, v),
        dot(lattice.duals[2].xyz, v),
    );
}

// Returns the vector by which an image (periodic copy) is displaced, with float32 rounding errors.
fn displacement(image: vec3<i32>) -> vec3<f32> {
    let n = vec3<f32>(image);
    return opaque3(lattice.edges[0].xyz * n.x + lattice.edges[1].xyz * n.y + lattice.edges[2].xyz * n.z);
}

// Returns an upper bound of the sum of the magnitudes that displacement() adds up along one axis. Its
// rounding error is relative to this sum.
fn length_bound(image: vec3<i32>) -> f32 {
    let n = vec3<f32>(abs(image));
    return n.x * lattice.edges[0].w + n.y * lattice.edges[1].w + n.z * lattice.edges[2].w;
}

// Returns by how much to enlarge the radius of a displaced sphere, so that rounding errors do not matter.
// docs/exact.md (section 5) adds up these errors.
fn slack_of(center: vec3<f32>, radius: f32, image: vec3<i32>) -> f32 {
    let far = max(max(abs(center.x), abs(center.y)), abs(center.z));
    return SLACK * EPSILON * (far + length_bound(image) + radius) + MIN_POSITIVE;
}

// Converts the displacement of an image (periodic copy) from multiples of the lattice's edges to multiples of
// the edges that the user gave.
fn in_given_edges(image: vec3<i32>) -> vec3<i32> {
    return image.x * lattice.in_given_edges[0].xyz
        + image.y * lattice.in_given_edges[1].xyz
        + image.z * lattice.in_given_edges[2].xyz;
}

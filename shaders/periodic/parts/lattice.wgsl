// Image (x, y, z) of a sphere is displaced by x, y and z times the three edges of the lattice. Twin of
// `src/lattice/reduced.rs`.

#import opaque::{opaque3}
#needs lattice

// Returns the coordinates of a vector along the edges, in units of the edges.
fn along_edges(v: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(
        dot(lattice.duals[0].xyz, v),
        dot(lattice.duals[1].xyz, v),
        dot(lattice.duals[2].xyz, v),
    );
}

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

// Returns by how much the radius of a displaced sphere is enlarged, so that it contains the exact sphere in
// spite of rounding errors. docs/exact.md (section 5) adds them up.
fn slack_of(center: vec3<f32>, radius: f32, image: vec3<i32>) -> f32 {
    let far = max(max(abs(center.x), abs(center.y)), abs(center.z));
    return SLACK * EPSILON * (far + length_bound(image) + radius) + MIN_POSITIVE;
}

// Converts an image from the reduced edges to those that the user has given.
fn in_given_edges(image: vec3<i32>) -> vec3<i32> {
    return image.x * lattice.in_given_edges[0].xyz
        + image.y * lattice.in_given_edges[1].xyz
        + image.z * lattice.in_given_edges[2].xyz;
}

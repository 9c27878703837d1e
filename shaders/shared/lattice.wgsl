// Images (periodic copies) of spheres in a periodic domain. Image (x, y, z) is displaced by x, y and z times
// the three edges of the lattice.
// Twin of `src/shared/lattice.rs`.

#import opaque::{opaque3}
#needs lattice

// Returns the coordinates of a vector along the edges of the lattice, in edges.
fn along_edges(v: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(
        dot(lattice.duals[0].xyz, v),
        dot(lattice.duals[1].xyz, v),
        dot(lattice.duals[2].xyz, v),
    );
}

// Returns the vector by which an image is displaced, with the rounding error of float32.
fn displacement(image: vec3<i32>) -> vec3<f32> {
    let n = vec3<f32>(image);
    return opaque3(lattice.edges[0].xyz * n.x + lattice.edges[1].xyz * n.y + lattice.edges[2].xyz * n.z);
}

// Returns the sum over the edges of the magnitude of an image's component times the largest component of the
// edge.
fn length_bound(image: vec3<i32>) -> f32 {
    let n = vec3<f32>(abs(image));
    return n.x * lattice.edges[0].w + n.y * lattice.edges[1].w + n.z * lattice.edges[2].w;
}

// Returns an upper bound of the error of a sphere's displaced centre, rounded to float32, plus the rounding
// error of adding it to the radius. docs/exact.md (section 5) adds up the errors.
fn slack_of(center: vec3<f32>, radius: f32, image: vec3<i32>) -> f32 {
    let far = max(max(abs(center.x), abs(center.y)), abs(center.z));
    return SLACK * EPSILON * (far + length_bound(image) + radius) + MIN_POSITIVE;
}

// Converts an image from edges of the lattice to the edges that the user gave.
fn in_given_edges(image: vec3<i32>) -> vec3<i32> {
    return image.x * lattice.in_given_edges[0].xyz
        + image.y * lattice.in_given_edges[1].xyz
        + image.z * lattice.in_given_edges[2].xyz;
}

// Image (x, y, z) of a sphere is displaced by x, y and z times the three edges of the lattice. Twin of
// `src/lattice/reduced.rs`.

#import opaque::{opaque3}
#needs lattice

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

// Bounds the sum of the magnitudes that displacement() adds up along one axis, to which
// its rounding error is relative.
fn length_bound(image: vec3<i32>) -> f32 {
    let n = vec3<f32>(abs(image));
    return n.x * lattice.edges[0].w + n.y * lattice.edges[1].w + n.z * lattice.edges[2].w;
}

// By so much a displaced sphere is enlarged, to contain the exact one (docs/exact.md,
// section 5).
fn slack_of(center: vec3<f32>, radius: f32, image: vec3<i32>) -> f32 {
    let far = max(max(abs(center.x), abs(center.y)), abs(center.z));
    return SLACK * EPSILON * (far + length_bound(image) + radius) + MIN_POSITIVE;
}

fn in_given_edges(image: vec3<i32>) -> vec3<i32> {
    return image.x * lattice.in_given_edges[0].xyz
        + image.y * lattice.in_given_edges[1].xyz
        + image.z * lattice.in_given_edges[2].xyz;
}

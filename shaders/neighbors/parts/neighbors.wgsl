// A request for a neighbour list, and the state of the list that the buffers hold. Twin of `NeighborRequest`
// and `NeighborState` in `src/gpu/device/shader/layout.rs`.

#needs neighbor_request

struct NeighborRequest {
    // The edges are in xyz. One that is not periodic is 0.
    corner: vec3<f32>,
    // 1 if any edge is periodic.
    periodic: u32,
    edges: array<vec4<f32>, 3>,
    // If `by_radii` is 1, the sum of the two radii instead.
    cutoff: f32,
    skin: f32,
    by_radii: u32,
    // 1 if each pair is listed in both directions.
    full: u32,
    // Length to be added to each radius.
    padding: f32,
    // Of half the skin, or 0 if any movement makes the list invalid.
    inverse_reach: f32,
    // 1, so that a buffer of zeros is no request.
    made: u32,
    unused: u32,
}

struct NeighborState {
    // Its `made` is 0 if the buffers hold no complete list.
    request: NeighborRequest,
    particles: u32,
    // 1 if a particle has moved too far, or has changed its radius or its groups.
    moved: atomic<u32>,
    // 1 if the current step keeps the list.
    kept: u32,
    unused: u32,
}

fn is_same_request(one: NeighborRequest, other: NeighborRequest) -> bool {
    var same = all(one.corner == other.corner) && one.periodic == other.periodic;
    for (var k = 0u; k < 3u; k++) {
        same = same && all(one.edges[k] == other.edges[k]);
    }
    same = same && one.cutoff == other.cutoff && one.skin == other.skin;
    same = same && one.by_radii == other.by_radii && one.full == other.full;
    return same && one.padding == other.padding && one.made == other.made;
}

// Of the sphere that stands for a particle, rounded up if there is a padding.
fn padded_radius(radius: f32) -> f32 {
    if neighbor_request.padding == 0.0 || radius < 0.0 {
        return radius;
    }
    return bitcast<f32>(bitcast<u32>(radius + neighbor_request.padding) + 1u);
}

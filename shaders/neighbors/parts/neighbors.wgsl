// A request for a neighbour list, and the state of the list that the buffers hold. Twin of `NeighborRequest`
// and `NeighborState` in `src/gpu/device/shader/layout.rs`.

#needs neighbor_request

struct NeighborRequest {
    // Corner of the periodic cell, and its edges in xyz. An edge that is not periodic is 0.
    corner: vec3<f32>,
    // 1 if the domain is periodic along any edge, otherwise 0.
    periodic: u32,
    edges: array<vec4<f32>, 3>,
    // Largest distance of two neighbours. If `by_radii` is 1, the sum of the two radii is the limit instead.
    cutoff: f32,
    // Length by which the list extends beyond this limit.
    skin: f32,
    by_radii: u32,
    // 1 for a full list, which has each pair in both directions, and 0 for a half list.
    full: u32,
    // Length to be added to each radius.
    padding: f32,
    // Reciprocal of skin / 2, the largest distance that a particle may move while the list stays valid. 0 if
    // any movement makes it invalid.
    inverse_reach: f32,
    // Always 1 in a real request. A buffer filled with zeros is not mistaken for a request.
    made: u32,
    unused: u32,
}

struct NeighborState {
    // The request that the list in the buffers answers. Its field `made` is 0 if they hold no complete list.
    request: NeighborRequest,
    particles: u32,
    // 1 if a particle has moved too far, or has changed its radius or its groups. Otherwise 0.
    moved: atomic<u32>,
    // 1 if the current step keeps the list of an earlier step, 0 if it makes a new one.
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

// Returns the radius of the sphere that stands for a particle in the search. If there is a padding, the sum
// is rounded up, as a margin for rounding errors.
fn padded_radius(radius: f32) -> f32 {
    if neighbor_request.padding == 0.0 || radius < 0.0 {
        return radius;
    }
    return bitcast<f32>(bitcast<u32>(radius + neighbor_request.padding) + 1u);
}

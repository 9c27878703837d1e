// Data that the shaders exchange, with twins in `src/gpu/device/shader/layout.rs`.
// Counters of two words have the low word first. Counting goes on when a buffer is
// full.

struct Params {
    spheres: u32,
    // Or 0 with one set.
    b_offset: u32,
    // In the shaders' unit of time.
    dt: f32,
    // Always 0, which the compiler cannot know.
    zero: u32,
    // Without the first segment of each sphere, and of the list of pairs.
    segment_capacity: u32,
    pair_capacity: u32,
    slots: u32,
    // Lower limit for the length of time segments.
    shortest_segment: f32,
    sample: u32,
    most_candidates_low: u32,
    most_candidates_high: u32,
    // FLAG_TWO_SETS: only pairs with one sphere from each set count. FLAG_WATCH:
    // the driver may end long loops early, as llvmpipe does. FLAG_DECIDE: `decide`
    // decides the pairs that `pairs` has found. FLAG_TRUSTED: the device has passed
    // its self-test. FLAG_SHORT_RECORDS: see `row_order.wgsl`. FLAG_APPROACHING: what
    // touches at the start and does not approach is left out.
    flags: u32,
    // Powers of 2 that convert the caller's lengths and velocities to the shaders'
    // units.
    length_power: i32,
    velocity_power: i32,
    // In the caller's unit of time.
    time_unit: f32,
    serial: u32,
    // As bits: the length of the step in the caller's unit, or 1 with previous
    // centres, and the factor that converts times of impact: 1, or the length of
    // the step.
    given_dt: u32,
    given_times: u32,
}

// In the caller's units. A negative radius marks a sphere that is set aside.
struct Sphere {
    center: vec3<f32>,
    radius: f32,
    velocity: vec3<f32>,
    groups: u32,
}

struct Counters {
    segments: array<atomic<u32>, 2>,
    candidates: array<atomic<u32>, 2>,
    pairs: array<atomic<u32>, 2>,
    // Proxies whose search is finished, if FLAG_WATCH is set.
    finished: atomic<u32>,
    // If there are more spheres than allowed, otherwise 0.
    spheres_needed: u32,
    // And indices of at most INVALID_LISTED of them.
    invalid: atomic<u32>,
    invalid_index: array<atomic<u32>, INVALID_LISTED>,
    // Largest coordinate, radius or displacement, as bits.
    extent: atomic<u32>,
    fullest: atomic<u32>,
    images: array<atomic<u32>, 2>,
    // 1 + the index of a sphere too far from the periodic domain or with too many
    // images, or 0.
    out_of_range: atomic<u32>,
    // Pairs that `decide` has listed, and how many of them graze.
    decided: atomic<u32>,
    grazing: atomic<u32>,
    // One bit per size class that is not empty.
    used: array<atomic<u32>, SIZE_CLASSES / 32u>,
}

// In the middle of the spheres, with the median velocity of the sample.
struct Frame {
    origin: vec3<f32>,
    drift: vec3<f32>,
}

struct Space {
    // log2 of the mean number of others in the cube of half edge 2^(i - 127) around
    // a sphere.
    log_others: array<f32, OCTAVES>,
    frame: Frame,
    // Relative to the frame, around most spheres but no far outliers.
    trimmed_low: vec3<f32>,
    // A sphere that moves farther than this and than its diameter is cut.
    segment: f32,
    trimmed_high: vec3<f32>,
    unused: f32,
}

struct Sampled {
    // Of the NEAR_RANK-th and the FAR_RANK-th nearest neighbour in the sample.
    log_distance: vec2<f32>,
    radius: f32,
    unused: f32,
    middle: vec3<f32>,
    velocity: vec3<f32>,
}

// Not one vector, because different workgroups write them.
struct Ranks {
    low: f32,
    median: f32,
    high: f32,
    unused: f32,
}

// All words begin as 0 and only increase, so bounds are stored by sortable(), lower
// ones negated.
struct SizeClass {
    count: atomic<u32>,
    inside: atomic<u32>,
    // Half the edge of the smallest cell for any proxy, as bits.
    half_cell: atomic<u32>,
    // Of the centres in the middle of each segment, relative to the frame.
    low: array<atomic<u32>, 3>,
    high: array<atomic<u32>, 3>,
}

// Not the first of its sphere.
struct Segment {
    sphere: u32,
    number: u32,
}

// Each cell in the box has a slot for each time slab. Others share slots by a hash.
struct Level {
    // The lowest cell in the box, and its slot in the first slab.
    origin: vec3<i32>,
    first_slot: u32,
    // In cells, and the first slot for cells outside.
    dims: vec3<u32>,
    first_hashed: u32,
    cell: f32,
    inverse_cell: f32,
    // For cells outside the box: a power of two minus 1.
    hash_mask: u32,
    time_power: u32,
    of_set: u32,
    // Half extent of the largest proxy, in cell edges.
    reach: f32,
    // Bit mask of levels, low word first: with one set, also this one; with two,
    // only those of the other set.
    searched: vec2<u32>,
}

struct Plan {
    levels: u32,
    slots: u32,
    // And of those with valid values. Both are 0 if segments overflow.
    proxies: u32,
    sorted: u32,
    frame: Frame,
    level: array<Level, MAX_LEVELS>,
    level_of_size_class: array<u32, SIZE_CLASSES>,
    // An upper bound, for all proxies.
    cells_searched: f32,
}

struct Binned {
    slot: u32,
    place: u32,
}

// A sorted proxy: see `sorted.wgsl`.
struct StoredProxy {
    place: vec4<u32>,
    motion: vec4<u32>,
}

// With the reduced edges. Missing ones are 0.
struct Lattice {
    corner: vec3<f32>,
    // Between two opposite faces, or 0 without periodic edges.
    width: f32,
    // Relative to the frame half-way through the step. The cell is at rest, but the
    // frame moves.
    cell_corner: vec3<f32>,
    // Edges between a sphere and the cell. If negative, no sphere is allowed.
    most_cells: f32,
    // w: an upper bound of the magnitudes of the components.
    edges: array<vec4<f32>, 3>,
    // xyz: the reciprocal vector of an edge. w: its length, rounded up.
    duals: array<vec4<f32>, 3>,
    // Bounds of the components of the reciprocal vectors, to which rounding errors
    // of coordinates are relative.
    dual_bounds: array<vec4<f32>, 3>,
    // The multiples of the user's edges whose sum is edge k.
    in_given_edges: array<vec4<i32>, 3>,
    // The bits of the user's edges, transposed: entry 0 has the x components.
    // Written by the host only.
    given_edges: array<vec4<u32>, 3>,
}

// An image that is a proxy.
struct Entry {
    // SEVERAL_IMAGES is set if other images of the segment are proxies.
    sphere_and_several: u32,
    // Packed by pack_image().
    image: u32,
    // Of the image's box along the edges, in fixed point. Used only with
    // SEVERAL_IMAGES.
    low: array<i32, 3>,
}

struct WallParams {
    // Walls of simple shapes, and room for wall collisions.
    count: u32,
    capacity: u32,
    // 1 in a periodic domain.
    periodic: u32,
    unused: u32,
    // xyz: an edge of the user's domain, or 0. w: the sum of the magnitudes,
    // rounded up.
    edges: array<vec4<f32>, 3>,
}

struct WallCounters {
    found: array<atomic<u32>, 2>,
    // Spheres that have been tested, if FLAG_WATCH is set.
    finished: atomic<u32>,
    // 1 + the index of a sphere with too many images at a wall, or 0.
    out_of_range: atomic<u32>,
}

// The edges along which images touch the wall at another time than the sphere. The
// others are 0.
struct WallLattice {
    // As in `WallParams`.
    edges: array<vec4<f32>, 3>,
    // As in `Lattice`.
    duals: array<vec4<f32>, 3>,
}

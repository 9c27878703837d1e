// Data structures that the compute shaders exchange, with Rust twins in `src/gpu/device/shader/layout.rs`. A counter
// of two words has the low word first. Counting goes on when the buffer for the counted items is full.

struct Params {
    spheres: u32,
    // Number of spheres in the first of two sets, or 0 with one set.
    b_offset: u32,
    // Length of the step, in the shaders' unit of time.
    dt: f32,
    // Always 0, which the compiler cannot know. Used to prevent compiler optimizations.
    zero: u32,
    // Capacities of the list of time segments (without the first segment of each sphere) and of the list of
    // pairs.
    segment_capacity: u32,
    pair_capacity: u32,
    slots: u32,
    // Lower limit for the length of time segments.
    shortest_segment: f32,
    sample: u32,
    most_candidates_low: u32,
    most_candidates_high: u32,
    // FLAG_TWO_SETS: only pairs with one sphere from each of two sets count. FLAG_WATCH: the driver may end
    // long loops early, as llvmpipe does. FLAG_DECIDE: `decide` decides the pairs that `pairs` has found.
    flags: u32,
    // The caller's lengths are multiplied by 2^length_power, and velocities by 2^velocity_power, to convert
    // them to the shaders' units.
    length_power: i32,
    velocity_power: i32,
    // The shaders' unit of time, in the caller's unit of time.
    time_unit: f32,
    serial: u32,
    // The length of the step in the caller's unit of time, or 1 with previous centers instead of velocities, and the
    // factor that converts times of impact to the caller's unit of time: 1, or the length of the step. Both as bits.
    given_dt: u32,
    given_times: u32,
}

// A sphere in the caller's units. A negative radius marks a sphere that is set aside.
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
    // Number of proxies whose search is finished. Only counted if FLAG_WATCH is set.
    finished: atomic<u32>,
    // Number of spheres in the input if there are more than allowed, otherwise 0.
    spheres_needed: u32,
    // Number of spheres with invalid values, and indices of at most INVALID_LISTED of them.
    invalid: atomic<u32>,
    invalid_index: array<atomic<u32>, INVALID_LISTED>,
    // Largest magnitude of any coordinate, radius or displacement in the step, as the bits of a float32.
    extent: atomic<u32>,
    // Number of proxies in the fullest slot.
    fullest: atomic<u32>,
    // Number of images that the stage `images` has added to the proxies.
    images: array<atomic<u32>, 2>,
    // 1 + the index of a sphere that is too far from the periodic domain or has too many images, or 0.
    out_of_range: atomic<u32>,
    // Number of pairs that `decide` has listed, and how many of them are marked as grazing.
    decided: atomic<u32>,
    grazing: atomic<u32>,
    // One bit per size class, set if the class is not empty.
    used: array<atomic<u32>, SIZE_CLASSES / 32u>,
}

// It starts in the middle of the spheres and moves with the median velocity of the sample.
struct Frame {
    origin: vec3<f32>,
    drift: vec3<f32>,
}

struct Space {
    // The correlation curve: entry i is log2 of the mean number of other spheres in the cube of half edge
    // 2^(i - 127) around a sphere.
    log_others: array<f32, OCTAVES>,
    frame: Frame,
    // Lower corner of the trimmed box, relative to the frame. It contains most of the spheres but no far
    // outliers.
    trimmed_low: vec3<f32>,
    // Length limit of time segments: a sphere that moves farther than this and than its diameter is cut.
    segment: f32,
    trimmed_high: vec3<f32>,
    unused: f32,
}

struct Sampled {
    // log2 of the distances to the NEAR_RANK-th and the FAR_RANK-th nearest neighbour in the sample.
    log_distance: vec2<f32>,
    radius: f32,
    unused: f32,
    middle: vec3<f32>,
    velocity: vec3<f32>,
}

// Quantiles of one quantity of the sampled spheres, such as a coordinate. Not stored as one vector, because
// different workgroups write them.
struct Ranks {
    low: f32,
    median: f32,
    high: f32,
    unused: f32,
}

// The histogram entry of one size class. All words begin as 0, and atomic operations only increase them. So
// the bounds of positions are stored as unsigned integers in the order of the floats, and lower bounds are
// negated first.
struct SizeClass {
    count: atomic<u32>,
    // Number of proxies of this size class in the trimmed box.
    inside: atomic<u32>,
    // Half the edge of the smallest cell that may hold any proxy of the size class, as the bits of a float32.
    half_cell: atomic<u32>,
    // Bounding box of the sphere centres in the middle of each time segment, relative to the frame.
    low: array<atomic<u32>, 3>,
    high: array<atomic<u32>, 3>,
}

// A time segment other than the first of its sphere.
struct Segment {
    sphere: u32,
    number: u32,
}

// One level, and its slots. Each cell in its box has its own slot for each time slab. Other cells share
// slots, which a hash chooses.
struct Level {
    // The cell with the lowest coordinates in the box, and its slot in the first time slab.
    origin: vec3<i32>,
    first_slot: u32,
    // Size of the box in cells, and the first slot for cells outside it.
    dims: vec3<u32>,
    first_hashed: u32,
    cell: f32,
    inverse_cell: f32,
    // Number of slots for the cells outside the box (a power of two), minus 1.
    hash_mask: u32,
    time_power: u32,
    of_set: u32,
    // Largest half extent of a proxy of the level, in cell edges.
    reach: f32,
    // Bit mask of the levels that this one searches, low word first. In a step with one set, each level also
    // searches itself. With two sets, it searches only levels of the other set.
    searched: vec2<u32>,
}

struct Plan {
    levels: u32,
    slots: u32,
    // Number of proxies, and of those with valid values. Both are 0 if there are more time segments than the
    // buffers hold.
    proxies: u32,
    sorted: u32,
    frame: Frame,
    level: array<Level, MAX_LEVELS>,
    level_of_size_class: array<u32, SIZE_CLASSES>,
    // An upper bound of the number of cells that all proxies search.
    cells_searched: f32,
}

// The slot of a proxy, and its position in this slot.
struct Binned {
    slot: u32,
    place: u32,
}

// A sorted proxy: see `sorted.wgsl`.
struct StoredProxy {
    place: vec4<u32>,
    motion: vec4<u32>,
}

// The lattice of a periodic domain, with the reduced edges. If fewer than three edges are periodic, the
// missing entries are 0.
struct Lattice {
    corner: vec3<f32>,
    // The least distance between two opposite faces of the cell, or 0 without periodic edges.
    width: f32,
    // The corner of the periodic cell, relative to the frame half-way through the step. The cell is at rest,
    // but the frame moves.
    cell_corner: vec3<f32>,
    // Largest allowed distance between a sphere and the cell along an edge, in multiples of the edge. If
    // negative, no sphere is allowed.
    most_cells: f32,
    // xyz: an edge of the lattice. w: an upper bound of the magnitudes of its components.
    edges: array<vec4<f32>, 3>,
    // xyz: the reciprocal vector d of an edge, where d·x is the coordinate of a point x along the edge. w:
    // the length of d, rounded up.
    duals: array<vec4<f32>, 3>,
    // Upper bounds of the magnitudes of the components of each reciprocal vector. Rounding errors of
    // coordinates along the edges are relative to these bounds.
    dual_bounds: array<vec4<f32>, 3>,
    // xyz of entry k: the multiples of the user's edges whose sum is edge k. w: 0.
    in_given_edges: array<vec4<i32>, 3>,
    // The bits of the user's edges, transposed: entry 0 has the x components of all three, and so on. 0 for edges that
    // are not periodic. Written by the host only.
    given_edges: array<vec4<u32>, 3>,
}

// An image that is a proxy.
struct Entry {
    // Index of the sphere. The bit SEVERAL_IMAGES is also set if other images of the sphere, in the same time
    // segment, are proxies.
    sphere_and_several: u32,
    // The displacement, in multiples of the lattice's edges, packed by pack_image().
    image: u32,
    // Lower corner of the image's bounding box, in fixed-point coordinates along the edges of the cell. Used
    // only with the bit SEVERAL_IMAGES.
    low: array<i32, 3>,
}

struct WallParams {
    // Number of walls of simple shapes in the step, and capacity of the list of wall collisions.
    count: u32,
    capacity: u32,
    // 1 in a periodic domain, 0 in open space.
    periodic: u32,
    unused: u32,
    // xyz: an edge of the user's periodic domain, or 0. w: the sum of the magnitudes of x, y and z, rounded
    // up.
    edges: array<vec4<f32>, 3>,
}

struct WallCounters {
    found: array<atomic<u32>, 2>,
    // Number of spheres that have been tested. Only counted if FLAG_WATCH is set.
    finished: atomic<u32>,
    // 1 + the index of a sphere with too many images at a wall, or 0.
    out_of_range: atomic<u32>,
}

// The edges of a periodic domain that make a difference at one wall: images displaced along such an edge do
// not touch this wall at the same time as the sphere. All other edges are 0.
struct WallLattice {
    // xyz: an edge that the user gave. w: as in `WallParams`.
    edges: array<vec4<f32>, 3>,
    // As in `Lattice`.
    duals: array<vec4<f32>, 3>,
}

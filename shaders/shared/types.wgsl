// Data that the stages exchange. Each structure has a twin with the same fields in
// `src/gpu/shader/layout.rs`; a test compares sizes and offsets.

// Parameters of a step.
struct Params {
    spheres: u32,
    // Number to add to the index of a pair's second sphere to get its row, in the reductions with a
    // row for each sphere: the number of spheres in the first of two sets, or 0 with one set.
    b_offset: u32,
    // Length of the step in the stages' unit of time.
    dt: f32,
    // Always 0. The compiler of the shader cannot know this: see opaque().
    zero: u32,
    // Room in the list of time segments, which has the segments after each sphere's first; and room
    // in the list of pairs. Both are numbers of entries.
    segment_capacity: u32,
    pair_capacity: u32,
    // Number of slots in the slot table, which the plan divides among the levels.
    slots: u32,
    // Lower limit for the length to which fast spheres are cut into time segments.
    shortest_segment: f32,
    // Number of spheres in the sample.
    sample: u32,
    // Largest number of candidates allowed, low word first. If there are more, `pairs` tests
    // none.
    most_candidates_low: u32,
    most_candidates_high: u32,
    // FLAG_TWO_SETS is set if only pairs between two sets count. FLAG_WATCH is set if the driver
    // may end long loops early, as llvmpipe does.
    flags: u32,
    // The stages use the caller's lengths times 2^length_power and the caller's velocities
    // times 2^velocity_power: see sphere_at().
    length_power: i32,
    velocity_power: i32,
    // The unit of time of the stages, in the caller's unit of time.
    time_unit: f32,
    // Serial number of the step.
    serial: u32,
}

// A sphere in the caller's units. A negative radius marks a sphere that was set aside.
struct Sphere {
    center: vec3<f32>,
    radius: f32,
    velocity: vec3<f32>,
    groups: u32,
}

// Counters of the stages. Counters of two words have the low word first. A counter continues to
// count when the buffer of the counted items is full.
struct Counters {
    segments: array<atomic<u32>, 2>,
    candidates: array<atomic<u32>, 2>,
    pairs: array<atomic<u32>, 2>,
    // Number of invocations of the kernel `pairs` that have reached their end, in the tally and in
    // the test together. They are counted only with FLAG_WATCH.
    finished: atomic<u32>,
    // Number of spheres in the input if there are more than allowed, otherwise 0.
    spheres_needed: u32,
    // Number of spheres that were set aside for invalid values, and the indices of at most
    // INVALID_LISTED of them.
    invalid: atomic<u32>,
    invalid_index: array<atomic<u32>, INVALID_LISTED>,
    // Bits of the largest magnitude of any coordinate, radius or displacement of the spheres.
    extent: atomic<u32>,
    // Number of proxies in the slot that holds the most.
    fullest: atomic<u32>,
    // A bit for each size class, set if the class has proxies.
    used: array<atomic<u32>, SIZE_CLASSES / 32u>,
}

// The origin from which cells are counted. At the start of the step it is in the middle of the
// spheres, and its velocity is the velocity with which most of them move. Coordinates "in the
// frame" are differences from this origin.
struct Frame {
    origin: vec3<f32>,
    drift: vec3<f32>,
}

// The distribution of the spheres in space, estimated from the sample.
struct Space {
    // The correlation curve: entry i is log2 of the mean number of other spheres in the cube of
    // half edge 2^(i - 127) around a sphere.
    log_others: array<f32, OCTAVES>,
    frame: Frame,
    // The corners of the trimmed box, in the frame. The box holds most of the spheres and no far
    // outliers.
    trimmed_low: vec3<f32>,
    // Length to which spheres that move farther are cut into time segments.
    segment: f32,
    trimmed_high: vec3<f32>,
    unused: f32,
}

// A sphere of the sample, with the distances to two of its neighbours.
struct Sampled {
    // log2 of the distances to two neighbours in the sample: number NEAR_RANK and number FAR_RANK
    // in the order of distance.
    log_distance: vec2<f32>,
    radius: f32,
    unused: f32,
    // The centre of the sphere halfway through the step.
    middle: vec3<f32>,
    velocity: vec3<f32>,
}

// Median and trimmed extremes (a low and a high quantile) of one quantity of the sampled spheres.
// They are not a vector, because several workgroups write single words of them.
struct Ranks {
    low: f32,
    median: f32,
    high: f32,
    unused: f32,
}

// The histogram entry of one size class of proxies. All words begin as 0 and only grow. For this
// reason, bounds are stored as sortable() words, and a lower bound is negated first.
struct SizeClass {
    count: atomic<u32>,
    // Number of proxies whose spheres have the middles of their first and last segments in the
    // trimmed box.
    inside: atomic<u32>,
    // Bits of the largest half cell of the proxies: half the edge of the smallest cells that may
    // hold them all.
    half_cell: atomic<u32>,
    // Bounds of the middles of the proxies, relative to the frame.
    low: array<atomic<u32>, 3>,
    high: array<atomic<u32>, 3>,
}

// A time segment that is not the first of its sphere: the index of the sphere, and the number of
// the segment.
struct Segment {
    sphere: u32,
    number: u32,
}

// A level: one uniform grid, and its part of the slot table. Each cell in the level's box has a
// slot of its own for every time slab. Cells outside the box share slots by a hash.
struct Level {
    // The cell of the level's box with the lowest coordinates, and the slot of this cell in the
    // first time slab.
    origin: vec3<i32>,
    first_slot: u32,
    // Number of cells of the level's box along each axis, and first slot for the cells outside the
    // box.
    dims: vec3<u32>,
    first_hashed: u32,
    // Edge of the cells, and its reciprocal.
    cell: f32,
    inverse_cell: f32,
    // Number of slots for the cells outside the level's box, minus 1. This number of slots is a
    // power of two.
    hash_mask: u32,
    // The level has 2^time_power time slabs.
    time_power: u32,
    // Set of the spheres, 0 or 1.
    of_set: u32,
    // Half extent of the largest proxy of the level along any axis, in units of the edge of a cell:
    // at most 0.5, except for rounding.
    reach: f32,
}

struct Plan {
    levels: u32,
    slots: u32,
    // Number of all proxies, which includes spheres that were set aside; and number of proxies in
    // the grids, which excludes them. Both are 0 if there are more time segments than there is room
    // for.
    proxies: u32,
    sorted: u32,
    frame: Frame,
    level: array<Level, MAX_LEVELS>,
    level_of_size_class: array<u32, SIZE_CLASSES>,
}

// Slot of a proxy, and place of the proxy among the proxies of this slot.
struct Binned {
    slot: u32,
    place: u32,
}

// The sphere of a sorted proxy, in the units of the stages: its values and its index.
struct SortedProxy {
    center: vec3<f32>,
    radius: f32,
    velocity: vec3<f32>,
    sphere: u32,
}

// Cell and tag (level and time segment) of a proxy.
struct SortedCell {
    cell: vec3<i32>,
    tag: u32,
}

// Data structures that the compute shaders exchange. Each has a Rust twin with the same fields in
// `src/gpu/shader/layout.rs`, and a test compares sizes and offsets.

// Parameters of one time step, for all shaders.
struct Params {
    spheres: u32,
    // Offset from the index of a pair's second sphere to the sphere's row in results with one row per sphere.
    // With two sets of spheres, it is the number of spheres in the first set. With one set, it is 0.
    b_offset: u32,
    // Length of the step, in the unit of time of the shaders.
    dt: f32,
    // Always 0. Shaders use this number to prevent compiler optimizations, because the compiler cannot know
    // its value.
    zero: u32,
    // Capacities of two buffers, in entries: of the list of time segments, which leaves out the first segment
    // of each sphere, and of the list of pairs.
    segment_capacity: u32,
    pair_capacity: u32,
    // Number of entries in the table of grid cells. The grids share this table.
    slots: u32,
    // Lower limit for the length of the time segments into which fast spheres are cut.
    shortest_segment: f32,
    // Number of spheres in the sample, from which the distribution of all spheres is estimated.
    sample: u32,
    // Largest number of candidate pairs allowed, low word first. If there are more candidates, none is
    // tested.
    most_candidates_low: u32,
    most_candidates_high: u32,
    // Bits of the step. FLAG_TWO_SETS is set if only pairs with one sphere from each of two sets count.
    // FLAG_WATCH is set if the driver may end long loops early, as llvmpipe does.
    flags: u32,
    // Powers of two by which shaders scale the caller's values: lengths by 2^length_power, velocities by
    // 2^velocity_power.
    length_power: i32,
    velocity_power: i32,
    // Unit of time of the shaders, in the caller's unit of time.
    time_unit: f32,
    // Serial number of the step.
    serial: u32,
}

// A sphere in the caller's units. A negative radius marks a sphere that was set aside because its values are
// invalid.
struct Sphere {
    center: vec3<f32>,
    radius: f32,
    velocity: vec3<f32>,
    groups: u32,
}

// Counters of a step. Counters of two words have the low word first. Each counter continues to count when the
// buffer of the counted items is full.
struct Counters {
    segments: array<atomic<u32>, 2>,
    candidates: array<atomic<u32>, 2>,
    pairs: array<atomic<u32>, 2>,
    // Number of invocations of the kernel `pairs` that have reached their end. The pass that counts the
    // candidates and the pass that tests them add to the same number. Only counted if FLAG_WATCH is set.
    finished: atomic<u32>,
    // Number of spheres in the input if there are more than allowed, otherwise 0.
    spheres_needed: u32,
    // Number of spheres that were set aside for invalid values, and the indices of at most INVALID_LISTED of
    // these spheres.
    invalid: atomic<u32>,
    invalid_index: array<atomic<u32>, INVALID_LISTED>,
    // Largest magnitude of any coordinate, radius or displacement of the spheres, stored as the bits of a
    // float32.
    extent: atomic<u32>,
    // Number of spheres (or time segments) in the fullest entry of the table of grid cells.
    fullest: atomic<u32>,
    // One bit per size class (class of spheres of similar size), set if the class is not empty.
    used: array<atomic<u32>, SIZE_CLASSES / 32u>,
}

// The moving origin from which grid cells are counted. At the start of the step it is in the middle of the
// spheres, and it moves with the median velocity of the sampled spheres. Coordinates "relative to the frame"
// are relative to this origin.
struct Frame {
    origin: vec3<f32>,
    drift: vec3<f32>,
}

// The distribution of the spheres in space, estimated from the sample.
struct Space {
    // Number of neighbours as a function of distance. Entry i is log2 of the mean number of other spheres in
    // the cube of half edge 2^(i - 127) around a sphere.
    log_others: array<f32, OCTAVES>,
    frame: Frame,
    // Corners of the trimmed box, relative to the frame (the moving origin of the cells). The box holds most
    // of the spheres and no far outliers.
    trimmed_low: vec3<f32>,
    // Length limit of time segments. A sphere that moves farther than this limit and farther than its
    // diameter is cut into time segments.
    segment: f32,
    trimmed_high: vec3<f32>,
    unused: f32,
}

// A sphere of the sample, with the distances to two of its neighbours in the sample.
struct Sampled {
    // log2 of the distances from the sampled sphere to its NEAR_RANK-th and its FAR_RANK-th nearest neighbour
    // in the sample.
    log_distance: vec2<f32>,
    radius: f32,
    unused: f32,
    // Centre of the sampled sphere halfway through the step.
    middle: vec3<f32>,
    velocity: vec3<f32>,
}

// Median, low quantile and high quantile of one quantity of the sampled spheres, such as a coordinate. The
// fields are separate words, because different workgroups write them.
struct Ranks {
    low: f32,
    median: f32,
    high: f32,
    unused: f32,
}

// The histogram entry of one size class (the spheres and time segments of similar size). All words begin as 0
// and only grow. For this reason, bounds are stored as unsigned integers with the order of the floats, and a
// lower bound is negated first.
struct SizeClass {
    count: atomic<u32>,
    // Number of time segments (or uncut spheres) of the size class that are in the trimmed box, which
    // excludes far outliers. If the middle of a sphere's first or last segment is outside, none of its
    // segments is counted.
    inside: atomic<u32>,
    // Bits of the largest half cell in the size class. The half cell of a sphere or time segment is half the
    // edge of the smallest grid cell that may hold it.
    half_cell: atomic<u32>,
    // Bounds of the sphere centres in the size class, relative to the frame. The centre of a moving sphere is
    // taken in the middle of each time segment.
    low: array<atomic<u32>, 3>,
    high: array<atomic<u32>, 3>,
}

// A time segment that is not the first one of its sphere: the index of the sphere, and the number of the
// segment.
struct Segment {
    sphere: u32,
    number: u32,
}

// A level: one uniform grid, and its part of the table of cells. A cell in the grid's box has its own table
// entry (slot) for each time slab (part of the step). Cells outside the box share slots by a hash.
struct Level {
    // Corner cell of the grid's box with the lowest coordinates, and table entry of this cell in the first
    // time slab (part of the step).
    origin: vec3<i32>,
    first_slot: u32,
    // Number of cells of the grid's box along each axis, and first of the table entries for the cells outside
    // the box.
    dims: vec3<u32>,
    first_hashed: u32,
    // Edge of the grid's cells, and its reciprocal.
    cell: f32,
    inverse_cell: f32,
    // Number of table entries for the cells outside the grid's box, minus 1. The number of these entries is a
    // power of two.
    hash_mask: u32,
    // log2 of the number of time slabs (equal parts of the step) for which the grid has separate cells.
    time_power: u32,
    // Set of the spheres in the grid, 0 or 1.
    of_set: u32,
    // Largest half extent of a sphere (or time segment) in the grid along any axis, in cell edges: at most
    // 0.5, except for rounding.
    reach: f32,
}

struct Plan {
    levels: u32,
    slots: u32,
    // Number of uncut spheres and time segments, including spheres that were set aside for invalid values;
    // and their number in the grids, without such spheres. Both are 0 if there are more time segments than
    // the buffers hold.
    proxies: u32,
    sorted: u32,
    frame: Frame,
    level: array<Level, MAX_LEVELS>,
    level_of_size_class: array<u32, SIZE_CLASSES>,
}

// Slot (entry of the table of grid cells) of a sphere or time segment, and its position among the spheres in
// this slot.
struct Binned {
    slot: u32,
    place: u32,
}

// Entry of the buffer of sorted spheres, which is ordered by grid cell: the values of the sphere, in the
// units of the shaders, and its index.
struct SortedProxy {
    center: vec3<f32>,
    radius: f32,
    velocity: vec3<f32>,
    sphere: u32,
}

// Grid cell and tag (packed grid number and time segment) of a sphere or time segment.
struct SortedCell {
    cell: vec3<i32>,
    tag: u32,
}

// Data that the stages exchange. Each structure has a twin with the same fields in
// `src/gpu/shader/layout.rs`; a test compares sizes and offsets.

// Parameters of a step.
struct Params {
    spheres: u32,
    // Number to add to the index of a pair's second sphere to get its row: the number of
    // spheres in the first of two sets, or 0 for one set.
    b_offset: u32,
    // Length of the step in the stages' unit of time.
    dt: f32,
    // 0, although no compiler can know that: see opaque().
    zero: u32,
    // Number of time segments after each sphere's first, and number of pairs, for which there
    // is room.
    segment_capacity: u32,
    pair_capacity: u32,
    // Number of slots that the plan may use.
    slots: u32,
    // Lower limit for the length of segments.
    shortest_segment: f32,
    // Number of spheres in the sample.
    sample: u32,
    // Largest number of candidates allowed, low word first. If there are more, `pairs` tests
    // none.
    most_candidates_low: u32,
    most_candidates_high: u32,
    // FLAG_TWO_SETS if only pairs between two sets count. FLAG_WATCH if the driver may end long
    // loops early, as llvmpipe does.
    flags: u32,
    // The stages use the caller's lengths times 2^length_power and the caller's velocities
    // times 2^velocity_power: see sphere_at().
    length_power: i32,
    velocity_power: i32,
    // The stages' unit of time, in the caller's.
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

// Counters of the stages. Those of two words have the low word first, and go on past every
// capacity.
struct Counters {
    segments: array<atomic<u32>, 2>,
    candidates: array<atomic<u32>, 2>,
    pairs: array<atomic<u32>, 2>,
    // Number of invocations of `pairs`, in the tally and in the test, that have finished. Only
    // counted with FLAG_WATCH.
    finished: atomic<u32>,
    // Number of spheres in the input if they do not fit, otherwise 0.
    spheres_needed: u32,
    // Number of spheres that were set aside because of their values, and the indices of some.
    invalid: atomic<u32>,
    invalid_index: array<atomic<u32>, INVALID_LISTED>,
    // Bits of the largest magnitude of any length: a coordinate, radius or displacement.
    extent: atomic<u32>,
    // Number of proxies in the fullest slot.
    fullest: atomic<u32>,
    // A bit for each size class, set if the class has proxies.
    used: array<atomic<u32>, SIZE_CLASSES / 32u>,
}

// The origin from which cells are counted, amid the spheres, and its velocity, with which most
// of them move. Coordinates "in the frame" are differences from the origin.
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
    // The trimmed box, in the frame: it holds most spheres and no far stray.
    trimmed_low: vec3<f32>,
    // Length to which spheres that move farther should be cut.
    segment: f32,
    trimmed_high: vec3<f32>,
    unused: f32,
}

// Values of a sphere of the sample.
struct Sampled {
    // log2 of the distances to the neighbours of rank NEAR_RANK and FAR_RANK in the sample.
    log_distance: vec2<f32>,
    radius: f32,
    unused: f32,
    // The centre halfway through the step.
    middle: vec3<f32>,
    velocity: vec3<f32>,
}

// Median and trimmed extremes of one quantity of the sample. Not a vector, because several
// workgroups write single words of it.
struct Ranks {
    low: f32,
    median: f32,
    high: f32,
    unused: f32,
}

// The proxies of one size class. All words begin as 0 and only grow: bounds are kept as
// sortable() words, and the lower ones are those of the negated coordinates.
struct SizeClass {
    count: atomic<u32>,
    // Number of proxies of spheres whose first and last segments have their middles in the
    // trimmed box.
    inside: atomic<u32>,
    // Bits of the largest half cell.
    half_cell: atomic<u32>,
    // Bounds of the middles of the proxies, in the frame.
    low: array<atomic<u32>, 3>,
    high: array<atomic<u32>, 3>,
}

// A time segment after a sphere's first: the index of the sphere, and the segment's number.
struct Segment {
    sphere: u32,
    number: u32,
}

// One uniform grid, and its part of the slot table. Cells in the box have a slot each for every
// time slab; cells outside share slots by a hash.
struct Level {
    // First cell of the box, and its slot.
    origin: vec3<i32>,
    first_slot: u32,
    // Number of cells of the box along each axis, and first slot for the cells outside the box.
    dims: vec3<u32>,
    first_hashed: u32,
    // Edge of the cells, and its reciprocal.
    cell: f32,
    inverse_cell: f32,
    // Number of slots for the cells outside the box, minus 1: a power of two, minus 1.
    hash_mask: u32,
    // The level has 2^time_power time slabs.
    time_power: u32,
    // Set of the spheres, 0 or 1.
    of_set: u32,
    // How far the largest proxy reaches from its middle along any axis, in cells: at most 0.5,
    // except for rounding.
    reach: f32,
}

struct Plan {
    levels: u32,
    slots: u32,
    // Number of proxies, including spheres that are set aside, and number of proxies in the
    // grids, without these. Both are 0 if the segments do not fit.
    proxies: u32,
    sorted: u32,
    frame: Frame,
    level: array<Level, MAX_LEVELS>,
    level_of_size_class: array<u32, SIZE_CLASSES>,
}

// Slot of a proxy, and place within the slot.
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

// Cell and tag of a proxy.
struct SortedCell {
    cell: vec3<i32>,
    tag: u32,
}

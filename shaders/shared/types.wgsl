// What the stages pass to one another. Each structure has a twin with the same fields in
// `src/gpu/shader/layout.rs`; a test compares sizes and offsets.

struct Params {
    spheres: u32,
    // Added to the second index of a pair to find its row: how many spheres the first of
    // two sets has; 0 for one set.
    b_offset: u32,
    dt: f32,
    // 0, in a way that no compiler knows: see opaque().
    zero: u32,
    // How many segments after each sphere's first, and how many pairs, fit.
    segment_capacity: u32,
    pair_capacity: u32,
    // Slots that the plan may use.
    slots: u32,
    // Segments are no shorter than this.
    shortest_segment: f32,
    // Spheres that stand for all.
    sample: u32,
    // The limit, low word first: past it `pairs` does nothing.
    most_candidates_low: u32,
    most_candidates_high: u32,
    // FLAG_TWO_SETS when only pairs between two sets count. FLAG_WATCH for a driver that
    // may end a long loop before it is done, as llvmpipe does.
    flags: u32,
    // Lengths are as the caller has them times 2^this, and so are velocities: see
    // sphere_at().
    length_power: i32,
    velocity_power: i32,
    // The caller's time for 1 in units of `dt`.
    time_unit: f32,
    // Tells steps apart.
    serial: u32,
}

// As the caller gave it, in the caller's units. A negative radius is that of a
// sphere set aside.
struct Sphere {
    center: vec3<f32>,
    radius: f32,
    velocity: vec3<f32>,
    groups: u32,
}

// Pairs and the like have two words each, low first; they go on past every
// capacity.
struct Counters {
    segments: array<atomic<u32>, 2>,
    candidates: array<atomic<u32>, 2>,
    pairs: array<atomic<u32>, 2>,
    // Invocations of `pairs`, tallying or testing, that came to their end;
    // counted with FLAG_WATCH.
    finished: atomic<u32>,
    // How many spheres there should have been, when they do not fit.
    spheres_needed: u32,
    // Spheres set aside for what they have of values, and the first of them.
    invalid: atomic<u32>,
    invalid_index: array<atomic<u32>, INVALID_LISTED>,
    // Bits of the largest magnitude of a length.
    extent: atomic<u32>,
    // Proxies in the slot that has most.
    fullest: atomic<u32>,
    // A bit for each size class that is not empty.
    used: array<atomic<u32>, SIZE_CLASSES / 32u>,
}

// Where cells are counted from: a place amid the world, moving as most of it
// does. Coordinates "in the frame" are differences to it.
struct Frame {
    origin: vec3<f32>,
    drift: vec3<f32>,
}

struct Space {
    // log2 of how many others the cube of half edge 2^(i - 127) around a sphere
    // holds.
    log_others: array<f32, OCTAVES>,
    frame: Frame,
    // A box, in the frame, that holds most spheres and no far stray.
    trimmed_low: vec3<f32>,
    // How long segments should be.
    segment: f32,
    trimmed_high: vec3<f32>,
    unused: f32,
}

// What the sample tells of one of its spheres.
struct Sampled {
    // log2 of the distances to the NEAR_RANK and the FAR_RANK.
    log_distance: vec2<f32>,
    radius: f32,
    unused: f32,
    middle: vec3<f32>,
    velocity: vec3<f32>,
}

// The lowest that counts, the median and the highest that counts, of one quantity of
// the sample. Not a vector: workgroups write single words.
struct Ranks {
    low: f32,
    median: f32,
    high: f32,
    unused: f32,
}

// Proxies of one size class. All words are 0 at first, and only grow: bounds are kept as
// sortable() words, the lower ones of the negated coordinate.
struct SizeClass {
    count: atomic<u32>,
    // How many of the proxies are of spheres that begin and end within the trimmed
    // box.
    inside: atomic<u32>,
    half_cell: atomic<u32>,
    low: array<atomic<u32>, 3>,
    high: array<atomic<u32>, 3>,
}

// A time segment after a sphere's first.
struct Segment {
    sphere: u32,
    number: u32,
}

struct Level {
    origin: vec3<i32>,
    first_slot: u32,
    dims: vec3<u32>,
    first_hashed: u32,
    cell: f32,
    inverse_cell: f32,
    hash_mask: u32,
    // The step is divided into 2^this time slabs.
    time_power: u32,
    // The set its spheres are of, 0 or 1.
    of_set: u32,
    // How far the largest of its proxies reaches along any axis, in cells: half of one
    // at most, but for rounding.
    reach: f32,
}

struct Plan {
    levels: u32,
    slots: u32,
    // Proxies, and how many of them are in the grids: those that are not of
    // spheres set aside.
    proxies: u32,
    sorted: u32,
    frame: Frame,
    level: array<Level, MAX_LEVELS>,
    level_of_size_class: array<u32, SIZE_CLASSES>,
}

// Where a proxy goes.
struct Binned {
    slot: u32,
    place: u32,
}

struct SortedProxy {
    center: vec3<f32>,
    radius: f32,
    velocity: vec3<f32>,
    sphere: u32,
}

struct SortedCell {
    cell: vec3<i32>,
    tag: u32,
}

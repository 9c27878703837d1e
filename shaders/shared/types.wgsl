// Data structures that the compute shaders exchange. Each has a Rust twin in `src/gpu/shader/layout.rs`, and
// a test compares sizes and offsets.

struct Params {
    spheres: u32,
    // Number of spheres in the first of two sets, or 0 with one set.
    b_offset: u32,
    // Length of the step, in the shaders' unit of time.
    dt: f32,
    // Always 0, which the compiler cannot know. Used to prevent compiler optimizations.
    zero: u32,
    // Capacities of two lists, in entries: the list of time segments (without the first segment of each
    // sphere), and the list of pairs.
    segment_capacity: u32,
    pair_capacity: u32,
    // Number of entries in the table of grid cells, which all grids share.
    slots: u32,
    // Lower limit for the length of the time segments into which fast spheres are cut.
    shortest_segment: f32,
    sample: u32,
    most_candidates_low: u32,
    most_candidates_high: u32,
    // A combination of flags. FLAG_TWO_SETS means that only pairs with one sphere from each of two sets count.
    // FLAG_WATCH means that the driver may end long loops early, as llvmpipe does.
    flags: u32,
    // The caller's lengths are multiplied by 2^length_power, and velocities by 2^velocity_power, to convert
    // them to the shaders' units.
    length_power: i32,
    velocity_power: i32,
    // The shaders' unit of time, in the caller's unit of time.
    time_unit: f32,
    serial: u32,
}

// A sphere in the caller's units. A negative radius marks a sphere with invalid values, which takes no part
// in the step.
struct Sphere {
    center: vec3<f32>,
    radius: f32,
    velocity: vec3<f32>,
    groups: u32,
}

// Counters of a step. Counters of two words have the low word first. Counting goes on when the buffer for
// the counted items is full.
struct Counters {
    segments: array<atomic<u32>, 2>,
    candidates: array<atomic<u32>, 2>,
    pairs: array<atomic<u32>, 2>,
    // Number of spheres (or time segments) whose search for contacts is finished. Only counted if FLAG_WATCH
    // is set.
    finished: atomic<u32>,
    // Number of spheres in the input if there are more than allowed, otherwise 0.
    spheres_needed: u32,
    // Number of spheres with invalid values, and indices of at most INVALID_LISTED of them.
    invalid: atomic<u32>,
    invalid_index: array<atomic<u32>, INVALID_LISTED>,
    // Largest magnitude of any coordinate, radius or displacement in the step, as the bits of a float32.
    extent: atomic<u32>,
    // Number of spheres (or time segments) in the fullest entry of the table of grid cells.
    fullest: atomic<u32>,
    // Number of images (periodic copies) of spheres and time segments that the stage `images` has added to
    // the grids.
    images: array<atomic<u32>, 2>,
    // 1 + the index of a sphere that is too far from the periodic domain or has too many images, or 0 if
    // there is none.
    out_of_range: atomic<u32>,
    // One bit per size class (class of spheres of similar size), set if the class is not empty.
    used: array<atomic<u32>, SIZE_CLASSES / 32u>,
}

// The moving origin from which grid cells are counted. It starts in the middle of the spheres and moves with
// the median velocity of the sampled spheres.
struct Frame {
    origin: vec3<f32>,
    drift: vec3<f32>,
}

struct Space {
    // The correlation curve: entry i is log2 of the mean number of other spheres in the cube of half edge
    // 2^(i - 127) around a sphere.
    log_others: array<f32, OCTAVES>,
    frame: Frame,
    // Lower corner of the trimmed box, which contains most of the spheres but no far outliers. This
    // corner is relative to the moving origin from which grid cells are counted.
    trimmed_low: vec3<f32>,
    // Length limit of time segments: a sphere that moves farther than this limit and farther than its
    // diameter is cut.
    segment: f32,
    trimmed_high: vec3<f32>,
    unused: f32,
}

struct Sampled {
    // log2 of the distances from this sphere of the sample to two of its neighbours in the sample: the
    // NEAR_RANK-th nearest and the FAR_RANK-th nearest.
    log_distance: vec2<f32>,
    radius: f32,
    unused: f32,
    middle: vec3<f32>,
    velocity: vec3<f32>,
}

// Quantiles of one quantity of the sampled spheres, such as a coordinate. The quantiles are not stored
// as one vector, because different workgroups write them.
struct Ranks {
    low: f32,
    median: f32,
    high: f32,
    unused: f32,
}

// The histogram entry of one size class (spheres and time segments of similar size). All words begin as
// 0, and atomic operations only increase them. So the bounds of positions are stored as unsigned
// integers in the order of the floats. Lower bounds are negated first, so that they grow too.
struct SizeClass {
    count: atomic<u32>,
    // Number of time segments and uncut spheres of this size class in the trimmed box. The trimmed box
    // contains most of the spheres, but no far outliers.
    inside: atomic<u32>,
    // Half the edge length of the smallest grid cell that may hold any sphere or time segment of the
    // size class, as the bits of a float32.
    half_cell: atomic<u32>,
    // Bounding box of the sphere centres in the middle of each time segment of the size class. It is
    // relative to the moving origin from which grid cells are counted.
    low: array<atomic<u32>, 3>,
    high: array<atomic<u32>, 3>,
}

// A time segment of a sphere's path, other than the first.
struct Segment {
    sphere: u32,
    number: u32,
}

// One uniform grid (level), and its part of the table of cells. Spheres that pass a cell in different time
// slabs (equal parts of the step) are in different entries of the table. Each cell in the grid's box has its
// own entry (slot) for each time slab. Other cells share entries, which a hash chooses.
struct Level {
    // The cell with the lowest coordinates in the grid's box, and its table entry in the first time slab
    // (part of the step).
    origin: vec3<i32>,
    first_slot: u32,
    // Size of the grid's box in cells, and index of the first table entry for cells outside the box.
    dims: vec3<u32>,
    first_hashed: u32,
    cell: f32,
    inverse_cell: f32,
    // Number of table entries for the cells outside the grid's box (a power of two), minus 1.
    hash_mask: u32,
    // log2 of the number of time slabs (equal parts of the step), each of which has its own cells in the
    // grid.
    time_power: u32,
    of_set: u32,
    // Half the width of the largest sphere (or time segment) in the grid along any axis, in cell edges.
    reach: f32,
    // Bit mask of the grids in which the spheres of this grid search for candidates, low word first. In
    // a step with one set of spheres, each grid also searches itself. In a step with two sets, a grid
    // searches only grids of the other set.
    searched: vec2<u32>,
}

struct Plan {
    levels: u32,
    slots: u32,
    // `proxies` is the number of uncut spheres and time segments, and `sorted` is the number of those with valid
    // values. Both numbers are 0 if there are more time segments than the buffers hold.
    proxies: u32,
    sorted: u32,
    frame: Frame,
    level: array<Level, MAX_LEVELS>,
    level_of_size_class: array<u32, SIZE_CLASSES>,
    // An upper bound of the sum, over all spheres (and time segments), of the number of grid cells that
    // each of them searches.
    cells_searched: f32,
}

// The entry (slot) of a sphere or time segment in the table of grid cells, and its position in this entry.
struct Binned {
    slot: u32,
    place: u32,
}

// A sphere or one of its time segments in the buffer that is sorted by grid cell: see `sorted.wgsl`.
struct StoredProxy {
    place: vec4<u32>,
    motion: vec4<u32>,
}

// The lattice of a periodic domain, which consists of all displacements between a sphere and its periodic
// copies. Its edges are as short as possible. If fewer than three edges are periodic, the missing entries
// are 0.
struct Lattice {
    corner: vec3<f32>,
    // The least distance between two opposite faces of the cell, or 0 without periodic edges.
    width: f32,
    // The corner of the periodic domain's cell, relative to the origin of the grids half-way through the step. The
    // domain is at rest, but this origin moves.
    cell_corner: vec3<f32>,
    // Largest allowed distance between a sphere and the domain's cell along an edge, in multiples of the
    // edge. If negative, no sphere is allowed.
    most_cells: f32,
    // xyz: an edge of the lattice. w: an upper bound of the magnitudes of its components.
    edges: array<vec4<f32>, 3>,
    // xyz: the reciprocal vector d of an edge, where d·x is the coordinate of a point x along the edge. w:
    // the length of d, rounded up.
    duals: array<vec4<f32>, 3>,
    // Upper bounds of the magnitudes of the components of each reciprocal vector. Rounding errors of
    // coordinates along the edges are relative to these bounds.
    dual_bounds: array<vec4<f32>, 3>,
    // Each edge of the lattice is a sum of whole multiples of the periodic domain's three edges, as
    // given by the user. xyz of entry k: the multiples for edge k of the lattice. w: 0.
    in_given_edges: array<vec4<i32>, 3>,
}

// Describes an object in the grids of a periodic domain: which image (periodic copy) of which sphere it is.
struct Entry {
    // Index of the sphere. The bit SEVERAL_IMAGES is also set if the grids contain other images of this
    // sphere. If the path of the sphere is cut into time segments, only images of the same segment count.
    sphere_and_several: u32,
    // The displacement of the image, in multiples of the lattice's edges, packed by pack_image().
    image: u32,
    // Lower corner of this image's bounding box, in fixed-point coordinates along the edges of the domain's
    // cell. Used only with the bit SEVERAL_IMAGES.
    low: array<i32, 3>,
}

struct WallParams {
    // Number of walls of simple shapes in the step.
    count: u32,
    // Capacity of the list of wall collisions.
    capacity: u32,
    // 1 in a periodic domain, 0 in open space.
    periodic: u32,
    unused: u32,
    // xyz of each element: an edge of the user's periodic domain, or 0 if there is no such edge. w: the sum
    // of the magnitudes of x, y and z, rounded up.
    edges: array<vec4<f32>, 3>,
}

// Counters of the stage `walls`. A counter of two words has the low word first.
struct WallCounters {
    found: array<atomic<u32>, 2>,
    // Number of spheres that have been tested against all walls. Only counted if FLAG_WATCH is set.
    finished: atomic<u32>,
    // 1 + the index of a sphere with too many images (periodic copies) at a wall, or 0 if there is none.
    out_of_range: atomic<u32>,
}

// The edges of a periodic domain that make a difference at one wall: images (periodic copies) of a sphere
// that are displaced along such an edge do not touch this wall at the same time as the sphere. All other
// edges are stored as 0.
struct WallLattice {
    // xyz: an edge that the user gave. w: an upper bound of the sum of the magnitudes of its components.
    edges: array<vec4<f32>, 3>,
    // xyz: the dual vector d of an edge; d·x is the coordinate of a point x along the edge. w: an upper bound of
    // the length of d.
    duals: array<vec4<f32>, 3>,
}

// Structs, constants and functions for shaders that read carom's results. Append this
// text to your shader. All names begin with `Carom`, `CAROM` or `carom`. Lengths and
// times are in your units.

// A pair: two spheres that touch during the step, or that may touch (see
// CAROM_GRAZING). `toi` and `depth` are float32 estimates; the Rust module `carom::gpu`
// states their error.
struct CaromCollision {
    // Index of the first sphere: the smaller of the two indices or, with two sets, the
    // index in the first set.
    a: u32,
    // Index of the second sphere in the low 31 bits, and CAROM_GRAZING as the highest
    // bit: see carom_b().
    b_and_grazing: u32,
    // Time of impact, measured from the start of the step; 0 if the spheres touch at
    // the start.
    toi: f32,
    // Penetration depth at the start of the step; 0 if the spheres only meet later.
    depth: f32,
}

// Bit of `b_and_grazing` that marks a grazing pair: float32 arithmetic cannot decide
// whether the two spheres touch, or which of their time segments report the pair. A
// sphere that moves far is cut in time into 2^n parts of equal duration, its time
// segments, and each segment is searched on its own. The two segments that contain the
// closest approach report the pair. If rounding leaves open which segments these are,
// several may report it, so a grazing pair may be in the list several times. The sorted
// list has it once. Treat grazing pairs as touching.
const CAROM_GRAZING = 0x80000000u;

// Returns the index of the second sphere of a pair: the larger of the two indices or,
// with two sets, the index in the second set.
fn carom_b(collision: CaromCollision) -> u32 {
    return collision.b_and_grazing & ~CAROM_GRAZING;
}

// Returns whether the pair is grazing: see CAROM_GRAZING.
fn carom_is_grazing(collision: CaromCollision) -> bool {
    return (collision.b_and_grazing & CAROM_GRAZING) != 0u;
}

// Results of a step, written by the GPU. Counts of two words have the low word first.
struct CaromResults {
    // 0, or a combination of the CAROM_ status bits below.
    status: u32,
    // Number of pairs in the list.
    pairs: u32,
    // Number of pairs found. It exceeds `pairs` if the list overflowed. A pair that is
    // in the list several times is counted as often.
    found: vec2<u32>,
    // Number of candidates: pairs of spheres or time segments that were to be tested.
    candidates: vec2<u32>,
    // Number of time segments, not counting the first one of each sphere.
    segments: vec2<u32>,
    // Number of spheres, of both sets if there are two. If one of two sets is empty,
    // nothing is searched, and `spheres` and `b_offset` are 0.
    spheres: u32,
    // Number to add to the index of a pair's second sphere to get its row, in the
    // reductions with a row for each sphere: the number of spheres in the first of two
    // sets, or 0 with one set.
    b_offset: u32,
    // Number of spheres that were set aside because they have values that carom cannot
    // work with.
    invalid: u32,
    // Number of spheres for which the step needs room. With CAROM_TOO_MANY_SPHERES,
    // this is the number of spheres in the input, and `spheres` is 0.
    spheres_needed: u32,
    // Number of entries in the grids: uncut spheres, and time segments of cut ones.
    proxies: u32,
    // Number of grids.
    levels: u32,
    // Length limit of time segments. A sphere is cut into the fewest segments, at most
    // 2^15, of which none extends farther along any axis than this limit or the
    // sphere's diameter. The limit is in your unit of length. But if every coordinate,
    // radius and displacement is below 1/256, it is in a smaller unit, which is a power
    // of two of yours.
    segment: f32,
    // Number of pairs in the sorted list.
    sorted: u32,
    // Changes since the last complete step: number of pairs that are new, number of
    // pairs that were already in the list of that step, and number of its pairs that
    // are no longer in the list.
    began: u32,
    lasted: u32,
    ended: u32,
    // Numbers of workgroups along x of the indirect dispatch over the pairs, and of the
    // indirect dispatch over the sorted pairs: see carom_index().
    columns: u32,
    sorted_columns: u32,
    // Serial number of the step, by which recorded steps can be told apart.
    serial: u32,
    // Indices of spheres that were set aside: all of them, or 32 of them if there are
    // more. With two sets, the indices of the second set continue the indices of the
    // first.
    invalid_index: array<u32, 32>,
}

// The list of pairs overflowed. It holds only results.pairs of the pairs found.
const CAROM_TRUNCATED = 1u;
// There are more time segments than the buffers have room for. Nothing was searched.
const CAROM_TOO_MANY_SEGMENTS = 2u;
// There are more candidates than allowed. None was tested.
const CAROM_TOO_CROWDED = 4u;
// There are more spheres than the buffers have room for, or than the description of the
// input allows. Nothing was searched.
const CAROM_TOO_MANY_SPHERES = 8u;
// Spheres were set aside because they have invalid values. This does not affect the
// pairs of the other spheres.
const CAROM_INVALID_SPHERES = 16u;
// The driver ended loops early. Pairs may be missing.
const CAROM_UNFINISHED = 32u;
// All status bits which mean that pairs may be missing.
const CAROM_INCOMPLETE = CAROM_TRUNCATED | CAROM_TOO_MANY_SEGMENTS | CAROM_TOO_CROWDED
    | CAROM_TOO_MANY_SPHERES | CAROM_UNFINISHED;

// Workgroup size for which the indirect dispatch arguments are computed.
const CAROM_WORKGROUP = 64u;

// Returns the index of the pair that an invocation handles, in an indirect dispatch
// with workgroups of (CAROM_WORKGROUP, 1, 1). Some invocations have no pair: their
// index is at least results.pairs, or results.sorted in a dispatch over the sorted
// pairs. `columns` is results.columns or results.sorted_columns, respectively.
fn carom_index(columns: u32, workgroup_id: vec3<u32>, local_invocation_index: u32) -> u32 {
    return (workgroup_id.x + workgroup_id.y * columns) * CAROM_WORKGROUP + local_invocation_index;
}

// Reductions are results that are computed from the list of pairs on request. If the
// list is truncated, they cover only the pairs in it. In a reduction with a row for
// each sphere, the rows of the second of two sets follow the rows of the first: sphere
// i of the second set has row results.b_offset + i.

// First impact of a sphere: its time, and the index of the other sphere. If the sphere
// touches several spheres at this time, it is the smallest of their indices. With two
// sets, it is an index in the other sphere's own set. Grazing pairs count as touching.
// Bind as array<CaromEarliest>, with a row for each sphere.
struct CaromEarliest {
    // Time of impact, or the largest float32 if the sphere touches nothing.
    toi: f32,
    // Index of the other sphere, or CAROM_NONE if the sphere touches nothing.
    partner: u32,
}

const CAROM_NONE = 0xffffffffu;

// The sorted list is an array<CaromCollision> of results.sorted pairs in ascending
// order of (a, b), each pair once. It has indirect dispatch arguments of its own. In a
// dispatch with them, pass results.sorted_columns to carom_index().

// Contacts: for each sphere, the indices of its pairs (a, b) in the sorted list. Bind
// two array<u32>, `offsets` and `indices`. Row i is indices[k] for all k with
// offsets[i] <= k < offsets[i + 1]. A sphere's row begins with the pairs in which the
// sphere is b, by ascending a. Then follow the pairs in which it is a, by ascending b.
// So with one set the partners are in ascending order. Each pair is in two rows.

// Changes since the last complete step: an array<vec2<u32>> of pairs (a, b). It
// contains results.began pairs that are new, then results.lasted pairs that were
// already in the list of that step, then results.ended pairs of that list that are no
// longer there. Each part is sorted. A step with a status bit of CAROM_INCOMPLETE has
// no changes, and the step after it is compared with the last step that had no such
// bit. In the first complete step all pairs are new.

// What carom leaves in its buffers, for shaders that read them: append this text to
// yours. All names begin with `Carom`, `CAROM` or `carom`.

// Two spheres that touch during the step, or may.
struct CaromCollision {
    // Index of one sphere: the smaller one, or that in the first of two sets.
    a: u32,
    // Index of the other, and CAROM_GRAZING: see carom_b().
    b_and_grazing: u32,
    // Time of impact within the step; 0 for those that touch at its start.
    toi: f32,
    // How deep they overlap at the start; 0 for those that meet later.
    depth: f32,
}

// Set in `b_and_grazing` when float32 cannot tell whether the two touch, or to which
// time segments of a fast sphere they belong: then the pair may stand in the list
// several times; a sorted list has it once. Best taken for touching.
const CAROM_GRAZING = 0x80000000u;

// Index of the other sphere: the larger one, or that in the second of two sets.
fn carom_b(collision: CaromCollision) -> u32 {
    return collision.b_and_grazing & ~CAROM_GRAZING;
}

// Whether it has CAROM_GRAZING.
fn carom_is_grazing(collision: CaromCollision) -> bool {
    return (collision.b_and_grazing & CAROM_GRAZING) != 0u;
}

// What a step came to.
struct CaromResults {
    // 0, or some of the CAROM_ bits below.
    status: u32,
    // How many pairs stand in the list.
    pairs: u32,
    // How many were found: low word, high word. More than `pairs` when the list is
    // too small.
    found: vec2<u32>,
    // Pairs that were to be tested, and time segments besides each sphere's first.
    candidates: vec2<u32>,
    segments: vec2<u32>,
    // Spheres; what is added to the index of a pair's second sphere to find its row, which
    // is how many spheres the first of two sets has, or 0 for one set; and how many
    // spheres were set aside for values that carom cannot work with.
    spheres: u32,
    b_offset: u32,
    invalid: u32,
    // How many spheres there should have been.
    spheres_needed: u32,
    // Entries in the grids, and grids.
    proxies: u32,
    levels: u32,
    // How long the segments are.
    segment: f32,
    // Pairs in the sorted list, and how many of those have begun since the last
    // step and how many have not; and pairs that have ended.
    sorted: u32,
    began: u32,
    lasted: u32,
    ended: u32,
    // Workgroups along x of a dispatch over the pairs, and over the sorted ones.
    columns: u32,
    sorted_columns: u32,
    // Tells steps apart.
    serial: u32,
    // Indices of the first spheres set aside.
    invalid_index: array<u32, 32>,
}

// More pairs than the list holds: only `pairs` of them stand in it.
const CAROM_TRUNCATED = 1u;
// More time segments than there is room for: nothing was searched.
const CAROM_TOO_MANY_SEGMENTS = 2u;
// More candidates than allowed: nothing was tested.
const CAROM_TOO_CROWDED = 4u;
// More spheres than there is room for: nothing was searched.
const CAROM_TOO_MANY_SPHERES = 8u;
// Spheres were set aside for their values; the rest is complete.
const CAROM_INVALID_SPHERES = 16u;
// The driver ended loops before they were done: pairs may be missing.
const CAROM_UNFINISHED = 32u;
// What says that pairs may be missing.
const CAROM_INCOMPLETE = CAROM_TRUNCATED | CAROM_TOO_MANY_SEGMENTS | CAROM_TOO_CROWDED
    | CAROM_TOO_MANY_SPHERES | CAROM_UNFINISHED;

// Size of the workgroups for which the indirect dispatches are made.
const CAROM_WORKGROUP = 64u;

// Which pair an invocation is for, in an indirect dispatch of workgroups of
// (CAROM_WORKGROUP, 1, 1); not one if it is results.pairs or more. `columns` is
// results.columns or results.sorted_columns.
fn carom_index(columns: u32, workgroup_id: vec3<u32>, local_invocation_index: u32) -> u32 {
    return (workgroup_id.x + workgroup_id.y * columns) * CAROM_WORKGROUP + local_invocation_index;
}

// What is made of the list on request follows. Where spheres have a row each, spheres
// of the second of two sets follow those of the first: sphere i of the second has row
// results.b_offset + i. Of a list that is truncated, all this is of the pairs that stand
// in it.

// The first impact of a sphere: when, and with which other one, the smallest index if
// there are several. A sphere that touches nothing has CAROM_NONE and the largest
// float32. Of two sets, the partner is counted in its own. Bind as
// array<CaromEarliest>, a row for each sphere.
struct CaromEarliest {
    toi: f32,
    partner: u32,
}

const CAROM_NONE = 0xffffffffu;

// The sorted list: an array<CaromCollision> as the other, but sorted by (a, b) and
// with each pair once, results.sorted of them. It has indirect dispatches of its own,
// with results.sorted_columns.

// Contacts: each sphere's own, as indices into the sorted list. Bind two
// array<u32>, offsets and indices: those of row i are indices[k] for k from offsets[i]
// up to, and not including, offsets[i + 1]. First come those in which the sphere is
// b, by rising a; then those in which it is a, by rising b. In a world of one set, so,
// the others come by rising index. Each pair stands in two rows.

// Changes since the last complete step: an array<vec2<u32>> of (a, b). First
// results.began pairs that were not there before, then results.lasted that were, then
// results.ended that no longer touch; each part is sorted. A step with a bit of
// CAROM_INCOMPLETE has none, and the next one is compared with the last that had no
// such bit. With the first such step all pairs begin.

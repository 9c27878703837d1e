// Describes where the values of the spheres are in the caller's buffers.
// Twin of `SourceLayout` in `src/gpu/shader/layout.rs`.

// Where the spheres' values are in the caller's buffers: x is the index of the first sphere's first word,
// and y is the number of words from one sphere to the next.
struct SourceLayout {
    center: vec2<u32>,
    radius: vec2<u32>,
    motion: vec2<u32>,
    groups: vec2<u32>,
    // The radius of all spheres. Used only if `radius.y` is 0, which means that the caller's buffer holds no
    // radii.
    constant_radius: f32,
    // The collision groups of all spheres. Used only if `groups.y` is 0, which means that the caller's buffer
    // holds no groups.
    constant_groups: u32,
    // Kind of motion values: MOTION_NONE, MOTION_VELOCITY, or MOTION_PREVIOUS (previous centres).
    motion_kind: u32,
    // The index of a word in the caller's buffer. This word holds the number of spheres, unless
    // `counted` is 0.
    count_word: u32,
    // If 0, the number of spheres is the field `at_most`. Otherwise the caller's buffer holds the number.
    counted: u32,
    at_most: u32,
    // 1 if this set of spheres exists, otherwise 0.
    used: u32,
    // Largest magnitude of any coordinate of the periodic domain's origin and edges, or 0 in open space. Set
    // only for the first set of spheres.
    domain_extent: f32,
}

// Where the values of the spheres are in the caller's buffers. Twin of `SourceLayout` in
// `src/gpu/device/shader/layout.rs`.

// Of each value, x is the index of the first sphere's first word, and y the number of words from one sphere
// to the next.
struct SourceLayout {
    center: vec2<u32>,
    radius: vec2<u32>,
    motion: vec2<u32>,
    groups: vec2<u32>,
    // The radius of all spheres, if `radius.y` is 0: the caller's buffer holds no radii.
    constant_radius: f32,
    // The groups of all spheres, if `groups.y` is 0.
    constant_groups: u32,
    // MOTION_NONE, MOTION_VELOCITY, or MOTION_PREVIOUS (previous centres).
    motion_kind: u32,
    // The index of the word with the number of spheres, if `counted` is not 0.
    count_word: u32,
    // If 0, the number of spheres is `at_most`.
    counted: u32,
    at_most: u32,
    // 1 if this set exists, otherwise 0.
    used: u32,
    // Largest magnitude of any coordinate of the periodic domain's origin and edges, or 0 in open space. Set
    // only for the first set.
    domain_extent: f32,
}

// Where the values of the spheres are in the caller's buffers. Twin of `SourceLayout` in
// `src/gpu/device/shader/layout.rs`.

// x is the index of the first sphere's first word, and y the stride in words.
struct SourceLayout {
    center: vec2<u32>,
    radius: vec2<u32>,
    motion: vec2<u32>,
    groups: vec2<u32>,
    // Used if `radius.y` is 0.
    constant_radius: f32,
    // Used if `groups.y` is 0.
    constant_groups: u32,
    // MOTION_NONE, MOTION_VELOCITY, or MOTION_PREVIOUS (previous centres).
    motion_kind: u32,
    // Of the number of spheres, if `counted` is not 0.
    count_word: u32,
    // If 0, the number of spheres is `at_most`.
    counted: u32,
    at_most: u32,
    // 1 if this set exists.
    used: u32,
    // Largest coordinate of the periodic domain, or 0. Set for the first set only.
    domain_extent: f32,
}

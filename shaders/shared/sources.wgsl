// Describes where the values of the spheres are in the caller's buffers.
// Twin of `SourceLayout` in `src/gpu/shader/layout.rs`.

// Positions of the spheres' values in the caller's buffers: x is the index of the first sphere's first word,
// and y is the number of words from one sphere to the next.
struct SourceLayout {
    center: vec2<u32>,
    radius: vec2<u32>,
    motion: vec2<u32>,
    groups: vec2<u32>,
    // Radius and collision groups of all spheres, used if radius.y or groups.y, respectively, is 0.
    constant_radius: f32,
    constant_groups: u32,
    // Kind of the values that describe the motion of the spheres: none (MOTION_NONE), velocities
    // (MOTION_VELOCITY), or previous centres (MOTION_PREVIOUS).
    motion_kind: u32,
    // Index of the word in the caller's buffer that holds the number of spheres. If `counted` is 0, there is
    // no such word, and the number of spheres is `at_most`.
    count_word: u32,
    counted: u32,
    at_most: u32,
    // 1 if this set of spheres exists, otherwise 0.
    used: u32,
    unused: u32,
}

// Where the caller's buffers have the values of the spheres. Twin of `SourceLayout` in
// `src/gpu/shader/layout.rs`.

// The first four members: index of the first sphere's word, and number of words from one sphere
// to the next.
struct SourceLayout {
    center: vec2<u32>,
    radius: vec2<u32>,
    motion: vec2<u32>,
    groups: vec2<u32>,
    // Values for all spheres, used if the stride of the radius or of the groups is 0.
    constant_radius: f32,
    constant_groups: u32,
    // One of MOTION_NONE, MOTION_VELOCITY, MOTION_PREVIOUS.
    motion_kind: u32,
    // Index of the word that holds the number of spheres. If `counted` is 0, there is no such
    // word, and the number is `at_most`.
    count_word: u32,
    counted: u32,
    // Largest number of spheres allowed.
    at_most: u32,
    // 0 for the second set if there is only one.
    used: u32,
    unused: u32,
}

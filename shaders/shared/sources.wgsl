// Where the spheres of a caller's buffers are. Twin of `SourceLayout` in
// `src/gpu/shader/layout.rs`.

// Of each: the word at which it begins, and how many words it is to the next.
struct SourceLayout {
    center: vec2<u32>,
    radius: vec2<u32>,
    motion: vec2<u32>,
    groups: vec2<u32>,
    // A stride of 0 words takes this for every sphere.
    constant_radius: f32,
    constant_groups: u32,
    // One of MOTION_NONE, MOTION_VELOCITY, MOTION_PREVIOUS.
    motion_kind: u32,
    // The word that tells how many there are, and how many there may be; without
    // a word, there are that many.
    count_word: u32,
    counted: u32,
    at_most: u32,
    // Whether there is such a set at all.
    used: u32,
    unused: u32,
}

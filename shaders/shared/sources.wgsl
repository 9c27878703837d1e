// Describes where the values of the spheres are in the caller's buffers.
// Twin of `SourceLayout` in `src/gpu/shader/layout.rs`.

// Positions of values in the caller's buffers: x is the index of the first sphere's first word, and
// y is the number of words from one sphere to the next.
struct SourceLayout {
    center: vec2<u32>,
    radius: vec2<u32>,
    motion: vec2<u32>,
    groups: vec2<u32>,
    // Radius of all spheres if radius.y is 0, and groups of all spheres if groups.y is 0.
    constant_radius: f32,
    constant_groups: u32,
    // What `motion` describes: MOTION_NONE for nothing, MOTION_VELOCITY for velocities,
    // MOTION_PREVIOUS for previous centres.
    motion_kind: u32,
    // Index of the word that holds the number of spheres. If `counted` is 0, there is no such word,
    // and the number of spheres is `at_most`.
    count_word: u32,
    counted: u32,
    // Largest number of spheres allowed in the set.
    at_most: u32,
    // 1 if the set exists, or 0 for the second set in a step with one set.
    used: u32,
    unused: u32,
}

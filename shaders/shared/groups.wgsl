// Collision groups, by which spheres ignore each other and walls.

// Returns whether one of two spheres ignores a group of the other. The low 16 bits are a sphere's groups, and
// the high 16 bits those that it ignores.
fn ignore_each_other(groups_a: u32, groups_b: u32) -> bool {
    return ((((groups_a >> 16u) & groups_b) | ((groups_b >> 16u) & groups_a)) & 0xffffu) != 0u;
}

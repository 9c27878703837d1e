// Collision groups, by which spheres ignore each other and walls.

// The low 16 bits are a sphere's groups, the high 16 those that it ignores.
fn ignore_each_other(groups_a: u32, groups_b: u32) -> bool {
    return ((((groups_a >> 16u) & groups_b) | ((groups_b >> 16u) & groups_a)) & 0xffffu) != 0u;
}

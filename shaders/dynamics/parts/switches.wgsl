// Sets of walls and meshes of hard-sphere dynamics, as bits, and those that are switched off.

#needs simulation_request

// Returns the bits of the first `count` walls and meshes.
fn lowest(count: u32) -> u32 {
    return select((1u << count) - 1u, ~0u, count > 31u);
}

// Returns the bits of the walls and meshes from `first` on, without `end` and what follows, that are switched on.
fn switched_on(first: u32, end: u32) -> u32 {
    return lowest(end) & ~lowest(first) & ~simulation_request.off;
}

// Returns whether a wall or mesh is switched off, so that nothing touches it.
fn is_off(wall: u32) -> bool {
    return ((simulation_request.off >> wall) & 1u) != 0u;
}

// Walls and meshes of hard-sphere dynamics that are switched off.

#needs simulation_request

// Returns the bits of the walls and meshes from `first` on, without `end` and what follows, that are switched on.
fn switched_on(first: u32, end: u32) -> u32 {
    return extractBits(~simulation_request.off, first, end - first) << first;
}

// Returns whether a wall or mesh is switched off, so that nothing touches it.
fn is_off(wall: u32) -> bool {
    return ((simulation_request.off >> wall) & 1u) != 0u;
}

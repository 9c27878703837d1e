// Walls and meshes of hard-sphere dynamics that are switched off.

#needs simulation_request

// Returns whether a wall or mesh is switched off, so that nothing touches it.
fn is_off(wall: u32) -> bool {
    return ((simulation_request.off >> wall) & 1u) != 0u;
}

//! Walls, which spheres touch but which are not spheres.

#[cfg_attr(
    not(test),
    expect(dead_code, reason = "the stage that tests meshes will use it")
)]
pub(crate) mod triangle;

//! A moving triangle.

/// A triangle whose corners move with the same constant velocity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Triangle<T = f32> {
    pub(crate) corners: [[T; 3]; 3],
    pub(crate) velocity: [T; 3],
}

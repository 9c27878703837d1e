//! Bits of the status of a step, in [`StepSummary::status`](super::StepSummary::status)
//! and on the GPU.

/// More pairs than the list holds.
pub const TRUNCATED: u32 = 1;
/// More time segments than there is room for: nothing was searched.
pub const TOO_MANY_SEGMENTS: u32 = 2;
/// More candidates than [`BufferOptions::max_candidates`](super::BufferOptions):
/// nothing was tested.
pub const TOO_CROWDED: u32 = 4;
/// More spheres than there is room for, or than the `at_most` of a count in a buffer:
/// nothing was searched.
pub const TOO_MANY_SPHERES: u32 = 8;
/// Spheres with invalid values were set aside. The pairs of all other spheres are
/// complete.
pub const INVALID_SPHERES: u32 = 16;
/// The driver ended loops before they were done: pairs may be missing.
pub const UNFINISHED: u32 = 32;
/// Every bit that says that pairs may be missing.
pub const INCOMPLETE: u32 =
    TRUNCATED | TOO_MANY_SEGMENTS | TOO_CROWDED | TOO_MANY_SPHERES | UNFINISHED;

//! What can be said of a step in the status word that the GPU writes.

bitflags::bitflags! {
    /// What there is to say of a step, in
    /// [`StepSummary::status`](super::StepSummary::status) and in `CaromResults::status` on
    /// the GPU; empty when there is nothing. [`WGSL`](super::WGSL) has the same names, with
    /// `CAROM_` before them.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(transparent))]
    pub struct Status: u32 {
        /// More pairs than the list holds.
        const TRUNCATED = 1;
        /// More time segments than there is room for: nothing was searched.
        const TOO_MANY_SEGMENTS = 2;
        /// More candidates than [`BufferOptions::max_candidates`](super::BufferOptions):
        /// nothing was tested.
        const TOO_CROWDED = 4;
        /// More spheres than there is room for, or than the `at_most` of a count in a
        /// buffer: nothing was searched.
        const TOO_MANY_SPHERES = 8;
        /// Spheres with invalid values were set aside. The pairs of all other spheres are
        /// complete.
        const INVALID_SPHERES = 16;
        /// The driver ended loops before they were done: pairs may be missing.
        const UNFINISHED = 32;
        /// Every bit that says that pairs may be missing:
        /// `status.intersects(Status::INCOMPLETE)`.
        const INCOMPLETE = Self::TRUNCATED.bits()
            | Self::TOO_MANY_SEGMENTS.bits()
            | Self::TOO_CROWDED.bits()
            | Self::TOO_MANY_SPHERES.bits()
            | Self::UNFINISHED.bits();
    }
}

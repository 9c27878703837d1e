//! The bits of the status word that the GPU writes for each step.

bitflags::bitflags! {
    /// Conditions that a step on the GPU reports. Empty if there is nothing to report.
    ///
    /// The status of a step is in [`StepSummary::status`](super::StepSummary::status), and on the
    /// GPU in `CaromResults::status`. [`WGSL`](super::WGSL) has constants of the same names with
    /// the prefix `CAROM_`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(transparent))]
    pub struct Status: u32 {
        /// More pairs were found than the list of pairs can hold. The list has only as many as fit.
        const TRUNCATED = 1;
        /// There are more time segments than the buffers can hold, so no pairs were searched for. A
        /// sphere that moves far is split in time into segments; see
        /// [`BufferOptions::segments`](super::BufferOptions::segments).
        const TOO_MANY_SEGMENTS = 2;
        /// There are more candidates (pairs of grid entries to test) than
        /// [`BufferOptions::max_candidates`](super::BufferOptions::max_candidates) allows, so none
        /// was tested.
        const TOO_CROWDED = 4;
        /// A count of spheres in a buffer is larger than its
        /// [`at_most`](super::SphereCount::InBuffer::at_most), and perhaps larger than the capacity
        /// of the buffers, so no pairs were searched for.
        const TOO_MANY_SPHERES = 8;
        /// Some spheres have invalid values and were left out. The pairs of all other spheres are
        /// complete unless a bit of `INCOMPLETE` is set, too.
        const INVALID_SPHERES = 16;
        /// The GPU driver ended loops of a shader early, so pairs may be missing.
        const UNFINISHED = 32;
        /// All bits that mean that pairs may be missing. Test them with
        /// `status.intersects(Status::INCOMPLETE)`.
        const INCOMPLETE = Self::TRUNCATED.bits()
            | Self::TOO_MANY_SEGMENTS.bits()
            | Self::TOO_CROWDED.bits()
            | Self::TOO_MANY_SPHERES.bits()
            | Self::UNFINISHED.bits();
    }
}

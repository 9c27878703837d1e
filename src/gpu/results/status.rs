//! Bits of the status word that the GPU writes for each step.

bitflags::bitflags! {
    /// Status bits of a step on the GPU. No bit is set if there is nothing to report.
    ///
    /// The host finds these status bits in [`StepSummary::status`](crate::gpu::StepSummary::status), and
    /// a shader in `CaromResults::status`. For shaders, [`WGSL`](crate::gpu::WGSL) has constants with
    /// the names of the bits and the prefix `CAROM_`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(transparent))]
    pub struct Status: u32 {
        /// The step found more pairs than the list of pairs can hold. The list has only as many as
        /// fit.
        const TRUNCATED = 1;
        /// The step has more time segments than the buffers can hold, so it did not search for
        /// pairs: see [`BufferOptions::with_segments`](crate::gpu::BufferOptions::with_segments).
        const TOO_MANY_SEGMENTS = 2;
        /// The step has more candidates than
        /// [`BufferOptions::with_max_candidates`](crate::gpu::BufferOptions::with_max_candidates)
        /// allows. Most of them were not tested, so the list of pairs is incomplete.
        const TOO_CROWDED = 4;
        /// The number of spheres that the GPU read from a buffer exceeds the largest permitted
        /// number ([`DeviceSpheres::with_count_in`](crate::gpu::DeviceSpheres::with_count_in)), and
        /// perhaps the capacity of carom's buffers. So the step did not search for pairs.
        const TOO_MANY_SPHERES = 8;
        /// Some spheres have invalid values and were left out. All pairs of the other spheres are
        /// in the list, unless a bit of `INCOMPLETE` is also set.
        const INVALID_SPHERES = 16;
        /// The GPU driver ended loops of a shader early, so pairs may be missing.
        const UNFINISHED = 32;
        /// A sphere is too far from the cell of the periodic domain, or reaches into too many
        /// images of the cell, so pairs are missing.
        /// [`StepSummary::out_of_range`](crate::gpu::StepSummary) is its index.
        const IMAGE_OUT_OF_RANGE = 64;
        /// The step found more wall collisions than their list has room for. The list is full, and
        /// the other wall collisions are missing from it.
        const WALLS_TRUNCATED = 128;
        /// More spheres are near triangles of meshes than the buffers can hold, so wall collisions with
        /// triangles are missing.
        const MESH_TRUNCATED = 256;
        /// All bits that mean that pairs or wall collisions may be missing. Test with
        /// `status.intersects(Status::INCOMPLETE)`.
        const INCOMPLETE = Self::TRUNCATED.bits()
            | Self::TOO_MANY_SEGMENTS.bits()
            | Self::TOO_CROWDED.bits()
            | Self::TOO_MANY_SPHERES.bits()
            | Self::UNFINISHED.bits()
            | Self::IMAGE_OUT_OF_RANGE.bits()
            | Self::WALLS_TRUNCATED.bits()
            | Self::MESH_TRUNCATED.bits();
    }
}

//! Layout of an upload buffer, which carries a step to the GPU: the step's parameters, the
//! positions of the spheres' attributes in the application's buffers, and spheres from the host.

use super::shader::layout::{Params, SourceLayout, UNIFORM_ALIGNMENT};

/// Offsets and sizes of the parts of an upload buffer, in bytes.
pub(super) struct UploadLayout;

impl UploadLayout {
    /// Offset in the upload buffer, in bytes, of the step's parameters, [`Params`].
    pub(super) const PARAMS: u64 = 0;
    /// Offsets in the upload buffer, in bytes, of the [`SourceLayout`]s: one for each of two sets
    /// of spheres. The offsets are multiples of [`UNIFORM_ALIGNMENT`], so that every device can
    /// bind the layouts.
    pub(super) const SOURCES: [u64; 2] = [UNIFORM_ALIGNMENT, 2 * UNIFORM_ALIGNMENT];
    /// Offset in the upload buffer, in bytes, of the spheres.
    pub(super) const SPHERES: u64 = 3 * UNIFORM_ALIGNMENT;

    /// Returns the offset, in bytes, of the [`SourceLayout`] of a set of spheres in the uniform
    /// buffer of both sets' layouts. The offset for the first set is 0.
    pub(super) const fn source_offset(set: usize) -> u64 {
        Self::SOURCES[set] - Self::SOURCES[0]
    }

    /// Size in bytes of the two [`SourceLayout`]s together, with padding.
    pub(super) const SOURCES_SIZE: u64 = Self::SPHERES - Self::SOURCES[0];
}

const _: () = assert!(size_of::<Params>() as u64 <= UploadLayout::SOURCES[0]);
const _: () = assert!(size_of::<SourceLayout>() as u64 <= UNIFORM_ALIGNMENT);

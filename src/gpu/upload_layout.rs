//! The layout of an upload buffer: the parameters, the layouts of the two sets, the spheres.

use super::shader::layout::{Params, SourceLayout, UNIFORM_ALIGNMENT};

/// Offsets in an upload buffer, in bytes, and sizes of its parts.
pub(super) struct UploadLayout;

impl UploadLayout {
    /// Offset of the [`Params`].
    pub(super) const PARAMS: u64 = 0;
    /// Offsets of the [`SourceLayout`]s of the two sets. They are multiples of
    /// [`UNIFORM_ALIGNMENT`], so that every device can bind them.
    pub(super) const SOURCES: [u64; 2] = [UNIFORM_ALIGNMENT, 2 * UNIFORM_ALIGNMENT];
    /// Offset of the spheres.
    pub(super) const SPHERES: u64 = 3 * UNIFORM_ALIGNMENT;

    /// Returns the offset of a set's layout in the uniform buffer of the two layouts. The layout of
    /// the first set is at its start.
    pub(super) const fn source_offset(set: usize) -> u64 {
        Self::SOURCES[set] - Self::SOURCES[0]
    }

    /// Size of the two layouts in bytes, with padding.
    pub(super) const SOURCES_SIZE: u64 = Self::SPHERES - Self::SOURCES[0];
}

const _: () = assert!(size_of::<Params>() as u64 <= UploadLayout::SOURCES[0]);
const _: () = assert!(size_of::<SourceLayout>() as u64 <= UNIFORM_ALIGNMENT);

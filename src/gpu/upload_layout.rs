//! The layout of an upload buffer: the parameters of the step, the layouts of the two sets'
//! attributes in the application's buffers, and the spheres.

use super::shader::layout::{Params, SourceLayout, UNIFORM_ALIGNMENT};

/// Offsets of the parts of an upload buffer, and sizes of these parts, in bytes.
pub(super) struct UploadLayout;

impl UploadLayout {
    /// Offset in bytes of the step's parameters, [`Params`].
    pub(super) const PARAMS: u64 = 0;
    /// Offsets in bytes of the [`SourceLayout`]s, one for each of two sets. They are multiples of
    /// [`UNIFORM_ALIGNMENT`], so that every device can bind the layouts.
    pub(super) const SOURCES: [u64; 2] = [UNIFORM_ALIGNMENT, 2 * UNIFORM_ALIGNMENT];
    /// Offset in bytes of the spheres.
    pub(super) const SPHERES: u64 = 3 * UNIFORM_ALIGNMENT;

    /// Returns the offset in bytes of a set's layout in the uniform buffer of the two sets'
    /// layouts. The offset of the first set's layout is 0.
    pub(super) const fn source_offset(set: usize) -> u64 {
        Self::SOURCES[set] - Self::SOURCES[0]
    }

    /// Size in bytes of the two sets' layouts together, with padding.
    pub(super) const SOURCES_SIZE: u64 = Self::SPHERES - Self::SOURCES[0];
}

const _: () = assert!(size_of::<Params>() as u64 <= UploadLayout::SOURCES[0]);
const _: () = assert!(size_of::<SourceLayout>() as u64 <= UNIFORM_ALIGNMENT);

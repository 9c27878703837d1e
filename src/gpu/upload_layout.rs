//! The bytes of an upload buffer: the parameters, the layouts of two sources, the spheres.

use super::shader::layout::{Params, SourceLayout, UNIFORM_ALIGNMENT};

/// Offsets in an upload buffer, in bytes.
pub(super) struct UploadLayout;

impl UploadLayout {
    /// Where the [`Params`] are.
    pub(super) const PARAMS: u64 = 0;
    /// Where the [`SourceLayout`]s are, as far apart as any device can bind them.
    pub(super) const SOURCES: [u64; 2] = [UNIFORM_ALIGNMENT, 2 * UNIFORM_ALIGNMENT];
    /// Where the spheres begin.
    pub(super) const SPHERES: u64 = 3 * UNIFORM_ALIGNMENT;

    /// Where the layout of a source is in a buffer of its own, which begins with the first.
    pub(super) const fn source_offset(set: usize) -> u64 {
        Self::SOURCES[set] - Self::SOURCES[0]
    }

    /// Bytes of the layouts of both sources.
    pub(super) const SOURCES_SIZE: u64 = Self::SPHERES - Self::SOURCES[0];
}

const _: () = assert!(size_of::<Params>() as u64 <= UploadLayout::SOURCES[0]);
const _: () = assert!(size_of::<SourceLayout>() as u64 <= UNIFORM_ALIGNMENT);

//! Layout of an upload buffer, which carries a step to the GPU: parameters, layouts of the
//! application's buffers, and spheres from the host.

use super::shader::layout::{GpuLattice, NeighborRequest, Params, SourceLayout, UNIFORM_ALIGNMENT};

/// Offsets and sizes of the parts of an upload buffer, in bytes.
pub(super) struct UploadLayout;

impl UploadLayout {
    pub(super) const PARAMS: u64 = 0;
    /// Offsets of the [`SourceLayout`]s of two sets of spheres, multiples of [`UNIFORM_ALIGNMENT`],
    /// so that every device can bind them.
    pub(super) const SOURCES: [u64; 2] = [UNIFORM_ALIGNMENT, 2 * UNIFORM_ALIGNMENT];
    pub(super) const LATTICE: u64 = 3 * UNIFORM_ALIGNMENT;
    pub(super) const REQUEST: u64 = 4 * UNIFORM_ALIGNMENT;
    pub(super) const SPHERES: u64 = 5 * UNIFORM_ALIGNMENT;

    /// Each of the two sets of spheres has a [`SourceLayout`] in the upload buffer. Returns the
    /// offset of set `set`'s layout from the layout of set 0, in bytes.
    pub(super) const fn source_offset(set: usize) -> u64 {
        Self::SOURCES[set] - Self::SOURCES[0]
    }

    pub(super) const SOURCES_SIZE: u64 = Self::LATTICE - Self::SOURCES[0];
}

const _: () = assert!(size_of::<Params>() as u64 <= UploadLayout::SOURCES[0]);
const _: () = assert!(size_of::<GpuLattice>() as u64 <= UNIFORM_ALIGNMENT);
const _: () = assert!(size_of::<NeighborRequest>() as u64 <= UNIFORM_ALIGNMENT);
const _: () = assert!(size_of::<SourceLayout>() as u64 <= UNIFORM_ALIGNMENT);

//! The lattice of a periodic domain, and blocks of images.
//!
//! [`Lattice`] has the edges that the caller gives, and hard-sphere dynamics wraps positions with it.
//! [`ReducedLattice`] has the shortest edges of the same lattice, and the stages of a step find images
//! with it.

mod block;
mod duals;
mod given;
mod reduced;

pub(crate) use self::block::ImageBlock;
pub(crate) use self::duals::duals;
pub(crate) use self::given::Lattice;
#[cfg(feature = "gpu")]
pub(crate) use self::reduced::{GPU_AWAY, GPU_BOX_ERROR, GPU_FRACTION_BITS, GPU_SLACK};
pub(crate) use self::reduced::{ReducedLattice, reduce};

pub(crate) const MAX_CELLS: i32 = 1 << 20;

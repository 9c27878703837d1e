//! Finds the pairs of moving spheres that touch, with [`carom`] on many machines that MPI connects.
//!
//! Each rank of a communicator passes some of the spheres, in any distribution, with indices among the spheres of all
//! ranks. [`DistributedDetector::detect`] returns on each rank the pairs for which this rank is responsible. Together they
//! are the list that [`carom::Detector`] finds on one machine.
//!
//! ```no_run
//! use carom::{Options, Sphere};
//! use carom_mpi::{DistributedDetector, DistributedStep, Part};
//! use mpi::traits::Communicator as _;
//!
//! let universe = mpi::initialize().expect("MPI starts once");
//! let world = universe.world();
//! let rank = f32::from(u16::try_from(world.rank())?);
//! let spheres = vec![Sphere::new([1.5 * rank, 0.0, 0.0], 1.0)];
//! let mut detector = DistributedDetector::new(&world, Options::default())?;
//! let part = Part::starting_at(world.rank().try_into()?, spheres);
//! let found = detector.detect(DistributedStep::<f32>::new(part, 1.0))?;
//! // Rank 0 gets all pairs, sorted.
//! if let Some(pairs) = detector.gather(&found.pairs)? {
//!     println!("{} pairs", pairs.len());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `docs/clusters.md` says how to build and run programs, and what is sent.

mod detector;
mod division;
mod entry;
mod error;
mod link;
mod real;
mod space;
mod step;

pub use detector::{
    DistributedCollisions, DistributedDetector, DistributedNeighbors, DistributedStatistics,
};
pub use entry::{Entry, Neighbor, Pair};
pub use error::Error;
pub use real::{Real, Sphere64};
pub use step::{DistributedSearch, DistributedStep, Part};

#[doc(hidden)]
pub use space::Body;

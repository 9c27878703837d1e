//! In a periodic domain, finds all images of spheres or of their time segments that reach into the
//! cell of the domain. These are the proxies.
//!
//! [`ReducedLattice`](crate::lattice::ReducedLattice) has the reduced edges. [`cell`](mod@cell)
//! finds the images of one sphere or segment, and [`list`] lists those of all spheres. [`space`]
//! tells other stages which sphere and which image each proxy is ([`ProxySpace`]).

mod cell;
mod list;
mod space;

pub(crate) use self::cell::{Cell, Stays, cell};
pub(crate) use self::list::{ImageList, NamedImage, ProxyChunk};
pub(crate) use self::space::{NearImages, OpenSpace, PeriodicSpace, ProxySpace, ReportIn};

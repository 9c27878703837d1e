//! In a periodic domain, finds all periodic images that reach into the cell of the domain. These are images
//! of spheres or, if the path of a sphere is cut, of its time segments. The grids treat each image like a
//! separate sphere.
//!
//! [`ReducedLattice`](crate::lattice::ReducedLattice) has the shortest edges of the periodic lattice.
//! [`cell`](mod@cell) finds the images of one sphere or time segment, and [`list`] lists the images
//! of all spheres. [`space`] tells other stages which sphere and which image each object in the
//! grids is ([`ProxySpace`]).

mod cell;
mod list;
mod space;

pub(crate) use self::cell::{Cell, Stays, cell};
pub(crate) use self::list::{ImageList, NamedImage, ProxyChunk};
pub(crate) use self::space::{NearImages, OpenSpace, PeriodicSpace, ProxySpace, ReportIn};

//! `images`: in a periodic domain, finds the images of all spheres and time segments that reach
//! into the cell. They become the entries of the grids, which know nothing of the domain.
//!
//! [`Lattice`](crate::shared::lattice::Lattice) has the edges of the domain, as short as possible.
//! [`cell`](mod@cell) tells which images reach into the cell. [`list`] lists them. [`space`] tells
//! the other stages which sphere and image each entry is ([`ProxySpace`]).

mod cell;
mod list;
mod space;

pub(crate) use self::cell::{Cell, Stays, cell};
pub(crate) use self::list::{ImageList, NamedImage, ProxyChunk};
pub(crate) use self::space::{NearImages, OpenSpace, PeriodicSpace, ProxySpace, ReportIn};

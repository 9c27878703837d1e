//! `images`: in a periodic domain, finds the images of all proxies that reach into the cell. They
//! become the entries of the grids, which know nothing of the domain.
//!
//! [`lattice`] makes the edges of the domain as short as possible. [`cell`](mod@cell) tells which
//! images of a time segment reach into the cell. [`list`] lists them. [`space`] is the view of the
//! other stages: [`ProxySpace`] says which sphere and which image a proxy is.

mod cell;
mod lattice;
mod list;
mod space;

pub(crate) use self::cell::{Cell, cell};
pub(crate) use self::lattice::Lattice;
pub(crate) use self::list::ImageList;
pub(crate) use self::space::{OpenSpace, PeriodicSpace, ProxySpace, ReportIn};

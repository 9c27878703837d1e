//! Estimates how the spheres are distributed in space, cuts their paths into time segments, and
//! counts the proxies by size.
//!
//! [`spacing`] counts the pairs of the sample by distance. [`ranks`] computes medians of positions,
//! velocities and distances. [`curve`] computes a [`Space`](crate::shared::space::Space) from both.
//! Then [`sizes`] cuts the paths of all spheres, and counts the proxies by size.

mod curve;
mod histogram;
mod ranks;
mod segment_length;
mod segment_list;
mod sizer;
mod sizes;
mod spacing;

pub(crate) use self::curve::{SpaceMemory, measure_space};
pub(crate) use self::histogram::SizeClass;
pub(crate) use self::sizes::{Sizes, SizesMemory, measure_sizes};

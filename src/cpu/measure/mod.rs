//! `measure`: estimates how the spheres lie in space, cuts the spheres into time segments, counts
//! the proxies of each size class, and computes the box around the proxies of each class.
//!
//! As on a GPU, the estimate is made from a sample of the spheres: [`spacing`] counts the pairs of
//! the sample by distance, [`ranks`] computes medians, and [`curve`] computes a [`Space`] from
//! both. Then [`sizes`] cuts all spheres.
//!
//! [`Space`]: crate::shared::space::Space

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

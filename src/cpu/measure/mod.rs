//! `measure`: estimates the distribution of the spheres, cuts them into segments, and counts the
//! proxies of each size class, with the box around them.
//!
//! As on a GPU, a sample of the spheres comes first: [`spacing`] counts its pairs by distance,
//! [`ranks`] takes medians, and [`curve`] computes a [`Space`] from both. Then [`sizes`] cuts all
//! spheres.
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

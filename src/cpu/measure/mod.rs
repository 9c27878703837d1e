//! `measure`: how far apart the spheres are, how each is cut into segments, and how many
//! proxies there are of each size, and where.
//!
//! As on a GPU, a sample of the spheres comes first: [`spacing`] counts its pairs by
//! distance, [`ranks`] takes medians, and [`curve`] makes of both a [`Space`]. Then
//! [`sizes`] cuts all spheres.
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

//! Steps of spheres in float64.
//!
//! [`enclose`] makes a step in float32 whose spheres enclose the given ones: if two given spheres touch, so do the
//! spheres that enclose them. A detector finds the pairs of this step as usual, on the CPU or on a GPU. [`mod@decide`] then
//! tests each of these pairs with the float64 numbers, by [`quick`], [`pair`] and [`double`]. [`mod@walls`] does both
//! for spheres at walls. docs/exact.md (section 8) has the
//! proof.

mod decide;
mod double;
mod enclose;
mod pair;
mod quick;
mod scale;
mod sphere;
mod walls;

pub(crate) use self::decide::decide;
pub(crate) use self::enclose::{Enclosed, EnclosedMemory, check};
pub(crate) use self::pair::displaced;
pub(crate) use self::scale::{WideScale, to_one};
pub(crate) use self::sphere::WideSphere;
pub(crate) use self::walls::decide_at_walls;

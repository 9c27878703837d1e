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
mod walls;

use bytemuck::{Pod, Zeroable};

pub(crate) use self::decide::decide;
pub(crate) use self::enclose::{Enclosed, EnclosedMemory, WideScale, check, to_one};
pub(crate) use self::pair::displaced;
pub(crate) use self::walls::{WallsMemory, decide_at_walls};
use crate::HardSphere;
use crate::number::sealed::PackedSphere;

/// A sphere in float64, in one cache line. A [`HardSphere`] has the same layout, with a mass where this type has the
/// collision groups.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub struct WideSphere {
    pub(crate) center: [f64; 3],
    pub(crate) velocity: [f64; 3],
    pub(crate) radius: f64,
    pub(crate) groups: u32,
    unused: u32,
}

impl WideSphere {
    pub(crate) fn new(center: [f64; 3], radius: f64, velocity: [f64; 3]) -> Self {
        Self {
            center,
            velocity,
            radius,
            ..Self::default()
        }
    }
}

impl PackedSphere<f64> for WideSphere {
    fn center(&mut self) -> &mut [f64; 3] {
        &mut self.center
    }

    fn radius(&mut self) -> &mut f64 {
        &mut self.radius
    }

    fn velocity(&mut self) -> &mut [f64; 3] {
        &mut self.velocity
    }

    fn groups(&mut self) -> &mut u32 {
        &mut self.groups
    }

    #[inline(always)]
    fn at_rest(center: [f64; 3], radius: f64, groups: u32) -> Self {
        Self {
            groups,
            ..Self::new(center, radius, [0.0; 3])
        }
    }

    #[inline(always)]
    fn place(&self) -> [f64; 3] {
        self.center
    }

    #[inline(always)]
    fn reach(&self) -> f64 {
        self.radius
    }

    #[inline(always)]
    fn member_of(&self) -> u32 {
        self.groups
    }
}

/// Returns spheres of a simulation as spheres of a step. Their groups have no meaning.
fn without_groups(spheres: &[HardSphere]) -> &[WideSphere] {
    bytemuck::cast_slice(spheres)
}

//! The spheres of steps in float32 and in float64.

use bytemuck::{Pod, Zeroable};
use carom::{Column, HardSphere, MAX_MAGNITUDE, MAX_MAGNITUDE_F64, Number, Sphere, Spheres};

use crate::space::Body;

/// A sphere in float64, with collision groups. A `Sphere64` takes 64 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct Sphere64 {
    /// Centre at the start of the time step.
    pub center: [f64; 3],
    /// Radius, 0 or more.
    pub radius: f64,
    /// Velocity during the time step.
    pub velocity: [f64; 3],
    /// Collision groups, as in [`Sphere::groups`].
    pub groups: u32,
    unused: u32,
}

impl From<HardSphere> for Sphere64 {
    fn from(sphere: HardSphere) -> Self {
        Self {
            center: sphere.center,
            radius: sphere.radius,
            velocity: sphere.velocity,
            groups: 0,
            unused: 0,
        }
    }
}

/// The numbers of a step: `f32`, whose spheres are [`Sphere`], or `f64`, whose spheres are [`Sphere64`].
pub trait Real: Number + sealed::Sealed {
    /// A sphere.
    type Sphere: Pod + std::fmt::Debug + Send + Sync;
    /// Returns the spheres as those of a step on one machine.
    fn spheres(spheres: &[Self::Sphere]) -> Spheres<'_, Self>;
    #[doc(hidden)]
    fn body(sphere: &Self::Sphere) -> Body;
    #[doc(hidden)]
    const LIMIT: f64;
    #[doc(hidden)]
    const LEAST: f64;
    #[doc(hidden)]
    const WIDE: bool;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

impl Real for f32 {
    type Sphere = Sphere;

    fn spheres(spheres: &[Sphere]) -> Spheres<'_, f32> {
        spheres.into()
    }

    fn body(sphere: &Sphere) -> Body {
        Body {
            center: sphere.center.map(f64::from),
            radius: sphere.radius.into(),
            velocity: sphere.velocity.map(f64::from),
        }
    }

    const LIMIT: f64 = MAX_MAGNITUDE as f64;
    const LEAST: f64 = f32::from_bits(1) as f64;
    const WIDE: bool = false;
}

impl Real for f64 {
    type Sphere = Sphere64;

    fn spheres(spheres: &[Sphere64]) -> Spheres<'_, f64> {
        Spheres::new(
            Column::of(spheres, |sphere| &sphere.center),
            carom::Values::PerSphere(Column::of(spheres, |sphere| &sphere.radius)),
        )
        .with_velocity(Column::of(spheres, |sphere| &sphere.velocity))
        .with_groups(carom::Values::PerSphere(Column::of(spheres, |sphere| {
            &sphere.groups
        })))
    }

    fn body(sphere: &Sphere64) -> Body {
        Body {
            center: sphere.center,
            radius: sphere.radius,
            velocity: sphere.velocity,
        }
    }

    const LIMIT: f64 = MAX_MAGNITUDE_F64;
    const LEAST: f64 = f64::from_bits(1);
    const WIDE: bool = true;
}

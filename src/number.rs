//! The numbers of spheres and results: float32 or float64.

use std::fmt::Debug;

use crate::{Collision, Collision64, Touching, WallCollision, WallCollision64};

/// The numbers of a step and of its results: `f32` or `f64`.
///
/// They follow from the spheres: a slice of [`Sphere`](crate::Sphere) and columns of `f32` make a step in float32, a slice of
/// [`HardSphere`](crate::HardSphere) and columns of `f64` one in float64. The lists of a step in float64 are exact for the float64 inputs.
///
/// ```
/// use carom::{Detector, HardSphere, Options, Step};
/// // In float32, these two spheres would be 0 or 0.5 apart.
/// let spheres = [4_582_300.125, 4_582_300.375].map(|y| HardSphere::new([0.0, y, 0.0], 0.125));
/// let mut detector = Detector::new(Options::default())?;
/// let found = detector.detect(&Step::new(&spheres, 0.0))?;
/// assert_eq!((found.pairs.len(), found.pairs[0].depth), (1, 0.0_f64)); // they just touch
/// # Ok::<(), carom::Error>(())
/// ```
pub trait Number: sealed::Numbers {
    /// Two spheres that touch: [`Collision`] or [`Collision64`].
    type Collision: Touching<Self> + Clone + Copy + Debug + PartialEq + Send + Sync;
    /// A sphere and a wall that touch: [`WallCollision`] or [`WallCollision64`].
    type WallCollision: Touching<Self> + Clone + Copy + Debug + PartialEq + Send + Sync;
}

impl Number for f32 {
    type Collision = Collision;
    type WallCollision = WallCollision;
}

impl Number for f64 {
    type Collision = Collision64;
    type WallCollision = WallCollision64;
}

pub(crate) mod sealed {
    use std::fmt::{Debug, Display, LowerExp};

    use bytemuck::Pod;
    use glam::DVec3;

    use super::Number;
    use crate::column::Arrays;
    use crate::wide::{WideSphere, to_one};
    use crate::{Column, HardSphere, Sphere, Values};

    /// What carom has to know of a kind of numbers.
    pub trait Numbers:
        Pod + Default + PartialOrd + Debug + Display + LowerExp + Into<f64> + Send + Sync
    {
        type Given: Pod + Send + Sync;
        type Packed: PackedSphere<Self>;
        fn packed(given: &Self::Given) -> Self::Packed;
        fn columns(given: &[Self::Given]) -> Arrays<'_, Self>;
        /// Rounds to the nearest number.
        fn nearest(x: f64) -> Self;
        /// Non-negative numbers have the order of their bits.
        fn bits(self) -> u64;
        fn from_bits(bits: u64) -> Self;
        const MAX: Self;
        /// Half of any number of at least this size is exact.
        const MIN_CUTOFF: Self;
        /// So much more than the sum that the errors of a measured move do not matter.
        fn padded(x: Self, y: Self) -> Self;
        fn half(self) -> Self {
            Self::nearest(self.into() / 2.0)
        }
        /// Returns the length of a vector.
        fn length(vector: DVec3) -> f64;
        /// Turns −0 into 0.
        fn positive(self) -> Self {
            Self::nearest(self.into() + 0.0)
        }
        fn wide(sphere: &Self::Packed) -> WideSphere;
        fn split<F: Family>(of: F::Of<Self>) -> Split<F>
        where
            Self: Number;
        fn join<F: Family>(split: Split<F>) -> Option<F::Of<Self>>
        where
            Self: Number;
    }

    /// The types `Of<f32>` and `Of<f64>`.
    pub trait Family {
        type Of<T: Number>;
    }

    /// A value of one of the two types of a [`Family`].
    pub enum Split<F: Family> {
        Float32(F::Of<f32>),
        Float64(F::Of<f64>),
    }

    impl Family for () {
        type Of<T: Number> = ();
    }

    impl Numbers for f32 {
        type Given = Sphere;
        type Packed = Sphere;

        #[inline(always)]
        fn packed(given: &Sphere) -> Sphere {
            *given
        }

        fn columns(given: &[Sphere]) -> Arrays<'_, Self> {
            Arrays {
                center: Column::of(given, |sphere| &sphere.center),
                radius: Column::of(given, |sphere| &sphere.radius).into(),
                velocity: Some(Column::of(given, |sphere| &sphere.velocity)),
                groups: Column::of(given, |sphere| &sphere.groups).into(),
            }
        }

        #[allow(clippy::cast_possible_truncation, reason = "rounding is intended")]
        fn nearest(x: f64) -> Self {
            x as Self
        }

        fn bits(self) -> u64 {
            self.to_bits().into()
        }

        #[allow(
            clippy::cast_possible_truncation,
            reason = "they are bits of a float32"
        )]
        fn from_bits(bits: u64) -> Self {
            Self::from_bits(bits as u32)
        }

        const MAX: Self = crate::MAX_MAGNITUDE;
        const MIN_CUTOFF: Self = 2.0 * Self::MIN_POSITIVE;

        fn padded(x: Self, y: Self) -> Self {
            (x + y).next_up()
        }

        #[inline(always)]
        fn length(vector: DVec3) -> f64 {
            vector.length()
        }

        fn wide(sphere: &Sphere) -> WideSphere {
            let [center, velocity] = [sphere.center, sphere.velocity].map(|of| of.map(f64::from));
            let mut wide = WideSphere::new(center, sphere.radius.into(), velocity);
            wide.groups = sphere.groups;
            wide
        }

        #[inline(always)]
        fn split<F: Family>(of: F::Of<Self>) -> Split<F> {
            Split::Float32(of)
        }

        #[inline(always)]
        fn join<F: Family>(split: Split<F>) -> Option<F::Of<Self>> {
            match split {
                Split::Float32(of) => Some(of),
                Split::Float64(_) => None,
            }
        }
    }

    impl Numbers for f64 {
        type Given = HardSphere;
        type Packed = WideSphere;

        #[inline(always)]
        fn packed(given: &HardSphere) -> WideSphere {
            WideSphere::new(given.center, given.radius, given.velocity)
        }

        fn columns(given: &[HardSphere]) -> Arrays<'_, Self> {
            Arrays {
                center: Column::of(given, |sphere| &sphere.center),
                radius: Column::of(given, |sphere| &sphere.radius).into(),
                velocity: Some(Column::of(given, |sphere| &sphere.velocity)),
                groups: Values::Constant(0),
            }
        }

        fn nearest(x: f64) -> Self {
            x
        }

        fn bits(self) -> u64 {
            self.to_bits()
        }

        fn from_bits(bits: u64) -> Self {
            Self::from_bits(bits)
        }

        const MAX: Self = crate::MAX_MAGNITUDE_F64;
        const MIN_CUTOFF: Self = 2.0 * Self::MIN_POSITIVE;

        fn padded(x: Self, y: Self) -> Self {
            // Moves are measured with an error of up to 2⁻⁵⁰ of the skin `y`.
            (x + y * (1.0 + 1.0 / (1_u64 << 46) as f64)).next_up()
        }

        #[inline(always)]
        fn length(vector: DVec3) -> f64 {
            let square = vector.length_squared();
            if square < f64::MIN_POSITIVE * 1e40 && vector != DVec3::ZERO {
                let unit = to_one(vector.abs().max_element());
                return (vector * unit).length() / unit;
            }
            square.sqrt()
        }

        fn wide(sphere: &WideSphere) -> WideSphere {
            *sphere
        }

        #[inline(always)]
        fn split<F: Family>(of: F::Of<Self>) -> Split<F> {
            Split::Float64(of)
        }

        #[inline(always)]
        fn join<F: Family>(split: Split<F>) -> Option<F::Of<Self>> {
            match split {
                Split::Float64(of) => Some(of),
                Split::Float32(_) => None,
            }
        }
    }

    /// The attributes of a packed sphere, to be filled from columns.
    pub trait PackedSphere<T>: Pod + Default + Send + Sync {
        fn center(&mut self) -> &mut [T; 3];
        fn radius(&mut self) -> &mut T;
        fn velocity(&mut self) -> &mut [T; 3];
        fn groups(&mut self) -> &mut u32;
        fn at_rest(center: [T; 3], radius: T, groups: u32) -> Self;
        fn place(&self) -> [T; 3];
        fn reach(&self) -> T;
        fn member_of(&self) -> u32;
    }

    impl PackedSphere<f32> for Sphere {
        fn center(&mut self) -> &mut [f32; 3] {
            &mut self.center
        }
        fn radius(&mut self) -> &mut f32 {
            &mut self.radius
        }
        fn velocity(&mut self) -> &mut [f32; 3] {
            &mut self.velocity
        }
        fn groups(&mut self) -> &mut u32 {
            &mut self.groups
        }
        #[inline(always)]
        fn at_rest(center: [f32; 3], radius: f32, groups: u32) -> Self {
            Self {
                groups,
                ..Self::new(center, radius)
            }
        }
        #[inline(always)]
        fn place(&self) -> [f32; 3] {
            self.center
        }
        #[inline(always)]
        fn reach(&self) -> f32 {
            self.radius
        }
        #[inline(always)]
        fn member_of(&self) -> u32 {
            self.groups
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
            let mut sphere = Self::new(center, radius, [0.0; 3]);
            sphere.groups = groups;
            sphere
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
}

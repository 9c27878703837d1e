//! The numbers of spheres and results: float32 or float64.

use std::fmt::Debug;

use crate::{Collision, Collision64, WallCollision, WallCollision64};

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

/// Two spheres, or a sphere and a wall, that touch at some time, in numbers of type `T`: for functions that take the
/// results of steps in float32 and in float64.
pub trait Touching<T> {
    /// Returns the indices a and b of two spheres, or the index of a sphere and the number of a wall.
    fn sides(&self) -> [u32; 2];
    /// Returns the time of impact, as in [`Collision::toi`].
    fn toi(&self) -> T;
    /// Returns the same numbers in float64. Every float32 is a float64.
    fn wide(&self) -> Collision64;
    /// Returns the numbers of `wide`, rounded to type `T`.
    fn of_wide(wide: &Collision64) -> Self;
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
    use std::fmt::{Debug, Display};

    use bytemuck::Pod;
    use glam::DVec3;

    use super::Number;
    use crate::blocking::Wait;
    use crate::exact::integers::{Rounded, numbers};
    use crate::neighbors::displaced;
    use crate::spheres::Arrays;
    use crate::step::GivenWalls;
    use crate::validate::check_spheres;
    use crate::verify::{Mistakes, mistakes_in_float32, mistakes_in_float64};
    use crate::walls::Surrounding;
    use crate::wide::{self, WideSphere};
    use crate::{
        Collision64, Collisions, Column, Detector, Domain, Error, HardSphere, NeighborList,
        NeighborSearch, Sphere, Spheres, Step, Values, Walls,
    };

    /// What carom has to know of a kind of numbers.
    pub trait Numbers:
        Pod + Default + PartialOrd + Debug + Display + Send + Sync + Rounded
    {
        /// A sphere in a slice of the caller.
        type Given: Pod + Send + Sync;
        /// A sphere as the stages read it.
        type Packed: PackedSphere<Self>;
        fn packed(given: &Self::Given) -> Self::Packed;
        /// Returns the attributes of spheres in a slice of the caller.
        fn columns(given: &[Self::Given]) -> Arrays<'_, Self>;
        /// Rounds to the nearest number.
        fn nearest(x: f64) -> Self;
        /// Largest magnitude of a number of a step.
        const MAX: Self;
        /// Smallest cutoff or skin that is allowed, apart from 0. Half of any number of at least this size is exact.
        const MIN_CUTOFF: Self;
        /// Returns the sum of a length x and a skin y, or a little more, so that the errors of a measured move do not
        /// matter.
        fn padded(x: Self, y: Self) -> Self;
        fn half(self) -> Self {
            Self::nearest(self.into() / 2.0)
        }
        /// Checks the numbers of a domain.
        fn check_domain(domain: &Domain) -> Result<(), Error>;
        /// Returns the vector from a place to an image of another place.
        fn displaced(domain: &Domain, from: DVec3, to: DVec3, image: [i32; 3]) -> DVec3;
        /// Returns the length of a vector.
        fn length(vector: DVec3) -> f64;
        /// Turns −0 into 0.
        fn positive(self) -> Self {
            Self::nearest(self.into() + 0.0)
        }
        /// Checks the numbers of spheres. An error names the set `set`.
        fn check_packed(
            spheres: &[Self::Packed],
            dt: Self,
            set: Option<usize>,
        ) -> Result<(), Error>;
        fn wide(sphere: &Self::Packed) -> WideSphere;
        fn given(walls: &Walls<Self>) -> GivenWalls<'_>;
        /// Returns the walls of a step, which are in these numbers.
        fn walls(given: GivenWalls<'_>) -> Option<&Walls<Self>>;
        /// Returns what finds the triangles of a mesh near a sphere in float32. Empty for a mesh in float64.
        fn around_triangles(
            vertices: &[[Self; 3]],
            triangles: &[[u32; 3]],
        ) -> Result<Surrounding, Error>;
        /// Compares a list with the exact collisions of a step.
        fn mistakes(
            step: &Step<'_, Spheres<'_, Self>>,
            list: &[Collision64],
            images: &[[i32; 3]],
            one_set: bool,
        ) -> Result<Mistakes, Error>
        where
            Self: Number;
        /// Finds neighbours.
        fn find_neighbors(
            detector: &mut Detector,
            search: &NeighborSearch<'_, Spheres<'_, Self>>,
            to: &mut NeighborList<Self>,
            wait: Wait,
        ) -> impl Future<Output = Result<(), Error>>
        where
            Self: Number;
        /// Finds the collisions of a step.
        fn detect(
            detector: &mut Detector,
            step: &Step<'_, Spheres<'_, Self>>,
            to: &mut Collisions<Self>,
            wait: Wait,
        ) -> impl Future<Output = Result<(), Error>>
        where
            Self: Number;
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

        const MAX: Self = crate::MAX_MAGNITUDE;
        const MIN_CUTOFF: Self = 2.0 * Self::MIN_POSITIVE;

        fn padded(x: Self, y: Self) -> Self {
            (x + y).next_up()
        }
        fn check_domain(domain: &Domain) -> Result<(), Error> {
            domain.check()
        }
        fn displaced(domain: &Domain, from: DVec3, to: DVec3, image: [i32; 3]) -> DVec3 {
            displaced(domain, from, to, image)
        }
        #[inline(always)]
        fn length(vector: DVec3) -> f64 {
            vector.length()
        }

        fn mistakes(
            step: &Step<'_, Spheres<'_, Self>>,
            list: &[Collision64],
            images: &[[i32; 3]],
            one_set: bool,
        ) -> Result<Mistakes, Error> {
            mistakes_in_float32(step, list, images, one_set)
        }

        fn around_triangles(
            vertices: &[[Self; 3]],
            triangles: &[[u32; 3]],
        ) -> Result<Surrounding, Error> {
            Surrounding::new(vertices, triangles)
        }

        fn check_packed(spheres: &[Sphere], dt: f32, set: Option<usize>) -> Result<(), Error> {
            check_spheres(spheres, dt, set).map(|_| ())
        }

        fn wide(sphere: &Sphere) -> WideSphere {
            let (center, radius, velocity) = numbers(sphere);
            let mut wide = WideSphere::new(center, radius, velocity);
            wide.groups = sphere.groups;
            wide
        }

        fn given(walls: &Walls) -> GivenWalls<'_> {
            GivenWalls::Float32(walls)
        }

        fn walls(given: GivenWalls<'_>) -> Option<&Walls> {
            match given {
                GivenWalls::Float32(walls) => Some(walls),
                GivenWalls::Float64(_) => None,
            }
        }

        async fn find_neighbors(
            detector: &mut Detector,
            search: &NeighborSearch<'_, Spheres<'_, Self>>,
            to: &mut NeighborList<Self>,
            wait: Wait,
        ) -> Result<(), Error> {
            detector.search_waiting(search, to, wait).await
        }

        async fn detect(
            detector: &mut Detector,
            step: &Step<'_, Spheres<'_, Self>>,
            to: &mut Collisions<Self>,
            wait: Wait,
        ) -> Result<(), Error> {
            detector.detect_waiting(step, to, wait).await
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

        const MAX: Self = crate::MAX_MAGNITUDE_F64;
        const MIN_CUTOFF: Self = 2.0 * Self::MIN_POSITIVE;

        fn padded(x: Self, y: Self) -> Self {
            // Moves are measured in float64, too, with an error of up to 2⁻⁵⁰ of the skin `y`.
            (x + y * (1.0 + 1.0 / (1_u64 << 46) as f64)).next_up()
        }
        fn check_domain(domain: &Domain) -> Result<(), Error> {
            domain.check_f64()
        }
        fn displaced(domain: &Domain, from: DVec3, to: DVec3, image: [i32; 3]) -> DVec3 {
            wide::displaced(domain, from, to, image)
        }
        #[inline(always)]
        fn length(vector: DVec3) -> f64 {
            let square = vector.length_squared();
            if square < f64::MIN_POSITIVE * 1e40 && vector != DVec3::ZERO {
                // The squares of such short lengths may have lost digits.
                let unit = wide::to_one(vector.abs().max_element());
                return (vector * unit).length() / unit;
            }
            square.sqrt()
        }

        fn mistakes(
            step: &Step<'_, Spheres<'_, Self>>,
            list: &[Collision64],
            images: &[[i32; 3]],
            one_set: bool,
        ) -> Result<Mistakes, Error> {
            mistakes_in_float64(step, list, images, one_set)
        }

        fn around_triangles(_: &[[Self; 3]], _: &[[u32; 3]]) -> Result<Surrounding, Error> {
            Ok(Surrounding::default())
        }

        fn check_packed(spheres: &[WideSphere], dt: Self, set: Option<usize>) -> Result<(), Error> {
            let mut all = spheres.iter().enumerate();
            all.try_for_each(|(index, sphere)| wide::check(index, sphere, dt, set))
        }

        fn wide(sphere: &WideSphere) -> WideSphere {
            *sphere
        }

        fn given(walls: &Walls<Self>) -> GivenWalls<'_> {
            GivenWalls::Float64(walls)
        }

        fn walls(given: GivenWalls<'_>) -> Option<&Walls<Self>> {
            match given {
                GivenWalls::Float64(walls) => Some(walls),
                GivenWalls::Float32(_) => None,
            }
        }

        async fn find_neighbors(
            detector: &mut Detector,
            search: &NeighborSearch<'_, Spheres<'_, Self>>,
            to: &mut NeighborList<Self>,
            wait: Wait,
        ) -> Result<(), Error> {
            detector.search_wide(search, to, wait).await
        }

        async fn detect(
            detector: &mut Detector,
            step: &Step<'_, Spheres<'_, Self>>,
            to: &mut Collisions<Self>,
            wait: Wait,
        ) -> Result<(), Error> {
            detector.detect_wide(step, to, wait).await
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
}

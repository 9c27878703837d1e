//! The input of a time step: the moving spheres and the duration of the step.
//!
//! [`Detector`](crate::Detector) converts a [`Step`] to an [`UncheckedStep`], with all spheres in one slice.
//! Checking an [`UncheckedStep`] gives a [`CheckedStep`]; the GPU backend checks the spheres while it copies them.
//! `src/gpu/input/host_step.rs` handles a step that an application records on its own GPU device.

use std::fmt;
use std::marker::PhantomData;

use crate::limits::MAX_SPHERES;
use crate::number::sealed::{Family, Numbers, Split};
use crate::reuse::ReusedVec;
use crate::shared::sets::Sets;
use crate::validate::{InputSummary, check_dt, check_spheres};
use crate::{Domain, Error, Number, Sphere, Spheres, Walls};

/// One time step: the moving spheres and the duration of the step.
///
/// [`Step::new`] requests the pairs within one set of spheres, and [`Step::between`] the pairs with
/// one sphere from each of two sets. The numbers in the spheres are checked when the step is used.
///
/// The type parameter `S` is the type of a set: [`Spheres`] for spheres in main memory, in float32 or float64, or
/// `gpu::DeviceSpheres` for spheres in GPU buffers (`Step::on_device`).
///
/// ```
/// use carom::{Sphere, Step};
/// let spheres = vec![Sphere::new([0.0; 3], 1.0), Sphere::new([1.5, 0.0, 0.0], 1.0)];
/// let step = Step::new(&spheres, 1.0 / 60.0);
/// assert_eq!(step.spheres().len(), 2);
/// ```
#[derive(Clone, Copy)]
pub struct Step<'a, S = Spheres<'a>> {
    pub(crate) first: S,
    pub(crate) second: Option<S>,
    pub(crate) dt: f64,
    pub(crate) domain: Domain,
    pub(crate) walls: Option<GivenWalls<'a>>,
    /// Whether pairs are left out that touch at the start and do not approach.
    pub(crate) approaching: bool,
}

/// In the numbers of its spheres. A type parameter `Walls<S::Number>` of [`Step`] would not let
/// the lifetime of the spheres become shorter.
#[derive(Clone, Copy)]
pub(crate) enum GivenWalls<'a> {
    Float32(&'a Walls),
    Float64(&'a Walls<f64>),
}

struct OfWalls<'a>(PhantomData<&'a ()>);

impl<'a> Family for OfWalls<'a> {
    type Of<T: Number> = &'a Walls<T>;
}

/// The sets of spheres that a [`Step`] may have: [`Spheres`], or `gpu::DeviceSpheres`, whose numbers are float32.
pub trait SphereSet: Copy + sealed::Sealed {
    /// The numbers of the spheres.
    type Number: Number;
}

mod sealed {
    pub trait Sealed {}
    impl<T: crate::Number> Sealed for crate::Spheres<'_, T> {}
    #[cfg(feature = "gpu")]
    impl Sealed for crate::gpu::DeviceSpheres<'_> {}
}

impl<T: Number> SphereSet for Spheres<'_, T> {
    type Number = T;
}

#[cfg(feature = "gpu")]
impl SphereSet for crate::gpu::DeviceSpheres<'_> {
    type Number = f32;
}

impl<'a, T: Number> Step<'a, Spheres<'a, T>> {
    /// Creates a time step in which one set of spheres moves. The result has every touching pair of
    /// `spheres`, except pairs that collision groups leave out ([`Sphere::with_groups`]).
    ///
    /// `spheres` is a reference to a slice, a vector or an array of [`Sphere`] or, for a step in float64, of
    /// [`HardSphere`](crate::HardSphere). Or it is [`Spheres`], which may have separate columns of centres, radii,
    /// velocities and groups.
    ///
    /// `dt` is the duration of the step, from 0 to [`MAX_MAGNITUDE`](crate::MAX_MAGNITUDE) (in float64, to
    /// [`MAX_MAGNITUDE_F64`](crate::MAX_MAGNITUDE_F64)), in the unit of time of the velocities.
    pub fn new(spheres: impl Into<Spheres<'a, T>>, dt: T) -> Self {
        Self {
            first: spheres.into(),
            second: None,
            dt: dt.into(),
            domain: Domain::default(),
            walls: None,
            approaching: false,
        }
    }

    /// Creates a time step in which two sets of spheres move. The result has every touching pair of a sphere
    /// of `first` (index a) and a sphere of `second` (index b), except pairs that collision groups leave out.
    ///
    /// The arguments are those of [`Step::new`].
    pub fn between(
        first: impl Into<Spheres<'a, T>>,
        second: impl Into<Spheres<'a, T>>,
        dt: T,
    ) -> Self {
        Self {
            first: first.into(),
            second: Some(second.into()),
            dt: dt.into(),
            domain: Domain::default(),
            walls: None,
            approaching: false,
        }
    }
}

impl<'a, S: Copy> Step<'a, S> {
    /// Returns the spheres of the step, or the first of its two sets.
    pub fn spheres(&self) -> S {
        self.first
    }

    /// Returns the second of the step's two sets, or `None` for a step of one set.
    pub fn second_set(&self) -> Option<S> {
        self.second
    }

    /// Returns the duration of the step, in the unit of time of the velocities.
    pub fn dt(&self) -> S::Number
    where
        S: SphereSet,
    {
        S::Number::nearest(self.dt)
    }

    /// Returns the same step in a domain instead of open space.
    ///
    /// In a periodic domain, a sphere also touches the images of other spheres and of
    /// itself. The image of each pair in [`Collisions::pairs`](crate::Collisions::pairs) is that of sphere b.
    /// Different steps may have different domains.
    #[must_use]
    pub fn in_domain(mut self, domain: &Domain) -> Self {
        self.domain = *domain;
        self
    }

    /// Returns the same step with walls.
    ///
    /// The result of a step with walls also has every sphere that touches a wall during the step, in
    /// [`Collisions::walls`](crate::Collisions::walls).
    #[must_use]
    pub fn with_walls(mut self, walls: &'a Walls<S::Number>) -> Self
    where
        S: SphereSet,
    {
        self.walls = Some(match S::Number::split::<OfWalls<'_>>(walls) {
            Split::Float32(walls) => GivenWalls::Float32(walls),
            Split::Float64(walls) => GivenWalls::Float64(walls),
        });
        self
    }

    /// Returns the same step without those pairs that touch at the start and do not approach each other then: the
    /// distance of their centres does not decrease. A sphere and a wall are left out likewise. carom decides this
    /// exactly. A sphere that leaves a hollow wall is left out with it for the whole step, also if it reaches the far side.
    ///
    /// So a program that bounces spheres and then finds the next impact does not find the last one again (the README has
    /// such a program), and a bullet that flies off does not hit the gun:
    ///
    /// ```
    /// use carom::{Detector, Options, Partner, Sphere, Step};
    /// let gun = Sphere::new([0.0; 3], 1.0);
    /// let bullet = Sphere::new([0.9, 0.0, 0.0], 0.1).with_velocity([20.0, 0.0, 0.0]);
    /// let target = Sphere::new([9.0, 0.0, 0.0], 1.0);
    /// let spheres = [gun, bullet, target];
    /// let mut detector = Detector::new(Options::default())?;
    /// let found = detector.detect(&Step::new(&spheres, 1.0).without_separating())?;
    /// assert_eq!(found.earliest()?[1].map(|first| first.partner), Some(Partner::Sphere(2)));
    /// # Ok::<(), carom::Error>(())
    /// ```
    #[must_use]
    pub fn without_separating(mut self) -> Self {
        self.approaching = true;
        self
    }

    /// Returns the walls of the step, or `None` for a step without walls.
    pub fn walls(&self) -> Option<&'a Walls<S::Number>>
    where
        S: SphereSet,
    {
        S::Number::join::<OfWalls<'_>>(match self.walls? {
            GivenWalls::Float32(walls) => Split::Float32(walls),
            GivenWalls::Float64(walls) => Split::Float64(walls),
        })
    }

    /// Returns the domain of the step.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }
}

impl<S> fmt::Debug for Step<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step")
            .field("sets", &if self.second.is_some() { 2 } else { 1 })
            .field("dt", &self.dt)
            .finish_non_exhaustive()
    }
}

impl Step<'_> {
    /// Copies two sets, or columns, into `packed`. A single slice is used as it is.
    pub(crate) fn in_one_slice<'b>(
        &'b self,
        packed: &'b mut ReusedVec<Sphere>,
    ) -> Result<UncheckedStep<'b>, Error> {
        self.check_columns()?;
        self.check_before_packing()?;
        let first = self.first;
        let (spheres, sets) = match (self.second, first.records()) {
            (None, Some(spheres)) => {
                packed.rest();
                (spheres, Sets::One)
            }
            (None, None) => {
                let spheres = packed.enough(first.len(), "a copy of the spheres")?;
                first.copy_to(spheres)?;
                (&*spheres, Sets::One)
            }
            (Some(second), _) => {
                let spheres = packed.enough(first.len() + second.len(), "a copy of both sets")?;
                let (of_first, of_second) = spheres.split_at_mut(first.len());
                first.copy_to(of_first)?;
                second.copy_to(of_second)?;
                (&*spheres, Sets::Two { first: first.len() })
            }
        };
        Ok(UncheckedStep {
            spheres,
            sets,
            dt: self.dt(),
            domain: self.domain,
            enclosing: false,
        })
    }

    /// Copies columns into `packed`. The second slice is `None` for a step of one set.
    pub(crate) fn in_slices<'b>(
        &'b self,
        packed: &'b mut ReusedVec<Sphere>,
    ) -> Result<(&'b [Sphere], Option<&'b [Sphere]>), Error> {
        self.check_columns()?;
        let sets = [Some(self.first), self.second];
        let packed_lengths = sets.map(|set| match set {
            Some(set) if set.records().is_none() => set.len(),
            _ => 0,
        });
        let mut room = match packed_lengths {
            [0, 0] => {
                packed.rest();
                &mut []
            }
            [first, second] => packed.enough(first + second, "a copy of the spheres")?,
        };
        let mut in_slice = |set: Spheres<'b>| match set.records() {
            Some(spheres) => Ok(spheres),
            None => {
                let (spheres, rest) = std::mem::take(&mut room).split_at_mut(set.len());
                room = rest;
                set.copy_to(spheres)?;
                Ok(&*spheres)
            }
        };
        let first = in_slice(self.first)?;
        Ok((first, self.second.map(in_slice).transpose()?))
    }

    /// So that a copy that is too large is not made.
    fn check_before_packing(&self) -> Result<(), Error> {
        check_dt(self.dt())?;
        self.domain.check::<f32>()?;
        self.check_counts()
    }
}

impl<T: Number> Step<'_, Spheres<'_, T>> {
    /// Checks the number of spheres.
    pub(crate) fn check_counts(&self) -> Result<(), Error> {
        let counts = [Some(self.first), self.second].map(|set| set.map(|set| set.len()));
        match counts {
            [_, Some(0)] | [Some(0), Some(_)] => Ok(()),
            _ => check_count(counts.into_iter().flatten().sum()),
        }
    }

    pub(crate) fn check_columns(&self) -> Result<(), Error> {
        let Some(second) = self.second else {
            return self.first.check(None);
        };
        self.first.check(Some(0))?;
        second.check(Some(1))
    }
}

pub(crate) fn check_count(spheres: usize) -> Result<(), Error> {
    if spheres <= MAX_SPHERES {
        return Ok(());
    }
    Err(Error::TooManySpheres {
        count: spheres,
        limit: MAX_SPHERES,
    })
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct UncheckedStep<'a> {
    pub(crate) spheres: &'a [Sphere],
    pub(crate) sets: Sets,
    pub(crate) dt: f32,
    pub(crate) domain: Domain,
    /// Then the list may have pairs that do not quite touch, and its times and depths have
    /// no meaning.
    pub(crate) enclosing: bool,
}

impl<'a> UncheckedStep<'a> {
    /// Not the numbers in the spheres.
    pub(crate) fn check_size(&self) -> Result<(), Error> {
        check_dt(self.dt)?;
        self.domain.check::<f32>()?;
        if self.has_pairs() {
            check_count(self.spheres.len())
        } else {
            Ok(())
        }
    }

    pub(crate) fn check(self) -> Result<CheckedStep<'a>, Error> {
        self.check_size()?;
        let Self { spheres, dt, .. } = self;
        let summary = match self.sets {
            Sets::One => check_spheres(spheres, dt, None)?,
            Sets::Two { first } => {
                let (first, second) = spheres.split_at(first.min(spheres.len()));
                let first = check_spheres(first, dt, Some(0))?;
                first.merge(check_spheres(second, dt, Some(1))?)
            }
        };
        Ok(self.checked(summary))
    }

    /// `summary` is that of all spheres.
    #[cfg(feature = "gpu")]
    pub(crate) fn checked_by(self, summary: InputSummary) -> Result<CheckedStep<'a>, Error> {
        if summary.is_valid() {
            Ok(self.checked(summary))
        } else {
            self.check()
        }
    }

    fn checked(self, summary: InputSummary) -> CheckedStep<'a> {
        let Self {
            spheres,
            sets,
            dt,
            domain,
            enclosing,
        } = self;
        CheckedStep {
            spheres: if self.has_pairs() { spheres } else { &[] },
            sets,
            dt,
            domain,
            enclosing,
            summary,
        }
    }

    pub(crate) fn has_pairs(&self) -> bool {
        match self.sets {
            Sets::One => true,
            Sets::Two { first } => first > 0 && first < self.spheres.len(),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckedStep<'a> {
    /// The second set after the first. Empty if one of two sets is.
    pub(crate) spheres: &'a [Sphere],
    pub(crate) sets: Sets,
    pub(crate) dt: f32,
    pub(crate) domain: Domain,
    /// As in [`UncheckedStep`].
    pub(crate) enclosing: bool,
    pub(crate) summary: InputSummary,
}

//! The request: which spheres move, and for how long.
//!
//! Callers make a [`Step`]. [`Detector`](crate::Detector) makes an [`UncheckedStep`] of it,
//! all spheres in one slice, and checks that once: both backends, retries and the decision
//! get the [`CheckedStep`]. Where the spheres are only uploaded, two sets stay in two slices:
//! that is `HostStep` in `src/gpu/host_step.rs`.

use std::fmt;

use crate::limits::MAX_SPHERES;
use crate::reuse::ReusedVec;
use crate::shared::sets::Sets;
use crate::validate::{InputSummary, check_dt, check_spheres};
use crate::{Error, Sphere};

/// One time step: the spheres whose collisions are sought, and the length of the step.
///
/// [`Step::new`] seeks the pairs within one set of spheres, [`Step::between`] those of
/// one sphere of each of two sets. A step borrows its spheres; it is checked when it is
/// used.
///
/// ```
/// use carom::{Sphere, Step};
/// let spheres = vec![Sphere::new([0.0; 3], 1.0), Sphere::new([1.5, 0.0, 0.0], 1.0)];
/// let step = Step::new(&spheres, 1.0 / 60.0);
/// assert_eq!(step.spheres().len(), 2);
/// ```
pub struct Step<'a, S: ?Sized = [Sphere]> {
    pub(crate) first: &'a S,
    pub(crate) second: Option<&'a S>,
    pub(crate) dt: f32,
}

impl<'a> Step<'a> {
    /// Every pair of `spheres` that touches during a step of length `dt`, but for the
    /// pairs that their groups leave out ([`Sphere::with_groups`]).
    pub fn new(spheres: &'a [Sphere], dt: f32) -> Self {
        Self {
            first: spheres,
            second: None,
            dt,
        }
    }

    /// Every pair of one sphere of `first` (index a) and one of `second` (index b) that
    /// touches during a step of length `dt`, but for the pairs that their groups leave out.
    pub fn between(first: &'a [Sphere], second: &'a [Sphere], dt: f32) -> Self {
        Self {
            first,
            second: Some(second),
            dt,
        }
    }
}

impl<'a, S: ?Sized> Step<'a, S> {
    /// The spheres, or the first of two sets.
    pub fn spheres(&self) -> &'a S {
        self.first
    }

    /// The second of two sets; `None` for one set.
    pub fn second_set(&self) -> Option<&'a S> {
        self.second
    }

    /// The length of the step, in the unit of time of the velocities.
    pub fn dt(&self) -> f32 {
        self.dt
    }
}

// Written by hand: deriving would ask the same of `S`, which is only borrowed.
impl<S: ?Sized> Clone for Step<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: ?Sized> Copy for Step<'_, S> {}

impl<S: ?Sized> fmt::Debug for Step<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step")
            .field("sets", &if self.second.is_some() { 2 } else { 1 })
            .field("dt", &self.dt)
            .finish_non_exhaustive()
    }
}

impl Step<'_> {
    /// The same step with all spheres in one slice. Two sets are copied into `both`, which
    /// rests in a step of one set.
    pub(crate) fn in_one_slice<'b>(
        &'b self,
        both: &'b mut ReusedVec<Sphere>,
    ) -> Result<UncheckedStep<'b>, Error> {
        let first = self.first;
        let Some(second) = self.second else {
            both.rest();
            return Ok(UncheckedStep {
                spheres: first,
                sets: Sets::One,
                dt: self.dt,
            });
        };
        let spheres = both.enough(first.len() + second.len(), "a copy of both sets")?;
        let (of_first, of_second) = spheres.split_at_mut(first.len());
        of_first.copy_from_slice(first);
        of_second.copy_from_slice(second);
        Ok(UncheckedStep {
            spheres,
            sets: Sets::Two { first: first.len() },
            dt: self.dt,
        })
    }
}

/// A step on the host, all spheres in one slice, before it is checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UncheckedStep<'a> {
    pub(crate) spheres: &'a [Sphere],
    pub(crate) sets: Sets,
    pub(crate) dt: f32,
}

impl<'a> UncheckedStep<'a> {
    /// Refuses what needs no look at every sphere: time steps out of range and too many
    /// spheres.
    pub(crate) fn check_size(&self) -> Result<(), Error> {
        check_dt(self.dt)?;
        if self.has_pairs() && self.spheres.len() > MAX_SPHERES {
            return Err(Error::TooManySpheres {
                count: self.spheres.len(),
                limit: MAX_SPHERES,
            });
        }
        Ok(())
    }

    /// Checks every sphere.
    pub(crate) fn check(self) -> Result<CheckedStep<'a>, Error> {
        self.check_size()?;
        let Self { spheres, sets, dt } = self;
        let summary = match sets {
            Sets::One => check_spheres(spheres, dt, None)?,
            Sets::Two { first } => {
                let (first, second) = spheres.split_at(first.min(spheres.len()));
                let first = check_spheres(first, dt, Some(0))?;
                first.merge(check_spheres(second, dt, Some(1))?)
            }
        };
        Ok(CheckedStep {
            spheres: if self.has_pairs() { spheres } else { &[] },
            sets,
            dt,
            summary,
        })
    }

    /// Whether there can be any pair: with no spheres in one of two sets there is none.
    fn has_pairs(&self) -> bool {
        match self.sets {
            Sets::One => true,
            Sets::Two { first } => first > 0 && first < self.spheres.len(),
        }
    }
}

/// A step on the host that carom can work with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckedStep<'a> {
    /// The spheres, the second of two sets after the first; none if one set is empty.
    pub(crate) spheres: &'a [Sphere],
    pub(crate) sets: Sets,
    pub(crate) dt: f32,
    pub(crate) summary: InputSummary,
}

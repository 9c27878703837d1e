//! A step of valid spheres on the host, ready for upload to the GPU. It is made from a
//! [`CheckedStep`] of the detector, or from a [`Step`](crate::Step) that an application records.

use crate::shared::sets::Sets;
use crate::step::CheckedStep;
use crate::validate::{InputSummary, check_dt, check_spheres};
use crate::{Domain, Error, Sphere};

pub(crate) struct HostStep<'a> {
    pub(crate) parts: [&'a [Sphere]; 2],
    pub(crate) sets: Sets,
    pub(crate) dt: f32,
    pub(crate) domain: Domain,
    pub(crate) summary: InputSummary,
}

impl<'a> HostStep<'a> {
    /// If one of two sets is empty, the step omits the other, too, unless `alone`: its
    /// spheres may touch walls.
    pub(crate) fn checked(
        first: &'a [Sphere],
        second: Option<&'a [Sphere]>,
        dt: f32,
        domain: Domain,
        alone: bool,
    ) -> Result<Self, Error> {
        check_dt(dt)?;
        domain.check::<f32>()?;
        let Some(second) = second else {
            return Ok(Self {
                parts: [first, &[]],
                sets: Sets::One,
                dt,
                domain,
                summary: check_spheres(first, dt, None)?,
            });
        };
        let summary = check_spheres(first, dt, Some(0))?;
        let summary = summary.merge(check_spheres(second, dt, Some(1))?);
        let parts = match !alone && (first.is_empty() || second.is_empty()) {
            true => [&[][..]; 2],
            false => [first, second],
        };
        Ok(Self {
            sets: Sets::Two {
                first: parts[0].len(),
            },
            parts,
            dt,
            domain,
            summary,
        })
    }
}

impl<'a> From<CheckedStep<'a>> for HostStep<'a> {
    fn from(step: CheckedStep<'a>) -> Self {
        let CheckedStep {
            spheres,
            sets,
            dt,
            domain,
            summary,
            ..
        } = step;
        Self {
            parts: [spheres, &[]],
            sets,
            dt,
            domain,
            summary,
        }
    }
}

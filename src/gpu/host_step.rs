//! A checked step on the host, as it is uploaded: made of a [`CheckedStep`] for the detector,
//! and of a [`Step`](crate::Step) that an application records.

use crate::shared::sets::Sets;
use crate::step::CheckedStep;
use crate::validate::{InputSummary, check_dt, check_spheres};
use crate::{Error, Sphere};

/// A step on the host that was checked, its spheres in one slice or two.
pub(super) struct HostStep<'a> {
    pub(super) parts: [&'a [Sphere]; 2],
    pub(super) sets: Sets,
    pub(super) dt: f32,
    pub(super) summary: InputSummary,
}

impl<'a> HostStep<'a> {
    pub(super) fn checked(
        first: &'a [Sphere],
        second: Option<&'a [Sphere]>,
        dt: f32,
    ) -> Result<Self, Error> {
        check_dt(dt)?;
        let Some(second) = second else {
            return Ok(Self {
                parts: [first, &[]],
                sets: Sets::One,
                dt,
                summary: check_spheres(first, dt, None)?,
            });
        };
        let summary = check_spheres(first, dt, Some(0))?;
        let summary = summary.merge(check_spheres(second, dt, Some(1))?);
        // With an empty set there is nothing to find.
        let parts = match first.is_empty() || second.is_empty() {
            true => [&[][..]; 2],
            false => [first, second],
        };
        Ok(Self {
            sets: Sets::Two {
                first: parts[0].len(),
            },
            parts,
            dt,
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
            summary,
        } = step;
        Self {
            parts: [spheres, &[]],
            sets,
            dt,
            summary,
        }
    }
}

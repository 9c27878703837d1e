//! Replaces the GPU backend in a build without the Cargo feature `gpu`.

use crate::blocking::Wait;
use crate::limits::Limits;
use crate::statistics::StepOutcome;
use crate::step::UncheckedStep;
use crate::{Collision, Error};

/// It has no values, so its methods are never called.
pub(crate) enum NoGpu {}

impl NoGpu {
    pub(crate) async fn new(_hardware: bool, _checks: bool) -> Result<Self, Error> {
        Err(Error::FeatureDisabled { feature: "gpu" })
    }

    pub(crate) fn adapter(&self) -> &str {
        match *self {}
    }

    pub(crate) async fn run(
        &mut self,
        _step: UncheckedStep<'_>,
        _limits: Limits,
        _wait: Wait,
        _pairs: &mut Vec<Collision>,
        _images: &mut Vec<[i32; 3]>,
    ) -> Result<StepOutcome, Error> {
        match *self {}
    }
}

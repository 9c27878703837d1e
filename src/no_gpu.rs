//! Replaces the GPU backend in a build without the feature `gpu`.

use crate::Error;
use crate::blocking::Wait;
use crate::exact::ReportedPair;
use crate::limits::Limits;
use crate::outcome::Outcome;
use crate::step::CheckedStep;

/// A type without values that takes the place of the GPU backend.
pub(crate) enum Gpu {}

impl Gpu {
    /// Returns [`Error::FeatureDisabled`], because this build has no GPU backend.
    pub(crate) async fn new(_hardware: bool) -> Result<Self, Error> {
        Err(Error::FeatureDisabled { feature: "gpu" })
    }

    /// Returns the adapter's name and API. Cannot be called, because no value of this type exists.
    pub(crate) fn adapter(&self) -> &str {
        match *self {}
    }

    /// Runs all stages of a step. Cannot be called, because no value of this type exists.
    pub(crate) async fn run(
        &mut self,
        _step: CheckedStep<'_>,
        _limits: Limits,
        _wait: Wait,
    ) -> Result<(Outcome, Vec<ReportedPair>), Error> {
        match *self {}
    }
}

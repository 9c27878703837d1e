//! The GPU backend of a build without the feature `gpu`.

use crate::Error;
use crate::exact::ReportedPair;
use crate::limits::Limits;
use crate::outcome::Outcome;
use crate::step::CheckedStep;

/// A type without values, in place of the GPU backend.
pub(crate) enum Gpu {}

impl Gpu {
    /// There is none.
    pub(crate) fn new(_hardware: bool) -> Result<Self, Error> {
        Err(Error::FeatureDisabled { feature: "gpu" })
    }

    /// The adapter's name and API.
    pub(crate) fn adapter(&self) -> &str {
        match *self {}
    }

    /// Runs all stages.
    pub(crate) fn run(
        &mut self,
        _step: CheckedStep<'_>,
        _limits: Limits,
    ) -> Result<(Outcome, Vec<ReportedPair>), Error> {
        match *self {}
    }
}

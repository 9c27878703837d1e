//! The GPU backend of a build without the feature `gpu`.

use crate::Error;
use crate::blocking::Wait;
use crate::exact::ReportedPair;
use crate::limits::Limits;
use crate::outcome::Outcome;
use crate::step::CheckedStep;

/// A type without values, in place of the GPU backend.
pub(crate) enum Gpu {}

impl Gpu {
    /// There is none.
    pub(crate) async fn new(_hardware: bool) -> Result<Self, Error> {
        Err(Error::FeatureDisabled { feature: "gpu" })
    }

    /// The adapter's name and API.
    pub(crate) fn adapter(&self) -> &str {
        match *self {}
    }

    /// Runs all stages.
    pub(crate) async fn run(
        &mut self,
        _step: CheckedStep<'_>,
        _limits: Limits,
        _wait: Wait,
    ) -> Result<(Outcome, Vec<ReportedPair>), Error> {
        match *self {}
    }
}

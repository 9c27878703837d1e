//! Every kernel, compiled for one device.

use std::sync::{Arc, OnceLock};

use super::context::Context;
use super::dispatch::Binder;
use super::shader::kernels::{Gather, Load, Reduce, Stages};
use crate::Error;

/// What a pipeline and all of its buffers have in common.
pub(super) struct DeviceKernels {
    pub(super) context: Arc<Context>,
    pub(super) stages: Stages,
    pub(super) load: Load,
    pub(super) gather: Gather,
    /// Compiled when a reduction is first asked for.
    reduce: OnceLock<Reduce>,
}

impl DeviceKernels {
    /// Compiles all kernels but those of reductions. To be called in an error scope.
    pub(super) fn new(context: Arc<Context>) -> Result<Self, Error> {
        let device = &context.device;
        Ok(Self {
            stages: Stages::new(device)?,
            load: Load::new(device)?,
            gather: Gather::new(device)?,
            reduce: OnceLock::new(),
            context,
        })
    }

    pub(super) fn binder(&self) -> Binder<'_> {
        Binder {
            device: &self.context.device,
            widest: self.context.limits.max_compute_workgroups_per_dimension,
        }
    }

    /// The kernels of reductions. To be called in an error scope.
    pub(super) fn reduce(&self) -> Result<&Reduce, Error> {
        if let Some(reduce) = self.reduce.get() {
            return Ok(reduce);
        }
        let reduce = Reduce::new(&self.context.device)?;
        Ok(self.reduce.get_or_init(|| reduce))
    }
}

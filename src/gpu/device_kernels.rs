//! carom's compute kernels, compiled for one device.

use std::sync::{Arc, OnceLock};

use super::context::Context;
use super::dispatch::Binder;
use super::shader::kernels::{Gather, Load, Reduce, Stages};
use crate::Error;

/// The GPU device and its compiled compute kernels, which a pipeline and all of its buffers share.
pub(super) struct DeviceKernels {
    pub(super) context: Arc<Context>,
    pub(super) stages: Stages,
    pub(super) load: Load,
    pub(super) gather: Gather,
    /// Compute kernels of results computed from the list of pairs, such as the sorted list.
    /// Compiled when such a result is first requested.
    reduce: OnceLock<Reduce>,
}

impl DeviceKernels {
    /// Compiles the compute kernels that every step needs, but not the kernels of results computed
    /// from the list of pairs. Must be called inside a wgpu error scope.
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

    /// Returns the compute kernels of results computed from the list of pairs, and compiles these
    /// kernels on the first call. Must be called inside a wgpu error scope.
    pub(super) fn reduce(&self) -> Result<&Reduce, Error> {
        if let Some(reduce) = self.reduce.get() {
            return Ok(reduce);
        }
        let reduce = Reduce::new(&self.context.device)?;
        Ok(self.reduce.get_or_init(|| reduce))
    }
}

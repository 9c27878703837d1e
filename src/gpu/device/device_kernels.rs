//! carom's compute kernels, compiled for one device.

use std::sync::atomic::{AtomicU8, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};

use super::context::Context;
use super::dispatch::Binder;
use super::shader::kernels::{
    Decide, Dynamics, Gather, Load, Neighbors, OrderKernels, Periodic, Reduce, Rests, Stages,
    WallKernels,
};
use crate::Error;

/// Whether the device decides pairs as the host does.
#[derive(Default)]
pub(crate) struct Trust(AtomicU8);

const UNTESTED: u8 = 0;
const UNDER_TEST: u8 = 1;
const RIGHT: u8 = 2;
const WRONG: u8 = 3;

impl Trust {
    pub(crate) fn is_right(&self) -> bool {
        self.0.load(SeqCst) == RIGHT
    }

    /// Returns whether the caller has to test the device, and to call [`end`](Self::end).
    pub(crate) fn begin(&self) -> bool {
        let begun = self
            .0
            .compare_exchange(UNTESTED, UNDER_TEST, SeqCst, SeqCst);
        begun.is_ok()
    }

    /// `None` if the test has not run.
    pub(crate) fn end(&self, passed: Option<bool>) {
        let state = passed.map_or(UNTESTED, |passed| if passed { RIGHT } else { WRONG });
        self.0.store(state, SeqCst);
    }
}

pub(crate) struct DeviceKernels {
    pub(crate) context: Arc<Context>,
    pub(crate) trust: Arc<Trust>,
    pub(crate) stages: Stages,
    pub(crate) load: Load,
    pub(crate) gather: Gather,
    reduce: OnceLock<Reduce>,
    periodic: OnceLock<Periodic>,
    decide: OnceLock<Decide>,
    rows: OnceLock<OrderKernels>,
    neighbors: OnceLock<Neighbors>,
    walls: OnceLock<WallKernels>,
    dynamics: OnceLock<Dynamics>,
    rests: OnceLock<Rests>,
}

impl DeviceKernels {
    /// Must be called inside a wgpu error scope.
    pub(crate) fn new(context: Arc<Context>) -> Result<Self, Error> {
        let device = &context.device;
        Ok(Self {
            stages: Stages::new(device)?,
            load: Load::new(device)?,
            gather: Gather::new(device)?,
            reduce: OnceLock::new(),
            periodic: OnceLock::new(),
            decide: OnceLock::new(),
            rows: OnceLock::new(),
            neighbors: OnceLock::new(),
            walls: OnceLock::new(),
            dynamics: OnceLock::new(),
            rests: OnceLock::new(),
            trust: Arc::default(),
            context,
        })
    }

    pub(crate) fn binder(&self) -> Binder<'_> {
        Binder {
            device: &self.context.device,
            widest: self.context.limits.max_compute_workgroups_per_dimension,
        }
    }

    /// Like all optional kernels, compiled on the first call, which must be inside a wgpu
    /// error scope.
    pub(crate) fn reduce(&self) -> Result<&Reduce, Error> {
        self.compiled(&self.reduce, Reduce::new)
    }

    pub(crate) fn periodic(&self) -> Result<&Periodic, Error> {
        self.compiled(&self.periodic, Periodic::new)
    }

    pub(crate) fn decide(&self) -> Result<&Decide, Error> {
        self.compiled(&self.decide, Decide::new)
    }

    pub(crate) fn rows(&self) -> Result<&OrderKernels, Error> {
        self.compiled(&self.rows, OrderKernels::new)
    }

    pub(crate) fn neighbors(&self) -> Result<&Neighbors, Error> {
        self.compiled(&self.neighbors, Neighbors::new)
    }

    pub(crate) fn walls(&self) -> Result<&WallKernels, Error> {
        self.compiled(&self.walls, WallKernels::new)
    }

    pub(crate) fn dynamics(&self) -> Result<&Dynamics, Error> {
        self.compiled(&self.dynamics, Dynamics::new)
    }

    pub(crate) fn rests(&self) -> Result<&Rests, Error> {
        self.compiled(&self.rests, Rests::new)
    }

    fn compiled<'a, K>(
        &self,
        kernels: &'a OnceLock<K>,
        compile: fn(&wgpu::Device) -> Result<K, Error>,
    ) -> Result<&'a K, Error> {
        if let Some(compiled) = kernels.get() {
            return Ok(compiled);
        }
        let (context, device) = (&self.context, &self.context.device);
        let compiled = context.scoped_for(&context.shaders, || compile(device))?;
        Ok(kernels.get_or_init(|| compiled))
    }
}

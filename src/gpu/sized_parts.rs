//! The GPU buffers and stages of a world of spheres. They are made anew when its capacity changes.

use super::buffers::{Buffers, Capacity};
use super::device_kernels::DeviceKernels;
use super::neighbors::Neighbors;
use super::options::BufferOptions;
use super::reductions::{ReduceKernels, Reductions, Wanted};
use super::stages::Recording;
use crate::Error;

pub(super) struct SizedParts {
    pub(super) buffers: Buffers,
    pub(super) recording: Recording,
    pub(super) reductions: Reductions,
    pub(super) neighbors: Option<Neighbors>,
}

impl SizedParts {
    /// Makes a world's buffers and stages. Must be called inside a wgpu error scope.
    pub(super) fn new(
        kernels: &DeviceKernels,
        capacity: Capacity,
        options: &BufferOptions,
    ) -> Result<Self, Error> {
        let limits = &kernels.context.limits;
        let (wanted, periodic) = (options.wanted(), options.periodic);
        let buffers = Buffers::new(&kernels.context.device, limits, capacity, periodic)?;
        let binder = kernels.binder();
        let periodic = if periodic {
            Some(kernels.periodic()?)
        } else {
            None
        };
        let walls = if capacity.walls > 0 {
            Some(kernels.walls()?)
        } else {
            None
        };
        let mut recording = Recording::new(binder, &kernels.stages, periodic, walls, &buffers)?;
        let mut reductions = Reductions::default();
        if wanted != Wanted::default() {
            let reduce = kernels.reduce()?;
            let kernels = ReduceKernels {
                stages: &kernels.stages,
                reduce,
                walls,
            };
            reductions = Reductions::new(binder, kernels, &buffers, limits, wanted)?;
            recording.append(reductions.take_stages());
        }
        let neighbors = if options.neighbors {
            Some(Neighbors::new(kernels, &buffers, &recording, &reductions)?)
        } else {
            None
        };
        Ok(Self {
            buffers,
            recording,
            reductions,
            neighbors,
        })
    }
}

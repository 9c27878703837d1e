//! The GPU buffers and stages for a world of a given capacity. If the capacity changes, they are
//! made anew.

use std::sync::Arc;

use super::buffers::Buffers;
use super::neighbors::Neighbors;
use super::options::BufferOptions;
use super::reductions::{ReduceKernels, Reductions, Wanted};
use super::stages::{AtWalls, Recording};
use crate::Error;
use crate::gpu::device::device_kernels::DeviceKernels;

pub(crate) struct SizedParts {
    pub(crate) buffers: Buffers,
    pub(crate) recording: Recording,
    pub(crate) reductions: Reductions,
    pub(crate) neighbors: Option<Neighbors>,
}

impl SizedParts {
    /// Must be called inside a wgpu error scope.
    pub(crate) fn new(
        kernels: &Arc<DeviceKernels>,
        buffers: Buffers,
        mesh: Option<&Buffers>,
        options: &BufferOptions,
    ) -> Result<Self, Error> {
        let limits = &kernels.context.limits;
        let (wanted, periodic) = (options.wanted(), options.periodic);
        let binder = kernels.binder();
        let periodic = if periodic {
            Some(kernels.periodic()?)
        } else {
            None
        };
        let decide = if options.decided {
            Some(kernels.decide()?)
        } else {
            None
        };
        let rows = if options.rows {
            Some(kernels.rows()?)
        } else {
            None
        };
        let walls = if buffers.capacity.has_walls() {
            Some(kernels.walls()?)
        } else {
            None
        };
        let walls = walls.map(|kernels| AtWalls { kernels, mesh });
        let mut recording = Recording::new(
            binder,
            &kernels.stages,
            periodic,
            (decide, rows),
            walls,
            &buffers,
        )?;
        let mut reductions = Reductions::default();
        if wanted != Wanted::default() {
            let reduce = kernels.reduce()?;
            let kernels = ReduceKernels {
                stages: &kernels.stages,
                reduce,
                walls: walls.map(|walls| walls.kernels),
            };
            reductions = Reductions::new(binder, kernels, &buffers, limits, wanted)?;
            recording.append(reductions.take_stages(), reductions.take_cleared());
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

//! The GPU buffers and stages for a world of a given capacity. If the capacity changes, they are
//! made anew.

use std::sync::Arc;

use super::buffers::{BufferCapacity, Buffers};
use super::collision_buffers::CollisionBuffers;
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
    pub(crate) mesh: Option<Box<CollisionBuffers>>,
}

impl SizedParts {
    /// Makes a world's buffers and stages. Must be called inside a wgpu error scope.
    pub(crate) fn new(
        kernels: &Arc<DeviceKernels>,
        capacity: BufferCapacity,
        options: &BufferOptions,
    ) -> Result<Self, Error> {
        let limits = &kernels.context.limits;
        let (wanted, periodic) = (options.wanted(), options.periodic);
        let buffers = Buffers::new(
            &kernels.context.device,
            limits,
            capacity,
            periodic,
            options.decided,
        )?;
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
        let mut mesh = None;
        if capacity.triangles > 0 {
            let (own, capacity) = (mesh_options(options, capacity), mesh_capacity(capacity));
            let made = CollisionBuffers::new(kernels.clone(), own, capacity)?;
            mesh = Some(Box::new(made));
        }
        let mesh_buffers = mesh.as_ref().map(|mesh| &mesh.buffers);
        let walls = if capacity.has_walls() {
            Some(kernels.walls()?)
        } else {
            None
        };
        let walls = walls.map(|kernels| AtWalls {
            kernels,
            mesh: mesh_buffers,
        });
        let mut recording =
            Recording::new(binder, &kernels.stages, periodic, decide, walls, &buffers)?;
        let mut reductions = Reductions::default();
        if wanted != Wanted::default() {
            let reduce = kernels.reduce()?;
            let kernels = ReduceKernels {
                stages: &kernels.stages,
                reduce,
                walls: walls.map(|walls| walls.kernels),
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
            mesh,
        })
    }
}

/// Returns the options of the buffers in which spheres near triangles are sought.
fn mesh_options(options: &BufferOptions, capacity: BufferCapacity) -> BufferOptions {
    let spheres = (capacity.spheres + capacity.triangles).min(u64::from(u32::MAX));
    BufferOptions {
        recordings: options.recordings,
        max_candidates: options.max_candidates,
        periodic: options.periodic,
        // Bounding spheres that touch are only candidates.
        decided: false,
        ..BufferOptions::new(spheres as u32)
    }
}

fn mesh_capacity(capacity: BufferCapacity) -> BufferCapacity {
    BufferCapacity {
        spheres: capacity.spheres + capacity.triangles,
        segments: capacity.mesh_segments,
        pairs: capacity.mesh_pairs,
        walls: 0,
        triangles: 0,
        mesh_segments: 0,
        mesh_pairs: 0,
        wall_collisions: 0,
    }
}

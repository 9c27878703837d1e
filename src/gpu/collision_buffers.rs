//! GPU buffers and state of one world of spheres on a device.

use std::sync::Arc;

use super::buffers::{BufferCapacity, Buffers};
use super::decode::Recorded;
use super::device_kernels::DeviceKernels;
use super::gathering::Gathering;
use super::load::Loads;
use super::neighbors::Neighbors;
use super::options::BufferOptions;
use super::reductions::Reductions;
use super::sized_parts::SizedParts;
use super::stages::Recording;
use super::staging::Staging;
use super::summary::{Capacity, MeshCapacity};
use super::ticket::Known;
use super::timing::{StageTiming, TimedBy};
use super::upload::{Submitted, UploadRing};
use crate::limits::MAX_SPHERES;
use crate::reuse::ReusedVec;
use crate::{Error, Sphere};

/// Holds the GPU buffers of one world of spheres on the application's device, and records the
/// world's time steps. Created by
/// [`CollisionPipeline::create_buffers`](super::CollisionPipeline::create_buffers).
pub struct CollisionBuffers {
    pub(super) kernels: Arc<DeviceKernels>,
    pub(super) options: BufferOptions,
    pub(super) buffers: Buffers,
    pub(super) recording: Recording,
    pub(super) reductions: Reductions,
    pub(super) neighbors: Option<Neighbors>,
    /// The buffers of the search for spheres near triangles: a world of two sets, the spheres and the
    /// bounding spheres of the triangles. `None` without meshes.
    pub(super) mesh: Option<Box<CollisionBuffers>>,
    pub(super) outgrown: Option<Outgrown>,
    pub(super) timing: Option<StageTiming>,
    pub(super) uploads: UploadRing,
    /// Spheres of steps from main memory that are given by columns. The vector is kept from step to step, so that its
    /// memory is reused.
    pub(super) packed: ReusedVec<Sphere>,
    pub(super) loads: Loads,
    pub(super) staging: Staging,
    pub(super) gathering: Option<Gathering>,
    /// What is needed to read back the last recorded step. `None` before the first step. Also
    /// `None` after the buffers have grown, because the new buffers hold no results yet.
    pub(super) recorded: Option<Recorded>,
    pub(super) known: Known,
    /// Number of steps recorded so far, modulo 2³².
    pub(super) serial: u32,
    /// Lower bound on the distance that a sphere moves in one time segment, in the grids' unit of
    /// length.
    pub(super) shortest_segment: f32,
}

/// Result buffers that larger ones have replaced. They still hold the pairs of the last complete
/// step, and are kept until a submitted recording has copied these pairs to the new buffers.
pub(super) struct Outgrown {
    pub(super) reductions: Reductions,
    /// The recording that copies the pairs of the last complete step to the new buffers, or `None`
    /// if there is no such recording yet.
    pub(super) copied_by: Option<Submitted>,
}

impl std::fmt::Debug for CollisionBuffers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CollisionBuffers")
            .field("options", &self.options)
            .field("capacity", &self.capacity())
            .finish_non_exhaustive()
    }
}

impl CollisionBuffers {
    /// Creates a world's GPU buffers. Must be called inside a wgpu error scope.
    pub(super) fn new(
        kernels: Arc<DeviceKernels>,
        options: BufferOptions,
        capacity: BufferCapacity,
    ) -> Result<Self, Error> {
        check(&options)?;
        kernels.context.probe()?;
        let parts = SizedParts::new(&kernels, capacity, &options)?;
        let by = if options.kernel_times {
            TimedBy::Dispatch
        } else {
            TimedBy::Stage
        };
        let timing = StageTiming::new(&kernels.context.device, options.timestamp_period, by);
        Ok(Self {
            staging: Staging::new(options.recordings),
            kernels,
            options,
            buffers: parts.buffers,
            recording: parts.recording,
            reductions: parts.reductions,
            neighbors: parts.neighbors,
            mesh: parts.mesh,
            outgrown: None,
            timing,
            uploads: UploadRing::default(),
            packed: ReusedVec::default(),
            loads: Loads::default(),
            gathering: None,
            recorded: None,
            known: Known::default(),
            serial: 0,
            shortest_segment: f32::MIN_POSITIVE,
        })
    }

    /// Returns how many cells away from the periodic cell a sphere may be in the last recorded step,
    /// or `None` in open space.
    pub(super) fn most_cells(&self) -> Option<i32> {
        self.recorded.as_ref()?.most_cells
    }

    /// Returns the present capacities of the buffers. `images` is 0, because `segments` includes the
    /// room for images.
    pub fn capacity(&self) -> Capacity {
        let BufferCapacity {
            spheres,
            segments,
            pairs,
            wall_collisions,
            ..
        } = self.buffers.capacity;
        let of_mesh = |mesh: &Self| MeshCapacity {
            segments: mesh.buffers.capacity.segments,
            pairs: mesh.buffers.capacity.pairs,
            ..MeshCapacity::default()
        };
        Capacity {
            segments,
            pairs,
            wall_collisions,
            mesh: self
                .mesh
                .as_deref()
                .map_or_else(MeshCapacity::default, of_mesh),
            ..Capacity::for_spheres(spheres)
        }
    }
}

fn check(options: &BufferOptions) -> Result<(), Error> {
    for (what, capacity) in [
        ("spheres", options.spheres),
        ("recordings", options.recordings),
    ] {
        if capacity == 0 {
            return Err(Error::ZeroCapacity { what });
        }
    }
    if options.wall_collisions.is_some() && !options.capacity().has_walls() {
        return Err(Error::NotAskedFor { option: "walls" });
    }
    if options.kernel_times && options.timestamp_period.is_none() {
        return Err(Error::NotAskedFor {
            option: "timestamp_period",
        });
    }
    if options.neighbors && options.capacity().has_walls() {
        return Err(Error::Unsupported {
            what: "walls",
            place: "in buffers for neighbour lists (create further buffers for steps with walls)",
        });
    }
    if options.spheres as usize > MAX_SPHERES {
        return Err(Error::TooManySpheres {
            count: options.spheres as usize,
            limit: MAX_SPHERES,
        });
    }
    Ok(())
}

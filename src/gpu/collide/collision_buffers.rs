//! GPU buffers and state of one world of spheres on a device.

use std::sync::Arc;

use super::buffers::{BufferCapacity, Buffers};
use super::neighbors::Neighbors;
use super::options::BufferOptions;
use super::reductions::Reductions;
use super::sized_parts::SizedParts;
use super::stages::Recording;
use crate::gpu::device::context::Late;
use crate::gpu::device::device_kernels::DeviceKernels;
use crate::gpu::device::timing::{StageTiming, TimedBy};
use crate::gpu::input::load::Loads;
use crate::gpu::input::upload::{Submitted, UploadRing};
use crate::gpu::results::capacity::{Capacity, MeshCapacity};
use crate::gpu::results::decode::Recorded;
use crate::gpu::results::gathering::Gathering;
use crate::gpu::results::staging::Staging;
use crate::gpu::results::ticket::Known;
use crate::limits::MAX_SPHERES;
use crate::reuse::ReusedVec;
use crate::{Error, Sphere};

/// Holds the GPU buffers of one world of spheres on the application's device, and records the
/// world's time steps. Created by
/// [`CollisionPipeline::create_buffers`](crate::gpu::CollisionPipeline::create_buffers).
pub struct CollisionBuffers {
    pub(crate) kernels: Arc<DeviceKernels>,
    pub(crate) options: BufferOptions,
    pub(crate) buffers: Buffers,
    pub(crate) recording: Recording,
    pub(crate) reductions: Reductions,
    pub(crate) neighbors: Option<Neighbors>,
    /// A world of two sets, the spheres and the bounding spheres of the triangles. `None`
    /// without meshes.
    pub(crate) mesh: Option<Box<CollisionBuffers>>,
    pub(crate) outgrown: Option<Outgrown>,
    pub(crate) timing: Option<StageTiming>,
    pub(crate) uploads: UploadRing,
    /// Of a `Detector`, which checks them on the way.
    pub(crate) sphere_uploads: UploadRing,
    /// Spheres on the host that are given by columns.
    pub(crate) packed: ReusedVec<Sphere>,
    pub(crate) loads: Loads,
    pub(crate) staging: Staging,
    pub(crate) gathering: Option<Gathering>,
    /// `None` before the first step, and after the buffers have grown.
    pub(crate) recorded: Option<Recorded>,
    pub(crate) known: Known,
    /// Modulo 2³².
    pub(crate) serial: u32,
    /// Lower bound of the length of a time segment, in the grids' unit.
    pub(crate) shortest_segment: f32,
    /// Of these buffers.
    pub(crate) late: Late,
}

/// Replaced buffers with the pairs of the last complete step, kept until a submitted recording
/// has copied these.
pub(crate) struct Outgrown {
    pub(crate) reductions: Reductions,
    pub(crate) copied_by: Option<Submitted>,
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
    /// Must be called inside a wgpu error scope.
    pub(crate) fn new(
        kernels: Arc<DeviceKernels>,
        options: BufferOptions,
        capacity: BufferCapacity,
    ) -> Result<Self, Error> {
        check(&options)?;
        kernels.context.probe()?;
        let (parts, mesh) = Self::sized(&kernels, capacity, &options)?;
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
            mesh,
            outgrown: None,
            timing,
            uploads: UploadRing::default(),
            sphere_uploads: UploadRing::default(),
            packed: ReusedVec::default(),
            loads: Loads::default(),
            gathering: None,
            recorded: None,
            known: Known::default(),
            serial: 0,
            shortest_segment: f32::MIN_POSITIVE,
            late: Late::default(),
        })
    }

    /// Must be called inside a wgpu error scope.
    pub(crate) fn sized(
        kernels: &Arc<DeviceKernels>,
        capacity: BufferCapacity,
        options: &BufferOptions,
    ) -> Result<(SizedParts, Option<Box<Self>>), Error> {
        let context = &kernels.context;
        let buffers = Buffers::new(
            &context.device,
            &context.limits,
            capacity,
            options.periodic,
            options.decided,
            options.rows,
        )?;
        let mut mesh = None;
        if capacity.triangles > 0 {
            let (own, capacity) = (mesh_options(options, capacity), mesh_capacity(capacity));
            mesh = Some(Box::new(Self::new(kernels.clone(), own, capacity)?));
        }
        let of_mesh = mesh.as_ref().map(|mesh| &mesh.buffers);
        let parts = SizedParts::new(kernels, buffers, of_mesh, options)?;
        Ok((parts, mesh))
    }

    /// In the last recorded step, or `None` in open space.
    pub(crate) fn most_cells(&self) -> Option<i32> {
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

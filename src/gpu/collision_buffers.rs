//! One world on the application's device.

use std::sync::Arc;

use super::buffers::{Buffers, Capacity};
use super::decode::Recorded;
use super::device_kernels::DeviceKernels;
use super::gathering::Gathering;
use super::load::Loads;
use super::options::BufferOptions;
use super::reductions::Reductions;
use super::sized_parts::SizedParts;
use super::stages::Recording;
use super::staging::Staging;
use super::ticket::KnownPairs;
use super::timing::StageTiming;
use super::upload::{Submitted, UploadRing};
use crate::Error;
use crate::limits::MAX_SPHERES;

/// The buffers of one world on the application's device, and the recording of its
/// steps. Made by
/// [`CollisionPipeline::create_buffers`](super::CollisionPipeline::create_buffers).
pub struct CollisionBuffers {
    pub(super) kernels: Arc<DeviceKernels>,
    pub(super) options: BufferOptions,
    pub(super) buffers: Buffers,
    pub(super) recording: Recording,
    pub(super) reductions: Reductions,
    pub(super) outgrown: Option<Outgrown>,
    pub(super) timing: Option<StageTiming>,
    pub(super) uploads: UploadRing,
    pub(super) loads: Loads,
    pub(super) staging: Staging,
    pub(super) gathering: Option<Gathering>,
    /// The step that was recorded last, unless the buffers have grown since.
    pub(super) recorded: Option<Recorded>,
    pub(super) known_pairs: KnownPairs,
    /// The number of steps recorded, wrapping.
    pub(super) serial: u32,
    /// Segments are no shorter than this, in the units of the step.
    pub(super) shortest_segment: f32,
}

/// Reductions from before the last growth. They are kept until a submitted recording
/// has copied the pairs of the previous step from them.
pub(super) struct Outgrown {
    pub(super) reductions: Reductions,
    /// The recording that copies, once there is one.
    pub(super) copied_by: Option<Submitted>,
}

impl std::fmt::Debug for CollisionBuffers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CollisionBuffers")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl CollisionBuffers {
    /// To be called in an error scope.
    pub(super) fn new(
        kernels: Arc<DeviceKernels>,
        mut options: BufferOptions,
        capacity: Capacity,
    ) -> Result<Self, Error> {
        check(&options)?;
        kernels.context.probe()?;
        let parts = SizedParts::new(&kernels, capacity, options.wanted())?;
        let timing = StageTiming::new(&kernels.context.device, options.timestamp_period);
        options.set(capacity);
        Ok(Self {
            staging: Staging::new(options.recordings),
            kernels,
            options,
            buffers: parts.buffers,
            recording: parts.recording,
            reductions: parts.reductions,
            outgrown: None,
            timing,
            uploads: UploadRing::default(),
            loads: Loads::default(),
            gathering: None,
            recorded: None,
            known_pairs: KnownPairs::default(),
            serial: 0,
            shortest_segment: f32::MIN_POSITIVE,
        })
    }

    /// The options that the buffers were made with, with the capacities as they are
    /// now.
    pub fn options(&self) -> &BufferOptions {
        &self.options
    }
}

/// Refuses capacities of nothing, and of more spheres than an index can name.
fn check(options: &BufferOptions) -> Result<(), Error> {
    for (what, capacity) in [
        ("spheres", options.spheres),
        ("recordings", options.recordings),
    ] {
        if capacity == 0 {
            return Err(Error::ZeroCapacity { what });
        }
    }
    if options.spheres as usize > MAX_SPHERES {
        return Err(Error::TooManySpheres {
            count: options.spheres as usize,
            limit: MAX_SPHERES,
        });
    }
    Ok(())
}

//! Errors of the public API.

use crate::cause::Cause;
use crate::neighbors::MIN_CUTOFF;
use crate::sphere::MAX_MAGNITUDE;

/// An error of carom. Its message says what is wrong and what to do.
///
/// No pair is ever left out of a list silently: a call returns the complete list or an error.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A sphere has a value outside the range in which carom is exact.
    #[error(
        "sphere {index}{}: {field} is {value:?}, but must be {}; correct or remove this sphere",
        in_set(*.set),
        allowed(*.field)
    )]
    #[non_exhaustive]
    InvalidSphere {
        /// Index of the sphere in its slice, from 0.
        index: usize,
        /// Number of the sphere's set, 0 or 1, in a step of two sets
        /// ([`Step::between`](crate::Step::between)). `None` for a step of one set.
        set: Option<usize>,
        /// Field of the sphere whose value is out of range.
        field: Field,
        /// Value of the invalid field.
        value: f32,
    },
    /// The time step is negative, not a number, or too large.
    #[error("the time step dt is {dt}, but must be a finite number from 0 to {MAX_MAGNITUDE:e}")]
    #[non_exhaustive]
    InvalidTimeStep {
        /// Length of the step that was passed.
        dt: f32,
    },
    /// The cutoff or the skin of a neighbour search is negative, not a number, too small or too large.
    #[error(
        "the {what} is {length:?}, but must be 0 or a number from {MIN_CUTOFF:e} to \
         {MAX_MAGNITUDE:e}"
    )]
    #[non_exhaustive]
    InvalidCutoff {
        /// Whether the length is the cutoff or the skin.
        what: &'static str,
        /// Length that was passed.
        length: f32,
    },
    /// The domain has a number out of range, or its periodic edges span no cell.
    #[error("the domain is invalid: {problem}")]
    #[non_exhaustive]
    InvalidDomain {
        /// What is wrong with the domain, and what to do.
        problem: String,
    },
    /// A sphere lies too many cells outside a periodic domain, or crosses too many cells in one
    /// step.
    #[error(
        "sphere {index}{} passes more than {limit} cells away from the periodic domain; wrap its \
         position into the cell, shorten the time step, or enlarge the cell",
        in_set(*.set)
    )]
    #[non_exhaustive]
    ImageOutOfRange {
        /// Index of the sphere in its slice, from 0.
        index: usize,
        /// Number of the sphere's set, 0 or 1, in a step of two sets. `None` for one set.
        set: Option<usize>,
        /// Largest number of cells.
        limit: i32,
    },
    /// The spheres reach into so many cells of a periodic domain that their images exceed the
    /// memory that carom uses for them.
    #[error(
        "the spheres have {needed} images in the periodic cell, but the limit is {limit}; enlarge \
         the cell, shorten the time step, or use smaller spheres"
    )]
    #[non_exhaustive]
    TooManyImages {
        /// Number of images that reach into the cell.
        needed: u64,
        /// Largest number of images.
        limit: u64,
    },
    /// A list of pairs and the list of their images differ in length.
    #[error(
        "the list has {pairs} pairs, but {images} images; in a periodic domain pass one image for \
         each pair (`Collisions::images`), and none in open space"
    )]
    #[non_exhaustive]
    ImageCount {
        /// Number of pairs.
        pairs: usize,
        /// Number of images.
        images: usize,
    },
    /// A backend cannot do what the step requests.
    #[error("{what} are not available {place}; use a `Detector` with `Backend::Cpu`")]
    #[non_exhaustive]
    Unsupported {
        /// What the step requests.
        what: &'static str,
        /// Where it is not available.
        place: &'static str,
    },
    /// There are more spheres than an index of 30 bits can address.
    #[error("{count} spheres exceed the limit of {limit}; split the world into several steps")]
    #[non_exhaustive]
    TooManySpheres {
        /// Number of spheres that were passed.
        count: usize,
        /// Largest number of spheres: 2³⁰.
        limit: usize,
    },
    /// The spheres are so crowded that testing all candidate pairs would take too long. No
    /// candidate was tested.
    #[error(
        "this step needs {needed} candidate pairs to be tested, but the limit is {limit}; spread \
         the spheres out, shorten the time step, or raise `Options::max_candidates` or \
         `BufferOptions::max_candidates`"
    )]
    #[non_exhaustive]
    TooManyCandidates {
        /// Number of candidate pairs.
        needed: u64,
        /// Value of [`Options::max_candidates`](crate::Options::max_candidates) or of
        /// `gpu::BufferOptions::max_candidates`.
        limit: u64,
    },
    /// More pairs touch than the list of collisions may hold.
    #[error(
        "{needed} pairs were found, but the limit is {limit}; spread the spheres out, shorten the \
         time step, or raise `Options::max_pairs` if there is memory for 64 bytes per pair"
    )]
    #[non_exhaustive]
    TooManyPairs {
        /// Number of pairs found. It may count a pair several times, and include pairs that nearly
        /// touch.
        needed: u64,
        /// Value of [`Options::max_pairs`](crate::Options::max_pairs).
        limit: u64,
    },
    /// A buffer would exceed a limit of the graphics device.
    #[error(
        "{needed} bytes are needed for {what}, but the device's limit {limit} is {available} \
         bytes; use a device with higher limits, use fewer spheres per step, or use a `Detector` \
         with `Backend::Cpu` or `Backend::Auto`"
    )]
    #[non_exhaustive]
    DeviceLimit {
        /// Purpose of the buffer, for the message.
        what: &'static str,
        /// Name of the limit in `wgpu::Limits`.
        limit: &'static str,
        /// Number of bytes that the buffer needs.
        needed: u64,
        /// Number of bytes that the device's limit allows.
        available: u64,
    },
    /// An allocation of main memory failed.
    #[error(
        "out of memory: {needed} bytes for {what} could not be allocated; use fewer spheres per \
         step"
    )]
    #[non_exhaustive]
    OutOfMemory {
        /// Purpose of the memory, for the message.
        what: &'static str,
        /// Number of bytes that could not be allocated.
        needed: u64,
    },
    /// The requested backend needs a feature of the crate that is not enabled.
    #[error(
        "carom was built without its feature `{feature}`; enable it in Cargo.toml, or use \
         `Backend::Cpu`"
    )]
    #[non_exhaustive]
    FeatureDisabled {
        /// Name of the feature that must be enabled.
        feature: &'static str,
    },
    /// wgpu found no suitable graphics adapter, in hardware or in software.
    #[error(
        "no graphics adapter was found ({reason}); install a Vulkan, Metal or DX12 driver (on \
         Debian and Ubuntu `apt-get install libvulkan1 mesa-vulkan-drivers` installs a software \
         driver), or use `Backend::Cpu`"
    )]
    #[non_exhaustive]
    NoAdapter {
        /// Why no graphics adapter is suitable.
        reason: String,
        /// The error of wgpu, if there is one.
        source: Option<Cause>,
    },
    /// The graphics device or its driver reported an error.
    #[error(
        "the graphics device failed: {reason}; try again on a new device, or use a `Detector` \
         with `Backend::Cpu`"
    )]
    #[non_exhaustive]
    Device {
        /// Description of the failure.
        reason: String,
        /// The error of wgpu, if there is one. `reason` contains its text.
        source: Option<Cause>,
    },
    /// The device is lost: its driver was reset, or the application destroyed the device.
    #[error(
        "the graphics device is lost; create a new device, and a new `CollisionPipeline` and new \
         `CollisionBuffers` on it, or create a new `Detector`"
    )]
    DeviceLost,
    /// The limits of the application's graphics device are too low for carom's shaders.
    #[error(
        "the device's limit {limit} is {available}, but carom needs at least {needed}; request \
         the device with `wgpu::Limits::default()` or higher limits"
    )]
    #[non_exhaustive]
    DeviceTooSmall {
        /// Name of the limit in `wgpu::Limits`.
        limit: &'static str,
        /// Smallest value of the limit that suffices for carom.
        needed: u64,
        /// Value of the limit with which the device was created.
        available: u64,
    },
    /// A capacity in `gpu::BufferOptions` is 0.
    #[error("the capacity for {what} is 0; set it to the largest number expected, at least 1")]
    #[non_exhaustive]
    ZeroCapacity {
        /// What the capacity is for: spheres or recordings.
        what: &'static str,
    },
    /// A step has more spheres than the buffers hold.
    #[error(
        "the step has up to {needed} spheres, but the buffers were made for {capacity}; call \
         `CollisionBuffers::grow` with `RequiredCapacity::for_spheres({needed})` first"
    )]
    #[non_exhaustive]
    OverCapacity {
        /// Largest number of spheres that the step may have, of both sets together.
        needed: u64,
        /// Number of spheres that the buffers hold.
        capacity: u64,
    },
    /// A readback was requested, but no step was recorded since the buffers were created or grew.
    #[error("there are no results to read; call `CollisionBuffers::record` first")]
    NothingRecorded,
    /// Too many recordings, or readbacks, are in flight at a time. `gpu::BufferOptions` sets the
    /// limit.
    #[error(
        "the number of {what} in flight has reached the limit of {limit}; submit their encoders, \
         let the device finish some (`device.poll`, or the next submission), take or drop \
         finished tickets, or raise `BufferOptions::recordings`"
    )]
    #[non_exhaustive]
    TooManyInFlight {
        /// What is in flight: recordings or readbacks.
        what: &'static str,
        /// Largest number that may be in flight at a time.
        limit: u32,
    },
    /// carom cannot read one of the application's buffers as the step requests.
    #[error("the buffer with the {what} {problem}")]
    #[non_exhaustive]
    SourceBuffer {
        /// Content of the buffer, for example the radii of the spheres.
        what: &'static str,
        /// What is wrong with the buffer, and what to do.
        problem: String,
        /// The error of wgpu, if there is one. `problem` contains its text.
        source: Option<Cause>,
    },
    /// Reading a reduction (such as the contacts of each sphere) was requested, but the buffers
    /// were created without it.
    #[error(
        "these results are not computed; set `BufferOptions::{option}` when you create the buffers"
    )]
    #[non_exhaustive]
    NotAskedFor {
        /// The field of `gpu::BufferOptions` that enables the reduction.
        option: &'static str,
    },
    /// The results of a readback were never computed: the encoder of its step was dropped, or the
    /// submission failed.
    #[error(
        "the results of this step were never computed: its encoder was not submitted, or the \
         submission failed; record the step again"
    )]
    NotSubmitted,
    /// A thread could not be started: one of [`Options::threads`](crate::Options::threads), or one
    /// that carom needs to wait for these threads or for a GPU.
    #[error("a thread could not be started: {source}; use fewer threads (`Options::threads`)")]
    #[non_exhaustive]
    Threads {
        /// The error of rayon or of the operating system.
        source: Cause,
    },
}

impl Error {
    pub(crate) fn device(reason: impl Into<String>) -> Self {
        Self::Device {
            reason: reason.into(),
            source: None,
        }
    }

    #[cfg(feature = "gpu")]
    pub(crate) fn device_failed(error: impl OfWgpu) -> Self {
        Self::Device {
            reason: error.to_string(),
            source: cause(error),
        }
    }

    #[cfg(feature = "gpu")]
    pub(crate) fn no_adapter(reason: impl Into<String>) -> Self {
        Self::NoAdapter {
            reason: reason.into(),
            source: None,
        }
    }

    pub(crate) fn threads(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Threads {
            source: Cause::new(error),
        }
    }
}

/// An error of wgpu. In a browser, wgpu's errors need not be `Send` or `Sync`.
#[cfg(feature = "gpu")]
pub(crate) trait OfWgpu: std::error::Error + wgpu::WasmNotSendSync + 'static {}

#[cfg(feature = "gpu")]
impl<E: std::error::Error + wgpu::WasmNotSendSync + 'static> OfWgpu for E {}

#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
#[allow(clippy::unnecessary_wraps, reason = "always `None` on the web")]
fn cause(error: impl OfWgpu) -> Option<Cause> {
    Some(Cause::new(error))
}

/// Returns `None`, because a [`Cause`] must be `Send`, and in a browser wgpu's errors need not be.
#[cfg(all(feature = "gpu", target_arch = "wasm32"))]
fn cause(_error: impl OfWgpu) -> Option<Cause> {
    None
}

/// A number of a [`Sphere`](crate::Sphere) that carom checks. Axes x, y and z have the indices 0, 1
/// and 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// Coordinate of the centre along an axis.
    Center(usize),
    /// Radius.
    Radius,
    /// Component of the velocity along an axis.
    Velocity(usize),
    /// Component of the displacement (velocity times dt) along an axis.
    Displacement(usize),
}

impl std::fmt::Display for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (name, axis) = match *self {
            Self::Radius => return f.write_str("radius"),
            Self::Center(axis) => ("center", axis),
            Self::Velocity(axis) | Self::Displacement(axis) => ("velocity", axis),
        };
        write!(f, "{name}.{}", ["x", "y", "z"].get(axis).unwrap_or(&"?"))?;
        if matches!(self, Self::Displacement(_)) {
            f.write_str(" * dt")
        } else {
            Ok(())
        }
    }
}

fn in_set(set: Option<usize>) -> &'static str {
    match set {
        None => "",
        Some(0) => " of the first set",
        Some(_) => " of the second set",
    }
}

fn allowed(field: Field) -> String {
    match field {
        Field::Radius => format!("a finite number from 0 to {MAX_MAGNITUDE:e}"),
        _ => format!("a finite number of magnitude at most {MAX_MAGNITUDE:e}"),
    }
}

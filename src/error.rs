//! What can go wrong, and what to do about it.

use crate::cause::Cause;
use crate::sphere::MAX_MAGNITUDE;

/// Why a list of collisions could not be made. Nothing is ever left out of a
/// list silently: there is a whole list, or one of these.
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
        /// Position in the slice it came in, from 0.
        index: usize,
        /// Which of the two sets of [`Step::between`](crate::Step::between): 0 or 1.
        /// `None` for a step of one set.
        set: Option<usize>,
        /// The field that is wrong.
        field: Field,
        /// What stood there.
        value: f32,
    },
    /// The time step is negative, not a number, or too large.
    #[error("the time step dt is {dt}, but must be a finite number from 0 to {MAX_MAGNITUDE:e}")]
    #[non_exhaustive]
    InvalidTimeStep {
        /// What was given.
        dt: f32,
    },
    /// More spheres than an index of 30 bits can name.
    #[error("{count} spheres are more than the {limit} that can be told apart; split the world")]
    #[non_exhaustive]
    TooManySpheres {
        /// How many were given.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// The spheres are so crowded that testing them would take very long. Told
    /// before the work is begun.
    #[error(
        "{needed} candidate pairs would have to be tested, but the limit is {limit}; spread the \
         spheres out, shorten the time step, or raise `max_candidates` of the `Options` or the \
         `BufferOptions`"
    )]
    #[non_exhaustive]
    TooManyCandidates {
        /// How many there are.
        needed: u64,
        /// [`Options::max_candidates`](crate::Options::max_candidates).
        limit: u64,
    },
    /// More spheres touch than a list is allowed to hold.
    #[error(
        "{needed} pairs touch, but the limit is {limit}; spread the spheres out, shorten the time \
         step, or raise `Options::max_pairs` if there is memory for 64 bytes a pair"
    )]
    #[non_exhaustive]
    TooManyPairs {
        /// How many there are, some of them perhaps counted twice.
        needed: u64,
        /// [`Options::max_pairs`](crate::Options::max_pairs).
        limit: u64,
    },
    /// The device cannot hold what the world needs.
    #[error(
        "{what} needs {needed} bytes, but the device's {limit} is {available} bytes; use a device \
         with larger limits, fewer spheres at a time, or with a `Detector` `Backend::Cpu` or \
         `Backend::Auto`"
    )]
    #[non_exhaustive]
    DeviceLimit {
        /// What was to be held.
        what: &'static str,
        /// The limit, by its name in `wgpu::Limits`.
        limit: &'static str,
        /// How many bytes are needed.
        needed: u64,
        /// How many bytes the limit allows.
        available: u64,
    },
    /// The main memory cannot hold what the world needs.
    #[error(
        "{what} needs {needed} bytes of memory, and the system has not that much to give; use \
         fewer spheres at a time"
    )]
    #[non_exhaustive]
    OutOfMemory {
        /// What was to be held.
        what: &'static str,
        /// How many bytes are needed.
        needed: u64,
    },
    /// carom was built without something that was asked for.
    #[error(
        "carom was built without its feature `{feature}`; turn it on in Cargo.toml, or use \
         `Backend::Cpu`"
    )]
    #[non_exhaustive]
    FeatureDisabled {
        /// The feature of the crate.
        feature: &'static str,
    },
    /// There is no GPU, nor a software one, that wgpu can use.
    #[error(
        "no graphics adapter was found ({reason}); install a Vulkan, Metal or DX12 driver (on Debian \
         and Ubuntu `apt-get install libvulkan1 mesa-vulkan-drivers` gives a software one), or use \
         `Backend::Cpu`"
    )]
    #[non_exhaustive]
    NoAdapter {
        /// What was found instead.
        reason: String,
        /// The error of wgpu, if there was one.
        source: Option<Cause>,
    },
    /// The GPU's driver refused or failed.
    #[error(
        "the graphics device failed: {reason}; try again on a new device, or with a `Detector` use \
         `Backend::Cpu`"
    )]
    #[non_exhaustive]
    Device {
        /// What happened.
        reason: String,
        /// The error of wgpu, if there was one; its text is part of `reason`.
        source: Option<Cause>,
    },
    /// The device has been lost: a driver was reset, or the application destroyed it.
    #[error(
        "the graphics device is lost; make a new device, and a new `CollisionPipeline` and \
         `CollisionBuffers` on it, or a new `Detector`"
    )]
    DeviceLost,
    /// The device that the application made does not allow what carom's shaders
    /// need.
    #[error(
        "the device's limit {limit} is {available}, but carom needs {needed}; request the device \
         with `wgpu::Limits::default()` or better"
    )]
    #[non_exhaustive]
    DeviceTooSmall {
        /// The limit, by its name in `wgpu::Limits`.
        limit: &'static str,
        /// What it has to be at least.
        needed: u64,
        /// What it is.
        available: u64,
    },
    /// Buffers were asked for that hold nothing.
    #[error("the capacity for {what} is 0; give how many there may be at most, from 1 up")]
    #[non_exhaustive]
    ZeroCapacity {
        /// Of what.
        what: &'static str,
    },
    /// A source has more spheres than the buffers hold.
    #[error(
        "the source has up to {needed} spheres, but the buffers were made for {capacity}; call \
         `CollisionBuffers::grow` with `RequiredCapacity::for_spheres({needed})` first"
    )]
    #[non_exhaustive]
    OverCapacity {
        /// How many there may be.
        needed: u64,
        /// How many fit.
        capacity: u64,
    },
    /// Results were to be read before a step was recorded, or before one was recorded
    /// into buffers that have grown.
    #[error("there are no results to read; call `CollisionBuffers::record` first")]
    NothingRecorded,
    /// More recordings, or readbacks, than there is room for are under way.
    #[error(
        "{limit} {what} are under way already; submit their encoders, let the device finish some \
         (`device.poll`, or the next submit), or raise `BufferOptions::recordings`"
    )]
    #[non_exhaustive]
    TooManyInFlight {
        /// Recordings or readbacks.
        what: &'static str,
        /// How many there may be.
        limit: u32,
    },
    /// One of the application's buffers cannot be read as it was said.
    #[error("the buffer with the {what} {problem}")]
    #[non_exhaustive]
    SourceBuffer {
        /// What it holds.
        what: &'static str,
        /// What is wrong with it, and what to do.
        problem: String,
        /// The error of wgpu, if there was one; its text is part of `problem`.
        source: Option<Cause>,
    },
    /// Results were asked for that the buffers were not made to keep.
    #[error("there are no such results: set `BufferOptions::{option}` when the buffers are made")]
    #[non_exhaustive]
    NotAskedFor {
        /// What would have brought them, a field of
        /// `gpu::BufferOptions`.
        option: &'static str,
    },
    /// The step whose results were asked for never ran: its encoder was dropped, or
    /// its submit failed.
    #[error(
        "the results of this step were never computed: its encoder was not submitted, or the \
         submit failed; record the step again"
    )]
    NotSubmitted,
    /// The thread pool could not be made, or the thread that waits for it in a task of another
    /// ([`Options::threads`](crate::Options::threads)).
    #[error("a thread could not be started: {source}; ask for fewer threads")]
    #[non_exhaustive]
    Threads {
        /// The error of rayon or of the system.
        source: Cause,
    },
}

impl Error {
    /// A failure of the device that carom found itself.
    pub(crate) fn device(reason: impl Into<String>) -> Self {
        Self::Device {
            reason: reason.into(),
            source: None,
        }
    }

    /// A failure of the device that wgpu reported.
    #[cfg(feature = "gpu")]
    pub(crate) fn device_failed(error: impl OfWgpu) -> Self {
        Self::Device {
            reason: error.to_string(),
            source: cause(error),
        }
    }

    /// No adapter, for a reason that carom found itself.
    #[cfg(feature = "gpu")]
    pub(crate) fn no_adapter(reason: impl Into<String>) -> Self {
        Self::NoAdapter {
            reason: reason.into(),
            source: None,
        }
    }

    /// A thread that could not be started.
    pub(crate) fn threads(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Threads {
            source: Cause::new(error),
        }
    }
}

/// An error of wgpu, which on the web may not leave its thread.
#[cfg(feature = "gpu")]
pub(crate) trait OfWgpu: std::error::Error + wgpu::WasmNotSendSync + 'static {}

#[cfg(feature = "gpu")]
impl<E: std::error::Error + wgpu::WasmNotSendSync + 'static> OfWgpu for E {}

#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
#[allow(clippy::unnecessary_wraps, reason = "there is none on the web")]
fn cause(error: impl OfWgpu) -> Option<Cause> {
    Some(Cause::new(error))
}

#[cfg(all(feature = "gpu", target_arch = "wasm32"))]
fn cause(_error: impl OfWgpu) -> Option<Cause> {
    None
}

/// One number of a [`Sphere`](crate::Sphere).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// Coordinate of the centre: x, y, z by 0, 1, 2.
    Center(usize),
    /// Radius.
    Radius,
    /// Component of the velocity: x, y, z by 0, 1, 2.
    Velocity(usize),
    /// Component of the velocity times dt.
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

//! Errors of the public API.

use std::fmt;

use crate::cause::Cause;

/// An error of carom. The message says what is wrong and what to do.
///
/// A call returns either the complete list of pairs or an error, never an incomplete list.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A sphere has a number that is NaN or out of range: too large, or negative for a radius.
    #[error(
        "sphere {index}{}: {field} is {:?}, but must be {}; correct or remove this sphere",
        in_set(*.set),
        Shortest(*.value),
        allowed(*.field, *.limit)
    )]
    #[non_exhaustive]
    InvalidSphere {
        /// Index of the invalid sphere in its slice, from 0.
        index: usize,
        /// Set of the sphere in a step of two sets
        /// ([`Step::between`](crate::Step::between)): 0 or 1, otherwise `None`.
        set: Option<usize>,
        /// Field of the sphere that has the invalid number.
        field: Field,
        /// The invalid number, which is a float32 in a step of float32.
        value: f64,
        /// Largest magnitude of a number in such a step.
        limit: f64,
    },
    /// The columns of a set of spheres differ in length.
    #[error(
        "the column of the {what}{} has {length} values, but there are {spheres} centers; pass one \
         value for each sphere{}",
        in_set(*.set),
        or_constant(what)
    )]
    #[non_exhaustive]
    ColumnLength {
        /// Attribute of the spheres whose column has the wrong length: radii, velocities or groups.
        what: &'static str,
        /// Set of the spheres in a step of two sets
        /// ([`Step::between`](crate::Step::between)): 0 or 1, otherwise `None`.
        set: Option<usize>,
        /// Number of values in the column.
        length: usize,
        /// Number of spheres: the number of centres.
        spheres: usize,
    },
    /// A column does not fit into its memory: see [`Column::from_bytes`](crate::Column::from_bytes) and
    /// [`Column::of`](crate::Column::of).
    #[error("the column {problem}")]
    #[non_exhaustive]
    InvalidColumn {
        /// The fault, and what to do.
        problem: String,
    },
    /// The duration of the time step is negative, NaN, or too large.
    #[error(
        "the time step dt is {}, but must be a finite number from 0 to {:e}",
        Shortest(*.dt),
        Shortest(*.limit)
    )]
    #[non_exhaustive]
    InvalidTimeStep {
        /// The invalid duration, which is a float32 in a step of float32.
        dt: f64,
        /// Largest duration.
        limit: f64,
    },
    /// The cutoff or the skin of a neighbour search is negative, not a number, too small or too large.
    #[error(
        "the {what} is {:?}, but must be 0 or a number from {:e} to {:e}",
        Shortest(*.length),
        Shortest(*.least),
        Shortest(*.limit)
    )]
    #[non_exhaustive]
    InvalidCutoff {
        /// Name of the invalid length: cutoff or skin.
        what: &'static str,
        /// The invalid length, which is a float32 in a search of float32.
        length: f64,
        /// Smallest length that is not 0.
        least: f64,
        /// Largest length.
        limit: f64,
    },
    /// A periodic domain has a number out of range, or its edges span no volume, area or length.
    #[error("the domain is invalid: {problem}")]
    #[non_exhaustive]
    InvalidDomain {
        /// The fault, and what to do.
        problem: String,
    },
    /// A wall has a number out of range, has no direction, or does not repeat with the periodic domain.
    #[error("wall {wall} is invalid: {problem}")]
    #[non_exhaustive]
    InvalidWall {
        /// Number of the wall in [`Walls`](crate::Walls), from 0.
        wall: usize,
        /// The fault, and what to do.
        problem: String,
    },
    /// A triangle of a mesh has an index or a coordinate out of range, or no area.
    #[error("triangle {triangle} of the mesh is invalid: {problem}")]
    #[non_exhaustive]
    InvalidTriangle {
        /// Index of the triangle in its mesh, from 0.
        triangle: usize,
        /// The fault, and what to do.
        problem: String,
    },
    /// A sphere lies too many cells outside a periodic domain, or crosses too many cells of the domain in one
    /// time step.
    #[error(
        "sphere {index}{} passes more than {limit} cells away from the periodic domain; wrap its \
         position into the cell, shorten the time step, or enlarge the cell",
        in_set(*.set)
    )]
    #[non_exhaustive]
    ImageOutOfRange {
        /// Index of the sphere in its slice, from 0.
        index: usize,
        /// Set of the sphere in a step of two sets: 0 or 1, otherwise `None`.
        set: Option<usize>,
        /// Largest allowed distance between a sphere and the periodic domain, in cells of the domain.
        limit: i32,
    },
    /// The spheres of a periodic domain have too many images that reach into its cell.
    #[error(
        "the spheres have {needed} images in the periodic cell, but the limit is {limit}; enlarge \
         the cell, shorten the time step, or use smaller spheres or a smaller cutoff"
    )]
    #[non_exhaustive]
    TooManyImages {
        /// Number of images that reach into the cell.
        needed: u64,
        /// Largest number of images in a step.
        limit: u64,
    },
    /// A list of pairs and the list of their images differ in length.
    #[error(
        "the list has {pairs} pairs, but {images} images; in a periodic domain pass one image for \
         each pair (`Hits::with_images`), and none in open space"
    )]
    #[non_exhaustive]
    ImageCount {
        /// Length of the list of pairs.
        pairs: usize,
        /// Length of the list of images.
        images: usize,
    },
    /// A sphere of a simulation has a number out of range, such as a mass of 0, or may move out of range.
    #[error("sphere {index} of the simulation is invalid: {problem}")]
    #[non_exhaustive]
    InvalidHardSphere {
        /// Index of the sphere, from 0.
        index: usize,
        /// The fault, with the allowed range.
        problem: String,
    },
    /// An option of a simulation or the duration of its step is out of range.
    #[error("the simulation is invalid: {problem}")]
    #[non_exhaustive]
    InvalidSimulation {
        /// The fault, with the allowed range.
        problem: String,
    },
    /// A snapshot of a simulation cannot be read: see [`Simulation`](crate::Simulation), "Saving".
    #[error("the snapshot of a simulation is invalid: {problem}")]
    #[non_exhaustive]
    InvalidSnapshot {
        /// Description of the fault in the snapshot, with advice.
        problem: String,
    },
    /// A sphere, or a group of spheres, has more impacts in one substep of a simulation than the simulation's
    /// options allow.
    #[error(
        "sphere {sphere}, alone or together with others, has more than {limit} impacts in one \
         substep, as if inelastic spheres collapsed, or walls left too little room; set a contact \
         time (`SimulationOptions::with_contact_time`), leave more room, or raise \
         `SimulationOptions::with_max_impacts`"
    )]
    #[non_exhaustive]
    TooManyImpacts {
        /// Index, from 0, of the sphere that has the last of these impacts.
        sphere: usize,
        /// Largest number of impacts of one sphere in a substep:
        /// [`SimulationOptions::with_max_impacts`](crate::SimulationOptions::with_max_impacts).
        limit: u32,
    },
    /// The overlapping spheres of a simulation could not be moved apart, in the space that
    /// there is or in the passes that the caller allowed.
    #[error(
        "spheres still overlap after {passes} passes: sphere {sphere} by {depth:?}; allow more \
         passes, use smaller spheres, or give them more space"
    )]
    #[non_exhaustive]
    StillOverlapping {
        /// Number of passes that were made.
        passes: u32,
        /// Index of a sphere in the deepest overlap, from 0.
        sphere: usize,
        /// Depth of the deepest overlap.
        depth: f64,
    },
    /// The backend (CPU or GPU) does not support a feature that the step needs.
    #[error("{what} are not available {place}; use a `Detector` with `Backend::Cpu`")]
    #[non_exhaustive]
    Unsupported {
        /// Name of the unsupported feature.
        what: &'static str,
        /// Place where the feature is unsupported, such as the GPU.
        place: &'static str,
    },
    /// A step has more than 2³⁰ spheres.
    #[error("{count} spheres exceed the limit of {limit}; split the world into several steps")]
    #[non_exhaustive]
    TooManySpheres {
        /// Number of spheres that the caller passed.
        count: usize,
        /// Largest number of spheres: 2³⁰.
        limit: usize,
    },
    /// The spheres are so crowded that testing all candidate pairs would take too long. None was tested.
    #[error(
        "this step needs {needed} candidate pairs to be tested, but the limit is {limit}; spread \
         the spheres out, shorten the time step, or raise `Options::with_max_candidates` or \
         `BufferOptions::with_max_candidates`"
    )]
    #[non_exhaustive]
    TooManyCandidates {
        /// Number of candidate pairs to test.
        needed: u64,
        /// Limit of candidate pairs: [`Options::with_max_candidates`](crate::Options::with_max_candidates) or
        /// `gpu::BufferOptions::with_max_candidates`.
        limit: u64,
    },
    /// More pairs of spheres touch than [`Options::with_max_pairs`](crate::Options::with_max_pairs) allows.
    #[error(
        "{needed} pairs were found, but the limit is {limit}; spread the spheres out, shorten the \
         time step, or raise `Options::with_max_pairs` if there is memory for 64 bytes per pair (160 in a \
         neighbour list)"
    )]
    #[non_exhaustive]
    TooManyPairs {
        /// Number of pairs found. It may count a pair several times, and include pairs that nearly touch.
        needed: u64,
        /// See [`Options::with_max_pairs`](crate::Options::with_max_pairs).
        limit: u64,
    },
    /// A buffer would be larger than a limit of the graphics device allows.
    #[error(
        "{needed} bytes are needed for {what}, but the device's limit {limit} is {available} \
         bytes; request a device with a higher limit (`wgpu::DeviceDescriptor::required_limits`, up to \
         the limits of its adapter), use fewer spheres, use a `Detector` with `Backend::Cpu` or \
         `Backend::Auto`, or a `Simulation` instead of `SimulationBuffers`"
    )]
    #[non_exhaustive]
    DeviceLimit {
        /// Purpose of the buffer.
        what: &'static str,
        /// Name of the device limit in `wgpu::Limits`.
        limit: &'static str,
        /// Size of the buffer, in bytes.
        needed: u64,
        /// What the device allows, in bytes.
        available: u64,
    },
    /// An allocation of main memory failed.
    #[error(
        "out of memory: {needed} bytes for {what} could not be allocated; use fewer spheres per \
         step"
    )]
    #[non_exhaustive]
    OutOfMemory {
        /// Purpose of the memory.
        what: &'static str,
        /// Size of the failed allocation, in bytes.
        needed: u64,
    },
    /// The requested backend needs a Cargo feature of carom that is not enabled.
    #[error(
        "carom was built without its feature `{feature}`; enable it in Cargo.toml, or use \
         `Backend::Cpu`"
    )]
    #[non_exhaustive]
    FeatureDisabled {
        /// The feature of carom that is not enabled, as in Cargo.toml.
        feature: &'static str,
    },
    /// wgpu found no suitable graphics adapter: no GPU, and no software adapter where one is allowed.
    #[error(
        "no graphics adapter was found ({reason}); install a Vulkan, Metal or DX12 driver (on \
         Debian and Ubuntu `apt-get install libvulkan1 mesa-vulkan-drivers` installs a software \
         driver), or use `Backend::Cpu`"
    )]
    #[non_exhaustive]
    NoAdapter {
        /// Reason why no graphics adapter is suitable.
        reason: String,
        /// The error of wgpu that caused this error, if any.
        source: Option<Cause>,
    },
    /// The graphics device or its driver reported an error.
    #[error(
        "the graphics device failed: {reason}; try again on a new device, or use a `Detector` \
         with `Backend::Cpu`"
    )]
    #[non_exhaustive]
    Device {
        /// Description of the device failure.
        reason: String,
        /// The error of wgpu that caused this error, if any. `reason` contains its text.
        source: Option<Cause>,
    },
    /// The graphics device is lost: its driver was reset, or the application destroyed the device.
    #[error(
        "the graphics device is lost; create a new device, and a new `CollisionPipeline` and new \
         `CollisionBuffers` on it, or create a new `Detector`"
    )]
    DeviceLost,
    /// A limit of the application's graphics device is too low for carom's shaders.
    #[error(
        "the device's limit {limit} is {available}, but carom needs at least {needed}; request \
         the device with `wgpu::Limits::default()` or higher limits"
    )]
    #[non_exhaustive]
    DeviceTooSmall {
        /// Name of the device limit in `wgpu::Limits`.
        limit: &'static str,
        /// Least value that carom needs.
        needed: u64,
        /// Value that the device has.
        available: u64,
    },
    /// A capacity in `gpu::BufferOptions` or `gpu::SimulationBufferOptions` is 0.
    #[error("the capacity for {what} is 0; set it to the largest number expected, at least 1")]
    #[non_exhaustive]
    ZeroCapacity {
        /// Name of the option that is 0, such as `spheres` or `recordings`.
        what: &'static str,
    },
    /// A time step has more spheres than the buffers can hold.
    #[error(
        "the step has up to {needed} spheres, but the buffers were made for {capacity}; call \
         `CollisionBuffers::grow` with `Capacity::for_spheres({needed})` first"
    )]
    #[non_exhaustive]
    OverCapacity {
        /// Number of spheres that the step may have, in both sets together.
        needed: u64,
        /// Number of spheres that the buffers can hold.
        capacity: u64,
    },
    /// A time step has more walls than the buffers can hold.
    #[error(
        "the step has {needed} {what}, but the buffers were made for {capacity}; create them with \
         `BufferOptions::with_{what}` at least {needed}"
    )]
    #[non_exhaustive]
    TooManyWalls {
        /// Kind of the walls that exceed the capacity: walls of simple shapes, or triangles.
        what: &'static str,
        /// Number of walls of the step.
        needed: u64,
        /// Number of walls that the buffers can hold.
        capacity: u64,
    },
    /// A readback was requested before any step was recorded into the current buffers.
    #[error(
        "there are no results to read; call `CollisionBuffers::record` or `SimulationBuffers::record` first"
    )]
    NothingRecorded,
    /// Too many recordings, or too many readbacks, are unfinished at once. The options of the buffers set the
    /// limit.
    #[error(
        "the number of {what} in flight has reached the limit of {limit}; submit their encoders, \
         let the device finish some (`device.poll`, or the next submission), take or drop \
         finished tickets, or raise `BufferOptions::with_recordings` or \
         `SimulationBufferOptions::with_recordings`"
    )]
    #[non_exhaustive]
    TooManyInFlight {
        /// Name of the work that has reached its limit: `recordings` or `readbacks`.
        what: &'static str,
        /// Largest number that may be unfinished at once.
        limit: u32,
    },
    /// carom cannot read spheres from a GPU buffer of the application.
    #[error("the buffer with the {what} {problem}")]
    #[non_exhaustive]
    SourceBuffer {
        /// What the application stores in the buffer, such as the radii of the spheres.
        what: &'static str,
        /// Why carom cannot read the buffer, and what to do about it.
        problem: String,
        /// The error of wgpu that caused this error, if any. `problem` contains its text.
        source: Option<Cause>,
    },
    /// The buffers were created without a result that the caller wants to read.
    #[error(
        "these results are not computed; set `{}BufferOptions::with_{option}` when you create the buffers",
        if *.option == "impacts" { "Simulation" } else { "" }
    )]
    #[non_exhaustive]
    NotAskedFor {
        /// Name of the option that requests the result: `gpu::BufferOptions` or `gpu::SimulationBufferOptions` has a
        /// method `with_` of this name.
        option: &'static str,
    },
    /// The list of a step has no room in carom's GPU buffers, or in the readback.
    ///
    /// [`CollisionBuffers::grow`](crate::gpu::CollisionBuffers::grow) makes room for the
    /// next steps. If the buffers have the required capacity already, the next readback
    /// will have room, because its size follows the number of pairs of the last one.
    #[cfg(feature = "gpu")]
    #[error(
        "the list of this step had no room: the step has {}, {} wall collisions, {} spheres and \
         {} time segments; call `CollisionBuffers::grow` with the `required` capacity of this error, \
         and read a later step",
        pairs(.required.pairs), .required.wall_collisions, .required.spheres, .required.segments
    )]
    #[non_exhaustive]
    Truncated {
        /// The capacity that the step needs, for
        /// [`CollisionBuffers::grow`](crate::gpu::CollisionBuffers::grow).
        required: crate::gpu::Capacity,
    },
    /// A ticket was asked for its results again, after it had returned them or an error.
    #[error(
        "this ticket has already returned its results or an error; read the step again for another \
         ticket"
    )]
    AlreadyTaken,
    /// The results were never computed, because the encoder was dropped or the submission failed.
    #[error(
        "the results of this step were never computed: its encoder was not submitted, or the \
         submission failed; record the step again"
    )]
    NotSubmitted,
    /// carom could not start a thread, such as one that waits for a GPU.
    #[error(
        "a thread could not be started: {source}; let the program or the system run fewer threads"
    )]
    #[non_exhaustive]
    Threads {
        /// What the operating system says.
        source: Cause,
    },
}

/// What an [`Error`] is about, which tells a program what it can do. Returned by [`Error::kind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value that the program passed is invalid. Correct it.
    Input,
    /// The values are valid, but exceed a limit of carom, of an option, of a capacity, or
    /// of memory and threads. Make the step smaller, or raise what the message names.
    Limit,
    /// The GPU cannot be used, cannot do this work, or has failed. Use another device or
    /// [`Backend::Cpu`](crate::Backend::Cpu).
    Device,
    /// A call does not fit the calls before it. Correct the program.
    Misuse,
}

impl Error {
    /// Returns what the error is about.
    ///
    /// ```
    /// use carom::{Detector, ErrorKind, Options, Sphere, Step};
    /// let sphere = [Sphere::new([f32::NAN, 0.0, 0.0], 1.0)];
    /// let found = Detector::new(Options::default())?.detect(&Step::new(&sphere, 1.0));
    /// assert_eq!(found.map_err(|error| error.kind()).err(), Some(ErrorKind::Input));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::InvalidSphere { .. }
            | Self::InvalidTimeStep { .. }
            | Self::InvalidCutoff { .. }
            | Self::InvalidDomain { .. }
            | Self::InvalidWall { .. }
            | Self::InvalidTriangle { .. }
            | Self::ImageOutOfRange { .. }
            | Self::ImageCount { .. }
            | Self::InvalidHardSphere { .. }
            | Self::InvalidSimulation { .. }
            | Self::InvalidSnapshot { .. }
            | Self::ZeroCapacity { .. }
            | Self::ColumnLength { .. }
            | Self::InvalidColumn { .. }
            | Self::SourceBuffer { .. } => ErrorKind::Input,
            Self::TooManyImages { .. }
            | Self::TooManyImpacts { .. }
            | Self::StillOverlapping { .. }
            | Self::TooManySpheres { .. }
            | Self::TooManyCandidates { .. }
            | Self::TooManyPairs { .. }
            | Self::DeviceLimit { .. }
            | Self::OutOfMemory { .. }
            | Self::OverCapacity { .. }
            | Self::TooManyWalls { .. }
            | Self::TooManyInFlight { .. }
            | Self::Threads { .. } => ErrorKind::Limit,
            #[cfg(feature = "gpu")]
            Self::Truncated { .. } => ErrorKind::Limit,
            Self::Unsupported { .. }
            | Self::FeatureDisabled { .. }
            | Self::NoAdapter { .. }
            | Self::Device { .. }
            | Self::DeviceLost
            | Self::DeviceTooSmall { .. } => ErrorKind::Device,
            Self::NothingRecorded
            | Self::NotAskedFor { .. }
            | Self::AlreadyTaken
            | Self::NotSubmitted => ErrorKind::Misuse,
        }
    }

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

/// An error of wgpu. In a browser, the errors of wgpu need not be `Send` or `Sync`.
#[cfg(feature = "gpu")]
pub(crate) trait OfWgpu: std::error::Error + wgpu::WasmNotSendSync + 'static {}

#[cfg(feature = "gpu")]
impl<E: std::error::Error + wgpu::WasmNotSendSync + 'static> OfWgpu for E {}

#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
#[allow(clippy::unnecessary_wraps, reason = "always `None` on the web")]
fn cause(error: impl OfWgpu) -> Option<Cause> {
    Some(Cause::new(error))
}

/// In a browser, an error of wgpu need not be `Send`, but a [`Cause`] has to be.
#[cfg(all(feature = "gpu", target_arch = "wasm32"))]
fn cause(_error: impl OfWgpu) -> Option<Cause> {
    None
}

/// Names the invalid value of a [`Sphere`](crate::Sphere) in an error. Axis 0 is x, axis 1 is y and axis 2 is
/// z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// Coordinate of the centre along an axis.
    Center(usize),
    /// Radius of the sphere.
    Radius,
    /// Component of the velocity along an axis.
    Velocity(usize),
    /// Component of the displacement (velocity times `dt`) along an axis.
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

fn or_constant(what: &str) -> &'static str {
    match what {
        "radii" | "groups" => ", or one number for all spheres",
        _ => "",
    }
}

/// A step that ends before it counts its pairs has 0.
#[cfg(feature = "gpu")]
fn pairs(count: u64) -> String {
    match count {
        0 => "pairs that are not counted yet".to_owned(),
        _ => format!("{count} pairs"),
    }
}

fn allowed(field: Field, limit: f64) -> String {
    let limit = Shortest(limit);
    match field {
        Field::Radius => format!("a finite number from 0 to {limit:e}"),
        _ => format!("a finite number of magnitude at most {limit:e}"),
    }
}

/// A number with the fewest digits that tell it from other float32, if it is one, or otherwise
/// from other float64.
pub(crate) struct Shortest(pub(crate) f64);

impl Shortest {
    fn as_float32(&self) -> Option<f32> {
        #[allow(clippy::cast_possible_truncation, reason = "compared below")]
        let float32 = self.0 as f32;
        (f64::from(float32).to_bits() == self.0.to_bits()).then_some(float32)
    }
}

impl fmt::Display for Shortest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_float32() {
            Some(x) => fmt::Display::fmt(&x, f),
            // Without an exponent, a large number would have many digits.
            None if self.0.abs() >= 1e39 => fmt::LowerExp::fmt(&self.0, f),
            None => fmt::Display::fmt(&self.0, f),
        }
    }
}

impl fmt::Debug for Shortest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_float32() {
            Some(x) => fmt::Debug::fmt(&x, f),
            None => fmt::Debug::fmt(&self.0, f),
        }
    }
}

impl fmt::LowerExp for Shortest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_float32() {
            Some(x) => fmt::LowerExp::fmt(&x, f),
            None => fmt::LowerExp::fmt(&self.0, f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, ErrorKind, Field};

    #[test]
    fn errors_have_kinds() {
        let sphere = Error::InvalidSphere {
            index: 3,
            set: None,
            field: Field::Radius,
            value: -1.0,
            limit: 1e18,
        };
        let images = Error::ImageCount {
            pairs: 2,
            images: 1,
        };
        let (needed, limit) = (9, 8);
        let memory = Error::OutOfMemory { what: "", needed };
        let feature = Error::FeatureDisabled { feature: "gpu" };
        let option = Error::NotAskedFor { option: "contacts" };
        for (error, kind) in [
            (sphere, ErrorKind::Input),
            (images, ErrorKind::Input),
            (Error::ZeroCapacity { what: "spheres" }, ErrorKind::Input),
            (Error::TooManyPairs { needed, limit }, ErrorKind::Limit),
            (memory, ErrorKind::Limit),
            (Error::threads(std::fmt::Error), ErrorKind::Limit),
            (Error::device("it burns"), ErrorKind::Device),
            (Error::DeviceLost, ErrorKind::Device),
            (feature, ErrorKind::Device),
            (Error::NothingRecorded, ErrorKind::Misuse),
            (Error::AlreadyTaken, ErrorKind::Misuse),
            (option, ErrorKind::Misuse),
        ] {
            assert_eq!(error.kind(), kind, "{error}");
        }
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn a_list_without_room_names_what_it_needs() {
        let mut required = crate::gpu::Capacity::for_spheres(40);
        (required.pairs, required.segments, required.wall_collisions) = (30, 20, 10);
        let error = Error::Truncated { required };
        assert_eq!(error.kind(), ErrorKind::Limit);
        let message = error.to_string();
        let counts = "30 pairs, 10 wall collisions, 40 spheres and 20 time segments";
        assert!(message.contains(counts), "{message}");
        assert!(message.contains("`CollisionBuffers::grow`"), "{message}");
    }
}

//! The public description of spheres in the application's buffers.

/// Describes spheres in the application's buffers, in any layout.
///
/// The buffers need the usage `STORAGE`. Several attributes may be in one buffer, for
/// instance as fields of a struct:
///
/// ```
/// use std::mem::{offset_of, size_of};
///
/// use carom::gpu::{Attribute, DeviceSpheres, wgpu};
///
/// #[repr(C)]
/// struct Particle {
///     position: [f32; 3],
///     radius: f32,
///     velocity: [f32; 3],
///     charge: f32,
/// }
///
/// fn describe(particles: &wgpu::Buffer, count: u32) -> DeviceSpheres<'_> {
///     let attribute = |offset: usize| {
///         Attribute::new(particles, offset as u64, size_of::<Particle>() as u64)
///     };
///     DeviceSpheres::new(
///         count,
///         attribute(offset_of!(Particle, position)),
///         attribute(offset_of!(Particle, radius)),
///     )
///     .with_velocity(attribute(offset_of!(Particle, velocity)))
/// }
/// ```
///
/// Recording a step checks a description as far as possible without the data:
///
/// - Offsets and strides are multiples of 4.
/// - A stride is not less than the size of a value.
/// - The buffers are long enough.
/// - Different attributes do not share bytes. There are two exceptions: two attributes may coincide
///   in all their values, and a centre may be the previous centre of another sphere.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct DeviceSpheres<'a> {
    /// Number of spheres.
    pub count: SphereCount<'a>,
    /// Centres of the spheres, three float32 each. These are the positions at the start of the
    /// step, or with [`SphereMotion::PreviousCenter`] the positions at the end of the step.
    pub center: Attribute<'a>,
    /// Radii of the spheres.
    pub radius: SphereRadius<'a>,
    /// Motion of the spheres during the step.
    pub motion: SphereMotion<'a>,
    /// Collision groups of the spheres, by which some pairs are left out.
    pub groups: SphereGroups<'a>,
}

impl<'a> DeviceSpheres<'a> {
    /// Describes spheres that are at rest and collide with all other spheres.
    ///
    /// `count` is a number or a [`SphereCount`]. `radius` is one number for all spheres or an
    /// [`Attribute`].
    pub fn new(
        count: impl Into<SphereCount<'a>>,
        center: Attribute<'a>,
        radius: impl Into<SphereRadius<'a>>,
    ) -> Self {
        Self {
            count: count.into(),
            center,
            radius: radius.into(),
            motion: SphereMotion::Still,
            groups: SphereGroups::Constant(0),
        }
    }

    /// Returns the same spheres with velocities: see [`SphereMotion::Velocity`].
    #[must_use]
    pub fn with_velocity(self, velocity: Attribute<'a>) -> Self {
        Self {
            motion: SphereMotion::Velocity(velocity),
            ..self
        }
    }

    /// Returns the same spheres, moving from their previous centres: see
    /// [`SphereMotion::PreviousCenter`].
    #[must_use]
    pub fn with_previous_center(self, previous: Attribute<'a>) -> Self {
        Self {
            motion: SphereMotion::PreviousCenter(previous),
            ..self
        }
    }

    /// Returns the same spheres with collision groups.
    ///
    /// `groups` is one number for all spheres or an [`Attribute`].
    #[must_use]
    pub fn with_groups(self, groups: impl Into<SphereGroups<'a>>) -> Self {
        Self {
            groups: groups.into(),
            ..self
        }
    }
}

/// Locates one value of each sphere in a buffer.
///
/// The value of sphere i begins at byte `offset + i * stride`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Attribute<'a> {
    /// The buffer that contains the values. It needs the usage `STORAGE`.
    pub buffer: &'a wgpu::Buffer,
    /// Offset in bytes of the first sphere's value; a multiple of 4.
    pub offset: u64,
    /// Bytes from the start of one sphere's value to the start of the next; a multiple of 4, and
    /// not less than the size of a value.
    pub stride: u64,
}

impl<'a> Attribute<'a> {
    /// Describes values that begin at byte `offset` and are `stride` bytes apart.
    ///
    /// Both numbers must be multiples of 4, and the stride must not be less than the size of a
    /// value. Recording a step checks these conditions: see [`DeviceSpheres`].
    pub fn new(buffer: &'a wgpu::Buffer, offset: u64, stride: u64) -> Self {
        Self {
            buffer,
            offset,
            stride,
        }
    }
}

/// The number of spheres, given by the host or read from a buffer.
#[derive(Clone, Copy, Debug)]
pub enum SphereCount<'a> {
    /// A number given by the host.
    Known(u32),
    /// A `u32` in a buffer, read when the recording runs on the device.
    ///
    /// If the count exceeds `at_most`, the step finds no pairs, and its status word has
    /// [`Status::TOO_MANY_SPHERES`](super::Status::TOO_MANY_SPHERES).
    InBuffer {
        /// The buffer that contains the count. It needs the usage `STORAGE`.
        buffer: &'a wgpu::Buffer,
        /// Offset of the count in the buffer, in bytes; a multiple of 4.
        offset: u64,
        /// Largest permitted count. It must not exceed the number of spheres that the
        /// [`CollisionBuffers`](super::CollisionBuffers) can hold. With two sets, the sum of both
        /// sets' largest counts must not exceed that number.
        at_most: u32,
    },
}

impl From<u32> for SphereCount<'_> {
    fn from(count: u32) -> Self {
        Self::Known(count)
    }
}

/// The radii of the spheres: one radius for all spheres, or one for each sphere.
#[derive(Clone, Copy, Debug)]
pub enum SphereRadius<'a> {
    /// The same radius for all spheres.
    Constant(f32),
    /// One float32 for each sphere.
    PerSphere(Attribute<'a>),
}

impl From<f32> for SphereRadius<'_> {
    fn from(radius: f32) -> Self {
        Self::Constant(radius)
    }
}

impl<'a> From<Attribute<'a>> for SphereRadius<'a> {
    fn from(radii: Attribute<'a>) -> Self {
        Self::PerSphere(radii)
    }
}

/// The motion of the spheres during the step.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum SphereMotion<'a> {
    /// The spheres are at rest.
    Still,
    /// The spheres move with constant velocities, three float32 each.
    Velocity(Attribute<'a>),
    /// The spheres move in straight lines from their previous centres (three float32 each) at the
    /// start of the step to [`DeviceSpheres::center`] at its end.
    ///
    /// The displacement of a sphere is the float32 difference of the two positions. It is exact if
    /// each coordinate changes by less than half of its magnitude. A time of impact is the fraction
    /// of the step that has passed, times `dt`.
    PreviousCenter(Attribute<'a>),
}

/// The collision groups of the spheres, by which some pairs are left out: see
/// [`Sphere::with_groups`](crate::Sphere::with_groups).
#[derive(Clone, Copy, Debug)]
pub enum SphereGroups<'a> {
    /// The same groups for all spheres. With 0, no pair is left out.
    Constant(u32),
    /// One `u32` for each sphere.
    PerSphere(Attribute<'a>),
}

impl From<u32> for SphereGroups<'_> {
    fn from(groups: u32) -> Self {
        Self::Constant(groups)
    }
}

impl<'a> From<Attribute<'a>> for SphereGroups<'a> {
    fn from(groups: Attribute<'a>) -> Self {
        Self::PerSphere(groups)
    }
}

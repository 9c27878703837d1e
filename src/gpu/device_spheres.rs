//! The description of spheres that are in buffers of the application.

/// Spheres in buffers of the application, in any layout.
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
/// Recording a step checks what can be told of a description without its data: multiples of
/// 4; strides that are no less than a value's size; buffers that are long enough; and values
/// of different attributes in different bytes, though two may be the same attribute, and
/// centres also the previous centres of other spheres.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct DeviceSpheres<'a> {
    /// How many spheres there are.
    pub count: SphereCount<'a>,
    /// Centres, three float32 each: at the start of the step, or with
    /// [`SphereMotion::PreviousCenter`] at its end.
    pub center: Attribute<'a>,
    /// Radii.
    pub radius: SphereRadius<'a>,
    /// How the spheres move during the step.
    pub motion: SphereMotion<'a>,
    /// Which pairs to leave out.
    pub groups: SphereGroups<'a>,
}

impl<'a> DeviceSpheres<'a> {
    /// Spheres at rest that collide with everything. A count is a number, or a
    /// [`SphereCount`]; a radius is one number for all, or an [`Attribute`].
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

    /// The same spheres, moving: [`SphereMotion::Velocity`].
    #[must_use]
    pub fn with_velocity(self, velocity: Attribute<'a>) -> Self {
        Self {
            motion: SphereMotion::Velocity(velocity),
            ..self
        }
    }

    /// The same spheres, coming from their previous centres:
    /// [`SphereMotion::PreviousCenter`].
    #[must_use]
    pub fn with_previous_center(self, previous: Attribute<'a>) -> Self {
        Self {
            motion: SphereMotion::PreviousCenter(previous),
            ..self
        }
    }

    /// The same spheres with collision groups: one number for all, or an
    /// [`Attribute`].
    #[must_use]
    pub fn with_groups(self, groups: impl Into<SphereGroups<'a>>) -> Self {
        Self {
            groups: groups.into(),
            ..self
        }
    }
}

/// Where one value of each sphere is: sphere i's begins at byte
/// `offset + i * stride` of the buffer.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Attribute<'a> {
    /// The buffer, with the usage `STORAGE`.
    pub buffer: &'a wgpu::Buffer,
    /// Bytes before the first sphere's value; a multiple of 4.
    pub offset: u64,
    /// Bytes from one sphere's value to the next one's; a multiple of 4.
    pub stride: u64,
}

impl<'a> Attribute<'a> {
    /// Values that begin at byte `offset` and are `stride` bytes apart. Both are
    /// multiples of 4, and a stride is no less than a value's size. Recording a step checks
    /// them: see [`DeviceSpheres`].
    pub fn new(buffer: &'a wgpu::Buffer, offset: u64, stride: u64) -> Self {
        Self {
            buffer,
            offset,
            stride,
        }
    }
}

/// How many spheres there are.
#[derive(Clone, Copy, Debug)]
pub enum SphereCount<'a> {
    /// A number that the host knows.
    Known(u32),
    /// A `u32` in a buffer, read when the recording runs. When it is more than
    /// `at_most`, nothing is searched, and the status word says so.
    InBuffer {
        /// The buffer, with the usage `STORAGE`.
        buffer: &'a wgpu::Buffer,
        /// Bytes before the count; a multiple of 4.
        offset: u64,
        /// The largest count there may be.
        at_most: u32,
    },
}

impl From<u32> for SphereCount<'_> {
    fn from(count: u32) -> Self {
        Self::Known(count)
    }
}

/// The radii of the spheres.
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

/// How the spheres move during the step.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum SphereMotion<'a> {
    /// Not at all.
    Still,
    /// With constant velocities, three float32 each.
    Velocity(Attribute<'a>),
    /// In a straight line from their previous centres (three float32 each), where the
    /// step begins, to [`DeviceSpheres::center`], where it ends. The displacement is the
    /// float32 difference of the two, which is exact for every sphere that moves less
    /// than half of its distance from the origin along each axis. A time of impact is
    /// the fraction of the step, times `dt`.
    PreviousCenter(Attribute<'a>),
}

/// Which pairs to leave out: see [`Sphere::with_groups`](crate::Sphere::with_groups).
#[derive(Clone, Copy, Debug)]
pub enum SphereGroups<'a> {
    /// The same groups for all spheres; 0 leaves out no pair.
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

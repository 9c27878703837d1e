//! Types with which an application describes spheres in its own GPU buffers.

/// Describes where the application's GPU buffers hold the spheres, in any layout.
///
/// The buffers of sphere attributes need the usage `STORAGE`. Several attributes may be in one
/// buffer, for instance as fields of a struct:
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
/// The attributes must fulfil the conditions in the following list. Otherwise,
/// [`CollisionBuffers::record`](super::CollisionBuffers::record) returns an error.
///
/// - Offsets and strides of all attributes are multiples of 4 bytes.
/// - The stride of an attribute is not less than the size of one value.
/// - Each buffer is long enough for the values of its attributes.
/// - Different attributes share no bytes, with two exceptions. Two attributes may be the same data,
///   with equal offset and stride. And with [`SphereMotion::PreviousCenter`], the centre of one
///   sphere and the previous centre of another may be the same bytes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct DeviceSpheres<'a> {
    /// Number of spheres, known on the host or read from a GPU buffer.
    pub count: SphereCount<'a>,
    /// Centres at the start of the step, three float32 each. With [`SphereMotion::PreviousCenter`],
    /// the centres at the end of the step.
    pub center: Attribute<'a>,
    /// Radii of the spheres.
    pub radius: SphereRadius<'a>,
    /// Motion of the spheres: at rest, with velocities, or from previous centres.
    pub motion: SphereMotion<'a>,
    /// Collision groups of the spheres: bits that exclude some pairs of spheres.
    pub groups: SphereGroups<'a>,
}

impl<'a> DeviceSpheres<'a> {
    /// Describes spheres at rest, without collision groups.
    ///
    /// `count` is a number of spheres or a [`SphereCount`]. `radius` is one radius for all spheres,
    /// or an [`Attribute`] with one radius per sphere.
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

    /// Returns this description of the spheres with the given velocities: see
    /// [`SphereMotion::Velocity`].
    #[must_use]
    pub fn with_velocity(self, velocity: Attribute<'a>) -> Self {
        Self {
            motion: SphereMotion::Velocity(velocity),
            ..self
        }
    }

    /// Sets where the centres were at the start of the step, from which carom computes the
    /// velocities: see [`SphereMotion::PreviousCenter`].
    #[must_use]
    pub fn with_previous_center(self, previous: Attribute<'a>) -> Self {
        Self {
            motion: SphereMotion::PreviousCenter(previous),
            ..self
        }
    }

    /// Returns this description of the spheres with collision groups, which exclude some pairs of
    /// spheres.
    ///
    /// `groups` is one number for all spheres, or an [`Attribute`] with one number per sphere, with
    /// the bits of [`Sphere::groups`](crate::Sphere::groups).
    #[must_use]
    pub fn with_groups(self, groups: impl Into<SphereGroups<'a>>) -> Self {
        Self {
            groups: groups.into(),
            ..self
        }
    }
}

/// Locates one attribute (such as the radius) of all spheres in a GPU buffer.
///
/// The attribute of sphere i begins at byte `offset + i * stride` of the buffer.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Attribute<'a> {
    /// GPU buffer that contains the attribute's values. It needs the usage `STORAGE`.
    pub buffer: &'a wgpu::Buffer,
    /// Offset of the first sphere's value in the buffer, in bytes. It must be a multiple of 4.
    pub offset: u64,
    /// Number of bytes from the start of one sphere's value to the next. It must be a multiple of
    /// 4, and at least the size of a value.
    pub stride: u64,
}

impl<'a> Attribute<'a> {
    /// Describes an attribute whose values begin at byte `offset` of `buffer` and are `stride`
    /// bytes apart. Both numbers must be multiples of 4, and the stride must not be less than the
    /// size of a value.
    pub fn new(buffer: &'a wgpu::Buffer, offset: u64, stride: u64) -> Self {
        Self {
            buffer,
            offset,
            stride,
        }
    }
}

/// Number of spheres, given by the host or read from a GPU buffer.
#[derive(Clone, Copy, Debug)]
pub enum SphereCount<'a> {
    /// Number of spheres, known on the host when the step is recorded.
    Known(u32),
    /// Number of spheres as a `u32` in a GPU buffer, which the GPU reads when it runs the recorded
    /// step.
    ///
    /// If the number of spheres exceeds `at_most`, the step finds no pairs, and its status has
    /// [`Status::TOO_MANY_SPHERES`](super::Status::TOO_MANY_SPHERES).
    InBuffer {
        /// GPU buffer of the number of spheres, with the usage `STORAGE`.
        buffer: &'a wgpu::Buffer,
        /// Offset of the number of spheres in the buffer, in bytes. It must be a multiple of 4.
        offset: u64,
        /// Largest permitted number of spheres. It must not exceed the capacity of the
        /// [`CollisionBuffers`](super::CollisionBuffers). With two sets, the sum of both sets'
        /// largest numbers must not exceed this capacity.
        at_most: u32,
    },
}

impl From<u32> for SphereCount<'_> {
    fn from(count: u32) -> Self {
        Self::Known(count)
    }
}

/// Radii of the spheres: one radius for all spheres, or one for each sphere.
#[derive(Clone, Copy, Debug)]
pub enum SphereRadius<'a> {
    /// One radius for all spheres.
    Constant(f32),
    /// One radius for each sphere, as float32 values in a GPU buffer.
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

/// How an application gives the motion of its spheres during a time step.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum SphereMotion<'a> {
    /// The spheres are at rest.
    Still,
    /// Each sphere moves with its own constant velocity, three float32.
    Velocity(Attribute<'a>),
    /// During a step, each sphere moves in a straight line. It starts at its previous centre, which
    /// is three float32 in this attribute. It ends at its [`DeviceSpheres::center`].
    ///
    /// The displacement of a sphere in a step is the float32 difference of its two centres. This
    /// difference is exact if each coordinate changes by less than half of its magnitude.
    ///
    /// The time of impact of a pair is the step's duration `dt` times the fraction of the step
    /// before the impact.
    PreviousCenter(Attribute<'a>),
}

/// Collision groups, which exclude some pairs of spheres: see
/// [`Sphere::with_groups`](crate::Sphere::with_groups).
#[derive(Clone, Copy, Debug)]
pub enum SphereGroups<'a> {
    /// The same collision groups for all spheres. 0 excludes no pair.
    Constant(u32),
    /// Collision groups of each sphere, as `u32` values in a GPU buffer.
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

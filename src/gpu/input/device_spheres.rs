//! Types with which an application describes spheres in its own GPU buffers.

use crate::Values;

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
/// [`CollisionBuffers::record`](crate::gpu::CollisionBuffers::record) returns an error.
///
/// - Offsets and strides of all attributes are multiples of 4 bytes.
/// - The stride of an attribute is not less than the size of one value.
/// - Each buffer is long enough for the values of its attributes.
/// - Different attributes share no bytes, with two exceptions. Two attributes may be the same data,
///   with equal offset and stride. And the centre of one sphere and the
///   [previous centre](Self::with_previous_center) of another may be the same bytes.
#[derive(Clone, Copy, Debug)]
pub struct DeviceSpheres<'a> {
    pub(crate) count: u32,
    /// Where the GPU reads the number of spheres. `count` is then the largest permitted number.
    pub(crate) count_in: Option<(&'a wgpu::Buffer, u64)>,
    pub(crate) center: Attribute<'a>,
    pub(crate) radius: Values<f32, Attribute<'a>>,
    pub(crate) motion: SphereMotion<'a>,
    pub(crate) groups: Values<u32, Attribute<'a>>,
    pub(crate) inverse_mass: Option<Attribute<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum SphereMotion<'a> {
    Still,
    Velocity(Attribute<'a>),
    PreviousCenter(Attribute<'a>),
}

impl<'a> DeviceSpheres<'a> {
    /// Describes `count` spheres at rest, without collision groups.
    ///
    /// `center` has the centres at the start of the step, three float32 each. `radius` is one radius for all spheres,
    /// or an [`Attribute`] with a float32 for each sphere. A recording refuses one radius that is NaN, negative or above
    /// [`MAX_MAGNITUDE`](crate::MAX_MAGNITUDE) with [`Error::InvalidSphere`](crate::Error::InvalidSphere).
    pub fn new(
        count: u32,
        center: Attribute<'a>,
        radius: impl Into<Values<f32, Attribute<'a>>>,
    ) -> Self {
        Self {
            count,
            count_in: None,
            center,
            radius: radius.into(),
            motion: SphereMotion::Still,
            groups: Values::Constant(0),
            inverse_mass: None,
        }
    }

    /// Returns the same spheres, but their number is a `u32` at byte `offset` of `buffer`. The GPU reads it when it
    /// runs the recorded step.
    ///
    /// The `count` passed to [`new`](Self::new) is then the largest permitted number. If the number in the buffer
    /// exceeds it, the step finds no pairs, and its status has
    /// [`Status::TOO_MANY_SPHERES`](crate::gpu::Status::TOO_MANY_SPHERES). The largest permitted number must not exceed the
    /// capacity of the [`CollisionBuffers`](crate::gpu::CollisionBuffers). With two sets, the sum of both sets' largest
    /// numbers must not exceed this capacity.
    ///
    /// The buffer needs the usage `STORAGE`, and the offset must be a multiple of 4.
    #[must_use]
    pub fn with_count_in(self, buffer: &'a wgpu::Buffer, offset: u64) -> Self {
        Self {
            count_in: Some((buffer, offset)),
            ..self
        }
    }

    /// Returns the same spheres with velocities, three float32 for each sphere.
    ///
    /// A description has velocities or [previous centres](Self::with_previous_center); the last call counts.
    #[must_use]
    pub fn with_velocity(self, velocity: Attribute<'a>) -> Self {
        Self {
            motion: SphereMotion::Velocity(velocity),
            ..self
        }
    }

    /// Returns the same spheres with previous centres, from which carom computes the velocities: three float32 for
    /// each sphere.
    ///
    /// During a step, each sphere moves in a straight line from its previous centre to its centre. So the attribute
    /// `center` has the centres at the end of the step.
    ///
    /// The displacement of a sphere in a step is the float32 difference of its two centres. This difference is exact
    /// if each coordinate changes by less than half of its magnitude.
    ///
    /// The time of impact of a pair is the step's duration `dt` times the fraction of the step before the impact.
    #[must_use]
    pub fn with_previous_center(self, previous: Attribute<'a>) -> Self {
        Self {
            motion: SphereMotion::PreviousCenter(previous),
            ..self
        }
    }

    /// Returns the same spheres with collision groups, which exclude some pairs of spheres: see
    /// [`Sphere::with_groups`](crate::Sphere::with_groups).
    ///
    /// `groups` is one number for all spheres, or an [`Attribute`] with a `u32` for each sphere, with
    /// the bits of [`Sphere::groups`](crate::Sphere::groups). 0 excludes no pair.
    #[must_use]
    pub fn with_groups(self, groups: impl Into<Values<u32, Attribute<'a>>>) -> Self {
        Self {
            groups: groups.into(),
            ..self
        }
    }

    /// Returns the same spheres with inverse masses for
    /// [`SimulationBuffers::record`](crate::gpu::SimulationBuffers::record): 1/mass of each sphere, as a float32. Without
    /// this call, all masses are 1.
    ///
    /// 0 means an infinite mass: such a sphere keeps its velocity, gravity does not act on it, and it passes through
    /// walls. Others are from 2⁻⁶⁰ to 2⁶⁰. A sphere with another value takes no part, which
    /// [`SimulationStatus::SPHERES_LEFT_OUT`](crate::gpu::SimulationStatus::SPHERES_LEFT_OUT) tells.
    ///
    /// [`CollisionBuffers`](crate::gpu::CollisionBuffers) refuse spheres with inverse masses by an
    /// [`Error::SourceBuffer`](crate::Error::SourceBuffer), because collisions do not depend on masses.
    #[must_use]
    pub fn with_inverse_mass(self, inverse_mass: Attribute<'a>) -> Self {
        Self {
            inverse_mass: Some(inverse_mass),
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

impl<'a, T> From<Attribute<'a>> for Values<T, Attribute<'a>> {
    fn from(values: Attribute<'a>) -> Self {
        Self::PerSphere(values)
    }
}

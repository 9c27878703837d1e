//! Attributes in buffers of the application, checked and ready to be bound.

use bytemuck::Zeroable;
use wgpu::BufferUsages;

use super::buffers::Buffers;
use super::device_spheres::{
    Attribute, DeviceSpheres, SphereCount, SphereGroups, SphereMotion, SphereRadius,
};
use super::shader::constants::{MOTION_NONE, MOTION_PREVIOUS, MOTION_VELOCITY};
use super::shader::layout::SourceLayout;
use crate::Error;

/// A part of a buffer as it is bound.
#[derive(Clone, Copy)]
pub(super) struct Window<'a> {
    pub(super) buffer: &'a wgpu::Buffer,
    /// The byte at which it begins.
    pub(super) start: u64,
}

/// The words of a value in a window: the first sphere's, and from one to the next.
type Words = [u32; 2];

/// An attribute that is about to be bound.
#[derive(Clone, Copy)]
struct Asked<'a> {
    /// What its buffer holds.
    what: &'static str,
    attribute: Attribute<'a>,
    /// Bytes of each value.
    width: u64,
    /// The number of values.
    count: u32,
}

impl<'a> Asked<'a> {
    fn refused<T>(&self, problem: String) -> Result<T, Error> {
        Err(Error::SourceBuffer {
            what: self.what,
            problem,
            source: None,
        })
    }

    /// From one value to the next, in words.
    fn stride(&self) -> Result<u32, Error> {
        let (Attribute { offset, stride, .. }, width) = (self.attribute, self.width);
        for (name, bytes) in [("an offset", offset), ("a stride", stride)] {
            if bytes % 4 != 0 {
                return self.refused(format!(
                    "is described with {name} of {bytes} bytes, which is not a multiple of 4; \
                     align its values to 4 bytes"
                ));
            }
        }
        if stride < width {
            return self.refused(format!(
                "is described with a stride of {stride} bytes, but each sphere takes {width}; \
                 give the bytes from one sphere's value to the next one's"
            ));
        }
        match u32::try_from(stride / 4) {
            Ok(stride) => Ok(stride),
            Err(_) => self.refused(format!(
                "is described with a stride of {stride} bytes, but a stride may be at most {}; \
                 move the values closer together",
                4 * u64::from(u32::MAX)
            )),
        }
    }

    /// The byte after the last value; `None` when a `u64` cannot tell.
    fn end(&self) -> Option<u64> {
        let Attribute { offset, stride, .. } = self.attribute;
        let last = u64::from(self.count.saturating_sub(1));
        (last.checked_mul(stride)?.checked_add(offset)?).checked_add(self.width)
    }

    /// The window to bind, and the values in it.
    fn window(&self, limits: &wgpu::Limits) -> Result<(Window<'a>, Words), Error> {
        let stride_words = self.stride()?;
        let Attribute {
            buffer,
            offset,
            stride,
            ..
        } = self.attribute;
        if !buffer.usage().contains(BufferUsages::STORAGE) {
            return self
                .refused("lacks the usage STORAGE; create it with `BufferUsages::STORAGE`".into());
        }
        let end = match self.end() {
            Some(end) if end <= buffer.size() => end,
            end => {
                return self.refused(format!(
                    "is {} bytes long, but {} values from byte {offset} on, {stride} bytes \
                     apart, end at byte {}; make it longer, or the count, offset or stride less",
                    buffer.size(),
                    self.count,
                    end.map_or("2^64 or later".to_owned(), |end| end.to_string()),
                ));
            }
        };
        let alignment = u64::from(limits.min_storage_buffer_offset_alignment.max(4));
        let start = offset / alignment * alignment;
        let bound = end - start;
        if bound > limits.max_storage_buffer_binding_size {
            return Err(Error::DeviceLimit {
                what: self.what,
                limit: "max_storage_buffer_binding_size",
                needed: bound,
                available: limits.max_storage_buffer_binding_size,
            });
        }
        // The shader counts words in a u32.
        if bound / 4 > 1 << 32 {
            return self.refused(format!(
                "has its values spread over {bound} bytes, but at most {} can be addressed; \
                 load fewer spheres at a time",
                1_u64 << 34
            ));
        }
        Ok((
            Window { buffer, start },
            [((offset - start) / 4) as u32, stride_words],
        ))
    }
}

/// The buffers of one set of spheres as they are bound, and the values in them.
pub(super) struct BoundSpheres<'a> {
    pub(super) layout: SourceLayout,
    pub(super) count: Window<'a>,
    /// Centres, radii, motions, groups.
    pub(super) values: [Window<'a>; 4],
}

impl<'a> BoundSpheres<'a> {
    pub(super) fn new(
        limits: &wgpu::Limits,
        own: &'a Buffers,
        spheres: &DeviceSpheres<'a>,
    ) -> Result<Self, Error> {
        let unused = Window {
            buffer: &own.results,
            start: 0,
        };
        let mut layout = SourceLayout {
            used: 1,
            ..SourceLayout::zeroed()
        };
        let mut count = unused;
        layout.at_most = match spheres.count {
            SphereCount::Known(count) => count,
            SphereCount::InBuffer {
                buffer,
                offset,
                at_most,
            } => {
                let word = Asked {
                    what: "count",
                    attribute: Attribute::new(buffer, offset, 4),
                    width: 4,
                    count: 1,
                };
                (count, [layout.count_word, _]) = word.window(limits)?;
                layout.counted = 1;
                at_most
            }
        };
        let place = |what, attribute, width| {
            let asked = Asked {
                what,
                attribute,
                width,
                count: layout.at_most,
            };
            // With no spheres the buffer may be of any size.
            match layout.at_most {
                0 => Ok((unused, [0, asked.stride()?])),
                _ => asked.window(limits),
            }
        };
        let mut values = [unused; 4];
        (values[0], layout.center) = place("centers", spheres.center, 12)?;
        match spheres.radius {
            SphereRadius::Constant(radius) => layout.constant_radius = radius,
            SphereRadius::PerSphere(radii) => {
                (values[1], layout.radius) = place("radii", radii, 4)?;
            }
        }
        match spheres.motion {
            SphereMotion::Still => layout.motion_kind = MOTION_NONE,
            SphereMotion::Velocity(velocities) => {
                layout.motion_kind = MOTION_VELOCITY;
                (values[2], layout.motion) = place("velocities", velocities, 12)?;
            }
            SphereMotion::PreviousCenter(previous) => {
                layout.motion_kind = MOTION_PREVIOUS;
                (values[2], layout.motion) = place("previous centers", previous, 12)?;
            }
        }
        match spheres.groups {
            SphereGroups::Constant(groups) => layout.constant_groups = groups,
            SphereGroups::PerSphere(groups) => {
                (values[3], layout.groups) = place("groups", groups, 4)?;
            }
        }
        Ok(Self {
            layout,
            count,
            values,
        })
    }

    /// Whether the motion is given by previous centres.
    pub(super) fn previous(&self) -> bool {
        self.layout.motion_kind == MOTION_PREVIOUS
    }
}

/// Refuses two sets of which one has previous centres and the other has velocities.
pub(super) fn check_motions(one: &BoundSpheres<'_>, other: &BoundSpheres<'_>) -> Result<(), Error> {
    let still = |set: &BoundSpheres<'_>| set.layout.motion_kind == MOTION_NONE;
    if one.previous() == other.previous() || still(one) || still(other) {
        return Ok(());
    }
    Err(Error::SourceBuffer {
        what: "previous centers",
        problem: "is for one of two sets, and the other has velocities; give both sets the same"
            .into(),
        source: None,
    })
}

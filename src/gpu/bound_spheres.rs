//! Attributes in buffers of the application, checked and ready to be bound.

use arrayvec::ArrayVec;
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

/// Bytes of a centre, a previous centre or a velocity.
const VECTOR: u64 = 12;
/// Bytes of a radius, of groups or of a count.
const WORD: u64 = 4;

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
            let one_for_all = match self.what {
                "radii" => ", or with `SphereRadius::Constant` one radius for all",
                "groups" => ", or with `SphereGroups::Constant` the same groups for all",
                _ => "",
            };
            return self.refused(format!(
                "is described with a stride of {stride} bytes, but each sphere takes {width}; \
                 give the bytes from one sphere's value to the next one's{one_for_all}"
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

    /// The byte at which a value begins, when there is such a value.
    fn begin(&self, index: u64) -> u64 {
        self.attribute.offset + index * self.attribute.stride
    }

    /// A value that shares bytes with one of `other`, and which one that is, when no program
    /// can mean it so. Both attributes are within their buffers.
    ///
    /// Centres and previous centres may be the same ones, even if of different spheres: along a
    /// chain, spheres go from each point to the next. Other values may be the same if all of
    /// them are. Anything else takes the same bytes for different things.
    fn clash(&self, other: &Self) -> Option<[u64; 2]> {
        let (own, others) = (self.attribute, other.attribute);
        let place = |asked: &Self| {
            let Attribute { offset, stride, .. } = asked.attribute;
            (offset, stride, asked.width, asked.count)
        };
        if own.buffer != others.buffer || place(self) == place(other) {
            return None;
        }
        // Where a sphere is may be where another one was, but is nobody's velocity.
        let positions = [self.what, other.what].contains(&"previous centers")
            && [self.what, other.what].contains(&"centers");
        // Those that end after the other ones begin, and begin before they end.
        let before = (others.offset + 1).saturating_sub(own.offset + self.width);
        let last = u64::from(other.count.checked_sub(1)?);
        let end = other.begin(last) + other.width;
        let up_to = end.saturating_sub(own.offset).div_ceil(own.stride);
        let candidates = before.div_ceil(own.stride)..up_to.min(self.count.into());
        // Where they stand to the other ones repeats at the latest after as many as a stride
        // has words.
        let mut candidates = candidates.take((others.stride / 4) as usize);
        candidates.find_map(|index| {
            let begin = self.begin(index);
            // The last that begins before this one ends.
            let nearest = (begin + self.width - 1 - others.offset) / others.stride;
            let nearest = nearest.min(last);
            let start = other.begin(nearest);
            let apart = start + other.width <= begin || positions && start == begin;
            (!apart).then_some([index, nearest])
        })
    }

    /// Refuses values that share bytes with those of another attribute.
    fn check_apart(&self, others: &[Self]) -> Result<(), Error> {
        for other in others {
            if let Some([index, nearest]) = self.clash(other) {
                return self.refused(format!(
                    "is described so that value {index}, at byte {}, shares bytes with value \
                     {nearest} of the {}, at byte {}; correct an offset or a stride (of values \
                     that are fields of a struct, the stride is the size of the struct)",
                    self.begin(index),
                    other.what,
                    other.begin(nearest),
                ));
            }
        }
        Ok(())
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
        // All that was asked for so far.
        let mut seen = ArrayVec::<Asked<'_>, 5>::new();
        layout.at_most = match spheres.count {
            SphereCount::Known(count) => count,
            SphereCount::InBuffer {
                buffer,
                offset,
                at_most,
            } => {
                let word = Asked {
                    what: "count",
                    attribute: Attribute::new(buffer, offset, WORD),
                    width: WORD,
                    count: 1,
                };
                (count, [layout.count_word, _]) = word.window(limits)?;
                layout.counted = 1;
                seen.push(word);
                at_most
            }
        };
        let at_most = layout.at_most;
        let mut place = |what, attribute, width| {
            let asked = Asked {
                what,
                attribute,
                width,
                count: at_most,
            };
            // With no spheres the buffer may be of any size.
            if at_most == 0 {
                return Ok((unused, [0, asked.stride()?]));
            }
            let window = asked.window(limits)?;
            asked.check_apart(&seen)?;
            seen.push(asked);
            Ok(window)
        };
        let mut values = [unused; 4];
        (values[0], layout.center) = place("centers", spheres.center, VECTOR)?;
        match spheres.radius {
            SphereRadius::Constant(radius) => layout.constant_radius = radius,
            SphereRadius::PerSphere(radii) => {
                (values[1], layout.radius) = place("radii", radii, WORD)?;
            }
        }
        match spheres.motion {
            SphereMotion::Still => layout.motion_kind = MOTION_NONE,
            SphereMotion::Velocity(velocities) => {
                layout.motion_kind = MOTION_VELOCITY;
                (values[2], layout.motion) = place("velocities", velocities, VECTOR)?;
            }
            SphereMotion::PreviousCenter(previous) => {
                layout.motion_kind = MOTION_PREVIOUS;
                (values[2], layout.motion) = place("previous centers", previous, VECTOR)?;
            }
        }
        match spheres.groups {
            SphereGroups::Constant(groups) => layout.constant_groups = groups,
            SphereGroups::PerSphere(groups) => {
                (values[3], layout.groups) = place("groups", groups, WORD)?;
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

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    /// Whether some value of one stands in bytes of some value of the other, and no program
    /// can mean it so.
    fn clash_by_trying_all(one: &Asked<'_>, other: &Asked<'_>) -> bool {
        let values = |asked: &Asked<'_>| -> Vec<(u64, u64)> {
            let begins = (0..u64::from(asked.count)).map(|index| asked.begin(index));
            begins.map(|begin| (begin, begin + asked.width)).collect()
        };
        let [own, others] = [one, other].map(values);
        let strides = [one, other].map(|asked| asked.attribute.stride);
        let same = own == others && strides[0] == strides[1];
        let positions = one.what == "centers" && other.what == "previous centers"
            || one.what == "previous centers" && other.what == "centers";
        own.iter().any(|own| {
            others.iter().any(|other| {
                let shared = own.0 < other.1 && other.0 < own.1;
                shared && !same && !(positions && own == other)
            })
        })
    }

    #[test]
    fn values_that_share_bytes_are_found_wherever_they_are() {
        let (device, _queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
        let buffers = [0; 2].map(|_| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: 4096,
                usage: BufferUsages::STORAGE,
                mapped_at_creation: false,
            })
        });
        let mut rng = Rng::with_seed(1);
        let mut clashes = 0;
        for _ in 0..50_000 {
            let count = rng.u32(1..12);
            let mut draw = |most: u64| {
                let (what, width) = [
                    ("radii", WORD),
                    ("centers", VECTOR),
                    ("previous centers", VECTOR),
                    ("velocities", VECTOR),
                ][rng.usize(0..4)];
                Asked {
                    what,
                    attribute: Attribute::new(
                        &buffers[0],
                        4 * rng.u64(0..most),
                        width + 4 * rng.u64(0..8),
                    ),
                    width,
                    count,
                }
            };
            let (one, mut other) = (draw(8), draw(60));
            if rng.u8(0..4) == 0 {
                other.attribute.stride = one.attribute.stride.max(other.width);
            }
            let expected = clash_by_trying_all(&one, &other);
            clashes += u32::from(expected);
            for [one, other] in [[&one, &other], [&other, &one]] {
                let found = one.clash(other);
                let text = format!(
                    "{:?} {:?} {count}: {found:?}",
                    one.attribute, other.attribute
                );
                assert_eq!(found.is_some(), expected, "{text}");
                if let Some([own, others]) = found {
                    assert!(own < count.into() && others < count.into(), "{text}");
                    let [own, others] = [one.begin(own), other.begin(others)];
                    assert!(
                        own < others + other.width && others < own + one.width,
                        "{text}"
                    );
                }
            }
            other.attribute.buffer = &buffers[1];
            assert_eq!(one.clash(&other), None);
        }
        assert!(clashes > 5_000 && clashes < 45_000, "{clashes}");
    }
}

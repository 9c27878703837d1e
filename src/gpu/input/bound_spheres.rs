//! Checks the application's GPU buffers of spheres, and prepares them for binding to carom's
//! shaders.

use arrayvec::ArrayVec;
use bytemuck::Zeroable;
use wgpu::BufferUsages;

use super::device_spheres::{Attribute, DeviceSpheres, SphereMotion};
use crate::gpu::collide::buffers::Buffers;
use crate::gpu::device::named_buffers::NamedBuffers;
use crate::gpu::device::shader::constants::{MOTION_NONE, MOTION_PREVIOUS, MOTION_VELOCITY};
use crate::gpu::device::shader::layout::SourceLayout;
use crate::{Error, Field, MAX_MAGNITUDE, Values};

#[derive(Clone, Copy)]
pub(crate) struct Window<'a> {
    pub(crate) buffer: &'a wgpu::Buffer,
    pub(crate) start: u64,
}

impl Window<'_> {
    /// Binds as much of the rest of the buffer as a device with these limits can.
    pub(crate) fn bind(&self, named: &mut NamedBuffers, name: &'static str, limits: &wgpu::Limits) {
        let &Self { buffer, start } = self;
        let most = limits.max_storage_buffer_binding_size / 4 * 4;
        let size = (buffer.size() / 4 * 4 - start).min(most);
        named.words(name, buffer, [start, size]);
    }
}

/// Offset of the first value, and stride, in 32-bit words of the bound part.
pub(crate) type Words = [u32; 2];

const VECTOR: u64 = 12;
const WORD: u64 = 4;

/// As the application describes it.
#[derive(Clone, Copy)]
struct Asked<'a> {
    /// For error messages, and for rules that hold only for some attributes.
    what: &'static str,
    attribute: Attribute<'a>,
    width: u64,
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

    /// In 32-bit words. Fails unless offset and stride are multiples of 4 bytes and the
    /// stride holds a value.
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
                "radii" => ", or use `Values::Constant` if all spheres have the same radius",
                "groups" => ", or use `Values::Constant` if all spheres have the same groups",
                _ => "",
            };
            return self.refused(format!(
                "is described with a stride of {stride} bytes, but each value takes {width} bytes; \
                 set the stride to the bytes from the start of one value to the start of the \
                 next{one_for_all}"
            ));
        }
        match u32::try_from(stride / 4) {
            Ok(stride) => Ok(stride),
            Err(_) => self.refused(format!(
                "is described with a stride of {stride} bytes, but a stride may be at most {} \
                 bytes; place the values closer together",
                4 * u64::from(u32::MAX)
            )),
        }
    }

    /// `None` if it overflows.
    fn end(&self) -> Option<u64> {
        let Attribute { offset, stride, .. } = self.attribute;
        let last = u64::from(self.count.saturating_sub(1));
        (last.checked_mul(stride)?.checked_add(offset)?).checked_add(self.width)
    }

    fn begin(&self, index: u64) -> u64 {
        self.attribute.offset + index * self.attribute.stride
    }

    /// Returns the indices of a value of `self` and one of `other` that overlap although
    /// they must not. Both must lie within their buffers.
    ///
    /// They may share bytes if they are the same data, and the centre of a sphere may be
    /// the previous centre of another, as in a chain of points.
    fn clash(&self, other: &Self) -> Option<[u64; 2]> {
        let (own, others) = (self.attribute, other.attribute);
        let place = |asked: &Self| {
            let Attribute { offset, stride, .. } = asked.attribute;
            (offset, stride, asked.width, asked.count)
        };
        if own.buffer != others.buffer || place(self) == place(other) {
            return None;
        }
        let positions = [self.what, other.what].contains(&"previous centers")
            && [self.what, other.what].contains(&"centers");
        // The values of `self` that reach into the bytes of `other`.
        let before = (others.offset + 1).saturating_sub(own.offset + self.width);
        let last = u64::from(other.count.checked_sub(1)?);
        let end = other.begin(last) + other.width;
        let up_to = end.saturating_sub(own.offset).div_ceil(own.stride);
        let candidates = before.div_ceil(own.stride)..up_to.min(self.count.into());
        // Overlap depends on the offset modulo the stride of `other`. Both are multiples
        // of 4 bytes, so the remainders repeat after at most `others.stride / 4` values.
        let mut candidates = candidates.take((others.stride / 4) as usize);
        candidates.find_map(|index| {
            let begin = self.begin(index);
            // The last value of `other` that starts before the end of these bytes:
            // if any overlaps them, this one does.
            let nearest = (begin + self.width - 1 - others.offset) / others.stride;
            let nearest = nearest.min(last);
            let start = other.begin(nearest);
            let apart = start + other.width <= begin || positions && start == begin;
            (!apart).then_some([index, nearest])
        })
    }

    fn check_apart(&self, others: &[Self]) -> Result<(), Error> {
        for other in others {
            if let Some([index, nearest]) = self.clash(other) {
                return self.refused(format!(
                    "is described so that value {index}, at byte {}, shares bytes with value \
                     {nearest} of the {}, at byte {}; correct an offset or a stride (for fields \
                     of a struct, the stride is the size of the struct)",
                    self.begin(index),
                    other.what,
                    other.begin(nearest),
                ));
            }
        }
        Ok(())
    }

    /// Returns the part of the buffer to bind, and the place of the attribute in it. Fails
    /// if a shader cannot bind the buffer.
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
                    "is {} bytes long, but {} values that begin at byte {offset} and are \
                     {stride} bytes apart end at byte {}; make the buffer longer, or reduce the \
                     count, the offset or the stride",
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
        // A shader addresses words by a `u32`.
        if bound / 4 > 1 << 32 {
            return self.refused(format!(
                "has values that span {bound} bytes, but a shader can address at most {} bytes; \
                 use fewer spheres at a time",
                1_u64 << 34
            ));
        }
        Ok((
            Window { buffer, start },
            [((offset - start) / 4) as u32, stride_words],
        ))
    }
}

pub(crate) struct BoundSpheres<'a> {
    pub(crate) layout: SourceLayout,
    pub(crate) count: Window<'a>,
    /// Centres, radii, motions and collision groups.
    pub(crate) values: [Window<'a>; 4],
}

impl<'a> BoundSpheres<'a> {
    /// An attribute without a buffer is bound to one of carom's own, which the shader does
    /// not read.
    pub(crate) fn new(
        limits: &wgpu::Limits,
        own: &'a Buffers,
        spheres: &DeviceSpheres<'a>,
    ) -> Result<Self, Error> {
        if let Values::Constant(radius) = spheres.radius
            && !(0.0..=MAX_MAGNITUDE).contains(&radius)
        {
            return Err(Error::InvalidSphere {
                index: 0,
                set: None,
                field: Field::Radius,
                value: radius.into(),
                limit: MAX_MAGNITUDE.into(),
            });
        }
        let unused = Window {
            buffer: &own.results,
            start: 0,
        };
        let mut layout = SourceLayout {
            used: 1,
            ..SourceLayout::zeroed()
        };
        let mut count = unused;
        let mut seen = ArrayVec::<Asked<'_>, 5>::new();
        layout.at_most = spheres.count;
        if let Some((buffer, offset)) = spheres.count_in {
            let word = Asked {
                what: "count",
                attribute: Attribute::new(buffer, offset, WORD),
                width: WORD,
                count: 1,
            };
            (count, [layout.count_word, _]) = word.window(limits)?;
            layout.counted = 1;
            seen.push(word);
        }
        let at_most = layout.at_most;
        let mut place = |what, attribute, width| {
            let asked = Asked {
                what,
                attribute,
                width,
                count: at_most,
            };
            // The shader then reads no values.
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
            Values::Constant(radius) => layout.constant_radius = radius,
            Values::PerSphere(radii) => {
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
            Values::Constant(groups) => layout.constant_groups = groups,
            Values::PerSphere(groups) => {
                (values[3], layout.groups) = place("groups", groups, WORD)?;
            }
        }
        Ok(Self {
            layout,
            count,
            values,
        })
    }

    pub(crate) fn previous(&self) -> bool {
        self.layout.motion_kind == MOTION_PREVIOUS
    }
}

/// Returns the part of the buffer to bind, and the place of the inverse masses in it. They must
/// not share bytes with centres or velocities, which a simulation changes.
pub(crate) fn bind_masses<'a>(
    limits: &wgpu::Limits,
    masses: Attribute<'a>,
    changed: [(&'static str, Attribute<'a>); 2],
    count: u32,
) -> Result<(Window<'a>, Words), Error> {
    let asked = |what, attribute, width| Asked {
        what,
        attribute,
        width,
        count,
    };
    let own = asked("inverse masses", masses, WORD);
    let window = own.window(limits)?;
    if count > 0 {
        let changed = changed.map(|(what, attribute)| asked(what, attribute, VECTOR));
        own.check_apart(&changed)?;
    }
    Ok(window)
}

pub(crate) fn check_motions(one: &BoundSpheres<'_>, other: &BoundSpheres<'_>) -> Result<(), Error> {
    let still = |set: &BoundSpheres<'_>| set.layout.motion_kind == MOTION_NONE;
    if one.previous() == other.previous() || still(one) || still(other) {
        return Ok(());
    }
    Err(Error::SourceBuffer {
        what: "previous centers",
        problem: "is for one of two sets, but the other set has velocities; use velocities \
                  for both sets, or previous centers for both"
            .into(),
        source: None,
    })
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

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

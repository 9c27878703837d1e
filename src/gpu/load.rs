//! Loading of a step's spheres from buffers of the application.

use wgpu::BufferUsages;

use super::buffers::{Buffers, SourceLayout};
use super::device_kernels::DeviceKernels;
use super::device_spheres::{
    Attribute, DeviceSpheres, SphereCount, SphereGroups, SphereMotion, SphereRadius,
};
use super::record::{Dispatch, Stage, workgroups};
use crate::Error;

/// Twins of those in `shaders/shared/sources.wgsl`.
const MOTION_NONE: u32 = 0;
const MOTION_VELOCITY: u32 = 1;
const MOTION_PREVIOUS: u32 = 2;

/// A part of a buffer as it is bound.
#[derive(Clone, Copy)]
struct Window<'a> {
    buffer: &'a wgpu::Buffer,
    /// The byte at which it begins.
    start: u64,
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
                    "is {} bytes long, but {} spheres from byte {offset} on, {stride} bytes \
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
struct Bound<'a> {
    layout: SourceLayout,
    count: Window<'a>,
    /// Centres, radii, motions, groups.
    values: [Window<'a>; 4],
}

impl<'a> Bound<'a> {
    fn new(
        limits: &wgpu::Limits,
        own: &'a Buffers,
        spheres: &DeviceSpheres<'a>,
    ) -> Result<Self, Error> {
        let unused = Window {
            buffer: &own.plan,
            start: 0,
        };
        let mut layout = SourceLayout {
            used: 1,
            ..SourceLayout::default()
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
    fn previous(&self) -> bool {
        self.layout.motion_kind == MOTION_PREVIOUS
    }
}

/// Refuses two sets of which one has previous centres and the other has velocities.
fn check_motions(one: &Bound<'_>, other: &Bound<'_>) -> Result<(), Error> {
    let still = |set: &Bound<'_>| set.layout.motion_kind == MOTION_NONE;
    if one.previous() == other.previous() || still(one) || still(other) {
        return Ok(());
    }
    Err(Error::SourceBuffer {
        what: "previous centers",
        problem: "is for one of two sets, and the other has velocities; give both sets the same"
            .into(),
    })
}

/// The bind groups that were used last. Applications swap few buffers.
#[derive(Default)]
pub(super) struct Loads {
    /// The latest first.
    known: Vec<Known>,
}

struct Known {
    windows: Vec<(wgpu::Buffer, u64)>,
    dispatches: Vec<Dispatch>,
}

/// The number of bind groups that are remembered: more than the buffers that an
/// application swaps.
const REMEMBERED: usize = 4;

/// The loading of a step's spheres from the application's buffers.
pub(super) struct Loading {
    pub(super) layouts: [SourceLayout; 2],
    /// Spheres at most.
    pub(super) spheres: u64,
    /// Whether the motion is given by previous centres.
    pub(super) previous: bool,
    pub(super) stage: Stage,
}

impl Loads {
    /// Makes the loading of one or two sets.
    pub(super) fn load(
        &mut self,
        kernels: &DeviceKernels,
        own: &Buffers,
        first: &DeviceSpheres<'_>,
        second: Option<&DeviceSpheres<'_>>,
    ) -> Result<Loading, Error> {
        let limits = &kernels.context.limits;
        let one = Bound::new(limits, own, first)?;
        let other = second
            .map(|second| Bound::new(limits, own, second))
            .transpose()?;
        if let Some(other) = &other {
            check_motions(&one, other)?;
        }
        let layouts = [
            one.layout,
            other
                .as_ref()
                .map_or_else(SourceLayout::default, |other| other.layout),
        ];
        let mut dispatches = self.dispatches(kernels, own, &one, other.as_ref())?;
        let widest = limits.max_compute_workgroups_per_dimension;
        for (set, layout) in layouts.iter().enumerate().take(dispatches.len() - 2) {
            dispatches[1 + set].resize(workgroups(layout.at_most.into()), widest);
        }
        Ok(Loading {
            spheres: layouts.iter().map(|layout| u64::from(layout.at_most)).sum(),
            previous: one.previous() || other.as_ref().is_some_and(Bound::previous),
            layouts,
            stage: Stage::new("load", dispatches),
        })
    }

    /// Dispatches with these buffers bound, from memory or made anew.
    fn dispatches(
        &mut self,
        kernels: &DeviceKernels,
        own: &Buffers,
        one: &Bound<'_>,
        other: Option<&Bound<'_>>,
    ) -> Result<Vec<Dispatch>, Error> {
        let windows: Vec<Window<'_>> = [Some(one), other]
            .into_iter()
            .flatten()
            .flat_map(|set| [set.count].into_iter().chain(set.values))
            .collect();
        let same = |known: &Known| {
            let known = known.windows.iter().map(|(buffer, start)| (buffer, *start));
            known.eq(windows.iter().map(|window| (window.buffer, window.start)))
        };
        match self.known.iter().position(same) {
            Some(at) => self.known[..=at].rotate_right(1),
            None => {
                let bind = || Ok(load(kernels, own, one, other));
                let dispatches = kernels.context.scoped(bind).map_err(cannot_be_bound)?;
                let windows = windows
                    .iter()
                    .map(|window| (window.buffer.clone(), window.start));
                let known = Known {
                    windows: windows.collect(),
                    dispatches,
                };
                self.known.insert(0, known);
                self.known.truncate(REMEMBERED);
            }
        }
        Ok(self.known[0].dispatches.clone())
    }

    /// Forgets all bind groups, because carom's own buffers are new.
    pub(super) fn clear(&mut self) {
        self.known.clear();
    }
}

fn cannot_be_bound(error: Error) -> Error {
    Error::SourceBuffer {
        what: "spheres",
        problem: match error {
            Error::Device(told) => format!(
                "cannot be bound; it has to be of the same device, and not destroyed: {told}"
            ),
            other => other.to_string(),
        },
    }
}

/// As much of a window as can be bound.
fn bind<'a>(&Window { buffer, start }: &Window<'a>, most: u64) -> wgpu::BindingResource<'a> {
    let size = (buffer.size() / 4 * 4 - start).min(most);
    wgpu::BindingResource::Buffer(wgpu::BufferBinding {
        buffer,
        offset: start,
        size: std::num::NonZeroU64::new(size),
    })
}

fn load(
    kernels: &DeviceKernels,
    own: &Buffers,
    one: &Bound<'_>,
    other: Option<&Bound<'_>>,
) -> Vec<Dispatch> {
    let binder = kernels.binder();
    let most = kernels.context.limits.max_storage_buffer_binding_size / 4 * 4;
    let bind = |window| bind(window, most);
    let layout = |set: u64| {
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &own.layouts,
            offset: 256 * set,
            size: std::num::NonZeroU64::new(size_of::<SourceLayout>() as u64),
        })
    };
    let params = own.params.as_entire_binding();
    let counters = own.counters.as_entire_binding();
    let unused = Window {
        buffer: &own.plan,
        start: 0,
    };
    let mut dispatches = vec![binder.dispatch(
        &kernels.load.load_params,
        &[
            params.clone(),
            layout(0),
            layout(1),
            bind(&one.count),
            bind(other.map_or(&unused, |other| &other.count)),
            counters.clone(),
        ],
        1,
    )];
    let of_sets = [&kernels.load.load_first, &kernels.load.load_second];
    for ((set, kernel), bound) in (0..).zip(of_sets).zip([Some(one), other]) {
        let Some(bound) = bound else { continue };
        let mut bindings = vec![params.clone(), layout(set)];
        bindings.extend(bound.values.iter().map(bind));
        bindings.extend([own.spheres.as_entire_binding(), counters.clone()]);
        dispatches.push(binder.dispatch(kernel, &bindings, 1));
    }
    dispatches.push(binder.whole(&kernels.load.load_units, &[&own.params, &own.counters], 1));
    dispatches
}

//! Where the spheres of a step are: on the host, or in buffers of the application.

use bytemuck::Zeroable;
use wgpu::BufferUsages;

use super::buffers::Buffers;
use super::dispatch::{Dispatch, workgroups};
use super::pipeline::Shared;
use super::scope::Scope;
use super::scoped;
use super::shader::constants::{MOTION_NONE, MOTION_PREVIOUS, MOTION_VELOCITY};
use super::shader::layout::SourceLayout;
use super::stages::Stage;
use super::upload_layout::UploadLayout;
use crate::{Error, Sphere};

/// The spheres of a step.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// On the host. They are copied when the step is prepared.
    Host(&'a [Sphere]),
    /// Two sets on the host; only pairs of one sphere of each count.
    HostBetween(&'a [Sphere], &'a [Sphere]),
    /// In buffers of the application, read when the recording runs.
    Buffers(&'a DeviceSpheres<'a>),
    /// Two sets in buffers of the application; only pairs of one sphere of each count.
    BuffersBetween(&'a DeviceSpheres<'a>, &'a DeviceSpheres<'a>),
}

/// Spheres in buffers of the application, in any layout. The buffers need the usage
/// `STORAGE`; several of these may be in one buffer, and one buffer may be of
/// structs of any size.
#[derive(Clone, Copy, Debug)]
pub struct DeviceSpheres<'a> {
    /// How many there are.
    pub count: Count<'a>,
    /// Centres, three float32 each: at the start of the step, or with
    /// [`Motion::Previous`] at its end.
    pub center: Words<'a>,
    /// Radii.
    pub radius: Radius<'a>,
    /// How they move.
    pub motion: Motion<'a>,
    /// Which pairs to leave out.
    pub groups: Groups<'a>,
}

/// Where in a buffer the values of each sphere are, counted in words of 4 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// The buffer; usage `STORAGE`.
    pub buffer: &'a wgpu::Buffer,
    /// The word at which the first sphere's values begin.
    pub offset: u32,
    /// Words from one sphere's values to the next one's.
    pub stride: u32,
}

/// How many spheres there are.
#[derive(Clone, Copy, Debug)]
pub enum Count<'a> {
    /// So many.
    Known(u32),
    /// As many as a word (`u32`) in a buffer says when the recording runs. If it is
    /// more than `at_most`, nothing is searched, and the status word tells.
    Word {
        /// The buffer; usage `STORAGE`.
        buffer: &'a wgpu::Buffer,
        /// Which of its words of 4 bytes.
        offset: u32,
        /// How many there are at most.
        at_most: u32,
    },
}

/// The radii of the spheres.
#[derive(Clone, Copy, Debug)]
pub enum Radius<'a> {
    /// The same for all.
    Constant(f32),
    /// One float32 each.
    Words(Words<'a>),
}

/// How the spheres move during the step.
#[derive(Clone, Copy, Debug)]
pub enum Motion<'a> {
    /// Not at all.
    Still,
    /// With velocities, three float32 each.
    Velocity(Words<'a>),
    /// From their previous centres, three float32 each, where the step begins, in a
    /// straight line to [`DeviceSpheres::center`], where it ends. The displacement is
    /// the float32 difference of the two, which is exact for all that move less than
    /// half of their distance from the origin along each axis; and a time of impact is
    /// the fraction of the step, times `dt`.
    Previous(Words<'a>),
}

/// Which pairs to leave out: see [`Sphere::with_groups`].
#[derive(Clone, Copy, Debug)]
pub enum Groups<'a> {
    /// The same for all; 0 leaves out none.
    Constant(u32),
    /// One `u32` each.
    Words(Words<'a>),
}

/// A part of a buffer as it is bound.
type Window<'a> = (&'a wgpu::Buffer, u64);

/// The buffers of one source as they are bound, and where in them the values are.
struct Bound<'a> {
    layout: SourceLayout,
    count: Window<'a>,
    /// Centres, radii, motions, groups.
    values: [Window<'a>; 4],
}

/// The offset at which to bind a buffer so that this word is in reach, and the word
/// counted from there.
fn window<'a>(
    shared: &Shared,
    what: &'static str,
    words: Words<'a>,
    width: u32,
    count: u32,
) -> Result<(Window<'a>, u32), Error> {
    let Words {
        buffer,
        offset,
        stride,
    } = words;
    let refused = |problem: String| Err(Error::SourceBuffer { what, problem });
    if !buffer.usage().contains(BufferUsages::STORAGE) {
        return refused("lacks the usage STORAGE; create it with `BufferUsages::STORAGE`".into());
    }
    if stride < width {
        return refused(format!(
            "has a stride of {stride} words, but each sphere takes {width}; strides and offsets \
             are counted in words of 4 bytes"
        ));
    }
    let last = u64::from(count.saturating_sub(1));
    let end = 4 * (u64::from(offset) + last * u64::from(stride) + u64::from(width));
    if buffer.size() < end {
        return refused(format!(
            "is {} bytes long, but {count} spheres from word {offset} on, {stride} words apart, \
             end at byte {end}; make it longer, or the count, offset or stride less",
            buffer.size()
        ));
    }
    let alignment = u64::from(shared.limits.min_storage_buffer_offset_alignment.max(4));
    let start = 4 * u64::from(offset) / alignment * alignment;
    let bound = end - start;
    if bound > shared.limits.max_storage_buffer_binding_size {
        return Err(Error::DeviceLimit {
            what,
            limit: "max_storage_buffer_binding_size",
            needed: bound,
            available: shared.limits.max_storage_buffer_binding_size,
        });
    }
    Ok(((buffer, start), offset - (start / 4) as u32))
}

impl<'a> Bound<'a> {
    fn new(shared: &Shared, own: &'a Buffers, spheres: &DeviceSpheres<'a>) -> Result<Self, Error> {
        let unused = (&own.results, 0);
        let mut layout = SourceLayout {
            used: 1,
            ..SourceLayout::zeroed()
        };
        let mut count = unused;
        layout.at_most = match spheres.count {
            Count::Known(count) => count,
            Count::Word {
                buffer,
                offset,
                at_most,
            } => {
                let word = Words {
                    buffer,
                    offset,
                    stride: 1,
                };
                (count, layout.count_word) = window(shared, "count", word, 1, 1)?;
                layout.counted = 1;
                at_most
            }
        };
        let most = layout.at_most;
        let place = |what, words: Words<'a>, width| {
            // With no spheres there need be no words.
            if most == 0 {
                return Ok((unused, [0, words.stride]));
            }
            let (window, offset) = window(shared, what, words, width, most)?;
            Ok::<_, Error>((window, [offset, words.stride]))
        };
        let mut values = [unused; 4];
        (values[0], layout.center) = place("centers", spheres.center, 3)?;
        match spheres.radius {
            Radius::Constant(radius) => layout.constant_radius = radius,
            Radius::Words(words) => (values[1], layout.radius) = place("radii", words, 1)?,
        }
        match spheres.motion {
            Motion::Still => layout.motion_kind = MOTION_NONE,
            Motion::Velocity(words) => {
                layout.motion_kind = MOTION_VELOCITY;
                (values[2], layout.motion) = place("velocities", words, 3)?;
            }
            Motion::Previous(words) => {
                layout.motion_kind = MOTION_PREVIOUS;
                (values[2], layout.motion) = place("previous centers", words, 3)?;
            }
        }
        match spheres.groups {
            Groups::Constant(groups) => layout.constant_groups = groups,
            Groups::Words(words) => (values[3], layout.groups) = place("groups", words, 1)?,
        }
        Ok(Self {
            layout,
            count,
            values,
        })
    }
}

/// The bind groups of sources that were used of late: applications go round few.
#[derive(Default)]
pub(super) struct Loads {
    /// The latest first.
    known: Vec<Known>,
}

struct Known {
    windows: Vec<(wgpu::Buffer, u64)>,
    dispatches: Vec<Dispatch>,
}

/// More than the buffers that an application swaps.
const REMEMBERED: usize = 4;

/// What it takes to load a step's spheres from the application's buffers.
pub(super) struct Loading {
    pub(super) layouts: [SourceLayout; 2],
    /// Spheres at most.
    pub(super) spheres: u64,
    /// Whether the motion is given by previous centres.
    pub(super) previous: bool,
    pub(super) stage: Stage,
}

impl Loads {
    /// Makes ready to load one or two sets.
    pub(super) fn prepare(
        &mut self,
        shared: &Shared,
        own: &Buffers,
        first: &DeviceSpheres<'_>,
        second: Option<&DeviceSpheres<'_>>,
    ) -> Result<Loading, Error> {
        let one = Bound::new(shared, own, first)?;
        let other = second
            .map(|second| Bound::new(shared, own, second))
            .transpose()?;
        let previous = |set: &Bound<'_>| set.layout.motion_kind == MOTION_PREVIOUS;
        let mixed = |other: &Bound<'_>| {
            previous(&one) != previous(other)
                && one.layout.motion_kind.min(other.layout.motion_kind) != MOTION_NONE
        };
        if other.as_ref().is_some_and(mixed) {
            return Err(Error::SourceBuffer {
                what: "previous centers",
                problem: "is for one of two sets, and the other has velocities; give both sets \
                          the same"
                    .into(),
            });
        }
        let layouts = [
            one.layout,
            other
                .as_ref()
                .map_or_else(SourceLayout::zeroed, |other| other.layout),
        ];
        let windows: Vec<Window<'_>> = [Some(&one), other.as_ref()]
            .into_iter()
            .flatten()
            .flat_map(|set| [set.count].into_iter().chain(set.values))
            .collect();
        let same = |known: &Known| {
            let known = known.windows.iter();
            known
                .map(|(buffer, offset)| (buffer, *offset))
                .eq(windows.iter().copied())
        };
        match self.known.iter().position(same) {
            Some(at) => self.known[..=at].rotate_right(1),
            None => {
                let dispatches = scoped(&shared.device, || {
                    load(shared, own, &one, other.as_ref())
                })
                .map_err(|error| Error::SourceBuffer {
                    what: "spheres",
                    problem: match error {
                        Error::Device(told) => format!(
                            "cannot be bound; it has to be of the same device, and not destroyed: \
                             {told}"
                        ),
                        other => other.to_string(),
                    },
                })?;
                let windows = (windows.iter())
                    .map(|&(buffer, offset)| (buffer.clone(), offset))
                    .collect();
                self.known.insert(
                    0,
                    Known {
                        windows,
                        dispatches,
                    },
                );
                self.known.truncate(REMEMBERED);
            }
        }
        let mut dispatches = self.known[0].dispatches.clone();
        let widest = shared.limits.max_compute_workgroups_per_dimension;
        for (set, layout) in layouts.iter().enumerate().take(dispatches.len() - 2) {
            dispatches[1 + set].resize(workgroups(layout.at_most.into()), widest);
        }
        Ok(Loading {
            spheres: layouts.iter().map(|layout| u64::from(layout.at_most)).sum(),
            previous: previous(&one) || other.as_ref().is_some_and(previous),
            layouts,
            stage: Stage::new("load", dispatches),
        })
    }

    /// Forgets all, because carom's own buffers are new.
    pub(super) fn clear(&mut self) {
        self.known.clear();
    }
}

/// Names as much of a window as can be bound.
fn name(scope: &mut Scope, name: &'static str, &(buffer, offset): &Window<'_>, most: u64) {
    let size = (buffer.size() / 4 * 4 - offset).min(most);
    scope.words(name, buffer, [offset, size]);
}

fn load(
    shared: &Shared,
    own: &Buffers,
    one: &Bound<'_>,
    other: Option<&Bound<'_>>,
) -> Result<Vec<Dispatch>, Error> {
    let binder = shared.binder();
    let kernels = &shared.load;
    let most = shared.limits.max_storage_buffer_binding_size / 4 * 4;
    let layout = |scope: &mut Scope, name, set| {
        let offset = UploadLayout::source_offset(set);
        scope.one_at::<SourceLayout>(name, &own.source_layouts, offset);
    };
    let mut counts = Scope::default();
    layout(&mut counts, "first_source", 0);
    layout(&mut counts, "second_source", 1);
    let unused = (&own.results, 0);
    name(&mut counts, "first_count", &one.count, most);
    let count = other.map_or(&unused, |other| &other.count);
    name(&mut counts, "second_count", count, most);
    let mut dispatches = vec![binder.dispatch(&kernels.load_params, &[&own.scope, &counts], 1)?];
    let sets = [Some(one), other];
    for (set, kernel) in [&kernels.load_first, &kernels.load_second]
        .into_iter()
        .enumerate()
    {
        let Some(bound) = sets[set] else { continue };
        let mut values = Scope::default();
        layout(&mut values, "source", set);
        for (window, value) in bound
            .values
            .iter()
            .zip(["centers", "radii", "motions", "groups"])
        {
            name(&mut values, value, window, most);
        }
        dispatches.push(binder.dispatch(kernel, &[&own.scope, &values], 1)?);
    }
    dispatches.push(binder.dispatch(&kernels.load_units, &[&own.scope], 1)?);
    Ok(dispatches)
}

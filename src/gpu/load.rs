//! The GPU stage `load`, which reads a step's spheres from the application's buffers.

use bytemuck::Zeroable;

use super::bound_spheres::{BoundSpheres, Window, check_motions};
use super::buffers::Buffers;
use super::device_kernels::DeviceKernels;
use super::device_spheres::DeviceSpheres;
use super::dispatch::{Dispatch, workgroups};
use super::named_buffers::NamedBuffers;
use super::neighbors::Neighbors;
use super::shader::layout::SourceLayout;
use super::stages::Stage;
use super::upload_layout::UploadLayout;
use crate::Error;

/// A cache of the most recently used bind groups for reading spheres from the application's
/// buffers.
#[derive(Default)]
pub(super) struct Loads {
    known: Vec<CachedLoad>,
}

struct CachedLoad {
    /// The application's buffers, each with its binding offset in bytes.
    windows: Vec<(wgpu::Buffer, u64)>,
    /// Whether the spheres are loaded for a neighbour search.
    for_neighbors: bool,
    dispatches: Vec<Dispatch>,
}

/// Number of cached sets of bind groups. Applications are expected to alternate between fewer sets
/// of buffers.
const REMEMBERED: usize = 4;

pub(super) struct Loading {
    pub(super) layouts: [SourceLayout; 2],
    /// Largest number of spheres in the step, in both sets together if the step has two sets.
    pub(super) spheres: u64,
    pub(super) previous: bool,
    pub(super) stage: Stage,
}

impl Loads {
    pub(super) fn load(
        &mut self,
        kernels: &DeviceKernels,
        own: &Buffers,
        neighbors: Option<&Neighbors>,
        first: &DeviceSpheres<'_>,
        second: Option<&DeviceSpheres<'_>>,
    ) -> Result<Loading, Error> {
        let limits = &kernels.context.limits;
        let one = BoundSpheres::new(limits, own, first)?;
        let other = second
            .map(|second| BoundSpheres::new(limits, own, second))
            .transpose()?;
        if let Some(other) = &other {
            check_motions(&one, other)?;
        }
        let layouts = [
            one.layout,
            other
                .as_ref()
                .map_or_else(SourceLayout::zeroed, |other| other.layout),
        ];
        let mut dispatches = self.dispatches(kernels, own, neighbors, &one, other.as_ref())?;
        let widest = limits.max_compute_workgroups_per_dimension;
        for (set, layout) in layouts.iter().enumerate().take(dispatches.len() - 2) {
            dispatches[1 + set].resize(workgroups(layout.at_most.into()), widest);
        }
        Ok(Loading {
            spheres: layouts.iter().map(|layout| u64::from(layout.at_most)).sum(),
            previous: one.previous() || other.as_ref().is_some_and(BoundSpheres::previous),
            layouts,
            stage: Stage::new("load", dispatches),
        })
    }

    fn dispatches(
        &mut self,
        kernels: &DeviceKernels,
        own: &Buffers,
        neighbors: Option<&Neighbors>,
        one: &BoundSpheres<'_>,
        other: Option<&BoundSpheres<'_>>,
    ) -> Result<Vec<Dispatch>, Error> {
        let windows: Vec<Window<'_>> = [Some(one), other]
            .into_iter()
            .flatten()
            .flat_map(|set| [set.count].into_iter().chain(set.values))
            .collect();
        let same = |known: &CachedLoad| {
            let for_neighbors = known.for_neighbors == neighbors.is_some();
            let known = known.windows.iter().map(|(buffer, start)| (buffer, *start));
            for_neighbors && known.eq(windows.iter().map(|window| (window.buffer, window.start)))
        };
        match self.known.iter().position(same) {
            Some(at) => self.known[..=at].rotate_right(1),
            None => {
                let to = neighbors.map_or(&own.named, |neighbors| &neighbors.given);
                let bind = || load(kernels, own, to, one, other);
                let dispatches = kernels.context.scoped(bind).map_err(cannot_be_bound)?;
                let windows = windows
                    .iter()
                    .map(|window| (window.buffer.clone(), window.start));
                let known = CachedLoad {
                    windows: windows.collect(),
                    for_neighbors: neighbors.is_some(),
                    dispatches,
                };
                self.known.insert(0, known);
                self.known.truncate(REMEMBERED);
            }
        }
        Ok(self.known[0].dispatches.clone())
    }

    /// Empties the cache of bind groups. To be called when carom's buffers in these bind groups are
    /// replaced.
    pub(super) fn clear(&mut self) {
        self.known.clear();
    }
}

fn cannot_be_bound(error: Error) -> Error {
    let (problem, source) = match error {
        Error::Device { reason, source } => (
            format!(
                "cannot be bound; use a buffer of the pipeline's device that is not destroyed: \
                 {reason}"
            ),
            source,
        ),
        other => (other.to_string(), None),
    };
    Error::SourceBuffer {
        what: "spheres",
        problem,
        source,
    }
}

/// Binds the shader variable `name` to a part of a buffer: from the start of `window` to the end of
/// the buffer, but at most `most` bytes.
fn name(named: &mut NamedBuffers, name: &'static str, window: &Window<'_>, most: u64) {
    let &Window { buffer, start } = window;
    let size = (buffer.size() / 4 * 4 - start).min(most);
    named.words(name, buffer, [start, size]);
}

fn name_layout(named: &mut NamedBuffers, name: &'static str, own: &Buffers, set: usize) {
    let offset = UploadLayout::source_offset(set);
    named.one_at::<SourceLayout>(name, &own.source_layouts, offset);
}

/// Shader variables of the spheres' attributes: centre, radius, motion and groups, in the order of
/// [`BoundSpheres::values`].
const VALUES: [&str; 4] = ["centers", "radii", "motions", "groups"];

/// Makes the dispatches that read spheres from the application's buffers into the buffers `to`. They read the number of
/// spheres, then the first set of spheres, then the second set if there is one. The last dispatch
/// chooses the unit of length.
fn load(
    kernels: &DeviceKernels,
    own: &Buffers,
    to: &NamedBuffers,
    one: &BoundSpheres<'_>,
    other: Option<&BoundSpheres<'_>>,
) -> Result<Vec<Dispatch>, Error> {
    let binder = kernels.binder();
    let most = kernels.context.limits.max_storage_buffer_binding_size / 4 * 4;
    let unused = Window {
        buffer: &own.results,
        start: 0,
    };
    let mut counts = NamedBuffers::default();
    name_layout(&mut counts, "first_source", own, 0);
    name_layout(&mut counts, "second_source", own, 1);
    name(&mut counts, "first_count", &one.count, most);
    let second = other.map_or(&unused, |other| &other.count);
    name(&mut counts, "second_count", second, most);
    let load_params = match own.walls {
        None => &kernels.load.load_params,
        Some(_) => &kernels.walls()?.load_params_walls,
    };
    let kernels = &kernels.load;
    let mut dispatches = vec![binder.dispatch(load_params, &[to, &counts], 1)?];
    let of_sets = [&kernels.load_first, &kernels.load_second];
    for (set, (kernel, bound)) in of_sets.into_iter().zip([Some(one), other]).enumerate() {
        let Some(bound) = bound else { continue };
        let mut values = NamedBuffers::default();
        name_layout(&mut values, "source", own, set);
        for (value, window) in VALUES.into_iter().zip(&bound.values) {
            name(&mut values, value, window, most);
        }
        dispatches.push(binder.dispatch(kernel, &[to, &values], 1)?);
    }
    dispatches.push(binder.dispatch(&kernels.load_units, &[to], 1)?);
    Ok(dispatches)
}

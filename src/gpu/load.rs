//! Loading of a step's spheres from buffers of the application.

use super::bound_spheres::{BoundSpheres, Window, check_motions};
use super::buffers::{Buffers, SourceLayout};
use super::device_kernels::DeviceKernels;
use super::device_spheres::DeviceSpheres;
use super::record::{Dispatch, Stage, workgroups};
use crate::Error;

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
                .map_or_else(SourceLayout::default, |other| other.layout),
        ];
        let mut dispatches = self.dispatches(kernels, own, &one, other.as_ref())?;
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

    /// Dispatches with these buffers bound, from memory or made anew.
    fn dispatches(
        &mut self,
        kernels: &DeviceKernels,
        own: &Buffers,
        one: &BoundSpheres<'_>,
        other: Option<&BoundSpheres<'_>>,
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
    let (problem, source) = match error {
        Error::Device { reason, source } => (
            format!(
                "cannot be bound; it has to be of the same device, and not destroyed: {reason}"
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
    one: &BoundSpheres<'_>,
    other: Option<&BoundSpheres<'_>>,
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

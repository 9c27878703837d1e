//! The GPU stage `load`, which reads a step's spheres from the application's buffers.

use bytemuck::Zeroable;

use super::bind_cache::BindCache;
use super::bound_spheres::{BoundSpheres, Window, check_motions};
use super::device_spheres::DeviceSpheres;
use crate::Error;
use crate::gpu::collide::buffers::Buffers;
use crate::gpu::collide::stages::Stage;
use crate::gpu::device::context::{Late, cannot_be_bound};
use crate::gpu::device::device_kernels::DeviceKernels;
use crate::gpu::device::dispatch::{Dispatch, workgroups};
use crate::gpu::device::named_buffers::NamedBuffers;
use crate::gpu::device::shader::layout::{SourceLayout, UNIFORM_ALIGNMENT};

#[derive(Default)]
pub(crate) struct Loads {
    of_steps: BindCache<Vec<Dispatch>>,
    of_searches: BindCache<Vec<Dispatch>>,
}

pub(crate) struct Loading {
    pub(crate) layouts: [SourceLayout; 2],
    /// In both sets together.
    pub(crate) spheres: u64,
    pub(crate) previous: bool,
    pub(crate) stage: Stage,
    /// Of the bind groups with the application's buffers.
    pub(crate) late: Late,
}

impl Loads {
    pub(crate) fn load(
        &mut self,
        kernels: &DeviceKernels,
        own: &Buffers,
        searched: Option<&NamedBuffers>,
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
        let (mut dispatches, late) =
            self.dispatches(kernels, own, searched, &one, other.as_ref())?;
        let widest = limits.max_compute_workgroups_per_dimension;
        for (set, layout) in layouts.iter().enumerate().take(dispatches.len() - 2) {
            dispatches[1 + set].resize(workgroups(layout.at_most.into()), widest);
        }
        Ok(Loading {
            spheres: layouts.iter().map(|layout| u64::from(layout.at_most)).sum(),
            previous: one.previous() || other.as_ref().is_some_and(BoundSpheres::previous),
            layouts,
            stage: Stage::new("load", dispatches),
            late,
        })
    }

    fn dispatches(
        &mut self,
        kernels: &DeviceKernels,
        own: &Buffers,
        searched: Option<&NamedBuffers>,
        one: &BoundSpheres<'_>,
        other: Option<&BoundSpheres<'_>>,
    ) -> Result<(Vec<Dispatch>, Late), Error> {
        let windows: Vec<Window<'_>> = [Some(one), other]
            .into_iter()
            .flatten()
            .flat_map(|set| [set.count].into_iter().chain(set.values))
            .collect();
        let (cache, to) = match searched {
            None => (&mut self.of_steps, &own.named),
            Some(given) => (&mut self.of_searches, given),
        };
        let bound = cache.get(&windows, |late| {
            let bind = || load(kernels, own, to, one, other);
            kernels.context.scoped_for(late, bind)
        });
        bound.map_err(cannot_be_bound)
    }

    /// To be called when carom's buffers in the bind groups are replaced.
    pub(crate) fn clear(&mut self) {
        self.of_steps.clear();
        self.of_searches.clear();
    }
}

fn name_layout(named: &mut NamedBuffers, name: &'static str, own: &Buffers, set: usize) {
    let offset = set as u64 * UNIFORM_ALIGNMENT;
    named.one_at::<SourceLayout>(name, &own.source_layouts, offset);
}

/// In the order of [`BoundSpheres::values`].
const VALUES: [&str; 4] = ["centers", "radii", "motions", "groups"];

/// Reads the number of spheres, the first set, then the second, into the buffers `to`. The last
/// dispatch chooses the unit of length.
fn load(
    kernels: &DeviceKernels,
    own: &Buffers,
    to: &NamedBuffers,
    one: &BoundSpheres<'_>,
    other: Option<&BoundSpheres<'_>>,
) -> Result<Vec<Dispatch>, Error> {
    let binder = kernels.binder();
    let limits = &kernels.context.limits;
    let unused = Window {
        buffer: &own.results,
        start: 0,
    };
    let mut counts = NamedBuffers::default();
    name_layout(&mut counts, "first_source", own, 0);
    name_layout(&mut counts, "second_source", own, 1);
    one.count.bind(&mut counts, "first_count", limits);
    let second = other.map_or(&unused, |other| &other.count);
    second.bind(&mut counts, "second_count", limits);
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
            window.bind(&mut values, value, limits);
        }
        dispatches.push(binder.dispatch(kernel, &[to, &values], 1)?);
    }
    dispatches.push(binder.dispatch(&kernels.load_units, &[to], 1)?);
    Ok(dispatches)
}

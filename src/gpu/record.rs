//! The recording of all stages.

use super::buffers::Buffers;
use super::kernels::{
    Compiled, MEASURED, QUANTITIES, RANKED, SCAN_BLOCK, SCAN_WORKGROUP, Stages, WORKGROUP,
};
use crate::shared::tuning::sample_size;

/// Workgroups along x and y, at most `widest` along either.
fn fold(workgroups: u64, widest: u32) -> [u32; 2] {
    if workgroups <= u64::from(widest) {
        return [workgroups as u32, 1];
    }
    let x = (workgroups as f64).sqrt().ceil() as u64;
    [x as u32, workgroups.div_ceil(x) as u32]
}

/// Workgroups for one invocation each.
pub(crate) fn workgroups(count: u64) -> u64 {
    count.div_ceil(u64::from(WORKGROUP))
}

/// One dispatch, ready to be recorded.
#[derive(Clone)]
pub(crate) struct Dispatch {
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
    /// Along x and y.
    workgroups: [u32; 2],
}

impl Dispatch {
    /// The same with so many workgroups, at most `widest` along an axis.
    pub(crate) fn resize(&mut self, workgroups: u64, widest: u32) {
        self.workgroups = fold(workgroups, widest);
    }

    /// Records it.
    pub(crate) fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        let [x, y] = self.workgroups;
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
        pass.dispatch_workgroups(x, y, 1);
    }
}

/// Makes dispatches ready.
#[derive(Clone, Copy)]
pub(crate) struct Binder<'a> {
    pub(crate) device: &'a wgpu::Device,
    /// The most workgroups that a dispatch has along an axis.
    pub(crate) widest: u32,
}

impl Binder<'_> {
    /// Of so many workgroups, with these resources bound from 0 on.
    pub(crate) fn dispatch(
        &self,
        kernel: &Compiled,
        bound: &[wgpu::BindingResource<'_>],
        workgroups: u64,
    ) -> Dispatch {
        let entries: Vec<_> = bound
            .iter()
            .zip(0..)
            .map(|(resource, binding)| wgpu::BindGroupEntry {
                binding,
                resource: resource.clone(),
            })
            .collect();
        Dispatch {
            pipeline: kernel.pipeline.clone(),
            bind_group: self.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("carom"),
                layout: &kernel.layout,
                entries: &entries,
            }),
            workgroups: fold(workgroups, self.widest),
        }
    }

    /// The same with whole buffers.
    pub(crate) fn whole(
        &self,
        kernel: &Compiled,
        bound: &[&wgpu::Buffer],
        workgroups: u64,
    ) -> Dispatch {
        let bound: Vec<_> = bound
            .iter()
            .map(|buffer| buffer.as_entire_binding())
            .collect();
        self.dispatch(kernel, &bound, workgroups)
    }

    /// Exclusive prefix sums of the words of a table, in place: the table, the sums
    /// of its blocks, of the blocks of those, and so on to one block.
    pub(crate) fn scan(&self, kernels: &Stages, table: &[wgpu::Buffer]) -> Vec<Dispatch> {
        let blocks = |sums: &wgpu::Buffer| sums.size() / 4;
        let levels: Vec<[&wgpu::Buffer; 2]> =
            table.windows(2).map(|pair| [&pair[0], &pair[1]]).collect();
        let down = levels
            .iter()
            .map(|level| self.whole(&kernels.scan_reduce, level, blocks(level[1])));
        let last = table.last().map(|last| {
            debug_assert!(last.size() <= 4 * u64::from(SCAN_BLOCK));
            self.whole(&kernels.scan_spine, &[last], 1)
        });
        let up = levels
            .iter()
            .rev()
            .map(|level| self.whole(&kernels.scan_apply, level, blocks(level[1])));
        down.chain(last).chain(up).collect()
    }
}

/// One compute pass.
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    label: String,
    dispatches: Vec<Dispatch>,
}

impl Stage {
    pub(crate) fn new(name: &'static str, dispatches: Vec<Dispatch>) -> Self {
        Self {
            name,
            label: format!("carom {name}"),
            dispatches,
        }
    }
}

/// All stages of a step for buffers as large as they are, made once: to record
/// them makes nothing anew.
pub(crate) struct Recording {
    /// Buffers that begin each step with zeros.
    cleared: Vec<wgpu::Buffer>,
    stages: Vec<Stage>,
}

impl Recording {
    pub(crate) fn new(binder: Binder<'_>, kernels: &Stages, b: &Buffers) -> Self {
        // No fewer spheres have a larger one.
        let sample = sample_size(b.capacity.spheres as usize) as u64;
        let blocks = b.capacity.spheres.div_ceil(SCAN_WORKGROUP.into());
        let proxies = workgroups(b.capacity.spheres + b.capacity.segments);
        let table = &b.table[0];
        let whole =
            |kernel, bound: &[&wgpu::Buffer], workgroups| binder.whole(kernel, bound, workgroups);
        let pairs_bound = [
            &b.params,
            &b.spheres,
            &b.plan,
            table,
            &b.sorted,
            &b.sorted_cells,
            &b.counters,
            &b.pairs,
        ];
        let stages = vec![
            Stage::new(
                "measure",
                vec![
                    whole(
                        &kernels.measure_spacing,
                        &[&b.params, &b.spheres, &b.octaves, &b.samples],
                        sample.div_ceil(MEASURED.into()),
                    ),
                    whole(
                        &kernels.measure_ranks,
                        &[&b.params, &b.samples, &b.ranked],
                        u64::from(QUANTITIES) * sample.div_ceil(RANKED.into()),
                    ),
                    whole(
                        &kernels.measure_curve,
                        &[&b.params, &b.octaves, &b.ranked, &b.samples, &b.space],
                        1,
                    ),
                    whole(
                        &kernels.measure_sizes,
                        &[
                            &b.params,
                            &b.spheres,
                            &b.space,
                            &b.bin_of,
                            &b.segments,
                            &b.bins,
                            &b.counters,
                        ],
                        blocks,
                    ),
                ],
            ),
            Stage::new(
                "plan",
                vec![whole(
                    &kernels.plan,
                    &[&b.params, &b.space, &b.counters, &b.bins, &b.plan],
                    1,
                )],
            ),
            Stage::new(
                "bin",
                vec![whole(
                    &kernels.bin,
                    &[
                        &b.params,
                        &b.spheres,
                        &b.bin_of,
                        &b.segments,
                        &b.plan,
                        &b.cells,
                        &b.binned,
                        table,
                        &b.counters,
                    ],
                    proxies,
                )],
            ),
            Stage::new("scan", binder.scan(kernels, &b.table)),
            Stage::new(
                "scatter",
                vec![whole(
                    &kernels.scatter,
                    &[
                        &b.params,
                        &b.spheres,
                        &b.segments,
                        &b.plan,
                        &b.cells,
                        &b.binned,
                        table,
                        &b.sorted,
                        &b.sorted_cells,
                    ],
                    proxies,
                )],
            ),
            Stage::new("tally", vec![whole(&kernels.tally, &pairs_bound, proxies)]),
            Stage::new(
                "pairs",
                vec![
                    whole(&kernels.pairs, &pairs_bound, proxies),
                    whole(
                        &kernels.results,
                        &[
                            &b.params,
                            &b.plan,
                            &b.space,
                            &b.counters,
                            &b.results,
                            &b.dispatch,
                        ],
                        1,
                    ),
                ],
            ),
        ];
        Self {
            cleared: [&b.octaves, &b.bins, &b.counters, table]
                .map(wgpu::Buffer::clone)
                .into(),
            stages,
        }
    }

    /// Lets more stages follow.
    pub(crate) fn append(&mut self, stages: Vec<Stage>) {
        self.stages.extend(stages);
    }

    /// The stages of a step, in order; `load` comes first.
    pub(crate) fn stages<'a>(&'a self, load: Option<&'a Stage>) -> impl Iterator<Item = &'a Stage> {
        load.into_iter().chain(&self.stages)
    }

    /// Records all stages. `timestamps` has two queries a stage.
    pub(crate) fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        load: Option<&Stage>,
        timestamps: Option<&wgpu::QuerySet>,
    ) {
        for cleared in &self.cleared {
            encoder.clear_buffer(cleared, 0, None);
        }
        for (query, stage) in (0..).step_by(2).zip(self.stages(load)) {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some(&stage.label),
                timestamp_writes: timestamps.map(|query_set| wgpu::ComputePassTimestampWrites {
                    query_set,
                    beginning_of_pass_write_index: Some(query),
                    end_of_pass_write_index: Some(query + 1),
                }),
            });
            for dispatch in &stage.dispatches {
                dispatch.record(&mut pass);
            }
        }
    }
}

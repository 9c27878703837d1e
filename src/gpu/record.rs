//! The recording of all stages.

use super::buffers::Buffers;
use super::kernels::{Compiled, KERNELS, QUANTITIES, SCAN_BLOCK, WORKGROUP, compile};
use crate::cpu::measure::MOST_SAMPLED;

/// All kernels, compiled.
pub(crate) struct Pipelines {
    kernels: Vec<Compiled>,
    /// `pairs`, to count only.
    tally: Compiled,
}

/// Names of the stages, each one compute pass.
pub(crate) const STAGES: [&str; 7] = [
    "measure", "plan", "bin", "scan", "scatter", "tally", "pairs",
];

impl Pipelines {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        Self {
            kernels: KERNELS
                .iter()
                .map(|kernel| compile(device, kernel, &[]))
                .collect(),
            tally: compile(device, &KERNELS[KERNELS.len() - 1], &[("TALLY", 1.0)]),
        }
    }
}

/// Workgroups along x and y, at most `widest` along either.
fn fold(workgroups: u64, widest: u32) -> [u32; 2] {
    if workgroups <= u64::from(widest) {
        return [workgroups as u32, 1];
    }
    let x = (workgroups as f64).sqrt().ceil() as u64;
    [x as u32, workgroups.div_ceil(x) as u32]
}

/// One dispatch, ready to be recorded.
struct Dispatch {
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
    /// Along x and y.
    workgroups: [u32; 2],
}

/// All stages of a step for buffers as large as they are, made once: to record
/// them makes nothing anew.
pub(crate) struct Recording {
    /// Buffers that begin each step with zeros.
    cleared: [wgpu::Buffer; 4],
    /// A compute pass each: its label, and its dispatches.
    stages: Vec<(String, Vec<Dispatch>)>,
}

impl Recording {
    /// Of `widest` workgroups along an axis at most.
    pub(crate) fn new(
        device: &wgpu::Device,
        pipelines: &Pipelines,
        b: &Buffers,
        widest: u32,
    ) -> Self {
        let workgroups = |count: u64| count.div_ceil(u64::from(WORKGROUP));
        let spheres = workgroups(b.capacity.spheres);
        let proxies = workgroups(b.capacity.spheres + b.capacity.segments);
        let mut stages = Vec::new();
        let mut stage = |dispatches: &[(&Compiled, &[&wgpu::Buffer], u64)]| {
            let name: &str = STAGES.get(stages.len()).unwrap_or(&"");
            let label = format!("carom {name}");
            let ready = |&(kernel, bound, workgroups): &(&Compiled, &[&wgpu::Buffer], u64)| {
                let entries: Vec<_> = bound
                    .iter()
                    .zip(0..)
                    .map(|(buffer, binding)| wgpu::BindGroupEntry {
                        binding,
                        resource: buffer.as_entire_binding(),
                    })
                    .collect();
                Dispatch {
                    pipeline: kernel.pipeline.clone(),
                    bind_group: device.create_bind_group(&wgpu::BindGroupDescriptor {
                        label: Some(&label),
                        layout: &kernel.layout,
                        entries: &entries,
                    }),
                    workgroups: fold(workgroups, widest),
                }
            };
            let dispatches = dispatches.iter().map(ready).collect();
            stages.push((label, dispatches));
        };
        let [
            spacing,
            ranks,
            curve,
            sizes,
            plan,
            bin,
            reduce,
            spine,
            apply,
            scatter,
            pairs,
        ] = &pipelines.kernels[..]
        else {
            unreachable!("there are as many pipelines as kernels")
        };
        stage(&[
            (
                spacing,
                &[&b.params, &b.spheres, &b.octaves, &b.samples],
                workgroups(MOST_SAMPLED as u64),
            ),
            (
                ranks,
                &[&b.params, &b.samples, &b.ranked],
                u64::from(QUANTITIES),
            ),
            (
                curve,
                &[&b.params, &b.octaves, &b.ranked, &b.samples, &b.space],
                1,
            ),
            (
                sizes,
                &[
                    &b.params,
                    &b.spheres,
                    &b.space,
                    &b.bin_of,
                    &b.segments,
                    &b.bins,
                    &b.counters,
                ],
                spheres,
            ),
        ]);
        stage(&[(
            plan,
            &[&b.params, &b.space, &b.counters, &b.bins, &b.plan],
            1,
        )]);
        let table = &b.table[0];
        stage(&[(
            bin,
            &[
                &b.params,
                &b.spheres,
                &b.bin_of,
                &b.segments,
                &b.plan,
                &b.cells,
                &b.binned,
                table,
            ],
            proxies,
        )]);

        let blocks = |sums: &wgpu::Buffer| sums.size() / 4;
        let levels: Vec<[&wgpu::Buffer; 2]> = b
            .table
            .windows(2)
            .map(|pair| [&pair[0], &pair[1]])
            .collect();
        let last = [&b.table[b.table.len() - 1]];
        let down = levels
            .iter()
            .map(|level| (reduce, &level[..], blocks(level[1])));
        let up = levels
            .iter()
            .rev()
            .map(|level| (apply, &level[..], blocks(level[1])));
        let scan: Vec<_> = down.chain([(spine, &last[..], 1)]).chain(up).collect();
        debug_assert!(last[0].size() <= 4 * u64::from(SCAN_BLOCK));
        stage(&scan);

        stage(&[(
            scatter,
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
        )]);
        let bound = [
            &b.params,
            &b.spheres,
            &b.plan,
            table,
            &b.sorted,
            &b.sorted_cells,
            &b.counters,
            &b.pairs,
        ];
        stage(&[(&pipelines.tally, &bound, proxies)]);
        stage(&[(pairs, &bound, proxies)]);
        Self {
            cleared: [&b.octaves, &b.bins, &b.counters, &b.table[0]].map(wgpu::Buffer::clone),
            stages,
        }
    }

    /// Records all stages. `timestamps` has two queries a stage.
    pub(crate) fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        timestamps: Option<&wgpu::QuerySet>,
    ) {
        for cleared in &self.cleared {
            encoder.clear_buffer(cleared, 0, None);
        }
        for (query, (label, dispatches)) in (0..).step_by(2).zip(&self.stages) {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some(label),
                timestamp_writes: timestamps.map(|query_set| wgpu::ComputePassTimestampWrites {
                    query_set,
                    beginning_of_pass_write_index: Some(query),
                    end_of_pass_write_index: Some(query + 1),
                }),
            });
            for Dispatch {
                pipeline,
                bind_group,
                workgroups: [x, y],
            } in dispatches
            {
                pass.set_pipeline(pipeline);
                pass.set_bind_group(0, bind_group, &[]);
                pass.dispatch_workgroups(*x, *y, 1);
            }
        }
    }
}

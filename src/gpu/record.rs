//! One recording of all stages.

use super::buffers::Buffers;
use super::kernels::{Compiled, KERNELS, QUANTITIES, SCAN_BLOCK, WORKGROUP, compile};

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

/// Records all stages for a world of `spheres`, of which `sample` stand for
/// all. `timestamps` has two queries a stage. `widest` is the most workgroups
/// along an axis.
pub(crate) fn record(
    device: &wgpu::Device,
    encoder: &mut wgpu::CommandEncoder,
    pipelines: &Pipelines,
    buffers: &Buffers,
    sample: u32,
    widest: u32,
    timestamps: Option<&wgpu::QuerySet>,
) {
    let b = buffers;
    let workgroups = |count: u64| count.div_ceil(u64::from(WORKGROUP));
    let spheres = workgroups(b.capacity.spheres);
    let proxies = workgroups(b.capacity.spheres + b.capacity.segments);
    for cleared in [&b.octaves, &b.bins, &b.counters, &b.table[0]] {
        encoder.clear_buffer(cleared, 0, None);
    }

    let mut stage = 0;
    let mut pass = |dispatches: &[(&Compiled, &[&wgpu::Buffer], u64)]| {
        let label = format!("carom {}", STAGES[stage as usize]);
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some(&label),
            timestamp_writes: timestamps.map(|query_set| wgpu::ComputePassTimestampWrites {
                query_set,
                beginning_of_pass_write_index: Some(2 * stage),
                end_of_pass_write_index: Some(2 * stage + 1),
            }),
        });
        for &(kernel, bound, workgroups) in dispatches {
            let entries: Vec<_> = bound
                .iter()
                .zip(0..)
                .map(|(buffer, binding)| wgpu::BindGroupEntry {
                    binding,
                    resource: buffer.as_entire_binding(),
                })
                .collect();
            let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(&label),
                layout: &kernel.layout,
                entries: &entries,
            });
            let [x, y] = fold(workgroups, widest);
            pass.set_pipeline(&kernel.pipeline);
            pass.set_bind_group(0, &bind_group, &[]);
            pass.dispatch_workgroups(x, y, 1);
        }
        stage += 1;
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
    pass(&[
        (
            spacing,
            &[&b.params, &b.spheres, &b.octaves, &b.samples],
            workgroups(sample.into()),
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
    pass(&[(
        plan,
        &[&b.params, &b.space, &b.counters, &b.bins, &b.plan],
        1,
    )]);
    let table = &b.table[0];
    pass(&[(
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
    pass(&scan);

    pass(&[(
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
    pass(&[(&pipelines.tally, &bound, proxies)]);
    pass(&[(pairs, &bound, proxies)]);
}

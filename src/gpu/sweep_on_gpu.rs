//! The filter of the shaders, one pair at a time: for tests.

use wgpu::util::DeviceExt;

use super::buffers::Params;
use super::detector_backend::Gpu;
use super::kernels::{Binding, Kernel, STAGES, compile};
use super::readback;
use crate::shared::sorted::SortedProxy;

/// A kernel around `sweep` as it stands in `shaders/shared/sweep.wgsl`.
const SOURCE: &str = "
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> steps: array<f32>;
@group(0) @binding(2) var<storage, read> proxies: array<SortedProxy>;
@group(0) @binding(3) var<storage, read_write> found: array<vec2<f32>>;
// What functions beside `sweep` speak of.
@group(0) @binding(4) var<storage, read> plan: Plan;
@group(0) @binding(5) var<storage, read_write> counters: Counters;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&steps) {
        let s = sweep(proxies[2u * id.x], proxies[2u * id.x + 1u], steps[id.x]);
        found[id.x] = vec2<f32>(s.margin, s.bound);
    }
}
";

/// An adapter, whatever it is.
pub(crate) fn adapter() -> Gpu {
    crate::blocking::block_on(Gpu::new(false))
        .unwrap_or_else(|error| panic!("this test needs a graphics adapter: {error}"))
}

/// Margin and bound of each pair: two proxies, and a step.
pub(crate) fn sweep(gpu: &Gpu, pairs: &[([SortedProxy; 2], f32)]) -> Vec<[f32; 2]> {
    let as_shipped = STAGES.iter().find(|kernel| kernel.name == "pairs");
    let kernel = Kernel {
        name: "sweep on its own",
        source: SOURCE,
        constants: &[],
        shared: as_shipped.map_or(&[], |kernel| kernel.shared),
        bindings: &[
            Binding::Uniform,
            Binding::Read,
            Binding::Read,
            Binding::Write,
        ],
    };
    let compiled = compile(&gpu.device, &kernel);
    let buffer = |contents: &[u8], usage| {
        gpu.device
            .create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: None,
                contents,
                usage,
            })
    };
    let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let steps: Vec<f32> = pairs.iter().map(|&(_, dt)| dt).collect();
    let proxies: Vec<[SortedProxy; 2]> = pairs.iter().map(|&(proxies, _)| proxies).collect();
    let size = 8 * pairs.len() as u64;
    let buffers = [
        buffer(&[0; size_of::<Params>()], wgpu::BufferUsages::UNIFORM),
        buffer(bytemuck::cast_slice(&steps), storage),
        buffer(bytemuck::cast_slice(&proxies), storage),
        buffer(&vec![0; size as usize], storage),
    ];
    let entries: Vec<wgpu::BindGroupEntry<'_>> = (0..)
        .zip(&buffers)
        .map(|(binding, buffer)| wgpu::BindGroupEntry {
            binding,
            resource: buffer.as_entire_binding(),
        })
        .collect();
    let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &compiled.layout,
        entries: &entries,
    });
    let mut encoder = super::detector_backend::encoder(&gpu.device);
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&compiled.pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(pairs.len().div_ceil(64) as u32, 1, 1);
    drop(pass);
    let mut found = Vec::new();
    readback::read(
        &gpu.device,
        &gpu.queue,
        encoder,
        &[(&buffers[3], 0, size)],
        &mut found,
    )
    .unwrap_or_else(|error| panic!("{error}"));
    found
}

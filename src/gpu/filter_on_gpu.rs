//! For tests: runs the filter on given pairs.

use wgpu::util::DeviceExt;

use super::detector_backend::{Gpu, encoder};
use crate::Error;
use crate::gpu::device::dispatch::Binder;
use crate::gpu::device::named_buffers::NamedBuffers;
use crate::gpu::device::shader::kernels::{Kernel, compile};
use crate::gpu::device::shader::layout::{GpuStoredProxy, Params};
use crate::gpu::results::read_now;
use crate::shared::sorted::SortedProxy;

/// Runs `filter_pair` of `shaders/shared/filter.wgsl`.
///
/// The near test comes first in a step, and must not reject a pair that `filter_pair` passes.
/// So it runs, too, for every time segment in which the pair may have to be reported. If it
/// rejects one, the margin is that of a certain miss.
const KERNEL: Kernel = Kernel {
    name: "filter",
    file: "filter on its own",
    text: "
#import filter::{Filtered, filter_pair}
#import near::{may_touch, window_of}
#import ownership::{OTHER, ownership}
#import sorted::{SortedProxy, proxy_of}
#import tag::{make_tag}
#import types::{Params, StoredProxy}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> steps: array<u32>;
@group(0) @binding(2) var<storage, read> proxies: array<StoredProxy>;
@group(0) @binding(3) var<storage, read_write> found: array<vec2<u32>>;

// Returns false if `may_touch` rejects the pair in a segment that may contain the closest
// approach, for any cut into 2ⁿ segments, n up to SEGMENT_BITS.
fn is_near(s: Filtered, i: SortedProxy, j: SortedProxy, dt: f32) -> bool {
    for (var power = 0u; power <= SEGMENT_BITS; power++) {
        let count = 1u << power;
        var at = 0i;
        if dt > 0.0 {
            at = i32(s.t / dt * f32(count));
        }
        for (var k = max(at - 1, 0); k <= min(at + 1, i32(count) - 1); k++) {
            let tag = make_tag(0u, power, u32(k));
            if ownership(s, tag, 0u, dt) != OTHER && !may_touch(i, j, window_of(tag, dt)) {
                return false;
            }
        }
    }
    return true;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&steps) {
        let i = proxy_of(proxies[2u * id.x]);
        let j = proxy_of(proxies[2u * id.x + 1u]);
        let dt = bitcast<f32>(steps[id.x]);
        let s = filter_pair(i, j, dt);
        let lost = s.margin >= -s.bound && !is_near(s, i, j, dt);
        found[id.x] = bitcast<vec2<u32>>(vec2<f32>(select(s.margin, -GREATEST, lost), s.bound));
    }
}
",
    entry: "main",
    constants: &[],
};

pub(crate) fn adapter() -> Gpu {
    crate::blocking::block_on(Gpu::new(false, false))
        .unwrap_or_else(|error| panic!("this test needs a graphics adapter: {error}"))
}

/// Returns the margin, which is positive if the spheres touch, and the bound on its error.
pub(crate) fn filter_pairs(gpu: &Gpu, pairs: &[([SortedProxy; 2], f32)]) -> Vec<[f32; 2]> {
    try_filter(gpu, pairs).unwrap_or_else(|error| panic!("{error}"))
}

fn try_filter(gpu: &Gpu, pairs: &[([SortedProxy; 2], f32)]) -> Result<Vec<[f32; 2]>, Error> {
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
    let params = buffer(&[0; size_of::<Params>()], wgpu::BufferUsages::UNIFORM);
    let steps = buffer(bytemuck::cast_slice(&steps), storage);
    let proxies = buffer(bytemuck::cast_slice(&proxies), storage);
    let size = size_of::<[f32; 2]>() as u64 * pairs.len() as u64;
    let found = buffer(&vec![0; size as usize], storage);
    let mut named = NamedBuffers::default()
        .with::<u32>("steps", &steps)
        .with::<GpuStoredProxy>("proxies", &proxies)
        .with::<[u32; 2]>("found", &found);
    named.one::<Params>("params", &params);
    let binder = Binder {
        device: &gpu.device,
        widest: gpu.device.limits().max_compute_workgroups_per_dimension,
    };
    let kernel = compile(&gpu.device, &KERNEL)?;
    let dispatch = binder.dispatch(&kernel, &[&named], pairs.len().div_ceil(64) as u64)?;
    let mut encoder = encoder(&gpu.device);
    dispatch.record(&mut encoder.begin_compute_pass(&Default::default()));
    let mut read = Vec::new();
    let part = [(&found, 0, size)];
    read_now::read(&gpu.device, &gpu.queue, encoder, &part, &mut read)?;
    Ok(read)
}

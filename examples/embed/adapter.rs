//! The choice of a graphics adapter.

use anyhow::Context;

use carom::gpu::wgpu;
use wgpu::DeviceType;

use crate::gpu::Gpu;

/// Opens a wgpu device on the best adapter. Hardware adapters are better than software adapters. With a
/// `surface`, considers only adapters that can present to it.
pub(crate) fn open(
    instance: &wgpu::Instance,
    surface: Option<&wgpu::Surface<'_>>,
) -> anyhow::Result<Gpu> {
    let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    adapters.retain(|adapter| surface.is_none_or(|surface| adapter.is_surface_supported(surface)));
    adapters.sort_by_key(|adapter| rank(adapter.get_info().device_type));
    let adapter = adapters.into_iter().next().context(
        "no graphics adapter was found; install a driver (Mesa's software driver suffices)",
    )?;
    pollster::block_on(Gpu::new(adapter))
}

/// Returns the rank of a type of graphics adapter, 0 for the best.
fn rank(kind: DeviceType) -> u32 {
    match kind {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    }
}

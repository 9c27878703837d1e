//! The shaders: their sources, what they bind, and the pipelines made of them.

use std::fmt::Write as _;

use crate::cpu::measure::{ENOUGH, MOST_SAMPLED, NEAREST, OCTAVES, TRIM};
use crate::cpu::plan;
use crate::exact::GRAZING;
use crate::{MAX_MAGNITUDE, grid, sweep};

/// How a kernel uses one of its bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binding {
    /// A uniform buffer.
    Uniform,
    /// A storage buffer that is only read.
    Read,
    /// A storage buffer.
    Write,
}

/// One shader, and how it is used.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// Name of the file and label of all that is made of it.
    pub(crate) name: &'static str,
    source: &'static str,
    shared: &'static [&'static str],
    /// Its bindings in group 0, in order.
    pub(crate) bindings: &'static [Binding],
}

macro_rules! kernel {
    ($name:literal, [$($shared:literal),*], [$($binding:ident),*]) => {
        Kernel {
            name: $name,
            source: include_str!(concat!("../../shaders/", $name, ".wgsl")),
            shared: &[$(include_str!(concat!("../../shaders/shared/", $shared, ".wgsl"))),*],
            bindings: &[$(Binding::$binding),*],
        }
    };
}

/// Every kernel, in the order of its first use.
pub(crate) const KERNELS: [Kernel; 11] = [
    kernel!("measure_spacing", ["types"], [Uniform, Read, Write, Write]),
    kernel!("measure_ranks", ["types"], [Uniform, Read, Write]),
    kernel!("measure_curve", ["types"], [Uniform, Read, Read, Write]),
    kernel!(
        "measure_sizes",
        ["types", "invocation", "sortable", "opaque", "segments"],
        [Uniform, Read, Read, Write, Write, Write, Write]
    ),
    kernel!(
        "plan",
        ["types", "sortable", "space", "grid"],
        [Uniform, Read, Read, Write, Write]
    ),
    kernel!(
        "bin",
        ["types", "invocation", "opaque", "segments", "grid"],
        [Uniform, Read, Read, Read, Read, Write, Write, Write]
    ),
    kernel!("scan_reduce", [], [Read, Write]),
    kernel!("scan_spine", ["scan_block"], [Write]),
    kernel!("scan_apply", ["scan_block"], [Write, Read]),
    kernel!(
        "scatter",
        ["types", "invocation"],
        [Uniform, Read, Read, Read, Read, Read, Read, Write, Write]
    ),
    kernel!(
        "pairs",
        ["types", "invocation", "opaque", "segments", "grid", "sweep"],
        [Uniform, Read, Read, Read, Read, Read, Write, Write]
    ),
];

/// The constants that shaders share with the host, written from the host's.
fn constants() -> String {
    let mut text = String::new();
    let words: [(&str, u32); 19] = [
        ("SEGMENT_BITS", grid::SEGMENT_BITS),
        ("LEVEL_BITS", grid::LEVEL_BITS),
        ("MAX_LEVELS", grid::MAX_LEVELS as u32),
        ("BINS", grid::BINS as u32),
        ("BIN_BITS", grid::BIN_BITS),
        ("SIZE_SHIFT", grid::SIZE_SHIFT),
        ("FIRST_SIZE", grid::FIRST_SIZE),
        ("OCTAVES", OCTAVES as u32),
        ("ENOUGH", ENOUGH),
        ("TRIM", TRIM as u32),
        ("NEAREST", NEAREST[0]),
        ("NEXT_NEAREST", NEAREST[1]),
        ("LAST_SHIFT", plan::LAST_SHIFT),
        ("FEWEST_HASHED", plan::FEWEST_HASHED),
        ("MOST_SLABS", plan::MOST_SLABS),
        ("GRAZING", GRAZING),
        ("SCAN_BLOCK", SCAN_BLOCK),
        ("MOST_SAMPLED", MOST_SAMPLED as u32),
        ("QUANTITIES", QUANTITIES),
    ];
    let numbers: [(&str, f32); 17] = [
        ("GREATEST", f32::MAX),
        ("MAX_MAGNITUDE", MAX_MAGNITUDE),
        ("U", sweep::U),
        ("LINEAR", sweep::LINEAR),
        ("QUADRATIC", sweep::QUADRATIC),
        ("ABSOLUTE", sweep::ABSOLUTE),
        ("SLOW", sweep::SLOW),
        ("TIME", sweep::TIME),
        ("STILL", sweep::STILL),
        ("MARGIN", grid::MARGIN),
        ("SMALLEST_CELL", grid::SMALLEST_CELL),
        ("LOOK", plan::LOOK),
        ("LOOK_HASHED", plan::LOOK_HASHED),
        ("OWN_RANGES", plan::OWN_RANGES[0]),
        ("OWN_RANGES_HASHED", plan::OWN_RANGES[1]),
        ("COARSER_RANGES", plan::COARSER_RANGES[0]),
        ("COARSER_RANGES_HASHED", plan::COARSER_RANGES[1]),
    ];
    // Writing to a string cannot fail.
    for (name, value) in words {
        let _ = writeln!(text, "const {name}: u32 = {value}u;");
    }
    for (name, value) in numbers {
        let _ = writeln!(text, "const {name}: f32 = {value:e}f;");
    }
    text
}

impl Kernel {
    /// The whole WGSL module: constants, shared definitions, the kernel.
    pub(crate) fn wgsl(&self) -> String {
        let mut text = constants();
        for part in self.shared {
            text.push_str(part);
        }
        text.push_str(self.source);
        text
    }
}

/// What `measure_ranks` ranks: place and velocity along each axis, and two
/// distances.
pub(crate) const QUANTITIES: u32 = 8;

/// Counts that one workgroup of the scan works through.
pub(crate) const SCAN_BLOCK: u32 = 2048;

/// A kernel made ready for a device.
pub(crate) struct Compiled {
    /// What its bind groups look like.
    pub(crate) layout: wgpu::BindGroupLayout,
    /// The pipeline.
    pub(crate) pipeline: wgpu::ComputePipeline,
}

/// Compiles a kernel; `constants` override those of the shader.
pub(crate) fn compile(
    device: &wgpu::Device,
    kernel: &Kernel,
    constants: &[(&str, f64)],
) -> Compiled {
    let label = format!("carom {}", kernel.name);
    let entries: Vec<wgpu::BindGroupLayoutEntry> = kernel
        .bindings
        .iter()
        .zip(0..)
        .map(|(&kind, binding)| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: match kind {
                    Binding::Uniform => wgpu::BufferBindingType::Uniform,
                    _ => wgpu::BufferBindingType::Storage {
                        read_only: kind == Binding::Read,
                    },
                },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        })
        .collect();
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some(&label),
        entries: &entries,
    });
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(&label),
        source: wgpu::ShaderSource::Wgsl(kernel.wgsl().into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(&label),
        layout: Some(
            &device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(&label),
                bind_group_layouts: &[Some(&layout)],
                immediate_size: 0,
            }),
        ),
        module: &module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions {
            constants,
            zero_initialize_workgroup_memory: true,
        },
        cache: None,
    });
    Compiled { layout, pipeline }
}

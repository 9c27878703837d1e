//! Translates GPU kernels from WGSL to SPIR-V with the same options as wgpu.

use std::ffi::CString;

use anyhow::{anyhow, bail, ensure};
use ash::vk::DescriptorType;
use carom::gpu::Kernel;
use naga::back::spv;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{AddressSpace, Module, ShaderStage};

pub(crate) struct Shader {
    pub(crate) entry: CString,
    pub(crate) spirv: Vec<u32>,
    /// Binding numbers and types of the kernel's buffers in bind group 0.
    pub(crate) bindings: Vec<(u32, DescriptorType)>,
}

impl Shader {
    pub(crate) fn new(kernel: &Kernel) -> anyhow::Result<Self> {
        let wgsl = kernel.wgsl()?;
        let module = naga::front::wgsl::parse_str(&wgsl)
            .map_err(|error| anyhow!(error.emit_to_string(&wgsl)))?;
        // The shader validator permits no optional capabilities, because a device may lack them.
        let info =
            Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module)?;
        let bindings = bindings(&module)?;

        let constants = kernel.constants.iter();
        let constants = constants
            .map(|&(name, value)| (name.to_owned(), value))
            .collect();
        let (module, info) = naga::back::pipeline_constants::process_overrides(
            &module,
            &info,
            Some((ShaderStage::Compute, kernel.entry)),
            &constants,
        )?;
        let pipeline = spv::PipelineOptions {
            shader_stage: ShaderStage::Compute,
            entry_point: kernel.entry.to_owned(),
        };
        Ok(Self {
            entry: CString::new(kernel.entry)?,
            spirv: spv::write_vec(&module, &info, &options(&bindings), Some(&pipeline))?,
            bindings,
        })
    }
}

fn bindings(module: &Module) -> anyhow::Result<Vec<(u32, DescriptorType)>> {
    let mut found = Vec::new();
    for (_, variable) in module.global_variables.iter() {
        let Some(binding) = &variable.binding else {
            continue;
        };
        let name = variable.name.as_deref().unwrap_or("a variable");
        ensure!(binding.group == 0, "{name} is not in bind group 0");
        let kind = match variable.space {
            AddressSpace::Uniform => DescriptorType::UNIFORM_BUFFER,
            AddressSpace::Storage { .. } => DescriptorType::STORAGE_BUFFER,
            _ => bail!("{name} is not a buffer"),
        };
        found.push((binding.binding, kind));
    }
    Ok(found)
}

/// Returns the options with which wgpu-hal 30 calls the shader translator naga on RADV, set in
/// `vulkan::Adapter::device_from_raw` and `vulkan::Device::compile_stage`. Every field is explicit, so that a
/// new option of naga is a compile error, not a silent difference from wgpu.
fn options(bindings: &[(u32, DescriptorType)]) -> spv::Options<'static> {
    let binding_map = bindings.iter().map(|&(binding, _)| {
        let target = spv::BindingInfo {
            descriptor_set: 0,
            binding,
            binding_array_size: None,
        };
        (naga::ResourceBinding { group: 0, binding }, target)
    });
    spv::Options {
        // The shaders are translated to SPIR-V 1.6, which belongs to Vulkan 1.3.
        lang_version: (1, 6),
        flags: spv::WriterFlags::LABEL_VARYINGS | spv::WriterFlags::FORCE_POINT_SIZE,
        fake_missing_bindings: false,
        binding_map: binding_map.collect(),
        // `None` permits all SPIR-V capabilities. The GPU kernels need only capabilities that every device
        // has.
        capabilities: None,
        bounds_check_policies: BoundsCheckPolicies {
            index: BoundsCheckPolicy::Restrict,
            // naga adds no checks of buffer accesses, because the device feature `robustBufferAccess2` checks
            // them.
            buffer: BoundsCheckPolicy::Unchecked,
            image_load: BoundsCheckPolicy::Unchecked,
            binding_array: BoundsCheckPolicy::Unchecked,
        },
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::Native,
        force_loop_bounding: true,
        ray_query_initialization_tracking: true,
        trace_ray_argument_validation: true,
        use_storage_input_output_16: false,
        debug_info: None,
        task_dispatch_limits: None,
        mesh_shader_primitive_indices_clamp: true,
        emit_int_div_checks: true,
    }
}

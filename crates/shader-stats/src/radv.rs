//! Compiles GPU kernels with RADV, Mesa's Vulkan driver for AMD GPUs. The compiler of RADV runs without a
//! GPU.

use std::env;
use std::ffi::CStr;
use std::mem::ManuallyDrop;

use anyhow::{Context, anyhow, ensure};
use ash::khr::pipeline_executable_properties as executables;
use ash::{ext, vk};

use crate::shader::Shader;

/// A Vulkan device that compiles GPU kernels but runs none. The device, and all Vulkan objects made on it,
/// live until the process ends.
pub(crate) struct Radv {
    version: String,
    executables: executables::Device,
    device: ash::Device,
}

pub(crate) struct Compiled {
    /// Names and values of the driver's statistics about a GPU kernel, such as its number of registers.
    pub(crate) statistics: Vec<(String, u64)>,
    /// Names and texts of the kernel's intermediate representations and of its assembly. Each name is valid
    /// in a file name.
    pub(crate) texts: Vec<(String, Vec<u8>)>,
}

const INSTALL: &str = "install the Vulkan loader and Mesa's Vulkan drivers (Debian, Ubuntu: \
                       apt-get install libvulkan1 mesa-vulkan-drivers; Fedora: dnf install \
                       vulkan-loader mesa-vulkan-drivers; Arch: pacman -S vulkan-icd-loader \
                       vulkan-radeon), and make sure that neither VK_DRIVER_FILES nor \
                       VK_ICD_FILENAMES selects other drivers";

impl Radv {
    /// Opens a Vulkan device for the given family of AMD GPUs. Returns an error if there is no Vulkan loader,
    /// or no RADV driver with Vulkan 1.3.
    ///
    /// # Safety
    ///
    /// This function sets environment variables. No other thread may access environment variables at the same
    /// time.
    pub(crate) unsafe fn open(family: &str) -> anyhow::Result<Self> {
        for (name, value) in [
            ("RADV_FORCE_FAMILY", family),
            // The shader cache is disabled, because GPU kernels from the cache may lack statistics.
            ("MESA_SHADER_CACHE_DISABLE", "true"),
            // `NODEVICE_SELECT` disables Mesa's device selection layer, which prints a warning without a
            // window system.
            ("NODEVICE_SELECT", "1"),
        ] {
            // SAFETY: the caller guarantees that no other thread accesses the environment variables.
            unsafe { env::set_var(name, value) };
        }
        // SAFETY: loading the system's Vulkan loader is sound, and the loader is never unloaded.
        let entry = unsafe { ash::Entry::load() }
            .map(ManuallyDrop::new)
            .map_err(|error| anyhow!("there is no Vulkan loader ({error}): {INSTALL}"))?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: creating an instance requires that the Vulkan loader is still loaded. The loader and the
        // instance are never destroyed.
        let instance = unsafe { entry.create_instance(&info, None) }
            .map_err(|error| anyhow!("there is no Vulkan driver ({error}): {INSTALL}"))?;
        let (physical, version) = find(&instance)?
            .with_context(|| format!("there is no RADV driver with Vulkan 1.3: {INSTALL}"))?;
        let device = device(&instance, physical)
            .with_context(|| format!("cannot create a device on RADV of {version}"))?;
        Ok(Self {
            version,
            executables: executables::Device::new(&instance, &device),
            device,
        })
    }

    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// Compiles a GPU kernel. The report includes the intermediate representations and the assembly only if
    /// `with_texts` is set, because these texts take longer.
    pub(crate) fn compile(&self, shader: &Shader, with_texts: bool) -> anyhow::Result<Compiled> {
        let bindings = shader.bindings.iter().map(|&(index, kind)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(index)
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        });
        let bindings: Vec<_> = bindings.collect();
        let set = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let module = vk::ShaderModuleCreateInfo::default().code(&shader.spirv);
        let mut flags = vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR;
        if with_texts {
            flags |= vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR;
        }
        let device = &self.device;
        // SAFETY: all Vulkan objects used here belong to this device. They are valid, because this
        // program never destroys any. naga made the SPIR-V from a validated module, and the
        // pipeline layout has all bindings of that module.
        unsafe {
            let sets = [device.create_descriptor_set_layout(&set, None)?];
            let layout = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
            let layout = device.create_pipeline_layout(&layout, None)?;
            let module = device.create_shader_module(&module, None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(&shader.entry);
            let pipeline = vk::ComputePipelineCreateInfo::default()
                .flags(flags)
                .stage(stage)
                .layout(layout);
            let pipeline = device
                .create_compute_pipelines(vk::PipelineCache::null(), &[pipeline], None)
                .map_err(|(_, error)| error)?[0];
            self.ask(pipeline, with_texts)
        }
    }

    /// # Safety
    ///
    /// The pipeline must belong to this device, and have been created with the flag that captures statistics.
    /// With `with_texts`, it must also have been created with the flag that captures intermediate
    /// representations.
    unsafe fn ask(&self, pipeline: vk::Pipeline, with_texts: bool) -> anyhow::Result<Compiled> {
        let info = vk::PipelineInfoKHR::default().pipeline(pipeline);
        // SAFETY: the caller guarantees that the Vulkan pipeline belongs to this device.
        let count = unsafe { self.executables.get_pipeline_executable_properties(&info) }?.len();
        ensure!(
            count == 1,
            "RADV made {count} programs of the kernel, not one"
        );
        let info = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline);
        // SAFETY: the pipeline was created with the flag that captures statistics.
        let statistics = unsafe { self.executables.get_pipeline_executable_statistics(&info) }?;
        let statistics = statistics.iter().map(|statistic| {
            ensure!(
                statistic.format == vk::PipelineExecutableStatisticFormatKHR::UINT64,
                "RADV's statistic {:?} is not an unsigned 64-bit integer",
                statistic.name_as_c_str()
            );
            // SAFETY: the statistic's format is `UINT64`, so `u64` is the valid field of the union.
            let value = unsafe { statistic.value.u64 };
            Ok((text(statistic.name_as_c_str()?), value))
        });
        let statistics = statistics.collect::<anyhow::Result<_>>()?;
        let texts = if with_texts {
            // SAFETY: the pipeline was created with the flag that captures intermediate representations.
            unsafe { self.texts(&info) }?
        } else {
            Vec::new()
        };
        Ok(Compiled { statistics, texts })
    }

    /// # Safety
    ///
    /// `info` must describe a Vulkan pipeline of the device `self.device`. The pipeline must have
    /// been created with the flag `CAPTURE_INTERNAL_REPRESENTATIONS_KHR`.
    unsafe fn texts(
        &self,
        info: &vk::PipelineExecutableInfoKHR<'_>,
    ) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
        let api = &self.executables;
        // This Vulkan call returns only the names and lengths of the driver's texts about a
        // compiled kernel. SAFETY: the pipeline was created with the flag
        // `CAPTURE_INTERNAL_REPRESENTATIONS_KHR`.
        let mut all = unsafe { api.get_pipeline_executable_internal_representations(info) }?;
        let mut texts: Vec<Vec<u8>> = all.iter().map(|one| vec![0; one.data_size]).collect();
        for (one, text) in all.iter_mut().zip(&mut texts) {
            one.p_data = text.as_mut_ptr().cast();
        }
        let mut count = u32::try_from(all.len())?;
        // The Vulkan driver writes its texts about the compiled kernel, such as the assembly, to
        // the buffers in `all`. This calls the function pointer, because the crate ash has no
        // wrapper for this use. SAFETY: `all` is an array of `count` structs, and each struct
        // points to a buffer of `data_size` bytes.
        unsafe {
            (api.fp()
                .get_pipeline_executable_internal_representations_khr)(
                self.device.handle(),
                info,
                &raw mut count,
                all.as_mut_ptr(),
            )
        }
        .result()?;
        let name = |one: &vk::PipelineExecutableInternalRepresentationKHR<'_>| {
            let name = text(one.name_as_c_str()?).to_lowercase();
            let words = name.split(|c: char| !c.is_ascii_alphanumeric());
            let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
            Ok(words.join("-"))
        };
        let names = all.iter().map(name);
        let names = names.collect::<anyhow::Result<Vec<_>>>()?;
        for text in &mut texts {
            while text.last() == Some(&0) {
                text.pop();
            }
        }
        Ok(names.into_iter().zip(texts).collect())
    }
}

fn text(name: &CStr) -> String {
    name.to_string_lossy().into_owned()
}

/// Returns the physical device of RADV and the version of Mesa, or `None` if there is no RADV driver with
/// Vulkan 1.3.
fn find(instance: &ash::Instance) -> anyhow::Result<Option<(vk::PhysicalDevice, String)>> {
    // SAFETY: the Vulkan instance is never destroyed.
    for physical in unsafe { instance.enumerate_physical_devices() }? {
        // SAFETY: the physical device belongs to an instance that is never destroyed.
        let version = unsafe { instance.get_physical_device_properties(physical) }.api_version;
        // Drivers below Vulkan 1.3 are skipped, because the device uses features of Vulkan 1.3.
        if version < vk::API_VERSION_1_3 {
            continue;
        }
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
        // SAFETY: the struct `driver`, which is chained to `properties`, is part of Vulkan 1.2, so a device
        // with Vulkan 1.3 fills it in. The Vulkan instance to which the device belongs is never destroyed.
        unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
        if driver.driver_id == vk::DriverId::MESA_RADV {
            return Ok(Some((physical, text(driver.driver_info_as_c_str()?))));
        }
    }
    Ok(None)
}

/// Makes a Vulkan device with the features that wgpu enables on RADV and that affect compiled kernels.
fn device(instance: &ash::Instance, physical: vk::PhysicalDevice) -> anyhow::Result<ash::Device> {
    let names = [executables::NAME, ext::robustness2::NAME].map(CStr::as_ptr);
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(0)
        .queue_priorities(&[1.0])];
    // With `robustBufferAccess`, GPU kernels check that their loads and stores are within the buffer, which
    // adds instructions.
    let core = vk::PhysicalDeviceFeatures::default().robust_buffer_access(true);
    let mut robustness =
        vk::PhysicalDeviceRobustness2FeaturesEXT::default().robust_buffer_access2(true);
    let mut vulkan13 =
        vk::PhysicalDeviceVulkan13Features::default().shader_zero_initialize_workgroup_memory(true);
    let mut executables = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default()
        .pipeline_executable_info(true);
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names)
        .enabled_features(&core)
        .push_next(&mut robustness)
        .push_next(&mut vulkan13)
        .push_next(&mut executables);
    // SAFETY: `create_device` returns an error if the driver lacks a requested feature or extension. The
    // Vulkan instance to which the device belongs is never destroyed.
    Ok(unsafe { instance.create_device(physical, &info, None) }?)
}

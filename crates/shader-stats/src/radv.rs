//! Mesa's Vulkan driver for AMD GPUs, whose compiler runs without one.

use std::env;
use std::ffi::CStr;
use std::mem::ManuallyDrop;

use anyhow::{Context, anyhow, ensure};
use ash::khr::pipeline_executable_properties as executables;
use ash::{ext, vk};

use crate::shader::Shader;

/// A device that compiles and does nothing else. It and what is made on it end with the process.
pub(crate) struct Radv {
    version: String,
    executables: executables::Device,
    device: ash::Device,
}

/// What the driver tells of a kernel.
pub(crate) struct Compiled {
    /// Numbers by the names that the driver has for them.
    pub(crate) statistics: Vec<(String, u64)>,
    /// The kernel as it was on the way to the assembly, and that, by names fit for files.
    pub(crate) texts: Vec<(String, Vec<u8>)>,
}

/// What to do when there is no RADV.
const INSTALL: &str = "install Mesa's Vulkan drivers (Debian, Ubuntu: apt-get install libvulkan1 \
                       mesa-vulkan-drivers; Fedora: dnf install vulkan-loader mesa-vulkan-drivers; \
                       Arch: pacman -S vulkan-icd-loader vulkan-radeon), and have neither \
                       VK_DRIVER_FILES nor VK_ICD_FILENAMES set to other drivers";

impl Radv {
    /// For a GPU of this family.
    ///
    /// # Safety
    ///
    /// Sets environment variables, so no other thread may read or write any.
    pub(crate) unsafe fn open(family: &str) -> anyhow::Result<Self> {
        for (name, value) in [
            ("RADV_FORCE_FAMILY", family),
            // What comes from the cache may come without statistics.
            ("MESA_SHADER_CACHE_DISABLE", "true"),
            // Mesa's layer that asks a window system for its favourite device, and complains of none.
            ("NODEVICE_SELECT", "1"),
        ] {
            // SAFETY: the caller sees to it.
            unsafe { env::set_var(name, value) };
        }
        // SAFETY: the system's Vulkan loader may be loaded, and is never unloaded.
        let entry = unsafe { ash::Entry::load() }
            .map(ManuallyDrop::new)
            .map_err(|error| anyhow!("there is no Vulkan loader ({error}): {INSTALL}"))?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: the loader stays, and so does the instance.
        let instance = unsafe { entry.create_instance(&info, None) }
            .map_err(|error| anyhow!("there is no Vulkan driver ({error}): {INSTALL}"))?;
        let (physical, version) = find(&instance)?
            .with_context(|| format!("there is no RADV with Vulkan 1.3: {INSTALL}"))?;
        let device = device(&instance, physical)
            .with_context(|| format!("RADV of {version} cannot be used"))?;
        Ok(Self {
            version,
            executables: executables::Device::new(&instance, &device),
            device,
        })
    }

    /// Mesa's version.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// Compiles a kernel. Texts take longer, so they come only if wanted.
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
        // SAFETY: all that is made here is of this device, and is never destroyed. The SPIR-V is what naga
        // has made of a valid module, and the layout has all of its bindings.
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

    /// What the driver tells of a pipeline.
    ///
    /// # Safety
    ///
    /// The pipeline has to be this device's, and to be compiled with what is asked for.
    unsafe fn ask(&self, pipeline: vk::Pipeline, with_texts: bool) -> anyhow::Result<Compiled> {
        let info = vk::PipelineInfoKHR::default().pipeline(pipeline);
        // SAFETY: by the caller.
        let count = unsafe { self.executables.get_pipeline_executable_properties(&info) }?.len();
        ensure!(count == 1, "RADV has made {count} programs of it, not one");
        let info = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline);
        // SAFETY: by the caller.
        let statistics = unsafe { self.executables.get_pipeline_executable_statistics(&info) }?;
        let statistics = statistics.iter().map(|statistic| {
            ensure!(
                statistic.format == vk::PipelineExecutableStatisticFormatKHR::UINT64,
                "RADV tells {:?} in another form than a count",
                statistic.name_as_c_str()
            );
            // SAFETY: the format says which field there is.
            let value = unsafe { statistic.value.u64 };
            Ok((text(statistic.name_as_c_str()?), value))
        });
        let statistics = statistics.collect::<anyhow::Result<_>>()?;
        let texts = if with_texts {
            // SAFETY: by the caller.
            unsafe { self.texts(&info) }?
        } else {
            Vec::new()
        };
        Ok(Compiled { statistics, texts })
    }

    /// # Safety
    ///
    /// The pipeline has to be this device's, and to be compiled with these texts.
    unsafe fn texts(
        &self,
        info: &vk::PipelineExecutableInfoKHR<'_>,
    ) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
        let api = &self.executables;
        // Their names and lengths.
        // SAFETY: by the caller.
        let mut all = unsafe { api.get_pipeline_executable_internal_representations(info) }?;
        let mut texts: Vec<Vec<u8>> = all.iter().map(|one| vec![0; one.data_size]).collect();
        for (one, text) in all.iter_mut().zip(&mut texts) {
            one.p_data = text.as_mut_ptr().cast();
        }
        let mut count = u32::try_from(all.len())?;
        // ash has no function that also gets the texts themselves.
        // SAFETY: there are `count` structs, and each points to as many bytes as it says.
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
            // Theirs are C strings.
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

/// RADV's device and the version of Mesa, if there is one.
fn find(instance: &ash::Instance) -> anyhow::Result<Option<(vk::PhysicalDevice, String)>> {
    // SAFETY: the instance stays, here and in the two calls below.
    for physical in unsafe { instance.enumerate_physical_devices() }? {
        // SAFETY: as above.
        let version = unsafe { instance.get_physical_device_properties(physical) }.api_version;
        // Older ones lack what is asked for below.
        if version < vk::API_VERSION_1_3 {
            continue;
        }
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
        // SAFETY: the device has Vulkan 1.3, where this struct is known.
        unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
        if driver.driver_id == vk::DriverId::MESA_RADV {
            return Ok(Some((physical, text(driver.driver_info_as_c_str()?))));
        }
    }
    Ok(None)
}

/// A device with what wgpu has on RADV, as far as it matters to compiled kernels.
fn device(instance: &ash::Instance, physical: vk::PhysicalDevice) -> anyhow::Result<ash::Device> {
    let names = [executables::NAME, ext::robustness2::NAME].map(CStr::as_ptr);
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(0)
        .queue_priorities(&[1.0])];
    // Loads and stores outside of a buffer do nothing: that costs instructions.
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
    // SAFETY: RADV refuses what it does not have, and the instance stays.
    Ok(unsafe { instance.create_device(physical, &info, None) }?)
}

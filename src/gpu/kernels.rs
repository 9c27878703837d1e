//! The shaders: their sources, what they bind, and the pipelines made of them.

use std::fmt::Write as _;

use super::buffers::INVALID_LISTED;
use crate::MAX_MAGNITUDE;
use crate::shared::tuning::{self, OCTAVES};
use crate::shared::units::LEAST_USUAL;
use crate::shared::{filter as sweep, ownership, segments, size_class, tag};

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
    pub(super) source: &'static str,
    pub(super) shared: &'static [&'static str],
    /// Values of its override constants.
    pub(super) constants: &'static [(&'static str, f64)],
    /// Its bindings in group 0, in order.
    pub(crate) bindings: &'static [Binding],
}

/// A set of kernels, each of which is compiled once a device.
macro_rules! kernels {
    (
        $(#[$doc:meta])* $set:ident, $all:ident:
        $($field:ident: $name:literal $constants:tt [$($shared:literal),*] [$($binding:ident),*];)*
    ) => {
        $(#[$doc])*
        pub(crate) struct $set {
            $(pub(crate) $field: Compiled,)*
        }

        pub(crate) const $all: &[Kernel] = &[$(Kernel {
            name: $name,
            source: include_str!(concat!("../../shaders/", $name, ".wgsl")),
            shared: &[$(include_str!(concat!("../../shaders/shared/", $shared, ".wgsl"))),*],
            constants: &$constants,
            bindings: &[$(Binding::$binding),*],
        }),*];

        impl $set {
            pub(crate) fn new(device: &wgpu::Device) -> Self {
                let mut kernels = $all.iter();
                // In the order of the list, as the fields are.
                let mut next = || match kernels.next() {
                    Some(kernel) => compile(device, kernel),
                    None => unreachable!("there are as many kernels as fields"),
                };
                Self { $($field: next()),* }
            }
        }
    };
}

kernels! {
    /// The kernels of the stages that every step has.
    Stages, STAGES:
    measure_spacing: "measure_spacing" [] ["types", "units", "spheres", "scan_block"]
        [Uniform, Read, Write, Write];
    measure_ranks: "measure_ranks" [] ["types"] [Uniform, Read, Write];
    measure_curve: "measure_curve" [] ["types", "opaque", "segments", "space", "scan_block"]
        [Uniform, Read, Read, Read, Write];
    measure_sizes: "measure_sizes" []
        ["types", "units", "spheres", "invocation", "sortable", "opaque", "segments", "scan_block"]
        [Uniform, Read, Read, Write, Write, Write, Write];
    plan: "plan" [] ["types", "sortable", "space", "grid"] [Uniform, Read, Write, Write, Write];
    bin: "bin" [] ["types", "units", "spheres", "invocation", "opaque", "segments", "grid"]
        [Uniform, Read, Read, Read, Read, Write, Write, Write, Write];
    scan_reduce: "scan_reduce" [] [] [Read, Write];
    scan_spine: "scan_spine" [] ["scan_block"] [Write];
    scan_apply: "scan_apply" [] ["scan_block"] [Write, Read];
    scatter: "scatter" [] ["types", "units", "spheres", "invocation"]
        [Uniform, Read, Read, Read, Read, Read, Read, Write, Write];
    tally: "pairs" [("TALLY", 1.0)]
        ["types", "carom", "units", "invocation", "opaque", "segments", "grid", "sweep", "crowd"]
        [Uniform, Read, Read, Read, Read, Read, Write, Write];
    pairs: "pairs" []
        ["types", "carom", "units", "invocation", "opaque", "segments", "grid", "sweep", "crowd"]
        [Uniform, Read, Read, Read, Read, Read, Write, Write];
    results: "results" [] ["types", "carom", "dispatch", "crowd"]
        [Uniform, Read, Read, Write, Write, Write];
}

kernels! {
    /// The kernels that read a caller's buffers.
    Load, LOAD:
    load_params: "load_params" [] ["types", "sources"]
        [Write, Uniform, Uniform, Read, Read, Write];
    load_first: "load_spheres" [] ["types", "units", "invocation", "opaque", "sources"]
        [Uniform, Uniform, Read, Read, Read, Read, Write, Write];
    load_second: "load_spheres" [("SECOND", 1.0)]
        ["types", "units", "invocation", "opaque", "sources"]
        [Uniform, Uniform, Read, Read, Read, Read, Write, Write];
    load_units: "load_units" [] ["types"] [Write, Write];
}

kernels! {
    /// The kernel of exact readbacks.
    Gather, GATHER:
    gather: "gather" [] ["types", "carom", "invocation"] [Read, Read, Read, Write];
}

kernels! {
    /// The kernels that make more of the list of pairs.
    Reduce, REDUCE:
    earliest_fill: "earliest" [] ["carom", "invocation"] [Read, Read, Write];
    earliest_times: "earliest" [("PASS", 1.0)] ["carom", "invocation"] [Read, Read, Write];
    earliest_partners: "earliest" [("PASS", 2.0)] ["carom", "invocation"] [Read, Read, Write];
    sort_count: "sort_count" [] ["carom", "digit"] [Uniform, Read, Read, Write];
    sort_scatter: "sort_scatter" [] ["carom", "digit"] [Uniform, Read, Read, Read, Write];
    unique_flag: "unique" [] ["carom", "invocation", "dispatch"]
        [Write, Read, Write, Write, Write];
    unique_write: "unique" [("WRITE", 1.0)] ["carom", "invocation", "dispatch"]
        [Write, Read, Write, Write, Write];
    contacts_copy: "contacts" [] ["carom", "invocation"] [Read, Read, Write, Write, Write, Write];
    contacts_rows: "contacts" [("PASS", 1.0)] ["carom", "invocation"]
        [Read, Read, Write, Write, Write, Write];
    contacts_fill: "contacts" [("PASS", 2.0)] ["carom", "invocation"]
        [Read, Read, Write, Write, Write, Write];
    changes_flag: "changes" [] ["carom", "invocation"] [Write, Read, Write, Write, Write, Write];
    changes_write: "changes" [("PASS", 1.0)] ["carom", "invocation"]
        [Write, Read, Write, Write, Write, Write];
    changes_keep: "changes" [("PASS", 2.0)] ["carom", "invocation"]
        [Write, Read, Write, Write, Write, Write];
}

/// The constants that shaders share with the host, written from the host's.
fn constants() -> String {
    let mut text = String::new();
    let words: [(&str, u32); 34] = [
        ("SEGMENT_BITS", tag::SEGMENT_BITS),
        ("LEVEL_BITS", tag::LEVEL_BITS),
        ("MAX_LEVELS", tag::MAX_LEVELS as u32),
        ("BINS", size_class::SIZE_CLASSES as u32),
        ("BIN_BITS", size_class::SIZE_BITS),
        ("SIZE_SHIFT", size_class::SIZE_SHIFT),
        ("FIRST_SIZE", size_class::FIRST_SIZE),
        ("OCTAVES", OCTAVES as u32),
        ("ENOUGH", tuning::MIN_COUNTED_PAIRS),
        ("TRIM", tuning::TRIM_DIVISOR as u32),
        ("NEAREST", tuning::NEAR_RANK),
        ("NEXT_NEAREST", tuning::FAR_RANK),
        ("LAST_SHIFT", tuning::MAX_RANGE_SHIFT),
        ("FEWEST_HASHED", tuning::MIN_HASHED_SLOTS),
        ("MOST_SLABS", tuning::MAX_SLABS_POWER),
        ("WORKGROUP", WORKGROUP),
        ("SCAN_BLOCK", SCAN_BLOCK),
        ("SCAN_WORKGROUP", SCAN_WORKGROUP),
        ("SCAN_EACH", SCAN_BLOCK / SCAN_WORKGROUP),
        ("SORT_BLOCK", SORT_BLOCK),
        ("DIGITS", DIGITS),
        ("POWER_BITS", tag::POWER_BITS),
        ("MOST_SAMPLED", tuning::MAX_SAMPLE as u32),
        ("QUANTITIES", QUANTITIES),
        ("MEASURED", MEASURED),
        ("RANKED", RANKED),
        ("LENGTHS", tuning::SEGMENT_LENGTHS),
        ("WEIGHED", tuning::MAX_WEIGHED as u32),
        ("SPHERES_A_SAMPLE", tuning::SAMPLE_DIVISOR as u32),
        (
            "SPHERES_A_SMALL_SAMPLE",
            tuning::SMALL_SAMPLE_DIVISOR as u32,
        ),
        ("FEWEST_SAMPLED", tuning::MIN_SAMPLE as u32),
        ("FEWEST_OF_FEW_SAMPLED", tuning::MIN_SMALL_SAMPLE as u32),
        ("INVALID_LISTED", INVALID_LISTED as u32),
        ("NO_BIN", u32::MAX),
    ];
    let numbers: [(&str, f32); 24] = [
        ("GREATEST", f32::MAX),
        ("MIN_POSITIVE", f32::MIN_POSITIVE),
        ("MAX_MAGNITUDE", MAX_MAGNITUDE),
        ("EPSILON", sweep::EPSILON),
        ("ROUNDING", sweep::ROUNDING),
        ("LINEAR", sweep::LINEAR),
        ("SQUARES", sweep::SQUARES),
        ("QUADRATIC", sweep::QUADRATIC),
        ("ABSOLUTE", sweep::ABSOLUTE),
        ("SLOW", sweep::SLOW),
        ("SLOWLY", sweep::SLOWLY),
        ("TIME", ownership::TIME),
        ("STILL", ownership::STILL),
        ("SHORTEST", tuning::MIN_SEGMENT_PER_EXTENT),
        ("FINEST", tuning::MIN_CELL_PER_SPACING),
        ("LEAST_USUAL", LEAST_USUAL),
        ("MARGIN", segments::MARGIN),
        ("SMALLEST_CELL", size_class::SMALLEST_CELL),
        ("LOOK", tuning::SEARCH_COST),
        ("LOOK_HASHED", tuning::HASHED_SEARCH_COST),
        ("OWN_RANGES", tuning::OWN_RANGES),
        ("OWN_RANGES_HASHED", tuning::HASHED_OWN_RANGES),
        ("COARSER_RANGES", tuning::COARSER_RANGES),
        ("COARSER_RANGES_HASHED", tuning::HASHED_COARSER_RANGES),
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
/// Spheres of the sample that one workgroup of `measure_spacing` has: where the others
/// are is worked out once for all of these.
pub(crate) const MEASURED: u32 = 4;
/// Spheres of the sample that one workgroup of `measure_ranks` ranks.
pub(crate) const RANKED: u32 = 64;

/// Invocations of a workgroup, where each does one sphere or proxy.
pub(crate) const WORKGROUP: u32 = 64;
/// Invocations of a workgroup of the scan.
pub(crate) const SCAN_WORKGROUP: u32 = 256;
// Where invocations have an octave each, they sum up as the scan does.
const _: () = assert!(OCTAVES as u32 == SCAN_WORKGROUP);
/// Counts that one workgroup of the scan works through.
pub(crate) const SCAN_BLOCK: u32 = 2048;

/// Items that one workgroup of the sort works through.
pub(crate) const SORT_BLOCK: u32 = 256;
/// Bits by which one pass of the sort sorts.
pub(crate) const DIGIT_BITS: u32 = 4;
/// Values that these have.
pub(crate) const DIGITS: u32 = 1 << DIGIT_BITS;

/// A kernel made ready for a device.
pub(crate) struct Compiled {
    /// What its bind groups look like.
    pub(crate) layout: wgpu::BindGroupLayout,
    /// The pipeline.
    pub(crate) pipeline: wgpu::ComputePipeline,
}

/// Compiles a kernel.
pub(crate) fn compile(device: &wgpu::Device, kernel: &Kernel) -> Compiled {
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
            constants: kernel.constants,
            zero_initialize_workgroup_memory: true,
        },
        cache: None,
    });
    Compiled { layout, pipeline }
}

#[cfg(test)]
mod tests {
    use std::mem::{offset_of, size_of};

    use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
    use naga::{AddressSpace, Module, TypeInner};

    use super::*;
    use crate::exact::GRAZING;
    use crate::gpu::buffers::{
        Bin, Binned, CaromCollision, CaromResults, Counters, Frame, Params, Plan, Sampled,
        SourceLayout, Space,
    };
    use crate::gpu::reductions::Digit;
    use crate::gpu::status;
    use crate::shared::grid::Level;
    use crate::shared::segments::Segment;
    use crate::shared::sorted::{SortedCell, SortedProxy};

    fn all() -> impl Iterator<Item = &'static Kernel> {
        [STAGES, LOAD, GATHER, REDUCE].into_iter().flatten()
    }

    fn module(kernel: &Kernel) -> (Module, ModuleInfo) {
        let name = kernel.name;
        let module = naga::front::wgsl::parse_str(&kernel.wgsl())
            .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(&kernel.wgsl())));
        let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
            .validate(&module)
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
        (module, info)
    }

    #[test]
    fn every_shader_is_valid_with_no_capabilities() {
        all().for_each(|kernel| drop(module(kernel)));
    }

    #[test]
    fn every_shader_becomes_spirv_msl_and_hlsl() {
        for kernel in all() {
            let (module, info) = module(kernel);
            let name = kernel.name;
            let constants = naga::back::PipelineConstants::default();
            let (module, info) =
                naga::back::pipeline_constants::process_overrides(&module, &info, None, &constants)
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
            naga::back::spv::write_vec(&module, &info, &naga::back::spv::Options::default(), None)
                .unwrap_or_else(|error| panic!("{name} as SPIR-V: {error}"));
            let options = naga::back::msl::Options {
                fake_missing_bindings: true,
                ..Default::default()
            };
            naga::back::msl::write_string(&module, &info, &options, &Default::default())
                .unwrap_or_else(|error| panic!("{name} as MSL: {error}"));
            let options = naga::back::hlsl::Options {
                fake_missing_bindings: true,
                ..Default::default()
            };
            let mut text = String::new();
            naga::back::hlsl::Writer::new(&mut text, &options, &Default::default())
                .write(&module, &info, None)
                .unwrap_or_else(|error| panic!("{name} as HLSL: {error}"));
        }
    }

    /// What a shader declares is what the host binds, and no more than every
    /// device has.
    #[test]
    fn bindings_are_as_declared_and_at_most_eight_storage_buffers() {
        let readme = include_str!("../../README.md").replace('\n', " ");
        for kernel in all() {
            let (module, _) = module(kernel);
            let mut declared: Vec<_> = module
                .global_variables
                .iter()
                .filter_map(|(_, variable)| {
                    Some((variable.binding.as_ref()?.binding, variable.space))
                })
                .collect();
            declared.sort_by_key(|&(binding, _)| binding);
            let expected: Vec<_> = kernel
                .bindings
                .iter()
                .zip(0..)
                .map(|(kind, binding)| {
                    let load = naga::StorageAccess::LOAD;
                    let space = match kind {
                        Binding::Uniform => AddressSpace::Uniform,
                        Binding::Read => AddressSpace::Storage { access: load },
                        Binding::Write => AddressSpace::Storage {
                            access: load | naga::StorageAccess::STORE,
                        },
                    };
                    (binding, space)
                })
                .collect();
            assert_eq!(declared, expected, "{}", kernel.name);
            let storage = kernel
                .bindings
                .iter()
                .filter(|&&kind| kind != Binding::Uniform)
                .count();
            assert!(
                storage <= 8,
                "{} binds {storage} storage buffers",
                kernel.name
            );
            let told = format!("`{}` {storage}", kernel.name);
            assert!(readme.contains(&told), "README.md does not say {told}");
        }
    }

    /// What users' shaders are given stands by itself, and says the same as the host.
    #[test]
    fn the_text_for_consumers_is_valid_on_its_own_and_has_the_hosts_constants() {
        let text = include_str!("../../shaders/shared/carom.wgsl");
        let module = naga::front::wgsl::parse_str(text)
            .unwrap_or_else(|error| panic!("{}", error.emit_to_string(text)));
        Validator::new(ValidationFlags::all(), Capabilities::empty())
            .validate(&module)
            .unwrap_or_else(|error| panic!("{error:?}"));
        let constant = |name: &str| {
            let found = module
                .constants
                .iter()
                .find(|(_, c)| c.name.as_deref() == Some(name));
            found.and_then(|(_, c)| match module.global_expressions[c.init] {
                naga::Expression::Literal(naga::Literal::U32(value)) => Some(value),
                _ => None,
            })
        };
        assert_eq!(constant("CAROM_GRAZING"), Some(GRAZING));
        assert_eq!(constant("CAROM_WORKGROUP"), Some(WORKGROUP));
        for (name, bit) in [
            ("CAROM_TRUNCATED", status::TRUNCATED),
            ("CAROM_TOO_MANY_SEGMENTS", status::TOO_MANY_SEGMENTS),
            ("CAROM_TOO_CROWDED", status::TOO_CROWDED),
            ("CAROM_TOO_MANY_SPHERES", status::TOO_MANY_SPHERES),
            ("CAROM_INVALID_SPHERES", status::INVALID_SPHERES),
            ("CAROM_UNFINISHED", status::UNFINISHED),
        ] {
            assert_eq!(constant(name), Some(bit), "{name}");
        }
    }

    #[test]
    fn workgroups_are_small_enough_for_every_device() {
        let limits = wgpu::Limits::default();
        for kernel in all() {
            let (module, info) = module(kernel);
            let entry = &module.entry_points[0];
            let [x, y, z] = entry.workgroup_size;
            assert!(
                x * y * z <= limits.max_compute_invocations_per_workgroup,
                "{}",
                kernel.name
            );
            let mut layouter = naga::proc::Layouter::default();
            layouter
                .update(module.to_ctx())
                .unwrap_or_else(|error| panic!("{error}"));
            let shared: u32 = module
                .global_variables
                .iter()
                .filter(|&(handle, variable)| {
                    variable.space == AddressSpace::WorkGroup
                        && !info.get_entry_point(0)[handle].is_empty()
                })
                .map(|(_, variable)| layouter[variable.ty].size)
                .sum();
            assert!(
                shared <= limits.max_compute_workgroup_storage_size,
                "{}: {shared} bytes",
                kernel.name
            );
        }
    }

    /// Size and offsets of a struct's members in WGSL, by name.
    fn wgsl_layout(name: &str) -> (u32, Vec<(String, u32)>) {
        for kernel in all() {
            let (module, _) = module(kernel);
            let mut layouter = naga::proc::Layouter::default();
            layouter
                .update(module.to_ctx())
                .unwrap_or_else(|error| panic!("{error}"));
            for (handle, kind) in module.types.iter() {
                if let (Some(own), TypeInner::Struct { members, .. }) = (&kind.name, &kind.inner)
                    && own == name
                {
                    let members = members
                        .iter()
                        .map(|member| (member.name.clone().unwrap_or_default(), member.offset))
                        .filter(|(name, _)| !name.starts_with("unused"));
                    return (layouter[handle].size, members.collect());
                }
            }
        }
        panic!("no shader has a struct {name}");
    }

    macro_rules! assert_same_layout {
        ($($type:ident { $($member:ident),* })*) => {$(
            let (size, members) = wgsl_layout(stringify!($type));
            let host: Vec<(String, u32)> =
                vec![$((stringify!($member).to_owned(), offset_of!($type, $member) as u32)),*];
            assert_eq!(members, host, "{}", stringify!($type));
            assert_eq!(size as usize, size_of::<$type>(), "{}", stringify!($type));
        )*};
    }

    #[test]
    fn structs_are_laid_out_alike_in_wgsl_and_rust() {
        use crate::Sphere;
        assert_same_layout! {
            Params {
                spheres, split, dt, zero, segment_capacity, pair_capacity, slots, shortest_segment, sample,
                most_candidates_low, most_candidates_high, watch, length_power, velocity_power, time_unit, serial
            }
            Sphere { center, radius, velocity, groups }
            Counters {
                segments, candidates, pairs, finished, spheres_needed, invalid, invalid_index, extent,
                fullest, used
            }
            SourceLayout {
                center, radius, motion, groups, constant_radius, constant_groups, motion_kind, count_word,
                counted, at_most, used
            }
            CaromCollision { a, b_and_grazing, toi, depth }
            CaromResults {
                status, pairs, found, candidates, segments, spheres, split, invalid, spheres_needed,
                proxies, levels, segment, sorted, began, lasted, ended, columns, sorted_columns,
                serial, invalid_index
            }
            Digit { word, shift, distinct }
            Frame { origin, drift }
            Space { log_others, frame, trimmed_low, segment, trimmed_high }
            Sampled { log_distance, radius, middle, velocity }
            Bin { count, inside, half_cell, low, high }
            Segment { sphere, number }
            Level {
                origin, first_slot, dims, first_hashed, cell, inverse_cell, hash_mask, time_power, of_set,
                reach
            }
            Plan { levels, slots, proxies, sorted, frame, level, level_of_bin }
            Binned { slot, place }
            SortedProxy { center, radius, velocity, sphere }
            SortedCell { cell, tag }
        }
    }
}

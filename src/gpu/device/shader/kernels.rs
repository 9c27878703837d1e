//! The table of all kernels, and their compilation.

use super::bindings::{self, Access, Binding};
use super::constants::prelude;
use super::import::{PARTS, name_of, resolve};
use crate::Error;

/// A kernel: an entry point of a WGSL compute shader, with the values of the shader's override
/// constants.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Name of the kernel in carom's table of kernels.
    pub name: &'static str,
    pub(crate) file: &'static str,
    pub(crate) text: &'static str,
    /// Name of the entry point in the WGSL file.
    pub entry: &'static str,
    /// Names and values of the WGSL override constants.
    pub constants: &'static [(&'static str, f64)],
}

macro_rules! kernel {
    ($name:ident, $file:literal, $entry:literal, $constants:tt) => {
        Kernel {
            name: stringify!($name),
            file: name_of($file),
            text: include_str!(concat!("../../../../shaders/", $file, ".wgsl")),
            entry: $entry,
            constants: &$constants,
        }
    };
}

/// Defines a struct of compiled kernels, and their list. A line has the field, the WGSL file,
/// the entry point and the override constants.
macro_rules! kernels {
    (
        $(#[$doc:meta])* $set:ident, $all:ident:
        $($field:ident: $file:literal, $entry:literal, $constants:tt;)*
    ) => {
        $(#[$doc])*
        pub(crate) struct $set {
            $(pub(crate) $field: Compiled,)*
        }

        impl $set {
            pub(crate) fn new(device: &wgpu::Device) -> Result<Self, Error> {
                Ok(Self {
                    $($field: compile(device, &kernel!($field, $file, $entry, $constants))?,)*
                })
            }
        }

        const $all: &[Kernel] = &[$(kernel!($field, $file, $entry, $constants)),*];
    };
}

kernels! {
    Stages, STAGES:
    measure_spacing: "collide/measure_spacing", "main", [];
    measure_ranks: "collide/measure_ranks", "main", [];
    measure_curve: "collide/measure_curve", "main", [];
    measure_sizes: "collide/measure_sizes", "main", [];
    plan: "collide/plan", "main", [];
    bin: "collide/bin", "main", [];
    scan_reduce: "collide/scan_reduce", "main", [];
    scan_apply: "collide/scan_apply", "main", [];
    scan_apply_scanned: "collide/scan_apply", "main", [("SUMS_ARE_SCANNED", 1.0)];
    scatter: "collide/scatter", "main", [];
    pairs: "collide/pairs", "main", [];
    results: "collide/results", "main", [];
}

kernels! {
    Periodic, PERIODIC:
    lattice_units: "periodic/lattice_units", "main", [];
    wrap: "periodic/wrap", "main", [];
    place_cell: "periodic/place_cell", "main", [];
    images: "periodic/images", "main", [];
    images_count: "periodic/images", "count", [];
    pairs_periodic: "periodic/pairs_periodic", "main", [];
    pair_images: "periodic/pair_images", "main", [];
}

kernels! {
    Decide, DECIDE:
    decide: "collide/decide", "main", [];
    decide_periodic: "periodic/decide_periodic", "main", [];
}

kernels! {
    /// Order and pack the list for a `Detector`.
    OrderKernels, ORDER:
    rows_count: "reduce/rows", "count", [];
    rows_place: "reduce/rows", "place", [];
    rows_rank: "reduce/rows", "rank", [];
    rows_images_count: "reduce/rows_images", "count", [];
    rows_images_place: "reduce/rows_images", "place", [];
    rows_images_rank: "reduce/rows_images", "rank", [];
}

kernels! {
    Load, LOAD:
    load_params: "collide/load_params", "main", [];
    load_first: "collide/load_spheres", "first_set", [];
    load_second: "collide/load_spheres", "second_set", [];
    load_units: "collide/load_units", "main", [];
}

kernels! {
    /// Copies each pair with its two spheres, for the exact result on the host.
    Gather, GATHER:
    gather: "collide/gather", "main", [];
}

kernels! {
    /// The compute shaders of the reductions.
    Reduce, REDUCE:
    earliest_fill: "reduce/earliest", "fill", [];
    earliest_times: "reduce/earliest", "times", [];
    earliest_partners: "reduce/earliest", "partners", [];
    sort_count: "reduce/sort_rows", "count", [];
    sort_place: "reduce/sort_rows", "place", [];
    sort_rank: "reduce/sort_runs", "rank", [];
    sort_merge: "reduce/sort_runs", "merge", [];
    unique_flag: "reduce/unique", "flag", [];
    unique_write: "reduce/unique", "write", [];
    contacts_count: "reduce/contact_rows", "count", [];
    contacts_place: "reduce/contact_rows", "place", [];
    contacts: "reduce/contacts", "main", [];
    changes_flag: "reduce/changes", "flag", [];
    changes_write: "reduce/changes", "write", [];
    changes_keep: "reduce/changes", "keep", [];
    sort_images_place: "reduce/sort_rows", "place", [("IMAGES", 1.0)];
    unique_images_write: "reduce/unique", "write", [("IMAGES", 1.0)];
    earliest_images_fill: "reduce/earliest_images", "fill", [];
    earliest_images: "reduce/earliest_images", "images", [];
    changes_images_flag: "reduce/changes_images", "flag", [];
    changes_images_write: "reduce/changes_images", "write", [];
    changes_images_keep: "reduce/changes_images", "keep", [];
}

kernels! {
    /// The compute shaders of neighbour lists.
    Neighbors, NEIGHBORS:
    neighbors_compare: "neighbors/neighbors_check", "compare", [];
    neighbors_decide: "neighbors/neighbors_check", "decide", [];
    neighbors_copy: "neighbors/neighbors_copy", "main", [];
    neighbors_half: "neighbors/neighbors_half", "main", [];
    neighbors_full: "neighbors/neighbors_full", "main", [];
    neighbors_finish: "neighbors/neighbors_finish", "main", [];
    neighbor_vectors: "neighbors/neighbor_vectors", "main", [];
}

kernels! {
    WallKernels, WALLS:
    load_params_walls: "collide/load_params", "main", [("LOAD_ONE_OF_TWO", 1.0)];
    walls: "walls/walls", "main", [];
    triangles: "walls/triangles", "main", [];
    wall_results: "walls/wall_results", "main", [];
    mesh_status: "walls/mesh_status", "main", [];
    gather_walls: "walls/gather_walls", "main", [];
    wall_times: "walls/wall_earliest", "times", [];
    wall_partners: "walls/wall_earliest", "partners", [];
    wall_first_images: "walls/wall_earliest_images", "main", [];
}

kernels! {
    /// The compute shaders of hard-sphere dynamics.
    Dynamics, DYNAMICS:
    simulation_begin: "dynamics/simulation_begin", "main", [];
    simulation_load: "dynamics/simulation_load", "main", [];
    simulation_plan: "dynamics/simulation_plan", "main", [];
    simulation_walls: "dynamics/simulation_walls", "main", [];
    simulation_pad: "dynamics/simulation_pad", "main", [];
    simulation_search: "dynamics/simulation_search", "main", [];
    simulation_near: "dynamics/simulation_near", "main", [];
    simulation_bounds: "dynamics/simulation_bounds", "main", [];
    simulation_near_search: "dynamics/simulation_search", "main", [("SEARCH_TRIANGLES", 1.0)];
    simulation_count: "dynamics/simulation_candidates", "main", [];
    simulation_near_count: "dynamics/simulation_triangles", "main", [];
    simulation_fill: "dynamics/simulation_fill", "spheres", [];
    simulation_near_fill: "dynamics/simulation_fill", "triangles", [];
    simulation_find: "dynamics/simulation_find", "main", [];
    simulation_find_meshes: "dynamics/simulation_find", "main", [("MESHES", 1.0)];
    simulation_strike: "dynamics/simulation_strike", "main", [];
    simulation_continue: "dynamics/simulation_continue", "main", [];
    simulation_left: "dynamics/simulation_left", "main", [];
    simulation_widen: "dynamics/simulation_widen", "main", [];
    simulation_near_widen: "dynamics/simulation_widen_triangles", "main", [];
    simulation_verify: "dynamics/simulation_continue", "verify", [];
    simulation_settle: "dynamics/simulation_settle", "main", [];
    simulation_judge: "dynamics/simulation_judge", "main", [];
    simulation_list: "dynamics/simulation_list", "main", [];
    simulation_commit: "dynamics/simulation_commit", "main", [];
    simulation_positions: "dynamics/simulation_store", "positions", [];
    simulation_velocities: "dynamics/simulation_store", "velocities", [];
}

kernels! {
    /// In place of those of [`Dynamics`], or besides.
    Rests, RESTS:
    resting_find: "dynamics/simulation_find", "main", [("RESTS", 1.0), ("MESHES", 1.0)];
    resting_strike: "dynamics/simulation_strike", "main", [("RESTS", 1.0)];
    resting_touch: "dynamics/simulation_touch", "main", [("RESTS", 1.0)];
    resting_begin: "dynamics/simulation_sweep", "begin", [("RESTS", 1.0)];
    resting_sweep: "dynamics/simulation_sweep", "main", [("RESTS", 1.0)];
    resting_sweeps: "dynamics/simulation_sweep", "all_sweeps", [("RESTS", 1.0)];
    resting_settle: "dynamics/simulation_settle", "main", [("RESTS", 1.0)];
    resting_list: "dynamics/simulation_list", "main", [("RESTS", 1.0)];
    resting_commit: "dynamics/simulation_commit", "main", [("RESTS", 1.0)];
}

/// Returns all kernels.
pub fn all() -> impl Iterator<Item = &'static Kernel> {
    [
        STAGES, PERIODIC, DECIDE, ORDER, LOAD, GATHER, REDUCE, NEIGHBORS, WALLS, DYNAMICS, RESTS,
    ]
    .into_iter()
    .flatten()
}

impl Kernel {
    /// Returns the complete WGSL module of the kernel: the constants shared with Rust, the imported
    /// shared files, and the kernel's own file.
    ///
    /// # Errors
    /// Returns [`Error::Device`] if an `#import` or `#needs` line in a shader file is invalid.
    pub fn wgsl(&self) -> Result<String, Error> {
        let module = resolve(self.text, PARTS).map_err(|bad| self.error(&bad))?;
        Ok(prelude() + &module)
    }

    pub(crate) fn bindings(&self) -> Result<Vec<Binding>, Error> {
        bindings::parse(self.text)
            .map_err(|line| self.error(&format_args!("expected the next binding, found `{line}`")))
    }

    fn error(&self, problem: &dyn std::fmt::Display) -> Error {
        Error::device(format!(
            "carom's shader `{}` is invalid: {problem}",
            self.file
        ))
    }
}

pub(crate) struct Compiled {
    pub(crate) name: &'static str,
    pub(crate) label: String,
    pub(crate) bindings: Vec<Binding>,
    pub(crate) layout: wgpu::BindGroupLayout,
    pub(crate) pipeline: wgpu::ComputePipeline,
}

fn layout_entry((index, binding): (u32, &Binding)) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding: index,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: match binding.access {
                Access::Uniform => wgpu::BufferBindingType::Uniform,
                Access::Read => wgpu::BufferBindingType::Storage { read_only: true },
                Access::Write => wgpu::BufferBindingType::Storage { read_only: false },
            },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    }
}

pub(crate) fn compile(device: &wgpu::Device, kernel: &Kernel) -> Result<Compiled, Error> {
    let label = match kernel.entry {
        "main" => format!("carom {}", kernel.file),
        entry => format!("carom {} {entry}", kernel.file),
    };
    let bindings = kernel.bindings()?;
    let entries: Vec<_> = (0..).zip(&bindings).map(layout_entry).collect();
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some(&label),
        entries: &entries,
    });
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(&label),
        source: wgpu::ShaderSource::Wgsl(kernel.wgsl()?.into()),
    });
    let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(&label),
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(&label),
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: Some(kernel.entry),
        compilation_options: wgpu::PipelineCompilationOptions {
            constants: kernel.constants,
            zero_initialize_workgroup_memory: true,
        },
        cache: None,
    });
    Ok(Compiled {
        name: kernel.name,
        label,
        bindings,
        layout,
        pipeline,
    })
}

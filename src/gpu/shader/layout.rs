//! The structures in the GPU buffers. Each is the twin of a structure in `shaders/` with the same
//! fields, and the comments there describe the fields. The name of a structure begins with `Gpu` if
//! the CPU backend has one with the plain name. Structures that the stages exchange are in
//! `shaders/shared/types.wgsl`, results in `shaders/shared/carom.wgsl`, and the layout of the
//! application's buffers in `shaders/shared/sources.wgsl`. `Params::new` has a twin in
//! `shaders/load_params.wgsl`, and `Gathered` has one in `shaders/gather.wgsl`.

use bytemuck::{Pod, Zeroable};

use super::constants::{FLAG_TWO_SETS, INVALID_LISTED};
use crate::Sphere;
use crate::shared::sets::Sets;
use crate::shared::size_class::SIZE_CLASSES;
use crate::shared::tag::MAX_LEVELS;
use crate::shared::tuning::{OCTAVES, sample_size};
use crate::shared::units::Units;

/// Alignment in bytes that every device accepts for the offset of a uniform buffer binding.
pub(crate) const UNIFORM_ALIGNMENT: u64 = 256;

/// A type of the values in a buffer: the buffer holds one value or an array of values.
pub(crate) trait Element: Pod {
    /// Name of the type in WGSL.
    const WGSL: &'static str;
}

impl Element for u32 {
    const WGSL: &'static str = "u32";
}

impl Element for [u32; 2] {
    const WGSL: &'static str = "vec2<u32>";
}

impl Element for [u32; 4] {
    const WGSL: &'static str = "vec4<u32>";
}

impl Element for Sphere {
    const WGSL: &'static str = "Sphere";
}

/// Size of a structure in bytes, its name in WGSL, and the names and offsets of its fields.
#[cfg(test)]
pub(super) struct StructLayout {
    pub(super) wgsl: &'static str,
    pub(super) size: usize,
    pub(super) fields: &'static [(&'static str, usize)],
}

/// Defines structures, each with its name in WGSL. Fields whose names begin with `unused` are
/// padding.
macro_rules! layouts {
    ($(
        $(#[$doc:meta])*
        struct $name:ident = $wgsl:literal {
            $($(#[$field_doc:meta])* $field:ident: $type:ty,)*
        }
    )*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug, Pod, Zeroable)]
            pub(crate) struct $name {
                $($(#[$field_doc])* pub(crate) $field: $type,)*
            }

            impl Element for $name {
                const WGSL: &'static str = $wgsl;
            }
        )*

        /// The layouts of all structures. A test compares them with the layouts in WGSL.
        #[cfg(test)]
        pub(super) const LAYOUTS: &[StructLayout] = &[$(StructLayout {
            wgsl: $wgsl,
            size: size_of::<$name>(),
            fields: &[$((stringify!($field), std::mem::offset_of!($name, $field))),*],
        }),*];
    };
}

layouts! {
    /// Parameters of a step.
    struct Params = "Params" {
        spheres: u32,
        b_offset: u32,
        dt: f32,
        zero: u32,
        segment_capacity: u32,
        pair_capacity: u32,
        slots: u32,
        shortest_segment: f32,
        sample: u32,
        most_candidates_low: u32,
        most_candidates_high: u32,
        flags: u32,
        length_power: i32,
        velocity_power: i32,
        time_unit: f32,
        serial: u32,
    }

    /// Counters that the stages of a step increment. A count of segments, candidates or pairs has
    /// 64 bits, in two words, the low word first.
    struct Counters = "Counters" {
        segments: [u32; 2],
        candidates: [u32; 2],
        pairs: [u32; 2],
        finished: u32,
        spheres_needed: u32,
        invalid: u32,
        invalid_index: [u32; INVALID_LISTED],
        extent: u32,
        fullest: u32,
        used: [u32; SIZE_CLASSES / 32],
    }

    /// Layout of the application's buffers: where the values of the spheres are.
    struct SourceLayout = "SourceLayout" {
        center: [u32; 2],
        radius: [u32; 2],
        motion: [u32; 2],
        groups: [u32; 2],
        constant_radius: f32,
        constant_groups: u32,
        motion_kind: u32,
        count_word: u32,
        counted: u32,
        at_most: u32,
        used: u32,
        unused: u32,
    }

    /// A pair in the list of pairs.
    struct CaromCollision = "CaromCollision" {
        a: u32,
        b_and_grazing: u32,
        toi: f32,
        depth: f32,
    }

    /// Results of a step, written by the GPU.
    struct CaromResults = "CaromResults" {
        status: u32,
        pairs: u32,
        found: [u32; 2],
        candidates: [u32; 2],
        segments: [u32; 2],
        spheres: u32,
        b_offset: u32,
        invalid: u32,
        spheres_needed: u32,
        proxies: u32,
        levels: u32,
        segment: f32,
        sorted: u32,
        began: u32,
        lasted: u32,
        ended: u32,
        columns: u32,
        sorted_columns: u32,
        serial: u32,
        invalid_index: [u32; INVALID_LISTED],
    }

    /// The frame: the moving origin from which cells are counted.
    struct GpuFrame = "Frame" {
        origin: [f32; 3],
        unused: f32,
        drift: [f32; 3],
        unused_too: f32,
    }

    /// Measured values of one sampled sphere.
    struct Sampled = "Sampled" {
        log_distance: [f32; 2],
        radius: f32,
        unused: f32,
        middle: [f32; 3],
        unused_too: f32,
        velocity: [f32; 3],
        unused_as_well: f32,
    }

    /// Median and trimmed range of one quantity of the sampled spheres. The trimmed range leaves
    /// out the most extreme values at both ends.
    struct Ranks = "Ranks" {
        low: f32,
        median: f32,
        high: f32,
        unused: f32,
    }

    /// Distribution of the spheres in space, estimated from the sample.
    struct GpuSpace = "Space" {
        log_others: [f32; OCTAVES],
        frame: GpuFrame,
        trimmed_low: [f32; 3],
        segment: f32,
        trimmed_high: [f32; 3],
        unused: f32,
    }

    /// Number of the proxies of one size class, and the bounds of their positions and sizes.
    struct GpuSizeClass = "SizeClass" {
        count: u32,
        inside: u32,
        half_cell: u32,
        low: [u32; 3],
        high: [u32; 3],
    }

    /// A time segment of a sphere, other than its first.
    struct GpuSegment = "Segment" {
        sphere: u32,
        number: u32,
    }

    /// A level: one uniform grid, and its part of the slot table.
    struct GpuLevel = "Level" {
        origin: [i32; 3],
        first_slot: u32,
        dims: [u32; 3],
        first_hashed: u32,
        cell: f32,
        inverse_cell: f32,
        hash_mask: u32,
        time_power: u32,
        of_set: u32,
        reach: f32,
        unused: [u32; 2],
    }

    /// The plan of a step: its levels, and the level of each size class.
    struct GpuPlan = "Plan" {
        levels: u32,
        slots: u32,
        proxies: u32,
        sorted: u32,
        frame: GpuFrame,
        level: [GpuLevel; MAX_LEVELS],
        level_of_size_class: [u32; SIZE_CLASSES],
    }

    /// The slot of a proxy in the slot table, and the proxy's position among the proxies of this
    /// slot.
    struct GpuBinned = "Binned" {
        slot: u32,
        place: u32,
    }

    /// The values of a proxy's sphere that the swept test reads, in the units of the grids (see
    /// `src/shared/units.rs`). The proxies are sorted by slot.
    struct GpuSortedProxy = "SortedProxy" {
        center: [f32; 3],
        radius: f32,
        velocity: [f32; 3],
        sphere: u32,
    }

    /// The cell of a proxy, and its tag: its level and time segment, packed into a word.
    struct GpuSortedCell = "SortedCell" {
        cell: [i32; 3],
        tag: u32,
    }

    /// The digit of the sort keys by which one pass of the radix sort orders the items.
    struct Digit = "Digit" {
        word: u32,
        shift: u32,
        distinct: u32,
        unused: u32,
    }

    /// Arguments of an indirect dispatch: the number of workgroups along each axis.
    struct DispatchArguments = "DispatchArguments" {
        x: u32,
        y: u32,
        z: u32,
    }

    /// The earliest impact of a sphere: the bits of its time, and the index of the other sphere.
    struct GpuEarliest = "Earliest" {
        toi: u32,
        partner: u32,
    }

    /// A pair with the centre, radius and velocity of both spheres, as the application gave them.
    struct Gathered = "Gathered" {
        a: u32,
        b_and_grazing: u32,
        values: [[f32; 7]; 2],
    }
}

impl Params {
    /// Returns the parameters of a step. Capacities, limits and the serial number are left at 0.
    /// For spheres in buffers of the application, `spheres` is 0, and the kernel `load_params` sets
    /// the number of spheres on the device.
    pub(crate) fn new(spheres: usize, sets: Sets, dt: f32, units: Units) -> Self {
        let [length_power, velocity_power] = units.powers(dt);
        Self {
            spheres: spheres as u32,
            b_offset: sets.b_offset() as u32,
            dt: units.step(dt),
            sample: sample_size(spheres) as u32,
            flags: if sets.are_two() { FLAG_TWO_SETS } else { 0 },
            length_power,
            velocity_power,
            time_unit: units.time(),
            ..Self::zeroed()
        }
    }
}

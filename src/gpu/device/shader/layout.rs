//! Rust structures with the same fields as the WGSL structures in the GPU buffers. The WGSL files
//! explain the fields. If the CPU backend has another structure of the same name, the name here
//! begins with `Gpu`.
//!
//! The WGSL structures are in `shaders/shared/types.wgsl` (data of the stages),
//! `shaders/shared/carom.wgsl` (results), `shaders/shared/sources.wgsl` (layout of the
//! application's buffers), `shaders/neighbors/parts/neighbors.wgsl` (neighbour lists),
//! `shaders/dynamics/parts/dynamics.wgsl` (hard-sphere dynamics), `shaders/collide/gather.wgsl` (`Gathered`) and
//! `shaders/walls/gather_walls.wgsl` (`GatheredWall`).
//! `Params::new` has a twin in `shaders/collide/load_params.wgsl`.

use bytemuck::{Pod, Zeroable};

use super::constants::{FLAG_TWO_SETS, INVALID_LISTED, MOST_WALLS};
use crate::Sphere;
use crate::shared::sets::Sets;
use crate::shared::size_class::SIZE_CLASSES;
use crate::shared::tag::MAX_LEVELS;
use crate::shared::tuning::{OCTAVES, sample_size};
use crate::shared::units::Units;

pub(crate) const UNIFORM_ALIGNMENT: u64 = 256;

pub(crate) trait Element: Pod {
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

impl Element for [f32; 4] {
    const WGSL: &'static str = "vec4<f32>";
}

impl Element for Sphere {
    const WGSL: &'static str = "Sphere";
}

#[cfg(test)]
pub(super) struct StructLayout {
    pub(super) wgsl: &'static str,
    pub(super) size: usize,
    pub(super) fields: &'static [(&'static str, usize)],
}

/// A field whose name begins with `unused` is padding.
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

        #[cfg(test)]
        pub(super) const LAYOUTS: &[StructLayout] = &[$(StructLayout {
            wgsl: $wgsl,
            size: size_of::<$name>(),
            fields: &[$((stringify!($field), std::mem::offset_of!($name, $field))),*],
        }),*];
    };
}

layouts! {
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
        given_dt: u32,
        given_times: u32,
    }

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
        images: [u32; 2],
        out_of_range: u32,
        decided: u32,
        grazing: u32,
        used: [u32; SIZE_CLASSES / 32],
    }

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
        domain_extent: f32,
    }

    struct CaromCollision = "CaromCollision" {
        a: u32,
        b_and_grazing: u32,
        toi: f32,
        depth: f32,
    }

    struct CaromResults = "CaromResults" {
        status: u32,
        pairs: u32,
        found: [u32; 2],
        candidates: [u32; 2],
        segments: [u32; 2],
        images: [u32; 2],
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
        out_of_range: u32,
        neighbors: u32,
        neighbor_columns: u32,
        kept: u32,
        invalid_index: [u32; INVALID_LISTED],
        walls: u32,
        wall_columns: u32,
        walls_found: [u32; 2],
        first_triangle: u32,
        grazing: u32,
    }

    struct CaromNeighbor = "CaromNeighbor" {
        i: u32,
        j: u32,
        image: u32,
        grazing: u32,
    }

    struct NeighborRequest = "NeighborRequest" {
        corner: [f32; 3],
        periodic: u32,
        edges: [[f32; 4]; 3],
        cutoff: f32,
        skin: f32,
        by_radii: u32,
        full: u32,
        padding: f32,
        inverse_reach: f32,
        made: u32,
        unused: u32,
    }

    struct NeighborState = "NeighborState" {
        request: NeighborRequest,
        particles: u32,
        moved: u32,
        kept: u32,
        unused: u32,
    }

    struct GpuFrame = "Frame" {
        origin: [f32; 3],
        unused: f32,
        drift: [f32; 3],
        unused_too: f32,
    }

    struct Sampled = "Sampled" {
        log_distance: [f32; 2],
        radius: f32,
        unused: f32,
        middle: [f32; 3],
        unused_too: f32,
        velocity: [f32; 3],
        unused_as_well: f32,
    }

    struct Ranks = "Ranks" {
        low: f32,
        median: f32,
        high: f32,
        unused: f32,
    }

    struct GpuSpace = "Space" {
        log_others: [f32; OCTAVES],
        frame: GpuFrame,
        trimmed_low: [f32; 3],
        segment: f32,
        trimmed_high: [f32; 3],
        unused: f32,
    }

    struct GpuSizeClass = "SizeClass" {
        count: u32,
        inside: u32,
        half_cell: u32,
        low: [u32; 3],
        high: [u32; 3],
    }

    struct GpuSegment = "Segment" {
        sphere: u32,
        number: u32,
    }

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
        searched: [u32; 2],
    }

    struct GpuPlan = "Plan" {
        levels: u32,
        slots: u32,
        proxies: u32,
        sorted: u32,
        frame: GpuFrame,
        level: [GpuLevel; MAX_LEVELS],
        level_of_size_class: [u32; SIZE_CLASSES],
        cells_searched: f32,
        unused: [u32; 3],
    }

    struct GpuBinned = "Binned" {
        slot: u32,
        place: u32,
    }

    struct GpuStoredProxy = "StoredProxy" {
        place: [u32; 4],
        motion: [u32; 4],
    }

    struct Run = "Run" {
        length: u32,
        least: u32,
        distinct: u32,
        unused: u32,
    }

    struct GpuLattice = "Lattice" {
        corner: [f32; 3],
        width: f32,
        cell_corner: [f32; 3],
        most_cells: f32,
        edges: [[f32; 4]; 3],
        duals: [[f32; 4]; 3],
        dual_bounds: [[f32; 4]; 3],
        in_given_edges: [[i32; 4]; 3],
        given_edges: [[u32; 4]; 3],
    }

    struct GpuEntry = "Entry" {
        sphere_and_several: u32,
        image: u32,
        low: [i32; 3],
    }

    struct DispatchArguments = "DispatchArguments" {
        x: u32,
        y: u32,
        z: u32,
    }

    struct GpuEarliest = "Earliest" {
        toi: u32,
        partner: u32,
    }

    struct Gathered = "Gathered" {
        a: u32,
        b_and_grazing: u32,
        values: [[f32; 7]; 2],
    }

    struct GpuWall = "CaromWall" {
        point: [f32; 3],
        size: f32,
        direction: [f32; 3],
        kind: u32,
        velocity: [f32; 3],
        groups: u32,
    }

    struct GpuWallMotion = "WallMotion" {
        moved: [f32; 3],
        serial: u32,
        errors: [f32; 3],
        unused: u32,
        velocity: [f32; 3],
        unused_too: u32,
        since: [f32; 2],
        unused_as_well: [u32; 2],
    }

    struct GpuWallLattice = "WallLattice" {
        edges: [[f32; 4]; 3],
        duals: [[f32; 4]; 3],
    }

    struct WallParams = "WallParams" {
        count: u32,
        capacity: u32,
        periodic: u32,
        unused: u32,
        edges: [[f32; 4]; 3],
    }

    struct GpuTriangle = "CaromTriangle" {
        a: [f32; 3],
        unused: f32,
        b: [f32; 3],
        unused_too: f32,
        c: [f32; 3],
        unused_as_well: f32,
        velocity: [f32; 3],
        groups: u32,
    }

    struct WallCounters = "WallCounters" {
        found: [u32; 2],
        finished: u32,
        out_of_range: u32,
    }

    struct CaromWallCollision = "CaromWallCollision" {
        sphere: u32,
        wall_and_grazing: u32,
        toi: f32,
        depth: f32,
    }

    struct GatheredWall = "GatheredWall" {
        sphere: u32,
        wall_and_grazing: u32,
        values: [f32; 7],
    }

    struct GpuSimulation = "CaromSimulation" {
        time: [f32; 2],
        remaining: f32,
        status: u32,
        impacts: [u32; 2],
        wall_impacts: [u32; 2],
        virial: [f32; 2],
        kinetic_energy: f32,
        substeps: u32,
        rollbacks: u32,
        rounds: u32,
        search_status: u32,
        candidates: u32,
        spheres: u32,
        substep: f32,
        pace: f32,
        pad_speed: f32,
        cell: f32,
        round: u32,
        settled: u32,
        in_round: u32,
        accepted: u32,
        committed: u32,
        failures: u32,
        serial: u32,
        listed: u32,
        planned: f32,
        carried: f32,
        contact_time: f32,
        dropped: [f32; 2],
    }

    struct GpuImpact = "CaromImpact" {
        time: [f32; 2],
        a: u32,
        b: u32,
        point: [f32; 3],
        image: u32,
        normal: [f32; 3],
        unused: u32,
        impulse: [f32; 3],
        unused_too: u32,
    }

    struct SimulationRequest = "SimulationRequest" {
        gravity: [f32; 3],
        duration: f32,
        edges: [[f32; 4]; 3],
        duals: [[f32; 4]; 3],
        corner: [f32; 3],
        periodic: u32,
        restitution: f32,
        least_restitution: f32,
        contact_time: f32,
        impacts: f32,
        walls: u32,
        surfaces: u32,
        spheres: u32,
        mass_first: u32,
        mass_stride: u32,
        serial: u32,
        rounds: u32,
        near_capacity: u32,
        impact_capacity: u32,
        domain_extent: f32,
        triangles: u32,
        one_sided: u32,
        most_remaining: f32,
        off: u32,
        changed: u32,
        jumped: u32,
        combine: u32,
        own_restitutions: u32,
        path_room: u32,
        edited: u32,
        wall_restitutions: [[f32; 4]; MOST_WALLS as usize / 4],
    }

    struct SimulationCounters = "SimulationCounters" {
        pending: u32,
        impacts: u32,
        wall_impacts: u32,
        left: u32,
        widened: u32,
        invalid: u32,
        fastest: u32,
        largest: u32,
        together: u32,
        listed: u32,
        full: u32,
        longest: u32,
        longest_moving: u32,
        far_away: u32,
        edited: u32,
    }

    struct WallImpulse = "WallImpulse" {
        high: [f32; 4],
        low: [f32; 4],
    }

    struct GpuBody = "Body" {
        center: [f32; 3],
        radius: f32,
        velocity: [f32; 3],
        inverse_mass: f32,
        residue: [f32; 3],
        held: f32,
    }

    struct GpuTrack = "Track" {
        count: u32,
        found: u32,
        time: f32,
        next: u32,
        pad: f32,
        since: f32,
        wide: f32,
        walls: u32,
    }

    struct GpuPiece = "PathPiece" {
        place: [f32; 3],
        start: f32,
        velocity: [f32; 3],
        link: u32,
    }

    struct GpuMeshBox = "MeshBox" {
        center: [f32; 3],
        unused: f32,
        half_sides: [f32; 3],
        unused_too: f32,
    }

    struct GpuMeshTriangle = "MeshTriangle" {
        a: [f32; 3],
        mesh: u32,
        b: [f32; 3],
        corner_a: u32,
        c: [f32; 3],
        corner_b: u32,
        normal: [f32; 3],
        corner_c: u32,
    }

    struct GpuCandidate = "Candidate" {
        apart: [f32; 3],
        a: u32,
        b: u32,
        image: u32,
        place_a: u32,
        place_b: u32,
    }
}

impl Params {
    /// Without capacities, limits and serial number. If the spheres are in buffers of the
    /// application, `spheres` is 0, and `load_params` sets their number.
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
            given_dt: dt.to_bits(),
            given_times: 1.0_f32.to_bits(),
            ..Self::zeroed()
        }
    }
}

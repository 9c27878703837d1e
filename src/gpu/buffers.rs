//! The buffers of a world, sized by its capacities, and checked against what
//! the device can hold.

use std::cell::Cell;

use bytemuck::{Pod, Zeroable};
use wgpu::BufferUsages;

use super::kernels::{QUANTITIES, SCAN_BLOCK};
use crate::Error;
use crate::shared::grid::Level;
use crate::shared::segments::Segment;
use crate::shared::size_class::SIZE_CLASSES;
use crate::shared::sorted::{SortedCell, SortedProxy};
use crate::shared::tag::MAX_LEVELS;
use crate::shared::tuning::{GPU_SLOTS_PER_PROXY, MAX_SAMPLE, OCTAVES, sample_size};
use crate::shared::units::Units;

/// Twin of `Params` in `shaders/shared/types.wgsl`, as are all structs here.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct Params {
    pub(crate) spheres: u32,
    pub(crate) split: u32,
    pub(crate) dt: f32,
    pub(crate) zero: u32,
    pub(crate) segment_capacity: u32,
    pub(crate) pair_capacity: u32,
    pub(crate) slots: u32,
    pub(crate) shortest_segment: f32,
    pub(crate) sample: u32,
    pub(crate) most_candidates_low: u32,
    pub(crate) most_candidates_high: u32,
    pub(crate) watch: u32,
    pub(crate) length_power: i32,
    pub(crate) velocity_power: i32,
    pub(crate) time_unit: f32,
    pub(crate) serial: u32,
}

impl Params {
    /// For spheres on the host; `split` is where the second of two sets begins, 0 if
    /// there is one set.
    pub(crate) fn new(spheres: usize, split: usize, dt: f32, units: Units) -> Self {
        let [length_power, velocity_power] = units.powers(dt);
        Self {
            spheres: spheres as u32,
            split: split as u32,
            dt: units.step(dt),
            sample: sample_size(spheres) as u32,
            length_power,
            velocity_power,
            time_unit: units.time(),
            ..Self::default()
        }
    }
}

/// How many of the spheres set aside are named.
pub(crate) const INVALID_LISTED: usize = 32;

/// What the stages count: pairs and the like in two words each, low first.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct Counters {
    pub(crate) segments: [u32; 2],
    pub(crate) candidates: [u32; 2],
    pub(crate) pairs: [u32; 2],
    pub(crate) finished: u32,
    pub(crate) spheres_needed: u32,
    pub(crate) invalid: u32,
    pub(crate) invalid_index: [u32; INVALID_LISTED],
    pub(crate) extent: u32,
    pub(crate) fullest: u32,
    pub(crate) used: [u32; SIZE_CLASSES / 32],
}

/// Where the spheres of a caller's buffers are.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct SourceLayout {
    pub(crate) center: [u32; 2],
    pub(crate) radius: [u32; 2],
    pub(crate) motion: [u32; 2],
    pub(crate) groups: [u32; 2],
    pub(crate) constant_radius: f32,
    pub(crate) constant_groups: u32,
    pub(crate) motion_kind: u32,
    pub(crate) count_word: u32,
    pub(crate) counted: u32,
    pub(crate) at_most: u32,
    pub(crate) used: u32,
    pub(crate) unused: u32,
}

/// A pair as it stands in the list, as are all structs of this prefix twin of one
/// in `shaders/shared/carom.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct CaromCollision {
    pub(crate) a: u32,
    pub(crate) b_and_grazing: u32,
    pub(crate) toi: f32,
    pub(crate) depth: f32,
}

/// What a step came to.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct CaromResults {
    pub(crate) status: u32,
    pub(crate) pairs: u32,
    pub(crate) found: [u32; 2],
    pub(crate) candidates: [u32; 2],
    pub(crate) segments: [u32; 2],
    pub(crate) spheres: u32,
    pub(crate) split: u32,
    pub(crate) invalid: u32,
    pub(crate) spheres_needed: u32,
    pub(crate) proxies: u32,
    pub(crate) levels: u32,
    pub(crate) segment: f32,
    pub(crate) sorted: u32,
    pub(crate) began: u32,
    pub(crate) lasted: u32,
    pub(crate) ended: u32,
    pub(crate) columns: u32,
    pub(crate) sorted_columns: u32,
    pub(crate) serial: u32,
    pub(crate) invalid_index: [u32; INVALID_LISTED],
}

/// Where cells are counted from.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct Frame {
    pub(crate) origin: [f32; 3],
    pub(crate) unused: f32,
    pub(crate) drift: [f32; 3],
    pub(crate) unused_too: f32,
}

/// What the sample tells of one of its spheres.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct Sampled {
    pub(crate) log_distance: [f32; 2],
    pub(crate) radius: f32,
    pub(crate) unused: f32,
    pub(crate) middle: [f32; 3],
    pub(crate) unused_too: f32,
    pub(crate) velocity: [f32; 3],
    pub(crate) unused_as_well: f32,
}

/// How the spheres lie in space.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct Space {
    pub(crate) log_others: [f32; OCTAVES],
    pub(crate) frame: Frame,
    pub(crate) trimmed_low: [f32; 3],
    pub(crate) segment: f32,
    pub(crate) trimmed_high: [f32; 3],
    pub(crate) unused: f32,
}

/// One bin of the histogram of sizes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct Bin {
    pub(crate) count: u32,
    pub(crate) inside: u32,
    pub(crate) half_cell: u32,
    pub(crate) low: [u32; 3],
    pub(crate) high: [u32; 3],
}

/// The levels of a step.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct Plan {
    pub(crate) levels: u32,
    pub(crate) slots: u32,
    pub(crate) proxies: u32,
    pub(crate) sorted: u32,
    pub(crate) frame: Frame,
    pub(crate) level: [Level; MAX_LEVELS],
    pub(crate) level_of_bin: [u32; SIZE_CLASSES],
}

/// Where a proxy goes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct Binned {
    pub(crate) slot: u32,
    pub(crate) place: u32,
}

/// How many of each thing the buffers hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capacity {
    /// Spheres.
    pub(crate) spheres: u64,
    /// Time segments after each sphere's first.
    pub(crate) segments: u64,
    /// Pairs.
    pub(crate) pairs: u64,
}

/// All buffers of a world.
pub(crate) struct Buffers {
    pub(crate) capacity: Capacity,
    pub(crate) slots: u32,
    pub(crate) params: wgpu::Buffer,
    /// Of two sources, 256 bytes apart.
    pub(crate) layouts: wgpu::Buffer,
    pub(crate) spheres: wgpu::Buffer,
    pub(crate) octaves: wgpu::Buffer,
    pub(crate) samples: wgpu::Buffer,
    pub(crate) ranked: wgpu::Buffer,
    pub(crate) space: wgpu::Buffer,
    pub(crate) bin_of: wgpu::Buffer,
    pub(crate) segments: wgpu::Buffer,
    pub(crate) bins: wgpu::Buffer,
    pub(crate) counters: wgpu::Buffer,
    pub(crate) plan: wgpu::Buffer,
    pub(crate) cells: wgpu::Buffer,
    pub(crate) binned: wgpu::Buffer,
    /// The slot table, and the sums of its blocks, of the blocks of those, and
    /// so on to one block.
    pub(crate) table: Vec<wgpu::Buffer>,
    pub(crate) sorted: wgpu::Buffer,
    pub(crate) sorted_cells: wgpu::Buffer,
    pub(crate) pairs: wgpu::Buffer,
    pub(crate) results: wgpu::Buffer,
    /// Workgroups for indirect dispatches over the pairs.
    pub(crate) dispatch: wgpu::Buffer,
    /// Bytes of all of them but spheres and pairs.
    pub(crate) working: u64,
}

/// Checks that a buffer can be made and bound.
pub(super) fn check(limits: &wgpu::Limits, what: &'static str, needed: u64) -> Result<(), Error> {
    let named = [
        (
            "max_storage_buffer_binding_size",
            limits.max_storage_buffer_binding_size,
        ),
        ("max_buffer_size", limits.max_buffer_size),
    ];
    match named.into_iter().find(|&(_, available)| needed > available) {
        Some((limit, available)) => Err(Error::DeviceLimit {
            what,
            limit,
            needed,
            available,
        }),
        None => Ok(()),
    }
}

impl Buffers {
    /// How many proxies the device can hold.
    pub(crate) fn most_proxies(limits: &wgpu::Limits) -> u64 {
        Self::most::<SortedProxy>(limits)
    }

    /// How many pairs the device can hold.
    pub(crate) fn most_pairs(limits: &wgpu::Limits) -> u64 {
        Self::most::<CaromCollision>(limits)
    }

    fn most<T>(limits: &wgpu::Limits) -> u64 {
        limits
            .max_storage_buffer_binding_size
            .min(limits.max_buffer_size)
            / size_of::<T>() as u64
    }

    /// Makes buffers for at least this much.
    pub(crate) fn new(
        device: &wgpu::Device,
        limits: &wgpu::Limits,
        capacity: Capacity,
    ) -> Result<Self, Error> {
        let (source, target) = (BufferUsages::COPY_SRC, BufferUsages::COPY_DST);
        let none = BufferUsages::empty();
        // Tests fill them with noise.
        let for_tests = if cfg!(test) { source | target } else { none };
        let working = Cell::new(0);
        let buffer = |what: &'static str, count: u64, size: usize, usage| {
            let size = count.max(1) * size as u64;
            check(limits, what, size)?;
            if !["spheres", "pairs"].contains(&what) {
                working.set(working.get() + size);
            }
            Ok(device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(&format!("carom {what}")),
                size,
                usage: BufferUsages::STORAGE | usage | for_tests,
                mapped_at_creation: false,
            }))
        };
        let proxies = capacity.spheres + capacity.segments;
        let most_slots = limits
            .max_storage_buffer_binding_size
            .min(limits.max_buffer_size)
            / 4
            - 1;
        let slots = (proxies * GPU_SLOTS_PER_PROXY)
            .max(1024)
            .min(most_slots)
            .min(1 << 31);
        let mut table = Vec::new();
        let mut length = slots + 1;
        loop {
            table.push(buffer("slot table", length, size_of::<u32>(), target)?);
            if length <= u64::from(SCAN_BLOCK) {
                break;
            }
            length = length.div_ceil(u64::from(SCAN_BLOCK));
        }
        Ok(Self {
            capacity,
            slots: slots as u32,
            params: device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("carom params"),
                size: size_of::<Params>() as u64,
                usage: BufferUsages::UNIFORM | BufferUsages::STORAGE | target,
                mapped_at_creation: false,
            }),
            layouts: device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("carom layouts"),
                size: 512,
                usage: BufferUsages::UNIFORM | target,
                mapped_at_creation: false,
            }),
            spheres: buffer(
                "spheres",
                capacity.spheres,
                size_of::<crate::Sphere>(),
                target,
            )?,
            octaves: buffer(
                "octaves of distance",
                OCTAVES as u64,
                size_of::<u32>(),
                target,
            )?,
            samples: buffer("samples", MAX_SAMPLE as u64, size_of::<Sampled>(), none)?,
            ranked: buffer("ranks", u64::from(QUANTITIES), 16, none)?,
            space: buffer("space", 1, size_of::<Space>(), none)?,
            bin_of: buffer(
                "bins of the spheres",
                capacity.spheres,
                size_of::<u32>(),
                none,
            )?,
            segments: buffer("segments", capacity.segments, size_of::<Segment>(), none)?,
            bins: buffer(
                "histogram of sizes",
                SIZE_CLASSES as u64,
                size_of::<Bin>(),
                target,
            )?,
            counters: buffer("counters", 1, size_of::<Counters>(), target)?,
            plan: buffer("plan", 1, size_of::<Plan>(), none)?,
            cells: buffer("cells", proxies, size_of::<SortedCell>(), none)?,
            binned: buffer("slots of the proxies", proxies, size_of::<Binned>(), none)?,
            table,
            sorted: buffer("sorted proxies", proxies, size_of::<SortedProxy>(), none)?,
            sorted_cells: buffer("sorted cells", proxies, size_of::<SortedCell>(), none)?,
            pairs: buffer("pairs", capacity.pairs, size_of::<CaromCollision>(), source)?,
            results: buffer("results", 1, size_of::<CaromResults>(), source)?,
            dispatch: buffer(
                "dispatch over the pairs",
                3,
                4,
                source | BufferUsages::INDIRECT,
            )?,
            working: working.get(),
        })
    }
}

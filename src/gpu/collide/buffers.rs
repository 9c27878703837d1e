//! The GPU buffers for one world of spheres, with sizes that follow from the world's capacity.

use wgpu::BufferUsages;

use crate::gpu::device::allocator::{Allocator, ScanTable};
use crate::gpu::device::named_buffers::NamedBuffers;
use crate::gpu::device::shader::constants::QUANTITIES;
use crate::gpu::device::shader::layout::{
    CaromCollision, CaromResults, CaromWallCollision, Counters, DispatchArguments, GpuBinned,
    GpuEntry, GpuLattice, GpuPlan, GpuSegment, GpuSizeClass, GpuSpace, GpuStoredProxy, GpuTriangle,
    GpuWall, GpuWallLattice, Params, Ranks, Sampled, SourceLayout, UNIFORM_ALIGNMENT, WallCounters,
    WallParams,
};
use crate::shared::size_class::SIZE_CLASSES;
use crate::shared::tuning::{GPU_SLOTS_PER_PROXY, MAX_SAMPLE, OCTAVES};
use crate::{Error, Sphere};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BufferCapacity {
    pub(crate) spheres: u64,
    /// Without the first segment of each sphere.
    pub(crate) segments: u64,
    pub(crate) pairs: u64,
    pub(crate) walls: u64,
    pub(crate) triangles: u64,
    /// Of the step that finds spheres near triangles.
    pub(crate) mesh_segments: u64,
    pub(crate) mesh_pairs: u64,
    pub(crate) wall_collisions: u64,
}

impl BufferCapacity {
    pub(crate) fn has_walls(&self) -> bool {
        self.walls > 0 || self.triangles > 0
    }
}

pub(crate) struct PeriodicBuffers {
    /// In the caller's units.
    pub(crate) given_lattice: wgpu::Buffer,
    pub(crate) pair_images: wgpu::Buffer,
    /// For the kernels that make the grids: all spheres are wrapped into the periodic cell.
    pub(crate) named: NamedBuffers,
}

pub(crate) struct WallBuffers {
    pub(crate) params: wgpu::Buffer,
    pub(crate) shapes: wgpu::Buffer,
    pub(crate) lattices: wgpu::Buffer,
    pub(crate) collisions: wgpu::Buffer,
    /// Packed. A single element in open space.
    pub(crate) images: wgpu::Buffer,
    pub(crate) dispatch: wgpu::Buffer,
    pub(crate) triangles: wgpu::Buffer,
    pub(crate) bounds: wgpu::Buffer,
}

const _: () = assert!(size_of::<SourceLayout>() as u64 <= UNIFORM_ALIGNMENT);

pub(crate) struct Buffers {
    pub(crate) capacity: BufferCapacity,
    /// Number of slots of all levels.
    pub(crate) slots: u32,
    pub(crate) named: NamedBuffers,
    pub(crate) params: wgpu::Buffer,
    /// The layouts of both sets in the application's buffers. The second begins at byte
    /// [`UNIFORM_ALIGNMENT`], so every device can bind it.
    pub(crate) source_layouts: wgpu::Buffer,
    pub(crate) spheres: wgpu::Buffer,
    /// The sorted position of the first proxy of each slot.
    pub(crate) slot_starts: ScanTable,
    pub(crate) pairs: wgpu::Buffer,
    pub(crate) results: wgpu::Buffer,
    pub(crate) pairs_dispatch: wgpu::Buffer,
    /// If the device decides the pairs: the buffers for the kernels that find them, with
    /// the lists of the found pairs.
    pub(crate) found: Option<NamedBuffers>,
    /// Where the row of each a ends, in the ordered list.
    pub(crate) row_ends: Option<ScanTable>,
    pub(crate) periodic: Option<PeriodicBuffers>,
    pub(crate) walls: Option<WallBuffers>,
    pub(crate) working: u64,
    #[cfg(test)]
    pub(crate) storage: Vec<wgpu::Buffer>,
}

fn largest(limits: &wgpu::Limits) -> u64 {
    limits
        .max_storage_buffer_binding_size
        .min(limits.max_buffer_size)
}

fn slots(limits: &wgpu::Limits, proxies: u64) -> u64 {
    let most = largest(limits) / size_of::<u32>() as u64 - 1;
    (proxies * GPU_SLOTS_PER_PROXY)
        .max(1024)
        .min(most)
        .min(1 << 31)
}

fn uniform(
    device: &wgpu::Device,
    label: &'static str,
    size: u64,
    usage: BufferUsages,
) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size,
        usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST | usage,
        mapped_at_creation: false,
    })
}

fn working(
    made: &mut Allocator<'_>,
    capacity: BufferCapacity,
    periodic: bool,
) -> Result<(), Error> {
    let none = BufferUsages::empty();
    let cleared = BufferUsages::COPY_DST;
    let proxies = capacity.spheres + capacity.segments;
    made.array::<u32>("octaves", "octaves of distance", OCTAVES as u64, cleared)?;
    made.array::<Sampled>("samples", "samples", MAX_SAMPLE as u64, none)?;
    made.array::<Ranks>("ranks", "ranks", QUANTITIES.into(), none)?;
    made.one::<GpuSpace>("space", "space", none)?;
    let (name, what) = ("size_class_of_sphere", "size classes of the spheres");
    let sized = if periodic { proxies } else { capacity.spheres };
    made.array::<u32>(name, what, sized, none)?;
    made.array::<GpuSegment>("segments", "segments", capacity.segments, none)?;
    let (name, what) = ("size_classes", "histogram of size classes");
    made.array::<GpuSizeClass>(name, what, SIZE_CLASSES as u64, cleared)?;
    made.one::<Counters>("counters", "counters", cleared)?;
    made.one::<GpuPlan>("plan", "plan", none)?;
    made.array::<[u32; 4]>("proxy_cells", "cells of the proxies", proxies, none)?;
    made.array::<GpuBinned>("binned", "slots of the proxies", proxies, none)?;
    let (name, what) = ("sorted_proxies", "sorted proxies");
    made.array::<GpuStoredProxy>(name, what, proxies, BufferUsages::COPY_DST)?;
    made.array::<[u32; 4]>("sorted_cells", "sorted cells", proxies, none)?;
    Ok(())
}

fn found_buffers(
    made: &mut Allocator<'_>,
    capacity: BufferCapacity,
    [spheres, pairs]: [&wgpu::Buffer; 2],
    periodic: bool,
) -> Result<NamedBuffers, Error> {
    let none = BufferUsages::empty();
    let found = made.array::<CaromCollision>("found_pairs", "found pairs", capacity.pairs, none)?;
    made.named.array::<[u32; 4]>("found_bits", &found);
    made.named.array::<[u32; 4]>("row_pairs", &found);
    made.named.array::<[u32; 4]>("sphere_words", spheres);
    let mut stand_ins = vec![("pairs", "found_pairs")];
    if periodic {
        let what = "images of the found pairs";
        made.array::<u32>("found_images", what, capacity.pairs, none)?;
        stand_ins.push(("pair_images", "found_images"));
    }
    let named = made.named.with_stand_ins(&stand_ins)?;
    made.named.array::<[u32; 4]>("decided_bits", pairs);
    Ok(named)
}

fn periodic_buffers(
    made: &mut Allocator<'_>,
    capacity: BufferCapacity,
) -> Result<PeriodicBuffers, Error> {
    let none = BufferUsages::empty();
    let proxies = capacity.spheres + capacity.segments;
    let size = size_of::<GpuLattice>() as u64;
    let given_lattice = uniform(made.device, "carom given lattice", size, none);
    made.named
        .one::<GpuLattice>("given_lattice", &given_lattice);
    let uniform = BufferUsages::UNIFORM;
    made.one::<GpuLattice>("lattice", "lattice", uniform)?;
    made.one::<Params>("grid_params", "params of the grids", uniform)?;
    made.array::<Sphere>("wrapped_spheres", "wrapped spheres", proxies, none)?;
    made.array::<GpuEntry>("entries", "entries of the grids", proxies, none)?;
    let source = BufferUsages::COPY_SRC;
    let (name, what) = ("pair_images", "images of the pairs");
    let pair_images = made.array::<u32>(name, what, capacity.pairs, source)?;
    Ok(PeriodicBuffers {
        given_lattice,
        pair_images,
        named: NamedBuffers::default(),
    })
}

fn wall_buffers(
    made: &mut Allocator<'_>,
    capacity: BufferCapacity,
    periodic: bool,
) -> Result<WallBuffers, Error> {
    let (source, target) = (BufferUsages::COPY_SRC, BufferUsages::COPY_DST);
    let size = size_of::<WallParams>() as u64;
    let params = uniform(
        made.device,
        "carom wall params",
        size,
        BufferUsages::empty(),
    );
    made.named.one::<WallParams>("wall_params", &params);
    let BufferCapacity {
        walls,
        wall_collisions: room,
        ..
    } = capacity;
    made.one::<WallCounters>("wall_counters", "counters of the walls", target)?;
    let images = if periodic { room } else { 1 };
    Ok(WallBuffers {
        params,
        shapes: made.array::<GpuWall>("walls", "walls", walls, source | target)?,
        lattices: made.array::<GpuWallLattice>(
            "wall_lattices",
            "periodic edges of the walls",
            walls,
            target,
        )?,
        collisions: made.array::<CaromWallCollision>(
            "wall_collisions",
            "wall collisions",
            room,
            source,
        )?,
        images: made.array::<u32>("wall_images", "images at walls", images, source)?,
        dispatch: made.one::<DispatchArguments>(
            "walls_dispatch",
            "dispatch over the wall collisions",
            source | BufferUsages::INDIRECT,
        )?,
        triangles: made.array::<GpuTriangle>(
            "triangles",
            "triangles",
            capacity.triangles,
            source | target,
        )?,
        bounds: made.array::<Sphere>(
            "triangle_bounds",
            "bounding spheres of the triangles",
            capacity.triangles,
            target,
        )?,
    })
}

impl Buffers {
    pub(crate) fn most_proxies(limits: &wgpu::Limits) -> u64 {
        largest(limits) / size_of::<GpuStoredProxy>() as u64
    }

    pub(crate) fn most_pairs(limits: &wgpu::Limits) -> u64 {
        largest(limits) / size_of::<CaromCollision>() as u64
    }

    pub(crate) fn new(
        device: &wgpu::Device,
        limits: &wgpu::Limits,
        capacity: BufferCapacity,
        periodic: bool,
        decided: bool,
        rows: bool,
    ) -> Result<Self, Error> {
        let (source, target) = (BufferUsages::COPY_SRC, BufferUsages::COPY_DST);
        let slots = slots(limits, capacity.spheres + capacity.segments);
        let mut made = Allocator::new(device, limits);
        let slot_starts = made.table("slot_starts", "slot table", slots + 1, target)?;
        let spheres = made.array::<Sphere>("spheres", "spheres", capacity.spheres, target)?;
        working(&mut made, capacity, periodic)?;
        let pairs = made.array::<CaromCollision>("pairs", "pairs", capacity.pairs, source)?;
        let results = made.one::<CaromResults>("results", "results", source)?;
        let pairs_dispatch = made.one::<DispatchArguments>(
            "pairs_dispatch",
            "dispatch over the pairs",
            source | BufferUsages::INDIRECT,
        )?;
        let params = uniform(
            device,
            "carom params",
            size_of::<Params>() as u64,
            BufferUsages::STORAGE,
        );
        let source_layouts = uniform(
            device,
            "carom layouts",
            2 * UNIFORM_ALIGNMENT,
            BufferUsages::empty(),
        );
        made.named.one::<Params>("params", &params);
        let walls = if capacity.has_walls() {
            Some(wall_buffers(&mut made, capacity, periodic)?)
        } else {
            None
        };
        let in_cell = periodic;
        let mut periodic = if in_cell {
            Some(periodic_buffers(&mut made, capacity)?)
        } else {
            None
        };
        let found = if decided {
            let lists = [&spheres, &pairs];
            Some(found_buffers(&mut made, capacity, lists, in_cell)?)
        } else {
            None
        };
        let row_ends = if rows {
            made.named.array::<u32>("records", &pairs);
            let count = capacity.spheres + 1;
            Some(made.table("row_ends", "ends of the rows", count, source | target)?)
        } else {
            None
        };
        if let Some(periodic) = &mut periodic {
            let stand_ins = [("spheres", "wrapped_spheres"), ("params", "grid_params")];
            periodic.named = made.named.with_stand_ins(&stand_ins)?;
        }
        Ok(Self {
            capacity,
            slots: slots as u32,
            named: made.named,
            params,
            source_layouts,
            working: made.bytes - spheres.size() - pairs.size(),
            spheres,
            slot_starts,
            pairs,
            results,
            pairs_dispatch,
            found,
            row_ends,
            periodic,
            walls,
            #[cfg(test)]
            storage: made.all,
        })
    }
}

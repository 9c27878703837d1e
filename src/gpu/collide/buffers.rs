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
    /// Largest number of spheres, in both sets together.
    pub(crate) spheres: u64,
    /// Largest number of time segments, without the first segment of each sphere.
    pub(crate) segments: u64,
    pub(crate) pairs: u64,
    /// Largest number of walls of simple shapes in a step.
    pub(crate) walls: u64,
    /// Largest number of triangles of meshes in a step.
    pub(crate) triangles: u64,
    /// Capacities for time segments, and for pairs, of the step that finds spheres near triangles.
    pub(crate) mesh_segments: u64,
    pub(crate) mesh_pairs: u64,
    /// Capacity of the list of wall collisions.
    pub(crate) wall_collisions: u64,
}

impl BufferCapacity {
    pub(crate) fn has_walls(&self) -> bool {
        self.walls > 0 || self.triangles > 0
    }
}

/// GPU buffers that only periodic domains need.
pub(crate) struct PeriodicBuffers {
    /// Uniform buffer of the periodic domain's edges, in the caller's units.
    pub(crate) given_lattice: wgpu::Buffer,
    /// Packed image of the second sphere of each pair.
    pub(crate) pair_images: wgpu::Buffer,
    /// The buffers of the step, for the kernels that make the grids. For these kernels, all spheres
    /// are wrapped: moved into the periodic cell by whole edges.
    pub(crate) named: NamedBuffers,
}

/// GPU buffers that only steps with walls need.
pub(crate) struct WallBuffers {
    pub(crate) params: wgpu::Buffer,
    pub(crate) shapes: wgpu::Buffer,
    pub(crate) lattices: wgpu::Buffer,
    pub(crate) collisions: wgpu::Buffer,
    /// For each wall collision, the packed number of the image of its sphere. In open space, this
    /// buffer is not used and has a single element.
    pub(crate) images: wgpu::Buffer,
    pub(crate) dispatch: wgpu::Buffer,
    /// The triangles, and a sphere around each of them.
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
    /// Uniform buffer with two layouts, one for each set of spheres. The layout of a set gives the
    /// offsets and strides of the spheres' attributes in the application's GPU buffers. The second
    /// layout begins at byte [`UNIFORM_ALIGNMENT`], so every device can bind it.
    pub(crate) source_layouts: wgpu::Buffer,
    pub(crate) spheres: wgpu::Buffer,
    /// The slot table: for each slot, the sorted position of its first proxy.
    pub(crate) slot_starts: ScanTable,
    pub(crate) pairs: wgpu::Buffer,
    pub(crate) results: wgpu::Buffer,
    pub(crate) pairs_dispatch: wgpu::Buffer,
    /// If the device decides the pairs: the buffers of the step, for the kernels that find the pairs. For these kernels,
    /// the lists of pairs and of their images are those of the found pairs.
    pub(crate) found: Option<NamedBuffers>,
    pub(crate) periodic: Option<PeriodicBuffers>,
    pub(crate) walls: Option<WallBuffers>,
    /// Total size in bytes of the storage buffers other than `spheres` and `pairs`.
    pub(crate) working: u64,
    #[cfg(test)]
    pub(crate) storage: Vec<wgpu::Buffer>,
}

fn largest(limits: &wgpu::Limits) -> u64 {
    limits
        .max_storage_buffer_binding_size
        .min(limits.max_buffer_size)
}

/// Returns the number of slots for this number of proxies, within the device's limits.
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
    // The buffer of size classes has an entry for each sphere. In a periodic domain, it also has an
    // entry for each image of a sphere.
    let sized = if periodic { proxies } else { capacity.spheres };
    made.array::<u32>(name, what, sized, none)?;
    made.array::<GpuSegment>("segments", "segments", capacity.segments, none)?;
    let (name, what) = ("size_classes", "histogram of size classes");
    made.array::<GpuSizeClass>(name, what, SIZE_CLASSES as u64, cleared)?;
    made.one::<Counters>("counters", "counters", cleared)?;
    made.one::<GpuPlan>("plan", "plan", none)?;
    made.array::<[u32; 4]>("proxy_cells", "cells of the proxies", proxies, none)?;
    made.array::<GpuBinned>("binned", "slots of the proxies", proxies, none)?;
    made.array::<GpuStoredProxy>("sorted_proxies", "sorted proxies", proxies, none)?;
    made.array::<[u32; 4]>("sorted_cells", "sorted cells", proxies, none)?;
    Ok(())
}

/// Makes the lists of found pairs, and names for the kernel that decides the pairs.
fn found_buffers(
    made: &mut Allocator<'_>,
    capacity: BufferCapacity,
    [spheres, pairs]: [&wgpu::Buffer; 2],
    periodic: bool,
) -> Result<NamedBuffers, Error> {
    let none = BufferUsages::empty();
    let found = made.array::<CaromCollision>("found_pairs", "found pairs", capacity.pairs, none)?;
    made.named.array::<[u32; 4]>("found_bits", &found);
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
    /// Returns the largest number of proxies that one buffer can hold.
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
            periodic,
            walls,
            #[cfg(test)]
            storage: made.all,
        })
    }
}

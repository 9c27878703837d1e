//! Neighbour lists on the GPU: their buffers, and the recording that makes a new list only if the
//! old one is not valid any more.
//!
//! Every recorded search for neighbours contains all stages of a step, as indirect dispatches. The
//! kernels of `shaders/neighbors/neighbors_check.wgsl` decide whether the old neighbour list is still valid.
//! If so, they set the sizes of these dispatches to 0. So the host takes no part in this decision.

use wgpu::BufferUsages;

use super::buffers::Buffers;
use super::collision_buffers::CollisionBuffers;
use super::record_step::{Extras, Ready, RecordableSpheres};
use super::reductions::Reductions;
use super::stages::{Recording, Stage};
use crate::gpu::device::allocator::{Allocator, filled};
use crate::gpu::device::device_kernels::DeviceKernels;
use crate::gpu::device::dispatch::{Dispatch, workgroups};
use crate::gpu::device::named_buffers::NamedBuffers;
use crate::gpu::device::shader::kernels::Compiled;
use crate::gpu::device::shader::layout::{
    CaromCollision, CaromNeighbor, DispatchArguments, NeighborRequest, NeighborState,
};
use crate::gpu::input::device_spheres::{DeviceSpheres, SphereMotion};
use crate::gpu::input::host_step::HostStep;
use crate::neighbors::Rule;
use crate::number::sealed::Numbers as _;
use crate::{Error, NeighborSearch, Sphere, Step, Values};

/// Lower limit for half of the skin of a list that stays valid while particles move. Devices that flush
/// subnormal numbers would round far smaller lengths to 0.
const MIN_REACH: f32 = 1.0 / (1_u128 << 100) as f32;

pub(crate) struct Neighbors {
    pub(crate) recording: Recording,
    /// Buffers for the stage `load`. In a step, this stage fills the buffer `spheres`. In a search for
    /// neighbours, it fills `given_spheres` with the given particles instead.
    pub(crate) given: NamedBuffers,
    pub(crate) given_spheres: wgpu::Buffer,
    pub(crate) request: wgpu::Buffer,
    /// GPU buffer with the request that led to the present neighbour list. All zeros if there is no list.
    pub(crate) state: wgpu::Buffer,
    list: wgpu::Buffer,
    vectors: wgpu::Buffer,
    offsets: wgpu::Buffer,
    dispatch: wgpu::Buffer,
    /// If the particles are in host memory: the spheres at rest that replace them in the search.
    /// The vector is kept from search to search, so that its memory is reused.
    pub(crate) searched: Vec<Sphere>,
}

struct NeighborMaker<'a> {
    kernels: &'a DeviceKernels,
    read: NamedBuffers,
    made: Allocator<'a>,
}

impl NeighborMaker<'_> {
    fn dispatch(&self, kernel: &Compiled, count: u64) -> Result<Dispatch, Error> {
        let sources = [&self.read, &self.made.named];
        self.kernels
            .binder()
            .dispatch(kernel, &sources, workgroups(count))
    }
}

/// Returns the buffers of the step and of its reductions that the kernels of neighbour lists read.
fn read_buffers(b: &Buffers, reductions: &Reductions) -> Result<NamedBuffers, Error> {
    let sorted = reductions.sorted.as_ref();
    let sorted = sorted.ok_or(Error::NotAskedFor { option: "sorted" })?;
    // In open space, the kernels do not read the images, but need a buffer to bind.
    let images = match &sorted.images {
        Some(images) => images,
        None => b.named.buffer("octaves")?,
    };
    let read = (b.named.clone())
        .with::<CaromCollision>("sorted_pairs", &sorted.list)
        .with::<u32>("list_images", images);
    Ok(match &reductions.contacts {
        Some(contacts) => read
            .with::<u32>("contact_starts", &contacts.starts)
            .with::<u32>("contact_offsets", &contacts.offsets)
            .with::<[u32; 4]>("pairs_by_b", &contacts.by_b),
        None => read,
    })
}

/// Returns copies of some stages in which all dispatches are indirect, so that the GPU can skip
/// them. Adds two buffers. `list_sizes` has the number of workgroups of each dispatch. In
/// `list_dispatches`, a kernel sets the number of workgroups that each dispatch runs, which is 0
/// for a dispatch to be skipped.
pub(crate) fn indirect(made: &mut Allocator<'_>, stages: &[Stage]) -> Result<Vec<Stage>, Error> {
    let all = || stages.iter().flat_map(|stage| &stage.dispatches);
    let sizes: Vec<[u32; 2]> = all().map(Dispatch::workgroups).collect();
    let (what, usage) = ("sizes of the dispatches", BufferUsages::STORAGE);
    let filled = filled(made.device, what, bytemuck::cast_slice(&sizes), usage)?;
    made.named.array::<[u32; 2]>("list_sizes", &filled);
    let arguments = made.array::<DispatchArguments>(
        "list_dispatches",
        "indirect dispatches",
        sizes.len() as u64,
        BufferUsages::INDIRECT,
    )?;
    let mut offsets = (0..).step_by(size_of::<DispatchArguments>());
    let stages = stages.iter().map(|stage| {
        let dispatches = stage.dispatches.iter().zip(offsets.by_ref());
        let dispatches = dispatches.map(|(dispatch, at)| dispatch.indirect(&arguments, at));
        Stage::new(stage.name, dispatches.collect())
    });
    Ok(stages.collect())
}

impl Neighbors {
    /// Makes the buffers of neighbour lists, and the stages that make a list. `step` has the stages
    /// of a step, including those of its reductions (results computed from the pairs). Must be
    /// called inside a wgpu error scope.
    pub(crate) fn new(
        kernels: &DeviceKernels,
        b: &Buffers,
        step: &Recording,
        reductions: &Reductions,
    ) -> Result<Self, Error> {
        let context = &kernels.context;
        let mut maker = NeighborMaker {
            kernels,
            read: read_buffers(b, reductions)?,
            made: Allocator::new(&context.device, &context.limits),
        };
        let made = &mut maker.made;
        let (spheres, pairs) = (b.capacity.spheres, b.capacity.pairs);
        let full = reductions.contacts.is_some();
        let entries = if full { 2 * pairs } else { pairs };
        let (source, target) = (BufferUsages::COPY_SRC, BufferUsages::COPY_DST);
        let (name, what) = ("neighbor_request", "neighbour request");
        let request = made.one::<NeighborRequest>(name, what, BufferUsages::UNIFORM | target)?;
        let (name, what) = ("neighbor_state", "state of the neighbour list");
        let state = made.one::<NeighborState>(name, what, target)?;
        let given_spheres =
            made.array::<Sphere>("given_spheres", "given particles", spheres, target)?;
        let (name, what) = ("neighbors", "neighbour list");
        let list = made.array::<CaromNeighbor>(name, what, entries, source)?;
        let (name, what) = ("neighbor_vectors", "vectors of the neighbours");
        let vectors = made.array::<[f32; 4]>(name, what, entries, source)?;
        let (name, what) = ("neighbor_offsets", "offsets of the neighbours");
        let offsets = made.array::<u32>(name, what, spheres + 1, source)?;
        let (name, what) = ("neighbors_dispatch", "dispatch over the neighbours");
        let usage = source | BufferUsages::INDIRECT;
        let dispatch = made.one::<DispatchArguments>(name, what, usage)?;
        let given = (b.named.clone())
            .with::<Sphere>("given_spheres", &given_spheres)
            .with_stand_ins(&[("spheres", "given_spheres")])?;

        let own = kernels.neighbors()?;
        let copy = maker.dispatch(&own.neighbors_copy, spheres)?;
        let count = pairs.max(spheres + 1);
        let mut listing = vec![maker.dispatch(&own.neighbors_half, count)?];
        if full {
            listing.push(maker.dispatch(&own.neighbors_full, count)?);
        }
        let mut making = vec![Stage::new("check", vec![copy])];
        making.extend(step.stages(None).cloned());
        making.push(Stage::new("neighbors", listing));
        let mut stages = indirect(&mut maker.made, &making)?;
        let checks = [
            maker.dispatch(&own.neighbors_compare, spheres)?,
            maker.dispatch(&own.neighbors_decide, 1)?,
        ];
        let vectors_of = maker.dispatch(&own.neighbor_vectors, 1)?;
        let finish = [
            maker.dispatch(&own.neighbors_finish, 1)?,
            vectors_of.indirect(&dispatch, 0),
        ];
        if let [first, .., last] = &mut stages[..] {
            first.dispatches.splice(0..0, checks);
            last.dispatches.extend(finish);
        }
        Ok(Self {
            recording: step.with_stages(stages),
            given,
            given_spheres,
            request,
            state,
            list,
            vectors,
            offsets,
            dispatch,
            searched: Vec::new(),
        })
    }
}

impl NeighborRequest {
    /// Returns the parameters of a search for neighbours, as the kernels read them. The kernels add
    /// `padding` to the radii of spheres in GPU buffers of the application. For spheres in host
    /// memory, `padding` is 0, because the host has already enlarged their radii.
    fn new<S>(search: &NeighborSearch<'_, S>, padding: f32) -> Self {
        let domain = search.domain();
        let (by_radii, cutoff) = match search.rule {
            Rule::Cutoff(cutoff) => (0, f32::nearest(cutoff)),
            Rule::Radii => (1, 0.0),
        };
        let skin = f32::nearest(search.skin);
        let half = skin / 2.0;
        Self {
            corner: domain.origin_f32(),
            periodic: u32::from(!domain.is_open()),
            edges: [0, 1, 2].map(|k| {
                let [x, y, z] = domain.periodic_edge(k).as_vec3().to_array();
                [x, y, z, 0.0]
            }),
            cutoff,
            skin,
            by_radii,
            full: u32::from(search.full),
            padding,
            inverse_reach: if half >= MIN_REACH { 1.0 / half } else { 0.0 },
            made: 1,
            unused: 0,
        }
    }
}

impl<'a> NeighborSearch<'a, DeviceSpheres<'a>> {
    /// Requests all pairs of particles whose distance is at most `cutoff`, for
    /// [`CollisionBuffers::record_neighbors`].
    ///
    /// The particles are the centres of spheres in GPU buffers of the application. Radii and
    /// motions do not count and are not read.
    pub fn within_on_device(spheres: DeviceSpheres<'a>, cutoff: f32) -> Self {
        Self::new(spheres, Rule::Cutoff(cutoff.into()))
    }

    /// Requests all pairs of spheres whose centres are at most the sum of their radii apart, for
    /// [`CollisionBuffers::record_neighbors`].
    ///
    /// The spheres are in GPU buffers of the application. Their motions do not count and are not
    /// read.
    pub fn touching_on_device(spheres: DeviceSpheres<'a>) -> Self {
        Self::new(spheres, Rule::Radii)
    }
}

/// Prepares the recording of a search for neighbours. The spheres to search are in host memory.
pub(crate) fn ready_host(
    search: &NeighborSearch<'_>,
    buffers: &mut CollisionBuffers,
) -> Result<Ready, Error> {
    let mut searched = std::mem::take(&mut buffers.asked_neighbors(search.full)?.searched);
    let request = NeighborRequest::new(search, 0.0);
    let ready = search.searched(&mut searched).and_then(|()| {
        let step = HostStep::checked(&searched, None, 0.0, *search.domain(), false)?;
        let extras = Extras {
            request: Some(request),
            ..Extras::default()
        };
        buffers.ready_host(&step, extras)
    });
    if let Some(neighbors) = &mut buffers.neighbors {
        neighbors.searched = searched;
    }
    ready
}

/// Prepares the recording of a search for neighbours of spheres on the device.
pub(crate) fn ready_device(
    search: &NeighborSearch<'_, DeviceSpheres<'_>>,
    buffers: &mut CollisionBuffers,
) -> Result<Ready, Error> {
    buffers.asked_neighbors(search.full)?;
    search.check_lengths::<f32>()?;
    search.domain().check()?;
    let (radius, padding) = match search.rule {
        Rule::Cutoff(_) => (Values::Constant(search.reach(0.0)), 0.0),
        Rule::Radii => (search.spheres.radius, f32::nearest(search.skin) / 2.0),
    };
    let spheres = DeviceSpheres {
        radius,
        motion: SphereMotion::Still,
        ..search.spheres
    };
    let request = NeighborRequest::new(search, padding);
    let step = Step::on_device(spheres, 0.0).in_domain(search.domain());
    buffers.ready_device(&step, Some(request))
}

impl CollisionBuffers {
    /// Records a search for neighbours into the application's encoder: see
    /// [`BufferOptions::with_neighbors`](crate::gpu::BufferOptions::with_neighbors).
    ///
    /// If the buffers hold a neighbour list of an earlier search with the same settings, and no particle has
    /// moved by more than half the skin since that list was made, the list is kept, and only the vectors and
    /// distances are computed anew. The GPU decides this when it runs the recorded commands. If the list is
    /// kept, the field `kept` of the [`results`](Self::results) is 1, and the other fields are those of the
    /// search that made the list. The stages of a step then run no workgroups.
    ///
    /// The GPU follows the rule of [`NeighborList::is_valid_for`](crate::NeighborList::is_valid_for), but
    /// makes a list anew in some cases in which this rule would keep it: if a particle has been wrapped or the
    /// domain has changed, perhaps if a particle has moved by
    /// more than 0.999997 times half the skin, and always if the skin is below 2⁻⁹⁹ and any particle has
    /// moved. An incomplete list is never kept.
    ///
    /// The buffer [`neighbors`](Self::neighbors) holds the neighbour list. To find neighbours,
    /// carom puts a sphere at rest in the place of each particle, so that the spheres of two
    /// neighbours touch. The buffer [`pairs`](Self::pairs) and the requested reductions (results
    /// computed from the pairs) contain the pairs of these spheres. Readbacks such as
    /// [`read_exact`](Self::read_exact) return these pairs, too. If a list was kept, they use the
    /// positions from which the list was made, not the present ones.
    ///
    /// ```
    /// use carom::NeighborSearch;
    /// use carom::gpu::{CollisionBuffers, DeviceSpheres, wgpu};
    ///
    /// fn record(
    ///     buffers: &mut CollisionBuffers, // with BufferOptions::with_neighbors()
    ///     encoder: &mut wgpu::CommandEncoder,
    ///     atoms: DeviceSpheres<'_>,
    /// ) -> Result<(), carom::Error> {
    ///     let search = NeighborSearch::within_on_device(atoms, 2.5).with_skin(0.3);
    ///     buffers.record_neighbors(encoder, &search)
    /// }
    /// ```
    ///
    /// In a shader of the application, the neighbours of particle `i` are:
    ///
    /// ```wgsl
    /// for (var k = neighbor_offsets[i]; k < neighbor_offsets[i + 1u]; k++) {
    ///     let other = neighbors[k].j;
    ///     let distance = neighbor_vectors[k].w; // the vector to the neighbour is in xyz
    /// }
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`record`](Self::record), or one of these:
    /// - [`Error::InvalidCutoff`] if the cutoff or the skin is out of range.
    /// - [`Error::NotAskedFor`] if the buffers were created without
    ///   [`BufferOptions::with_neighbors`](crate::gpu::BufferOptions::with_neighbors), or if the search asks for a
    ///   full list and they were created without
    ///   [`BufferOptions::with_contacts`](crate::gpu::BufferOptions::with_contacts).
    pub fn record_neighbors<S: RecordableSpheres>(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        search: &NeighborSearch<'_, S>,
    ) -> Result<(), Error> {
        self.begin_recording()?;
        let ready = S::ready_neighbors(search, self)?;
        self.encode(encoder, ready);
        Ok(())
    }

    fn asked_neighbors(&mut self, full: bool) -> Result<&mut Neighbors, Error> {
        if full && self.reductions.contacts.is_none() {
            return Err(Error::NotAskedFor { option: "contacts" });
        }
        let option = "neighbors";
        self.neighbors.as_mut().ok_or(Error::NotAskedFor { option })
    }

    fn made_neighbors(&self) -> Result<&Neighbors, Error> {
        let option = "neighbors";
        self.neighbors.as_ref().ok_or(Error::NotAskedFor { option })
    }

    /// Returns the GPU buffer of the neighbour list of the last search: an `array<CaromNeighbor>`
    /// of [`WGSL`](crate::gpu::WGSL), in the order of a [`NeighborList`](crate::NeighborList).
    ///
    /// The first `neighbors` elements are valid, where `neighbors` is a field of the
    /// [`results`](Self::results). The list also has the pairs for which float32 cannot decide
    /// whether they are neighbours. These pairs are marked as `grazing`.
    ///
    /// The buffer has room for as many entries as the list of pairs. With the option
    /// [`contacts`](crate::gpu::BufferOptions::with_contacts), which full lists need, it has room for twice
    /// as many. Usages: `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// Returns [`Error::NotAskedFor`] if [`BufferOptions::with_neighbors`](crate::gpu::BufferOptions::with_neighbors) was not
    /// set.
    pub fn neighbors(&self) -> Result<&wgpu::Buffer, Error> {
        Ok(&self.made_neighbors()?.list)
    }

    /// Returns the GPU buffer with the vector from particle i to the image of particle j in `xyz`
    /// and its length in `w`, for each entry of [`neighbors`](Self::neighbors): an
    /// `array<vec4<f32>>`.
    ///
    /// The vectors to neighbours are computed from the positions at the latest search, even if that search
    /// reused the list of an earlier search. A vector is the difference of two positions. In a periodic
    /// domain, the displacement of the image is added: the three edges, each times a whole number. The shader
    /// adds all these terms in float32. It also computes the rounding errors of the additions, and adds them
    /// to the sum. It does not correct the rounding error of an edge times a whole number; this error is 0 if
    /// the number is −1, 0 or 1. Usages: `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// Returns the same errors as [`neighbors`](Self::neighbors).
    pub fn neighbor_vectors(&self) -> Result<&wgpu::Buffer, Error> {
        Ok(&self.made_neighbors()?.vectors)
    }

    /// Returns the GPU buffer of the offsets at which the entries of each particle begin in
    /// [`neighbors`](Self::neighbors): an `array<u32>` with one element more than the capacity for
    /// spheres. The entries of particle i end before the offset in element i + 1. Usages: `STORAGE`
    /// and `COPY_SRC`.
    ///
    /// # Errors
    /// Returns the same errors as [`neighbors`](Self::neighbors).
    pub fn neighbor_offsets(&self) -> Result<&wgpu::Buffer, Error> {
        Ok(&self.made_neighbors()?.offsets)
    }

    /// Returns the GPU buffer of arguments for a `dispatch_workgroups_indirect` over the entries of
    /// the neighbour list [`neighbors`](Self::neighbors). It has one invocation per entry, in
    /// workgroups of `CAROM_WORKGROUP` invocations.
    ///
    /// The dispatch may have two dimensions. To get the index of its entry, an invocation passes
    /// the number of workgroups along x to `carom_index()`: the field `neighbor_columns` of the
    /// [`results`](Self::results). Usages: `INDIRECT` and `COPY_SRC`.
    ///
    /// # Errors
    /// Returns the same errors as [`neighbors`](Self::neighbors).
    pub fn neighbors_dispatch(&self) -> Result<&wgpu::Buffer, Error> {
        Ok(&self.made_neighbors()?.dispatch)
    }
}

//! Neighbour lists on the GPU: their buffers, and the recording that makes a new list only if the
//! old one is not valid any more.
//!
//! Every recorded search for neighbours contains all stages of a step, as indirect dispatches. The
//! kernels of `shaders/neighbors/neighbors_check.wgsl` decide whether the old neighbour list is still valid.
//! If so, they set the sizes of these dispatches to 0. So the host takes no part in this decision.

use wgpu::BufferUsages;

use super::buffers::Buffers;
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
use crate::{Error, Sphere};

pub(crate) struct Neighbors {
    pub(crate) recording: Recording,
    /// For the stage `load`, which fills `given_spheres` instead of `spheres`.
    pub(crate) given: NamedBuffers,
    pub(crate) given_spheres: wgpu::Buffer,
    pub(crate) request: wgpu::Buffer,
    /// The request that led to the present list. All zeros if there is none.
    pub(crate) state: wgpu::Buffer,
    pub(crate) list: wgpu::Buffer,
    pub(crate) vectors: wgpu::Buffer,
    pub(crate) offsets: wgpu::Buffer,
    pub(crate) dispatch: wgpu::Buffer,
    /// For particles on the host.
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

fn read_buffers(b: &Buffers, reductions: &Reductions) -> Result<NamedBuffers, Error> {
    let sorted = reductions.sorted.as_ref();
    let sorted = sorted.ok_or(Error::NotAskedFor { option: "sorted" })?;
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

/// Returns copies of some stages in which the GPU can skip every dispatch. `list_sizes` has
/// their numbers of workgroups, and a kernel sets those that run in `list_dispatches`.
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
    /// `step` has the stages of a step, with its reductions. Must be called inside a wgpu
    /// error scope.
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

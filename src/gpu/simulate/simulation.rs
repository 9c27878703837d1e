//! Hard-sphere dynamics on the GPU: the buffers of a simulation, and the recording of its GPU
//! commands.
//!
//! A recording is a call of `SimulationBuffers::record`. It adds commands to the application's
//! encoder that copy the spheres from the application's buffers, run a number of substeps, and copy
//! the spheres back. docs/design.md, "Hard-sphere dynamics on the GPU", explains the kernels.

use std::sync::Arc;

use bytemuck::Zeroable;
use glam::DVec3;
use wgpu::BufferUsages;

use super::simulation_options::SimulationBufferOptions;
use super::simulation_state::{SimulationImpacts, SimulationState};
use crate::dynamics::check_restitution;
use crate::gpu::collide::collision_buffers::CollisionBuffers;
use crate::gpu::collide::neighbors::indirect;
use crate::gpu::collide::options::BufferOptions;
use crate::gpu::collide::record_step::InnerStep;
use crate::gpu::collide::scan::scan;
use crate::gpu::device::allocator::{Allocator, ScanTable, filled};
use crate::gpu::device::context::{Late, cannot_be_bound};
use crate::gpu::device::device_kernels::DeviceKernels;
use crate::gpu::device::dispatch::{Dispatch, workgroups};
use crate::gpu::device::named_buffers::NamedBuffers;
use crate::gpu::device::shader::constants::{MOST_IMPACTS, MOST_LEFT, MOST_WALLS, SWEEPS};
use crate::gpu::device::shader::kernels::{Compiled, Rests};
use crate::gpu::device::shader::layout::{
    CaromCollision, CaromResults, DispatchArguments, GpuBody, GpuCandidate, GpuImpact, GpuMeshBox,
    GpuMeshTriangle, GpuPiece, GpuSimulation, GpuTrack, GpuWall, GpuWallLattice, GpuWallMotion,
    SimulationCounters, SimulationRequest, SourceLayout, UNIFORM_ALIGNMENT, WallImpulse,
};
use crate::gpu::device::timing::TimedBy;
use crate::gpu::input::bind_cache::BindCache;
use crate::gpu::input::bound_spheres::{BoundSpheres, Window, Words, bind_masses};
use crate::gpu::input::device_spheres::{DeviceSpheres, SphereMotion};
use crate::gpu::input::upload::{Submitted, Upload, UploadRing, uniform_padding};
use crate::gpu::pipeline::CollisionPipeline;
use crate::gpu::results::pair_list::unpacked_image;
use crate::gpu::results::staging::{Copied, Staging};
use crate::gpu::results::summary::WALL;
use crate::gpu::results::ticket::Ticket;
use crate::lattice::duals;
use crate::validate::check_dt;
use crate::{Combine, Error, Impact, Mesh, Partner, SimulationOptions, Sphere, Wall, Walls};

/// Number of rounds between two searches for further candidates. These searches are for spheres
/// that have moved farther than their pads.
const WIDENED: u32 = 4;

/// If spheres can rest, the last third of the rounds adds no impacts. After these rounds and the search for further
/// candidates that follows, a substep can end early. So with fewer rounds, it might never end.
const LEAST_ROUNDS: u32 = 2 * WIDENED;

/// Up to this number of spheres, one workgroup finds all impulses between spheres that rest. This takes less time than a
/// dispatch for each sweep.
const FEW: u32 = 4096;

/// Byte offset of the source layout (strides and offsets of the application's buffers) in the uniform buffer.
const SOURCE: u64 = 2 * UNIFORM_ALIGNMENT;
const UNIFORM_SIZE: u64 = SOURCE + UNIFORM_ALIGNMENT;

const _: () = assert!(size_of::<SimulationRequest>() as u64 <= SOURCE);
const _: () = assert!(size_of::<SourceLayout>() as u64 <= UNIFORM_ALIGNMENT);

/// Moves hard spheres through time on the application's device, so that every impact happens at its
/// time and in its order. Created by
/// [`CollisionPipeline::create_simulation`](crate::gpu::CollisionPipeline::create_simulation).
///
/// The positions and velocities stay in the application's buffers. A recording reads them there, moves the spheres
/// by the requested time, and writes them back. The host takes no part in this: a recording has a fixed number of
/// substeps, and the GPU chooses the duration of each. A substep that cannot be completed is rolled back, and the
/// next one is shorter. If the substeps of a recording do not suffice for the requested time, the spheres stop at
/// the end of the last complete substep, and the next recording goes on from there. The buffer
/// [`state`](Self::state) has the time reached.
///
/// Walls may be half-spaces, spheres, cylinders and meshes of triangles, which move with constant velocities
/// until they are [edited](Self::edit_walls). At time 0 of the simulation, they are where the options put them. A
/// sphere of radius 0 passes through triangles.
///
/// Numbers are float32. Rounding a centre to float32 leaves off a small part. The simulation keeps this part until the
/// next recording, so rounding errors of positions do not add up. If the application changes the centre, the sphere
/// starts exactly at the new one. If it writes the same centre again, the small part stays. In a periodic domain, the
/// centres are wrapped into its cell, because float32 would lose precision far from it. Two overlapping spheres
/// collide at once if they approach each other. Otherwise they move on without an impact until they are separate.
///
/// By default, a substep has more than 80 indirect dispatches. wgpu checks each of them with a small dispatch of its
/// own, unless the application creates its [`wgpu::Instance`] without the flag
/// [`VALIDATION_INDIRECT_CALL`](wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL). On an NVIDIA H200, a substep of 16 384
/// spheres takes a third less time without these checks, and one of a million spheres an eighth less. The numbers of
/// workgroups that carom computes are always within the limits of the device.
///
/// ```no_run
/// use carom::gpu::{Attribute, CollisionPipeline, DeviceSpheres, SimulationBufferOptions, wgpu};
///
/// # fn run(device: &wgpu::Device, queue: &wgpu::Queue, position: &wgpu::Buffer, velocity: &wgpu::Buffer)
/// #     -> Result<(), carom::Error> {
/// let pipeline = CollisionPipeline::new(device)?;
/// let mut simulation = pipeline.create_simulation(&SimulationBufferOptions::new(1000))?;
/// let center = Attribute::new(position, 0, 16);
/// let spheres = DeviceSpheres::new(1000, center, Attribute::new(position, 12, 16))
///     .with_velocity(Attribute::new(velocity, 0, 16));
/// // Each frame:
/// let mut encoder = device.create_command_encoder(&Default::default());
/// simulation.record(&mut encoder, &spheres, 1.0 / 60.0)?;
/// let state = simulation.read_state(&mut encoder)?;
/// queue.submit([encoder.finish()]);
/// // In a later frame, `state.try_take()` returns the time reached.
/// # Ok(())
/// # }
/// ```
pub struct SimulationBuffers {
    kernels: Arc<DeviceKernels>,
    options: SimulationBufferOptions,
    collisions: CollisionBuffers,
    search: InnerStep,
    mesh: Option<MeshSearch>,
    named: NamedBuffers,
    state: wgpu::Buffer,
    uniform: wgpu::Buffer,
    impulses: wgpu::Buffer,
    impacts: wgpu::Buffer,
    rows: ScanTable,
    /// Cleared before each substep, if spheres can rest.
    changes: Option<wgpu::Buffer>,
    request: SimulationRequest,
    /// What recordings change that may not have been submitted yet.
    edits: Vec<(Edit, Submitted)>,
    /// What the next recording changes besides walls.
    pending: OtherEdits,
    /// Number of spheres in the last recording.
    recorded: u32,
    /// The dispatches of a substep before the search for candidate pairs, and after it.
    before: Vec<Dispatch>,
    after: Vec<Dispatch>,
    begin: Dispatch,
    ends: BindCache<LoadStore>,
    /// Of the latest recording's bind groups with the application's buffers.
    sources: Late,
    uploads: UploadRing,
    staging: Staging,
}

/// The search for spheres near triangles of meshes.
struct MeshSearch {
    /// Buffers for steps of two sets. One set is the spheres near meshes, enlarged by bounds on
    /// their displacements. The other set is the bounding spheres of the triangles at the start of a
    /// substep.
    collisions: CollisionBuffers,
    search: InnerStep,
    triangles: u32,
}

/// What a recording changes.
#[derive(Clone, Copy)]
struct Edit {
    /// Bits of walls, as in the request.
    changed: u32,
    jumped: u32,
    others: OtherEdits,
}

bitflags::bitflags! {
    /// What a recording changes besides walls.
    #[derive(Clone, Copy)]
    struct OtherEdits: u32 {
        /// It writes the restitutions of spheres.
        const RESTITUTIONS = 1;
        /// It writes the compound bodies.
        const BODIES = 2;
        /// What supports a sphere may be gone.
        const SUPPORTS = 4;
    }
}

/// The dispatches that read and write the application's buffers.
#[derive(Clone)]
struct LoadStore {
    load: Dispatch,
    store: [Dispatch; 2],
}

impl std::fmt::Debug for SimulationBuffers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimulationBuffers")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl CollisionPipeline {
    /// Creates the GPU buffers of a hard-sphere simulation, at time 0, without blocking the thread.
    ///
    /// In a browser, if the device is out of memory, only a later call returns the error.
    /// [`create_simulation_async`](Self::create_simulation_async) waits for the error instead.
    ///
    /// # Errors
    /// Returns one of these errors:
    /// - [`Error::ZeroCapacity`] if `options` has no room for spheres, substeps, rounds or
    ///   recordings.
    /// - [`Error::InvalidSimulation`], [`Error::InvalidDomain`] or [`Error::InvalidWall`] for options
    ///   that are out of range, or that only the CPU's [`Simulation`](crate::Simulation) has.
    /// - The errors of [`create_buffers`](Self::create_buffers).
    pub fn create_simulation(
        &self,
        options: &SimulationBufferOptions,
    ) -> Result<SimulationBuffers, Error> {
        options.check()?;
        let options = &fitted(options, &self.kernels.context.limits);
        let late = Late::default();
        let create = |search: BufferOptions| self.with_capacity(&search, search.capacity(), &late);
        let collisions = create(search_options(options, options.spheres))?;
        let mesh = mesh_search_options(options).map(create).transpose()?;
        let kernels = &self.kernels;
        let make = || SimulationBuffers::new(kernels.clone(), options.clone(), collisions, mesh);
        kernels.context.scoped_for(&late, make)
    }

    /// Creates the GPU buffers of a hard-sphere simulation as
    /// [`create_simulation`](Self::create_simulation) does, and waits until the device has created
    /// them.
    ///
    /// # Errors
    /// Returns the same errors as [`create_simulation`](Self::create_simulation).
    pub async fn create_simulation_async(
        &self,
        options: &SimulationBufferOptions,
    ) -> Result<SimulationBuffers, Error> {
        options.check()?;
        let options = &fitted(options, &self.kernels.context.limits);
        let search = search_options(options, options.spheres);
        let collisions = self.create_buffers_async(&search).await?;
        let mesh = match mesh_search_options(options) {
            Some(search) => Some(self.create_buffers_async(&search).await?),
            None => None,
        };
        let kernels = &self.kernels;
        let make = || SimulationBuffers::new(kernels.clone(), options.clone(), collisions, mesh);
        kernels.context.scoped_async(make).await
    }
}

/// Returns options with the usual capacity for candidates and the usual room of paths, or with less if these do not fit into
/// the storage buffers of the device. Then the substeps are shorter.
fn fitted(options: &SimulationBufferOptions, limits: &wgpu::Limits) -> SimulationBufferOptions {
    let mut options = options.clone();
    let most = (limits.max_storage_buffer_binding_size).min(limits.max_buffer_size);
    let spheres = u64::from(options.spheres);
    let path = u64::from(MOST_IMPACTS) * size_of::<GpuPiece>() as u64;
    if spheres * path > most {
        options.path_room = MOST_IMPACTS / 2;
    }
    let lists = if triangles(&options) > 0 { 2 } else { 1 };
    let mut candidates = most / size_of::<GpuCandidate>() as u64 / lists;
    if can_rest(&options) {
        // As in `rests`.
        let walls = options.simulation.walls.simple().len() as u64;
        let contacts = most / size_of::<[u32; 4]>() as u64;
        let others = spheres * (8 + 2 * walls);
        candidates = candidates.min(contacts.saturating_sub(others) / (2 + 2 * lists));
    }
    options.limit_candidates(candidates);
    options
}

/// Returns the options of the buffers for the search for spheres near triangles, or `None` without meshes.
fn mesh_search_options(options: &SimulationBufferOptions) -> Option<BufferOptions> {
    let triangles = triangles(options);
    let spheres = options.spheres.saturating_add(triangles);
    (triangles > 0).then(|| search_options(options, spheres))
}

/// Returns the options of the buffers for a search for candidates, with this number of spheres.
fn search_options(options: &SimulationBufferOptions, spheres: u32) -> BufferOptions {
    let periodic = !options.simulation.domain.is_open();
    BufferOptions {
        pairs: Some(options.most_candidates()),
        // The spheres in a search for candidates are at rest, so no path is cut into time segments.
        // In a periodic domain, the capacity for segments also counts the images of spheres.
        segments: Some(if periodic {
            spheres.saturating_add(8192)
        } else {
            1
        }),
        periodic,
        // Pairs of padded spheres that touch are only candidates.
        decided: false,
        ..BufferOptions::new(spheres)
    }
}

/// Returns the number of triangles of all meshes.
fn triangles(options: &SimulationBufferOptions) -> u32 {
    let walls = &options.simulation.walls;
    u32::try_from(walls.len() - walls.simple().len()).unwrap_or(u32::MAX)
}

/// Returns the number of walls and meshes.
fn surfaces(options: &SimulationBufferOptions) -> usize {
    let walls = &options.simulation.walls;
    walls.simple().len() + walls.meshes().len()
}

/// Returns the entry of a sphere in a list of the options that must have an entry for each.
fn entry<'a, T>(
    list: &'a mut [T],
    sphere: usize,
    option: &str,
    what: &str,
) -> Result<&'a mut T, Error> {
    let count = list.len();
    let problem = match count {
        0 => format!(
            "no sphere has a {what} of its own; create the buffers with `SimulationOptions::with_{option}`"
        ),
        _ => format!("there is no sphere {sphere}: the buffers were made for {count}"),
    };
    let entry = list.get_mut(sphere);
    entry.ok_or(Error::InvalidSimulation { problem })
}

fn narrow(vector: DVec3) -> [f32; 3] {
    vector.as_vec3().to_array()
}

fn four(vector: DVec3) -> [f32; 4] {
    let [x, y, z] = narrow(vector);
    [x, y, z, 0.0]
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the kernels compute in float32"
)]
fn request(options: &SimulationBufferOptions) -> SimulationRequest {
    let simulation = &options.simulation;
    let domain = &simulation.domain;
    let edges = [0, 1, 2].map(|k| domain.periodic_edge(k));
    let walls = &simulation.walls;
    let own = (walls.simple().iter().map(Wall::restitution))
        .chain(walls.meshes().iter().map(Mesh::restitution))
        .map(|own| own.unwrap_or(simulation.wall_restitution));
    let mut wall_restitutions = [[0.0; 4]; MOST_WALLS as usize / 4];
    for (entry, own) in wall_restitutions.as_flattened_mut().iter_mut().zip(own) {
        *entry = own as f32;
    }
    SimulationRequest {
        gravity: narrow(simulation.gravity),
        edges: edges.map(four),
        duals: duals(edges).map(four),
        corner: domain.origin_f32(),
        periodic: u32::from(!domain.is_open()),
        restitution: simulation.restitution as f32,
        least_restitution: least_restitution(options),
        contact_time: simulation.contact_time as f32,
        impacts: options.impacts_per_substep() as f32,
        walls: simulation.walls.simple().len() as u32,
        surfaces: surfaces(options) as u32,
        rounds: rounds(options),
        near_capacity: options.most_candidates(),
        impact_capacity: options.most_impacts(),
        domain_extent: domain.extent(),
        triangles: triangles(options),
        one_sided: simulation.one_sided_meshes.into(),
        most_remaining: options.most_remaining.min(f32::MAX),
        combine: match simulation.combine {
            Combine::Average => 1,
            Combine::Min => 2,
            Combine::Multiply => 3,
            Combine::Max => 4,
        },
        own_restitutions: match simulation.restitutions.is_empty() {
            true => 0,
            false => options.spheres,
        },
        path_room: options.path_room,
        wall_restitutions,
        ..SimulationRequest::zeroed()
    }
}

/// Returns a restitution that no impact is below.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the kernels compute in float32"
)]
fn least_restitution(options: &SimulationBufferOptions) -> f32 {
    let simulation = &options.simulation;
    let walls = &simulation.walls;
    let own = (walls.simple().iter().map(Wall::restitution))
        .chain(walls.meshes().iter().map(Mesh::restitution))
        .map(|own| own.unwrap_or(simulation.wall_restitution));
    let at_walls = own.fold(1.0, f64::min);
    let of_spheres = simulation.restitutions.iter().copied();
    let least = match of_spheres.reduce(f64::min) {
        None => at_walls.min(simulation.restitution),
        // Each way to combine two numbers grows with both.
        Some(least) => {
            let with = |other| simulation.combine.of([least, other]);
            with(least).min(with(at_walls))
        }
    };
    least as f32
}

/// Returns whether spheres can rest.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the kernels compute in float32"
)]
fn can_rest(options: &SimulationBufferOptions) -> bool {
    let simulation = &options.simulation;
    let strength: f32 = narrow(simulation.gravity).iter().map(|g| g * g).sum();
    strength > 0.0 && simulation.contact_time as f32 > 0.0
}

/// Returns the number of rounds in a substep.
fn rounds(options: &SimulationBufferOptions) -> u32 {
    if can_rest(options) {
        options.rounds.max(LEAST_ROUNDS)
    } else {
        options.rounds
    }
}

/// The buffers of a simulation that host code accesses.
struct Storage {
    state: wgpu::Buffer,
    impulses: wgpu::Buffer,
    impacts: wgpu::Buffer,
    rows: ScanTable,
    changes: Option<wgpu::Buffer>,
}

/// Makes the buffers of a simulation, except those for the searches for candidates.
fn storage(made: &mut Allocator<'_>, options: &SimulationBufferOptions) -> Result<Storage, Error> {
    let none = BufferUsages::empty();
    let (source, target) = (BufferUsages::COPY_SRC, BufferUsages::COPY_DST);
    let spheres = u64::from(options.spheres);
    let usage = BufferUsages::UNIFORM | source | target;
    let state = made.one::<GpuSimulation>("simulation", "state of the simulation", usage)?;
    let what = "counters of the simulation";
    made.one::<SimulationCounters>("simulation_counters", what, none)?;
    let behind = options.simulation.restitutions.len().div_ceil(3) as u64;
    let bodies = spheres + behind;
    made.array::<GpuBody>("bodies", "spheres of the simulation", bodies, target)?;
    made.array::<GpuTrack>("tracks", "tracks of the spheres", spheres, none)?;
    let pieces = spheres * u64::from(options.path_room);
    made.array::<GpuPiece>("pieces", "paths of the spheres", pieces, none)?;
    let count = options.simulation.bodies.len() as u64;
    made.array::<u32>("compounds", "compound bodies", count, target)?;
    let pairs = u64::from(options.most_candidates());
    let near = if triangles(options) > 0 { pairs } else { 0 };
    made.array::<GpuCandidate>("candidates", "candidates", pairs + near, none)?;
    let entries = 2 * pairs + near;
    made.array::<u32>("row_entries", "candidates of the spheres", entries, none)?;
    let what = "rows of candidates";
    let rows = made.table("row_starts", what, spheres + 1, target)?;
    let what = "sums of the simulation";
    made.array::<[f32; 4]>("simulation_sums", what, workgroups(spheres), none)?;
    let count = surfaces(options) as u64;
    let (name, what) = ("wall_sums", "sums of the walls");
    made.array::<[f32; 4]>(name, what, workgroups(spheres) * count, none)?;
    let (name, what) = ("wall_impulses", "impulses at the walls");
    let impulses = made.array::<WallImpulse>(name, what, count, source | target)?;
    let (name, what) = ("simulation_dispatch", "dispatch over the spheres");
    made.one::<DispatchArguments>(name, what, BufferUsages::INDIRECT)?;
    let most = options.most_impacts().into();
    let impacts = made.array::<GpuImpact>("impacts", "list of impacts", most, source)?;
    let what = "dispatch of a round";
    made.one::<DispatchArguments>("round_dispatch", what, BufferUsages::INDIRECT)?;
    let what = "spheres of a round";
    made.array::<u32>("round_spheres", what, 3 + 5 * spheres, none)?;
    let what = "dispatch over the spheres whose pads are checked";
    made.one::<DispatchArguments>("pad_dispatch", what, BufferUsages::INDIRECT)?;
    let (name, what) = ("left_spheres", "spheres that have left their pads");
    made.array::<u32>(name, what, 2 + u64::from(MOST_LEFT), none)?;
    walls(made, options)?;
    let changes = rests(made, options, entries)?;
    let with_meshes = if near > 0 { spheres } else { 0 };
    let what = "indices of the spheres near meshes";
    made.array::<u32>("near_numbers", what, with_meshes, none)?;
    Ok(Storage {
        state,
        impulses,
        impacts,
        rows,
        changes,
    })
}

/// Makes the buffers for what touches spheres that rest. Returns the one that is cleared before each substep, or `None` if
/// no sphere can rest.
fn rests(
    made: &mut Allocator<'_>,
    options: &SimulationBufferOptions,
    entries: u64,
) -> Result<Option<wgpu::Buffer>, Error> {
    let none = BufferUsages::empty();
    let can_rest = can_rest(options);
    let spheres = if can_rest {
        u64::from(options.spheres)
    } else {
        0
    };
    let contacts = if can_rest { entries } else { 0 };
    let walls = options.simulation.walls.simple().len() as u64;
    // See `endings.wgsl`.
    let count = 8 * spheres + 2 * (contacts + spheres * walls);
    let what = "contacts of spheres that rest";
    made.array::<[u32; 4]>("touches", what, count, none)?;
    if !can_rest {
        return Ok(None);
    }
    let what = "velocities of spheres that rest";
    made.array::<[f32; 4]>("swept", what, 3 * spheres, none)?;
    let what = "changes by sweeps";
    let count = u64::from(SWEEPS) + 1;
    let changes = made.array::<u32>("sweep_changes", what, count, BufferUsages::COPY_DST)?;
    Ok(Some(changes))
}

/// Returns the index of the first sphere of each sphere's compound body. A sphere that belongs to none has its own index.
fn compounds(bodies: &[Option<u32>]) -> Result<Vec<u32>, Error> {
    let what = "compound bodies";
    let mut members = crate::memory::allocate(bodies.len(), what)?;
    members.extend(
        bodies
            .iter()
            .zip(0_u32..)
            .filter_map(|(body, sphere)| Some(((*body)?, sphere))),
    );
    members.sort_unstable();
    let mut firsts: Vec<u32> = crate::memory::allocate(bodies.len(), what)?;
    firsts.extend((0..).take(bodies.len()));
    for body in members.chunk_by(|one, other| one.0 == other.0) {
        for (_, sphere) in body {
            firsts[*sphere as usize] = body[0].1;
        }
    }
    Ok(firsts)
}

/// Returns the values for all walls in an array of fixed length, with zeroed values behind them.
fn table<T: Copy + Zeroable>(values: impl Iterator<Item = T>) -> [T; MOST_WALLS as usize] {
    let mut table = [T::zeroed(); MOST_WALLS as usize];
    for (place, value) in table.iter_mut().zip(values) {
        *place = value;
    }
    table
}

/// Returns the walls and meshes, and their lattices.
#[allow(clippy::type_complexity, reason = "two tables of the same length")]
fn wall_tables(
    options: &SimulationBufferOptions,
) -> (
    [GpuWall; MOST_WALLS as usize],
    [GpuWallLattice; MOST_WALLS as usize],
) {
    let SimulationOptions { walls, domain, .. } = &options.simulation;
    let simple = walls.simple().iter().map(GpuWall::new);
    let all = simple.chain(walls.meshes().iter().map(GpuWall::of_mesh));
    let of_walls = (walls.simple().iter()).map(|wall| GpuWallLattice::new(wall, domain));
    let of_meshes = (walls.meshes().iter()).map(|_| GpuWallLattice::of_all_edges(domain));
    (table(all), table(of_walls.chain(of_meshes)))
}

/// Makes the buffers of the walls and of the triangles.
fn walls(made: &mut Allocator<'_>, options: &SimulationBufferOptions) -> Result<(), Error> {
    let given = &options.simulation.walls;
    let (list, lattices) = wall_tables(options);
    let usage = BufferUsages::UNIFORM | BufferUsages::COPY_DST;
    let what = "walls of the simulation";
    let walls = filled(made.device, what, bytemuck::cast_slice(&list), usage)?;
    made.named.array::<GpuWall>("given_walls", &walls);
    let (name, most) = ("wall_motions", u64::from(MOST_WALLS));
    made.array::<GpuWallMotion>(name, "motions of the walls", most, BufferUsages::empty())?;
    let (name, most) = ("simulation_walls", u64::from(MOST_WALLS));
    made.array::<GpuWall>(name, "moved walls", most, BufferUsages::UNIFORM)?;
    let what = "lattices of the walls";
    let lattices = filled(made.device, what, bytemuck::cast_slice(&lattices), usage)?;
    (made.named).array::<GpuWallLattice>("simulation_lattices", &lattices);
    let no_box = |_| GpuMeshBox::zeroed();
    let of_walls = given.simple().iter().map(no_box);
    let list = table(of_walls.chain(given.meshes().iter().map(GpuMeshBox::new)));
    let what = "boxes around the meshes";
    let bytes = bytemuck::cast_slice(&list);
    let boxes = filled(made.device, what, bytes, BufferUsages::UNIFORM)?;
    (made.named).array::<GpuMeshBox>("mesh_boxes", &boxes);

    let count = u64::from(triangles(options));
    let none = BufferUsages::empty();
    let (name, what) = ("simulation_triangles", "triangles of the simulation");
    if count == 0 {
        made.array::<GpuMeshTriangle>(name, what, 0, none)?;
        return Ok(());
    }
    let list = GpuMeshTriangle::all(given, given.simple().len() as u32)?;
    made.filled(name, what, &list)?;
    let what = "bounding spheres of the triangles";
    let mut bounds: Vec<Sphere> = crate::memory::allocate(count as usize, what)?;
    bounds.extend(given.meshes().iter().flat_map(Mesh::bounds));
    made.filled("triangle_bounds", what, &bounds)
}

/// Makes the dispatches of a simulation from its kernels and buffers.
struct SimulationMaker<'a> {
    kernels: &'a DeviceKernels,
    /// The buffers that the kernels use: those of the candidate search, those of the simulation, and those with the
    /// results of the search for spheres near triangles.
    sources: [&'a NamedBuffers; 3],
    spheres: u64,
    rounds: u32,
    has_list: bool,
    can_rest: bool,
}

impl SimulationMaker<'_> {
    fn dispatch(&self, kernel: &Compiled, count: u64) -> Result<Dispatch, Error> {
        self.kernels
            .binder()
            .dispatch(kernel, &self.sources, workgroups(count))
    }

    /// Returns an indirect dispatch over all spheres. It runs nothing in a substep that the kernel
    /// `simulation_plan` skips.
    fn over_spheres(&self, kernel: &Compiled) -> Result<Dispatch, Error> {
        self.sized(kernel, "simulation_dispatch")
    }

    /// Returns a dispatch with a number of workgroups that the device reads from a buffer of the simulation.
    fn sized(&self, kernel: &Compiled, sizes: &str) -> Result<Dispatch, Error> {
        let sizes = self.sources[1].buffer(sizes)?;
        Ok(self.dispatch(kernel, self.spheres)?.indirect(sizes, 0))
    }

    fn before(&self, mesh: Option<&MeshSearch>, rows: &ScanTable) -> Result<Vec<Dispatch>, Error> {
        let own = self.kernels.dynamics()?;
        let mut all = vec![
            self.dispatch(&own.simulation_plan, 1)?,
            self.dispatch(&own.simulation_walls, 1)?,
            self.over_spheres(&own.simulation_pad)?,
            self.dispatch(&own.simulation_search, 1)?,
        ];
        if let Some(mesh) = mesh {
            let binder = self.kernels.binder();
            let sources = [&mesh.collisions.buffers.named, self.sources[1]];
            let sizes = self.sources[1].buffer("simulation_dispatch")?;
            let of_mesh = |kernel, count| binder.dispatch(kernel, &sources, workgroups(count));
            all.extend(scan(binder, &self.kernels.stages, rows)?);
            all.push(of_mesh(&own.simulation_near, self.spheres)?.indirect(sizes, 0));
            all.push(of_mesh(&own.simulation_bounds, mesh.triangles.into())?);
            all.push(of_mesh(&own.simulation_near_search, 1)?);
        }
        Ok(all)
    }

    fn after(
        &self,
        collisions: &CollisionBuffers,
        mesh: Option<&MeshSearch>,
        rows: &ScanTable,
    ) -> Result<Vec<Dispatch>, Error> {
        let own = self.kernels.dynamics()?;
        let over_pairs = |collisions: &CollisionBuffers, kernel| {
            let dispatch = self.dispatch(kernel, 1)?;
            Ok::<_, Error>(dispatch.indirect(&collisions.buffers.pairs_dispatch, 0))
        };
        let mut all = vec![over_pairs(collisions, &own.simulation_count)?];
        if let Some(mesh) = mesh {
            all.push(self.dispatch(&self.kernels.walls()?.mesh_status, 1)?);
            all.push(over_pairs(&mesh.collisions, &own.simulation_near_count)?);
        }
        all.extend(scan(self.kernels.binder(), &self.kernels.stages, rows)?);
        all.push(over_pairs(collisions, &own.simulation_fill)?);
        if let Some(mesh) = mesh {
            all.push(over_pairs(&mesh.collisions, &own.simulation_near_fill)?);
        }
        let rests = match self.can_rest {
            true => Some(self.kernels.rests()?),
            false => None,
        };
        let choose = |usual, resting: fn(&Rests) -> &Compiled| rests.map_or(usual, resting);
        let find = match mesh {
            Some(_) => &own.simulation_find_meshes,
            None => &own.simulation_find,
        };
        let find = choose(find, |rests| &rests.resting_find);
        let strike = choose(&own.simulation_strike, |rests| &rests.resting_strike);
        let settle = choose(&own.simulation_settle, |rests| &rests.resting_settle);
        let list = choose(&own.simulation_list, |rests| &rests.resting_list);
        let commit = choose(&own.simulation_commit, |rests| &rests.resting_commit);
        let round = [
            self.sized(find, "round_dispatch")?,
            self.sized(strike, "round_dispatch")?,
            self.dispatch(&own.simulation_continue, 1)?,
        ];
        let mut widening = vec![
            self.sized(&own.simulation_left, "pad_dispatch")?,
            self.sized(&own.simulation_widen, "pad_dispatch")?,
        ];
        if let Some(mesh) = mesh {
            widening.push(self.dispatch(&own.simulation_near_widen, mesh.triangles.into())?);
        }
        widening.push(self.dispatch(&own.simulation_verify, 1)?);
        // After the rounds that the options request, one more round shows whether any impact is
        // left to process.
        for number in 1..=self.rounds + 1 {
            all.extend_from_slice(&round);
            if number % WIDENED == 0 {
                all.extend_from_slice(&widening);
            }
        }
        if let Some(rests) = rests {
            all.extend(self.sweeps(rests)?);
        }
        all.push(self.over_spheres(settle)?);
        all.push(self.dispatch(&own.simulation_judge, 1)?);
        if self.has_list {
            all.push(self.over_spheres(list)?);
        }
        all.push(self.over_spheres(commit)?);
        Ok(all)
    }

    /// Returns the dispatches that find the impulses between spheres that rest.
    fn sweeps(&self, rests: &Rests) -> Result<Vec<Dispatch>, Error> {
        let mut numbers = vec![0; (SWEEPS * UNIFORM_ALIGNMENT as u32 / 4) as usize];
        for (own, number) in (numbers.chunks_mut(UNIFORM_ALIGNMENT as usize / 4)).zip(0..) {
            own[0] = number;
        }
        let device = &self.kernels.context.device;
        let bytes: &[u8] = bytemuck::cast_slice::<u32, u8>(&numbers);
        let numbers = filled(device, "numbers of sweeps", bytes, BufferUsages::UNIFORM)?;
        let dispatch = |kernel, number: u32, count| {
            let mut named = NamedBuffers::default();
            let offset = u64::from(number) * UNIFORM_ALIGNMENT;
            named.one_at::<[u32; 4]>("sweep_number", &numbers, offset);
            (self.kernels.binder()).dispatch(kernel, &[self.sources[1], &named], count)
        };
        let over = workgroups(self.spheres);
        let mut all = vec![
            self.over_spheres(&rests.resting_touch)?,
            dispatch(&rests.resting_begin, 0, over)?,
        ];
        if self.spheres <= FEW.into() {
            all.push(dispatch(&rests.resting_sweeps, 0, 1)?);
            return Ok(all);
        }
        for number in 0..SWEEPS {
            all.push(dispatch(&rests.resting_sweep, number, over)?);
        }
        Ok(all)
    }
}

/// Makes all dispatches of the searches for candidates indirect, so that they run nothing in a
/// substep that the kernel `simulation_plan` skips.
fn skip_unneeded<'a>(
    made: &mut Allocator<'_>,
    searches: impl Iterator<Item = &'a mut CollisionBuffers>,
) -> Result<(), Error> {
    let searches: Vec<_> = searches.collect();
    let all = searches
        .iter()
        .flat_map(|search| search.recording.stages(None));
    let mut stages = indirect(made, &all.cloned().collect::<Vec<_>>())?.into_iter();
    for search in searches {
        let count = search.recording.stages(None).count();
        let own = stages.by_ref().take(count).collect();
        search.recording = search.recording.with_stages(own);
    }
    Ok(())
}

fn pass(encoder: &mut wgpu::CommandEncoder, label: &str, dispatches: &[Dispatch]) {
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
        label: Some(label),
        timestamp_writes: None,
    });
    for dispatch in dispatches {
        dispatch.record(&mut pass);
    }
}

impl SimulationBuffers {
    /// Creates the buffers and dispatches of a simulation. Must be called inside a wgpu error scope.
    fn new(
        kernels: Arc<DeviceKernels>,
        options: SimulationBufferOptions,
        mut collisions: CollisionBuffers,
        mut mesh: Option<CollisionBuffers>,
    ) -> Result<Self, Error> {
        let context = &kernels.context;
        let mut made = Allocator::new(&context.device, &context.limits);
        let Storage {
            state,
            impulses,
            impacts,
            rows,
            changes,
        } = storage(&mut made, &options)?;
        let uniform = context.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("carom simulation"),
            size: UNIFORM_SIZE,
            usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let searches = [Some(&mut collisions), mesh.as_mut()];
        skip_unneeded(&mut made, searches.into_iter().flatten())?;
        let mut named = made.named;
        named.array::<Sphere>("padded_spheres", &collisions.buffers.spheres);
        named.one_at::<SimulationRequest>("simulation_request", &uniform, 0);
        named.one_at::<SourceLayout>("source", &uniform, SOURCE);
        let mut search = collisions.buffers.named.clone();
        if collisions.buffers.periodic.is_none() {
            // In open space, the kernels do not read the images, but need a buffer to bind.
            let images = search.buffer("octaves")?.clone();
            search.array::<u32>("pair_images", &images);
        }
        let near = mesh.as_ref().unwrap_or(&collisions);
        let mut found = NamedBuffers::default();
        let images = near.buffers.periodic.as_ref();
        let images = images.map_or(&near.buffers.results, |periodic| &periodic.pair_images);
        found.array::<u32>("mesh_images", images);
        found.one::<CaromResults>("mesh_results", &near.buffers.results);
        found.array::<CaromCollision>("mesh_pairs", &near.buffers.pairs);
        let domain = &options.simulation.domain;
        let mesh = mesh.map(|collisions| {
            Ok::<_, Error>(MeshSearch {
                search: collisions.inner_step(domain)?,
                collisions,
                triangles: triangles(&options),
            })
        });
        let mesh = mesh.transpose()?;
        let maker = SimulationMaker {
            kernels: &kernels,
            sources: [&search, &named, &found],
            spheres: options.spheres.into(),
            rounds: rounds(&options),
            has_list: options.most_impacts() > 0,
            can_rest: can_rest(&options),
        };
        let before = maker.before(mesh.as_ref(), &rows)?;
        let after = maker.after(&collisions, mesh.as_ref(), &rows)?;
        let begin = maker.dispatch(&kernels.dynamics()?.simulation_begin, 1)?;
        let staging = Staging::new(options.recordings);
        Ok(Self {
            request: request(&options),
            edits: Vec::new(),
            pending: OtherEdits::RESTITUTIONS | OtherEdits::BODIES,
            recorded: 0,
            search: collisions.inner_step(domain)?,
            kernels: kernels.clone(),
            options,
            collisions,
            mesh,
            named,
            state,
            uniform,
            impulses,
            impacts,
            rows,
            changes,
            before,
            after,
            begin,
            ends: BindCache::default(),
            sources: Late::default(),
            uploads: UploadRing::default(),
            staging,
        })
    }

    /// Returns the GPU buffer with the state of the simulation: one `CaromSimulation` of
    /// [`WGSL`](crate::gpu::WGSL). Usages: `STORAGE`, `UNIFORM`, `COPY_SRC` and `COPY_DST`.
    ///
    /// [`read_state`](Self::read_state) copies the state to the host.
    pub fn state(&self) -> &wgpu::Buffer {
        &self.state
    }

    /// Returns the GPU buffer with the momentum that the spheres have passed to each wall so far. It has two
    /// `vec4<f32>` for each wall of a simple shape, followed by two for each mesh. The first is the momentum,
    /// rounded, and the second the rounding error: add both. Usages: `STORAGE`, `COPY_SRC` and `COPY_DST`.
    ///
    /// To get the mean pressure on a flat wall in a period of simulated time, take the momentum
    /// that the spheres have passed to the wall in this period. Divide its component along the
    /// wall's normal by the wall's area and by the length of the period.
    pub fn wall_impulses(&self) -> &wgpu::Buffer {
        &self.impulses
    }

    /// Returns the GPU buffer of the list of impacts: an `array<CaromImpact>` of [`WGSL`](crate::gpu::WGSL) with the impacts
    /// of the last recording, in no particular order. Their number is `listed` of the [`state`](Self::state). Usages:
    /// `STORAGE` and `COPY_SRC`.
    ///
    /// [`read_impacts`](Self::read_impacts) copies the list of impacts to the host.
    ///
    /// # Errors
    /// Returns [`Error::NotAskedFor`] if the options do not request a list:
    /// [`SimulationBufferOptions::with_impacts`](crate::gpu::SimulationBufferOptions::with_impacts).
    pub fn impacts(&self) -> Result<&wgpu::Buffer, Error> {
        match self.request.impact_capacity {
            0 => Err(Error::NotAskedFor { option: "impacts" }),
            _ => Ok(&self.impacts),
        }
    }

    /// Records the motion of the spheres by a time `duration` into the application's encoder.
    ///
    /// The number of spheres must be known on the host, and the spheres must have velocities. The recorded
    /// commands read and write the application's centres and velocities, and only read radii and collision
    /// groups. Between two recordings, the application may change all of them.
    ///
    /// The masses are those of [`DeviceSpheres::with_inverse_mass`], or 1. The encoder and the buffers must be those
    /// that [`CollisionBuffers::record`] may be given.
    ///
    /// The spheres move by `duration` plus the part of earlier durations that earlier recordings did not complete.
    /// So a recording with a duration of 0 only completes what is left.
    ///
    /// # Errors
    /// Returns one of these errors:
    /// - [`Error::InvalidTimeStep`] if the duration is negative, not finite or too large.
    /// - [`Error::InvalidSimulation`] if the spheres are counted in a buffer, have no velocities, or are
    ///   more than the simulation has room for.
    /// - [`Error::SourceBuffer`] if a buffer cannot be used as described.
    /// - [`Error::TooManyInFlight`] if
    ///   [`SimulationBufferOptions::with_recordings`](crate::gpu::SimulationBufferOptions::with_recordings)
    ///   recordings are in flight already.
    /// - [`Error::DeviceLost`] if the device is lost.
    ///
    /// On an error, nothing is recorded into the encoder.
    pub fn record(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        spheres: &DeviceSpheres<'_>,
        duration: f32,
    ) -> Result<(), Error> {
        self.kernels.context.alive()?;
        self.collisions.late.check()?;
        check_dt(duration)?;
        let count = self.checked(spheres)?;
        let ends = self.ends(spheres, count)?;
        let serial = self.request.serial.wrapping_add(1).max(1);
        let request = &mut self.request;
        self.edits.retain(|(edit, submitted)| {
            // The encoder was dropped, so this recording makes the changes.
            if submitted.never() {
                request.changed |= edit.changed;
                request.jumped |= edit.jumped;
                self.pending |= edit.others;
            }
            submitted.perhaps()
        });
        let mut pending = self.pending;
        if pending.contains(OtherEdits::RESTITUTIONS) {
            self.request.least_restitution = least_restitution(&self.options);
        }
        pending.set(
            OtherEdits::SUPPORTS,
            pending.contains(OtherEdits::SUPPORTS) || count != self.recorded,
        );
        let layout = ends.layout;
        let request = SimulationRequest {
            duration,
            spheres: count,
            mass_first: ends.mass_words[0],
            mass_stride: ends.mass_words[1],
            serial,
            edited: u32::from(pending.contains(OtherEdits::SUPPORTS)),
            ..self.request
        };
        let mut upload = Upload::default();
        let padding = uniform_padding::<SimulationRequest>();
        let values = [
            bytemuck::bytes_of(&request),
            padding,
            bytemuck::bytes_of(&layout),
        ];
        upload.add(&self.uniform, values);
        let tables = (request.changed != 0).then(|| wall_tables(&self.options));
        if let Some((walls, lattices)) = &tables {
            let of_walls = self.named.buffer("given_walls")?;
            upload.add(of_walls, [bytemuck::cast_slice(walls)]);
            let of_lattices = self.named.buffer("simulation_lattices")?;
            upload.add(of_lattices, [bytemuck::cast_slice(lattices)]);
        }
        let (restitutions, firsts);
        if pending.contains(OtherEdits::RESTITUTIONS) {
            restitutions = self.own_restitutions()?;
            let offset = u64::from(self.options.spheres) * size_of::<GpuBody>() as u64;
            let bytes = [bytemuck::cast_slice(&restitutions)];
            upload.add_at(self.named.buffer("bodies")?, offset, bytes);
        }
        if pending.contains(OtherEdits::BODIES) {
            firsts = compounds(&self.options.simulation.bodies)?;
            let bytes = [bytemuck::cast_slice(&firsts)];
            upload.add(self.named.buffer("compounds")?, bytes);
        }
        (self.search).add_to(&mut upload, &self.collisions.buffers);
        if let Some(mesh) = &self.mesh {
            mesh.search.add_to(&mut upload, &mesh.collisions.buffers);
        }
        let (context, most) = (&self.kernels.context, self.options.recordings);
        let written = self.uploads.write(context, most, upload)?;
        let submitted = written.record(encoder);
        let edit = Edit {
            changed: request.changed,
            jumped: request.jumped,
            others: pending,
        };
        if edit.changed != 0 || !pending.is_empty() {
            self.edits.push((edit, submitted));
        }
        self.request.serial = serial;
        (self.request.changed, self.request.jumped) = (0, 0);
        self.pending = OtherEdits::empty();
        self.recorded = count;
        pass(
            encoder,
            "carom simulation",
            &[self.begin.clone(), ends.load],
        );
        for _ in 0..self.options.substeps {
            self.substep(encoder);
        }
        pass(encoder, "carom simulation", &ends.store);
        self.sources = ends.late;
        Ok(())
    }

    /// Returns the restitutions of spheres as they are behind the spheres in the list of bodies.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the kernels compute in float32"
    )]
    fn own_restitutions(&self) -> Result<Vec<GpuBody>, Error> {
        let given = &self.options.simulation.restitutions;
        let mut bodies = crate::memory::allocate(given.len().div_ceil(3), "restitutions")?;
        bodies.extend(given.chunks(3).map(|three| {
            let mut body = GpuBody::zeroed();
            for (to, &own) in body.center.iter_mut().zip(three) {
                *to = own as f32;
            }
            body
        }));
        Ok(bodies)
    }

    /// Sets the number of substeps of later recordings:
    /// [`SimulationBufferOptions::with_substeps`](crate::gpu::SimulationBufferOptions::with_substeps).
    ///
    /// # Errors
    /// [`Error::ZeroCapacity`] if it is 0.
    pub fn set_substeps(&mut self, substeps: u32) -> Result<(), Error> {
        if substeps == 0 {
            return Err(Error::ZeroCapacity { what: "substeps" });
        }
        self.options.substeps = substeps;
        Ok(())
    }

    /// Sets the acceleration of all spheres of finite mass in later recordings: see [`SimulationOptions::with_gravity`].
    ///
    /// # Errors
    /// [`Error::InvalidSimulation`] if a number is out of range, or if spheres can rest from now on, but could not when the
    /// buffers were created.
    pub fn set_gravity(&mut self, gravity: impl Into<[f64; 3]>) -> Result<(), Error> {
        let gravity = DVec3::from(gravity.into());
        self.change(|options| options.gravity = gravity)
    }

    /// Sets the coefficient of restitution of two spheres in later recordings: see
    /// [`SimulationOptions::with_restitution`].
    ///
    /// # Errors
    /// [`Error::InvalidSimulation`] if it is not from 0 to 1.
    pub fn set_restitution(&mut self, restitution: f64) -> Result<(), Error> {
        self.change(|options| options.restitution = restitution)
    }

    /// Sets the coefficient of restitution of a sphere and a wall in later recordings: see
    /// [`SimulationOptions::with_wall_restitution`].
    ///
    /// # Errors
    /// [`Error::InvalidSimulation`] if it is not from 0 to 1.
    pub fn set_wall_restitution(&mut self, restitution: f64) -> Result<(), Error> {
        self.change(|options| options.wall_restitution = restitution)
    }

    /// Sets the coefficient of restitution of one sphere in later recordings, as in
    /// [`SimulationOptions::with_restitutions`], which must have given one to each sphere.
    ///
    /// # Errors
    /// [`Error::InvalidSimulation`] if it is not from 0 to 1, if there is no room for such a sphere, or if the buffers were
    /// created without restitutions of spheres.
    pub fn set_restitution_of(&mut self, sphere: usize, restitution: f64) -> Result<(), Error> {
        check_restitution(format_args!("restitution of sphere {sphere}"), restitution)?;
        let list = &mut self.options.simulation.restitutions;
        let own = entry(list, sphere, "restitutions", "restitution")?;
        if *own != restitution {
            *own = restitution;
            self.pending |= OtherEdits::RESTITUTIONS;
        }
        Ok(())
    }

    /// Sets the compound body of one sphere in later recordings, as in [`SimulationOptions::with_bodies`], which must have
    /// given an entry to each sphere, possibly `None`.
    ///
    /// # Errors
    /// [`Error::InvalidSimulation`] if there is no room for such a sphere, or if the buffers were created without compound
    /// bodies.
    pub fn set_body(&mut self, sphere: usize, body: Option<u32>) -> Result<(), Error> {
        let list = &mut self.options.simulation.bodies;
        let own = entry(list, sphere, "bodies", "compound body")?;
        if *own != body {
            *own = body;
            self.pending |= OtherEdits::BODIES | OtherEdits::SUPPORTS;
        }
        Ok(())
    }

    /// Sets the contact time in later recordings: see [`SimulationOptions::with_contact_time`].
    ///
    /// # Errors
    /// Those of [`set_gravity`](Self::set_gravity).
    pub fn set_contact_time(&mut self, contact_time: f64) -> Result<(), Error> {
        self.change(|options| options.contact_time = contact_time)
    }

    fn change(&mut self, change: impl FnOnce(&mut SimulationOptions)) -> Result<(), Error> {
        let mut options = self.options.clone();
        change(&mut options.simulation);
        options.simulation.check_numbers()?;
        if options.simulation.numbers() == self.options.simulation.numbers() {
            return Ok(());
        }
        if can_rest(&options) && self.changes.is_none() {
            return Err(Error::InvalidSimulation {
                problem: "with gravity and a contact time, spheres can rest, for which these buffers have no room; create \
                          them with both"
                    .into(),
            });
        }
        self.set(options);
        Ok(())
    }

    fn set(&mut self, options: SimulationBufferOptions) {
        self.pending |= OtherEdits::SUPPORTS;
        let SimulationRequest {
            rounds,
            serial,
            off,
            changed,
            jumped,
            ..
        } = self.request;
        self.request = SimulationRequest {
            rounds,
            serial,
            off,
            changed,
            jumped,
            ..request(&options)
        };
        self.options = options;
    }

    /// Returns the walls as they were given last. Those that move are elsewhere now: only the GPU knows where.
    pub fn walls(&self) -> &Walls {
        &self.options.simulation.walls
    }

    /// Calls the function `change` with the walls, as [`walls`](Self::walls) returns them, and uses them in later recordings.
    /// A wall to which it gives another shape than it was given last is there when the next recording begins. All others go on from where they are
    /// then, with the velocities, the restitutions and, except for meshes, the collision groups that they have.
    ///
    /// # Errors
    /// [`Error::InvalidSimulation`] if there are more or fewer walls than before, or if a mesh has other vertices, triangles
    /// or collision groups, for which new buffers are needed. [`Error::InvalidWall`] if a wall is out of range. Then the
    /// walls are as before.
    pub fn edit_walls(&mut self, change: impl FnOnce(&mut Walls)) -> Result<(), Error> {
        let mut options = self.options.clone();
        let walls = &mut options.simulation.walls;
        change(walls);
        let before = self.walls();
        if walls.equals(before) {
            return Ok(());
        }
        let counts = [before, walls].map(|walls| [walls.simple().len(), walls.meshes().len()]);
        let mut meshes = before.meshes().iter().zip(walls.meshes());
        let other = meshes.position(|(a, b)| !a.shares_shape(b) || a.groups() != b.groups());
        let problem = match other {
            _ if counts[0] != counts[1] => format!(
                "there were {} walls and {} meshes, and now there are {} and {}; switch a wall off instead of removing it, \
                 or create new buffers",
                counts[0][0], counts[0][1], counts[1][0], counts[1][1]
            ),
            Some(mesh) => format!(
                "mesh {mesh} has other vertices, triangles or collision groups than before; create new buffers for it"
            ),
            None => String::new(),
        };
        if !problem.is_empty() {
            return Err(Error::InvalidSimulation { problem });
        }
        options.check()?;
        let bits = |bits: &mut dyn Iterator<Item = bool>| {
            bits.zip(0..)
                .fold(0, |all, (bit, k)| all | u32::from(bit) << k)
        };
        let walls = &options.simulation.walls;
        let simple = || before.simple().iter().zip(walls.simple());
        let mut moves =
            simple().map(|(a, b)| a != b).chain(
                before.meshes().iter().zip(walls.meshes()).map(|(a, b)| {
                    (a.velocity(), a.restitution()) != (b.velocity(), b.restitution())
                }),
            );
        let changed = bits(&mut moves);
        let jumped = bits(&mut simple().map(|(a, b)| a.shape() != b.shape()));
        self.set(options);
        self.request.changed |= changed;
        self.request.jumped |= jumped;
        Ok(())
    }

    /// Switches a wall on or off in later recordings. Nothing touches a wall that is off, which moves on. The number of a
    /// triangle stands for its mesh.
    ///
    /// # Errors
    /// [`Error::InvalidSimulation`] if there is no wall with this number.
    pub fn set_wall_enabled(&mut self, wall: usize, enabled: bool) -> Result<(), Error> {
        let bit = 1 << self.walls().place(wall)?;
        let off = (self.request.off & !bit) | if enabled { 0 } else { bit };
        if self.request.off != off {
            self.request.off = off;
            self.pending |= OtherEdits::SUPPORTS;
        }
        Ok(())
    }

    /// Records commands that copy the state of the simulation to the host: the state after the last
    /// call of [`record`](Self::record).
    ///
    /// `encoder` must be the encoder that the last call of [`record`](Self::record) got, or an
    /// encoder that is submitted later.
    ///
    /// # Errors
    /// - [`Error::NothingRecorded`] if nothing has been recorded yet.
    /// - [`Error::TooManyInFlight`] if
    ///   [`SimulationBufferOptions::with_recordings`](crate::gpu::SimulationBufferOptions::with_recordings) readbacks are in
    ///   flight already.
    /// - [`Error::DeviceLost`] if the device is lost.
    ///
    /// On an error, nothing is recorded into the encoder.
    pub fn read_state(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<Ticket<SimulationState>, Error> {
        let (copied, serial) = self.read(encoder, None)?;
        let sources = self.sources.clone();
        Ok(Ticket::new(copied, serial, move |copied| {
            let state = state_of(serial, &copied.bytes()?);
            state.map_err(|error| copied.explained(error, &sources))
        }))
    }

    /// Records commands that copy the state of the simulation to the host, as
    /// [`read_state`](Self::read_state) does, and also the impacts of the last call of
    /// [`record`](Self::record). The impacts are in the order in which they happen: by time,
    /// sphere, partner and image. The normal of an impact at a wall with impulse 0 is 0.
    ///
    /// In a periodic domain, a moving wall is wrapped into the cell, as the spheres are. In an
    /// impact at such a wall, [`Impact::image`] is the image of the sphere that hits the wrapped
    /// wall.
    ///
    /// The commands copy the whole buffer of the list, even if the list is short. `encoder` must be
    /// the encoder of the last call of [`record`](Self::record), or one that is submitted after
    /// this encoder.
    ///
    /// # Errors
    /// - [`Error::NotAskedFor`] if the options do not request a list of impacts.
    /// - Any error of [`read_state`](Self::read_state).
    ///
    /// On an error, nothing is recorded into the encoder.
    pub fn read_impacts(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<Ticket<SimulationImpacts>, Error> {
        let list = self.impacts()?.clone();
        let (copied, serial) = self.read(encoder, Some(&list))?;
        let sources = self.sources.clone();
        Ok(Ticket::new(copied, serial, move |copied| {
            let bytes = copied.bytes()?;
            let state = state_of(serial, &bytes);
            let state = state.map_err(|error| copied.explained(error, &sources))?;
            let impacts = impacts(&bytes, size_of::<GpuSimulation>(), state.listed)?;
            Ok(SimulationImpacts { state, impacts })
        }))
    }

    /// Records a copy of the state, and of the list of impacts if it is given. Returns the copy, and the serial number
    /// of the last recording.
    fn read(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        list: Option<&wgpu::Buffer>,
    ) -> Result<(Copied, u32), Error> {
        let context = &self.kernels.context;
        context.alive()?;
        self.collisions.late.check()?;
        let serial = self.request.serial;
        if serial == 0 {
            return Err(Error::NothingRecorded);
        }
        let state = size_of::<GpuSimulation>() as u64;
        let end = state + list.map_or(0, wgpu::Buffer::size);
        let mut parts = vec![(&self.state, 0..state)];
        parts.extend(list.map(|list| (list, state..end)));
        let reserved = self.staging.reserve(context, end, serial)?;
        Ok((reserved.copy(context, encoder, parts), serial))
    }

    fn checked(&self, spheres: &DeviceSpheres<'_>) -> Result<u32, Error> {
        let invalid = |problem: &str| Error::InvalidSimulation {
            problem: problem.into(),
        };
        if spheres.count_in.is_some() {
            return Err(invalid(
                "the number of spheres is in a buffer; give it as a number",
            ));
        }
        let count = spheres.count;
        if !matches!(spheres.motion, SphereMotion::Velocity(_)) {
            return Err(invalid(
                "the spheres have no velocities; describe them `with_velocity`",
            ));
        }
        if count > self.options.spheres {
            let capacity = self.options.spheres;
            return Err(invalid(&format!(
                "there are {count} spheres, but the buffers were made for {capacity}; create them \
                 with `SimulationBufferOptions::new({count})` or more"
            )));
        }
        Ok(count)
    }

    fn substep(&self, encoder: &mut wgpu::CommandEncoder) {
        let rows = self.rows.levels.first().map(|rows| &rows.buffer);
        if let Some(rows) = rows.filter(|_| self.mesh.is_some()) {
            encoder.clear_buffer(rows, 0, None);
        }
        let of_mesh = self.mesh.as_ref().map(|mesh| &mesh.collisions);
        let searches = || [Some(&self.collisions), of_mesh].into_iter().flatten();
        for search in searches() {
            search.recording.clear(encoder);
        }
        pass(encoder, "carom simulation", &self.before);
        for search in searches() {
            (search.recording).record(encoder, None, (TimedBy::Stage, None), |_| ());
        }
        if let Some(rows) = rows {
            encoder.clear_buffer(rows, 0, None);
        }
        if let Some(changes) = &self.changes {
            encoder.clear_buffer(changes, 0, None);
        }
        pass(encoder, "carom simulation", &self.after);
    }

    /// Returns the dispatches that read and write the application's buffers.
    fn ends(&mut self, spheres: &DeviceSpheres<'_>, count: u32) -> Result<BoundEnds, Error> {
        let context = &self.kernels.context;
        let own = &self.collisions.buffers;
        let bound = BoundSpheres::new(&context.limits, own, spheres)?;
        let mut masses = Window {
            buffer: &own.results,
            start: 0,
        };
        let mut mass_words = [0; 2];
        if let (Some(attribute), SphereMotion::Velocity(velocity)) =
            (spheres.inverse_mass, spheres.motion)
        {
            let changed = [("centers", spheres.center), ("velocities", velocity)];
            (masses, mass_words) = bind_masses(&context.limits, attribute, changed, count)?;
        }
        let [centers, radii, motions, groups] = bound.values;
        let all = [centers, radii, motions, groups, masses];
        let (kernels, named, spheres) = (&self.kernels, &self.named, self.options.spheres);
        let bind = || bind(kernels, named, spheres, all);
        let made = self.ends.get(&all, |late| context.scoped_for(late, bind));
        let (LoadStore { load, store }, late) = made.map_err(cannot_be_bound)?;
        Ok(BoundEnds {
            layout: bound.layout,
            mass_words,
            load,
            store,
            late,
        })
    }
}

/// Makes the dispatches that read and write the application's buffers: the centres, radii, velocities,
/// groups and inverse masses of at most `spheres` spheres.
fn bind(
    kernels: &DeviceKernels,
    own: &NamedBuffers,
    spheres: u32,
    all: [Window<'_>; 5],
) -> Result<LoadStore, Error> {
    let limits = &kernels.context.limits;
    let mut read = NamedBuffers::default();
    let names = ["centers", "radii", "motions", "groups", "inverse_masses"];
    for (name, window) in names.into_iter().zip(&all) {
        window.bind(&mut read, name, limits);
    }
    let count = workgroups(spheres.into());
    let (binder, dynamics) = (kernels.binder(), kernels.dynamics()?);
    let store = |kernel, window: Window<'_>| {
        let mut stored = NamedBuffers::default();
        window.bind(&mut stored, "stored", limits);
        binder.dispatch(kernel, &[own, &stored], count)
    };
    let [centers, _, motions, ..] = all;
    Ok(LoadStore {
        load: binder.dispatch(&dynamics.simulation_load, &[own, &read], count)?,
        store: [
            store(&dynamics.simulation_positions, centers)?,
            store(&dynamics.simulation_velocities, motions)?,
        ],
    })
}

/// Reads the state of a simulation from its bytes. Returns an error if the serial number in these
/// bytes is not `serial`, the number of the recording whose state was requested.
fn state_of(serial: u32, bytes: &[u8]) -> Result<SimulationState, Error> {
    let state = SimulationState::from_bytes(bytes);
    let of_recording = state.filter(|state| state.serial == serial);
    of_recording.ok_or(Error::NotSubmitted)
}

/// Returns the impacts from the bytes of the GPU's list of impacts, which begins at `offset`. Sorts
/// the impacts by time.
fn impacts(bytes: &[u8], offset: usize, count: u32) -> Result<Vec<Impact>, Error> {
    let mut list = crate::memory::allocate(count as usize, "the list of impacts")?;
    let raw = bytes.get(offset..).unwrap_or_default();
    let all = raw.chunks_exact(size_of::<GpuImpact>());
    list.extend(all.take(count as usize).map(|bytes| {
        let raw: GpuImpact = bytemuck::pod_read_unaligned(bytes);
        let [high, low] = raw.time;
        let partner = match raw.b.checked_sub(WALL) {
            Some(wall) => Partner::Wall(wall),
            None => Partner::Sphere(raw.b),
        };
        Impact {
            time: f64::from(high) + f64::from(low),
            sphere: raw.a,
            partner,
            image: unpacked_image(raw.image),
            point: raw.point.map(f64::from),
            normal: raw.normal.map(f64::from),
            impulse: raw.impulse.map(f64::from),
        }
    }));
    list.sort_unstable_by(Impact::order);
    Ok(list)
}

struct BoundEnds {
    layout: SourceLayout,
    mass_words: Words,
    load: Dispatch,
    store: [Dispatch; 2],
    late: Late,
}

//! Records steps and searches for neighbours into the application's command encoder.

use super::collision_buffers::CollisionBuffers;
use super::neighbor_search;
use super::record_step::{Extras, Ready};
use super::walls::StepWalls;
use crate::gpu::input::device_spheres::DeviceSpheres;
use crate::gpu::input::host_step::HostStep;
use crate::step::Step;
use crate::validate::check_dt;
use crate::{Error, NeighborSearch, Spheres};

mod sealed {
    use super::{CollisionBuffers, Error, NeighborSearch, Ready, Step};

    /// Prepares the recording of a step: all parts that can fail.
    pub trait Recordable: Sized {
        fn ready(step: &Step<'_, Self>, buffers: &mut CollisionBuffers) -> Result<Ready, Error>;

        fn ready_neighbors(
            search: &NeighborSearch<'_, Self>,
            buffers: &mut CollisionBuffers,
        ) -> Result<Ready, Error>;
    }
}

/// Spheres that [`CollisionBuffers::record`] accepts: [`Spheres`] on the host, or [`DeviceSpheres`]
/// in GPU buffers of the application.
pub trait RecordableSpheres: sealed::Recordable {}

impl RecordableSpheres for Spheres<'_> {}
impl RecordableSpheres for DeviceSpheres<'_> {}

impl sealed::Recordable for Spheres<'_> {
    fn ready(step: &Step<'_, Self>, buffers: &mut CollisionBuffers) -> Result<Ready, Error> {
        let &Step {
            domain,
            approaching,
            ..
        } = step;
        let (dt, walls) = (step.dt(), step.walls());
        domain.check::<f32>()?;
        let walls = StepWalls::new(walls, dt, 1.0, &domain, buffers.last_walls())?;
        // If one of two sets is empty, the spheres of the other set may still touch walls.
        let alone = buffers.buffers.walls.is_some();
        let mut packed = std::mem::take(&mut buffers.packed);
        let ready = step.in_slices(&mut packed).and_then(|(first, second)| {
            let step = HostStep::checked(first, second, dt, domain, alone)?;
            let extras = Extras {
                walls: walls.as_ref(),
                approaching,
                ..Extras::default()
            };
            buffers.ready_host(&step, extras, None)
        });
        buffers.packed = packed;
        ready
    }

    fn ready_neighbors(
        search: &NeighborSearch<'_, Self>,
        buffers: &mut CollisionBuffers,
    ) -> Result<Ready, Error> {
        neighbor_search::ready_host(search, buffers)
    }
}

impl sealed::Recordable for DeviceSpheres<'_> {
    fn ready(step: &Step<'_, Self>, buffers: &mut CollisionBuffers) -> Result<Ready, Error> {
        check_dt(step.dt())?;
        step.domain.check::<f32>()?;
        buffers.ready_device(step, None)
    }

    fn ready_neighbors(
        search: &NeighborSearch<'_, Self>,
        buffers: &mut CollisionBuffers,
    ) -> Result<Ready, Error> {
        neighbor_search::ready_device(search, buffers)
    }
}

impl CollisionBuffers {
    /// Records the collision detection of one time step into the application's encoder.
    ///
    /// Later commands, in the same encoder or a later submission, find the results in carom's
    /// buffers, such as [`results`](Self::results) and [`pairs`](Self::pairs), until the next
    /// recorded step runs.
    ///
    /// Spheres on the host are copied before this method returns, and may be changed at once. GPU
    /// buffers of the application are read when the recorded commands run. Each recording has its
    /// own values, so several steps may be recorded before one submission.
    ///
    /// The encoder must be created by the device of the pipeline. carom cannot check this. With an
    /// encoder of another device, wgpu reports an error when the application finishes the encoder. The encoder and
    /// the buffers of the application must also be of the wgpu instance of this device: wgpu cannot tell those of another
    /// instance apart, and panics, or takes another object of this instance instead. A buffer of the application that is
    /// still mapped when the encoder is submitted is an error of wgpu, and the tickets return [`Error::NotSubmitted`].
    ///
    /// A recording reuses the upload buffer of an earlier recording that has run, if there is one
    /// that is large enough. Otherwise it creates a new one. An upload buffer cannot be reused if
    /// its encoder was dropped without a submission. A recording creates bind groups only if no
    /// recent recording used the same buffers of the application.
    ///
    /// # Errors
    /// Returns one of these errors:
    /// - [`Error::InvalidTimeStep`] if the length of the time step is negative, not finite or too
    ///   large.
    /// - [`Error::InvalidSphere`] if a sphere on the host has an invalid value, [`Error::ColumnLength`] or
    ///   [`Error::InvalidColumn`] if columns of spheres on the host differ in length or have no values.
    /// - [`Error::InvalidDomain`] if the edges of a periodic domain are out of range or span no
    ///   cell, [`Error::Unsupported`] if the cell is too small or too skewed for a GPU, and
    ///   [`Error::NotAskedFor`] if the buffers were created without
    ///   [`BufferOptions::with_periodic`](crate::gpu::BufferOptions::with_periodic).
    /// - [`Error::InvalidWall`] if a wall has an invalid value or does not repeat with a periodic
    ///   domain, [`Error::NotAskedFor`] if the buffers were created without
    ///   [`BufferOptions::with_walls`](crate::gpu::BufferOptions::with_walls), [`Error::TooManyWalls`] if the step
    ///   has more walls than this option allows. The same applies to triangles of meshes, with the
    ///   option [`triangles`](crate::gpu::BufferOptions::with_triangles).
    /// - [`Error::SourceBuffer`] if a GPU buffer of the application cannot be read as described, or if spheres
    ///   have inverse masses.
    /// - [`Error::OverCapacity`] if the step may have more spheres than the buffers hold.
    /// - [`Error::TooManyInFlight`] if
    ///   [`BufferOptions::with_recordings`](crate::gpu::BufferOptions::with_recordings) recordings are in flight
    ///   already.
    /// - [`Error::DeviceLimit`] if one buffer cannot hold the spheres on the host.
    /// - [`Error::DeviceLost`] if the device is lost.
    ///
    /// On an error, nothing is recorded into the encoder, the number of recordings in flight stays
    /// the same, and readbacks still refer to the step that was recorded before.
    pub fn record<S: RecordableSpheres>(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        step: &Step<'_, S>,
    ) -> Result<(), Error> {
        self.begin_recording()?;
        let ready = S::ready(step, self)?;
        self.encode(encoder, ready);
        Ok(())
    }

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
    /// moved. An incomplete list is never kept, nor one with pairs that are grazing because the device has not passed its
    /// self-test yet (see [the module](crate::gpu)).
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
}

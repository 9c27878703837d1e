//! Records readbacks, which copy the results of a step to a staging buffer for the host.

use super::collision_buffers::CollisionBuffers;
use super::decode::{Read, ReadRoom, Recorded};
use super::gathering::Gathering;
use super::pair_list::{ExactStep, PairList, RawStep};
use super::shader::layout::{CaromCollision, CaromResults, Gathered};
use super::staging::{CopiedPart, Reserved};
use super::summary::StepSummary;
use super::ticket::Ticket;
use super::timing::MOST_STAGES;
use crate::Error;

/// Number of pairs for which a world's first readback has room.
const FIRST_READ: u64 = 1 << 17;

/// Size in bytes of the two timestamps of a stage, for its start and its end.
const TICKS: u64 = 16;

impl CollisionBuffers {
    /// Records a copy, for the host, of the summary of the last recorded step: counts, status and
    /// stage times.
    ///
    /// `encoder` must be the encoder of the step, or one that is submitted later.
    ///
    /// # Errors
    /// - [`Error::NothingRecorded`] if no step has been recorded since the buffers were created or
    ///   last grown.
    /// - [`Error::TooManyInFlight`] if
    ///   [`BufferOptions::recordings`](super::BufferOptions::recordings) readbacks are in flight
    ///   already.
    /// - [`Error::DeviceLost`] if the device is lost.
    ///
    /// On an error, nothing is recorded into the encoder.
    pub fn read_summary(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<Ticket<StepSummary>, Error> {
        let room = ReadRoom { pairs: 0, most: 0 };
        let recorded = self.to_read()?;
        let reserved = self.reserve(&recorded, 0)?;
        Ok(self.copy(encoder, reserved, recorded, &[], room, Read::summary))
    }

    /// Records a copy, for the host, of the last recorded step's pairs, as the GPU computed them in
    /// float32.
    ///
    /// The copy has room for at least one and a half times the number of pairs of the latest step
    /// that was read back, or for 131 072 pairs if none was read back yet. It never has more room
    /// than the buffer of pairs. A pair takes 16 bytes, or 20 in buffers for periodic domains.
    /// `encoder` is the same as for [`read_summary`](Self::read_summary).
    ///
    /// # Errors
    /// The errors of [`read_summary`](Self::read_summary).
    pub fn read_raw(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<Ticket<PairList<RawStep>>, Error> {
        let room = self.room(size_of::<CaromCollision>());
        let size = room.pairs * size_of::<CaromCollision>() as u64;
        let recorded = self.to_read()?;
        let images = self.images(room).map_or(0, |(_, size)| size);
        let reserved = self.reserve(&recorded, size + images)?;
        let mut lists = vec![(&self.buffers.pairs, size)];
        lists.extend(self.images(room));
        Ok(self.copy(encoder, reserved, recorded, &lists, room, Read::raw))
    }

    /// Records a copy, for the host, of the last recorded step's pairs, with the two spheres of
    /// each pair as they were when the step ran.
    ///
    /// The thread that takes the results from the ticket decides exactly which pairs touch. The
    /// copy has room for as many pairs as with [`read_raw`](Self::read_raw), at 64 bytes per
    /// pair, or 68 in buffers for periodic domains.
    /// `encoder` is the same as for [`read_summary`](Self::read_summary).
    ///
    /// # Errors
    /// The errors of [`read_summary`](Self::read_summary).
    pub fn read_exact(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<Ticket<PairList<ExactStep>>, Error> {
        let room = self.room(size_of::<Gathered>());
        let size = room.pairs * size_of::<Gathered>() as u64;
        let recorded = self.to_read()?;
        let gathering = self.gathering(room.pairs)?;
        let images = self.images(room).map_or(0, |(_, size)| size);
        let reserved = self.reserve(&recorded, size + images)?;
        gathering.record(encoder);
        let mut lists = vec![(&gathering.buffer, size)];
        lists.extend(self.images(room));
        Ok(self.copy(encoder, reserved, recorded, &lists, room, Read::exact))
    }

    /// Returns the part of the buffer of pairs' images (periodic copies) to read back, or `None` in
    /// open space.
    fn images(&self, room: ReadRoom) -> Option<CopiedPart<'_>> {
        let periodic = self.buffers.periodic.as_ref()?;
        let size = room.pairs * size_of::<u32>() as u64;
        Some((&periodic.pair_images, size))
    }

    fn to_read(&self) -> Result<Recorded, Error> {
        self.kernels.context.alive()?;
        self.recorded.clone().ok_or(Error::NothingRecorded)
    }

    /// Returns for how many pairs of `size` bytes the next readback has room, and for how many it
    /// could have room on this device.
    fn room(&self, size: usize) -> ReadRoom {
        let limits = &self.kernels.context.limits;
        let rest = size_of::<CaromResults>() as u64 + TICKS * u64::from(MOST_STAGES);
        let bytes = (limits.max_storage_buffer_binding_size)
            .min(limits.max_buffer_size.saturating_sub(rest));
        let image = self
            .buffers
            .periodic
            .as_ref()
            .map_or(0, |_| size_of::<u32>());
        let most = bytes / (size + image) as u64;
        let wanted = (self.known_pairs.get()).map_or(FIRST_READ, |known| known + known / 2 + 1024);
        // The capacity of a readback is a power of two. So the same staging buffers suffice if the
        // number of pairs changes a little.
        let stepped = wanted.next_power_of_two();
        ReadRoom {
            pairs: stepped.min(self.buffers.capacity.pairs).min(most),
            most,
        }
    }

    fn gathering(&mut self, room: u64) -> Result<Gathering, Error> {
        if let Some(gathering) = &self.gathering
            && gathering.room >= room
        {
            return Ok(gathering.clone());
        }
        // Drops the old buffer before making the larger one, so that the device need not hold both
        // at once.
        self.gathering = None;
        let make = || Gathering::new(&self.kernels, &self.buffers, room);
        let gathering = self.kernels.context.scoped(make)?;
        self.gathering = Some(gathering.clone());
        Ok(gathering)
    }

    fn reserve(&mut self, recorded: &Recorded, list: u64) -> Result<Reserved, Error> {
        let size = size_of::<CaromResults>() as u64 + self.ticks(recorded) + list;
        self.staging
            .reserve(&self.kernels.context, size, recorded.serial)
    }

    /// Returns the size in bytes of a step's timestamps, or 0 if its stages are not timed.
    fn ticks(&self, recorded: &Recorded) -> u64 {
        match self.timing {
            Some(_) => TICKS * recorded.stages.len() as u64,
            None => 0,
        }
    }

    fn copy<T>(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        reserved: Reserved,
        recorded: Recorded,
        lists: &[CopiedPart<'_>],
        room: ReadRoom,
        decode: fn(Read) -> Result<T, Error>,
    ) -> Ticket<T> {
        let ticks = self.ticks(&recorded);
        let mut parts = vec![(&self.buffers.results, size_of::<CaromResults>() as u64)];
        parts.extend(self.timing.as_ref().map(|timing| (&timing.resolved, ticks)));
        parts.extend(lists);
        let copied = reserved.copy(&self.kernels.context, encoder, &parts);
        Ticket::new(copied, recorded, room, self.known_pairs.clone(), decode)
    }
}

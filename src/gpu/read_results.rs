//! The recording of readbacks: copies of a step's results to a staging buffer.

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

/// Number of pairs that a readback has room for, as long as no number of pairs has been read back.
const FIRST_READ: u64 = 1 << 17;

/// Size in bytes of the two timestamps of a stage.
const TICKS: u64 = 16;

impl CollisionBuffers {
    /// Records a copy of the summary of the step that was recorded last: counts, status and stage
    /// times.
    ///
    /// `encoder` must be the encoder into which the step was recorded, or one that is submitted
    /// later.
    ///
    /// # Errors
    /// - [`Error::NothingRecorded`] if no step has been recorded into these buffers, or none since
    ///   the buffers have grown.
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
        Ok(self.copy(encoder, reserved, recorded, None, room, Read::summary))
    }

    /// Records a copy of the list of pairs of the step that was recorded last, as the GPU computed
    /// it.
    ///
    /// The copy has room for at least one and a half times the pairs of the latest step that was
    /// read back. If no step has been read back, it has room for 131 072 pairs. It never has room
    /// for more pairs than the list can hold. A pair takes 16 bytes. `encoder` is as in
    /// [`read_summary`](Self::read_summary).
    ///
    /// # Errors
    /// The same as those of [`read_summary`](Self::read_summary).
    pub fn read_raw(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<Ticket<PairList<RawStep>>, Error> {
        let room = self.room(size_of::<CaromCollision>());
        let size = room.pairs * size_of::<CaromCollision>() as u64;
        let recorded = self.to_read()?;
        let reserved = self.reserve(&recorded, size)?;
        let list = Some((&self.buffers.pairs, size));
        Ok(self.copy(encoder, reserved, recorded, list, room, Read::raw))
    }

    /// Records a copy of the list of pairs of the step that was recorded last, together with both
    /// spheres of each pair as they were when the step ran.
    ///
    /// The host decides the pairs exactly, on the thread that takes the results from the ticket.
    /// The copy has room for as many pairs as that of [`read_raw`](Self::read_raw), at 64 bytes per
    /// pair. `encoder` is as in [`read_summary`](Self::read_summary).
    ///
    /// # Errors
    /// The same as those of [`read_summary`](Self::read_summary).
    pub fn read_exact(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<Ticket<PairList<ExactStep>>, Error> {
        let room = self.room(size_of::<Gathered>());
        let size = room.pairs * size_of::<Gathered>() as u64;
        let recorded = self.to_read()?;
        let gathering = self.gathering(room.pairs)?;
        let reserved = self.reserve(&recorded, size)?;
        gathering.record(encoder);
        let list = Some((&gathering.buffer, size));
        Ok(self.copy(encoder, reserved, recorded, list, room, Read::exact))
    }

    /// Returns the step that was recorded last. Fails if no step can be read back.
    fn to_read(&self) -> Result<Recorded, Error> {
        self.kernels.context.alive()?;
        self.recorded.clone().ok_or(Error::NothingRecorded)
    }

    /// Returns the number of pairs that the next readback has room for, and the largest number that
    /// the device allows. A pair takes `size` bytes.
    fn room(&self, size: usize) -> ReadRoom {
        let limits = &self.kernels.context.limits;
        let rest = size_of::<CaromResults>() as u64 + TICKS * u64::from(MOST_STAGES);
        let bytes = (limits.max_storage_buffer_binding_size)
            .min(limits.max_buffer_size.saturating_sub(rest));
        let most = bytes / size as u64;
        let wanted = (self.known_pairs.get()).map_or(FIRST_READ, |known| known + known / 2 + 1024);
        // The number is rounded up to a power of two, so that a list whose length changes a little
        // still fits the same staging buffers.
        let stepped = wanted.next_power_of_two();
        ReadRoom {
            pairs: stepped.min(self.buffers.capacity.pairs).min(most),
            most,
        }
    }

    /// Returns a buffer with room for at least `room` pairs, each with its two spheres.
    fn gathering(&mut self, room: u64) -> Result<Gathering, Error> {
        if let Some(gathering) = &self.gathering
            && gathering.room >= room
        {
            return Ok(gathering.clone());
        }
        // The old buffer is dropped before the larger one is made, so that the device need not hold
        // both.
        self.gathering = None;
        let make = || Gathering::new(&self.kernels, &self.buffers, room);
        let gathering = self.kernels.context.scoped(make)?;
        self.gathering = Some(gathering.clone());
        Ok(gathering)
    }

    /// Reserves a staging buffer for the results of a step and `list` bytes of pairs.
    fn reserve(&mut self, recorded: &Recorded, list: u64) -> Result<Reserved, Error> {
        let size = size_of::<CaromResults>() as u64 + self.ticks(recorded) + list;
        self.staging
            .reserve(&self.kernels.context, size, recorded.serial)
    }

    /// Returns the size in bytes of the timestamps of a step; 0 if the stages are not timed.
    fn ticks(&self, recorded: &Recorded) -> u64 {
        match self.timing {
            Some(_) => TICKS * recorded.stages.len() as u64,
            None => 0,
        }
    }

    /// Records the copy of a step's results, timestamps and pairs to a staging buffer, and returns
    /// the ticket for this copy.
    fn copy<T>(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        reserved: Reserved,
        recorded: Recorded,
        list: Option<CopiedPart<'_>>,
        room: ReadRoom,
        decode: fn(Read) -> Result<T, Error>,
    ) -> Ticket<T> {
        let ticks = self.ticks(&recorded);
        let mut parts = vec![(&self.buffers.results, size_of::<CaromResults>() as u64)];
        parts.extend(self.timing.as_ref().map(|timing| (&timing.resolved, ticks)));
        parts.extend(list);
        let copied = reserved.copy(&self.kernels.context, encoder, &parts);
        Ticket::new(copied, recorded, room, self.known_pairs.clone(), decode)
    }
}

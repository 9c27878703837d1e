//! Copies of a step's results for the host.

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

/// Pairs that a readback has room for while the number of pairs is not known.
const FIRST_READ: u64 = 1 << 17;

/// Bytes of two ticks.
const TICKS: u64 = 16;

impl CollisionBuffers {
    /// Copies the numbers of the step that was recorded last: counts, status, times.
    /// `encoder` is that of the recording, or one that is submitted later.
    ///
    /// # Errors
    /// [`Error::NothingRecorded`]; [`Error::TooManyInFlight`]; [`Error::DeviceLost`].
    /// Nothing is in the encoder then.
    pub fn read_summary(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<Ticket<StepSummary>, Error> {
        let room = ReadRoom { pairs: 0, most: 0 };
        let recorded = self.to_read()?;
        let reserved = self.reserve(&recorded, 0)?;
        Ok(self.copy(encoder, reserved, recorded, None, room, Read::summary))
    }

    /// Copies the list of the step that was recorded last, as the GPU has it. There is
    /// room for half as many pairs again as there were in the latest step that was read.
    ///
    /// # Errors
    /// As [`read_summary`](Self::read_summary).
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

    /// Copies the list of the step that was recorded last together with both spheres of
    /// each pair, as they were when the recording ran. The host decides the pairs
    /// exactly, on the thread that takes the ticket. 64 bytes a pair, with the same
    /// room.
    ///
    /// # Errors
    /// As [`read_summary`](Self::read_summary).
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

    /// The step to read, if there is one.
    fn to_read(&self) -> Result<Recorded, Error> {
        self.kernels.context.alive()?;
        self.recorded.clone().ok_or(Error::NothingRecorded)
    }

    /// Room for the pairs of the next readback, of so many bytes each.
    fn room(&self, size: usize) -> ReadRoom {
        let limits = &self.kernels.context.limits;
        let rest = size_of::<CaromResults>() as u64 + TICKS * u64::from(MOST_STAGES);
        let bytes = (limits.max_storage_buffer_binding_size)
            .min(limits.max_buffer_size.saturating_sub(rest));
        let most = bytes / size as u64;
        let wanted = (self.known_pairs.get()).map_or(FIRST_READ, |known| known + known / 2 + 1024);
        // In powers of two, so that a list that changes a little fits the same buffers.
        let stepped = wanted.next_power_of_two();
        ReadRoom {
            pairs: stepped.min(self.buffers.capacity.pairs).min(most),
            most,
        }
    }

    /// Where pairs are gathered, with room for so many.
    fn gathering(&mut self, room: u64) -> Result<Gathering, Error> {
        if let Some(gathering) = &self.gathering
            && gathering.room >= room
        {
            return Ok(gathering.clone());
        }
        // The smaller buffer goes before the larger one is made.
        self.gathering = None;
        let make = || Gathering::new(&self.kernels, &self.buffers, room);
        let gathering = self.kernels.context.scoped(make)?;
        self.gathering = Some(gathering.clone());
        Ok(gathering)
    }

    /// A staging buffer for the results of a step, with so many bytes of pairs.
    fn reserve(&mut self, recorded: &Recorded, list: u64) -> Result<Reserved, Error> {
        let size = size_of::<CaromResults>() as u64 + self.ticks(recorded) + list;
        self.staging
            .reserve(&self.kernels.context, size, recorded.serial)
    }

    /// Bytes of the ticks of a step.
    fn ticks(&self, recorded: &Recorded) -> u64 {
        match self.timing {
            Some(_) => TICKS * recorded.stages.len() as u64,
            None => 0,
        }
    }

    /// Records the copy of results, ticks and pairs.
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

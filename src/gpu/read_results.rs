//! Records readbacks, which copy the results of a step to a staging buffer for the host.

use super::collision_buffers::CollisionBuffers;
use super::decode::{Read, ReadRoom, Recorded};
use super::gathering::Gathering;
use super::pair_list::{ExactCollisions, RawCollisions};
use super::shader::layout::{
    CaromCollision, CaromResults, CaromWallCollision, Gathered, GatheredWall,
};
use super::staging::{CopiedPart, Reserved};
use super::status::Status;
use super::summary::StepSummary;
use super::ticket::{KnownCount, Ticket};
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
    /// Returns one of these errors:
    /// - [`Error::NothingRecorded`] if no step has been recorded since the buffers were created or
    ///   last grown.
    /// - [`Error::TooManyInFlight`] if
    ///   [`BufferOptions::with_recordings`](super::BufferOptions::with_recordings) readbacks are in flight
    ///   already.
    /// - [`Error::DeviceLost`] if the device is lost.
    ///
    /// On an error, nothing is recorded into the encoder.
    pub fn read_summary(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<Ticket<StepSummary>, Error> {
        let room = ReadRoom::default();
        let recorded = self.to_read()?;
        let reserved = self.reserve(&recorded, 0)?;
        Ok(self.copy(encoder, reserved, recorded, &[], room, Read::summary))
    }

    /// Records a copy, for the host, of the last recorded step's pairs, as the GPU computed them in
    /// float32.
    ///
    /// The capacity of a readback for pairs is fixed when the readback is recorded. It is at least
    /// one and a half times the number of pairs in the step that was read back last. Before the
    /// first readback, it is 131 072 pairs. It is never more than the capacity of the GPU buffer
    /// [`pairs`](Self::pairs), or than the device allows.
    ///
    /// A pair takes 16 bytes, or 20 in buffers for periodic domains. The capacity for wall
    /// collisions (spheres that touch walls) follows the same rules, with the number of wall
    /// collisions instead of the number of pairs.
    ///
    /// `encoder` must be the encoder of the step, or one that is submitted later.
    ///
    /// # Errors
    /// Returns the same errors as [`read_summary`](Self::read_summary).
    pub fn read_raw(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<Ticket<RawCollisions>, Error> {
        let sizes = [size_of::<CaromCollision>(), size_of::<CaromWallCollision>()];
        let room = self.room(sizes);
        let recorded = self.to_read()?;
        let reserved = self.reserve(&recorded, self.size_of_lists(room, sizes))?;
        let walls = self.buffers.walls.as_ref().map(|walls| &walls.collisions);
        let lists = self.lists(room, sizes, &self.buffers.pairs, walls);
        Ok(self.copy(encoder, reserved, recorded, &lists, room, Read::raw))
    }

    /// Records a copy, for the host, of the last recorded step's pairs, with the two spheres of
    /// each pair as they were when the step ran.
    ///
    /// The method returns a ticket (a readback in flight). The thread that takes the results from
    /// the ticket decides exactly which pairs touch.
    ///
    /// The capacities for pairs and for wall collisions follow the rules of [`read_raw`](Self::read_raw).
    /// Here, a pair takes 64 bytes and a wall collision takes 36 bytes. In buffers for periodic domains, they
    /// take 68 and 40 bytes.
    ///
    /// `encoder` must be the encoder of the step, or one that is submitted later.
    ///
    /// # Errors
    /// Returns the same errors as [`read_summary`](Self::read_summary).
    pub fn read_exact(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<Ticket<ExactCollisions>, Error> {
        let sizes = [size_of::<Gathered>(), size_of::<GatheredWall>()];
        let room = self.room(sizes);
        let recorded = self.to_read()?;
        let gathering = self.gathering(room)?;
        let reserved = self.reserve(&recorded, self.size_of_lists(room, sizes))?;
        gathering.record(encoder);
        let lists = self.lists(room, sizes, &gathering.buffer, gathering.walls.as_ref());
        Ok(self.copy(encoder, reserved, recorded, &lists, room, Read::exact))
    }

    /// Returns the parts of buffers to read back: the pairs with their images (periodic copies), and the
    /// wall collisions with theirs. `sizes` has the sizes of a pair and of a wall collision in bytes.
    /// There are images only in buffers for periodic domains.
    fn lists<'a>(
        &'a self,
        room: ReadRoom,
        [pair, wall]: [usize; 2],
        pairs: &'a wgpu::Buffer,
        walls: Option<&'a wgpu::Buffer>,
    ) -> Vec<CopiedPart<'a>> {
        let b = &self.buffers;
        let part = |count: u64, size: usize| move |buffer| (buffer, count * size as u64);
        let image = size_of::<u32>();
        let pair_images = b.periodic.as_ref().map(|periodic| &periodic.pair_images);
        let wall_images = b.walls.as_ref().map(|walls| &walls.images);
        let wall_images = wall_images.filter(|_| b.periodic.is_some());
        [
            Some(pairs).map(part(room.pairs, pair)),
            pair_images.map(part(room.pairs, image)),
            walls.map(part(room.walls, wall)),
            wall_images.map(part(room.walls, image)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Returns the size in bytes of all parts that [`lists`](Self::lists) returns.
    fn size_of_lists(&self, room: ReadRoom, [pair, wall]: [usize; 2]) -> u64 {
        let image = self
            .buffers
            .periodic
            .as_ref()
            .map_or(0, |_| size_of::<u32>());
        room.pairs * (pair + image) as u64 + room.walls * (wall + image) as u64
    }

    fn to_read(&self) -> Result<Recorded, Error> {
        self.kernels.context.alive()?;
        self.recorded.clone().ok_or(Error::NothingRecorded)
    }

    /// Chooses how many pairs and how many wall collisions a readback can hold, from their numbers in the
    /// latest readback. The result also has the largest numbers that the device allows. `sizes` has the size
    /// of a pair and that of a wall collision, in bytes.
    fn room(&self, sizes: [usize; 2]) -> ReadRoom {
        let limits = &self.kernels.context.limits;
        let rest = 2 * size_of::<CaromResults>() as u64
            + self
                .timing
                .as_ref()
                .map_or(0, |timing| TICKS * u64::from(timing.most));
        let bytes = (limits.max_storage_buffer_binding_size)
            .min(limits.max_buffer_size.saturating_sub(rest));
        let image = self
            .buffers
            .periodic
            .as_ref()
            .map_or(0, |_| size_of::<u32>());
        // With walls, the list of pairs and the list of wall collisions may each take half of the
        // readback.
        let lists = 1 + u64::from(self.buffers.walls.is_some());
        let [most, most_walls] = sizes.map(|size| bytes / lists / (size + image) as u64);
        // A readback's capacity is a power of two pairs, so that the same staging buffers suffice
        // if the number of pairs changes a little.
        let stepped = |known: &KnownCount| {
            let wanted = known
                .get()
                .map_or(FIRST_READ, |known| known + known / 2 + 1024);
            wanted.next_power_of_two()
        };
        let capacity = self.buffers.capacity;
        ReadRoom {
            pairs: stepped(&self.known.pairs).min(capacity.pairs).min(most),
            most,
            walls: stepped(&self.known.walls)
                .min(capacity.wall_collisions)
                .min(most_walls),
            most_walls,
        }
    }

    fn gathering(&mut self, room: ReadRoom) -> Result<Gathering, Error> {
        if let Some(gathering) = &self.gathering
            && gathering.room.pairs >= room.pairs
            && gathering.room.walls >= room.walls
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
        let results = size_of::<CaromResults>() as u64 * (1 + u64::from(self.mesh.is_some()));
        let size = results + self.ticks(recorded) + list;
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

    fn copy<T: 'static>(
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
        let mesh = self.mesh.as_ref().map(|mesh| &mesh.buffers.results);
        parts.extend(mesh.map(|results| (results, size_of::<CaromResults>() as u64)));
        parts.extend(self.timing.as_ref().map(|timing| (&timing.resolved, ticks)));
        parts.extend(lists);
        let copied = reserved.copy(&self.kernels.context, encoder, &parts);
        let known = self.known.clone();
        let recorded = Box::new(recorded);
        Ticket::new(copied, recorded.serial, move |copied| {
            let read = Read::new(&copied.bytes()?, &recorded, room)?;
            if read.serial != recorded.serial {
                return Err(Error::NotSubmitted);
            }
            let uncounted = Status::INCOMPLETE - Status::TRUNCATED - Status::WALLS_TRUNCATED;
            if !read.summary.status.intersects(uncounted) {
                known.pairs.set(read.summary.found);
                known.walls.set(read.summary.walls_found);
            }
            // Decoding may take long, so the staging buffer is released first.
            drop(copied);
            decode(read)
        })
    }
}

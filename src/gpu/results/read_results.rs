//! Records readbacks, which copy the results of a step to a staging buffer for the host.

use std::ops::Range;

use super::decode::{Read, Recorded};
use super::gathering::Gathering;
use super::pair_list::{ExactCollisions, RawCollisions};
use super::read_layout::{IMAGE, ReadLayout, ReadRoom, TICKS};
use super::read_now::ReadRange;
use super::staging::Reserved;
use super::status::Status;
use super::summary::StepSummary;
use super::ticket::{KnownCount, Ticket};
use crate::Error;
use crate::gpu::collide::collision_buffers::CollisionBuffers;
use crate::gpu::device::shader::layout::{
    CaromCollision, CaromResults, CaromWallCollision, Gathered, GatheredWall,
};

const FIRST_READ: u64 = 1 << 17;
const FIRST_GRAZING: u64 = 1 << 14;

/// A power of two, or `first` if nothing is known, so that the same staging buffers suffice if
/// the number changes a little.
fn stepped(known: &KnownCount, first: u64) -> u64 {
    let wanted = known.get().map(|known| known + known / 2 + 1024);
    wanted.unwrap_or(first).next_power_of_two()
}

pub(crate) struct SummaryDecoder {
    recorded: Recorded,
    layout: ReadLayout,
}

impl SummaryDecoder {
    pub(crate) fn decode(self, bytes: &[u8]) -> Result<StepSummary, Error> {
        let Self { recorded, layout } = self;
        Read::new(bytes, &recorded, ReadRoom::default(), layout)?.summary()
    }
}

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
    ///   [`BufferOptions::with_recordings`](crate::gpu::BufferOptions::with_recordings) readbacks are in flight
    ///   already.
    /// - [`Error::DeviceLost`] if the device is lost.
    ///
    /// On an error, nothing is recorded into the encoder.
    pub fn read_summary(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<Ticket<StepSummary>, Error> {
        let recorded = self.to_read()?;
        let room = ReadRoom::default();
        let layout = self.layout(&recorded, room, [0; 2]);
        let reserved = self.reserve(&recorded, &layout)?;
        Ok(self.copy(
            encoder,
            reserved,
            [None; 3],
            (recorded, room, layout),
            Read::summary,
        ))
    }

    /// Records a copy, for the host, of the last recorded step's pairs, as the GPU computed them.
    ///
    /// The capacity of a readback for pairs is fixed when the readback is recorded. It is at least
    /// one and a half times the number of pairs in the step that was read back last. Before the
    /// first readback, it is 131 072 pairs. It is never more than the capacity of the GPU buffer
    /// [`pairs`](Self::pairs), or than the device allows.
    ///
    /// A pair takes 16 bytes, or 20 in buffers for periodic domains. The capacity for wall
    /// collisions follows the same rules, with the number of wall collisions instead of the number
    /// of pairs.
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
        let room = self.room(sizes, false);
        let recorded = self.to_read()?;
        let layout = self.layout(&recorded, room, sizes);
        let reserved = self.reserve(&recorded, &layout)?;
        let walls = self.buffers.walls.as_ref().map(|walls| &walls.collisions);
        let lists = [Some(&self.buffers.pairs), None, walls];
        Ok(self.copy(
            encoder,
            reserved,
            lists,
            (recorded, room, layout),
            Read::raw,
        ))
    }

    /// Records a copy, for the host, of the last recorded step's pairs, with the two spheres of
    /// each grazing pair as they were when the step ran.
    ///
    /// The method returns a ticket. The thread that takes the results from the ticket decides
    /// exactly which of the grazing pairs touch, and sorts the list.
    ///
    /// The capacities for pairs and for wall collisions follow the rules of
    /// [`read_raw`](Self::read_raw). Here, a wall collision takes 36 bytes, or 40 in buffers for
    /// periodic domains. There is also a capacity for grazing pairs, at 64 bytes each: at least one
    /// and a half times their number in the step that was read back last, and 16 384 before the
    /// first readback. While all pairs are grazing (see [the module](crate::gpu)), it is that for pairs. With more of them, the ticket returns [`Error::Truncated`], and the next readback
    /// has room for them.
    ///
    /// `encoder` must be the encoder of the step, or one that is submitted later.
    ///
    /// # Errors
    /// Returns the same errors as [`read_summary`](Self::read_summary).
    pub fn read_exact(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<Ticket<ExactCollisions>, Error> {
        let sizes = [size_of::<CaromCollision>(), size_of::<GatheredWall>()];
        let room = self.room(sizes, true);
        let recorded = self.to_read()?;
        let gathering = self.gathering(room)?;
        let layout = self.layout(&recorded, room, sizes);
        let reserved = self.reserve(&recorded, &layout)?;
        gathering.record(encoder);
        let lists = [
            Some(&self.buffers.pairs),
            Some(&gathering.buffer),
            gathering.walls.as_ref(),
        ];
        Ok(self.copy(
            encoder,
            reserved,
            lists,
            (recorded, room, layout),
            Read::exact,
        ))
    }

    /// Returns the parts to copy, one after the other, and what makes the summary of the
    /// copied bytes.
    pub(crate) fn summary_parts(&self) -> Result<(Vec<ReadRange<'_>>, SummaryDecoder), Error> {
        let recorded = self.to_read()?;
        let room = ReadRoom::default();
        let layout = self.layout(&recorded, room, [0; 2]);
        let size = |range: &Range<u64>| range.end - range.start;
        let mut parts = vec![(&self.buffers.results, 0, size(&layout.results))];
        if let Some(timing) = &self.timing {
            parts.push((&timing.resolved, 0, size(&layout.ticks)));
        }
        let decoder = SummaryDecoder { recorded, layout };
        Ok((parts, decoder))
    }

    /// `sizes` has the bytes of a pair and of a wall collision.
    fn layout(&self, recorded: &Recorded, room: ReadRoom, sizes: [usize; 2]) -> ReadLayout {
        let timed = self.timing.as_ref().map_or(0, |_| recorded.stages.len());
        let periodic = self.buffers.periodic.is_some();
        ReadLayout::new(self.mesh.is_some(), timed, periodic, room, sizes)
    }

    fn to_read(&self) -> Result<Recorded, Error> {
        self.kernels.context.alive()?;
        self.late.check()?;
        self.recorded.clone().ok_or(Error::NothingRecorded)
    }

    /// Chosen from the numbers in the latest readback, with grazing pairs if the host is
    /// `to_decide` them. `sizes` has the bytes of a pair and of a wall collision.
    fn room(&self, sizes: [usize; 2], to_decide: bool) -> ReadRoom {
        let limits = &self.kernels.context.limits;
        let rest = 2 * size_of::<CaromResults>() as u64
            + self
                .timing
                .as_ref()
                .map_or(0, |timing| TICKS * u64::from(timing.most));
        let bytes = (limits.max_storage_buffer_binding_size)
            .min(limits.max_buffer_size.saturating_sub(rest));
        let image = self.buffers.periodic.as_ref().map_or(0, |_| IMAGE);
        // These lists may take equal parts of the readback.
        let lists = 1 + u64::from(self.buffers.walls.is_some()) + u64::from(to_decide);
        let [most, most_walls] = sizes.map(|size| bytes / lists / (size as u64 + image));
        let most_grazing = bytes / lists / size_of::<Gathered>() as u64;
        let listed = |known| stepped(known, FIRST_READ);
        let capacity = self.buffers.capacity;
        let trusted = self.recorded.as_ref().is_some_and(|step| step.trusted);
        ReadRoom {
            pairs: listed(&self.known.pairs).min(capacity.pairs).min(most),
            most,
            grazing: if to_decide {
                let wanted = match trusted {
                    true => stepped(&self.known.grazing, FIRST_GRAZING),
                    false => listed(&self.known.pairs),
                };
                wanted.min(capacity.pairs).min(most_grazing)
            } else {
                0
            },
            // Until the device is trusted, all pairs are grazing. Later steps need less room.
            most_grazing: if trusted { most_grazing } else { u64::MAX },
            walls: listed(&self.known.walls)
                .min(capacity.wall_collisions)
                .min(most_walls),
            most_walls,
        }
    }

    fn gathering(&mut self, room: ReadRoom) -> Result<Gathering, Error> {
        if let Some(gathering) = &self.gathering
            && gathering.room.grazing >= room.grazing
            && gathering.room.walls >= room.walls
        {
            return Ok(gathering.clone());
        }
        // So that the device need not hold both.
        self.gathering = None;
        let make = || Gathering::new(&self.kernels, &self.buffers, room);
        let gathering = self.kernels.context.scoped(make)?;
        self.gathering = Some(gathering.clone());
        Ok(gathering)
    }

    fn reserve(&mut self, recorded: &Recorded, layout: &ReadLayout) -> Result<Reserved, Error> {
        let context = &self.kernels.context;
        self.staging
            .reserve(context, layout.size(), recorded.serial)
    }

    /// `lists` are the buffers of the pairs, of the grazing pairs with their spheres, and
    /// of the wall collisions.
    fn copy<T: 'static>(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        reserved: Reserved,
        [pairs, grazing, walls]: [Option<&wgpu::Buffer>; 3],
        (recorded, room, layout): (Recorded, ReadRoom, ReadLayout),
        decode: fn(Read) -> Result<T, Error>,
    ) -> Ticket<T> {
        let b = &self.buffers;
        let pair_images = b.periodic.as_ref().map(|periodic| &periodic.pair_images);
        let all = [
            (Some(&b.results), &layout.results),
            (
                self.mesh.as_ref().map(|mesh| &mesh.buffers.results),
                &layout.mesh_results,
            ),
            (
                self.timing.as_ref().map(|timing| &timing.resolved),
                &layout.ticks,
            ),
            (pairs, &layout.pairs),
            (pair_images, &layout.pair_images),
            (grazing, &layout.grazing),
            (walls, &layout.walls),
            (
                b.walls.as_ref().map(|walls| &walls.images),
                &layout.wall_images,
            ),
        ];
        let parts = all.into_iter().filter(|(_, range)| !range.is_empty());
        let parts = parts.filter_map(|(buffer, range)| Some((buffer?, range.clone())));
        let copied = reserved.copy(&self.kernels.context, encoder, parts.collect());
        let known = self.known.clone();
        let recorded = Box::new(recorded);
        Ticket::new(copied, recorded.serial, move |copied| {
            let read = Read::new(&copied.bytes()?, &recorded, room, layout);
            let read = read.map_err(|error| copied.explained(error, &recorded.sources))?;
            let uncounted = Status::INCOMPLETE - Status::TRUNCATED - Status::WALLS_TRUNCATED;
            if !read.summary.status.intersects(uncounted) {
                known.pairs.set(read.summary.found);
                if recorded.trusted {
                    known.grazing.set(read.summary.grazing);
                }
                known.walls.set(read.summary.walls_found);
            }
            // Decoding may take long.
            drop(copied);
            decode(read)
        })
    }
}

//! Decodes the bytes that were read back from the GPU into the results of a step.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytemuck::{Pod, Zeroable};

use super::capacity::{Capacity, MeshCapacity};
use super::pair_list::{ExactCollisions, RawCollisions, unpacked_image};
use super::read_layout::{ReadLayout, ReadRoom, part};
use super::read_now::values;
use super::status::Status;
use super::summary::StepSummary;
use crate::exact::{GRAZING, Settling, scaled, settle};
use crate::gpu::collide::walls::decide;
use crate::gpu::device::context::Late;
use crate::gpu::device::shader::layout::{
    CaromCollision, CaromResults, CaromWallCollision, Gathered, GatheredWall,
};
use crate::shared::sets::Sets;
use crate::{Backend, Collision, Collisions, Domain, Error, Hits, Sphere, Statistics, Walls};

#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    /// Results with another number are those of a submission that failed.
    pub(crate) serial: u32,
    /// In the unit of time of the velocities, or 1 with previous centres.
    pub(crate) dt: f32,
    /// From [0, `dt`] to the application's unit of time.
    pub(crate) times: f32,
    pub(crate) two_sets: bool,
    pub(crate) for_neighbors: bool,
    pub(crate) domain: Domain,
    /// Cells between a sphere and the periodic cell. `None` if the buffers are for open space only.
    pub(crate) most_cells: Option<i32>,
    pub(crate) stages: Vec<&'static str>,
    pub(crate) max_candidates: u64,
    /// In nanoseconds per tick. 0 without timestamps.
    pub(crate) period: f32,
    pub(crate) spheres: u64,
    pub(crate) walls: Option<Arc<Walls>>,
    /// Leaves out what touches at the start and does not approach.
    pub(crate) approaching: bool,
    /// Otherwise, all pairs are marked as grazing.
    pub(crate) trusted: bool,
    /// Of the bind groups with the application's buffers.
    pub(crate) sources: Late,
}

pub(crate) struct Read {
    pub(crate) summary: StepSummary,
    /// See [`ReadLayout::lists`].
    lists: Vec<u8>,
    recorded: Recorded,
    room: ReadRoom,
    layout: ReadLayout,
}

/// `ticks` has two timestamps per stage, in ticks of `period` nanoseconds.
fn durations(stages: &[&'static str], ticks: &[u64], period: f32) -> Vec<(&'static str, Duration)> {
    let stage = |(&name, ticks): (&&'static str, &[u64])| {
        // On some devices, the end can precede the start.
        let ticks = ticks[1].saturating_sub(ticks[0]);
        let nanoseconds = ticks as f64 * f64::from(period);
        (name, Duration::from_nanos(nanoseconds as u64))
    };
    stages
        .iter()
        .zip(ticks.chunks_exact(2))
        .map(stage)
        .collect()
}

impl Read {
    pub(crate) fn new(
        mapped: &[u8],
        recorded: &Recorded,
        room: ReadRoom,
        layout: ReadLayout,
    ) -> Result<Self, Error> {
        let results = |range| values::<CaromResults>(part(mapped, 0, range)).next();
        let mesh = results(&layout.mesh_results);
        let results = results(&layout.results).unwrap_or_else(CaromResults::zeroed);
        if results.serial != recorded.serial {
            return Err(Error::NotSubmitted);
        }
        let ticks: Vec<u64> = values(part(mapped, 0, &layout.ticks)).collect();
        let stages = durations(&recorded.stages, &ticks, recorded.period);
        let list = part(mapped, 0, &layout.lists());
        let mut lists = crate::memory::allocate(list.len(), "the pairs read back")?;
        lists.extend_from_slice(list);
        let summary = StepSummary::new(
            &results,
            mesh.as_ref(),
            recorded.two_sets,
            recorded.spheres,
            stages,
        );
        Ok(Self {
            summary: if recorded.for_neighbors {
                summary.with_neighbors(&results)
            } else {
                summary
            },
            lists,
            recorded: recorded.clone(),
            room,
            layout,
        })
    }

    fn check(&self) -> Result<(), Error> {
        let StepSummary {
            status,
            candidates,
            mesh_candidates,
            ..
        } = self.summary;
        if status.contains(Status::TOO_CROWDED) {
            return Err(Error::TooManyCandidates {
                needed: candidates.max(mesh_candidates),
                limit: self.recorded.max_candidates,
            });
        }
        if status.contains(Status::UNFINISHED) {
            return Err(unfinished());
        }
        let simple = self.recorded.walls.as_ref();
        let simple = simple.map_or(0, |walls| walls.simple().len());
        if let Some(triangle) = self.summary.triangle_out_of_range() {
            return Err(Error::InvalidWall {
                wall: simple + triangle as usize,
                problem:
                    "it is too far away from the periodic domain for a GPU; move it nearer to \
                          the cell, or shorten the time step"
                        .to_owned(),
            });
        }
        if let Some(error) = out_of_range(&self.summary, self.recorded.most_cells) {
            return Err(error);
        }
        if let Some(counted) = self.summary.past_at_most {
            return Err(Error::SourceBuffer {
                what: "count",
                problem: format!(
                    "holds a number larger than the largest permitted one ({counted} spheres in all sets \
                     together); raise the `count` of `DeviceSpheres::new`"
                ),
                source: None,
            });
        }
        Ok(())
    }

    fn entries<T: Pod>(&self, range: &Range<u64>, count: u64) -> Result<Vec<T>, Error> {
        let mut entries = crate::memory::allocate(count as usize, "the results read back")?;
        let bytes = part(&self.lists, self.layout.pairs.start, range);
        entries.extend(values::<T>(bytes).take(count as usize));
        if entries.len() as u64 == count {
            Ok(entries)
        } else {
            Err(Error::device(
                "a list that was read back is shorter than its count",
            ))
        }
    }

    fn images(&self, range: &Range<u64>, count: u64) -> Result<Vec<[i32; 3]>, Error> {
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let words = self.entries::<u32>(range, count)?;
        let mut images = crate::memory::allocate(words.len(), "the images read back")?;
        images.extend(words.into_iter().map(unpacked_image));
        Ok(images)
    }

    fn pair_images(&self) -> Result<Vec<[i32; 3]>, Error> {
        self.images(&self.layout.pair_images, self.summary.pairs)
    }

    fn walls<W: Pod>(&self) -> Result<(Vec<W>, Vec<[i32; 3]>), Error> {
        let count = self.summary.walls_found;
        let walls = self.entries(&self.layout.walls, count)?;
        Ok((walls, self.images(&self.layout.wall_images, count)?))
    }

    /// Returns the pairs if all lists are complete, otherwise an error with the required
    /// capacity. `P` and `W` are a pair and a wall collision as they were read back.
    fn pairs<P: Pod, W>(&self) -> Result<Vec<P>, Error> {
        self.check()?;
        if let Some(required) = self.summary.required_capacity() {
            return Err(Error::Truncated { required });
        }
        let StepSummary {
            found,
            pairs,
            grazing,
            spheres,
            segments,
            ..
        } = self.summary;
        let to_decide = if self.layout.grazing.is_empty() {
            0
        } else {
            grazing
        };
        let walls_found = self.summary.walls_found;
        let room = self.room;
        let limit = |what, found: u64, most: u64, size: usize| match found > most {
            true => Err(Error::DeviceLimit {
                what,
                limit: "max_buffer_size",
                needed: found * size as u64,
                available: most * size as u64,
            }),
            false => Ok(()),
        };
        limit("reading all pairs back", pairs, room.most, size_of::<P>())?;
        let what = "reading the spheres of all grazing pairs back";
        limit(what, to_decide, room.most_grazing, size_of::<Gathered>())?;
        let what = "reading all wall collisions back";
        limit(what, walls_found, room.most_walls, size_of::<W>())?;
        if pairs > room.pairs || to_decide > room.grazing || walls_found > room.walls {
            let required = Capacity {
                spheres,
                segments,
                pairs: found,
                images: self.summary.images,
                wall_collisions: walls_found,
                mesh: MeshCapacity::default(),
                segment: 0.0,
            };
            return Err(Error::Truncated { required });
        }
        self.entries(&self.layout.pairs, pairs)
    }

    pub(crate) fn summary(self) -> Result<StepSummary, Error> {
        Ok(self.summary)
    }

    pub(crate) fn raw(self) -> Result<RawCollisions, Error> {
        let pairs = self.pairs::<CaromCollision, CaromWallCollision>()?;
        let (images, walls) = (self.pair_images()?, self.walls()?);
        Ok(RawCollisions::new((pairs, images), walls, self.summary))
    }

    pub(crate) fn exact(self) -> Result<ExactCollisions, Error> {
        let pairs = self.pairs::<Collision, GatheredWall>()?;
        self.settled(pairs)
    }

    fn settled(self, mut pairs: Vec<Collision>) -> Result<ExactCollisions, Error> {
        let mut images = self.pair_images()?;
        let mut gathered: Vec<Gathered> =
            self.entries(&self.layout.grazing, self.summary.grazing)?;
        let (gathered_walls, wall_images) = self.walls::<GatheredWall>()?;
        let key = |pair: &Gathered| (pair.a, pair.b_and_grazing & !GRAZING);
        gathered.sort_unstable_by_key(key);
        let spheres = |a: u32, b: u32| {
            let at = gathered.binary_search_by_key(&(a, b), key).ok()?;
            Some(gathered.get(at)?.values.map(|values| Sphere {
                center: [values[0], values[1], values[2]],
                radius: values[3],
                velocity: [values[4], values[5], values[6]],
                groups: 0,
            }))
        };
        let Recorded {
            dt,
            times,
            domain,
            walls,
            approaching,
            ..
        } = self.recorded;
        let walls = walls.unwrap_or_default();
        let step = Settling {
            domain: &domain,
            dt,
            times,
            checked: false,
            approaching,
        };
        let (mut walls, wall_images) = decide(&gathered_walls, &wall_images, &walls, &step)?;
        let grazing = settle(spheres, &step, &mut pairs, &mut images, None)?.grazing;
        if domain.is_open() {
            images.clear();
        }
        if times != 1.0 {
            for hit in &mut walls {
                hit.toi = scaled(hit.toi, times);
            }
        }
        let summary = self.summary;
        let sets = match summary.second_set_start {
            None => Sets::One,
            Some(first) => Sets::Two {
                first: first as usize,
            },
        };
        let statistics = Statistics {
            spheres: summary.spheres,
            proxies: summary.proxies,
            levels: summary.levels,
            candidates: summary.candidates,
            pairs: pairs.len() as u64,
            grazing: grazing.all,
            grazing_by_integers: grazing.by_integers,
            backend: Backend::Gpu,
            reason: "recorded by the application".to_owned(),
            stages: summary.stages.clone(),
            ..Statistics::default()
        };
        let spheres = summary.spheres as usize;
        let pairs = Hits {
            items: pairs,
            images,
        };
        let mut collisions = Collisions::new(pairs, spheres, sets, statistics);
        collisions.walls = Hits {
            items: walls,
            images: wall_images,
        };
        Ok(ExactCollisions {
            collisions,
            summary,
        })
    }
}

pub(crate) fn out_of_range(summary: &StepSummary, most_cells: Option<i32>) -> Option<Error> {
    let index = summary.out_of_range? as usize;
    let (set, index) = match summary.second_set_start.map(|first| first as usize) {
        None => (None, index),
        Some(first) if index < first => (Some(0), index),
        Some(first) => (Some(1), index - first),
    };
    Some(Error::ImageOutOfRange {
        index,
        set,
        limit: most_cells.unwrap_or(0),
    })
}

pub(crate) fn unfinished() -> Error {
    Error::device(
        "its driver ends loops early, and some spheres of this world have too many neighbours for \
         one loop"
            .to_owned(),
    )
}

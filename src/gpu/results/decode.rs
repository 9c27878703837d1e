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
use crate::exact::{self, GRAZING, ReportedPair};
use crate::gpu::collide::walls::decide;
use crate::gpu::device::shader::layout::{
    CaromCollision, CaromResults, CaromWallCollision, Gathered, GatheredWall,
};
use crate::shared::sets::Sets;
use crate::{Backend, Collisions, Domain, Error, Hits, Sphere, Statistics, Walls};

#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    /// Serial number of the step. If the results read back have another number, the submission of
    /// the step or of its readback has failed.
    pub(crate) serial: u32,
    /// Length of the step in the unit of time of the velocities, or 1 if previous centres replace
    /// the velocities.
    pub(crate) dt: f32,
    /// Factor that converts a computed time of impact in [0, `dt`] to the application's unit of
    /// time.
    pub(crate) times: f32,
    pub(crate) two_sets: bool,
    /// Whether the pairs are to become a neighbour list.
    pub(crate) for_neighbors: bool,
    pub(crate) domain: Domain,
    /// Largest allowed distance, in cells, between a sphere and the periodic cell. `None` if the
    /// buffers are for open space only.
    pub(crate) most_cells: Option<i32>,
    pub(crate) stages: Vec<&'static str>,
    pub(crate) max_candidates: u64,
    /// Period of the GPU timestamps, in nanoseconds per tick. 0 without timestamps.
    pub(crate) period: f32,
    pub(crate) spheres: u64,
    pub(crate) walls: Option<Arc<Walls>>,
}

pub(crate) struct Read {
    pub(crate) serial: u32,
    pub(crate) summary: StepSummary,
    /// The bytes of the lists: see [`ReadLayout::lists`].
    lists: Vec<u8>,
    recorded: Recorded,
    room: ReadRoom,
    layout: ReadLayout,
}

/// Returns the name and the duration of each stage. `ticks` has two timestamps per stage (start and
/// end), in ticks of `period` nanoseconds.
fn durations(stages: &[&'static str], ticks: &[u64], period: f32) -> Vec<(&'static str, Duration)> {
    let stage = |(&name, ticks): (&&'static str, &[u64])| {
        // On some devices a stage's end timestamp can precede its start timestamp. The duration is
        // then 0.
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
            serial: results.serial,
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

    /// Returns the first `count` entries of the list in a part of the bytes read back.
    fn entries<T: Pod>(&self, range: &Range<u64>, count: u64) -> Result<Vec<T>, Error> {
        let mut entries = crate::memory::allocate(count as usize, "the results read back")?;
        let bytes = part(&self.lists, self.layout.pairs.start, range);
        entries.extend(values::<T>(bytes).take(count as usize));
        // A list is complete or an error.
        if entries.len() as u64 == count {
            Ok(entries)
        } else {
            Err(Error::device(
                "a list that was read back is shorter than its count",
            ))
        }
    }

    /// Returns the images of the first `count` entries of a list. Returns no images if none were
    /// read back.
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
        self.images(&self.layout.pair_images, self.summary.found)
    }

    /// Returns the wall collisions that were read back, and the images of their spheres.
    fn walls<W: Pod>(&self) -> Result<(Vec<W>, Vec<[i32; 3]>), Error> {
        let count = self.summary.walls_found;
        let walls = self.entries(&self.layout.walls, count)?;
        Ok((walls, self.images(&self.layout.wall_images, count)?))
    }

    /// Returns the pairs that were read back if all lists are complete, otherwise the error with the
    /// capacity that the buffers need. `P` is a pair and `W` a wall collision as they were read back.
    fn pairs<P: Pod, W>(&self) -> Result<Vec<P>, Error> {
        self.check()?;
        if let Some(required) = self.summary.required_capacity() {
            return Err(Error::Truncated { required });
        }
        let StepSummary {
            found,
            spheres,
            segments,
            ..
        } = self.summary;
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
        limit("reading all pairs back", found, room.most, size_of::<P>())?;
        let what = "reading all wall collisions back";
        limit(what, walls_found, room.most_walls, size_of::<W>())?;
        if found > room.pairs || walls_found > room.walls {
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
        self.entries(&self.layout.pairs, found)
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
        let gathered = self.pairs::<Gathered, GatheredWall>()?;
        self.decided(gathered)
    }

    fn decided(self, mut gathered: Vec<Gathered>) -> Result<ExactCollisions, Error> {
        let images = self.pair_images()?;
        let (gathered_walls, wall_images) = self.walls::<GatheredWall>()?;
        let key = |pair: &Gathered| (pair.a, pair.b_and_grazing & !GRAZING);
        let reported = gathered.iter().map(|pair| ReportedPair {
            a: pair.a,
            b: pair.b_and_grazing,
        });
        let mut reported: Vec<ReportedPair> = reported.collect();
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
            ..
        } = self.recorded;
        let walls = walls.unwrap_or_default();
        let (mut walls, wall_images) = decide(&gathered_walls, &wall_images, &walls, &domain, dt)?;
        let reported = (&mut reported, &images[..]);
        let (mut pairs, mut images) = (Vec::new(), Vec::new());
        // In a step with two sets, the index of sphere b in the GPU's list already begins at 0 at the
        // start of the second set. For `Sets::Two`, the function `decide` would subtract the size of
        // the first set from this index. So it gets `Sets::One` even for such a step.
        let step = (Sets::One, &domain, dt, false);
        let grazing = exact::decide(reported, spheres, step, &mut pairs, &mut images)?;
        if domain.is_open() {
            images.clear();
        }
        if times != 1.0 {
            let times_of_pairs = pairs.iter_mut().map(|pair| &mut pair.toi);
            let times_of_walls = walls.iter_mut().map(|hit| &mut hit.toi);
            for toi in times_of_pairs.chain(times_of_walls) {
                // Adding 0.0 turns a time of impact of −0 into 0. The time is −0 if the length `dt`
                // of the step is −0.
                *toi = (f64::from(*toi) * f64::from(times) + 0.0) as f32;
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

/// Returns the error for a sphere that is too far from the periodic cell, or has too many images.
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

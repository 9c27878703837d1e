//! What is made of the list of pairs on the GPU for those who ask for it: each
//! sphere's earliest impact, the sorted list, each sphere's contacts, and what
//! changed since the last step.

use bytemuck::{Pod, Zeroable};
use wgpu::BufferUsages;

use super::buffers::{Buffers, CaromCollision, check};
use super::kernels::{DIGIT_BITS, DIGITS, Reduce, SCAN_BLOCK, SORT_BLOCK, Stages};
use super::record::{Binder, Dispatch, Stage, workgroups};
use crate::Error;

/// What is asked for. Contacts and changes are made from the sorted list, so that
/// either brings it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) earliest: bool,
    pub(crate) sorted: bool,
    pub(crate) contacts: bool,
    pub(crate) changes: bool,
}

impl Wanted {
    fn sorts(self) -> bool {
        self.sorted || self.contacts || self.changes
    }
}

/// What one pass of the sort goes by. Twin of `Digit` in
/// `shaders/shared/digit.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct Digit {
    pub(crate) word: u32,
    pub(crate) shift: u32,
    pub(crate) distinct: u32,
    pub(crate) unused: u32,
}

/// Uniform buffers are bound at multiples of this on every device.
const UNIFORM_ALIGNMENT: usize = 256;

/// Each pair once, in order.
pub(crate) struct Sorted {
    /// [`CaromCollision`]s, as many as the results say.
    pub(crate) list: wgpu::Buffer,
    /// Workgroups for indirect dispatches over them.
    pub(crate) dispatch: wgpu::Buffer,
}

/// The contacts of each sphere.
pub(crate) struct Contacts {
    /// Where each sphere's row begins; one more word than spheres fit.
    pub(crate) offsets: wgpu::Buffer,
    /// Indices into the sorted list, row by row.
    pub(crate) indices: wgpu::Buffer,
}

/// What changed since the last complete step.
pub(crate) struct Changes {
    /// Two words a pair: those that began, then those that last, then those that
    /// ended.
    pub(crate) list: wgpu::Buffer,
    /// The pairs of the last complete step, in order.
    kept: wgpu::Buffer,
    /// How many these are.
    kept_count: wgpu::Buffer,
}

/// The buffers of all that is wanted, and the stages that fill them.
#[derive(Default)]
pub(crate) struct Reductions {
    /// Time and partner of each sphere's first impact.
    pub(crate) earliest: Option<wgpu::Buffer>,
    pub(crate) sorted: Option<Sorted>,
    pub(crate) contacts: Option<Contacts>,
    pub(crate) changes: Option<Changes>,
    /// To be recorded after those that find the pairs.
    stages: Vec<Stage>,
    /// All buffers but what is kept from step to step.
    #[cfg(test)]
    volatile: Vec<wgpu::Buffer>,
}

/// Makes buffers and dispatches.
struct Maker<'a> {
    binder: Binder<'a>,
    scan: &'a Stages,
    kernels: &'a Reduce,
    limits: &'a wgpu::Limits,
    buffers: &'a Buffers,
    made: Vec<wgpu::Buffer>,
}

impl Reductions {
    /// For pairs in `buffers`, with the capacity of these.
    pub(crate) fn new(
        binder: Binder<'_>,
        scan: &Stages,
        kernels: &Reduce,
        buffers: &Buffers,
        limits: &wgpu::Limits,
        wanted: Wanted,
    ) -> Result<Self, Error> {
        let mut maker = Maker {
            binder,
            scan,
            kernels,
            limits,
            buffers,
            made: Vec::new(),
        };
        let mut made = Self::default();
        if wanted.earliest {
            made.earliest = Some(maker.earliest(&mut made.stages)?);
        }
        if wanted.sorts() {
            let sorter = maker.sorter()?;
            let sorted = maker.sorted(&sorter, &mut made.stages)?;
            if wanted.contacts {
                made.contacts = Some(maker.contacts(&sorter, &sorted, &mut made.stages)?);
            }
            if wanted.changes {
                made.changes = Some(maker.changes(&sorted, &mut made.stages)?);
            }
            made.sorted = Some(sorted);
        }
        #[cfg(test)]
        {
            made.volatile = maker.made;
        }
        Ok(made)
    }

    /// The stages, to be appended to those that find the pairs. There are none the
    /// second time.
    pub(crate) fn take_stages(&mut self) -> Vec<Stage> {
        std::mem::take(&mut self.stages)
    }

    /// Takes over what was kept of the last complete step, so that changes go on
    /// where new buffers replace smaller ones. Without this, or when they are not
    /// as large, everything begins anew.
    pub(crate) fn continue_from(&self, encoder: &mut wgpu::CommandEncoder, old: &Self) {
        if let (Some(new), Some(old)) = (&self.changes, &old.changes)
            && new.kept.size() >= old.kept.size()
        {
            let mut copy = |from: &wgpu::Buffer, to| {
                encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size());
            };
            copy(&old.kept, &new.kept);
            copy(&old.kept_count, &new.kept_count);
        }
    }
}

/// Room and dispatches for sorting as many items as there are pairs.
struct Sorter {
    /// One after the other, the passes by each digit of the first word, then those
    /// by each of the second.
    digits: wgpu::Buffer,
    /// How many digits an index of a sphere has.
    count: u32,
    /// The items before a pass and after it, in turns.
    items: [wgpu::Buffer; 2],
    /// How many of each digit, in each block.
    table: Vec<wgpu::Buffer>,
}

/// Words of the items by which passes sort.
#[derive(Clone, Copy)]
enum By {
    /// By a, those of the same a by b.
    Pair,
    /// By the first word, items as many as sorted pairs.
    FirstWord,
}

impl Sorter {
    /// The passes that sort by these words, in order.
    fn passes(&self, by: By) -> std::ops::Range<u32> {
        match by {
            By::Pair => 0..2 * self.count,
            By::FirstWord => 2 * self.count..3 * self.count,
        }
    }
}

impl Maker<'_> {
    /// Room for so many words, or none to bind.
    fn buffer(
        &mut self,
        what: &'static str,
        words: u64,
        usage: BufferUsages,
    ) -> Result<wgpu::Buffer, Error> {
        let size = 4 * words.max(1);
        check(self.limits, what, size)?;
        // Tests fill them with noise, and read them.
        let for_tests = if cfg!(test) {
            BufferUsages::COPY_SRC | BufferUsages::COPY_DST
        } else {
            BufferUsages::empty()
        };
        let buffer = self.binder.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(&format!("carom {what}")),
            size,
            usage: BufferUsages::STORAGE | usage | for_tests,
            mapped_at_creation: false,
        });
        self.made.push(buffer.clone());
        Ok(buffer)
    }

    /// A table to scan, with what the scan needs besides.
    fn table(&mut self, what: &'static str, words: u64) -> Result<Vec<wgpu::Buffer>, Error> {
        let mut table = Vec::new();
        let mut length = words;
        loop {
            table.push(self.buffer(what, length, BufferUsages::empty())?);
            if length <= u64::from(SCAN_BLOCK) {
                return Ok(table);
            }
            length = length.div_ceil(u64::from(SCAN_BLOCK));
        }
    }

    /// How many pairs there is room for; at least one, as no binding is empty.
    fn pairs(&self) -> u64 {
        self.buffers.pairs.size() / size_of::<CaromCollision>() as u64
    }

    fn earliest(&mut self, stages: &mut Vec<Stage>) -> Result<wgpu::Buffer, Error> {
        let spheres = self.buffers.capacity.spheres.max(1);
        let earliest = self.buffer("earliest impacts", 2 * spheres, BufferUsages::COPY_SRC)?;
        let (binder, kernels) = (self.binder, self.kernels);
        let bound = [&self.buffers.results, &self.buffers.pairs, &earliest];
        let pairs = workgroups(self.pairs());
        stages.push(Stage::new(
            "earliest",
            vec![
                binder.whole(&kernels.earliest_fill, &bound, workgroups(spheres)),
                binder.whole(&kernels.earliest_times, &bound, pairs),
                binder.whole(&kernels.earliest_partners, &bound, pairs),
            ],
        ));
        Ok(earliest)
    }

    fn sorter(&mut self) -> Result<Sorter, Error> {
        let last = self.buffers.capacity.spheres.saturating_sub(1).max(1);
        let count = (last.ilog2() + 1).div_ceil(DIGIT_BITS);
        let passes = [(1, 0), (0, 0), (0, 1)];
        let digits: Vec<u8> = passes
            .into_iter()
            .flat_map(|(word, distinct)| {
                (0..count).map(move |digit| Digit {
                    word,
                    shift: digit * DIGIT_BITS,
                    distinct,
                    unused: 0,
                })
            })
            .flat_map(|digit| {
                let mut bytes = [0; UNIFORM_ALIGNMENT];
                bytes[..size_of::<Digit>()].copy_from_slice(bytemuck::bytes_of(&digit));
                bytes
            })
            .collect();
        let uniform = self.binder.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("carom digits to sort by"),
            size: digits.len() as u64,
            usage: BufferUsages::UNIFORM,
            mapped_at_creation: true,
        });
        uniform
            .slice(..)
            .get_mapped_range_mut()
            .map_err(Error::device_failed)?
            .copy_from_slice(&digits);
        uniform.unmap();
        let blocks = self.pairs().div_ceil(u64::from(SORT_BLOCK));
        let mut items = || {
            let none = BufferUsages::empty();
            self.buffer("pairs while they are sorted", 4 * self.pairs(), none)
        };
        Ok(Sorter {
            digits: uniform,
            count,
            items: [items()?, items()?],
            table: self.table("digits of the pairs", u64::from(DIGITS) * blocks)?,
        })
    }

    /// Dispatches that sort `first`, or what is in the first buffer of items if
    /// there is none, and the buffer where the sorted items then are.
    fn sort(
        &self,
        sorter: &Sorter,
        by: By,
        first: Option<&wgpu::Buffer>,
    ) -> (Vec<Dispatch>, wgpu::Buffer) {
        let table = &sorter.table[0];
        let blocks = table.size() / 4 / u64::from(DIGITS);
        let [mut after, mut before] = sorter.items.clone();
        if let Some(first) = first {
            before = first.clone();
        } else {
            std::mem::swap(&mut before, &mut after);
        }
        let mut dispatches = Vec::new();
        for pass in sorter.passes(by) {
            let digit = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &sorter.digits,
                offset: u64::from(pass) * UNIFORM_ALIGNMENT as u64,
                size: wgpu::BufferSize::new(size_of::<Digit>() as u64),
            });
            let [results, items, counts, moved] = [&self.buffers.results, &before, table, &after]
                .map(wgpu::Buffer::as_entire_binding);
            dispatches.push(self.binder.dispatch(
                &self.kernels.sort_count,
                &[
                    digit.clone(),
                    results.clone(),
                    items.clone(),
                    counts.clone(),
                ],
                blocks,
            ));
            dispatches.extend(self.binder.scan(self.scan, &sorter.table));
            dispatches.push(self.binder.dispatch(
                &self.kernels.sort_scatter,
                &[digit, results, items, counts, moved],
                blocks,
            ));
            before = after;
            after = self.other(sorter, &before);
        }
        (dispatches, before)
    }

    /// The other buffer of items.
    fn other(&self, sorter: &Sorter, one: &wgpu::Buffer) -> wgpu::Buffer {
        let [first, second] = &sorter.items;
        if one == first { second } else { first }.clone()
    }

    fn sorted(&mut self, sorter: &Sorter, stages: &mut Vec<Stage>) -> Result<Sorted, Error> {
        let pairs = self.pairs();
        let list = self.buffer("sorted pairs", 4 * pairs, BufferUsages::COPY_SRC)?;
        let dispatch = self.buffer(
            "dispatch over the sorted pairs",
            3,
            BufferUsages::COPY_SRC | BufferUsages::INDIRECT,
        )?;
        let table = self.table("first ones of repeated pairs", pairs + 1)?;
        let (mut dispatches, repeated) = self.sort(sorter, By::Pair, Some(&self.buffers.pairs));
        let bound = [
            &self.buffers.results,
            &repeated,
            &table[0],
            &list,
            &dispatch,
        ];
        let over = workgroups(pairs + 1);
        let unique = |kernel| self.binder.whole(kernel, &bound, over);
        dispatches.push(unique(&self.kernels.unique_flag));
        dispatches.extend(self.binder.scan(self.scan, &table));
        dispatches.push(unique(&self.kernels.unique_write));
        stages.push(Stage::new("sort", dispatches));
        Ok(Sorted { list, dispatch })
    }

    fn contacts(
        &mut self,
        sorter: &Sorter,
        sorted: &Sorted,
        stages: &mut Vec<Stage>,
    ) -> Result<Contacts, Error> {
        let (spheres, pairs) = (self.buffers.capacity.spheres, self.pairs());
        let starts = self.buffer(
            "first pairs of the spheres",
            spheres + 1,
            BufferUsages::empty(),
        )?;
        let offsets = self.buffer("offsets of contacts", spheres + 1, BufferUsages::COPY_SRC)?;
        let indices = self.buffer("indices of contacts", 2 * pairs, BufferUsages::COPY_SRC)?;
        let (sort, by_b) = self.sort(sorter, By::FirstWord, None);
        let dispatch = |kernel, by_b, count| {
            let bound = [
                &self.buffers.results,
                &sorted.list,
                by_b,
                &starts,
                &offsets,
                &indices,
            ];
            self.binder.whole(kernel, &bound, workgroups(count))
        };
        let mut dispatches = vec![dispatch(
            &self.kernels.contacts_copy,
            &sorter.items[0],
            pairs,
        )];
        dispatches.extend(sort);
        dispatches.push(dispatch(&self.kernels.contacts_rows, &by_b, spheres + 1));
        dispatches.push(dispatch(&self.kernels.contacts_fill, &by_b, pairs));
        stages.push(Stage::new("contacts", dispatches));
        Ok(Contacts { offsets, indices })
    }

    fn changes(&mut self, sorted: &Sorted, stages: &mut Vec<Stage>) -> Result<Changes, Error> {
        let pairs = self.pairs();
        let both = BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let list = self.buffer("changes", 4 * pairs, BufferUsages::COPY_SRC)?;
        let table = self.table("flags of changes", 2 * pairs + 1)?;
        let volatile = self.made.len();
        let kept = self.buffer("pairs of the last step", 2 * pairs, both)?;
        // Zero at first, as all new buffers are.
        let kept_count = self.buffer("count of pairs of the last step", 1, both)?;
        self.made.truncate(volatile);
        let bound = [
            &self.buffers.results,
            &sorted.list,
            &kept,
            &kept_count,
            &table[0],
            &list,
        ];
        let over = workgroups(2 * pairs + 1);
        let dispatch = |kernel, over| self.binder.whole(kernel, &bound, over);
        let mut dispatches = vec![dispatch(&self.kernels.changes_flag, over)];
        dispatches.extend(self.binder.scan(self.scan, &table));
        dispatches.push(dispatch(&self.kernels.changes_write, over));
        dispatches.push(dispatch(&self.kernels.changes_keep, workgroups(pairs)));
        stages.push(Stage::new("changes", dispatches));
        Ok(Changes {
            list,
            kept,
            kept_count,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::buffers::{Capacity, CaromResults};
    use super::super::collision_buffers::CollisionBuffers;
    use super::super::detector_backend::{Gpu, encoder};
    use super::super::options::BufferOptions;
    use super::super::readback;
    use super::super::status::{TOO_MANY_SEGMENTS, TRUNCATED};
    use super::super::summary::RequiredCapacity;
    use super::super::sweep_on_gpu::adapter;
    use super::*;
    use crate::exact::GRAZING;
    use crate::reduce;
    use crate::shared::sets::Sets;
    use crate::step::UncheckedStep;
    use crate::{Collision, Sphere};

    /// A device, buffers full of noise, and what a step should say is new.
    struct Rig {
        gpu: Gpu,
        buffers: CollisionBuffers,
        previous: Vec<Collision>,
    }

    /// What a step left, as words.
    #[derive(Default)]
    struct Left {
        raw: Vec<u32>,
        earliest: Vec<u32>,
        sorted: Vec<u32>,
        dispatch: Vec<u32>,
        offsets: Vec<u32>,
        indices: Vec<u32>,
        changes: Vec<u32>,
    }

    fn capacity(spheres: usize, segments: usize, pairs: usize) -> Capacity {
        let [spheres, segments, pairs] = [spheres, segments, pairs].map(|count| count as u64);
        Capacity {
            spheres,
            segments,
            pairs,
        }
    }

    impl Rig {
        fn new(capacity: Capacity) -> Self {
            Self::with(adapter(), capacity)
        }

        /// Dispatches may be no wider than `widest`.
        fn folded(capacity: Capacity, widest: u32) -> Self {
            let mut gpu = adapter();
            gpu.limits().max_compute_workgroups_per_dimension = widest;
            Self::with(gpu, capacity)
        }

        fn with(mut gpu: Gpu, capacity: Capacity) -> Self {
            gpu.noise = Some(7);
            let options = BufferOptions {
                earliest: true,
                sorted: true,
                contacts: true,
                changes: true,
                ..BufferOptions::new(capacity.spheres as u32)
            };
            let buffers = (gpu.pipeline.with_capacity(&options, capacity))
                .unwrap_or_else(|error| panic!("{error}"));
            gpu.fill_with_noise(&buffers.buffers);
            let mut rng = fastrand::Rng::with_seed(8);
            for buffer in &buffers.reductions.volatile {
                let noise: Vec<u32> = (0..buffer.size() / 4).map(|_| rng.u32(..)).collect();
                gpu.queue
                    .write_buffer(buffer, 0, bytemuck::cast_slice(&noise));
            }
            Self {
                gpu,
                buffers,
                previous: Vec::new(),
            }
        }

        fn parts(&self) -> Result<[&wgpu::Buffer; 8], Error> {
            let buffers = &self.buffers;
            Ok([
                buffers.results(),
                buffers.pairs(),
                buffers.earliest()?,
                buffers.sorted()?,
                buffers.sorted_dispatch()?,
                buffers.contact_offsets()?,
                buffers.contact_indices()?,
                buffers.changes()?,
            ])
        }

        /// One step, and what it left.
        fn step(&mut self, spheres: &[Sphere], split: usize) -> (CaromResults, Left) {
            self.try_step(spheres, split)
                .unwrap_or_else(|error| panic!("{error}"))
        }

        fn try_step(
            &mut self,
            spheres: &[Sphere],
            split: usize,
        ) -> Result<(CaromResults, Left), Error> {
            let step = UncheckedStep {
                spheres,
                sets: sets(split),
                dt: 1.0,
            };
            let mut recorded = encoder(&self.gpu.device);
            self.buffers.record_checked(&mut recorded, step.check()?)?;
            self.gpu.queue.submit([recorded.finish()]);
            let mut results = Vec::new();
            let mut left = Left::default();
            let into = [
                &mut results,
                &mut left.raw,
                &mut left.earliest,
                &mut left.sorted,
                &mut left.dispatch,
                &mut left.offsets,
                &mut left.indices,
                &mut left.changes,
            ];
            let Gpu { device, queue, .. } = &self.gpu;
            for (part, words) in self.parts()?.into_iter().zip(into) {
                let part = [(part, 0, part.size())];
                readback::read(device, queue, encoder(device), &part, words)?;
            }
            let results: &[u8] = bytemuck::cast_slice(&results);
            Ok((bytemuck::pod_read_unaligned(results), left))
        }

        /// One step: what it left is what the CPU makes of its list.
        fn check(&mut self, spheres: &[Sphere], split: usize) -> CaromResults {
            let sets = sets(split);
            let (results, left) = self.step(spheres, split);
            let mut raw: Vec<[u32; 4]> = left
                .raw
                .chunks_exact(4)
                .map(|words| [words[0], words[1], words[2], words[3]])
                .take(results.pairs as usize)
                .collect();
            assert_eq!(
                (results.spheres as usize, results.split as usize),
                (spheres.len(), split)
            );
            let any_order = collisions(&raw);
            reduce::sort::sort(&mut raw, |pair| [pair[0], pair[1] & !GRAZING]);
            let pairs = collisions(&raw);
            // Repeats are the same in all their bits.
            let mut found: Vec<[u32; 4]> = any_order.iter().map(bits).collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found, pairs.iter().map(bits).collect::<Vec<_>>());

            assert_eq!(results.sorted as usize, raw.len());
            assert!(
                left.sorted[..4 * raw.len()] == *raw.as_flattened(),
                "sorted"
            );
            let [x, y, z] = left.dispatch[..] else {
                panic!("not three words");
            };
            assert_eq!((x, z), (results.sorted_columns, 1));
            let enough = workgroups(raw.len() as u64);
            assert!((enough..=enough + u64::from(y)).contains(&(u64::from(x) * u64::from(y))));

            let capacity = left.offsets.len() - 1;
            let mut earliest: Vec<u32> =
                reduce::earliest::earliest(&any_order, spheres.len(), sets)
                    .into_iter()
                    .flat_map(|first| match first {
                        Some(first) => [first.toi.to_bits(), first.partner],
                        None => [f32::MAX.to_bits(), u32::MAX],
                    })
                    .collect();
            let none = [f32::MAX.to_bits(), u32::MAX];
            earliest.extend(none.repeat(capacity.max(1) - spheres.len()));
            assert!(left.earliest == earliest, "earliest");

            let contacts = reduce::contacts::contacts(&pairs, spheres.len(), sets);
            let mut offsets: Vec<u32> = contacts.offsets.iter().map(|&at| at as u32).collect();
            offsets.resize(capacity + 1, 2 * pairs.len() as u32);
            assert!(left.offsets == offsets, "offsets");
            assert!(
                left.indices[..2 * pairs.len()] == contacts.indices,
                "indices"
            );

            let counts = [results.began, results.lasted, results.ended];
            if results.status & (TRUNCATED | TOO_MANY_SEGMENTS) != 0 {
                assert_eq!(counts, [0; 3]);
            } else {
                let changes = reduce::changes::changes(&self.previous, &pairs);
                let all = [changes.began, changes.lasted, changes.ended];
                assert_eq!(counts, [0, 1, 2].map(|k| all[k].len() as u32));
                let all = all.concat();
                assert!(
                    left.changes[..2 * all.len()] == *all.as_flattened(),
                    "changes"
                );
                self.previous = pairs;
            }
            results
        }
    }

    /// Two sets when a second one begins at `split`, which is not 0.
    fn sets(split: usize) -> Sets {
        match split {
            0 => Sets::One,
            first => Sets::Two { first },
        }
    }

    fn bits(pair: &Collision) -> [u32; 4] {
        [pair.a, pair.b, pair.toi.to_bits(), pair.depth.to_bits()]
    }

    fn collisions(pairs: &[[u32; 4]]) -> Vec<Collision> {
        let collision = |&[a, b, toi, depth]: &[u32; 4]| Collision {
            a,
            b: b & !GRAZING,
            toi: f32::from_bits(toi),
            depth: f32::from_bits(depth),
        };
        pairs.iter().map(collision).collect()
    }

    /// A gas with some bullets in it, `time` after its start.
    fn gas(count: usize, time: f32) -> Vec<Sphere> {
        let mut rng = fastrand::Rng::with_seed(3);
        let side = (count as f32 * 6.0).cbrt();
        let mut draw = |scale: f32| [0; 3].map(|_| (rng.f32() - 0.5) * scale);
        (0..count)
            .map(|i| {
                let (at, velocity) = (draw(side), draw(if i % 50 == 0 { side } else { 0.5 }));
                let at = [0, 1, 2].map(|k| at[k] + time * velocity[k]);
                Sphere::new(at, 0.5).with_velocity(velocity)
            })
            .collect()
    }

    #[test]
    fn steps_of_a_gas() {
        let mut rig = Rig::new(capacity(5000, 60_000, 9000));
        let steps = [
            (5000, 0.0),
            (5000, 0.25),
            (5000, 0.25),
            (0, 0.0),
            (5000, 0.5),
            (800, 0.0),
            (2, 0.0),
            (1, 0.0),
            (4000, 3.0),
        ];
        let mut counts = Vec::new();
        for (count, time) in steps {
            let results = rig.check(&gas(count, time), 0);
            assert_eq!(results.status, 0, "{count} spheres");
            counts.push([results.began, results.lasted, results.ended]);
        }
        assert!(counts[0][0] > 1000 && counts[0][1..] == [0, 0]);
        assert!(counts[1].iter().all(|&count| count > 100));
        assert!(counts[2][0] == 0 && counts[2][1] > 1000 && counts[2][2] == 0);
        assert!(counts[3][..2] == [0, 0] && counts[3][2] > 1000);
    }

    #[test]
    fn nothing_leans_on_how_wide_dispatches_are() {
        for widest in [3, 13, 30] {
            let mut rig = Rig::folded(capacity(3000, 40_000, 5000), widest);
            for time in [0.0, 0.25] {
                assert_eq!(rig.check(&gas(3000, time), 0).status, 0);
            }
        }
    }

    #[test]
    fn two_sets() {
        let mut rig = Rig::new(capacity(3000, 60_000, 5000));
        for (split, time) in [(1, 0.0), (100, 0.25), (100, 0.5), (2900, 0.5), (2999, 0.0)] {
            let results = rig.check(&gas(3000, time), split);
            assert!(results.status == 0 && results.sorted > 0);
        }
    }

    #[test]
    fn one_crowded_point() {
        let mut rig = Rig::new(capacity(400, 10, 79_800));
        for count in [400, 300, 400] {
            let results = rig.check(&vec![Sphere::new([1.0; 3], 0.5); count], 0);
            assert_eq!(results.sorted as usize, count * (count - 1) / 2);
        }
        assert_eq!(
            rig.check(&vec![Sphere::new([1.0; 3], 0.5); 400], 200)
                .sorted,
            40_000
        );
    }

    /// Each has up to six neighbours that it touches at the same time, and just so.
    #[test]
    fn ties_in_a_lattice() {
        let lattice: Vec<Sphere> = (0..4096)
            .map(|i: u32| {
                let at = [i % 16, i / 16 % 16, i / 256].map(|k| k as f32);
                // Odd ones move at the even ones.
                let speed = if at.iter().sum::<f32>() % 2.0 == 1.0 {
                    0.5
                } else {
                    0.0
                };
                Sphere::new(at, 0.375).with_velocity([speed, 0.0, 0.0])
            })
            .collect();
        let mut rig = Rig::new(capacity(4096, 4096, 40_000));
        assert!(rig.check(&lattice, 0).sorted > 1000);
        let touching: Vec<Sphere> = lattice
            .iter()
            .map(|sphere| Sphere::new(sphere.center, 0.5).with_velocity([40.0, 0.0, 0.0]))
            .collect();
        let results = rig.check(&touching, 0);
        assert_eq!(results.status, 0);
        assert!(results.sorted >= 11_520);
    }

    /// Bullets that meet half way, where one segment ends and the next begins, so
    /// that several report them.
    #[test]
    fn pairs_that_stand_in_the_list_several_times() {
        let mut spheres = gas(10_000, 0.0);
        for i in 0..20 {
            let [y, z] = [i % 5, i / 5].map(|k| 4.0 * k as f32 - 8.0);
            for side in [-1.0, 1.0] {
                let bullet = Sphere::new([side * 32.0, y, z], 0.2);
                spheres.push(bullet.with_velocity([side * -64.0, 0.0, 0.0]));
            }
        }
        let mut rng = fastrand::Rng::with_seed(6);
        let mut rig = Rig::new(capacity(10_040, 100_000, 40_000));
        let mut repeats = 0;
        for split in [0, 5000, 0, 5000] {
            rng.shuffle(&mut spheres);
            let results = rig.check(&spheres, split);
            assert_eq!(results.status, 0);
            repeats += results.pairs - results.sorted;
        }
        assert!(repeats >= 10, "{repeats}");
    }

    #[test]
    fn a_list_too_short_and_segments_too_few_change_nothing() {
        let mut rig = Rig::new(capacity(3000, 10_000, 2500));
        assert_eq!(rig.check(&gas(3000, 0.0), 0).status, 0);
        let mut dense = gas(3000, 0.25);
        dense.iter_mut().for_each(|sphere| sphere.radius = 1.0);
        let truncated = rig.check(&dense, 0);
        assert_eq!((truncated.status, truncated.pairs), (TRUNCATED, 2500));
        assert!(truncated.sorted > 0);
        let fast: Vec<Sphere> = gas(3000, 0.0)
            .into_iter()
            .map(|sphere| sphere.with_velocity(sphere.center.map(|x| 100.0 * x)))
            .collect();
        let refused = rig.check(&fast, 0);
        assert_eq!(refused.status & TOO_MANY_SEGMENTS, TOO_MANY_SEGMENTS);
        let results = rig.check(&gas(3000, 0.25), 0);
        assert_eq!(results.status, 0);
        assert!(results.began > 0 && results.lasted > 0 && results.ended > 0);
    }

    #[test]
    fn room_for_nothing() {
        let mut rig = Rig::new(capacity(2, 0, 0));
        assert_eq!(rig.check(&[], 0).status, 0);
        let truncated = rig.check(&[Sphere::new([0.0; 3], 1.0); 2], 0);
        assert_eq!((truncated.status, truncated.sorted), (TRUNCATED, 0));
        assert_eq!(rig.check(&[Sphere::new([0.0; 3], 1.0)], 0).status, 0);
    }

    #[test]
    fn larger_buffers_go_on_from_smaller_ones() {
        let mut small = Rig::new(capacity(1000, 20_000, 2000));
        let before = small.check(&gas(1000, 0.0), 0);
        let mut large = small;
        let needed = RequiredCapacity {
            spheres: 2000,
            segments: 40_000,
            pairs: 4000,
            segment: 0.0,
        };
        // Twice, with no step in between.
        for needed in [
            RequiredCapacity {
                pairs: 2001,
                ..needed
            },
            needed,
        ] {
            (large.buffers.grow(&needed)).unwrap_or_else(|error| panic!("{error}"));
        }
        let results = large.check(&gas(1000, 0.0), 0);
        assert_eq!((results.began, results.lasted), (0, before.sorted));
    }

    /// A row of a hundred thousand is no slower than so many rows.
    #[test]
    fn a_giant_among_many() {
        let count = 100_000;
        let mut rng = fastrand::Rng::with_seed(5);
        let mut spheres: Vec<Sphere> = (0..count)
            .map(|_| Sphere::new([0; 3].map(|_| rng.f32() * 100.0), 0.05))
            .collect();
        spheres[count / 2] = Sphere::new([50.0; 3], 100.0);
        let mut rig = Rig::new(capacity(count, 10, 2 * count));
        for _ in 0..2 {
            let results = rig.check(&spheres, 0);
            assert!(results.status == 0 && results.sorted as usize >= count - 1);
        }
    }
}

//! Tests that the reductions on the GPU equal the reductions on the CPU.

use super::super::buffers::BufferCapacity;
use super::super::collision_buffers::CollisionBuffers;
use super::super::options::BufferOptions;
use super::all::Wanted;
use crate::exact::GRAZING;
use crate::gpu::detector_backend::{Gpu, encoder};
use crate::gpu::device::context::Late;
use crate::gpu::device::dispatch::workgroups;
use crate::gpu::device::shader::layout::CaromResults;
use crate::gpu::filter_on_gpu::adapter;
use crate::gpu::results::capacity::{Capacity, MeshCapacity};
use crate::gpu::results::pair_list::unpacked_image;
use crate::gpu::results::read_now;
use crate::gpu::results::status::Status;
use crate::reduce;
use crate::shared::sets::Sets;
use crate::step::UncheckedStep;
use crate::{Collision, Domain, Error, Hits, Partner, Sphere};

/// A GPU device for a test, with buffers that start full of random bits. `previous` has the pairs
/// of the last complete step, for computing the expected changes.
struct Rig {
    gpu: Gpu,
    buffers: CollisionBuffers,
    previous: (Vec<Collision>, Vec<[i32; 3]>),
    domain: Domain,
}

#[derive(Default)]
struct Left {
    images: Images,
    raw: Vec<u32>,
    earliest: Vec<u32>,
    sorted: Vec<u32>,
    dispatch: Vec<u32>,
    offsets: Vec<u32>,
    indices: Vec<u32>,
    changes: Vec<u32>,
}

/// For each entry of the lists `raw`, `earliest`, `sorted` and `changes` of [`Left`]: the image of
/// the second sphere. All lists are empty in open space.
#[derive(Default)]
struct Images {
    raw: Vec<u32>,
    earliest: Vec<u32>,
    sorted: Vec<u32>,
    changes: Vec<u32>,
}

fn capacity(spheres: usize, segments: usize, pairs: usize) -> BufferCapacity {
    let [spheres, segments, pairs] = [spheres, segments, pairs].map(|count| count as u64);
    BufferCapacity {
        spheres,
        segments,
        pairs,
        walls: 0,
        triangles: 0,
        mesh_segments: 0,
        mesh_pairs: 0,
        wall_collisions: 0,
    }
}

impl Rig {
    fn new(capacity: BufferCapacity) -> Self {
        Self::with(adapter(), capacity, Domain::open())
    }

    fn periodic(capacity: BufferCapacity, domain: Domain) -> Self {
        Self::with(adapter(), capacity, domain)
    }

    /// Makes a test device on which a dispatch has at most `widest` workgroups along each axis.
    fn folded(capacity: BufferCapacity, widest: u32) -> Self {
        let mut gpu = adapter();
        gpu.limits().max_compute_workgroups_per_dimension = widest;
        Self::with(gpu, capacity, Domain::open())
    }

    fn with(mut gpu: Gpu, capacity: BufferCapacity, domain: Domain) -> Self {
        gpu.noise = Some(7);
        // The pattern has no `..`, so a new field of the struct is a compile error here until it is
        // tested.
        let Wanted {
            earliest,
            sorted,
            contacts,
            changes,
        } = Wanted::ALL;
        let options = BufferOptions {
            earliest,
            sorted,
            contacts,
            changes,
            periodic: !domain.is_open(),
            ..BufferOptions::new(capacity.spheres as u32)
        };
        let buffers = (gpu
            .pipeline
            .with_capacity(&options, capacity, &Late::default()))
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
            previous: <(Vec<_>, Vec<_>)>::default(),
            domain,
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
            enclosing: false,
            spheres,
            sets: sets(split),
            dt: 1.0,
            domain: self.domain,
        };
        let mut recorded = encoder(&self.gpu.device);
        self.buffers.record_unchecked(&mut recorded, step)?;
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
            read_now::read(device, queue, encoder(device), &part, words)?;
        }
        if !self.domain.is_open() {
            let Images {
                raw,
                earliest,
                sorted,
                changes,
            } = &mut left.images;
            let b = &self.buffers;
            for (part, words) in [
                (b.pair_images()?, raw),
                (b.earliest_images()?, earliest),
                (b.sorted_images()?, sorted),
                (b.change_images()?, changes),
            ] {
                let part = [(part, 0, part.size())];
                read_now::read(device, queue, encoder(device), &part, words)?;
            }
        }
        let results: &[u8] = bytemuck::cast_slice(&results);
        Ok((bytemuck::pod_read_unaligned(results), left))
    }

    fn check(&mut self, spheres: &[Sphere], split: usize) -> CaromResults {
        let sets = sets(split);
        let (results, left) = self.step(spheres, split);
        let raw: Vec<[u32; 4]> = left
            .raw
            .chunks_exact(4)
            .map(|words| [words[0], words[1], words[2], words[3]])
            .take(results.pairs as usize)
            .collect();
        assert_eq!(
            (results.spheres as usize, results.b_offset as usize),
            (spheres.len(), split)
        );
        let periodic = !self.domain.is_open();
        let any_order = collisions(&raw);
        let images_of = |words: &[u32], count: usize| -> Vec<[i32; 3]> {
            let words = words.iter().take(count).map(|&word| unpacked_image(word));
            words.collect()
        };
        let any_images = images_of(&left.images.raw, raw.len());
        let image = |k: usize| any_images.get(k).copied().unwrap_or_default();
        let with_images = raw.iter().enumerate().map(|(k, pair)| (*pair, image(k)));
        let mut raw: Vec<([u32; 4], [i32; 3])> = with_images.collect();
        // If the GPU lists a pair several times, all of its entries have the same bits.
        let mut found = raw.clone();
        found.iter_mut().for_each(|(pair, _)| pair[1] &= !GRAZING);
        found.sort_unstable();
        found.dedup();
        let key = |(pair, image): &([u32; 4], [i32; 3])| ([pair[0], pair[1] & !GRAZING], *image);
        reduce::sort::sort(&mut raw, key);
        let (raw, images): (Vec<[u32; 4]>, Vec<[i32; 3]>) = raw.into_iter().unzip();
        let images = if periodic { images } else { Vec::new() };
        let pairs = collisions(&raw);
        let with_images = pairs.iter().map(bits).enumerate();
        let with_images = with_images.map(|(k, pair)| (pair, images.get(k).copied()));
        let mut listed: Vec<_> = with_images
            .map(|(pair, image)| (pair, image.unwrap_or_default()))
            .collect();
        listed.sort_unstable();
        assert_eq!(found, listed);
        assert_eq!(images_of(&left.images.sorted, images.len()), images);

        assert_eq!(results.sorted as usize, raw.len());
        assert!(
            left.sorted[..4 * raw.len()] == *raw.as_flattened(),
            "sorted"
        );
        let [x, y, z] = left.dispatch[..] else {
            panic!("expected three words");
        };
        assert_eq!((x, z), (results.sorted_columns, 1));
        let enough = workgroups(raw.len() as u64);
        assert!((enough..=enough + u64::from(y)).contains(&(u64::from(x) * u64::from(y))));

        let capacity = left.offsets.len() - 1;
        let first = reduce::earliest::earliest::<f32>(&any_order, &any_images, spheres.len(), sets)
            .expect("it fits in memory");
        for (first, &word) in first.iter().zip(&left.images.earliest) {
            let none = word == u32::MAX;
            let image = (!none).then(|| unpacked_image(word));
            assert_eq!(image, first.map(|first| first.image));
        }
        let mut earliest: Vec<u32> = first
            .into_iter()
            .flat_map(
                |first| match first.map(|first| (first.toi, first.partner)) {
                    Some((toi, Partner::Sphere(partner))) => [toi.to_bits(), partner],
                    Some((_, Partner::Wall(wall))) => panic!("there is no wall {wall}"),
                    None => [f32::MAX.to_bits(), u32::MAX],
                },
            )
            .collect();
        let none = [f32::MAX.to_bits(), u32::MAX];
        earliest.extend(none.repeat(capacity.max(1) - spheres.len()));
        assert!(left.earliest == earliest, "earliest");

        let contacts = reduce::contacts::contacts::<f32>(&pairs, spheres.len(), sets)
            .expect("it fits in memory");
        let mut offsets: Vec<u32> = contacts.offsets.iter().map(|&at| at as u32).collect();
        offsets.resize(capacity + 1, 2 * pairs.len() as u32);
        assert!(left.offsets == offsets, "offsets");
        assert!(
            left.indices[..2 * pairs.len()] == contacts.indices,
            "indices"
        );

        let counts = [results.began, results.lasted, results.ended];
        let status = Status::from_bits_retain(results.status);
        if status.intersects(Status::TRUNCATED | Status::TOO_MANY_SEGMENTS) {
            assert_eq!(counts, [0; 3]);
        } else {
            let (before, before_images) = &self.previous;
            let changes =
                reduce::changes::changes::<f32, _>((before, before_images), (&pairs, &images))
                    .expect("it fits in memory");
            let all = changes.map(Hits::into_parts);
            let changed = all.each_ref().map(|(_, images)| images.as_slice()).concat();
            assert_eq!(images_of(&left.images.changes, changed.len()), changed);
            let all = all.map(|(pairs, _)| pairs);
            assert_eq!(counts, [0, 1, 2].map(|k| all[k].len() as u32));
            let all = all.concat();
            assert!(
                left.changes[..2 * all.len()] == *all.as_flattened(),
                "changes"
            );
            self.previous = (pairs, images);
        }
        results
    }
}

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
fn reductions_of_successive_steps_of_a_gas_match_the_cpu() {
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
fn reductions_in_periodic_domains_match_the_cpu() {
    let side = 30.0;
    let skewed = [[side, 0.0, 0.0], [9.0, side, 0.0], [0.0, -7.0, side]];
    for (domain, count) in [
        (Domain::rectangular([0.0; 3], [side; 3]), 4000),
        (Domain::triclinic([1.0; 3], skewed), 4000),
        (Domain::rectangular([0.0; 3], [1.5; 3]), 9),
    ] {
        let mut rig = Rig::periodic(capacity(4000, 60_000, 30_000), domain);
        let mut counts = [0; 3];
        for (split, time) in [(0, 0.0), (0, 0.25), (5, 0.25), (5, 0.5)] {
            let results = rig.check(&gas(count, time), split);
            assert_eq!(results.status, 0);
            counts = [results.began, results.lasted, results.ended];
        }
        assert!(counts.iter().sum::<u32>() > 0);
        assert!(rig.previous.1.iter().any(|image| *image != [0; 3]));
    }
}

#[test]
fn results_do_not_depend_on_how_dispatches_are_folded() {
    for widest in [3, 13, 30] {
        let mut rig = Rig::folded(capacity(3000, 40_000, 5000), widest);
        for time in [0.0, 0.25] {
            assert_eq!(rig.check(&gas(3000, time), 0).status, 0);
        }
    }
}

#[test]
fn reductions_of_two_sets_match_the_cpu() {
    let mut rig = Rig::new(capacity(3000, 60_000, 5000));
    for (split, time) in [(1, 0.0), (100, 0.25), (100, 0.5), (2900, 0.5), (2999, 0.0)] {
        let results = rig.check(&gas(3000, time), split);
        assert!(results.status == 0 && results.sorted > 0);
    }
}

#[test]
fn reductions_of_coincident_spheres_match_the_cpu() {
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

#[test]
fn ties_in_a_lattice_are_resolved_as_on_the_cpu() {
    let lattice: Vec<Sphere> = (0..4096)
        .map(|i: u32| {
            let at = [i % 16, i / 16 % 16, i / 256].map(|k| k as f32);
            // Each sphere at an odd lattice point moves towards a neighbour at an even lattice
            // point.
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

/// Pairs of fast spheres meet half-way through the step, where one time segment of their paths ends
/// and the next begins. So several segments report the same pair.
#[test]
fn a_pair_that_is_reported_several_times_is_sorted_once() {
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
fn incomplete_steps_report_no_changes_and_keep_the_last_list() {
    let mut rig = Rig::new(capacity(3000, 10_000, 2500));
    assert_eq!(rig.check(&gas(3000, 0.0), 0).status, 0);
    let mut dense = gas(3000, 0.25);
    dense.iter_mut().for_each(|sphere| sphere.radius = 1.0);
    let truncated = rig.check(&dense, 0);
    assert_eq!(
        (truncated.status, truncated.pairs),
        (Status::TRUNCATED.bits(), 2500)
    );
    assert!(truncated.sorted > 0);
    let fast: Vec<Sphere> = gas(3000, 0.0)
        .into_iter()
        .map(|sphere| sphere.with_velocity(sphere.center.map(|x| 100.0 * x)))
        .collect();
    let refused = rig.check(&fast, 0);
    assert!(Status::from_bits_retain(refused.status).contains(Status::TOO_MANY_SEGMENTS));
    let results = rig.check(&gas(3000, 0.25), 0);
    assert_eq!(results.status, 0);
    assert!(results.began > 0 && results.lasted > 0 && results.ended > 0);
}

#[test]
fn buffers_with_no_capacity_for_pairs_give_empty_reductions() {
    let mut rig = Rig::new(capacity(2, 0, 0));
    assert_eq!(rig.check(&[], 0).status, 0);
    let truncated = rig.check(&[Sphere::new([0.0; 3], 1.0); 2], 0);
    assert_eq!(
        (truncated.status, truncated.sorted),
        (Status::TRUNCATED.bits(), 0)
    );
    assert_eq!(rig.check(&[Sphere::new([0.0; 3], 1.0)], 0).status, 0);
}

#[test]
fn changes_continue_when_the_buffers_grow() {
    let mut small = Rig::new(capacity(1000, 20_000, 2000));
    let before = small.check(&gas(1000, 0.0), 0);
    let mut large = small;
    let needed = Capacity {
        wall_collisions: 0,
        mesh: MeshCapacity::default(),
        images: 0,
        spheres: 2000,
        segments: 40_000,
        pairs: 4000,
        segment: 0.0,
    };
    for needed in [
        Capacity {
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

/// Half of the pairs are in the row of the giant, and the others have the giant as b.
fn check_giant(count: usize) {
    let mut rng = fastrand::Rng::with_seed(5);
    let side = 2.0 * (count as f32).cbrt();
    let mut spheres: Vec<Sphere> = (0..count)
        .map(|_| Sphere::new([0; 3].map(|_| rng.f32() * side), 0.05))
        .collect();
    spheres[count / 2] = Sphere::new([side / 2.0; 3], side);
    let mut rig = Rig::new(capacity(count, 10, 2 * count));
    for _ in 0..2 {
        let results = rig.check(&spheres, 0);
        assert!(results.status == 0 && results.sorted as usize >= count - 1);
    }
}

/// Rows with a few pairs more or less than one run, one merged run, and two runs of these.
#[test]
fn a_sphere_that_touches_all_others_is_reduced_as_on_the_cpu() {
    for count in [66, 250, 2 * 514, 20_000] {
        check_giant(count);
    }
}

#[test]
#[ignore = "takes seconds"]
fn a_sphere_that_touches_a_million_is_reduced_as_on_the_cpu() {
    check_giant(1_200_000);
}

#[test]
fn a_sphere_that_touches_many_images_is_reduced_as_on_the_cpu() {
    let mut spheres = gas(400, 0.0);
    spheres[150] = Sphere::new([0.0; 3], 25.0);
    let domain = Domain::rectangular([0.0; 3], [20.0; 3]);
    let mut rig = Rig::periodic(capacity(400, 40_000, 20_000), domain);
    for split in [0, 100, 200] {
        let results = rig.check(&spheres, split);
        assert_eq!(results.status, 0);
        assert!(results.sorted > 700, "{}", results.sorted);
    }
}

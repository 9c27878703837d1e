//! Tests neighbour lists in GPU buffers against those of the CPU, and the decision of the GPU to keep a list.

#![allow(
    clippy::cast_possible_truncation,
    reason = "random numbers are rounded to float32"
)]

mod device;

use carom::gpu::{
    BufferOptions, CollisionBuffers, DeviceSpheres, RecordableSpheres, Status, StepSummary,
};
use carom::{
    Backend, Detector, Domain, Error, NeighborList, NeighborSearch, Options, Sphere, SphereSet,
    Step,
};
use device::{Device, Interleaved, ready};
use fastrand::Rng;

/// A neighbour list that was read back from the GPU.
#[derive(Debug, PartialEq)]
struct Read {
    /// The entries of the neighbour list. The numbers of an entry are the indices of the particles i and j, the
    /// packed image of j, and 1 if float32 rounding leaves open whether they are neighbours, otherwise 0.
    entries: Vec<[u32; 4]>,
    vectors: Vec<[f32; 4]>,
    offsets: Vec<u32>,
    kept: bool,
}

fn image(word: u32) -> [i32; 3] {
    [20, 10, 0].map(|shift| (word >> shift & 1023).cast_signed() - 512)
}

struct World {
    device: Device,
    buffers: CollisionBuffers,
}

impl World {
    /// The device has passed its self-test.
    fn new(options: &BufferOptions) -> Self {
        let mut world = Self::untested(options);
        let mut encoder = world.device.encoder();
        let recorded = world.buffers.record(&mut encoder, &Step::new(&[], 1.0));
        recorded.unwrap_or_else(|error| panic!("{error}"));
        world.device.queue.submit([encoder.finish()]);
        world.device.wait();
        world
    }

    fn untested(options: &BufferOptions) -> Self {
        let device = Device::real();
        let pipeline = device.pipeline();
        let buffers = pipeline.create_buffers(options).expect("buffers");
        Self { device, buffers }
    }

    fn record<S: RecordableSpheres>(&mut self, search: &NeighborSearch<'_, S>) -> StepSummary {
        let mut encoder = self.device.encoder();
        let recorded = self.buffers.record_neighbors(&mut encoder, search);
        recorded.unwrap_or_else(|error| panic!("{error}"));
        let ticket = self.buffers.read_summary(&mut encoder).expect("ticket");
        let summary = ready(self.device.finish(encoder, ticket));
        self.device.assert_silent();
        summary
    }

    /// Repeats a search with larger buffers until the neighbour list fits, and reads the list.
    fn search<S: RecordableSpheres>(&mut self, search: &NeighborSearch<'_, S>) -> Read {
        let mut summary = self.record(search);
        for _ in 0..4 {
            let Some(required) = summary.required_capacity() else {
                break;
            };
            self.buffers.grow(&required).expect("larger buffers");
            summary = self.record(search);
        }
        assert!(summary.is_complete(), "{summary:?}");
        let entries = self.read(self.buffers.neighbors()).into_iter();
        let vectors = self.read(self.buffers.neighbor_vectors()).into_iter();
        let offsets = self.read(self.buffers.neighbor_offsets()).concat();
        let count = summary.neighbors as usize;
        Read {
            entries: entries.take(count).collect(),
            vectors: vectors
                .take(count)
                .map(|words| words.map(f32::from_bits))
                .collect(),
            offsets,
            kept: summary.kept,
        }
    }

    fn read(&self, buffer: Result<&wgpu::Buffer, Error>) -> Vec<[u32; 4]> {
        let mut words = self.device.read(buffer.expect("a buffer"));
        words.resize(words.len().next_multiple_of(4), 0);
        words
            .chunks_exact(4)
            .map(|four| [four[0], four[1], four[2], four[3]])
            .collect()
    }
}

fn on_cpu(search: &NeighborSearch<'_>) -> NeighborList {
    let options = Options::new().with_backend(Backend::Cpu);
    let mut detector = Detector::new(options).expect("a detector");
    detector.find_neighbors(search).expect("a list")
}

/// Compares a neighbour list from the GPU with the list of the CPU. The GPU's list may have further pairs, if
/// they are marked as grazing (undecided in float32).
fn assert_same(read: &Read, list: &NeighborList, count: usize) {
    let mut expected = (0..list.pairs().len()).peekable();
    for (entry, vector) in read.entries.iter().zip(&read.vectors) {
        let &[i, j, word, grazing] = entry;
        let is_next = |&index: &usize| {
            let n = list.pairs().image(index);
            (list.pairs()[index], n) == ([i, j], image(word))
        };
        match expected.next_if(is_next) {
            Some(index) => {
                let [x, y, z] = list.vectors()[index];
                let exact = [x, y, z, list.distances()[index]];
                for (found, exact) in vector.iter().zip(exact) {
                    assert!((found - exact).abs() <= 2e-6, "{vector:?} {exact:?}");
                }
            }
            None => assert_eq!(grazing, 1, "{entry:?} is no neighbour"),
        }
    }
    assert_eq!(expected.next(), None, "an entry is missing");
    for (i, offset) in (0..).zip(&read.offsets[..=count]) {
        let before = read.entries.iter().filter(|[own, ..]| *own < i);
        assert_eq!(*offset as usize, before.count());
    }
}

fn domain(rng: &mut Rng) -> Domain {
    let mut number = |low: f32, high: f32| low + (high - low) * rng.f32();
    let origin = [0; 3].map(|_| number(-2.0, 2.0));
    let [x, y, z] = [0; 3].map(|_| number(0.8, 6.0));
    let [xy, xz, yz] = [0; 3].map(|_| number(-2.0, 2.0));
    let domain = Domain::triclinic(origin, [[x, 0.0, 0.0], [xy, y, 0.0], [xz, yz, z]]);
    match rng.u32(0..4) {
        0 => Domain::open(),
        1 => Domain::rectangular(origin, [x, y, z]),
        2 => domain.with_periodic([true, false, true]),
        _ => domain,
    }
}

fn particles(rng: &mut Rng, count: usize) -> Vec<Sphere> {
    let mut particle = || {
        let center = [0; 3].map(|_| 8.0 * rng.f32() - 4.0);
        let groups = if rng.u32(0..8) == 0 { 1 } else { 0 };
        Sphere::new(center, 0.6 * rng.f32()).with_groups(groups, groups)
    };
    (0..count).map(|_| particle()).collect()
}

/// Settings of a search, for particles on the host or on the device.
struct Settings {
    /// Cutoff of the search. `None` means that two particles are neighbours if their spheres touch.
    cutoff: Option<f32>,
    full: bool,
    skin: f32,
    domain: Domain,
}

impl Settings {
    fn random(rng: &mut Rng) -> Self {
        Self {
            cutoff: rng.bool().then(|| 0.2 + rng.f32()),
            full: rng.bool(),
            skin: if rng.bool() { 0.3 } else { 0.0 },
            domain: domain(rng),
        }
    }

    fn set<'a, S: SphereSet<Number = f32>>(
        &self,
        search: NeighborSearch<'a, S>,
    ) -> NeighborSearch<'a, S> {
        let search = search.in_domain(&self.domain).with_skin(self.skin);
        if self.full { search.full() } else { search }
    }

    fn on_host<'a>(&self, spheres: &'a [Sphere]) -> NeighborSearch<'a> {
        self.set(match self.cutoff {
            Some(cutoff) => NeighborSearch::within(spheres, cutoff),
            None => NeighborSearch::touching(spheres),
        })
    }

    fn on_device<'a>(&self, spheres: DeviceSpheres<'a>) -> NeighborSearch<'a, DeviceSpheres<'a>> {
        self.set(match self.cutoff {
            Some(cutoff) => NeighborSearch::within_on_device(spheres, cutoff),
            None => NeighborSearch::touching_on_device(spheres),
        })
    }
}

/// Tests random worlds in open space and in periodic domains, with particles from the host and from GPU
/// buffers. A neighbour search ignores velocities in GPU buffers, so they may even be invalid.
#[test]
fn lists_are_those_of_the_cpu() {
    let mut rng = Rng::with_seed(31);
    let options = BufferOptions::new(60)
        .with_periodic()
        .with_contacts()
        .with_neighbors()
        .with_pairs(10);
    let mut world = World::new(&options);
    let mut entries = 0;
    for _ in 0..60 {
        let settings = Settings::random(&mut rng);
        let count = rng.usize(1..=60);
        let mut spheres = particles(&mut rng, count);
        let search = settings.on_host(&spheres);
        let expected = on_cpu(&search);
        let read = world.search(&search);
        assert_same(&read, &expected, count);
        entries += read.entries.len();

        let again = world.search(&search);
        assert!(again.kept);
        assert_eq!(again.entries, read.entries);

        for sphere in &mut spheres {
            sphere.velocity = [f32::NAN; 3];
        }
        let interleaved = Interleaved::new(&world.device, &spheres);
        let on_device = world.search(&settings.on_device(interleaved.spheres()));
        assert_eq!(on_device.entries, read.entries);
        assert_eq!(on_device.vectors, read.vectors);
        assert_eq!(on_device.offsets, read.offsets);
    }
    assert!(entries > 10_000, "{entries}");
}

/// A half list has each pair of neighbours once, and a full list has it in both directions. Only
/// full lists need buffers with the option `contacts`, and only periodic domains need the option
/// `periodic`.
#[test]
fn half_lists_need_neither_contacts_nor_periodic_buffers() {
    let mut rng = Rng::with_seed(32);
    let spheres = particles(&mut rng, 3000);
    let mut world = World::new(&BufferOptions::new(3000).with_neighbors());
    let search = NeighborSearch::within(&spheres, 0.6);
    assert_same(&world.search(&search), &on_cpu(&search), 3000);
    let mut refused = |search: &NeighborSearch<'_>, missing: &str| {
        let mut encoder = world.device.encoder();
        let recorded = world.buffers.record_neighbors(&mut encoder, search);
        match recorded {
            Err(Error::NotAskedFor { option, .. }) => assert_eq!(option, missing),
            other => panic!("{other:?}"),
        }
    };
    refused(&search.full(), "contacts");
    let periodic = Domain::rectangular([0.0; 3], [9.0; 3]);
    refused(&search.in_domain(&periodic), "periodic");
}

#[test]
fn a_search_that_was_not_asked_for_or_is_invalid_is_an_error() {
    let spheres = [Sphere::new([0.0; 3], 1.0)];
    let mut world = World::new(&BufferOptions::new(2));
    let search = NeighborSearch::touching(&spheres);
    let mut encoder = world.device.encoder();
    let recorded = world.buffers.record_neighbors(&mut encoder, &search);
    assert!(matches!(
        recorded,
        Err(Error::NotAskedFor {
            option: "neighbors",
            ..
        })
    ));
    assert!(world.buffers.neighbors().is_err());
    assert!(world.buffers.neighbor_vectors().is_err());
    assert!(world.buffers.neighbor_offsets().is_err());
    assert!(world.buffers.neighbors_dispatch().is_err());

    let pipeline = world.device.pipeline();
    let with_walls = BufferOptions::new(2).with_neighbors().with_walls(1);
    let refused = pipeline.create_buffers(&with_walls);
    assert!(matches!(
        refused,
        Err(Error::Unsupported { what: "walls", .. })
    ));

    let mut world = World::new(&BufferOptions::new(2).with_neighbors());
    let interleaved = Interleaved::new(&world.device, &spheres);
    let on_device = interleaved.spheres();
    let mut refused = |skin| {
        let mut encoder = world.device.encoder();
        let search = NeighborSearch::touching_on_device(on_device).with_skin(skin);
        let recorded = world.buffers.record_neighbors(&mut encoder, &search);
        matches!(recorded, Err(Error::InvalidCutoff { what: "skin", .. }))
    };
    assert!(refused(-1.0) && refused(f32::NAN) && refused(1e30) && !refused(0.5));
}

/// Tests that the GPU keeps a neighbour list if particles move by at most half the skin and nothing else
/// changes. After any other change, the GPU must make a new list.
#[test]
fn a_list_is_kept_until_something_changes() {
    let mut rng = Rng::with_seed(33);
    let domain = Domain::rectangular([-4.0; 3], [8.0; 3]);
    let options = BufferOptions::new(200)
        .with_pairs(20_000)
        .with_periodic()
        .with_contacts()
        .with_neighbors();
    let mut world = World::new(&options);
    let first = particles(&mut rng, 150);
    let search = |spheres| {
        let spheres: &[Sphere] = spheres;
        let search = NeighborSearch::touching(spheres).in_domain(&domain);
        search.with_skin(0.5)
    };
    let made = world.search(&search(&first));
    assert!(!made.kept && !made.entries.is_empty());

    // All particles move by a little less than half the skin, so the neighbour list is kept. The
    // vectors between neighbours are those of the new positions.
    let mut moved = first.clone();
    for sphere in &mut moved {
        let along = [0; 3].map(|_| rng.f32() - 0.5);
        let length = along.iter().map(|x| x * x).sum::<f32>().sqrt();
        for (x, d) in sphere.center.iter_mut().zip(along) {
            *x += 0.2499 * d / length;
        }
    }
    let kept = world.search(&search(&moved));
    assert!(kept.kept);
    assert_eq!(
        (&kept.entries, &kept.offsets),
        (&made.entries, &made.offsets)
    );
    let mut list = on_cpu(&search(&first));
    assert!(list.update(&search(&moved)));
    assert_same(&kept, &list, 150);
    // Movements are measured from the positions for which the list was made, not from the last search.
    assert!(world.search(&search(&first)).kept);

    let mut changes = |what: &str, search: &NeighborSearch<'_>| {
        assert!(!world.search(search).kept, "{what}");
        assert!(world.search(search).kept, "{what}");
    };
    let mut farther = first.clone();
    farther[77].center[1] += 0.2501;
    changes("a particle has moved too far", &search(&farther));
    let mut larger = farther.clone();
    larger[3].radius += 0.125;
    changes("a radius has changed", &search(&larger));
    let mut grouped = larger.clone();
    grouped[149].groups ^= 2;
    changes("groups have changed", &search(&grouped));
    changes("a particle is missing", &search(&grouped[..149]));
    let spheres = &grouped[..149];
    changes("the list is full", &search(spheres).full());
    changes("the skin has changed", &search(spheres).with_skin(0.25));
    let within = NeighborSearch::within(spheres, 0.75).in_domain(&domain);
    changes("the rule has changed", &within.with_skin(0.25));
    let within = NeighborSearch::within(spheres, 0.5).in_domain(&domain);
    // The cutoff and the skin have changed, but their sum is the same as before.
    changes("the cutoff has changed", &within.with_skin(0.5));
    let longer = Domain::rectangular([-4.0; 3], [8.0, 8.0, 9.0]);
    changes("the domain has changed", &within.in_domain(&longer));
    let channel = longer.with_periodic([true, false, true]);
    changes("an edge is open", &within.in_domain(&channel));
    changes("space is open", &within.in_domain(&Domain::open()));
    changes("the skin is 0", &search(spheres).with_skin(0.0));
    let mut nearly = spheres.to_vec();
    nearly[10].center[0] = nearly[10].center[0].next_up();
    changes(
        "a particle has moved without a skin",
        &search(&nearly).with_skin(0.0),
    );
}

/// Tests that the GPU does not keep a neighbour list that an ordinary step has overwritten, an incomplete list,
/// or a list whose recorded commands were dropped.
#[test]
fn only_a_complete_list_is_kept() {
    let mut rng = Rng::with_seed(34);
    let spheres = particles(&mut rng, 100);
    let options = BufferOptions::new(100).with_pairs(5000).with_neighbors();
    let mut world = World::new(&options);
    let search = NeighborSearch::within(&spheres, 1.5).with_skin(0.5);
    assert!(!world.search(&search).kept);
    assert!(world.search(&search).kept);

    let mut encoder = world.device.encoder();
    let step = Step::new(&spheres, 0.0);
    world.buffers.record(&mut encoder, &step).expect("a step");
    let ticket = world.buffers.read_exact(&mut encoder).expect("a ticket");
    let step = ready(world.device.finish(encoder, ticket));
    assert_eq!((step.summary.neighbors, step.summary.kept), (0, false));
    assert!(!world.search(&search).kept);
    assert!(world.search(&search).kept);

    // Commands in a dropped encoder never run. So the search that is recorded in such an encoder
    // does not replace the neighbour list.
    let farther = search.with_skin(0.75);
    let mut encoder = world.device.encoder();
    let recorded = world.buffers.record_neighbors(&mut encoder, &farther);
    recorded.expect("a search");
    drop(encoder);
    assert!(world.search(&search).kept);
    assert!(!world.search(&farther).kept);

    let mut world = World::new(&options.with_pairs(10));
    for _ in 0..2 {
        let summary = world.record(&search);
        assert_eq!(summary.status, Status::TRUNCATED);
        assert!(!summary.kept);
        let required = summary.required_capacity().expect("too few pairs");
        assert!(required.pairs > 10);
    }
}

/// Tests that a search leaves out particles with invalid values, when it makes a new neighbour list and also
/// when it keeps the list of the previous search.
#[test]
fn invalid_particles_on_the_device_are_set_aside() {
    let mut spheres = [0.0, 1.0, 2.0].map(|x| Sphere::new([x, 0.0, 0.0], 0.6));
    spheres[1].center[2] = f32::NAN;
    let mut world = World::new(&BufferOptions::new(3).with_neighbors());
    let interleaved = Interleaved::new(&world.device, &spheres);
    let on_device = interleaved.spheres();
    let search = NeighborSearch::within_on_device(on_device, 2.0).with_skin(0.1);
    for kept in [false, true] {
        let summary = world.record(&search);
        assert_eq!(summary.status, Status::INVALID_SPHERES);
        assert_eq!(summary.invalid_spheres, [1]);
        assert_eq!((summary.neighbors, summary.kept), (1, kept));
    }
    // A particle's valid radius may become too large when the search adds half the skin.
    spheres[1] = Sphere::new([1.0, 0.0, 0.0], carom::MAX_MAGNITUDE);
    let interleaved = Interleaved::new(&world.device, &spheres);
    let on_device = interleaved.spheres();
    let skin = carom::MAX_MAGNITUDE / 4.0;
    let search = NeighborSearch::touching_on_device(on_device).with_skin(skin);
    let summary = world.record(&search);
    assert_eq!(summary.invalid_spheres, [1]);
    assert_eq!(summary.neighbors, 1);
}

/// Checks that an exact readback returns the pairs that a search on the CPU finds. This holds even if the
/// particles have moved a little and the GPU has kept the neighbour list of the earlier search.
#[test]
fn an_exact_readback_has_the_pairs_for_which_the_list_was_made() {
    let mut rng = Rng::with_seed(35);
    let domain = Domain::rectangular([-4.0; 3], [8.0; 3]);
    let spheres = particles(&mut rng, 300);
    let options = BufferOptions::new(300)
        .with_pairs(20_000)
        .with_periodic()
        .with_neighbors();
    let mut world = World::new(&options);
    let search = |spheres| {
        let search = NeighborSearch::within(spheres, 1.0).in_domain(&domain);
        search.with_skin(0.25)
    };
    let expected = on_cpu(&search(&spheres));
    let mut moved = spheres.clone();
    for sphere in &mut moved {
        sphere.center[0] += 0.1;
    }
    for now in [&spheres, &moved] {
        let mut encoder = world.device.encoder();
        let recorded = world.buffers.record_neighbors(&mut encoder, &search(now));
        recorded.expect("a search");
        let ticket = world.buffers.read_exact(&mut encoder).expect("a ticket");
        let step = ready(world.device.finish(encoder, ticket));
        let pairs = step.collisions.pairs.iter().map(|pair| [pair.a, pair.b]);
        assert!(pairs.eq(expected.pairs().iter().copied()));
        assert_eq!(step.collisions.pairs.images(), expected.pairs().images());
    }
}

#[test]
fn a_list_of_an_untested_device_is_not_kept() {
    let mut world = World::untested(&BufferOptions::new(300).with_pairs(9000).with_neighbors());
    let spheres = particles(&mut Rng::with_seed(39), 300);
    let search = NeighborSearch::within(&spheres, 0.9);
    let lists = [(); 3].map(|()| world.search(&search));
    assert_eq!(lists.each_ref().map(|list| list.kept), [false, false, true]);
    let grazing = |list: &Read| list.entries.iter().filter(|entry| entry[3] == 1).count();
    assert!(lists[0].entries.len() > 100);
    assert_eq!(grazing(&lists[0]), lists[0].entries.len());
    assert_eq!(grazing(&lists[1]), 0);
    let expected = on_cpu(&search);
    lists
        .iter()
        .for_each(|list| assert_same(list, &expected, 300));
}

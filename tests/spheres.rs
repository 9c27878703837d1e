//! Tests that spheres in main memory give the same results bit for bit in every form: records of carom, fields of
//! other records, separate arrays, unaligned bytes, and constants.

#![allow(
    clippy::cast_possible_truncation,
    reason = "counts of some thousands, and float32 on purpose"
)]

mod backends;
mod device;

use backends::{both, detector};
use bytemuck::NoUninit;
use carom::gpu::{BufferOptions, CollisionBuffers, DeviceSpheres};
use carom::{
    Backend, Collision, Collisions, Column, Detector, Domain, Error, Hits, NeighborList,
    NeighborSearch, Options, Sphere, Spheres, Step, Values, Wall, WallCollision, Walls, verify,
    verify_walls,
};
use carom_scenes::Scene;
use device::{Device, Interleaved, exact, ready};

type Result<T = ()> = std::result::Result<T, Error>;

/// A record of an application, with its fields in an order of its own.
#[repr(C)]
#[derive(Clone, Copy, NoUninit)]
struct Particle {
    kind: u8,
    unused: [u8; 3],
    velocity: [f32; 3],
    groups: u32,
    center: [f32; 3],
    charge: f32,
    radius: f32,
}

/// Bytes before the first sphere, and bytes of a sphere. Both are odd, so no value is aligned.
const HEADER: usize = 3;
const STRIDE: usize = 41;

/// The same spheres in several forms.
struct Forms {
    records: Vec<Sphere>,
    particles: Vec<Particle>,
    centers: Vec<[f32; 3]>,
    radii: Box<[f32]>,
    velocities: Vec<[f32; 3]>,
    groups: Vec<u32>,
    bytes: Vec<u8>,
}

impl Forms {
    fn new(records: &[Sphere]) -> Self {
        let bytes = records
            .iter()
            .enumerate()
            .fold(vec![255; HEADER], |mut bytes, (i, s)| {
                bytes.push(255);
                bytes.extend(s.groups.to_ne_bytes());
                bytes.extend(s.center.map(f32::to_ne_bytes).as_flattened());
                bytes.extend(s.radius.to_ne_bytes());
                bytes.extend(s.velocity.map(f32::to_ne_bytes).as_flattened());
                // The bytes end with the last value.
                let end = if i + 1 < records.len() { STRIDE } else { 33 };
                bytes.resize(HEADER + i * STRIDE + end, 255);
                bytes
            });
        Self {
            records: records.to_vec(),
            particles: records
                .iter()
                .map(|sphere| Particle {
                    kind: 7,
                    unused: [0; 3],
                    velocity: sphere.velocity,
                    groups: sphere.groups,
                    center: sphere.center,
                    charge: f32::NAN,
                    radius: sphere.radius,
                })
                .collect(),
            centers: records.iter().map(|sphere| sphere.center).collect(),
            radii: records.iter().map(|sphere| sphere.radius).collect(),
            velocities: records.iter().map(|sphere| sphere.velocity).collect(),
            groups: records.iter().map(|sphere| sphere.groups).collect(),
            bytes,
        }
    }

    fn all(&self) -> Result<[(&'static str, Spheres<'_>); 5]> {
        let (bytes, count) = (&self.bytes[..], self.records.len());
        let vectors = |at| Column::<[f32; 3]>::from_bytes(bytes, count, HEADER + at, STRIDE);
        let fields = Spheres::new(
            Column::of(&self.particles, |particle| &particle.center),
            Column::of(&self.particles, |particle| &particle.radius),
        );
        Ok([
            ("records", Spheres::from(&self.records)),
            (
                "arrays",
                Spheres::new(&self.centers, &self.radii[..])
                    .with_velocity(&self.velocities)
                    .with_groups(&self.groups),
            ),
            (
                "fields",
                fields
                    .with_velocity(Column::of(&self.particles, |particle| &particle.velocity))
                    .with_groups(Column::of(&self.particles, |particle| &particle.groups)),
            ),
            (
                "bytes",
                Spheres::new(
                    vectors(5)?,
                    Column::<f32>::from_bytes(bytes, count, HEADER + 17, STRIDE)?,
                )
                .with_velocity(vectors(21)?)
                .with_groups(Column::<u32>::from_bytes(
                    bytes,
                    count,
                    HEADER + 1,
                    STRIDE,
                )?),
            ),
            (
                "records with other velocities",
                Spheres::from(&self.records).with_velocity(&self.velocities),
            ),
        ])
    }
}

/// Returns a gas of spheres, a few of which are very fast. Every third sphere ignores the others of its kind.
fn gas(count: usize, seed: u64) -> Vec<Sphere> {
    let mut spheres = Scene::Fast.generate(count, seed);
    for sphere in spheres.iter_mut().step_by(3) {
        *sphere = sphere.with_groups(1, 1);
    }
    spheres
}

/// All numbers of a result, so that results are compared bit for bit.
#[derive(Debug, PartialEq)]
struct Lists {
    pairs: Vec<(u32, u32, [u32; 2], [i32; 3])>,
    walls: Vec<(u32, u32, [u32; 2], [i32; 3])>,
}

fn lists(found: &Collisions) -> Lists {
    let bits = |toi: f32, depth: f32| [toi.to_bits(), depth.to_bits()];
    let pair = |(k, c): (usize, &Collision)| (c.a, c.b, bits(c.toi, c.depth), found.pairs.image(k));
    let wall = |(k, c): (usize, &WallCollision)| {
        let image = found.walls.image(k);
        (c.sphere, c.wall, bits(c.toi, c.depth), image)
    };
    Lists {
        pairs: found.pairs.iter().enumerate().map(pair).collect(),
        walls: found.walls.iter().enumerate().map(wall).collect(),
    }
}

fn detected(detector: &mut Detector, step: &Step<'_>) -> Lists {
    match detector.detect(step) {
        Ok(found) => lists(&found),
        Err(error) => panic!("{error}"),
    }
}

/// Returns a domain and walls for the scene of [`gas`].
fn surroundings(spheres: &[Sphere]) -> (Domain, Walls) {
    let coordinates = spheres.iter().flat_map(|sphere| sphere.center);
    let half = coordinates.fold(0.0_f32, |most, x| most.max(x.abs()));
    let domain =
        Domain::rectangular([-half; 3], [2.0 * half; 3]).with_periodic([true, true, false]);
    let walls = [
        Wall::half_space([0.0, 0.0, 1.0], -half),
        Wall::sphere([0.0; 3], half / 4.0),
    ];
    (domain, walls.into_iter().collect())
}

#[test]
fn every_form_has_the_same_collisions() -> Result {
    for (count, seed) in [(1, 1), (300, 2), (20_000, 3)] {
        let forms = Forms::new(&gas(count, seed));
        let (domain, walls) = surroundings(&forms.records);
        let all = forms.all()?;
        let found = both(|detector| {
            all.map(|(name, spheres)| {
                assert_eq!((spheres.len(), spheres.is_empty()), (count, false));
                let step = Step::new(spheres, 0.5);
                assert_eq!(step.spheres().len(), count);
                let open = detected(detector, &step);
                let step = step.in_domain(&domain).with_walls(&walls);
                (name, open, detected(detector, &step))
            })
        });
        let [(_, open, periodic), ..] = &found[0];
        if count > 1 {
            assert!(open.pairs.len() > 10 && periodic.walls.len() > 10);
        }
        for (name, open_too, periodic_too) in found.iter().flatten() {
            assert!(
                open == open_too && periodic == periodic_too,
                "{name}, {count}"
            );
        }
    }
    Ok(())
}

#[test]
fn two_sets_may_have_different_forms() -> Result {
    let sets = [Forms::new(&gas(400, 4)), Forms::new(&gas(700, 5))];
    let (domain, walls) = surroundings(&sets[1].records);
    let step = |first: Spheres<'_>, second: Spheres<'_>, detector: &mut Detector| {
        let step = Step::between(first, second, 0.5).in_domain(&domain);
        assert_eq!(step.second_set().map(|set| set.len()), Some(700));
        detected(detector, &step.with_walls(&walls))
    };
    let [first, second] = [sets[0].all()?, sets[1].all()?];
    let found = both(|detector| {
        let expected = step(first[0].1, second[0].1, detector);
        assert!(expected.pairs.len() > 10 && expected.walls.len() > 10);
        for (one, spheres) in first {
            for (other, others) in second {
                let found = step(spheres, others, detector);
                assert!(found == expected, "{one}, {other}");
            }
        }
        expected
    });
    assert!(found[0] == found[1]);
    Ok(())
}

#[test]
fn constants_are_those_of_every_sphere() {
    let spheres = gas(500, 6);
    let centers: Vec<[f32; 3]> = spheres.iter().map(|sphere| sphere.center).collect();
    let groups = Sphere::default().with_groups(2, 4).groups;
    let still: Vec<Sphere> = centers
        .iter()
        .map(|center| Sphere::new(*center, 0.7))
        .collect();
    let grouped: Vec<Sphere> = still
        .iter()
        .map(|sphere| sphere.with_groups(2, 4))
        .collect();
    let found = both(|detector| {
        let expected = detected(detector, &Step::new(&still, 1.0));
        assert!(expected.pairs.len() > 10);
        let columns = Spheres::new(&centers, 0.7);
        assert!(detected(detector, &Step::new(columns, 1.0)) == expected);
        // The vector into which columns are packed still has the velocities and groups of an earlier step.
        let moving: Vec<Sphere> = (spheres.iter().zip([3.0, -3.0].into_iter().cycle()))
            .map(|(sphere, v)| sphere.with_velocity([v, v, v]).with_groups(1, 1))
            .collect();
        let set = Spheres::from(&moving).with_groups(1 | 1 << 16);
        assert!(detected(detector, &Step::new(set, 1.0)).pairs.is_empty());
        assert!(detected(detector, &Step::new(Spheres::from(&columns), 1.0)) == expected);
        let constants = columns.with_groups(groups);
        let radius = Values::Constant(0.7);
        assert!(detected(detector, &Step::new(constants, 1.0)) == expected);
        let constants = Spheres::new(&centers, radius).with_groups(Values::Constant(groups));
        assert!(
            detected(detector, &Step::between(constants, &grouped, 1.0))
                == detected(detector, &Step::between(&grouped, &grouped, 1.0))
        );
        // All spheres ignore one another.
        let none = columns.with_groups(1 | 1 << 16);
        assert!(detected(detector, &Step::new(none, 1.0)).pairs.is_empty());
        expected
    });
    assert!(found[0] == found[1]);
}

fn buffers(device: &Device, options: &BufferOptions) -> Result<CollisionBuffers> {
    device.pipeline().create_buffers(options)
}

#[test]
fn every_form_can_be_recorded() -> Result {
    let device = Device::real();
    let sets = [Forms::new(&gas(2000, 7)), Forms::new(&gas(700, 8))];
    let (domain, walls) = surroundings(&sets[0].records);
    let options = BufferOptions::new(2700).with_periodic().with_walls(2);
    let mut buffers = buffers(&device, &options)?;
    let mut cpu = detector(Backend::Cpu, Options::default());
    let [first, second] = [sets[0].all()?, sets[1].all()?];
    let one = Step::new(first[0].1, 0.5)
        .in_domain(&domain)
        .with_walls(&walls);
    let two = Step::between(first[0].1, second[0].1, 0.5).in_domain(&domain);
    let expected = [one, two.with_walls(&walls)].map(|step| detected(&mut cpu, &step));
    for (name, spheres) in first {
        let step = Step::new(spheres, 0.5)
            .in_domain(&domain)
            .with_walls(&walls);
        let found = exact(&device, &mut buffers, &step);
        assert!(lists(&found.collisions) == expected[0], "{name}");
        for (other, others) in second {
            let step = Step::between(spheres, others, 0.5).in_domain(&domain);
            let found = exact(&device, &mut buffers, &step.with_walls(&walls));
            assert!(lists(&found.collisions) == expected[1], "{name}, {other}");
        }
    }
    device.assert_silent();
    Ok(())
}

/// An entry of a neighbour list: the two particles, the image, and the bits of the vector and the distance.
type Entry = ([u32; 2], [i32; 3], [u32; 3], u32);

fn entries(list: &NeighborList) -> Vec<Entry> {
    let entry = |k: usize| {
        let vector = list.vectors()[k].map(f32::to_bits);
        let (pair, image) = (list.pairs()[k], list.pairs().image(k));
        (pair, image, vector, list.distances()[k].to_bits())
    };
    (0..list.pairs().len()).map(entry).collect()
}

fn searches<'a>(spheres: Spheres<'a>, domain: &Domain) -> [NeighborSearch<'a>; 2] {
    let searches = [
        NeighborSearch::within(spheres, 1.5),
        NeighborSearch::touching(spheres).full(),
    ];
    searches.map(|search| search.in_domain(domain).with_skin(0.25))
}

#[test]
fn every_form_has_the_same_neighbors() -> Result {
    let forms = Forms::new(&gas(20_000, 9));
    let (domain, _) = surroundings(&forms.records);
    let nearby: Vec<Sphere> = (forms.records.iter())
        .map(|sphere| Sphere {
            center: sphere.center.map(|x| x + 0.03),
            ..*sphere
        })
        .collect();
    let moved = Forms::new(&nearby);
    let found = both(|detector| {
        forms.all().map(|all| {
            all.map(|(name, spheres)| {
                searches(spheres, &domain).map(|search| {
                    let list = detector.find_neighbors(&search);
                    (name, list.unwrap_or_else(|error| panic!("{error}")))
                })
            })
        })
    });
    let [cpu, gpu] = found;
    let (cpu, gpu) = (cpu?, gpu?);
    let expected = cpu[0].each_ref().map(|(_, list)| entries(list));
    assert!(expected.iter().all(|entries| entries.len() > 1000));
    for (name, list) in cpu[1..].iter().chain(&gpu).flatten() {
        let kind = usize::from(entries(list).len() != expected[0].len());
        assert!(entries(list) == expected[kind], "{name}");
    }
    let lists = cpu[0].each_ref().map(|(_, list)| list.clone());
    let mut updated = Vec::new();
    for (name, spheres) in moved.all()? {
        for (mut list, search) in lists.clone().into_iter().zip(searches(spheres, &domain)) {
            assert!(list.is_valid_for(&search) && list.update(&search), "{name}");
            updated.push(entries(&list));
        }
    }
    for both in updated.chunks(2) {
        assert!(both == &updated[..2]);
    }
    // The last sphere moves too far, changes its radius, or changes its groups.
    for change in 0..3 {
        let mut changed = nearby.clone();
        let last = &mut changed[19_999];
        match change {
            0 => last.center[1] += 1.0,
            1 => last.radius *= 2.0,
            _ => last.groups ^= 1,
        }
        let moved = Forms::new(&changed);
        for (name, spheres) in moved.all()? {
            let [_, touching] = searches(spheres, &domain);
            let mut list = lists[1].clone();
            assert!(!list.update(&touching), "{name}");
            assert!(entries(&list) == expected[1], "{name}");
        }
    }
    Ok(())
}

#[test]
fn every_form_can_be_recorded_as_a_neighbor_search() -> Result {
    let device = Device::real();
    let forms = Forms::new(&gas(700, 10));
    let options = BufferOptions::new(700).with_pairs(20_000).with_neighbors();
    let mut buffers = buffers(&device, &options)?;
    let mut expected = None;
    for (name, spheres) in forms.all()? {
        let mut encoder = device.encoder();
        buffers.record_neighbors(&mut encoder, &NeighborSearch::within(spheres, 1.5))?;
        let ticket = buffers.read_exact(&mut encoder)?;
        let step = ready(device.finish(encoder, ticket));
        let found = lists(&step.collisions);
        assert!(found.pairs.len() > 100);
        assert!(
            *expected.get_or_insert(lists(&step.collisions)) == found,
            "{name}"
        );
    }
    device.assert_silent();
    Ok(())
}

#[test]
fn lists_are_verified_in_every_form() -> Result {
    let sets = [Forms::new(&gas(300, 11)), Forms::new(&gas(200, 12))];
    let (_, walls) = surroundings(&sets[0].records);
    let mut cpu = detector(Backend::Cpu, Options::default());
    for (name, spheres) in sets[0].all()? {
        let one = Step::new(spheres, 0.5).with_walls(&walls);
        for second in [None, Some(sets[1].all()?[1].1), Some(sets[1].all()?[0].1)] {
            let step = second.map_or(one, |second| {
                Step::between(spheres, second, 0.5).with_walls(&walls)
            });
            let found = cpu.detect(&step)?;
            assert!(found.pairs.len() > 5 && found.walls.len() > 5);
            assert!(verify(&step, &found.pairs)?.passed(), "{name}");
            assert!(verify_walls(&step, &found.walls)?.passed(), "{name}");
            assert!(
                !verify(&step, &found.pairs[1..].to_vec().into())?.passed(),
                "{name}"
            );
            assert!(
                !verify_walls(&step, &found.walls[1..].to_vec().into())?.passed(),
                "{name}"
            );
        }
    }
    Ok(())
}

/// Everything that uses a step.
struct Uses {
    detectors: [Detector; 2],
    device: Device,
    buffers: CollisionBuffers,
}

impl Uses {
    fn new() -> Result<Self> {
        let device = Device::real();
        let options = BufferOptions::new(10).with_neighbors();
        Ok(Self {
            detectors: [Backend::Cpu, Backend::Gpu]
                .map(|backend| detector(backend, Options::default())),
            buffers: buffers(&device, &options)?,
            device,
        })
    }

    /// Returns the message of the error that each use of a step and of a search for neighbours gives, or an empty text
    /// for none. The message must be the same for all uses.
    fn message(&mut self, step: &Step<'_>) -> String {
        let walls = Walls::from_iter([Wall::half_space([0.0, 0.0, 1.0], 0.0)]);
        let at_walls = step.with_walls(&walls);
        let told = |error: Option<Error>| error.map(|error| error.to_string()).unwrap_or_default();
        let mut messages = vec![
            told(verify(step, &Hits::default()).err()),
            told(verify_walls(&at_walls, &Hits::default()).err()),
        ];
        for detector in &mut self.detectors {
            messages.push(told(detector.detect(step).err()));
            messages.push(told(detector.detect(&at_walls).err()));
        }
        let mut encoder = self.device.encoder();
        messages.push(told(self.buffers.record(&mut encoder, step).err()));
        if step.second_set().is_none() {
            let search = NeighborSearch::touching(step.spheres());
            for detector in &mut self.detectors {
                messages.push(told(detector.find_neighbors(&search).err()));
            }
            messages.push(told(
                self.buffers.record_neighbors(&mut encoder, &search).err(),
            ));
            assert!(!NeighborList::default().update(&search));
        }
        // The detectors and the buffers work as before.
        let pair = [Sphere::new([0.0; 3], 1.0); 2];
        let step = Step::new(&pair, 1.0);
        for detector in &mut self.detectors {
            assert_eq!(detected(detector, &step).pairs.len(), 1);
        }
        let found = exact(&self.device, &mut self.buffers, &step);
        assert_eq!(found.collisions.pairs.len(), 1);
        self.device.assert_silent();
        let first = messages.swap_remove(0);
        assert!(
            messages.iter().all(|message| *message == first),
            "{first} {messages:?}"
        );
        first
    }
}

#[test]
fn columns_of_unequal_length_are_named() -> Result {
    let mut uses = Uses::new()?;
    let (three, four) = ([[0.0; 3]; 3], [[0.0; 3]; 4]);
    let right = Spheres::new(&four, 1.0);
    let wrong = [
        (
            Spheres::new(&four, &[1.0; 3]),
            "the column of the radii has 3 values, but there are 4 centers; pass one value for each sphere, or one \
             number for all spheres",
        ),
        (
            right.with_velocity(&three),
            "the column of the velocities has 3 values, but there are 4 centers; pass one value for each sphere",
        ),
        (
            right.with_groups(&[0; 5]),
            "the column of the groups has 5 values, but there are 4 centers; pass one value for each sphere, or one \
             number for all spheres",
        ),
        (
            Spheres::new(&three, 1.0).with_velocity(&[]),
            "the column of the velocities has 0 values, but there are 3 centers; pass one value for each sphere",
        ),
        (
            Spheres::new(&[], &[1.0]),
            "the column of the radii has 1 values, but there are 0 centers; pass one value for each sphere, or one \
             number for all spheres",
        ),
    ];
    for (spheres, says) in wrong {
        let mut told = |step| uses.message(&step);
        assert_eq!(told(Step::new(spheres, 1.0)), says);
        for (step, set) in [
            (Step::between(spheres, right, 1.0), " of the first set has"),
            (Step::between(right, spheres, 1.0), " of the second set has"),
            (
                Step::between(spheres, &[Sphere::default()], 1.0),
                " of the first set has",
            ),
            (Step::between(&[], spheres, 1.0), " of the second set has"),
        ] {
            assert_eq!(told(step), says.replacen(" has", set, 1));
        }
    }
    let error = uses.detectors[0].detect(&Step::new(wrong[0].0, 1.0));
    assert!(matches!(
        error,
        Err(Error::ColumnLength {
            what: "radii",
            set: None,
            length: 3,
            spheres: 4,
            ..
        })
    ));
    Ok(())
}

#[test]
fn columns_of_something_else_than_a_field_are_named() -> Result {
    static ELSEWHERE: [f32; 3] = [0.0; 3];
    let mut uses = Uses::new()?;
    let records = [Sphere::new([0.0; 3], 1.0); 4];
    let elsewhere = Column::of(&records, |_| &ELSEWHERE);
    for (spheres, what) in [
        (Spheres::new(elsewhere, 1.0), "centers"),
        (
            Spheres::from(&records).with_velocity(elsewhere),
            "velocities",
        ),
    ] {
        let told = uses.message(&Step::new(spheres, 1.0));
        assert!(
            told.contains(what) && told.contains("return a reference to a field"),
            "{told}"
        );
    }
    // The records are smaller than the value.
    let small = [1.0_f32; 4];
    let told = uses.message(&Step::new(
        Spheres::new(Column::of(&small, |_| &ELSEWHERE), 1.0),
        1.0,
    ));
    assert!(told.contains("return a reference to a field"), "{told}");
    // Without records, the function is not called.
    let none: [Sphere; 0] = [];
    let empty = Spheres::new(Column::of(&none, |_| &ELSEWHERE), 1.0);
    assert_eq!(uses.message(&Step::new(empty, 1.0)), "");
    Ok(())
}

#[test]
fn bytes_that_are_too_few_are_an_error() {
    let bytes = [0; 100];
    let column = Column::<[f32; 3]>::from_bytes;
    for (count, offset, stride) in [
        (0, 0, 12),
        (0, 1000, 12),
        (8, 0, 12),
        (8, 4, 12),
        (1, 88, 12),
        (1, 88, usize::MAX),
        (2, 1, 87),
    ] {
        let made = column(&bytes, count, offset, stride);
        assert!(made.is_ok_and(|made| Spheres::new(made, 1.0).len() == count));
    }
    for (count, offset, stride, says) in [
        (
            8,
            5,
            12,
            "in 100 bytes, but 8 values that begin at byte 5 and are 12 bytes apart end at byte 101",
        ),
        (9, 0, 12, "end at byte 108; pass more bytes"),
        (1, 89, 12, "end at byte 101"),
        (1, usize::MAX, 12, "end at byte 2^64 or later"),
        (3, 0, usize::MAX, "end at byte 2^64 or later"),
        (usize::MAX, 0, 12, "end at byte 2^64 or later"),
        (
            8,
            0,
            11,
            "has a stride of 11 bytes, but each value takes 12 bytes; set the stride",
        ),
        (1, 0, 0, "has a stride of 0 bytes"),
    ] {
        let Err(error @ Error::InvalidColumn { .. }) = column(&bytes, count, offset, stride) else {
            panic!("{count} {offset} {stride}");
        };
        let told = error.to_string();
        assert!(
            told.starts_with("the column ") && told.contains(says),
            "{told}"
        );
    }
    let numbers = Column::<u32>::from_bytes(&bytes, 25, 0, 4).is_ok();
    assert!(numbers && Column::<f32>::from_bytes(&bytes, 25, 1, 4).is_err());
}

#[test]
fn columns_may_be_empty() -> Result {
    let mut uses = Uses::new()?;
    let none = Forms::new(&[]);
    let some = [Sphere::default()];
    for (name, spheres) in none.all()? {
        assert!(spheres.is_empty(), "{name}");
        assert_eq!(uses.message(&Step::new(spheres, 1.0)), "");
        for step in [
            Step::between(spheres, spheres, 1.0),
            Step::between(spheres, &some, 1.0),
            Step::between(&some, spheres, 1.0),
        ] {
            assert_eq!(uses.message(&step), "");
            assert!(
                exact(&uses.device, &mut uses.buffers, &step)
                    .collisions
                    .pairs
                    .is_empty()
            );
        }
    }
    assert!(
        detected(
            &mut detector(Backend::Cpu, Options::default()),
            &Step::new(&[], 1.0)
        )
        .pairs
        .is_empty()
    );
    Ok(())
}

/// An invalid number is named by its sphere, as in a slice of spheres.
#[test]
fn invalid_numbers_in_columns_are_named() -> Result {
    let mut uses = Uses::new()?;
    let centers = [[0.0; 3], [0.0, f32::NAN, 0.0]];
    let told = uses.message(&Step::new(Spheres::new(&centers, 1.0), 1.0));
    assert!(told.starts_with("sphere 1: center.y is NaN"), "{told}");
    let right = [[0.0; 3]; 2];
    let told = uses.message(&Step::new(Spheres::new(&right, -1.0), 1.0));
    assert!(told.starts_with("sphere 0: radius is -1"), "{told}");
    Ok(())
}

#[test]
fn references_to_all_kinds_of_lists_convert() {
    let mut array = [Sphere::new([0.0; 3], 1.0); 2];
    let (mut vector, mut boxed) = (array.to_vec(), Box::<[Sphere]>::from(&array[..]));
    let mut lengths = vec![
        Spheres::from(&array).len(),
        Spheres::from(&array[..]).len(),
        Spheres::from(&vector).len(),
        Spheres::from(&boxed).len(),
    ];
    lengths.extend([
        Spheres::from(&mut vector[..]).len(),
        Spheres::from(&mut vector).len(),
        Spheres::from(&mut boxed).len(),
        Spheres::from(&mut array).len(),
    ]);
    assert_eq!(lengths, [2; 8]);
}

/// Inverse masses are for simulations only.
#[test]
fn collisions_refuse_inverse_masses() -> Result {
    let device = Device::real();
    let mut buffers = buffers(&device, &BufferOptions::new(10).with_neighbors())?;
    let source = Interleaved::new(&device, &[Sphere::new([0.0; 3], 1.0); 2]);
    let right = source.spheres();
    let wrong: DeviceSpheres<'_> =
        right.with_inverse_mass(carom::gpu::Attribute::new(&source.buffer, 12, 32));
    let mut encoder = device.encoder();
    let errors = [
        buffers.record(&mut encoder, &Step::on_device(wrong, 1.0)),
        buffers.record(&mut encoder, &Step::between_on_device(right, wrong, 1.0)),
        buffers.record_neighbors(&mut encoder, &NeighborSearch::within_on_device(wrong, 1.0)),
    ];
    for error in errors {
        let Err(Error::SourceBuffer { what, problem, .. }) = error else {
            panic!("{error:?}");
        };
        assert_eq!(what, "inverse masses");
        assert!(problem.contains("SimulationBuffers::record"), "{problem}");
        assert!(problem.contains("with_inverse_mass"), "{problem}");
    }
    Ok(())
}

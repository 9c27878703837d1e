//! Compares the lists of all ranks with the list of one machine, byte for byte. A program for mpirun.
//!
//! `CAROM_MPI_SPHERES` is the number of spheres of the benchmark scenes, and `CAROM_MPI_CASES` a part of the names of the
//! cases to run.

use std::process::ExitCode;

use carom::{
    Backend, Detector, Domain, HardSphere, Hits, Mesh, NeighborSearch, Options, Sphere, Step,
    Touching, Wall, WallShape, Walls,
};
use carom_mpi::{
    DistributedDetector, DistributedSearch, DistributedStep, Entry, Error, Neighbor, Pair, Part,
    Real, Sphere64,
};
use carom_scenes::Scene;
use fastrand::Rng;
use mpi::traits::Communicator as _;

/// Who passes which spheres.
#[derive(Clone, Copy, Debug)]
enum Dealing {
    Ranges,
    Scattered,
    LastRank,
    Backwards,
}

const DEALINGS: [Dealing; 4] = [
    Dealing::Ranges,
    Dealing::Scattered,
    Dealing::LastRank,
    Dealing::Backwards,
];

struct World<T: Real> {
    first: Vec<T::Sphere>,
    second: Option<Vec<T::Sphere>>,
    dt: T,
    domain: Domain,
    walls: Option<Walls<T>>,
}

trait Given: Real {
    fn given(sphere: Sphere) -> Self::Sphere;
    fn number(x: f32) -> Self;
}

impl Given for f32 {
    fn given(sphere: Sphere) -> Sphere {
        sphere
    }

    fn number(x: f32) -> f32 {
        x
    }
}

impl Given for f64 {
    /// Numbers that are no float32.
    fn given(sphere: Sphere) -> Sphere64 {
        let mut wide = HardSphere::from(sphere);
        wide.center = wide.center.map(|x| x * (1.0 + 1e-12));
        let mut wide = Sphere64::from(wide);
        wide.groups = sphere.groups;
        wide
    }

    fn number(x: f32) -> f64 {
        x.into()
    }
}

impl<T: Given> World<T> {
    fn new(spheres: Vec<Sphere>, dt: f32) -> Self {
        Self {
            first: spheres.into_iter().map(T::given).collect(),
            second: None,
            dt: T::number(dt),
            domain: Domain::open(),
            walls: None,
        }
    }

    fn with_second(mut self, spheres: Vec<Sphere>) -> Self {
        self.second = Some(spheres.into_iter().map(T::given).collect());
        self
    }

    fn in_domain(mut self, domain: Domain) -> Self {
        self.domain = domain;
        self
    }

    fn with_walls(mut self, shapes: &[WallShape<f32>], mesh: bool) -> Self {
        let walls = shapes.iter().map(|shape| Wall::from(shape.map(T::number)));
        let mut walls = Walls::from_iter(walls);
        if mesh {
            let corners = [[-20.0, -20.0, 1.0], [40.0, -20.0, 1.5], [10.0, 60.0, 2.0]];
            let corners = corners.map(|corner| corner.map(T::number)).to_vec();
            walls.push_mesh(Mesh::new(corners, vec![[0, 1, 2]]).unwrap());
        }
        self.walls = Some(walls);
        self
    }
}

/// The ranks, and what is tried.
struct Trial<'a> {
    world: &'a mpi::topology::SimpleCommunicator,
    rank: usize,
    ranks: usize,
    only: String,
    ran: usize,
    faults: usize,
}

fn options() -> Options {
    Options::new().with_backend(Backend::Cpu)
}

fn part<S: Clone, T: Real<Sphere = S>>(
    spheres: &[S],
    dealing: Dealing,
    rank: usize,
    ranks: usize,
) -> Part<'static, T> {
    let count = spheres.len();
    match dealing {
        Dealing::Ranges => {
            let range = count * rank / ranks..count * (rank + 1) / ranks;
            let first = range.start as u64;
            return Part::starting_at(first, spheres[range].to_vec());
        }
        Dealing::LastRank if rank + 1 < ranks => return Part::new(Vec::new(), Vec::new()),
        _ => {}
    }
    let mut numbers: Vec<u64> = (0..count as u64).collect();
    match dealing {
        Dealing::Scattered => {
            numbers.retain(|k| (k * 7919 >> 3) % ranks as u64 == rank as u64);
            Rng::with_seed(rank as u64).shuffle(&mut numbers);
        }
        Dealing::Backwards => {
            numbers.retain(|k| k * ranks as u64 / count.max(1) as u64 == (ranks - 1 - rank) as u64);
            numbers.reverse();
        }
        _ => {}
    }
    let own = numbers
        .iter()
        .map(|&k| spheres[usize::try_from(k).unwrap()].clone());
    Part::new(own.collect::<Vec<_>>(), numbers.clone())
}

fn pairs_of<T: Real, H: Touching<T>>(hits: &Hits<H>) -> Vec<Pair> {
    let pairs = hits.iter_with_images().map(|(hit, image)| {
        let wide = hit.wide();
        let mut pair = Pair::default();
        (pair.a, pair.b) = (wide.a.into(), wide.b.into());
        (pair.toi, pair.depth, pair.image) = (wide.toi, wide.depth, image);
        pair
    });
    pairs.collect()
}

impl Trial<'_> {
    fn is_asked(&mut self, name: &str) -> bool {
        let is_asked = name.contains(&self.only);
        self.ran += usize::from(is_asked);
        is_asked
    }

    fn fault(&mut self, what: &str) {
        eprintln!("rank {} of {}: {what}", self.rank, self.ranks);
        self.faults += 1;
    }

    /// Compares the lists of all ranks with that of one machine.
    fn compare<E: Entry + PartialEq + std::fmt::Debug>(
        &mut self,
        name: &str,
        detector: &DistributedDetector,
        own: &[E],
        expected: Option<Vec<E>>,
    ) {
        if !own.is_sorted_by_key(Entry::key) {
            self.fault(&format!("{name}: the list is not sorted"));
        }
        let gathered = detector.gather(own).unwrap();
        let range = detector.in_order(own.to_vec()).unwrap();
        let in_order = detector.gather(&range).unwrap();
        let before = detector.sum_before(range.len() as u64);
        let Some(expected) = expected else { return };
        assert_eq!(before, 0);
        let (gathered, in_order) = (gathered.unwrap(), in_order.unwrap());
        if range[..] != expected[..range.len()] {
            self.fault(&format!("{name}: the first range is another one"));
        }
        for (found, kind) in [(gathered, "gathered"), (in_order, "sorted")] {
            let [bytes, others]: [&[u8]; 2] = [
                bytemuck::cast_slice(&found),
                bytemuck::cast_slice(&expected),
            ];
            if bytes != others {
                let k = found.iter().zip(&expected).position(|(a, b)| a != b);
                let k = k.unwrap_or(found.len().min(expected.len()));
                self.fault(&format!(
                    "{name}: the {kind} list has {} entries instead of {}; entry {k} is {:?} instead of {:?}",
                    found.len(),
                    expected.len(),
                    found.get(k),
                    expected.get(k)
                ));
            }
        }
    }

    fn step<T: Given>(&mut self, name: &str, world: &World<T>) {
        if !self.is_asked(name) {
            return;
        }
        let mut expected = (None, None);
        if self.rank == 0 {
            let mut step = match &world.second {
                None => Step::new(T::spheres(&world.first), world.dt),
                Some(second) => {
                    Step::between(T::spheres(&world.first), T::spheres(second), world.dt)
                }
            };
            step = step.in_domain(&world.domain);
            if let Some(walls) = &world.walls {
                step = step.with_walls(walls);
            }
            let found = Detector::new(options()).unwrap().detect(&step).unwrap();
            expected = (
                Some(pairs_of::<T, _>(&found.pairs)),
                Some(pairs_of::<T, _>(&found.walls)),
            );
        }
        for dealing in DEALINGS {
            let name = format!("{name}, {dealing:?}");
            let mut detector = DistributedDetector::new(self.world, options()).unwrap();
            if matches!(dealing, Dealing::Scattered) {
                detector = detector.with_message_bytes(1000);
            }
            let (rank, ranks) = (self.rank, self.ranks);
            let deal = |spheres: &Vec<T::Sphere>| part::<_, T>(spheres, dealing, rank, ranks);
            // The second step is in the division of the first one, or in a better one.
            for step in 0..2 {
                let mut request = match &world.second {
                    None => DistributedStep::new(deal(&world.first), world.dt),
                    Some(second) => {
                        DistributedStep::between(deal(&world.first), deal(second), world.dt)
                    }
                };
                request = request.in_domain(&world.domain);
                if let Some(walls) = &world.walls {
                    request = request.with_walls(walls);
                }
                let found = match detector.detect(request) {
                    Ok(found) => found,
                    Err(error) => {
                        self.fault(&format!("{name}: {error}"));
                        break;
                    }
                };
                let name = format!("{name}, step {step}");
                self.compare(&name, &detector, &found.pairs, expected.0.clone());
                self.compare(&name, &detector, &found.walls, expected.1.clone());
            }
        }
    }

    fn neighbors<T: Given>(
        &mut self,
        name: &str,
        world: &World<T>,
        cutoff: Option<f32>,
        skin: Option<f32>,
    ) {
        if !self.is_asked(name) {
            return;
        }
        for full in [false, true] {
            let mut expected = None;
            if self.rank == 0 {
                let particles = T::spheres(&world.first);
                let mut search = match cutoff {
                    Some(cutoff) => NeighborSearch::within(particles, T::number(cutoff)),
                    None => NeighborSearch::touching(particles),
                };
                if let Some(skin) = skin {
                    search = search.with_skin(T::number(skin));
                }
                if full {
                    search = search.full();
                }
                let search = search.in_domain(&world.domain);
                let mut detector = Detector::new(options()).unwrap();
                let found = detector.find_neighbors(&search).unwrap();
                let entries = found.pairs().iter_with_images().enumerate();
                let entries = entries.map(|(k, (&[i, j], image))| {
                    let mut entry = Neighbor::default();
                    (entry.i, entry.j, entry.image) = (i.into(), j.into(), image);
                    entry.vector = found.vectors()[k].map(Into::into);
                    entry.distance = found.distances()[k].into();
                    entry
                });
                expected = Some(entries.collect());
            }
            for dealing in DEALINGS {
                let name = format!("{name}, full {full}, {dealing:?}");
                let mut detector = DistributedDetector::new(self.world, options()).unwrap();
                let particles = part::<_, T>(&world.first, dealing, self.rank, self.ranks);
                let mut search = match cutoff {
                    Some(cutoff) => DistributedSearch::within(particles, T::number(cutoff)),
                    None => DistributedSearch::touching(particles),
                };
                if let Some(skin) = skin {
                    search = search.with_skin(T::number(skin));
                }
                if full {
                    search = search.full();
                }
                let search = search.in_domain(&world.domain);
                let found = detector.find_neighbors(search).unwrap();
                self.compare(&name, &detector, &found.entries, expected.clone());
                if full {
                    let mut firsts: Vec<u64> = found.entries.iter().map(|entry| entry.i).collect();
                    firsts.dedup();
                    let rows = detector.sum(firsts.len() as u64);
                    let all = expected.as_ref().map_or(rows, |all| {
                        let mut firsts: Vec<u64> = all.iter().map(|entry| entry.i).collect();
                        firsts.dedup();
                        firsts.len() as u64
                    });
                    if rows != all {
                        self.fault(&format!("{name}: rows are split between ranks"));
                    }
                }
            }
        }
    }

    fn both(&mut self, name: &str, spheres: &[Sphere], dt: f32, domain: &Domain) {
        let name32 = format!("{name}, float32");
        self.step(
            &name32,
            &World::<f32>::new(spheres.to_vec(), dt).in_domain(*domain),
        );
        let name64 = format!("{name}, float64");
        self.step(
            &name64,
            &World::<f64>::new(spheres.to_vec(), dt).in_domain(*domain),
        );
    }

    /// All ranks must get the same error.
    fn error(
        &mut self,
        name: &str,
        result: Result<(), Error>,
        expected: &str,
        sphere: Option<u64>,
    ) {
        match result {
            Ok(()) => self.fault(&format!("{name}: no error")),
            Err(error) => {
                if !error.to_string().contains(expected) || error.sphere() != sphere {
                    self.fault(&format!("{name}: {error:?}"));
                }
            }
        }
    }
}

fn random(count: usize, size: f32, radius: f32, far: f32, seed: u64) -> Vec<Sphere> {
    let mut rng = Rng::with_seed(seed);
    let sphere = |_| {
        let mut vector = |most: f32| [0; 3].map(|_| most * rng.f32());
        let (center, velocity) = (vector(size), vector(2.0 * far).map(|v| v - far));
        let radius = radius * (0.5 + 0.5 * rng.f32());
        Sphere::new(center, radius).with_velocity(velocity)
    };
    (0..count).map(sphere).collect()
}

fn scenes(trial: &mut Trial) {
    let count = std::env::var("CAROM_MPI_SPHERES").map_or(8000, |text| text.parse().unwrap());
    for scene in Scene::ALL {
        let spheres = scene.generate(count, 1);
        trial.step(&format!("scene {scene}"), &World::<f32>::new(spheres, 1.0));
    }
    let spheres = Scene::Fast.generate(count, 1);
    trial.step("scene fast in float64", &World::<f64>::new(spheres, 1.0));
}

fn shapes(trial: &mut Trial) {
    let open = Domain::open();
    trial.both("no spheres", &[], 1.0, &open);
    trial.both("three spheres", &random(3, 1.0, 1.0, 0.5, 3), 1.0, &open);
    trial.both(
        "one point",
        &vec![Sphere::new([3.0; 3], 1.0); 150],
        1.0,
        &open,
    );
    trial.both(
        "at rest for no time",
        &random(2000, 20.0, 1.0, 5.0, 4),
        0.0,
        &open,
    );
    // Regions end where spheres lie and touch.
    let mut grid = Vec::new();
    for k in 0..12_u16 * 12 * 12 {
        let [x, y, z] = [k % 12, k / 12 % 12, k / 144].map(f32::from);
        grid.push(Sphere::new([x, y, z], 0.5).with_velocity([
            0.0,
            0.0,
            if k % 3 == 0 { 1.0 } else { 0.0 },
        ]));
    }
    trial.both("on planes and corners", &grid, 1.0, &open);
    let mut giant = random(3000, 30.0, 0.5, 0.5, 5);
    giant[17] = Sphere::new([15.0; 3], 40.0).with_velocity([1.0; 3]);
    giant[18] = Sphere::new([0.0; 3], 20.0);
    trial.both("giants", &giant, 1.0, &open);
    let mut bullets = random(3000, 30.0, 0.5, 0.1, 6);
    for (k, bullet) in bullets.iter_mut().enumerate().step_by(60) {
        let sign = [k % 2, k / 2 % 2, k / 4 % 2].map(|bit| if bit == 1 { 1.0 } else { -1.0 });
        bullet.velocity = sign.map(|sign| 60.0 * sign);
        bullet.center = sign.map(|sign| 15.0 - 30.0 * sign);
        bullet.center[k % 3] += k as f32 / 100.0;
    }
    trial.both("bullets", &bullets, 1.0, &open);
    let mut far = random(2000, 1.0, 0.05, 0.1, 7);
    for sphere in &mut far {
        sphere.center = sphere.center.map(|x| x + 1e4);
    }
    far[0].center = [-1e15, 1e17, 0.0];
    trial.both("far away", &far, 1.0, &open);
    let tiny = 2.0_f32.powi(-149);
    let mut slow = random(2000, 15.0, 0.5, 1.0, 8);
    for sphere in &mut slow {
        sphere.velocity = sphere.velocity.map(|v| v * 1e18);
    }
    trial.both("a shortest step", &slow, tiny * 3.0, &open);
    let mut groups = random(2000, 15.0, 1.0, 1.0, 9);
    for (k, sphere) in groups.iter_mut().enumerate() {
        *sphere = sphere.with_groups(1 << (k % 3), if k % 2 == 0 { 1 } else { 6 });
    }
    trial.both("groups", &groups, 1.0, &open);
}

fn domains(trial: &mut Trial) {
    let cube = Domain::rectangular([0.0; 3], [20.0; 3]);
    let gas = random(3000, 20.0, 1.0, 1.0, 10);
    trial.both("periodic cube", &gas, 1.0, &cube);
    let fast = random(1000, 20.0, 0.5, 90.0, 11);
    trial.both("periodic, fast", &fast, 1.0, &cube);
    for periodic in [
        [true, false, false],
        [false, true, true],
        [true, false, true],
    ] {
        let domain = cube.with_periodic(periodic);
        trial.both(&format!("periodic along {periodic:?}"), &gas, 1.0, &domain);
    }
    let skewed = Domain::triclinic(
        [1.0, -2.0, 3.0],
        [[20.0, 0.0, 0.0], [7.0, 18.0, 0.0], [-5.0, 6.0, 15.0]],
    );
    trial.both("triclinic", &gas, 1.0, &skewed);
    trial.both(
        "triclinic, open along one edge",
        &gas,
        1.0,
        &skewed.with_periodic([true, false, true]),
    );
    trial.both(
        "triclinic, one edge",
        &gas,
        1.0,
        &skewed.with_periodic([false, true, false]),
    );
    let mut outside = gas.clone();
    for (k, sphere) in outside.iter_mut().enumerate() {
        for axis in 0..3 {
            sphere.center[axis] += 20.0 * ((k + axis) % 7) as f32 - 60.0;
        }
    }
    trial.both("periodic, outside of the cell", &outside, 1.0, &cube);
    trial.both("triclinic, outside of the cell", &outside, 1.0, &skewed);
    let mut large = random(60, 4.0, 0.5, 1.0, 12);
    large[3].radius = 5.0;
    let small = Domain::rectangular([0.0; 3], [4.0, 3.0, 5.0]);
    trial.both("periodic, larger than the cell", &large, 1.0, &small);
    // In the corner, and on the faces of the cell.
    let corner: Vec<_> = (0..200_u8)
        .map(|k| {
            let at = [k % 3, k / 3 % 3, k / 9 % 3].map(|n| [0.0, 20.0, 10.0][n as usize]);
            Sphere::new(at, 0.25 * f32::from(k % 4))
        })
        .collect();
    trial.both("on faces and corners of the cell", &corner, 1.0, &cube);
}

fn walls_and_sets(trial: &mut Trial) {
    let gas = random(3000, 20.0, 0.5, 2.0, 13);
    let shapes = [
        WallShape::HalfSpace {
            normal: [0.0, 0.0, 1.0],
            offset: 1.0,
        },
        WallShape::Sphere {
            center: [10.0; 3],
            radius: 3.0,
            hollow: false,
        },
        WallShape::Sphere {
            center: [10.0; 3],
            radius: 15.0,
            hollow: true,
        },
        WallShape::Cylinder {
            point: [5.0; 3],
            axis: [1.0, 0.0, 0.0],
            radius: 1.0,
            hollow: false,
        },
    ];
    trial.step(
        "walls",
        &World::<f32>::new(gas.clone(), 1.0).with_walls(&shapes, true),
    );
    trial.step(
        "walls in float64",
        &World::<f64>::new(gas.clone(), 1.0).with_walls(&shapes, true),
    );
    let cube = Domain::rectangular([0.0; 3], [20.0; 3]);
    let channel = cube.with_periodic([true, true, false]);
    let some = [shapes[0], shapes[1], shapes[3]];
    trial.step(
        "walls in a channel",
        &World::<f32>::new(gas.clone(), 1.0)
            .in_domain(channel)
            .with_walls(&some, true),
    );
    trial.step(
        "walls in a channel in float64",
        &World::<f64>::new(gas.clone(), 1.0)
            .in_domain(channel)
            .with_walls(&some, true),
    );
    let others = random(1000, 20.0, 0.7, 3.0, 14);
    for (name, first, second) in [
        ("two sets", &gas, &others),
        ("two sets, one empty", &gas, &Vec::new()),
        ("two sets, the first empty", &Vec::new(), &gas),
    ] {
        let world = World::<f32>::new(first.clone(), 1.0).with_second(second.clone());
        trial.step(name, &world.with_walls(&shapes, true));
        let world = World::<f64>::new(first.clone(), 1.0).with_second(second.clone());
        trial.step(&format!("{name}, float64"), &world.in_domain(cube));
    }
}

fn lists(trial: &mut Trial) {
    let gas = random(2500, 20.0, 0.7, 1.0, 15);
    let cube = Domain::rectangular([0.0; 3], [20.0; 3]);
    let skewed = Domain::triclinic(
        [0.0; 3],
        [[20.0, 0.0, 0.0], [7.0, 18.0, 0.0], [0.0, 6.0, 15.0]],
    );
    for (name, domain) in [("open", Domain::open()), ("cube", cube), ("skewed", skewed)] {
        let narrow = World::<f32>::new(gas.clone(), 0.0).in_domain(domain);
        let wide = World::<f64>::new(gas.clone(), 0.0).in_domain(domain);
        trial.neighbors(&format!("neighbours, {name}"), &narrow, Some(1.5), None);
        trial.neighbors(
            &format!("neighbours, {name}, float64"),
            &wide,
            Some(1.5),
            Some(0.2),
        );
        trial.neighbors(&format!("touching, {name}"), &narrow, None, Some(0.1));
        trial.neighbors(&format!("touching, {name}, float64"), &wide, None, None);
    }
    let few = World::<f32>::new(random(7, 2.0, 0.2, 0.0, 16), 0.0);
    let few = few.in_domain(Domain::rectangular([0.0; 3], [2.0; 3]));
    trial.neighbors("neighbours of own images", &few, Some(3.0), None);
}

/// Spheres move from region to region, and each rank passes those that are in its own.
fn migration(trial: &mut Trial) {
    if !trial.is_asked("migration") {
        return;
    }
    let mut world = random(2000, 20.0, 0.4, 4.0, 17);
    let mut detector = DistributedDetector::new(trial.world, options()).unwrap();
    let range =
        world.len() * trial.rank / trial.ranks..world.len() * (trial.rank + 1) / trial.ranks;
    let mut indices: Vec<u64> = range.clone().map(|k| k as u64).collect();
    let mut own = world[range].to_vec();
    let dt = 0.125;
    let mut divided = 0;
    for step in 0..100 {
        let expected = (trial.rank == 0).then(|| {
            let found = Detector::new(options())
                .unwrap()
                .detect(&Step::new(&world, dt))
                .unwrap();
            pairs_of::<f32, _>(&found.pairs)
        });
        let part = Part::new(&own[..], &indices[..]);
        let found = detector
            .detect(DistributedStep::<f32>::new(part, dt))
            .unwrap();
        divided += usize::from(found.statistics.divided);
        trial.compare(
            &format!("migration, step {step}"),
            &detector,
            &found.pairs,
            expected,
        );
        for spheres in [&mut own, &mut world] {
            for sphere in spheres {
                for axis in 0..3 {
                    sphere.center[axis] += dt * sphere.velocity[axis];
                    let outside = !(0.0..20.0).contains(&sphere.center[axis]);
                    if outside {
                        sphere.velocity[axis] = if sphere.center[axis] < 0.0 {
                            sphere.velocity[axis].abs()
                        } else {
                            -sphere.velocity[axis].abs()
                        };
                    }
                }
            }
        }
        detector.migrate::<f32>(&mut own, &mut indices).unwrap();
        let count = detector.sum(own.len() as u64);
        let homes = own
            .iter()
            .map(|sphere| detector.home(sphere.center.map(f64::from)));
        if count != 2000 || homes.into_iter().any(|home| home != Some(trial.rank)) {
            trial.fault("migration: a sphere is lost, or is not at home");
        }
    }
    if divided == 0 || divided > 40 {
        trial.fault(&format!("space was divided {divided} times"));
    }
}

fn faults(trial: &mut Trial) {
    if !trial.is_asked("faults") {
        return;
    }
    let mut detector = DistributedDetector::new(trial.world, options()).unwrap();
    let spheres = random(100, 5.0, 0.5, 0.5, 18);
    let (rank, ranks) = (trial.rank, trial.ranks);
    let last = rank + 1 == ranks;
    let deal = |spheres: &[Sphere]| part::<_, f32>(spheres, Dealing::Scattered, rank, ranks);
    let run = |detector: &mut DistributedDetector, step| detector.detect(step).map(drop);

    let mut wrong = spheres.clone();
    wrong[71].velocity[1] = f32::NAN;
    wrong[17].radius = -1.0;
    let found = run(&mut detector, DistributedStep::new(deal(&wrong), 1.0));
    trial.error("a radius", found, "sphere 17: radius is -1.0", Some(17));
    let step = DistributedStep::between(deal(&spheres), deal(&wrong), 1.0);
    let found = run(&mut detector, step);
    trial.error(
        "a radius of the second set",
        found,
        "sphere 17 of the second set: radius",
        Some(17),
    );
    let dt = if last { f32::NAN } else { 1.0 };
    let found = run(&mut detector, DistributedStep::new(deal(&spheres), dt));
    trial.error("a time step", found, "the time step dt is NaN", None);
    if ranks > 1 {
        let dt = if last { 2.0 } else { 1.0 };
        let found = run(&mut detector, DistributedStep::new(deal(&spheres), dt));
        trial.error("two time steps", found, "different time steps", None);
        let domain = if last {
            Domain::rectangular([0.0; 3], [5.0; 3])
        } else {
            Domain::open()
        };
        let step = DistributedStep::new(deal(&spheres), 1.0).in_domain(&domain);
        trial.error(
            "two domains",
            run(&mut detector, step),
            "different time steps, domains",
            None,
        );
        let part = Part::starting_at(0, vec![Sphere::new([0.0; 3], 1.0)]);
        let found = run(&mut detector, DistributedStep::new(part, 1.0));
        trial.error(
            "one index twice",
            found,
            "two spheres have the index 0",
            None,
        );
    }
    let part = Part::new(spheres.clone(), vec![1_u64; if last { 99 } else { 100 }]);
    let found = run(&mut detector, DistributedStep::new(part, 1.0));
    trial.error(
        "too few indices",
        found,
        "100 spheres, but 99 indices",
        None,
    );
    let flat = Domain::triclinic(
        [0.0; 3],
        [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
    );
    let step = DistributedStep::new(deal(&spheres), 1.0).in_domain(&flat);
    trial.error(
        "a flat domain",
        run(&mut detector, step),
        "domain is invalid",
        None,
    );
    let mut far = spheres.clone();
    far[33].center[0] = 1e20;
    let cell = Domain::rectangular([0.0; 3], [0.5; 3]);
    let step = DistributedStep::new(deal(&far[30..40]), 1.0).in_domain(&cell);
    trial.error(
        "a sphere far outside",
        run(&mut detector, step),
        "sphere 3: ",
        None.or(Some(3)),
    );
    let limited = DistributedDetector::new(trial.world, options().with_max_pairs(0));
    let found = run(
        &mut limited.unwrap(),
        DistributedStep::new(deal(&spheres), 1.0),
    );
    trial.error(
        "too many pairs",
        found,
        "pairs were found, but the limit is 0",
        None,
    );
    let search = DistributedSearch::within(deal(&spheres), if last { -1.0 } else { 1.0 });
    let found = detector.find_neighbors(search).map(drop);
    trial.error("a cutoff", found, "the cutoff is -1.0", None);
    let walls = Walls::from_iter([Wall::half_space([0.0; 3], 1.0)]);
    let step = DistributedStep::new(deal(&spheres), 1.0).with_walls(&walls);
    trial.error(
        "a wall",
        run(&mut detector, step),
        "wall 0 is invalid",
        None,
    );
    // Large indices, and the detector still works.
    let first = (1 << 40) + rank as u64;
    let part = Part::starting_at(first, vec![Sphere::new([rank as f32, 0.0, 0.0], 0.75)]);
    let found = detector
        .detect(DistributedStep::<f32>::new(part, 1.0))
        .unwrap();
    if let Some(pairs) = detector.gather(&found.pairs).unwrap() {
        let expected = (1..ranks as u64).map(|k| [(1 << 40) + k - 1, (1 << 40) + k]);
        if !pairs.iter().map(|pair| [pair.a, pair.b]).eq(expected) {
            trial.fault(&format!("large indices: {pairs:?}"));
        }
    }
}

fn main() -> ExitCode {
    let universe = mpi::initialize().expect("MPI starts");
    let comm = universe.world().duplicate();
    let hook = std::panic::take_hook();
    let world = universe.world();
    let abort = world.rank();
    std::panic::set_hook(Box::new(move |info| {
        eprintln!("rank {abort}:");
        hook(info);
        std::process::exit(101);
    }));
    let [rank, ranks] = [comm.rank(), comm.size()].map(|x| usize::try_from(x).unwrap());
    let mut trial = Trial {
        world: &comm,
        rank,
        ranks,
        only: std::env::var("CAROM_MPI_CASES").unwrap_or_default(),
        ran: 0,
        faults: 0,
    };
    for cases in [
        scenes,
        shapes,
        domains,
        walls_and_sets,
        lists,
        migration,
        faults,
    ] {
        cases(&mut trial);
    }
    let (ran, faults) = (trial.ran, trial.faults);
    let detector = DistributedDetector::new(&comm, options()).unwrap();
    let all = detector.sum(faults as u64);
    drop(detector);
    if rank == 0 {
        println!("{ranks} ranks: {ran} cases, {all} faults");
    }
    drop(comm);
    drop(universe);
    if all == 0 && ran > 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

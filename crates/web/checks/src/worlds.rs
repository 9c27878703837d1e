//! Worlds of every kind: the benchmark's scenes, the hard worlds of the tests, tangent pairs, two sets, periodic domains,
//! walls and meshes.

use carom::{Domain, Sphere, Step, Walls};
use carom_scenes::Scene;
use fastrand::Rng;

#[path = "../../../../tests/worlds/mod.rs"]
mod hard;
#[path = "../../../../tests/meshes/mod.rs"]
mod meshes;
#[path = "../../../../tests/tangency/mod.rs"]
mod tangency;
#[path = "../../../../tests/wall_worlds/mod.rs"]
mod wall_worlds;

pub(crate) struct World {
    pub(crate) name: String,
    pub(crate) spheres: Vec<Sphere>,
    /// The number of spheres in the first of two sets.
    pub(crate) split: Option<usize>,
    pub(crate) dt: f32,
    pub(crate) domain: Domain,
    pub(crate) walls: Option<Walls>,
}

impl World {
    fn new(name: impl Into<String>, spheres: Vec<Sphere>, dt: f32) -> Self {
        Self {
            name: name.into(),
            spheres,
            split: None,
            dt,
            domain: Domain::open(),
            walls: None,
        }
    }

    /// Returns world `number`. The first hundred have all scenes, all hard worlds and all kinds of tangent pairs.
    pub(crate) fn nth(number: u32) -> Self {
        let (kind, round) = (number % 10, (number / 10) as usize);
        let seed = u64::from(number / 100 + 1);
        let mut rng = Rng::with_seed(u64::from(number));
        match kind {
            0 => Self::scene(
                round,
                if round < 10 { 2000 } else { rng.usize(2..2000) },
                seed,
            ),
            1 | 2 => {
                let mut all = hard::all(500, seed);
                let count = all.len();
                let (name, spheres, dt) = all.swap_remove((2 * round + kind as usize - 1) % count);
                Self::new(name, spheres, dt)
            }
            3 => Self::tangent(round, 100, &mut rng),
            4 if round < 2 => Self::tangent(10 + round, 100, &mut rng),
            4 if round % 2 == 0 => Self::tangent_pair(round, &mut rng),
            4 => Self::small(&mut rng),
            5 => {
                let mut world = match round % 2 {
                    0 => Self::scene(round / 2, 1000, seed),
                    _ => Self::small(&mut rng),
                };
                world.split = Some(rng.usize(0..=world.spheres.len()));
                world.name += " in two sets";
                world
            }
            6 => Self::periodic(round, seed, &mut rng),
            7 => {
                let wall_worlds::World { spheres, walls, dt } = wall_worlds::World::new(&mut rng);
                let world = Self::new("walls", spheres, dt);
                let walls = Some(walls);
                Self { walls, ..world }
            }
            8 => {
                let (world, domain) = wall_worlds::periodic_world(&mut rng);
                let walls = Some(world.walls);
                let world = Self::new("periodic walls", world.spheres, world.dt);
                Self {
                    walls,
                    domain,
                    ..world
                }
            }
            _ => Self::with_meshes(&mut rng),
        }
    }

    pub(crate) fn scene(number: usize, count: usize, seed: u64) -> Self {
        let scene = Scene::ALL[number % Scene::ALL.len()];
        Self::new(scene.name(), scene.generate(count, seed), 1.0)
    }

    /// Many tangent pairs of one kind.
    pub(crate) fn tangent(kind: usize, pairs: usize, rng: &mut Rng) -> Self {
        let kind = tangency::KINDS[kind % tangency::KINDS.len()];
        let spheres = (0..pairs).flat_map(|_| {
            let whole = rng.bool();
            tangency::Pair::with_step(kind, whole, 1.0, rng).spheres
        });
        Self::new(format!("tangent pairs, {kind:?}"), spheres.collect(), 1.0)
    }

    fn tangent_pair(kind: usize, rng: &mut Rng) -> Self {
        let kind = tangency::KINDS[kind / 2 % tangency::KINDS.len()];
        let pair = tangency::Pair::new(kind, rng);
        let name = format!("a tangent pair, {kind:?}");
        Self::new(name, pair.spheres.to_vec(), pair.dt)
    }

    /// Few spheres, whose numbers are often equal or of another order of magnitude.
    fn small(rng: &mut Rng) -> Self {
        let wide = if rng.bool() { 20 } else { 5 };
        let [place, radius, speed] = [0; 3].map(|_| rng.i32(-wide..wide));
        let step = rng.i32(-wide / 2..wide / 2);
        let velocities: Vec<[f32; 3]> = (0..3).map(|_| vector(speed, rng)).collect();
        let sphere = |rng: &mut Rng| {
            let velocity = match rng.u32(0..3) {
                0 => velocities[rng.usize(0..3)],
                _ => vector(speed, rng),
            };
            let [member_of, ignored] = match rng.u32(0..8) {
                0 => [rng.u16(0..4), rng.u16(0..4)],
                _ => [0; 2],
            };
            Sphere::new(vector(place, rng), number(radius, rng).abs())
                .with_velocity(velocity)
                .with_groups(member_of, ignored)
        };
        let mut spheres: Vec<Sphere> = (0..rng.usize(2..40)).map(|_| sphere(rng)).collect();
        for _ in 0..rng.usize(0..3) {
            spheres.push(spheres[rng.usize(0..spheres.len())]);
        }
        let dt = rng.i32(1..8) as f32 * 2_f32.powi(step);
        Self::new("small", spheres, dt)
    }

    fn periodic(round: usize, seed: u64, rng: &mut Rng) -> Self {
        let mut world = Self::scene(round, 600, seed);
        let numbers = world.spheres.iter().flat_map(|sphere| sphere.center);
        let half = 1.01 * numbers.fold(1.0, |most: f32, x| most.max(x.abs()));
        let size = 2.0 * half;
        let skew = [
            [size, 0.0, 0.0],
            [0.3 * size, size, 0.0],
            [-0.2 * size, 0.1 * size, size],
        ];
        let cube = Domain::rectangular([-half; 3], [size; 3]);
        world.domain = match round % 3 {
            0 => cube,
            1 => cube.with_periodic([true, false, true]),
            _ => Domain::triclinic([-half; 3], skew),
        };
        if round % 2 == 1 {
            for x in world
                .spheres
                .iter_mut()
                .flat_map(|sphere| &mut sphere.center)
            {
                *x += size * rng.i32(-2..=2) as f32;
            }
        }
        world.name += " in a periodic domain";
        world
    }

    fn with_meshes(rng: &mut Rng) -> Self {
        let mut vector = |size: f32| [0; 3].map(|_| (rng.f32() - 0.5) * size);
        let sphere = |vector: &mut dyn FnMut(f32) -> [f32; 3]| {
            let speed = vector(8.0);
            Sphere::new(vector(12.0), 0.4).with_velocity(speed)
        };
        let mut spheres: Vec<Sphere> = (0..60).map(|_| sphere(&mut vector)).collect();
        // These touch the faces of the box at the start, or nearly.
        for (sphere, radius) in spheres.iter_mut().zip([0.5, 0.5_f32.next_down(), 0.25]) {
            *sphere = Sphere::new([0.0, 0.0, 2.5], radius).with_velocity([0.0, 0.0, -1.0]);
        }
        let mut walls = Walls::inside_box([-6.0; 3], [6.0; 3]);
        walls.push_mesh(meshes::box_mesh([-2.0, -1.0, -2.0], [2.0, 1.0, 2.0]));
        let flat = meshes::flat(4, rng);
        walls.push_mesh(if rng.bool() {
            flat.with_velocity([0.0, 0.5, 0.25])
        } else {
            flat
        });
        let world = Self::new("meshes", spheres, 1.0);
        let walls = Some(walls);
        Self { walls, ..world }
    }

    pub(crate) fn step(&self) -> Step<'_> {
        let step = match self.split {
            None => Step::new(&self.spheres, self.dt),
            Some(split) => {
                let (first, second) = self.spheres.split_at(split);
                Step::between(first, second, self.dt)
            }
        };
        let step = step.in_domain(&self.domain);
        match &self.walls {
            None => step,
            Some(walls) => step.with_walls(walls),
        }
    }
}

fn number(scale: i32, rng: &mut Rng) -> f32 {
    let unit = 2_f32.powi(scale);
    match rng.u32(0..15) {
        0..2 => 0.0,
        2..8 => rng.i32(-4..=4) as f32 * unit,
        8..14 => (8.0 * rng.f32() - 4.0) * unit,
        _ => (2.0 * rng.f32() - 1.0) * 2_f32.powi(rng.i32((scale - 30).max(-140)..=scale + 2)),
    }
}

fn vector(scale: i32, rng: &mut Rng) -> [f32; 3] {
    [0; 3].map(|_| number(scale, rng))
}

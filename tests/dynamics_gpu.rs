//! Tests hard-sphere dynamics on the GPU: conservation laws, the order of impacts, and walls. Also
//! tests recordings that have too few substeps, or too few rounds in a substep (in a round, each
//! sphere can have one impact).

#![allow(
    clippy::cast_possible_truncation,
    reason = "the GPU computes in float32"
)]

mod device;
mod meshes;

use carom::gpu::{
    Attribute, CollisionPipeline, DeviceSpheres, SimulationBufferOptions, SimulationBuffers,
    SimulationState, SimulationStatus, Status, WGSL, wgpu,
};
use carom::{
    Domain, Error, HardSphere, Impact, Mesh, Partner, Simulation, SimulationOptions, Sphere, Wall,
    Walls,
};
use device::Device;
use fastrand::Rng;
use glam::{DQuat, DVec3};
use meshes::{box_mesh, flat};

/// A simulation whose spheres are in two buffers: centre and radius, and velocity and inverse mass.
struct World {
    device: Device,
    buffers: SimulationBuffers,
    places: wgpu::Buffer,
    motions: wgpu::Buffer,
    groups: wgpu::Buffer,
    count: u32,
}

impl World {
    fn new(spheres: &[HardSphere], options: &SimulationBufferOptions) -> Self {
        let device = Device::real();
        let pipeline = CollisionPipeline::new(&device.device).expect("pipeline");
        let buffers = pipeline.create_simulation(options).expect("buffers");
        let words = |four: &dyn Fn(&HardSphere) -> [f64; 4]| -> Vec<u32> {
            let all = spheres.iter().flat_map(four);
            all.map(|x| (x as f32).to_bits()).collect()
        };
        let places = words(&|s| [s.center[0], s.center[1], s.center[2], s.radius]);
        let motions = words(&|s| [s.velocity[0], s.velocity[1], s.velocity[2], s.mass.recip()]);
        Self {
            places: device.words(&places),
            motions: device.words(&motions),
            groups: device.words(&vec![0; spheres.len()]),
            device,
            buffers,
            count: spheres.len() as u32,
        }
    }

    /// Records the commands that advance the simulation by the time `duration`.
    fn record_into(&mut self, encoder: &mut wgpu::CommandEncoder, duration: f32) {
        let spheres = DeviceSpheres::new(
            self.count,
            Attribute::new(&self.places, 0, 16),
            Attribute::new(&self.places, 12, 16),
        )
        .with_velocity(Attribute::new(&self.motions, 0, 16))
        .with_groups(Attribute::new(&self.groups, 0, 4))
        .with_inverse_mass(Attribute::new(&self.motions, 12, 16));
        let recorded = (self.buffers).record(encoder, &spheres, duration);
        recorded.unwrap_or_else(|error| panic!("{error}"));
    }

    /// Records and submits the commands that advance the simulation by the time `duration`, and returns the state
    /// afterwards.
    fn record(&mut self, duration: f32) -> SimulationState {
        let mut encoder = self.device.encoder();
        self.record_into(&mut encoder, duration);
        self.device.queue.submit([encoder.finish()]);
        let words = self.device.read(self.buffers.state());
        self.device.assert_silent();
        SimulationState::from_bytes(bytemuck::cast_slice(&words)).expect("a state")
    }

    /// Writes the duration that the GPU intends for the next substep.
    fn set_pace(&self, pace: f32) {
        let module = naga::front::wgsl::parse_str(WGSL).expect("valid WGSL");
        let state = module.types.iter().find_map(|(_, of)| match &of.inner {
            naga::TypeInner::Struct { members, .. } => {
                (of.name.as_deref() == Some("CaromSimulation")).then_some(members)
            }
            _ => None,
        });
        let mut members = state.expect("a structure for the state").iter();
        let member = members.find(|member| member.name.as_deref() == Some("pace"));
        let offset = member.expect("the state has a pace").offset.into();
        let state = self.buffers.state();
        (self.device.queue).write_buffer(state, offset, bytemuck::bytes_of(&pace));
    }

    /// Advances the simulation by the time `duration`. One recording of GPU commands may advance
    /// the simulation by less, so this function makes recordings until no time is left.
    fn advance(&mut self, duration: f32) -> SimulationState {
        let mut state = self.record(duration);
        for _ in 0..1000 {
            if state.remaining == 0.0 {
                return state;
            }
            state = self.record(0.0);
        }
        panic!("the time stands still: {state:?}");
    }

    /// Advances the simulation like [`advance`](Self::advance). Returns the last state and all impacts.
    fn advance_with_list(&mut self, duration: f32) -> (SimulationState, Vec<Impact>) {
        let mut all = Vec::new();
        let mut duration = duration;
        for _ in 0..1000 {
            let mut encoder = self.device.encoder();
            self.record_into(&mut encoder, duration);
            let mut ticket = self.buffers.read_impacts(&mut encoder).expect("a ticket");
            self.device.queue.submit([encoder.finish()]);
            self.device.wait();
            let Ok(Some(found)) = ticket.try_take() else {
                panic!("no list of impacts");
            };
            let state = found.state;
            assert_eq!(found.impacts.len(), state.listed as usize, "{state:?}");
            all.extend(found.impacts);
            if state.remaining == 0.0 {
                self.device.assert_silent();
                return (state, all);
            }
            duration = 0.0;
        }
        panic!("the time stands still");
    }

    fn read(&self, buffer: &wgpu::Buffer) -> Vec<[f64; 4]> {
        let words = self.device.read(buffer);
        let fours = words.chunks_exact(4);
        fours
            .map(|four| [0, 1, 2, 3].map(|k| f64::from(f32::from_bits(four[k]))))
            .collect()
    }

    fn spheres(&self) -> Vec<HardSphere> {
        let places = self.read(&self.places);
        let motions = self.read(&self.motions);
        let both = places.iter().zip(&motions);
        both.map(|(&[x, y, z, radius], &[u, v, w, mass])| {
            HardSphere::new([x, y, z], radius)
                .with_velocity([u, v, w])
                .with_mass(mass.recip())
        })
        .collect()
    }
}

fn energy(spheres: &[HardSphere]) -> f64 {
    spheres.iter().map(HardSphere::kinetic_energy).sum()
}

fn momentum(spheres: &[HardSphere]) -> DVec3 {
    let momenta = spheres.iter().map(HardSphere::momentum);
    momenta.map(DVec3::from).sum()
}

/// Returns the sum of the magnitudes of all momenta.
fn all_momenta(spheres: &[HardSphere]) -> f64 {
    let momenta = spheres.iter().map(HardSphere::momentum);
    momenta.map(|momentum| DVec3::from(momentum).length()).sum()
}

/// Returns the depth of the deepest overlap of two spheres, divided by the allowed depth: 10⁻⁶ of the smaller
/// radius plus 4 units in the last place of the largest coordinate. The space is a periodic cube with the given
/// edge, or open.
fn overlap(spheres: &[HardSphere], edge: Option<f64>) -> f64 {
    let largest = spheres.iter().fold(0.0, |most: f64, sphere| {
        most.max(DVec3::from(sphere.center).abs().max_element())
    });
    let ulp = f64::from((largest as f32).next_up()) - f64::from(largest as f32);
    let mut deepest: f64 = 0.0;
    for (i, a) in spheres.iter().enumerate() {
        for b in &spheres[..i] {
            let mut apart = DVec3::from(a.center) - DVec3::from(b.center);
            if let Some(edge) = edge {
                apart -= (apart / edge).round() * edge;
            }
            let depth = a.radius + b.radius - apart.length();
            deepest = deepest.max(depth / (1e-6 * a.radius.min(b.radius) + 4.0 * ulp));
        }
    }
    deepest
}

/// Returns the sites of a cubic lattice in a cell with edge `edge`, and random velocities without total momentum.
fn fluid(count: usize, edge: f64, radius: f64, seed: u64) -> Vec<HardSphere> {
    let mut rng = Rng::with_seed(seed);
    let sites = (1..).find(|n| 4 * n * n * n >= count).unwrap_or(1);
    let step = edge / sites as f64;
    let mut normal = || {
        let (u, v) = (1.0 - rng.f64(), rng.f64());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    };
    let sphere = |site: usize| {
        let site = site * 4 * sites.pow(3) / count;
        let (corner, cell) = (site % 4, site / 4);
        let cell = DVec3::new(
            (cell % sites) as f64,
            (cell / sites % sites) as f64,
            (cell / sites / sites) as f64,
        );
        let half = |axis| {
            if corner == 0 || corner == axis {
                0.0
            } else {
                0.5
            }
        };
        let place = (cell + DVec3::new(half(1), half(2), half(3))) * step;
        let velocity = DVec3::new(normal(), normal(), normal());
        HardSphere::new(place, radius).with_velocity(velocity)
    };
    let mut spheres: Vec<_> = (0..count).map(sphere).collect();
    let mean = momentum(&spheres) / count as f64;
    for sphere in &mut spheres {
        sphere.velocity = (DVec3::from(sphere.velocity) - mean)
            .as_vec3()
            .as_dvec3()
            .to_array();
        sphere.center = DVec3::from(sphere.center).as_vec3().as_dvec3().to_array();
    }
    spheres
}

/// Returns a fluid of spheres with diameter 1, and the edge of its periodic cell.
fn periodic_fluid(count: usize, eta: f64, seed: u64) -> (Vec<HardSphere>, f64) {
    let edge = (count as f64 * std::f64::consts::PI / 6.0 / eta).cbrt() as f32;
    let edge = f64::from(edge);
    (fluid(count, edge, 0.5, seed), edge)
}

fn periodic(edge: f64) -> SimulationOptions {
    SimulationOptions::new().with_domain(Domain::rectangular([0.0; 3], [edge as f32; 3]))
}

fn kolafa(eta: f64) -> f64 {
    (1.0 + eta + eta * eta - 2.0 / 3.0 * eta.powi(3) * (1.0 + eta)) / (1.0 - eta).powi(3)
}

/// Runs a fluid for a number of impacts of each sphere after equilibration, and returns its compressibility factor.
/// Checks energy, momentum and overlaps on the way.
fn compressibility(count: usize, eta: f64, impacts: f64, seed: u64) -> f64 {
    let (spheres, edge) = periodic_fluid(count, eta, seed);
    let options = SimulationBufferOptions::new(count as u32)
        .with_substeps(6)
        .with_simulation(periodic(edge));
    let mut world = World::new(&spheres, &options);
    // Mean time between two impacts of a sphere, by the kinetic theory.
    let time = 1.0
        / (4.0 * 6.0 * eta / std::f64::consts::PI * (kolafa(eta) - 1.0) / (4.0 * eta)
            * std::f64::consts::PI.sqrt());
    let [before, momentum_before] = [energy(&spheres), all_momenta(&spheres)];
    let mut start = SimulationState::default();
    let mut state = start;
    while 2.0 * (state.sphere_impacts as f64) < (impacts + 10.0) * count as f64 {
        state = world.advance(time as f32);
        if 2.0 * (state.sphere_impacts as f64) < 10.0 * count as f64 {
            start = state;
        }
        if count <= 1000 {
            let depth = overlap(&world.spheres(), Some(edge));
            assert!(depth <= 1.0, "{depth} {state:?}");
        }
    }
    let spheres = world.spheres();
    let after = energy(&spheres);
    println!("{state:?} energy {:e}", after / before - 1.0);
    assert!((after / before - 1.0).abs() < 1e-5, "{before} {after}");
    let drift = momentum(&spheres).length() / momentum_before;
    assert!(drift < 1e-5, "{drift}");
    assert!((state.kinetic_energy / after - 1.0).abs() < 1e-4);
    1.0 + (state.virial - start.virial) / (2.0 * after * (state.time - start.time))
}

#[test]
fn fluids_keep_energy_and_momentum_and_have_the_right_pressure() {
    for (eta, bound) in [(0.1, 0.03), (0.4, 0.08)] {
        let z = compressibility(500, eta, 15.0, 1);
        let exact = kolafa(eta);
        println!("{eta}: {z} {exact}");
        assert!((z / exact - 1.0).abs() < bound, "{eta}: {z}, not {exact}");
    }
}

/// In a long substep, many impacts turn out to be wrong, and the GPU removes them again. The GPU would choose shorter
/// substeps, so the test writes the duration of the next substep into the state of the simulation.
#[test]
fn long_substeps_miss_nothing() {
    let (spheres, edge) = periodic_fluid(256, 0.35, 1);
    let options = SimulationBufferOptions::new(256)
        .with_substeps(2)
        .with_rounds(100)
        .with_simulation(periodic(edge));
    let mut world = World::new(&spheres, &options);
    let mut rounds = 0;
    for _ in 0..12 {
        world.set_pace(0.12);
        let state = world.advance(0.12);
        rounds = rounds.max(state.rounds);
        let depth = overlap(&world.spheres(), Some(edge));
        assert!(depth <= 1.0, "{depth} {state:?}");
    }
    let state = world.record(0.0);
    println!("{rounds} {state:?}");
    assert!(rounds >= 8, "{rounds}");
    let after = world.spheres();
    assert!((energy(&after) / energy(&spheres) - 1.0).abs() < 1e-5);
    let drift = (momentum(&after) - momentum(&spheres)).length();
    assert!(drift < 1e-5 * all_momenta(&after), "{drift}");
}

/// Each of 64 spheres is in a cage of fourteen others, and hits one of them, all at the same time. So one workgroup adds
/// more spheres to the next round than it can gather.
#[test]
fn a_crowded_round_leaves_out_no_sphere() {
    let middles = (0..64).map(|k| 16.0 * DVec3::new(f64::from(k % 8), f64::from(k / 8), 0.0));
    let middles: Vec<_> = middles.collect();
    let ball = |middle: &DVec3| HardSphere::new(*middle, 1.0).with_velocity([8.0, 0.125, 0.25]);
    let mut spheres: Vec<_> = middles.iter().map(ball).collect();
    let signs = [1.0, -1.0];
    let corners = signs.map(|x| signs.map(|y| signs.map(|z| DVec3::new(x, y, z).normalize())));
    let axes = signs.map(|sign| DVec3::AXES.map(|axis| sign * axis));
    for middle in middles {
        let places = corners
            .iter()
            .flatten()
            .flatten()
            .chain(axes.iter().flatten());
        spheres.extend(places.map(|place| HardSphere::new(middle + 1.5 * *place, 0.25)));
    }
    let state = assert_like_cpu(&spheres, &SimulationOptions::new(), 0.5, 1e-3);
    assert_eq!(state.sphere_impacts, 128, "{state:?}");
    // A sphere that is left out ends its substep early, so there would be more substeps.
    assert!(state.substeps < 8 && state.rollbacks == 0, "{state:?}");
}

/// Returns the momentum that each wall of a simple shape and each mesh has received.
fn wall_impulses(world: &World) -> Vec<DVec3> {
    let sums = world.read(world.buffers.wall_impulses());
    let vector = |sum: &[f64; 4]| DVec3::from_slice(sum);
    let pairs = sums.chunks_exact(2);
    pairs
        .map(|pair| vector(&pair[0]) + vector(&pair[1]))
        .collect()
}

/// Returns the impulses at the walls of simple shapes, and the sum of the impulses at the triangles of each mesh.
fn of_meshes(walls: &Walls, impulses: &[[f64; 3]]) -> Vec<DVec3> {
    let triangles = walls.meshes().iter().map(|mesh| mesh.triangles().len());
    let count = walls.simple().len() + triangles.sum::<usize>();
    let mut impulses: Vec<_> = impulses.iter().copied().map(DVec3::from).collect();
    // The list ends with the last triangle that was hit.
    impulses.resize(count, DVec3::ZERO);
    let (simple, mut triangles) = impulses.split_at(walls.simple().len());
    let mut all = simple.to_vec();
    for mesh in walls.meshes() {
        let (own, rest) = triangles.split_at(mesh.triangles().len());
        all.push(own.iter().sum());
        triangles = rest;
    }
    all
}

/// Returns the shortest vector that differs from `apart` by a vector of the lattice of a domain with perpendicular
/// edges.
fn beside_lattice(domain: &Domain, mut apart: DVec3) -> DVec3 {
    for k in 0..3 {
        if domain.periodic()[k] {
            let edge = domain.edges()[k][k];
            apart[k] -= (apart[k] / edge).round() * edge;
        }
    }
    apart
}

/// Compares a list of impacts from the GPU with one from the CPU. It ignores the periodic images in
/// the lists, because an image refers to positions at the start of a substep, and GPU and CPU have
/// different substeps. If a sphere hits the common edge of triangles of a mesh, GPU and CPU may
/// name different triangles. So the comparison tells meshes apart, but not the triangles of a mesh.
fn assert_same_impacts(gpu: &[Impact], cpu: &[Impact], simulation: &Simulation, bound: f64) {
    let walls = simulation.walls();
    assert!(gpu.is_sorted_by(|one, other| one.time <= other.time));
    let partner = |impact: &Impact| {
        let Partner::Wall(number) = impact.partner else {
            return impact.partner;
        };
        let mut next = walls.simple().len();
        let ends = walls.meshes().iter().map(|mesh| {
            next += mesh.triangles().len();
            next
        });
        let mesh = ends.take_while(|end| *end <= number as usize).count();
        Partner::Wall(number.min((walls.simple().len() + mesh) as u32))
    };
    let by_pair = |list: &[Impact]| {
        let mut list = list.to_vec();
        list.sort_by_key(|impact| (impact.sphere, partner(impact)));
        list
    };
    assert_eq!(gpu.len(), cpu.len());
    for (one, other) in by_pair(gpu).iter().zip(&by_pair(cpu)) {
        let same = (one.sphere, partner(one)) == (other.sphere, partner(other))
            && (one.time - other.time).abs() < bound
            && DVec3::from(one.normal).distance(other.normal.into()) < 10.0 * bound
            && beside_lattice(
                simulation.domain(),
                DVec3::from(one.point) - DVec3::from(other.point),
            )
            .length()
                < 10.0 * bound
            && DVec3::from(one.impulse).distance(other.impulse.into()) < 10.0 * bound;
        assert!(same, "{one:?} {other:?}");
    }
}

/// Runs the same spheres on the GPU and on the CPU, and compares impacts, positions and velocities.
fn assert_like_cpu(
    spheres: &[HardSphere],
    rules: &SimulationOptions,
    duration: f32,
    bound: f64,
) -> SimulationState {
    let options = SimulationBufferOptions::new(spheres.len() as u32)
        .with_substeps(2)
        .with_simulation(rules.clone().with_impact_list());
    let mut world = World::new(spheres, &options);
    let given = world.spheres();
    let (state, list) = world.advance_with_list(duration);
    let with_list = rules.clone().with_impact_list();
    let mut simulation = Simulation::new(given, with_list).expect("a simulation");
    let report = simulation.step(duration.into()).expect("a step");
    assert_same_impacts(&list, &report.impacts, &simulation, bound);
    assert_eq!(state.sphere_impacts, report.sphere_impacts, "{state:?}");
    assert_eq!(state.wall_impacts, report.wall_impacts, "{state:?}");
    let impulses = wall_impulses(&world);
    let expected = of_meshes(&simulation.walls(), &report.wall_impulses);
    assert!(expected.is_empty() || impulses.len() == expected.len());
    for (sum, expected) in impulses.into_iter().zip(expected) {
        assert!(sum.distance(expected) < 10.0 * bound, "{sum} {expected}");
    }
    for (gpu, cpu) in world.spheres().iter().zip(simulation.spheres()) {
        let apart = beside_lattice(
            simulation.domain(),
            DVec3::from(gpu.center) - DVec3::from(cpu.center),
        );
        let speed = (DVec3::from(gpu.velocity) - DVec3::from(cpu.velocity)).length();
        assert!(apart.length() < bound && speed < bound, "{gpu:?} {cpu:?}");
    }
    state
}

/// Returns spheres that do not overlap, in a box with edges of length 10.
fn random_spheres(count: usize, seed: u64, margin: f64) -> Vec<HardSphere> {
    let mut rng = Rng::with_seed(seed);
    let mut spheres: Vec<HardSphere> = Vec::new();
    while spheres.len() < count {
        let radius = 0.3 + 0.5 * rng.f64();
        let place = DVec3::from([0; 3].map(|_| margin + (10.0 - 2.0 * margin) * rng.f64()));
        let is_free = |other: &HardSphere| {
            DVec3::from(other.center).distance(place) > 1.01 * (radius + other.radius)
        };
        if spheres.iter().all(is_free) {
            let velocity = DVec3::from([0; 3].map(|_| 4.0 * rng.f64() - 2.0));
            let sphere = HardSphere::new(place, radius).with_velocity(velocity);
            spheres.push(sphere.with_mass(0.5 + rng.f64()));
        }
    }
    spheres
}

fn all_impacts(state: &SimulationState) -> u64 {
    state.sphere_impacts + state.wall_impacts
}

/// Returns a mesh of triangles around a centre: an octahedron whose triangles are divided into four a number of
/// times, with all corners at a distance `radius` from the centre.
fn ball_of_triangles(center: [f32; 3], radius: f32, divisions: u32) -> Mesh {
    let mut faces = Vec::new();
    for signs in 0..8 {
        let sign = |bit: u32| f64::from(signs >> bit & 1) * 2.0 - 1.0;
        faces.push([DVec3::X * sign(0), DVec3::Y * sign(1), DVec3::Z * sign(2)]);
    }
    for _ in 0..divisions {
        let quarters = faces.iter().flat_map(|&[a, b, c]| {
            let [d, e, f] = [(a + b), (b + c), (c + a)].map(DVec3::normalize);
            [[a, d, f], [d, b, e], [f, e, c], [d, e, f]]
        });
        faces = quarters.collect();
    }
    let place = |x: &DVec3| (x.as_vec3() * radius + glam::Vec3::from(center)).to_array();
    let corners = faces.iter().flatten().map(place).collect();
    let numbers = (0..faces.len() as u32).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]);
    Mesh::new(corners, numbers.collect()).expect("a ball")
}

fn with_mesh(mut walls: Walls, mesh: Mesh) -> Walls {
    walls.push_mesh(mesh);
    walls
}

fn cube() -> Walls {
    Walls::inside_box([0.0; 3], [10.0; 3])
}

#[test]
fn dilute_worlds_move_as_on_the_cpu() {
    let mut impacts = 0;
    for seed in 0..3 {
        let spheres = random_spheres(24, seed, 1.0);
        let rules = SimulationOptions::new().with_walls(cube());
        impacts += all_impacts(&assert_like_cpu(&spheres, &rules, 2.5, 2e-3));
    }
    // The worlds of seeds 3 to 5 have gravity, inelastic impacts, a fixed sphere and a moving wall.
    for seed in 3..6 {
        let mut spheres = random_spheres(24, seed, 1.0);
        spheres[3] = spheres[3].fixed();
        let mut walls = cube();
        let moving = &mut walls.simple_mut()[1];
        *moving = moving.with_velocity([-0.25, 0.0, 0.0]);
        let rules = SimulationOptions::new()
            .with_walls(walls)
            .with_restitution(0.9)
            .with_wall_restitution(0.8)
            .with_contact_time(0.2);
        // With gravity and such a long contact time, spheres would rest on the CPU, but not on the GPU.
        let rules = match seed {
            3 => rules,
            _ => rules.with_contact_time(0.01).with_gravity([0.0, 0.0, -1.0]),
        };
        impacts += all_impacts(&assert_like_cpu(&spheres, &rules, 2.0, 2e-3));
    }
    // The walls of the worlds of seeds 6 to 8 are a hollow cylinder and a hollow sphere around the
    // spheres, and a thin solid cylinder and a moving solid sphere among them.
    for seed in 6..9 {
        let mut rules = SimulationOptions::new().with_walls(Walls::from_iter([
            Wall::cylinder_inside([5.0, 5.0, 0.0], [0.0, 0.0, 2.0], 8.0),
            Wall::sphere_inside([5.0; 3], 9.0),
            Wall::cylinder([5.0, 5.0, -1.0], [1.0, 0.5, 0.0], 0.25),
            Wall::sphere([5.0, 5.0, 12.0], 1.0).with_velocity([0.0, 0.0, -1.0]),
        ]));
        if seed == 7 {
            rules = rules.with_gravity([0.5, 0.0, -2.0]);
        }
        if seed > 7 {
            // The contact time is so long that the hollow walls turn spheres by large angles.
            rules = rules.with_wall_restitution(0.9).with_contact_time(2.0);
        }
        let spheres = random_spheres(16, seed, 1.0);
        let on_pillar = |sphere: &HardSphere| {
            let axis = DVec3::new(1.0, 0.5, 0.0).normalize();
            let away = DVec3::from(sphere.center) - DVec3::new(5.0, 5.0, -1.0);
            (away - axis * axis.dot(away)).length() < sphere.radius + 0.3
        };
        let spheres: Vec<_> = spheres
            .into_iter()
            .filter(|sphere| !on_pillar(sphere))
            .collect();
        impacts += all_impacts(&assert_like_cpu(&spheres, &rules, 2.5, 2e-3));
    }
    // The worlds of seeds 9 to 11 have a small periodic cell, in which two spheres can meet in
    // several images.
    for seed in 9..12 {
        let mut rng = Rng::with_seed(seed);
        let mut spheres = [[0.5; 3], [2.0, 0.7, 1.9], [1.0, 2.2, 0.4]].map(|place| {
            let velocity = [0; 3].map(|_| 2.0 * rng.f64() - 1.0);
            HardSphere::new(place, 0.55).with_velocity(velocity)
        });
        spheres[1].radius = 0.4;
        let domain = Domain::rectangular([0.0; 3], [2.75, 2.5, 2.75]);
        let rules = SimulationOptions::new().with_domain(domain);
        impacts += all_impacts(&assert_like_cpu(&spheres, &rules, 2.0, 2e-3));
    }
    // The worlds of seeds 12 and 13 are slits between two parallel walls, periodic along x and y.
    // The spheres have different masses, and there is gravity.
    for seed in 12..14 {
        let spheres = random_spheres(20, seed, 1.0);
        let domain = Domain::rectangular([0.0; 3], [10.0; 3]).with_periodic([true, true, false]);
        let walls = [
            Wall::half_space([0.0, 0.0, 1.0], 0.0),
            Wall::half_space([0.0, 0.0, -1.0], -10.0),
        ];
        let rules = SimulationOptions::new()
            .with_domain(domain)
            .with_walls(Walls::from_iter(walls))
            .with_gravity([0.0, 0.5, -1.0]);
        impacts += all_impacts(&assert_like_cpu(&spheres, &rules, 2.0, 2e-3));
    }
    println!("{impacts}");
    assert!(impacts > 150, "{impacts}");
}

#[test]
fn impacts_on_a_line_happen_in_their_order_for_a_long_time() {
    // A cradle: a moving ball hits the first of four balls at rest in a row, in which each ball
    // touches the next.
    let mut balls: Vec<_> = (0..5)
        .map(|k| HardSphere::new([f64::from(k), 0.0, 0.0], 0.5))
        .collect();
    balls[0] = HardSphere::new([-2.0, 0.0, 0.0], 0.5).with_velocity([1.0, 0.0, 0.0]);
    let options = SimulationBufferOptions::new(5);
    let mut world = World::new(&balls, &options);
    let state = world.advance(3.0);
    assert_eq!(state.sphere_impacts, 4);
    let speeds: Vec<_> = world
        .spheres()
        .iter()
        .map(|ball| ball.velocity[0])
        .collect();
    assert_eq!(speeds, [0.0, 0.0, 0.0, 0.0, 1.0]);
    // Two balls of different masses between two walls.
    let balls = [
        HardSphere::new([2.0, 5.0, 5.0], 0.5).with_velocity([1.0, 0.0, 0.0]),
        HardSphere::new([7.0, 5.0, 5.0], 1.0)
            .with_velocity([-0.75, 0.0, 0.0])
            .with_mass(3.0),
    ];
    let rules = SimulationOptions::new().with_walls(cube());
    let state = assert_like_cpu(&balls, &rules, 200.0, 5e-3);
    assert!(all_impacts(&state) > 60, "{state:?}");
}

#[test]
fn two_runs_have_the_same_bytes_and_a_plane_stays_one() {
    let mut rng = Rng::with_seed(3);
    let mut spheres = vec![HardSphere::new([0.0; 3], 0.25); 150];
    for (k, sphere) in spheres.iter_mut().enumerate() {
        sphere.center = [
            (k % 15) as f64 * 0.6 + 0.6,
            (k / 15) as f64 * 0.8 + 1.0,
            0.0,
        ];
        sphere.velocity = [2.0 * rng.f64() - 1.0, 2.0 * rng.f64() - 1.0, 0.0];
    }
    let walls = Walls::from_iter(cube().simple()[..4].iter().copied());
    let rules = SimulationOptions::new()
        .with_walls(walls)
        .with_gravity([0.0, -1.0, 0.0]);
    let options = SimulationBufferOptions::new(150)
        .with_simulation(rules)
        .with_impacts(1000);
    let runs = [0, 1].map(|_| {
        let mut world = World::new(&spheres, &options);
        let (state, list) = world.advance_with_list(1.5);
        assert!(state.sphere_impacts > 200, "{state:?}");
        assert_eq!(list.len() as u64, all_impacts(&state));
        assert!(world.spheres().iter().all(|sphere| sphere.center[2] == 0.0));
        let words = [&world.places, &world.motions].map(|buffer| world.device.read(buffer));
        (words, list)
    });
    assert_eq!(runs[0], runs[1]);
}

#[test]
fn a_full_list_of_impacts_loses_none() {
    let spheres = random_spheres(24, 1, 1.0);
    let rules = SimulationOptions::new()
        .with_walls(cube())
        .with_impact_list();
    let mut on_cpu = None;
    for capacity in [1, 3] {
        let options = SimulationBufferOptions::new(24)
            .with_simulation(rules.clone())
            .with_impacts(capacity);
        let mut world = World::new(&spheres, &options);
        let given = world.spheres();
        let (simulation, report) = on_cpu.get_or_insert_with(|| {
            let mut simulation = Simulation::new(given, rules.clone()).expect("a simulation");
            let report = simulation.step(2.0).expect("a step");
            (simulation, report)
        });
        let (state, list) = world.advance_with_list(2.0);
        println!("{state:?}");
        assert!(list.len() as u64 == all_impacts(&state) && list.len() > 20);
        assert!(state.rollbacks > 5, "{state:?}");
        assert_same_impacts(&list, &report.impacts, simulation, 2e-3);
    }
    // Two pairs of balls have impacts at the same time, but the list of impacts has room for only
    // one. So the simulation stops before these impacts.
    let balls = [(0.0, 0.0), (2.0, 0.0), (0.0, 50.0), (2.0, 50.0)]
        .map(|(x, y)| HardSphere::new([x, y, 0.0], 0.5).with_velocity([1.0 - x, 0.0, 0.0]));
    let mut world = World::new(&balls, &SimulationBufferOptions::new(4).with_impacts(1));
    let mut state = world.record(1.0);
    for _ in 0..20 {
        state = world.record(0.0);
    }
    assert_eq!(state.status, SimulationStatus::IMPACTS_FULL, "{state:?}");
    assert_eq!((state.sphere_impacts, state.listed), (0, 0), "{state:?}");
    assert!((state.time - 0.5).abs() < 1e-3, "{state:?}");
}

#[test]
fn impacts_across_the_faces_of_the_cell_have_images() {
    // The first ball hits the second one across the face x = 0 of the periodic cell. The third ball
    // leaves the cell through its edge at y = 10 and z = 0, and there hits the image of a wall or
    // of a mesh's edge.
    let balls = [
        HardSphere::new([0.75, 3.0, 3.0], 0.25).with_velocity([-1.0, 0.0, 0.0]),
        HardSphere::new([9.7, 3.0, 3.0], 0.25).fixed(),
        HardSphere::new([2.0, 9.5, 0.5], 0.25).with_velocity([0.0, 1.0, -1.0]),
    ];
    let corners = [[1.0, 0.15, 9.85], [3.0, 0.15, 9.85], [2.0, 1.0, 9.0]];
    let mesh = Mesh::new(corners.to_vec(), vec![[0, 1, 2]]).expect("a mesh");
    for walls in [
        Walls::from_iter([Wall::sphere([2.0, 0.25, 9.75], 0.125)]),
        with_mesh(Walls::new(), mesh),
    ] {
        let rules = periodic(10.0).with_walls(walls).with_impact_list();
        let options = SimulationBufferOptions::new(3).with_simulation(rules.clone());
        let mut world = World::new(&balls, &options);
        let (_, list) = world.advance_with_list(0.7);
        let found: Vec<_> = (list.iter())
            .map(|impact| (impact.sphere, impact.partner, impact.image))
            .collect();
        let expected = [
            (2, Partner::Wall(0), [0, -1, 1]),
            (0, Partner::Sphere(1), [-1, 0, 0]),
        ];
        assert_eq!(found, expected, "{list:?}");
        let mut simulation = Simulation::new(balls.to_vec(), rules.clone()).expect("a simulation");
        let report = simulation.step(0.7).expect("a step");
        assert_same_impacts(&list, &report.impacts, &simulation, 1e-4);
        let images = |list: &[Impact]| list.iter().map(|impact| impact.image).collect::<Vec<_>>();
        assert_eq!(images(&list), images(&report.impacts));
    }
}

#[test]
fn balls_in_a_closed_mesh_stay_inside_and_keep_their_energy() {
    let mesh = ball_of_triangles([5.0; 3], 10.0, 2);
    let spheres = random_spheres(60, 4, 1.0);
    let rules = SimulationOptions::new().with_walls(with_mesh(Walls::new(), mesh.clone()));
    let options = SimulationBufferOptions::new(60)
        .with_substeps(8)
        .with_candidates(4000)
        .with_simulation(rules);
    let mut world = World::new(&spheres, &options);
    let corner = |k: u32| DVec3::from(mesh.vertices()[k as usize].map(f64::from));
    let planes: Vec<_> = (mesh.triangles().iter())
        .map(|triangle| {
            let [a, b, c] = triangle.map(corner);
            let normal = (b - a).cross(c - a).normalize();
            let inwards = normal * -normal.dot(a - DVec3::splat(5.0)).signum();
            (inwards, inwards.dot(a))
        })
        .collect();
    let mut state = SimulationState::default();
    while state.wall_impacts < 3000 {
        state = world.advance(10.0);
        let spheres = world.spheres();
        for sphere in &spheres {
            // A sphere is inside the convex mesh if its gap to the plane of each triangle, measured inwards, is not
            // negative. The gap is the distance of the centre from the plane minus the radius.
            let gap = |(inwards, offset): &(DVec3, f64)| {
                inwards.dot(sphere.center.into()) - offset - sphere.radius
            };
            let least = planes.iter().map(gap).fold(f64::INFINITY, f64::min);
            assert!(least > -1e-5, "{least} {sphere:?} {state:?}");
        }
        let depth = overlap(&spheres, None);
        assert!(depth <= 1.0, "{depth} {state:?}");
    }
    println!("{state:?}");
    let change = energy(&world.spheres()) / energy(&spheres) - 1.0;
    assert!(change.abs() < 1e-5, "{change}");
    // The momentum that the balls have lost must equal the impulse on the mesh.
    let lost = momentum(&spheres) - momentum(&world.spheres());
    let impulse = wall_impulses(&world)[0];
    assert!(lost.distance(impulse) < 1e-3, "{lost} {impulse}");
}

#[test]
fn a_cube_of_triangles_has_the_same_impacts_as_six_half_spaces() {
    let spheres = random_spheres(24, 2, 1.0);
    let run = |walls: Walls| {
        let rules = SimulationOptions::new()
            .with_walls(walls)
            .with_gravity([0.0, 0.0, -0.5]);
        let options = SimulationBufferOptions::new(24).with_simulation(rules);
        let mut world = World::new(&spheres, &options);
        let state = world.advance(4.0);
        (all_impacts(&state), state.wall_impacts, world.spheres())
    };
    let (impacts, at_walls, flat) = run(cube());
    let (of_mesh, at_mesh, triangles) = run(with_mesh(Walls::new(), box_mesh([0.0; 3], [10.0; 3])));
    println!("{impacts} {at_walls}");
    assert_eq!((impacts, at_walls), (of_mesh, at_mesh));
    assert!(at_walls > 35, "{at_walls}");
    for (one, other) in flat.iter().zip(&triangles) {
        let apart = DVec3::from(one.center).distance(other.center.into());
        assert!(apart < 1e-3, "{one:?} {other:?}");
    }
}

#[test]
fn worlds_with_meshes_move_as_on_the_cpu() {
    let mut impacts = 0;
    for seed in 20..26 {
        let mut spheres = random_spheres(20, seed, 1.0);
        let center = DVec3::new(5.0, 5.0, 4.0);
        spheres.retain(|sphere| DVec3::from(sphere.center).distance(center) > sphere.radius + 1.6);
        // A nearly round mesh of triangles moves. If the seed is odd, a box-shaped mesh at rest precedes the
        // moving mesh in the list of meshes.
        let ball = ball_of_triangles([5.0, 5.0, 4.0], 1.5, seed as u32 % 3);
        let ball = ball.with_velocity([0.25, -0.5, 0.125]);
        let far = box_mesh([0.0; 3], [10.0; 3]);
        let walls = match seed % 2 {
            0 => with_mesh(cube(), ball),
            _ => with_mesh(with_mesh(Walls::new(), far), ball),
        };
        let mut rules = SimulationOptions::new().with_walls(walls);
        if seed > 22 {
            spheres[1] = spheres[1].fixed();
            rules = rules
                .with_gravity([0.5, 0.0, -2.0])
                .with_wall_restitution(0.75)
                .with_contact_time(0.01);
        }
        impacts += all_impacts(&assert_like_cpu(&spheres, &rules, 2.0, 2e-3));
    }
    println!("{impacts}");
    assert!(impacts > 100, "{impacts}");
}

/// Returns the vector from the nearest image of a place to another place, in a periodic cube.
fn nearest(from: DVec3, to: DVec3, edge: f64) -> DVec3 {
    let apart = to - from;
    apart - (apart / edge).round() * edge
}

#[test]
fn worlds_with_round_walls_and_meshes_in_periodic_domains_move_as_on_the_cpu() {
    let mut at_walls = 0;
    for seed in 40..46 {
        let mut spheres = random_spheres(24, seed, 0.0);
        // The walls are a moving ball at a corner of the periodic cell, and a pillar that is
        // parallel to an edge of the cell. In the worlds with odd seeds, the ball is a mesh, and
        // the pillar is inclined.
        let center = [9.5, 0.25, 0.5];
        let velocity = [0.5, -0.75, 0.25];
        let is_mesh = seed % 2 == 1;
        let mut domain = Domain::rectangular([0.0; 3], [10.0; 3]);
        let walls = if is_mesh {
            let ball = ball_of_triangles(center, 1.5, 1).with_velocity(velocity);
            let pillar = Wall::cylinder([9.75, 5.0, 0.0], [0.25, 0.0, 2.0], 0.5);
            domain = domain.with_periodic([true, true, false]);
            with_mesh(Walls::from_iter([pillar]), ball)
        } else {
            let ball = Wall::sphere(center, 1.5).with_velocity(velocity);
            let pillar = Wall::cylinder([9.75, 5.0, 0.0], [0.0, 0.0, 2.0], 0.5);
            Walls::from_iter([pillar, ball])
        };
        spheres.retain(|sphere| {
            let from_ball = nearest(
                center.map(f64::from).into(),
                DVec3::from(sphere.center),
                10.0,
            );
            let pillar = DVec3::new(
                9.75 + if is_mesh { sphere.center[2] / 8.0 } else { 0.0 },
                5.0,
                0.0,
            );
            let from_pillar =
                nearest(pillar, DVec3::from(sphere.center), 10.0) * DVec3::new(1.0, 1.0, 0.0);
            from_ball.length() > sphere.radius + 1.6 && from_pillar.length() > sphere.radius + 0.6
        });
        // The loop leaves out each sphere that overlaps an earlier sphere or one of its periodic
        // images.
        let mut free: Vec<HardSphere> = Vec::new();
        for sphere in spheres {
            let is_free = |other: &HardSphere| {
                let apart =
                    nearest(DVec3::from(sphere.center), DVec3::from(other.center), 10.0).length();
                apart > 1.01 * (sphere.radius + other.radius)
            };
            if free.iter().all(is_free) {
                free.push(sphere);
            }
        }
        let spheres = free;
        let mut rules = SimulationOptions::new()
            .with_walls(walls)
            .with_domain(domain);
        if seed > 42 {
            rules = rules
                .with_gravity([0.5, 0.0, -1.0])
                .with_wall_restitution(0.75);
        }
        let state = assert_like_cpu(&spheres, &rules, 3.0, 2e-3);
        at_walls += state.wall_impacts;
    }
    // In this small cell, one sphere touches several images of the same ball or mesh.
    for seed in 46..50 {
        let mut rng = Rng::with_seed(seed);
        let ball = HardSphere::new([1.5, 1.25, 1.25], 0.7)
            .with_velocity([0; 3].map(|_| 2.0 * rng.f64() - 1.0));
        let walls = if seed % 2 == 0 {
            Walls::from_iter([Wall::sphere([0.25; 3], 0.375)])
        } else {
            with_mesh(Walls::new(), ball_of_triangles([0.25; 3], 0.375, 0))
        };
        let rules = periodic(2.5).with_walls(walls);
        let state = assert_like_cpu(&[ball], &rules, 8.0, 2e-3);
        at_walls += state.wall_impacts;
    }
    println!("{at_walls}");
    assert!(at_walls > 30, "{at_walls}");
}

#[test]
fn a_wall_that_crosses_the_periodic_cell_for_a_long_time_pushes_a_ball() {
    let corners = vec![[0.0, 3.0, 4.0], [0.0, 6.0, 4.0], [0.0, 5.0, 8.0]];
    let plate = Mesh::new(corners, vec![[0, 1, 2]]).expect("a mesh");
    let plate = plate.with_velocity([2.0, 0.0, 0.0]);
    let ball = Wall::sphere([0.0, 5.0, 5.0], 1.0).with_velocity([2.0, 0.0, 0.0]);
    // Each case has a wall, the number of its impacts on a ball until time 1000, and the ball's
    // coordinate x at the end. The wall moves along x with speed 2, in a periodic cell 10 wide.
    // When the wall hits the ball at rest, the ball gets velocity 4. Then the ball hits the next
    // image of the wall and is at rest again. Between two impacts, the ball moves with speed 2
    // relative to the wall. Its path relative to the wall is 10 minus the thicknesses of ball and
    // wall.
    let cases = [
        (Walls::from_iter([ball]), 286, 7.0),
        (with_mesh(Walls::new(), plate), 222, 3.0),
    ];
    for (walls, impacts, place) in cases {
        let rules = periodic(10.0).with_walls(walls);
        let options = SimulationBufferOptions::new(1).with_simulation(rules);
        let mut world = World::new(&[HardSphere::new([5.0; 3], 0.5)], &options);
        let state = world.advance(1000.0);
        println!("{state:?}");
        assert_eq!(state.wall_impacts, impacts, "{state:?}");
        let ball = world.spheres()[0];
        assert!(DVec3::from(ball.velocity).length() < 1e-5, "{ball:?}");
        // Each impact may shift the ball by a unit in the last place of its coordinates. With exactly rounded
        // divisions, as in lavapipe, the shift is 0, but Vulkan lets a GPU divide less exactly.
        let shift = DVec3::from(ball.center).distance(DVec3::new(place, 5.0, 5.0));
        assert!(shift < impacts as f64 * 1e-6, "{ball:?}");
    }
}

#[test]
fn a_ball_passes_through_meshes_whose_groups_it_ignores() {
    let balls =
        [2.0, 5.0].map(|x| HardSphere::new([x, 2.0, 5.0], 0.5).with_velocity([0.0, 0.0, -1.0]));
    let groups =
        [(1, 0), (2, 0)].map(|(of, ignored)| Sphere::default().with_groups(of, ignored).groups);
    let plate = |z: f32, ignored: u16| {
        let corners = [[-50.0, -50.0], [50.0, -50.0], [0.0, 80.0]].map(|[x, y]| [x, y, z]);
        let plate = Mesh::new(corners.to_vec(), vec![[0, 1, 2]]).expect("a plate");
        plate.with_groups(0, ignored)
    };
    // The first plate ignores group 2, and the second one ignores group 1.
    let walls = with_mesh(with_mesh(Walls::new(), plate(3.0, 2)), plate(1.0, 1));
    let rules = SimulationOptions::new().with_walls(walls);
    let options = SimulationBufferOptions::new(2).with_simulation(rules.clone());
    let mut world = World::new(&balls, &options);
    world.groups = world.device.words(&groups);
    let state = world.advance(4.0);
    assert_eq!(state.wall_impacts, 2, "{state:?}");
    let impulses = wall_impulses(&world);
    assert_eq!(impulses, [DVec3::Z * -2.0; 2]);
    // The first ball turns back at z = 3.5, and the second one at z = 1.5.
    let heights: Vec<_> = world.spheres().iter().map(|ball| ball.center[2]).collect();
    assert!(
        (heights[0] - 6.0).abs() < 1e-5 && (heights[1] - 2.0).abs() < 1e-5,
        "{heights:?}"
    );
    let rules = rules.with_groups(groups.to_vec());
    let mut simulation = Simulation::new(balls.to_vec(), rules).expect("a simulation");
    simulation.step(4.0).expect("a step");
    for (gpu, cpu) in world.spheres().iter().zip(simulation.spheres()) {
        assert!(
            DVec3::from(gpu.center).distance(cpu.center.into()) < 1e-5,
            "{gpu:?} {cpu:?}"
        );
    }
}

#[test]
fn a_ball_hits_the_face_the_edge_and_the_corner_of_a_triangle() {
    let corners = vec![[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
    let mesh = Mesh::new(corners, vec![[0, 1, 2]]).expect("a mesh");
    let down = DVec3::new(0.0, 0.0, -1.0);
    // Each case has the centre and velocity of a ball of radius 1 at the start, its velocity after
    // the impact, and the time of the impact. The triangle is in the plane z = 0. In the first and
    // fourth case, the ball hits the face of the triangle. In the second case, the ball moves down,
    // past an edge of the triangle at a horizontal distance of 0.6. It hits the edge when its
    // centre is at z = √(1 − 0.6²) = 0.8. In the third case, it hits a corner of the triangle in
    // the same way.
    let cases = [
        ([1.0, 1.0, 3.0], down, -down, 2.0),
        ([2.0, -0.6, 3.0], down, DVec3::new(0.0, -0.96, 0.28), 2.2),
        ([-0.6, 0.0, 3.0], down, DVec3::new(-0.96, 0.0, 0.28), 2.2),
        ([1.0, 1.0, -3.0], -down, down, 2.0),
        // This ball passes the corner of the triangle at a distance of more than its radius, and so hits
        // nothing.
        ([-0.8, -0.8, 3.0], down, down, 6.0),
    ];
    let rules = SimulationOptions::new().with_walls(with_mesh(Walls::new(), mesh));
    let options = SimulationBufferOptions::new(1).with_simulation(rules);
    for (center, velocity, after, time) in cases {
        let ball = HardSphere::new(center, 1.0).with_velocity(velocity);
        let mut world = World::new(&[ball], &options);
        world.advance(6.0);
        let ball = world.spheres()[0];
        assert!(
            DVec3::from(ball.velocity).distance(after) < 1e-5,
            "{ball:?} {after}"
        );
        let place = DVec3::from(center) + velocity * time + after * (6.0 - time);
        assert!(
            DVec3::from(ball.center).distance(place) < 1e-4,
            "{ball:?} {place}"
        );
    }
}

#[test]
fn too_many_triangles_near_the_spheres_roll_a_substep_back() {
    // In a long substep, the only sphere may meet most triangles of the mesh around it. The buffers have no
    // room for so many triangles.
    let ball = HardSphere::new([5.0, 4.0, 3.0], 0.5).with_velocity([1.0, 2.0, -0.5]);
    let mesh = ball_of_triangles([5.0; 3], 9.5, 3);
    let rules = SimulationOptions::new().with_walls(with_mesh(Walls::new(), mesh));
    let options = SimulationBufferOptions::new(1)
        .with_candidates(20)
        .with_simulation(rules.clone());
    let mut world = World::new(&[ball], &options);
    let given = world.spheres();
    let mut full = 0;
    let mut state = world.record(50.0);
    for _ in 0..100 {
        if state.status.contains(SimulationStatus::SEARCH_INCOMPLETE) {
            full += 1;
            assert!(
                state.search_status.contains(Status::MESH_TRUNCATED),
                "{state:?}"
            );
        }
        assert!((state.time + state.remaining - 50.0).abs() < 1e-5);
        if state.remaining == 0.0 {
            break;
        }
        state = world.record(0.0);
    }
    println!("{full} {state:?}");
    assert_eq!(state.remaining, 0.0, "{state:?}");
    assert!(full > 0);
    let mut simulation = Simulation::new(given, rules).expect("a simulation");
    let report = simulation.step(50.0).expect("a step");
    assert_eq!(state.wall_impacts, report.wall_impacts);
    assert!(state.wall_impacts > 5, "{state:?}");
    let [gpu, cpu] = [world.spheres()[0], simulation.spheres()[0]];
    assert!(
        DVec3::from(gpu.center).distance(cpu.center.into()) < 1e-3,
        "{gpu:?} {cpu:?}"
    );
}

#[test]
fn spheres_of_one_body_pass_through_each_other_as_on_the_cpu() {
    let compounds = |count: u32| (0..count).map(|k| (k % 3 > 0).then_some(k % 5));
    let [mut apart, mut together] = [0, 0];
    for seed in 30..34 {
        let spheres = random_spheres(24, seed, 1.0);
        let mut rules = SimulationOptions::new().with_walls(cube());
        if seed > 31 {
            // In this periodic domain, many spheres meet periodic images of other spheres.
            rules = periodic(10.0).with_gravity([0.0, 0.25, -0.5]);
        }
        apart += assert_like_cpu(&spheres, &rules, 2.0, 2e-3).sphere_impacts;
        let rules = rules.with_bodies(compounds(24).collect());
        together += assert_like_cpu(&spheres, &rules, 2.0, 2e-3).sphere_impacts;
    }
    println!("{apart} {together}");
    assert!(together > 20 && together < apart, "{apart} {together}");
}

#[test]
fn overlapping_spheres_of_one_body_do_not_shorten_the_substeps() {
    let balls: Vec<_> = (0..60)
        .map(|k| {
            HardSphere::new([0.01 * f64::from(k), 0.0, 0.0], 1.0).with_velocity([1.0, 0.0, 0.0])
        })
        .collect();
    let rules = SimulationOptions::new().with_bodies(vec![Some(u32::MAX); 60]);
    let options = SimulationBufferOptions::new(60)
        .with_candidates(60 * 59 / 2)
        .with_simulation(rules);
    let mut world = World::new(&balls, &options);
    let state = world.advance(10.0);
    // The first substep takes 0.1, and each further one twice as long as the one before.
    assert!(state.substeps <= 8, "{state:?}");
    assert_eq!((state.sphere_impacts, state.rollbacks), (0, 0), "{state:?}");
    for (ball, given) in world.spheres().iter().zip(&balls) {
        assert!(
            (ball.center[0] - given.center[0] - 10.0).abs() < 1e-4,
            "{ball:?}"
        );
    }
}

/// Returns three perpendicular unit vectors in oblique directions.
fn oblique_axes() -> [DVec3; 3] {
    let a = DVec3::new(0.3, -0.5, 0.8).normalize();
    let b = a.cross(DVec3::new(0.7, 0.2, -0.4)).normalize();
    [a, b, a.cross(b)]
}

/// Spheres that pass through each other fall in a hollow sphere and in a hollow cylinder. All their impacts are at the
/// wall.
#[test]
fn impacts_in_hollow_walls_are_at_the_wall() {
    let count = 200;
    let axis = [0.0, 0.0, 1.0];
    let cases = [
        (Wall::sphere_inside([5.0; 3], 7.0), DVec3::ONE),
        (
            Wall::cylinder_inside([5.0; 3], axis, 7.0),
            DVec3::new(1.0, 1.0, 0.0),
        ),
    ];
    for (wall, across) in cases {
        let mut rng = Rng::with_seed(1);
        let mut vector = || DVec3::from([0; 3].map(|_| 2.0 * rng.f64() - 1.0));
        let spheres: Vec<_> = (0..count)
            .map(|_| HardSphere::new(3.0 * vector() + 5.0, 0.5).with_velocity(2.0 * vector()))
            .collect();
        let rules = SimulationOptions::new()
            .with_walls(Walls::from_iter([wall]))
            .with_gravity([0.0, -30.0, 0.0])
            .with_impact_list();
        let options = SimulationBufferOptions::new(count)
            .with_candidates(count * count)
            .with_substeps(40)
            .with_impacts(20_000)
            .with_simulation(rules);
        let mut world = World::new(&spheres, &options);
        let ghost = Sphere::default().with_groups(1, 1).groups;
        world.groups = world.device.words(&vec![ghost; count as usize]);
        let (state, list) = world.advance_with_list(4.0);
        assert!(list.len() > 500, "{state:?}");
        for impact in &list {
            let away = ((DVec3::from(impact.point) - 5.0) * across).length();
            assert!((away - 7.0).abs() < 1e-3, "{impact:?}");
        }
    }
}

/// A light ball bounces off a heavy one. Its impulse has most digits of float32, although the velocity of the heavy
/// ball hardly changes.
#[test]
fn impulses_and_the_virial_have_their_digits_beside_a_heavy_ball() {
    let heavy = HardSphere::new([0.0; 3], 1.0)
        .with_velocity([1.0, 0.5, 0.25])
        .with_mass(1e6);
    let light = HardSphere::new([4.0, 0.5, 0.0], 0.5).with_velocity([-1.0, 0.0, 0.0]);
    for balls in [[heavy, light], [light, heavy]] {
        let rules = SimulationOptions::new().with_impact_list();
        let options = SimulationBufferOptions::new(2)
            .with_impacts(8)
            .with_simulation(rules.clone());
        let mut world = World::new(&balls, &options);
        let (state, list) = world.advance_with_list(4.0);
        let mut simulation = Simulation::new(balls.to_vec(), rules).expect("a simulation");
        let report = simulation.step(4.0).expect("a step");
        let [one, other] = [
            DVec3::from(list[0].impulse),
            DVec3::from(report.impacts[0].impulse),
        ];
        assert!(one.distance(other) < 1e-5, "{one} {other}");
        let change = state.virial / report.virial - 1.0;
        assert!(change.abs() < 1e-5, "{change}");
    }
}

/// Many elastic spheres bounce in containers of all kinds. They pass through each other, so each sphere must keep its
/// own energy. A rounding error of the energy that has the same sign in every impact would show in the mean over all
/// spheres.
#[test]
fn the_energy_of_spheres_does_not_drift_at_oblique_walls() {
    let axes = oblique_axes();
    let single = |x: DVec3| x.as_vec3().to_array();
    // The axis of the cylinder is given by this float32 vector.
    let axis = single(axes[0]);
    let exact_axis = DVec3::from(axis.map(f64::from)).normalize();
    let far = exact_axis * 100.0;
    let planes = axes.into_iter().flat_map(|axis| [axis, -axis]);
    let planes = planes.map(|normal| Wall::half_space(single(normal), -1.5));
    let cube = box_mesh([-1.5; 3], [1.5; 3]);
    let turned = cube.vertices().iter().map(|corner| {
        let [x, y, z] = corner.map(f64::from);
        single(axes[0] * x + axes[1] * y + axes[2] * z)
    });
    let turned = Mesh::new(turned.collect(), cube.triangles().to_vec()).expect("a box");
    // Each case has walls, and the middle of the places of the spheres.
    let cases = [
        (
            Walls::from_iter([Wall::cylinder_inside([0.0; 3], axis, 1.5)]),
            far,
        ),
        (
            Walls::from_iter([Wall::sphere_inside(single(far), 1.5)]),
            far,
        ),
        (planes.collect(), DVec3::ZERO),
        (with_mesh(Walls::new(), turned), DVec3::ZERO),
    ];
    let count = 200;
    for (case, (walls, middle)) in cases.into_iter().enumerate() {
        let mut rng = Rng::with_seed(case as u64);
        let mut vector = || DVec3::from([0; 3].map(|_| 2.0 * rng.f64() - 1.0));
        let spheres: Vec<_> = (0..count)
            .map(|_| HardSphere::new(middle + 0.5 * vector(), 0.5).with_velocity(vector()))
            .collect();
        // With this contact time, the hollow walls turn spheres that approach them at a small angle.
        let rules = SimulationOptions::new()
            .with_walls(walls)
            .with_contact_time(2.0);
        let options = SimulationBufferOptions::new(count)
            .with_candidates(count * count)
            .with_substeps(8)
            .with_simulation(rules);
        let mut world = World::new(&spheres, &options);
        let ghost = Sphere::default().with_groups(1, 1).groups;
        world.groups = world.device.words(&vec![ghost; count as usize]);
        let given = world.spheres();
        let mut state = SimulationState::default();
        while state.wall_impacts < 30 * u64::from(count) {
            state = world.advance(4.0);
        }
        let after = world.spheres();
        let both = || given.iter().zip(&after);
        let changes =
            both().map(|(one, other)| other.kinetic_energy() / one.kinetic_energy() - 1.0);
        let changes: Vec<_> = changes.collect();
        let mean = changes.iter().sum::<f64>() / f64::from(count);
        let square = changes.iter().map(|x| x * x).sum::<f64>() / f64::from(count);
        println!(
            "{case}: mean {mean:.1e}, typical {:.1e}, {state:?}",
            square.sqrt()
        );
        // Rounding errors of random signs, of some 2e-7 in each impact, change the energy of a sphere by some 1e-6 in
        // 30 impacts.
        assert!(mean.abs() < 5e-7 && square.sqrt() < 3e-6, "{case}: {mean}");
        if case == 0 {
            // The wall of a cylinder never pushes along its axis.
            for (one, other) in both() {
                let pushed =
                    (DVec3::from(other.velocity) - DVec3::from(one.velocity)).dot(exact_axis);
                assert!(pushed.abs() < 2e-5, "{pushed} {one:?} {other:?}");
            }
        }
    }
}

/// Light elastic spheres bounce between a heavy sphere and a hollow wall around it, and pass through each other. The sum
/// of the inverse masses of a light and the heavy sphere lies nearly halfway between two float32 numbers, so its
/// rounding error is nearly as large as possible. If all impacts had this error, the energy would change by some 2e-6.
#[test]
fn the_energy_of_light_spheres_does_not_drift_at_a_heavy_sphere() {
    let count = 200;
    let heavy = HardSphere::new([0.0; 3], 0.5).with_mass(8385.0);
    let mut rng = Rng::with_seed(1);
    let mut vector = || DVec3::from([0; 3].map(|_| 2.0 * rng.f64() - 1.0));
    let light = (0..count).map(|_| {
        let place = vector().normalize();
        HardSphere::new(place, 0.125).with_velocity(vector().normalize())
    });
    let spheres: Vec<_> = light.chain([heavy]).collect();
    let wall = Wall::sphere_inside([0.0; 3], 1.5);
    let rules = SimulationOptions::new().with_walls(Walls::from_iter([wall]));
    let options = SimulationBufferOptions::new(count + 1)
        .with_candidates(count * count)
        .with_substeps(8)
        .with_simulation(rules);
    let mut world = World::new(&spheres, &options);
    let ghost = Sphere::default().with_groups(1, 1).groups;
    let mut groups = vec![ghost; count as usize];
    groups.push(0);
    world.groups = world.device.words(&groups);
    let before = energy(&world.spheres());
    let mut state = SimulationState::default();
    while state.sphere_impacts < 15 * u64::from(count) {
        state = world.advance(2.0);
    }
    let change = energy(&world.spheres()) / before - 1.0;
    println!("{change:.1e} {state:?}");
    assert!(change.abs() < 1.2e-6, "{change}");
}

/// Two balls hit a fixed sphere, the second one within the contact time after the first. The fixed sphere reflects both
/// with the given restitution, as a wall would.
#[test]
fn a_fixed_sphere_does_not_make_the_impacts_of_others_elastic() {
    let ball = |x: f64, v: f64| HardSphere::new([x, 0.0, 0.0], 0.5).with_velocity([v, 0.0, 0.0]);
    let fixed = HardSphere::new([0.0; 3], 1.0).fixed();
    let spheres = [ball(-2.5, 1.0), fixed, ball(2.75, -1.0)];
    let rules = SimulationOptions::new()
        .with_restitution(0.5)
        .with_contact_time(1.0);
    for steps in [1, 8] {
        let options = SimulationBufferOptions::new(3).with_simulation(rules.clone());
        let mut world = World::new(&spheres, &options);
        for _ in 0..steps {
            world.advance(2.0 / steps as f32);
        }
        for (sphere, expected) in world.spheres().iter().zip([-0.5, 0.0, 0.5]) {
            let speed = sphere.velocity[0];
            assert!((speed - expected).abs() < 1e-6, "{speed} in {steps} steps");
        }
    }
}

/// After an impact without restitution, a sphere slides along a wall, or moves together with another
/// sphere. It must not hit this wall or sphere again.
#[test]
fn bodies_that_stay_in_contact_have_one_impact() {
    let [normal, along, across] = oblique_axes();
    let single = |x: DVec3| x.as_vec3().to_array();
    let far = along * 100.0;
    let corners = [
        across * 900.0,
        along * 900.0 - across * 900.0,
        -along * 900.0 - across * 900.0,
    ];
    let mesh = Mesh::new(corners.map(single).to_vec(), vec![[0, 1, 2]]).expect("a plate");
    for walls in [
        Walls::from_iter([Wall::half_space(single(normal), 0.0)]),
        with_mesh(Walls::new(), mesh),
    ] {
        let mut rng = Rng::with_seed(4);
        let mut spheres = Vec::new();
        for k in 0..30 {
            // A sphere that falls onto the wall, and far above it two spheres, the first of which
            // catches up with the second.
            let place = far + along * (4.0 * f64::from(k)) + normal * 0.6;
            let sideways = (across + along * 1e-3) * rng.f64();
            let falling = sideways - normal * (0.25 + rng.f64());
            spheres.push(HardSphere::new(place, 0.5).with_velocity(falling));
            let aside = normal * (0.5 * f64::from(k % 2));
            for (above, speed) in [
                (normal * 10.0, 1.5),
                (normal * 10.0 + across * 1.2 + aside, 1.0),
            ] {
                spheres.push(HardSphere::new(place + above, 0.5).with_velocity(across * speed));
            }
        }
        let rules = SimulationOptions::new()
            .with_walls(walls)
            .with_restitution(0.0)
            .with_wall_restitution(0.0);
        let options = SimulationBufferOptions::new(90).with_simulation(rules);
        let mut world = World::new(&spheres, &options);
        for _ in 0..30 {
            let state = world.advance(1.0);
            assert!(
                state.sphere_impacts <= 30 && state.wall_impacts <= 30,
                "{state:?}"
            );
        }
        let state = world.record(0.0);
        assert_eq!(
            (state.sphere_impacts, state.wall_impacts),
            (30, 30),
            "{state:?}"
        );
        for ball in world.spheres().iter().step_by(3) {
            let [height, rising] =
                [DVec3::from(ball.center), DVec3::from(ball.velocity)].map(|x| x.dot(normal));
            assert!(
                (height - 0.5).abs() < 1e-3 && rising.abs() < 1e-5,
                "{ball:?}"
            );
        }
    }
}

#[test]
fn few_spheres_in_a_small_cell_roll_few_substeps_back() {
    for count in 1..5 {
        let (mut spheres, edge) = periodic_fluid(count, 0.2, 1);
        if count == 1 {
            spheres[0].velocity = [0.3, 0.5, 0.7];
        }
        let options = SimulationBufferOptions::new(count as u32)
            .with_substeps(5)
            .with_simulation(periodic(edge));
        let mut world = World::new(&spheres, &options);
        let mut state = world.record(1e4);
        for _ in 1..20 {
            state = world.record(0.0);
        }
        assert_eq!(state.substeps + state.rollbacks, 100, "{state:?}");
        assert!(state.rollbacks <= 20, "{state:?}");
    }
}

#[test]
fn a_ball_that_slides_along_a_hollow_wall_rolls_few_substeps_back() {
    // The path of a sphere in a substep has room for eight impacts. The first ball has one impact after another. The
    // other balls are at rest.
    for count in [1, 20] {
        let resting = (1..count).map(|k| HardSphere::new([f64::from(k) / 8.0, 0.0, 0.0], 0.05));
        let sliding = HardSphere::new([0.0, 6.5, 0.0], 0.5).with_velocity([0.0, 0.0, 5.0]);
        let spheres: Vec<_> = std::iter::once(sliding).chain(resting).collect();
        let wall = Wall::sphere_inside([0.0; 3], 7.0);
        let rules = SimulationOptions::new()
            .with_walls(Walls::from_iter([wall]))
            .with_wall_restitution(0.0)
            .with_contact_time(1e-3);
        let options = SimulationBufferOptions::new(count).with_simulation(rules);
        let mut world = World::new(&spheres, &options);
        let state = world.advance(0.25);
        println!("{state:?}");
        assert!(state.wall_impacts > 200, "{state:?}");
        assert!(state.rollbacks * 20 < state.substeps, "{state:?}");
        assert!(
            state.wall_impacts > u64::from(6 * state.substeps),
            "{state:?}"
        );
        let angle: f64 = 5.0 / 6.5 * 0.25;
        let wanted = DVec3::new(0.0, angle.cos(), angle.sin()) * 6.5;
        let ball = world.spheres()[0];
        assert!(
            DVec3::from(ball.center).distance(wanted) < 1e-3,
            "{ball:?} {wanted:?}"
        );
    }
}

#[test]
fn balls_that_slide_along_a_hollow_wall_far_from_the_origin_stay_inside() {
    let center = DVec3::splat(105.0);
    let mut rng = Rng::with_seed(3);
    let spheres: Vec<_> = (0..10_u8)
        .map(|k| {
            // The balls move at different heights, so they never meet.
            let (height, angle) = (1.1 * (f64::from(k) - 4.5), 6.0 * rng.f64());
            let around = DVec3::new(angle.cos(), 0.0, angle.sin());
            let place = center + around * 6.5 + DVec3::Y * height;
            HardSphere::new(place, 0.5).with_velocity(around.cross(DVec3::Y) * 2.0)
        })
        .collect();
    let wall = Wall::cylinder_inside(center.as_vec3(), [0.0, 1.0, 0.0], 7.0);
    let rules = SimulationOptions::new()
        .with_walls(Walls::from_iter([wall]))
        .with_wall_restitution(0.0)
        .with_contact_time(1e-3);
    let options = SimulationBufferOptions::new(10).with_simulation(rules);
    let mut world = World::new(&spheres, &options);
    let mut deepest = 0.0_f64;
    for _ in 0..20 {
        world.advance(0.1);
        for ball in world.spheres() {
            let across = (DVec3::from(ball.center) - center).with_y(0.0);
            deepest = deepest.max(across.length() - 6.5);
        }
    }
    // The limit is 10⁻⁶ radii plus 4 units in the last place of the coordinates.
    let unit = 2.0_f64.powi(-17);
    assert!(deepest < 0.5e-6 + 4.0 * unit, "{} units", deepest / unit);
}

#[test]
fn rounding_errors_of_positions_do_not_add_up() {
    // In each recording, the first ball moves by a tenth of a unit in the last place of its coordinate. The second ball
    // is as slow. It leaves the cell through one face and enters through the opposite one. The third ball is at rest.
    // The application moves the fourth ball to a new place after each recording, so its earlier motion does not count.
    let unit = 2.0_f64.powi(-13);
    let slow = DVec3::X * (0.1 * unit);
    let at = |place: [f64; 3]| HardSphere::new(place, 1.0).with_velocity(slow);
    let balls = [
        at([1100.0, 1000.0, 1000.0]),
        at([1500.0 - unit, 1000.0, 1000.0]),
        at([1200.0, 1200.0, 1000.0]).with_velocity(DVec3::ZERO),
        at([1100.0, 1200.0, 1000.0]),
    ];
    let domain = Domain::rectangular([500.0; 3], [1000.0; 3]);
    for (rules, edge) in [
        (SimulationOptions::new(), 0.0),
        (SimulationOptions::new().with_domain(domain), 1000.0),
    ] {
        let options = SimulationBufferOptions::new(4).with_simulation(rules);
        let mut world = World::new(&balls, &options);
        for k in 0..100_u16 {
            let state = world.advance(1.0);
            assert_eq!(state.rollbacks, 0, "{state:?}");
            let moved = world.spheres();
            let wanted = [
                DVec3::from(balls[0].center) + slow * f64::from(k + 1),
                DVec3::from(balls[1].center) + slow * f64::from(k + 1)
                    - DVec3::X * if k < 9 { 0.0 } else { edge },
                DVec3::from(balls[2].center),
            ];
            for (ball, wanted) in moved.iter().zip(wanted) {
                let mut error = DVec3::from(ball.center) - wanted;
                error.x -= (error.x / 1000.0).round() * edge;
                assert!(error.length() < 0.51 * unit, "{k} {ball:?} {wanted:?}");
            }
            assert_eq!(moved[3].center[0], 1100.0 + f64::from(k % 2), "{k}");
            let place = [1100.0 + f64::from((k + 1) % 2), 1200.0, 1000.0, 1.0];
            let words = place.map(|x| (x as f32).to_bits());
            (world.device.queue).write_buffer(&world.places, 48, bytemuck::cast_slice(&words));
        }
    }
}

#[test]
fn a_light_ball_between_a_wall_and_a_heavy_ball_has_314_impacts_at_once() {
    // The number of impacts has the digits of pi (G. Galperin, Regular and Chaotic Dynamics 8, 2003, 375-394). The
    // balls touch each other and the wall, so all impacts are at time 0.
    let light = HardSphere::new([0.5, 0.0, 0.0], 0.5);
    let heavy = HardSphere::new([1.5, 0.0, 0.0], 0.5)
        .with_velocity([-1.0, 0.0, 0.0])
        .with_mass(1e4);
    let wall = Wall::half_space([1.0, 0.0, 0.0], 0.0);
    // With the restitution 0.5, only the first impact is inelastic, because there is a contact time.
    for restitution in [1.0, 0.5] {
        let rules = SimulationOptions::new()
            .with_walls(Walls::from_iter([wall]))
            .with_restitution(restitution)
            .with_wall_restitution(restitution)
            .with_contact_time(0.01);
        let options = SimulationBufferOptions::new(2).with_simulation(rules);
        let mut world = World::new(&[light, heavy], &options);
        let state = world.advance(1.0);
        assert_eq!(all_impacts(&state), 314, "{state:?}");
        assert!((state.time - 1.0).abs() < 1e-6, "{state:?}");
        assert!(state.rollbacks == 0 && state.substeps < 70, "{state:?}");
        let spheres = world.spheres();
        // The reduced mass of the two balls is 1 / 1.0001.
        let lost = 0.5 / 1.0001 * (1.0 - restitution * restitution);
        let energy = energy(&spheres);
        assert!((energy + lost - 5000.0).abs() < 0.05, "{energy} {lost}");
        assert!((spheres[1].center[0] - 2.5).abs() < 1e-3, "{spheres:?}");
    }
}

#[test]
fn a_ball_with_more_impacts_than_others_ends_substeps_early_and_loses_no_impact() {
    // A ball moves to and fro between two fixed balls. In each substep, it has as many impacts as its path has room
    // for. The other balls are in a closed box.
    let mut spheres = random_spheres(24, 2, 1.0);
    let fixed = [30.0, 33.0].map(|x| HardSphere::new([x, 0.0, 0.0], 1.0).fixed());
    let ball = HardSphere::new([31.5, 0.0, 0.0], 0.375).with_velocity([20.0, 0.0, 0.0]);
    spheres.extend(fixed.into_iter().chain([ball]));
    let walls = with_mesh(Walls::new(), box_mesh([0.0; 3], [10.0; 3]));
    let rules = SimulationOptions::new().with_walls(walls);
    let state = assert_like_cpu(&spheres, &rules, 2.5, 2e-3);
    assert!(state.sphere_impacts > 200, "{state:?}");
    assert!(state.rollbacks * 20 < state.substeps, "{state:?}");
    assert!(
        state.sphere_impacts > u64::from(6 * state.substeps),
        "{state:?}"
    );
}

#[test]
fn a_ball_that_falls_close_to_a_wall_of_triangles_does_not_hit_it() {
    let room = box_mesh([-5.0; 3], [5.0; 3]);
    for angle in [0.0, 0.3] {
        let turn = DQuat::from_rotation_y(angle);
        let turned = |corner: &[f32; 3]| {
            let corner = turn * glam::Vec3::from(*corner).as_dvec3();
            corner.as_vec3().to_array()
        };
        let corners = room.vertices().iter().map(turned).collect();
        let walls = Mesh::new(corners, room.triangles().to_vec()).expect("a mesh");
        let place = turn * DVec3::new(-4.5 + 1e-4, 3.0, -1.0);
        let rules = SimulationOptions::new()
            .with_walls(with_mesh(Walls::new(), walls))
            .with_gravity([0.0, -1.0, 0.0]);
        let options = SimulationBufferOptions::new(1).with_simulation(rules);
        let mut world = World::new(&[HardSphere::new(place, 0.5)], &options);
        let state = world.advance(3.0);
        assert_eq!((state.wall_impacts, state.rollbacks), (0, 0), "{state:?}");
        let after = world.spheres()[0];
        let wanted = place - DVec3::Y * 4.5;
        assert!(
            DVec3::from(after.center).distance(wanted) < 1e-5,
            "{after:?}"
        );
    }
}

#[test]
fn a_small_ball_hits_a_long_edge_as_on_the_cpu() {
    // The edge is 5000 times as long as the radius of the balls, which slide along it before they hit it.
    let mut rng = Rng::with_seed(7);
    let turn = DQuat::from_euler(glam::EulerRot::XYZ, 0.5, 0.4, 0.3);
    let corners = [[0.0, 0.0, 0.0], [100.0, 0.0, 0.0], [50.0, -30.0, 0.0]];
    let corners = corners.map(|corner| (turn * DVec3::from(corner)).as_vec3().to_array());
    let mesh = Mesh::new(corners.to_vec(), vec![[0, 1, 2]]).expect("a mesh");
    let balls: Vec<_> = (10..70_u8)
        .map(|x| {
            let [height, aside] = [0.02 + 0.1 * rng.f64(), 0.01 * (rng.f64() - 0.5)];
            let velocity = [2.0, 0.06 * rng.f64() - 0.02, 0.003 * (rng.f64() - 0.5)];
            HardSphere::new(turn * DVec3::new(x.into(), height, aside), 0.02)
                .with_velocity(turn * DVec3::from(velocity))
        })
        .collect();
    let rules = SimulationOptions::new()
        .with_walls(with_mesh(Walls::new(), mesh))
        .with_gravity(turn * DVec3::new(0.0, -0.02, 0.0))
        .with_impact_list();
    let options = SimulationBufferOptions::new(60).with_simulation(rules.clone());
    let mut world = World::new(&balls, &options);
    let given = world.spheres();
    let (_, on_gpu) = world.advance_with_list(3.0);
    let mut simulation = Simulation::new(given, rules).expect("a simulation");
    let on_cpu = simulation.step(3.0).expect("a step").impacts;
    let mut hit = 0;
    for ball in 0..60 {
        let first = |list: &[Impact]| list.iter().find(|impact| impact.sphere == ball).copied();
        let [Some(gpu), Some(cpu)] = [first(&on_gpu), first(&on_cpu)] else {
            assert!(
                first(&on_gpu).is_none() && first(&on_cpu).is_none(),
                "ball {ball}"
            );
            continue;
        };
        assert!(
            DVec3::from(gpu.normal).distance(cpu.normal.into()) < 5e-4,
            "{gpu:?} {cpu:?}"
        );
        hit += 1;
    }
    assert!(hit > 20, "{hit} balls");
}

#[test]
fn a_piston_pushes_a_ball() {
    let ball = HardSphere::new([5.0; 3], 0.5);
    let piston = Wall::half_space([1.0, 0.0, 0.0], 0.0).with_velocity([2.0, 0.0, 0.0]);
    let rules = SimulationOptions::new().with_walls(Walls::from_iter([piston]));
    let options = SimulationBufferOptions::new(1).with_simulation(rules);
    let mut world = World::new(&[ball], &options);
    let state = world.advance(3.0);
    let moved = world.spheres()[0];
    assert_eq!((state.sphere_impacts, state.wall_impacts), (0, 1));
    assert_eq!(moved.velocity, [4.0, 0.0, 0.0]);
    // The piston reaches the ball at time 2.25.
    assert!((moved.center[0] - 8.0).abs() < 1e-5, "{moved:?}");
}

#[test]
fn a_mesh_that_has_moved_far_pushes_a_ball() {
    let ball = HardSphere::new([15.0, 5.0, 5.0], 0.5);
    let corners = vec![[0.0, 3.0, 4.0], [0.0, 6.0, 4.0], [0.0, 5.0, 8.0]];
    let plate = Mesh::new(corners, vec![[0, 1, 2]]).expect("a mesh");
    let plate = plate.with_velocity([2.0, 0.0, 0.0]);
    let rules = SimulationOptions::new().with_walls(with_mesh(Walls::new(), plate));
    let options = SimulationBufferOptions::new(1).with_simulation(rules);
    let mut world = World::new(&[ball], &options);
    // The plate reaches the ball at time 7.25. The ball rests before, so only the plate moves.
    for _ in 0..16 {
        world.advance(0.5);
    }
    let moved = world.spheres()[0];
    assert!(
        DVec3::from(moved.velocity).distance(DVec3::X * 4.0) < 1e-5,
        "{moved:?}"
    );
    assert!((moved.center[0] - 18.0).abs() < 1e-4, "{moved:?}");
}

#[test]
fn an_inelastic_ball_comes_to_rest_on_a_floor() {
    let ball = HardSphere::new([5.0, 5.0, 1.5], 0.5);
    let rules = SimulationOptions::new()
        .with_walls(cube())
        .with_gravity([0.0, 0.0, -10.0])
        .with_wall_restitution(0.5)
        .with_contact_time(0.01);
    let options = SimulationBufferOptions::new(1).with_simulation(rules);
    let mut world = World::new(&[ball], &options);
    let state = world.advance(2.0);
    let ball = world.spheres()[0];
    // The ball hits the floor at the speeds √20, √20/2, … The seventh is below 0.1, gravity times the contact time.
    assert_eq!(state.wall_impacts, 7, "{state:?}");
    assert!((ball.center[2] - 0.5).abs() < 1e-5, "{ball:?}");
    assert_eq!(DVec3::from(ball.velocity), DVec3::ZERO);
}

/// A ball slides on the floor between two walls. The jumps with which it lies on the floor do not make its other impacts
/// elastic: each hit takes away half of its speed. A ball without restitution that falls on it does not return.
#[test]
fn a_floor_does_not_make_other_impacts_elastic() {
    for contact_time in [5e-3, 2e-2] {
        let ball = HardSphere::new([5.0, 5.0, 1.0], 1.0).with_velocity([8.0, 0.0, 0.0]);
        let rules = SimulationOptions::new()
            .with_walls(cube())
            .with_gravity([0.0, 0.0, -9.8])
            .with_wall_restitution(0.5)
            .with_contact_time(contact_time);
        let options = SimulationBufferOptions::new(1).with_simulation(rules);
        let mut world = World::new(&[ball], &options);
        // The hits are at the times 0.5, 2.5 and 6.5.
        let state = world.advance(7.0);
        assert!(state.time > 6.99, "{state:?}");
        let after = world.spheres()[0];
        assert!((after.velocity[0].abs() - 1.0).abs() < 1e-3, "{after:?}");
    }
    let balls = [1.0, 5.0].map(|z| HardSphere::new([5.0, 5.0, z], 1.0));
    let rules = SimulationOptions::new()
        .with_walls(cube())
        .with_gravity([0.0, 0.0, -9.8])
        .with_wall_restitution(0.0)
        .with_restitution(0.0)
        .with_contact_time(1e-2);
    let options = SimulationBufferOptions::new(2).with_simulation(rules);
    let mut world = World::new(&balls, &options);
    for _ in 0..8 {
        world.advance(0.25);
        let upper = world.spheres()[1];
        assert!(upper.velocity[2] < 1.0, "{upper:?}");
    }
    assert!((world.spheres()[1].center[2] - 3.0).abs() < 0.05);
}

/// What a pile does, frame by frame: the numbers of substeps and impacts in each frame of 1/60, and at the end the state,
/// the force on all walls along gravity in the last half second, divided by the weight, and the spheres.
struct Pile {
    substeps: Vec<u64>,
    impacts: Vec<u64>,
    state: SimulationState,
    force: f64,
    spheres: Vec<HardSphere>,
}

/// Spheres under gravity along y, in a box that is open above, or discs.
fn settled(spheres: &[HardSphere], options: &SimulationBufferOptions, frames: usize) -> Pile {
    let mut world = World::new(spheres, options);
    let (mut substeps, mut impacts) = (Vec::new(), Vec::new());
    let mut state = SimulationState::default();
    let down = |world: &World| -> f64 { wall_impulses(world).iter().map(|sum| -sum.y).sum() };
    let mut before = 0.0;
    for frame in 0..frames {
        if frame + 30 == frames {
            before = down(&world);
        }
        let next = world.advance(1.0 / 60.0);
        substeps.push(u64::from(
            next.substeps + next.rollbacks - state.substeps - state.rollbacks,
        ));
        impacts.push(all_impacts(&next) - all_impacts(&state));
        state = next;
    }
    let weight: f64 = spheres.iter().map(|ball| ball.mass * 9.8).sum();
    Pile {
        substeps,
        impacts,
        state,
        force: (down(&world) - before) / (0.5 * weight),
        spheres: world.spheres(),
    }
}

/// Returns the floor y = `floor` and walls at the distance `width`, without those along z for discs.
fn open_box(floor: f32, width: f32, discs: bool) -> Walls {
    let faces = [
        ([0.0, 1.0, 0.0], floor),
        ([1.0, 0.0, 0.0], 0.0),
        ([-1.0, 0.0, 0.0], -width),
        ([0.0, 0.0, 1.0], 0.0),
        ([0.0, 0.0, -1.0], -width),
    ];
    let faces = faces.into_iter().take(if discs { 3 } else { 5 });
    let faces = faces.map(|(normal, offset)| Wall::half_space(normal, offset));
    faces.collect()
}

fn under_gravity(
    walls: Walls,
    [restitution, at_walls]: [f64; 2],
    contact_time: f64,
) -> SimulationOptions {
    SimulationOptions::new()
        .with_walls(walls)
        .with_gravity([0.0, -9.8, 0.0])
        .with_restitution(restitution)
        .with_wall_restitution(at_walls)
        .with_contact_time(contact_time)
}

fn buffers(count: usize, rules: &SimulationOptions) -> SimulationBufferOptions {
    SimulationBufferOptions::new(count as u32)
        .with_substeps(8)
        .with_simulation(rules.clone())
}

/// The floor under a column of balls that touch bears its weight, every ball stays where it is, and a frame takes one
/// substep without impacts. It is the same if all sweeps are one dispatch, and if each is one of its own.
#[test]
fn the_floor_bears_the_weight_of_a_column() {
    for (count, room, contact_time) in [(1, 1, 1e-3), (8, 8, 1e-2), (8, 5000, 1e-3)] {
        let column: Vec<_> = (0..count)
            .map(|k| HardSphere::new([0.5, f64::from(k) + 0.5, 0.5], 0.5).with_mass(2.0))
            .collect();
        let rules = under_gravity(open_box(0.0, 1.0, false), [0.2; 2], contact_time);
        let pile = settled(&column, &buffers(room, &rules), 90);
        assert!((pile.force - 1.0).abs() < 1e-4, "{count}: {}", pile.force);
        assert_eq!(pile.state.kinetic_energy, 0.0, "{count}");
        assert_eq!(pile.impacts[60..].iter().sum::<u64>(), 0, "{count}");
        assert_eq!(pile.substeps[60..].iter().sum::<u64>(), 30, "{count}");
        for (ball, start) in pile.spheres.iter().zip(&column) {
            let moved = DVec3::from(ball.center).distance(start.center.into());
            assert!(moved < 1e-4, "{count}: {moved}");
        }
    }
}

/// Elastic balls that lie on a floor at the start stay there, and bounce for ever if they fall, also if all their impacts
/// are slow.
#[test]
fn elastic_balls_rest_only_if_they_do_not_fall() {
    let ball = |x: f64, height: f64| HardSphere::new([x, 0.5 + height, 0.0], 0.5);
    let balls = [ball(1.0, 0.0), ball(3.0, 1.0), ball(5.0, 1e-4)];
    let rules = under_gravity(open_box(0.0, 10.0, true), [1.0; 2], 1e-2);
    let pile = settled(&balls, &buffers(3, &rules), 60);
    assert_eq!(DVec3::from(pile.spheres[0].velocity), DVec3::ZERO);
    for (ball, start) in pile.spheres.iter().zip(&balls) {
        let energy = ball.kinetic_energy() + 9.8 * (ball.center[1] - 0.5);
        let before = 9.8 * (start.center[1] - 0.5);
        assert!(
            (energy - before).abs() <= 1e-2 * before,
            "{energy} {before}"
        );
    }
}

/// A pile of balls comes to rest. No frame takes many times more than the others, nothing sinks, and the floor bears the
/// weight. On the CPU, the pile stays as it is.
#[test]
fn a_pile_comes_to_rest() {
    let mut rng = Rng::with_seed(1);
    let balls: Vec<_> = (0..18)
        .map(|k| {
            let [x, z] = [k % 3, k / 3 % 3].map(|k| 0.55 + 1.2 * f64::from(k) + 0.1 * rng.f64());
            HardSphere::new([x, 0.55 + 1.2 * f64::from(k / 9), z], 0.5)
        })
        .collect();
    let rules = under_gravity(open_box(0.0, 4.0, false), [0.1; 2], 1e-3);
    let pile = settled(&balls, &buffers(balls.len(), &rules), 300);
    let mut sorted = pile.substeps.clone();
    sorted.sort_unstable();
    let most = *sorted.last().expect("frames");
    assert!(most <= 50 * sorted[150].max(2), "{most} substeps");
    let most = *pile.impacts.iter().max().expect("frames");
    assert!(most <= 50 * balls.len() as u64, "{most} impacts");
    let energy = pile.state.kinetic_energy / balls.len() as f64;
    assert!(energy < 1e-4, "{energy}");
    assert!((pile.force - 1.0).abs() < 0.02, "{}", pile.force);
    for (k, ball) in pile.spheres.iter().enumerate() {
        assert!(ball.center[1] - 0.5 > -1e-3, "{ball:?}");
        for other in &pile.spheres[..k] {
            let away = DVec3::from(ball.center).distance(other.center.into());
            assert!(away > 1.0 - 1e-3, "{away}");
        }
    }
    let height = |spheres: &[HardSphere]| -> f64 {
        let heights = spheres.iter().map(|ball| ball.center[1]);
        heights.sum::<f64>() / spheres.len() as f64
    };
    let before = height(&pile.spheres);
    let mut again = Simulation::new(pile.spheres, rules).expect("a simulation");
    for _ in 0..60 {
        again.step(1.0 / 60.0).expect("a step");
    }
    let after = height(again.spheres());
    assert!((after - before).abs() < 0.01, "{before} {after}");
}

/// The ball below is knocked out, and the one on it falls at once.
#[test]
fn a_ball_falls_when_its_support_is_knocked_away() {
    let balls = [
        HardSphere::new([50.0, 0.5, 0.0], 0.5),
        HardSphere::new([50.0, 1.5, 0.0], 0.5),
        HardSphere::new([10.0, 0.5, 0.0], 0.5).with_velocity([39.0, 0.0, 0.0]),
    ];
    for frames in [1, 75] {
        let rules = under_gravity(open_box(0.0, 100.0, true), [1.0, 0.0], 1e-3);
        let mut world = World::new(&balls, &buffers(3, &rules));
        for _ in 0..frames {
            world.advance(1.25 / frames as f32);
        }
        // The ball comes at time 1. Without it, the upper ball falls by g/2·0.25² = 0.306.
        let y = world.spheres()[1].center[1];
        assert!(
            (y - (1.5 - 0.5 * 9.8 * 0.0625)).abs() < 0.03,
            "{frames}: {y}"
        );
    }
}

/// Returns three balls on a line. The first ball hits the second, which hits the third 0.02 later.
fn three_balls() -> Vec<HardSphere> {
    let ball = |x: f64| HardSphere::new([x, 0.0, 0.0], 0.5);
    vec![
        ball(0.0).with_velocity([1.0, 0.0, 0.0]),
        ball(1.02),
        ball(2.04),
    ]
}

/// Returns a world of balls that ignore one another.
fn apart(balls: &[HardSphere], rules: SimulationOptions) -> World {
    let options = SimulationBufferOptions::new(balls.len() as u32).with_simulation(rules);
    let world = World::new(balls, &options);
    let groups = bytemuck::cast_slice(&vec![0x0001_0001_u32; balls.len()]).to_vec();
    world.device.queue.write_buffer(&world.groups, 0, &groups);
    world
}

/// Returns the mesh with its height raised by a slope. All corners stay in one plane, because their coordinates are
/// multiples of 1/1024.
fn sloped(floor: &Mesh, slope: [f32; 2]) -> Mesh {
    let corner = |[x, y, _]: [f32; 3]| {
        let [x, y] = [x, y].map(|x| (x * 1024.0).round() / 1024.0);
        [x, y, slope[0] * x + slope[1] * y]
    };
    let vertices = floor.vertices().iter().map(|place| corner(*place));
    Mesh::new(vertices.collect(), floor.triangles().to_vec()).expect("a valid mesh")
}

/// Balls slide over the edges and corners inside a flat floor of triangles, which do not lift them. They may touch the
/// floor exactly, or overlap it. It is the same if the floor consists of two meshes.
#[test]
fn edges_inside_a_flat_floor_lift_no_ball() {
    let mut rng = Rng::with_seed(8);
    for (slope, split, one_sided) in [
        ([0.0; 2], false, false),
        ([0.0; 2], true, true),
        ([0.5, -0.25], false, true),
    ] {
        let floor = sloped(&flat(8, &mut rng), slope);
        let halves = [0, 1].map(|k| {
            let triangles = floor.triangles().iter().copied().skip(k).step_by(2);
            Mesh::new(floor.vertices().to_vec(), triangles.collect()).expect("a valid mesh")
        });
        let walls = match split {
            false => with_mesh(Walls::new(), floor),
            true => halves.into_iter().fold(Walls::new(), with_mesh),
        };
        let [u, v] = slope.map(f64::from);
        let normal = DVec3::new(-u, -v, 1.0).normalize();
        let on_floor = |x: f64, y: f64| DVec3::new(x, y, u * x + v * y);
        let mut balls = Vec::new();
        for overlap in [0.0, 1.5e-9, 1e-6, 1e-4, 1e-2] {
            for round in 0..20 {
                // Some paths go straight along edges and through corners.
                let along = match round {
                    0..4 => on_floor(1.0, 0.0),
                    4..8 => on_floor(1.0, 1.0),
                    _ => on_floor(rng.f64(), rng.f64()),
                };
                let velocity = 5.0 * along.normalize();
                let start = on_floor(1.0, 1.0) + normal * (0.5 - overlap);
                balls.push(HardSphere::new(start, 0.5).with_velocity(velocity));
            }
        }
        for restitution in [0.0, 1.0] {
            let mut rules = SimulationOptions::new()
                .with_walls(walls.clone())
                .with_wall_restitution(restitution);
            if one_sided {
                rules = rules.with_one_sided_meshes();
            }
            let mut sliding = apart(&balls, rules);
            sliding.advance(1.0);
            for (before, after) in balls.iter().zip(sliding.spheres()) {
                let change = DVec3::from(after.velocity) - DVec3::from(before.velocity);
                assert!(
                    change.length() < 1e-5,
                    "{before:?}: {change} at the slope {slope:?}"
                );
            }
        }
    }
}

/// One-sided triangles reflect a ball from the front, and let it pass from behind, also if it starts in between.
#[test]
fn one_sided_triangles_let_balls_pass_from_behind() {
    let balls = [(1.0, 2.0), (-1.0, 2.0), (-1.0, 0.2)].map(|(side, height)| {
        let ball = HardSphere::new([2.2, 2.1, side * height], 0.5);
        ball.with_velocity([0.1, 0.0, -side])
    });
    let walls = with_mesh(Walls::new(), flat(4, &mut Rng::with_seed(1)));
    let rules = SimulationOptions::new().with_walls(walls);
    let mut passing = apart(&balls, rules.with_one_sided_meshes());
    passing.advance(4.0);
    for after in passing.spheres() {
        assert!((after.velocity[2] - 1.0).abs() < 1e-6, "{after:?}");
    }
}

/// Balls hit the outer edges and corners of a cube of triangles, and the border of a square.
#[test]
fn outer_edges_and_corners_of_a_mesh_reflect() {
    let cube = || with_mesh(Walls::new(), box_mesh([0.0; 3], [2.0; 3]));
    let square = || with_mesh(Walls::new(), flat(2, &mut Rng::with_seed(1)));
    for (place, direction, walls) in [
        ([2.0, 2.0, 1.1], [1.0, 1.0, 0.0], cube()),
        ([2.0, 2.0, 2.0], [1.0, 1.0, 1.0], cube()),
        ([0.0, 0.9, 0.0], [-1.0, 0.0, -1.0], cube()),
        ([0.0, 0.9, 0.0], [-1.0, 0.0, 0.5], square()),
    ] {
        let away = DVec3::from(direction).normalize();
        let ball = HardSphere::new(DVec3::from(place) + away * 2.5, 0.5).with_velocity(-away);
        let mut bouncing = apart(&[ball], SimulationOptions::new().with_walls(walls));
        bouncing.advance(3.0);
        let after = DVec3::from(bouncing.spheres()[0].velocity);
        assert!(after.distance(away) < 1e-5, "{place:?}: {after}");
    }
}

#[test]
fn a_substep_that_is_rolled_back_leaves_the_buffers_as_they_were() {
    let options = SimulationBufferOptions::new(3)
        .with_rounds(1)
        .with_substeps(1);
    let mut world = World::new(&three_balls(), &options);
    let words =
        |world: &World| [&world.places, &world.motions].map(|buffer| world.device.read(buffer));
    let before = words(&world);
    // Two recordings in turn must roll back their only substep, for different reasons. In the first
    // recording, the second ball is at rest. So its pad (the assumed bound on its displacement) is
    // 0, and an impact moves the ball out of its pad. In the second recording, the substep has two
    // impacts, each of which needs a round. But the buffers allow only one round.
    for (rollbacks, status) in [
        (1, SimulationStatus::LEFT_PAD),
        (2, SimulationStatus::TOO_FEW_ROUNDS),
    ] {
        let state = world.record(if rollbacks == 1 { 1.0 } else { 0.0 });
        assert_eq!(state.status, status, "{state:?}");
        assert_eq!((state.time, state.remaining), (0.0, 1.0), "{state:?}");
        assert_eq!(
            (state.sphere_impacts, state.rollbacks),
            (0, rollbacks),
            "{state:?}"
        );
        assert_eq!(words(&world), before);
    }
    // Both recordings were rolled back, so the simulation still has to advance by the whole
    // duration of 1.
    let state = world.advance(0.0);
    assert_eq!((state.time, state.sphere_impacts), (1.0, 2));
    let spheres = world.spheres();
    let speeds: Vec<_> = spheres.iter().map(|ball| ball.velocity[0]).collect();
    assert_eq!(speeds, [0.0, 0.0, 1.0]);
    assert!((spheres[2].center[0] - 3.0).abs() < 1e-6, "{spheres:?}");
}

#[test]
fn a_list_of_candidates_that_is_too_short_shortens_the_substeps() {
    let spheres = random_spheres(24, 1, 1.0);
    let rules = SimulationOptions::new().with_walls(cube());
    let options = SimulationBufferOptions::new(24)
        .with_candidates(3)
        .with_simulation(rules.clone());
    let mut world = World::new(&spheres, &options);
    let given = world.spheres();
    let mut state = world.record(1.0);
    let mut seen = state.status;
    for _ in 0..200 {
        if state.remaining == 0.0 {
            break;
        }
        state = world.record(0.0);
        seen |= state.status;
    }
    assert!(
        seen.contains(SimulationStatus::SEARCH_INCOMPLETE),
        "{seen:?}"
    );
    assert_eq!(state.remaining, 0.0, "{state:?}");
    let mut simulation = Simulation::new(given, rules).expect("a simulation");
    let report = simulation.step(1.0).expect("a step");
    assert_eq!(state.sphere_impacts, report.sphere_impacts);
    assert_eq!(state.wall_impacts, report.wall_impacts);
    for (gpu, cpu) in world.spheres().iter().zip(simulation.spheres()) {
        assert!(
            DVec3::from(gpu.center).distance(cpu.center.into()) < 1e-3,
            "{gpu:?} {cpu:?}"
        );
    }
}

#[test]
fn a_bullet_among_balls_at_rest_misses_nothing() {
    let (mut spheres, edge) = periodic_fluid(108, 0.3, 1);
    for sphere in &mut spheres {
        sphere.velocity = [0.0; 3];
    }
    spheres[0].velocity = [50.0, 20.0, 7.0];
    let options = SimulationBufferOptions::new(108).with_simulation(periodic(edge));
    let mut world = World::new(&spheres, &options);
    for _ in 0..8 {
        world.advance(0.02);
        let depth = overlap(&world.spheres(), Some(edge));
        assert!(depth <= 1.0, "{depth}");
    }
    let state = world.record(0.0);
    let after = world.spheres();
    assert!(state.sphere_impacts > 20, "{state:?}");
    assert!((energy(&after) / energy(&spheres) - 1.0).abs() < 1e-5);
    let drift = (momentum(&after) - momentum(&spheres)).length();
    assert!(drift < 1e-5 * all_momenta(&after), "{drift}");
}

/// Fast spheres hit spheres at rest, which then move farther than the search for candidates assumed, and meet further
/// spheres, walls and triangles in the same substep. No substep is rolled back for them.
#[test]
fn bullets_among_balls_at_rest_move_as_on_the_cpu() {
    let (mut impacts, mut rollbacks, mut substeps) = (0, 0, 0);
    for seed in 40..48 {
        let mut spheres = random_spheres(150, seed, 1.0);
        let center = DVec3::splat(5.0);
        spheres.retain(|sphere| DVec3::from(sphere.center).distance(center) > sphere.radius + 1.6);
        for sphere in &mut spheres[3..] {
            sphere.velocity = [0.0; 3];
        }
        for sphere in &mut spheres[..3] {
            sphere.velocity = (DVec3::from(sphere.velocity) * 20.0).to_array();
        }
        let ball = ball_of_triangles([5.0; 3], 1.5, 2);
        let rules = SimulationOptions::new().with_walls(with_mesh(cube(), ball));
        let state = assert_like_cpu(&spheres, &rules, 0.2, 2e-2);
        impacts += all_impacts(&state);
        rollbacks += state.rollbacks;
        substeps += state.substeps;
    }
    println!("{impacts} impacts, {substeps} substeps, {rollbacks} rolled back");
    assert!(impacts > 100, "{impacts}");
    assert!(rollbacks <= 2, "{rollbacks}");
}

/// A bullet hits a ball. The ball moves farther than its pad (the assumed bound on its displacement) and
/// glances off the next ball. So it misses the ball behind. The pads follow from the mean speed of all
/// spheres, and 100 other spheres at rest keep this speed low.
fn deflection() -> Vec<HardSphere> {
    let bullet = HardSphere::new([-32.0, 0.0, 0.0], 0.5).with_velocity([10.0, 0.0, 0.0]);
    let balls = [[0.0; 3], [5.0, 0.866, 0.0], [18.0, 0.0, 0.0]];
    let others = (0..100).map(|k| [100.0 + 3.0 * f64::from(k), 100.0, 100.0]);
    let at_rest = balls.into_iter().chain(others);
    let at_rest = at_rest.map(|place| HardSphere::new(place, 0.5));
    [bullet].into_iter().chain(at_rest).collect()
}

#[test]
fn a_deflected_ball_misses_the_ball_that_it_would_have_hit() {
    // A bullet hits a ball, and this ball glances off another one, in the same substep.
    let state = assert_like_cpu(&deflection(), &SimulationOptions::new(), 9.0, 1e-3);
    assert_eq!((state.sphere_impacts, state.rollbacks), (2, 0), "{state:?}");
}

/// A bullet drives a ball into a wall that is far beyond the ball's pad (the assumed bound on its
/// displacement). The ball, a little above the floor, also hits the floor in this substep, but later.
#[test]
fn a_ball_that_leaves_its_pad_hits_the_first_wall_first() {
    let bullet = HardSphere::new([-7.0, 5.0, 0.516], 0.5).with_velocity([100.0, 0.0, 0.0]);
    let ball = HardSphere::new([5.0, 5.0, 0.51], 0.5);
    let others = (0..30).map(|k| HardSphere::new([0.0, 20.0 + 2.0 * f64::from(k), 5.0], 0.5));
    let spheres: Vec<_> = [bullet, ball].into_iter().chain(others).collect();
    let floor = Wall::half_space([0.0, 0.0, 1.0], 0.0);
    let of_planes = Walls::from_iter([floor, Wall::half_space([-1.0, 0.0, 0.0], -7.0)]);
    let corners = vec![[7.0, -50.0, -50.0], [7.0, 50.0, -50.0], [7.0, 0.0, 80.0]];
    let mut with_mesh = Walls::from_iter([floor]);
    with_mesh.push_mesh(Mesh::new(corners, vec![[0, 1, 2]]).expect("a triangle"));
    for walls in [of_planes, with_mesh] {
        let rules = SimulationOptions::new().with_walls(walls);
        let state = assert_like_cpu(&spheres, &rules, 0.2, 1e-3);
        assert!(state.wall_impacts >= 2, "{state:?}");
    }
}

/// A substep looks for spheres that have left their pads (the assumed bounds on their displacements) after
/// every fourth round. This test sets five rounds. So a sphere may leave its pad in a later round, after the
/// last look.
#[test]
fn bullets_lose_no_impact_with_five_rounds() {
    let mut status = SimulationStatus::empty();
    for seed in [15, 25, 137] {
        let mut spheres = random_spheres(40, seed, 1.0);
        let (bullets, others) = spheres.split_at_mut(5);
        for (spheres, factor) in [(bullets, 5.0), (others, 0.02)] {
            for sphere in spheres {
                sphere.velocity = sphere.velocity.map(|v| v * factor);
            }
        }
        let rules = SimulationOptions::new()
            .with_walls(cube())
            .with_gravity([0.0, 0.0, -3.0]);
        let options = SimulationBufferOptions::new(40)
            .with_substeps(2)
            .with_rounds(5)
            .with_simulation(rules);
        let mut world = World::new(&spheres, &options);
        for _ in 0..10 {
            let state = world.record(0.5);
            status |= state.status;
            let deepest = overlap(&world.spheres(), None);
            assert!(deepest < 2.0, "{seed} {deepest} {state:?}");
        }
    }
    assert!(status.contains(SimulationStatus::LEFT_PAD), "{status:?}");
}

#[test]
fn too_many_further_candidates_roll_a_substep_back() {
    // The search finds three candidates (pairs that may meet) with the bullet. There are two more
    // candidates with the ball that the bullet hits, but the buffers have room for only four in
    // all.
    let spheres = deflection();
    let options = SimulationBufferOptions::new(spheres.len() as u32)
        .with_candidates(4)
        .with_substeps(1);
    let mut world = World::new(&spheres, &options);
    let given = world.spheres();
    let mut state = world.record(9.0);
    let mut status = state.status;
    for _ in 0..100 {
        state = world.record(0.0);
        status |= state.status;
    }
    // After the impact, two balls fly. So the search at the start of a later substep may find more than four
    // candidates (pairs that may meet), for which the buffers have no room. It then sets the bit
    // `SEARCH_INCOMPLETE`.
    let told = status - SimulationStatus::SEARCH_INCOMPLETE;
    assert_eq!(told, SimulationStatus::LEFT_PAD, "{state:?}");
    assert!(state.remaining == 0.0 && state.rollbacks > 0, "{state:?}");
    let mut simulation = Simulation::new(given, SimulationOptions::new()).expect("a simulation");
    let report = simulation.step(9.0).expect("a step");
    assert_eq!(state.sphere_impacts, report.sphere_impacts, "{state:?}");
    for (gpu, cpu) in world.spheres().iter().zip(simulation.spheres()) {
        assert!(
            DVec3::from(gpu.center).distance(cpu.center.into()) < 1e-3,
            "{gpu:?} {cpu:?}"
        );
    }
}

/// Bullets hit spheres of compound bodies. A sphere that a bullet hits leaves its pad (the assumed
/// bound on its displacement). It then passes through other spheres of its own body, because the
/// spheres of one body never collide.
#[test]
fn bullets_among_compound_bodies_move_as_on_the_cpu() {
    let (mut apart, mut together, mut rollbacks) = (0, 0, 0);
    for seed in 50..56 {
        let mut spheres = random_spheres(150, seed, 1.0);
        for sphere in &mut spheres[3..] {
            sphere.velocity = [0.0; 3];
        }
        for sphere in &mut spheres[..3] {
            sphere.velocity = (DVec3::from(sphere.velocity) * 20.0).to_array();
        }
        let rules = SimulationOptions::new().with_walls(cube());
        let with_list = rules.clone().with_impact_list();
        let mut alone = Simulation::new(spheres.clone(), with_list).expect("a simulation");
        apart += alone.step(0.2).expect("a step").sphere_impacts;
        // Each compound body has the spheres in one octant of the cubic world. The bullets are in
        // no body.
        let body = |sphere: &HardSphere| {
            let place = DVec3::from(sphere.center).cmpgt(DVec3::splat(5.0));
            (sphere.velocity == [0.0; 3]).then_some(place.bitmask())
        };
        let rules = rules.with_bodies(spheres.iter().map(body).collect());
        let state = assert_like_cpu(&spheres, &rules, 0.2, 2e-2);
        together += state.sphere_impacts;
        rollbacks += state.rollbacks;
        // The list of impacts has room for only four impacts, so it becomes full after some
        // substeps. In some of these, spheres leave their pads (the assumed bounds on their
        // displacements).
        let options = SimulationBufferOptions::new(150)
            .with_simulation(rules.clone())
            .with_impacts(4);
        let mut world = World::new(&spheres, &options);
        let with_list = rules.clone().with_impact_list();
        let mut simulation = Simulation::new(world.spheres(), with_list).expect("a simulation");
        let report = simulation.step(f64::from(0.2_f32)).expect("a step");
        let (state, list) = world.advance_with_list(0.2);
        assert!(state.rollbacks > 2, "{state:?}");
        assert_same_impacts(&list, &report.impacts, &simulation, 2e-2);
    }
    println!("{apart} {together} impacts, {rollbacks} rolled back");
    assert!(together > 50 && together < apart, "{apart} {together}");
    assert!(rollbacks <= 2, "{rollbacks}");
}

/// A moving wall or mesh hits a small ball in front of it after it has moved by a hundred thousand
/// units of length. If this displacement were rounded to float32, the error could be larger than
/// the gap to the ball.
#[test]
fn walls_that_have_moved_far_in_a_periodic_domain_lose_no_impact() {
    let edge = 7.3_f32;
    let [start, speed] = [-80.0 * edge, 1.9_f32];
    let corners = vec![[start, 1.0, 2.0], [start, 5.0, 2.0], [start, 3.0, 6.0]];
    let plate = Mesh::new(corners, vec![[0, 1, 2]]).expect("a mesh");
    let plate = plate.with_velocity([speed, 0.0, 0.0]);
    let ball = Wall::sphere([start, 3.0, 3.0], 1.0).with_velocity([speed, 0.0, 0.0]);
    let [radius, gap] = [1.0 / 512.0, 1.0 / 1024.0];
    for (walls, thickness) in [
        (with_mesh(Walls::new(), plate), 0.0),
        (Walls::from_iter([ball]), 1.0),
    ] {
        let rules = periodic(edge.into()).with_walls(walls).with_impact_list();
        let options = SimulationBufferOptions::new(1).with_simulation(rules);
        // A sphere of infinite mass passes through walls. So this sphere has no impacts while the
        // walls move for a long time.
        let fixed = HardSphere::new([3.0; 3], radius).fixed();
        let mut world = World::new(&[fixed], &options);
        let mut state = world.advance(60_000.0);
        for _ in 0..4 {
            let moved = f64::from(start) + f64::from(speed) * state.time;
            let front = moved + thickness + radius + gap;
            let place = front.rem_euclid(edge.into()) as f32;
            let gap = gap + (f64::from(place) - front.rem_euclid(edge.into()));
            let target = HardSphere::new([place.into(), 3.0, 3.0], radius);
            let words = |four: [f64; 4]| four.map(|x| (x as f32).to_bits());
            let [x, y, z] = target.center;
            world.places = world.device.words(&words([x, y, z, radius]));
            world.motions = world.device.words(&words([0.0, 0.0, 0.0, 1.0]));
            let (after, list) = world.advance_with_list(1.0);
            let times: Vec<_> = list.iter().map(|impact| impact.time - state.time).collect();
            assert!(
                matches!(times[..], [time] if (time - gap / f64::from(speed)).abs() < 1e-4),
                "{times:?} {state:?}"
            );
            world.motions = world.device.words(&[0; 4]);
            state = world.advance(7001.3);
            assert!(state.time > after.time + 7001.0, "{state:?}");
        }
    }
}

#[test]
fn spheres_with_invalid_values_take_no_part() {
    let mut balls = three_balls();
    balls[1].velocity = [f64::NAN, 0.0, 0.0];
    let options = SimulationBufferOptions::new(3);
    let mut world = World::new(&balls, &options);
    let motions = world.device.read(&world.motions);
    let state = world.advance(0.5);
    assert!(state.status.contains(SimulationStatus::SPHERES_LEFT_OUT));
    assert_eq!(state.sphere_impacts, 0);
    assert_eq!(world.device.read(&world.motions), motions);
    assert_eq!(world.spheres()[0].center[0], 0.5);
}

#[test]
fn options_that_only_the_cpu_has_are_named_errors() {
    let device = Device::real();
    let pipeline = CollisionPipeline::new(&device.device).expect("pipeline");
    let problem = |options: SimulationBufferOptions| match pipeline.create_simulation(&options) {
        Err(Error::InvalidSimulation { problem, .. }) => problem,
        other => panic!("{other:?}"),
    };
    let with = |rules| SimulationBufferOptions::new(1).with_simulation(rules);
    let rules = SimulationOptions::new();
    assert!(
        problem(with(rules.clone().with_bodies(vec![None; 2]))).contains("`bodies` has length 2")
    );
    assert!(
        problem(with(rules.clone().with_groups(vec![0]))).contains("DeviceSpheres::with_groups")
    );
    let limited = problem(with(rules.clone().with_max_impacts(100_000)));
    assert!(
        limited.contains("`SimulationOptions::with_max_impacts`"),
        "{limited}"
    );
    for (impacts, is_allowed) in [(0.2, true), (0.201, false), (0.4, false)] {
        let rules = rules.clone().with_impacts_per_substep(impacts);
        match pipeline.create_simulation(&with(rules)) {
            Ok(_) => assert!(is_allowed),
            Err(Error::InvalidSimulation { problem, .. }) => {
                let named = format!(
                    "the number of impacts in a substep is {impacts}, but must be at most 0.2"
                );
                assert!(!is_allowed && problem.contains(&named), "{problem}");
            }
            other => panic!("{other:?}"),
        }
    }
    let candidates = problem(SimulationBufferOptions::new(1).with_candidates(1 << 28));
    assert!(
        candidates.contains("candidates is 268435456"),
        "{candidates}"
    );
    let wall = Wall::half_space([1.0, 0.0, 0.0], 0.0);
    let many = Walls::from_iter((0..33).map(|_| wall));
    assert!(problem(with(rules.clone().with_walls(many))).contains("33 walls"));
    let mut many = Walls::from_iter((0..31).map(|_| wall));
    for _ in 0..2 {
        many.push_mesh(box_mesh([0.0; 3], [10.0; 3]));
    }
    assert!(problem(with(rules.clone().with_walls(many))).contains("31 walls and 2 meshes"));
    for (center, radius) in [([1000.0, 0.0, 0.0], 1.0), ([0.0; 3], 60.0)] {
        let ball = Walls::from_iter([wall, Wall::sphere(center, radius)]);
        let domain = Domain::rectangular([0.0; 3], [9.0; 3]).with_periodic([false, true, true]);
        let rules = rules.clone().with_walls(ball).with_domain(domain);
        let made = pipeline.create_simulation(&with(rules));
        // The domain is open along x, so the first ball may be anywhere along x.
        match made.err() {
            None => assert_eq!(radius, 1.0),
            Some(Error::InvalidWall {
                wall: 1, problem, ..
            }) => {
                assert!(radius == 60.0 && problem.contains("six cells"), "{problem}");
            }
            other => panic!("{other:?}"),
        }
    }
    let ball = Walls::from_iter([Wall::sphere([0.0, 0.0, -1000.0], 1.0)]);
    let made = pipeline.create_simulation(&with(periodic(9.0).with_walls(ball)));
    assert!(
        matches!(made.err(), Some(Error::InvalidWall { wall: 0, problem, .. }) if problem.contains("100 cells"))
    );
    let none = SimulationBufferOptions::new(1);
    for (options, name) in [
        (none.clone().with_rounds(0), "rounds"),
        (none.clone().with_candidates(0), "candidates"),
        (none.clone().with_impacts(0), "impacts"),
    ] {
        let error = pipeline.create_simulation(&options).err();
        assert!(matches!(error, Some(Error::ZeroCapacity { what, .. }) if what == name));
    }
    let simulation = pipeline.create_simulation(&none).expect("buffers");
    let missing = simulation.impacts().expect_err("no list of impacts");
    assert!(matches!(
        missing,
        Error::NotAskedFor {
            option: "impacts",
            ..
        }
    ));
    assert!((missing.to_string()).contains("`SimulationBufferOptions::with_impacts`"));
    device.assert_silent();
}

#[test]
fn recordings_that_cannot_be_made_are_named_errors() {
    let device = Device::noop(&wgpu::DeviceDescriptor::default());
    let pipeline = CollisionPipeline::new(&device.device).expect("pipeline");
    let options = SimulationBufferOptions::new(2).with_recordings(1);
    let mut simulation = pipeline.create_simulation(&options).expect("buffers");
    let words = device.words(&[0; 24]);
    let at = |offset| Attribute::new(&words, offset, 32);
    let balls = |count: u32| DeviceSpheres::new(count, at(0), 1.0).with_velocity(at(16));
    let mut record = |spheres: &DeviceSpheres<'_>, duration| {
        let mut encoder = device.encoder();
        let recorded = simulation.record(&mut encoder, spheres, duration);
        encoder.finish();
        recorded
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    assert!(record(&balls(2), -1.0).contains("time step"));
    assert!(record(&balls(3), 1.0).contains("made for 2"));
    let counted = balls(1).with_count_in(&words, 0);
    assert!(record(&counted, 1.0).contains("number of spheres is in a buffer"));
    assert!(record(&DeviceSpheres::new(2, at(0), 1.0), 1.0).contains("no velocities"));
    let shared = record(&balls(2).with_inverse_mass(at(4)), 1.0);
    assert!(
        shared.contains("inverse masses") && shared.contains("shares bytes"),
        "{shared}"
    );
    let short = record(
        &balls(2).with_inverse_mass(Attribute::new(&words, 92, 8)),
        1.0,
    );
    assert!(short.contains("96 bytes long"), "{short}");
    assert_eq!(record(&balls(2).with_inverse_mass(at(28)), 1.0), "");
    device.assert_silent();
    // If only one recording may be in flight, a second recording fails while the first has not been submitted.
    let mut encoders = [device.encoder(), device.encoder()];
    let mut both = encoders
        .iter_mut()
        .map(|encoder| simulation.record(encoder, &balls(2), 1.0));
    assert!(matches!(both.next(), Some(Ok(()))));
    assert!(matches!(
        both.next(),
        Some(Err(Error::TooManyInFlight { limit: 1, .. }))
    ));
}

/// Compares the pressure with Kolafa's equation of state. Takes some minutes.
#[test]
#[ignore = "long"]
fn the_equation_of_state_is_that_of_kolafa() {
    for eta in [0.1, 0.2, 0.3, 0.4] {
        let seeds = [1, 2];
        let z = seeds.map(|seed| compressibility(4000, eta, 100.0, seed));
        let mean = z.iter().sum::<f64>() / seeds.len() as f64;
        println!("{eta}: {mean} {}", kolafa(eta));
        assert!((mean / kolafa(eta) - 1.0).abs() < 0.005, "{eta}: {mean}");
    }
}

#[test]
fn the_state_arrives_by_a_ticket() {
    let ball = |x: f64, v: f64| HardSphere::new([x, 0.0, 0.0], 1.0).with_velocity([v, 0.0, 0.0]);
    let spheres = [ball(0.0, 1.0), ball(5.0, -1.0)];
    let mut world = World::new(&spheres, &SimulationBufferOptions::new(2));
    let mut encoder = world.device.encoder();
    let nothing = world.buffers.read_state(&mut encoder).map(drop);
    assert_eq!(nothing, Err(Error::NothingRecorded));
    world.record_into(&mut encoder, 2.0);
    let mut ticket = world.buffers.read_state(&mut encoder).expect("a ticket");
    let Ok(None) = ticket.try_take() else {
        panic!("the state arrives before it is computed");
    };
    world.device.queue.submit([encoder.finish()]);
    let words = world.device.read(world.buffers.state());
    let Ok(Some(state)) = ticket.try_take() else {
        panic!("the state has not arrived");
    };
    assert_eq!(ticket.try_take(), Err(Error::AlreadyTaken));
    let in_buffer = SimulationState::from_bytes(bytemuck::cast_slice(&words));
    assert_eq!(Some(state), in_buffer);
    assert!(state.serial == 1 && state.time > 0.0, "{state:?}");

    // A step is recorded, but its recording is dropped before it is submitted. Reading the state afterwards
    // must be an error.
    let mut dropped = world.device.encoder();
    world.record_into(&mut dropped, 1.0);
    drop(dropped);
    let mut encoder = world.device.encoder();
    let mut ticket = world.buffers.read_state(&mut encoder).expect("a ticket");
    world.device.queue.submit([encoder.finish()]);
    world.device.wait();
    let lost = ticket.try_take().map(|_| ());
    assert_eq!(lost, Err(Error::NotSubmitted));
    world.device.assert_silent();
}

#[test]
fn tiny_distances_between_centers_are_no_problem() {
    // The square of this distance is 0 in float32.
    let tiny = DVec3::X * 1e-30;
    let ball = |center| HardSphere::new(center, 1.0);
    // Two balls with nearly the same centre exchange their velocities, and separate.
    let pair = [
        ball(DVec3::ZERO).with_velocity([0.5, 0.0, 0.0]),
        ball(tiny).with_velocity([-0.5, 0.0, 0.0]),
    ];
    let mut world = World::new(&pair, &SimulationBufferOptions::new(2));
    let state = world.advance(4.0);
    assert_eq!(
        (state.sphere_impacts, state.status),
        (1, SimulationStatus::empty())
    );
    let after = world.spheres();
    let places = after.iter().map(|ball| DVec3::from(ball.center));
    assert_eq!(
        places.collect::<Vec<_>>(),
        [DVec3::X * -2.0, DVec3::X * 2.0]
    );

    // The centre of a ball is almost on the axis of a solid cylinder. The ball leaves the cylinder.
    let rules = SimulationOptions::new().with_walls(Walls::from_iter([Wall::cylinder(
        [0.0; 3],
        [0.0, 1.0, 0.0],
        1.0,
    )]));
    let options = SimulationBufferOptions::new(1).with_simulation(rules);
    let mut world = World::new(&[ball(tiny).with_velocity([-1.0, 3.0, 4.0])], &options);
    let state = world.advance(1.0);
    assert_eq!(
        (state.wall_impacts, state.status),
        (1, SimulationStatus::empty())
    );
    assert_eq!(world.spheres()[0].center, [1.0, 3.0, 4.0]);

    // A ball that fits exactly into a hollow wall stays there.
    for wall in [
        Wall::cylinder_inside([0.0; 3], [0.0, 1.0, 0.0], 1.0),
        Wall::sphere_inside([0.0; 3], 1.0),
    ] {
        let rules = SimulationOptions::new()
            .with_walls(Walls::from_iter([wall]))
            .with_wall_restitution(0.0)
            .with_contact_time(0.1);
        let options = SimulationBufferOptions::new(1).with_simulation(rules);
        let mut world = World::new(&[ball(tiny).with_velocity([0.3, 0.0, 0.1])], &options);
        for _ in 0..4 {
            // There is no room at all, so time hardly goes on, and the state says why.
            let state = world.record(1.0);
            assert_eq!(state.status, SimulationStatus::COLLAPSE, "{state:?}");
            assert!(state.time < 1e-7, "{state:?}");
        }
        let after = world.spheres()[0];
        assert!(DVec3::from(after.center).length() < 1e-6, "{after:?}");
        assert!(DVec3::from(after.velocity).length() < 1.0, "{after:?}");
    }
}

#[test]
fn no_simulated_time_is_lost_in_short_substeps() {
    // A ball moves to and fro between two fixed balls that nearly touch it. The substeps are far shorter than the
    // rounding error of the remaining time.
    let ball = |x: f64| HardSphere::new([x, 0.0, 0.0], 0.5);
    let gap = 1e-5;
    let balls = [
        ball(-1.0 - gap).fixed(),
        ball(0.0).with_velocity([1.0, 0.0, 0.0]),
        ball(1.0 + gap).fixed(),
    ];
    let mut world = World::new(&balls, &SimulationBufferOptions::new(3));
    let mut requested = 0.0;
    for duration in [1e5, 0.0, 0.0, 0.1, 1e-3, 0.0, 7e4, 0.0] {
        requested += f64::from(duration);
        let state = world.record(duration);
        assert!(state.substeps > 0, "{state:?}");
        let reached = state.time + state.remaining;
        assert!(
            (reached - requested).abs() < 1e-8,
            "{reached} {requested} {state:?}"
        );
    }
}

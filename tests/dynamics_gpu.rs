//! Tests hard-sphere dynamics on the GPU: conservation laws, the order of impacts, walls, and recordings that do not
//! suffice.

#![allow(
    clippy::cast_possible_truncation,
    reason = "the GPU computes in float32"
)]

mod device;

use carom::gpu::{
    Attribute, CollisionPipeline, DeviceSpheres, SimulationBufferOptions, SimulationBuffers,
    SimulationState, wgpu,
};
use carom::{Domain, HardSphere, SimulationOptions};
use device::Device;
use fastrand::Rng;
use glam::DVec3;

/// A simulation whose spheres are in two buffers: centre and radius, and velocity and inverse mass.
struct World {
    device: Device,
    buffers: SimulationBuffers,
    places: wgpu::Buffer,
    motions: wgpu::Buffer,
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
        let places = words(&|s| [s.center.x, s.center.y, s.center.z, s.radius]);
        let motions = words(&|s| [s.velocity.x, s.velocity.y, s.velocity.z, s.mass.recip()]);
        Self {
            places: device.words(&places),
            motions: device.words(&motions),
            device,
            buffers,
            count: spheres.len() as u32,
        }
    }

    /// Records a motion by a time, runs it, and returns the state.
    fn record(&mut self, duration: f32) -> SimulationState {
        let spheres = DeviceSpheres::new(
            self.count,
            Attribute::new(&self.places, 0, 16),
            Attribute::new(&self.places, 12, 16),
        )
        .with_velocity(Attribute::new(&self.motions, 0, 16));
        let masses = Attribute::new(&self.motions, 12, 16);
        let mut encoder = self.device.encoder();
        let recorded = (self.buffers).record(&mut encoder, &spheres, Some(masses), duration);
        recorded.unwrap_or_else(|error| panic!("{error}"));
        self.device.queue.submit([encoder.finish()]);
        let words = self.device.read(self.buffers.state());
        self.device.assert_silent();
        SimulationState::from_bytes(bytemuck::cast_slice(&words)).expect("a state")
    }

    /// Moves the spheres by a time, with as many recordings as that takes.
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
    spheres.iter().map(HardSphere::momentum).sum()
}

/// Returns the sum of the magnitudes of all momenta.
fn all_momenta(spheres: &[HardSphere]) -> f64 {
    let momenta = spheres.iter().map(|sphere| sphere.momentum().length());
    momenta.sum()
}

/// Returns the deepest overlap in a cube with this edge that repeats, or in open space, in units of what is allowed: 10⁻⁶
/// of the smaller radius plus 4 units in the last place of the largest coordinate.
fn overlap(spheres: &[HardSphere], edge: Option<f64>) -> f64 {
    let largest = spheres
        .iter()
        .fold(0.0, |most: f64, sphere| most.max(sphere.center.abs().max_element()));
    let ulp = f64::from((largest as f32).next_up()) - f64::from(largest as f32);
    let mut deepest: f64 = 0.0;
    for (i, a) in spheres.iter().enumerate() {
        for b in &spheres[..i] {
            let mut apart = a.center - b.center;
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
        let half = |axis| if corner == 0 || corner == axis { 0.0 } else { 0.5 };
        let place = (cell + DVec3::new(half(1), half(2), half(3))) * step;
        let velocity = DVec3::new(normal(), normal(), normal());
        HardSphere::new(place, radius).with_velocity(velocity)
    };
    let mut spheres: Vec<_> = (0..count).map(sphere).collect();
    let mean = momentum(&spheres) / count as f64;
    for sphere in &mut spheres {
        sphere.velocity = (sphere.velocity - mean).as_vec3().as_dvec3();
        sphere.center = sphere.center.as_vec3().as_dvec3();
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
    let options = SimulationBufferOptions::new(count as u32).with_simulation(periodic(edge));
    let mut world = World::new(&spheres, &options);
    // A mean free time.
    let time = 1.0 / (4.0 * 6.0 * eta / std::f64::consts::PI * (kolafa(eta) - 1.0) / (4.0 * eta)
        * std::f64::consts::PI.sqrt());
    let [before, momentum_before] = [energy(&spheres), all_momenta(&spheres)];
    let mut start = SimulationState::default();
    let mut state = start;
    while 2.0 * (state.impacts as f64) < (impacts + 15.0) * count as f64 {
        state = world.advance(time as f32);
        if 2.0 * (state.impacts as f64) < 15.0 * count as f64 {
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
    for (eta, bound) in [(0.1, 0.02), (0.4, 0.06)] {
        let z = compressibility(500, eta, 20.0, 1);
        let exact = kolafa(eta);
        println!("{eta}: {z} {exact}");
        assert!((z / exact - 1.0).abs() < bound, "{eta}: {z}, not {exact}");
    }
}

//! A simulation on the GPU whose buffers are read back, and what is conserved in it.

use carom::gpu::{
    Attribute, DeviceSpheres, SimulationBufferOptions, SimulationBuffers, SimulationState, WGSL,
    wgpu,
};
use carom::{Domain, HardSphere, Impact, SimulationOptions, Walls};
use fastrand::Rng;
use glam::DVec3;

use crate::device::Device;

/// A simulation whose spheres are in two buffers: centre and radius, and velocity and inverse mass.
pub(crate) struct World {
    pub(crate) device: Device,
    pub(crate) buffers: SimulationBuffers,
    pub(crate) places: wgpu::Buffer,
    pub(crate) motions: wgpu::Buffer,
    pub(crate) groups: wgpu::Buffer,
    pub(crate) count: u32,
}

impl World {
    pub(crate) fn new(spheres: &[HardSphere], options: &SimulationBufferOptions) -> Self {
        Self::on(Device::real(), spheres, options)
    }

    pub(crate) fn on(
        device: Device,
        spheres: &[HardSphere],
        options: &SimulationBufferOptions,
    ) -> Self {
        let pipeline = device.pipeline();
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
    pub(crate) fn record_into(&mut self, encoder: &mut wgpu::CommandEncoder, duration: f32) {
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
    pub(crate) fn record(&mut self, duration: f32) -> SimulationState {
        let mut encoder = self.device.encoder();
        self.record_into(&mut encoder, duration);
        self.device.queue.submit([encoder.finish()]);
        let words = self.device.read(self.buffers.state());
        self.device.assert_silent();
        SimulationState::from_bytes(bytemuck::cast_slice(&words)).expect("a state")
    }

    /// Writes the duration that the GPU intends for the next substep.
    pub(crate) fn set_pace(&self, pace: f32) {
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
    pub(crate) fn advance(&mut self, duration: f32) -> SimulationState {
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
    pub(crate) fn advance_with_list(&mut self, duration: f32) -> (SimulationState, Vec<Impact>) {
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

    pub(crate) fn read(&self, buffer: &wgpu::Buffer) -> Vec<[f64; 4]> {
        let words = self.device.read(buffer);
        let fours = words.chunks_exact(4);
        fours
            .map(|four| [0, 1, 2, 3].map(|k| f64::from(f32::from_bits(four[k]))))
            .collect()
    }

    pub(crate) fn spheres(&self) -> Vec<HardSphere> {
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

pub(crate) fn energy(spheres: &[HardSphere]) -> f64 {
    spheres.iter().map(HardSphere::kinetic_energy).sum()
}

pub(crate) fn momentum(spheres: &[HardSphere]) -> DVec3 {
    let momenta = spheres.iter().map(HardSphere::momentum);
    momenta.map(DVec3::from).sum()
}

/// Returns the sum of the magnitudes of all momenta.
pub(crate) fn all_momenta(spheres: &[HardSphere]) -> f64 {
    let momenta = spheres.iter().map(HardSphere::momentum);
    momenta.map(|momentum| DVec3::from(momentum).length()).sum()
}

/// Returns the depth of the deepest overlap of two spheres, divided by the allowed depth: 10⁻⁶ of the smaller
/// radius plus 4 units in the last place of the largest coordinate. The space is a periodic cube with the given
/// edge, or open.
pub(crate) fn overlap(spheres: &[HardSphere], edge: Option<f64>) -> f64 {
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
pub(crate) fn periodic_fluid(count: usize, eta: f64, seed: u64) -> (Vec<HardSphere>, f64) {
    let edge = (count as f64 * std::f64::consts::PI / 6.0 / eta).cbrt() as f32;
    let edge = f64::from(edge);
    (fluid(count, edge, 0.5, seed), edge)
}

pub(crate) fn periodic(edge: f64) -> SimulationOptions {
    SimulationOptions::new().with_domain(Domain::rectangular([0.0; 3], [edge as f32; 3]))
}

pub(crate) fn all_impacts(state: &SimulationState) -> u64 {
    state.sphere_impacts + state.wall_impacts
}

pub(crate) fn under_gravity(
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

pub(crate) fn buffers(count: usize, rules: &SimulationOptions) -> SimulationBufferOptions {
    SimulationBufferOptions::new(count as u32)
        .with_substeps(2)
        .with_simulation(rules.clone())
}

//! Simulations on WebGPU beside those of the CPU, which computes in float64.

use carom::gpu::{Attribute, DeviceSpheres, SimulationBufferOptions};
use carom::{Domain, HardSphere, Mesh, Simulation, SimulationOptions, Walls};
use fastrand::Rng;

use crate::device::Device;
use crate::{Checked, ensure, text};

/// Spheres in a cube with edges of 10, which do not overlap.
fn spheres(count: usize, rng: &mut Rng) -> Vec<HardSphere> {
    let mut spheres: Vec<HardSphere> = Vec::new();
    while spheres.len() < count {
        // The device computes in float32.
        let mut number = |low: f32, high: f32| f64::from(low + (high - low) * rng.f32());
        let radius = number(0.4, 0.8);
        let center = [0; 3].map(|_| number(0.9, 9.1));
        let apart = |other: &HardSphere| {
            let square: f64 = (0..3).map(|k| (center[k] - other.center[k]).powi(2)).sum();
            square.sqrt() > 1.01 * (radius + other.radius)
        };
        if spheres.iter().all(apart) {
            let velocity = [0; 3].map(|_| number(-2.0, 2.0));
            let mass = number(0.5, 1.5).recip();
            let sphere = HardSphere::new(center, radius).with_velocity(velocity);
            spheres.push(sphere.with_mass(f64::from(mass as f32).recip()));
        }
    }
    spheres
}

pub(crate) async fn all(tell: &impl Fn(String)) -> Checked<String> {
    let device = Device::open().await?;
    let mut rng = Rng::with_seed(4);
    let walls = Walls::inside_box([0.0; 3], [10.0; 3]);
    let corners = vec![[-9.0, -9.0, 0.05], [19.0, -9.0, 0.05], [5.0, 19.0, 0.05]];
    let floor = Mesh::new(corners, vec![[0, 1, 2]]).map_err(text)?;
    let mut with_mesh = walls.clone();
    with_mesh.push_mesh(floor);
    let gravity = [0.0, 0.0, -2.0];
    let worlds = [
        (
            "a box",
            SimulationOptions::new().with_walls(walls.clone()),
            1.0,
        ),
        (
            "a periodic cube",
            SimulationOptions::new().with_domain(Domain::rectangular([0.0; 3], [10.0; 3])),
            1.0,
        ),
        (
            "a box with a mesh, gravity and losses",
            SimulationOptions::new()
                .with_walls(with_mesh)
                .with_gravity(gravity)
                .with_restitution(0.9),
            1.0,
        ),
    ];
    let mut all = 0;
    for (name, rules, duration) in worlds {
        let given = spheres(60, &mut rng);
        let first = run(&device, &given, &rules, duration).await;
        let (impacts, found) = first.map_err(|why| format!("{name}: {why}"))?;
        let again = run(&device, &given, &rules, duration).await;
        ensure(
            again.is_ok_and(|again| again == (impacts, found.clone())),
            || format!("{name}: another run has other bytes"),
        )?;
        let mut simulation = Simulation::new(given, rules.clone()).map_err(text)?;
        let report = simulation.step(duration.into()).map_err(text)?;
        let expected = report.sphere_impacts + report.wall_impacts;
        ensure(impacts == expected, || {
            format!("{name}: {impacts} impacts instead of {expected}")
        })?;
        for (cpu, gpu) in simulation.spheres().iter().zip(found.chunks_exact(4)) {
            for k in 0..3 {
                let mut away = cpu.center[k] - f64::from(f32::from_bits(gpu[k]));
                if !simulation.domain().is_open() {
                    away -= (away / 10.0).round() * 10.0;
                }
                ensure(away.abs() < 1e-3, || format!("{name}: {away} away"))?;
            }
        }
        ensure(impacts > 10, || format!("{name}: only {impacts} impacts"))?;
        all += impacts;
        tell(format!("{name}: {impacts} impacts"));
    }
    Ok(format!("3 worlds, {all} impacts as on the CPU"))
}

/// Returns the number of impacts and the words of the centres and radii.
async fn run(
    device: &Device,
    spheres: &[HardSphere],
    rules: &SimulationOptions,
    duration: f32,
) -> Checked<(u64, Vec<u32>)> {
    let options = SimulationBufferOptions::new(spheres.len() as u32)
        .with_substeps(4)
        .with_simulation(rules.clone());
    let made = device.pipeline.create_simulation_async(&options).await;
    let mut buffers = made.map_err(text)?;
    let words = |four: &dyn Fn(&HardSphere) -> [f64; 4]| {
        let words: Vec<u32> = (spheres.iter().flat_map(four))
            .map(|x| (x as f32).to_bits())
            .collect();
        device.filled(bytemuck::cast_slice(&words))
    };
    let places = words(&|s| [s.center[0], s.center[1], s.center[2], s.radius]);
    let motions = words(&|s| [s.velocity[0], s.velocity[1], s.velocity[2], s.mass.recip()]);
    let center = Attribute::new(&places, 0, 16);
    let given = DeviceSpheres::new(
        spheres.len() as u32,
        center,
        Attribute::new(&places, 12, 16),
    )
    .with_velocity(Attribute::new(&motions, 0, 16))
    .with_inverse_mass(Attribute::new(&motions, 12, 16));
    let mut left = duration;
    for _ in 0..200 {
        let mut encoder = device.encoder();
        buffers.record(&mut encoder, &given, left).map_err(text)?;
        let ticket = buffers.read_state(&mut encoder).map_err(text)?;
        device.queue.submit([encoder.finish()]);
        let state = ticket.take().await.map_err(text)?;
        left = 0.0;
        if state.remaining == 0.0 {
            let words = device.read(&places).await?;
            return Ok((state.sphere_impacts + state.wall_impacts, words));
        }
    }
    Err("the time stands still".to_owned())
}

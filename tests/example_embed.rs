//! Tests that the example `embed` conserves energy and momentum, and keeps all spheres in the box.

#[allow(
    dead_code,
    reason = "some items are used by the window of the example only"
)]
#[path = "../examples/embed/simulation.rs"]
mod simulation;
#[path = "../examples/embed/start.rs"]
mod start;

use carom::gpu::wgpu;
use simulation::{Rules, Simulation, World};

struct Bench {
    device: wgpu::Device,
    queue: wgpu::Queue,
}

impl Bench {
    fn new() -> anyhow::Result<Self> {
        let instance =
            wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
        let adapter = pollster::block_on(instance.request_adapter(&Default::default()))?;
        let (device, queue) = pollster::block_on(adapter.request_device(&Default::default()))?;
        Ok(Self { device, queue })
    }

    fn run(&self, world: &World, rules: Rules, steps: u32) -> anyhow::Result<World> {
        let mut simulation = Simulation::new(&self.device, &self.queue, world, rules)?;
        let mut most = 0;
        for _ in 0..steps {
            let mut encoder = self.device.create_command_encoder(&Default::default());
            simulation.step(&mut encoder)?;
            self.queue.submit([encoder.finish()]);
            self.device.poll(wgpu::PollType::wait_indefinitely())?;
            most = most.max(simulation.report()?.pairs);
        }
        assert!(most > 0, "no two spheres ever touched");
        Ok(World {
            half: world.half,
            positions: self.read(&simulation.positions)?,
            velocities: self.read(&simulation.velocities)?,
        })
    }

    fn read(&self, buffer: &wgpu::Buffer) -> anyhow::Result<Vec<[f32; 4]>> {
        let copy = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: buffer.size(),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &copy, 0, None);
        encoder.map_buffer_on_submit(&copy, wgpu::MapMode::Read, .., |result| {
            assert!(result.is_ok());
        });
        self.queue.submit([encoder.finish()]);
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        let bytes = copy.get_mapped_range(..)?;
        Ok(bytemuck::pod_collect_to_vec(&bytes))
    }
}

/// Returns the sums of the momenta, of their magnitudes, and of the kinetic energies. The mass of a sphere is
/// the cube of its radius.
fn sums(world: &World) -> ([f64; 3], f64, f64) {
    let mut momentum = [0.0; 3];
    let mut size = 0.0;
    let mut energy = 0.0;
    for (position, velocity) in world.positions.iter().zip(&world.velocities) {
        let mass = f64::from(position[3]).powi(3);
        let mut square = 0.0;
        for (sum, along) in momentum.iter_mut().zip(velocity) {
            *sum += mass * f64::from(*along);
            square += f64::from(*along).powi(2);
        }
        size += mass * square.sqrt();
        energy += 0.5 * mass * square;
    }
    (momentum, size, energy)
}

#[test]
fn energy_and_momentum_are_conserved() -> anyhow::Result<()> {
    let bench = Bench::new()?;
    let world = start::world(2000, 1);
    let rules = Rules {
        dt: 1.0 / 60.0,
        restitution: 1.0,
        walls: false,
    };
    let after = bench.run(&world, rules, 1000)?;
    let (p0, size, e0) = sums(&world);
    let (p1, _, e1) = sums(&after);
    println!("energy {e0}, then {e1}; momentum {p0:?}, then {p1:?}; magnitudes {size}");
    assert!((e1 / e0 - 1.0).abs() < 1e-4);
    for (before, after) in p0.into_iter().zip(p1) {
        assert!((after - before).abs() < 1e-4 * size);
    }
    Ok(())
}

#[test]
fn no_sphere_leaves_the_box() -> anyhow::Result<()> {
    let bench = Bench::new()?;
    let mut world = start::world(500, 2);
    for (velocity, factor) in world
        .velocities
        .iter_mut()
        .zip([1.0, 1e3, 1e7, 1e12].into_iter().cycle())
    {
        for along in &mut velocity[..3] {
            *along *= factor;
        }
    }
    for restitution in [1.0, 0.5] {
        let rules = Rules {
            dt: 1.0 / 60.0,
            restitution,
            walls: true,
        };
        let after = bench.run(&world, rules, 20)?;
        for position in &after.positions {
            for (along, half) in position.iter().zip(world.half) {
                assert!(along.abs() <= half - position[3] + 1e-6, "{position:?}");
            }
        }
    }
    Ok(())
}

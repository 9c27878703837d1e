//! Tests that the example `embed` conserves energy and momentum, and keeps all spheres in the box and outside the
//! mesh.

#[allow(
    dead_code,
    reason = "some items are used by the window of the example only"
)]
#[path = "../examples/embed/simulation.rs"]
mod simulation;
#[path = "../examples/embed/start.rs"]
mod start;

use carom::gpu::wgpu;
use carom::{Backend, Detector, Mesh, Options, Sphere, Step, Walls};
use glam::DVec3;
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
        let mut impacts = 0;
        for _ in 0..steps {
            let mut encoder = self.device.create_command_encoder(&Default::default());
            simulation.step(&mut encoder)?;
            self.queue.submit([encoder.finish()]);
            self.device.poll(wgpu::PollType::wait_indefinitely())?;
            impacts = simulation.report()?.sphere_impacts;
        }
        assert!(impacts > 0, "no two spheres ever touched");
        Ok(World {
            half: world.half,
            walls: world.walls.clone(),
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

/// Checks that no sphere reaches out of the box or into the mesh by more than `error`.
fn assert_outside_walls(world: &World, error: f32) -> anyhow::Result<()> {
    for position in &world.positions {
        for (along, half) in position.iter().zip(world.half) {
            assert!(along.abs() <= half - position[3] + error, "{position:?}");
        }
        let place = DVec3::from(glam::Vec3::from_slice(position));
        for mesh in world.walls.meshes() {
            let turns = winding_number(mesh, place);
            assert!(turns.abs() < 0.5, "{position:?} is inside: {turns}");
        }
    }
    let spheres: Vec<_> = world
        .positions
        .iter()
        .map(|&[x, y, z, radius]| Sphere::new([x, y, z], radius))
        .collect();
    let mut detector = Detector::new(Options::new().with_backend(Backend::Cpu))?;
    let found = detector.detect(&Step::new(&spheres, 0.0).with_walls(&world.walls))?;
    for hit in &found.walls {
        assert!(hit.depth <= error, "{hit:?}");
    }
    Ok(())
}

/// Returns how often a closed mesh encloses a point: 0 if the point is outside, 1 or -1 if it is inside. The
/// result is the sum of the solid angles of all triangles, seen from the point (A. Van Oosterom and J.
/// Strackee, 1983), divided by 4π.
fn winding_number(mesh: &Mesh, point: DVec3) -> f64 {
    let angles = mesh.triangles().iter().map(|triangle| {
        let [a, b, c] = triangle
            .map(|corner| DVec3::from(mesh.vertices()[corner as usize].map(f64::from)) - point);
        let volume = a.dot(b.cross(c));
        let [la, lb, lc] = [a, b, c].map(DVec3::length);
        let rest = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
        2.0 * volume.atan2(rest)
    });
    angles.sum::<f64>() / (4.0 * std::f64::consts::PI)
}

#[test]
fn energy_and_momentum_are_conserved() -> anyhow::Result<()> {
    let bench = Bench::new()?;
    let mut world = start::world(2000, start::MIX, 1)?;
    // Walls would change the total momentum. These walls are so far away that no sphere reaches them.
    let far = 1e5;
    world.walls = Walls::inside_box([-far; 3], [far; 3]);
    let corners = vec![[far, 0.0, 0.0], [far, 1.0, 0.0], [far, 0.0, 1.0]];
    world.walls.push_mesh(Mesh::new(corners, vec![[0, 1, 2]])?);
    let rules = Rules {
        dt: 1.0 / 60.0,
        restitution: 1.0,
        gravity: [0.0; 3],
    };
    let after = bench.run(&world, rules, 200)?;
    let (p0, size, e0) = sums(&world);
    let (p1, _, e1) = sums(&after);
    println!("energy {e0}, then {e1}; momentum {p0:?}, then {p1:?}; magnitudes {size}");
    assert!((e1 / e0 - 1.0).abs() < 5e-5);
    for (before, after) in p0.into_iter().zip(p1) {
        assert!((after - before).abs() < 5e-5 * size);
    }
    Ok(())
}

#[test]
fn no_sphere_passes_a_wall() -> anyhow::Result<()> {
    let bench = Bench::new()?;
    let mut world = start::world(500, start::MIX, 2)?;
    let mesh = &world.walls.meshes()[0];
    let corners = mesh.vertices().iter();
    let corners: Vec<_> = corners
        .map(|corner| DVec3::from(corner.map(f64::from)))
        .collect();
    let middle = corners.iter().sum::<DVec3>() / corners.len() as f64;
    let inside = winding_number(mesh, corners[0].lerp(middle, 0.1));
    assert!(inside.abs() > 0.5, "the mesh is not closed: {inside}");
    // The fastest spheres move by thousands of radii in a step.
    for (velocity, factor) in world
        .velocities
        .iter_mut()
        .zip([1.0, 30.0, 1e3].into_iter().cycle())
    {
        for along in &mut velocity[..3] {
            *along *= factor;
        }
    }
    assert_outside_walls(&world, 0.0)?;
    for restitution in [1.0, 0.5] {
        let rules = Rules {
            dt: 1.0 / 60.0,
            restitution,
            gravity: [0.0; 3],
        };
        let after = bench.run(&world, rules, 100)?;
        assert_outside_walls(&after, 1e-4)?;
        let still = world.positions.iter().zip(&after.positions);
        assert!(still.filter(|(before, after)| before == after).count() < 10);
    }
    Ok(())
}

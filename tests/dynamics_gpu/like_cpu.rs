//! Tests that worlds of all kinds move as on the CPU.

use carom::gpu::{SimulationBufferOptions, SimulationState};
use carom::{
    Domain, HardSphere, Impact, Mesh, Partner, Simulation, SimulationOptions, Wall, Walls,
};
use fastrand::Rng;
use glam::DVec3;

use crate::meshes::box_mesh;
use crate::world::{World, all_impacts, periodic};

/// Returns the momentum that each wall of a simple shape and each mesh has received.
pub(crate) fn wall_impulses(world: &World) -> Vec<DVec3> {
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
pub(crate) fn assert_same_impacts(
    gpu: &[Impact],
    cpu: &[Impact],
    simulation: &Simulation,
    bound: f64,
) {
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
pub(crate) fn assert_like_cpu(
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
pub(crate) fn random_spheres(count: usize, seed: u64, margin: f64) -> Vec<HardSphere> {
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

/// Returns a mesh of triangles around a centre: an octahedron whose triangles are divided into four a number of
/// times, with all corners at a distance `radius` from the centre.
pub(crate) fn ball_of_triangles(center: [f32; 3], radius: f32, divisions: u32) -> Mesh {
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

pub(crate) fn with_mesh(mut walls: Walls, mesh: Mesh) -> Walls {
    walls.push_mesh(mesh);
    walls
}

pub(crate) fn cube() -> Walls {
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

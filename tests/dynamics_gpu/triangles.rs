//! Tests of meshes.

use carom::gpu::{SimulationBufferOptions, SimulationState, SimulationStatus, Status};
use carom::{HardSphere, Impact, Mesh, Simulation, SimulationOptions, Sphere, Walls};
use fastrand::Rng;
use glam::{DQuat, DVec3};

use crate::like_cpu::{ball_of_triangles, cube, random_spheres, wall_impulses, with_mesh};
use crate::meshes::{box_mesh, flat};
use crate::world::{World, all_impacts, energy, momentum, overlap};

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
    while state.wall_impacts < 1500 {
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

/// Returns three balls on a line. The first ball hits the second, which hits the third 0.02 later.
pub(crate) fn three_balls() -> Vec<HardSphere> {
    let ball = |x: f64| HardSphere::new([x, 0.0, 0.0], 0.5);
    vec![
        ball(0.0).with_velocity([1.0, 0.0, 0.0]),
        ball(1.02),
        ball(2.04),
    ]
}

/// Returns a world of balls that ignore one another.
pub(crate) fn apart(balls: &[HardSphere], rules: SimulationOptions) -> World {
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

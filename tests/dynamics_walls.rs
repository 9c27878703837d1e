//! Tests simulations of hard spheres with walls and gravity.

#![allow(
    clippy::cast_possible_truncation,
    reason = "random numbers are rounded to float32"
)]

mod backends;
mod meshes;

use std::sync::atomic::{AtomicU64, Ordering};

use backends::with_threads;
use carom::{
    Domain, Error, HardSphere, Mesh, Outcome, Partner, Response, Simulation, SimulationOptions,
    StepReport, Wall, WallShape, Walls,
};
use fastrand::Rng;
use glam::{DVec3, Vec3};
use meshes::{box_mesh, flat};

fn simulation(spheres: &[HardSphere], options: SimulationOptions) -> Simulation {
    Simulation::new(spheres.to_vec(), options).expect("a valid simulation")
}

fn step(simulation: &mut Simulation, duration: f64) -> StepReport {
    simulation.step(duration).expect("the step succeeds")
}

fn with_walls(walls: impl IntoIterator<Item = Wall>) -> SimulationOptions {
    SimulationOptions::new().with_walls(Walls::from_iter(walls))
}

fn rounded(x: f64) -> f64 {
    (x * 1e9).round() / 1e9
}

/// Returns the time, the sphere and the wall of each impact at a wall. The times are rounded to
/// multiples of 10⁻⁹, so that tests can compare them for equality.
fn at_walls(report: &StepReport) -> Vec<(f64, u32, u32)> {
    let wall = |partner| match partner {
        Partner::Wall(wall) => Some(wall),
        Partner::Sphere(_) => None,
    };
    let impacts = report.impacts.iter();
    let at_walls = impacts
        .filter_map(|impact| Some((rounded(impact.time), impact.sphere, wall(impact.partner)?)));
    at_walls.collect()
}

fn random(rng: &mut Rng) -> DVec3 {
    DVec3::from([0; 3].map(|_| 2.0 * rng.f64() - 1.0))
}

#[test]
fn a_ball_bounces_between_two_walls_for_ever() {
    let ball = HardSphere::new([0.0; 3], 1.0).with_velocity([2.0, 0.0, 0.0]);
    let walls = [
        Wall::half_space([3.0, 0.0, 0.0], -15.0),
        Wall::half_space([-0.5, 0.0, 0.0], -2.5),
    ];
    let mut simulation = simulation(&[ball], with_walls(walls).with_impact_list());
    let report = step(&mut simulation, 4000.0);
    let expected: Vec<_> = (0..1000)
        .map(|k| (2.0 + 4.0 * f64::from(k), 0, 1 - k % 2))
        .collect();
    let expected: Vec<_> = expected
        .into_iter()
        .map(|(t, i, w)| (t, i, w as u32))
        .collect();
    assert_eq!(at_walls(&report), expected);
    assert_eq!(report.wall_impacts, 1000);
    assert_eq!(
        report.wall_impulses,
        [[-2000.0, 0.0, 0.0], [2000.0, 0.0, 0.0]]
    );
}

/// Two balls and two walls on a line. Equal balls exchange their velocities, so the motion is that of two points
/// that pass through each other, between walls that are 6 apart: one point starts at 1 with velocity 1, the
/// other at 5 with velocity −2.
#[test]
fn two_balls_in_a_box_meet_in_a_known_sequence() {
    let left = HardSphere::new([2.0, 5.0, 5.0], 1.0).with_velocity([1.0, 0.0, 0.0]);
    let right = HardSphere::new([8.0, 5.0, 5.0], 1.0).with_velocity([-2.0, 0.0, 0.0]);
    let options = SimulationOptions::new()
        .with_walls(Walls::inside_box([0.0; 3], [10.0; 3]))
        .with_impact_list();
    let mut simulation = simulation(&[left, right], options);
    let report = step(&mut simulation, 1200.0);
    let found: Vec<_> = report
        .impacts
        .iter()
        .map(|impact| (rounded(impact.time), impact.sphere, impact.partner))
        .collect();
    let low = (0, Partner::Wall(0));
    let high = (1, Partner::Wall(1));
    let meet = (0, Partner::Sphere(1));
    // The motion of the two balls is periodic. Each row has the time at which an impact first happens, the time
    // after which it happens again, and what meets.
    let kinds = [
        (4.0 / 3.0, 4.0, meet),
        (6.0, 12.0, meet),
        (5.0, 12.0, high),
        (11.0, 12.0, low),
        (2.5, 6.0, low),
        (5.5, 6.0, high),
    ];
    let mut expected = Vec::new();
    for (first, period, (ball, partner)) in kinds {
        let count = (1200.0 / period) as i32;
        expected
            .extend((0..count).map(|k| (rounded(first + period * f64::from(k)), ball, partner)));
    }
    expected.sort_by(|one, other| one.0.total_cmp(&other.0));
    assert_eq!(found, expected);
}

/// A ball of radius 4 in a round wall of radius 100, an example that the documents also use.
#[test]
fn a_ball_in_a_round_wall_turns_back() {
    let ball = HardSphere::new([0.0; 3], 4.0).with_velocity([10.0, 0.0, 0.0]);
    let options = with_walls([Wall::sphere_inside([0.0; 3], 100.0)]).with_impact_list();
    let mut simulation = simulation(&[ball], options);
    let report = step(&mut simulation, 10.0);
    assert_eq!(at_walls(&report), [(9.6, 0, 0)]);
    assert_eq!(simulation.spheres()[0].velocity, [-10.0, 0.0, 0.0]);
}

#[test]
fn a_dropped_ball_bounces_to_the_given_share_of_its_height() {
    let ball = HardSphere::new([0.0, 0.0, 9.0], 1.0);
    let options = with_walls([Wall::half_space([0.0, 0.0, 1.0], 0.0)])
        .with_gravity([0.0, 0.0, -4.0])
        .with_wall_restitution(0.5)
        .with_impact_list();
    let mut simulation = simulation(&[ball], options);
    // The ball falls by 8 in a time of 2. Its following jumps take the times 2, 1, ½ and so on.
    let report = step(&mut simulation, 5.9);
    let times: Vec<_> = at_walls(&report).iter().map(|impact| impact.0).collect();
    assert_eq!(times, [2.0, 4.0, 5.0, 5.5, 5.75, 5.875]);
    let points = report
        .impacts
        .iter()
        .map(|impact| DVec3::from(impact.point).length());
    assert!(
        points.into_iter().all(|away| away < 1e-12),
        "{:?}",
        report.impacts
    );
}

#[test]
fn a_moving_wall_pushes_a_ball_and_balls_pass_momentum_to_walls() {
    let ball = HardSphere::new([0.0; 3], 1.0).with_mass(3.0);
    let piston = Wall::half_space([1.0, 0.0, 0.0], -5.0).with_velocity([2.0, 0.0, 0.0]);
    let mut simulation = simulation(&[ball], with_walls([piston]).with_impact_list());
    assert_eq!(step(&mut simulation, 1.0).wall_impacts, 0);
    let report = step(&mut simulation, 3.0);
    assert_eq!(at_walls(&report), [(2.0, 0, 0)]);
    assert_eq!(simulation.spheres()[0].velocity[0], 4.0);
    assert_eq!(report.wall_impulses, [[-12.0, 0.0, 0.0]]);
}

/// Returns the distance of a sphere from a wall, computed independently of carom.
fn gap(sphere: &HardSphere, wall: &Wall, time: f64) -> f64 {
    let vector = |x: [f32; 3]| Vec3::from(x).as_dvec3();
    let center = DVec3::from(sphere.center) - vector(wall.velocity()) * time;
    let r = sphere.radius;
    let from_axis = |point, axis| {
        let axis = vector(axis);
        (center - vector(point)).cross(axis).length() / axis.length()
    };
    let side = |hollow| if hollow { -1.0 } else { 1.0 };
    match wall.shape() {
        WallShape::HalfSpace { normal, offset } => {
            let normal = vector(normal);
            (normal.dot(center) - f64::from(offset)) / normal.length() - r
        }
        WallShape::Sphere {
            center: at,
            radius,
            hollow,
        } => side(hollow) * ((center - vector(at)).length() - f64::from(radius)) - r,
        WallShape::Cylinder {
            point,
            axis,
            radius,
            hollow,
        } => side(hollow) * (from_axis(point, axis) - f64::from(radius)) - r,
        shape => panic!("an unknown shape: {shape:?}"),
    }
}

/// Balls fall and bounce among walls of every kind. No ball ever enters a wall or another ball, and without
/// moving walls the energy stays the same.
#[test]
fn balls_stay_out_of_walls_of_every_kind() {
    let mut rng = Rng::with_seed(7);
    for world in 0..60 {
        let moving = world % 2 == 1;
        let gravity = if world % 3 == 0 {
            DVec3::ZERO
        } else {
            5.0 * random(&mut rng)
        };
        let mut walls = vec![
            Wall::sphere_inside([0.0; 3], 10.0),
            Wall::half_space(random(&mut rng).as_vec3(), -4.0),
            Wall::sphere((8.0 * random(&mut rng)).as_vec3(), 2.0),
            Wall::cylinder(
                (6.0 * random(&mut rng)).as_vec3(),
                random(&mut rng).as_vec3(),
                1.0,
            ),
            Wall::cylinder_inside([0.0; 3], random(&mut rng).as_vec3(), 9.0),
        ];
        if moving {
            for wall in &mut walls[2..4] {
                *wall = wall.with_velocity(random(&mut rng).as_vec3());
            }
        }
        let mut balls: Vec<HardSphere> = Vec::new();
        for _ in 0..1000 {
            let ball = HardSphere::new(10.0 * random(&mut rng), 0.1 + 0.5 * rng.f64())
                .with_velocity(3.0 * random(&mut rng))
                .with_mass(0.5 + rng.f64());
            let free = walls.iter().all(|wall| gap(&ball, wall, 0.0) > 0.0);
            let apart = |other: &HardSphere| {
                DVec3::from(other.center).distance(ball.center.into()) > other.radius + ball.radius
            };
            if free && balls.iter().all(apart) && balls.len() < 30 {
                balls.push(ball);
            }
        }
        // The first two balls become obstacles of infinite mass. The second one moves, unless `moving` is
        // false.
        if let [first, second, ..] = &mut balls[..] {
            *first = first.with_velocity([0.0; 3]).fixed();
            *second = second.fixed();
            if !moving {
                second.velocity = [0.0; 3];
            }
        }
        let options = with_walls(walls.iter().copied()).with_gravity(gravity);
        let mut simulation = simulation(&balls, options);
        let energy = |simulation: &Simulation| {
            let free = simulation.spheres().iter().filter(|ball| !ball.is_fixed());
            let potential = free.map(|ball| -ball.mass * gravity.dot(ball.center.into()));
            simulation.kinetic_energy() + potential.sum::<f64>()
        };
        let before = energy(&simulation);
        let (mut impacts, mut wall_impacts) = (0, 0);
        for _ in 0..200 {
            let report = step(&mut simulation, 0.01);
            impacts += report.sphere_impacts;
            wall_impacts += report.wall_impacts;
            let time = simulation.time();
            for (index, ball) in simulation.spheres().iter().enumerate() {
                if !ball.is_fixed() {
                    for wall in &walls {
                        let gap = gap(ball, wall, time);
                        // A moving wall may squeeze a ball against another wall.
                        assert!(gap > -1e-9, "world {world}, ball {index}, {wall:?}: {gap}");
                    }
                }
                for other in &simulation.spheres()[..index] {
                    let gap = DVec3::from(other.center).distance(ball.center.into())
                        - other.radius
                        - ball.radius;
                    assert!(gap > -1e-9 || ball.is_fixed() && other.is_fixed(), "{gap}");
                }
            }
        }
        if !moving {
            assert!(
                (energy(&simulation) / before - 1.0).abs() < 1e-9,
                "world {world}"
            );
        }
        assert!(
            balls.len() < 5 || impacts + wall_impacts > 10,
            "{impacts} {wall_impacts}"
        );
    }
}

/// Balls in a box of triangles move as in a box of half-spaces.
#[test]
fn a_box_of_triangles_reflects_like_a_box_of_planes() {
    let mut rng = Rng::with_seed(3);
    let balls: Vec<_> = (0..8)
        .map(|k| {
            let center = DVec3::from([0, 1, 2].map(|axis| 2.5 + 5.0 * f64::from(k >> axis & 1)));
            HardSphere::new(center, 0.5 + 0.5 * rng.f64()).with_velocity(4.0 * random(&mut rng))
        })
        .collect();
    for gravity in [DVec3::ZERO, DVec3::new(0.5, -1.0, -3.0)] {
        let mut mesh = Walls::new();
        mesh.push_mesh(box_mesh([0.0; 3], [10.0; 3]));
        let options = SimulationOptions::new()
            .with_gravity(gravity)
            .with_impact_list();
        let planes = Walls::inside_box([0.0; 3], [10.0; 3]);
        let mut of_planes = simulation(&balls, options.clone().with_walls(planes));
        let mut of_triangles = simulation(&balls, options.with_walls(mesh));
        let [one, other] = [&mut of_planes, &mut of_triangles].map(|world| step(world, 20.0));
        assert!(one.wall_impacts > 60 && one.sphere_impacts > 2, "{one:?}");
        let faces = |report: &StepReport, triangles: u32| -> Vec<_> {
            let impacts = at_walls(report).into_iter();
            impacts
                .map(|(_, ball, wall)| (ball, wall / triangles))
                .collect()
        };
        assert!(one.substeps < 200 && other.substeps < 200);
        let (expected, found) = (faces(&one, 1), faces(&other, 2));
        assert_eq!(found[..60], expected[..60]);
    }
}

/// An edge acts like a cylinder of radius 0, and a corner like a sphere of radius 0.
#[test]
fn edges_and_corners_reflect_like_thin_cylinders_and_points() {
    let mut rng = Rng::with_seed(5);
    let mut hits = [0; 2];
    for _ in 0..300 {
        // A wedge with its edge along x, from −5 to 5, which points up.
        let vertices = vec![[-5.0, 0.0, 0.0], [5.0, 0.0, 0.0], [0.0, 0.3, -9.0]];
        let mut walls = Walls::new();
        walls.push_mesh(Mesh::new(vertices, vec![[0, 1, 2]]).expect("a valid triangle"));
        let corner = rng.bool();
        let middle = if corner { 5.4 } else { 0.0 };
        let ball = HardSphere::new([middle + 0.2 * rng.f64(), rng.f64() - 0.5, 2.0], 1.0)
            .with_velocity([0.0, 0.2 * (rng.f64() - 0.5), -1.0]);
        let like = if corner {
            Wall::sphere([5.0, 0.0, 0.0], 0.0)
        } else {
            Wall::cylinder([0.0; 3], [1.0, 0.0, 0.0], 0.0)
        };
        let gravity = [0.0, 0.1, -0.3];
        let options = SimulationOptions::new()
            .with_gravity(gravity)
            .with_walls(walls);
        let mut mesh = simulation(&[ball], options);
        let mut round = simulation(&[ball], with_walls([like]).with_gravity(gravity));
        let reports = [&mut mesh, &mut round].map(|world| step(world, 1.5));
        if reports[0].wall_impacts == 1 && reports[1].wall_impacts == 1 {
            hits[usize::from(corner)] += 1;
            let away =
                DVec3::from(mesh.spheres()[0].center) - DVec3::from(round.spheres()[0].center);
            assert!(away.length() < 1e-9, "{away}");
        }
    }
    assert!(hits[0] > 100 && hits[1] > 100, "{hits:?}");
}

/// Returns the point of a triangle that is nearest to a place. The distance from a triangle is the
/// least distance from a point a + x·(b − a) + y·(c − a) with x ≥ 0, y ≥ 0 and x + y ≤ 1.
fn nearest_in([a, b, c]: [DVec3; 3], place: DVec3) -> DVec3 {
    let on_edge = |from: DVec3, to: DVec3| {
        let edge = to - from;
        let share = edge.dot(place - from) / edge.length_squared();
        from + edge * share.clamp(0.0, 1.0)
    };
    let mut points = vec![on_edge(a, b), on_edge(b, c), on_edge(c, a)];
    let (u, v, w) = (b - a, c - a, place - a);
    let (uu, uv, vv) = (u.dot(u), u.dot(v), v.dot(v));
    let (x, y) = (vv * u.dot(w) - uv * v.dot(w), uu * v.dot(w) - uv * u.dot(w));
    let all = uu * vv - uv * uv;
    if x >= 0.0 && y >= 0.0 && x + y <= all {
        points.push(a + (u * x + v * y) / all);
    }
    let nearest = points.into_iter().min_by(|one, other| {
        let [one, other] = [one, other].map(|point| point.distance(place));
        one.total_cmp(&other)
    });
    nearest.expect("a point")
}

/// A ball overlaps a triangle at the start. If it moves away, it has no impact. Otherwise it has
/// one impact, at once. This is so because the distance from a triangle is a convex function of the
/// place, so a ball without gravity that moves away once moves away for ever.
#[test]
fn a_ball_that_overlaps_a_triangle_leaves_it() {
    let mut rng = Rng::with_seed(12);
    let mut counts = [0; 2];
    for _ in 0..4000 {
        let corners = [(); 3].map(|()| random(&mut rng).as_vec3());
        let (radius, velocity) = (0.05 + 1.5 * rng.f64(), random(&mut rng));
        let exact = corners.map(Vec3::as_dvec3);
        let center = exact[0] + 1.5 * random(&mut rng);
        let away = center - nearest_in(exact, center);
        if away.length() > 0.999 * radius || away.dot(velocity).abs() < 1e-6 {
            continue;
        }
        let mesh = Mesh::new(corners.map(Into::into).to_vec(), vec![[0, 1, 2]]);
        let mut walls = Walls::new();
        walls.push_mesh(mesh.expect("a valid triangle"));
        let options = SimulationOptions::new()
            .with_walls(walls)
            .with_impact_list();
        let ball = HardSphere::new(center, radius).with_velocity(velocity);
        let approaches = away.dot(velocity) < 0.0;
        let mut bouncing = simulation(&[ball], options.clone());
        let report = step(&mut bouncing, 5.0);
        let impacts: Vec<_> = report.impacts.iter().map(|impact| impact.time).collect();
        assert_eq!(impacts, if approaches { vec![0.0] } else { vec![] });
        counts[usize::from(approaches)] += 1;

        // No rule is asked about a ball that moves away, even if gravity moves the ball.
        let mut falling = simulation(&[ball], options.with_gravity(random(&mut rng)));
        let ignoring = falling.step_with(5.0, &|encounter| {
            assert!(encounter.approach_speed > -1e-12, "{encounter:?}");
            Response::Ignore
        });
        ignoring.expect("the step succeeds");
    }
    assert!(counts[0] > 500 && counts[1] > 500, "{counts:?}");
}

/// A point passes through a triangle, however short the steps are.
#[test]
fn a_point_passes_through_a_triangle() {
    let mut rng = Rng::with_seed(13);
    for _ in 0..50 {
        let corners = [(); 3].map(|()| random(&mut rng).as_vec3());
        let middle = corners.map(Vec3::as_dvec3).iter().sum::<DVec3>() / 3.0;
        let mesh = Mesh::new(corners.map(Into::into).to_vec(), vec![[0, 1, 2]]);
        let mut walls = Walls::new();
        walls.push_mesh(mesh.expect("a valid triangle"));
        let velocity = random(&mut rng);
        let point = HardSphere::new(middle - velocity, 0.0).with_velocity(velocity);
        let mut simulation = simulation(&[point], SimulationOptions::new().with_walls(walls));
        for _ in 0..1000 {
            assert_eq!(step(&mut simulation, 0.002).wall_impacts, 0);
        }
    }
}

/// Discs in a plane: nothing leaves the plane, not even by rounding.
#[test]
fn spheres_in_a_plane_stay_in_the_plane() {
    let mut rng = Rng::with_seed(2);
    let discs: Vec<_> = (0..100)
        .map(|k| {
            let place = DVec3::new(f64::from(k % 10), f64::from(k / 10), 0.0);
            let velocity = random(&mut rng) * DVec3::new(1.0, 1.0, 0.0);
            HardSphere::new(place, 0.4).with_velocity(velocity)
        })
        .collect();
    let walls = [
        Wall::half_space([1.0, 0.3, 0.0], -3.0),
        Wall::cylinder([4.5, 4.5, 0.0], [0.0, 0.0, 1.0], 0.05),
        Wall::cylinder_inside([4.5, 4.5, 0.0], [0.0, 0.0, 1.0], 8.0),
    ];
    let options = with_walls(walls)
        .with_gravity([0.0, -0.1, 0.0])
        .with_restitution(0.95);
    let mut simulation = simulation(&discs, options);
    let report = step(&mut simulation, 30.0);
    assert!(report.sphere_impacts > 500 && report.wall_impacts > 100);
    for disc in simulation.spheres() {
        assert_eq!((disc.center[2], disc.velocity[2]), (0.0, 0.0));
    }
}

/// A channel that is periodic along x and y, with a floor, a ceiling, a post that repeats with the domain, and a
/// round obstacle near a face of the cell.
#[test]
fn images_of_balls_meet_walls_in_a_periodic_domain() {
    let mut rng = Rng::with_seed(4);
    let domain = Domain::rectangular([0.0; 3], [6.0; 3]).with_periodic([true, true, false]);
    let walls = [
        Wall::half_space([0.0, 0.0, 1.0], 0.0),
        Wall::half_space([0.0, 0.0, -1.0], -6.0),
        Wall::cylinder([0.2, 0.1, 0.0], [0.0, 0.0, 1.0], 0.5),
        Wall::sphere([3.0, 5.9, 3.0], 0.6),
    ];
    let mut balls = Vec::new();
    for k in 0..27 {
        let place = DVec3::new(f64::from(k % 3), f64::from(k / 3 % 3), f64::from(k / 9));
        let ball = HardSphere::new(2.0 * place + 1.0, 0.3).with_velocity(random(&mut rng));
        balls.push(ball);
    }
    let options = with_walls(walls).with_domain(domain);
    let mut simulation = simulation(&balls, options);
    let mut counts = [0.0; 4];
    for _ in 0..300 {
        let report = step(&mut simulation, 0.1);
        for (count, impulse) in counts.iter_mut().zip(&report.wall_impulses) {
            *count += DVec3::from(*impulse).length();
        }
        for ball in simulation.spheres() {
            for (x, y) in [-1, 0, 1]
                .into_iter()
                .flat_map(|x| [-1, 0, 1].map(|y| (x, y)))
            {
                let image = HardSphere {
                    center: (DVec3::from(ball.center)
                        + 6.0 * DVec3::new(f64::from(x), f64::from(y), 0.0))
                    .to_array(),
                    ..*ball
                };
                for wall in &walls {
                    assert!(gap(&image, wall, 0.0) > -1e-9);
                }
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 5.0), "{counts:?}");
}

/// A drain: balls in a box are removed at its floor, which gets no impulse from them.
#[test]
fn a_rule_removes_spheres_at_a_wall() {
    let mut rng = Rng::with_seed(9);
    let balls: Vec<_> = (0..64)
        .map(|k| {
            let place = DVec3::new(f64::from(k % 4), f64::from(k / 4 % 4), f64::from(k / 16));
            HardSphere::new(2.5 * place + 1.2, 0.5).with_velocity(random(&mut rng))
        })
        .collect();
    let options = SimulationOptions::new()
        .with_walls(Walls::inside_box([0.0; 3], [10.0; 3]))
        .with_gravity([0.0, 0.0, -0.5]);
    let mut simulation = simulation(&balls, options);
    let mut removed = Vec::new();
    for _ in 0..40 {
        let report = simulation
            .step_with(0.5, &|encounter| match encounter.partner {
                Partner::Wall(4) => Response::Each([Outcome::Remove; 2]),
                _ => Response::Bounce,
            })
            .expect("the step succeeds");
        assert_eq!(report.wall_impulses[4], [0.0; 3]);
        removed.extend(report.removed.iter().map(|removal| removal.sphere as usize));
    }
    assert!(removed.len() > 32, "{}", removed.len());
    for (index, ball) in simulation.spheres().iter().enumerate() {
        let is_removed = removed.contains(&index);
        assert_eq!(simulation.is_removed(index), is_removed);
        assert_eq!(rounded(ball.center[2]) == 0.5, is_removed, "{ball:?}");
    }
    removed.sort_unstable();
    removed.dedup();
    assert_eq!(
        removed.len(),
        simulation
            .spheres()
            .iter()
            .filter(|ball| ball.velocity == [0.0; 3])
            .count()
    );
}

/// A ball that slides along a plane without restitution keeps its speed along the plane.
#[test]
fn a_ball_slides_along_a_plane() {
    let ball = HardSphere::new([0.0, 0.0, 2.0], 1.0).with_velocity([3.0, 1.0, -1.0]);
    let options = with_walls([Wall::half_space([0.0, 0.0, 1.0], 0.0)]).with_wall_restitution(0.0);
    let mut simulation = simulation(&[ball], options);
    assert_eq!(step(&mut simulation, 100.0).wall_impacts, 1);
    let after = simulation.spheres()[0];
    assert_eq!(after.velocity, [3.0, 1.0, 0.0]);
    assert_eq!(after.center[2], 1.0);
    assert_eq!(rounded(after.center[0]), 300.0);
}

/// A ball that has hit a wall of any orientation without restitution slides along it. Rounding
/// errors of the normal must not make the ball hit the wall again and again.
#[test]
fn a_ball_slides_along_oblique_walls() {
    let mut rng = Rng::with_seed(3);
    for _ in 0..200 {
        let normal = random(&mut rng).normalize();
        let along = normal.any_orthonormal_vector();
        let across = normal.cross(along);
        let f32s = |x: DVec3| x.as_vec3().to_array();
        // A square of 128 triangles, a plane, and a cylinder, all with the same tangent plane.
        let corner = |k: u32| along * (f64::from(k % 9) - 4.0) + across * (f64::from(k / 9) - 4.0);
        let squares = (0..72).filter(|k| k % 9 < 8);
        let triangles = squares.flat_map(|k| [[k, k + 1, k + 9], [k + 1, k + 10, k + 9]]);
        let vertices = (0..81).map(|k| f32s(2.0 * corner(k))).collect();
        let mut square = Walls::new();
        square.push_mesh(Mesh::new(vertices, triangles.collect()).expect("a valid mesh"));
        let plane = Wall::half_space(f32s(normal), 0.0);
        let cylinder = Wall::cylinder(f32s(-3.0 * normal), f32s(along), 3.0);
        let aside = along * (2.0 * rng.f64() - 1.0);
        for (walls, sideways) in [
            (square, across * rng.f64()),
            (Walls::from_iter([plane]), across * rng.f64()),
            (Walls::from_iter([cylinder]), DVec3::ZERO),
        ] {
            let ball = HardSphere::new(normal * 0.8, 0.5)
                .with_velocity(aside + sideways - normal * (0.1 + rng.f64()));
            let options = SimulationOptions::new()
                .with_walls(walls)
                .with_wall_restitution(0.0);
            let mut simulation = simulation(&[ball], options);
            let impacts = step(&mut simulation, 5.0).wall_impacts;
            let after = simulation.spheres()[0];
            let height = DVec3::from(after.center).dot(normal);
            assert!((1..20).contains(&impacts), "{impacts} impacts");
            // The float32 corners of the triangles are not exactly in one plane. So an edge between two
            // triangles may lift the ball a little.
            assert!((-1e-5..1e-2).contains(&(height - 0.5)), "{after:?}");
        }
    }
}

fn of_mesh(mesh: Mesh) -> Walls {
    let mut walls = Walls::new();
    walls.push_mesh(mesh);
    walls
}

/// A ball slides over the edges and corners inside a flat floor of triangles, which do not lift it. It may touch the
/// floor exactly, or overlap it. It is the same if the floor consists of two meshes.
#[test]
fn edges_inside_a_flat_floor_lift_no_ball() {
    let mut rng = Rng::with_seed(8);
    for overlap in [0.0, 1.5e-9, 1e-6, 1e-4, 1e-2] {
        for round in 0..40 {
            let floor = flat(8, &mut rng);
            let [half, rest] = [0, 1].map(|k| {
                let triangles = floor.triangles().iter().copied().skip(k).step_by(2);
                Mesh::new(floor.vertices().to_vec(), triangles.collect()).expect("a valid mesh")
            });
            let mut walls = of_mesh(half);
            walls.push_mesh(rest);
            let walls = if round % 2 == 0 {
                of_mesh(floor)
            } else {
                walls
            };
            // Some paths go straight along edges and through corners.
            let along = match round {
                0..4 => DVec3::X,
                4..8 => DVec3::new(1.0, 1.0, 0.0),
                _ => DVec3::new(rng.f64(), rng.f64(), 0.0),
            };
            let velocity = 5.0 * along.normalize();
            let start = DVec3::new(1.0, 1.0, 0.5 - overlap);
            let ball = HardSphere::new(start, 0.5).with_velocity(velocity);
            for restitution in [0.0, 1.0] {
                let options = SimulationOptions::new()
                    .with_walls(walls.clone())
                    .with_wall_restitution(restitution);
                let mut sliding = simulation(&[ball], options);
                step(&mut sliding, 1.0);
                let after = DVec3::from(sliding.spheres()[0].velocity);
                assert!(
                    after.distance(velocity) < 1e-9,
                    "{overlap} {round}: {velocity} became {after}"
                );
            }
        }
    }
}

/// A ball bounces on a flat floor of triangles as on a plane, also exactly on an edge or a corner.
#[test]
fn a_floor_of_triangles_reflects_like_a_plane() {
    let mut rng = Rng::with_seed(9);
    for round in 0..200 {
        let place = match round {
            0 => [2.0, 2.0],
            1..20 => [0.0; 2].map(|_| f64::from(rng.u32(1..7))),
            _ => [0.0; 2].map(|_| 1.0 + 6.0 * rng.f64()),
        };
        let walls = of_mesh(flat(8, &mut rng));
        let ball = HardSphere::new([place[0], place[1], 2.0], 0.5).with_velocity([0.3, 0.2, -3.0]);
        let mut bouncing = simulation(&[ball], SimulationOptions::new().with_walls(walls));
        let impacts = step(&mut bouncing, 1.0).wall_impacts;
        let after = DVec3::from(bouncing.spheres()[0].velocity);
        assert_eq!(impacts, 1, "{round}");
        assert!(after.distance(DVec3::new(0.3, 0.2, 3.0)) < 1e-9, "{after}");
    }
}

/// Balls hit the outer edges and corners of a cube of triangles, and the border of a square.
#[test]
fn outer_edges_and_corners_of_a_mesh_reflect() {
    let cube = || of_mesh(box_mesh([0.0; 3], [2.0; 3]));
    for (place, direction, walls) in [
        (DVec3::new(2.0, 2.0, 1.1), DVec3::new(1.0, 1.0, 0.0), cube()),
        (DVec3::new(2.0, 2.0, 2.0), DVec3::new(1.0, 1.0, 1.0), cube()),
        (
            DVec3::new(0.0, 0.9, 0.0),
            DVec3::new(-1.0, 0.0, -1.0),
            cube(),
        ),
        (
            DVec3::new(0.0, 0.9, 0.0),
            DVec3::new(-1.0, 0.0, 0.5),
            of_mesh(flat(2, &mut Rng::with_seed(1))),
        ),
    ] {
        let away = direction.normalize();
        let ball = HardSphere::new(place + away * 2.5, 0.5).with_velocity(-away);
        let mut bouncing = simulation(&[ball], SimulationOptions::new().with_walls(walls));
        step(&mut bouncing, 3.0);
        let after = DVec3::from(bouncing.spheres()[0].velocity);
        assert!(after.distance(away) < 1e-6, "{place}: {after}");
    }
}

/// Triangles that are far from all spheres cost nothing, also after an edit.
#[test]
fn far_triangles_cost_nothing() {
    let time = |across: u32| {
        let walls = of_mesh(flat(across, &mut Rng::with_seed(1)));
        let ball = HardSphere::new([0.0, 0.0, 5000.0], 0.5).with_velocity([1.0, 0.0, 0.0]);
        let mut flying = simulation(&[ball], SimulationOptions::new().with_walls(walls));
        step(&mut flying, 0.01);
        let mut best = f64::INFINITY;
        for _ in 0..20 {
            let start = std::time::Instant::now();
            for _ in 0..10 {
                let change = |balls: &mut [HardSphere]| balls[0].velocity[0] += 1e-3;
                flying.edit(change).expect("a valid edit");
                step(&mut flying, 0.01);
            }
            best = best.min(start.elapsed().as_secs_f64());
        }
        best
    };
    let (few, many) = (time(3), time(200));
    assert!(many < 2.0 * few + 1e-4, "{many} s instead of {few} s");
}

/// One-sided triangles reflect a ball from the front, and let it pass from behind, also if it starts in between.
#[test]
fn one_sided_triangles_let_balls_pass_from_behind() {
    for (side, height) in [(1.0, 2.0), (-1.0, 2.0), (-1.0, 0.2)] {
        let ball = HardSphere::new([2.2, 2.1, side * height], 0.5);
        let ball = ball.with_velocity([0.1, 0.0, -side]);
        let walls = of_mesh(flat(4, &mut Rng::with_seed(1)));
        let options = SimulationOptions::new().with_walls(walls);
        let mut passing = simulation(&[ball], options.with_one_sided_meshes());
        step(&mut passing, 4.0);
        assert_eq!(passing.spheres()[0].velocity[2], 1.0, "{side} {height}");
    }
}

/// A ball bounces on a floor and loses speed in each impact. Without a contact time, the number of impacts is
/// infinite, which is an error. With a contact time, the ball ends at rest on the floor.
#[test]
fn a_ball_comes_to_rest_on_a_floor() {
    let ball = HardSphere::new([0.0, 0.0, 2.0], 1.0).with_velocity([1.0, 0.0, 0.0]);
    let options = with_walls([Wall::half_space([0.0, 0.0, 1.0], 0.0)])
        .with_gravity([0.0, 0.0, -10.0])
        .with_wall_restitution(0.5);
    let mut collapsing = simulation(&[ball], options.clone());
    let error = collapsing
        .step(10.0)
        .expect_err("the ball has infinitely many impacts");
    assert!(
        matches!(error, Error::TooManyImpacts { sphere: 0, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("contact time"));
    let mut resting = simulation(&[ball], options.with_contact_time(1e-3));
    let report = step(&mut resting, 10.0);
    assert!(
        (5..20).contains(&report.wall_impacts),
        "{} impacts",
        report.wall_impacts
    );
    let after = resting.spheres()[0];
    assert!((after.center[2] - 1.0).abs() < 1e-9, "{}", after.center[2]);
    assert_eq!(rounded(after.center[0]), 10.0);
}

/// Returns the error of a step in which some balls run out of room or of speed, and the centres
/// after the step. The step must end after at most `most` encounters have been decided.
fn collapse(
    balls: &[HardSphere],
    options: SimulationOptions,
    duration: f64,
    most: u64,
) -> (String, Vec<[f64; 3]>) {
    let encounters = AtomicU64::new(0);
    let mut collapsing = simulation(balls, options);
    let result = collapsing.step_with(duration, &|_| {
        assert!(encounters.fetch_add(1, Ordering::Relaxed) < most);
        Response::Bounce
    });
    let error = result.expect_err("the balls have infinitely many impacts");
    assert!(matches!(error, Error::TooManyImpacts { .. }), "{error}");
    let centers = collapsing.spheres().iter().map(|ball| ball.center);
    (error.to_string(), centers.collect())
}

/// Balls bounce between two walls that close on them. They have infinitely many impacts until time
/// 10, when no room is left. The step must end with an error soon, for one ball and for many, and
/// the error must not depend on the number of threads.
#[test]
fn balls_between_closing_walls_run_out_of_room() {
    let walls = [
        Wall::half_space([0.0, 0.0, 1.0], -2.0).with_velocity([0.0, 0.0, 0.1]),
        Wall::half_space([0.0, 0.0, -1.0], -2.0).with_velocity([0.0, 0.0, -0.1]),
    ];
    for (count, most) in [(1, 500_000), (11, 500_000), (300, 5_000_000)] {
        let mut rng = Rng::with_seed(15);
        let balls: Vec<_> =
            (0..count)
                .map(|k| {
                    HardSphere::new([3.0 * f64::from(k), 0.0, rng.f64() - 0.5], 1.0)
                        .with_velocity([0.0, 0.0, 1.0 + rng.f64()])
                })
                .collect();
        let [one, other] = [1, 3].map(|threads| {
            with_threads(threads, || collapse(&balls, with_walls(walls), 20.0, most))
        });
        assert_eq!(one, other);
    }
}

/// If many balls collapse at the same time, carom processes the impacts of only a few of them until
/// it returns the error.
#[test]
fn many_balls_that_collapse_cost_no_more_than_a_few() {
    let balls: Vec<_> = (0..1000)
        .map(|k| HardSphere::new([3.0 * f64::from(k), 0.0, 2.0], 1.0))
        .collect();
    let options = with_walls([Wall::half_space([0.0, 0.0, 1.0], 0.0)])
        .with_gravity([0.0, 0.0, -10.0])
        .with_wall_restitution(0.5);
    with_threads(1, || collapse(&balls, options, 10.0, 500_000));
}

/// A ball falls on a mesh, on a point that belongs to several triangles, and stays there without a contact time. carom
/// may process as many impacts as `max_impacts` allows by default only in the last substep.
#[test]
fn a_ball_that_lies_on_a_mesh_soon_ends_the_step() {
    let corners = [
        [-2.0, -2.0, 0.0],
        [2.0, -2.0, 0.0],
        [2.0, 2.0, 0.0],
        [-2.0, 2.0, 0.0],
        [0.0; 3],
    ];
    let triangles = [0, 1, 2, 3].map(|k| [k, (k + 1) % 4, 4]);
    let mesh = Mesh::new(corners.to_vec(), triangles.to_vec()).expect("a valid mesh");
    let mut walls = Walls::new();
    walls.push_mesh(mesh);
    for velocity in [[0.0; 3], [1.0, 0.7, 0.0]] {
        let ball = HardSphere::new([0.0, 0.0, 0.8], 0.5).with_velocity(velocity);
        let options = SimulationOptions::new()
            .with_walls(walls.clone())
            .with_gravity([0.0, 0.0, -10.0])
            .with_wall_restitution(0.0);
        collapse(&[ball], options, 1.0, 3 * 100_000);
    }
}

/// A ball flies for a long time, and then slides along a hollow wall with one impact in each contact time. Substeps with
/// too many impacts are begun again with a shorter duration.
#[test]
fn a_substep_with_too_many_impacts_is_shortened() {
    let ball = HardSphere::new([0.0, 0.0, 0.0], 1.0).with_velocity([1.0, 1.0, 0.0]);
    let options = with_walls([Wall::cylinder_inside([0.0, 2.0, 0.0], [0.0, 0.0, 1.0], 5.0)])
        .with_wall_restitution(0.0)
        .with_contact_time(1e-4)
        .with_max_impacts(50);
    let report = step(&mut simulation(&[ball], options), 5.0);
    assert!(report.wall_impacts > 8000, "{}", report.wall_impacts);
}

/// A ball that slides along the inside of a round wall follows the wall.
#[test]
fn a_ball_slides_along_a_hollow_wall() {
    let ball = HardSphere::new([0.0, 0.0, 0.0], 1.0).with_velocity([1.0, 1.0, 0.0]);
    let options = with_walls([Wall::cylinder_inside([0.0, 2.0, 0.0], [0.0, 0.0, 1.0], 5.0)])
        .with_wall_restitution(0.0)
        .with_contact_time(1e-3);
    let mut simulation = simulation(&[ball], options);
    let report = step(&mut simulation, 50.0);
    assert!(
        (10..60_000).contains(&report.wall_impacts),
        "{} impacts",
        report.wall_impacts
    );
    let after = simulation.spheres()[0];
    let from_axis = DVec3::from(after.center).truncate() - glam::DVec2::new(0.0, 2.0);
    assert!((from_axis.length() - 4.0).abs() < 1e-6, "{from_axis}");
}

/// A contact time turns a sphere that slides along a hollow wall, however fast the sphere is and however long the
/// contact time. It does not change the energy.
#[test]
fn a_contact_time_adds_no_energy_to_a_sphere_in_a_hollow_wall() {
    let axis = DVec3::new(1.0, 2.0, 2.0) / 3.0;
    let walls = [
        Wall::sphere_inside([0.0; 3], 5.0),
        Wall::cylinder_inside([0.0; 3], axis.to_array().map(|x| x as f32), 5.0),
    ];
    for wall in walls {
        for contact_time in [0.1, 4.0, 1000.0] {
            // The ball starts at the wall, and slides along it.
            let start = DVec3::new(0.0, 1.0, -1.0).normalize() * 4.0;
            let velocity = start.cross(axis) * 0.25 + axis * 0.5;
            let ball = HardSphere::new(start, 1.0).with_velocity(velocity);
            let options = with_walls([wall])
                .with_wall_restitution(0.0)
                .with_contact_time(contact_time);
            let mut simulation = simulation(&[ball], options);
            let before = simulation.kinetic_energy();
            let report = step(&mut simulation, 40.0);
            let name = format!("{wall:?}, contact time {contact_time}");
            assert!(report.wall_impacts >= 3, "{name}");
            let each = 40.0 / report.wall_impacts as f64;
            assert!(
                each > 0.7 * f64::min(contact_time, 8.0),
                "{each} for an impact, {name}"
            );
            let change = simulation.kinetic_energy() / before - 1.0;
            assert!(change.abs() < 1e-12, "{change}, {name}");
            if matches!(wall.shape(), WallShape::Cylinder { hollow: true, .. }) {
                let along = DVec3::from(simulation.spheres()[0].velocity).dot(axis);
                assert!((along - velocity.dot(axis)).abs() < 1e-6, "{along}, {name}");
            }
        }
    }
}

/// Many elastic spheres in a hollow sphere do not become faster.
#[test]
fn a_contact_time_adds_no_energy_to_a_gas_in_a_hollow_sphere() {
    let mut rng = Rng::with_seed(3);
    let balls: Vec<_> = (0..8_u32)
        .map(|k| {
            let corner = [k & 1, k >> 1 & 1, k >> 2].map(|x| f64::from(x) * 4.0 - 2.0);
            HardSphere::new(corner, 1.0).with_velocity(30.0 * random(&mut rng))
        })
        .collect();
    let options = with_walls([Wall::sphere_inside([0.0; 3], 6.0)]).with_contact_time(0.1);
    let mut simulation = simulation(&balls, options);
    let before = simulation.kinetic_energy();
    let report = step(&mut simulation, 10.0);
    assert!(report.wall_impacts > 100 && report.sphere_impacts > 100);
    let change = simulation.kinetic_energy() / before - 1.0;
    assert!(change.abs() < 1e-10, "{change}");
}

/// A ball swings in a hollow wall for a long time, with a contact time that is longer than its swings.
#[test]
fn a_long_contact_time_in_a_hollow_wall_leaves_all_numbers_finite() {
    for (radius, contact_time) in [(0.9, 1.0), (0.99, 0.3)] {
        let ball = HardSphere::new([0.0; 3], radius).with_velocity([0.01, 0.0, 0.02]);
        let options = with_walls([Wall::sphere_inside([0.0; 3], 1.0)])
            .with_gravity([0.0, -10.0, 0.0])
            .with_wall_restitution(0.5)
            .with_contact_time(contact_time);
        let mut simulation = simulation(&[ball], options);
        for _ in 0..4000 {
            step(&mut simulation, 0.01);
            assert!(simulation.kinetic_energy().is_finite());
        }
        assert!(DVec3::from(simulation.spheres()[0].center).length() < 1.0);
    }
}

/// A ball slides far down a thin oblique cylinder. It has little room in it, so rounding errors far along the axis
/// must stay small.
#[test]
fn a_ball_slides_far_along_a_thin_cylinder() {
    let axis = [-0.498, -0.121, 0.225];
    let walls = [Wall::cylinder_inside([0.0; 3], axis, 0.001_492)];
    let ball = HardSphere::new([-6.8e-5, 6e-5, -1.18e-4], 0.001_343);
    for contact_time in [1e-4, 1e-3] {
        let options = with_walls(walls)
            .with_gravity([0.0, -0.1, 0.0])
            .with_wall_restitution(0.0)
            .with_contact_time(contact_time);
        let mut simulation = simulation(&[ball.with_velocity([6e-5, 1.5e-4, 1.2e-4])], options);
        for _ in 0..300 {
            step(&mut simulation, 0.1);
        }
        // Without friction, the ball falls along the axis.
        let axis = DVec3::from(axis.map(f64::from)).normalize();
        let speed = DVec3::from(simulation.spheres()[0].velocity).dot(axis);
        assert!((speed - 30.0 * -0.1 * axis.y).abs() < 1e-3, "{speed}");
    }
}

/// The floor and the ceiling are the same for all images of a sphere along x and y.
#[test]
fn impacts_at_planes_have_no_image_along_the_planes() {
    let mut rng = Rng::with_seed(7);
    let mut balls = Vec::new();
    for cell in 0..216_u32 {
        let corner = DVec3::new(
            f64::from(cell % 6),
            f64::from(cell / 6 % 6),
            f64::from(cell / 36),
        );
        let velocity = random(&mut rng) * DVec3::new(3.0, 3.0, 1.0);
        balls.push(HardSphere::new(corner + 0.5, 0.3).with_velocity(velocity));
    }
    let domain = Domain::rectangular([0.0; 3], [6.0; 3]).with_periodic([true, true, false]);
    let planes = [
        Wall::half_space([0.0, 0.0, 1.0], 0.0),
        Wall::half_space([0.0, 0.0, -1.0], -6.0),
    ];
    let options = with_walls(planes).with_domain(domain).with_impact_list();
    let mut simulation = simulation(&balls, options);
    let report = step(&mut simulation, 5.0);
    let at_walls = report.impacts.iter();
    let at_walls = at_walls.filter(|impact| matches!(impact.partner, Partner::Wall(_)));
    let images: Vec<_> = at_walls.map(|impact| impact.image).collect();
    assert!(images.len() > 100, "{}", images.len());
    assert!(images.iter().all(|&image| image == [0; 3]), "{images:?}");
    for impact in &report.impacts {
        // Spheres move by less than 1 between the start of a substep and an impact.
        assert!(
            (DVec3::from(impact.point) - 3.0).abs().max_element() < 4.0,
            "{impact:?}"
        );
        let Partner::Wall(wall) = impact.partner else {
            continue;
        };
        let height = 6.0 * f64::from(wall);
        assert!((impact.point[2] - height).abs() < 1e-9, "{impact:?}");
    }
}

#[test]
fn a_sphere_that_a_rule_makes_too_fast_for_a_periodic_cell_is_an_error() {
    let balls = [
        HardSphere::new([0.2, 0.5, 0.5], 0.1).with_velocity([1.0, 0.0, 0.0]),
        HardSphere::new([0.8, 0.5, 0.5], 0.1),
    ];
    let options = SimulationOptions::new().with_domain(Domain::rectangular([0.0; 3], [1.0; 3]));
    let mut simulation = simulation(&balls, options);
    // At this speed, a sphere crosses many cells even in the shortest time that the clock resolves.
    let fast = [-1.0, 1.0].map(|sign| Outcome::Velocity([1e17, 2e17, 3e17].map(|v| sign * v)));
    let result = simulation.step_with(1.0, &|_| Response::Each(fast));
    let error = result.map(drop).expect_err("an error");
    assert!(matches!(error, Error::TooManyImages { .. }), "{error}");
}

/// Two spheres of radius 0.1 are in a periodic cell with edges of 1. In one step, a sphere moves
/// through the cell a thousand times. The step must succeed, with as many substeps as are
/// necessary. At each impact, the two spheres exchange their velocities, so one of them is always
/// at rest. The gap before the first impact is 0.4. After it, the gap from the moving sphere to the
/// next image of the other one is 1 − 2 · 0.2 = 0.6, because centres that touch are 0.2 apart.
#[test]
fn a_sphere_crosses_a_periodic_cell_a_thousand_times_in_a_step() {
    let speed = 999.7;
    let balls = [
        HardSphere::new([0.2, 0.5, 0.5], 0.1).with_velocity([speed, 0.0, 0.0]),
        HardSphere::new([0.8, 0.5, 0.5], 0.1),
    ];
    let options = SimulationOptions::new().with_domain(Domain::rectangular([0.0; 3], [1.0; 3]));
    let mut simulation = simulation(&balls, options);
    let report = simulation.step(1.0).expect("a step");
    let after_first: f64 = (speed - 0.4) / 0.6;
    assert_eq!(report.sphere_impacts, 1 + after_first.floor() as u64);
}

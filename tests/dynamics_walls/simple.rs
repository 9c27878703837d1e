//! Tests of walls of simple shapes.

use carom::{
    HardSphere, Outcome, Partner, Response, Simulation, SimulationOptions, Wall, WallShape, Walls,
};
use fastrand::Rng;
use glam::{DVec3, Vec3};

use crate::{at_walls, random, rounded, simulation, step, with_walls};

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
pub(crate) fn gap(sphere: &HardSphere, wall: &Wall, time: f64) -> f64 {
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

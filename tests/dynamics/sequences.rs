//! Tests of cases with a known sequence of impacts.

use carom::{Error, HardSphere, Simulation, SimulationOptions};
use glam::DVec3;

use crate::{other, periodic, step};

/// Rounds a number to a multiple of 10⁻⁹.
pub(crate) fn rounded(x: f64) -> f64 {
    (x * 1e9).round() / 1e9
}

/// Five equal balls are in a row, and the first ball moves. Its velocity must pass through the row to the last
/// ball.
#[test]
fn a_cradle_passes_the_velocity_on() {
    let mut balls: Vec<_> = (0..5)
        .map(|k| HardSphere::new([3.0 * f64::from(k), 0.0, 0.0], 1.0))
        .collect();
    balls[0].velocity[0] = 2.0;
    let options = SimulationOptions::new().with_impact_list();
    let mut simulation = Simulation::new(balls, options).expect("a valid cradle");
    let report = step(&mut simulation, 3.0);
    let impacts: Vec<_> = report
        .impacts
        .iter()
        .map(|impact| (rounded(impact.time), impact.sphere, other(impact)))
        .collect();
    assert_eq!(
        impacts,
        [(0.5, 0, 1), (1.0, 1, 2), (1.5, 2, 3), (2.0, 3, 4)]
    );
    let velocities: Vec<_> = simulation
        .spheres()
        .iter()
        .map(|ball| ball.velocity[0])
        .collect();
    assert_eq!(velocities, [0.0, 0.0, 0.0, 0.0, 2.0]);
    assert_eq!(rounded(simulation.spheres()[4].center[0]), 14.0);
}

/// Balls at rest in a row are hit one after the other in one substep. Each ball then moves much farther than
/// expected from its velocity at the start of the substep.
#[test]
fn a_long_row_of_balls_at_rest_is_set_off_in_one_substep() {
    let mut balls: Vec<_> = (0..30)
        .map(|k| HardSphere::new([3.0 * f64::from(k), 0.0, 0.0], 1.0))
        .collect();
    balls[0].velocity[0] = 1.0;
    let options = SimulationOptions::new().with_impacts_per_substep(1e6);
    let mut simulation = Simulation::new(balls, options.with_impact_list()).expect("a valid row");
    let report = step(&mut simulation, 29.5);
    assert!(report.substeps < 10);
    let impacts: Vec<_> = report
        .impacts
        .iter()
        .map(|impact| (rounded(impact.time), impact.sphere))
        .collect();
    let expected: Vec<_> = (0..29).map(|k| (f64::from(k) + 1.0, k)).collect();
    assert_eq!(impacts, expected);
}

/// In a cradle in which the balls touch, two balls arrive on one side, and two balls leave on the other.
#[test]
fn a_cradle_of_touching_balls_passes_two_balls_on() {
    let mut balls: Vec<_> = (0..6)
        .map(|k| HardSphere::new([2.0 * f64::from(k), 0.0, 0.0], 1.0))
        .collect();
    for ball in &mut balls[..2] {
        ball.center[0] -= 1.0;
        ball.velocity[0] = 1.0;
    }
    let mut simulation = Simulation::new(balls, SimulationOptions::new()).expect("a valid cradle");
    let report = step(&mut simulation, 2.0);
    assert_eq!(report.sphere_impacts, 8);
    let velocities: Vec<_> = simulation
        .spheres()
        .iter()
        .map(|ball| ball.velocity[0])
        .collect();
    assert_eq!(velocities, [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
}

/// Two balls in a periodic cell meet alternately on either side, again and again, after known times.
#[test]
fn two_balls_on_a_ring_meet_for_ever() {
    let left = HardSphere::new([2.0, 4.0, 4.0], 1.0).with_velocity([1.0, 0.0, 0.0]);
    let right = HardSphere::new([6.0, 4.0, 4.0], 1.0);
    let options = periodic(8.0).with_impact_list();
    let mut simulation = Simulation::new(vec![left, right], options).expect("a valid ring");
    let mut times = Vec::new();
    for _ in 0..100 {
        let report = step(&mut simulation, 40.0);
        times.extend(report.impacts.iter().map(|impact| rounded(impact.time)));
    }
    // The balls approach at speed 1. The gap between them is 2 wide at first, so the first impact
    // is at time 2. After each impact they meet next on the other side of the ring, where the gap
    // is 4 wide. So the further impacts follow every 4 units of time.
    let expected: Vec<_> = (0..1000).map(|k| 2.0 + 4.0 * f64::from(k)).collect();
    assert_eq!(times, expected);
    let center = simulation.unwrapped_center(0).expect("sphere 0 exists");
    assert_eq!(rounded(center[0]), 2.0 + 2000.0);
}

/// Two balls move around a periodic domain many times. Each impact has an image: the numbers of
/// cells by which the second ball is displaced along the three edges of the periodic cell. These
/// numbers must be relative to the places of the two balls inside the cell at the start of the step.
#[test]
fn the_image_of_an_impact_refers_to_centres_in_the_cell() {
    let edge = 10.0;
    let ball = |x: f64, v: f64| HardSphere::new([x, 5.0, 5.0], 0.5).with_velocity([v, 0.0, 0.0]);
    let options = periodic(edge).with_impact_list();
    let mut simulation =
        Simulation::new(vec![ball(1.0, 3.7), ball(6.0, 1.1)], options).expect("two balls");
    let mut images = [0; 3];
    for _ in 0..10_000 {
        let before = simulation.spheres().to_vec();
        let time = simulation.time();
        let report = step(&mut simulation, 0.05);
        let [impact] = report.impacts.as_slice() else {
            continue;
        };
        if report.substeps > 1 {
            continue;
        }
        let place = |ball: &HardSphere| {
            DVec3::from(ball.center) + DVec3::from(ball.velocity) * (impact.time - time)
        };
        let shift = edge * DVec3::from(impact.image.map(f64::from));
        let away = place(&before[other(impact)]) + shift - place(&before[impact.sphere as usize]);
        assert!(
            (away - DVec3::from(impact.normal)).length() < 1e-9,
            "{impact:?}: {away}"
        );
        let point = place(&before[impact.sphere as usize]) + 0.5 * DVec3::from(impact.normal);
        assert!(
            point.distance(impact.point.into()) < 1e-9,
            "{impact:?}: {point}"
        );
        images[(impact.image[0] + 1) as usize] += 1;
    }
    // Impacts must have happened with each of the image numbers −1, 0 and 1: across one face of the
    // cell, within the cell, and across the opposite face.
    assert!(images.iter().all(|&count| count >= 5), "{images:?}");
}

#[test]
fn an_inelastic_impact_leaves_the_given_share_of_the_speed() {
    let heavy = HardSphere::new([0.0; 3], 1.0)
        .with_velocity([3.0, 0.0, 0.0])
        .with_mass(2.0);
    let light = HardSphere::new([5.0, 0.0, 0.0], 1.0).with_velocity([-1.0, 0.0, 0.0]);
    let options = SimulationOptions::new()
        .with_restitution(0.5)
        .with_impact_list();
    let mut simulation = Simulation::new(vec![heavy, light], options).expect("two balls");
    let report = step(&mut simulation, 1.0);
    let impact = report.impacts[0];
    assert_eq!(
        (impact.time, impact.impulse, impact.normal),
        (0.75, [4.0, 0.0, 0.0], [1.0, 0.0, 0.0])
    );
    // The total momentum of the two balls is 5, as before the impact. They approached each other with speed
    // 4. With the restitution 0.5, they separate with speed 2.
    let velocities: Vec<_> = simulation
        .spheres()
        .iter()
        .map(|ball| ball.velocity[0])
        .collect();
    assert_eq!(velocities, [1.0, 3.0]);
    assert_eq!(report.kinetic_energy, 0.5 * (2.0 + 9.0));
    assert_eq!(report.virial, 2.0 * 4.0);
}

#[test]
fn a_fixed_sphere_reflects_and_stays() {
    let ball = HardSphere::new([0.0; 3], 1.0).with_velocity([1.0, 0.0, 0.0]);
    let post = HardSphere::new([4.0, 0.0, 0.0], 1.0).fixed();
    let options = SimulationOptions::new().with_impact_list();
    let mut simulation = Simulation::new(vec![post, ball], options).expect("a ball and a post");
    let report = step(&mut simulation, 3.0);
    // The post passes the momentum to the ball.
    assert_eq!(report.impacts[0].impulse, [-2.0, 0.0, 0.0]);
    assert_eq!(simulation.spheres()[0], post);
    assert_eq!(simulation.spheres()[1].velocity[0], -1.0);
    assert_eq!(simulation.spheres()[1].center[0], 1.0);
}

/// Three balls are on a line. The middle ball moves between the others and loses speed with each impact. With a
/// restitution below 7 − √48 ≈ 0.072, infinitely many impacts happen in a finite time.
#[test]
fn inelastic_collapse_is_an_error_without_a_contact_time() {
    let balls = [(-3.0, 1.0), (0.0, 0.0), (3.5, -1.0)]
        .map(|(x, v)| HardSphere::new([x, 0.0, 0.0], 1.0).with_velocity([v, 0.0, 0.0]));
    let options = SimulationOptions::new()
        .with_restitution(0.05)
        .with_max_impacts(100);
    let mut collapsing = Simulation::new(balls.to_vec(), options.clone()).expect("three balls");
    let error = collapsing.step(100.0).expect_err("the balls collapse");
    assert!(
        matches!(error, Error::TooManyImpacts { limit: 100, .. }),
        "{error}"
    );
    // After a step that failed, the simulation is at the end of the last complete substep.
    assert!(collapsing.time() < 5.0);
    let all = collapsing.spheres().iter();
    let momentum: DVec3 = all.map(|ball| DVec3::from(ball.momentum())).sum();
    assert!(momentum.length() < 1e-12);
    let options = options.with_contact_time(1e-6);
    let mut simulation = Simulation::new(balls.to_vec(), options).expect("three balls");
    let report = step(&mut simulation, 100.0);
    assert!(
        report.sphere_impacts < 100,
        "{} impacts",
        report.sphere_impacts
    );
    for pair in simulation.spheres().windows(2) {
        assert!(pair[1].center[0] - pair[0].center[0] > 2.0 - 1e-9);
    }
}

/// Two balls hit a fixed sphere, the second one within the contact time after the first. The fixed sphere reflects both
/// with the given restitution, as a wall would, also in the next substep.
#[test]
fn a_fixed_sphere_does_not_make_the_impacts_of_others_elastic() {
    let ball = |x: f64, v: f64| HardSphere::new([x, 0.0, 0.0], 0.5).with_velocity([v, 0.0, 0.0]);
    let fixed = HardSphere::new([0.0; 3], 1.0).fixed();
    let options = SimulationOptions::new()
        .with_restitution(0.5)
        .with_contact_time(1.0);
    for steps in [1, 8] {
        let balls = vec![ball(-2.5, 1.0), fixed, ball(2.75, -1.0)];
        let mut simulation = Simulation::new(balls, options.clone()).expect("three balls");
        let mut impacts = 0;
        for _ in 0..steps {
            impacts += step(&mut simulation, 2.0 / f64::from(steps)).sphere_impacts;
        }
        let speeds = [0, 1, 2].map(|k| simulation.spheres()[k].velocity[0]);
        assert_eq!((impacts, speeds), (2, [-0.5, 0.0, 0.5]), "{steps} steps");
    }
}

/// A ball flies to and fro between two fixed spheres. It has each further impact within the contact time after the one
/// before, so only the first is inelastic.
#[test]
fn a_ball_between_fixed_spheres_soon_stops_losing_speed() {
    let fixed = |x: f64| HardSphere::new([x, 0.0, 0.0], 1.0).fixed();
    let ball = HardSphere::new([0.0; 3], 0.5).with_velocity([1.0, 0.0, 0.0]);
    let options = SimulationOptions::new()
        .with_restitution(0.5)
        .with_contact_time(1.0);
    let spheres = vec![fixed(-1.625), ball, fixed(1.625)];
    let mut simulation = Simulation::new(spheres, options).expect("three spheres");
    let report = step(&mut simulation, 2.0);
    // The first impact is at 0.125. The ball then takes half a unit of time from one sphere to the other.
    assert_eq!(report.sphere_impacts, 4);
    assert!((DVec3::from(simulation.spheres()[1].velocity).length() - 0.5).abs() < 1e-12);
}

/// Without restitution, balls that meet head-on stay in contact and move on together.
#[test]
fn balls_without_restitution_stay_together() {
    let left = HardSphere::new([0.0, 0.3, 0.1], 1.0).with_velocity([3.0, 0.0, 0.0]);
    let right = HardSphere::new([5.0, 0.0, 0.0], 1.0).with_velocity([0.0, 0.1, 0.2]);
    let options = SimulationOptions::new().with_restitution(0.0);
    let mut simulation = Simulation::new(vec![left, right], options).expect("two balls");
    let report = step(&mut simulation, 3.0);
    assert_eq!(report.sphere_impacts, 1);
    let [a, b] = [0, 1].map(|k| simulation.spheres()[k]);
    assert!(DVec3::from(a.center).distance(b.center.into()) > 2.0 - 1e-9);
}

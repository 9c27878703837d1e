//! Tests of spheres that overlap.

use std::time::{Duration, Instant};

use carom::{
    Encounter, Error, HardSphere, Partner, Response, Simulation, SimulationOptions, Sphere,
};
use fastrand::Rng;
use glam::DVec3;

use crate::steps::deepest_overlap;
use crate::{periodic, step};

#[test]
fn overlapping_spheres_meet_at_once_or_part() {
    let ball = |x: f64, v: f64| HardSphere::new([x, 0.0, 0.0], 1.0).with_velocity([v, 0.0, 0.0]);
    let run = |velocities: [f64; 2]| {
        let balls = vec![ball(0.0, velocities[0]), ball(1.5, velocities[1])];
        let options = SimulationOptions::new().with_impact_list();
        let mut simulation = Simulation::new(balls, options).expect("two balls");
        let report = step(&mut simulation, 2.0);
        report
            .impacts
            .iter()
            .map(|impact| impact.time)
            .collect::<Vec<_>>()
    };
    assert_eq!(run([1.0, -1.0]), [0.0]);
    assert_eq!(run([-1.0, 1.0]), [0.0; 0]);
    assert_eq!(run([0.0, 0.0]), [0.0; 0]);
}

#[test]
fn overlapping_spheres_are_moved_apart() {
    let mut rng = Rng::with_seed(8);
    let edge = 12.0;
    let balls: Vec<_> = (0..600)
        .map(|_| HardSphere::new(DVec3::from([0; 3].map(|_| edge * rng.f64())), 0.5))
        .collect();
    assert!(deepest_overlap(&balls, edge) > 0.5);
    let mut simulation = Simulation::new(balls.clone(), periodic(edge)).expect("balls");
    let passes = simulation.separate(500).expect("there is enough space");
    assert!(passes > 1);
    assert!(deepest_overlap(simulation.spheres(), edge) < 1e-8);
    let mut crowded = Simulation::new(balls.clone(), periodic(4.0)).expect("balls");
    let before = crowded.spheres().to_vec();
    let error = crowded
        .separate(20)
        .expect_err("the spheres fill more than the cell");
    assert!(
        matches!(error, Error::StillOverlapping { passes: 20, .. }),
        "{error}"
    );
    assert_eq!(crowded.spheres(), before);
}

/// Many balls at one point become a heap like a ball in few passes, and discs stay in their plane. Those that ignore each
/// other, and a fixed one, stay where they are.
#[test]
fn many_spheres_at_one_point_are_moved_apart_in_few_passes() {
    for count in [2, 3, 50, 500] {
        for plane in [false, true] {
            let z = if plane { 0.0 } else { 1.0 };
            let mut balls = vec![HardSphere::new([3.0, 2.0, z], 0.5); count];
            balls[0] = balls[0].fixed();
            let mut heap = Simulation::new(balls.clone(), SimulationOptions::new()).expect("valid");
            let passes = heap.separate(30).expect("they are moved apart");
            assert!(passes <= 3, "{passes}");
            let n = count as f64;
            let extent = if plane { n.sqrt() } else { n.cbrt() };
            for (k, ball) in heap.spheres().iter().enumerate() {
                let away = DVec3::from(ball.center).distance(DVec3::new(3.0, 2.0, z));
                assert!(away < 1.0 + extent, "{count}: {away}");
                assert!(!plane || ball.center[2] == 0.0);
                for other in &heap.spheres()[..k] {
                    let apart = DVec3::from(ball.center).distance(other.center.into());
                    assert!(apart > 1.0 - 1e-8, "{count}: {apart}");
                }
            }
            assert_eq!(heap.spheres()[0], balls[0]);
            let options = SimulationOptions::new().with_bodies(vec![Some(1); count]);
            let mut body = Simulation::new(balls.clone(), options).expect("valid");
            assert_eq!(body.separate(1).expect("nothing to do"), 0);
            assert_eq!(body.spheres(), balls);
        }
    }
}

/// Balls that fly apart from one point overlap for a while, whatever the substeps are. They need few.
#[test]
fn many_spheres_that_fly_apart_need_few_substeps() {
    let mut rng = Rng::with_seed(1);
    let mut ball = |_| {
        let velocity = [(); 3].map(|()| 4.0 * rng.f64() - 2.0);
        HardSphere::new([0.0; 3], 0.5).with_velocity(velocity)
    };
    let balls: Vec<_> = (0..300).map(&mut ball).collect();
    let mut flying = Simulation::new(balls.clone(), SimulationOptions::new()).expect("valid");
    for _ in 0..5 {
        let report = step(&mut flying, 1.0 / 60.0);
        assert!(report.substeps <= 30, "{report:?}");
        assert_eq!(report.sphere_impacts, 0);
    }
    for (ball, start) in flying.spheres().iter().zip(&balls) {
        let velocity = DVec3::from(start.velocity);
        let moved = DVec3::from(ball.center).distance(velocity * flying.time());
        assert!(moved < 1e-12, "{ball:?}");
    }
}

/// Spheres that ignore each other by their groups, or belong to one body, have the impacts that a rule gives that ignores
/// the same pairs. In space, spheres of one kind are together.
#[test]
fn groups_and_bodies_ignore_what_a_rule_ignores() {
    let mut rng = Rng::with_seed(5);
    let kind = |k: usize| k / 80;
    let balls: Vec<_> = (0..400)
        .map(|k| {
            let place = [kind(k) as f64 * 2.0, 0.0, 0.0].map(|x| x + 3.0 * rng.f64());
            let velocity = [(); 3].map(|()| 2.0 * rng.f64() - 1.0);
            HardSphere::new(place, 0.12).with_velocity(velocity)
        })
        .collect();
    // Kind 0 ignores kinds 0 and 1, and kinds 3 and 4 are a body each.
    let groups = [(1, 3), (2, 0), (4, 0), (0, 0), (0, 0)];
    let groups = groups.map(|(own, ignored)| Sphere::default().with_groups(own, ignored).groups);
    let groups = (0..400).map(|k| groups[kind(k)]).collect();
    let bodies = (0..400).map(|k| (kind(k) > 2).then_some(kind(k) as u32));
    let options = SimulationOptions::new().with_impact_list();
    let grouped = options
        .clone()
        .with_groups(groups)
        .with_bodies(bodies.collect());
    let ignore = |encounter: &Encounter| {
        let Partner::Sphere(other) = encounter.partner else {
            return Response::Bounce;
        };
        let kinds = [encounter.sphere, other].map(|k| kind(k as usize));
        let [least, most] = [kinds[0].min(kinds[1]), kinds[0].max(kinds[1])];
        if (least == 0 && most < 2) || (least == most && least > 2) {
            Response::Ignore
        } else {
            Response::Bounce
        }
    };
    let mut one = Simulation::new(balls.clone(), grouped).expect("valid");
    let mut other = Simulation::new(balls, options).expect("valid");
    let mut impacts = 0;
    for _ in 0..20 {
        let [a, b] = [
            step(&mut one, 0.05),
            other
                .step_with(0.05, &ignore)
                .expect("the step is possible"),
        ];
        impacts += a.impacts.len();
        assert_eq!(a.impacts.len(), b.impacts.len());
        for (a, b) in a.impacts.iter().zip(&b.impacts) {
            assert_eq!((a.sphere, a.partner), (b.sphere, b.partner));
            assert!((a.time - b.time).abs() < 1e-9, "{a:?} {b:?}");
        }
    }
    assert!(impacts > 30, "{impacts}");
}

/// Many spheres at one point that ignore each other cost about what they cost if they are apart.
#[test]
fn spheres_that_ignore_each_other_cost_little_at_one_point() {
    let count = 20_000;
    let alike = vec![Sphere::default().with_groups(1, 1).groups; count];
    let time = |distance: f64, options: SimulationOptions| -> Duration {
        let ball = |k: usize| {
            let [x, y, z] = [k % 30, k / 30 % 30, k / 900].map(|k| distance * k as f64);
            HardSphere::new([x, y, z], 0.5).with_velocity([0.1, 0.2, 0.3])
        };
        let mut balls: Vec<_> = (0..count).map(ball).collect();
        // One sphere is of another kind.
        balls[0].center[0] = -10.0;
        let mut simulation = Simulation::new(balls, options).expect("valid");
        let begun = Instant::now();
        assert_eq!(step(&mut simulation, 0.1).sphere_impacts, 0);
        begun.elapsed()
    };
    let apart = time(2.0, SimulationOptions::new());
    let groups = SimulationOptions::new().with_groups(alike);
    let mut bodies = vec![Some(1); count];
    bodies[0] = None;
    let body = SimulationOptions::new().with_bodies(bodies);
    for together in [time(0.0, groups), time(0.0, body)] {
        // Tests of all pairs would take several hundred times as long.
        assert!(together < 40 * apart, "{together:?} {apart:?}");
    }
}

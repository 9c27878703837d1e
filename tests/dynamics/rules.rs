//! Tests of rules, groups and bodies.

use carom::{
    Encounter, Error, HardSphere, Mesh, Outcome, Partner, Response, Simulation, SimulationOptions,
    Sphere, Walls,
};
use fastrand::Rng;
use glam::DVec3;

use crate::backends::with_threads;
use crate::event_driven::Reference;
use crate::sequences::rounded;
use crate::{balls, fluid, lattice, note, other, periodic, step};

/// After an impact without restitution, two balls touch and do not approach each other, up to
/// rounding. Then a third ball pushes one into the other. With a rule that makes every impact bounce, the
/// balls move as without a rule.
#[test]
fn a_rule_that_bounces_is_as_no_rule() {
    let mut rng = Rng::with_seed(6);
    for _ in 0..200 {
        let direction = DVec3::from([0; 3].map(|_| rng.f64() - 0.5)).normalize();
        let mut ball = |x: f64, speed: f64| {
            HardSphere::new(direction * x, 0.5)
                .with_velocity(direction * speed)
                .with_mass(1.0 + rng.f64())
        };
        let balls = [(0.0, 3.0), (1.1, 0.0), (-3.0, 8.0)].map(|(x, speed)| ball(x, speed));
        let options = SimulationOptions::new()
            .with_restitution(0.0)
            .with_contact_time(1e-3);
        let new = || Simulation::new(balls.to_vec(), options.clone()).expect("three balls");
        let (mut with, mut without) = (new(), new());
        with.step_with(1.0, &|_| Response::Bounce)
            .expect("the balls bounce");
        step(&mut without, 1.0);
        assert_eq!(with.spheres(), without.spheres());
    }
}

#[test]
fn spheres_of_one_body_and_of_ignored_groups_do_not_meet() {
    let ball = |x: f64, v: f64| HardSphere::new([x, 0.0, 0.0], 1.0).with_velocity([v, 0.0, 0.0]);
    let balls = vec![ball(0.0, 1.0), ball(4.0, -1.0), ball(8.0, -1.0)];
    let run = |options: SimulationOptions| {
        let options = options.with_impact_list();
        let mut simulation = Simulation::new(balls.clone(), options).expect("three balls");
        let report = step(&mut simulation, 10.0);
        let pairs = report
            .impacts
            .iter()
            .map(|impact| (impact.sphere, other(impact)));
        pairs.collect::<Vec<_>>()
    };
    let options = SimulationOptions::new;
    assert_eq!(run(options()), [(0, 1), (1, 2)]);
    assert_eq!(
        run(options().with_bodies(vec![Some(7), Some(7), None])),
        [(0, 2)]
    );
    assert_eq!(run(options().with_bodies(vec![None; 3])), run(options()));
    let group = Sphere::default().with_groups(1, 2).groups;
    let ignored = Sphere::default().with_groups(2, 0).groups;
    assert_eq!(
        run(options().with_groups(vec![group, ignored, 0])),
        [(0, 2)]
    );
}

/// The rule of this test lets sphere 0 pass through all others. When two other spheres meet, both
/// get the velocity of the first one. So the velocity of sphere 1 passes to sphere 2, and then to
/// sphere 3.
#[test]
fn a_rule_decides_what_an_impact_does() {
    let ball = |x: f64, v: f64| HardSphere::new([x, 0.0, 0.0], 1.0).with_velocity([v, 0.0, 0.0]);
    let balls = vec![
        ball(0.0, 5.0),
        ball(4.0, 1.0),
        ball(8.0, 0.0),
        ball(12.0, 0.0).with_mass(3.0),
    ];
    let options = SimulationOptions::new().with_impact_list();
    let mut simulation = Simulation::new(balls, options).expect("four balls");
    let report = simulation.step_with(10.0, &|encounter| match encounter.sphere {
        0 => Response::Ignore,
        _ => {
            assert!(encounter.approach_speed > 0.0);
            // The next ball in the row touches this one at this place.
            let between = 6.0 + 4.0 * f64::from(encounter.sphere - 1) + 1.0;
            assert_eq!(rounded(encounter.point[0]), between);
            let last = if encounter.sphere == 2 { 3.0 } else { 1.0 };
            assert_eq!(encounter.masses, [1.0, last]);
            Response::Each([Outcome::Velocity(encounter.velocities[0]); 2])
        }
    });
    let report = report.expect("the step succeeds");
    let impacts = report.impacts.iter();
    let impacts = impacts.map(|impact| (rounded(impact.time), impact.sphere, other(impact)));
    assert_eq!(impacts.collect::<Vec<_>>(), [(2.0, 1, 2), (4.0, 2, 3)]);
    let velocities = simulation.spheres().iter().map(|ball| ball.velocity[0]);
    assert_eq!(velocities.collect::<Vec<_>>(), [5.0, 1.0, 1.0, 1.0]);
    assert_eq!(rounded(simulation.spheres()[0].center[0]), 50.0);
}

/// Says which of two spheres a rule removes: none, the first, the second, or both.
fn removes(a: usize, b: usize) -> [bool; 2] {
    match (7 * a + 3 * b) % 23 {
        0 => [true, false],
        1 => [false, true],
        2 => [true, true],
        _ => [false; 2],
    }
}

/// A collision rule that removes the spheres that [`removes`] chooses. If it chooses only one of the two
/// spheres of an impact, the other keeps its velocity.
fn removal_rule(encounter: &Encounter) -> Response {
    let Partner::Sphere(other) = encounter.partner else {
        return Response::Bounce;
    };
    match removes(encounter.sphere as usize, other as usize) {
        [false, false] => Response::Bounce,
        gone => Response::Each([0, 1].map(|k| match gone[k] {
            true => Outcome::Remove,
            false => Outcome::Velocity(encounter.velocities[k]),
        })),
    }
}

/// Spheres that a rule removes must hit nothing afterwards. The spheres, the impacts and the removals must be those of
/// `Reference`, a simple event-driven simulation, whether the substeps are short or long.
#[test]
fn removed_spheres_take_no_part_as_in_the_reference() {
    for (seed, substep) in [(0, 0.1), (1, 0.4), (2, 2.0), (3, 5.0)] {
        let (spheres, edge) = fluid(8, 0.3, seed);
        let options = periodic(edge)
            .with_impacts_per_substep(substep)
            .with_impact_list();
        let mut simulation = Simulation::new(spheres.clone(), options).expect("a valid fluid");
        let duration = 0.6;
        let (mut list, mut removed, mut merged) = (Vec::new(), Vec::new(), false);
        for _ in 0..3 {
            let report = simulation
                .step_with(duration / 3.0, &removal_rule)
                .expect("the step succeeds");
            assert_eq!(report.impacts.len() as u64, report.sphere_impacts);
            merged |= report.rounds > report.substeps;
            list.extend(report.impacts);
            removed.extend(report.removed);
        }
        assert!(merged, "no islands were merged");
        let mut reference = Reference::new(&balls(&spheres), Some(edge), 1.0, duration);
        reference.removes = removes;
        let (mut found, mut expected) = (vec![Vec::new(); 512], vec![Vec::new(); 512]);
        let mut gone = Vec::new();
        while let Some(event) = reference.next() {
            note(&mut expected, event.a, event.b);
            for (ball, removed) in [event.a, event.b]
                .into_iter()
                .zip(removes(event.a, event.b))
            {
                if removed {
                    gone.push((rounded(event.time), ball as u32));
                }
            }
        }
        for impact in &list {
            note(&mut found, impact.sphere as usize, other(impact));
        }
        assert_eq!(found, expected);
        gone.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        let times = removed.iter();
        let times: Vec<_> = times.map(|one| (rounded(one.time), one.sphere)).collect();
        assert_eq!(times, gone);
        assert!((100..412).contains(&removed.len()), "{}", removed.len());
        let momentum = |spheres: &[HardSphere]| -> DVec3 {
            spheres
                .iter()
                .map(|sphere| DVec3::from(sphere.velocity))
                .sum()
        };
        let lost: DVec3 = removed.iter().map(|one| DVec3::from(one.velocity)).sum();
        let missing = momentum(&spheres) - momentum(simulation.spheres()) - lost;
        assert!(missing.length() < 1e-10, "{missing}");
        let energy = |v: DVec3| 0.5 * v.length_squared();
        let lost: f64 = removed
            .iter()
            .map(|one| energy(DVec3::from(one.velocity)))
            .sum();
        let before: f64 = spheres
            .iter()
            .map(|sphere| energy(DVec3::from(sphere.velocity)))
            .sum();
        assert!((before - lost - simulation.kinetic_energy()).abs() < 1e-10 * before);
        for (index, sphere) in simulation.spheres().iter().enumerate() {
            let is_removed = reference.removed[index];
            assert_eq!(simulation.is_removed(index), is_removed);
            assert_eq!(sphere.velocity == [0.0; 3], is_removed);
        }
    }
}

#[test]
fn removals_have_the_same_bytes_for_any_number_of_threads() {
    let (spheres, edge) = lattice(12, 0.35, 6);
    let run = |threads| {
        let options = periodic(edge).with_impact_list();
        let mut simulation = Simulation::new(spheres.clone(), options).expect("a valid fluid");
        let mut step = || simulation.step_with(0.1, &removal_rule).expect("a step");
        let reports: Vec<_> = with_threads(threads, || (0..10).map(|_| step()).collect());
        assert!(reports.iter().all(|report| !report.removed.is_empty()));
        (simulation.spheres().to_vec(), reports)
    };
    let expected = run(1);
    assert_eq!(run(2), expected);
    assert_eq!(run(5), expected);
}

/// At time 1, sphere 0 hits sphere 1 and turns back. The test's rule for impacts removes sphere 1,
/// which therefore never hits sphere 2. At the end, the test puts sphere 1 back.
#[test]
fn a_removed_sphere_stays_where_it_was_and_can_be_put_back() {
    let ball = |x: f64, v: f64| HardSphere::new([x, 0.0, 0.0], 1.0).with_velocity([v, 0.0, 0.0]);
    let balls = vec![ball(0.0, 3.0), ball(4.0, 1.0), ball(9.0, -1.0)];
    let options = SimulationOptions::new()
        .with_gravity([0.0, -2.0, 0.0])
        .with_impact_list();
    let mut simulation = Simulation::new(balls, options).expect("three balls");
    let rule = |encounter: &Encounter| match encounter.partner {
        Partner::Sphere(1) => {
            let back = encounter.velocities[0].map(|v| -v);
            Response::Each([Outcome::Velocity(back), Outcome::Remove])
        }
        _ => Response::Bounce,
    };
    let report = simulation.step_with(3.0, &rule).expect("the step succeeds");
    assert_eq!(report.sphere_impacts, 1);
    assert_eq!(report.impacts[0].impulse.map(rounded), [6.0, -4.0, 0.0]);
    let [removal] = report.removed[..] else {
        panic!("{:?}", report.removed);
    };
    assert_eq!((rounded(removal.time), removal.sphere), (1.0, 1));
    assert!(DVec3::from(removal.velocity).distance(DVec3::new(1.0, -2.0, 0.0)) < 1e-9);
    let removed = simulation.spheres()[1];
    assert_eq!(removed.velocity, [0.0; 3]);
    assert!(DVec3::from(removed.center).distance(DVec3::new(5.0, -1.0, 0.0)) < 1e-9);
    assert!(simulation.is_removed(1) && !simulation.is_removed(0) && !simulation.is_removed(9));
    // At time 1, an impact reversed the velocity of sphere 0 from (3, −2, 0) to (−3, 2, 0). Until
    // the end of the step at time 3, gravity changed it by −4 along y.
    let turned = DVec3::new(-3.0, 2.0 - 4.0, 0.0);
    assert!(DVec3::from(simulation.spheres()[0].velocity).distance(turned) < 1e-9);
    // The removed sphere hits nothing, and gravity does not act on it.
    assert_eq!(step(&mut simulation, 5.0).sphere_impacts, 0);
    assert_eq!(simulation.spheres()[1], removed);
    // Sphere 0 is put where it overlaps the removed sphere 1. `separate` does not move sphere 0 away.
    let overlap = |spheres: &mut [HardSphere]| {
        spheres[0].center = removed.center;
        spheres[0].center[0] += 0.5;
        spheres[1].velocity = [1.0, 0.0, 0.0];
    };
    simulation.edit(overlap).expect("the numbers are valid");
    assert_eq!(simulation.separate(10).expect("no overlap"), 0);
    let present = [0, 2].map(|k: usize| simulation.spheres()[k].kinetic_energy());
    assert_eq!(simulation.kinetic_energy(), present[0] + present[1]);
    let error = simulation.restore(2, ball(0.0, 0.0)).expect_err("an error");
    assert!(
        error.to_string().contains("sphere 2 is not removed"),
        "{error}"
    );
    let error = simulation.restore(1, ball(0.0, 0.0).with_mass(0.0));
    assert!(matches!(
        error,
        Err(Error::InvalidHardSphere { index: 1, .. })
    ));
    let target = simulation.spheres()[2];
    let state = HardSphere::new(DVec3::from(target.center) + DVec3::new(3.0, 0.0, 0.0), 1.0)
        .with_velocity(DVec3::from(target.velocity) + DVec3::new(-1.0, 0.0, 0.0));
    simulation.restore(1, state).expect("sphere 1 is removed");
    assert!(!simulation.is_removed(1));
    let report = step(&mut simulation, 2.0);
    assert_eq!(
        (
            report.sphere_impacts,
            report.impacts[0].sphere,
            other(&report.impacts[0])
        ),
        (1, 1, 2)
    );
}

/// A rule that lets every pair bounce must give the same result as no rule. If a rule ignores all impacts, the
/// spheres keep their velocities.
#[test]
fn a_fluid_moves_through_spheres_that_a_rule_ignores() {
    let (spheres, edge) = fluid(6, 0.3, 1);
    let mut expected = Simulation::new(spheres.clone(), periodic(edge)).expect("a fluid");
    let mut found = Simulation::new(spheres.clone(), periodic(edge)).expect("a fluid");
    step(&mut expected, 1.0);
    found
        .step_with(1.0, &|_| Response::Bounce)
        .expect("the step succeeds");
    assert_eq!(expected.spheres(), found.spheres());
    // Without any impact, all spheres keep their velocities.
    let mut free = Simulation::new(spheres.clone(), periodic(edge)).expect("a fluid");
    let report = free
        .step_with(1.0, &|_| Response::Ignore)
        .expect("the step succeeds");
    assert_eq!(report.sphere_impacts, 0);
    for (before, after) in spheres.iter().zip(free.spheres()) {
        assert_eq!(before.velocity, after.velocity);
    }
}

/// Balls jump up through a platform that a rule lets pass from below. If the top of the jump is above the platform, the
/// ball lands on it. If the ball still overlaps the platform there, it falls through. It does not matter how the time is
/// divided into steps.
#[test]
fn a_one_way_platform_lets_balls_pass_until_they_are_apart() {
    let vertices = vec![
        [-9.0, 0.0, -9.0],
        [9.0, 0.0, -9.0],
        [9.0, 0.0, 9.0],
        [-9.0, 0.0, 9.0],
    ];
    let platform = Mesh::new(vertices, vec![[0, 1, 2], [0, 2, 3]]).expect("a valid mesh");
    let mut walls = Walls::new();
    walls.push_mesh(platform);
    let rule = |encounter: &Encounter| {
        if encounter.velocities[0][1] > 0.0 {
            Response::Ignore
        } else {
            Response::Bounce
        }
    };
    for (top, lands) in [
        (0.2, false),
        (-0.3, false),
        (0.45, false),
        (0.7, true),
        (2.0, true),
    ] {
        for (contact_time, steps) in [(0.0, 1), (0.0, 90), (1e-3, 1), (1e-3, 90), (1e-3, 700)] {
            let speed = (2.0 * 10.0 * (f64::max(top, -1.0) + 3.0)).sqrt();
            let ball = HardSphere::new([0.5, -3.0, 1.0], 0.5).with_velocity([0.0, speed, 0.0]);
            let options = SimulationOptions::new()
                .with_walls(walls.clone())
                .with_gravity([0.0, -10.0, 0.0])
                .with_wall_restitution(if contact_time > 0.0 { 0.2 } else { 1.0 })
                .with_contact_time(contact_time);
            let mut jumping = Simulation::new(vec![ball], options).expect("valid");
            for _ in 0..steps {
                let report = jumping.step_with(3.0 / f64::from(steps), &rule);
                report.expect("the step is possible");
            }
            let y = jumping.spheres()[0].center[1];
            let name = format!("top {top}, contact time {contact_time}, {steps} steps: {y}");
            if lands {
                assert!(
                    y > 0.5 - 1e-6 && (y < 0.5 + 1e-6 || contact_time == 0.0),
                    "{name}"
                );
            } else {
                let free = -3.0 + speed * 3.0 - 5.0 * 9.0;
                assert!((y - free).abs() < 1e-6, "{name}");
            }
        }
    }
}

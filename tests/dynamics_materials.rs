//! Tests what an impact does: restitution of walls and spheres, answers of rules, and which contacts begin, last and end.

use std::collections::BTreeSet;

use carom::{
    Backend, Combine, Detector, Domain, Encounter, Error, HardSphere, Mesh, Options, Outcome,
    Partner, Response, Simulation, SimulationOptions, Sphere, Step, StepReport, Wall, Walls,
};
use fastrand::Rng;

fn simulation(spheres: &[HardSphere], options: SimulationOptions) -> Simulation {
    Simulation::new(spheres.to_vec(), options).expect("a valid simulation")
}

type Rule<'a> = &'a (dyn Fn(&Encounter) -> Response + Sync);

fn step(simulation: &mut Simulation, duration: f64) -> StepReport {
    simulation.step(duration).expect("the step is possible")
}

/// Each wall takes its own share of the speed, also a mesh, and after an edit. A wall without one of its own has that of the
/// options.
#[test]
fn each_wall_has_its_restitution() {
    let right = |x: f32| {
        let corners = vec![[x, -9.0, -9.0], [x, 9.0, -9.0], [x, 0.0, 9.0]];
        Mesh::new(corners, vec![[0, 1, 2]]).expect("a valid mesh")
    };
    for periodic in [false, true] {
        let mut walls = Walls::from_iter([
            Wall::half_space([1.0, 0.0, 0.0], -2.0).with_restitution(0.75),
            Wall::half_space([0.0, 1.0, 0.0], -20.0),
        ]);
        assert_eq!(walls.simple()[0].restitution(), Some(0.75));
        walls.push_mesh(right(2.0).with_restitution(0.5));
        let ball = HardSphere::new([0.0; 3], 1.0).with_velocity([1.0, 0.0, 0.0]);
        let mut options = SimulationOptions::new()
            .with_walls(walls)
            .with_wall_restitution(0.25);
        if periodic {
            let domain = Domain::rectangular([-10.0; 3], [20.0; 3]);
            options = options.with_domain(domain.with_periodic([false, false, true]));
        }
        let mut simulation = simulation(&[ball], options);
        let speed = |simulation: &Simulation| simulation.spheres()[0].velocity[0];
        step(&mut simulation, 2.0);
        assert!((speed(&simulation) + 0.5).abs() < 1e-12);
        step(&mut simulation, 4.0);
        assert!((speed(&simulation) - 0.375).abs() < 1e-12);
        let change = |walls: &mut Walls| walls.meshes_mut()[0] = right(2.0);
        simulation.edit_walls(change).expect("it is valid");
        step(&mut simulation, 6.0);
        assert!((speed(&simulation) + 0.375 * 0.25).abs() < 1e-12);
    }
    let wall = Wall::half_space([1.0, 0.0, 0.0], 0.0).with_restitution(1.5);
    let options = SimulationOptions::new().with_walls(Walls::from_iter([wall]));
    let error = Simulation::new(Vec::new(), options).expect_err("it is above 1");
    let message = "wall 0 is invalid: its restitution is 1.5, but must be from 0 to 1";
    assert_eq!(error.to_string(), message);
}

/// Two spheres, and a sphere at a wall, part with the speed that their two coefficients give. The mean momentum stays.
#[test]
fn two_materials_combine_as_named() {
    let [a, b, of_wall] = [0.75, 0.5, 0.25];
    for (combine, [pair, at_wall]) in [
        (Combine::Average, [0.625, 0.375]),
        (Combine::Min, [0.5, 0.25]),
        (Combine::Multiply, [0.375, 0.125]),
        (Combine::Max, [0.75, 0.5]),
    ] {
        let balls = [
            HardSphere::new([0.0; 3], 0.5).with_velocity([4.0, 0.0, 0.0]),
            HardSphere::new([3.0, 0.0, 0.0], 0.5).with_mass(3.0),
        ];
        let wall = Wall::half_space([-1.0, 0.0, 0.0], -4.0).with_restitution(of_wall);
        let options = SimulationOptions::new()
            .with_walls(Walls::from_iter([wall]))
            .with_restitutions(vec![a, b], combine)
            .with_impact_list();
        let mut simulation = simulation(&balls, options);
        let report = step(&mut simulation, 0.75);
        assert_eq!((report.sphere_impacts, report.wall_impacts), (1, 0));
        let [v, w] = [0, 1].map(|k| simulation.spheres()[k].velocity[0]);
        assert!((w - v - 4.0 * pair).abs() < 1e-12, "{combine:?}");
        assert!((v + 3.0 * w - 4.0).abs() < 1e-12, "{combine:?}");
        while step(&mut simulation, 0.01).wall_impacts == 0 {}
        let back = simulation.spheres()[1].velocity[0];
        assert!((back + w * at_wall).abs() < 1e-12, "{combine:?}: {back}");
    }
}

/// Equal materials of all spheres and walls are as one restitution, bit for bit, and a sphere may get another one.
#[test]
fn equal_materials_are_as_one_restitution() {
    let mut rng = Rng::with_seed(3);
    let ball = |rng: &mut Rng| {
        let center = [(); 3].map(|()| 1.0 + 8.0 * rng.f64());
        HardSphere::new(center, 0.3).with_velocity([(); 3].map(|()| rng.f64() - 0.5))
    };
    let balls: Vec<_> = (0..60).map(|_| ball(&mut rng)).collect();
    let options = SimulationOptions::new()
        .with_walls(Walls::inside_box([0.0; 3], [10.0; 3]))
        .with_gravity([0.0, 0.0, -1.0])
        .with_contact_time(1e-3)
        .with_restitution(0.5)
        .with_wall_restitution(0.5);
    let list = vec![0.5; balls.len()];
    let with_list = options.clone().with_restitutions(list, Combine::Average);
    let mut later = simulation(&balls, options.clone());
    later.set_restitution_of(7, 0.5).expect("it is there");
    let [mut one, mut each] = [options, with_list].map(|options| simulation(&balls, options));
    for _ in 0..60 {
        let expected = step(&mut one, 1.0 / 60.0);
        assert_eq!(step(&mut each, 1.0 / 60.0), expected);
        assert_eq!(step(&mut later, 1.0 / 60.0), expected);
    }
    assert_eq!(each.spheres(), one.spheres());
    for (wrong, words) in [
        (1.5, "restitution of sphere 7 is 1.5"),
        (f64::NAN, "is NaN"),
    ] {
        let error = later
            .set_restitution_of(7, wrong)
            .expect_err("it is out of range");
        assert!(error.to_string().contains(words), "{error}");
    }
    let options = SimulationOptions::new().with_restitutions(vec![0.5], Combine::Max);
    assert!(Simulation::new(balls, options).is_err());
}

/// A ball on a floor bounces to the share e² of its height each time, and comes to rest, whether the options, or a rule in one
/// of two ways, say how it bounces.
#[test]
fn a_ball_comes_to_rest_whoever_lets_it_bounce() {
    let floor = Walls::from_iter([Wall::half_space([0.0, 1.0, 0.0], 0.0)]);
    let with = |encounter: &Encounter| Response::BounceWith(0.5 + 0.0 * encounter.time);
    let formula = |encounter: &Encounter| {
        let ([v, _], n) = (encounter.velocities, encounter.normal);
        let along = 1.5 * (0..3).map(|k| v[k] * n[k]).sum::<f64>();
        let new = [0, 1, 2].map(|k| v[k] - along * n[k]);
        Response::Each([Outcome::Velocity(new), Outcome::Keep])
    };
    let rules: [Option<Rule<'_>>; 3] = [None, Some(&with), Some(&formula)];
    for (number, rule) in rules.into_iter().enumerate() {
        let ball = HardSphere::new([0.0, 2.5, 0.0], 0.5);
        let options = SimulationOptions::new()
            .with_walls(floor.clone())
            .with_gravity([0.0, -10.0, 0.0])
            .with_wall_restitution(if rule.is_some() { 1.0 } else { 0.5 })
            .with_contact_time(1e-3)
            .with_impact_list();
        let mut simulation = simulation(&[ball], options);
        let mut speeds = Vec::new();
        for _ in 0..300 {
            let report = match rule {
                None => simulation.step(1.0 / 60.0),
                Some(rule) => simulation.step_with(1.0 / 60.0, rule),
            };
            let report = report.expect("the step is possible");
            assert!(
                report.wall_impacts < 12,
                "{number}: {}",
                report.wall_impacts
            );
            speeds.extend(report.impacts.iter().map(|impact| -impact.impulse[1] / 1.5));
        }
        // The speeds of the impacts are those of e, e² and so on.
        let first = 40_f64.sqrt();
        for (k, speed) in (0..8).zip(&speeds) {
            assert!(
                (speed - first * 0.5_f64.powi(k)).abs() < 1e-6,
                "{number}: {speeds:?}"
            );
        }
        let ball = simulation.spheres()[0];
        assert!((ball.center[1] - 0.5).abs() < 1e-4, "{number}: {ball:?}");
        assert!(ball.velocity[1].abs() < 0.01, "{number}: {ball:?}");
    }
}

/// A rule that takes all motion from what meets lets it rest: a ball on the floor, and another one on it. Both stay where they
/// are, without further impacts.
#[test]
fn what_a_rule_stops_rests() {
    let options = SimulationOptions::new()
        .with_walls(Walls::from_iter([Wall::half_space([0.0, 1.0, 0.0], 0.0)]))
        .with_gravity([0.0, -10.0, 0.0])
        .with_contact_time(1e-3);
    let balls = [0.75, 2.0].map(|y| HardSphere::new([0.0, y, 0.0], 0.5));
    let mut simulation = simulation(&balls, options);
    let stop = |_: &Encounter| Response::Each([Outcome::Velocity([0.0; 3]); 2]);
    let mut impacts = 0;
    for frame in 0..120 {
        let report = simulation
            .step_with(1.0 / 60.0, &stop)
            .expect("it is possible");
        if frame >= 60 {
            impacts += report.sphere_impacts + report.wall_impacts;
        }
    }
    assert_eq!(impacts, 0);
    for (ball, height) in simulation.spheres().iter().zip([0.5, 1.5]) {
        assert!((ball.center[1] - height).abs() < 1e-6, "{ball:?}");
        assert_eq!(ball.velocity, [0.0; 3]);
    }
}

#[test]
fn a_rule_may_answer_for_each_of_two_spheres() {
    let balls = [
        HardSphere::new([0.0; 3], 0.5).with_velocity([4.0, 0.0, 0.0]),
        HardSphere::new([3.0, 0.0, 0.0], 0.5).with_mass(3.0),
    ];
    let result = |response: Response| {
        let mut simulation = simulation(&balls, SimulationOptions::new());
        let rule = move |_: &Encounter| response;
        let report = simulation.step_with(1.0, &rule)?;
        let of = |k: usize| {
            (
                simulation.spheres()[k].velocity[0],
                simulation.is_removed(k),
            )
        };
        Ok((of(0), of(1), report.sphere_impacts))
    };
    let elastic = Ok(((-2.0, false), (2.0, false), 1));
    assert_eq!(result(Response::Bounce), elastic);
    assert_eq!(result(Response::Each([Outcome::Bounce; 2])), elastic);
    assert_eq!(
        result(Response::BounceWith(0.0)),
        Ok(((1.0, false), (1.0, false), 1))
    );
    let bullet = Response::Each([Outcome::Remove, Outcome::Bounce]);
    assert_eq!(result(bullet), Ok(((0.0, true), (2.0, false), 1)));
    let glass = Response::Each([Outcome::Keep, Outcome::Remove]);
    assert_eq!(result(glass), Ok(((4.0, false), (0.0, true), 1)));
    let heavy = Response::Each([Outcome::Keep, Outcome::Velocity([9.0, 0.0, 0.0])]);
    assert_eq!(result(heavy), Ok(((4.0, false), (9.0, false), 1)));
    for wrong in [-0.5, 1.5, f64::NAN] {
        let error: Result<_, Error> = result(Response::BounceWith(wrong));
        let message = error.expect_err("it is out of range").to_string();
        assert!(
            message.contains("the restitution that the rule returns is"),
            "{message}"
        );
    }
}

/// A rule that lets a ball keep its velocity does not hold it up, with and without gravity.
#[test]
fn a_rule_that_changes_nothing_lets_spheres_pass() {
    for outcome in [None, Some(Outcome::Keep)] {
        let floor = Walls::from_iter([Wall::half_space([0.0, 1.0, 0.0], 0.0)]);
        let options = SimulationOptions::new()
            .with_walls(floor)
            .with_gravity([0.0, -10.0, 0.0])
            .with_contact_time(1e-2);
        let mut simulation = simulation(&[HardSphere::new([0.0, 0.505, 0.0], 0.5)], options);
        let rule = |encounter: &Encounter| {
            let same = Outcome::Velocity(encounter.velocities[0]);
            Response::Each([outcome.unwrap_or(same), Outcome::Keep])
        };
        for _ in 0..60 {
            simulation
                .step_with(1.0 / 60.0, &rule)
                .expect("it is possible");
        }
        let depth = 0.505 - simulation.spheres()[0].center[1];
        assert!((depth - 5.0).abs() < 1e-3, "{outcome:?}: {depth}");
    }
}

/// A rule lets balls pass through each other, also if one of them rests and the other one arrives so slowly that it could.
#[test]
fn a_ball_falls_through_one_at_rest() {
    let options = SimulationOptions::new()
        .with_walls(Walls::from_iter([Wall::half_space([0.0, 1.0, 0.0], 0.0)]))
        .with_gravity([0.0, -10.0, 0.0])
        .with_wall_restitution(0.0)
        .with_restitution(0.0)
        .with_contact_time(1e-2);
    let mut simulation = simulation(&[HardSphere::new([0.0, 0.5, 0.0], 0.5)], options);
    let rule = |encounter: &Encounter| match encounter.partner {
        Partner::Wall(_) => Response::Bounce,
        Partner::Sphere(_) => Response::Each([Outcome::Keep; 2]),
    };
    let go = |simulation: &mut Simulation| {
        for _ in 0..18 {
            let done = simulation.step_with(1.0 / 60.0, &rule);
            done.expect("it is possible");
        }
    };
    go(&mut simulation);
    let above = HardSphere::new([0.0, 1.5004, 0.0], 0.5);
    assert_eq!(simulation.add(above), Ok(1));
    go(&mut simulation);
    let height = simulation.spheres()[1].center[1];
    assert!((height - (1.5004 - 0.45)).abs() < 1e-3, "{height}");
}

type Contact = (u32, Partner);

/// Each impact belongs to a contact that begins or lasts, once. What begins was none in the step before, and so on.
#[test]
fn contacts_begin_last_and_end() {
    let mut rng = Rng::with_seed(8);
    let ball = |rng: &mut Rng| {
        let center = [(); 3].map(|()| 0.6 + 4.8 * rng.f64());
        HardSphere::new(center, 0.4).with_velocity([(); 3].map(|()| 6.0 * rng.f64() - 3.0))
    };
    let mut balls: Vec<HardSphere> = Vec::new();
    while balls.len() < 40 {
        let new = ball(&mut rng);
        let away = |other: &HardSphere| {
            (0..3)
                .map(|k| (new.center[k] - other.center[k]).powi(2))
                .sum::<f64>()
                > 0.65
        };
        if balls.iter().all(away) {
            balls.push(new);
        }
    }
    let options = SimulationOptions::new()
        .with_walls(Walls::inside_box([0.0; 3], [6.0; 3]))
        .with_impact_list()
        .with_contact_changes();
    let mut simulation = simulation(&balls, options);
    let mut before: BTreeSet<Contact> = BTreeSet::new();
    let mut counts = [0; 3];
    for _ in 0..200 {
        let report = step(&mut simulation, 0.02);
        let impacts = report.impacts.iter();
        let now: BTreeSet<Contact> = impacts
            .map(|impact| (impact.sphere, impact.partner))
            .collect();
        let listed = |set: std::collections::btree_set::Difference<'_, Contact>| -> Vec<Contact> {
            set.copied().collect()
        };
        assert_eq!(report.began, listed(now.difference(&before)));
        assert_eq!(report.ended, listed(before.difference(&now)));
        assert_eq!(
            report.lasted,
            now.intersection(&before).copied().collect::<Vec<_>>()
        );
        let lists = [&report.began, &report.lasted, &report.ended];
        (0..3).for_each(|k| counts[k] += lists[k].len());
        before = now;
    }
    assert!(counts[0] > 200 && counts[2] > 200, "{counts:?}");
}

/// A ball that lies on another one and on a floor is in contact in each step, until it is kicked.
#[test]
fn a_contact_at_rest_lasts() {
    let floor = Walls::from_iter([Wall::half_space([0.0, 1.0, 0.0], 0.0)]);
    let options = SimulationOptions::new()
        .with_walls(floor)
        .with_gravity([0.0, -10.0, 0.0])
        .with_restitution(0.0)
        .with_wall_restitution(0.0)
        .with_contact_time(1e-3)
        .with_contact_changes();
    let balls = [0.6, 1.8].map(|y| HardSphere::new([0.0, y, 0.0], 0.5));
    let mut simulation = simulation(&balls, options);
    let all = [(0, Partner::Sphere(1)), (0, Partner::Wall(0))];
    let (mut began, mut ended) = (Vec::new(), 0);
    for frame in 0..120 {
        let report = step(&mut simulation, 1.0 / 60.0);
        began.extend(report.began);
        ended += report.ended.len();
        if frame > 30 {
            assert_eq!(report.lasted, all, "{frame}");
        }
    }
    began.sort_unstable();
    assert_eq!((&began[..], ended), (&all[..], 0));
    let kick = |spheres: &mut [HardSphere]| spheres[1].velocity = [0.0, 5.0, 0.0];
    simulation.edit(kick).expect("it is valid");
    let report = step(&mut simulation, 1.0 / 60.0);
    assert_eq!(report.ended, [(0, Partner::Sphere(1))]);
    assert_eq!(report.lasted, [(0, Partner::Wall(0))]);
}

/// The changes of a detector's lists have the walls, too.
#[test]
fn changes_have_the_contacts_with_walls() {
    let walls = Walls::inside_box([0.0; 3], [10.0; 3]);
    let mut detector = Detector::new(Options::new().with_backend(Backend::Cpu)).expect("a CPU");
    let mut at = |places: [[f32; 3]; 2]| {
        let spheres = places.map(|place| Sphere::new(place, 1.0));
        let step = Step::new(&spheres, 1.0).with_walls(&walls);
        detector.detect(&step).expect("it is valid")
    };
    let before = at([[0.5, 5.0, 5.0], [9.5, 5.0, 0.5]]);
    let now = at([[0.5, 9.5, 5.0], [5.0, 5.0, 0.5]]);
    let changes = now.changes_since(&before).expect("it fits in memory");
    assert_eq!(&changes.walls_began[..], [[0, 3]]);
    assert_eq!(&changes.walls_lasted[..], [[0, 0], [1, 4]]);
    assert_eq!(&changes.walls_ended[..], [[1, 1]]);
    assert!(changes.began.is_empty() && changes.lasted.is_empty() && changes.ended.is_empty());
}

#[test]
fn a_hard_sphere_is_rounded_to_float32() {
    let third = 1.0 / 3.0_f64;
    let hard = HardSphere::new([third, -third, 1e-50], 0.1).with_velocity([1e40, 0.0, third]);
    let sphere = Sphere::from(hard.with_mass(7.0));
    let rounded = 1.0_f32 / 3.0;
    assert_eq!(sphere.center, [rounded, -rounded, 0.0]);
    assert_eq!(sphere.velocity, [f32::INFINITY, 0.0, rounded]);
    assert_eq!((sphere.radius, sphere.groups), (0.1, 0));
    let back = HardSphere::from(sphere);
    assert_eq!(Sphere::from(back), sphere);
}

//! Tests the simulation of hard spheres against a plain event-driven simulation, and against cases with a known
//! sequence of impacts.

#![allow(
    clippy::cast_possible_truncation,
    reason = "numbers of spheres are small"
)]

mod backends;
mod event_driven;

use backends::with_threads;
use carom::{
    Domain, Encounter, Error, HardSphere, Impact, Mesh, Outcome, Partner, Response, Simulation,
    SimulationOptions, Sphere, StepReport, Walls,
};
use event_driven::{Ball, Reference};
use fastrand::Rng;
use glam::DVec3;

fn normal(rng: &mut Rng) -> f64 {
    let (u, v) = (1.0 - rng.f64(), rng.f64());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Returns spheres of diameter 1 on a cubic lattice, with random velocities and without total momentum, and the
/// edge of their cell.
fn lattice(per_edge: usize, packing: f64, seed: u64) -> (Vec<HardSphere>, f64) {
    let mut rng = Rng::with_seed(seed);
    let count = per_edge.pow(3);
    let edge = (count as f64 * std::f64::consts::PI / 6.0 / packing).cbrt();
    // Float32 cannot hold every edge length, so the edge of the domain is rounded.
    let edge = f64::from(edge as f32);
    let step = edge / per_edge as f64;
    let mut spheres = Vec::with_capacity(count);
    for index in 0..count {
        let place = [
            index % per_edge,
            index / per_edge % per_edge,
            index / per_edge.pow(2),
        ];
        let center = DVec3::from(place.map(|k| (k as f64 + 0.5) * step));
        let velocity = DVec3::from([0; 3].map(|_| normal(&mut rng)));
        spheres.push(HardSphere::new(center, 0.5).with_velocity(velocity));
    }
    let mean = spheres
        .iter()
        .map(|sphere| DVec3::from(sphere.velocity))
        .sum::<DVec3>()
        / count as f64;
    for sphere in &mut spheres {
        sphere.velocity = (DVec3::from(sphere.velocity) - mean).to_array();
    }
    (spheres, edge)
}

fn periodic(edge: f64) -> SimulationOptions {
    SimulationOptions::new().with_domain(Domain::rectangular([0.0; 3], [edge as f32; 3]))
}

/// Returns a fluid of spheres in equilibrium, and the edge of its cell.
fn fluid(per_edge: usize, packing: f64, seed: u64) -> (Vec<HardSphere>, f64) {
    let (spheres, edge) = lattice(per_edge, packing, seed);
    let count = spheres.len() as u64;
    let mut simulation = Simulation::new(spheres, periodic(edge)).expect("a valid fluid");
    let mut impacts = 0;
    while impacts < 5 * count {
        impacts += step(&mut simulation, 0.05).sphere_impacts;
    }
    (simulation.spheres().to_vec(), edge)
}

fn step(simulation: &mut Simulation, duration: f64) -> StepReport {
    simulation.step(duration).expect("the step succeeds")
}

fn balls(spheres: &[HardSphere]) -> Vec<Ball> {
    let ball = |sphere: &HardSphere| Ball {
        place: sphere.center,
        velocity: sphere.velocity,
        radius: sphere.radius,
        mass: sphere.mass,
    };
    spheres.iter().map(ball).collect()
}

fn other(impact: &Impact) -> usize {
    match impact.partner {
        Partner::Sphere(other) => other as usize,
        Partner::Wall(wall) => panic!("there is no wall {wall}"),
    }
}

/// Adds an impact to the lists of partners of both spheres.
fn note(partners: &mut [Vec<usize>], a: usize, b: usize) {
    partners[a].push(b);
    partners[b].push(a);
}

/// Checks for each sphere that the first `count` spheres that it hits are the same as in a plain event-driven
/// simulation.
fn check_order(
    spheres: Vec<HardSphere>,
    options: SimulationOptions,
    edge: Option<f64>,
    count: usize,
) {
    let length = spheres.len();
    let mut simulation =
        Simulation::new(spheres.clone(), options.with_impact_list()).expect("a valid simulation");
    let mut found = vec![Vec::new(); length];
    while found.iter().any(|partners: &Vec<_>| partners.len() < count) {
        let report = step(&mut simulation, 0.25);
        assert!(report.impacts.is_sorted_by_key(|impact| impact.time));
        assert_eq!(report.impacts.len() as u64, report.sphere_impacts);
        for impact in &report.impacts {
            note(&mut found, impact.sphere as usize, other(impact));
        }
        assert!(simulation.time() < 100.0);
    }
    let mut reference = Reference::new(&balls(&spheres), edge, 1.0, simulation.time());
    let mut expected = vec![Vec::new(); length];
    while let Some(event) = reference.next() {
        note(&mut expected, event.a, event.b);
        if expected.iter().all(|partners| partners.len() >= count) {
            break;
        }
    }
    for (sphere, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found[..count], expected[..count], "sphere {sphere}");
    }
}

fn check_fluid(seed: u64) {
    let (spheres, edge) = fluid(10, 0.3, seed);
    // The longer a substep is, the more of its impacts depend on one another. So the seed chooses
    // one of three durations of a substep.
    let impacts = [0.1, 0.4, 2.0][seed as usize % 3];
    let options = periodic(edge).with_impacts_per_substep(impacts);
    check_order(spheres, options, Some(edge), 5);
}

#[test]
fn spheres_of_a_fluid_meet_in_the_order_of_the_reference() {
    for seed in 0..3 {
        check_fluid(seed);
    }
}

#[test]
#[ignore = "takes minutes; run it with `--ignored`"]
fn spheres_of_many_fluids_meet_in_the_order_of_the_reference() {
    for seed in 0..20 {
        check_fluid(seed);
    }
}

/// Returns all impacts of a fluid in a time: the two spheres and the time of each, sorted.
fn impacts(spheres: &[HardSphere], options: SimulationOptions) -> Vec<(u32, Partner, f64)> {
    let mut simulation =
        Simulation::new(spheres.to_vec(), options.with_impact_list()).expect("a valid simulation");
    let list = step(&mut simulation, 0.8).impacts;
    let mut list: Vec<_> = list
        .iter()
        .map(|impact| (impact.sphere, impact.partner, impact.time))
        .collect();
    list.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
    list
}

/// In a long substep, more impacts depend on one another than in a short one. If a long substep lost an
/// impact or added a false one, its list of impacts would differ from that of short substeps.
#[test]
fn the_impacts_do_not_depend_on_the_duration_of_substeps() {
    let (spheres, edge) = fluid(24, 0.3, 3);
    let impacts = |count: f64| impacts(&spheres, periodic(edge).with_impacts_per_substep(count));
    let expected = impacts(0.05);
    assert!(expected.len() > spheres.len());
    for count in [0.3, 0.45, 1.2] {
        let found = impacts(count);
        assert_eq!(found.len(), expected.len(), "{count} impacts a substep");
        for (a, b) in expected.iter().zip(&found) {
            assert_eq!((a.0, a.1), (b.0, b.1), "{count} impacts a substep");
            // Each impact multiplies rounding errors by a factor.
            let apart = (a.2 - b.2).abs();
            assert!(apart < 1e-6, "{count} impacts a substep: {a:?} {b:?}");
        }
    }
}

/// Returns how many impacts agree with the reference before the first difference. Rounding errors grow with
/// each impact, so the two lists differ in the end.
fn first_same(report: &StepReport, mut reference: Reference) -> usize {
    let events = std::iter::from_fn(|| reference.next());
    let both = report.impacts.iter().zip(events);
    let same = both.take_while(|(impact, event)| {
        (impact.sphere as usize, other(impact)) == (event.a, event.b)
    });
    same.count()
}

/// A cloud of spheres of different radii and masses that flies together and apart again, with inelastic
/// impacts.
#[test]
fn a_mixture_in_open_space_meets_in_the_order_of_the_reference() {
    for seed in 0..4 {
        let mut rng = Rng::with_seed(seed);
        let (mut spheres, edge) = lattice(8, 0.1, seed);
        for sphere in &mut spheres {
            sphere.radius = 0.1 + 0.6 * rng.f64();
            sphere.mass = 10_f64.powf(2.0 * rng.f64() - 1.0);
            sphere.velocity = (DVec3::from(sphere.velocity)
                + 2.0 * (DVec3::splat(edge / 2.0) - DVec3::from(sphere.center)))
            .to_array();
        }
        let options = SimulationOptions::new().with_restitution(0.8);
        let mut simulation = Simulation::new(spheres.clone(), options.clone().with_impact_list())
            .expect("a valid cloud");
        let report = step(&mut simulation, 0.5);
        let reference = Reference::new(&balls(&spheres), None, 0.8, 0.5);
        let compared = first_same(&report, reference);
        assert!(compared > 4000, "{compared} impacts were compared");
    }
}

/// Rounds a number to a multiple of 10⁻⁹.
fn rounded(x: f64) -> f64 {
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

/// A few small spheres cross a periodic cell many times between two impacts.
#[test]
fn a_dilute_gas_in_a_small_cell_takes_a_long_step() {
    let mut rng = Rng::with_seed(1);
    for count in [2, 8, 14] {
        let balls = (0..count).map(|_| {
            let center = DVec3::from([0; 3].map(|_| rng.f64()));
            let velocity = DVec3::from([0; 3].map(|_| normal(&mut rng)));
            HardSphere::new(center, 0.01).with_velocity(velocity)
        });
        let mut simulation = Simulation::new(balls.collect(), periodic(1.0)).expect("a gas");
        let energy = simulation.kinetic_energy();
        step(&mut simulation, 100.0);
        assert!((simulation.kinetic_energy() / energy - 1.0).abs() < 1e-9);
    }
}

/// Three spheres are shot into a slow gas, and cross many periodic cells until they meet something.
#[test]
fn fast_spheres_in_a_slow_gas_meet_in_the_order_of_the_reference() {
    let (mut spheres, edge) = lattice(10, 0.005, 3);
    for sphere in &mut spheres {
        sphere.velocity = (DVec3::from(sphere.velocity) * 1e-3).to_array();
    }
    let options = periodic(edge).with_impact_list();
    let mut simulation = Simulation::new(spheres, options).expect("a valid gas");
    step(&mut simulation, 1e4);
    let shoot = |spheres: &mut [HardSphere]| {
        for index in [100, 500, 900] {
            spheres[index].velocity =
                (DVec3::from(spheres[index].velocity) * (2e4 * edge)).to_array();
        }
    };
    simulation.edit(shoot).expect("the numbers are valid");
    let reference = balls(simulation.spheres());
    let time = simulation.time();
    let mut report = step(&mut simulation, 1.0);
    assert!(report.substeps < 200, "{}", report.substeps);
    report.impacts.retain(|impact| impact.time > time);
    let compared = first_same(&report, Reference::new(&reference, Some(edge), 1.0, 1.0));
    assert!(compared > 20, "{compared} impacts were compared");
}

/// Some spheres are much faster and heavier than the many others, in a small periodic cell.
#[test]
fn fast_spheres_meet_each_other_in_the_order_of_the_reference() {
    let mut across = 0;
    for seed in 0..6 {
        let (mut spheres, edge) = lattice(8, 0.05, seed);
        for (index, sphere) in spheres.iter_mut().enumerate() {
            (sphere.radius, sphere.mass) = (0.2, 1e-6);
            if index % 37 == 5 {
                (sphere.radius, sphere.mass) = (0.8, 1.0);
                sphere.velocity = (DVec3::from(sphere.velocity) * 50.0).to_array();
            }
        }
        let options = periodic(edge).with_impact_list();
        let mut simulation = Simulation::new(spheres.clone(), options).expect("a valid mixture");
        let report = step(&mut simulation, 0.25);
        let reference = Reference::new(&balls(&spheres), Some(edge), 1.0, 0.25);
        let compared = first_same(&report, reference);
        assert!(compared > 50, "{compared} impacts were compared");
        let is_heavy = |index: usize| spheres[index].mass == 1.0;
        let both = report.impacts[..compared].iter().filter(|impact| {
            is_heavy(impact.sphere as usize) && is_heavy(other(impact)) && impact.image != [0; 3]
        });
        across += both.count();
    }
    assert!(across > 5, "{across} impacts of fast spheres across a face");
}

/// The spheres cross very many periodic cells, but cannot meet.
#[test]
fn spheres_that_cannot_meet_take_a_long_step() {
    let ball = |x: f64, v: [f64; 3]| HardSphere::new([x, 0.5, 0.5], 0.1).with_velocity(v);
    let [a, b] = [ball(0.25, [1.0, 2.5, -0.5]), ball(0.75, [-3.0, 0.0, 1.5])];
    let options = || periodic(1.0);
    // Four cases in which spheres cannot meet: a single sphere, two spheres of one body, two spheres of
    // infinite mass, and two spheres whose collision groups exclude each other.
    for (spheres, options, duration) in [
        (vec![a], options(), 2e3),
        (vec![a, b], options().with_bodies(vec![Some(7); 2]), 2e3),
        (vec![a.fixed(), b.fixed()], options(), 2e3),
        (vec![a, b], options().with_groups(vec![1, 1 << 16]), 25.0),
    ] {
        let mut simulation = Simulation::new(spheres.clone(), options).expect("valid spheres");
        let report = step(&mut simulation, duration);
        assert_eq!(report.sphere_impacts, 0);
        assert!(report.substeps < 80, "{}", report.substeps);
        for (index, sphere) in spheres.iter().enumerate() {
            let expected = DVec3::from(sphere.center) + DVec3::from(sphere.velocity) * duration;
            let center = simulation.unwrapped_center(index).expect("it exists");
            assert!(
                expected.distance(center.into()) < 1e-6,
                "{center:?} {expected}"
            );
        }
    }
}

/// The spheres are much larger than the periodic cell. So there are too many periodic images of
/// spheres, and too many pairs as well.
#[test]
fn the_limit_that_is_exceeded_does_not_depend_on_the_number_of_threads() {
    let mut rng = Rng::with_seed(4);
    let balls = (0..3000).map(|_| {
        let center = DVec3::from([0; 3].map(|_| rng.f64()));
        HardSphere::new(center, 10.0).with_velocity(DVec3::X)
    });
    let balls: Vec<_> = balls.collect();
    let run = |threads| {
        let mut simulation = Simulation::new(balls.clone(), periodic(1.0)).expect("valid spheres");
        with_threads(threads, || simulation.step(1.0)).expect_err("too many images")
    };
    let expected = run(1);
    assert!(
        matches!(expected, Error::TooManyImages { needed, limit, .. } if needed > limit),
        "{expected}"
    );
    assert_eq!(run(2).to_string(), expected.to_string());
    assert_eq!(run(5).to_string(), expected.to_string());
}

#[test]
fn an_edit_leaves_unwrapped_centres_as_they_are() {
    for x in [0.0, 10.0, -1e-20, 5.0, -0.5] {
        let ball = HardSphere::new([x, 5.0, 5.0], 0.5);
        let mut simulation = Simulation::new(vec![ball], periodic(10.0)).expect("one ball");
        let before = simulation.unwrapped_center(0).expect("sphere 0 exists");
        simulation.edit(|_| ()).expect("the spheres stay valid");
        let after = simulation.unwrapped_center(0).expect("sphere 0 exists");
        assert_eq!(before, after);
        assert!((before[0] - x).abs() < 1e-12, "{x}: {before:?}");
    }
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

/// Returns the depth of the deepest overlap as a multiple of the smaller of the two radii. The rounding error
/// that is allowed for coordinates is subtracted from the depth first.
fn deepest_overlap(spheres: &[HardSphere], edge: f64) -> f64 {
    let mut deepest: f64 = 0.0;
    for (index, a) in spheres.iter().enumerate() {
        for b in &spheres[..index] {
            let away = DVec3::from(b.center) - DVec3::from(a.center);
            let away = away - edge * (away / edge).round();
            let rounding = 4.0 * f64::EPSILON * edge;
            let depth = a.radius + b.radius - away.length() - rounding;
            deepest = deepest.max(depth / a.radius.min(b.radius));
        }
    }
    deepest
}

/// Follows a dense fluid, in short steps, until each sphere has had about 100 impacts. The spheres must never
/// overlap, and energy and momentum must not drift.
#[test]
fn spheres_never_overlap_and_keep_energy_and_momentum() {
    for (seed, packing) in [(1, 0.3), (2, 0.45)] {
        let (spheres, edge) = lattice(7, packing, seed);
        let mut simulation = Simulation::new(spheres, periodic(edge)).expect("a valid fluid");
        let energy = simulation.kinetic_energy();
        let (mut impacts, mut substeps, mut steps, mut deepest) = (0, 0, 0, 0.0_f64);
        while impacts < 50 * 343 {
            let report = step(&mut simulation, 0.01);
            impacts += report.sphere_impacts;
            substeps += report.substeps;
            steps += 1;
            deepest = deepest.max(deepest_overlap(simulation.spheres(), edge));
        }
        assert!(
            substeps <= 2 * steps,
            "the overlaps are checked after most substeps"
        );
        assert!(deepest <= 1e-6, "an overlap is {deepest:e} radii deep");
        let drift = (simulation.kinetic_energy() / energy - 1.0).abs();
        assert!(drift < 1e-9, "the energy has drifted by {drift:e}");
        let all = simulation.spheres().iter();
        let momenta = all.map(|sphere| DVec3::from(sphere.momentum()));
        let (sum, speeds) = momenta.fold((DVec3::ZERO, 0.0), |(sum, speeds), momentum| {
            (sum + momentum, speeds + momentum.length())
        });
        assert!(sum.length() < 1e-9 * speeds, "the momentum is {sum}");
    }
}

#[test]
fn the_bytes_are_the_same_for_any_number_of_threads() {
    let (spheres, edge) = lattice(14, 0.35, 5);
    let run = |threads| {
        let options = periodic(edge).with_impact_list();
        let mut simulation = Simulation::new(spheres.clone(), options).expect("a valid fluid");
        let mut step = || step(&mut simulation, 0.1);
        let reports: Vec<_> = with_threads(threads, || (0..10).map(|_| step()).collect());
        assert!(
            reports
                .iter()
                .map(|report| report.sphere_impacts)
                .sum::<u64>()
                > 3 * 2744
        );
        (simulation.spheres().to_vec(), reports)
    };
    let expected = run(1);
    assert_eq!(run(2), expected);
    assert_eq!(run(5), expected);
}

/// Returns a face-centred cubic packing, and the edge of its cell.
fn packing(per_edge: usize, packing: f64, seed: u64) -> (Vec<HardSphere>, f64) {
    let mut rng = Rng::with_seed(seed);
    let count = 4 * per_edge.pow(3);
    let edge = (count as f64 * std::f64::consts::PI / 6.0 / packing).cbrt();
    let edge = f64::from(edge as f32);
    let step = edge / per_edge as f64;
    let mut spheres = Vec::with_capacity(count);
    for index in 0..count {
        let cell = index / 4;
        let cell = [
            cell % per_edge,
            cell / per_edge % per_edge,
            cell / per_edge.pow(2),
        ];
        let mut place = cell.map(|k| k as f64 + 0.25);
        let corner = index % 4;
        for (axis, x) in place.iter_mut().enumerate() {
            *x += if corner != 0 && corner != axis + 1 {
                0.5
            } else {
                0.0
            };
        }
        let velocity = DVec3::from([0; 3].map(|_| normal(&mut rng)));
        spheres.push(HardSphere::new(DVec3::from(place) * step, 0.5).with_velocity(velocity));
    }
    (spheres, edge)
}

/// In a crystal near close packing, almost every impact of a substep affects later impacts. The
/// simulation must nevertheless list the impacts in the same order as `Reference`, a simple
/// event-driven simulation.
#[test]
fn a_jammed_packing_meets_in_the_order_of_the_reference() {
    let (spheres, edge) = packing(4, 0.735, 1);
    let options = periodic(edge)
        .with_impacts_per_substep(2.0)
        .with_impact_list();
    let mut simulation = Simulation::new(spheres.clone(), options).expect("a valid packing");
    let report = step(&mut simulation, 0.02);
    assert!(report.largest_island > 128, "{}", report.largest_island);
    assert!(report.sphere_impacts > 1500, "{}", report.sphere_impacts);
    let reference = Reference::new(&balls(&spheres), Some(edge), 1.0, 0.02);
    let compared = first_same(&report, reference);
    assert!(compared > 700, "{compared} impacts were compared");
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

/// A cloud of spheres far from the origin, or two clouds far apart, have the impacts of a cloud at the origin.
#[test]
fn spheres_far_from_the_origin_have_the_same_impacts() {
    let cloud = |center: DVec3| {
        let mut rng = Rng::with_seed(12);
        let mut ball = |k: u32| {
            let place = [k % 8, k / 8 % 8, k / 64].map(|k| 1.25 * f64::from(k));
            // Rounded so that all places are exact.
            let velocity = [0; 3].map(|_| (f64::from(rng.u32(..1024)) - 512.0) / 256.0);
            HardSphere::new(DVec3::from(place) + center, 0.5).with_velocity(velocity)
        };
        (0..512).map(&mut ball).collect::<Vec<_>>()
    };
    let run = |balls: Vec<HardSphere>| {
        let mut flying = Simulation::new(balls, SimulationOptions::new()).expect("valid");
        let start = std::time::Instant::now();
        let report = step(&mut flying, 0.25);
        (report.sphere_impacts, start.elapsed().as_secs_f64())
    };
    let (impacts, seconds) = run(cloud(DVec3::ZERO));
    assert!(impacts > 100, "{impacts}");
    for far in [1e6, 1e7, 1e8, 1e9] {
        let (found, time) = run(cloud(DVec3::splat(far)));
        assert_eq!(found, impacts, "{far}");
        assert!(time < 10.0 * seconds + 0.05, "{far}: {time} of {seconds} s");
    }
    let both = [cloud(DVec3::ZERO), cloud(DVec3::X * 1e9)].concat();
    let (found, time) = run(both);
    assert_eq!(found, 2 * impacts);
    assert!(time < 50.0 * seconds + 0.1, "{time} of {seconds} s");
    let mut lost =
        Simulation::new(cloud(DVec3::splat(1e13)), SimulationOptions::new()).expect("valid");
    let error = lost.step(0.25).expect_err("float64 is too coarse");
    assert!(
        error.to_string().contains("so far from the origin"),
        "{error}"
    );
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

#[test]
fn numbers_out_of_range_are_named() {
    let ball = HardSphere::new([0.0; 3], 1.0);
    let error = |spheres, options| {
        Simulation::new(spheres, options)
            .expect_err("an error")
            .to_string()
    };
    let options = SimulationOptions::new;
    assert_eq!(
        error(vec![ball, ball.with_mass(0.0)], options()),
        "sphere 1 of the simulation is invalid: its mass is 0.0, but must be a normal number above 0, or \
         infinite for a fixed sphere"
    );
    // A sphere of radius 0 has no volume, so a density gives it a mass of 0.
    let point = HardSphere::new([0.0; 3], 0.0).with_density(1.0);
    assert!(error(vec![point], options()).contains("its mass is 0.0"));
    assert!(
        error(vec![ball.with_velocity([f64::NAN; 3])], options()).contains("its velocity.x is NaN")
    );
    assert!(error(vec![ball], options().with_restitution(1.5)).contains("the restitution is 1.5"));
    assert!(error(vec![ball], options().with_groups(vec![1, 2])).contains("`groups` has length 2"));
    assert!(error(vec![ball], options().with_max_impacts(0)).contains("impacts is 0"));
    assert!(error(vec![ball], options().with_contact_time(1e300)).contains("time is 1e300"));
    let mut simulation = Simulation::new(vec![ball], options()).expect("one ball");
    for duration in [-1.0, f64::NAN, f64::INFINITY, 1e19] {
        let error = simulation.step(duration).expect_err("a bad duration");
        let problem = format!("the duration of the step is {duration:?},");
        assert!(error.to_string().contains(&problem), "{error}");
    }
    let error = simulation.restore(7, ball).expect_err("an error");
    assert!(error.to_string().contains("no sphere 7"), "{error}");
    // In a step of this duration, gravity moves the ball out of the range of coordinates.
    let falling = options().with_gravity([0.0, 1.0, 0.0]);
    let mut falling = Simulation::new(vec![ball], falling).expect("one ball");
    let error = falling.step(1e10).expect_err("the ball falls too far");
    assert!(
        matches!(error, Error::InvalidHardSphere { index: 0, .. }),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .contains("one of its coordinates may exceed"),
        "{error}"
    );
    let balls = vec![
        ball,
        HardSphere::new([4.0, 0.0, 0.0], 1.0).with_velocity([-1.0, 0.0, 0.0]),
    ];
    let mut struck = Simulation::new(balls, options()).expect("two balls");
    for (k, bad) in [(0, f64::NAN), (1, f64::INFINITY), (1, 1e300)] {
        let mut velocities = [[0.0; 3]; 2];
        velocities[k][1] = bad;
        let rule = |_: &Encounter| Response::Each(velocities.map(Outcome::Velocity));
        let error = struck.step_with(3.0, &rule).expect_err("a bad velocity");
        assert!(
            matches!(error, Error::InvalidHardSphere { index, .. } if index == k),
            "{error}"
        );
        assert!(error.to_string().contains("step_with"), "{error}");
        assert!(
            struck
                .spheres()
                .iter()
                .all(|ball| DVec3::from(ball.velocity).is_finite())
        );
    }
    let error = simulation.edit(|spheres| spheres[0].mass = -1.0);
    assert!(matches!(
        error,
        Err(Error::InvalidHardSphere { index: 0, .. })
    ));
    assert_eq!(simulation.spheres()[0], ball);
}

//! Tests of steps: their length, their bytes, what is conserved, and what is refused.

use carom::{
    Domain, Encounter, Error, HardSphere, Mesh, Outcome, Partner, Response, Simulation,
    SimulationOptions, Wall, Walls,
};
use fastrand::Rng;
use glam::DVec3;

use crate::backends::with_threads;
use crate::{fluid, lattice, normal, periodic, step};

/// Returns all impacts of a fluid in a time: the two spheres and the time of each, sorted.
pub(crate) fn impacts(
    spheres: &[HardSphere],
    options: SimulationOptions,
) -> Vec<(u32, Partner, f64)> {
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

/// Returns the depth of the deepest overlap as a multiple of the smaller of the two radii. The rounding error
/// that is allowed for coordinates is subtracted from the depth first.
pub(crate) fn deepest_overlap(spheres: &[HardSphere], edge: f64) -> f64 {
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
        "sphere 1 of the simulation is invalid: its mass is 0.0, but must be from 1e-100 to 1e100, or \
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

/// Whatever a step cannot compute in float64 is refused before anything changes.
#[test]
fn masses_that_overflow_are_refused_and_the_largest_collide() {
    let pair = |mass: f64, speed: f64| {
        let balls = vec![
            HardSphere::new([0.0; 3], 0.5).with_velocity([speed, 0.0, 0.0]),
            HardSphere::new([3.0, 0.0, 0.0], 0.5).with_velocity([-speed, 0.0, 0.0]),
        ];
        let balls = balls.into_iter().map(|ball| ball.with_mass(mass));
        Simulation::new(balls.collect(), SimulationOptions::new())
    };
    for (mass, speed) in [
        (1e308, 1.0),
        (1e300, 1e10),
        (1e200, 0.0),
        (1e-300, 1.0),
        (5e-324, 1.0),
    ] {
        let error = pair(mass, speed).expect_err("such a mass is refused");
        assert!(error.to_string().contains("mass"), "{error}");
    }
    for (mass, speed) in [
        (1e100, 1e18),
        (1e-100, 1e18),
        (1e100, 1e-17),
        (1e-100, 1e-17),
    ] {
        let mut simulation = pair(mass, speed).expect("the mass is in range");
        let report = simulation
            .step(2.0 / speed)
            .expect("the numbers are in range");
        assert_eq!(report.sphere_impacts, 1);
        let energy = mass * speed * speed;
        assert!((report.kinetic_energy / energy - 1.0).abs() < 1e-12);
        let virial = 2.0 * mass * speed;
        assert!(
            (report.virial / virial - 1.0).abs() < 1e-12,
            "{}",
            report.virial
        );
        for (k, sign) in [-1.0, 1.0].into_iter().enumerate() {
            assert_eq!(simulation.spheres()[k].velocity[0], sign * speed);
        }
    }
}

#[test]
fn a_step_that_the_time_cannot_hold_is_refused() {
    let ball = HardSphere::new([0.0; 3], 0.5);
    let options = SimulationOptions::new;
    let after = |options: SimulationOptions, time: f64| {
        let mut simulation = Simulation::new(vec![ball], options).expect("one ball");
        simulation.step(time).expect("nothing moves");
        simulation
    };
    let mut late = after(options(), 1e15);
    late.edit(|balls| balls[0].velocity = [1.0, 0.0, 0.0])
        .expect("a velocity");
    let error = late
        .step(0.01)
        .expect_err("the time would stand still")
        .to_string();
    assert!(
        error.contains("0.01") && error.contains("1.25e-1 apart"),
        "{error}"
    );
    assert_eq!((late.time(), late.spheres()[0].center), (1e15, [0.0; 3]));
    late.step(0.5).expect("the time advances by 0.5");
    assert_eq!(
        (late.time(), late.spheres()[0].center[0]),
        (1e15 + 0.5, 0.5)
    );
    // What nobody notices is no error.
    late.step(1e-12).expect("nothing moves");
    let mut moving = Walls::new();
    moving.push(Wall::half_space([0.0, 0.0, 1.0], -9.0).with_velocity([0.0, 0.0, -1e-9]));
    assert!(
        after(options().with_walls(moving), 1e15)
            .step(0.01)
            .is_err()
    );
    let mut falling = after(options(), 1e15);
    falling.set_gravity([0.0, 0.0, -9.8]).expect("gravity");
    assert!(falling.step(0.01).is_err());
    assert!(after(options(), 1e15).step(0.01).is_ok());
}

#[test]
fn a_removed_sphere_has_no_velocity_and_no_spheres_have_no_energy() {
    let ball = HardSphere::new([0.0; 3], 0.5).with_velocity([1.0, 0.0, 0.0]);
    let mut simulation = Simulation::new(vec![ball], SimulationOptions::new()).expect("one ball");
    simulation.remove(0).expect("it is there");
    simulation
        .edit(|balls| balls[0].velocity = [7.0; 3])
        .expect("a velocity");
    assert_eq!(simulation.spheres()[0].velocity, [0.0; 3]);
    let report = simulation.step(1.0).expect("nothing happens");
    assert_eq!(
        simulation.spheres()[0],
        HardSphere {
            velocity: [0.0; 3],
            ..ball
        }
    );
    let none = Simulation::new(Vec::new(), SimulationOptions::new()).expect("no ball");
    for energy in [
        report.kinetic_energy,
        simulation.kinetic_energy(),
        none.kinetic_energy(),
    ] {
        assert_eq!(energy.to_bits(), 0.0_f64.to_bits());
    }
}

/// The images of periodic cells count for the limit of a step, which otherwise allows millions of such substeps.
#[test]
fn a_step_across_many_periodic_cells_ends_at_its_limit() {
    let ball = |x: f64| HardSphere::new([x, 1.0, 1.0], 0.5);
    let still = vec![ball(1.0), ball(5.5)];
    let rows: Vec<_> = (0..100)
        .map(|k| HardSphere::new([k % 10, k / 10, 1].map(f64::from), 0.3))
        .collect();
    let mesh = Mesh::new(
        vec![[3.0, 3.0, 3.0], [4.0, 3.0, 3.0], [3.0, 4.0, 3.0]],
        vec![[0, 1, 2]],
    );
    let mesh = mesh.expect("a triangle");
    for speed in [1e7_f32, 1e10, 1e14] {
        let velocity = [speed, 0.5 * speed, 0.25 * speed];
        let wide = velocity.map(f64::from);
        let mut moving = Walls::from_iter([Wall::sphere([5.0; 3], 1.0).with_velocity(velocity)]);
        moving.push_mesh(mesh.clone().with_velocity(velocity));
        let rod = Wall::cylinder([5.0; 3], [1.0, 0.0, 0.0], 0.5).with_velocity(velocity);
        let fast = [ball(1.0).with_velocity(wide), ball(5.5)];
        let plain = || periodic(10.0).with_max_step_impacts(10_000);
        for (name, spheres, options) in [
            ("gravity", &still, plain().with_gravity(wide)),
            ("many in gravity", &rows, plain().with_gravity(wide)),
            ("a velocity", &fast.to_vec(), plain()),
            ("walls", &still, plain().with_walls(moving)),
            (
                "a rod",
                &fast.to_vec(),
                plain().with_walls([rod].into_iter().collect()),
            ),
        ] {
            let start = std::time::Instant::now();
            let mut simulation = Simulation::new(spheres.clone(), options).expect("valid spheres");
            let report = simulation.step(1.0).expect("the step ends at its limit");
            let time = start.elapsed();
            assert!(time.as_secs() < 20, "{name} {speed:e}: {time:?}");
            assert!(!report.completed, "{name} {speed:e}");
            let reached = simulation.time();
            assert!((0.0..1.0).contains(&reached), "{name} {speed:e}: {reached}");
            // Hundreds of images each.
            assert!(
                report.substeps < 300,
                "{name} {speed:e}: {}",
                report.substeps
            );
            println!(
                "{name} {speed:e}: {time:?}, {} substeps, {reached}",
                report.substeps
            );
        }
    }
}

/// What no step can do ends soon, with an error or before its end.
#[test]
fn spheres_without_room_and_extreme_gravity_end_soon() {
    let small = HardSphere::new([5.0; 3], 0.5);
    for radius in [6.0, 20.0, 100.0] {
        let large = HardSphere::new([1.0; 3], radius).with_velocity([1.0, 0.0, 0.0]);
        let cell = Domain::rectangular([0.0; 3], [10.0; 3]);
        let options = SimulationOptions::new().with_domain(cell);
        let start = std::time::Instant::now();
        let mut simulation = Simulation::new(vec![large, small], options).expect("two balls");
        let _ = simulation.step(1.0);
        let time = start.elapsed();
        assert!(time.as_secs() < 20, "{radius}: {time:?}");
    }
    for walls in [Walls::new(), Walls::inside_box([0.0; 3], [10.0; 3])] {
        let options = SimulationOptions::new()
            .with_walls(walls)
            .with_gravity([0.0, 0.0, -1e17])
            .with_max_step_impacts(10_000);
        let start = std::time::Instant::now();
        let mut simulation = Simulation::new(vec![small], options).expect("a ball");
        let _ = simulation.step(1.0);
        let time = start.elapsed();
        assert!(time.as_secs() < 20, "{time:?}");
    }
}

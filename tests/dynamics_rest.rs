//! Hard-sphere dynamics on the CPU in which spheres come to rest: on floors, in rows without room, and in piles.

use std::sync::atomic::{AtomicU32, Ordering};

use carom::{HardSphere, Simulation, SimulationOptions, StepReport, Wall, Walls};
use fastrand::Rng;
use glam::DVec3;

const GRAVITY: f64 = 9.8;

fn step(simulation: &mut Simulation, duration: f64) -> StepReport {
    simulation.step(duration).expect("the step is possible")
}

/// A box of the given width and height from the origin on, along y upwards. In two dimensions, it has no walls along z.
fn walls(width: f32, height: f32, dimensions: usize) -> Walls {
    let faces = [
        ([0.0, 1.0, 0.0], 0.0),
        ([0.0, -1.0, 0.0], -height),
        ([1.0, 0.0, 0.0], 0.0),
        ([-1.0, 0.0, 0.0], -width),
        ([0.0, 0.0, 1.0], 0.0),
        ([0.0, 0.0, -1.0], -width),
    ];
    let faces = faces.into_iter().take(2 * dimensions);
    faces
        .map(|(normal, offset)| Wall::half_space(normal, offset))
        .collect()
}

fn options(
    walls: Walls,
    [restitution, at_walls]: [f64; 2],
    contact_time: f64,
) -> SimulationOptions {
    SimulationOptions::new()
        .with_walls(walls)
        .with_gravity([0.0, -GRAVITY, 0.0])
        .with_restitution(restitution)
        .with_wall_restitution(at_walls)
        .with_contact_time(contact_time)
}

fn simulation(spheres: &[HardSphere], options: SimulationOptions) -> Simulation {
    Simulation::new(spheres.to_vec(), options).expect("a valid simulation")
}

/// Returns how deep spheres overlap each other or the walls of a box, at most.
fn deepest(spheres: &[HardSphere], width: f64, dimensions: usize) -> f64 {
    let mut deepest = 0.0_f64;
    for (k, sphere) in spheres.iter().enumerate() {
        for (axis, x) in sphere.center.into_iter().enumerate().take(dimensions) {
            deepest = deepest.max(sphere.radius - x);
            if axis != 1 {
                deepest = deepest.max(x + sphere.radius - width);
            }
        }
        for other in &spheres[..k] {
            let away = DVec3::from(sphere.center).distance(other.center.into());
            deepest = deepest.max(sphere.radius + other.radius - away);
        }
    }
    deepest
}

/// A ball slides on the floor between two walls, and each hit takes away half of its speed, for every contact time.
#[test]
fn a_floor_does_not_make_other_impacts_elastic() {
    for contact_time in [1e-5, 1e-4, 1e-3, 1e-2] {
        let ball = HardSphere::new([5.0, 1.0, 5.0], 1.0).with_velocity([8.0, 0.0, 0.0]);
        let rules = options(walls(10.0, 10.0, 3), [0.5; 2], contact_time);
        let mut sliding = simulation(&[ball], rules);
        for _ in 0..2000 {
            step(&mut sliding, 1.0 / 60.0);
        }
        // The hits are at the times 0.5, 2.5, 6.5, 14.5 and 30.5.
        let [x, y, z] = sliding.spheres()[0].velocity;
        assert!((x.abs() - 0.25).abs() < 1e-9, "{contact_time}: {x}");
        assert!(y.abs() < 1e-9 && z.abs() < 1e-9, "{contact_time}: {y} {z}");
    }
}

/// Balls without restitution fall on a ball that lies on the floor, and stay there.
#[test]
fn a_ball_that_falls_on_a_ball_at_rest_does_not_come_back() {
    for contact_time in [1e-4, 1e-3, 1e-2] {
        let balls = [
            HardSphere::new([5.0, 1.0, 5.0], 1.0),
            HardSphere::new([5.0, 6.0, 5.0], 1.0),
        ];
        let rules = options(walls(10.0, 10.0, 3), [0.0; 2], contact_time);
        let mut falling = simulation(&balls, rules);
        for _ in 0..60 {
            step(&mut falling, 1.0 / 60.0);
        }
        for _ in 0..60 {
            step(&mut falling, 1.0 / 60.0);
            let top = falling.spheres()[1];
            assert!((top.center[1] - 3.0).abs() < 1e-4, "{top:?}");
        }
        assert_eq!(falling.kinetic_energy(), 0.0);
    }
}

/// A ball with the restitution e that falls from the height h bounces in a geometric series of times, and comes to rest
/// at sqrt(2h/g)·(1 + e)/(1 − e).
#[test]
fn a_bouncing_ball_comes_to_rest_at_the_end_of_its_series() {
    for restitution in [0.3_f64, 0.5, 0.8] {
        let height = 2.0_f64;
        let ball = HardSphere::new([0.0, 1.0 + height, 0.0], 1.0);
        let floor = Wall::half_space([0.0, 1.0, 0.0], 0.0);
        let contact_time = 1e-5;
        let rules = options(
            [floor].into_iter().collect(),
            [restitution; 2],
            contact_time,
        );
        let mut bouncing = simulation(&[ball], rules.with_impact_list());
        let fall = (2.0 * height / GRAVITY).sqrt();
        let end = fall * (1.0 + restitution) / (1.0 - restitution);
        let report = step(&mut bouncing, 1.1 * end);
        let mut expected = fall;
        let mut speed = GRAVITY * fall;
        for impact in &report.impacts {
            if speed < 2.0 * GRAVITY * contact_time {
                break;
            }
            assert!((impact.time - expected).abs() < 1e-9, "{restitution}");
            speed *= restitution;
            expected += 2.0 * speed / GRAVITY;
        }
        let last = report.impacts.last().expect("the ball hits the floor");
        assert!((last.time - end).abs() < 2.0 * contact_time / (1.0 - restitution));
        assert_eq!(bouncing.kinetic_energy(), 0.0);
        assert_eq!(step(&mut bouncing, 10.0).wall_impacts, 0);
    }
}

/// An elastic ball bounces for ever, however low, with a contact time as without one.
#[test]
fn an_elastic_ball_on_a_floor_keeps_its_energy() {
    for height in [1.0, 1e-6] {
        let ball = HardSphere::new([0.0, 1.0 + height, 0.0], 1.0);
        let floor = Wall::half_space([0.0, 1.0, 0.0], 0.0);
        let mut bouncing = simulation(
            &[ball],
            options([floor].into_iter().collect(), [1.0; 2], 1e-3),
        );
        for _ in 0..60 {
            step(&mut bouncing, 1.0 / 60.0);
            let ball = bouncing.spheres()[0];
            let energy = ball.kinetic_energy() + GRAVITY * (ball.center[1] - 1.0);
            assert!((energy / (GRAVITY * height) - 1.0).abs() < 1e-6, "{height}");
        }
    }
}

/// The balls of a cradle stand on a floor. A ball hits the first of them: each ball passes on the share (1 + e)/2 of
/// its speed and keeps (1 − e)/2.
#[test]
fn a_cradle_on_a_floor_passes_on_its_share() {
    for (restitution, contact_time) in [(0.9, 1e-3), (0.5, 1e-4), (0.9, 1e-2)] {
        let row = (0..5).map(|k| HardSphere::new([2.1 * f64::from(k), 1.0, 0.0], 1.0));
        let mut balls: Vec<_> = row.collect();
        balls[0].velocity[0] = 3.0;
        let floor = Wall::half_space([0.0, 1.0, 0.0], 0.0);
        let mut cradle = simulation(
            &balls,
            options(
                [floor].into_iter().collect(),
                [restitution, 0.0],
                contact_time,
            ),
        );
        step(&mut cradle, 0.3);
        let mut speed: f64 = 3.0;
        for ball in &cradle.spheres()[..4] {
            let kept = speed * (1.0 - restitution) / 2.0;
            assert!((ball.velocity[0] - kept).abs() < 1e-9, "{ball:?} {kept}");
            speed *= f64::midpoint(1.0, restitution);
        }
        let last = cradle.spheres()[4];
        assert!((last.velocity[0] - speed).abs() < 1e-9, "{last:?} {speed}");
        assert!(
            (last.center[1] - 1.0).abs() < 1e-9 && last.velocity[1].abs() < 1e-12,
            "{last:?}"
        );
    }
}

/// The floor under a column of balls at rest bears its weight, and every ball stays where it is.
#[test]
fn the_floor_bears_the_weight_of_a_column() {
    for (count, contact_time) in [
        (1, 1e-3),
        (10, 1e-5),
        (10, 1e-1),
        (60, 1e-3),
        (60, 1e-5),
        (300, 1e-4),
    ] {
        let heights = (0..count).map(|k| f64::from(k) + 0.5);
        let column: Vec<_> = heights
            .map(|y| HardSphere::new([0.5, y, 0.5], 0.5).with_mass(2.0))
            .collect();
        let mut standing = simulation(
            &column,
            options(walls(1.0, 1000.0, 3), [0.2; 2], contact_time),
        );
        // Each ball comes to rest on the one below, at once.
        let first = step(&mut standing, 1.0 / 60.0);
        assert_eq!(first.wall_impacts + first.sphere_impacts, count as u64);
        let (mut impulse, mut impacts) = (0.0, 0);
        for _ in 0..60 {
            let report = step(&mut standing, 1.0 / 60.0);
            impulse -= report.wall_impulses[0][1];
            impacts += report.wall_impacts + report.sphere_impacts;
        }
        let weight = 2.0 * f64::from(count) * GRAVITY;
        assert!(
            (impulse / weight - 1.0).abs() < 1e-6,
            "{count}: {impulse} {weight}"
        );
        assert_eq!((impacts, standing.kinetic_energy()), (0, 0.0), "{count}");
        for (ball, start) in standing.spheres().iter().zip(&column) {
            let moved = DVec3::from(ball.center).distance(start.center.into());
            assert!(moved < 1e-4, "{count}: {moved}");
        }
    }
}

/// The lowest ball of a column is knocked out, and the balls above it fall at once, however long the steps are.
#[test]
fn a_ball_falls_when_its_support_is_knocked_away() {
    let balls = [
        HardSphere::new([0.0, 0.5, 0.0], 0.5),
        HardSphere::new([0.0, 1.5, 0.0], 0.5),
        HardSphere::new([-40.0, 0.5, 0.0], 0.5).with_velocity([39.0, 0.0, 0.0]),
    ];
    let floor = Wall::half_space([0.0, 1.0, 0.0], 0.0);
    for frames in [1, 75] {
        let rules = options([floor].into_iter().collect(), [1.0, 0.0], 1e-3);
        let mut knocked = simulation(&balls, rules);
        for _ in 0..frames {
            step(&mut knocked, 1.25 / f64::from(frames));
        }
        // The ball comes at time 1. Without it, the upper ball falls by g/2·0.25² = 0.306.
        let y = knocked.spheres()[1].center[1];
        assert!(
            (y - (1.5 - 0.5 * GRAVITY * 0.0625)).abs() < 0.03,
            "{frames}: {y}"
        );
    }
}

/// A step with a limit ends at the time that it reaches, says so, and goes on where it ended.
#[test]
fn a_step_ends_when_it_is_told_to() {
    let ball = HardSphere::new([5.0, 5.0, 5.0], 1.0).with_velocity([60.0, 31.0, 17.0]);
    let rules = SimulationOptions::new().with_walls(walls(10.0, 10.0, 3));
    let mut simulation = simulation(&[ball], rules);
    let asked = AtomicU32::new(0);
    let three_times = || asked.fetch_add(1, Ordering::Relaxed) < 3;
    let report = simulation.step_while(100.0, None, &three_times).unwrap();
    assert_eq!((report.completed, report.substeps), (false, 3));
    let time = simulation.time();
    assert!(time > 0.0 && time < 100.0, "{time}");
    let report = simulation.step_while(100.0 - time, None, &|| true).unwrap();
    assert!(report.completed && report.substeps > 3);
    assert!((simulation.time() - 100.0).abs() < 1e-12);
}

#[test]
fn a_step_with_a_limit_ends_before_its_end() {
    let ball = HardSphere::new([5.0, 5.0, 5.0], 1.0).with_velocity([60.0, 31.0, 17.0]);
    let rules = || SimulationOptions::new().with_walls(walls(10.0, 10.0, 3));
    let mut whole = simulation(&[ball], rules());
    assert!(step(&mut whole, 100.0).completed);
    let mut limited = simulation(&[ball], rules().with_max_step_impacts(100));
    let mut steps = 0;
    while limited.time() < 100.0 {
        let before = limited.time();
        let report = step(&mut limited, 100.0 - before);
        assert!(report.wall_impacts + report.substeps < 130, "{report:?}");
        assert_eq!(report.completed, limited.time() == 100.0);
        assert!(limited.time() > before);
        steps += 1;
    }
    assert!(steps > 10, "{steps}");
    let [one, other] =
        [&whole, &limited].map(|simulation| DVec3::from(simulation.spheres()[0].center));
    assert!(one.distance(other) < 1e-6, "{one} {other}");
    let none = Simulation::new(vec![ball], rules().with_max_step_impacts(0));
    assert!(none.is_err_and(|error| error.to_string().contains("must be at least 1")));
}

/// There is no room for an elastic disc between two walls that close on it. With a limit, no step is an error or has no
/// end, and a step that does not reach its end says so.
#[test]
fn a_squeezed_elastic_disc_stops_the_clock_within_the_limit() {
    let walls = [
        Wall::half_space([1.0, 0.0, 0.0], 0.0).with_velocity([1.0, 0.0, 0.0]),
        Wall::half_space([-1.0, 0.0, 0.0], -2.0),
    ];
    let disc = HardSphere::new([1.2, 0.5, 0.0], 0.5);
    let rules = SimulationOptions::new().with_walls(walls.into_iter().collect());
    let mut squeezed = simulation(&[disc], rules.with_max_step_impacts(1000));
    let reports: Vec<_> = (0..90).map(|_| step(&mut squeezed, 1.0 / 60.0)).collect();
    assert!(reports[..50].iter().all(|report| report.completed));
    assert!(!reports[89].completed);
    for report in &reports {
        assert!(report.wall_impacts + report.substeps <= 2000, "{report:?}");
    }
    // The room is gone at time 1.
    assert!((squeezed.time() - 1.0).abs() < 0.02, "{}", squeezed.time());
}

/// A wall pushes a disc against another wall until there is no room for it, and then moves back.
#[test]
fn a_squeezed_disc_overlaps_the_walls() {
    for (contact_time, gravity) in [(1e-3, 0.0), (1e-3, -9.8), (1e-2, 0.0)] {
        for restitution in [0.0, 0.5, 0.9] {
            let walls = [
                Wall::half_space([1.0, 0.0, 0.0], 0.0).with_velocity([1.0, 0.0, 0.0]),
                Wall::half_space([-1.0, 0.0, 0.0], -2.0),
                Wall::half_space([0.0, 1.0, 0.0], 0.0),
            ];
            let disc = HardSphere::new([1.2, 0.5, 0.0], 0.5);
            let rules = options(walls.into_iter().collect(), [restitution; 2], contact_time)
                .with_gravity([0.0, gravity, 0.0]);
            let mut squeezed = simulation(&[disc], rules);
            // The room is gone at time 1.
            for _ in 0..90 {
                let report = step(&mut squeezed, 1.0 / 60.0);
                assert!(report.wall_impacts < 50_000, "{}", report.wall_impacts);
                let [x, ..] = squeezed.spheres()[0].center;
                assert!(x.abs() < 10.0, "{restitution} {contact_time}: {x}");
            }
        }
    }
}

/// What is known of a run of a pile.
struct Run {
    /// Number of impacts and of substeps in each frame.
    impacts: Vec<u64>,
    substeps: Vec<u64>,
    /// Kinetic energy of each sphere at the end.
    energy: f64,
    deepest: f64,
    /// How far the middle of all centres moved down in the last tenth of the run.
    sunk: f64,
    /// The force on the floor in the last tenth of the run, by the weight.
    force: f64,
}

fn run(
    spheres: &[HardSphere],
    width: f64,
    dimensions: usize,
    rules: SimulationOptions,
    frames: usize,
) -> Run {
    let count = spheres.len() as f64;
    let weight: f64 = spheres.iter().map(|sphere| sphere.mass * GRAVITY).sum();
    let mut pile = simulation(spheres, rules);
    let height = |pile: &Simulation| {
        let all = pile.spheres().iter();
        all.map(|sphere| sphere.center[1]).sum::<f64>() / count
    };
    let mut run = Run {
        impacts: Vec::new(),
        substeps: Vec::new(),
        energy: 0.0,
        deepest: 0.0,
        sunk: 0.0,
        force: 0.0,
    };
    let last = frames - frames / 10;
    for frame in 0..frames {
        if frame == last {
            run.sunk = height(&pile);
        }
        let report = step(&mut pile, 1.0 / 60.0);
        run.impacts
            .push(report.sphere_impacts + report.wall_impacts);
        run.substeps.push(report.substeps);
        if frame >= last {
            run.force -= report.wall_impulses[0][1] * 60.0 / (frames - last) as f64 / weight;
        }
    }
    run.sunk -= height(&pile);
    run.energy = pile.kinetic_energy() / count;
    run.deepest = deepest(pile.spheres(), width, dimensions);
    run
}

/// Balls are poured into a box.
fn poured(count: usize, seed: u64) -> Vec<HardSphere> {
    let mut rng = Rng::with_seed(seed);
    let place = |k: usize| 0.6 + 1.1 * k as f64;
    (0..count)
        .map(|k| {
            let [x, z] = [k % 3, k / 3 % 3].map(|k| place(k) + 0.1 * rng.f64());
            HardSphere::new([x, place(k / 9), z], 0.5)
        })
        .collect()
}

/// Discs that exactly fill the width of a box fall in rows.
fn rows(count: usize, across: usize, seed: u64) -> Vec<HardSphere> {
    let mut rng = Rng::with_seed(seed);
    (0..count)
        .map(|k| {
            let [x, y] = [(k % across) as f64, (k / across) as f64];
            let velocity = [rng.f64() - 0.5, rng.f64() - 0.5, 0.0];
            HardSphere::new([x + 0.5, 1.2 * y + 0.7, 0.0], 0.5).with_velocity(velocity)
        })
        .collect()
}

fn check(name: &str, run: &Run, spheres: usize) {
    // A pile at rest has no impacts, so the measure is the number of its contacts.
    let contacts = 6 * spheres as u64;
    let worst = run.impacts.iter().max().copied().unwrap_or_default();
    assert!(worst < 50 * contacts, "{name}: {worst} impacts in a frame");
    let worst = run.substeps.iter().max().copied().unwrap_or_default();
    assert!(worst < 2000, "{name}: {worst} substeps in a frame");
    assert!(run.energy < 1e-9, "{name}: the energy is {}", run.energy);
    assert!(run.deepest < 1e-4, "{name}: the overlap is {}", run.deepest);
    assert!(run.sunk.abs() < 1e-3, "{name}: sunk by {}", run.sunk);
    assert!(
        (run.force - 1.0).abs() < 1e-2,
        "{name}: the force is {}",
        run.force
    );
}

/// Rows without any room come to rest, and then cost nothing.
#[test]
fn rows_without_room_come_to_rest() {
    for (count, across) in [(50, 10), (20, 5), (2, 2)] {
        for contact_time in [1e-4, 1e-3, 1e-2, 1e-1] {
            let name = format!("{count} discs, {across} across, contact time {contact_time}");
            let width = across as f32;
            let rules = options(walls(width, 100.0, 2), [0.9, 0.8], contact_time);
            let run = run(&rows(count, across, 1), width.into(), 2, rules, 1200);
            check(&name, &run, count);
            assert_eq!(run.energy, 0.0, "{name}");
            assert_eq!(run.impacts[1100..].iter().sum::<u64>(), 0, "{name}");
        }
    }
}

/// A pile in a box comes to rest.
#[test]
fn piles_come_to_rest() {
    for (restitution, contact_time) in [(0.0, 1e-3), (0.1, 1e-2), (0.5, 1e-3), (0.5, 1e-1)] {
        let name = format!("restitution {restitution}, contact time {contact_time}");
        let rules = options(walls(4.0, 100.0, 3), [restitution; 2], contact_time);
        let run = run(&poured(40, 1), 4.0, 3, rules, 1500);
        check(&name, &run, 40);
    }
}

/// The bytes of a pile do not depend on the number of threads.
#[test]
fn piles_have_the_same_bytes_for_any_number_of_threads() {
    let ends = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a pool").install(|| {
            let rules = options(walls(4.0, 100.0, 3), [0.5; 2], 1e-3);
            let mut pile = simulation(&poured(60, 2), rules);
            for _ in 0..120 {
                step(&mut pile, 1.0 / 60.0);
            }
            pile.spheres().to_vec()
        })
    });
    assert_eq!(ends[0], ends[1]);
}

/// Piles and rows of many sizes, restitutions and contact times for 60 simulated seconds.
#[test]
#[ignore = "takes an hour; run it with `--ignored --nocapture`"]
fn all_piles_and_rows_come_to_rest() {
    for count in [2, 10, 40, 200, 1000, 10_000] {
        for restitution in [0.0, 0.1, 0.5, 0.9, 0.99] {
            for contact_time in [1e-5, 1e-4, 1e-3, 1e-2, 1e-1] {
                let name =
                    format!("{count}, restitution {restitution}, contact time {contact_time}");
                let across = (count / 5).clamp(2, 100);
                let rules = options(walls(across as f32, 1e4, 2), [restitution; 2], contact_time);
                let of_rows = run(&rows(count, across, 1), across as f64, 2, rules, 3600);
                let rules = options(walls(4.0, 1e5, 3), [restitution; 2], contact_time);
                let of_pile = run(&poured(count, 1), 4.0, 3, rules, 3600);
                for (kind, run) in [("rows", of_rows), ("pile", of_pile)] {
                    println!(
                        "{kind} of {name}: energy {:.1e}, overlap {:.1e}",
                        run.energy, run.deepest
                    );
                    check(&name, &run, count);
                }
            }
        }
    }
}

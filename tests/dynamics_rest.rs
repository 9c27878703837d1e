//! Hard-sphere dynamics on the CPU in which spheres come to rest: on floors, in rows without room, and in piles.

use std::sync::atomic::{AtomicU32, Ordering};

use carom::{
    Encounter, HardSphere, Mesh, Outcome, Partner, Response, Simulation, SimulationOptions,
    StepReport, Wall, Walls,
};
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

/// The floor and the sides of a box of the given width, of `across` by `across` squares of two triangles each.
fn mesh_box(width: f32, across: u8) -> Walls {
    let mut walls = Walls::new();
    for side in 0..5 {
        let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
        for (i, j) in (0..=across).flat_map(|i| (0..=across).map(move |j| (i, j))) {
            let [x, y] = [i, j].map(|k| width * f32::from(k) / f32::from(across));
            vertices.push(match side {
                0 => [x, 0.0, y],
                1 => [0.0, x, y],
                2 => [width, x, y],
                3 => [x, y, 0.0],
                _ => [x, y, width],
            });
        }
        let at = |i: u8, j: u8| u32::from(i) * u32::from(across + 1) + u32::from(j);
        for (i, j) in (0..across).flat_map(|i| (0..across).map(move |j| (i, j))) {
            triangles.push([at(i, j), at(i, j + 1), at(i + 1, j)]);
            triangles.push([at(i + 1, j + 1), at(i + 1, j), at(i, j + 1)]);
        }
        walls.push_mesh(Mesh::new(vertices, triangles).expect("a valid mesh"));
    }
    walls
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
            (last.center[1] - 1.0).abs() < 1e-9 && last.velocity[1].abs() < 1e-9,
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

/// A ball that slides up and down a slope is where a constant acceleration takes it, however long the substeps are.
#[test]
fn a_ball_on_a_slope_gains_no_energy() {
    for contact_time in [1e-5, 1e-3, 1e-1] {
        let slope = Wall::half_space([-3.0, 4.0, 0.0], 0.0);
        let [along, away] = [DVec3::new(0.8, 0.6, 0.0), DVec3::new(-0.6, 0.8, 0.0)];
        let ball = HardSphere::new(away.to_array(), 1.0).with_velocity(along * 3.0);
        let rules = options(Walls::from_iter([slope]), [0.9; 2], contact_time);
        let mut sliding = simulation(&[ball], rules);
        for frame in 1..=60 {
            step(&mut sliding, 1.0 / 60.0);
            let time = f64::from(frame) / 60.0;
            let ball = sliding.spheres()[0];
            let [way, speed] = [ball.center, ball.velocity].map(|x| along.dot(x.into()));
            let slowing = 0.6 * GRAVITY * time;
            assert!(
                (speed - 3.0 + slowing).abs() < 1e-6,
                "{contact_time}: {ball:?}"
            );
            let expected = (3.0 - 0.5 * slowing) * time;
            assert!(
                (way - expected).abs() < 1e-6,
                "{contact_time}: {way} {expected}"
            );
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

/// A ball slides from the top of a fixed one, and leaves it where its centre has fallen by a third of the distance of the
/// centres: there, gravity no longer holds it on its path.
#[test]
fn a_ball_leaves_the_ball_that_it_slides_down() {
    let (reach, tilt) = (1.5_f64, 0.1_f64);
    for contact_time in [1e-5, 1e-3, 1e-2] {
        let balls = [
            HardSphere::new([0.0; 3], 1.0).fixed(),
            HardSphere::new([reach * tilt.sin(), reach * tilt.cos(), 0.0], 0.5),
        ];
        let mut sliding = simulation(&balls, options(Walls::new(), [0.0; 2], contact_time));
        step(&mut sliding, 2.0);
        // From the tilt on, the ball falls by reach·(cos(tilt) − cos(θ)), and leaves where the speed v has
        // v² = g·reach·cos(θ).
        let cosine = 2.0 / 3.0 * tilt.cos();
        let speed = (GRAVITY * reach * cosine).sqrt() * cosine;
        let after = sliding.spheres()[1];
        let energy = after.kinetic_energy() + GRAVITY * after.center[1];
        // A substep along a sphere is straight, and as long as a thousandth of the radius or the contact time.
        let allowed = 2e-3 + 2.0 * contact_time;
        assert!(
            (after.velocity[0] / speed - 1.0).abs() < allowed,
            "{after:?} {speed}"
        );
        let before = GRAVITY * balls[1].center[1];
        assert!((energy / before - 1.0).abs() < allowed, "{energy} {before}");
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
    /// The energy that all frames together added, and not only took away, by the energy that lifts a sphere by its radius.
    added: f64,
    /// How far the middle of all centres moved down in the last tenth of the run.
    sunk: f64,
    /// The force on the floor in the last tenth of the run, by the weight.
    force: f64,
    /// The impacts of balls whose last rebounds are all in one frame.
    rebounds: f64,
}

impl Run {
    /// Returns the largest number of all frames, by the mean of those in which the pile settles: until 99 % of the impacts
    /// have happened. The median of all frames would be that of a pile at rest.
    fn peak(&self, numbers: &[u64]) -> f64 {
        let all: u64 = self.impacts.iter().sum();
        let mut sum = 0;
        let end = self.impacts.iter().position(|impacts| {
            sum += impacts;
            100 * sum >= 99 * all
        });
        let settling = &numbers[..=end.unwrap_or_default()];
        let mean = settling.iter().sum::<u64>() as f64 / settling.len() as f64;
        numbers.iter().max().copied().unwrap_or_default() as f64
            / mean.max(1.0).max(self.rebounds / 50.0)
    }
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
        added: 0.0,
        sunk: 0.0,
        force: 0.0,
        rebounds: 0.0,
    };
    let last = frames - frames / 10;
    let energy = |pile: &Simulation| pile.kinetic_energy() / count + GRAVITY * height(pile);
    let mut before = energy(&pile);
    for frame in 0..frames {
        if frame == last {
            run.sunk = height(&pile);
        }
        let report = step(&mut pile, 1.0 / 60.0);
        run.impacts
            .push(report.sphere_impacts + report.wall_impacts);
        run.substeps.push(report.substeps);
        let after = energy(&pile);
        run.added += (after - before).max(0.0) / (GRAVITY * spheres[0].radius);
        before = after;
        if frame >= last {
            run.force -= report.wall_impulses[0][1] * 60.0 / (frames - last) as f64 / weight;
        }
    }
    run.sunk -= height(&pile);
    run.energy = pile.kinetic_energy() / count;
    run.deepest = deepest(pile.spheres(), width, dimensions);
    run
}

/// Balls are poured into a box of width 4.
fn poured(count: usize, seed: u64) -> Vec<HardSphere> {
    poured_wide(count, 3, seed)
}

/// Balls are poured into a box, in layers of `across` by `across`.
fn poured_wide(count: usize, across: usize, seed: u64) -> Vec<HardSphere> {
    let mut rng = Rng::with_seed(seed);
    let place = |k: usize| 0.6 + 1.1 * k as f64;
    (0..count)
        .map(|k| {
            let [x, z] = [k % across, k / across % across].map(|k| place(k) + 0.1 * rng.f64());
            HardSphere::new([x, place(k / across / across), z], 0.5)
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
    check_limits(name, run, [50 * contacts, 2000], [1e-9, 1e-5]);
}

/// Checks a run: the impacts and substeps of each frame, and at the end the kinetic energy of a sphere and the deepest
/// overlap.
fn check_limits(name: &str, run: &Run, [impacts, substeps]: [u64; 2], [energy, deepest]: [f64; 2]) {
    let worst = run.impacts.iter().max().copied().unwrap_or_default();
    assert!(worst < impacts, "{name}: {worst} impacts in a frame");
    let worst = run.substeps.iter().max().copied().unwrap_or_default();
    assert!(worst < substeps, "{name}: {worst} substeps in a frame");
    for numbers in [&run.impacts, &run.substeps] {
        let peak = run.peak(numbers);
        assert!(peak < 50.0, "{name}: a frame is {peak} times the mean");
    }
    assert!(run.energy < energy, "{name}: the energy is {}", run.energy);
    assert!(
        run.deepest < deepest,
        "{name}: the overlap is {}",
        run.deepest
    );
    assert!(run.added < 2e-2, "{name}: the energy grew by {}", run.added);
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
        for contact_time in [1e-5, 1e-4, 1e-3, 1e-2, 1e-1] {
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

/// Balls that land and do not rebound press with their weight.
#[test]
fn balls_that_land_press_with_their_weight() {
    for count in [1, 2, 5, 9] {
        for contact_time in [1e-5, 1e-3, 1e-2] {
            let rules = options(walls(4.0, 100.0, 3), [0.0; 2], contact_time);
            let run = run(&poured(count, 1), 4.0, 3, rules, 120);
            let force = run.force;
            assert!(
                (force - 1.0).abs() < 1e-6,
                "{count} balls: {force} of their weight"
            );
        }
    }
}

/// A pile in a box comes to rest.
#[test]
fn piles_come_to_rest() {
    for (restitution, contact_time, seconds) in [
        (0.0, 1e-3, 25),
        (0.1, 1e-2, 25),
        (0.1, 1e-5, 40),
        (0.5, 1e-3, 25),
        (0.5, 1e-1, 40),
        (0.9, 1e-5, 20),
    ] {
        let name = format!("restitution {restitution}, contact time {contact_time}");
        let rules = options(walls(4.0, 100.0, 3), [restitution; 2], contact_time);
        let run = run(&poured(40, 1), 4.0, 3, rules, 60 * seconds);
        check(&name, &run, 40);
        assert_eq!(run.energy, 0.0, "{name}");
        let at_rest = 60 * seconds - 60;
        assert_eq!(run.impacts[at_rest..].iter().sum::<u64>(), 0, "{name}");
    }
}

/// While a pile settles, its contacts have few impacts, however short the contact time is.
#[test]
fn a_pile_that_slides_has_few_impacts() {
    let rules = options(walls(4.0, 100.0, 3), [0.1; 2], 1e-5);
    let mut pile = simulation(&poured(40, 1), rules);
    for frame in 0..240 {
        let report = step(&mut pile, 1.0 / 60.0);
        let impacts = report.sphere_impacts + report.wall_impacts;
        assert!(impacts < 2000, "frame {frame}: {impacts} impacts");
    }
}

/// An inelastic ball that slides slowly along a floor stops after a while. A faster one and an elastic one do not. The floor
/// bears the weight of each.
#[test]
fn a_ball_that_slides_slowly_stops() {
    for (restitution, speed, left) in [(0.9, 1e-3, 0.0), (0.9, 1e-2, 1e-2), (1.0, 1e-3, 1e-3)] {
        let ball = HardSphere::new([2.0, 0.5, 5.0], 0.5).with_velocity([speed, 0.0, 0.0]);
        let rules = options(walls(10.0, 10.0, 3), [restitution; 2], 1e-3);
        let mut sliding = simulation(&[ball], rules);
        let mut impulse = 0.0;
        for _ in 0..180 {
            impulse -= step(&mut sliding, 1.0 / 60.0).wall_impulses[0][1];
        }
        let ball = sliding.spheres()[0];
        let weight = ball.mass * GRAVITY * 3.0;
        assert!((impulse / weight - 1.0).abs() < 1e-6, "{impulse} {weight}");
        assert!((ball.velocity[0] - left).abs() < 1e-15, "{ball:?}");
        let moved = ball.center[0] - 2.0;
        assert!(
            (3.0 * left - 1e-9..=3.0 * speed + 1e-9).contains(&moved),
            "{ball:?}"
        );
    }
}

/// Balls at rest that overlap are moved apart, and get no velocity by it.
#[test]
fn overlaps_are_pushed_out_without_velocities() {
    for contact_time in [1e-5, 1e-1] {
        let column = [0.4999, 1.4995, 2.499].map(|y| HardSphere::new([0.5, y, 0.5], 0.5));
        let rules = options(walls(1.0, 10.0, 3), [0.5; 2], contact_time);
        let mut standing = simulation(&column, rules);
        for _ in 0..120 {
            step(&mut standing, 1.0 / 60.0);
            let energy = standing.kinetic_energy();
            assert!(energy < 1e-12, "{contact_time}: {energy}");
        }
        let deepest = deepest(standing.spheres(), 1.0, 3);
        assert!(deepest < 1e-8, "{contact_time}: {deepest}");
    }
}

/// Balls that lie still wake up when something takes their support away, moves it or comes near.
#[test]
fn what_lies_still_wakes_up() {
    let rules = |walls| options(walls, [0.0; 2], 1e-3);
    let asleep = |others: &[HardSphere], walls: Walls| {
        let column = (0..3).map(|k| HardSphere::new([5.0, 0.5 + f64::from(k), 5.0], 0.5));
        let all: Vec<_> = column.chain(others.iter().copied()).collect();
        let mut standing = simulation(&all, rules(walls));
        for _ in 0..30 {
            step(&mut standing, 1.0 / 60.0);
        }
        standing
    };
    let box_walls = || walls(10.0, 10.0, 3);
    // The lowest ball is put aside.
    let mut edited = asleep(&[], box_walls());
    edited
        .edit(|balls| balls[0].center[0] = 1.0)
        .expect("a valid edit");
    step(&mut edited, 0.25);
    let y = edited.spheres()[2].center[1];
    assert!((y - 2.5 + 0.5 * GRAVITY * 0.0625).abs() < 0.02, "{y}");
    // A rule removes the lowest ball when another one hits it.
    let bullet = HardSphere::new([0.5, 0.5, 5.0], 0.5).with_velocity([4.0, 0.0, 0.0]);
    let mut shot = asleep(&[bullet], box_walls());
    let remove = |encounter: &Encounter| match (encounter.sphere, encounter.partner) {
        (0, Partner::Sphere(3)) => Response::Each([Outcome::Remove, Outcome::Velocity([0.0; 3])]),
        _ => Response::Bounce,
    };
    for _ in 0..60 {
        shot.step_with(1.0 / 60.0, &remove)
            .expect("the step is possible");
    }
    assert!(shot.is_removed(0));
    assert!(
        (shot.spheres()[2].center[1] - 1.5).abs() < 1e-3,
        "{:?}",
        shot.spheres()
    );
    // A ball slides against the lowest one, slower than what counts as slow, and presses it along the floor.
    let slider = HardSphere::new([3.995, 0.5, 5.0], 0.5).with_velocity([0.005, 0.0, 0.0]);
    let mut pushed = asleep(&[slider], box_walls());
    let before = pushed.spheres()[0].center[0];
    step(&mut pushed, 1.5);
    assert!(
        pushed.spheres()[0].center[0] > before + 1e-4,
        "{:?}",
        pushed.spheres()
    );
    // Two balls go on together after one has slid slowly against the other.
    let still = HardSphere::new([5.0, 0.5, 5.0], 0.5);
    let slider = HardSphere::new([3.98, 0.5, 5.0], 0.5).with_velocity([0.008, 0.0, 0.0]);
    let mut together = simulation(&[still, slider], rules(box_walls()));
    for _ in 0..300 {
        step(&mut together, 1.0 / 60.0);
    }
    for ball in together.spheres() {
        assert!((ball.velocity[0] - 0.004).abs() < 1e-6, "{ball:?}");
    }
    // A side wall moves against the column.
    let mut moving = walls(10.0, 10.0, 3);
    moving.push(Wall::half_space([1.0, 0.0, 0.0], 4.0).with_velocity([1.0, 0.0, 0.0]));
    let mut shoved = asleep(&[], moving);
    step(&mut shoved, 1.5);
    for ball in &shoved.spheres()[..1] {
        assert!(ball.center[0] > 6.4, "{ball:?}");
    }
}

/// A pile at rest costs the same on a mesh as on planes, and little: it needs one substep without impacts, even for an hour.
#[test]
fn a_pile_at_rest_costs_little_on_a_mesh_too() {
    for walls in [walls(4.0, 100.0, 3), mesh_box(4.0, 5)] {
        let mut pile = simulation(&poured(27, 1), options(walls, [0.1; 2], 1e-3));
        for _ in 0..1500 {
            step(&mut pile, 1.0 / 60.0);
        }
        assert_eq!(pile.kinetic_energy(), 0.0);
        for duration in [1.0 / 60.0, 1.0 / 60.0, 3600.0] {
            let report = step(&mut pile, duration);
            assert_eq!((report.substeps, report.wall_impacts), (1, 0), "{report:?}");
            assert_eq!(
                (report.sphere_impacts, report.largest_island),
                (0, 0),
                "{report:?}"
            );
        }
    }
}

/// Without a contact time, a ball that lies on a floor is an error that says what to do, and does not come to rest. With
/// one, a ball that lies there, elastic or not, rests, and a floor that moves carries a ball that it has caught.
#[test]
fn a_ball_that_lies_on_a_floor_rests_with_a_contact_time() {
    for restitution in [0.5, 1.0] {
        for (depth, speed) in [(0.0, 0.0), (0.3, 0.0), (0.0, 0.5), (0.3, 0.5)] {
            let floor = || {
                let floor = Wall::half_space([0.0, 1.0, 0.0], 0.0);
                [floor.with_velocity([0.0, speed, 0.0])]
                    .into_iter()
                    .collect()
            };
            let start = HardSphere::new([0.0, 1.0 - depth, 0.0], 1.0).with_velocity([
                0.0,
                speed.into(),
                0.0,
            ]);
            let mut lying = simulation(&[start], options(floor(), [restitution; 2], 1e-3));
            for _ in 0..300 {
                let report = step(&mut lying, 1.0 / 60.0);
                assert!(report.wall_impacts <= 100, "{report:?}");
            }
            let ball = lying.spheres()[0];
            let height = ball.center[1] - f64::from(speed) * lying.time();
            assert!(
                (height - 1.0).abs() < 1e-6,
                "{restitution} {depth} {speed}: {height}"
            );
            assert!(
                (ball.velocity[1] - f64::from(speed)).abs() < 1e-6,
                "{ball:?}"
            );
            if depth == 0.0 {
                let rules = options(floor(), [restitution; 2], 0.0);
                let error = simulation(&[start], rules).step(1.0);
                let error = error.expect_err("the ball lies on the floor").to_string();
                assert!(error.contains("contact time"), "{error}");
            }
        }
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

/// Returns the number in the environment variable, if it is there, instead of all.
fn only<T: Copy + std::str::FromStr>(name: &str, all: &[T]) -> Vec<T> {
    let given = std::env::var(name).ok().and_then(|text| text.parse().ok());
    given.map_or_else(|| all.to_vec(), |one| vec![one])
}

/// Piles and rows of many sizes, restitutions and contact times for 60 simulated seconds. `CAROM_SPHERES` is one of the
/// sizes, `CAROM_RESTITUTION` one of the restitutions, `CAROM_CONTACT_TIME` one of the contact times, and `CAROM_SECONDS`
/// another duration.
///
/// In the worst frames of what was run (2026-11-27), rows had 5200 impacts and 2500 substeps, piles of up to 40 balls
/// 10 000 and 710 (with e ≤ 0.9, 630 and 350, 800 and 590), and a pile of 200, with e = 0.5 and a contact time of 10⁻³,
/// 20 000 and 17. This pile took 60 ms a frame on one core while it was poured, most of it for joint impacts. Rows of 200
/// discs overlapped by up to 8·10⁻⁴ with a contact time of 0.1, otherwise by 3·10⁻⁵.
#[test]
#[ignore = "takes hours; run it with `--ignored --nocapture`"]
fn all_piles_and_rows_come_to_rest() {
    let frames = 60 * only("CAROM_SECONDS", &[60])[0];
    for count in only("CAROM_SPHERES", &[2, 10, 40, 200, 1000, 10_000]) {
        for restitution in only("CAROM_RESTITUTION", &[0.0, 0.1, 0.5, 0.9, 0.99]) {
            for contact_time in only("CAROM_CONTACT_TIME", &[1e-5, 1e-4, 1e-3, 1e-2, 1e-1]) {
                let across = (count / 5).clamp(2, 100);
                let row = || {
                    let rules =
                        options(walls(across as f32, 1e4, 2), [restitution; 2], contact_time);
                    run(&rows(count, across, 1), across as f64, 2, rules, frames)
                };
                let pile = || {
                    // A thousand balls or more are about as high as wide.
                    let cube = (1..).find(|n| n * n * n >= count).unwrap_or(1);
                    let across = if count > 200 { cube } else { 3 };
                    let width = if count > 200 {
                        1.1 * cube as f32 + 0.7
                    } else {
                        4.0
                    };
                    let rules = options(walls(width, 1e5, 3), [restitution; 2], contact_time);
                    let balls = poured_wide(count, across, 1);
                    run(&balls, width.into(), 3, rules, frames)
                };
                // A few balls do not fill the floor, and slide on it without friction. The speed of a ball that goes
                // to and fro between two walls at the distance w falls like w/((1 − e)·t).
                let slides = 0.5 * (4.0 / ((1.0 - restitution) * 60.0)).powi(2);
                // A ball with e = 0.99 that falls by 4.5 bounces for 191 seconds.
                let loose = if restitution > 0.9 { 1e-5 } else { 1e-9 };
                let most = if count < 40 { slides } else { loose };
                // What waits for the end of a substep overlaps by as much.
                let deepest = (GRAVITY * contact_time * contact_time).max(1e-4);
                // Each rebound of a ball is shorter than the one before by the factor e. Those from (1 − e)/60 s down to
                // the contact time are in one frame. Of a few balls, one frame may have most of all impacts or substeps.
                let shortening = (1.0 - restitution) / (60.0 * contact_time);
                let rebounds = (shortening.ln() / -restitution.ln()).max(0.0) * count as f64;
                let rebounds = if count < 40 { f64::INFINITY } else { rebounds };
                for (kind, mut run, most) in [("rows", row(), 1e-9), ("pile", pile(), most)] {
                    run.rebounds = 2.0 * rebounds;
                    let name =
                        format!("{kind}, {count}, e = {restitution}, contact time {contact_time}");
                    let median = |numbers: &[u64]| {
                        let mut some: Vec<_> = numbers.iter().copied().filter(|&n| n > 0).collect();
                        some.sort_unstable();
                        (some.get(some.len() / 2).copied(), some.last().copied())
                    };
                    println!(
                        "{name}: energy {:.1e}, added {:.1e}, overlap {:.1e}, impacts {:?}, peak {:.1}, substeps {:?}, peak {:.1}",
                        run.energy,
                        run.added,
                        run.deepest,
                        median(&run.impacts),
                        run.peak(&run.impacts),
                        median(&run.substeps),
                        run.peak(&run.substeps)
                    );
                    // A few discs without room have one impact in each of many substeps.
                    let impacts = 300 * count.max(10) as u64;
                    check_limits(&name, &run, [impacts, 3000], [most, deepest]);
                }
            }
        }
    }
}

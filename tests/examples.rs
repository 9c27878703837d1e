//! Tests of the examples `billiards`, `breakout`, `sphere_tree` and `hard_spheres`.

#[path = "../examples/breakout/game.rs"]
mod game;
#[path = "../examples/billiards/table.rs"]
mod table;
#[path = "../examples/sphere_tree/tree.rs"]
mod tree;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use carom::{Backend, Detector, HardSphere, Options, Partner, Sphere, Step};
use game::{Event, Game, Target};
use glam::{DVec2, DVec3, Vec3};
use tree::{Tree, chain, descend, rod};

/// Runs an example, which `cargo test` builds, and returns its output.
fn run(name: &str, arguments: &[&str]) -> String {
    let test = std::env::current_exe().expect("the test has a path");
    let release = test.ancestors().nth(2).expect("the test is in `deps`");
    let example = release.join("examples").join(name);
    let example = example.with_extension(std::env::consts::EXE_EXTENSION);
    let output = Command::new(&example)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| {
            let example = example.display();
            panic!("{example}: {error}; build the examples with `cargo build --release --examples`")
        });
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {errors}");
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

/// Runs an example that writes a picture. Returns its output and the picture.
fn run_with_picture(name: &str, option: &str, arguments: &[&str]) -> (String, String) {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.svg"));
    let path = file.to_str().expect("the path is UTF-8");
    let output = run(name, &[arguments, &[option, path]].concat());
    let picture = std::fs::read_to_string(&file).expect("the example writes a picture");
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
    assert!(!picture.contains("NaN") && !picture.contains("inf"));
    (output, picture)
}

fn momentum(spheres: &[HardSphere]) -> DVec3 {
    let momenta = spheres.iter().map(HardSphere::momentum);
    momenta.map(DVec3::from).sum()
}

/// Returns the position of a ball on its path at a time.
fn place(path: &table::Path, time: f64) -> DVec3 {
    let next = path.points.partition_point(|point| point.0 < time);
    let [from, to] = [next.max(1) - 1, next.max(1)].map(|k| path.points[k]);
    let share = (time - from.0) / (to.0 - from.0).max(f64::MIN_POSITIVE);
    from.1.lerp(to.1, share.clamp(0.0, 1.0))
}

#[test]
fn billiard_balls_keep_energy_and_momentum_and_do_not_overlap() {
    let end = 1.2;
    let mut elastic = table::start(9.0, [1.0, 1.0], false).expect("a valid table");
    let start = elastic.spheres().to_vec();
    let report = elastic.step(end).expect("the step succeeds");
    assert!(report.sphere_impacts > 20 && report.wall_impacts > 10);
    let energy: f64 = start.iter().map(HardSphere::kinetic_energy).sum();
    assert!((report.kinetic_energy / energy - 1.0).abs() < 1e-12);
    assert_eq!(report.wall_impulses.len(), table::CUSHIONS.len());
    let to_walls: DVec3 = report.wall_impulses.iter().copied().map(DVec3::from).sum();
    let lost = momentum(&start) - momentum(elastic.spheres());
    assert!((lost - to_walls).length() < 1e-12, "{lost} {to_walls}");

    // The cue ball hits the first ball of the triangle.
    let across = start[0].center[1] - start[1].center[1];
    let along = start[1].center[0] - start[0].center[0];
    let reach = ((2.0 * table::RADIUS).powi(2) - across * across).sqrt();
    let first = report.impacts[0];
    assert_eq!((first.sphere, first.partner), (0, Partner::Sphere(1)));
    assert!((first.time - (along - reach) / 9.0).abs() < 1e-12);

    let paths = table::paths(&start, &report, end);
    for (path, ball) in paths.iter().zip(elastic.spheres()) {
        let last = path.points.last().expect("a path has points");
        assert!(last.0 == end && last.1.distance(ball.center.into()) < 1e-9);
        assert_eq!((ball.center[2], ball.velocity[2]), (0.0, 0.0));
    }
    let half = DVec2::from(table::SIZE.map(f64::from)) / 2.0 - table::RADIUS;
    for k in 0..=2400 {
        let time = end * f64::from(k) / 2400.0;
        let places: Vec<_> = paths.iter().map(|path| place(path, time)).collect();
        for (index, a) in places.iter().enumerate() {
            let beyond = a.truncate().abs() - half;
            assert!(beyond.max_element() < 1e-9, "ball {index} at {a}");
            for b in &places[..index] {
                assert!(a.distance(*b) > 2.0 * table::RADIUS - 1e-9, "{a} {b}");
            }
        }
    }
    // Each ball that falls is at the edge of a pocket then, and all others are on the table.
    let mut pool = table::start(9.0, [0.95, 0.8], true).expect("a valid table");
    let report = pool
        .step_with(3.0, &table::rule)
        .expect("the step succeeds");
    for (ball, sphere) in pool.spheres().iter().enumerate() {
        let center = DVec3::from(sphere.center);
        let pockets =
            table::POCKETS.map(|(_, place)| DVec3::from(table::pocket(place).map(f64::from)));
        let nearest = pockets.map(|pocket| pocket.distance(center));
        let nearest = nearest.into_iter().fold(f64::INFINITY, f64::min) - table::POCKET;
        let is_removed = report
            .removed
            .iter()
            .any(|gone| gone.sphere as usize == ball);
        assert!(
            nearest > -1e-6 && (nearest < 1e-6) == is_removed,
            "{ball} {nearest}"
        );
    }
    assert!(!report.removed.is_empty());
    let mut inelastic = table::start(9.0, [0.95, 0.8], false).expect("a valid table");
    let report = inelastic.step(end).expect("the step succeeds");
    assert!(report.kinetic_energy < 0.9 * energy);
}

/// Returns the distance of a point from a bat (a rectangle with these four corners), or 0 for a point inside
/// the bat.
fn distance(point: DVec2, corners: &[DVec2; 4]) -> f64 {
    let [x, y] = [corners[1] - corners[0], corners[3] - corners[0]];
    let from = point - corners[0];
    let inside = DVec2::new(
        from.dot(x).clamp(0.0, x.length_squared()) / x.length_squared(),
        from.dot(y).clamp(0.0, y.length_squared()) / y.length_squared(),
    );
    from.distance(x * inside.x + y * inside.y)
}

#[test]
fn breakout_bats_are_switched_off_by_their_first_hit() {
    let mut game = Game::new(3).expect("a valid game");
    let start = game.simulation.spheres().to_vec();
    let mut events: Vec<Event> = Vec::new();
    let mut frames = 0;
    while game.remaining() > 0 {
        frames += 1;
        assert!(frames < 3600, "{} bats remain", game.remaining());
        let on: Vec<_> = game.bats.iter().map(|bat| bat.hit.is_none()).collect();
        let new = game.play().expect("the frame succeeds");
        for event in &new {
            if let Target::Bat(bat) = event.target {
                assert!(on[bat], "bat {bat} was off before {}", event.time);
            }
        }
        events.extend(new);
        let balls = game.simulation.spheres();
        for (k, ball) in balls.iter().enumerate() {
            assert_eq!((ball.center[2], ball.velocity[2]), (0.0, 0.0));
            let center = DVec3::from(ball.center);
            assert!(center.truncate().length() < 1.0 - game::RADIUS + 1e-9);
            for bat in game.bats.iter().filter(|bat| bat.hit.is_none()) {
                // The simulation rounds the corners of each bat (a box) to float32, but the test
                // computes distances from the corners before rounding. So when a ball touches a
                // bat, the computed distance may be less than the ball's radius, by a rounding
                // error.
                assert!(distance(center.truncate(), &bat.corners) > game::RADIUS - 1e-6);
            }
            for other in &balls[..k] {
                assert!(center.distance(other.center.into()) > 2.0 * game::RADIUS - 1e-9);
            }
        }
    }
    let energy = game.simulation.kinetic_energy();
    assert!((energy / 1.5 - 1.0).abs() < 1e-12, "{energy}");
    assert!(events.is_sorted_by_key(|event| event.time));
    for (number, bat) in game.bats.iter().enumerate() {
        let mut hits = events.iter();
        let first = hits.find(|event| event.target == Target::Bat(number));
        assert_eq!(first.map(|event| event.time), bat.hit);
    }
    // For each ball, the first object on its straight path is found by small steps along the path.
    for (k, ball) in (0_u32..).zip(&start) {
        let hit = |t: f64| {
            let center = DVec3::from(ball.center) + t * DVec3::from(ball.velocity);
            let center = center.truncate();
            center.length() >= 1.0 - game::RADIUS
                || game
                    .bats
                    .iter()
                    .any(|bat| distance(center, &bat.corners) <= game::RADIUS)
        };
        let expected = (0..100_000).map(|t| 1e-5 * f64::from(t)).find(|&t| hit(t));
        let mut own = events.iter();
        let found = own.find(|event| event.ball == k).map(|event| event.time);
        let (expected, found) = (expected.expect("a hit"), found.expect("an event"));
        assert!((expected - found).abs() < 2e-5, "{expected} {found}");
    }
}

/// A single ball keeps its speed of 1 along its whole path.
#[test]
fn the_path_of_a_breakout_ball_is_continuous() {
    let mut game = Game::new(1).expect("a valid game");
    for _ in 0..600 {
        game.play().expect("the frame succeeds");
    }
    game.end_paths();
    let path = &game.paths[0];
    assert!(path.len() > 10);
    for ends in path.windows(2) {
        let [from, to] = [ends[0], ends[1]];
        assert!((from.1.distance(to.1) - (to.0 - from.0)).abs() < 1e-9);
    }
}

/// Returns whether sphere `a` contains sphere `b`.
fn contains(a: &Sphere, b: &Sphere) -> bool {
    let [p, q] = [a, b].map(|sphere| Vec3::from(sphere.center).as_dvec3());
    p.distance(q) + f64::from(b.radius) <= f64::from(a.radius) * (1.0 + 1e-12)
}

#[test]
fn sphere_trees_find_the_same_spheres_as_all_pairs() {
    let mut detector =
        Detector::new(Options::new().with_backend(Backend::Cpu)).expect("a detector");
    let (mut false_alarms, mut collisions) = (0, 0);
    for k in -14_i16..=14 {
        let shift = 0.1 * f32::from(k);
        let [one, other] = [Tree::new(chain()), Tree::new(rod(shift))];
        let levels = descend(&mut detector, [&one, &other], 1.0).expect("the descent");
        assert_eq!(levels[0].pairs, [[0, 0]]);
        for (number, pair) in levels.windows(2).enumerate() {
            let [a, b] = [&one, &other].map(|tree| if number < tree.depth() { 2 } else { 1 });
            assert_eq!(pair[1].pairs.len(), a * b * pair[0].touching.len());
        }
        let step = Step::between(one.leaves(), other.leaves(), 1.0);
        let direct = detector.detect(&step).expect("all pairs").pairs;
        let mut found = match levels.get(one.depth()) {
            Some(level) => level.touching.clone(),
            None => Vec::new(),
        };
        found.sort_by_key(|hit| (hit.a, hit.b));
        assert_eq!(found.len(), direct.len());
        for (found, direct) in found.iter().zip(&direct) {
            // The hierarchies and the test of all pairs both count the index `b` from the first
            // sphere of the second body, so their lists can be compared.
            assert_eq!(
                (found.a, found.b, found.toi),
                (direct.a, direct.b, direct.toi)
            );
        }
        for level in &levels {
            let [a, b] = level.spheres;
            assert!(a.max(b) <= level.pairs.len() && level.pairs.len() <= a * b);
        }
        let tested: usize = levels.iter().map(|level| level.pairs.len()).sum();
        assert!(tested < 128, "{tested} pairs");
        collisions += usize::from(!direct.is_empty());
        false_alarms += usize::from(direct.is_empty() && !levels[0].touching.is_empty());
    }
    assert!(
        collisions >= 10 && false_alarms >= 5,
        "{collisions} {false_alarms}"
    );
    for tree in [Tree::new(chain()), Tree::new(rod(0.3))] {
        for level in 0..tree.depth() {
            for (node, sphere) in tree.level(level).iter().enumerate() {
                let children = &tree.level(level + 1)[2 * node..2 * node + 2];
                assert!(children.iter().all(|child| contains(sphere, child)));
            }
        }
    }
}

#[test]
fn sphere_tree_prints_the_false_collision_that_it_removes() {
    let (output, _) = run_with_picture("sphere_tree", "--output", &[]);
    let rows: Vec<Vec<_>> = output
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows[1], ["0", "1", "+", "1", "1", "1"]);
    assert!(output.contains("by the hierarchies: no collision\nby all pairs:       no collision"));
    let output = run("sphere_tree", &["--shift", "0.5"]);
    assert_eq!(output.matches("the first collision is at t = ").count(), 2);
}

#[test]
fn billiards_and_breakout_print_their_impacts_and_draw_them() {
    let (output, picture) = run_with_picture("billiards", "--output", &[]);
    assert!(
        output
            .lines()
            .nth(1)
            .is_some_and(|line| line.contains(" cue  1 "))
    );
    assert_eq!(picture.matches("attributeName=\"transform\"").count(), 16);
    // Each ball has its number of the list in the picture, and each ball that falls is in the list once.
    for ball in 1..16 {
        assert_eq!(picture.matches(&format!(">{ball}</text>")).count(), 1);
    }
    let fallen: Vec<_> = output
        .lines()
        .filter(|line| line.contains("pocket  "))
        .collect();
    assert!(fallen.len() > 1 && output.contains(&format!(", {} balls in pockets", fallen.len())));
    let (output, picture) = run_with_picture("breakout", "--output", &["--balls", "4"]);
    let off: BTreeSet<_> = output
        .lines()
        .filter_map(|line| line.split_once("  bat "))
        .map(|line| line.1)
        .collect();
    assert_eq!(off.len(), 16);
    assert!(output.contains("16 of 16 bats are off after "));
    assert_eq!(picture.matches("attributeName=\"transform\"").count(), 4);
    assert!(
        off.iter()
            .all(|bat| picture.matches(&format!(">{bat}</text>")).count() == 1)
    );
    assert_eq!(picture.matches("attributeName=\"opacity\"").count(), 16);
}

#[test]
fn hard_spheres_prints_one_json_object_for_each_packing_fraction() {
    let arguments = "--eta 0.2,0.35 --n 1000 --impacts 40 --equilibrate 20 --backend cpu --json";
    let arguments: Vec<_> = arguments.split(' ').collect();
    let (output, picture) = run_with_picture("hard_spheres", "--plot", &arguments);
    let lines: Vec<_> = output.lines().collect();
    assert_eq!(lines.len(), 2);
    for (line, eta) in lines.into_iter().zip([0.2, 0.35]) {
        let json: serde_json::Value = serde_json::from_str(line).expect("a JSON object");
        let value = |key: &str| {
            json[key]
                .as_f64()
                .unwrap_or_else(|| panic!("{key}: {json}"))
        };
        assert_eq!(value("eta"), eta);
        // The test computes the compressibility factor of a hard-sphere fluid by Kolafa's equation
        // of state, without the code of the example.
        let z = (1.0 + eta + eta * eta - eta * eta * eta * (1.0 + eta) * 2.0 / 3.0)
            / (1.0 - eta).powi(3);
        assert!((value("kolafa") / z - 1.0).abs() < 1e-12);
        assert!((value("z") / z - 1.0).abs() < 0.02, "{json}");
        assert!(value("energy_drift").abs() < 1e-9, "{json}");
        assert!(value("momentum_drift") < 1e-9, "{json}");
        assert!((0.0..1e-6).contains(&value("deepest_overlap")), "{json}");
        assert!((20_000.0..30_000.0).contains(&value("events")), "{json}");
        assert!(value("events_per_second") > 0.0);
    }
    assert!(picture.contains("Kolafa") && picture.contains("Packing fraction"));
    assert_eq!(picture.matches("<circle").count(), 2 * 2 + 1);
}

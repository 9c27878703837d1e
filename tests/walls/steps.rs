//! Tests of steps with walls: both sets, errors, and time.

use carom::{Backend, Collisions, Detector, Error, Options, Sphere, Step, Wall, WallShape, Walls};
use glam::Vec3;

use crate::triangles::ball_of_triangles;
use crate::{detect, detector};

pub(crate) fn message(walls: Walls, step: Step<'_>) -> String {
    let found = detector().detect(&step.with_walls(&walls));
    found
        .map(|found| found.walls)
        .expect_err("the wall is invalid")
        .to_string()
}

#[test]
fn misuse_is_named() {
    let sphere = [Sphere::new([0.0; 3], 1.0)];
    let step = Step::new(&sphere, 2.0);
    let up = [0.0, 0.0, 1.0];
    let cases: [(Wall, &str); 12] = [
        (Wall::half_space([0.0; 3], 1.0), "its normal is 0"),
        (
            Wall::half_space([0.0, f32::NAN, 1.0], 1.0),
            "its normal.y is NaN",
        ),
        (Wall::half_space(up, f32::INFINITY), "inf"),
        (
            Wall::half_space([0.0, 0.0, 1e-30], 1.0),
            "away from the origin",
        ),
        (Wall::sphere([0.0; 3], -1.0), "its radius is -1.0"),
        (Wall::sphere_inside([0.0; 3], f32::NAN), "its radius is NaN"),
        (Wall::sphere([2e18, 0.0, 0.0], 1.0), "its center.x is 2e18"),
        (Wall::cylinder([0.0; 3], [0.0; 3], 1.0), "its axis is 0"),
        (Wall::cylinder([0.0; 3], up, -0.5), "its radius is -0.5"),
        (
            Wall::cylinder_inside([0.0, f32::NAN, 0.0], up, 1.0),
            "its point.y is NaN",
        ),
        (
            Wall::half_space(up, 0.0).with_velocity([f32::NAN; 3]),
            "its velocity.x is NaN",
        ),
        (
            Wall::half_space(up, 0.0).with_velocity([0.0, 1e18, 0.0]),
            "its velocity * dt.y is 2e18",
        ),
    ];
    for (wall, what) in cases {
        let walls = Walls::from_iter([Wall::half_space(up, 0.0), wall]);
        let text = message(walls, step);
        assert!(
            text.contains("wall 1 is invalid") && text.contains(what),
            "{text}"
        );
    }
}

#[test]
fn a_failed_step_leaves_an_empty_list() {
    let spheres = [Sphere::new([0.0; 3], 1.0)];
    let walls = Walls::inside_box([0.0; 3], [1.0; 3]);
    let mut list = detect(&spheres, &walls, 1.0);
    assert_eq!(list.walls.len(), 6);
    let few = Options::new().with_backend(Backend::Cpu).with_max_pairs(5);
    let mut detector = Detector::new(few).expect("the CPU is always there");
    let step = Step::new(&spheres, 1.0).with_walls(&walls);
    let error = detector.detect_into(&step, &mut list);
    assert!(
        matches!(error, Err(Error::TooManyPairs { limit: 5, .. })),
        "{error:?}"
    );
    assert!(list.walls.is_empty());
    list = detect(&spheres, &walls, 1.0);
    assert_eq!(list.walls.len(), 6);
    // The next step into the same list has no walls, so the list must lose them.
    detector
        .detect_into(&Step::new(&spheres, 1.0), &mut list)
        .expect("a valid step");
    assert!(list.walls.is_empty() && list.walls.images().is_empty());
}

#[test]
fn both_sets_of_a_step_meet_walls() {
    let first = [
        Sphere::new([0.0, 0.0, 5.0], 1.0),
        Sphere::new([0.0, 0.0, 0.5], 1.0),
    ];
    let second = [Sphere::new([9.0, 0.0, 0.5], 1.0)];
    let walls = Walls::from_iter([WallShape::HalfSpace {
        normal: [0.0, 0.0, 1.0],
        offset: 0.0,
    }]);
    let mut detector = detector();
    for (second, expected) in [(&second[..], &[1, 2][..]), (&[], &[1])] {
        let step = Step::between(&first, second, 1.0).with_walls(&walls);
        let found = detector.detect(&step).expect("a valid step");
        let spheres: Vec<_> = found.walls.iter().map(|hit| hit.sphere).collect();
        assert_eq!(spheres, expected);
    }
}

#[test]
fn many_spheres_keep_their_numbers_and_errors() {
    let walls: Walls = [Wall::half_space([0.0, 1.0, 0.0], 0.0)]
        .into_iter()
        .collect();
    let place = |k: u16, y| Sphere::new([f32::from(k), y, 0.0], 0.25);
    let touches = |k: &u16| k % 97 == 5;
    let mut spheres: Vec<_> = (0..40_000)
        .map(|k| place(k, if touches(&k) { 0.125 } else { 1.0 }))
        .collect();
    let expected: Vec<_> = (0..40_000).filter(touches).map(u32::from).collect();
    for first in [0, 20_003, 40_000] {
        let (first, second) = spheres.split_at(first);
        let steps = [Step::new(&spheres, 1.0), Step::between(first, second, 1.0)];
        for step in steps {
            let found = detector().detect(&step.with_walls(&walls));
            let found = found.expect("a valid step").walls;
            let found: Vec<_> = found.iter().map(|hit| hit.sphere).collect();
            assert_eq!(found, expected);
        }
    }
    // The error for an invalid sphere takes precedence over the error for too many wall collisions, even if
    // the spheres that touch walls come first in the input.
    let few = Options::new().with_backend(Backend::Cpu).with_max_pairs(5);
    let mut detector = Detector::new(few).expect("the CPU is always there");
    let error = detector.detect(&Step::new(&spheres, 1.0).with_walls(&walls));
    assert!(
        matches!(error, Err(Error::TooManyPairs { limit: 5, .. })),
        "{error:?}"
    );
    spheres[30_001].radius = f32::NAN;
    let error = detector.detect(&Step::new(&spheres, 1.0).with_walls(&walls));
    assert!(
        matches!(error, Err(Error::InvalidSphere { index: 30_001, .. })),
        "{error:?}"
    );
}

/// Prints how much walls add to the time of a step of a million spheres. Steps with and without walls are timed
/// alternately, and the fastest of each kind are compared.
#[test]
#[ignore = "measures time"]
fn cost_of_walls() {
    use carom_scenes::Scene;
    use std::time::{Duration, Instant};
    let spheres = Scene::Gas.generate(1_000_000, 1);
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for sphere in &spheres {
        (low, high) = (
            low.min(sphere.center.into()),
            high.max(sphere.center.into()),
        );
    }
    let planes = Walls::inside_box(low, high);
    let hundred: Walls = (0..100).map(|k| planes.simple()[k % 6]).collect();
    let mut detector = detector();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.expect("there are threads");
    let mut mesh = Walls::new();
    mesh.push_mesh(ball_of_triangles(0.4 * (high - low).min_element(), 112));
    assert_eq!(mesh.len(), 100_352);
    let steps = [None, Some(&planes), Some(&hundred), Some(&mesh)].map(|walls| {
        let step = Step::new(&spheres, 1.0);
        walls.map_or(step, |walls| step.with_walls(walls))
    });
    let mut times = [(); 4].map(|()| Vec::new());
    let mut found = Collisions::default();
    let mut hits = [0; 4];
    for _ in 0..25 {
        for (kind, step) in steps.iter().enumerate() {
            let clock = Instant::now();
            pool.install(|| detector.detect_into(step, &mut found))
                .expect("a valid step");
            times[kind].push(clock.elapsed());
            hits[kind] = found.walls.len();
        }
    }
    let fastest = |times: Vec<Duration>| times.into_iter().min().unwrap_or_default();
    let [without, six, many, mesh] = times.map(|times| fastest(times).as_secs_f64());
    println!("without walls {without:.4} s, six planes {six:.4} s, a hundred {many:.4} s");
    println!(
        "a mesh takes {mesh:.4} s, {:.2} times as long",
        mesh / without
    );
    println!(
        "six planes add {:.1} %; hits {hits:?}",
        (six / without - 1.0) * 100.0
    );
}

//! Tests that all benchmarked methods find the same touching pairs of spheres in every scene.

use carom::{Backend, Detector, Mesh, Options, Sphere, Step, Walls};
use parry3d::math::{Pose, Vector};
use parry3d::query::{ShapeCastOptions, cast_shapes};
use parry3d::shape::{Ball, Triangle};

use crate::contenders::{NAMES, by_name};
use crate::step::{World, before, differences};
use crate::{Exact, median};
use carom_scenes::Scene;

/// Counts the pairs in which each benchmarked method's list of touching pairs differs from the exact list.
/// Fails if this count is larger than the number of pairs too close to tangency for float32.
fn agree(spheres: &[Sphere], what: &str) {
    let world = World { spheres, dt: 1.0 };
    let exact = Exact::of(world).unwrap_or_else(|error| panic!("{what}: {error}"));
    for (name, _) in NAMES {
        let contenders = by_name(name, &[1, 2]).unwrap_or_else(|error| panic!("{error}"));
        for mut contender in contenders {
            if contender.refusal(world).is_some() {
                assert_eq!(name, "dynamis", "{what}");
                continue;
            }
            // Each benchmarked method runs twice, because the second run reuses the data structures of the
            // first run.
            for _ in 0..2 {
                let found = contender
                    .prepare(world)
                    .and_then(|()| contender.step(world))
                    .unwrap_or_else(|error| panic!("{name}, {what}: {error}"));
                let different = differences(&found.pairs, &exact.pairs, world.dt);
                assert!(different <= exact.grazing, "{name}, {what}: {different}");
                assert!(found.candidates >= found.pairs.len() as u64, "{name}");
            }
        }
    }
}

#[test]
fn all_contenders_find_the_same_pairs() {
    for scene in Scene::ALL {
        for seed in [1, 2] {
            agree(&scene.generate(2000, seed), scene.name());
        }
    }
}

#[test]
fn all_contenders_agree_on_one_to_five_spheres() {
    for n in 1..6 {
        agree(&Scene::Dense.generate(n, 1), "a few");
    }
}

#[test]
fn missing_extra_and_late_pairs_count_as_differences() {
    let spheres = Scene::Dense.generate(500, 1);
    let world = World {
        spheres: &spheres,
        dt: 1.0,
    };
    let exact = Exact::of(world).unwrap_or_else(|error| panic!("{error}"));
    let of = |list: &[carom::Collision]| differences(list, &exact.pairs, 1.0);
    let mut list = exact.pairs.clone();
    assert_eq!(of(&list), 0);
    list[5].toi += 0.5;
    assert_eq!(of(&list), 1);
    list.remove(10);
    assert_eq!(of(&list), 2);
    list.insert(0, carom::Collision::default());
    assert_eq!(of(&list), 3);
    assert_eq!(of(&[]), exact.pairs.len() as u64);
}

#[test]
fn the_step_before_ends_where_this_one_begins() {
    let spheres = [Sphere::new([1.0, 2.0, 3.0], 1.0).with_velocity([1.0, -2.0, 4.0])];
    let world = World {
        spheres: &spheres,
        dt: 0.5,
    };
    assert_eq!(before(world, 2.0)[0].center, [0.0, 4.0, -1.0]);
}

#[test]
fn the_median_is_the_middle_value_or_the_mean_of_two() {
    assert_eq!(median(vec![]), None);
    assert_eq!(median(vec![3.0]), Some(3.0));
    assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
}

/// parry3d computes in float32 when a moving sphere hits a moving triangle. Because of its rounding
/// errors, it is compared with carom's answers for a slightly larger and a slightly smaller sphere.
/// The answer of parry3d must lie between these two.
#[test]
fn parry3d_agrees_about_triangles_within_its_accuracy() {
    let mut random = fastrand::Rng::with_seed(6);
    let mut within = |size: f32| [0; 3].map(|_| (random.f32() * 2.0 - 1.0) * size);
    let on_cpu = Options::new().with_backend(Backend::Cpu);
    let mut detector = Detector::new(on_cpu).expect("the CPU is always there");
    let options = ShapeCastOptions::with_max_time_of_impact(1.0);
    let (mut hits, mut misses) = (0, 0);
    for _ in 0..20_000 {
        let corners = [0; 3].map(|_| within(2.0));
        let (of_mesh, center, velocity) = (within(1.0), within(2.0), within(4.0));
        let radius = 0.35 + within(0.25)[0];
        let mesh = Mesh::new(corners.to_vec(), vec![[0, 1, 2]]).expect("a valid mesh");
        let mut walls = Walls::default();
        walls.push_mesh(mesh.with_velocity(of_mesh));
        let spheres = [radius + 2e-3, radius - 2e-3]
            .map(|radius| Sphere::new(center, radius).with_velocity(velocity));
        let found = detector
            .detect(&Step::new(&spheres, 1.0).with_walls(&walls))
            .expect("the step is valid");
        let [larger, smaller] = [0, 1].map(|sphere| {
            let hit = found.walls.iter().find(|hit| hit.sphere == sphere);
            hit.map(|hit| hit.toi)
        });
        let [a, b, c] = corners.map(Vector::from_array);
        let cast = cast_shapes(
            &Pose::from_translation(Vector::from_array(center)),
            Vector::from_array(velocity),
            &Ball::new(radius),
            &Pose::IDENTITY,
            Vector::from_array(of_mesh),
            &Triangle::new(a, b, c),
            options,
        );
        let cast = cast.expect("balls and triangles are supported");
        let toi = cast.map(|hit| hit.time_of_impact);
        match (larger, smaller) {
            (Some(larger), Some(smaller)) => {
                let toi = toi.unwrap_or_else(|| panic!("parry3d misses {corners:?} {center:?}"));
                assert!(larger <= toi + 1e-3 && toi <= smaller + 1e-3);
                hits += 1;
            }
            (None, None) => {
                assert_eq!(toi, None, "{corners:?} {center:?}");
                misses += 1;
            }
            _ => {}
        }
    }
    assert!(hits > 2000 && misses > 2000, "{hits} hits, {misses} misses");
}

//! Tests that all benchmarked methods find the same touching pairs of spheres in every scene.

use carom::Sphere;

use crate::contenders::{NAMES, by_name};
use crate::step::{World, before, differences};
use crate::{Exact, median};
use carom_scenes::Scene;

/// Fails if the list of touching pairs of a benchmarked method differs from the exact list in more pairs than
/// are grazing (too close to tangency for float32).
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

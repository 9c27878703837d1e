//! Tests the oracle, the exact brute force with which all other tests compare carom.

mod oracle;
mod worlds;

use carom::{Collision, Collisions, Sphere};
use carom_scenes::Scene;
use oracle::{brute_force, brute_force_between, depth, exact, filter, toi};

fn at(center: [f32; 3], radius: f32) -> Sphere {
    Sphere::new(center, radius)
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "rounded to float32 on purpose"
)]
fn single<const N: usize>(numbers: [f64; N]) -> [f32; N] {
    numbers.map(|x| x as f32)
}

/// Returns the time of impact and the penetration depth of a colliding pair. Checks that float64 and integer
/// arithmetic agree, and that the order of the two spheres does not matter.
fn answer(a: Sphere, b: Sphere, dt: f32) -> Option<(f64, f64)> {
    let expected = toi(&a, &b, dt).map(|toi| (toi.value, depth(&a, &b).value));
    for (one, other) in [(a, b), (b, a)] {
        assert_eq!(
            brute_force(&[one, other], dt).hits.len(),
            usize::from(expected.is_some())
        );
        let exactly = exact::Exact::new(&one, &other);
        assert_eq!(exactly.collide(dt.into()), expected.is_some());
        if let Some(expected) = expected {
            let [toi, depth] = single(expected.into());
            assert!(exactly.rounds_to_toi(toi), "{toi:?}");
            assert!(exactly.rounds_to_depth(depth), "{depth:?}");
            // The oracle's check in integer arithmetic must reject the next smaller and the next larger
            // float32 as the rounded time of impact or depth.
            assert!(!exactly.rounds_to_toi(toi.next_up()), "{toi:?}");
            assert!(!exactly.rounds_to_depth(depth.next_up()), "{depth:?}");
            assert!(
                toi == 0.0 || !exactly.rounds_to_toi(toi.next_down()),
                "{toi:?}"
            );
            assert!(
                depth == 0.0 || !exactly.rounds_to_depth(depth.next_down()),
                "{depth:?}"
            );
        }
    }
    expected
}

#[track_caller]
fn assert_near(found: Option<f64>, expected: f64) {
    let found = found.expect("the pair should collide");
    assert!(
        (found - expected).abs() < 1e-12,
        "{found} instead of {expected}"
    );
}

#[test]
fn resting_circles_and_spheres_have_the_known_depths() {
    let circles = answer(
        at([50.0, 20.0, 0.0], 30.0),
        at([-10.0, 10.0, 0.0], 20.0),
        1.0,
    );
    assert_eq!(circles, None);
    let spheres = answer(
        at([30.0, 20.0, -10.0], 40.0),
        at([0.0, 40.0, -50.0], 50.0),
        1.0,
    );
    assert_eq!(spheres.map(|(toi, _)| toi), Some(0.0));
    assert_near(spheres.map(|(_, depth)| depth), 90.0 - 2900_f64.sqrt());
    let circles = answer(
        at([70.0, 20.0, 0.0], 40.0),
        at([50.0, 60.0, 0.0], 16.0),
        1.0,
    );
    assert_near(circles.map(|(_, depth)| depth), 56.0 - 2000_f64.sqrt());
    let spheres = answer(
        at([50.0, 0.0, -20.0], 40.0),
        at([60.0, 70.0, -50.0], 20.0),
        1.0,
    );
    assert_eq!(spheres, None);
}

#[test]
fn head_on_impacts_have_the_known_times() {
    let moving = |speed| at([0.0; 3], 1.0).with_velocity([speed, 0.0, 0.0]);
    let toi = |a, b, dt| {
        let (toi, depth) = answer(a, b, dt)?;
        assert_eq!(depth, 0.0);
        Some(toi)
    };
    assert_near(toi(moving(10.0), at([5.0, 0.0, 0.0], 1.0), 1.0), 0.3);
    assert_near(toi(moving(8.0), at([4.0, 0.0, 0.0], 1.0), 0.25), 0.25);
    assert_eq!(
        toi(moving(8.0), at([4.0, 0.0, 0.0], 1.0), 0.25_f32.next_down()),
        None
    );
    assert_near(toi(moving(100.0), at([50.0, 0.0, 0.0], 1.0), 1.0), 0.48);
    assert_eq!(toi(moving(10.0), at([5.0, 0.0, 0.0], 1.0), 0.0), None);
}

#[test]
fn equal_velocities_never_collide() {
    let [a, b] =
        [[0.0; 3], [2.1, 0.0, 0.0]].map(|center| at(center, 1.0).with_velocity([1e3, -1e4, 1e5]));
    for dt in [0.0, 1e-9, 1.0, 1e9] {
        assert_eq!(answer(a, b, dt), None);
    }
}

#[test]
fn spheres_that_touch_at_the_start_and_part_collide_at_time_zero() {
    let resting = at([0.0; 3], 0.5);
    let leaving = at([0.0, 1.0, 0.0], 0.5).with_velocity([1.0, 0.0, 0.0]);
    assert_eq!(answer(resting, leaving, 1.0), Some((0.0, 0.0)));
}

#[test]
fn a_tangent_pass_collides_and_one_with_a_smaller_radius_does_not() {
    let passing = at([-2.0, 1.0, 0.0], 0.5).with_velocity([4.0, 0.0, 0.0]);
    assert_eq!(answer(passing, at([0.0; 3], 0.5), 1.0), Some((0.5, 0.0)));
    assert_eq!(
        answer(passing, at([0.0; 3], 0.5_f32.next_down()), 1.0),
        None
    );
}

#[test]
fn numbers_at_both_ends_of_the_range_are_handled() {
    let (least, most) = (f32::from_bits(1), carom::MAX_MAGNITUDE);
    // In units of the smallest positive float32, the two centres are at distance 3 and approach by 1 during
    // the step.
    let coming = at([3.0 * least, 0.0, 0.0], least).with_velocity([-least, 0.0, 0.0]);
    assert_eq!(answer(at([0.0; 3], least), coming, 1.0), Some((1.0, 0.0)));
    assert_eq!(answer(at([0.0; 3], 0.0), coming, 1.0), None);
    let far = at([-most, -most, most], most).with_velocity([most, most, -most]);
    let (toi, _) = answer(far, at([0.0; 3], 0.0), 1.0).expect("its centre reaches the origin");
    assert!((toi - (1.0 - 1.0 / 3_f64.sqrt())).abs() < 1e-12);
}

#[test]
fn float64_is_right_where_it_answers() {
    let rng = &mut fastrand::Rng::with_seed(7);
    let (mut told, mut untold, mut hits) = (0, 0, 0);
    for _ in 0..200_000 {
        let scale = |rng: &mut fastrand::Rng| 2_f32.powi(rng.i32(-12..12));
        let (size, off, speed) = (scale(rng), scale(rng), scale(rng));
        let coarse = |rng: &mut fastrand::Rng| f32::from(rng.i8(..)) / 64.0;
        let vector = |rng: &mut fastrand::Rng, s: f32| std::array::from_fn(|_| coarse(rng) * s);
        // At the closest approach of each pair, the vector between the centres is perpendicular to
        // the motion. It is 5·`size` long, for a random length `size`. The radii are 2·`size` and
        // 3·`size`, which makes many pairs exactly tangent. In one third of the pairs, the second
        // radius is then changed by an ulp.
        let across: [f32; 3] = *rng
            .choice(&[[3.0, 4.0, 0.0], [0.0, 5.0, 0.0], [0.0, 3.0, -4.0]])
            .expect("not empty");
        let [x, y, z] = vector(rng, off);
        let along = match across {
            [3.0, ..] => [4.0, -3.0, coarse(rng)],
            [_, 5.0, _] => [coarse(rng), 0.0, coarse(rng)],
            _ => [coarse(rng), 4.0, 3.0],
        };
        let base = at([x, y, z], size * 2.0).with_velocity(vector(rng, speed));
        let nudge = |x: f32, rng: &mut fastrand::Rng| match rng.u32(0..6) {
            0 => x.next_up(),
            1 => x.next_down(),
            _ => x,
        };
        let center =
            std::array::from_fn(|k| base.center[k] + size * across[k] - along[k] * speed * 0.5);
        let velocity: [f32; 3] = std::array::from_fn(|k| base.velocity[k] + speed * along[k]);
        let other = at(center, nudge(size * 3.0, rng)).with_velocity(velocity);
        let dt = *rng.choice(&[1.0, 0.5, 0.25, 2.0]).expect("not empty");
        let exactly = exact::collides(&base, &other, dt);
        hits += usize::from(exactly);
        match filter::collides(&base, &other, dt) {
            Some(answer) => {
                told += 1;
                assert_eq!(answer, exactly, "{base:?} {other:?} {dt}");
            }
            None => untold += 1,
        }
        if exactly {
            let toi = toi(&base, &other, dt).expect("a hit");
            if toi.error < f64::INFINITY {
                let pair = exact::Exact::new(&base, &other);
                let [early, late] = [toi.value - toi.error, toi.value + toi.error];
                assert!(
                    (early <= 0.0 || !pair.collide(early * (1.0 - 1e-15))) && pair.collide(late),
                    "{toi:?} {base:?} {other:?} {dt}"
                );
            }
        }
    }
    assert!(
        told > 10_000 && untold > 10_000 && hits > 10_000,
        "float64 decided {told} pairs and left {untold} open, {hits} pairs collide"
    );
}

#[test]
fn both_ways_of_deciding_agree_in_hard_worlds() {
    for (name, spheres, dt) in worlds::all(300, 3) {
        let fast = brute_force(&spheres, dt);
        let mut slow = Vec::new();
        for (i, a) in (0..).zip(&spheres) {
            for (j, b) in (0..).zip(&spheres).skip(i as usize + 1) {
                if exact::collides(a, b, dt) {
                    slow.push((i, j));
                }
            }
        }
        assert!(fast.hits == slow, "{name}");
    }
}

#[test]
fn lattices_have_the_expected_neighbours() {
    let side = 12;
    let of = |scene: Scene| brute_force(&scene.generate(side * side * side, 0), 1.0);
    let [faces, edges, corners] = [
        3 * side * side * (side - 1),
        6 * side * (side - 1) * (side - 1),
        4 * (side - 1) * (side - 1) * (side - 1),
    ];
    let touching = of(Scene::Touching);
    assert_eq!(touching.hits.len(), faces);
    assert_eq!(touching.decided_exactly, faces as u64);
    assert_eq!(of(Scene::Lattice).hits.len(), faces + edges + corners);
}

#[test]
fn scenes_have_their_names_and_sizes() {
    for scene in Scene::ALL {
        assert_eq!(scene.name().parse(), Ok(scene));
        assert!(!scene.description().is_empty());
        for n in [0, 1, 2, 999, 1000, 1001] {
            assert_eq!(scene.generate(n, 5).len(), n);
        }
        let spheres = scene.generate(500, 5);
        assert_eq!(spheres, scene.generate(500, 5));
        assert!(
            carom_scenes::at_rest(spheres)
                .iter()
                .all(|sphere| sphere.velocity == [0.0; 3])
        );
    }
    assert!("nonsense".parse::<Scene>().is_err());
    assert_eq!(carom_scenes::polydisperse_of(100, 1.0..2.0, 1).len(), 100);
}

#[test]
fn groups_leave_pairs_out() {
    let place = |groups: (u16, u16)| at([0.0; 3], 1.0).with_groups(groups.0, groups.1);
    // Spheres 0 and 1 are in collision group 0, and both ignore group 0. Sphere 2 ignores group 1,
    // and sphere 3 is in group 1. Spheres 4 and 5 are in group 15, and sphere 4 ignores group 15.
    let spheres = [
        (1, 1),
        (1, 1),
        (4, 2),
        (2, 0),
        (1 << 15, 1 << 15),
        (1 << 15, 0),
    ]
    .map(place);
    let hits = brute_force(&spheres, 1.0).hits;
    let ignored = [(0, 1), (2, 3), (4, 5)];
    assert_eq!(hits.len(), 15 - ignored.len());
    assert!(ignored.iter().all(|pair| !hits.contains(pair)));
    let between = brute_force_between(&spheres[..1], &spheres, 1.0).hits;
    assert_eq!(between, [(0, 2), (0, 3), (0, 4), (0, 5)]);
}

#[test]
fn every_kind_of_difference_is_reported() {
    let spheres = Scene::Dense.generate(200, 1);
    let truth = brute_force(&spheres, 1.0);
    let collision = |&(a, b): &(u32, u32)| {
        let (one, other) = (&spheres[a as usize], &spheres[b as usize]);
        let toi = toi(one, other, 1.0).expect("a hit").value;
        let [toi, depth] = single([toi, depth(one, other).value]);
        Collision { a, b, toi, depth }
    };
    let pairs: Vec<Collision> = truth.hits.iter().map(collision).collect();
    let told =
        |pairs: &[Collision]| oracle::check::differences(&truth, &spheres, &spheres, 1.0, pairs);
    assert_eq!(told(&pairs), "");
    let list = Collisions::from_pairs(pairs.clone(), spheres.len(), None).expect("a small list");
    oracle::assert_same("dense", &spheres, 1.0, &list);
    oracle::assert_same_between("none", &spheres, &[], 1.0, &Collisions::default());

    assert!(told(&pairs[1..]).contains("missing"));
    let mut wrong = pairs.clone();
    wrong[3].b += 150;
    assert!(told(&wrong).contains("do not collide"));
    let mut wrong = pairs.clone();
    wrong.insert(5, wrong[5]);
    assert!(told(&wrong).contains("more than once"));
    let mut wrong = pairs.clone();
    wrong.swap(1, 2);
    assert!(told(&wrong).contains("out of order"));
    let mut wrong = pairs.clone();
    wrong[7].depth = wrong[7].depth.next_up();
    wrong[8].toi = wrong[8].toi.next_up();
    assert!(told(&wrong).contains("2 pairs have a wrong time"));
}

//! Compares results that are computed from a list of collisions, such as earliest impacts and contacts, with
//! their definitions.

use std::collections::BTreeSet;

use carom::{
    Backend, Collision, Collisions, Detector, Earliest, Error, Options, Partner, Sphere, Step,
    verify,
};
use fastrand::Rng;

/// Returns an unsorted list of random collisions with repeated pairs, indices past the last sphere, and many
/// equal times of impact.
fn altered(rng: &mut Rng, pairs: usize) -> Collisions {
    let spheres = rng.u32(0..30);
    let second_set_start = rng.bool().then(|| rng.usize(0..=spheres as usize));
    let pairs = (0..pairs)
        .map(|_| Collision {
            a: rng.u32(0..spheres + 2),
            b: rng.u32(0..spheres + 2),
            toi: [0.0, -0.0, 0.25, 0.5, f32::MIN_POSITIVE / 4.0][rng.usize(0..5)],
            depth: 0.0,
        })
        .collect::<Vec<_>>();
    Collisions::from_pairs(pairs, spheres as usize, second_set_start)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn detector() -> Detector {
    let options = Options::new().with_backend(Backend::Cpu);
    Detector::new(options).unwrap_or_else(|error| panic!("{error}"))
}

fn gas(rng: &mut Rng, count: usize) -> Vec<Sphere> {
    let side = (2.0 * count as f32).cbrt();
    let mut draw = |scale: f32| [0; 3].map(|_| rng.f32() * scale);
    (0..count)
        .map(|i| {
            let speed = if i % 20 == 0 { 10.0 } else { 0.5 };
            Sphere::new(draw(side), 0.5).with_velocity(draw(speed))
        })
        .collect()
}

fn detect(spheres: &[Sphere]) -> Collisions {
    let found = detector().detect(&Step::new(spheres, 1.0));
    found.unwrap_or_else(|error| panic!("{error}"))
}

fn detect_between(first: &[Sphere], second: &[Sphere]) -> Collisions {
    let found = detector().detect(&Step::between(first, second, 1.0));
    found.unwrap_or_else(|error| panic!("{error}"))
}

/// Returns random lists of collisions, and the lists of real time steps. Each list is returned
/// twice: once sorted by time, and once unsorted or sorted by index.
fn lists() -> Vec<Collisions> {
    let mut rng = Rng::with_seed(1);
    let mut lists = vec![Collisions::default()];
    for round in 0..300 {
        lists.push(altered(&mut rng, round % 60));
    }
    for count in [0, 1, 2, 30, 500] {
        let spheres = gas(&mut rng, count);
        lists.push(detect(&spheres));
        for split in [0, count / 3, count] {
            let (first, second) = spheres.split_at(split);
            lists.push(detect_between(first, second));
        }
    }
    let mut by_time = lists.clone();
    by_time.iter_mut().for_each(Collisions::sort_by_time);
    lists.append(&mut by_time);
    lists
}

/// Returns the numbers of the two spheres of a pair, where the spheres of a second set are numbered after
/// those of the first. Returns `None` if one of the spheres does not exist.
fn rows(found: &Collisions, pair: &Collision) -> Option<[u64; 2]> {
    let rows = [
        u64::from(pair.a),
        u64::from(pair.b) + found.second_set_start().unwrap_or(0) as u64,
    ];
    let there = |row: &u64| *row < found.sphere_count() as u64;
    rows.iter().all(there).then_some(rows)
}

fn parts(first: Earliest) -> (f32, Partner, [i32; 3]) {
    (first.toi, first.partner, first.image)
}

#[test]
fn earliest_is_the_least_time_and_then_the_least_partner() {
    for found in lists() {
        let earliest = found.earliest().expect("it fits in memory");
        assert_eq!(earliest.len(), found.sphere_count());
        assert_eq!(earliest.len() as u64, found.statistics.spheres);
        for (row, earliest) in (0..).zip(earliest) {
            let partners = found.pairs.iter().flat_map(|pair| {
                let [a, b] = rows(&found, pair).unwrap_or([u64::MAX; 2]);
                let first = (a == row).then_some((pair.toi, pair.b));
                let second = (b == row).then_some((pair.toi, pair.a));
                [first, second].into_iter().flatten()
            });
            // Times of impact are compared by magnitude, so that −0 counts as 0. No time is negative.
            let expected = partners
                .min_by_key(|&(toi, partner)| (toi.abs().to_bits(), partner))
                .map(|(toi, partner)| (toi, Partner::Sphere(partner), [0; 3]));
            assert_eq!(earliest.map(parts), expected);
            assert!(earliest.is_none_or(|first| first.toi.is_sign_positive()));
        }
    }
}

#[test]
fn contacts_list_the_pairs_as_b_before_the_pairs_as_a() {
    for found in &lists() {
        let contacts = found.contacts().expect("it fits in memory");
        for (row, number) in (0..=found.sphere_count() as u64).zip(0..) {
            let on_side = |side: usize| {
                let pairs = (0..).zip(&found.pairs);
                pairs.filter(move |(_, pair)| {
                    rows(found, pair).is_some_and(|rows| rows[side] == row)
                })
            };
            let both = on_side(1).chain(on_side(0));
            let expected: Vec<u32> = both.map(|(index, _)| index).collect();
            assert_eq!(contacts.of(number), expected);
        }
        assert!(contacts.of(usize::MAX).is_empty());
    }
}

#[test]
fn changes_are_set_differences() {
    let lists = lists();
    let set = |found: &Collisions| -> BTreeSet<[u32; 2]> {
        found.pairs.iter().map(|pair| [pair.a, pair.b]).collect()
    };
    for pair in lists.windows(2) {
        let [before, now] = [set(&pair[0]), set(&pair[1])];
        let changes = pair[1].changes_since(&pair[0]).expect("it fits in memory");
        assert!(changes.began.iter().eq(now.difference(&before)));
        assert!(changes.lasted.iter().eq(now.intersection(&before)));
        assert!(changes.ended.iter().eq(before.difference(&now)));
    }
}

#[test]
fn sort_by_time_orders_pairs_by_time_and_then_by_indices() {
    for mut found in lists() {
        let before = found.pairs.clone();
        found.sort_by_time();
        let comes_before = |one: &Collision, other: &Collision| {
            let [own, others] = [one, other].map(|pair| pair.toi.abs());
            own < others
                || own == others && (one.a < other.a || one.a == other.a && one.b < other.b)
        };
        let alike = |one: &Collision, other: &Collision| {
            !comes_before(one, other) && !comes_before(other, one)
        };
        assert_eq!(found.pairs.len(), before.len());
        for pair in &before {
            let first = before.iter().filter(|other| comes_before(other, pair));
            let place = first.count();
            let copies = before.iter().filter(|other| alike(other, pair)).count();
            let there = &found.pairs[place..place + copies];
            assert!(there.iter().all(|other| alike(other, pair)));
        }
    }
}

#[test]
fn reductions_do_not_depend_on_sorting_by_time() {
    let lists = lists();
    for (previous, found) in lists.iter().zip(&lists[1..]) {
        let [mut previous_by_time, mut by_time] = [previous, found].map(Collisions::clone);
        previous_by_time.sort_by_time();
        by_time.sort_by_time();
        assert_eq!(
            by_time.earliest().expect("it fits in memory"),
            found.earliest().expect("it fits in memory")
        );
        let changes = found.changes_since(previous).expect("it fits in memory");
        assert_eq!(
            by_time
                .changes_since(&previous_by_time)
                .expect("it fits in memory"),
            changes
        );
        // The contact tables of two differently sorted lists contain different indices. So the test
        // compares the pairs and times to which the indices refer. Copies of a repeated pair may
        // come in any order.
        let [contacts, expected] = [&by_time, found].map(|found| {
            let contacts = found.contacts().expect("it fits in memory");
            let of = |row| {
                let pairs = contacts.of(row).iter().map(|&at| found.pairs[at as usize]);
                let mut pairs: Vec<(u32, u32, u32)> = pairs
                    .map(|pair| (pair.a, pair.b, pair.toi.to_bits()))
                    .collect();
                pairs.sort_unstable();
                pairs
            };
            (0..=found.sphere_count()).map(of).collect::<Vec<_>>()
        });
        assert_eq!(contacts, expected);
    }
}

#[test]
fn a_list_sorted_by_time_is_sorted_by_index_when_reused() {
    let mut rng = Rng::with_seed(4);
    let mut detector = detector();
    let mut found = Collisions::default();
    for _ in 0..3 {
        let spheres = gas(&mut rng, 500);
        let fresh = detect(&spheres);
        let step = Step::new(&spheres, 1.0);
        let refilled = detector.detect_into(&step, &mut found);
        refilled.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(found.pairs, fresh.pairs);
        found.sort_by_time();
        assert_ne!(found.pairs, fresh.pairs);
        let truth = verify(&step, &found.pairs).unwrap_or_else(|error| panic!("{error}"));
        assert!(truth.passed(), "{truth}");
    }
}

#[test]
fn two_consecutive_steps_have_changes_of_every_kind() {
    let mut rng = Rng::with_seed(2);
    let mut spheres = gas(&mut rng, 500);
    let before = detect(&spheres);
    for sphere in &mut spheres {
        sphere.center = [0, 1, 2].map(|k| sphere.center[k] + sphere.velocity[k]);
    }
    let changes = detect(&spheres)
        .changes_since(&before)
        .expect("it fits in memory");
    for part in [changes.began, changes.lasted, changes.ended] {
        assert!(part.len() > 10);
    }
}

#[test]
fn a_list_has_rows_for_all_spheres_if_one_set_is_empty() {
    let spheres = gas(&mut Rng::with_seed(3), 5);
    for (first, second) in [(&spheres[..], &[][..]), (&[], &spheres)] {
        let found = detect_between(first, second);
        assert_eq!(found.statistics.spheres, 5);
        assert_eq!(found.sphere_count(), 5);
        assert_eq!(found.second_set_start(), Some(first.len()));
        assert_eq!(found.earliest().expect("it fits in memory"), [None; 5]);
    }
    assert_eq!(detect(&spheres).second_set_start(), None);
}

#[test]
fn one_sphere_can_touch_half_a_million_others() {
    let others = 500_000;
    let pairs: Vec<Collision> = (0..others)
        .map(|b| Collision {
            a: 0,
            b: b + 1,
            ..Collision::default()
        })
        .collect();
    let found = Collisions::from_pairs(pairs, others as usize + 1, None)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        found.contacts().expect("it fits in memory").of(0).len(),
        found.pairs.len()
    );
    assert_eq!(
        found.earliest().expect("it fits in memory")[0].map(parts),
        Some((0.0, Partner::Sphere(1), [0; 3]))
    );
    assert_eq!(
        found
            .changes_since(&found)
            .expect("it fits in memory")
            .lasted
            .len(),
        found.pairs.len()
    );
}

#[test]
fn a_list_of_more_spheres_than_a_step_can_have_is_refused() {
    for (spheres, second) in [(usize::MAX, None), (4, Some(usize::MAX))] {
        let refused = Collisions::<f32>::from_pairs(Vec::new(), spheres, second);
        let error = refused.map(|list| list.sphere_count());
        assert!(
            matches!(
                error,
                Err(Error::TooManySpheres {
                    count: usize::MAX,
                    ..
                })
            ),
            "{error:?}"
        );
    }
}

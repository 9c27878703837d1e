//! Tests worked examples, and the guarantees about the list of colliding pairs: its order, its indices and
//! the effect of collision groups.

mod backends;

use backends::{both, detector};
use carom::{Backend, Collision, Contact, Feature, Options, Sphere, Step};
use glam::Vec3;

fn ball(center: [f32; 3], radius: f32) -> Sphere {
    Sphere::new(center, radius)
}

/// Returns the collision of two spheres, if any. Checks that the CPU backend, the GPU backend and
/// `toi` agree, and that the order of the two spheres does not matter.
fn meet(a: Sphere, b: Sphere, dt: f32) -> Option<Collision> {
    let [cpu, gpu] = both(|detector| {
        [[a, b], [b, a]].map(|pair| match detector.detect(&Step::new(&pair, dt)) {
            Ok(found) => found.pairs,
            Err(error) => panic!("{error}"),
        })
    });
    assert_eq!(cpu, gpu, "the backends differ");
    assert_eq!(
        cpu[0], cpu[1],
        "the result depends on the order of the spheres"
    );
    let alone = cpu[0].first().copied();
    assert!(cpu[0].len() <= 1, "one pair is listed twice: {cpu:?}");
    let toi = alone.map(|pair| pair.toi);
    assert_eq!(carom::toi(&a, &b, dt), Ok(toi));
    assert_eq!(carom::toi(&b, &a, dt), Ok(toi));
    if let Some(pair) = alone {
        assert_eq!((pair.a, pair.b), (0, 1));
    }
    alone
}

fn impact(a: Sphere, b: Sphere, dt: f32) -> Collision {
    meet(a, b, dt).unwrap_or_else(|| panic!("these spheres do not collide: {a:?} {b:?}"))
}

fn near(x: f32, printed: f32) -> bool {
    (x - printed).abs() <= 0.005
}

#[test]
fn circles_and_spheres_at_rest_have_the_known_depths() {
    let apart = meet(
        ball([50.0, 20.0, 0.0], 30.0),
        ball([-10.0, 10.0, 0.0], 20.0),
        1.0,
    );
    assert_eq!(apart, None);

    let one = ball([30.0, 20.0, -10.0], 40.0);
    let deep = impact(one, ball([0.0, 40.0, -50.0], 50.0), 1.0);
    assert!(deep.toi == 0.0 && near(deep.depth, 36.15), "{deep:?}");

    let circles = impact(
        ball([70.0, 20.0, 0.0], 40.0),
        ball([50.0, 60.0, 0.0], 16.0),
        1.0,
    );
    assert!(
        circles.toi == 0.0 && near(circles.depth, 56.0 - 44.72),
        "{circles:?}"
    );

    let apart = meet(
        ball([50.0, 0.0, -20.0], 40.0),
        ball([60.0, 70.0, -50.0], 20.0),
        1.0,
    );
    assert_eq!(apart, None);
}

#[test]
fn a_moving_ball_hits_a_resting_one_at_the_known_time() {
    let runner = ball([0.0; 3], 1.0).with_velocity([10.0, 0.0, 0.0]);
    let resting = ball([5.0, 0.0, 0.0], 1.0);
    let found = impact(runner, resting, 1.0);
    assert_eq!((found.toi, found.depth), (0.3, 0.0));
    let contact = found.contact(&runner, &resting);
    // The time of impact, 0.3, is rounded to float32. At a speed of 10, the contact point is off by ten times
    // this rounding error.
    assert_eq!(contact.normal, Vec3::X.to_array());
    assert!(
        Vec3::from(contact.point).distance(Vec3::new(4.0, 0.0, 0.0)) < 1e-6,
        "{contact:?}"
    );
    assert_eq!(contact.approach_speed, 10.0);

    // Exchanging two colliding spheres keeps the contact point and reverses the normal.
    let contact = found.contact(&resting, &runner);
    assert_eq!(contact.normal, (-Vec3::X).to_array());
    assert!(
        Vec3::from(contact.point).distance(Vec3::new(4.0, 0.0, 0.0)) < 1e-6,
        "{contact:?}"
    );
    assert_eq!(contact.approach_speed, 10.0);
}

#[test]
fn touching_at_the_very_end_counts() {
    let runner = ball([0.0; 3], 1.0).with_velocity([8.0, 0.0, 0.0]);
    let resting = ball([4.0, 0.0, 0.0], 1.0);
    assert_eq!(impact(runner, resting, 0.25).toi, 0.25);
    assert_eq!(meet(runner, resting, 0.25_f32.next_down()), None);
}

#[test]
fn passing_through_within_the_step_is_found() {
    let bullet = ball([0.0; 3], 1.0).with_velocity([100.0, 0.0, 0.0]);
    let resting = ball([50.0, 0.0, 0.0], 1.0);
    assert_eq!(impact(bullet, resting, 1.0).toi, 0.48);
}

#[test]
fn equal_velocities_never_collide_from_a_distance() {
    let velocity = [3.0, -4.0, 5.0];
    let one = ball([0.0; 3], 0.5).with_velocity(velocity);
    let other = ball([0.0, 1.0_f32.next_up(), 0.0], 0.5).with_velocity(velocity);
    for dt in [0.0, 1e-30, 1.0, 1e6, 1e17] {
        assert_eq!(meet(one, other, dt), None, "dt = {dt}");
    }
}

#[test]
fn touching_at_the_start_counts_whatever_follows() {
    let one = ball([0.0; 3], 0.5);
    let leaving = ball([0.0, 1.0, 0.0], 0.5).with_velocity([1.0, 0.0, 0.0]);
    let found = impact(one, leaving, 1.0);
    assert_eq!((found.toi, found.depth), (0.0, 0.0));
    let contact = found.contact(&one, &leaving);
    assert_eq!(
        (contact.normal, contact.point),
        ([0.0, 1.0, 0.0], [0.0, 0.5, 0.0])
    );
    assert_eq!(contact.approach_speed, 0.0);

    // The distance of the two centres has 34 significant bits, so float64 cannot hold its square exactly.
    let far = 2_f32.powi(24);
    let wide = ball([far, 0.0, 0.0], far - 1.0);
    let near = |radius| ball([2_f32.powi(-10), 0.0, 0.0], radius).with_velocity([-1.0, 0.0, 0.0]);
    let radius = 1.0 - 2_f32.powi(-10);
    let found = impact(near(radius), wide, 1.0);
    assert_eq!((found.toi, found.depth), (0.0, 0.0));
    assert_eq!(meet(near(radius.next_down()), wide, 1.0), None);
}

#[test]
fn a_tangent_pass_touches_but_not_with_a_radius_one_ulp_smaller() {
    let passing = ball([-2.0, 1.0, 0.0], 0.5).with_velocity([4.0, 0.0, 0.0]);
    let found = impact(passing, ball([0.0; 3], 0.5), 1.0);
    assert_eq!((found.toi, found.depth), (0.5, 0.0));
    let contact = found.contact(&passing, &ball([0.0; 3], 0.5));
    assert_eq!(
        (contact.normal, contact.point),
        ([0.0, -1.0, 0.0], [0.0, 0.5, 0.0])
    );
    assert_eq!(contact.approach_speed, 0.0);

    let smaller = 0.5_f32.next_down();
    assert_eq!(meet(passing, ball([0.0; 3], smaller), 1.0), None);
    let passing = Sphere {
        radius: smaller,
        ..passing
    };
    assert_eq!(meet(passing, ball([0.0; 3], 0.5), 1.0), None);
}

/// Returns the contact of two colliding spheres. Checks that exchanging the spheres reverses the normal and
/// keeps the approach speed.
fn contact(a: Sphere, b: Sphere, dt: f32) -> Contact {
    let found = impact(a, b, dt);
    let (contact, other) = (found.contact(&a, &b), found.contact(&b, &a));
    assert_eq!(contact.normal, other.normal.map(|x| -x), "{a:?} {b:?}");
    assert_eq!([contact.feature, other.feature], [Feature::Face; 2]);
    assert_eq!(contact.approach_speed, other.approach_speed, "{a:?} {b:?}");
    contact
}

#[test]
fn contacts_stay_accurate_after_a_long_flight() {
    for power in [0, 10, 30, 40, 50, 59] {
        let way = 2_f32.powi(power);
        let ray = ball([-way, 0.0, 0.0], 0.0).with_velocity([way, 0.0, 0.0]);
        let target = ball([0.0, 0.6, 0.0], 1.0);
        let Contact {
            normal,
            approach_speed,
            ..
        } = contact(ray, target, 1.0);
        assert!(
            Vec3::from(normal).distance(Vec3::new(0.8, 0.6, 0.0)) < 1e-6,
            "2^{power}: {normal:?}"
        );
        assert!(
            (approach_speed / way - 0.8).abs() < 1e-6,
            "2^{power}: {approach_speed}"
        );
    }
}

#[test]
fn contacts_do_not_depend_on_a_common_velocity() {
    for speed in [0.0, 2_f32.powi(30), 2_f32.powi(59)] {
        let moving = ball([0.0; 3], 1.0).with_velocity([1.0, speed, 0.0]);
        let other = ball([2.25, 1.0, 0.0], 1.0).with_velocity([0.0, speed, 0.0]);
        let normal = Vec3::from(contact(moving, other, 1.0).normal);
        let expected = Vec3::new(0.75_f32.sqrt(), 0.5, 0.0);
        assert!(normal.distance(expected) < 1e-6, "{speed}: {normal}");
    }
}

#[test]
fn the_normal_of_points_that_meet_opposes_their_relative_velocity() {
    let one = ball([0.0; 3], 0.0).with_velocity([3.0, 4.0, 0.0]);
    let Contact {
        point,
        normal,
        approach_speed,
        ..
    } = contact(one, ball([1.5, 2.0, 0.0], 0.0), 1.0);
    assert_eq!(point, [1.5, 2.0, 0.0]);
    assert!(Vec3::from(normal).distance(Vec3::new(0.6, 0.8, 0.0)) < 1e-6);
    assert_eq!(approach_speed, 5.0);
}

/// A ball of radius 4 hits the inside of a round wall of radius 100 when its centre is 96 from the
/// centre of the wall. carom finds impacts only from outside a sphere. So the test reverses time,
/// and lets a point fly from outside to a sphere of radius 96.
#[test]
fn a_ball_inside_a_round_wall_hits_it_and_returns() {
    let velocity = Vec3::new(10.0, 0.0, 0.0);
    let (wall, late) = (ball([0.0; 3], 100.0 - 4.0), 16.0);
    let point = ball((velocity * late).to_array(), 0.0).with_velocity(-velocity);
    let found = impact(wall, point, late);
    assert_eq!(found.toi, 6.4);
    assert!((late - found.toi - 9.6).abs() < 1e-6);
    let normal = Vec3::from(found.contact(&wall, &point).normal);
    assert_eq!(velocity - 2.0 * velocity.dot(normal) * normal, -velocity);
}

#[test]
fn equal_masses_exchange_their_velocities_head_on() {
    let moving = ball([0.0; 3], 0.5).with_velocity([1.0, 0.0, 0.0]);
    let resting = ball([3.0, 0.0, 0.0], 0.5);
    let found = impact(moving, resting, 4.0);
    assert_eq!(found.toi, 2.0);
    let contact = found.contact(&moving, &resting);
    // In an elastic impact of two equal masses, the velocity of each changes by the approach speed along the
    // contact normal.
    let impulse = contact.approach_speed * Vec3::from(contact.normal);
    assert_eq!(Vec3::from(moving.velocity) - impulse, Vec3::ZERO);
    assert_eq!(Vec3::from(resting.velocity) + impulse, Vec3::X);
}

#[test]
fn coincident_centers_have_the_normal_x() {
    let one = ball([1.0, 2.0, 3.0], 2.0).with_velocity([0.0, 7.0, 0.0]);
    let other = ball([1.0, 2.0, 3.0], 1.0);
    let found = impact(one, other, 1.0);
    assert_eq!((found.toi, found.depth), (0.0, 3.0));
    let contact = found.contact(&one, &other);
    assert_eq!(
        (contact.normal, contact.point),
        ([1.0, 0.0, 0.0], [3.0, 2.0, 3.0])
    );
    assert_eq!(contact.approach_speed, 0.0);
}

#[test]
fn a_time_step_of_zero_finds_only_spheres_that_touch_at_the_start() {
    let fast = ball([0.0; 3], 1.0).with_velocity([1e9, 0.0, 0.0]);
    assert_eq!(
        meet(fast, ball([2.0_f32.next_up(), 0.0, 0.0], 1.0), 0.0),
        None
    );
    let found = impact(fast, ball([2.0, 0.0, 0.0], 1.0), 0.0);
    assert_eq!((found.toi, found.depth), (0.0, 0.0));
    assert_eq!(impact(fast, ball([1.5, 0.0, 0.0], 1.0), 0.0).depth, 0.5);
}

#[test]
fn points_are_spheres_of_radius_zero() {
    let point = ball([1.0, 1.0, 1.0], 0.0);
    let same = impact(point, point, 1.0);
    assert_eq!((same.toi, same.depth), (0.0, 0.0));
    assert_eq!(
        meet(point, ball([1.0, 1.0, 1.0_f32.next_up()], 0.0), 1.0),
        None
    );
    // A ray (a moving sphere of radius 0) starts at a distance of 2⁹ from a point and reaches it after half
    // of the step.
    let ray = ball([1.0, 1.0, 513.0], 0.0).with_velocity([0.0, 0.0, -1024.0]);
    assert_eq!(impact(point, ray, 1.0).toi, 0.5);
    let beside = ball([1.0, 1.0_f32.next_down(), 513.0], 0.0).with_velocity([0.0, 0.0, -1024.0]);
    assert_eq!(meet(point, beside, 1.0), None);
    assert_eq!(impact(ball([1.0, 1.0, 2.0], 1.0), point, 1.0).depth, 0.0);
}

fn indices(pairs: &[Collision]) -> Vec<(u32, u32)> {
    pairs.iter().map(|pair| (pair.a, pair.b)).collect()
}

/// Returns the colliding pairs within one set of spheres, on which the CPU and the GPU backend must agree.
fn within(spheres: &[Sphere], dt: f32) -> Vec<Collision> {
    let [cpu, gpu] = both(|detector| match detector.detect(&Step::new(spheres, dt)) {
        Ok(found) => found.pairs.into_parts().0,
        Err(error) => panic!("{error}"),
    });
    assert_eq!(cpu, gpu, "the backends differ");
    cpu
}

/// Returns the colliding pairs between two sets of spheres, on which the CPU and the GPU backend
/// must agree.
fn between(first: &[Sphere], second: &[Sphere], dt: f32) -> Vec<Collision> {
    let [cpu, gpu] = both(
        |detector| match detector.detect(&Step::between(first, second, dt)) {
            Ok(found) => found.pairs.into_parts().0,
            Err(error) => panic!("{error}"),
        },
    );
    assert_eq!(cpu, gpu, "the backends differ");
    cpu
}

#[test]
fn no_sphere_and_one_sphere_have_no_pair() {
    let bullet = ball([1.0, 2.0, 3.0], 1.0).with_velocity([1e6, 0.0, 0.0]);
    for dt in [0.0, 1.0] {
        assert_eq!(within(&[], dt), []);
        assert_eq!(within(&[bullet], dt), []);
    }
}

/// Each sphere of a row touches its two neighbours. The spheres are numbered from the middle of the row
/// outwards, so the order by index differs from the order in space.
#[test]
fn pairs_are_sorted_by_index_wherever_the_spheres_are() {
    let places = [0, 1, -1, 2, -2, 3, -3, 4, -4];
    let spheres = places.map(|x: i8| ball([f32::from(x), 0.0, 0.0], 0.5));
    let expected = [
        (0, 1),
        (0, 2),
        (1, 3),
        (2, 4),
        (3, 5),
        (4, 6),
        (5, 7),
        (6, 8),
    ];
    assert_eq!(indices(&within(&spheres, 1.0)), expected);
}

/// Returns two sets of spheres with collisions between the sets and within each set. Sphere 0 of the first
/// set and sphere 1 of the second set touch nothing.
fn two_sets() -> [Vec<Sphere>; 2] {
    let first = vec![
        ball([9.0, 0.0, 0.0], 1.0),
        ball([0.0, 0.0, 0.0], 1.0),
        ball([0.5, 0.0, 0.0], 3.0),
    ];
    let second = vec![
        ball([0.0, 2.0, 0.0], 1.0),
        ball([0.0, 90.0, 0.0], 1.0),
        ball([1.0, 0.0, 0.0], 1.0),
        ball([0.0, 12.0, 0.0], 1.0).with_velocity([0.0, -20.0, 0.0]),
    ];
    [first, second]
}

#[test]
fn between_two_sets_only_cross_pairs_are_listed_with_indices_within_each_set() {
    let [first, second] = two_sets();
    let found = between(&first, &second, 1.0);
    let expected = [(1, 0), (1, 2), (1, 3), (2, 0), (2, 2), (2, 3)];
    assert_eq!(indices(&found), expected);
    for pair in &found {
        let (a, b) = (&first[pair.a as usize], &second[pair.b as usize]);
        assert_eq!(Ok(Some(pair.toi)), carom::toi(a, b, 1.0));
    }
    assert_eq!((found[0].toi, found[0].depth), (0.0, 0.0));
    assert_eq!(found[2].toi, 0.5);

    let mut turned = between(&second, &first, 1.0);
    turned
        .iter_mut()
        .for_each(|pair| std::mem::swap(&mut pair.a, &mut pair.b));
    turned.sort_by_key(|pair| (pair.a, pair.b));
    assert_eq!(turned, found);

    // If both sets contain the same spheres, each sphere also collides with its copy in the other set.
    assert_eq!(
        indices(&between(&first, &first, 1.0)),
        [(0, 0), (1, 1), (1, 2), (2, 1), (2, 2)]
    );
}

#[test]
fn an_empty_set_gives_no_pairs() {
    let [first, second] = two_sets();
    assert_eq!(between(&first, &[], 1.0), []);
    assert_eq!(between(&[], &second, 1.0), []);
    assert_eq!(between(&[], &[], 1.0), []);
    assert_eq!(indices(&between(&first[1..2], &second[..1], 1.0)), [(0, 0)]);
}

#[test]
fn a_pair_is_left_out_when_either_ignores_a_group_of_the_other() {
    const RED: u16 = 1;
    const BLUE: u16 = 1 << 15;
    let of = |member_of, ignored| ball([0.0; 3], 1.0).with_groups(member_of, ignored);
    let spheres = [
        of(0, 0),
        of(RED, 0),
        of(BLUE, RED),
        of(RED | BLUE, 0),
        of(BLUE, BLUE),
        of(0, RED | BLUE),
    ];
    let mut expected = Vec::new();
    for (i, a) in (0..).zip(&spheres) {
        for (j, b) in (0..).zip(&spheres) {
            if i < j && !a.ignores(b) {
                expected.push((i, j));
            }
        }
    }
    // Spheres 1 and 3 are in group `RED`, which spheres 2 and 5 ignore. Spheres 2, 3 and 4 are in group
    // `BLUE`, which spheres 4 and 5 ignore.
    let by_hand = [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (1, 3), (1, 4)];
    assert_eq!(expected, by_hand);
    assert_eq!(indices(&within(&spheres, 1.0)), by_hand);

    let (first, second) = spheres.split_at(2);
    let crossing = [(0, 0), (0, 1), (0, 2), (0, 3), (1, 1), (1, 2)];
    assert_eq!(indices(&between(first, second, 1.0)), crossing);
}

/// Tests a sphere so fast that it moves by more than its diameter in the rounding error of its time of
/// impact. The contact point must not be on the far side of the target.
#[test]
fn the_contact_of_a_fast_sphere_is_on_the_side_it_comes_from() {
    let bullet = Sphere::new([0.0; 3], 0.001).with_velocity([1e6, 0.0, 0.0]);
    let mut rng = fastrand::Rng::with_seed(8);
    for _ in 0..1000 {
        let target = Sphere::new([rng.f32() * 9e5 + 1.0, 0.0, 0.0], 0.001);
        let mut detector = detector(Backend::Cpu, Options::default());
        let found = detector.detect(&Step::new(&[bullet, target], 1.0));
        let found = found.unwrap_or_else(|error| panic!("{error}"));
        let contact = found.pairs[0].contact(&bullet, &target);
        assert!(
            contact.normal[0] > 0.999 && contact.approach_speed > 0.999e6,
            "{contact:?}"
        );
    }
}

/// Tests the time of impact of two spheres that almost touch at the start. The time is proportional
/// to p·p − r², where p is the vector between the centres and r is the sum of the radii. This
/// difference is only 6·10⁻¹³ times as large as p·p.
#[test]
fn the_time_of_a_slow_approach_from_almost_touching_is_accurate() {
    let runner = Sphere::new([3.0, 7.602922e-7, 0.0], 1.0).with_velocity([1.0239645e-5, 0.0, 0.0]);
    let resting = Sphere::new([4.0, 0.0, 0.0], 0.0);
    both(|detector| {
        let found = detector.detect(&Step::new(&[runner, resting], 2.0));
        let found = found.unwrap_or_else(|error| panic!("{error}"));
        let toi = found.pairs[0].toi;
        assert!((toi / 2.8225794e-8 - 1.0).abs() < 1e-6, "{toi}");
    });
}

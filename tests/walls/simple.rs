//! Tests of walls of simple shapes.

use carom::{Detector, Domain, MAX_MAGNITUDE, Partner, Sphere, Step, Wall, WallCollision, Walls};
use fastrand::Rng;
use glam::Vec3;

use crate::oracle::walls::AtWall;
use crate::wall_worlds::World;
use crate::{detect, detector};

const WORLDS: u64 = 20_000;

/// Returns the time of impact and the depth if a sphere touches a wall, or `None`.
pub(crate) fn hit(sphere: Sphere, wall: Wall, dt: f32) -> Option<(f32, f32)> {
    let found = detect(&[sphere], &Walls::from_iter([wall]), dt);
    assert!(found.walls.len() <= 1);
    let hit = found.walls.first()?;
    assert_eq!((hit.sphere, hit.wall), (0, 0));
    Some((hit.toi, hit.depth))
}

pub(crate) fn ball(center: [f32; 3], radius: f32, velocity: [f32; 3]) -> Sphere {
    Sphere::new(center, radius).with_velocity(velocity)
}

#[test]
fn closed_forms() {
    let inside = Wall::sphere_inside([0.0; 3], 100.0);
    let moving = ball([0.0; 3], 4.0, [10.0, 0.0, 0.0]);
    assert_eq!(hit(moving, inside, 10.0), Some((9.6, 0.0)));
    assert_eq!(hit(moving, inside, 9.5), None);
    assert_eq!(
        hit(ball([96.0, 0.0, 0.0], 4.0, [0.0; 3]), inside, 0.0),
        Some((0.0, 0.0))
    );
    assert_eq!(
        hit(ball([0.0, 0.0, -97.0], 4.0, [0.0; 3]), inside, 1.0),
        Some((0.0, 1.0))
    );
    assert_eq!(
        hit(ball([0.0; 3], 101.0, [0.0; 3]), inside, 1.0),
        Some((0.0, 1.0))
    );

    // A half-space whose normal has length 5 instead of 1. Its plane is at distance 2 from the origin.
    let plane = Wall::half_space([3.0, 4.0, 0.0], -10.0);
    let falling = ball([0.0; 3], 1.0, [-3.0, -4.0, 7.0]);
    assert_eq!(hit(falling, plane, 1.0), Some((0.2, 0.0)));
    assert_eq!(hit(falling, plane, 0.1), None);
    assert_eq!(
        hit(ball([0.0; 3], 2.0, [3.0, 4.0, 0.0]), plane, 1.0),
        Some((0.0, 0.0))
    );
    assert_eq!(
        hit(ball([-3.0, -4.0, 9.0], 1.0, [0.0; 3]), plane, 1.0),
        Some((0.0, 4.0))
    );

    let post = Wall::cylinder([1.0, 2.0, 7.0], [0.0, 0.0, 3.0], 2.0);
    let rolling = ball([-9.0, 2.0, 0.0], 1.0, [2.0, 0.0, -50.0]);
    assert_eq!(hit(rolling, post, 9.0), Some((3.5, 0.0)));
    assert_eq!(
        hit(ball([1.0, 4.0, 99.0], 1.5, [0.0; 3]), post, 1.0),
        Some((0.0, 1.5))
    );
    // The first sphere is tangent to the wall at its closest approach. The second sphere misses the wall by the
    // smallest possible length.
    let passing = ball([-9.0, 5.0, 0.0], 1.0, [2.0, 0.0, 0.0]);
    assert_eq!(hit(passing, post, 9.0), Some((5.0, 0.0)));
    let above = ball([-9.0, 5.0_f32.next_up(), 0.0], 1.0, [2.0, 0.0, 0.0]);
    assert_eq!(hit(above, post, 9.0), None);

    let pipe = Wall::cylinder_inside([0.0; 3], [1.0, 0.0, 0.0], 5.0);
    assert_eq!(
        hit(ball([7.0, 0.0, 0.0], 1.0, [9.0, 3.0, 4.0]), pipe, 1.0),
        Some((0.8, 0.0))
    );
    assert_eq!(
        hit(ball([7.0, 3.0, 4.0], 1.0, [9.0, 0.0, 0.0]), pipe, 1.0),
        Some((0.0, 1.0))
    );

    let pillar = Wall::sphere([5.0, 0.0, 0.0], 1.0);
    assert_eq!(
        hit(ball([0.0; 3], 1.0, [10.0, 0.0, 0.0]), pillar, 1.0),
        Some((0.3, 0.0))
    );
}

#[test]
fn a_moving_wall_meets_spheres_as_if_they_moved() {
    let piston = Wall::half_space([-1.0, 0.0, 0.0], -5.0).with_velocity([-2.0, 100.0, 0.0]);
    assert_eq!(
        hit(ball([0.0; 3], 1.0, [0.0; 3]), piston, 3.0),
        Some((2.0, 0.0))
    );
    assert_eq!(
        hit(ball([0.0; 3], 1.0, [-2.0, 0.0, 0.0]), piston, 3.0),
        None
    );
    let pipe = Wall::cylinder_inside([0.0; 3], [0.0, 0.0, 1.0], 3.0).with_velocity([4.0, 0.0, 0.0]);
    assert_eq!(
        hit(ball([0.0; 3], 1.0, [0.0; 3]), pipe, 1.0),
        Some((0.5, 0.0))
    );
}

#[test]
fn a_box_keeps_spheres_inside() {
    let walls = Walls::inside_box([-1.0, -2.0, -3.0], [1.0, 2.0, 3.0]);
    assert_eq!(walls.len(), 6);
    // Any two opposite corners may be given.
    assert_eq!(
        walls,
        Walls::inside_box([1.0, -2.0, 3.0], [-1.0, 2.0, -3.0])
    );
    let radius = 0.25;
    for (wall, normal) in [
        Vec3::NEG_X,
        Vec3::X,
        Vec3::NEG_Y,
        Vec3::Y,
        Vec3::NEG_Z,
        Vec3::Z,
    ]
    .into_iter()
    .enumerate()
    {
        let half = normal.dot(normal * Vec3::new(1.0, 2.0, 3.0)).abs();
        let sphere = [Sphere::new([0.0; 3], radius).with_velocity(normal)];
        let found = detect(&sphere, &walls, half - radius);
        let expected = WallCollision {
            sphere: 0,
            wall: wall as u32,
            toi: half - radius,
            depth: 0.0,
        };
        assert_eq!(*found.walls, [expected]);
        let contact = found.walls[0]
            .contact(&sphere[0], &walls)
            .expect("the wall exists");
        let point = (normal * half).to_array();
        assert_eq!((contact.normal, contact.point), (normal.to_array(), point));
        assert_eq!(contact.approach_speed, 1.0);
    }
}

/// Checks the contact normal n by reflection: a ball with the velocity v at a round wall must turn back when
/// the velocity becomes v − 2(v·n)n.
#[test]
fn contacts_point_into_the_wall() {
    let (ball, walls) = (
        ball([0.0; 3], 4.0, [10.0, 0.0, 0.0]),
        Walls::from_iter([Wall::sphere_inside([0.0; 3], 100.0)]),
    );
    let found = detect(&[ball], &walls, 10.0);
    let contact = found.walls[0]
        .contact(&ball, &walls)
        .expect("wall 0 exists");
    let expected = [100.0, 1.0].map(|x| (Vec3::X * x).to_array());
    assert_eq!([contact.point, contact.normal], expected);
    let v = Vec3::from(ball.velocity);
    let normal = Vec3::from(contact.normal);
    assert_eq!(v - 2.0 * v.dot(normal) * normal, Vec3::new(-10.0, 0.0, 0.0));
    let missing = WallCollision {
        wall: 7,
        ..found.walls[0]
    };
    assert_eq!(missing.contact(&ball, &walls), None);
}

#[test]
fn groups_leave_out_walls() {
    let floor = Wall::half_space([0.0, 0.0, 1.0], 0.0).with_groups(2, 0);
    let sphere = Sphere::new([0.0; 3], 1.0);
    assert!(hit(sphere, floor, 1.0).is_some());
    assert!(hit(sphere.with_groups(1, 2), floor, 1.0).is_none());
    assert!(hit(sphere.with_groups(1, 0), floor.with_groups(0, 1), 1.0).is_none());
}

#[test]
fn the_earliest_impact_is_over_spheres_and_walls() {
    let spheres = [
        ball([0.0; 3], 1.0, [10.0, 0.0, 0.0]),
        ball([5.0, 0.0, 0.0], 1.0, [0.0; 3]),
        ball([0.0, 50.0, 0.0], 1.0, [0.0; 3]),
    ];
    let wall = |offset: f32| Walls::from_iter([Wall::half_space([-1.0, 0.0, 0.0], -offset)]);
    let earliest = |offset| {
        let first = detect(&spheres, &wall(offset), 1.0)
            .earliest()
            .expect("it fits in memory");
        first
            .into_iter()
            .map(|first| first.map(|first| (first.toi, first.partner)))
    };
    let wall = Partner::Wall(0);
    let expected = [Some((0.2, wall)), Some((0.0, wall)), None];
    assert!(earliest(3.0).eq(expected));
    let [one, other] = [0, 1].map(Partner::Sphere);
    let expected = [Some((0.3, other)), Some((0.3, one)), None];
    assert!(earliest(7.0).eq(expected));
    // If a sphere and a wall are hit at the same time, the sphere is reported.
    let expected = [Some((0.3, other)), Some((0.0, wall)), None];
    assert!(earliest(4.0).eq(expected));
}

impl World {
    /// Compares carom's list of wall collisions with exact arithmetic. Returns the numbers of contacts at the
    /// start, of later contacts, and of those at the start whose depth is 0.
    fn check(&self, detector: &mut Detector, seed: u64) -> [usize; 3] {
        let step = Step::new(&self.spheres, self.dt).with_walls(&self.walls);
        let found = detector
            .detect(&step)
            .unwrap_or_else(|error| panic!("{error}"));
        let mut listed = found.walls.iter();
        let mut counts = [0; 3];
        let open = Domain::open();
        for (i, sphere) in self.spheres.iter().enumerate() {
            for (k, wall) in self.walls.simple().iter().enumerate() {
                let exact = AtWall::new(sphere, wall, &open, [0; 3]);
                if !exact.touches(self.dt) {
                    continue;
                }
                let what = || format!("seed {seed}: {sphere:?} at {wall:?} in {}", self.dt);
                let hit = listed
                    .next()
                    .unwrap_or_else(|| panic!("missing, {}", what()));
                assert_eq!(
                    (hit.sphere as usize, hit.wall as usize),
                    (i, k),
                    "{}",
                    what()
                );
                assert!(exact.rounds_to_toi(hit.toi), "{hit:?}, {}", what());
                assert!(exact.rounds_to_depth(hit.depth), "{hit:?}, {}", what());
                counts[usize::from(hit.toi > 0.0)] += 1;
                counts[2] += usize::from(hit.toi == 0.0 && hit.depth == 0.0);
            }
        }
        assert_eq!(
            listed.next(),
            None,
            "seed {seed}: {:?} {:?}",
            self.spheres,
            self.walls
        );
        counts
    }
}

fn check_worlds(seeds: std::ops::Range<u64>) {
    let mut detector = detector();
    let mut all = [0; 3];
    for seed in seeds {
        let counts = World::new(&mut Rng::with_seed(seed)).check(&mut detector, seed);
        for (sum, count) in all.iter_mut().zip(counts) {
            *sum += count;
        }
    }
    println!(
        "{} hits at the start ({} just touch), {} later",
        all[0], all[2], all[1]
    );
    assert!(all.iter().all(|&count| count > 1_000), "{all:?}");
}

#[test]
fn random_worlds_agree_with_exact_arithmetic() {
    check_worlds(0..WORLDS);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_worlds_agree_with_exact_arithmetic() {
    check_worlds(WORLDS..1_000_000);
}

#[test]
fn the_largest_numbers_work() {
    const MOST: f32 = MAX_MAGNITUDE;
    let walls: Walls = [
        Wall::half_space([-MOST; 3], MOST).with_velocity([-MOST; 3]),
        Wall::sphere([-MOST; 3], MOST),
        Wall::sphere_inside([-MOST; 3], MOST),
        Wall::cylinder([-MOST; 3], [MOST, -MOST, MOST], MOST).with_velocity([MOST; 3]),
        Wall::cylinder_inside([MOST; 3], [MOST, 2.0_f32.powi(-149), 0.0], 0.0),
    ]
    .into_iter()
    .collect();
    let spheres = [
        ball([MOST, MOST, -MOST], MOST, [MOST, -MOST, MOST]),
        ball([MOST; 3], 0.0, [-MOST; 3]),
        ball([2.0_f32.powi(-149); 3], 2.0_f32.powi(-149), [0.0; 3]),
    ];
    for dt in [0.0, 2.0_f32.powi(-149), 1.0] {
        let world = World {
            spheres: spheres.to_vec(),
            walls: walls.clone(),
            dt,
        };
        assert!(world.check(&mut detector(), 0)[0] > 2);
    }
}

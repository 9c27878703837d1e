//! Tests of walls against closed forms and against exact arithmetic.

#![allow(
    clippy::cast_possible_truncation,
    reason = "random numbers are rounded to float32"
)]

mod oracle;
mod wall_worlds;

use carom::{
    Backend, Collisions, Detector, Domain, Error, Feature, MAX_MAGNITUDE, Mesh, Options, Partner,
    Sphere, Step, Wall, WallCollision, WallShape, Walls,
};
use fastrand::Rng;
use glam::{DVec3, Vec3};
use oracle::walls::AtWall;
use wall_worlds::{SKEW, World, periodic_world, pick};

const WORLDS: u64 = 20_000;

fn detector() -> Detector {
    Detector::new(Options::new().with_backend(Backend::Cpu)).expect("the CPU is always there")
}

fn detect(spheres: &[Sphere], walls: &Walls, dt: f32) -> Collisions {
    let found = detector().detect(&Step::new(spheres, dt).with_walls(walls));
    found.unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the time of impact and the depth if a sphere touches a wall, or `None`.
fn hit(sphere: Sphere, wall: Wall, dt: f32) -> Option<(f32, f32)> {
    let found = detect(&[sphere], &Walls::from_iter([wall]), dt);
    assert!(found.walls.len() <= 1);
    let hit = found.walls.first()?;
    assert_eq!((hit.sphere, hit.wall), (0, 0));
    Some((hit.toi, hit.depth))
}

fn ball(center: [f32; 3], radius: f32, velocity: [f32; 3]) -> Sphere {
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
        let first = detect(&spheres, &wall(offset), 1.0).earliest();
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

fn message(walls: Walls, step: Step<'_>) -> String {
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

/// Returns all images (periodic copies) of a sphere that may be within a distance of a point or
/// axis during the step.
fn images_near(sphere: &Sphere, wall: &Wall, dt: f32, domain: &Domain) -> Vec<[i32; 3]> {
    let vector = |x: [f32; 3]| Vec3::from(x).as_dvec3();
    let (point, axis, radius) = match wall.shape() {
        WallShape::Sphere {
            center,
            radius,
            hollow: false,
        } => (center, None, radius),
        WallShape::Cylinder {
            point,
            axis,
            radius,
            hollow: false,
        } => (point, Some(vector(axis).normalize()), radius),
        _ => return vec![[0; 3]],
    };
    let across = |x: DVec3| axis.map_or(x, |axis| axis.cross(x));
    let edges = domain.edges().map(DVec3::from);
    let range = |k: usize| {
        let fixed = !domain.periodic()[k] || across(edges[k]).length() < 1e-9;
        // If only one edge is periodic, it may be nearly parallel to the axis of the cylinder. Then an image
        // that is displaced by many edges may still be near the cylinder.
        let most = if domain.periodic().iter().filter(|&&x| x).count() == 1 {
            99
        } else {
            9
        };
        if fixed { 0..=0 } else { -most..=most }
    };
    let speed = vector(sphere.velocity) - vector(wall.velocity());
    let reach = f64::from(radius + sphere.radius) + speed.length() * f64::from(dt) + 0.1;
    let mut images = Vec::new();
    for i in range(0) {
        for j in range(1) {
            for k in range(2) {
                let by =
                    edges[0] * f64::from(i) + edges[1] * f64::from(j) + edges[2] * f64::from(k);
                let away = vector(sphere.center) + by - vector(point);
                if across(away).length() < reach {
                    images.push([i, j, k]);
                }
            }
        }
    }
    images
}

#[test]
fn periodic_worlds_agree_with_exact_arithmetic() {
    let mut detector = detector();
    let mut images = 0;
    for seed in 0..2_000 {
        let (world, domain) = periodic_world(&mut Rng::with_seed(seed));
        let step = Step::new(&world.spheres, world.dt).in_domain(&domain);
        let found = detector.detect(&step.with_walls(&world.walls));
        let found = found.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(found.walls.len(), found.walls.images().len());
        let mut listed = found.walls.iter_with_images();
        for (i, sphere) in world.spheres.iter().enumerate() {
            for (k, wall) in world.walls.simple().iter().enumerate() {
                for image in images_near(sphere, wall, world.dt, &domain) {
                    let exact = AtWall::new(sphere, wall, &domain, image);
                    if !exact.touches(world.dt) {
                        continue;
                    }
                    let what =
                        || format!("seed {seed}: {sphere:?} {image:?} at {wall:?} {domain:?}");
                    let (hit, by) = listed
                        .next()
                        .unwrap_or_else(|| panic!("missing {}", what()));
                    let names = (hit.sphere as usize, hit.wall as usize, by);
                    assert_eq!(names, (i, k, image), "{}", what());
                    assert!(exact.rounds_to_toi(hit.toi), "{hit:?}, {}", what());
                    assert!(exact.rounds_to_depth(hit.depth), "{hit:?}, {}", what());
                    images += usize::from(image != [0; 3]);
                }
            }
        }
        assert_eq!(
            listed.next(),
            None,
            "seed {seed}: {domain:?} {:?}",
            world.walls
        );
    }
    assert!(images > 1_000, "{images}");
}

#[test]
fn the_image_of_a_sphere_touches_a_wall() {
    let domain = Domain::rectangular([0.0; 3], [10.0; 3]);
    let spheres = [Sphere::new([9.5, 5.0, 5.0], 1.0)];
    let walls = Walls::from_iter([
        Wall::sphere([0.25, 5.0, 5.0], 0.5),
        Wall::cylinder([0.25, 5.0, 0.0], [0.0, 0.0, 1.0], 0.5),
    ]);
    let step = Step::new(&spheres, 1.0)
        .in_domain(&domain)
        .with_walls(&walls);
    let found = detector().detect(&step).expect("a valid step");
    assert_eq!(found.walls.images(), [[-1, 0, 0]; 2]);
    assert!(found.walls.iter().all(|hit| hit.depth == 0.75));
    let contact = found.walls[1].contact_of_image(&spheres[0], &walls, &domain, [-1, 0, 0]);
    let contact = contact.expect("wall 1 exists");
    assert_eq!(
        (contact.point, contact.normal),
        ([0.5, 5.0, 5.0], [1.0, 0.0, 0.0])
    );
    // The image in `walls` is that of the sphere that touches the wall: the sphere displaced by −1
    // edge along x. `earliest` names the image of the wall that touches the sphere: the wall
    // displaced by +1 edge along x.
    assert_eq!(
        found.earliest()[0].map(|first| (first.partner, first.image)),
        Some((Partner::Wall(0), [1, 0, 0]))
    );
}

#[test]
fn walls_that_do_not_repeat_are_named() {
    let sphere = [Sphere::new([0.0; 3], 1.0)];
    let cases: [(Wall, [bool; 3], &str); 6] = [
        (
            Wall::half_space([0.0, 1.0, 1.0], 0.0),
            [true, true, false],
            "the half-space does not",
        ),
        (
            Wall::half_space([0.0, 0.0, 1.0], 0.0),
            [true; 3],
            "the half-space does not",
        ),
        (
            Wall::cylinder([0.0; 3], [1.0, 1.0, 0.0], 1.0),
            [true, true, false],
            "the cylinder does not",
        ),
        (
            Wall::cylinder([0.0; 3], [1.0, 1.0, 0.0], 1.0),
            [true; 3],
            "the cylinder does not",
        ),
        (
            Wall::sphere_inside([0.0; 3], 9.0),
            [true, false, false],
            "infinitely many images outside",
        ),
        (
            Wall::cylinder_inside([0.0; 3], [1.0, 0.0, 0.0], 9.0),
            [true; 3],
            "a hollow wall does not",
        ),
    ];
    for (wall, periodic, what) in cases {
        let domain = Domain::rectangular([0.0; 3], [10.0; 3]).with_periodic(periodic);
        let text = message(
            Walls::from_iter([wall]),
            Step::new(&sphere, 1.0).in_domain(&domain),
        );
        assert!(
            text.contains("wall 0 is invalid") && text.contains(what),
            "{text}"
        );
    }
}

#[test]
fn too_many_images_are_an_error() {
    let domain = Domain::rectangular([0.0; 3], [1e-3; 3]);
    let sphere = [Sphere::new([0.0; 3], 0.0)];
    let wall = |radius| Walls::from_iter([Wall::cylinder([0.0; 3], [0.0, 0.0, 1.0], radius)]);
    for (radius, what) in [
        (1.0, "images in the periodic cell"),
        (1e6, "cells away from the periodic domain"),
    ] {
        let text = message(wall(radius), Step::new(&sphere, 1.0).in_domain(&domain));
        assert!(text.contains(what), "{text}");
    }
    let far = Walls::from_iter([
        Wall::half_space([0.0, 0.0, 1.0], 9.0),
        Wall::sphere([1e7; 3], 1.0),
    ]);
    let domain = Domain::rectangular([0.0; 3], [1.0; 3]).with_periodic([true, true, false]);
    let text = message(far, Step::new(&sphere, 1.0).in_domain(&domain));
    assert!(
        text.contains("wall 1 is invalid: it passes more than"),
        "{text}"
    );
}

/// Returns a mesh in the shape of a sphere: an octahedron whose edges are divided into `parts` parts, with its
/// vertices moved onto the sphere. It has 8·`parts`² triangles.
fn ball_of_triangles(radius: f32, parts: u8) -> Mesh {
    let mut triangles: Vec<[Vec3; 3]> = Vec::new();
    for x in [Vec3::X, Vec3::NEG_X] {
        for y in [Vec3::Y, Vec3::NEG_Y] {
            for z in [Vec3::Z, Vec3::NEG_Z] {
                let corner = |i: u8, j: u8| {
                    let [x_part, i, j] = [parts - i - j, i, j].map(f32::from);
                    (x * x_part + y * i + z * j).normalize()
                };
                for i in 0..parts {
                    for j in 0..parts - i {
                        let [next, above] = [corner(i + 1, j), corner(i, j + 1)];
                        triangles.push([corner(i, j), next, above]);
                        if i + j + 1 < parts {
                            triangles.push([next, corner(i + 1, j + 1), above]);
                        }
                    }
                }
            }
        }
    }
    let vertices = triangles
        .iter()
        .flatten()
        .map(|&place| (place * radius).to_array());
    let indices = (0..triangles.len() as u32).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]);
    Mesh::new(vertices.collect(), indices.collect()).expect("a valid mesh")
}

#[test]
fn a_mesh_is_touched_at_its_face_edge_and_corner() {
    let square = vec![[0.0; 3], [4.0, 0.0, 0.0], [4.0, 4.0, 0.0], [0.0, 4.0, 0.0]];
    let mesh = Mesh::new(square, vec![[0, 1, 2], [0, 2, 3]]).expect("a valid mesh");
    let mut walls = Walls::from_iter([Wall::half_space([0.0, 0.0, 1.0], -50.0)]);
    walls.push_mesh(mesh.with_velocity([0.0, 0.0, 1.0]));
    assert_eq!(walls.len(), 3);
    let down = [0.0, 0.0, -3.0];
    let spheres = [
        ball([3.0, 0.5, 5.0], 1.0, down),
        ball([5.0, 1.0, 0.0], 2.0, [0.0; 3]),
        ball([-3.0, 8.0, 0.0], 5.0, [0.0, 0.0, 1.0]),
        ball([2.0, 2.0, 3.0], 1.0, down),
        ball([2.0, 9.0, 3.0], 1.0, down),
    ];
    let found = detect(&spheres, &walls, 2.0);
    let hit = |sphere, wall, toi, depth| WallCollision {
        sphere,
        wall,
        toi,
        depth,
    };
    // The edge between two triangles belongs to both, so a sphere at this edge touches both.
    let expected = [
        hit(0, 1, 1.0, 0.0),
        hit(1, 1, 0.0, 1.0),
        hit(2, 2, 0.0, 0.0),
        hit(3, 1, 0.5, 0.0),
        hit(3, 2, 0.5, 0.0),
    ];
    assert_eq!(*found.walls, expected);
    let features = [Feature::Face, Feature::Edge(1), Feature::Corner(2)];
    for (hit, feature) in found.walls.iter().zip(features) {
        let contact = hit
            .contact(&spheres[hit.sphere as usize], &walls)
            .expect("the wall exists");
        assert_eq!(contact.feature, feature);
    }
    let contact = found.walls[0]
        .contact(&spheres[0], &walls)
        .expect("the wall exists");
    assert_eq!(
        (contact.point, contact.normal),
        ([3.0, 0.5, 1.0], [0.0, 0.0, -1.0])
    );
    assert_eq!(contact.approach_speed, 4.0);
}

#[test]
fn a_fast_mesh_hits_a_sphere_at_rest() {
    let triangle = vec![
        [-1.0, -1.0, -100.0],
        [2.0, -1.0, -100.0],
        [-1.0, 2.0, -100.0],
    ];
    let mesh = Mesh::new(triangle, vec![[0, 1, 2]]).expect("a valid mesh");
    let mut walls = Walls::default();
    walls.push_mesh(mesh.with_velocity([0.0, 0.0, 128.0]));
    let found = detect(&[ball([0.0; 3], 4.0, [0.0; 3])], &walls, 1.0);
    let [hit] = found.walls[..] else {
        panic!("{:?}", found.walls);
    };
    assert_eq!((hit.sphere, hit.wall, hit.toi), (0, 0, 0.75));
}

/// Tests that many spheres at a mesh give the same results as each sphere tested against each triangle alone,
/// in open space and in a periodic domain.
#[test]
fn a_mesh_is_the_sum_of_its_triangles() {
    let mut rng = Rng::with_seed(5);
    let quarters =
        |rng: &mut Rng, most: i32| [(); 3].map(|()| rng.i32(-4 * most..=4 * most) as f32 / 4.0);
    let mesh = |vertices| Mesh::new(vertices, vec![[0, 1, 2]]).ok();
    let mut detector = detector();
    let mut images = 0;
    for round in 0..16 {
        let velocity = if rng.bool() {
            quarters(&mut rng, 3)
        } else {
            [0.0; 3]
        };
        let mut single = Vec::new();
        let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
        while single.len() < 12 {
            let size = pick(&mut rng, &[1, 3, 12]);
            let corner = Vec3::from(quarters(&mut rng, 8));
            let corners =
                [(); 3].map(|()| (corner + Vec3::from(quarters(&mut rng, size))).to_array());
            if let Some(mesh) = mesh(corners.to_vec()) {
                let first = vertices.len() as u32;
                vertices.extend(corners);
                triangles.push([first, first + 1, first + 2]);
                single.push(mesh.with_velocity(velocity));
            }
        }
        let spheres: Vec<_> = (0..12)
            .map(|_| {
                let radius = rng.u8(..8) as f32 / 4.0;
                ball(quarters(&mut rng, 8), radius, quarters(&mut rng, 6))
            })
            .collect();
        let domain = match round % 2 {
            0 => Domain::open(),
            _ => Domain::triclinic([0.0; 3], SKEW).with_periodic([true, round % 4 == 1, false]),
        };
        let mut walls = Walls::new();
        let whole = Mesh::new(vertices, triangles).expect("a valid mesh");
        walls.push_mesh(whole.with_velocity(velocity));
        let step = Step::new(&spheres, 1.0)
            .in_domain(&domain)
            .with_walls(&walls);
        let found = detector.detect(&step).expect("a valid step");
        let listed = found.walls.iter_with_images();
        let mut listed = listed.map(|(hit, image)| (*hit, image));
        let range = |k: usize| if domain.periodic()[k] { -9..=9 } else { 0..=0 };
        for (i, sphere) in spheres.iter().enumerate() {
            for (k, mesh) in single.iter().enumerate() {
                let mut walls = Walls::new();
                walls.push_mesh(mesh.clone());
                for n in range(0).flat_map(|n| range(1).map(move |m| [n, m, 0])) {
                    let by = Vec3::from(SKEW[0]) * n[0] as f32 + Vec3::from(SKEW[1]) * n[1] as f32;
                    let center = Vec3::from(sphere.center) + by;
                    let moved = [Sphere {
                        center: center.to_array(),
                        ..*sphere
                    }];
                    if center.abs().max_element() > 40.0 {
                        continue;
                    }
                    let alone = detector.detect(&Step::new(&moved, 1.0).with_walls(&walls));
                    for hit in alone.expect("a valid step").walls {
                        let expected = WallCollision {
                            sphere: i as u32,
                            wall: k as u32,
                            ..hit
                        };
                        assert_eq!(listed.next(), Some((expected, n)), "round {round}");
                        images += usize::from(n != [0; 3]);
                    }
                }
            }
        }
        assert_eq!(listed.next(), None, "round {round}");
    }
    assert!(images > 50, "{images}");
}

/// Tests that every sphere that leaves a closed mesh touches the mesh.
#[test]
fn nothing_passes_through_a_closed_mesh() {
    let mut rng = Rng::with_seed(9);
    let mut walls = Walls::new();
    walls.push_mesh(ball_of_triangles(10.0, 16));
    let direction = |rng: &mut Rng| {
        loop {
            let x = Vec3::from([(); 3].map(|()| 2.0 * rng.f32() - 1.0));
            if (0.1..1.0).contains(&x.length()) {
                break x;
            }
        }
    };
    let spheres: Vec<_> = (0..5_000)
        .map(|_| {
            let radius = pick(&mut rng, &[0.0, 0.001, 0.1, 1.0]);
            let (center, velocity) = (direction(&mut rng) * 8.5, direction(&mut rng) * 100.0);
            Sphere::new(center, radius).with_velocity(velocity)
        })
        .collect();
    let found = detect(&spheres, &walls, 1.0);
    let mut touched = vec![None; spheres.len()];
    for hit in &found.walls {
        let first = touched[hit.sphere as usize].get_or_insert(hit.toi);
        *first = first.min(hit.toi);
    }
    for (sphere, touched) in spheres.iter().zip(touched) {
        let end = Vec3::from(sphere.center) + Vec3::from(sphere.velocity);
        let farthest = end.length() + sphere.radius;
        assert!(touched.is_some() || farthest <= 10.0, "{sphere:?}");
        // The mesh approximates a sphere of radius 10. Its corners are at this distance from its centre, but
        // the rest of its triangles is a little nearer. So a small sphere inside may touch a triangle before
        // any point of the small sphere is 10 away from the centre of the mesh.
        assert!(touched.is_none() || farthest > 9.9, "{sphere:?}");
    }
    assert!(found.walls.len() > spheres.len());
}

#[test]
fn invalid_meshes_are_named() {
    let corners = vec![
        [0.0; 3],
        [1.0, 0.0, 0.0],
        [0.0, f32::NAN, 0.0],
        [2.0, 0.0, 0.0],
    ];
    let mesh = |triangle| Mesh::new(corners.clone(), vec![triangle]);
    for (triangle, what) in [
        ([0, 1, 4], "it has the vertex 4, but there are 4 vertices"),
        ([0, 1, 2], "its vertex 2 has y = NaN"),
        ([0, 1, 3], "lie on one line, so it has no area"),
        ([0, 1, 1], "lie on one line, so it has no area"),
    ] {
        let error = mesh(triangle)
            .map(|_| ())
            .expect_err("an invalid mesh")
            .to_string();
        assert!(
            error.contains("triangle 0 of the mesh is invalid") && error.contains(what),
            "{error}"
        );
    }
    let huge = vec![
        [MAX_MAGNITUDE, 0.0, 0.0],
        [-MAX_MAGNITUDE; 3],
        [0.0, MAX_MAGNITUDE, 0.0],
    ];
    let error = Mesh::new(huge, vec![[0, 1, 2]])
        .map(|_| ())
        .expect_err("an invalid mesh");
    assert!(
        error.to_string().contains("does not fit into a sphere"),
        "{error}"
    );
    let mut walls = Walls::inside_box([0.0; 3], [1.0; 3]);
    walls.push_mesh(ball_of_triangles(1.0, 1).with_velocity([f32::NAN, 0.0, 0.0]));
    let text = message(walls, Step::new(&[Sphere::default()], 1.0));
    assert!(
        text.contains("wall 6 is invalid: its velocity.x is NaN"),
        "{text}"
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

//! Tests that carom's function `verify` reports every kind of mistake in a list of collisions, and none in a
//! correct list.

#![allow(
    clippy::cast_possible_truncation,
    reason = "random numbers are rounded to float32"
)]

mod backends;
mod oracle;
mod wall_worlds;
mod worlds;

use backends::detector;
use carom::{
    Backend, Collision, Detector, Domain, Error, HardSphere, Hits, Mesh, Options, Sphere, Step,
    Verification, Wall, WallCollision, Walls, toi, verify, verify_walls,
};
use fastrand::Rng;
use wall_worlds::{World, periodic_world};

fn list(spheres: &[Sphere], dt: f32) -> Vec<Collision> {
    match detector(Backend::Cpu, Options::default()).detect(&Step::new(spheres, dt)) {
        Ok(found) => found.pairs.into_parts().0,
        Err(error) => panic!("{error}"),
    }
}

fn checked(spheres: &[Sphere], dt: f32, list: &[Collision]) -> Verification {
    verify(&Step::new(spheres, dt), &Hits::new(list.to_vec()))
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_correct_list_passes_and_every_pair_is_tried() {
    for (world, spheres, dt) in worlds::all(400, 2) {
        let found = checked(&spheres, dt, &list(&spheres, dt));
        assert!(found.passed(), "{world}: {found}");
        let n = spheres.len() as u64;
        assert_eq!(found.tried, n * (n - 1) / 2, "{world}");
        let truth = oracle::brute_force(&spheres, dt);
        assert_eq!(found.touching, truth.hits.len() as u64, "{world}");
    }
}

#[test]
fn an_empty_list_misses_every_pair_of_the_oracle() {
    let spheres = carom_scenes::Scene::Fast.generate(2_000, 4);
    let found = checked(&spheres, 1.0, &[]);
    let missing: Vec<_> = found.missing.iter().map(|c| (c.a, c.b)).collect();
    assert_eq!(missing, oracle::brute_force(&spheres, 1.0).hits);
    assert_eq!(*found.missing, list(&spheres, 1.0));
    assert_eq!(found.mistakes(), missing.len() as u64);
}

#[test]
fn each_kind_of_mistake_is_classified() {
    let spheres = carom_scenes::Scene::Dense.generate(300, 1);
    let right = list(&spheres, 1.0);
    // Within one set of spheres, `verify` accepts any order of the list and of the two indices of a pair.
    let mut other_way: Vec<Collision> = right.iter().rev().copied().collect();
    for pair in &mut other_way {
        (pair.a, pair.b) = (pair.b, pair.a);
    }
    assert!(checked(&spheres, 1.0, &other_way).passed());

    let mut wrong = right.clone();
    let missing = wrong.remove(2);
    let repeated = wrong[3];
    wrong.push(repeated);
    let later = wrong[5].toi.next_up();
    let truth = std::mem::replace(&mut wrong[5].toi, later);
    wrong[6].depth = f32::NAN;
    wrong[7].toi = -wrong[7].toi;
    let negated = u64::from(wrong[7].toi.is_sign_negative());
    let apart = (1..300).find(|&b| toi(&spheres[0], &spheres[b], 1.0) == Ok(None));
    let apart = u32::try_from(apart.expect("some sphere does not touch sphere 0"))
        .expect("300 indices fit in a u32");
    let strays = [(0, apart), (7, 7), (0, 300), (300, 301), (u32::MAX, 0)];
    wrong.extend(strays.map(|(a, b)| Collision {
        a,
        b,
        ..Collision::default()
    }));
    let found = checked(&spheres, 1.0, &wrong);
    assert_eq!(*found.missing, [missing]);
    assert_eq!(found.repeated.len(), 1);
    assert_eq!(
        (found.repeated[0].a, found.repeated[0].b),
        (repeated.a, repeated.b)
    );
    assert_eq!(found.invented.len(), strays.len());
    assert_eq!(found.wrong.len() as u64, 2 + negated);
    assert_eq!(found.wrong[0].0.toi, later);
    assert_eq!(found.wrong[0].1.toi, truth);
    assert_eq!(found.mistakes(), 4 + negated + strays.len() as u64);
    assert!(!found.passed());
    for word in [
        "missing: 1",
        "invented: 5",
        "repeated: 1",
        "wrong time or depth",
    ] {
        assert!(found.to_string().contains(word), "{found}");
    }
}

/// The list has two entries for one pair of spheres, a right one and a wrong one. The wrong one
/// must be reported as a surplus entry for the pair, whichever comes first.
#[test]
fn a_right_entry_and_a_wrong_one_for_a_pair_are_one_mistake() {
    let spheres = [0.0, 1.0].map(|x| Sphere::new([x, 0.0, 0.0], 1.0));
    let right = list(&spheres, 1.0)[0];
    let wrong = Collision {
        depth: 0.5,
        ..right
    };
    for list in [[right, wrong], [wrong, right]] {
        let found = checked(&spheres, 1.0, &list);
        assert_eq!((found.mistakes(), found.repeated), (1, vec![wrong].into()));
    }
}

#[test]
fn verify_respects_groups_and_two_sets() {
    let blind = Sphere::new([0.0; 3], 1.0).with_groups(1, 1);
    let seen = Sphere::new([0.5, 0.0, 0.0], 1.0);
    let found = checked(&[blind, blind, seen], 1.0, &[]);
    assert_eq!(found.touching, 2);
    let pair = |a, b| Collision {
        a,
        b,
        toi: 0.0,
        depth: 1.5,
    };
    let between = |list: &[Collision]| {
        let list = Hits::new(list.to_vec());
        verify(&Step::between(&[blind, seen], &[seen], 1.0), &list)
            .unwrap_or_else(|error| panic!("{error}"))
    };
    let truth = [
        pair(0, 0),
        Collision {
            depth: 2.0,
            ..pair(1, 0)
        },
    ];
    assert!(between(&truth).passed());
    assert_eq!(between(&truth).tried, 2);
    // Between two sets of spheres, `verify` does not accept the two indices of a pair in reverse order.
    assert_eq!(*between(&[truth[0], pair(0, 1)]).invented, [pair(0, 1)]);
}

#[test]
fn bad_input_is_an_error() {
    let spheres = [Sphere::new([f32::NAN, 0.0, 0.0], 1.0)];
    assert!(matches!(
        verify(&Step::new(&spheres, 1.0), &Hits::default()),
        Err(Error::InvalidSphere { index: 0, .. })
    ));
    assert!(matches!(
        verify(&Step::between(&[], &spheres, 1.0), &Hits::default()),
        Err(Error::InvalidSphere { set: Some(1), .. })
    ));
    assert!(matches!(
        verify(&Step::new(&[], -1.0), &Hits::default()),
        Err(Error::InvalidTimeStep { .. })
    ));
    assert!(checked(&[], 1.0, &[]).passed());
}

fn assert_soon<T>(work: impl FnOnce() -> T) -> T {
    let start = std::time::Instant::now();
    let result = work();
    let time = start.elapsed();
    assert!(time.as_secs() < 20, "{time:?}");
    result
}

/// The time follows the cells that one sphere crosses relative to the other, and not their squares or the distance along
/// an open direction.
#[test]
fn fast_spheres_in_periodic_cells_are_checked_soon() {
    let cell = Domain::rectangular([0.0; 3], [4.0; 3]).with_periodic([true, true, false]);
    for speed in [1e4, 1e17_f32] {
        let spheres = [
            Sphere::new([1.0, 1.0, 0.0], 0.5).with_velocity([0.0, 0.0, speed]),
            Sphere::new([5.25, 1.0, 2.0], 0.5),
        ];
        let step = Step::new(&spheres, 1.0).in_domain(&cell);
        let truth = assert_soon(|| verify(&step, &Hits::default())).expect("it is near");
        assert_eq!((truth.tried, truth.touching), (3, 1));
        assert_eq!(truth.missing.images(), [[-1, 0, 0]]);
        let toi = f64::from(truth.missing[0].toi) * f64::from(speed);
        assert!((toi - (2.0 - 0.9375_f64.sqrt())).abs() < 1e-6, "{toi}");
        let wide: Vec<_> = spheres.iter().copied().map(HardSphere::from).collect();
        let step = Step::new(&wide, 1.0).in_domain(&cell);
        let truth = assert_soon(|| verify(&step, &Hits::default())).expect("it is near");
        assert_eq!(truth.missing.images(), [[-1, 0, 0]]);
    }
    // Along the diagonal through all corners, where an image of the other sphere lies in each cell.
    let cell = Domain::rectangular([0.0; 3], [10.0; 3]);
    for cells in [40.0, 1000.0_f32] {
        let spheres = [
            Sphere::new([1.0; 3], 0.5).with_velocity([10.0 * cells; 3]),
            Sphere::new([3.0; 3], 0.5),
        ];
        let step = Step::new(&spheres, 1.0).in_domain(&cell);
        let found = assert_soon(|| detector(Backend::Cpu, Options::default()).detect(&step));
        let found = found.unwrap_or_else(|error| panic!("{error}"));
        let truth = assert_soon(|| verify(&step, &found.pairs));
        let truth = truth.unwrap_or_else(|error| panic!("{error}"));
        assert!(truth.passed(), "{truth}");
        assert_eq!(truth.touching, cells as u64);
        let walls = Walls::from_iter([
            Wall::sphere([3.0; 3], 0.5),
            Wall::cylinder([7.0, 3.0, 0.0], [0.0, 0.0, 1.0], 0.5),
        ]);
        let step = Step::new(&spheres[..1], 1.0)
            .in_domain(&cell)
            .with_walls(&walls);
        let truth = assert_soon(|| verify_walls(&step, &Hits::default()));
        let truth = truth.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(truth.touching, cells as u64);
    }
}

#[test]
fn what_takes_too_many_images_is_refused() {
    let cell = Domain::rectangular([0.0; 3], [1.0; 3]);
    let giant = [Sphere::new([0.0; 3], 3e3)];
    let step = Step::new(&giant, 1.0).in_domain(&cell);
    let refused = assert_soon(|| verify(&step, &Hits::default()));
    assert!(matches!(refused, Err(Error::TooManyImages { .. })));
    let walls = Walls::from_iter([Wall::sphere([0.0; 3], 3e3)]);
    let dust = [Sphere::new([0.0; 3], 0.0)];
    let step = Step::new(&dust, 1.0).in_domain(&cell).with_walls(&walls);
    let refused = assert_soon(|| verify_walls(&step, &Hits::default()));
    assert!(matches!(refused, Err(Error::TooManyImages { .. })));
    let fast = [
        Sphere::new([0.0; 3], 0.1).with_velocity([1e12, 0.0, 0.0]),
        Sphere::new([0.5; 3], 0.1),
    ];
    let step = Step::new(&fast, 1.0).in_domain(&cell);
    let refused = assert_soon(|| verify(&step, &Hits::default()));
    assert!(matches!(refused, Err(Error::ImageOutOfRange { .. })));
    // The fast one is named, whatever the order, and also if it is fast along an open edge.
    for (fastest, axis) in [(0, 0), (1, 0), (0, 2), (1, 2)] {
        let cell = cell.with_periodic([true, true, false]);
        let mut spheres = [0.0, 0.5].map(|x| Sphere::new([x; 3], 0.1));
        spheres[fastest].velocity[axis] = 1e17;
        let step = Step::new(&spheres, 1.0).in_domain(&cell);
        let options = Options::new().with_backend(Backend::Cpu);
        let mut detector = Detector::new(options).expect("the CPU needs nothing");
        for refused in [
            detector.detect(&step).map(|_| ()),
            verify(
                &step,
                &Hits::with_images(vec![], vec![]).expect("no images"),
            )
            .map(|_| ()),
        ] {
            match refused {
                Err(Error::ImageOutOfRange { index, .. }) => assert_eq!(index, fastest),
                other => assert!(axis == 2 && other.is_ok(), "{other:?}"),
            }
        }
    }
    let flat = Domain::triclinic(
        [0.0; 3],
        [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
    );
    let step = Step::new(&fast, 0.0).in_domain(&flat);
    let refused = verify(&step, &Hits::default());
    assert!(matches!(refused, Err(Error::InvalidDomain { .. })));
}

/// Compared with the detector, which finds images by a grid.
#[test]
fn right_lists_of_fast_spheres_in_oblique_cells_pass() {
    let mut rng = Rng::with_seed(83);
    let mut touching = 0;
    for world in 0..300 {
        let mut tilt = || rng.i32(-12..=12) as f32 / 4.0;
        let edges = [[4.0, 0.0, 0.0], [tilt(), 3.0, 0.0], [tilt(), tilt(), 5.0]];
        let periodic = [rng.bool(), rng.bool(), true];
        let domain = Domain::triclinic([0.0; 3], edges).with_periodic(periodic);
        let mut vector = |most: f32| [(); 3].map(|()| (rng.f32() - 0.5) * most);
        let spheres: Vec<_> = (0..6_u8)
            .map(|k| {
                let speed = if k < 2 { 200.0 } else { 4.0 };
                Sphere::new(vector(12.0), f32::from(k) / 8.0).with_velocity(vector(speed))
            })
            .collect();
        let step = Step::new(&spheres, 1.0).in_domain(&domain);
        let found = detector(Backend::Cpu, Options::default()).detect(&step);
        let found = found.unwrap_or_else(|error| panic!("{world}: {error}"));
        let truth = verify(&step, &found.pairs).unwrap_or_else(|error| panic!("{world}: {error}"));
        assert!(truth.passed(), "{world}: {truth}");
        touching += truth.touching;
    }
    assert!(touching > 900, "{touching}");
}

fn checked_walls(step: &Step<'_>, list: &Hits<WallCollision>) -> Verification<WallCollision> {
    verify_walls(step, list).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns a mesh of two triangles and moving spheres around it.
fn mesh_world(rng: &mut Rng) -> (Vec<Sphere>, Walls) {
    let mut walls = Walls::from_iter([Wall::cylinder([1.0, 1.0, 0.0], [0.0, 0.0, 2.0], 0.5)]);
    let corners = vec![
        [0.0, 0.0, 0.0],
        [3.0, 0.0, 1.0],
        [3.0, 3.0, 2.0],
        [0.0, 3.0, 0.0],
    ];
    let mesh = Mesh::new(corners, vec![[0, 1, 2], [0, 2, 3]]).expect("the triangles are valid");
    walls.push_mesh(mesh.with_velocity([0.5, 0.0, -0.25]).with_groups(1, 2));
    let quarters = |rng: &mut Rng, most: i32| [(); 3].map(|()| rng.i32(-most..=most) as f32 / 4.0);
    let spheres = (0..30).map(|_| {
        let sphere = Sphere::new(quarters(rng, 20), rng.u8(..5).into());
        let groups = if rng.u8(..8) == 0 { 2 } else { 1 };
        sphere
            .with_velocity(quarters(rng, 16))
            .with_groups(groups, 0)
    });
    (spheres.collect(), walls)
}

#[test]
fn right_lists_of_walls_pass() {
    let mut rng = Rng::with_seed(81);
    let mut touching = [0; 2];
    for world in 0..600 {
        let (world_of_walls, mut domain) = periodic_world(&mut rng);
        let World { spheres, walls, dt } = match world % 3 {
            0 => World::new(&mut rng),
            1 => world_of_walls,
            _ => {
                let (spheres, walls) = mesh_world(&mut rng);
                World {
                    spheres,
                    walls,
                    dt: 1.0,
                }
            }
        };
        if world % 3 == 0 {
            domain = Domain::open();
        } else if world % 3 == 2 {
            let periodic = [false, false, world % 2 == 0];
            domain = Domain::rectangular([0.0; 3], [6.0, 7.0, 5.0]).with_periodic(periodic);
        }
        let step = Step::new(&spheres, dt)
            .in_domain(&domain)
            .with_walls(&walls);
        let found = detector(Backend::Cpu, Options::default()).detect(&step);
        let found = found.unwrap_or_else(|error| panic!("{world}: {error}"));
        let truth = checked_walls(&step, &found.walls);
        assert!(truth.passed(), "{world}: {truth}");
        assert_eq!(truth.tried, (spheres.len() * walls.len()) as u64);
        touching[usize::from(domain.is_open())] += truth.touching;
        assert_eq!(truth.touching, found.walls.len() as u64);
    }
    assert!(touching.iter().all(|&count| count > 1000), "{touching:?}");
}

#[test]
fn each_kind_of_mistake_in_a_list_of_walls_is_classified() {
    let (spheres, walls) = mesh_world(&mut Rng::with_seed(5));
    let cell = Domain::rectangular([0.0; 3], [6.0, 7.0, 5.0]);
    for domain in [Domain::open(), cell.with_periodic([false, false, true])] {
        let (first, second) = spheres.split_at(12);
        let step = Step::between(first, second, 1.0);
        let step = step.in_domain(&domain).with_walls(&walls);
        let found = detector(Backend::Cpu, Options::default()).detect(&step);
        let found = found.unwrap_or_else(|error| panic!("{error}"));
        let right = found.walls;
        assert!(right.len() > 9 && checked_walls(&step, &right).passed());
        let truth = checked_walls(&step, &Hits::default());
        assert_eq!(truth.missing, right);

        let (mut wrong, mut images) = right.into_parts();
        let missing = wrong.remove(2);
        let later = wrong[5].toi.next_up();
        let before = std::mem::replace(&mut wrong[5].toi, later);
        wrong[6].depth = f32::NAN;
        let repeated = wrong[3];
        wrong.push(repeated);
        let strays = [(0, 3), (30, 0), (u32::MAX, u32::MAX)];
        wrong.extend(strays.map(|(sphere, wall)| WallCollision {
            sphere,
            wall,
            ..WallCollision::default()
        }));
        if !domain.is_open() {
            images.remove(2);
            images.push(images[3]);
            images.extend([[0; 3]; 3]);
            // A listed contact with a wrong image counts as an invented one, and the contact with the right
            // image is missing.
            images[0][2] += 100;
        }
        let moved = usize::from(!domain.is_open());
        let wrong = Hits::with_images(wrong, images).expect("one image for each entry");
        let truth = checked_walls(&step, &wrong);
        assert_eq!(truth.missing.len(), 1 + moved);
        assert_eq!(truth.missing[moved], missing);
        assert_eq!(truth.invented.len(), strays.len() + moved);
        assert_eq!(*truth.repeated, [repeated]);
        assert_eq!(truth.wrong.len(), 2);
        assert_eq!(
            (truth.wrong[0].0.toi, truth.wrong[0].1.toi),
            (later, before)
        );
        for word in [
            "of a sphere and a wall",
            "missing: ",
            "invented: ",
            "repeated: 1",
            "wrong time or depth: 2",
        ] {
            assert!(truth.to_string().contains(word), "{truth}");
        }
    }
}

#[test]
fn bad_walls_are_an_error() {
    let ball = [Sphere::new([0.0; 3], 1.0)];
    let walls = Walls::from_iter([Wall::half_space([0.0; 3], 0.0)]);
    let step = Step::new(&ball, 1.0);
    let invalid = verify_walls(&step.with_walls(&walls), &Hits::default());
    assert!(matches!(invalid, Err(Error::InvalidWall { wall: 0, .. })));
    let hits = vec![WallCollision::default()];
    let with_image = Hits::with_images(hits.clone(), vec![[0; 3]]).expect("one image for one hit");
    assert!(matches!(
        verify_walls(&step, &with_image),
        Err(Error::ImageCount { .. })
    ));
    let cell = Domain::rectangular([0.0; 3], [10.0; 3]);
    assert!(matches!(
        verify_walls(&step.in_domain(&cell), &Hits::new(hits)),
        Err(Error::ImageCount { .. })
    ));
    assert!(verify_walls(&step, &Hits::default()).is_ok_and(|truth| truth.passed()));
}

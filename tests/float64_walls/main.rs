//! Tests of spheres in float64 at walls, against exact arithmetic on every sphere and wall.

#[path = "../oracle/mod.rs"]
mod oracle;
#[path = "../float64/random.rs"]
mod random;
#[path = "../wall_worlds/mod.rs"]
mod wall_worlds;
mod worlds;

use std::error::Error;

use carom::{
    Backend, Collisions, Detector, Domain, ErrorKind, HardSphere, Hits, Mesh, Options, Step, Wall,
    WallShape, Walls, verify_walls,
};
use fastrand::Rng;
use glam::DVec3;
use oracle::dyadic::Dyadic;
use oracle::wide_walls::{AtObstacle, Obstacle};
use random::{unit, vector};
use worlds::{World, units, worlds};

type Test = Result<(), Box<dyn Error>>;

fn detector() -> Result<Detector, carom::Error> {
    Detector::new(Options::new().with_backend(Backend::Cpu))
}

fn plus(x: [f64; 3], y: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|k| x[k] + y[k])
}

/// Returns the same number, or one of the next float64 below or above it.
fn nudged(rng: &mut Rng, x: f64) -> f64 {
    match rng.u8(0..4) {
        0 => x.next_up(),
        1 => x.next_down().max(0.0),
        _ => x,
    }
}

#[test]
fn contacts_in_open_space_are_exact() -> Test {
    worlds(3_000, 1, false)
}

#[test]
fn contacts_in_periodic_domains_are_exact() -> Test {
    worlds(1_000, 2, true)
}

#[test]
#[ignore = "takes minutes"]
fn many_contacts_are_exact() -> Test {
    for seed in 0..10 {
        worlds(20_000, 100 + seed, false)?;
        worlds(10_000, 200 + seed, true)?;
    }
    Ok(())
}

/// Spheres and walls in float32 have the same contacts in float64.
#[test]
fn float32_worlds_have_the_same_contacts() -> Test {
    let mut rng = Rng::with_seed(3);
    let mut detector = detector()?;
    let mut touching = 0;
    for round in 0..2_000 {
        let (mut world, domain) = match round % 2 {
            0 => (wall_worlds::World::new(&mut rng), Domain::open()),
            _ => wall_worlds::periodic_world(&mut rng),
        };
        let vertices = [
            [0.0, 0.0, 1.0],
            [3.0, 0.0, 1.0],
            [0.0, 4.0, 1.0],
            [3.0, 4.0, 2.0],
        ];
        let mesh = Mesh::new(vertices.to_vec(), vec![[0, 1, 2], [1, 2, 3]])?;
        world.walls.push_mesh(mesh.with_velocity([0.5, 0.0, -1.0]));
        let step = Step::new(&world.spheres, world.dt).in_domain(&domain);
        let narrow = detector.detect(&step.with_walls(&world.walls))?;
        let wide: Vec<HardSphere> = world
            .spheres
            .iter()
            .copied()
            .map(HardSphere::from)
            .collect();
        let walls = Walls::from(&world.walls);
        let step = Step::new(&wide, world.dt.into()).in_domain(&domain);
        let found = detector.detect(&step.with_walls(&walls))?;
        let named = |sphere: u32, wall: u32, image: [i32; 3]| (sphere, wall, image);
        let expected = narrow.walls.iter_with_images();
        let expected: Vec<_> = expected
            .map(|(hit, n)| named(hit.sphere, hit.wall, n))
            .collect();
        let contacts = found.walls.iter_with_images();
        let contacts: Vec<_> = contacts
            .map(|(hit, n)| named(hit.sphere, hit.wall, n))
            .collect();
        assert_eq!(contacts, expected, "{:?} {:?}", world.spheres, world.walls);
        for (one, other) in narrow.walls.iter().zip(&found.walls) {
            let [toi, depth] = [one.toi, one.depth].map(f64::from);
            let near = |x: f64, y: f64| (x - y).abs() <= f64::from(f32::EPSILON) * y.abs() + 1e-44;
            assert!(
                near(toi, other.toi) && near(depth, other.depth),
                "{one:?} {other:?}"
            );
        }
        touching += contacts.len();
    }
    assert!(touching > 4_000, "{touching}");
    Ok(())
}

/// The last digit of a coordinate or a radius decides whether a sphere touches a wall, in the coordinates of a survey.
#[test]
fn the_last_digit_decides() -> Test {
    let mut detector = detector()?;
    for far in [0.0, 448_200.5, 4_582_300.25] {
        let corners = [
            [far - 8.0, far, far],
            [far + 8.0, far, far],
            [far, far + 8.0, far],
        ];
        let mut walls = Walls::from_iter([
            Wall::half_space([0.0, 0.0, 2.0], 2.0 * far),
            Wall::sphere([far, far, far - 3.0], 3.0),
            Wall::sphere_inside([far, far, far + 6.0], 6.0),
            Wall::cylinder([far, far - 70.0, far - 2.0], [0.0, 3.0, 0.0], 2.0),
            Wall::cylinder_inside([far + 50.0, far, far + 5.0], [7.0, 0.0, 0.0], 5.0),
        ]);
        walls.push_mesh(Mesh::new(corners.to_vec(), vec![[0, 1, 2]])?);
        for (radius, contacts) in [
            (0.125, 6),
            (0.125_f64.next_down(), 0),
            (0.125_f64.next_up(), 6),
        ] {
            let ball = [HardSphere::new([far, far, far + 0.125], radius)];
            for dt in [0.0, 1.0] {
                let found = detector.detect(&Step::new(&ball, dt).with_walls(&walls))?;
                assert_eq!(found.walls.len(), contacts, "{far} {radius:e}");
            }
            // It falls, and is at the walls at the end of the step.
            let falling = ball[0].with_velocity([0.0, 0.0, -1.0]);
            let falling = [HardSphere {
                center: [far, far, far + 1.125],
                ..falling
            }];
            let found = detector.detect(&Step::new(&falling, 1.0).with_walls(&walls))?;
            assert_eq!(found.walls.len(), contacts, "{far} {radius:e}");
            let late = 1.0_f64.next_down();
            let found = detector.detect(&Step::new(&falling, late).with_walls(&walls))?;
            assert!(found.walls.is_empty(), "{far} {radius:e}");
        }
    }
    Ok(())
}

/// Points that are exactly on a wall at the end of the step are listed. No radius covers rounding errors.
#[test]
fn points_on_walls_are_found() -> Test {
    let mut rng = Rng::with_seed(5);
    let mut detector = detector()?;
    // A number with few enough digits for exact sums, but too many for float32.
    let number = |rng: &mut Rng, most: f64| (unit(rng) * most * 1048576.0).round() / 1048576.0;
    for round in 0..400 {
        let speed = [0.0, 1.0, 500.0][rng.usize(0..3)];
        let extent = [1.0, 1000.0][rng.usize(0..2)];
        let (mut walls, mut points) = (Walls::new(), Vec::new());
        let few = |rng: &mut Rng| (unit(rng) * 64.0 * extent).round() / 64.0;
        let scaled = |x: [f64; 3], k: f64| x.map(|x| x * k);
        for kind in 0..6 {
            let q = [0; 3].map(|_| {
                if round % 2 == 0 {
                    few(&mut rng)
                } else {
                    number(&mut rng, extent)
                }
            });
            let w = [0; 3].map(|_| number(&mut rng, speed));
            let (j, k) = (few(&mut rng), few(&mut rng));
            let (wall, point): (WallShape<f64>, _) = match kind {
                0 => {
                    let shift = plus(scaled([0.0, 1.0, -1.0], j), scaled([2.0, -1.0, 0.0], k));
                    let offset = q[0] + 2.0 * q[1] + 2.0 * q[2];
                    let normal = [1.0, 2.0, 2.0];
                    (WallShape::HalfSpace { normal, offset }, plus(q, shift))
                }
                1 | 2 => {
                    let (center, radius, hollow) = (q, 3.0 * k.abs(), kind == 2);
                    let shape = WallShape::Sphere {
                        center,
                        radius,
                        hollow,
                    };
                    (shape, plus(q, scaled([2.0, -1.0, 2.0], k)))
                }
                3 | 4 => {
                    let (point, axis, radius) = (q, [0.0, 3.0, 4.0], 5.0 * k.abs());
                    let hollow = kind == 4;
                    let shape = WallShape::Cylinder {
                        point,
                        axis,
                        radius,
                        hollow,
                    };
                    let along = plus(q, scaled(axis, j));
                    (shape, plus(along, scaled([0.0, 4.0, -3.0], k)))
                }
                _ => {
                    let corners = [0; 3].map(|_| plus(q, [0; 3].map(|_| number(&mut rng, extent))));
                    let [a, b, c] = corners.map(DVec3::from);
                    let point = a + (b - a) * 0.25 + (c - a) * 0.375;
                    let mesh = Mesh::new(corners.to_vec(), vec![[0, 1, 2]])?;
                    walls.push_mesh(mesh.with_velocity(w));
                    points.push(HardSphere::new(plus(point.to_array(), w), 0.0));
                    continue;
                }
            };
            walls.push(Wall::from(wall).with_velocity(w));
            points.push(HardSphere::new(plus(point, w), 0.0));
        }
        // Alone, a point is the origin of the enclosing step.
        let alone = rng.usize(0..6);
        let expected: Vec<[u32; 2]> = (0..6).map(|k| [k, k]).collect();
        let found = detector.detect(&Step::new(&points, 1.0).with_walls(&walls))?;
        for pair in expected {
            let listed = found.walls.iter().any(|hit| [hit.sphere, hit.wall] == pair);
            assert!(listed, "{pair:?} is missing: {points:?} {walls:?}");
        }
        let found = detector.detect(&Step::new(&points[alone..=alone], 1.0).with_walls(&walls))?;
        let listed = found.walls.iter().any(|hit| hit.wall as usize == alone);
        assert!(listed, "{alone} is missing: {points:?} {walls:?}");
    }
    Ok(())
}

/// Small spheres in the middle of a large triangle, whose corners are rounded by more than the spheres' depths, are listed.
#[test]
fn spheres_far_from_the_corners_are_found() -> Test {
    let mut rng = Rng::with_seed(8);
    for _ in 0..400 {
        let corner = |rng: &mut Rng, angle: f64| {
            let angle = angle + 0.5 * rng.f64();
            [1000.0 * angle.cos(), 1000.0 * angle.sin(), 3.0 * unit(rng)]
        };
        let corners = [0.0, 2.0, 4.0].map(|angle| corner(&mut rng, angle));
        let [a, b, c] = corners.map(DVec3::from);
        let center = vector(&mut rng, 1e-3);
        let normal = (b - a).cross(c - a).normalize();
        // float64 rounds this distance by less than 1e-10.
        let radius = normal.dot(DVec3::from(center) - a).abs() + 1e-9;
        let mut walls = Walls::new();
        walls.push_mesh(Mesh::new(corners.to_vec(), vec![[0, 1, 2]])?);
        let sphere = [HardSphere::new(center, radius)];
        // A new detector, in whose enclosing step the sphere is the origin.
        let found = detector()?.detect(&Step::new(&sphere, 0.0).with_walls(&walls))?;
        assert_eq!(found.walls.len(), 1, "{sphere:?} {corners:?}");
    }
    Ok(())
}

/// Numbers that are large beside what is left of them: a wall that moves along its surface, a cylinder far along its axis, a
/// sphere with a far image at a small wall. The spheres touch the walls by less than float32 tells, and are in the middle of the
/// enclosing step, where only the growth of the walls finds them, or are far from it.
#[test]
fn narrow_contacts_are_found() -> Test {
    let mut rng = Rng::with_seed(9);
    let number =
        |x: DVec3, digits: i32| (x * f64::from(1 << digits)).round() / f64::from(1 << digits);
    let across = |x: f64| {
        let corners = [[x, -1.0, -1.0], [x, 2.0, -1.0], [x, -1.0, 2.0]];
        Mesh::new(corners.to_vec(), vec![[0, 1, 2]])
    };
    let mut touching = 0;
    for round in 0..3_200 {
        let direction = DVec3::from(vector(&mut rng, 1.0)).normalize_or(DVec3::X);
        let tangent = direction.cross(vector(&mut rng, 1.0).into());
        let hollow = rng.bool();
        let solid = |touch: f64| touch * if hollow { 1.0 - 1e-13 } else { 1.0 + 1e-13 };
        let ball = |at: DVec3, radius: f64| match hollow {
            true => Wall::sphere_inside(at.to_array(), radius),
            false => Wall::sphere(at.to_array(), radius),
        };
        // In an oblique cell, or in one that an axis nearly lies in, a far image may be displaced little.
        let n = rng.i32(200..900);
        let edge = 1.0 + rng.f64();
        let along_x =
            Domain::rectangular_f64([0.0; 3], [edge, 1.0, 1.0]).with_periodic([true, false, false]);
        let image = [n, 0, 0];
        let displaced = number(DVec3::new(f64::from(n) * edge, 0.0, 0.0), 10);
        let gap = (f64::from(n) * edge - displaced.x).abs() * (1.0 + 1e-9);
        let (mut walls, mut domain, mut of_touch) = (Walls::new(), Domain::open(), [0; 3]);
        let (mut far, mut radius, mut dt, mut velocity) = (None, 0.0, 0.0, [0.0; 3]);
        match round % 16 {
            0 => {
                dt = 1.0;
                let moves = tangent + direction * 1e-9;
                let offset = (1e-13 - direction.dot(moves)) * 2.0;
                let wall = Wall::half_space((direction * 2.0).to_array(), offset);
                walls.push(wall.with_velocity(moves.to_array()));
            }
            1 => {
                walls.push(ball(tangent, solid(tangent.length())));
            }
            2 => {
                let (along, axis) = (number(direction * 1000.0, 4), direction * 3.0);
                let radius = solid(direction.cross(along).length());
                walls.push(match hollow {
                    true => Wall::cylinder_inside(along.to_array(), axis.to_array(), radius),
                    false => Wall::cylinder(along.to_array(), axis.to_array(), radius),
                });
            }
            3 => {
                let along = number(tangent * 1000.0, 4);
                far = Some(along);
                let height = direction.dot(along);
                let offset = height + height.abs() * 1e-9;
                walls.push(Wall::half_space(direction.to_array(), offset));
            }
            // They stop just before the sphere.
            kind @ (4 | 5) => {
                dt = 1.0;
                let x = (1.0 + rng.f64()) * 1000.0;
                let at = number(if kind == 4 { tangent } else { DVec3::X * x }, 10);
                let moves = at * -(1.0 - 0.5_f64.powi(13) * rng.f64());
                let gap = (at + moves).length() * (1.0 + 1e-12);
                if kind == 4 {
                    walls.push(Wall::sphere(at.to_array(), gap).with_velocity(moves.to_array()));
                } else {
                    (radius, velocity) = (gap, moves.to_array());
                    walls.push_mesh(across(at.x)?.with_velocity(velocity));
                }
            }
            kind @ (6 | 7) => {
                (domain, of_touch) = (along_x, image);
                let at = if kind == 6 { displaced } else { DVec3::ZERO };
                walls.push(Wall::sphere(at.to_array(), gap));
                far = (kind == 7).then_some(-displaced);
            }
            8 => {
                (domain, of_touch, radius) = (along_x, image, gap);
                walls.push_mesh(across(displaced.x)?);
            }
            kind @ 9..=12 => {
                let off = |rng: &mut Rng| 0.003 * unit(rng);
                let edges = [
                    [edge, off(&mut rng), off(&mut rng)],
                    [off(&mut rng), edge, off(&mut rng)],
                    [0.0, 0.0, 1.0],
                ];
                domain = Domain::triclinic_f64([0.0; 3], edges).with_periodic([true, true, false]);
                of_touch = [n, n, 0];
                let by = (DVec3::from(edges[0]) + DVec3::from(edges[1])) * f64::from(n);
                let axis = DVec3::new(1.0, 1.0, 0.003 + 0.006 * rng.f64());
                let beside = number(by - axis * (by.dot(axis) / axis.length_squared()), 8);
                let radius = axis.cross(by - beside).length() / axis.length() * (1.0 + 1e-8);
                let at = if kind < 11 { beside } else { DVec3::ZERO };
                walls.push(Wall::cylinder(at.to_array(), axis.to_array(), radius));
                far = (kind >= 11).then_some(-beside);
            }
            kind => {
                let oblique = 30.0 + 20.0 * rng.f64();
                let edges = [[edge, 0.0, 0.0], [oblique, 1.0, 0.0], [0.0, 0.0, 1.0]];
                domain = Domain::triclinic_f64([0.0; 3], edges).with_periodic([true, true, false]);
                let m = rng.i32(10..20);
                let n = -(f64::from(m) * oblique / edge).round();
                #[allow(clippy::cast_possible_truncation, reason = "a whole number in range")]
                let image = [n as i32, m, 0];
                of_touch = image;
                let by = DVec3::new(n * edge + f64::from(m) * oblique, f64::from(m), 0.0);
                let beside = number(by, 10);
                let radius = (by - beside).length() * (1.0 + 1e-9);
                let at = if kind < 15 { beside } else { DVec3::ZERO };
                walls.push(Wall::sphere(at.to_array(), radius));
                far = (kind == 15).then_some(-beside);
            }
        }
        // The middle of three spheres is the origin of the enclosing step.
        let centers = match far {
            Some(far) => vec![far, DVec3::ZERO, -far],
            None => vec![DVec3::ZERO],
        };
        let spheres: Vec<_> = centers
            .iter()
            .map(|center| HardSphere::new(center.to_array(), radius))
            .collect();
        let obstacle = match walls.simple().first() {
            Some(wall) => Obstacle::Simple(*wall),
            None => {
                let mesh = &walls.meshes()[0];
                let corners = mesh.triangles()[0].map(|k| mesh.vertices()[k as usize]);
                Obstacle::Triangle(corners, velocity)
            }
        };
        let at = AtObstacle::new(&spheres[0], &obstacle, &domain, of_touch);
        if !at.touches(&Dyadic::from(dt)) {
            continue;
        }
        touching += 1;
        let step = Step::new(&spheres, dt)
            .in_domain(&domain)
            .with_walls(&walls);
        let found = detector()?.detect(&step)?.walls;
        let listed = found
            .iter_with_images()
            .any(|(hit, image)| hit.sphere == 0 && image == of_touch);
        assert!(
            listed,
            "{round} {spheres:?} {walls:?} {domain:?} {of_touch:?}"
        );
    }
    assert!(touching > 2_000, "{touching}");
    Ok(())
}

/// A hollow wall that moves fast together with a tiny sphere: the squares of their lengths, in units of the way, are 0.
#[test]
fn tiny_hollow_walls_that_move_fast_are_touched() -> Test {
    let power = |exponent: i32| 2_f64.powi(exponent);
    for [unit, speed] in [
        [power(-332), power(332)],
        [power(-300), power(66)],
        [power(-300), 1.0],
    ] {
        let center = [3.0 * unit, 4.0 * unit, 0.0];
        let sphere =
            |radius: f64| HardSphere::new(center, radius * unit).with_velocity([speed, 0.0, 0.0]);
        for wall in [
            Wall::sphere_inside([0.0; 3], 7.0 * unit),
            Wall::cylinder_inside([0.0; 3], [0.0, 0.0, 1.0], 7.0 * unit),
        ] {
            let walls = Walls::from_iter([wall.with_velocity([speed, 0.0, 0.0])]);
            for (radius, contacts) in [(2.0, 1), (2.0_f64.next_down(), 0), (3.0, 1)] {
                let spheres = [sphere(radius)];
                let found = detector()?.detect(&Step::new(&spheres, 1.0).with_walls(&walls))?;
                assert_eq!(found.walls.len(), contacts, "{spheres:?} {walls:?}");
            }
        }
    }
    Ok(())
}

/// A detector that keeps the meshes of its last step finds what a new one finds, also if spheres and meshes move far away, meshes
/// are replaced, or their order changes.
#[test]
fn steps_with_kept_meshes_are_exact() -> Test {
    let mut rng = Rng::with_seed(6);
    let mut kept = detector()?;
    let mut touching = 0;
    for round in 0..60 {
        let mut world = World::random(&mut rng, 1.0, 1.0, round % 2 == 1);
        world.walls.push_mesh(World::mesh(&mut rng, 1.0, [0.0; 3]));
        world.walls.push_mesh(World::mesh(&mut rng, 1.0, [0.0; 3]));
        for step in 0..12 {
            let found = world.detect(&mut kept, false)?;
            touching += world.check(&found);
            // Meshes that spheres ignore.
            let mut others = world.clone();
            for mesh in others.walls.meshes_mut() {
                *mesh = mesh.clone().with_groups([0, 1][rng.usize(0..2)], 0);
            }
            let listed = others.detect(&mut kept, false)?.walls;
            assert_eq!(listed, others.detect(&mut detector()?, false)?.walls);
            let meshes = world.walls.meshes_mut();
            match rng.u8(0..6) {
                0 => meshes.reverse(),
                1 => meshes[0] = World::mesh(&mut rng, 1.0, [0.0; 3]),
                2 => meshes[0] = meshes[0].clone().with_velocity(vector(&mut rng, 1.0)),
                3 => meshes[0] = meshes[1].clone(),
                _ => {}
            }
            let far = if step == 6 { 1e4 } else { 0.1 };
            for sphere in &mut world.spheres {
                let moved = vector(&mut rng, far);
                sphere.center = plus(sphere.center, moved);
                sphere.velocity = plus(sphere.velocity, vector(&mut rng, far));
            }
            if rng.u8(0..4) == 0 {
                world.dt = rng.f64();
            }
            if far > 1.0 && !world.domain.is_open() {
                break;
            }
        }
    }
    assert!(touching > 2_000, "{touching}");
    Ok(())
}

/// The list of walls does not depend on the backend.
#[test]
fn backends_agree() -> Test {
    let mut rng = Rng::with_seed(4);
    let mut cpu = detector()?;
    let mut gpu = Detector::new(Options::new().with_backend(Backend::Gpu))?;
    let mut contacts = 0;
    for round in 0..40 {
        let (size, slow) = units(&mut rng);
        let world = World::random(&mut rng, size, slow, round % 2 == 1);
        let expected = world.detect(&mut cpu, false)?;
        let found = match world.detect(&mut gpu, false) {
            Ok(found) => found,
            // A cell may be too small or too skewed for a GPU.
            Err(error) if error.kind() == ErrorKind::Device => continue,
            Err(error) => return Err(error.into()),
        };
        contacts += found.walls.len();
        assert_eq!(found.walls.images(), expected.walls.images());
        let bytes = |found: &Collisions<f64>| bytemuck::cast_slice::<_, u8>(&found.walls).to_vec();
        assert_eq!(bytes(&found), bytes(&expected));
    }
    assert!(contacts > 40, "{contacts}");
    Ok(())
}

/// Walls out of range, and walls that do not repeat with the domain, are named.
#[test]
fn invalid_walls_are_named() -> Test {
    let mut detector = detector()?;
    let ball = [HardSphere::new([0.0; 3], 1.0)];
    let mut message = |wall: Wall<f64>, dt: f64, domain: Domain| {
        let walls = Walls::from_iter([Wall::sphere([9.0; 3], 1.0), wall]);
        let step = Step::new(&ball, dt).with_walls(&walls).in_domain(&domain);
        let found = detector.detect(&step);
        let listed = verify_walls(&step, &Hits::default());
        let error = found.expect_err("an invalid wall").to_string();
        if domain.is_open() {
            assert_eq!(listed.expect_err("an invalid wall").to_string(), error);
        }
        error
    };
    let open = Domain::open();
    let far = message(Wall::sphere([0.0, 2e100, 0.0], 1.0), 1.0, open);
    assert!(
        far.contains("wall 1") && far.contains("center.y is 2e100"),
        "{far}"
    );
    assert!(far.contains("at most 1e100"), "{far}");
    let thin = message(Wall::half_space([1e-200, 0.0, 0.0], 1.0), 1.0, open);
    assert!(thin.contains("its plane is 1e200 away"), "{thin}");
    let fast = Wall::sphere([0.0; 3], 1.0).with_velocity([1e60, 0.0, 0.0]);
    let fast = message(fast, 1e50, open);
    assert!(fast.contains("velocity * dt.x is 1e110"), "{fast}");
    let negative = message(Wall::sphere([0.0; 3], -0.1), 1.0, open);
    assert!(negative.contains("its radius is -0.1"), "{negative}");
    let cell = Domain::rectangular([0.0; 3], [5.0; 3]);
    let floor = message(Wall::half_space([0.1, 0.0, 1.0], 0.0), 1.0, cell);
    assert!(
        floor.contains("does not repeat with the periodic domain"),
        "{floor}"
    );
    // Float32 tells this axis from the edge, or does not, depending on its rounding.
    let pipe = Wall::cylinder([0.0; 3], [1.000_000_05e-6, 0.0, 1.0], 1.0);
    let cell = cell.with_periodic([false, false, true]);
    let pipe = message(pipe, 1.0, cell);
    assert!(
        pipe.contains("its axis is nearly parallel to a periodic edge"),
        "{pipe}"
    );
    let flat = Mesh::new(
        vec![[0.1, 0.1, 0.1], [0.2, 0.2, 0.2], [0.4, 0.4, 0.4]],
        vec![[0, 1, 2]],
    );
    let flat: Result<Mesh<f64>, _> = flat;
    assert!(
        flat.expect_err("no area")
            .to_string()
            .contains("lie on one line")
    );
    Ok(())
}

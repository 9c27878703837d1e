//! Tests of walls in periodic domains.

use carom::{Domain, Partner, Sphere, Step, Wall, WallShape, Walls};
use fastrand::Rng;
use glam::{DVec3, Vec3};

use crate::detector;
use crate::oracle::walls::AtWall;
use crate::steps::message;
use crate::wall_worlds::periodic_world;

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
        found.earliest().expect("it fits in memory")[0].map(|first| (first.partner, first.image)),
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

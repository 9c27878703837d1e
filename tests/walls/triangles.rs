//! Tests of meshes.

use carom::{Domain, Feature, MAX_MAGNITUDE, Mesh, Sphere, Step, Wall, WallCollision, Walls};
use fastrand::Rng;
use glam::Vec3;

use crate::simple::ball;
use crate::steps::message;
use crate::wall_worlds::{SKEW, pick};
use crate::{detect, detector};

/// Returns a mesh in the shape of a sphere: an octahedron whose edges are divided into `parts` parts, with its
/// vertices moved onto the sphere. It has 8·`parts`² triangles.
pub(crate) fn ball_of_triangles(radius: f32, parts: u8) -> Mesh {
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

//! Tests that spheres that bounce at high speed inside a closed mesh never get through it.
//!
//! In each step, every sphere moves to its first impact with a sphere or a wall. Its velocity is reflected
//! there, and it moves on for the rest of the step. The environment variable `CAROM_STEPS` sets the number of
//! steps: a long run has 10 000.
#![cfg(feature = "native")]
#![allow(
    clippy::cast_possible_truncation,
    reason = "positions are rounded to float32"
)]

#[path = "../../../tests/backends/mod.rs"]
mod backends;

use std::path::Path;

use backends::detector;
use carom::{
    Backend, Collisions, Detector, Earliest, Error, Mesh, Options, Partner, Sphere, Step,
    WallCollision, Walls,
};
use carom_formats::read;
use fastrand::Rng;
use glam::{DVec3, Vec3};

/// Number of steps, unless the environment variable `CAROM_STEPS` says otherwise.
const STEPS: usize = 300;
/// Number of steps in the test of the GPU backend. This is less than [`STEPS`], because the GPU may
/// be a software adapter, which is slow.
const GPU_STEPS: usize = 60;
const RADIUS: f32 = 0.05;
/// Largest speed of a sphere, in radii per step.
const MOST_RADII: f32 = 100.0;
/// Maximum number of bounces of each sphere in a step. A sphere that has reached this number rests
/// until the next step.
const BOUNCES: usize = 4;
/// Gap between a sphere and the object that it has just hit, in units of the radius. Without the gap, the
/// sphere might touch the same object again at the start of its remaining motion.
const GAP: f64 = 1e-3;

fn steps(usual: usize) -> usize {
    let steps = std::env::var("CAROM_STEPS");
    steps.map_or(usual, |steps| steps.parse().expect("a number of steps"))
}

/// A closed mesh with spheres in it, and a function that returns how far inside the mesh a point is.
struct Vessel {
    walls: Walls,
    depth: fn(DVec3) -> f64,
    /// Half the edge length of a cube that contains the mesh.
    extent: f32,
}

/// Returns a mesh in the shape of a sphere of radius 2, made by dividing the faces of an icosahedron three
/// times.
fn icosphere() -> Vessel {
    let golden = 0.5 * (1.0 + 5.0_f32.sqrt());
    let mut corners = Vec::new();
    for [a, b] in [
        [1.0, golden],
        [-1.0, golden],
        [1.0, -golden],
        [-1.0, -golden],
    ] {
        corners.extend([[0.0, a, b], [a, b, 0.0], [b, 0.0, a]].map(|x| Vec3::from(x).normalize()));
    }
    let edge = 2.0 / (1.0 + golden * golden).sqrt();
    let near = |a: Vec3, b: Vec3| (a.distance(b) - edge).abs() < 1e-3;
    let mut faces = Vec::new();
    for (i, &a) in corners.iter().enumerate() {
        for (j, &b) in corners.iter().enumerate().skip(i + 1) {
            for &c in &corners[j + 1..] {
                if near(a, b) && near(b, c) && near(c, a) {
                    faces.push([a, b, c]);
                }
            }
        }
    }
    assert_eq!(faces.len(), 20);
    for _ in 0..3 {
        let parts = faces.iter().flat_map(|&[a, b, c]| {
            let [d, e, f] = [a + b, b + c, c + a].map(Vec3::normalize);
            [[a, d, f], [d, b, e], [f, e, c], [d, e, f]]
        });
        faces = parts.collect();
    }
    let faces = faces.into_iter().map(|face| face.map(|place| 2.0 * place));
    Vessel {
        walls: walls(faces),
        depth: |place| 2.0 - place.length(),
        extent: 2.0,
    }
}

const AROUND: usize = 64;
const ACROSS: usize = 32;

/// Returns a torus around z with the radii 2 and 0.7, read from an STL file.
fn torus() -> Vessel {
    let place = |i: usize, j: usize| {
        let turn = |k: usize, n: usize| (k % n) as f32 / n as f32 * std::f32::consts::TAU;
        let (sin_i, cos_i) = turn(i, AROUND).sin_cos();
        let (sin_j, cos_j) = turn(j, ACROSS).sin_cos();
        let away = 2.0 + 0.7 * cos_j;
        Vec3::new(away * cos_i, away * sin_i, 0.7 * sin_j)
    };
    let mut faces = Vec::new();
    for i in 0..AROUND {
        for j in 0..ACROSS {
            let [a, b] = [place(i, j), place(i + 1, j)];
            let [c, d] = [place(i + 1, j + 1), place(i, j + 1)];
            faces.extend([[a, b, c], [a, c, d]]);
        }
    }
    let folder = tempfile::tempdir().expect("a folder for the file");
    let path = folder.path().join("torus.stl");
    write_stl(&path, &faces);
    let walls = read::walls(&[], &[path], |x| x as f32).unwrap_or_else(|error| panic!("{error:#}"));
    // Triangles in an STL file do not share corners, so the reader must merge equal positions.
    let corners = walls.meshes()[0].vertices().len();
    assert_eq!((walls.len(), corners), (faces.len(), AROUND * ACROSS));
    Vessel {
        walls,
        depth: |place| 0.7 - (place.truncate().length() - 2.0).hypot(place.z),
        extent: 2.7,
    }
}

/// Writes a binary STL file: a header of 80 bytes, the number of triangles, and 50 bytes for each triangle.
fn write_stl(path: &Path, faces: &[[Vec3; 3]]) {
    let mut bytes = b"a torus".to_vec();
    bytes.resize(80, 0);
    bytes.extend((faces.len() as u32).to_le_bytes());
    for &[a, b, c] in faces {
        let normal = (b - a).cross(c - a).normalize_or_zero();
        for x in [normal, a, b, c].into_iter().flat_map(|x| x.to_array()) {
            bytes.extend(x.to_le_bytes());
        }
        bytes.extend([0; 2]);
    }
    std::fs::write(path, bytes).expect("the file is written");
}

/// Returns walls of triangles that share no corners.
fn walls(faces: impl Iterator<Item = [Vec3; 3]>) -> Walls {
    let vertices: Vec<_> = faces.flatten().map(|place| place.to_array()).collect();
    let count = vertices.len() as u32 / 3;
    let triangles = (0..count).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]);
    let mut walls = Walls::new();
    walls.push_mesh(Mesh::new(vertices, triangles.collect()).expect("a valid mesh"));
    walls
}

fn direction(rng: &mut Rng) -> Vec3 {
    loop {
        let x = Vec3::from([0; 3].map(|_| 2.0 * rng.f32() - 1.0));
        if (0.1..1.0).contains(&x.length()) {
            break x.normalize();
        }
    }
}

/// Returns spheres inside the vessel that do not touch it.
fn fill(vessel: &Vessel, count: usize, rng: &mut Rng) -> Vec<Sphere> {
    let mut spheres = Vec::new();
    while spheres.len() < count {
        let center = Vec3::from([0; 3].map(|_| vessel.extent * (2.0 * rng.f32() - 1.0)));
        let inside = (vessel.depth)(center.as_dvec3()) > f64::from(RADIUS) + 0.1;
        let apart = |other: &Sphere| center.distance(other.center.into()) > 2.1 * RADIUS;
        if inside && spheres.iter().all(apart) {
            spheres.push(Sphere::new(center, RADIUS));
        }
    }
    spheres
}

/// Moves all spheres by one step, with bounces. Returns the number of bounces off walls and off spheres.
fn advance(
    detector: &mut Detector,
    spheres: &mut [Sphere],
    walls: &Walls,
    found: &mut Collisions,
) -> Result<[usize; 2], Error> {
    let mut left = vec![1.0_f64; spheres.len()];
    let mut bounces = [0; 2];
    for _ in 0..BOUNCES {
        // Each sphere has a fraction x of its step left, which differs between spheres. Its velocity is
        // multiplied by x, so that all spheres can move in one step of length 1.
        let moving: Vec<Sphere> = spheres
            .iter()
            .zip(&left)
            .map(|(sphere, &left)| {
                let velocity = Vec3::from(sphere.velocity) * left as f32;
                Sphere::new(sphere.center, sphere.radius).with_velocity(velocity)
            })
            .collect();
        detector.detect_into(&Step::new(&moving, 1.0).with_walls(walls), found)?;
        let mut earliest_wall: Vec<Option<WallCollision>> = vec![None; spheres.len()];
        for hit in &found.walls {
            let first = &mut earliest_wall[hit.sphere as usize];
            if first.is_none_or(|first| hit.toi < first.toi) {
                *first = Some(*hit);
            }
        }
        for (index, first) in found.earliest()?.into_iter().enumerate() {
            let start = moving[index];
            let path = Vec3::from(start.velocity).as_dvec3();
            let center = Vec3::from(start.center).as_dvec3();
            // The normal points from the sphere to what it touches.
            let at_sphere = first.and_then(|Earliest { toi, partner, .. }| {
                let Partner::Sphere(partner) = partner else {
                    return None;
                };
                let other = moving[partner as usize];
                let apart = Vec3::from(other.center).as_dvec3() - center;
                let relative = Vec3::from(other.velocity).as_dvec3() - path;
                let normal = (apart + relative * f64::from(toi)).normalize_or_zero();
                Some((toi, normal, relative.dot(normal) < 0.0))
            });
            // Two spheres may overlap at the start and move apart. carom reports this as an impact at time 0,
            // but the spheres do not bounce. If this is the earliest impact of a sphere, the sphere bounces
            // only if it also touches a wall.
            let (toi, normal) = match (at_sphere, earliest_wall[index]) {
                (Some((toi, normal, approaches)), _) if toi > 0.0 || approaches => {
                    bounces[1] += 1;
                    (f64::from(toi), normal)
                }
                (at_sphere, Some(hit)) => {
                    bounces[0] += 1;
                    // carom's reduction `earliest` must agree with the first impact found in the list of wall
                    // collisions.
                    if let (None, Some(first)) = (at_sphere, first) {
                        assert_eq!(first.toi, hit.toi);
                    }
                    let contact = hit.contact(&start, walls).expect("the wall exists");
                    (f64::from(hit.toi), Vec3::from(contact.normal).as_dvec3())
                }
                (_, None) => {
                    spheres[index].center = (center + path).as_vec3().to_array();
                    left[index] = 0.0;
                    continue;
                }
            };
            let gap = normal * GAP * f64::from(RADIUS);
            spheres[index].center = (center + path * toi - gap).as_vec3().to_array();
            let velocity = Vec3::from(spheres[index].velocity).as_dvec3();
            let approach = velocity.dot(normal).max(0.0);
            spheres[index].velocity = (velocity - 2.0 * approach * normal).as_vec3().to_array();
            left[index] *= 1.0 - toi;
        }
    }
    Ok(bounces)
}

fn nothing_gets_through(backend: Backend, vessel: &Vessel) {
    let mut rng = Rng::with_seed(7);
    let mut detector = detector(backend, Options::new());
    let mut spheres = fill(vessel, 200, &mut rng);
    let mut found = Collisions::default();
    let mut bounces = [0; 2];
    let steps = steps(match backend {
        Backend::Gpu => GPU_STEPS,
        _ => STEPS,
    });
    for step in 0..steps {
        for sphere in &mut spheres {
            let speed = MOST_RADII * RADIUS * rng.f32();
            sphere.velocity = (direction(&mut rng) * speed).to_array();
        }
        let advanced = advance(&mut detector, &mut spheres, &vessel.walls, &mut found);
        let advanced = advanced.unwrap_or_else(|error| panic!("step {step}: {error}"));
        bounces = [0, 1].map(|k| bounces[k] + advanced[k]);
        for (index, sphere) in spheres.iter().enumerate() {
            let depth = (vessel.depth)(Vec3::from(sphere.center).as_dvec3());
            assert!(
                depth > 0.0,
                "sphere {index} is outside after step {step}: {sphere:?}"
            );
        }
    }
    println!("{steps} steps: {bounces:?} bounces off walls and off spheres");
    assert!(
        bounces.iter().all(|&count| count > 10 * steps),
        "{bounces:?}"
    );
}

#[test]
fn no_sphere_gets_through_an_icosphere() {
    nothing_gets_through(Backend::Cpu, &icosphere());
}

#[test]
fn no_sphere_gets_through_an_icosphere_on_the_gpu() {
    nothing_gets_through(Backend::Gpu, &icosphere());
}

#[test]
fn no_sphere_gets_through_a_torus_on_the_gpu() {
    nothing_gets_through(Backend::Gpu, &torus());
}

#[test]
fn no_sphere_gets_through_a_torus() {
    nothing_gets_through(Backend::Cpu, &torus());
}

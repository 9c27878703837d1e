//! Tests of meshes.

use std::collections::HashSet;

use carom::gpu::{BufferOptions, RawCollisions, Status};
use carom::{Collisions, Domain, Mesh, Sphere, Step, Wall, Walls};
use fastrand::Rng;
use glam::{DVec3, Vec3};

use crate::device::{Device, exact};
use crate::results::{WALL, summary};
use crate::simple::check_lists;
use crate::wall_worlds::pick;
use crate::{buffers, on_cpu, options};

/// Returns a mesh of a few triangles. In half of the meshes, all coordinates are multiples of `unit` / 2. In
/// the other half, they are arbitrary numbers.
pub(crate) fn random_mesh(rng: &mut Rng, unit: f32) -> Mesh {
    let whole = rng.bool();
    let corner = |rng: &mut Rng| {
        [(); 3].map(|()| {
            let shaken = if whole { 0.0 } else { rng.f32() };
            (rng.i32(-12..=12) as f32 / 2.0 + shaken) * unit
        })
    };
    let corners: Vec<_> = (0..8).map(|_| corner(rng)).collect();
    let mut triangles = Vec::new();
    while triangles.len() < 4 {
        let triangle = [(); 3].map(|()| rng.u32(..8));
        if Mesh::new(corners.clone(), vec![triangle]).is_ok() {
            triangles.push(triangle);
        }
    }
    let mesh = Mesh::new(corners, triangles).expect("each triangle is valid");
    let speed = if rng.bool() { 0.0 } else { unit };
    let mesh = mesh.with_velocity([(); 3].map(|()| rng.i32(-4..=4) as f32 * speed));
    match rng.u8(..4) {
        0 => mesh.with_groups(2, 1),
        _ => mesh,
    }
}

/// Checks the entries of the GPU's float32 list of wall collisions that float32 can decide with certainty:
/// their times and depths must be close to the exact ones.
fn check_estimates(
    raw: &RawCollisions,
    expected: &Collisions,
    step: &Step<'_>,
    spheres: &[Sphere],
) {
    let walls = step.walls().expect("the step has walls");
    for (index, (hit, image)) in raw.walls().iter_with_images().enumerate() {
        if raw.is_wall_grazing(index) {
            continue;
        }
        let mut same = expected.walls.iter_with_images();
        let same = same.find(|(other, other_image)| {
            (other.sphere, other.wall, *other_image) == (hit.sphere, hit.wall, image)
        });
        let (exact, _) = same.expect("it is certain");
        assert!((hit.depth - exact.depth).abs() < 1e-3, "{hit:?} {exact:?}");
        let sphere = &spheres[hit.sphere as usize];
        let contact = exact.contact_of_image(sphere, walls, step.domain(), image);
        let speed = contact.expect("the wall exists").approach_speed.abs();
        assert!(
            (hit.toi - exact.toi).abs() * speed < 1e-3,
            "{hit:?} {exact:?}"
        );
    }
}

fn check_meshes(domain: &Domain, seeds: std::ops::Range<u64>) {
    let device = Device::real();
    let mut options = options().with_triangles(8);
    if !domain.is_open() {
        options = options.with_periodic();
    }
    let mut buffers = buffers(&device, &options);
    let mut all = [0; 2];
    for seed in seeds {
        let mut rng = Rng::with_seed(seed);
        let units = [1.0, 1.0, 1e-20, 3e9, 2.0_f32.powi(-130), 2.0_f32.powi(50)];
        let unit = if domain.is_open() {
            pick(&mut rng, &units)
        } else {
            1.0
        };
        let number = |rng: &mut Rng, most: i32| rng.i32(-most..=most) as f32 / 4.0 * unit;
        let sphere = |rng: &mut Rng| {
            let center = [(); 3].map(|()| number(rng, 32));
            let sphere = Sphere::new(center, number(rng, 6).abs());
            let still = rng.u8(..3) == 0;
            let velocity = [(); 3].map(|()| if still { 0.0 } else { number(rng, 32) });
            sphere
                .with_velocity(velocity)
                .with_groups(pick(rng, &[1, 2]), 0)
        };
        let spheres: Vec<_> = (0..rng.usize(1..20)).map(|_| sphere(&mut rng)).collect();
        let mut walls = Walls::new();
        if rng.bool() {
            let center = [(); 3].map(|()| number(&mut rng, 8));
            walls.push(Wall::sphere(center, number(&mut rng, 8).abs()));
        }
        walls.push_mesh(random_mesh(&mut rng, unit));
        if rng.bool() {
            walls.push_mesh(random_mesh(&mut rng, unit));
        }
        let dt = pick(&mut rng, &[0.0, 0.5, 1.0, 2.0]);
        let step = Step::new(&spheres, dt).with_walls(&walls).in_domain(domain);
        let what = format!("seed {seed}");
        let (expected, raw, counts) = check_lists(&device, &mut buffers, &step, &spheres, &what);
        all = [all[0] + counts[0], all[1] + counts[1]];
        if unit == 1.0 {
            check_estimates(&raw, &expected, &step, &spheres);
        }
    }
    println!("{} certain and {} grazing wall collisions", all[0], all[1]);
    assert!(all[0] > 1000 && all[1] > 50, "{all:?}");
    device.assert_silent();
}

#[test]
fn random_meshes_have_the_wall_collisions_of_the_cpu() {
    check_meshes(&Domain::open(), 0..600);
}

#[test]
fn random_meshes_in_a_periodic_domain_have_the_wall_collisions_of_the_cpu() {
    let edges = [[5.0, 0.0, 0.0], [1.5, 6.0, 0.0], [0.5, -1.0, 7.0]];
    let domain = Domain::triclinic([1.0, 2.0, 3.0], edges).with_periodic([true, false, true]);
    check_meshes(&domain, 0..200);
}

fn unit_vector(rng: &mut Rng) -> DVec3 {
    loop {
        let x = DVec3::from([(); 3].map(|()| 2.0 * rng.f64() - 1.0));
        if (0.1..1.0).contains(&x.length()) {
            break x.normalize();
        }
    }
}

/// Returns a random point on the face, an edge or a corner of a triangle, and a direction. If a
/// sphere touches the triangle at this point, and its centre lies in this direction from the point,
/// it touches the triangle nowhere else.
fn place_on(rng: &mut Rng, corners: [DVec3; 3]) -> (DVec3, DVec3) {
    let first = rng.usize(..3);
    let [a, b, c] = [0, 1, 2].map(|k| corners[(first + k) % 3]);
    let (along, aside) = (b - a, c - a);
    let normal = along.cross(aside).normalize();
    let part = |rng: &mut Rng| 0.1 + 0.8 * rng.f64();
    match rng.u8(..3) {
        0 => {
            let point = a + (along + (c - b) * part(rng)) * part(rng);
            (point, if rng.bool() { normal } else { -normal })
        }
        1 => {
            let outward = along.cross(normal).normalize();
            let (sin, cos) = (std::f64::consts::PI * (rng.f64() - 0.5)).sin_cos();
            (a + along * part(rng), outward * cos + normal * sin)
        }
        _ => loop {
            let away = unit_vector(rng) - along.normalize() - aside.normalize();
            if away.dot(along) < 0.0 && away.dot(aside) < 0.0 {
                break (a, away.normalize());
            }
        },
    }
}

/// Returns a sphere that just touches a triangle of a mesh, up to a few units in the last place of its
/// radius. Relative to the mesh, the sphere is at rest, passes the triangle at a random time of the step, or
/// reaches it at the end of the step.
fn nearly_tangent(rng: &mut Rng, mesh: &Mesh, dt: f32) -> Sphere {
    let triangle = pick(rng, mesh.triangles());
    let corners = triangle.map(|k| Vec3::from(mesh.vertices()[k as usize]).as_dvec3());
    let (point, direction) = place_on(rng, corners);
    let radius = 0.25 + rng.f32();
    let touching = point + direction * f64::from(radius);
    let own = Vec3::from(mesh.velocity());
    let way = 4.0 * unit_vector(rng);
    let (way, time) = match rng.u8(..3) {
        0 => (DVec3::ZERO, 0.0),
        1 => (way - direction * way.dot(direction), rng.f64()),
        _ => (-direction * way.dot(direction).abs() + 0.1 * way, 1.0),
    };
    let velocity = own + way.as_vec3();
    let relative = velocity.as_dvec3() - own.as_dvec3();
    let center = touching - relative * (time * f64::from(dt));
    let radius = f32::from_bits(radius.to_bits() + rng.u32(..7) - 3);
    // Collision groups exclude pairs of spheres, so only contacts with triangles remain.
    Sphere::new(center.as_vec3(), radius)
        .with_velocity(velocity)
        .with_groups(1, 1)
}

/// Tests spheres that miss a triangle by so little, or overlap it so little, that float32 cannot tell.
#[test]
fn spheres_that_nearly_touch_a_triangle_are_decided_as_on_the_cpu() {
    let device = Device::real();
    let mut buffers = buffers(&device, &options().with_triangles(8));
    let (mut touching, mut missing) = (0, 0);
    for seed in 0..60 {
        let mut rng = Rng::with_seed(seed);
        let mesh = random_mesh(&mut rng, 1.0).with_groups(0, 0);
        let dt = pick(&mut rng, &[0.5, 1.0]);
        let spheres: Vec<_> = (0..60)
            .map(|_| nearly_tangent(&mut rng, &mesh, dt))
            .collect();
        let mut walls = Walls::new();
        walls.push_mesh(mesh);
        let step = Step::new(&spheres, dt).with_walls(&walls);
        let what = format!("seed {seed}");
        let (expected, raw, _) = check_lists(&device, &mut buffers, &step, &spheres, &what);
        let hits: HashSet<_> = expected.walls.iter().map(|x| (x.sphere, x.wall)).collect();
        let grazing = raw.walls().iter().enumerate();
        let grazing = grazing.filter(|&(k, _)| raw.is_wall_grazing(k));
        let grazing: HashSet<_> = grazing.map(|(_, hit)| (hit.sphere, hit.wall)).collect();
        touching += grazing.intersection(&hits).count();
        missing += grazing.difference(&hits).count();
    }
    println!("{touching} grazing spheres touch, and {missing} do not");
    assert!(touching > 500 && missing > 500, "{touching} {missing}");
    device.assert_silent();
}

#[test]
fn a_mesh_with_more_near_spheres_than_the_buffers_hold_is_reported_and_grows() {
    let device = Device::real();
    let triangles = 3000;
    let options = BufferOptions::new(64)
        .with_triangles(triangles)
        .with_earliest();
    let mut buffers = buffers(&device, &options);
    let corners = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let mesh = Mesh::new(corners, vec![[0, 1, 2]; triangles as usize]);
    let mut walls = Walls::new();
    walls.push_mesh(mesh.expect("the triangles are valid"));
    let place = |i| [0.02 * i as f32, 0.05, 2.0];
    let spheres: Vec<_> = (0..40)
        .map(|i| Sphere::new(place(i), 0.005).with_velocity([0.0, 0.0, -2.0]))
        .collect();
    let step = Step::new(&spheres, 1.0).with_walls(&walls);
    let short = summary(&device, &mut buffers, &step);
    assert!(
        short.status.contains(Status::MESH_TRUNCATED),
        "{:?}",
        short.status
    );
    assert!(!short.is_complete() && short.required_capacity().is_some());
    let expected = on_cpu(&step);
    assert_eq!(expected.walls.len(), 40 * triangles as usize);
    let found = exact(&device, &mut buffers, &step);
    assert_eq!(found.collisions.walls, expected.walls);
    let earliest = device.read(buffers.earliest().expect("asked for"));
    for impact in earliest[..80].as_chunks::<2>().0 {
        assert_eq!(impact[1], WALL);
        assert!((f32::from_bits(impact[0]) - 0.9975).abs() < 1e-4);
    }
    // A later step without the mesh has no wall collisions.
    let none = summary(&device, &mut buffers, &Step::new(&spheres, 1.0));
    assert_eq!(none.walls_found, 0);
}

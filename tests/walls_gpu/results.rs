//! Tests of earliest impacts, of contacts in a shader, and of lists that are too short.

use carom::gpu::{BufferOptions, CollisionBuffers, RawCollisions, Status, StepSummary, WGSL, wgpu};
use carom::{Collisions, Domain, Error, Feature, Mesh, Sphere, Step, Wall, Walls};
use fastrand::Rng;
use glam::Vec3;

use crate::device::{Device, Interleaved, exact, ready};
use crate::triangles::random_mesh;
use crate::wall_worlds::{World, periodic_world};
use crate::{buffers, check_raw, on_cpu, options, raw};

const NONE: u32 = u32::MAX;

/// The bit that marks a wall in `CaromEarliest::partner`: the constant `CAROM_WALL` of carom's WGSL.
pub(crate) const WALL: u32 = 1 << 31;

/// Computes the first impact of each sphere from the GPU's float32 lists. Returns its time, the word `partner`
/// as in the GPU's result, and the image of the partner.
fn earliest_of(raw: &RawCollisions, spheres: usize) -> Vec<(u32, u32, [i32; 3])> {
    let mut earliest = vec![(f32::MAX.to_bits(), NONE, [0; 3]); spheres];
    let mut meet = |sphere: u32, impact| {
        let first = &mut earliest[sphere as usize];
        *first = (*first).min(impact);
    };
    for (pair, image) in raw.pairs().iter_with_images() {
        meet(pair.a, (pair.toi.to_bits(), pair.b, image));
        meet(pair.b, (pair.toi.to_bits(), pair.a, image.map(|n| -n)));
    }
    for (hit, image) in raw.walls().iter_with_images() {
        let image = image.map(|n| -n);
        meet(hit.sphere, (hit.toi.to_bits(), hit.wall | WALL, image));
    }
    earliest
}

#[test]
fn earliest_impacts_are_over_spheres_and_walls() {
    let device = Device::real();
    let mut open = buffers(&device, &options().with_earliest());
    let mut periodic = buffers(&device, &options().with_earliest().with_periodic());
    let (mut at_walls, mut at_spheres) = (0, 0);
    for seed in 0..200 {
        let mut rng = Rng::with_seed(seed);
        let (world, domain, buffers) = if seed % 2 == 0 {
            (World::new(&mut rng), Domain::open(), &mut open)
        } else {
            let (world, domain) = periodic_world(&mut rng);
            (world, domain, &mut periodic)
        };
        let step = Step::new(&world.spheres, world.dt).with_walls(&world.walls);
        let step = step.in_domain(&domain);
        exact(&device, buffers, &step);
        let raw = raw(&device, buffers, &step);
        let expected = earliest_of(&raw, world.spheres.len());
        let found = device.read(buffers.earliest().expect("asked for"));
        let images = match domain.is_open() {
            true => None,
            false => Some(device.read(buffers.earliest_images().expect("asked for"))),
        };
        for (sphere, &(toi, partner, image)) in expected.iter().enumerate() {
            assert_eq!(
                found[2 * sphere..2 * sphere + 2],
                [toi, partner],
                "seed {seed}"
            );
            at_walls += usize::from(partner != NONE && partner & WALL != 0);
            at_spheres += usize::from(partner & WALL == 0);
            if let Some(images) = &images
                && partner != NONE
            {
                let word = image
                    .iter()
                    .fold(0, |word, n| word << 10 | (n + 512) as u32);
                assert_eq!(images[sphere], word, "seed {seed}");
            }
        }
    }
    assert!(
        at_walls > 300 && at_spheres > 100,
        "{at_walls} {at_spheres}"
    );
}

/// Spheres and walls of which many touch, whose numbers are multiples of an eighth, so that many neither approach nor part.
fn touching(rng: &mut Rng, periodic: bool) -> (Vec<Sphere>, Walls) {
    let vector = |rng: &mut Rng, most: i32| [(); 3].map(|()| 0.125 * rng.i32(-most..=most) as f32);
    let spheres = (0..64).map(|_| {
        let radius = 0.125 * rng.i32(0..20) as f32;
        Sphere::new(vector(rng, 30), radius).with_velocity(vector(rng, 2))
    });
    let spheres = spheres.collect();
    let mut walls = vec![
        Wall::sphere([1.0, -2.0, 0.5], 1.5),
        Wall::cylinder([0.5, 1.0, 2.0], [0.0, 1.0, 0.0], 0.75),
    ];
    if !periodic {
        walls.extend([
            Wall::half_space([0.25, -0.5, 0.125], -1.0),
            Wall::sphere_inside([0.5, 0.0, 0.0], 4.0),
            Wall::cylinder_inside([0.0; 3], [0.0, 0.25, 0.125], 3.0),
        ]);
    }
    let moving = walls
        .into_iter()
        .map(|wall| wall.with_velocity(vector(rng, 2)));
    let mut walls = Walls::from_iter(moving);
    let corners = vec![[0.0; 3], [3.0, 0.5, 0.0], [0.5, 2.0, 1.0], [-2.0, 1.0, 3.0]];
    let mesh = Mesh::new(corners, vec![[0, 1, 2], [0, 2, 3]]).expect("a valid mesh");
    walls.push_mesh(mesh.with_velocity(vector(rng, 1)));
    (spheres, walls)
}

/// A step without what parts has the exact list of the CPU, from the host's spheres and from the device's. On the device,
/// an entry that touches at the start and does not approach is there only with a mark, and first impacts lack it, too.
#[test]
fn what_parts_is_left_out_on_the_device() {
    let device = Device::real();
    let with = options().with_triangles(8).with_earliest();
    let mut open = buffers(&device, &with);
    let mut periodic = buffers(&device, &with.clone().with_periodic());
    let mut out = [0; 2];
    let mut marked = [0; 4];
    for seed in 0..16 {
        let mut rng = Rng::with_seed(seed);
        let is_periodic = seed % 2 == 1;
        let (spheres, walls) = touching(&mut rng, is_periodic);
        let (domain, buffers) = if is_periodic {
            (Domain::rectangular([-6.0; 3], [12.0; 3]), &mut periodic)
        } else {
            (Domain::open(), &mut open)
        };
        let whole = Step::new(&spheres, 1.0)
            .with_walls(&walls)
            .in_domain(&domain);
        let step = whole.without_separating();
        let (all, expected) = (on_cpu(&whole), on_cpu(&step));
        let assert_same = |found: &Collisions| {
            assert_eq!(found.pairs, expected.pairs, "seed {seed}");
            assert_eq!(found.walls, expected.walls, "seed {seed}");
        };
        assert_same(&exact(&device, buffers, &step).collisions);
        let source = Interleaved::new(&device, &spheres);
        let on_device = Step::on_device(source.spheres(), 1.0).with_walls(&walls);
        let on_device = on_device.in_domain(&domain).without_separating();
        assert_same(&exact(&device, buffers, &on_device).collisions);
        let raw = raw(&device, buffers, &step);
        let [_, grazing] = check_raw(&raw, &expected, &step, &spheres);
        let pairs = raw.pairs().iter_with_images().enumerate();
        let mut certain: Vec<_> = (pairs.filter(|(k, _)| !raw.is_grazing(*k)))
            .map(|(_, (pair, image))| (pair, image))
            .collect();
        certain.sort_unstable_by_key(|(pair, image)| (pair.a, pair.b, *image));
        let listed: Vec<_> = expected.pairs.iter_with_images().collect();
        marked[0] += raw.pairs().len() - certain.len();
        if raw.pairs().len() == certain.len() {
            assert_eq!(certain, listed, "seed {seed}");
        }
        assert!(
            certain.iter().all(|pair| listed.contains(pair)),
            "seed {seed}"
        );
        marked[1] += grazing;
        marked[2] += listed.len();
        marked[3] += expected.walls.len();
        let first = device.read(buffers.earliest().expect("asked for"));
        for (sphere, &(toi, partner, _)) in earliest_of(&raw, 64).iter().enumerate() {
            assert_eq!(first[2 * sphere..2 * sphere + 2], [toi, partner]);
        }
        out[0] += all.pairs.len() - expected.pairs.len();
        out[1] += all.walls.len() - expected.walls.len();
        // The next step has everything again.
        assert_eq!(exact(&device, buffers, &whole).collisions.pairs, all.pairs);
    }
    let [pairs, at_walls, listed, listed_at_walls] = marked;
    assert!(out[0] > 250 && out[1] > 120, "{out:?}");
    assert!(
        10 * pairs < listed && 2 * at_walls < listed_at_walls,
        "{marked:?}"
    );
}

pub(crate) fn summary(
    device: &Device,
    buffers: &mut CollisionBuffers,
    step: &Step<'_>,
) -> StepSummary {
    let mut encoder = device.encoder();
    buffers
        .record(&mut encoder, step)
        .expect("the step is valid");
    let ticket = buffers
        .read_summary(&mut encoder)
        .expect("a step is recorded");
    ready(device.finish(encoder, ticket))
}

#[test]
fn a_list_that_is_too_short_is_reported_and_grows() {
    let device = Device::real();
    let options = options().with_wall_collisions(3);
    let mut buffers = buffers(&device, &options);
    let spheres: Vec<_> = (0..10)
        .map(|i| Sphere::new([3.0 * i as f32, 0.0, 0.0], 1.0))
        .collect();
    let walls = Walls::from_iter([Wall::half_space([0.0, 0.0, 1.0], 0.0)]);
    let step = Step::new(&spheres, 1.0).with_walls(&walls);
    let short = summary(&device, &mut buffers, &step);
    assert_eq!(short.status, Status::WALLS_TRUNCATED);
    assert!(!short.is_complete());
    assert_eq!((short.walls, short.walls_found), (3, 10));
    let required = short.required_capacity().expect("the list is too short");
    assert_eq!(required.wall_collisions, 10);

    let mut encoder = device.encoder();
    buffers
        .record(&mut encoder, &step)
        .expect("the step is valid");
    let ticket = buffers
        .read_exact(&mut encoder)
        .expect("a step is recorded");
    assert!(matches!(
        device.finish(encoder, ticket),
        Err(Error::Truncated { required: told, .. }) if told == required
    ));

    assert!(buffers.grow(&required).expect("there is memory"));
    assert!(buffers.capacity().wall_collisions >= 10);
    let full = summary(&device, &mut buffers, &step);
    assert!(full.is_complete());
    assert_eq!((full.walls, full.walls_found), (10, 10));
    assert_eq!(
        exact(&device, &mut buffers, &step).collisions.walls,
        on_cpu(&step).walls
    );
    // If the same buffers are then used for a step without walls, no wall collisions remain.
    let none = summary(&device, &mut buffers, &Step::new(&spheres, 1.0));
    assert_eq!((none.walls, none.walls_found), (0, 0));
    // An indirect dispatch over the wall collisions of a step reads its number of workgroups from
    // the buffer `wall_dispatch`. Ten wall collisions need one workgroup.
    summary(&device, &mut buffers, &step);
    assert_eq!(
        device.read(buffers.wall_dispatch().expect("asked for")),
        [1, 1, 1]
    );
}

/// Some drivers end long loops of a shader early, so that some walls are not tested. In this case,
/// the step must return an error. A step without an error must list all wall collisions.
#[test]
fn a_hundred_thousand_walls_are_all_tested_or_the_step_fails() {
    let device = Device::real();
    let count = 100_000;
    let mut buffers = buffers(&device, &options().with_walls(count));
    let far = Wall::half_space([0.0, 0.0, 1.0], -5.0);
    let near = Wall::half_space([0.0, 0.0, 1.0], 0.0);
    let walls = (1..count).map(|_| far).chain([near]);
    let walls = Walls::from_iter(walls);
    let spheres = [Sphere::new([0.0; 3], 1.0)];
    let mut encoder = device.encoder();
    let step = Step::new(&spheres, 1.0).with_walls(&walls);
    buffers
        .record(&mut encoder, &step)
        .expect("the step is valid");
    let mut ticket = buffers
        .read_exact(&mut encoder)
        .expect("a step is recorded");
    device.queue.submit([encoder.finish()]);
    device.wait();
    match ticket.try_take() {
        Ok(found) => assert_eq!(found.expect("ready").collisions.walls.len(), 1),
        Err(error) => assert!(error.to_string().contains("loops early"), "{error}"),
    }
}

#[test]
fn misuse_is_named() {
    let device = Device::real();
    let mut without = buffers(&device, &BufferOptions::new(4));
    let mut with = buffers(&device, &options().with_walls(2));
    let spheres = [Sphere::new([0.0; 3], 1.0)];
    let up = Wall::half_space([0.0, 0.0, 1.0], 0.0);
    let says = |buffers: &mut CollisionBuffers, walls: &Walls, text: &str| {
        let mut encoder = device.encoder();
        let step = Step::new(&spheres, 1.0).with_walls(walls);
        let on_host = buffers.record(&mut encoder, &step);
        let on_device = Interleaved::new(&device, &spheres);
        let on_device = on_device.spheres();
        let step = Step::on_device(on_device, 1.0).with_walls(walls);
        for failed in [on_host, buffers.record(&mut encoder, &step)] {
            let error = failed.expect_err(text).to_string();
            assert!(error.contains(text), "{error}");
        }
    };
    says(
        &mut without,
        &Walls::from_iter([up]),
        "BufferOptions::with_walls",
    );
    says(
        &mut with,
        &Walls::from_iter([up, up, up]),
        "the step has 3 walls, but the buffers were made for 2",
    );
    let invalid = Wall::half_space([0.0; 3], 0.0);
    says(
        &mut with,
        &Walls::from_iter([up, invalid]),
        "wall 1 is invalid",
    );
    let corners = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let mesh = Mesh::new(corners, vec![[0, 1, 2]; 3]).expect("the triangles are valid");
    let mut walls = Walls::new();
    walls.push_mesh(mesh);
    says(&mut with, &walls, "BufferOptions::with_triangles");
    let mut with_mesh = buffers(&device, &options().with_triangles(2));
    let text = "the step has 3 triangles, but the buffers were made for 2";
    says(&mut with_mesh, &walls, text);
    let asked = |result: Result<&wgpu::Buffer, Error>, option| {
        let error = result.expect_err(option).to_string();
        assert!(error.contains(option), "{error}");
    };
    asked(without.wall_collisions(), "BufferOptions::with_walls");
    asked(without.wall_dispatch(), "BufferOptions::with_walls");
    asked(without.wall_shapes(), "BufferOptions::with_walls");
    asked(with.wall_images(), "BufferOptions::with_periodic");
    asked(with.wall_triangles(), "BufferOptions::with_triangles");
    // A step without walls can be recorded into buffers that were created without the options for walls.
    let mut encoder = device.encoder();
    let nothing = Walls::new();
    let step = Step::new(&spheres, 1.0).with_walls(&nothing);
    without
        .record(&mut encoder, &step)
        .expect("there are no walls");
}

const CONTACTS: &str = "
@group(0) @binding(0) var<storage, read> results: CaromResults;
@group(0) @binding(1) var<storage, read> hits: array<CaromWallCollision>;
@group(0) @binding(2) var<storage, read> walls: array<CaromWall>;
@group(0) @binding(3) var<storage, read> spheres: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> triangles: array<CaromTriangle>;
@group(0) @binding(5) var<storage, read_write> contacts: array<vec4<f32>>;

@compute @workgroup_size(CAROM_WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = carom_index(results.wall_columns, id, local);
    if i < results.walls {
        let hit = hits[i];
        let place = spheres[2u * hit.sphere];
        let motion = spheres[2u * hit.sphere + 1u];
        let number = carom_wall(hit);
        var contact: CaromWallContact;
        if number < results.first_triangle {
            contact = carom_wall_contact(walls[number], place.xyz, place.w, motion.xyz, hit.toi);
        } else {
            let triangle = triangles[number - results.first_triangle];
            contact = carom_triangle_contact(triangle, place.xyz, place.w, motion.xyz, hit.toi);
        }
        contacts[2u * i] = vec4<f32>(contact.point, contact.approach_speed);
        contacts[2u * i + 1u] = vec4<f32>(contact.normal, f32(contact.feature));
    }
}
";

/// Runs the shader `CONTACTS` over the wall collisions of the last step.
fn contacts(device: &Device, buffers: &CollisionBuffers, spheres: &wgpu::Buffer) -> Vec<[f32; 8]> {
    let module = device
        .device
        .create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl([CONTACTS, WGSL].concat().into()),
        });
    let pipeline = device
        .device
        .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
    let out = device.words(&[0; 8 * 256]);
    let bound = [
        buffers.results(),
        buffers.wall_collisions().expect("asked for"),
        buffers.wall_shapes().expect("asked for"),
        spheres,
        buffers.wall_triangles().expect("asked for"),
        &out,
    ];
    let entries: Vec<_> = (0..)
        .zip(bound)
        .map(|(binding, buffer)| wgpu::BindGroupEntry {
            binding,
            resource: buffer.as_entire_binding(),
        })
        .collect();
    let group = device.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries,
    });
    let mut encoder = device.encoder();
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups_indirect(buffers.wall_dispatch().expect("asked for"), 0);
    drop(pass);
    device.queue.submit([encoder.finish()]);
    let words = device.read(&out);
    bytemuck::cast_slice::<u32, f32>(&words)
        .as_chunks()
        .0
        .to_vec()
}

#[test]
fn the_contacts_in_a_shader_are_those_of_the_host() {
    let device = Device::real();
    let mut buffers = buffers(&device, &options().with_triangles(8));
    let (mut compared, mut of_triangles, mut parts) = (0, 0, [0; 7]);
    let mut rng = Rng::with_seed(9);
    for _ in 0..40 {
        let number = |rng: &mut Rng| 8.0 * rng.f32() - 4.0;
        let vector = |rng: &mut Rng| [(); 3].map(|()| number(rng));
        let wall = |rng: &mut Rng, kind| {
            let (place, direction, radius) = (vector(rng), vector(rng), 1.0 + rng.f32());
            let wall = match kind {
                0 => Wall::half_space(direction, number(rng)),
                1 => Wall::sphere(place, radius),
                2 => Wall::sphere_inside(place, 5.0 + radius),
                3 => Wall::cylinder(place, direction, radius),
                _ => Wall::cylinder_inside(place, direction, 5.0 + radius),
            };
            wall.with_velocity(vector(rng))
        };
        let mut walls: Walls = (0..5).map(|kind| wall(&mut rng, kind)).collect();
        walls.push_mesh(random_mesh(&mut rng, 1.0).with_groups(0, 0));
        let sphere =
            |rng: &mut Rng| Sphere::new(vector(rng), 1.5 * rng.f32()).with_velocity(vector(rng));
        let spheres: Vec<_> = (0..20).map(|_| sphere(&mut rng)).collect();
        let step = Step::new(&spheres, 1.0).with_walls(&walls);
        let raw = raw(&device, &mut buffers, &step);
        let expected = on_cpu(&step);
        let on_device = Interleaved::new(&device, &spheres);
        let found = contacts(&device, &buffers, &on_device.buffer);
        for (hit, contact) in raw.walls().iter().zip(&found) {
            let same = |other: &&carom::WallCollision| {
                (other.sphere, other.wall) == (hit.sphere, hit.wall)
            };
            let Some(exact) = expected.walls.iter().find(same) else {
                continue;
            };
            let sphere = &spheres[hit.sphere as usize];
            let exact = exact.contact(sphere, &walls).expect("the wall exists");
            // If the centre of the sphere is almost on the triangle, rounding errors determine the direction of the
            // normal, so it is not compared.
            if hit.wall >= 5 && sphere.radius - hit.depth < 0.01 {
                continue;
            }
            of_triangles += usize::from(hit.wall >= 5);
            let [x, y, z, speed, u, v, w, feature] = *contact;
            let point = Vec3::new(x, y, z);
            let normal = Vec3::new(u, v, w);
            assert!(
                point.abs_diff_eq(exact.point.into(), 0.02),
                "{hit:?} {exact:?} {point}"
            );
            assert!(
                normal.abs_diff_eq(exact.normal.into(), 0.02),
                "{hit:?} {exact:?} {normal}"
            );
            assert!(
                (speed - exact.approach_speed).abs() < 0.1,
                "{hit:?} {exact:?} {speed}"
            );
            let part = match exact.feature {
                Feature::Face => 0,
                Feature::Edge(edge) => 1 + edge,
                Feature::Corner(corner) => 4 + corner,
            };
            assert_eq!(feature, f32::from(part), "{hit:?} {exact:?}");
            parts[usize::from(part)] += 1;
            compared += 1;
        }
    }
    assert!(
        compared > 400 && of_triangles > 50,
        "{compared} {of_triangles}"
    );
    assert!(parts.iter().all(|&count| count > 0), "{parts:?}");
    device.assert_silent();
}

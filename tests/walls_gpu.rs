//! Tests walls in `CollisionBuffers` against the CPU backend.

#![allow(
    clippy::cast_possible_truncation,
    reason = "random numbers are rounded to float32"
)]

mod device;
mod wall_worlds;

use std::collections::{HashMap, HashSet};

use carom::glam::{DVec3, Vec3};
use carom::gpu::{
    Attribute, BufferOptions, CollisionBuffers, CollisionPipeline, DeviceSpheres, RawCollisions,
    Status, StepSummary, WGSL, wgpu,
};
use carom::{
    Backend, Collisions, Detector, Domain, Error, Feature, Mesh, Options, Sphere, Step, Wall, Walls,
};
use device::{Device, Interleaved, exact, ready};
use fastrand::Rng;
use wall_worlds::{World, distance, periodic_world, pick};

const NONE: u32 = u32::MAX;
/// The bit that marks a wall in `CaromEarliest::partner`: the constant `CAROM_WALL` of carom's WGSL.
const WALL: u32 = 1 << 31;

fn options() -> BufferOptions {
    BufferOptions::new(64).with_walls(8)
}

fn buffers(device: &Device, options: &BufferOptions) -> CollisionBuffers {
    let pipeline = CollisionPipeline::new(&device.device);
    let buffers = pipeline.and_then(|pipeline| pipeline.create_buffers(options));
    buffers.unwrap_or_else(|error| panic!("{error}"))
}

fn on_cpu(step: &Step<'_>) -> Collisions {
    let detector = Detector::new(Options::new().with_backend(Backend::Cpu));
    let found = detector.and_then(|mut detector| detector.detect(step));
    found.unwrap_or_else(|error| panic!("{error}"))
}

fn raw(device: &Device, buffers: &mut CollisionBuffers, step: &Step<'_>) -> RawCollisions {
    let mut encoder = device.encoder();
    let recorded = buffers.record(&mut encoder, step);
    recorded.unwrap_or_else(|error| panic!("{error}"));
    let ticket = buffers.read_raw(&mut encoder).expect("a step is recorded");
    ready(device.finish(encoder, ticket))
}

/// Checks the GPU's float32 list of wall collisions against the exact list. The GPU must list every exact wall
/// collision. Each entry of the GPU's list must be an exact wall collision, with nearly the same time and
/// depth, unless it is marked as grazing (undecided). Returns the numbers of entries without and with the mark.
fn check_raw(
    raw: &RawCollisions,
    exact: &Collisions,
    step: &Step<'_>,
    spheres: &[Sphere],
) -> [usize; 2] {
    let simple = step.walls().map_or(0, |walls| walls.simple().len()) as u32;
    let mut listed = HashMap::new();
    for (index, (hit, image)) in raw.walls().iter_with_images().enumerate() {
        let name = (hit.sphere, hit.wall, image);
        // A grazing (undecided) contact with a triangle may be listed several times.
        let before = listed.insert(name, (hit, raw.is_wall_grazing(index)));
        let once = before.is_none_or(|(_, grazing)| grazing && hit.wall >= simple);
        assert!(once, "{name:?} is there twice");
    }
    let mut counts = [0; 2];
    for (hit, image) in exact.walls.iter_with_images() {
        let found = listed.remove(&(hit.sphere, hit.wall, image));
        let (found, grazing) = found.unwrap_or_else(|| panic!("{hit:?} {image:?} is missing"));
        counts[usize::from(grazing)] += 1;
        assert!(
            (0.0..=step.dt()).contains(&found.toi) && found.depth >= 0.0,
            "{found:?}"
        );
        if grazing || hit.wall >= simple {
            // The times and depths of collisions with triangles are not checked here, but in the
            // function `check_estimates`.
            continue;
        }
        let mut sphere = spheres[hit.sphere as usize];
        let wall = step.walls().expect("the step has walls").simple()[hit.wall as usize];
        let by = step.domain().displacement(image);
        let size = Vec3::from(sphere.center).abs().element_sum()
            + Vec3::from(sphere.velocity).abs().element_sum() * step.dt()
            + Vec3::from(wall.velocity).abs().element_sum() * step.dt()
            + sphere.radius
            + extent(&wall);
        sphere.center = [0, 1, 2].map(|k| (f64::from(sphere.center[k]) + by[k]) as f32);
        let away = distance(&sphere, &wall, Some(found.toi.into()));
        let gap = match wall.shape {
            carom::WallShape::SphereInside { .. } | carom::WallShape::CylinderInside { .. } => {
                -away - f64::from(sphere.radius)
            }
            _ => away - f64::from(sphere.radius),
        };
        // The device may replace subnormal numbers by 0.
        let error = 1e-3 * f64::from(size) + f64::from(f32::MIN_POSITIVE);
        assert!(
            (gap + f64::from(found.depth)).abs() <= error,
            "{found:?} {hit:?} {gap}"
        );
        let depth = f64::from(found.depth) - f64::from(hit.depth);
        assert!(depth.abs() <= error, "{found:?} {hit:?}");
    }
    for (name, (hit, grazing)) in listed {
        assert!(grazing, "{name:?} {hit:?} is certain, but does not touch");
        counts[1] += 1;
    }
    counts
}

fn extent(wall: &Wall) -> f32 {
    let (point, size) = match wall.shape {
        carom::WallShape::HalfSpace { normal, offset } => {
            ([0.0; 3], offset.abs() / Vec3::from(normal).length())
        }
        carom::WallShape::Sphere { center, radius }
        | carom::WallShape::SphereInside { center, radius } => (center, radius),
        carom::WallShape::Cylinder { point, radius, .. }
        | carom::WallShape::CylinderInside { point, radius, .. } => (point, radius),
    };
    Vec3::from(point).abs().element_sum() + size
}

fn with_groups(rng: &mut Rng, world: &mut World) {
    let groups = [(1, 0), (1, 2), (2, 1), (0, 0), (0, 3), (2, 2)];
    for sphere in &mut world.spheres {
        let (own, ignored) = pick(rng, &groups);
        *sphere = sphere.with_groups(own, ignored);
    }
    for wall in world.walls.simple_mut() {
        let (own, ignored) = pick(rng, &groups);
        *wall = wall.with_groups(own, ignored);
    }
}

fn assert_same(found: &Collisions, expected: &Collisions, what: &str) {
    assert_eq!(found.walls, expected.walls, "{what}");
    assert_eq!(found.pairs, expected.pairs, "{what}");
}

/// Compares the GPU's exact lists with the lists of the CPU, first for spheres on the host and then for
/// spheres in GPU buffers. Also checks the list that the GPU computes in float32. Returns the lists of the
/// CPU, the float32 list, and its numbers of certain and of grazing (undecided) entries.
fn check_lists(
    device: &Device,
    buffers: &mut CollisionBuffers,
    step: &Step<'_>,
    spheres: &[Sphere],
    what: &str,
) -> (Collisions, RawCollisions, [usize; 2]) {
    let expected = on_cpu(step);
    let found = exact(device, buffers, step);
    assert_same(&found.collisions, &expected, what);
    let raw = raw(device, buffers, step);
    let counts = check_raw(&raw, &expected, step, spheres);

    let on_device = Interleaved::new(device, spheres);
    let spheres = on_device.spheres();
    let step = Step::on_device(&spheres, step.dt())
        .with_walls(step.walls().expect("the step has walls"))
        .in_domain(step.domain());
    let found = exact(device, buffers, &step);
    let what = format!("{what}, on the device");
    assert_same(&found.collisions, &expected, &what);
    (expected, raw, counts)
}

#[test]
fn random_worlds_have_the_wall_collisions_of_the_cpu() {
    let device = Device::real();
    let mut buffers = buffers(&device, &options());
    let mut all = [0; 2];
    for seed in 0..1500 {
        let mut rng = Rng::with_seed(seed);
        let mut world = World::new(&mut rng);
        if rng.u8(..4) == 0 {
            with_groups(&mut rng, &mut world);
        }
        let step = Step::new(&world.spheres, world.dt).with_walls(&world.walls);
        let what = format!("seed {seed}");
        let (_, _, counts) = check_lists(&device, &mut buffers, &step, &world.spheres, &what);
        all = [all[0] + counts[0], all[1] + counts[1]];
    }
    println!("{} certain and {} grazing wall collisions", all[0], all[1]);
    assert!(all[0] > 10_000 && all[1] > 500, "{all:?}");
    device.assert_silent();
}

#[test]
fn periodic_worlds_have_the_wall_collisions_of_the_cpu() {
    let device = Device::real();
    let mut buffers = buffers(&device, &options().with_periodic());
    let mut all = [0; 2];
    let mut of_images = 0;
    for seed in 0..600 {
        let (world, domain) = periodic_world(&mut Rng::with_seed(seed));
        let step = Step::new(&world.spheres, world.dt).with_walls(&world.walls);
        let step = step.in_domain(&domain);
        let expected = on_cpu(&step);
        let found = exact(&device, &mut buffers, &step);
        assert_same(&found.collisions, &expected, &format!("seed {seed}"));
        of_images += expected
            .walls
            .images()
            .iter()
            .filter(|&&image| image != [0; 3])
            .count();
        let raw = raw(&device, &mut buffers, &step);
        let counts = check_raw(&raw, &expected, &step, &world.spheres);
        all = [all[0] + counts[0], all[1] + counts[1]];
    }
    assert!(
        all[0] > 1000 && all[1] > 10 && of_images > 1000,
        "{all:?} {of_images}"
    );
    device.assert_silent();
}

#[test]
fn both_sets_meet_walls_even_if_one_is_empty() {
    let device = Device::real();
    let mut buffers = buffers(&device, &options());
    let mut alone = 0;
    for seed in 0..300 {
        let mut rng = Rng::with_seed(seed);
        let world = World::new(&mut rng);
        let count = world.spheres.len();
        let at = pick(&mut rng, &[0, count, count / 2]);
        let (first, second) = world.spheres.split_at(at);
        let step = Step::between(first, second, world.dt).with_walls(&world.walls);
        let expected = on_cpu(&step);
        if first.is_empty() || second.is_empty() {
            alone += expected.walls.len();
        }
        let found = exact(&device, &mut buffers, &step);
        assert_same(&found.collisions, &expected, &format!("seed {seed}"));

        let sets = [first, second].map(|set| Interleaved::new(&device, set));
        let [first, second] = [sets[0].spheres(), sets[1].spheres()];
        let step = Step::between_on_device(&first, &second, world.dt).with_walls(&world.walls);
        let found = exact(&device, &mut buffers, &step);
        assert_same(
            &found.collisions,
            &expected,
            &format!("seed {seed}, on the device"),
        );
    }
    assert!(alone > 100, "{alone}");
    device.assert_silent();
}

/// Tests spheres that are given by their previous and current centres, with a wall that moves during the step.
#[test]
fn spheres_with_previous_centres_meet_moving_walls() {
    let device = Device::real();
    let mut buffers = buffers(&device, &options());
    let spheres = Interleaved::new(&device, &[Sphere::new([5.0, 0.0, 0.0], 1.0)]);
    let before = device.words(bytemuck::cast_slice(&[0.0_f32; 3]));
    let values = spheres.spheres();
    let at = Attribute::new(&spheres.buffer, 0, 32);
    let moving = DeviceSpheres::new(1, at, values.radius)
        .with_previous_center(Attribute::new(&before, 0, 12));
    let wall = Wall::half_space([-1.0, 0.0, 0.0], -7.0).with_velocity([-6.0, 0.0, 0.0]);
    let walls = Walls::from_iter([wall]);
    // During the step of 1/2, the sphere moves by 5 and the wall by 3 towards it. So the gap of 6 is closed
    // at the time 3/8.
    let step = Step::on_device(&moving, 0.5).with_walls(&walls);
    let found = exact(&device, &mut buffers, &step).collisions;
    assert_eq!(found.walls.len(), 1);
    assert_eq!((found.walls[0].toi, found.walls[0].depth), (0.375, 0.0));
}

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

fn summary(device: &Device, buffers: &mut CollisionBuffers, step: &Step<'_>) -> StepSummary {
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
        let step = Step::on_device(&on_device, 1.0).with_walls(walls);
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

/// Returns a mesh of a few triangles. In half of the meshes, all coordinates are multiples of `unit` / 2. In
/// the other half, they are arbitrary numbers.
fn random_mesh(rng: &mut Rng, unit: f32) -> Mesh {
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

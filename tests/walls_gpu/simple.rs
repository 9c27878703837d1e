//! Tests of walls of simple shapes.

use carom::gpu::{Attribute, CollisionBuffers, DeviceSpheres, RawCollisions};
use carom::{Collisions, Sphere, Step, Wall, WallShape, Walls};
use fastrand::Rng;
use glam::Vec3;

use crate::device::{Device, Interleaved, exact};
use crate::wall_worlds::{World, periodic_world, pick};
use crate::{buffers, check_raw, on_cpu, options, raw};

pub(crate) fn extent(wall: &Wall) -> f32 {
    let (point, size) = match wall.shape() {
        WallShape::HalfSpace { normal, offset } => {
            ([0.0; 3], offset.abs() / Vec3::from(normal).length())
        }
        WallShape::Sphere { center, radius, .. } => (center, radius),
        WallShape::Cylinder { point, radius, .. } => (point, radius),
        shape => panic!("an unknown shape: {shape:?}"),
    };
    Vec3::from(point).abs().element_sum() + size
}

pub(crate) fn with_groups(rng: &mut Rng, world: &mut World) {
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
pub(crate) fn check_lists(
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
    let step = Step::on_device(spheres, step.dt())
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
        let step = Step::between_on_device(first, second, world.dt).with_walls(&world.walls);
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
    let at = |offset| Attribute::new(&spheres.buffer, offset, 32);
    let moving =
        DeviceSpheres::new(1, at(0), at(12)).with_previous_center(Attribute::new(&before, 0, 12));
    let wall = Wall::half_space([-1.0, 0.0, 0.0], -7.0).with_velocity([-6.0, 0.0, 0.0]);
    let walls = Walls::from_iter([wall]);
    // During the step of 1/2, the sphere moves by 5 and the wall by 3 towards it. So the gap of 6 is closed
    // at the time 3/8.
    let step = Step::on_device(moving, 0.5).with_walls(&walls);
    let found = exact(&device, &mut buffers, &step).collisions;
    assert_eq!(found.walls.len(), 1);
    assert_eq!((found.walls[0].toi, found.walls[0].depth), (0.375, 0.0));
}

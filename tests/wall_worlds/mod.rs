//! Random worlds of spheres and walls.

#![allow(
    clippy::cast_possible_truncation,
    reason = "random numbers are rounded to float32"
)]
#![allow(
    dead_code,
    reason = "shared by several tests, each of which uses a part"
)]

use carom::{Domain, MAX_MAGNITUDE, Sphere, Wall, WallShape, Walls};
use fastrand::Rng;
use glam::{DVec3, Vec3};

pub(crate) fn pick<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[rng.usize(..from.len())]
}

/// Vectors whose lengths are whole numbers, so that spheres can touch planes and cylinders exactly.
pub(crate) const WHOLE: [[f32; 3]; 7] = [
    [1.0, 0.0, 0.0],
    [0.0, 0.0, -1.0],
    [3.0, 4.0, 0.0],
    [1.0, 2.0, 2.0],
    [-2.0, 3.0, 6.0],
    [4.0, -4.0, 7.0],
    [0.0, 5.0, -12.0],
];

/// Returns the distance of a sphere's centre from the surface of a wall at the given time. For `None`, the
/// time is that of the closest approach to the wall's axis or centre.
pub(crate) fn distance(sphere: &Sphere, wall: &Wall, time: Option<f64>) -> f64 {
    let vector = |x: [f32; 3]| Vec3::from(x).as_dvec3();
    let velocity = vector(sphere.velocity) - vector(wall.velocity());
    let (point, axis, radius) = match wall.shape() {
        WallShape::HalfSpace { normal, offset } => {
            let center = vector(sphere.center) + velocity * time.unwrap_or(1.0);
            let normal = vector(normal);
            return (normal.dot(center) - f64::from(offset)) / normal.length();
        }
        WallShape::Sphere { center, radius, .. } => (center, None, radius),
        WallShape::Cylinder {
            point,
            axis,
            radius,
            ..
        } => (point, Some(axis), radius),
        shape => panic!("an unknown shape: {shape:?}"),
    };
    let axis = axis.map(|axis| vector(axis).normalize());
    let across = |x: DVec3| axis.map_or(x, |axis| axis.cross(x));
    let (p, v) = (
        across(vector(sphere.center) - vector(point)),
        across(velocity),
    );
    let closest = -p.dot(v) / v.length_squared();
    let time = time.unwrap_or(if closest > 0.0 { closest } else { 0.0 });
    (p + v * time).length() - f64::from(radius)
}

/// A random world of spheres and walls. In some worlds, all numbers are small multiples of one unit, which
/// makes many exact contacts. In the others, the numbers are arbitrary.
pub(crate) struct World {
    pub(crate) spheres: Vec<Sphere>,
    pub(crate) walls: Walls,
    pub(crate) dt: f32,
}

impl World {
    pub(crate) fn new(rng: &mut Rng) -> Self {
        let whole = rng.u8(..3) > 0;
        let unit = pick(
            rng,
            &[
                1.0,
                1.0,
                1.0,
                1e-20,
                3e9,
                2.0_f32.powi(-130),
                2.0_f32.powi(50),
            ],
        );
        let number = |rng: &mut Rng, most: i32| {
            let x = f64::from(rng.i32(-4 * most..=4 * most)) / 4.0;
            let x = if whole { x } else { x + rng.f64() };
            let x = (x * f64::from(unit)) as f32;
            match rng.u8(..12) {
                0 => x.next_up(),
                1 => x.next_down(),
                _ => x,
            }
        };
        let vector = |rng: &mut Rng, most| [(); 3].map(|()| number(rng, most));
        let direction = |rng: &mut Rng| {
            let scale = 2.0_f32.powi(rng.i32(-70..30));
            let direction = pick(rng, &WHOLE);
            let shaken = direction.map(|x| if whole { x } else { x + rng.f32() - 0.5 });
            shaken.map(|x| x * scale)
        };
        let speed = |rng: &mut Rng| {
            let still = rng.u8(..3) == 0;
            if still { [0.0; 3] } else { vector(rng, 8) }
        };
        let sphere = |rng: &mut Rng| {
            let sphere = Sphere::new(vector(rng, 12), number(rng, 2).abs());
            sphere.with_velocity(speed(rng))
        };
        let wall = |rng: &mut Rng| {
            let most = pick(rng, &[2, 8, 20]);
            let radius = number(rng, most).abs();
            let place = vector(rng, 5);
            let wall = match rng.u8(..5) {
                0 => {
                    let normal = direction(rng);
                    let length = DVec3::from(normal.map(f64::from)).length();
                    let offset = (f64::from(place[0]) * length) as f32;
                    Wall::half_space(normal, offset.clamp(-MAX_MAGNITUDE, MAX_MAGNITUDE))
                }
                1 => Wall::sphere(place, radius),
                2 => Wall::sphere_inside(place, radius),
                3 => Wall::cylinder(place, direction(rng), radius),
                _ => Wall::cylinder_inside(place, direction(rng), radius),
            };
            wall.with_velocity(speed(rng))
        };
        let walls: Walls = (0..rng.usize(1..6)).map(|_| wall(rng)).collect();
        let dt = pick(rng, &[0.0, 0.25, 1.0, 1.0, 3.0]);
        let mut spheres: Vec<_> = (0..rng.usize(1..14)).map(|_| sphere(rng)).collect();
        for sphere in &mut spheres {
            let wall = walls.simple()[rng.usize(..walls.len())];
            let time = pick(rng, &[Some(0.0), Some(f64::from(dt)), Some(0.5), None]);
            let radius = distance(sphere, &wall, time).abs() as f32;
            if rng.bool() && radius <= MAX_MAGNITUDE {
                sphere.radius = radius;
            }
        }
        Self { spheres, walls, dt }
    }
}

const CUBE: [[f32; 3]; 3] = [[4.0, 0.0, 0.0], [0.0, 6.0, 0.0], [0.0, 0.0, 5.0]];
pub(crate) const SKEW: [[f32; 3]; 3] = [[4.0, 0.0, 0.0], [1.5, 6.0, 0.0], [0.5, -1.0, 5.0]];

/// Makes a periodic world. Its spheres start in the cell of the domain or at most a few cells away, and its
/// walls repeat with the domain.
pub(crate) fn periodic_world(rng: &mut Rng) -> (World, Domain) {
    let edges = pick(rng, &[CUBE, SKEW]);
    let periodic = loop {
        let periodic = [rng.bool(), rng.bool(), rng.bool()];
        if periodic != [false; 3] {
            break periodic;
        }
    };
    let along: Vec<_> = (0..3).filter(|&k| periodic[k]).map(|k| edges[k]).collect();
    let quarters =
        |rng: &mut Rng, most: i32| [(); 3].map(|()| rng.i32(-4 * most..=4 * most) as f32 / 4.0);
    let sphere = |rng: &mut Rng| {
        let radius = rng.u8(0..10) as f32 / 4.0;
        let speed = if rng.bool() {
            quarters(rng, 6)
        } else {
            [0.0; 3]
        };
        Sphere::new(quarters(rng, 8), radius).with_velocity(speed)
    };
    let wall = |rng: &mut Rng| {
        let (place, radius) = (quarters(rng, 6), rng.u8(0..10) as f32 / 4.0);
        let kind = rng.u8(..4);
        let wall = match (kind, along.len()) {
            (0, 1..=2) => {
                let second = along.get(1).copied().unwrap_or([1.0, 2.0, 3.0]);
                let normal = Vec3::from(along[0]).cross(second.into());
                Wall::half_space(normal, 8.0 * place[0])
            }
            (1, 1) => Wall::cylinder_inside(place, along[0], radius + 5.0),
            (2, 1) => Wall::cylinder(place, pick(rng, &WHOLE), radius),
            (2 | 3, _) => Wall::cylinder(place, pick(rng, &along), radius),
            _ => Wall::sphere(place, radius),
        };
        wall.with_velocity(if rng.bool() {
            quarters(rng, 2)
        } else {
            [0.0; 3]
        })
    };
    let world = World {
        spheres: (0..rng.usize(1..8)).map(|_| sphere(rng)).collect(),
        walls: (0..rng.usize(1..5)).map(|_| wall(rng)).collect(),
        dt: pick(rng, &[0.0, 0.5, 1.0]),
    };
    (
        world,
        Domain::triclinic([1.0, 2.0, 3.0], edges).with_periodic(periodic),
    )
}

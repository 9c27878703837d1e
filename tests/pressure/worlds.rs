//! Random small worlds, a few of them with extreme numbers.

use carom::{Domain, HardSphere, Mesh, Sphere, Wall, Walls};
use fastrand::Rng;

/// Numbers at which something may overflow, round or be refused.
const EXTREME: [f64; 16] = [
    0.0,
    -0.0,
    1e-45,
    1e-30,
    1e-8,
    1e5,
    1e7,
    1e9,
    1e15,
    1e17,
    1.152_921_504_606_847e18,
    1e19,
    1e38,
    1e300,
    f64::INFINITY,
    f64::NAN,
];

/// Returns how often a world has extreme numbers: mostly never.
pub(crate) fn rarity(rng: &mut Rng) -> u32 {
    [u32::MAX, u32::MAX, 200, 30][rng.usize(..4)]
}

/// Returns a multiple of 1/8 up to `most`, or rarely an extreme number.
fn number(rng: &mut Rng, most: i32, rarity: u32) -> f64 {
    if rarity < u32::MAX && rng.u32(..rarity) == 0 {
        let sign = if rng.bool() { 1.0 } else { -1.0 };
        return sign * EXTREME[rng.usize(..EXTREME.len())];
    }
    f64::from(rng.i32(-8 * most..=8 * most)) / 8.0
}

fn vector(rng: &mut Rng, most: i32, rarity: u32) -> [f64; 3] {
    [(); 3].map(|()| number(rng, most, rarity))
}

pub(crate) fn duration(rng: &mut Rng, rarity: u32) -> f64 {
    let duration = number(rng, 2, rarity);
    if rarity == u32::MAX {
        duration.abs()
    } else {
        duration
    }
}

pub(crate) fn hard_spheres(rng: &mut Rng, rarity: u32) -> Vec<HardSphere> {
    let fastest = [0, 1, 8, 100][rng.usize(..4)];
    let largest = [1, 1, 2, 12][rng.usize(..4)];
    // Few allocations of small worlds are large enough to fail.
    let count = match rng.u8(..32) {
        0 => rng.usize(100..200),
        _ => rng.usize(..24),
    };
    (0..count)
        .map(|_| {
            let radius = number(rng, largest, rarity);
            let radius = if rarity == u32::MAX {
                radius.abs()
            } else {
                radius
            };
            let mass = match rng.u8(..8) {
                0 => f64::INFINITY,
                1 if rarity < u32::MAX => number(rng, 1, rarity).powi(9),
                _ => f64::from(rng.u8(1..5)),
            };
            HardSphere::new(vector(rng, 12, rarity), radius)
                .with_velocity(vector(rng, fastest, rarity))
                .with_mass(mass)
        })
        .collect()
}

pub(crate) fn spheres(rng: &mut Rng, rarity: u32) -> Vec<Sphere> {
    let spheres = hard_spheres(rng, rarity);
    let groups = |rng: &mut Rng| if rng.u8(..3) == 0 { rng.u16(..4) } else { 0 };
    let narrow = |sphere: HardSphere| Sphere::from(sphere).with_groups(groups(rng), groups(rng));
    spheres.into_iter().map(narrow).collect()
}

pub(crate) fn domain(rng: &mut Rng, rarity: u32) -> Domain {
    let length = f64::from(rng.u8(1..20));
    let edges = match rng.u8(..4) {
        0 => return Domain::open(),
        1 => [[length, 0.0, 0.0], [0.5, 8.0, 0.0], [-3.0, 2.5, 6.0]],
        2 => [
            vector(rng, 8, rarity),
            vector(rng, 8, rarity),
            vector(rng, 8, rarity),
        ],
        _ => [[length, 0.0, 0.0], [0.0, 6.0, 0.0], [0.0, 0.0, 10.0]],
    };
    let periodic = [rng.bool(), rng.bool(), rng.bool()];
    Domain::triclinic_f64(vector(rng, 4, rarity), edges).with_periodic(periodic)
}

pub(crate) fn walls(rng: &mut Rng, rarity: u32) -> Walls {
    let mut walls = Walls::new();
    let narrow = |x: [f64; 3]| x.map(|x| x as f32);
    for _ in 0..rng.u8(..3) {
        let radius = number(rng, 6, rarity).abs() as f32;
        let [place, axis] = [12, 1].map(|most| narrow(vector(rng, most, rarity)));
        let wall = match rng.u8(..5) {
            0 => Wall::half_space(axis, place[0]),
            1 => Wall::sphere(place, radius),
            2 => Wall::sphere_inside(place, 20.0 * radius),
            3 => Wall::cylinder(place, axis, radius),
            _ => Wall::cylinder_inside(place, axis, 20.0 * radius),
        };
        walls.push(wall.with_velocity(narrow(vector(rng, 2, rarity))));
    }
    if rng.u8(..3) == 0 {
        let corners = (0..4).map(|_| narrow(vector(rng, 12, rarity))).collect();
        // A mesh with flat triangles is refused.
        if let Ok(mesh) = Mesh::new(corners, vec![[0, 1, 2], [0, 2, 3]]) {
            walls.push_mesh(mesh);
        }
    }
    walls
}

//! The initial state of the simulation: slow spheres, some hot regions with fast spheres, and a torus around one
//! of these regions.

use std::f32::consts::TAU;

use carom::{Mesh, Walls};

use crate::simulation::World;

/// Largest radius of a sphere. A sphere is placed inside a cube with edges of length 1, so its radius must be less
/// than 0.5.
const RADIUS: f32 = 0.43;
/// By how much the smallest radius is smaller than the largest, as a fraction of it.
pub(crate) const MIX: f32 = 0.5;
/// Proportions of the sides of the box.
const SHAPE: [f32; 3] = [1.5, 1.0, 1.0];
/// Standard deviation of each component of a sphere's initial velocity, in units of length per
/// second. In some regions (`FIRES`), spheres start faster.
pub(crate) const WARM: f32 = 1.0;
/// Standard deviation of each component of a sphere's initial velocity in the regions `FIRES`, in
/// units of length per second.
const HOT: f32 = 16.0;
/// The hot regions, in which spheres start fast: the centre of each, as fractions of the sides of
/// the box that contains the spheres, and its radius, as a fraction of the height of the box.
const FIRES: [([f32; 3], f32); 3] = [
    ([0.27, 0.55, 1.0], 0.18),
    ([0.72, 1.0, 0.42], 0.14),
    ([1.0, 0.2, 0.75], 0.10),
];

/// Two radii of the torus: of the ring in the middle of its tube, and of the tube itself. They are fractions
/// of the height of the box that contains the spheres.
const TORUS: [f32; 2] = [0.27, 0.075];
/// Number of facets of the torus along the ring, and around the tube.
const FACETS: [u32; 2] = [24, 9];

/// Returns `count` spheres with a total momentum of 0, in a box with a torus. Each sphere lies inside its own
/// cubic cell, so no two overlap. The smallest radius is smaller than the largest by the fraction `mix` of it.
pub(crate) fn world(count: u32, mix: f32, seed: u64) -> anyhow::Result<World> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let (torus, cells) = cells(count);
    let sides = torus.sides;
    let half = sides.map(|side| 0.5 * side);
    let all = cells.len() as u64;
    let mut positions = Vec::new();
    let mut velocities = Vec::new();
    for (number, corner) in (0..).zip(cells) {
        let before = number * u64::from(count) / all;
        let until = (number + 1) * u64::from(count) / all;
        if before == until {
            continue;
        }
        let radius = RADIUS * (1.0 - mix + mix * rng.f32());
        let place = corner.map(|low| low + radius + (1.0 - 2.0 * radius) * rng.f32());
        let burns = FIRES.iter().any(|(middle, reach)| {
            let square: f32 = (0..3)
                .map(|axis| (place[axis] - middle[axis] * sides[axis]).powi(2))
                .sum();
            square.sqrt() < reach * sides[1]
        });
        let speed = if burns { HOT } else { WARM };
        let [px, py, pz] = [0, 1, 2].map(|axis| place[axis] - half[axis]);
        positions.push([px, py, pz, radius]);
        velocities.push([
            speed * normal(&mut rng),
            speed * normal(&mut rng),
            speed * normal(&mut rng),
            radius.powi(-3),
        ]);
    }
    stop_as_a_whole(&positions, &mut velocities);
    let mut walls = Walls::inside_box(half.map(|along| -along), half);
    walls.push_mesh(torus.mesh()?);
    Ok(World {
        half,
        walls,
        positions,
        velocities,
    })
}

/// Divides a box into cubic cells with edges of length 1. The box is just large enough that at
/// least `count` of its cells are outside the torus, a solid obstacle in the box. Returns the
/// torus, and the lower corners of all cells outside it.
fn cells(count: u32) -> (Torus, Vec<[f32; 3]>) {
    let volume: f32 = SHAPE.iter().product();
    let mut scale = (count as f32 / volume).cbrt();
    loop {
        let [width, height, depth] = SHAPE.map(|side| whole(side * scale));
        let torus = Torus {
            sides: [width, height, depth].map(|side| side as f32),
        };
        let planes = (0..depth).flat_map(|z| (0..height).map(move |y| [y, z]));
        let cells = planes.flat_map(|[y, z]| (0..width).map(move |x| [x, y, z]));
        let cells = cells.map(|cell| cell.map(|n| n as f32));
        let cells: Vec<_> = cells.filter(|&cell| !torus.reaches(cell)).collect();
        if cells.len() >= count as usize {
            return (torus, cells);
        }
        scale *= 1.01;
    }
}

/// A torus on the front face of the box that contains the spheres. It surrounds the centre of the
/// first region in which spheres start fast (`FIRES[0]`), and extends a little beyond the face.
struct Torus {
    sides: [f32; 3],
}

impl Torus {
    /// Returns the centre of the torus and its two radii. The centre is relative to the lower
    /// corner of the box that contains the spheres.
    fn shape(&self) -> ([f32; 3], f32, f32) {
        let [ring, tube] = TORUS.map(|size| size * self.sides[1]);
        let [x, y, z] = [0, 1, 2].map(|axis| FIRES[0].0[axis] * self.sides[axis]);
        ([x, y, z - 0.4 * tube], ring, tube)
    }

    /// Returns whether the torus may extend into a cubic cell. No point of the cell is farther than half a
    /// diagonal from the cell's centre, so only the distance of this centre from the torus is computed.
    fn reaches(&self, cell: [f32; 3]) -> bool {
        let (centre, ring, tube) = self.shape();
        let [x, y, z] = [0, 1, 2].map(|axis| cell[axis] + 0.5 - centre[axis]);
        (x.hypot(y) - ring).hypot(z) < tube + 0.75_f32.sqrt()
    }

    /// Returns a mesh of triangles that approximates the torus, relative to the centre of the box that
    /// contains the spheres. All corners of the triangles lie on the surface of the torus.
    fn mesh(&self) -> anyhow::Result<Mesh> {
        let (centre, ring, tube) = self.shape();
        let [along, around] = FACETS;
        let mut corners = Vec::new();
        let mut triangles = Vec::new();
        for i in 0..along {
            for k in 0..around {
                let (sin, cos) = (TAU * i as f32 / along as f32).sin_cos();
                let (out, up) = (TAU * k as f32 / around as f32).sin_cos();
                let away = ring + tube * up;
                let place = [away * cos, away * sin, tube * out];
                corners.push(
                    [0, 1, 2].map(|axis| centre[axis] + place[axis] - 0.5 * self.sides[axis]),
                );
                let corner = |i, k| i % along * around + k % around;
                let [a, b, c, d] = [
                    corner(i, k),
                    corner(i + 1, k),
                    corner(i + 1, k + 1),
                    corner(i, k + 1),
                ];
                triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        Ok(Mesh::new(corners, triangles)?)
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cells along an axis are few, and at least one"
)]
fn whole(length: f32) -> u32 {
    length.round().max(1.0) as u32
}

/// Returns an approximately normally distributed number, the sum of twelve uniform ones.
fn normal(rng: &mut fastrand::Rng) -> f32 {
    (0..12).map(|_| rng.f32()).sum::<f32>() - 6.0
}

/// Subtracts the velocity of the centre of mass from all velocities.
fn stop_as_a_whole(positions: &[[f32; 4]], velocities: &mut [[f32; 4]]) {
    let mut mass = 0.0;
    let mut momentum = [0.0; 3];
    for (position, velocity) in positions.iter().zip(&*velocities) {
        let own = f64::from(position[3]).powi(3);
        mass += own;
        for (sum, along) in momentum.iter_mut().zip(velocity) {
            *sum += own * f64::from(*along);
        }
    }
    for velocity in velocities {
        for (along, sum) in velocity.iter_mut().zip(momentum) {
            *along = narrow(f64::from(*along) - sum / mass);
        }
    }
}

#[allow(clippy::cast_possible_truncation, reason = "velocities are float32")]
fn narrow(value: f64) -> f32 {
    value as f32
}

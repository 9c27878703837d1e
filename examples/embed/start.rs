//! The initial state of the simulation: slow spheres, and some hot regions with fast spheres.

use crate::simulation::World;

/// Largest radius of a sphere. The smallest radius is half as large. Each sphere is placed in a cubic cell
/// with edges of length 1.
const RADIUS: f32 = 0.43;
/// Proportions of the sides of the box.
const SHAPE: [f32; 3] = [1.5, 1.0, 1.0];
/// Standard deviation of each velocity component outside the hot regions, in units of length per second.
pub(crate) const WARM: f32 = 1.0;
/// Standard deviation of each velocity component inside the hot regions, in units of length per second.
const HOT: f32 = 16.0;
/// Centre of each hot region, as fractions of the sides of the box, and its radius, as a fraction of the
/// height.
const FIRES: [([f32; 3], f32); 3] = [
    ([0.27, 0.55, 1.0], 0.18),
    ([0.72, 1.0, 0.42], 0.14),
    ([1.0, 0.2, 0.75], 0.10),
];

/// Returns `count` spheres with a total momentum of 0. Each sphere lies inside its own cubic cell, so no two
/// overlap.
pub(crate) fn world(count: u32, seed: u64) -> World {
    let mut rng = fastrand::Rng::with_seed(seed);
    let cells = cells(count);
    let sides = cells.map(|n| n as f32);
    let all = cells.map(u64::from).iter().product::<u64>();
    let mut positions = Vec::new();
    let mut velocities = Vec::new();
    for z in 0..cells[2] {
        for y in 0..cells[1] {
            for x in 0..cells[0] {
                let number = u64::from(x)
                    + u64::from(cells[0]) * (u64::from(y) + u64::from(cells[1]) * u64::from(z));
                let before = number * u64::from(count) / all;
                let until = (number + 1) * u64::from(count) / all;
                if before == until {
                    continue;
                }
                let radius = RADIUS * (0.5 + 0.5 * rng.f32());
                let corner = [x, y, z].map(|n| n as f32);
                let place = corner.map(|low| low + radius + (1.0 - 2.0 * radius) * rng.f32());
                let burns = FIRES.iter().any(|(middle, reach)| {
                    let square: f32 = (0..3)
                        .map(|axis| (place[axis] - middle[axis] * sides[axis]).powi(2))
                        .sum();
                    square.sqrt() < reach * sides[1]
                });
                let speed = if burns { HOT } else { WARM };
                let [px, py, pz] = [0, 1, 2].map(|axis| place[axis] - 0.5 * sides[axis]);
                positions.push([px, py, pz, radius]);
                velocities.push([
                    speed * normal(&mut rng),
                    speed * normal(&mut rng),
                    speed * normal(&mut rng),
                    0.0,
                ]);
            }
        }
    }
    stop_as_a_whole(&positions, &mut velocities);
    World {
        half: sides.map(|side| 0.5 * side),
        positions,
        velocities,
    }
}

/// Returns the size of the smallest box with at least `count` cells, in cells.
fn cells(count: u32) -> [u32; 3] {
    let volume: f32 = SHAPE.iter().product();
    let mut scale = (count as f32 / volume).cbrt();
    loop {
        let cells = SHAPE.map(|side| whole(side * scale));
        if cells.map(u64::from).iter().product::<u64>() >= u64::from(count) {
            return cells;
        }
        scale *= 1.01;
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

//! Estimates from a sample how the spheres are distributed in space, and chooses the length of time
//! segments. Twin of `shaders/collide/measure_curve.wgsl`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "a sample has few spheres, and there are few octaves"
)]

use glam::Vec3;

use super::ranks::{median, trimmed_range};
use super::segment_length::segment_length;
use super::spacing::{Octaves, SAMPLE, sampled};
use crate::lattice::ReducedLattice;
use crate::reuse::ReusedVec;
use crate::shared::scaled_sphere::ScaledSphere;
use crate::shared::segments::{Frame, SpherePath};
use crate::shared::space::Space;
use crate::shared::tuning::{
    FAR_RANK, MAX_DIMENSION, MIN_COUNTED_PAIRS, MIN_DIMENSION, MIN_SLOPE, NEAR_RANK, OCTAVES,
    TRIM_MARGIN, sample_size,
};
use crate::shared::units::Scale;
use crate::{Error, Sphere};

#[derive(Debug, Default)]
pub(crate) struct SpaceMemory {
    sample: ReusedVec<ScaledSphere>,
    centers: ReusedVec<Vec3>,
    values: ReusedVec<f32>,
    octaves: Octaves,
    /// The sampled paths that the shortest allowed length cuts.
    cut: ReusedVec<SpherePath>,
}

impl SpaceMemory {
    pub(crate) fn bytes(&self) -> usize {
        self.sample.bytes()
            + self.centers.bytes()
            + self.values.bytes()
            + self.octaves.bytes()
            + self.cut.bytes()
    }
}

pub(crate) fn measure_space(
    spheres: &[Sphere],
    scale: &Scale,
    lattice: Option<&ReducedLattice>,
    memory: &mut SpaceMemory,
) -> Result<Space, Error> {
    let SpaceMemory {
        sample,
        centers,
        values,
        octaves,
        cut,
    } = memory;
    let dt = scale.dt;
    let count = sample_size(spheres.len());
    sample.room(count, SAMPLE)?;
    centers.room(count, SAMPLE)?;
    values.room(count, SAMPLE)?;
    octaves.room(count)?;
    cut.room(count, SAMPLE)?;
    let of_sample = (0..count).map(|k| {
        let sphere = scale.sphere(sampled(spheres, count, k));
        lattice.map_or(sphere, |lattice| wrapped(&sphere, lattice, dt))
    });
    let sample = &*sample.refill(of_sample);
    // Half way through the step, because spheres that burst apart or rush together are much
    // denser at one end.
    let half_way = |sphere: &ScaledSphere| {
        Vec3::from(sphere.center) + Vec3::from(sphere.velocity) * (0.5 * dt)
    };
    let centers = &*centers.refill(sample.iter().map(half_way));
    let mut space = Space::unknown(spheres.len());
    if count == 0 {
        return Ok(space);
    }
    (space.frame, space.trimmed) = frame_and_box(sample, centers, dt, values);
    if count == 1 {
        return Ok(space);
    }
    octaves.fill(centers);
    let spacing = spacing(octaves, count, space.spheres, values);
    space.log_others = correlation_curve(octaves.pairs, space.spheres);
    let frame = space.frame;
    let paths = || {
        sample
            .iter()
            .map(|sphere| SpherePath::new(sphere, &frame, dt))
    };
    space.segment = segment_length(&space, spacing, paths(), cut);
    // A fuzzer makes few spheres, whose paths would never be cut. So the first sphere's
    // groups give the length. The list must be the same for every length.
    if cfg!(carom_fuzzing) {
        let longest = paths().map(|path| path.extent()).fold(0.0, f32::max);
        space.segment = longest * (-((spheres[0].groups >> 28) as f32)).exp2();
    }
    Ok(space)
}

/// Spheres far out of the cell would make the estimated density too low.
fn wrapped(sphere: &ScaledSphere, lattice: &ReducedLattice, dt: f32) -> ScaledSphere {
    let center = Vec3::from(sphere.center).as_dvec3();
    let half_way = center + Vec3::from(sphere.velocity).as_dvec3() * (0.5 * f64::from(dt));
    let center = center + lattice.wrapping(half_way);
    ScaledSphere::new(center.as_vec3().to_array(), sphere.radius, sphere.velocity)
}

fn frame_and_box(
    sample: &[ScaledSphere],
    centers: &[Vec3],
    dt: f32,
    values: &mut ReusedVec<f32>,
) -> (Frame, [Vec3; 2]) {
    let mut frame = Frame::default();
    let mut trimmed = [Vec3::ZERO; 2];
    for axis in 0..3 {
        let [low, middle, high] = trimmed_range(values, centers.iter().map(|center| center[axis]));
        let wider = (high - low) * TRIM_MARGIN;
        let drift = median(values, sample.iter().map(|sphere| sphere.velocity[axis]));
        // `middle` is the median half way through the step.
        frame.origin[axis] = middle - drift * (0.5 * dt);
        frame.drift[axis] = drift;
        trimmed[0][axis] = low - wider - middle;
        trimmed[1][axis] = high + wider - middle;
    }
    (frame, trimmed)
}

/// A median, so that a dense clump hardly affects it. `spheres` is the number of all spheres.
fn spacing(octaves: &Octaves, count: usize, spheres: f32, values: &mut ReusedVec<f32>) -> f32 {
    let ranks = [NEAR_RANK, FAR_RANK].map(|rank| rank.min(count as u32 - 1));
    let medians =
        ranks.map(|rank| median(values, (0..count).map(|i| octaves.log_distance(i, rank))));
    let growth = (ranks[1] as f32 / ranks[0] as f32).log2();
    let apart = medians[1] - medians[0];
    let dimension = if apart > 0.0 {
        (growth / apart).clamp(MIN_DIMENSION, MAX_DIMENSION)
    } else {
        MAX_DIMENSION
    };
    let within = ranks[0] as f32 * (spheres / count as f32);
    (medians[0] + 1.0 - within.log2() / dimension).exp2()
}

/// `pairs` counts the ordered pairs of the sample in each octave of distance.
fn correlation_curve(pairs: [u32; OCTAVES], spheres: f32) -> [f32; OCTAVES] {
    let mut within = pairs;
    let mut sum = 0;
    for pairs in &mut within {
        sum += *pairs;
        *pairs = sum;
    }
    let log = |pairs: u32| (pairs as f32 / sum as f32 * spheres).log2();
    let first = within
        .iter()
        .position(|&pairs| pairs >= MIN_COUNTED_PAIRS.min(sum))
        .unwrap_or(OCTAVES - 1);
    let slope = (log(within[(first + 1).min(OCTAVES - 1)]) - log(within[first]))
        .clamp(MIN_SLOPE, MAX_DIMENSION);
    std::array::from_fn(|i| {
        // Entry i is for the distance 2^(i − 127).
        match i.checked_sub(1) {
            Some(below) if below >= first => log(within[below]),
            // The number of neighbours of spheres at one point does not fall towards distance 0.
            _ if first == 0 => log(within[0]),
            _ => log(within[first]) - slope * (first + 1 - i) as f32,
        }
    })
}

//! Chooses the sample, and counts its pairs by octaves (factors of 2) of distance. Twin of
//! `shaders/collide/measure_spacing.wgsl` and `shaders/collide/parts/sample.wgsl`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "a sample has few spheres, and there are few octaves"
)]

use std::iter::repeat_n;

use glam::Vec3;

use crate::reuse::ReusedVec;
use crate::shared::tuning::{MAX_DIMENSION, OCTAVES, SAMPLE_HASH};
use crate::{Error, Sphere};

/// What has no room if the memory does not suffice.
pub(super) const SAMPLE: &str = "a sample of the spheres";

/// A hash chooses one sphere of each of `count` parts of the input, so that a regular order of
/// the spheres does not bias the sample.
pub(super) fn sampled(spheres: &[Sphere], count: usize, k: usize) -> &Sphere {
    let (each, rest) = (spheres.len() / count, spheres.len() % count);
    let begin = |k: usize| k * each + k * rest / count;
    let mut chance = (k as u32).wrapping_mul(SAMPLE_HASH[0]);
    chance = (chance ^ chance >> 15).wrapping_mul(SAMPLE_HASH[1]);
    chance ^= chance >> 13;
    &spheres[begin(k) + chance as usize % (begin(k + 1) - begin(k))]
}

/// For each sphere of a sample, the number of others in each octave of distance. A distance is
/// the largest difference of coordinates; its octave is its float32 exponent.
#[derive(Debug)]
pub(super) struct Octaves {
    count: usize,
    rows: ReusedVec<u16>,
    pub(super) pairs: [u32; OCTAVES],
    first: usize,
}

impl Default for Octaves {
    fn default() -> Self {
        Self {
            count: 0,
            rows: ReusedVec::default(),
            pairs: [0; OCTAVES],
            first: 0,
        }
    }
}

impl Octaves {
    pub(super) fn room(&mut self, count: usize) -> Result<(), Error> {
        self.rows.room(OCTAVES * count, SAMPLE)
    }

    pub(super) fn fill(&mut self, centers: &[Vec3]) {
        let count = centers.len();
        let rows = self.rows.refill(repeat_n(0, OCTAVES * count));
        for (i, own) in centers.iter().enumerate() {
            for (j, other) in centers[..i].iter().enumerate() {
                let distance = (*own - *other).abs().max_element();
                let row = (distance.to_bits() >> 23) as usize * count;
                rows[row + i] += 1;
                rows[row + j] += 1;
            }
        }
        for (pairs, row) in self.pairs.iter_mut().zip(rows.chunks(count)) {
            *pairs = row.iter().map(|&pairs| u32::from(pairs)).sum();
        }
        let first = self.pairs.iter().position(|&pairs| pairs > 0);
        self.first = first.unwrap_or(0);
        self.count = count;
    }

    /// Returns log₂ of the distance from sphere `i` to its neighbour of rank `rank`, from 1.
    pub(super) fn log_distance(&self, i: usize, rank: u32) -> f32 {
        let mut before = 0;
        for octave in self.first..OCTAVES {
            let until = before + u32::from(self.rows[octave * self.count + i]);
            if until >= rank {
                // Interpolated as if the number of neighbours within a distance
                // were a power of it, with an exponent of at most 3, as in
                // evenly filled space.
                let growth = (until as f32 / before as f32).log2().min(MAX_DIMENSION);
                return octave as f32 - 126.0 + (rank as f32 / until as f32).log2() / growth;
            }
            before = until;
        }
        128.0
    }

    pub(super) fn bytes(&self) -> usize {
        self.rows.bytes()
    }
}

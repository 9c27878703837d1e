//! How the spheres are distributed in space. Twin of `shaders/collide/parts/space.wgsl`.

use glam::Vec3;

use super::segments::Frame;
use super::tuning::{LOG_OF_NONE, MIN_CELL_PER_SPACING, OCTAVES};
use crate::sphere::MAX_MAGNITUDE;

#[derive(Debug)]
pub(crate) struct Space {
    pub(crate) spheres: f32,
    /// Correlation curve (Grassberger and Procaccia, 1983): log₂ of the mean number of
    /// others in the cube of half edge 2^(i − 127) around a sphere. Empty regions do not
    /// distort it.
    pub(crate) log_others: [f32; OCTAVES],
    pub(crate) segment: f32,
    /// At the median position of the sample, with its median velocity.
    pub(crate) frame: Frame,
    /// Relative to the frame. It contains most of the spheres, without distant outliers.
    pub(crate) trimmed: [Vec3; 2],
}

impl Space {
    pub(crate) fn unknown(spheres: usize) -> Self {
        Self {
            spheres: spheres as f32,
            log_others: [LOG_OF_NONE; OCTAVES],
            segment: f32::MAX,
            frame: Frame::default(),
            trimmed: [Vec3::ZERO; 2],
        }
    }

    /// In the cube of half edge `distance` around one of `proxies` proxies.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "octaves are clamped before they become integers"
    )]
    pub(crate) fn others(&self, proxies: f32, distance: f32) -> f32 {
        let x = (distance.log2() + 127.0).clamp(0.0, (OCTAVES - 2) as f32);
        let i = x as usize;
        let log =
            self.log_others[i] + (self.log_others[i + 1] - self.log_others[i]) * (x - i as f32);
        log.exp2() * (proxies / self.spheres)
    }

    /// The edge of a cube around a proxy in which one other is expected.
    pub(crate) fn spacing_of(&self, proxies: f32) -> f32 {
        let level = (self.spheres / proxies).log2();
        let Some(i) = self.log_others.iter().rposition(|&log| log <= level) else {
            return 0.0;
        };
        let Some(next) = self.log_others.get(i + 1) else {
            return f32::MAX;
        };
        let part = (level - self.log_others[i]) / (next - self.log_others[i]);
        2.0 * (i as f32 + part - 127.0).exp2()
    }

    /// Just wide enough for `half_cell`, but at least [`MIN_CELL_PER_SPACING`] times the
    /// spacing, because smaller cells save too few tests.
    pub(crate) fn cell_edge(&self, proxies: f32, half_cell: f32) -> f32 {
        edge_at_least(MIN_CELL_PER_SPACING * self.spacing_of(proxies), half_cell)
    }
}

/// At most 8·2⁶⁰.
pub(crate) fn edge_at_least(least: f32, half_cell: f32) -> f32 {
    (2.0 * half_cell).max(least).min(8.0 * MAX_MAGNITUDE)
}

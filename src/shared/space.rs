//! How densely spheres lie in space. Twin of `shaders/shared/space.wgsl`.

use glam::Vec3;

use super::segments::Frame;
use super::tuning::{LOG_OF_NONE, MIN_CELL_PER_SPACING, OCTAVES};
use crate::sphere::MAX_MAGNITUDE;

/// What `measure` finds out from a sample of the spheres.
#[derive(Debug)]
pub(crate) struct Space {
    /// Number of spheres.
    pub(crate) spheres: f32,
    /// The correlation curve: entry i is log₂ of how many others the cube of half edge
    /// 2^(i − 127) around a sphere holds, on average over the spheres. Because it is
    /// measured where spheres are, no stray and no empty room counts, and clusters, sheets
    /// and lines come out as what they are: this is the correlation integral of fractal
    /// geometry (Grassberger and Procaccia, 1983).
    pub(crate) log_others: [f32; OCTAVES],
    /// How long segments should be.
    pub(crate) segment: f32,
    /// The frame: the middle of the world, moving as most of it does.
    pub(crate) frame: Frame,
    /// The trimmed box, in that frame, which holds most spheres and no far stray: its lower
    /// and its upper corner.
    pub(crate) trimmed: [Vec3; 2],
}

impl Space {
    /// The space of so many spheres of which nothing else is known.
    pub(crate) fn unknown(spheres: usize) -> Self {
        Self {
            spheres: spheres as f32,
            log_others: [LOG_OF_NONE; OCTAVES],
            segment: f32::MAX,
            frame: Frame::default(),
            trimmed: [Vec3::ZERO; 2],
        }
    }

    /// Of `proxies` that lie as the spheres do, how many others are within the cube of half
    /// edge `distance` around one.
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

    /// Edge of the cube that holds one of `proxies` that lie as the spheres do.
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

    /// Edge of the cells that a level should have: as small as its proxies allow, but not
    /// much finer than the spacing between them, where it saves no tests. `proxies` are
    /// those of one time slab.
    pub(crate) fn cell_edge(&self, proxies: f32, half_cell: f32) -> f32 {
        edge_at_least(MIN_CELL_PER_SPACING * self.spacing_of(proxies), half_cell)
    }
}

/// Edge of cells that are at least so wide, and wide enough for proxies that need
/// `half_cell`.
pub(crate) fn edge_at_least(least: f32, half_cell: f32) -> f32 {
    (2.0 * half_cell).max(least).min(8.0 * MAX_MAGNITUDE)
}

//! The layout of a readback: where each part of the results is in the staging buffer.

use std::ops::Range;

use crate::gpu::device::shader::layout::{CaromResults, Gathered};

/// Start and end, in bytes.
pub(crate) const TICKS: u64 = 16;

/// In bytes.
pub(crate) const IMAGE: u64 = size_of::<u32>() as u64;

/// Capacities of a readback, and the largest that the device allows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadRoom {
    pub(crate) pairs: u64,
    pub(crate) most: u64,
    pub(crate) grazing: u64,
    pub(crate) walls: u64,
    pub(crate) most_walls: u64,
    pub(crate) most_grazing: u64,
}

/// In a staging buffer, one after the other. Absent parts are empty.
#[derive(Clone, Debug)]
pub(crate) struct ReadLayout {
    pub(crate) results: Range<u64>,
    pub(crate) mesh_results: Range<u64>,
    /// Two timestamps of each timed stage.
    pub(crate) ticks: Range<u64>,
    pub(crate) pairs: Range<u64>,
    pub(crate) pair_images: Range<u64>,
    /// With their spheres, if the host decides.
    pub(crate) grazing: Range<u64>,
    pub(crate) walls: Range<u64>,
    pub(crate) wall_images: Range<u64>,
}

impl ReadLayout {
    /// `sizes` has the bytes of a pair and of a wall collision.
    pub(crate) fn new(
        has_mesh: bool,
        timed: usize,
        periodic: bool,
        room: ReadRoom,
        sizes: [usize; 2],
    ) -> Self {
        let mut end = 0;
        let mut next = |size: u64| {
            let begin = end;
            end += size;
            begin..end
        };
        let results = size_of::<CaromResults>() as u64;
        let [pair, wall] = sizes.map(|size| size as u64);
        let image = if periodic { IMAGE } else { 0 };
        Self {
            results: next(results),
            mesh_results: next(if has_mesh { results } else { 0 }),
            ticks: next(TICKS * timed as u64),
            pairs: next(room.pairs * pair),
            pair_images: next(room.pairs * image),
            grazing: next(room.grazing * size_of::<Gathered>() as u64),
            walls: next(room.walls * wall),
            wall_images: next(room.walls * image),
        }
    }

    pub(crate) fn size(&self) -> u64 {
        self.wall_images.end
    }

    /// The pairs, the wall collisions, their images and the spheres of grazing pairs.
    pub(crate) fn lists(&self) -> Range<u64> {
        self.pairs.start..self.size()
    }
}

/// `begin` is where `bytes` begin in the staging buffer.
pub(crate) fn part<'a>(bytes: &'a [u8], begin: u64, range: &Range<u64>) -> &'a [u8] {
    let [from, to] = [range.start, range.end].map(|at| at.saturating_sub(begin) as usize);
    bytes.get(from..to).unwrap_or_default()
}

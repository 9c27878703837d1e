//! Chooses the length of the time segments into which the paths of fast spheres are cut. Twin of a
//! part of `shaders/collide/measure_curve.wgsl`.

use crate::reuse::ReusedVec;
use crate::shared::segments::{ProxySize, SpherePath};
use crate::shared::space::{Space, edge_at_least};
use crate::shared::tuning::{
    COARSER_RANGES, MAX_WEIGHED, MIN_SEGMENT_PER_EXTENT, OWN_RANGES, SEARCH_COST, SEGMENT_LENGTHS,
};

/// Returns the length of time segments with the least expected cost, at least the spacing.
pub(super) fn segment_length(
    space: &Space,
    spacing: f32,
    sample: impl ExactSizeIterator<Item = SpherePath>,
    cut: &mut ReusedVec<SpherePath>,
) -> f32 {
    let extent = (space.trimmed[1] - space.trimmed[0]).max_element();
    let shortest = spacing
        .max(extent * MIN_SEGMENT_PER_EXTENT)
        .max(f32::MIN_POSITIVE);
    // Others have the same cost at every length.
    let is_cut = |path: &SpherePath| ProxySize::new(path, shortest).power > 0;
    let all = sample.len() as f32;
    let cut = &*cut.refill(sample.filter(is_cut));
    if cut.is_empty() {
        // Few paths of the step are cut, so there are no costs to compare.
        return 2.0 * shortest;
    }
    let weighing = Weighing {
        space,
        cut,
        uncut: all - cut.len() as f32,
        all,
        least_edge: space.cell_edge(space.spheres, 0.0),
    };
    let mut best = (f32::MAX, spacing);
    let lengths = (0..SEGMENT_LENGTHS - 1).map(|octave| shortest * (octave as f32).exp2());
    for length in lengths.chain([f32::MAX]) {
        let (cost, cuts_any) = weighing.cost(length);
        if cost < best.0 {
            best = (cost, length);
        }
        if !cuts_any {
            break;
        }
    }
    best.1
}

struct Weighing<'a> {
    space: &'a Space,
    /// The sampled paths that the shortest allowed length cuts. Paths shorter than the
    /// diameter are never cut.
    cut: &'a [SpherePath],
    uncut: f32,
    all: f32,
    /// Even a level of spheres of radius 0 has cells of this edge.
    least_edge: f32,
}

impl Weighing<'_> {
    /// Returns the expected cost of the searches of the sampled spheres, and whether this
    /// length cuts any path.
    fn cost(&self, length: f32) -> (f32, bool) {
        let each = self.cut.len().div_ceil(MAX_WEIGHED);
        let searches = (OWN_RANGES + COARSER_RANGES) * SEARCH_COST;
        let weighed = self.cut.iter().step_by(each);
        let sizes = weighed.map(|path| ProxySize::new(path, length));
        let proxies: usize = sizes.clone().map(|size| 1 << size.power).sum();
        // The level of the uncut spheres is not known yet. If they outnumber the
        // segments, they are assumed to have a level of their own, with small cells,
        // otherwise one with cells as wide as the segments.
        let share_reached = if ((proxies * each) as f32) < self.uncut {
            self.uncut / self.all
        } else {
            0.0
        };
        let cuts_any = proxies > sizes.len();
        let spheres = self.space.spheres;
        let mut cost = 0.0;
        for size in sizes {
            let cell = edge_at_least(self.least_edge, size.half_cell);
            let in_cells = 0.5 * self.space.others(spheres, 1.5 * cell);
            // Uncut spheres that one segment finds in their own level, up to one
            // cell edge away from it. `in_cells` is halved, because only one of two
            // segments searches for the other; this number is not.
            let reached = self.space.others(spheres, size.half_cell + self.least_edge);
            let tests = in_cells + share_reached * (reached - in_cells);
            cost += (1_u32 << size.power) as f32 * (searches + tests);
        }
        (cost, cuts_any)
    }
}

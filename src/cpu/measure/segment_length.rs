//! Chooses the length of the time segments into which the paths of fast spheres are cut. Twin of a
//! part of `shaders/measure_curve.wgsl`.

use crate::reuse::ReusedVec;
use crate::shared::segments::{ProxySize, SpherePath};
use crate::shared::space::{Space, edge_at_least};
use crate::shared::tuning::{
    COARSER_RANGES, MAX_WEIGHED, MIN_SEGMENT_PER_EXTENT, OWN_RANGES, SEARCH_COST, SEGMENT_LENGTHS,
};

/// Returns the length of time segments with the least expected cost. It is at least the spacing of
/// the spheres.
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
    // The comparison of segment lengths leaves out the paths that are not cut even at the shortest
    // length, because their cost is the same at every length.
    let is_cut = |path: &SpherePath| ProxySize::new(path, shortest).power > 0;
    let all = sample.len() as f32;
    let cut = &*cut.refill(sample.filter(is_cut));
    if cut.is_empty() {
        // No sampled path is cut even at the shortest length, so few paths of the step are cut.
        // Then carom does not compare the costs of different lengths, but chooses twice the
        // shortest length.
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
    /// Paths of sampled spheres that are long enough to be cut into time segments of the shortest
    /// allowed length. They are also longer than the diameters of their spheres, because shorter
    /// paths are never cut.
    cut: &'a [SpherePath],
    uncut: f32,
    all: f32,
    /// Lower limit of the edge of grid cells: a fraction of the spacing of the spheres (the typical
    /// distance between neighbours). Even the cells of a grid that has only spheres of radius 0
    /// have at least this edge.
    least_edge: f32,
}

impl Weighing<'_> {
    /// Returns the expected cost of the grid searches of the sampled spheres if time segments are
    /// at most `length` long, and whether this length cuts any sphere's path.
    fn cost(&self, length: f32) -> (f32, bool) {
        let each = self.cut.len().div_ceil(MAX_WEIGHED);
        let searches = (OWN_RANGES + COARSER_RANGES) * SEARCH_COST;
        let weighed = self.cut.iter().step_by(each);
        let sizes = weighed.map(|path| ProxySize::new(path, length));
        let proxies: usize = sizes.clone().map(|size| 1 << size.power).sum();
        // Some spheres are cut into time segments. The cost depends on the grid of the other
        // (uncut) spheres, which is not known yet. If they outnumber the segments, they are assumed
        // to be in a separate grid with small cells. In this grid, a segment finds only spheres
        // that are near it. Otherwise all spheres are assumed to be in one grid, with cells as wide
        // as the segments.
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
            // Expected number of uncut spheres (with paths that are not cut into time segments) that one time
            // segment finds in the separate grid of these spheres. The segment searches cells up to one cell
            // edge away from it on each side. `in_cells` is halved, because only one of two neighbouring
            // segments searches for the other. This number is not halved, because a time segment always
            // searches for the uncut spheres around it.
            let reached = self.space.others(spheres, size.half_cell + self.least_edge);
            let tests = in_cells + share_reached * (reached - in_cells);
            cost += (1_u32 << size.power) as f32 * (searches + tests);
        }
        (cost, cuts_any)
    }
}

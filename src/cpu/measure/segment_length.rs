//! Chooses the length of time segments. `shaders/measure_curve.wgsl` does the same, but there no
//! segment searches for uncut spheres, even if the segments are few.

use crate::reuse::ReusedVec;
use crate::shared::segments::{ProxySize, SpherePath};
use crate::shared::space::{Space, edge_at_least};
use crate::shared::tuning::{
    COARSER_RANGES, MAX_WEIGHED, MIN_SEGMENT_PER_EXTENT, OWN_RANGES, SEARCH_COST, SEGMENT_LENGTHS,
};

/// Returns the length of segments with the least expected cost: the spacing, or more if segments as
/// short as the spacing would cost more than the tests that they save. `sample` has the paths of
/// the sample.
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
    // Every path that the shortest length does not cut costs the same at any length.
    let is_cut = |path: &SpherePath| ProxySize::new(path, shortest).power > 0;
    let all = sample.len() as f32;
    let cut = &*cut.refill(sample.filter(is_cut));
    if cut.is_empty() {
        // If any sphere is cut although no sampled sphere is, such spheres are rare. This length
        // costs them least.
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
    // The last length cuts no sphere.
    for length in lengths.chain([f32::MAX]) {
        let (cost, cuts_any) = weighing.cost(length);
        if cost < best.0 {
            best = (cost, length);
        }
        // Longer segments would cut no sphere either.
        if !cuts_any {
            break;
        }
    }
    best.1
}

/// The sampled spheres by which segment lengths are compared.
struct Weighing<'a> {
    space: &'a Space,
    /// The paths that the shortest length cuts.
    cut: &'a [SpherePath],
    /// Number of sampled spheres that no length cuts.
    uncut: f32,
    /// Number of sampled spheres.
    all: f32,
    /// Edge of the narrowest cells.
    least_edge: f32,
}

impl Weighing<'_> {
    /// Returns the expected cost of segments of at most `length`, and whether this length cuts any
    /// of the weighed spheres.
    fn cost(&self, length: f32) -> (f32, bool) {
        let each = self.cut.len().div_ceil(MAX_WEIGHED);
        let searches = (OWN_RANGES + COARSER_RANGES) * SEARCH_COST;
        let weighed = self.cut.iter().step_by(each);
        let sizes = weighed.map(|path| ProxySize::new(path, length));
        let proxies: usize = sizes.clone().map(|size| 1 << size.power).sum();
        // If the segments are fewer than the uncut spheres, the segments search the levels of the
        // uncut spheres, and only as far as they reach (`coarse_searches_fine`). Otherwise all
        // proxies are assumed to be in cells as wide as the segments.
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
            // This number is not halved, because the uncut spheres do not search for the segment.
            // The segment searches cells of the uncut spheres, so it reaches up to one cell
            // farther on each side.
            let reached = self.space.others(spheres, size.half_cell + self.least_edge);
            let tests = in_cells + share_reached * (reached - in_cells);
            cost += (1_u32 << size.power) as f32 * (searches + tests);
        }
        (cost, cuts_any)
    }
}

//! How long time segments should be, as `shaders/measure_curve.wgsl` weighs it.

use crate::reuse::ReusedVec;
use crate::shared::segments::{ProxySize, SpherePath};
use crate::shared::space::{Space, edge_at_least};
use crate::shared::tuning::{
    COARSER_RANGES, MAX_WEIGHED, MIN_SEGMENT_PER_EXTENT, OWN_RANGES, SEARCH_COST, SEGMENT_LENGTHS,
};

/// The length of segments that is expected to cost least: the spacing, or where that would
/// make more segments than they save tests, more. `sample` are the paths of the sample.
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
    // The others cost the same, whatever the length.
    let is_cut = |path: &SpherePath| ProxySize::new(path, shortest).power > 0;
    let all = sample.len() as f32;
    let cut = &*cut.refill(sample.filter(is_cut));
    if cut.is_empty() {
        // Spheres that are cut though none of the sample is are rare: this is what costs
        // them least.
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
    // The last does not cut at all.
    for length in lengths.chain([f32::MAX]) {
        let (cost, cuts_any) = weighing.cost(length);
        if cost < best.0 {
            best = (cost, length);
        }
        // Longer ones cut nothing either.
        if !cuts_any {
            break;
        }
    }
    best.1
}

/// The spheres of the sample by which lengths are weighed against each other.
struct Weighing<'a> {
    space: &'a Space,
    /// The paths that may be cut.
    cut: &'a [SpherePath],
    /// How many are never cut.
    uncut: f32,
    /// How many there are.
    all: f32,
    /// Edge of the narrowest cells.
    least_edge: f32,
}

impl Weighing<'_> {
    /// The expected cost when each segment is within `length`, and whether any of the
    /// weighed spheres is cut then.
    fn cost(&self, length: f32) -> (f32, bool) {
        let each = self.cut.len().div_ceil(MAX_WEIGHED);
        let searches = (OWN_RANGES + COARSER_RANGES) * SEARCH_COST;
        let weighed = self.cut.iter().step_by(each);
        let sizes = weighed.map(|path| ProxySize::new(path, length));
        let proxies: usize = sizes.clone().map(|size| 1 << size.power).sum();
        // Where segments are few, they search the levels of the spheres that are never cut,
        // and no farther than they reach (`coarse_searches_fine`); or else all are in cells
        // as wide as the segments.
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
            // Not half of the others, for they do not search for the segment; and the cells
            // are theirs, so the search reaches up to one cell farther on each side.
            let reached = self.space.others(spheres, size.half_cell + self.least_edge);
            let tests = in_cells + share_reached * (reached - in_cells);
            cost += (1_u32 << size.power) as f32 * (searches + tests);
        }
        (cost, cuts_any)
    }
}

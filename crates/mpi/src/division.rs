//! The division of space into one region a rank.

use rayon::prelude::*;

use crate::space::{Body, Cutting, Extent, Space};

/// A sampled sphere: its place, and how many spheres' work it stands for.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Sample {
    pub(crate) at: [f64; 3],
    pub(crate) weight: f64,
}

/// A plane, and what is below it and above it: another plane, or a rank.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cut {
    axis: usize,
    plane: f64,
    sides: [Side; 2],
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Side {
    Cut(usize),
    Rank(u32),
}

/// Half-open boxes that reach to infinity, one for each rank.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Division {
    pub(crate) space: Space,
    cuts: Vec<Cut>,
    root: Side,
    /// A typical edge of a region, as a length.
    pub(crate) edge: f64,
}

/// Which of some items goes to which rank: the place of the first in `items` for each rank, and the numbers of the
/// items.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    pub(crate) starts: Vec<usize>,
    pub(crate) items: Vec<u32>,
}

const CHUNK: usize = 1 << 14;

impl Division {
    /// The same for the same sample in any order.
    pub(crate) fn new(space: Space, ranks: usize, mut sample: Vec<Sample>) -> Self {
        let mut division = Self {
            space,
            cuts: Vec::new(),
            root: Side::Rank(0),
            edge: f64::INFINITY,
        };
        let mut volume = 1.0;
        let mut axes = 0;
        for k in 0..3 {
            let extent = division.spread(&sample, k);
            if extent > 0.0 {
                volume *= extent;
                axes += 1;
            }
        }
        if axes > 0 {
            let parts = volume / ranks as f64;
            division.edge = parts.powf(1.0 / f64::from(axes));
        }
        division.root = division.cut(&mut sample, 0..ranks);
        division
    }

    fn spread(&self, sample: &[Sample], k: usize) -> f64 {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for sample in sample {
            (low, high) = (low.min(sample.at[k]), high.max(sample.at[k]));
        }
        ((high - low) * self.space.unit(k)).max(0.0)
    }

    fn cut(&mut self, sample: &mut [Sample], ranks: std::ops::Range<usize>) -> Side {
        if ranks.len() == 1 {
            return Side::Rank(u32::try_from(ranks.start).unwrap_or_default());
        }
        let spreads = [0, 1, 2].map(|k| self.spread(sample, k));
        let axis = (0..3)
            .max_by(|&a, &b| spreads[a].total_cmp(&spreads[b]).then(b.cmp(&a)))
            .unwrap_or_default();
        let middle = ranks.start + ranks.len() / 2;
        let share = (middle - ranks.start) as f64 / ranks.len() as f64;
        // Equal places come in the order of weights, so that the sums do not depend on the order of the sample.
        sample.sort_unstable_by(|a, b| {
            let places = a.at[axis].total_cmp(&b.at[axis]);
            places.then(a.weight.total_cmp(&b.weight))
        });
        let total: f64 = sample.iter().map(|sample| sample.weight).sum();
        let mut sum = 0.0;
        let first = sample.iter().position(|sample| {
            sum += sample.weight;
            sum > share * total
        });
        let plane = first.map_or(0.0, |first| sample[first].at[axis]);
        let below = sample.partition_point(|sample| sample.at[axis] < plane);
        let number = self.cuts.len();
        self.cuts.push(Cut {
            axis,
            plane,
            sides: [Side::Rank(0); 2],
        });
        let (low, high) = sample.split_at_mut(below);
        let low = self.cut(low, ranks.start..middle);
        let high = self.cut(high, middle..ranks.end);
        self.cuts[number].sides = [low, high];
        Side::Cut(number)
    }

    /// The rank in whose region a point of the cell is.
    pub(crate) fn region(&self, at: [f64; 3]) -> usize {
        let mut side = self.root;
        loop {
            match side {
                Side::Rank(rank) => return rank as usize,
                Side::Cut(number) => {
                    let cut = &self.cuts[number];
                    side = cut.sides[usize::from(at[cut.axis] >= cut.plane)];
                }
            }
        }
    }

    /// The rank in whose region a place is.
    pub(crate) fn home(&self, place: [f64; 3]) -> usize {
        self.region(self.space.wrapped(place))
    }

    /// Calls `visit` with each rank in whose region a box of the cell reaches.
    fn ranks(&self, extent: &Extent, stack: &mut Vec<Side>, mut visit: impl FnMut(u32)) {
        stack.push(self.root);
        while let Some(side) = stack.pop() {
            match side {
                Side::Rank(rank) => visit(rank),
                Side::Cut(number) => {
                    let cut = &self.cuts[number];
                    if extent.low[cut.axis] < cut.plane {
                        stack.push(cut.sides[0]);
                    }
                    if extent.high[cut.axis] >= cut.plane {
                        stack.push(cut.sides[1]);
                    }
                }
            }
        }
    }

    /// Each sphere goes to all regions that the boxes of the pieces of its path reach.
    pub(crate) fn routes<S: Sync>(
        &self,
        spheres: &[S],
        body: impl Fn(&S) -> Body + Sync,
        cutting: Cutting,
        ranks: usize,
    ) -> Routes {
        let chunks = spheres
            .par_chunks(CHUNK)
            .enumerate()
            .map(|(chunk, spheres)| {
                let mut sent: Vec<[u32; 2]> = Vec::with_capacity(spheres.len() * 5 / 4);
                let mut seen = vec![u32::MAX; ranks];
                let mut stack = Vec::new();
                for (number, sphere) in spheres.iter().enumerate() {
                    let number = u32::try_from(chunk * CHUNK + number).unwrap_or(u32::MAX);
                    let body = body(sphere);
                    let pieces = cutting.pieces(&body);
                    for piece in 0..pieces {
                        let extent = self.space.extent(&body, cutting, [piece, pieces], 2.0);
                        self.space.in_cell(&extent, |extent| {
                            self.ranks(extent, &mut stack, |rank| {
                                let seen = &mut seen[rank as usize];
                                if *seen != number {
                                    *seen = number;
                                    sent.push([rank, number]);
                                }
                            });
                        });
                    }
                }
                sent
            });
        let chunks: Vec<_> = chunks.collect();
        routes(ranks, || {
            chunks
                .iter()
                .flatten()
                .map(|&[rank, number]| (rank as usize, number))
        })
    }
}

/// Sorts items by rank; those of one rank stay in their order.
pub(crate) fn routes<I: Iterator<Item = (usize, u32)>>(
    ranks: usize,
    sent: impl Fn() -> I,
) -> Routes {
    let mut starts = vec![0; ranks + 1];
    for (rank, _) in sent() {
        starts[rank + 1] += 1;
    }
    for rank in 0..ranks {
        starts[rank + 1] += starts[rank];
    }
    let mut next = starts.clone();
    let mut items = vec![0; starts[ranks]];
    for (rank, number) in sent() {
        items[next[rank]] = number;
        next[rank] += 1;
    }
    Routes { starts, items }
}

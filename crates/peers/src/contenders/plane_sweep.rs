//! Sort and sweep along one axis as one of the benchmarked methods.

use super::contender::Contender;
use crate::step::{Bounds, Found, World, index, sorted, test};

/// The bounding boxes of all moving spheres are sorted along the axis on which they overlap least, and then
/// swept along this axis.
pub(crate) struct PlaneSweep;

/// The bounding box of a moving sphere. The order of the coordinates is rotated so that the sweep axis is
/// first.
#[derive(Clone, Copy)]
struct Entry {
    min: [f32; 3],
    max: [f32; 3],
    sphere: u32,
}

impl Contender for PlaneSweep {
    fn name(&self) -> &'static str {
        "plane-sweep"
    }

    fn refusal(&self, world: World<'_>) -> Option<String> {
        let sorted = sort(world);
        // Every hundredth box serves to estimate the number of pairs of boxes that overlap along
        // the sweep axis.
        let [mut seen, mut counted] = [0, 0];
        for (at, entry) in sorted.iter().enumerate().step_by(100) {
            seen += sorted.partition_point(|other| other.min[0] <= entry.max[0]) - at;
            counted += 1;
        }
        let candidates = (seen / counted.max(1)) as u64 * sorted.len() as u64;
        (candidates > super::contender::MOST_CANDIDATES).then(|| {
            format!(
                "about {:.0e} pairs of boxes overlap along the sweep axis",
                candidates as f64
            )
        })
    }

    fn step(&mut self, world: World<'_>) -> anyhow::Result<Found> {
        let entries = sort(world);
        let mut pairs = Vec::new();
        let mut candidates = 0;
        for (at, entry) in entries.iter().enumerate() {
            for other in &entries[at + 1..] {
                if other.min[0] > entry.max[0] {
                    break;
                }
                if entry.min[1] <= other.max[1]
                    && other.min[1] <= entry.max[1]
                    && entry.min[2] <= other.max[2]
                    && other.min[2] <= entry.max[2]
                {
                    candidates += 1;
                    test(world, entry.sphere, other.sphere, &mut pairs);
                }
            }
        }
        Ok(Found {
            pairs: sorted(&pairs, world.spheres.len()),
            candidates,
        })
    }
}

fn sort(World { spheres, dt }: World<'_>) -> Vec<Entry> {
    let bounds: Vec<Bounds> = spheres.iter().map(|s| Bounds::new(s, dt)).collect();
    // Mean number of bounding boxes that cover a point of axis k: the sum of the boxes' lengths along the
    // axis, divided by the length of the interval that all boxes span.
    let crowding = |k: usize| {
        let low = bounds.iter().fold(f32::INFINITY, |x, b| x.min(b.min[k]));
        let high = bounds.iter().fold(-f32::INFINITY, |x, b| x.max(b.max[k]));
        let lengths: f64 = bounds.iter().map(|b| f64::from(b.max[k] - b.min[k])).sum();
        lengths / f64::from(high - low)
    };
    let axis = [1, 2].into_iter().fold(0, |best, k| {
        if crowding(k) < crowding(best) {
            k
        } else {
            best
        }
    });
    let turned = |x: [f32; 3]| [x[axis], x[(axis + 1) % 3], x[(axis + 2) % 3]];
    let entry = |(i, b): (usize, &Bounds)| Entry {
        min: turned(b.min),
        max: turned(b.max),
        sphere: index(i),
    };
    let mut entries: Vec<Entry> = bounds.iter().enumerate().map(entry).collect();
    entries.sort_unstable_by(|a, b| a.min[0].total_cmp(&b.min[0]));
    entries
}

//! Finds the images in a periodic domain that need an exact test, along the straight relative motion of two balls.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use glam::DVec3;

use crate::Error;
use crate::lattice::{MAX_CELLS, duals, reduce};
use crate::memory::push;

/// Number of images of a pair that do not count for the limit.
const FREE: u64 = 64;
/// Largest number of images that the pairs may need beyond [`FREE`] each, as many as a step may have candidates.
const MOST: u64 = 1 << 34;
/// Largest distance of two spheres in cells. Each may be [`MAX_CELLS`] away from the domain.
const FARTHEST: f64 = 2.0 * MAX_CELLS as f64 + 2.0;
/// Bound of the multiples of the given edges that add up to a reduced edge.
const MAX_COMBINED: i64 = 1 << 26;
/// Relative margin, far larger than rounding errors.
const MARGIN: f64 = 1e-13;

/// A ball that moves straight by `moved` during the step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    pub(super) center: DVec3,
    pub(super) moved: DVec3,
    pub(super) radius: f64,
}

/// An image, with what `decide` returned for it.
pub(super) type TouchingImage = ([i32; 3], [f64; 2]);

#[derive(Debug)]
pub(super) struct Images {
    /// Reduced edges, as multiples of the given ones.
    combined: [[i64; 3]; 3],
    edges: [DVec3; 3],
    /// 0 for an open direction.
    duals: [DVec3; 3],
    dual_lengths: [f64; 3],
    /// Bounds of the components of the duals, which have rounding errors of these sizes.
    dual_bounds: [DVec3; 3],
    edge_errors: [f64; 3],
    /// The images that the pairs have needed beyond [`FREE`] each.
    counted: AtomicU64,
}

/// The images from `first[k]` to `last[k]` along each reduced edge k.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Block {
    first: [i64; 3],
    last: [i64; 3],
}

impl Block {
    fn has(&self, image: [i64; 3]) -> bool {
        (0..3).all(|k| (self.first[k]..=self.last[k]).contains(&image[k]))
    }
}

impl Images {
    /// An edge that is not periodic must be 0.
    pub(super) fn new(given: [DVec3; 3]) -> Result<Self, Error> {
        let mut combined = [[0; 3]; 3];
        let mut count = 0;
        for k in (0..3).filter(|&k| given[k] != DVec3::ZERO) {
            combined[count][k] = 1;
            count += 1;
        }
        #[allow(clippy::cast_precision_loss, reason = "the number is at most 2²⁶")]
        let terms = |combined: &[i64; 3]| [0, 1, 2].map(|k| given[k] * combined[k] as f64);
        let sum = |combined: &[i64; 3]| terms(combined).into_iter().sum::<DVec3>();
        reduce(&mut combined[..count], sum);
        let edges = combined.each_ref().map(sum);
        let edge_errors = combined.each_ref().map(|combined| {
            let sizes = terms(combined).map(|term| term.abs().element_sum());
            MARGIN * sizes.into_iter().sum::<f64>()
        });
        let duals = duals(edges);
        let in_range = combined
            .as_flattened()
            .iter()
            .all(|n| n.abs() <= MAX_COMBINED);
        let is_long = |k: usize| edges[k].length() > 1e4 * edge_errors[k];
        // Each is far from the plane of the others, because they are as short as possible.
        let is_across = |k: usize| edges[k].length() * duals[k].length() < 4.0;
        if !(in_range && (0..count).all(|k| is_long(k) && is_across(k))) {
            return Err(Error::InvalidDomain {
                problem: "its periodic edges are parallel, or nearly so, and span no cell; correct them, or make an \
                          edge open with `with_periodic`"
                    .to_owned(),
            });
        }
        // Across all edges, such a component is exactly 0.
        let units = edges[..count].iter().map(|edge| edge.abs() / edge.length());
        let spread = units.fold(DVec3::ZERO, DVec3::max);
        let is_aligned = |edge: &DVec3| edge.abs().element_sum() == edge.abs().max_element();
        let aligned = edges.iter().all(is_aligned);
        let dual_lengths = duals.map(DVec3::length);
        Ok(Self {
            combined,
            edges,
            duals,
            dual_lengths,
            dual_bounds: [0, 1, 2].map(|k| match aligned {
                true => duals[k].abs(),
                false => dual_lengths[k] * spread,
            }),
            edge_errors,
            counted: AtomicU64::new(0),
        })
    }

    /// Calls `decide` for the images of `other` that may touch `one`, and a few more. Returns those for which it
    /// returns a time and a depth, in ascending order. `far` makes the error for two that are too many cells apart.
    pub(super) fn touching(
        &self,
        [one, other]: [&Course; 2],
        mut decide: impl FnMut([i32; 3]) -> Option<[f64; 2]>,
        far: impl FnOnce(i32) -> Error,
    ) -> Result<Vec<TouchingImage>, Error> {
        let away = other.center - one.center;
        let moved = other.moved - one.moved;
        let reach = one.radius + other.radius;
        let size = (one.center.abs() + other.center.abs()) + (one.moved.abs() + other.moved.abs());
        let [at, along] = [away, moved].map(|x| self.duals.map(|dual| dual.dot(x)));
        let cells = [0, 1, 2].map(|k| at[k].abs() + along[k].abs());
        let of_edges: f64 = (0..3).map(|k| (cells[k] + 2.0) * self.edge_errors[k]).sum();
        let wide = [0, 1, 2].map(|k| {
            let rounding = MARGIN * self.dual_bounds[k].dot(size);
            // Along an open direction, all are 0.
            self.dual_lengths[k] * (reach + of_edges) * (1.0 + 1e-9) + rounding
        });
        if !(0..3).all(|k| cells[k] + wide[k] <= FARTHEST) {
            return Err(far(MAX_CELLS));
        }
        let pieces = (0..3).map(|k| along[k].abs() / (1.0 + 2.0 * wide[k]));
        let pieces = pieces.fold(1.0, f64::max).ceil();
        let each = (0..3).map(|k| 2.0 * wide[k] + along[k].abs() / pieces + 1.0);
        self.count(pieces * each.product::<f64>())?;
        let mut found = Vec::new();
        let mut last: Option<Block> = None;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "there are at most 2²³ pieces"
        )]
        let pieces = pieces as u32;
        for piece in 0..pieces {
            let ends = [piece, piece + 1].map(|end| f64::from(end) / f64::from(pieces));
            let block = block(at, along, ends, wide);
            let of = |k: usize| block.first[k]..=block.last[k];
            for image in of(0).flat_map(|x| of(1).flat_map(move |y| of(2).map(move |z| [x, y, z])))
            {
                if last.is_some_and(|last| last.has(image)) {
                    continue;
                }
                let shift = self.shift(image);
                let error = of_edges + MARGIN * (size + shift.abs()).element_sum();
                if !passes(away + shift, moved, reach + error) {
                    continue;
                }
                let Some(image) = self.in_given_edges(image) else {
                    return Err(far(MAX_CELLS));
                };
                if let Some(numbers) = decide(image) {
                    push(
                        &mut found,
                        (image, numbers),
                        "the touching images of a sphere",
                    )?;
                }
            }
            last = Some(block);
        }
        found.sort_unstable_by_key(|&(image, _)| image);
        Ok(found)
    }

    fn count(&self, images: f64) -> Result<(), Error> {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the conversion saturates"
        )]
        let further = (images as u64).saturating_sub(FREE);
        if further == 0 {
            return Ok(());
        }
        let before = self.counted.fetch_add(further.min(2 * MOST), Relaxed);
        let needed = before.saturating_add(further);
        if needed > MOST {
            let limit = MOST;
            return Err(Error::TooManyImages { needed, limit });
        }
        Ok(())
    }

    #[allow(clippy::cast_precision_loss, reason = "it is at most 2²³")]
    fn shift(&self, image: [i64; 3]) -> DVec3 {
        (0..3).map(|k| self.edges[k] * image[k] as f64).sum()
    }

    /// Returns `None` if a number has more than 32 bits.
    fn in_given_edges(&self, image: [i64; 3]) -> Option<[i32; 3]> {
        let mut given = [0; 3];
        for (k, given) in given.iter_mut().enumerate() {
            let sum: i64 = (0..3).map(|i| image[i] * self.combined[i][k]).sum();
            *given = i32::try_from(sum).ok()?;
        }
        Some(given)
    }
}

/// Returns the images that may touch between the two `ends`, as parts of the step.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the caller has checked the range"
)]
fn block(at: [f64; 3], along: [f64; 3], ends: [f64; 2], wide: [f64; 3]) -> Block {
    let place = |k: usize| ends.map(|end| -(at[k] + along[k] * end));
    let low = |k: usize| place(k)[0].min(place(k)[1]) - wide[k];
    let high = |k: usize| place(k)[0].max(place(k)[1]) + wide[k];
    Block {
        first: [0, 1, 2].map(|k| low(k).ceil() as i64),
        last: [0, 1, 2].map(|k| high(k).floor() as i64),
    }
}

/// Returns whether a point that moves from `from` by `moved` comes within `reach` of the origin, or nearly.
fn passes(from: DVec3, moved: DVec3, reach: f64) -> bool {
    let part = (-from.dot(moved) / moved.length_squared()).clamp(0.0, 1.0);
    let nearest = if part > 0.0 {
        from + moved * part
    } else {
        from
    };
    let error = 1e-9 * reach + MARGIN * (from.length() + moved.length());
    // The squares of very short lengths lose digits.
    nearest.length() <= reach + error + 1e-140
}

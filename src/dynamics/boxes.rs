//! A tree of boxes around the spheres with their pads, which finds the spheres near others.
//!
//! The spheres are in an order that keeps neighbours together. Each eight successive spheres are a *leaf*. Each
//! eight successive leaves share a node, each eight nodes share a node of the next level, and so on. So the tree
//! needs no links.
//!
//! All tests are in float32. They discard no pair of spheres that overlap.

use rayon::prelude::*;
use wide::f32x4;

use super::rows::reserve;
use crate::lanes::LANES;
use crate::{Error, Sphere};

/// Number of spheres in a leaf, and of boxes in a node.
pub(crate) const EIGHT: usize = 2 * LANES;

/// More than the rounding errors of the square of a distance, relative to the square.
const ERROR: f32 = 1.0 / (1 << 20) as f32;

/// A coordinate that is far from all spheres.
const FAR: f32 = 1e30;

/// Eight numbers.
type Eight = [f32x4; 2];

/// An axis-aligned box: its lower and its upper corner.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    low: [f32; 3],
    high: [f32; 3],
}

impl Bounds {
    const NOTHING: Self = Self {
        low: [f32::INFINITY; 3],
        high: [f32::NEG_INFINITY; 3],
    };

    fn of(sphere: &Sphere) -> Self {
        Self {
            low: sphere.center.map(|x| (x - sphere.radius).next_down()),
            high: sphere.center.map(|x| (x + sphere.radius).next_up()),
        }
    }

    fn join(&mut self, other: &Self) {
        for k in 0..3 {
            self.low[k] = self.low[k].min(other.low[k]);
            self.high[k] = self.high[k].max(other.high[k]);
        }
    }
}

/// Eight spheres. Those that are not there are far away.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Leaf {
    center: [Eight; 3],
    radius: Eight,
}

impl Leaf {
    /// Returns a leaf of at most eight spheres.
    pub(crate) fn new(spheres: &[Sphere]) -> Self {
        let (mut center, mut radius) = ([[FAR; EIGHT]; 3], [0.0; EIGHT]);
        for (place, sphere) in spheres.iter().enumerate().take(EIGHT) {
            for (own, x) in center.iter_mut().zip(sphere.center) {
                own[place] = x;
            }
            radius[place] = sphere.radius;
        }
        Self {
            center: center.map(eight),
            radius: eight(radius),
        }
    }

    /// Returns the sphere at a place, if it is there.
    pub(crate) fn sphere(&self, place: usize) -> Option<Sphere> {
        let center = [0, 1, 2].map(|k| number(&self.center[k], place));
        (center[0] < FAR).then(|| Sphere::new(center, number(&self.radius, place)))
    }

    fn bounds(&self) -> Bounds {
        let mut bounds = Bounds::NOTHING;
        for sphere in (0..EIGHT).filter_map(|place| self.sphere(place)) {
            bounds.join(&Bounds::of(&sphere));
        }
        bounds
    }

    /// Returns a mask of the spheres that overlap a sphere.
    fn overlaps(&self, sphere: &Sphere) -> u32 {
        let [x, y, z] = sphere.center;
        let own = [x, y, z, sphere.radius];
        let own = [
            f32x4::splat(own[0]),
            f32x4::splat(own[1]),
            f32x4::splat(own[2]),
            f32x4::splat(own[3]),
        ];
        let half = |h: usize| {
            let [x, y, z] = [&self.center[0][h], &self.center[1][h], &self.center[2][h]];
            overlap(&[*x, *y, *z, self.radius[h]], &own)
        };
        half(0) | half(1) << LANES
    }
}

/// The bounds of eight leaves or nodes.
#[derive(Clone, Copy, Debug)]
struct Node {
    low: [Eight; 3],
    high: [Eight; 3],
}

impl Node {
    fn new(children: &[Bounds]) -> Self {
        let (mut low, mut high) = ([[f32::INFINITY; EIGHT]; 3], [[f32::NEG_INFINITY; EIGHT]; 3]);
        for (place, child) in children.iter().enumerate() {
            for k in 0..3 {
                (low[k][place], high[k][place]) = (child.low[k], child.high[k]);
            }
        }
        Self {
            low: low.map(eight),
            high: high.map(eight),
        }
    }

    fn child(&self, place: usize) -> Bounds {
        Bounds {
            low: [0, 1, 2].map(|k| number(&self.low[k], place)),
            high: [0, 1, 2].map(|k| number(&self.high[k], place)),
        }
    }

    fn bounds(&self) -> Bounds {
        let mut bounds = Bounds::NOTHING;
        for place in 0..EIGHT {
            bounds.join(&self.child(place));
        }
        bounds
    }

    /// Makes the box of a child contain another box.
    fn grow(&mut self, place: usize, by: &Bounds) {
        let mut child = self.child(place);
        child.join(by);
        for k in 0..3 {
            self.low[k][place / LANES].as_mut_array()[place % LANES] = child.low[k];
            self.high[k][place / LANES].as_mut_array()[place % LANES] = child.high[k];
        }
    }

    /// Returns a mask of the children that overlap a box.
    #[inline(always)]
    fn overlaps(&self, bounds: &Bounds) -> u32 {
        let half = |h: usize| {
            let apart = |k: usize| {
                self.low[k][h].simd_gt(f32x4::splat(bounds.high[k]))
                    | self.high[k][h].simd_lt(f32x4::splat(bounds.low[k]))
            };
            !(apart(0) | apart(1) | apart(2)).to_bitmask() & 15
        };
        half(0) | half(1) << LANES
    }
}

fn eight(numbers: [f32; EIGHT]) -> Eight {
    let [a, b, c, d, e, f, g, h] = numbers;
    [f32x4::new([a, b, c, d]), f32x4::new([e, f, g, h])]
}

fn number(eight: &Eight, place: usize) -> f32 {
    eight[place / LANES].as_array()[place % LANES]
}

/// The places of the bits of a mask.
#[derive(Clone, Copy, Debug)]
struct Bits(u32);

impl Iterator for Bits {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let place = self.0.trailing_zeros() as usize;
        let any = self.0 != 0;
        self.0 &= self.0.wrapping_sub(1);
        any.then_some(place)
    }
}

/// Returns a mask of the four spheres that overlap one of four others each.
#[inline(always)]
fn overlap(a: &[f32x4; 4], b: &[f32x4; 4]) -> u32 {
    let (x, y, z) = (a[0] - b[0], a[1] - b[1], a[2] - b[2]);
    let reach = a[3] + b[3];
    let most = reach * reach * f32x4::splat(1.0 + ERROR) + f32x4::splat(f32::MIN_POSITIVE);
    (x * x + y * y + z * z).simd_le(most).to_bitmask()
}

#[derive(Debug, Default)]
pub(crate) struct Boxes {
    leaves: Vec<Leaf>,
    /// The nodes of each level. The first level has the boxes of leaves, and the last one is one node.
    levels: Vec<Vec<Node>>,
    most_radius: f32,
}

impl Boxes {
    /// Makes the tree of these leaves.
    pub(crate) fn fill(
        &mut self,
        leaves: impl IndexedParallelIterator<Item = Leaf>,
    ) -> Result<(), Error> {
        self.leaves.clear();
        reserve(&mut self.leaves, leaves.len())?;
        self.leaves.par_extend(leaves);
        let most = self.leaves.par_iter().map(|leaf| {
            let radii = leaf.radius[0].fast_max(leaf.radius[1]).to_array();
            radii.into_iter().fold(0.0, f32::max)
        });
        self.most_radius = most.reduce(|| 0.0, f32::max);
        let mut level = 0;
        let mut below = Vec::new();
        reserve(&mut below, self.leaves.len())?;
        below.par_extend(self.leaves.par_iter().map(Leaf::bounds));
        while level == 0 || below.len() > 1 {
            if self.levels.len() == level {
                self.levels.push(Vec::new());
            }
            let nodes = &mut self.levels[level];
            nodes.clear();
            reserve(nodes, below.len() / EIGHT + 1)?;
            nodes.par_extend(below.par_chunks(EIGHT).map(Node::new));
            let mut above = Vec::new();
            reserve(&mut above, nodes.len())?;
            above.par_extend(nodes.par_iter().map(Node::bounds));
            below = above;
            level += 1;
        }
        self.levels.truncate(level);
        Ok(())
    }

    /// Returns the largest radius of all spheres.
    pub(crate) fn most_radius(&self) -> f32 {
        self.most_radius
    }

    /// Makes a sphere, and the boxes around it, larger.
    pub(crate) fn grow(&mut self, index: u32, sphere: &Sphere) {
        let mut place = index as usize;
        let lane = place % EIGHT;
        place /= EIGHT;
        self.leaves[place].radius[lane / LANES].as_mut_array()[lane % LANES] = sphere.radius;
        self.most_radius = self.most_radius.max(sphere.radius);
        let bounds = Bounds::of(sphere);
        for level in &mut self.levels {
            level[place / EIGHT].grow(place % EIGHT, &bounds);
            place /= EIGHT;
        }
    }

    /// Calls `each` with the index of every leaf whose box overlaps a box, in order.
    fn each_leaf(&self, bounds: &Bounds, each: &mut impl FnMut(usize)) {
        if let Some(top) = self.levels.len().checked_sub(1) {
            self.descend(top, 0, bounds, each);
        }
    }

    #[inline(never)]
    fn descend(&self, level: usize, node: usize, bounds: &Bounds, each: &mut impl FnMut(usize)) {
        for place in Bits(self.levels[level][node].overlaps(bounds)) {
            let child = EIGHT * node + place;
            match level.checked_sub(1) {
                Some(below) => self.descend(below, child, bounds, each),
                None => each(child),
            }
        }
    }

    /// Calls `each` with the index of every sphere that overlaps a sphere.
    pub(crate) fn each_near(&self, sphere: &Sphere, each: &mut impl FnMut(u32)) {
        self.each_leaf(&Bounds::of(sphere), &mut |index| {
            let mask = self.leaves[index].overlaps(sphere);
            for place in Bits(mask) {
                #[allow(
                    clippy::cast_possible_truncation,
                    reason = "there are at most 2³⁰ spheres"
                )]
                each((EIGHT * index + place) as u32);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spheres of many sizes, some of which grow after the tree is made.
    #[test]
    fn every_sphere_that_overlaps_another_is_found() {
        let mut rng = fastrand::Rng::with_seed(1);
        for count in [1, 8, 9, 64, 65, 700] {
            let mut spheres: Vec<_> = (0..count)
                .map(|_| {
                    let center = [0; 3].map(|_| 10.0 * rng.f32());
                    Sphere::new(center, 0.2 + rng.f32().powi(8))
                })
                .collect();
            let mut boxes = Boxes::default();
            let leaves = spheres.par_chunks(EIGHT).map(Leaf::new);
            boxes.fill(leaves).expect("the tree fits in memory");
            for (index, sphere) in (0..).zip(&mut spheres[..count / 4]) {
                sphere.radius *= 3.0;
                boxes.grow(index, sphere);
            }
            let most = spheres.iter().map(|sphere| sphere.radius);
            assert_eq!(boxes.most_radius(), most.fold(0.0, f32::max));
            for one in &spheres {
                let mut found = vec![false; count];
                boxes.each_near(one, &mut |index| found[index as usize] = true);
                for (other, found) in spheres.iter().zip(found) {
                    let away =
                        (0..3).map(|k| f64::from(one.center[k]) - f64::from(other.center[k]));
                    let square: f64 = away.map(|x| x * x).sum();
                    let reach = f64::from(one.radius) + f64::from(other.radius);
                    assert!(found || square > reach * reach);
                    // Nearly all that are found overlap.
                    assert!(!found || square < 1.001 * reach * reach);
                }
            }
        }
    }
}

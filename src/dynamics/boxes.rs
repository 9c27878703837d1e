//! A tree of boxes that finds overlapping spheres, each enlarged by its pad.
//!
//! The spheres are in an order that keeps neighbours together. Each eight successive spheres are a *leaf*. Each
//! eight successive leaves share a node, each eight nodes share a node of the next level, and so on. So the tree
//! needs no links.
//!
//! The tree tests in float32 whether boxes and spheres overlap, with margins for the rounding
//! errors. So it finds every pair of spheres that overlap.

use glam::DVec3;
use rayon::prelude::*;
use wide::f32x4;

#[cfg(feature = "serde")]
use super::coded::{Coded, Coder, check};
use super::narrow::{narrow, next_up};
use super::rows::{SUBSTEP, push, reserve};
use crate::lanes::{Bits, LANES};
use crate::memory::collect_in_parallel;
use crate::{Error, Sphere};

/// Number of spheres in a leaf of a tree, and number of child boxes in an inner node.
pub(crate) const EIGHT: usize = 2 * LANES;

/// Bound on the relative rounding error of a squared distance.
const ERROR: f32 = 1.0 / (1 << 20) as f32;

/// A sphere is *wide* if its radius is larger than this, in mean radii.
const WIDE: f64 = 8.0;

/// Largest number of spheres that a tree lists as wide.
const MOST_WIDE: usize = 64;

/// A coordinate that is far from all spheres.
const FAR: f32 = 1e30;

/// Eight numbers.
type Eight = [f32x4; 2];

/// An axis-aligned box: its lower and its upper corner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    low: [f32; 3],
    high: [f32; 3],
}

impl Bounds {
    const NOTHING: Self = Self {
        low: [f32::INFINITY; 3],
        high: [f32::NEG_INFINITY; 3],
    };

    /// Returns a box around spheres.
    fn of(spheres: impl Iterator<Item = Sphere>) -> Self {
        let [mut low, mut high] = [f32::INFINITY, f32::NEG_INFINITY].map(f32x4::splat);
        for Sphere { center, radius, .. } in spheres {
            let [x, y, z] = center;
            let center = f32x4::new([x, y, z, 0.0]);
            low = low.fast_min(center - f32x4::splat(radius));
            high = high.fast_max(center + f32x4::splat(radius));
        }
        let [low, high] = [low, high].map(|corner| [0, 1, 2].map(|k| corner.as_array()[k]));
        // The sums above are rounded to nearest.
        Self {
            low: low.map(f32::next_down),
            high: high.map(f32::next_up),
        }
    }

    fn join(&mut self, other: &Self) {
        for k in 0..3 {
            self.low[k] = self.low[k].min(other.low[k]);
            self.high[k] = self.high[k].max(other.high[k]);
        }
    }

    /// Returns the centre of the box, and an upper bound of the distance between it and the corners
    /// of the box.
    pub(crate) fn center_and_reach(&self) -> (DVec3, f64) {
        let [low, high] = [self.low, self.high].map(|corner| DVec3::from(corner.map(f64::from)));
        let half = 0.5 * (high - low);
        (low + half, half.length() * (1.0 + 1e-9))
    }
}

/// Returns a box around spheres.
pub(crate) fn bounds_of(spheres: &[Sphere]) -> Bounds {
    Bounds::of(spheres.iter().copied())
}

/// The leaves near a box, and their boxes in groups of four.
#[derive(Debug, Default)]
pub(crate) struct NearLeaves {
    leaves: Vec<u32>,
    /// The boxes around the spheres of `leaves`: the lower and the upper corners of four boxes at a
    /// time.
    boxes: Vec<[[f32x4; 3]; 2]>,
    /// Working memory.
    hits: Vec<u32>,
    found: Vec<u32>,
    /// Number of spheres that [`Boxes::find`] has written to the start of `found`.
    count: usize,
}

impl NearLeaves {
    /// Returns the result of the last call of [`Boxes::find`]: the indices of the spheres that
    /// overlap a given sphere.
    #[inline]
    pub(crate) fn found(&self) -> &[u32] {
        &self.found[..self.count]
    }

    /// Leaves out the leaves for which `keep` returns false.
    pub(crate) fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        let mut kept = 0;
        for place in 0..self.leaves.len() {
            let leaf = self.leaves[place];
            if keep(leaf) {
                self.leaves[kept] = leaf;
                self.copy_box(Some(place), kept);
                kept += 1;
            }
        }
        self.leaves.truncate(kept);
        self.boxes.truncate(kept.div_ceil(LANES));
        for place in kept..LANES * self.boxes.len() {
            self.copy_box(None, place);
        }
    }

    /// Copies a box to another place, or makes the box there overlap nothing.
    fn copy_box(&mut self, from: Option<usize>, to: usize) {
        for (corner, nothing) in [f32::INFINITY, f32::NEG_INFINITY].into_iter().enumerate() {
            for k in 0..3 {
                let number =
                    |place: usize| self.boxes[place / LANES][corner][k].as_array()[place % LANES];
                let number = from.map_or(nothing, number);
                self.boxes[to / LANES][corner][k].as_mut_array()[to % LANES] = number;
            }
        }
    }

    fn add(&mut self, leaf: u32, node: &SphereNode, place: usize) -> Result<(), Error> {
        let lane = self.leaves.len() % LANES;
        if lane == 0 {
            let [low, high] = [f32::INFINITY, f32::NEG_INFINITY].map(|x| [f32x4::splat(x); 3]);
            push(&mut self.boxes, [low, high])?;
        }
        push(&mut self.leaves, leaf)?;
        if let Some([low, high]) = self.boxes.last_mut() {
            for k in 0..3 {
                low[k].as_mut_array()[lane] = number(&node.low[k], place);
                high[k].as_mut_array()[lane] = number(&node.high[k], place);
            }
        }
        Ok(())
    }
}

/// A leaf of the tree: eight places for spheres. A place without a sphere has a centre far away
/// from all spheres.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Leaf {
    center: [Eight; 3],
    radius: Eight,
}

impl Leaf {
    /// Returns a leaf with the given spheres. There must be at most eight.
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

    /// Returns the sphere at one of the eight places of the leaf, or `None` for a place without a
    /// sphere.
    pub(crate) fn sphere(&self, place: usize) -> Option<Sphere> {
        let center = [0, 1, 2].map(|k| number(&self.center[k], place));
        (center[0] < FAR).then(|| Sphere::new(center, number(&self.radius, place)))
    }

    /// Returns the radii of all eight spheres, which are 0 for those that are not there.
    fn radii(&self) -> impl Iterator<Item = f32> {
        let [a, b] = self.radius.map(f32x4::to_array);
        a.into_iter().chain(b)
    }

    fn bounds(&self) -> Bounds {
        Bounds::of((0..EIGHT).filter_map(|place| self.sphere(place)))
    }

    /// Returns an 8-bit mask. Bit k is 1 if the sphere at place k of the leaf overlaps the sphere
    /// `own`.
    #[inline(always)]
    fn overlaps(&self, own: &[f32x4; 4]) -> u32 {
        let half = |h: usize| {
            let [x, y, z] = [&self.center[0][h], &self.center[1][h], &self.center[2][h]];
            overlap(&[*x, *y, *z, self.radius[h]], own)
        };
        half(0) | half(1) << LANES
    }
}

/// An inner node of the tree: the boxes of its eight children, which are leaves or other nodes.
#[derive(Clone, Copy, Debug)]
struct SphereNode {
    low: [Eight; 3],
    high: [Eight; 3],
}

impl SphereNode {
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

    /// Enlarges the box of one child of this tree node so that it also contains the box `by`.
    fn grow(&mut self, place: usize, by: &Bounds) {
        let mut child = self.child(place);
        child.join(by);
        for k in 0..3 {
            self.low[k][place / LANES].as_mut_array()[place % LANES] = child.low[k];
            self.high[k][place / LANES].as_mut_array()[place % LANES] = child.high[k];
        }
    }

    /// Returns an 8-bit mask. Bit k is 1 if the box of the node's child k overlaps the box
    /// `bounds`.
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

/// Compares four spheres `a` with four spheres `b`, lane by lane, and returns a mask of the lanes
/// in which the two spheres overlap.
#[inline(always)]
fn overlap(a: &[f32x4; 4], b: &[f32x4; 4]) -> u32 {
    let (x, y, z) = (a[0] - b[0], a[1] - b[1], a[2] - b[2]);
    let reach = a[3] + b[3];
    let most = reach * reach * f32x4::splat(1.0 + ERROR) + f32x4::splat(f32::MIN_POSITIVE);
    (x * x + y * y + z * z).simd_le(most).to_bitmask()
}

/// Copies each coordinate of a sphere's centre, and its radius, to all four lanes of a SIMD vector.
#[inline(always)]
fn splat(sphere: &Sphere) -> [f32x4; 4] {
    let [x, y, z] = sphere.center;
    [
        f32x4::splat(x),
        f32x4::splat(y),
        f32x4::splat(z),
        f32x4::splat(sphere.radius),
    ]
}

/// Tests four boxes. Returns a mask in which bit k is 1 if box k overlaps the sphere `own`.
#[inline(always)]
fn boxes_overlap([low, high]: &[[f32x4; 3]; 2], own: &[f32x4; 4]) -> u32 {
    let away = |k: usize| {
        let outside = (low[k] - own[k]).fast_max(own[k] - high[k]);
        outside.fast_max(f32x4::ZERO)
    };
    let (x, y, z) = (away(0), away(1), away(2));
    let most = own[3] * own[3] * f32x4::splat(1.0 + ERROR) + f32x4::splat(f32::MIN_POSITIVE);
    (x * x + y * y + z * z).simd_le(most).to_bitmask()
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Boxes {
    leaves: Vec<Leaf>,
    /// The nodes of the tree of boxes, level by level. Each node of the first level has the boxes
    /// of up to eight leaves. The last level has one node, the root.
    levels: Vec<Vec<SphereNode>>,
    /// The few spheres that are much wider than the others.
    wide: Vec<u32>,
    /// Largest radius of all spheres except those listed in `wide`.
    most_radius: f32,
    /// Spheres with a radius above this limit count as wide.
    narrow: f32,
}

impl Boxes {
    /// Builds the tree from its leaves. `any_wide` says whether to list the wide spheres.
    pub(crate) fn fill(
        &mut self,
        leaves: impl IndexedParallelIterator<Item = Leaf>,
        any_wide: bool,
    ) -> Result<(), Error> {
        self.leaves.clear();
        reserve(&mut self.leaves, leaves.len())?;
        self.leaves.par_extend(leaves);
        self.find_wide(any_wide)?;
        let mut level = 0;
        let mut below = Vec::new();
        reserve(&mut below, self.leaves.len())?;
        below.par_extend(self.leaves.par_iter().map(Leaf::bounds));
        while level == 0 || below.len() > 1 {
            if self.levels.len() == level {
                push(&mut self.levels, Vec::new())?;
            }
            let nodes = &mut self.levels[level];
            nodes.clear();
            reserve(nodes, below.len() / EIGHT + 1)?;
            nodes.par_extend(below.par_chunks(EIGHT).map(SphereNode::new));
            let mut above = Vec::new();
            reserve(&mut above, nodes.len())?;
            above.par_extend(nodes.par_iter().map(SphereNode::bounds));
            below = above;
            level += 1;
        }
        self.levels.truncate(level);
        Ok(())
    }

    /// Writes what does not follow from the spheres and their pads, or reads it.
    #[cfg(feature = "serde")]
    pub(crate) fn code(&mut self, coder: &mut Coder, spheres: usize) -> Result<(), String> {
        self.wide.code(coder)?;
        self.most_radius.code(coder)?;
        self.narrow.code(coder)?;
        check(
            self.wide.iter().all(|&place| (place as usize) < spheres),
            "spheres",
        )
    }

    /// Finds the largest radius. If `any_wide` is true, lists the wide spheres, and finds the
    /// largest radius of the others.
    fn find_wide(&mut self, any_wide: bool) -> Result<(), Error> {
        self.wide.clear();
        self.narrow = f32::INFINITY;
        let chunks = self.leaves.par_chunks(512).map(|leaves| {
            let radii = leaves.iter().flat_map(Leaf::radii);
            radii.fold((0.0, 0.0), |(sum, most): (f64, f32), radius| {
                (sum + f64::from(radius), most.max(radius))
            })
        });
        // The sums of chunks are added in order, so the mean does not depend on the number of threads.
        let chunks = collect_in_parallel(chunks, SUBSTEP)?;
        let (sum, most) = (chunks.into_iter())
            .fold((0.0, 0.0), |(sum, most): (f64, f32), chunk| {
                (sum + chunk.0, most.max(chunk.1))
            });
        self.most_radius = most;
        let least = WIDE * sum / (EIGHT * self.leaves.len()).max(1) as f64;
        if !any_wide {
            return Ok(());
        }
        self.narrow = next_up(least);
        if most <= self.narrow {
            return Ok(());
        }
        let mut wide = Vec::new();
        let radii = self.leaves.iter().flat_map(Leaf::radii);
        for (radius, place) in radii.zip(0..u32::MAX) {
            if f64::from(radius) > least {
                push(&mut wide, (radius, place))?;
            }
        }
        wide.sort_unstable_by(|one, other| other.0.total_cmp(&one.0));
        if let Some(&(radius, _)) = wide.get(MOST_WIDE) {
            self.narrow = radius;
        }
        reserve(&mut self.wide, MOST_WIDE)?;
        let wide = wide.iter().filter(|(radius, _)| *radius > self.narrow);
        self.wide.extend(wide.map(|&(_, place)| place));
        self.wide.sort_unstable();
        let narrow = self.narrow;
        let all = self.leaves.par_iter().map(|leaf| {
            let radii = leaf.radii().filter(|&radius| radius <= narrow);
            radii.fold(0.0, f32::max)
        });
        self.most_radius = all.reduce(|| 0.0, f32::max);
        Ok(())
    }

    /// Returns the largest radius of the spheres that are not listed as wide.
    pub(crate) fn most_radius(&self) -> f32 {
        self.most_radius
    }

    /// Returns the indices of the wide spheres. [`fill`](Self::fill) sorts them, and
    /// [`grow`](Self::grow) may append others.
    pub(crate) fn wide(&self) -> &[u32] {
        &self.wide
    }

    /// Returns whether a sphere is wide: its radius is above a limit that [`fill`](Self::fill) has
    /// set. Right after `fill`, the list [`wide`](Self::wide) contains exactly the wide spheres.
    /// Later it may lack some of those that [`grow`](Self::grow) has enlarged, because its length
    /// is limited.
    #[inline]
    pub(crate) fn is_wide(&self, sphere: &Sphere) -> bool {
        sphere.radius > self.narrow
    }

    /// Enlarges the sphere number `index` of the tree to the radius of `sphere`, and the boxes that contain it.
    pub(crate) fn grow(&mut self, index: u32, sphere: &Sphere) {
        let mut place = index as usize;
        let lane = place % EIGHT;
        place /= EIGHT;
        self.leaves[place].radius[lane / LANES].as_mut_array()[lane % LANES] = sphere.radius;
        let mut is_listed = self.wide.contains(&index);
        if self.is_wide(sphere) && !is_listed && self.wide.len() < MOST_WIDE {
            self.wide.push(index);
            is_listed = true;
        }
        if !is_listed {
            self.most_radius = self.most_radius.max(sphere.radius);
        }
        let bounds = bounds_of(std::slice::from_ref(sphere));
        for level in &mut self.levels {
            level[place / EIGHT].grow(place % EIGHT, &bounds);
            place /= EIGHT;
        }
    }

    /// Lists the leaves whose boxes overlap a box, in order.
    pub(crate) fn near(&self, bounds: &Bounds, near: &mut NearLeaves) -> Result<(), Error> {
        near.leaves.clear();
        near.boxes.clear();
        match self.levels.len().checked_sub(1) {
            Some(top) => self.descend(top, 0, bounds, near)?,
            None => return Ok(()),
        }
        let most = near.leaves.len() + 2 * EIGHT;
        if near.hits.len() < most {
            let missing = most - near.hits.len();
            reserve(&mut near.hits, missing)?;
            near.hits.resize(most, 0);
        }
        Ok(())
    }

    #[inline(never)]
    fn descend(
        &self,
        level: usize,
        node: usize,
        bounds: &Bounds,
        near: &mut NearLeaves,
    ) -> Result<(), Error> {
        let children = &self.levels[level][node];
        for place in Bits(children.overlaps(bounds)) {
            let child = EIGHT * node + place;
            match level.checked_sub(1) {
                Some(below) => self.descend(below, child, bounds, near)?,
                None => near.add(narrow(child), children, place)?,
            }
        }
        Ok(())
    }

    /// Finds the spheres of the listed leaves that overlap a sphere. Afterwards, [`NearLeaves::found`] has their indices,
    /// in order.
    #[inline(always)]
    pub(crate) fn find(&self, near: &mut NearLeaves, sphere: &Sphere) -> Result<(), Error> {
        let own = splat(sphere);
        let NearLeaves {
            leaves,
            boxes,
            hits,
            found,
            count,
        } = near;
        *count = 0;
        let mut hit_count = 0;
        for (group, boxes) in boxes.iter().enumerate() {
            let hit = boxes_overlap(boxes, &own);
            hit_count += pick(hit, LANES * group, &mut hits[hit_count..]);
        }
        let most = EIGHT * (hit_count + 1);
        if found.len() < most {
            let missing = most - found.len();
            reserve(found, missing)?;
            found.resize(most, 0);
        }
        for &hit in &hits[..hit_count] {
            let leaf = leaves[hit as usize] as usize;
            let mask = self.leaves[leaf].overlaps(&own);
            *count += pick(mask, EIGHT * leaf, &mut found[*count..]);
        }
        Ok(())
    }
}

/// Writes the positions of the 1 bits of an 8-bit mask, each plus `first`, to `list`. Returns the
/// number of 1 bits. `list` must have room for eight numbers. A table of all masks avoids branches.
#[inline(always)]
fn pick(mask: u32, first: usize, list: &mut [u32]) -> usize {
    let Picked { places, count } = &PICKED[mask as usize];
    let first = narrow(first);
    for (own, &place) in list[..EIGHT].iter_mut().zip(places) {
        *own = first + place;
    }
    *count as usize
}

/// The positions of the 1 bits in an 8-bit mask, in ascending order and followed by zeros. `count`
/// is the number of 1 bits.
#[derive(Clone, Copy, Debug)]
struct Picked {
    places: [u32; EIGHT],
    count: u32,
}

/// The positions of the 1 bits in each 8-bit mask.
static PICKED: [Picked; 1 << EIGHT] = {
    let mut table = [Picked {
        places: [0; EIGHT],
        count: 0,
    }; 1 << EIGHT];
    let mut mask = 0;
    while mask < table.len() {
        let mut place: u32 = 0;
        while place < u8::BITS {
            if mask >> place & 1 == 1 {
                let count = table[mask].count;
                table[mask].places[count as usize] = place;
                table[mask].count += 1;
            }
            place += 1;
        }
        mask += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Some leaves are left out, and all spheres of the others are found.
    #[test]
    fn leaves_that_are_left_out_are_not_searched() {
        let spheres = vec![Sphere::new([1.0; 3], 1.0); 300];
        let (mut boxes, mut near) = (Boxes::default(), NearLeaves::default());
        let leaves = spheres.par_chunks(EIGHT).map(Leaf::new);
        boxes.fill(leaves, false).expect("the tree fits in memory");
        for share in [1, 2, 3, 7, 100] {
            let keep = |leaf: u32| leaf % share == share - 1;
            boxes
                .near(&bounds_of(&spheres), &mut near)
                .expect("the list fits in memory");
            near.retain(keep);
            boxes
                .find(&mut near, &spheres[0])
                .expect("the list fits in memory");
            let all = 0..narrow(spheres.len());
            let expected: Vec<_> = all.filter(|&k| keep(k / narrow(EIGHT))).collect();
            assert_eq!(near.found(), expected);
        }
    }

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
            let (mut boxes, mut near) = (Boxes::default(), NearLeaves::default());
            let leaves = spheres.par_chunks(EIGHT).map(Leaf::new);
            boxes.fill(leaves, false).expect("the tree fits in memory");
            for (index, sphere) in (0..).zip(&mut spheres[..count / 4]) {
                sphere.radius *= 3.0;
                boxes.grow(index, sphere);
            }
            let most = spheres.iter().map(|sphere| sphere.radius);
            assert_eq!(boxes.most_radius(), most.fold(0.0, f32::max));
            for one in &spheres {
                let mut found = vec![false; count];
                boxes
                    .near(&bounds_of(&[*one]), &mut near)
                    .expect("the list fits in memory");
                boxes.find(&mut near, one).expect("the list fits in memory");
                near.found()
                    .iter()
                    .for_each(|&index| found[index as usize] = true);
                for (other, found) in spheres.iter().zip(found) {
                    let away =
                        (0..3).map(|k| f64::from(one.center[k]) - f64::from(other.center[k]));
                    let square: f64 = away.map(|x| x * x).sum();
                    let reach = f64::from(one.radius) + f64::from(other.radius);
                    assert!(found || square > reach * reach);
                    // The overlap test may also find two spheres that do not overlap. The gap
                    // between them must then be less than a thousandth of the sum of their radii.
                    assert!(!found || square < 1.001 * reach * reach);
                }
            }
        }
    }
}

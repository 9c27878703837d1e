//! A tree of boxes around the triangles of a mesh, which finds the triangles that a moving sphere may touch.
//!
//! The triangles are sorted along a curve that keeps neighbours together (Morton order). Every four consecutive
//! triangles share a node, every four nodes share a node of the next level, and so on. So the tree needs no
//! links. Before the tree is searched, a grid with one bit for each cell discards the spheres that pass only
//! through cells without triangles.
//!
//! The tests whether a sphere is near a grid cell or a box of the tree are in float32.
//! docs/exact.md (section 7) proves that their rounding errors never make the search miss a
//! triangle that the sphere touches.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of cells are clamped, and there are at most 2³⁰ triangles"
)]

#[cfg(test)]
mod tests;

use std::array::from_fn;

use wide::f32x4;

use crate::Error;
use crate::lanes::{Bits, LANES, Real, each, three};
use crate::memory::{allocate, collect, filled, push};

/// Bound of the rounding errors of the tests of spheres at boxes and cells, relative to the magnitudes of the
/// coordinates and lengths.
const ERROR: f32 = 1.0 / (1 << 18) as f32;
/// This length is added to all lengths in the tests of boxes and cells, because a relative margin does not
/// cover underflow.
const LEAST: f32 = 1.0 / (1_u64 << 50) as f32;
/// Number of cells of the grid along each axis. A row of cells along x is stored in one `u128`,
/// with one bit for each cell.
const CELLS: usize = 128;
/// The path of a sphere has a bounding box. If the box extends at most this many cell edges from its middle
/// along each axis, the sphere touches only triangles in the cell of the middle or in a neighbour of this
/// cell. A limit of 1 would leave no margin for rounding.
const MOST_CELLS: f32 = 0.99;
/// A sphere is first tested against the grid of marked cells, and then against the tree of boxes.
/// If the bounding box of its path spans more than this number of rows of cells along x, the test
/// against the grid is left out.
const MOST_ROWS: usize = 32;
const MEMORY: &str = "the boxes of triangles";

/// Path of a sphere, or of four spheres, during a step, relative to a mesh.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path<T> {
    /// Centre of the sphere half way through the step.
    middle: [T; 3],
    /// Half of the sphere's displacement during the step.
    half: [T; 3],
    /// For each axis, the sphere's radius plus a margin for the rounding of its coordinate.
    reach: [T; 3],
}

impl<T: Real> Path<T> {
    /// Returns the path of a sphere with this centre, radius and displacement.
    #[inline(always)]
    pub(crate) fn new(center: [T; 3], radius: T, displacement: [T; 3]) -> Self {
        let half = three(displacement, |x| T::of(0.5) * x);
        Self {
            middle: each(center, half, |center, half| center + half),
            half,
            reach: each(center, displacement, |center, displacement| {
                let size = center.abs() + displacement.abs() + radius;
                radius + size * T::of(ERROR) + T::of(LEAST)
            }),
        }
    }

    /// Returns the lower and the upper end of the path along each axis.
    #[inline(always)]
    fn ends(&self) -> [[T; 3]; 2] {
        let extent = each(self.half, self.reach, |half, reach| half.abs() + reach);
        [
            each(self.middle, extent, |middle, extent| middle - extent),
            each(self.middle, extent, |middle, extent| middle + extent),
        ]
    }
}

/// The bounding boxes of four triangles, or of four nodes of the level below.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TriangleNode {
    middle: [f32x4; 3],
    /// Half of the edge lengths of each of the four boxes, with a margin for rounding. If the node has fewer
    /// than four, the numbers of a missing box are −∞, so that no sphere is near it.
    half: [f32x4; 3],
}

/// An axis-aligned box: its lower and its upper corner.
type Ends = [[f32; 3]; 2];

const NOWHERE: Ends = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];

fn joined([a, b]: Ends, [c, d]: Ends) -> Ends {
    [from_fn(|k| a[k].min(c[k])), from_fn(|k| b[k].max(d[k]))]
}

impl TriangleNode {
    fn new(boxes: &[Ends]) -> Self {
        let mut middle = [[0.0; LANES]; 3];
        let mut half = [[f32::NEG_INFINITY; LANES]; 3];
        for (lane, [low, high]) in boxes.iter().enumerate() {
            for k in 0..3 {
                let center = low[k].midpoint(high[k]);
                let reach = (high[k] - center).max(center - low[k]);
                middle[k][lane] = center;
                half[k][lane] = reach + (center.abs() + reach) * ERROR + LEAST;
            }
        }
        Self {
            middle: middle.map(f32x4::from),
            half: half.map(f32x4::from),
        }
    }

    /// Returns a mask of the boxes that a sphere may touch during the step: all boxes that no plane certainly
    /// separates from the volume that the sphere's bounding box sweeps. The planes are perpendicular to an
    /// axis, or parallel to an axis and to the path. For a short path, planes parallel to the path are left
    /// out unless `all_planes` is true.
    #[inline(always)]
    fn near(&self, of: &PathInLanes, all_planes: bool) -> u32 {
        let Path {
            middle,
            half,
            reach,
        } = &of.path;
        let away: [f32x4; 3] = from_fn(|k| middle[k] - self.middle[k]);
        let size: [f32x4; 3] = from_fn(|k| self.half[k] + reach[k]);
        let length: [f32x4; 3] = from_fn(|k| half[k].abs());
        let apart = |k: usize| away[k].abs().simd_gt(size[k] + length[k]);
        let across = |i: usize, j: usize| {
            let distance = (half[i] * away[j] - half[j] * away[i]).abs();
            let sum = size[i] * length[j] + size[j] * length[i];
            distance.simd_gt(sum + f32x4::splat(f32::MIN_POSITIVE))
        };
        let mut separated = apart(0) | apart(1) | apart(2);
        if all_planes || of.is_long {
            separated |= across(0, 1) | across(1, 2) | across(2, 0);
        }
        !separated.to_bitmask() & 15
    }
}

/// A grid in the bounding box of a mesh. Every cell that the bounding box of a triangle reaches into is marked.
#[derive(Clone, Debug, Default, PartialEq)]
struct MarkedCells {
    cells_per_length: [f32; 3],
    /// One bit for each cell, which is set if the bounding box of a triangle reaches into the cell.
    /// Each element of this vector has the bits of a row of cells along x.
    rows: Vec<u128>,
    /// All cells that are marked in `rows`, and all neighbours of these cells. Each row of 128 bits is stored
    /// as two numbers of 64 bits, in which a single bit is tested faster.
    rows_around: Vec<[u64; 2]>,
}

impl MarkedCells {
    fn new(around: &Ends, boxes: &[Ends]) -> Result<Self, Error> {
        let [low, high] = around;
        let mut cells = Self {
            cells_per_length: from_fn(|k| (CELLS as f32 / (high[k] - low[k])).min(f32::MAX)),
            rows: allocate(CELLS * CELLS, MEMORY)?,
            rows_around: allocate(CELLS * CELLS, MEMORY)?,
        };
        cells.rows.resize(CELLS * CELLS, 0);
        // Marking the cells of a large triangle takes long. With many large triangles, most cells would be
        // marked anyway. So beyond a limit, all cells are marked.
        let mut allowed = 64 * boxes.len() + CELLS * CELLS;
        for ends in boxes {
            let [a, b] = ends.map(|x| cells.cell(low, x));
            let Some(left) = allowed.checked_sub((b[1] - a[1] + 1) * (b[2] - a[2] + 1)) else {
                cells.rows.fill(u128::MAX);
                break;
            };
            allowed = left;
            for z in a[2]..=b[2] {
                for row in &mut cells.rows[CELLS * z..][a[1]..=b[1]] {
                    *row |= columns(a[0], b[0]);
                }
            }
        }
        let around = |k: usize| k.saturating_sub(1)..=(k + 1).min(CELLS - 1);
        let rows = &cells.rows;
        cells.rows_around.extend((0..CELLS * CELLS).map(|row| {
            let (z, y) = (row / CELLS, row % CELLS);
            let row = |z: usize| around(y).map(move |y| rows[CELLS * z + y]);
            let bits = around(z).flat_map(row).fold(0, |all, row| all | row);
            let bits = bits | bits << 1 | bits >> 1;
            [bits as u64, (bits >> 64) as u64]
        }));
        Ok(cells)
    }

    /// Returns the cells of four points. A point outside the grid gets the nearest cell. The number of a cell
    /// never decreases when the coordinate grows, even with rounding. So two boxes that intersect have a cell
    /// in common.
    #[inline(always)]
    fn cells(&self, low: &[f32; 3], points: [f32x4; 3]) -> [[i32; LANES]; 3] {
        let last = f32x4::splat((CELLS - 1) as f32);
        from_fn(|k| {
            let away = points[k] - f32x4::splat(low[k]);
            let cells = away * f32x4::splat(self.cells_per_length[k]);
            let cells = cells.fast_max(f32x4::splat(0.0)).fast_min(last);
            cells.fast_trunc_int().to_array()
        })
    }

    fn cell(&self, low: &[f32; 3], point: [f32; 3]) -> [usize; 3] {
        self.cells(low, point.map(f32x4::splat))
            .map(|cells| cells[0] as usize)
    }

    /// Returns whether any cell of the block from cell `a` to cell `b` is marked.
    #[inline(always)]
    fn any_marked(&self, a: [usize; 3], b: [usize; 3]) -> bool {
        if (b[1] - a[1] + 1) * (b[2] - a[2] + 1) > MOST_ROWS {
            return true;
        }
        let columns = columns(a[0], b[0]);
        (a[2]..=b[2]).any(|z| {
            let rows = self.rows.get(CELLS * z + a[1]..=CELLS * z + b[1]);
            rows.is_some_and(|rows| rows.iter().any(|row| row & columns != 0))
        })
    }
}

/// Returns a number with the bits from `first` to `last` set.
#[inline(always)]
fn columns(first: usize, last: usize) -> u128 {
    u128::MAX << first & u128::MAX >> (CELLS - 1 - last)
}

/// The boxes of the triangles of a mesh at the start of the step.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tree {
    around: Ends,
    cells: MarkedCells,
    /// The indices of the triangles in the order in which the lowest level of the tree has them.
    order: Vec<u32>,
    /// The nodes of all levels, the lowest level first.
    nodes: Vec<TriangleNode>,
    /// Index in `nodes` at which each level of the tree begins.
    levels: Vec<u32>,
}

/// Largest number of nodes of one level of the tree that are visited together, before any of their children.
const MOST_NODES: usize = 128;
/// Largest number of children (nodes or triangles) that [`MOST_NODES`] nodes have together.
const MOST_PAIRS: usize = LANES * MOST_NODES;

/// The path of one sphere, the same in all lanes.
#[derive(Clone, Copy, Debug)]
struct PathInLanes {
    path: Path<f32x4>,
    /// Whether the sphere moves by more than about its diameter. If so, boxes are also tested against planes
    /// parallel to the path. For a shorter path, these planes discard few boxes.
    is_long: bool,
}

impl PathInLanes {
    fn new(path: &Path<f32>) -> Self {
        Self {
            path: Path {
                middle: three(path.middle, f32x4::splat),
                half: three(path.half, f32x4::splat),
                reach: three(path.reach, f32x4::splat),
            },
            is_long: (0..3).any(|k| path.half[k].abs() > path.reach[k]),
        }
    }
}

impl Tree {
    /// Returns the tree of `count` triangles with these corners. Each coordinate must be finite.
    pub(super) fn new(
        count: usize,
        corners: impl Fn(usize) -> Option<[[f32; 3]; 3]>,
    ) -> Result<Self, Error> {
        let mut boxes = allocate(count, MEMORY)?;
        boxes.extend((0..count).map(|triangle| {
            let corners = corners(triangle).unwrap_or_default();
            let points = corners.map(|corner| [corner, corner]);
            points.into_iter().fold(NOWHERE, joined)
        }));
        if boxes.is_empty() {
            return Ok(Self::default());
        }
        let around = boxes.iter().copied().fold(NOWHERE, joined);
        let cells = MarkedCells::new(&around, &boxes)?;
        let mut keys: Vec<(u64, u32)> = allocate(count, MEMORY)?;
        keys.extend(
            (0_u32..)
                .zip(&boxes)
                .map(|(k, ends)| (key(&around, ends), k)),
        );
        keys.sort_unstable();
        let mut order = allocate(count, MEMORY)?;
        order.extend(keys.iter().map(|(_, triangle)| *triangle));
        let mut below: Vec<Ends> = allocate(count, MEMORY)?;
        below.extend(order.iter().map(|&triangle| boxes[triangle as usize]));
        // A level has a quarter as many nodes as the level below, so the tree has about a third as many nodes
        // as triangles.
        let mut nodes = allocate(count / 3 + 32, MEMORY)?;
        let mut levels = Vec::new();
        loop {
            push(&mut levels, nodes.len() as u32, MEMORY)?;
            nodes.extend(below.chunks(LANES).map(TriangleNode::new));
            if below.len() <= LANES {
                break;
            }
            let joint = |boxes: &[Ends]| boxes.iter().copied().fold(NOWHERE, joined);
            below = collect(below.chunks(LANES).map(joint), MEMORY)?;
        }
        Ok(Self {
            around,
            cells,
            order,
            nodes,
            levels,
        })
    }

    /// Returns which of four spheres may touch a triangle, as a bit mask. The mesh must not be empty.
    #[inline(always)]
    pub(crate) fn near(&self, paths: &Path<f32x4>) -> u32 {
        let [a, b] = paths.ends();
        let [low, high] = &self.around;
        let mut meet = f32x4::splat(0.0).simd_eq(f32x4::splat(0.0));
        for k in 0..3 {
            meet &= a[k].simd_le(f32x4::splat(high[k])) & b[k].simd_ge(f32x4::splat(low[k]));
        }
        // For each of the four spheres, the cell in which the middle of its path lies is looked up, even if
        // the result is not needed. A branch that avoids this would be hard to predict.
        let mut large = f32x4::splat(0.0);
        for k in 0..3 {
            let extent = paths.half[k].abs() + paths.reach[k];
            let cells = extent * f32x4::splat(self.cells.cells_per_length[k]);
            large |= cells.simd_gt(f32x4::splat(MOST_CELLS));
        }
        let [x, y, z] = self.cells.cells(low, paths.middle);
        let mut near = 0;
        for lane in 0..LANES {
            let row = CELLS * z[lane] as usize + y[lane] as usize;
            let half = self.cells.rows_around[row][usize::from(x[lane] > 63)];
            near |= (half >> (x[lane] & 63) & 1) << lane;
        }
        let mut near = (near as u32 | large.to_bitmask()) & meet.to_bitmask();
        if near == 0 {
            return 0;
        }
        let [a, b] = [a, b].map(|ends| self.cells.cells(low, ends));
        for lane in Bits(near) {
            let [a, b] = [a, b].map(|ends| ends.map(|cells| cells[lane] as usize));
            if !self.cells.any_marked(a, b) {
                near ^= 1 << lane;
            }
        }
        near
    }

    /// Returns the position of a point in Morton order.
    pub(crate) fn place(&self, point: [f32; 3]) -> u64 {
        key(&self.around, &[point, point])
    }

    /// Finds all pairs of a sphere and a triangle that the sphere may touch. Passes them to `found` in groups of at
    /// most [`MOST_PAIRS`]: the place of the sphere in `paths`, and the index of the triangle.
    pub(crate) fn each<E: From<Error>>(
        &self,
        paths: &[Path<f32>],
        found: &mut impl FnMut(&[(u32, u32)]) -> Result<(), E>,
    ) -> Result<(), E> {
        let levels = self.levels.len();
        let in_lanes = collect(paths.iter().map(PathInLanes::new), MEMORY)?;
        let roots = collect((0..paths.len() as u32).map(|sphere| (sphere, 0)), MEMORY)?;
        let mut lists = filled(levels, [(0, 0); MOST_PAIRS], MEMORY)?;
        for roots in roots.chunks(MOST_NODES) {
            self.descend(levels, roots, &in_lanes, &mut lists, found)?;
        }
        Ok(())
    }

    /// Finds the triangles near spheres. `visited` has at most [`MOST_NODES`] pairs of a sphere and
    /// a node of level `level - 1` of the tree. For each pair, the function selects the children of
    /// the node whose boxes are near the path of the sphere. Then it calls itself for these
    /// children, down to the triangles. `lists` has memory for the results of each level below
    /// `level`.
    ///
    /// Many spheres go down the tree together, level by level. A loop over many nodes without branches is faster than
    /// a search that must know the result of one node before it can choose the next one.
    fn descend<E>(
        &self,
        level: usize,
        visited: &[(u32, u32)],
        paths: &[PathInLanes],
        lists: &mut [[(u32, u32); MOST_PAIRS]],
        found: &mut impl FnMut(&[(u32, u32)]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (Some(level), Some((list, lists))) = (level.checked_sub(1), lists.split_first_mut())
        else {
            return Ok(());
        };
        let first = self.levels[level] as usize;
        let mut count = 0;
        for &(sphere, number) in visited {
            let path = &paths[sphere as usize];
            let near = self.nodes[first + number as usize].near(path, level == 0);
            // The loop writes all four children of a node to the list. A child that is not near the sphere's
            // path is overwritten by the next child, so the loop needs no branch.
            let places = &mut list[count..count + LANES];
            let mut place = 0;
            for lane in 0..LANES as u32 {
                places[place & (LANES - 1)] = (sphere, LANES as u32 * number + lane);
                place += (near >> lane & 1) as usize;
            }
            count += place;
        }
        let near = &mut list[..count];
        if level == 0 {
            for (_, triangle) in &mut *near {
                *triangle = self.order[*triangle as usize];
            }
            return found(near);
        }
        for some in near.chunks(MOST_NODES) {
            self.descend(level, some, paths, lists, found)?;
        }
        Ok(())
    }
}

/// Returns the place of a box's middle along a Morton curve: 20 bits of each coordinate, interleaved.
fn key([low, high]: &Ends, ends: &Ends) -> u64 {
    let longest = (0..3).map(|k| high[k] - low[k]).fold(0.0, f32::max);
    let scale = ((1_u32 << 20) as f32 / longest).min(f32::MAX);
    (0..3).fold(0, |key, k| {
        let middle = ends[0][k].midpoint(ends[1][k]);
        let place = (((middle - low[k]) * scale) as u64).min((1 << 20) - 1);
        key | spread(place) << k
    })
}

/// Puts two zero bits between any two of the lowest 21 bits.
fn spread(x: u64) -> u64 {
    let x = (x | x << 32) & 0x001f_0000_0000_ffff;
    let x = (x | x << 16) & 0x001f_0000_ff00_00ff;
    let x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    let x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}

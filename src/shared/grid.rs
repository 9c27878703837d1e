//! Levels, and the cells and slots of proxies. Twin of `shaders/shared/grid.wgsl`.
//!
//! A *level* is one uniform grid. A *proxy*, which is an uncut sphere or one time segment of a
//! cut one, is an entry of exactly one cell of one level: the cell that contains its middle. The
//! half extent of a proxy, with a margin for rounding, is at most half the edge of a cell, so
//! two proxies of one level that touch are in the same cell or in neighbouring cells.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ slots"
)]

use bytemuck::{Pod, Zeroable};
use wide::{f32x4, i32x4};

use crate::lanes::three;

/// Multiplier of the time slab in the hash that gives the slot of a cell outside a level's box.
pub(crate) const SLAB_HASH: u32 = 0x27d4_eb2f;
/// Multiplier of the cell's y in the hash that gives the slot of a cell outside a level's box.
pub(crate) const Y_HASH: u32 = 0x9e37_79b1;
/// Multiplier of the cell's z in the hash that gives the slot of a cell outside a level's box.
pub(crate) const Z_HASH: u32 = 0x85eb_ca77;
/// Multiplier of the mixed bits of the time slab, y and z in the hash that gives the slot of a cell
/// outside a level's box.
pub(crate) const ROW_HASH: u32 = 0xc2b2_ae3d;

/// Limit of cell coordinates, 2³⁰. No proxy is in a cell that far from the origin of the frame. But
/// a proxy may search a level with much smaller cells than its own, and the range of these cells
/// may extend beyond the limit. So cell coordinates are clamped to it.
const FAR: f32 = (1_u32 << 30) as f32;

/// Rounds three numbers down to integers, after clamping them to ±[`FAR`]. This function replaces
/// `f32::floor`, which is a call to the C library on targets without SSE 4.1.
#[inline(always)]
pub(crate) fn floor([x, y, z]: [f32; 3]) -> [i32; 3] {
    let point = f32x4::from([x, y, z, 0.0]);
    let point = point
        .fast_max(f32x4::splat(-FAR))
        .fast_min(f32x4::splat(FAR));
    let whole = point.fast_trunc_int();
    // A lane in which the comparison is true has all bits set, which is −1 as an integer.
    let above: i32x4 = bytemuck::cast(f32x4::from_i32x4(whole).simd_gt(point));
    let [x, y, z, _] = (whole + above).to_array();
    [x, y, z]
}

/// One uniform grid, and its part of the slot table.
///
/// Each cell within the level's box has a slot of its own. The slots of neighbouring cells along x
/// are consecutive. So the proxies of three neighbouring cells along x within the box are one range
/// of the sorted proxies. All other cells share a number of slots that is a power of two: the slot
/// of a cell is found by a hash of its time slab, y and z, to which its x is added.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct Level {
    /// Coordinates of the first cell of the box: the lowest along each axis.
    pub(crate) origin: [i32; 3],
    /// Slot of the first cell of the box in time slab 0.
    pub(crate) first_slot: u32,
    /// Number of cells of the box along each axis. Any of the three numbers may be 0.
    pub(crate) dims: [u32; 3],
    /// First slot for the cells outside the box.
    pub(crate) first_hashed: u32,
    /// Edge of a cell.
    pub(crate) cell: f32,
    /// Reciprocal of the edge of a cell. Multiplying a position by it gives cell coordinates.
    pub(crate) inverse_cell: f32,
    /// Number of slots for the cells outside the box, minus 1.
    pub(crate) hash_mask: u32,
    /// log₂ of the number of time slabs: equal parts of the step, each of which has cells of its
    /// own. No proxy of the level spans more than one slab, so a fast proxy forms candidates only
    /// with proxies that are near it at the same time.
    pub(crate) time_power: u32,
    /// The set of the level's spheres: 0 or 1.
    pub(crate) of_set: u32,
    /// Half extent of the level's largest proxy, with a margin for rounding, in units of the cell's
    /// edge: at most 0.5, apart from rounding.
    pub(crate) reach: f32,
    /// Padding to the size of the struct in WGSL.
    pub(crate) unused: [u32; 2],
}

impl Level {
    /// Returns the cell that contains a point. The point is given by its coordinates in the frame.
    #[inline(always)]
    pub(crate) fn cell_of(&self, point: [f32; 3]) -> [i32; 3] {
        floor(three(point, |x| x * self.inverse_cell))
    }

    /// Whether the cells from x0 to x1 of the row (y, z) are all within the level's box.
    #[inline(always)]
    pub(crate) fn in_box(&self, x0: i32, x1: i32, y: i32, z: i32) -> bool {
        let within =
            |x: i32, axis: usize| (x.wrapping_sub(self.origin[axis]) as u32) < self.dims[axis];
        within(x0, 0) && within(x1, 0) && within(y, 1) && within(z, 2)
    }

    /// Whether the level's box contains all cells that a proxy in this cell searches in its own
    /// level, which are half of its neighbourhood.
    #[inline(always)]
    pub(crate) fn is_around_in_box(&self, [x, y, z]: [i32; 3]) -> bool {
        self.in_box(x - 1, x + 1, y - 1, z) && self.in_box(x, x, y + 1, z + 1)
    }

    /// The slot of a cell in a time slab. The cell must be within the level's box.
    #[inline(always)]
    pub(crate) fn slot_in_box(&self, cell: [i32; 3], slab: u32) -> usize {
        let at = |k: usize| cell[k].wrapping_sub(self.origin[k]) as u32;
        let (x, y, z) = (at(0), at(1), at(2));
        let slot = ((slab * self.dims[2] + z) * self.dims[1] + y) * self.dims[0] + x;
        (self.first_slot + slot) as usize
    }

    /// Distance in the slot table from a cell within the box to its neighbour along y, and to its
    /// neighbour along z.
    pub(crate) fn strides(&self) -> [usize; 2] {
        let [x, y] = [self.dims[0] as usize, self.dims[1] as usize];
        [x, x * y]
    }

    /// The slot of a cell in a time slab. For a cell outside the level's box, it is between
    /// `first_hashed` and `first_hashed + hash_mask`. This function and its twin in the shaders
    /// need not choose the same slot, because no slot table is used by both.
    pub(crate) fn slot_of(&self, [x, y, z]: [i32; 3], slab: u32) -> u32 {
        if self.in_box(x, x, y, z) {
            self.slot_in_box([x, y, z], slab) as u32
        } else {
            let mut row = slab.wrapping_mul(SLAB_HASH)
                ^ (y as u32).wrapping_mul(Y_HASH)
                ^ (z as u32).wrapping_mul(Z_HASH);
            row = (row ^ row >> 15).wrapping_mul(ROW_HASH);
            row ^= row >> 13;
            self.first_hashed + (row.wrapping_add(x as u32) & self.hash_mask)
        }
    }
}

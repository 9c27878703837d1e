//! Levels, cells and slots: where a proxy goes. Twin of `shaders/shared/grid.wgsl`.
//!
//! A *level* is one uniform grid. A *proxy*, a sphere or one time segment of a
//! fast one, lies whole in one cell of one level: half its extent, with a
//! margin for rounding, is at most half a cell, so proxies of one level that
//! touch lie in the same or in neighbouring cells.

#![allow(
    clippy::cast_possible_truncation,
    reason = "cells are within 2²⁰ of the origin"
)]

use bytemuck::{Pod, Zeroable};
use wide::{f32x4, i32x4};

use crate::lanes::three;

/// Multiplier of a row's time slab in the hash of the cells outside a level's box.
pub(crate) const SLAB_HASH: u32 = 0x27d4_eb2f;
/// Multiplier of a row's y in that hash.
pub(crate) const Y_HASH: u32 = 0x9e37_79b1;
/// Multiplier of a row's z in that hash.
pub(crate) const Z_HASH: u32 = 0x85eb_ca77;
/// Multiplier of the mixed bits of a row in that hash.
pub(crate) const ROW_HASH: u32 = 0xc2b2_ae3d;

/// Farther than any cell: a search of a level with much smaller cells may ask for more.
const FAR: f32 = (1_u32 << 30) as f32;

/// The largest whole numbers not above, at most [`FAR`] from 0. Not by `f32::floor`, which without
/// SSE 4.1 is a call to the C library.
#[inline(always)]
pub(crate) fn floor([x, y, z]: [f32; 3]) -> [i32; 3] {
    let point = f32x4::from([x, y, z, 0.0]);
    let point = point
        .fast_max(f32x4::splat(-FAR))
        .fast_min(f32x4::splat(FAR));
    let whole = point.fast_trunc_int();
    // What compares as true is −1.
    let above: i32x4 = bytemuck::cast(f32x4::from_i32x4(whole).simd_gt(point));
    let [x, y, z, _] = (whole + above).to_array();
    [x, y, z]
}

/// One uniform grid, and its part of the slot table.
///
/// Cells within a box have a slot each, x running fastest, so three cells in a row within
/// the box are one range of the sorted proxies. All other cells share a power of two of
/// slots, by a hash of slab, y and z to which x is added.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct Level {
    /// First cell of the box.
    pub(crate) origin: [i32; 3],
    /// Slot of that cell.
    pub(crate) first_slot: u32,
    /// Cells of the box along each axis; any may be 0.
    pub(crate) dims: [u32; 3],
    /// First of the slots outside the box.
    pub(crate) first_hashed: u32,
    /// Edge of a cell.
    pub(crate) cell: f32,
    /// The reciprocal of the edge, by which coordinates are multiplied.
    pub(crate) inverse_cell: f32,
    /// Number of slots outside the box, less 1.
    pub(crate) hash_mask: u32,
    /// The step is divided into 2^this time slabs, each with cells of its own. No proxy spans
    /// more than one slab: fast proxies meet only others that pass at the same time.
    pub(crate) time_power: u32,
    /// The set of its spheres, 0 or 1.
    pub(crate) of_set: u32,
    /// How far the largest of its proxies reaches along any axis, in cells: at most half a
    /// cell, but for rounding.
    pub(crate) reach: f32,
    /// Padding to the size that WGSL gives the struct.
    pub(crate) unused: [u32; 2],
}

impl Level {
    /// The cell of a point.
    #[inline(always)]
    pub(crate) fn cell_of(&self, point: [f32; 3]) -> [i32; 3] {
        floor(three(point, |x| x * self.inverse_cell))
    }

    /// Whether a row of cells from x0 to x1 lies within the box.
    #[inline(always)]
    pub(crate) fn in_box(&self, x0: i32, x1: i32, y: i32, z: i32) -> bool {
        let within =
            |x: i32, axis: usize| (x.wrapping_sub(self.origin[axis]) as u32) < self.dims[axis];
        within(x0, 0) && within(x1, 0) && within(y, 1) && within(z, 2)
    }

    /// Whether the cells of half the neighbourhood of a cell are within the box.
    #[inline(always)]
    pub(crate) fn is_around_in_box(&self, [x, y, z]: [i32; 3]) -> bool {
        self.in_box(x - 1, x + 1, y - 1, z) && self.in_box(x, x, y + 1, z + 1)
    }

    /// The slot of a cell within the box, in a time slab.
    #[inline(always)]
    pub(crate) fn slot_in_box(&self, cell: [i32; 3], slab: u32) -> usize {
        let at = |k: usize| cell[k].wrapping_sub(self.origin[k]) as u32;
        let (x, y, z) = (at(0), at(1), at(2));
        let slot = ((slab * self.dims[2] + z) * self.dims[1] + y) * self.dims[0] + x;
        (self.first_slot + slot) as usize
    }

    /// Slots from one row within the box to the next in y, and in z.
    pub(crate) fn strides(&self) -> [usize; 2] {
        let [x, y] = [self.dims[0] as usize, self.dims[1] as usize];
        [x, x * y]
    }

    /// The slot of a cell in a time slab. A cell outside the box has one of the slots from
    /// `first_hashed` to `first_hashed + hash_mask`; which one, only this function and its twin
    /// in the shaders know. The two need not agree, because no table is used by both.
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

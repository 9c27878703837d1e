//! Levels, and the cells of proxies. Twin of `shaders/shared/grid.wgsl`.
//!
//! A proxy belongs to the cell of its level that contains its middle. No proxy is wider than a
//! cell, so two proxies of one level that touch are in the same cell or in neighbouring cells.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ slots"
)]

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use wide::{f32x4, i32x4};

use crate::lanes::three;

pub(crate) const SLAB_HASH: u32 = 0x27d4_eb2f;
pub(crate) const Y_HASH: u32 = 0x9e37_79b1;
pub(crate) const Z_HASH: u32 = 0x85eb_ca77;
pub(crate) const ROW_HASH: u32 = 0xc2b2_ae3d;

/// The cells of all proxies are within it, but a search in a level of tiny cells may reach beyond.
pub(crate) const FAR: f32 = (1_u32 << 30) as f32;

/// Clamped to ±2³⁰. Without SSE 4.1, `f32::floor` would be a slow call to the C library.
#[inline(always)]
pub(crate) fn floor([x, y, z]: [f32; 3]) -> [i32; 3] {
    let point = f32x4::from([x, y, z, 0.0]);
    let point = point
        .fast_max(f32x4::splat(-FAR))
        .fast_min(f32x4::splat(FAR));
    let whole = point.fast_trunc_int();
    // A true comparison is −1.
    let above: i32x4 = bytemuck::cast(f32x4::from_i32x4(whole).simd_gt(point));
    let [x, y, z, _] = (whole + above).to_array();
    [x, y, z]
}

/// One level, and its slots.
///
/// Each cell in its box has a slot of its own, consecutive along x, so that three cells in a
/// row along x are consecutive in the sorted list. The cells outside share slots: x plus a hash
/// of y, z and the time slab.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct Level {
    /// Lowest cell of the box.
    pub(crate) origin: [i32; 3],
    pub(crate) first_slot: u32,
    pub(crate) dims: [u32; 3],
    pub(crate) first_hashed: u32,
    pub(crate) cell: f32,
    pub(crate) inverse_cell: f32,
    pub(crate) hash_mask: u32,
    /// Slabs save tests of a fast sphere against spheres that are near its path only at
    /// another time.
    pub(crate) time_power: u32,
    pub(crate) of_set: u32,
    /// Half extent of the largest proxy, with a margin, divided by the cell edge. At most
    /// 0.5, apart from rounding.
    pub(crate) reach: f32,
    pub(crate) unused: [u32; 2],
}

impl Level {
    /// The point is relative to the frame.
    #[inline(always)]
    pub(crate) fn cell_of(&self, point: [f32; 3]) -> [i32; 3] {
        floor(three(point, |x| x * self.inverse_cell))
    }

    #[inline(always)]
    pub(crate) fn in_box(&self, x0: i32, x1: i32, y: i32, z: i32) -> bool {
        let within =
            |x: i32, axis: usize| (x.wrapping_sub(self.origin[axis]) as u32) < self.dims[axis];
        within(x0, 0) && within(x1, 0) && within(y, 1) && within(z, 2)
    }

    #[inline(always)]
    pub(crate) fn is_around_in_box(&self, [x, y, z]: [i32; 3]) -> bool {
        self.in_box(x - 1, x + 1, y - 1, z) && self.in_box(x, x, y + 1, z + 1)
    }

    #[inline(always)]
    pub(crate) fn slot_in_box(&self, cell: [i32; 3], slab: u32) -> usize {
        let at = |k: usize| cell[k].wrapping_sub(self.origin[k]) as u32;
        let (x, y, z) = (at(0), at(1), at(2));
        let slot = ((slab * self.dims[2] + z) * self.dims[1] + y) * self.dims[0] + x;
        (self.first_slot + slot) as usize
    }

    /// Returns all slots of the level.
    pub(crate) fn slots(&self) -> Range<usize> {
        self.first_slot as usize..self.first_hashed as usize + self.hash_mask as usize + 1
    }

    /// The level's range of the sorted proxies.
    pub(crate) fn spheres(&self, starts: &[u32]) -> Range<usize> {
        let Range { start, end } = self.slots();
        starts[start] as usize..starts[end] as usize
    }

    pub(crate) fn has_outside(&self, starts: &[u32]) -> bool {
        starts[self.first_hashed as usize] < starts[self.slots().end]
    }

    pub(crate) fn strides(&self) -> [usize; 2] {
        let [x, y] = [self.dims[0] as usize, self.dims[1] as usize];
        [x, x * y]
    }

    /// A shader may compute another one: the CPU and the GPU do not share the table.
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

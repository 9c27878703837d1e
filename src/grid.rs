//! Levels, cells and slots: where a proxy goes, and where to look for its
//! neighbours. Twin of `shaders/shared/grid.wgsl`, and of the looking in
//! `shaders/pairs.wgsl`.
//!
//! A *level* is one uniform grid. A *proxy*, a sphere or one time segment of a
//! fast one, lies whole in one cell of one level: half its extent, with a
//! margin for rounding, is at most half a cell, so proxies of one level that
//! touch lie in the same or in neighbouring cells.

#![allow(
    clippy::cast_possible_truncation,
    reason = "cells are within 2²⁰ of the origin, and bins and levels few"
)]

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use wide::{f32x4, i32x4};

use crate::Sphere;
use crate::number::{each, three};
use crate::segments::{Cut, Motion};

/// A sphere's motion is cut into at most 2¹⁵ segments.
pub(crate) const SEGMENT_BITS: u32 = 15;
/// No cell is smaller: 2⁻⁶⁰. So a cell's reciprocal is in range, and what
/// subnormal coordinates lose is nothing beside a cell.
pub(crate) const SMALLEST_CELL: f32 = 1.0 / (1_u64 << 60) as f32;

/// Bins of the histogram: of each set of spheres and each power of segments,
/// two for each octave of size from half the smallest cell on.
pub(crate) const BINS: usize = 2 << (POWER_BITS + BIN_BITS);
/// Bits of a bin's number that tell the size. Those of the power are above them,
/// and one above those tells the set.
pub(crate) const BIN_BITS: u32 = 8;
/// Bits that a power of segments takes.
pub(crate) const POWER_BITS: u32 = 4;
/// All of them.
const POWERS: u32 = (1 << POWER_BITS) - 1;
/// From the bits of a float32 to its half octave.
pub(crate) const SIZE_SHIFT: u32 = 22;
/// What the smallest size is shifted to.
pub(crate) const FIRST_SIZE: u32 = (SMALLEST_CELL * 0.5).to_bits() >> SIZE_SHIFT;

/// n, for a bin of proxies of spheres cut into 2ⁿ segments.
pub(crate) fn bin_power(bin: usize) -> u32 {
    (bin >> BIN_BITS) as u32 & POWERS
}

/// Which of two sets the spheres of a bin are of.
pub(crate) fn bin_set(bin: usize) -> u32 {
    (bin >> (BIN_BITS + POWER_BITS)) as u32
}

/// The most levels a plan can have.
pub(crate) const MAX_LEVELS: usize = 64;
/// Bits of a tag that hold the level.
pub(crate) const LEVEL_BITS: u32 = 6;

/// A proxy's level, and which time segment of its sphere it is, in one word.
pub(crate) fn make_tag(level: u32, power: u32, segment: u32) -> u32 {
    level | power << LEVEL_BITS | segment << (LEVEL_BITS + POWER_BITS)
}

/// The level of a tag.
pub(crate) fn level_of(tag: u32) -> u32 {
    tag & ((1 << LEVEL_BITS) - 1)
}

/// n, for a sphere cut into 2ⁿ segments.
pub(crate) fn segment_power(tag: u32) -> u32 {
    tag >> LEVEL_BITS & POWERS
}

/// k, for the segment from k·dt/2ⁿ to (k + 1)·dt/2ⁿ.
pub(crate) fn segment_of(tag: u32) -> u32 {
    (tag & !INSIDE) >> (LEVEL_BITS + POWER_BITS)
}

/// Set in a tag, on the CPU, when all cells around the proxy's own are within the
/// box, as they are for most.
pub(crate) const INSIDE: u32 = 1 << 31;

/// The segment of a tag.
pub(crate) fn cut_of(tag: u32) -> Cut {
    Cut {
        power: segment_power(tag),
        segment: segment_of(tag),
    }
}

/// Ranges of another level that are visited at once.
const AT_ONCE: usize = 16;

/// Farther than any cell: what looks into much smaller cells may ask for more.
const FAR: f32 = (1_u32 << 30) as f32;

/// The whole numbers below, at most [`FAR`] from 0. Not by `f32::floor`, which without
/// SSE 4.1 is a call to the C library.
#[inline(always)]
fn floor([x, y, z]: [f32; 3]) -> [i32; 3] {
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

/// What the swept test reads of a proxy: the motion of its whole sphere, never
/// of the segment, so that a pair gets the same verdict wherever it is met.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct SortedProxy {
    /// The sphere's centre at the start of the step.
    pub(crate) center: [f32; 3],
    /// Its radius.
    pub(crate) radius: f32,
    /// Its velocity.
    pub(crate) velocity: [f32; 3],
    /// Its index.
    pub(crate) sphere: u32,
}

impl SortedProxy {
    pub(crate) fn new(sphere: &Sphere, index: u32) -> Self {
        Self {
            center: sphere.center,
            radius: sphere.radius,
            velocity: sphere.velocity,
            sphere: index,
        }
    }

    /// The sphere, but for its groups, where its index stands.
    pub(crate) fn sphere(&self) -> &Sphere {
        bytemuck::cast_ref(self)
    }
}

/// A proxy's cell.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct SortedCell {
    /// Cell in its level, counted from the frame's origin.
    pub(crate) cell: [i32; 3],
    /// Level and segment, see [`make_tag`].
    pub(crate) tag: u32,
}

/// One uniform grid, and its part of the slot table.
///
/// Cells within a box have a slot each, x running fastest; all others share a
/// power of two of slots, by a hash of y and z to which x is added. So three
/// cells in a row within the box are one range of the sorted proxies.
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
    /// Its reciprocal, by which coordinates are multiplied.
    pub(crate) inverse_cell: f32,
    /// Number of slots outside the box, less 1.
    pub(crate) hash_mask: u32,
    /// The step is divided into 2^this time slabs, each with cells of its own.
    /// No proxy spans more than one: bullets meet only those that pass at the
    /// same time.
    pub(crate) time_power: u32,
    /// The set its spheres are of, 0 or 1.
    pub(crate) of_set: u32,
    /// How far the largest of its proxies reaches along any axis, in cells: half of one
    /// at most, but for rounding.
    pub(crate) reach: f32,
    /// So that it has a size that WGSL gives it too.
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

    /// How many slots it is within the box from one row to the next in y, and in z.
    pub(crate) fn strides(&self) -> [usize; 2] {
        let [x, y] = [self.dims[0] as usize, self.dims[1] as usize];
        [x, x * y]
    }

    /// The slot of a cell in a time slab. Nothing but this and the shaders' twin
    /// knows how cells outside the box map to slots.
    pub(crate) fn slot_of(&self, [x, y, z]: [i32; 3], slab: u32) -> u32 {
        if self.in_box(x, x, y, z) {
            self.slot_in_box([x, y, z], slab) as u32
        } else {
            let mut row = slab.wrapping_mul(0x27d4_eb2f)
                ^ (y as u32).wrapping_mul(0x9e37_79b1)
                ^ (z as u32).wrapping_mul(0x85eb_ca77);
            row = (row ^ row >> 15).wrapping_mul(0xc2b2_ae3d);
            row ^= row >> 13;
            self.first_hashed + (row.wrapping_add(x as u32) & self.hash_mask)
        }
    }
}

/// The time slab of a proxy, by its tag, in a level of 2^`time_power`.
pub(crate) fn slab_of(tag: u32, time_power: u32) -> u32 {
    segment_of(tag) >> (segment_power(tag) - time_power)
}

/// Cells of one row of one level, to which a range of the sorted proxies was
/// asked for. Several rows may share slots outside the box, so what the range
/// holds has to be compared with what was asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    level: u32,
    time_power: u32,
    slab: u32,
    x: [i32; 2],
    y: i32,
    z: i32,
}

impl Asked {
    /// Whether a proxy met in the range lies in these cells.
    pub(crate) fn holds(&self, found: &SortedCell) -> bool {
        let [x, y, z] = found.cell;
        level_of(found.tag) == self.level
            && slab_of(found.tag, self.time_power) == self.slab
            && (self.x[0]..=self.x[1]).contains(&x)
            && y == self.y
            && z == self.z
    }
}

/// The grids of a step, filled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid<'a> {
    /// The levels, finest first.
    pub(crate) levels: &'a [Level],
    /// For each level, into which others its proxies look: one bit each.
    pub(crate) looks: &'a [u64],
    /// Where each slot begins among the sorted proxies.
    pub(crate) starts: &'a [u32],
    /// Whether only pairs between two sets count.
    pub(crate) between: bool,
}

/// A proxy that looks for others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seeker {
    /// Its place among the sorted proxies.
    pub(crate) index: usize,
    /// The slot of its cell.
    pub(crate) slot: u32,
    /// Level and segment, see [`make_tag`], and maybe [`INSIDE`].
    pub(crate) tag: u32,
    /// Its middle.
    pub(crate) middle: [f32; 3],
}

impl Grid<'_> {
    /// Half of its own neighbourhood, if it is all within the box: all rows begin at
    /// fixed distances from the own slot then.
    #[inline(always)]
    pub(crate) fn ranges_around(&self, seeker: &Seeker) -> Option<[Range<usize>; 5]> {
        if seeker.tag & INSIDE == 0 || self.between {
            return None;
        }
        let [row, plane] = self.levels[level_of(seeker.tag) as usize].strides();
        let slot = seeker.slot as usize;
        let around = |middle: usize| {
            let slots = self.starts.get(middle - 1..)?.first_chunk::<4>()?;
            Some(slots[0] as usize..slots[3] as usize)
        };
        let own_end = *self.starts.get(slot + 2)? as usize;
        Some([
            seeker.index + 1..own_end,
            around(slot + row)?,
            around(slot + plane - row)?,
            around(slot + plane)?,
            around(slot + plane + row)?,
        ])
    }

    /// Half of the own neighbourhood, where it is not all within the box: the own
    /// row from self on, and the rows that come after it.
    #[cold]
    pub(crate) fn look_around(&self, seeker: &Seeker, mut visit: impl FnMut(Range<usize>, Asked)) {
        if self.between {
            return;
        }
        let number = level_of(seeker.tag);
        let level = &self.levels[number as usize];
        let [x, y, z] = level.cell_of(seeker.middle);
        let slab = slab_of(seeker.tag, level.time_power);
        self.for_each_piece(number, slab, [x, x + 1], y, z, |mut range, asked| {
            if asked.x[0] == x {
                range.start = seeker.index + 1;
            }
            visit(range, asked);
        });
        for [y, z] in [[y + 1, z], [y - 1, z + 1], [y, z + 1], [y + 1, z + 1]] {
            self.for_each_piece(number, slab, [x - 1, x + 1], y, z, &mut visit);
        }
    }

    /// The cells of other levels in reach of a proxy, whose sphere moves so.
    pub(crate) fn look_beyond(
        &self,
        seeker: &Seeker,
        motion: &Motion,
        visit: &mut impl FnMut(&[Range<usize>], Option<Asked>),
    ) {
        let Seeker { tag, middle, .. } = *seeker;
        let reach = motion.reaches(cut_of(tag).half());
        let power = segment_power(tag);
        let mut looks = self.looks[level_of(tag) as usize];
        while looks != 0 {
            let number = looks.trailing_zeros();
            looks &= looks - 1;
            let level = &self.levels[number as usize];
            // Another's middle is at most the two reaches away.
            let at = three(middle, |x| x * level.inverse_cell);
            let around = three(reach, |reach| reach * level.inverse_cell + level.reach);
            let mut low = floor(each(at, around, |x, around| x - around));
            let mut high = floor(each(at, around, |x, around| x + around));
            let inside = level.in_box(low[0], high[0], low[1], low[2])
                && level.in_box(low[0], high[0], high[1], high[2]);
            // Otherwise each cell is looked up, which are few: only into a level that is
            // all in its box do coarser ones look (`Plan::looks_down`).
            let boxed = inside || self.trim(level, &mut low, &mut high);
            // The slabs that its own time spans.
            let segment = segment_of(tag);
            let slabs = match power.checked_sub(level.time_power) {
                Some(shift) => segment >> shift..=segment >> shift,
                None => {
                    let shift = level.time_power - power;
                    segment << shift..=((segment + 1) << shift) - 1
                }
            };
            for slab in slabs {
                if boxed {
                    let [cells, rows, planes] =
                        [0, 1, 2].map(|axis| (high[axis] - low[axis] + 1).max(0) as usize);
                    if cells * rows * planes == 0 {
                        continue;
                    }
                    let first = level.slot_in_box(low, slab);
                    let [row, plane] = level.strides();
                    // Those that hold some, without a branch for each.
                    let mut found = [const { 0..0 }; AT_ONCE];
                    let mut count = 0;
                    for plane_slot in (first..).step_by(plane).take(planes) {
                        for slot in (plane_slot..).step_by(row).take(rows) {
                            let [start, end] =
                                [slot, slot + cells].map(|slot| self.starts[slot] as usize);
                            found[count] = start..end;
                            count += usize::from(start < end);
                            if count == found.len() {
                                visit(&found, None);
                                count = 0;
                            }
                        }
                    }
                    visit(&found[..count], None);
                } else {
                    for z in low[2]..=high[2] {
                        for y in low[1]..=high[1] {
                            let x = [low[0], high[0]];
                            self.for_each_piece(number, slab, x, y, z, |range, asked| {
                                visit(&[range], Some(asked));
                            });
                        }
                    }
                }
            }
        }
    }

    /// Leaves out what is outside the box, if none of the level's proxies is there, and
    /// tells whether that is so.
    #[cold]
    fn trim(&self, level: &Level, low: &mut [i32; 3], high: &mut [i32; 3]) -> bool {
        let hashed = level.first_hashed as usize;
        let end = hashed + level.hash_mask as usize + 1;
        let nothing = self.starts[hashed] == self.starts[end];
        if nothing {
            for axis in 0..3 {
                let first = level.origin[axis];
                low[axis] = low[axis].max(first);
                high[axis] = high[axis].min(first + level.dims[axis] as i32 - 1);
            }
        }
        nothing
    }

    /// The cells of a row from one x to another: one range if they are within the
    /// box, otherwise one each.
    fn for_each_piece(
        &self,
        number: u32,
        slab: u32,
        x: [i32; 2],
        y: i32,
        z: i32,
        mut visit: impl FnMut(Range<usize>, Asked),
    ) {
        let level = &self.levels[number as usize];
        let mut piece = |x: [i32; 2]| {
            let slot = level.slot_of([x[0], y, z], slab) as usize;
            let end = slot + (x[1] - x[0]) as usize + 1;
            let [start, end] = [slot, end].map(|slot| self.starts[slot] as usize);
            let asked = Asked {
                level: number,
                time_power: level.time_power,
                slab,
                x,
                y,
                z,
            };
            if start < end {
                visit(start..end, asked);
            }
        };
        if level.in_box(x[0], x[1], y, z) {
            piece(x);
        } else {
            (x[0]..=x[1]).for_each(|x| piece([x, x]));
        }
    }
}

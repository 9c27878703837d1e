//! Levels, cells and slots: where a proxy goes, and where to look for its
//! neighbours. Twin of `shaders/shared/grid.wgsl`.
//!
//! A *level* is one uniform grid. A *proxy*, a sphere or one time segment of a
//! fast one, lies whole in one cell of one level: half its extent, with a margin
//! for rounding, is at most half a cell, so proxies of one level that touch lie
//! in the same or in neighbouring cells.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use crate::Sphere;
use crate::sweep::U;

/// A sphere's motion is cut into at most 2¹⁵ segments.
pub(crate) const SEGMENT_BITS: u32 = 15;
/// Rounding on the way from a sphere to its cell, in units of u times the
/// largest coordinate it passes. The centre of a segment takes three
/// operations, its cell two more, the time of closest approach nine.
pub(crate) const MARGIN: f32 = 16.0;
/// No cell is smaller: 2⁻⁶⁰. So a cell's reciprocal is in range, and what
/// subnormal coordinates lose is nothing beside a cell.
pub(crate) const SMALLEST_CELL: f32 = 1.0 / (1_u64 << 60) as f32;
/// No cell is smaller than this part of the largest coordinate: 2⁻¹⁶. So cells
/// are small integers and exact in float32.
pub(crate) const FINEST: f32 = 1.0 / 65536.0;

/// Bins of the histogram of sizes, 16 an octave from half the smallest cell.
pub(crate) const BINS: usize = 2048;
/// From the bits of a float32 to a sixteenth of an octave.
pub(crate) const BIN_SHIFT: u32 = 19;
/// What the smallest size is shifted to.
pub(crate) const FIRST_BIN: u32 = (SMALLEST_CELL * 0.5).to_bits() >> BIN_SHIFT;

/// The most levels a plan can have.
pub(crate) const MAX_LEVELS: usize = 64;
/// Bits of a tag that hold the level.
pub(crate) const LEVEL_BITS: u32 = 6;

/// A proxy's level, and which time segment of its sphere it is, in one word.
pub(crate) fn tag(level: u32, power: u32, segment: u32) -> u32 {
    level | power << LEVEL_BITS | segment << (LEVEL_BITS + 4)
}

/// The level of a tag.
pub(crate) fn level_of(tag: u32) -> u32 {
    tag & ((1 << LEVEL_BITS) - 1)
}

/// n, for a sphere cut into 2ⁿ segments.
pub(crate) fn segment_power(tag: u32) -> u32 {
    tag >> LEVEL_BITS & 15
}

/// k, for the segment from k·dt/2ⁿ to (k + 1)·dt/2ⁿ.
pub(crate) fn segment_of(tag: u32) -> u32 {
    tag >> (LEVEL_BITS + 4)
}

/// How a sphere is cut, and how large its proxies are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// It is cut into 2^power segments.
    pub(crate) power: u32,
    /// Half extent of each, with the margin for rounding.
    pub(crate) reach: f32,
    /// Half of the smallest cell it may lie in.
    pub(crate) half_cell: f32,
}

impl Size {
    /// Cuts a sphere into as few segments as keep each within its diameter or
    /// `spacing`, the distance to its neighbours: a segment finer than that
    /// meets no fewer of them.
    pub(crate) fn new(sphere: &Sphere, dt: f32, spacing: f32) -> Self {
        let shift = (Vec3::from(sphere.velocity) * dt).abs();
        let length = shift.max_element();
        let target = (2.0 * sphere.radius).max(spacing);
        let mut power = 0;
        let mut half = 0.5 * length;
        while 2.0 * half > target && power < SEGMENT_BITS {
            half *= 0.5;
            power += 1;
        }
        Self::of_segment(sphere, dt, power)
    }

    /// The size of each segment of a sphere that is cut into 2^power.
    pub(crate) fn of_segment(sphere: &Sphere, dt: f32, power: u32) -> Self {
        let shift = (Vec3::from(sphere.velocity) * dt).abs();
        let far = (Vec3::from(sphere.center).abs() + shift).max_element();
        let half = sphere.radius + shift.max_element() * (0.5 / (1_u32 << power) as f32);
        let reach = half + MARGIN * U * (far + half);
        let half_cell = reach.max(0.5 * FINEST * far).max(0.5 * SMALLEST_CELL);
        Self {
            power,
            reach,
            half_cell,
        }
    }

    /// Its bin of the histogram.
    pub(crate) fn bin(self) -> u32 {
        (self.half_cell.to_bits() >> BIN_SHIFT) - FIRST_BIN
    }
}

/// The middle of segment k of 2^power.
pub(crate) fn segment_center(sphere: &Sphere, dt: f32, power: u32, segment: u32) -> Vec3 {
    let middle = (2 * segment + 1) as f32 / (1_u32 << (power + 1)) as f32;
    Vec3::from(sphere.center) + Vec3::from(sphere.velocity) * (middle * dt)
}

/// What the swept test reads of a proxy: the motion of its whole sphere, never
/// of the segment, so that a pair gets the same verdict wherever it is met.
#[repr(C)]
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

/// A proxy's cell: read only when the swept test has found a hit.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct SortedCell {
    /// Cell in its level, absolute.
    pub(crate) cell: [i32; 3],
    /// Level and segment, see [`tag`].
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
    /// Proxies in this level, by the histogram.
    pub(crate) proxies: u32,
}

impl Level {
    /// The cell of a point.
    pub(crate) fn cell_of(&self, point: Vec3) -> [i32; 3] {
        (point * self.inverse_cell)
            .floor()
            .to_array()
            .map(|x| x as i32)
    }

    /// Whether a row of cells from x0 to x1 lies within the box.
    pub(crate) fn in_box(&self, x0: i32, x1: i32, y: i32, z: i32) -> bool {
        let within =
            |x: i32, axis: usize| (x.wrapping_sub(self.origin[axis]) as u32) < self.dims[axis];
        within(x0, 0) && within(x1, 0) && within(y, 1) && within(z, 2)
    }

    /// The slot of a cell. Nothing else knows how cells map to slots, but that
    /// within the box x runs contiguously.
    pub(crate) fn slot(&self, [x, y, z]: [i32; 3]) -> u32 {
        if self.in_box(x, x, y, z) {
            let [x, y, z] =
                [(x, 0), (y, 1), (z, 2)].map(|(x, k)| x.wrapping_sub(self.origin[k]) as u32);
            self.first_slot + (z * self.dims[1] + y) * self.dims[0] + x
        } else {
            let mut row =
                (y as u32).wrapping_mul(0x9e37_79b1) ^ (z as u32).wrapping_mul(0x85eb_ca77);
            row = (row ^ row >> 15).wrapping_mul(0xc2b2_ae3d);
            row ^= row >> 13;
            self.first_hashed + (row.wrapping_add(x as u32) & self.hash_mask)
        }
    }
}

/// Cells of one row of one level, to which a range of the sorted proxies was
/// asked for. Several rows may share slots outside the box, so what the range
/// holds has to be compared with what was asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    level: u32,
    x: [i32; 2],
    y: i32,
    z: i32,
}

impl Asked {
    /// Whether a proxy met in the range lies in these cells.
    pub(crate) fn holds(&self, found: &SortedCell) -> bool {
        let [x, y, z] = found.cell;
        level_of(found.tag) == self.level
            && (self.x[0]..=self.x[1]).contains(&x)
            && y == self.y
            && z == self.z
    }
}

/// Everything that one proxy has to be tested against, as ranges of the sorted
/// proxies: half of its own neighbourhood, so that each pair of a level is met
/// from one side only, and the cells of each coarser level that it can reach. A
/// coarse proxy never looks down.
pub(crate) fn for_each_range(
    levels: &[Level],
    starts: &[u32],
    dt: f32,
    index: usize,
    proxy: &SortedProxy,
    own: &SortedCell,
    mut visit: impl FnMut(Range<usize>, Asked),
) {
    let own_level = level_of(own.tag);
    let mut look = |number: u32, level: &Level, low: [i32; 3], high: [i32; 3]| {
        let from_self = number == own_level;
        for z in low[2]..=high[2] {
            // Own level: the own row from self on, and the rows that come after it.
            let own_plane = from_self && z == own.cell[2];
            let first_row = if own_plane { own.cell[1] } else { low[1] };
            for y in first_row..=high[1] {
                let own_row = own_plane && y == own.cell[1];
                let x = [if own_row { own.cell[0] } else { low[0] }, high[0]];
                let mut piece = |x: [i32; 2]| {
                    let slot = level.slot([x[0], y, z]) as usize;
                    let end = starts[slot + (x[1] - x[0]) as usize + 1] as usize;
                    let start = if own_row && x[0] == own.cell[0] {
                        index + 1
                    } else {
                        starts[slot] as usize
                    };
                    if start < end {
                        visit(
                            start..end,
                            Asked {
                                level: number,
                                x,
                                y,
                                z,
                            },
                        );
                    }
                };
                if level.in_box(x[0], x[1], y, z) {
                    piece(x);
                } else {
                    (x[0]..=x[1]).for_each(|x| piece([x, x]));
                }
            }
        }
    };
    let [x, y, z] = own.cell;
    look(
        own_level,
        &levels[own_level as usize],
        [x - 1, y - 1, z],
        [x + 1, y + 1, z + 1],
    );
    let coarser = &levels[own_level as usize + 1..];
    if coarser.is_empty() {
        return;
    }
    let sphere = Sphere {
        center: proxy.center,
        radius: proxy.radius,
        velocity: proxy.velocity,
        groups: 0,
    };
    let center = segment_center(&sphere, dt, segment_power(own.tag), segment_of(own.tag));
    let reach = Size::of_segment(&sphere, dt, segment_power(own.tag)).reach;
    for (level, number) in coarser.iter().zip(own_level + 1..) {
        // A coarse proxy's centre is at most the two reaches away, its own being
        // half a cell at most.
        let at = center * level.inverse_cell;
        let around = reach * level.inverse_cell + 0.5;
        look(
            number,
            level,
            (at - around).floor().to_array().map(|x| x as i32),
            (at + around).floor().to_array().map(|x| x as i32),
        );
    }
}

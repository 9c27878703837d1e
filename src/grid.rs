//! Levels, cells and slots: where a proxy goes, and where to look for its
//! neighbours. Twin of `shaders/shared/grid.wgsl`.
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
use glam::Vec3;

use crate::Sphere;
use crate::sweep::EPSILON;

/// A sphere's motion is cut into at most 2¹⁵ segments.
pub(crate) const SEGMENT_BITS: u32 = 15;
/// Rounding on the way from a sphere to its cell, in units of ε times the largest
/// coordinate it passes, as seen from the frame: docs/exact.md adds it up. What it
/// leaves over is for pairs that barely move past one another, see
/// [`STILL`](crate::sweep::STILL). So a cell is at least 2⁻¹⁹ of that coordinate,
/// and cells are small integers, exact in float32.
pub(crate) const MARGIN: f32 = 10.0;
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
    tag >> (LEVEL_BITS + POWER_BITS)
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
    /// `length`.
    pub(crate) fn new(motion: &Motion, length: f32) -> Self {
        let longest = (2.0 * motion.radius).max(length);
        let mut own = motion.length();
        let mut power = 0;
        while own > longest && power < SEGMENT_BITS {
            own *= 0.5;
            power += 1;
        }
        Self::of_segment(motion, power)
    }

    /// The size of each segment of a sphere that is cut into 2^power.
    pub(crate) fn of_segment(motion: &Motion, power: u32) -> Self {
        let shift = motion.shift.abs();
        let far = (motion.center.abs() + shift).max_element();
        let half = motion.radius + shift.max_element() * (0.5 / (1_u32 << power) as f32);
        let reach = half + MARGIN * EPSILON * (far + half);
        Self {
            power,
            reach,
            half_cell: reach.max(0.5 * SMALLEST_CELL),
        }
    }

    /// Its bin of the histogram, if it is of a sphere of the first or second
    /// set.
    pub(crate) fn bin(self, set: u32) -> u32 {
        let size = (self.half_cell.to_bits() >> SIZE_SHIFT) - FIRST_SIZE;
        size | self.power << BIN_BITS | set << (BIN_BITS + POWER_BITS)
    }
}

/// Where cells are counted from: an origin amid the world, drifting with it.
/// Far from zero, or in a common fast motion, differences are all that matters,
/// and all that float32 can tell.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Frame {
    /// Its place at the start of the step.
    pub(crate) origin: Vec3,
    /// Its velocity.
    pub(crate) drift: Vec3,
}

/// A sphere's path, as seen from the frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Motion {
    center: Vec3,
    radius: f32,
    velocity: Vec3,
    /// Velocity times dt.
    shift: Vec3,
    dt: f32,
}

impl Motion {
    /// The path of a sphere during a step of length `dt`.
    pub(crate) fn new(sphere: &Sphere, frame: &Frame, dt: f32) -> Self {
        let velocity = Vec3::from(sphere.velocity) - frame.drift;
        Self {
            center: Vec3::from(sphere.center) - frame.origin,
            radius: sphere.radius,
            velocity,
            shift: velocity * dt,
            dt,
        }
    }

    /// How far it moves along its longest axis.
    pub(crate) fn length(&self) -> f32 {
        self.shift.abs().max_element()
    }

    /// The middle of segment k of 2^power.
    pub(crate) fn middle(&self, power: u32, segment: u32) -> Vec3 {
        let part = (2 * segment + 1) as f32 / (1_u32 << (power + 1)) as f32;
        self.center + self.velocity * (part * self.dt)
    }
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
    /// So that it has a size that WGSL gives it too.
    pub(crate) unused: [u32; 3],
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

    /// The slot of a cell in a time slab. Nothing else knows how cells map to
    /// slots, but that within the box x runs contiguously.
    pub(crate) fn slot_of(&self, [x, y, z]: [i32; 3], slab: u32) -> u32 {
        if self.in_box(x, x, y, z) {
            let [x, y, z] =
                [(x, 0), (y, 1), (z, 2)].map(|(x, k)| x.wrapping_sub(self.origin[k]) as u32);
            self.first_slot + ((slab * self.dims[2] + z) * self.dims[1] + y) * self.dims[0] + x
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
    /// Where each slot begins among the sorted proxies.
    pub(crate) starts: &'a [u32],
    /// Where cells are counted from.
    pub(crate) frame: &'a Frame,
    /// Length of the step.
    pub(crate) dt: f32,
    /// Whether only pairs between two sets count.
    pub(crate) between: bool,
}

impl Grid<'_> {
    /// Everything that one proxy has to be tested against, as ranges of the
    /// sorted proxies: half of its own neighbourhood, so that each pair of a
    /// level is met from one side only, and the cells of each coarser level
    /// that it can reach. A coarse proxy never looks down.
    pub(crate) fn for_each_range(
        &self,
        index: usize,
        proxy: &SortedProxy,
        own: &SortedCell,
        mut visit: impl FnMut(Range<usize>, Asked),
    ) {
        let own_level = level_of(own.tag);
        let [x, y, z] = own.cell;
        let level = &self.levels[own_level as usize];
        let slab = slab_of(own.tag, level.time_power);
        let inside = level.in_box(x - 1, x + 1, y - 1, z) && level.in_box(x, x, y + 1, z + 1);
        if inside && !self.between {
            // As most are: all rows begin at fixed distances from the own slot.
            let own_slot = level.slot_of(own.cell, slab) as usize;
            let (row, plane) = (
                level.dims[0] as usize,
                (level.dims[0] * level.dims[1]) as usize,
            );
            let rows = [
                (own_slot, y, z),
                (own_slot + row, y + 1, z),
                (own_slot + plane - row, y - 1, z + 1),
                (own_slot + plane, y, z + 1),
                (own_slot + plane + row, y + 1, z + 1),
            ];
            for (middle, y, z) in rows {
                let end = self.starts[middle + 2] as usize;
                let (first, start) = if middle == own_slot {
                    (x, index + 1)
                } else {
                    (x - 1, self.starts[middle - 1] as usize)
                };
                if start < end {
                    let asked = Asked {
                        level: own_level,
                        time_power: level.time_power,
                        slab,
                        x: [first, x + 1],
                        y,
                        z,
                    };
                    visit(start..end, asked);
                }
            }
        }
        let mut look = |number: u32, level: &Level, slab: u32, low: [i32; 3], high: [i32; 3]| {
            let asked = Asked {
                level: number,
                time_power: level.time_power,
                slab,
                x: [0; 2],
                y: 0,
                z: 0,
            };
            for z in low[2]..=high[2] {
                // Own level: the own row from self on, and the rows that come
                // after it.
                let own_plane = number == own_level && z == own.cell[2];
                let first_row = if own_plane { own.cell[1] } else { low[1] };
                for y in first_row..=high[1] {
                    let own_row = own_plane && y == own.cell[1];
                    let x = [if own_row { own.cell[0] } else { low[0] }, high[0]];
                    let mut piece = |x: [i32; 2]| {
                        let slot = level.slot_of([x[0], y, z], slab) as usize;
                        let end = self.starts[slot + (x[1] - x[0]) as usize + 1] as usize;
                        let from_self = own_row && x[0] == own.cell[0];
                        let start = if from_self {
                            index + 1
                        } else {
                            self.starts[slot] as usize
                        };
                        if start < end {
                            visit(start..end, Asked { x, y, z, ..asked });
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
        if !(inside || self.between) {
            look(
                own_level,
                level,
                slab,
                [x - 1, y - 1, z],
                [x + 1, y + 1, z + 1],
            );
        }
        let coarser = &self.levels[own_level as usize + 1..];
        if coarser.is_empty() {
            return;
        }
        let sphere = Sphere {
            center: proxy.center,
            radius: proxy.radius,
            velocity: proxy.velocity,
            groups: 0,
        };
        let motion = Motion::new(&sphere, self.frame, self.dt);
        let power = segment_power(own.tag);
        let center = motion.middle(power, segment_of(own.tag));
        let reach = Size::of_segment(&motion, power).reach;
        let own_set = level.of_set;
        for (level, number) in coarser.iter().zip(own_level + 1..) {
            if self.between && level.of_set == own_set {
                continue;
            }
            // Another's centre is at most the two reaches away, its own being
            // half a cell at most.
            let at = center * level.inverse_cell;
            let around = reach * level.inverse_cell + 0.5;
            let [low, high] =
                [at - around, at + around].map(|x| x.floor().to_array().map(|x| x as i32));
            // The slabs that its own time spans.
            let segment = segment_of(own.tag);
            let slabs = match power.checked_sub(level.time_power) {
                Some(shift) => segment >> shift..=segment >> shift,
                None => {
                    let shift = level.time_power - power;
                    segment << shift..=((segment + 1) << shift) - 1
                }
            };
            slabs.for_each(|slab| look(number, level, slab, low, high));
        }
    }
}

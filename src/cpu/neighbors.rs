//! Searches for the neighbours of a proxy, which are a few ranges of the sorted proxies. Twin of
//! `shaders/shared/search.wgsl`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "cells are within 2²⁰ of the origin"
)]

use std::ops::{Range, RangeInclusive};

use crate::lanes::{each, three};
use crate::shared::grid::{Level, floor};
use crate::shared::segments::{Cut, SpherePath};
use crate::shared::sets::Sets;
use crate::shared::sorted::SortedCell;
use crate::shared::tag::{INSIDE, level_of, segment_of, segment_power, slab_of};

const RANGES_AT_ONCE: usize = 16;

/// Neighbouring cells along x, in one level and one time slab. Cells may share slots, so a
/// search may also find proxies of others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellRow {
    level: u32,
    time_power: u32,
    slab: u32,
    x: [i32; 2],
    y: i32,
    z: i32,
}

impl CellRow {
    pub(crate) fn holds(&self, found: &SortedCell) -> bool {
        let [x, y, z] = found.cell;
        level_of(found.tag) == self.level
            && slab_of(found.tag, self.time_power) == self.slab
            && (self.x[0]..=self.x[1]).contains(&x)
            && y == self.y
            && z == self.z
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Grids<'a> {
    pub(crate) levels: &'a [Level],
    pub(crate) searched: &'a [u64],
    pub(crate) starts: &'a [u32],
    pub(crate) sets: Sets,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Searcher {
    pub(crate) index: usize,
    pub(crate) slot: u32,
    pub(crate) tag: u32,
    pub(crate) middle: [f32; 3],
}

#[inline(always)]
fn slabs_spanned(tag: u32, time_power: u32) -> RangeInclusive<u32> {
    let segment = segment_of(tag);
    match segment_power(tag).checked_sub(time_power) {
        Some(shift) => segment >> shift..=segment >> shift,
        None => {
            let shift = time_power - segment_power(tag);
            segment << shift..=((segment + 1) << shift) - 1
        }
    }
}

impl Grids<'_> {
    /// Returns half the neighbourhood of a proxy in its own level: five ranges of up to
    /// three cells along x. `None` if a cell has no slot of its own, or if the step has two
    /// sets.
    #[inline(always)]
    pub(crate) fn own_ranges(&self, searcher: &Searcher) -> Option<[Range<usize>; 5]> {
        if searcher.tag & INSIDE == 0 || self.sets.are_two() {
            return None;
        }
        let [row, plane] = self.levels[level_of(searcher.tag) as usize].strides();
        let slot = searcher.slot as usize;
        let around = |middle: usize| {
            let slots = self.starts.get(middle - 1..)?.first_chunk::<4>()?;
            Some(slots[0] as usize..slots[3] as usize)
        };
        let own_end = *self.starts.get(slot + 2)? as usize;
        Some([
            searcher.index + 1..own_end,
            around(slot + row)?,
            around(slot + plane - row)?,
            around(slot + plane)?,
            around(slot + plane + row)?,
        ])
    }

    /// Visits half the neighbourhood of a proxy in its own level, where cells share slots:
    /// the rest of its cell, the next cell along x, and the four following rows.
    #[cold]
    pub(crate) fn search_own_rows(
        &self,
        searcher: &Searcher,
        mut visit: impl FnMut(Range<usize>, CellRow),
    ) {
        if self.sets.are_two() {
            return;
        }
        let number = level_of(searcher.tag);
        let level = &self.levels[number as usize];
        let [x, y, z] = level.cell_of(searcher.middle);
        let slab = slab_of(searcher.tag, level.time_power);
        self.for_each_piece(number, slab, [x, x + 1], y, z, |mut range, row| {
            if row.x[0] == x {
                range.start = searcher.index + 1;
            }
            visit(range, row);
        });
        for [y, z] in [[y + 1, z], [y - 1, z + 1], [y, z + 1], [y + 1, z + 1]] {
            self.for_each_piece(number, slab, [x - 1, x + 1], y, z, &mut visit);
        }
    }

    pub(crate) fn search_others(
        &self,
        searcher: &Searcher,
        path: &SpherePath,
        visit: &mut impl FnMut(&[Range<usize>], Option<CellRow>),
    ) {
        let Searcher { tag, middle, .. } = *searcher;
        let reach = path.reaches(Cut::of_tag(tag).half());
        let mut searched = self.searched[level_of(tag) as usize];
        while searched != 0 {
            let number = searched.trailing_zeros();
            searched &= searched - 1;
            let level = &self.levels[number as usize];
            // Segments that touch are at most the sum of their half extents apart along each axis.
            let at = three(middle, |x| x * level.inverse_cell);
            let around = three(reach, |reach| reach * level.inverse_cell + level.reach);
            let mut low = floor(each(at, around, |x, around| x - around));
            let mut high = floor(each(at, around, |x, around| x + around));
            let inside = level.in_box(low[0], high[0], low[1], low[2])
                && level.in_box(low[0], high[0], high[1], high[2]);
            let boxed = inside || self.trim(level, &mut low, &mut high);
            for slab in slabs_spanned(tag, level.time_power) {
                if boxed {
                    self.visit_box(level, slab, [low, high], visit);
                } else if number < level_of(tag) {
                    self.visit_all(level, visit);
                } else {
                    self.visit_rows(number, slab, [low, high], visit);
                }
            }
        }
    }

    /// All these cells are in the level's box, so those with the same y and z are one range.
    #[inline(always)]
    fn visit_box(
        &self,
        level: &Level,
        slab: u32,
        [low, high]: [[i32; 3]; 2],
        visit: &mut impl FnMut(&[Range<usize>], Option<CellRow>),
    ) {
        let [cells, rows, planes] =
            [0, 1, 2].map(|axis| (high[axis] - low[axis] + 1).max(0) as usize);
        if cells * rows * planes == 0 {
            return;
        }
        let first = level.slot_in_box(low, slab);
        let [row, plane] = level.strides();
        let mut found = [const { 0..0 }; RANGES_AT_ONCE];
        let mut count = 0;
        for plane_slot in (first..).step_by(plane).take(planes) {
            for slot in (plane_slot..).step_by(row).take(rows) {
                let [start, end] = [slot, slot + cells].map(|slot| self.starts[slot] as usize);
                found[count] = start..end;
                count += usize::from(start < end);
                if count == found.len() {
                    visit(&found, None);
                    count = 0;
                }
            }
        }
        visit(&found[..count], None);
    }

    /// Visits all proxies of a level with smaller cells that has proxies outside its box,
    /// instead of looking up very many cells. Rare, because the plan
    /// (`coarse_searches_fine`) expects all of them inside.
    #[cold]
    #[inline(never)]
    fn visit_all(&self, level: &Level, visit: &mut impl FnMut(&[Range<usize>], Option<CellRow>)) {
        visit(&[level.spheres(self.starts)], None);
    }

    /// A row of cells along x is one range inside the box. Outside, its cells are looked up
    /// one by one: at most four along each axis, because they are larger than those of the
    /// searching proxy.
    fn visit_rows(
        &self,
        number: u32,
        slab: u32,
        [low, high]: [[i32; 3]; 2],
        visit: &mut impl FnMut(&[Range<usize>], Option<CellRow>),
    ) {
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                let x = [low[0], high[0]];
                self.for_each_piece(number, slab, x, y, z, |range, row| {
                    visit(&[range], Some(row));
                });
            }
        }
    }

    /// Clips the cells to the level's box, unless proxies lie outside it. Returns whether it did.
    #[cold]
    fn trim(&self, level: &Level, low: &mut [i32; 3], high: &mut [i32; 3]) -> bool {
        let nothing = !level.has_outside(self.starts);
        if nothing {
            for axis in 0..3 {
                let first = level.origin[axis];
                low[axis] = low[axis].max(first);
                high[axis] = high[axis].min(first + level.dims[axis] as i32 - 1);
            }
        }
        nothing
    }

    /// Visits a row of cells: one range, or one for each cell if cells share slots.
    fn for_each_piece(
        &self,
        number: u32,
        slab: u32,
        x: [i32; 2],
        y: i32,
        z: i32,
        mut visit: impl FnMut(Range<usize>, CellRow),
    ) {
        let level = &self.levels[number as usize];
        let mut piece = |x: [i32; 2]| {
            let slot = level.slot_of([x[0], y, z], slab) as usize;
            let end = slot + (x[1] - x[0]) as usize + 1;
            let [start, end] = [slot, end].map(|slot| self.starts[slot] as usize);
            let cells = CellRow {
                level: number,
                time_power: level.time_power,
                slab,
                x,
                y,
                z,
            };
            if start < end {
                visit(start..end, cells);
            }
        };
        if level.in_box(x[0], x[1], y, z) {
            piece(x);
        } else {
            (x[0]..=x[1]).for_each(|x| piece([x, x]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sphere;
    use crate::shared::segments::Frame;
    use crate::shared::tag::make_tag;
    use crate::shared::units::Units;

    /// A proxy searches another level, of which 10¹⁵ small cells are near the proxy. Some proxies
    /// of the level lie outside its box, which the plan does not expect. The search visits each
    /// proxy of the level once.
    #[test]
    fn a_search_of_many_small_cells_visits_each_sphere_once() {
        let fine = Level {
            dims: [3; 3],
            first_hashed: 27,
            cell: 1e-5,
            inverse_cell: 1e5,
            hash_mask: 3,
            ..Level::default()
        };
        let coarse = Level {
            first_slot: fine.slots().end as u32,
            first_hashed: fine.slots().end as u32,
            cell: 1.0,
            inverse_cell: 1.0,
            hash_mask: 3,
            ..Level::default()
        };
        // The level `fine` has seven proxies in one cell of its box, and four in each of the four
        // slots that cells outside the box share.
        let starts: Vec<u32> = (0..36_u32)
            .map(|slot| {
                if slot < 14 {
                    0
                } else {
                    7 + 4 * slot.clamp(27, 31) - 108
                }
            })
            .collect();
        let grids = Grids {
            levels: &[fine, coarse],
            searched: &[0, 1],
            starts: &starts,
            sets: Sets::One,
        };
        let searcher = Searcher {
            index: 23,
            slot: 31,
            tag: make_tag(1, 0, 0),
            middle: [0.5; 3],
        };
        let sphere = Sphere::new(searcher.middle, 0.5);
        let path = Units::default().scale(1.0).path(&sphere, &Frame::default());
        let mut visited = Vec::new();
        grids.search_others(&searcher, &path, &mut |ranges, row| {
            assert!(row.is_none());
            visited.extend(ranges.iter().cloned().flatten());
        });
        visited.sort_unstable();
        assert_eq!(visited, Vec::from_iter(0..23));
    }
}

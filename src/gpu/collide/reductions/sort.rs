//! Computes on the GPU the sorted list of pairs: each pair once, sorted by its sphere indices (a,
//! b). The CPU version is in `src/reduce/sort.rs`.

use std::ops::Range;

use wgpu::BufferUsages;

use super::super::scan::scan;
use super::super::stages::Stage;
use super::maker::ReductionMaker;
use crate::Error;
use crate::gpu::device::allocator::{ScanTable, filled};
use crate::gpu::device::dispatch::{Dispatch, workgroups};
use crate::gpu::device::named_buffers::NamedBuffers;
use crate::gpu::device::shader::constants::{MERGED_EACH, MERGED_RUNS, SORT_RUN};
use crate::gpu::device::shader::layout::{
    CaromCollision, DispatchArguments, Run, UNIFORM_ALIGNMENT,
};

pub(crate) struct SortedBuffers {
    pub(crate) list: wgpu::Buffer,
    pub(crate) images: Option<wgpu::Buffer>,
    pub(crate) dispatch: wgpu::Buffer,
}

/// What puts items of four 32-bit words in order, of which the first is the row.
pub(super) struct Sorter {
    /// One [`Run`] for each pass, at a multiple of [`UNIFORM_ALIGNMENT`]: those over the found
    /// pairs, then those over the sorted list.
    runs: wgpu::Buffer,
    passes: u64,
    /// The rows, which are filled in any order, and then the sorted items.
    pub(super) items: [wgpu::Buffer; 2],
}

#[derive(Clone, Copy)]
pub(super) enum Items {
    Found,
    Distinct,
}

/// Returns the passes over the items of one list of at most `most`. The first makes runs. Each two
/// others merge runs twice, in rows with more items than a run has, so that the result is where it
/// was.
fn runs(most: u64, items: Items) -> Vec<Run> {
    let run = |length: u64, least: u64| Run {
        length: length as u32,
        least: least as u32,
        distinct: items as u32,
        unused: 0,
    };
    let mut length = u64::from(SORT_RUN);
    let mut runs = vec![run(length, 0)];
    while length < most {
        let merged = length * u64::from(MERGED_RUNS);
        runs.extend([run(length, length), run(merged, length)]);
        length = merged * u64::from(MERGED_RUNS);
    }
    runs
}

impl Sorter {
    pub(super) fn new(maker: &mut ReductionMaker<'_>) -> Result<Self, Error> {
        let pairs = maker.pairs();
        let runs = [Items::Found, Items::Distinct].map(|items| runs(pairs, items));
        let bytes: Vec<u8> = (runs.iter().flatten())
            .flat_map(|run| {
                let mut bytes = [0; UNIFORM_ALIGNMENT as usize];
                bytes[..size_of::<Run>()].copy_from_slice(bytemuck::bytes_of(run));
                bytes
            })
            .collect();
        let (device, what) = (maker.binder.device, "runs of sorted items");
        let mut items = || (maker.made).nameless::<[u32; 4]>("the pairs being sorted", pairs);
        Ok(Self {
            items: [items()?, items()?],
            runs: filled(device, what, &bytes, BufferUsages::UNIFORM)?,
            passes: runs[0].len() as u64,
        })
    }

    fn passes(&self, items: Items) -> Range<u64> {
        match items {
            Items::Found => 0..self.passes,
            Items::Distinct => self.passes..2 * self.passes,
        }
    }

    /// Sorts the items in `items[0]`, which are anywhere in their rows, into `items[1]`.
    pub(super) fn sort(
        &self,
        maker: &ReductionMaker<'_>,
        items: Items,
        rows: &ScanTable,
    ) -> Result<Vec<Dispatch>, Error> {
        let pairs = maker.pairs();
        let kernels = maker.kernels;
        let mut dispatches = Vec::new();
        let [mut before, mut after] = self.items.each_ref();
        let (mut kernel, mut over) = (&kernels.sort_rank, workgroups(pairs));
        for pass in self.passes(items) {
            let mut named = NamedBuffers::default()
                .with::<[u32; 4]>("items_before", before)
                .with::<[u32; 4]>("items_after", after);
            named.one_at::<Run>("run", &self.runs, pass * UNIFORM_ALIGNMENT);
            if let Some(rows) = rows.levels.first() {
                let bytes = rows.words * size_of::<u32>() as u64;
                named.words("row_bounds", &rows.buffer, [0, bytes]);
            }
            dispatches.push(maker.dispatch(kernel, &named, over)?);
            kernel = &kernels.sort_merge;
            over = workgroups(pairs.div_ceil(MERGED_EACH.into()));
            (before, after) = (after, before);
        }
        Ok(dispatches)
    }
}

impl ReductionMaker<'_> {
    pub(super) fn sorted(
        &mut self,
        sorter: &Sorter,
        stages: &mut Vec<Stage>,
    ) -> Result<SortedBuffers, Error> {
        let pairs = self.pairs();
        let rows = self.rows("sort_rows", "rows of the sorted pairs")?;
        let (none, source) = (BufferUsages::empty(), BufferUsages::COPY_SRC);
        let made = &mut self.made;
        made.one::<u32>("longest_row", "pairs of the longest row", none)?;
        let list = made.array::<CaromCollision>("sorted_pairs", "sorted pairs", pairs, source)?;
        let dispatch = made.one::<DispatchArguments>(
            "sorted_dispatch",
            "dispatch over the sorted pairs",
            source | BufferUsages::INDIRECT,
        )?;
        let flags = made.table(
            "first_flags",
            "flags of the distinct pairs",
            pairs + 1,
            none,
        )?;
        let periodic = self.buffers.periodic.as_ref();
        let (name, what) = ("sorted_images", "images of the sorted pairs");
        let room = if periodic.is_some() { pairs } else { 1 };
        let images = made.array::<u32>(name, what, room, source)?;
        let [placed, sorted] = &sorter.items;
        let mut named = NamedBuffers::default()
            .with::<[u32; 4]>("pair_bits", &self.buffers.pairs)
            .with::<[u32; 4]>("items_after", placed)
            .with::<[u32; 4]>("sorted_items", sorted)
            .with::<[u32; 4]>("sorted_bits", &list);
        let kernels = self.kernels;
        let (place, write) = match periodic {
            Some(_) => (&kernels.sort_images_place, &kernels.unique_images_write),
            None => {
                // Bound in place of the images in open space, where no kernel reads them.
                named.array::<u32>("pair_images", &self.buffers.pairs_dispatch);
                (&kernels.sort_place, &kernels.unique_write)
            }
        };
        let over = workgroups(pairs);
        let over_flags = workgroups(pairs + 1);
        let mut dispatches = vec![self.dispatch(&kernels.sort_count, &named, over)?];
        dispatches.extend(scan(self.binder, self.stages, &rows)?);
        dispatches.push(self.dispatch(place, &named, over)?);
        dispatches.extend(sorter.sort(self, Items::Found, &rows)?);
        dispatches.push(self.dispatch(&kernels.unique_flag, &named, over_flags)?);
        dispatches.extend(scan(self.binder, self.stages, &flags)?);
        dispatches.push(self.dispatch(write, &named, over_flags)?);
        stages.push(Stage::new("sort", dispatches));
        Ok(SortedBuffers {
            list,
            images: periodic.map(|_| images),
            dispatch,
        })
    }
}

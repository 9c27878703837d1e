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
use crate::gpu::device::shader::constants::{DIGIT_BITS, DIGITS, IMAGE_BITS, SORT_BLOCK};
use crate::gpu::device::shader::layout::{
    CaromCollision, Digit, DispatchArguments, UNIFORM_ALIGNMENT,
};

pub(crate) struct SortedBuffers {
    pub(crate) list: wgpu::Buffer,
    pub(crate) images: Option<wgpu::Buffer>,
    pub(crate) dispatch: wgpu::Buffer,
}

/// Buffers of a radix sort of items of four 32-bit words.
pub(super) struct Sorter {
    /// One [`Digit`] for each pass, at a multiple of [`UNIFORM_ALIGNMENT`].
    digits: wgpu::Buffer,
    count: u32,
    by_pair: u32,
    pub(super) items: [wgpu::Buffer; 2],
    /// The counts of the values of a digit in each block. A prefix sum makes sorted
    /// positions of them.
    table: ScanTable,
}

#[derive(Clone, Copy)]
pub(super) enum By {
    Pair,
    FirstWord,
}

/// Returns the digits for all passes, the least significant first: for [`By::Pair`] `of_image`
/// digits of the image, then `count` digits of b, then of a; then those of [`By::FirstWord`].
fn digits(count: u32, of_image: u32) -> impl Iterator<Item = Digit> {
    let passes = [
        (2, 0, of_image),
        (1, 0, count),
        (0, 0, count),
        (0, 1, count),
    ];
    passes.into_iter().flat_map(|(word, distinct, count)| {
        (0..count).map(move |digit| Digit {
            word,
            shift: digit * DIGIT_BITS,
            distinct,
            unused: 0,
        })
    })
}

fn upload(
    device: &wgpu::Device,
    digits: impl Iterator<Item = Digit>,
) -> Result<wgpu::Buffer, Error> {
    let bytes: Vec<u8> = digits
        .flat_map(|digit| {
            let mut bytes = [0; UNIFORM_ALIGNMENT as usize];
            bytes[..size_of::<Digit>()].copy_from_slice(bytemuck::bytes_of(&digit));
            bytes
        })
        .collect();
    filled(device, "digits to sort by", &bytes, BufferUsages::UNIFORM)
}

impl Sorter {
    pub(super) fn new(maker: &mut ReductionMaker<'_>) -> Result<Self, Error> {
        let last = maker.buffers.capacity.spheres.saturating_sub(1).max(1);
        let count = (last.ilog2() + 1).div_ceil(DIGIT_BITS);
        let of_image = match maker.buffers.periodic {
            Some(_) => (3 * IMAGE_BITS).div_ceil(DIGIT_BITS),
            None => 0,
        };
        let pairs = maker.pairs();
        let blocks = pairs.div_ceil(u64::from(SORT_BLOCK));
        let mut items = || (maker.made).nameless::<[u32; 4]>("the pairs being sorted", pairs);
        Ok(Self {
            items: [items()?, items()?],
            digits: upload(maker.binder.device, digits(count, of_image))?,
            count,
            by_pair: of_image + 2 * count,
            table: maker.made.table(
                "sort_counts",
                "counts of the digits",
                u64::from(DIGITS) * blocks,
                BufferUsages::empty(),
            )?,
        })
    }

    fn passes(&self, by: By) -> Range<u32> {
        match by {
            By::Pair => 0..self.by_pair,
            By::FirstWord => self.by_pair..self.by_pair + self.count,
        }
    }

    fn other(&self, one: &wgpu::Buffer) -> wgpu::Buffer {
        let [first, second] = &self.items;
        if one == first { second } else { first }.clone()
    }

    pub(super) fn sort(
        &self,
        maker: &ReductionMaker<'_>,
        by: By,
        items: &wgpu::Buffer,
    ) -> Result<(Vec<Dispatch>, wgpu::Buffer), Error> {
        let [counts, ..] = &self.table.levels[..] else {
            return Ok((Vec::new(), items.clone()));
        };
        let blocks = counts.words / u64::from(DIGITS);
        let mut dispatches = Vec::new();
        let mut before = items.clone();
        for pass in self.passes(by) {
            let after = self.other(&before);
            let mut named = NamedBuffers::default()
                .with::<[u32; 4]>("items_before", &before)
                .with::<[u32; 4]>("items_after", &after);
            named.one_at::<Digit>("digit", &self.digits, u64::from(pass) * UNIFORM_ALIGNMENT);
            let kernels = maker.kernels;
            dispatches.push(maker.dispatch(&kernels.sort_count, &named, blocks)?);
            dispatches.extend(scan(maker.binder, maker.stages, &self.table)?);
            dispatches.push(maker.dispatch(&kernels.sort_scatter, &named, blocks)?);
            before = after;
        }
        Ok((dispatches, before))
    }
}

impl ReductionMaker<'_> {
    pub(super) fn sorted(
        &mut self,
        sorter: &Sorter,
        stages: &mut Vec<Stage>,
    ) -> Result<SortedBuffers, Error> {
        let pairs = self.pairs();
        let list = self.made.array::<CaromCollision>(
            "sorted_pairs",
            "sorted pairs",
            pairs,
            BufferUsages::COPY_SRC,
        )?;
        let dispatch = self.made.one::<DispatchArguments>(
            "sorted_dispatch",
            "dispatch over the sorted pairs",
            BufferUsages::COPY_SRC | BufferUsages::INDIRECT,
        )?;
        let flags = self.made.table(
            "first_flags",
            "flags of the distinct pairs",
            pairs + 1,
            BufferUsages::empty(),
        )?;
        let over = workgroups(pairs + 1);
        let kernels = self.kernels;
        let (mut dispatches, images);
        let (flag, write);
        if self.buffers.periodic.is_some() {
            let (name, what) = ("sorted_images", "images of the sorted pairs");
            let source = BufferUsages::COPY_SRC;
            images = Some(self.made.array::<u32>(name, what, pairs, source)?);
            let [first, _] = &sorter.items;
            let named = NamedBuffers::default()
                .with::<[u32; 4]>("pair_bits", &self.buffers.pairs)
                .with::<[u32; 4]>("items_after", first)
                .with::<[u32; 4]>("sorted_bits", &list);
            dispatches = vec![self.dispatch(&kernels.sort_items, &named, workgroups(pairs))?];
            let (passes, items) = sorter.sort(self, By::Pair, first)?;
            dispatches.extend(passes);
            let named = named.with::<[u32; 4]>("sorted_items", &items);
            flag = self.dispatch(&kernels.unique_images_flag, &named, over)?;
            write = self.dispatch(&kernels.unique_images_write, &named, over)?;
        } else {
            images = None;
            let repeated;
            (dispatches, repeated) = sorter.sort(self, By::Pair, &self.buffers.pairs)?;
            let named = NamedBuffers::default()
                .with::<[u32; 4]>("repeated_pairs", &repeated)
                .with::<[u32; 4]>("sorted_bits", &list);
            flag = self.dispatch(&kernels.unique_flag, &named, over)?;
            write = self.dispatch(&kernels.unique_write, &named, over)?;
        }
        dispatches.push(flag);
        dispatches.extend(scan(self.binder, self.stages, &flags)?);
        dispatches.push(write);
        stages.push(Stage::new("sort", dispatches));
        Ok(SortedBuffers {
            list,
            images,
            dispatch,
        })
    }
}

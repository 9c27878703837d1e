//! Computes on the GPU which pairs began, lasted or ended since the last complete step. The CPU
//! version is in `src/reduce/changes.rs`.

use wgpu::BufferUsages;

use super::super::scan::scan;
use super::super::stages::Stage;
use super::maker::ReductionMaker;
use crate::Error;
use crate::gpu::device::dispatch::workgroups;
use crate::gpu::device::named_buffers::NamedBuffers;

pub(crate) struct ChangeBuffers {
    /// Sphere indices (a, b) of the pairs that began, then of the pairs that lasted, then of the
    /// pairs that ended.
    pub(crate) list: wgpu::Buffer,
    /// In a periodic domain, the image of sphere b of each pair.
    pub(crate) images: Option<wgpu::Buffer>,
    /// Sphere indices (a, b) of the last complete step's pairs, sorted.
    kept: wgpu::Buffer,
    kept_count: wgpu::Buffer,
}

impl ChangeBuffers {
    #[cfg(test)]
    pub(super) fn keeps(&self, buffer: &wgpu::Buffer) -> bool {
        [&self.kept, &self.kept_count].contains(&buffer)
    }

    /// Records a copy of the pairs of the last complete step from `old`, the buffers that `self`
    /// replaces. Records nothing if the old buffers are larger, because the pairs might not fit.
    pub(super) fn continue_from(&self, encoder: &mut wgpu::CommandEncoder, old: &Self) {
        if self.kept.size() >= old.kept.size() {
            let mut copy = |from: &wgpu::Buffer, to| {
                encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size());
            };
            copy(&old.kept, &self.kept);
            copy(&old.kept_count, &self.kept_count);
        }
    }
}

impl ReductionMaker<'_> {
    /// Makes the buffers for the changes of the list of touching pairs from step to step (pairs
    /// that began, lasted or ended), and appends the shader stage that fills them. The caller must
    /// already have made the buffers of the sorted list of pairs.
    pub(super) fn changes(&mut self, stages: &mut Vec<Stage>) -> Result<ChangeBuffers, Error> {
        let pairs = self.pairs();
        let (none, source) = (BufferUsages::empty(), BufferUsages::COPY_SRC);
        let both = BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let made = &mut self.made;
        let list = made.array::<[u32; 2]>("changes", "changes", 2 * pairs, source)?;
        let flags = made.table("change_flags", "flags of changes", 2 * pairs + 1, none)?;
        let what = "pairs of the last step";
        let periodic = self.buffers.periodic.is_some();
        let (kept, images) = if periodic {
            let (name, of) = ("change_images", "images of the changes");
            let images = made.array::<u32>(name, of, 2 * pairs, source)?;
            let kept = made.array::<[u32; 4]>("kept_image_pairs", what, pairs, both)?;
            (kept, Some(images))
        } else {
            (
                made.array::<[u32; 2]>("kept_pairs", what, pairs, both)?,
                None,
            )
        };
        // Before the first step, the GPU's count of the last step's pairs is 0, because wgpu fills
        // new buffers with zeros.
        let kept_count = made.one::<u32>("kept_count", "count of pairs of the last step", both)?;
        let dispatch =
            |kernel, count| self.dispatch(kernel, &NamedBuffers::default(), workgroups(count));
        let over = 2 * pairs + 1;
        let kernels = self.kernels;
        let [flag, write, keep] = if periodic {
            [
                &kernels.changes_images_flag,
                &kernels.changes_images_write,
                &kernels.changes_images_keep,
            ]
        } else {
            [
                &kernels.changes_flag,
                &kernels.changes_write,
                &kernels.changes_keep,
            ]
        };
        let mut dispatches = vec![dispatch(flag, over)?];
        dispatches.extend(scan(self.binder, self.stages, &flags)?);
        dispatches.push(dispatch(write, over)?);
        dispatches.push(dispatch(keep, pairs)?);
        stages.push(Stage::new("changes", dispatches));
        Ok(ChangeBuffers {
            list,
            images,
            kept,
            kept_count,
        })
    }
}

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
    /// Pairs (a, b) that began, then those that lasted, then those that ended.
    pub(crate) list: wgpu::Buffer,
    pub(crate) images: Option<wgpu::Buffer>,
    kept: wgpu::Buffer,
    kept_count: wgpu::Buffer,
}

impl ChangeBuffers {
    #[cfg(test)]
    pub(super) fn keeps(&self, buffer: &wgpu::Buffer) -> bool {
        [&self.kept, &self.kept_count].contains(&buffer)
    }

    /// Records nothing if the old buffers are larger, because the pairs might not fit.
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
    /// The buffers of the sorted list must have been made before.
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
        // wgpu fills new buffers with zeros: there is no last step.
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

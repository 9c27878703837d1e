//! Dispatches of compute kernels. A dispatch is a kernel with its bind group and its number of
//! workgroups.

use super::named_buffers::{NamedBuffers, resolve};
use super::shader::constants::WORKGROUP;
use super::shader::kernels::Compiled;
use crate::Error;

/// One axis allows at most `widest` workgroups.
fn fold(workgroups: u64, widest: u32) -> [u32; 2] {
    if workgroups <= u64::from(widest) {
        return [workgroups as u32, 1];
    }
    let x = (workgroups as f64).sqrt().ceil() as u64;
    [x as u32, workgroups.div_ceil(x) as u32]
}

pub(crate) fn workgroups(count: u64) -> u64 {
    count.div_ceil(u64::from(WORKGROUP))
}

#[derive(Clone)]
pub(crate) struct Dispatch {
    pub(crate) name: &'static str,
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
    workgroups: [u32; 2],
    /// Where the device reads the number of workgroups: buffer and offset in bytes.
    indirect: Option<(wgpu::Buffer, u64)>,
}

impl Dispatch {
    pub(crate) fn resize(&mut self, workgroups: u64, widest: u32) {
        self.workgroups = fold(workgroups, widest);
    }

    pub(crate) fn workgroups(&self) -> [u32; 2] {
        self.workgroups
    }

    pub(crate) fn indirect(&self, sizes: &wgpu::Buffer, offset: u64) -> Self {
        Self {
            indirect: Some((sizes.clone(), offset)),
            ..self.clone()
        }
    }

    pub(crate) fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        let [x, y] = self.workgroups;
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
        match &self.indirect {
            Some((sizes, offset)) => pass.dispatch_workgroups_indirect(sizes, *offset),
            None => pass.dispatch_workgroups(x, y, 1),
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Binder<'a> {
    pub(crate) device: &'a wgpu::Device,
    pub(crate) widest: u32,
}

impl Binder<'_> {
    /// Binds each variable of the kernel to the buffer of the same name in `sources`.
    pub(crate) fn dispatch(
        &self,
        kernel: &Compiled,
        sources: &[&NamedBuffers],
        workgroups: u64,
    ) -> Result<Dispatch, Error> {
        let entry = |(index, binding): (u32, &super::shader::bindings::Binding)| {
            let bound = resolve(sources, binding.name, binding.kind)?;
            Ok(wgpu::BindGroupEntry {
                binding: index,
                resource: wgpu::BindingResource::Buffer(bound),
            })
        };
        let entries = (0..).zip(&kernel.bindings).map(entry);
        let entries: Vec<_> = entries.collect::<Result<_, Error>>()?;
        Ok(Dispatch {
            name: kernel.name,
            pipeline: kernel.pipeline.clone(),
            bind_group: self.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(&kernel.label),
                layout: &kernel.layout,
                entries: &entries,
            }),
            workgroups: fold(workgroups, self.widest),
            indirect: None,
        })
    }
}

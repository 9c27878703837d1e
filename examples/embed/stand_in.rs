//! STAND-IN for `carom::gpu` until that exists; to be deleted.
#![allow(dead_code, clippy::cast_possible_truncation, reason = "a stand-in")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub(crate) use ::wgpu;
use wgpu::util::DeviceExt;

pub(crate) enum Count {
    Known(u32),
}
pub(crate) struct Words<'a> {
    pub(crate) buffer: &'a wgpu::Buffer,
    pub(crate) offset: u32,
    pub(crate) stride: u32,
}
pub(crate) enum Radius<'a> {
    Words(Words<'a>),
}
pub(crate) enum Motion<'a> {
    Velocity(Words<'a>),
}
pub(crate) enum Groups {
    Constant(u32),
}
pub(crate) struct DeviceSpheres<'a> {
    pub(crate) count: Count,
    pub(crate) center: Words<'a>,
    pub(crate) radius: Radius<'a>,
    pub(crate) motion: Motion<'a>,
    pub(crate) groups: Groups,
}
pub(crate) enum Source<'a> {
    Buffers(&'a DeviceSpheres<'a>),
}
#[derive(Default)]
pub(crate) struct BufferOptions {
    pub(crate) spheres: u32,
    pub(crate) earliest: bool,
    pub(crate) timestamp_period: Option<f32>,
    pub(crate) pairs: u32,
}
pub(crate) enum ReadBack {
    Counts,
}
pub(crate) struct Counts {
    pub(crate) pairs: u64,
}
pub(crate) struct Taken {
    pub(crate) counts: Counts,
    pub(crate) stages: Vec<(&'static str, Duration)>,
}
pub(crate) enum TryTake {
    Pending(Ticket),
    Ready(Taken),
}
pub(crate) struct Ticket {
    device: wgpu::Device,
    buffer: wgpu::Buffer,
    done: Arc<AtomicBool>,
    period: f32,
    timed: bool,
}
impl Ticket {
    pub(crate) fn try_take(self) -> anyhow::Result<TryTake> {
        self.device.poll(wgpu::PollType::Poll)?;
        if !self.done.load(Ordering::Acquire) {
            return Ok(TryTake::Pending(self));
        }
        let view = self.buffer.slice(..).get_mapped_range()?;
        let pairs = u32::from_le_bytes(view[8..12].try_into()?);
        let times: Vec<u64> = view[16..]
            .chunks_exact(8)
            .map(|c| u64::from_le_bytes(c.try_into().unwrap_or_default()))
            .collect();
        let ns = (times[1].wrapping_sub(times[0])) as f64 * f64::from(self.period);
        Ok(TryTake::Ready(Taken {
            counts: Counts {
                pairs: u64::from(pairs / 2),
            },
            stages: if self.timed {
                vec![("stand-in", Duration::from_nanos(ns as u64))]
            } else {
                Vec::new()
            },
        }))
    }
}
pub(crate) struct CollisionPipeline {
    device: wgpu::Device,
    layout: wgpu::BindGroupLayout,
    pipelines: [wgpu::ComputePipeline; 3],
}
pub(crate) struct CollisionBuffers {
    device: wgpu::Device,
    layout: wgpu::BindGroupLayout,
    pipelines: [wgpu::ComputePipeline; 3],
    earliest: wgpu::Buffer,
    bounds: wgpu::Buffer,
    heads: wgpu::Buffer,
    links: wgpu::Buffer,
    table: u32,
    queries: Option<(wgpu::QuerySet, wgpu::Buffer)>,
    period: f32,
    ready: Option<(wgpu::BindGroup, u32)>,
}
impl CollisionPipeline {
    pub(crate) fn new(device: &wgpu::Device) -> anyhow::Result<Self> {
        let module = device.create_shader_module(wgpu::include_wgsl!("stand_in.wgsl"));
        let entry = |(binding, ty)| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty,
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let read = wgpu::BufferBindingType::Storage { read_only: true };
        let write = wgpu::BufferBindingType::Storage { read_only: false };
        let uniform = wgpu::BufferBindingType::Uniform;
        let entries: Vec<_> = (0..)
            .zip([uniform, read, read, write, write, write, write])
            .map(entry)
            .collect();
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &entries,
        });
        let whole = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipelines = ["measure", "insert", "find"].map(|name| {
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(name),
                layout: Some(&whole),
                module: &module,
                entry_point: Some(name),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            })
        });
        Ok(Self {
            device: device.clone(),
            layout,
            pipelines,
        })
    }
    pub(crate) fn create_buffers(&self, o: &BufferOptions) -> anyhow::Result<CollisionBuffers> {
        let make = |size: u64| {
            self.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage: wgpu::BufferUsages::STORAGE
                    | wgpu::BufferUsages::COPY_DST
                    | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            })
        };
        let table = o.spheres.next_power_of_two();
        let timed = self
            .device
            .features()
            .contains(wgpu::Features::TIMESTAMP_QUERY);
        Ok(CollisionBuffers {
            device: self.device.clone(),
            layout: self.layout.clone(),
            pipelines: self.pipelines.clone(),
            earliest: make(8 * u64::from(o.spheres)),
            bounds: make(16),
            heads: make(4 * u64::from(table)),
            links: make(4 * u64::from(o.spheres)),
            table,
            queries: timed.then(|| {
                (
                    self.device.create_query_set(&wgpu::QuerySetDescriptor {
                        label: None,
                        ty: wgpu::QueryType::Timestamp,
                        count: 2,
                    }),
                    self.device.create_buffer(&wgpu::BufferDescriptor {
                        label: None,
                        size: 16,
                        usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                        mapped_at_creation: false,
                    }),
                )
            }),
            period: o.timestamp_period.unwrap_or_default(),
            ready: None,
        })
    }
}
impl CollisionBuffers {
    pub(crate) fn prepare(&mut self, source: Source<'_>, dt: f32) -> anyhow::Result<()> {
        let Source::Buffers(s) = source;
        let Count::Known(count) = s.count;
        let Motion::Velocity(velocity) = &s.motion;
        let params = self
            .device
            .create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: None,
                contents: bytemuck::cast_slice(&[count, dt.to_bits(), self.table, 0]),
                usage: wgpu::BufferUsages::UNIFORM,
            });
        let bound = [
            &params,
            s.center.buffer,
            velocity.buffer,
            &self.earliest,
            &self.bounds,
            &self.heads,
            &self.links,
        ];
        let entries: Vec<_> = (0..)
            .zip(bound)
            .map(|(binding, b)| wgpu::BindGroupEntry {
                binding,
                resource: b.as_entire_binding(),
            })
            .collect();
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.layout,
            entries: &entries,
        });
        self.ready = Some((group, count));
        Ok(())
    }
    pub(crate) fn record(&mut self, encoder: &mut wgpu::CommandEncoder) -> anyhow::Result<()> {
        let Some((group, count)) = &self.ready else {
            anyhow::bail!("not prepared")
        };
        encoder.clear_buffer(&self.bounds, 0, None);
        encoder.clear_buffer(&self.heads, 0, None);
        for (i, pipeline) in self.pipelines.iter().enumerate() {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: None,
                timestamp_writes: self
                    .queries
                    .as_ref()
                    .map(|(q, _)| wgpu::ComputePassTimestampWrites {
                        query_set: q,
                        beginning_of_pass_write_index: Some(0).filter(|_| i == 0),
                        end_of_pass_write_index: Some(1).filter(|_| i != 0),
                    })
                    .filter(|_| i != 1),
            });
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups(count.div_ceil(256), 1, 1);
        }
        if let Some((q, b)) = &self.queries {
            encoder.resolve_query_set(q, 0..2, b, 0);
        }
        Ok(())
    }
    pub(crate) fn earliest(&self) -> &wgpu::Buffer {
        &self.earliest
    }
    pub(crate) fn read_back(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        _: ReadBack,
    ) -> anyhow::Result<Ticket> {
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 32,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        encoder.copy_buffer_to_buffer(&self.bounds, 0, &buffer, 0, 16);
        if let Some((_, b)) = &self.queries {
            encoder.copy_buffer_to_buffer(b, 0, &buffer, 16, 16);
        }
        let done = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&done);
        encoder.map_buffer_on_submit(&buffer, wgpu::MapMode::Read, .., move |r| {
            told.store(r.is_ok(), Ordering::Release);
        });
        Ok(Ticket {
            device: self.device.clone(),
            buffer,
            done,
            period: self.period,
            timed: self.queries.is_some(),
        })
    }
}

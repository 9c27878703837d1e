//! Draws the spheres and the mesh from the GPU buffers of the simulation.

use bytemuck::{Pod, Zeroable};
use glam::Mat4;

use crate::camera::Camera;
use crate::simulation::Simulation;
use crate::start::WARM;
use crate::text::Coverage;
use carom::gpu::wgpu;

const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
/// Light fades between the spheres as in fog. This is the distance over which it fades to 1/e: a few sphere
/// diameters.
const LIGHT: f32 = 3.0;
/// Number of samples per pixel for multisampling, which every device supports.
const SAMPLES: u32 = 4;

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct View {
    clip_from_world: Mat4,
    eye: [f32; 3],
    pixel: f32,
    up: [f32; 3],
    speed: f32,
    half: [f32; 3],
    depth: f32,
    size: [f32; 2],
    words: [f32; 2],
}

pub(crate) struct Drawing {
    device: wgpu::Device,
    queue: wgpu::Queue,
    format: wgpu::TextureFormat,
    layout: wgpu::BindGroupLayout,
    uniform: wgpu::Buffer,
    background: wgpu::RenderPipeline,
    spheres: wgpu::RenderPipeline,
    mesh: wgpu::RenderPipeline,
    edges: wgpu::RenderPipeline,
    words: wgpu::RenderPipeline,
    count: u32,
    triangles: u32,
    half: [f32; 3],
    bind_group: wgpu::BindGroup,
    words_size: [u32; 2],
    targets: Option<Targets>,
}

struct Targets {
    size: [u32; 2],
    colour: wgpu::TextureView,
    depth: wgpu::TextureView,
}

impl Drawing {
    pub(crate) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        format: wgpu::TextureFormat,
        simulation: &Simulation,
        half: [f32; 3],
    ) -> anyhow::Result<Self> {
        let layout = layout(device);
        let uniform = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("view"),
            size: size_of::<View>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let made = Makings::new(device, &layout, format);
        use wgpu::CompareFunction::{Always, Greater};
        use wgpu::PrimitiveTopology::{LineList, TriangleList, TriangleStrip};
        let empty = Coverage {
            size: [1, 1],
            pixels: vec![0],
        };
        Ok(Self {
            bind_group: bind(device, queue, &layout, &uniform, simulation, &empty)?,
            background: made.pipeline(["everywhere", "background"], TriangleStrip, Always, false),
            spheres: made.pipeline(["sphere", "lit"], TriangleStrip, Greater, true),
            mesh: made.pipeline(["mesh", "facet"], TriangleList, Greater, true),
            edges: made.pipeline(["edge", "line"], LineList, Greater, true),
            words: made.pipeline(["word", "ink"], TriangleStrip, Always, false),
            device: device.clone(),
            queue: queue.clone(),
            format,
            layout,
            uniform,
            count: simulation.count(),
            triangles: simulation.triangle_count(),
            half,
            words_size: [1, 1],
            targets: None,
        })
    }

    pub(crate) fn say(&mut self, simulation: &Simulation, words: &Coverage) -> anyhow::Result<()> {
        self.words_size = words.size;
        self.bind_group = bind(
            &self.device,
            &self.queue,
            &self.layout,
            &self.uniform,
            simulation,
            words,
        )?;
        Ok(())
    }

    pub(crate) fn draw(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::TextureView,
        size: [u32; 2],
        camera: &Camera,
    ) {
        let view = View {
            clip_from_world: camera.clip_from_world(size),
            eye: camera.eye().to_array(),
            pixel: camera.pixel(size),
            up: camera.up().to_array(),
            speed: WARM,
            half: self.half,
            depth: LIGHT,
            size: size.map(|side| side as f32),
            words: self.words_size.map(|side| side as f32),
        };
        self.queue
            .write_buffer(&self.uniform, 0, bytemuck::bytes_of(&view));
        let targets = match self.targets.take() {
            Some(targets) if targets.size == size => targets,
            _ => self.make_targets(size),
        };
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("draw"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &targets.colour,
                depth_slice: None,
                resolve_target: Some(target),
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                    store: wgpu::StoreOp::Discard,
                },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &targets.depth,
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(0.0),
                    store: wgpu::StoreOp::Discard,
                }),
                stencil_ops: None,
            }),
            timestamp_writes: None,
            occlusion_query_set: None,
            multiview_mask: None,
        });
        pass.set_bind_group(0, &self.bind_group, &[]);
        for (pipeline, vertices, instances) in [
            (&self.background, 4, 1),
            (&self.spheres, 4, self.count),
            (&self.mesh, 3, self.triangles),
            (&self.edges, 2, 12),
            (&self.words, 4, 1),
        ] {
            pass.set_pipeline(pipeline);
            pass.draw(0..vertices, 0..instances);
        }
        drop(pass);
        self.targets = Some(targets);
    }

    fn make_targets(&self, size: [u32; 2]) -> Targets {
        let make = |format| {
            let texture = self.device.create_texture(&wgpu::TextureDescriptor {
                label: Some("samples"),
                size: extent(size),
                mip_level_count: 1,
                sample_count: SAMPLES,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            });
            texture.create_view(&wgpu::TextureViewDescriptor::default())
        };
        Targets {
            size,
            colour: make(self.format),
            depth: make(DEPTH),
        }
    }
}

struct Makings<'a> {
    device: &'a wgpu::Device,
    module: wgpu::ShaderModule,
    layout: wgpu::PipelineLayout,
    format: wgpu::TextureFormat,
}

impl<'a> Makings<'a> {
    fn new(
        device: &'a wgpu::Device,
        layout: &wgpu::BindGroupLayout,
        format: wgpu::TextureFormat,
    ) -> Self {
        Self {
            device,
            module: device.create_shader_module(wgpu::include_wgsl!("draw.wgsl")),
            layout: device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some("draw"),
                bind_group_layouts: &[Some(layout)],
                immediate_size: 0,
            }),
            format,
        }
    }

    /// Creates a render pipeline. A solid pipeline writes depth and uses alpha-to-coverage: the
    /// alpha of a fragment determines how many samples of its pixel it covers. So solid primitives
    /// have smooth edges, and need not be sorted by depth. Other pipelines blend fragments by
    /// alpha.
    fn pipeline(
        &self,
        [vertex, fragment]: [&str; 2],
        topology: wgpu::PrimitiveTopology,
        depth: wgpu::CompareFunction,
        solid: bool,
    ) -> wgpu::RenderPipeline {
        let encode = if self.format.is_srgb() { 0.0 } else { 1.0 };
        let constants = [("encode", encode)];
        let options = wgpu::PipelineCompilationOptions {
            constants: &constants,
            ..wgpu::PipelineCompilationOptions::default()
        };
        self.device
            .create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(fragment),
                layout: Some(&self.layout),
                vertex: wgpu::VertexState {
                    module: &self.module,
                    entry_point: Some(vertex),
                    compilation_options: options.clone(),
                    buffers: &[],
                },
                primitive: wgpu::PrimitiveState {
                    topology,
                    ..wgpu::PrimitiveState::default()
                },
                depth_stencil: Some(wgpu::DepthStencilState {
                    format: DEPTH,
                    depth_write_enabled: Some(solid),
                    depth_compare: Some(depth),
                    stencil: wgpu::StencilState::default(),
                    bias: wgpu::DepthBiasState::default(),
                }),
                multisample: wgpu::MultisampleState {
                    count: SAMPLES,
                    alpha_to_coverage_enabled: solid,
                    ..wgpu::MultisampleState::default()
                },
                fragment: Some(wgpu::FragmentState {
                    module: &self.module,
                    entry_point: Some(fragment),
                    compilation_options: options,
                    targets: &[Some(wgpu::ColorTargetState {
                        format: self.format,
                        blend: (!solid).then_some(wgpu::BlendState::ALPHA_BLENDING),
                        write_mask: wgpu::ColorWrites::ALL,
                    })],
                }),
                multiview_mask: None,
                cache: None,
            })
    }
}

fn layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let buffer = |ty| wgpu::BindingType::Buffer {
        ty,
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    let storage = buffer(wgpu::BufferBindingType::Storage { read_only: true });
    let kinds = [
        buffer(wgpu::BufferBindingType::Uniform),
        storage,
        storage,
        wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable: false },
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        },
        storage,
    ];
    let entries: Vec<_> = (0..)
        .zip(kinds)
        .map(|(binding, ty)| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
            ty,
            count: None,
        })
        .collect();
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("draw"),
        entries: &entries,
    })
}

fn bind(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    layout: &wgpu::BindGroupLayout,
    uniform: &wgpu::Buffer,
    simulation: &Simulation,
    words: &Coverage,
) -> anyhow::Result<wgpu::BindGroup> {
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("words"),
        size: extent(words.size),
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::R8Unorm,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    queue.write_texture(
        texture.as_image_copy(),
        &words.pixels,
        wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(words.size[0]),
            rows_per_image: None,
        },
        extent(words.size),
    );
    let texture = texture.create_view(&wgpu::TextureViewDescriptor::default());
    let resources = [
        uniform.as_entire_binding(),
        simulation.positions.as_entire_binding(),
        simulation.glowing.as_entire_binding(),
        wgpu::BindingResource::TextureView(&texture),
        simulation.triangles.as_entire_binding(),
    ];
    let entries: Vec<_> = (0..)
        .zip(resources)
        .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
        .collect();
    Ok(device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("draw"),
        layout,
        entries: &entries,
    }))
}

pub(crate) fn extent([width, height]: [u32; 2]) -> wgpu::Extent3d {
    wgpu::Extent3d {
        width,
        height,
        depth_or_array_layers: 1,
    }
}

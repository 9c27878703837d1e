//! Runs the simulation without a window, and writes the last frame to a PNG file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::Instant;

use anyhow::Context;

use crate::adapter;
use crate::args::Args;
use crate::camera::Camera;
use crate::draw::{Drawing, extent};
use crate::gpu::Gpu;
use crate::overlay;
use crate::simulation::Simulation;
use crate::start;
use crate::text::Text;
use carom::gpu::wgpu;

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let path = args.output.as_deref().context("--output is missing")?;
    // The PNG file is created before the simulation, so that a path that cannot be written fails before a
    // long run.
    let file = File::create(path).with_context(|| format!("{}", path.display()))?;
    let instance =
        wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let gpu = adapter::open(&instance, None)?;
    let world = start::world(args.spheres, start::MIX, args.seed)?;
    let mut simulation = Simulation::new(&gpu.device, &gpu.queue, &world, args.rules())?;

    let begin = Instant::now();
    for _ in 0..args.frames {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        simulation.step(&mut encoder)?;
        gpu.queue.submit([encoder.finish()]);
        gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
        gpu.check()?;
        simulation.report()?;
    }
    let seconds = begin.elapsed().as_secs_f64();

    let report = simulation.report()?;
    let mut out = std::io::stdout();
    writeln!(out, "adapter  {}", gpu.name())?;
    writeln!(out, "spheres  {}", args.spheres)?;
    writeln!(out, "frames   {} in {seconds:.2} s", args.frames)?;
    writeln!(out, "time     {:.4} s", report.time)?;
    writeln!(out, "impacts  {}", report.sphere_impacts)?;
    writeln!(out, "at walls {}", report.wall_impacts)?;
    writeln!(
        out,
        "substeps {}, and {} rolled back",
        report.substeps, report.rollbacks
    )?;
    let rows = overlay::rows(
        world.positions.len(),
        report,
        Some(f64::from(args.frames) / seconds).filter(|_| args.frames > 0),
    );

    let format = wgpu::TextureFormat::Rgba8UnormSrgb;
    let mut drawing = Drawing::new(&gpu.device, &gpu.queue, format, &simulation, world.half)?;
    // In pictures of up to 1280 by 720 pixels, the text has its normal size. In larger pictures, it
    // grows in proportion to the picture.
    let [width, height] = args.size.map(|side| side as f32);
    let scale = (width / 1280.0).min(height / 720.0).max(1.0);
    let words = Text::new()?.table(&rows, scale * overlay::HEIGHT, scale * overlay::WIDTH);
    drawing.say(&simulation, &words)?;
    let pixels = picture(&gpu, &mut drawing, args.size, &Camera::new(world.half))?;
    write_png(file, args.size, &pixels).with_context(|| format!("{}", path.display()))
}

fn picture(
    gpu: &Gpu,
    drawing: &mut Drawing,
    size: [u32; 2],
    camera: &Camera,
) -> anyhow::Result<Vec<u8>> {
    let [width, height] = size;
    let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("picture"),
        size: extent(size),
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8UnormSrgb,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    // In a copy from a texture to a buffer, each row begins at a multiple of 256 bytes.
    let row = (4 * width).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("picture readback"),
        size: u64::from(row) * u64::from(height),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
    drawing.draw(&mut encoder, &view, size, camera);
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: &buffer,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(row),
                rows_per_image: None,
            },
        },
        extent(size),
    );
    let (sender, mapped) = std::sync::mpsc::channel();
    encoder.map_buffer_on_submit(&buffer, wgpu::MapMode::Read, .., move |result| {
        // Sending fails only if the receiver no longer exists. In this case, the function that waits for
        // the picture has already returned an error.
        let _ = sender.send(result);
    });
    gpu.queue.submit([encoder.finish()]);
    gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
    gpu.check()?;
    mapped
        .try_recv()
        .context("the picture was not read back from the device")??;
    let bytes = buffer.get_mapped_range(..)?;
    Ok(bytes
        .chunks_exact(row as usize)
        .flat_map(|padded| &padded[..4 * width as usize])
        .copied()
        .collect())
}

fn write_png(file: File, [width, height]: [u32; 2], pixels: &[u8]) -> anyhow::Result<()> {
    let opaque: Vec<u8> = pixels
        .chunks_exact(4)
        .flat_map(|pixel| &pixel[..3])
        .copied()
        .collect();
    let mut file = BufWriter::new(file);
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&opaque)?;
    writer.finish()?;
    file.flush()?;
    Ok(())
}

//! Measures for a report how fast bytes move between the host and the GPU.

use std::fmt::Write;
use std::time::Instant;

use anyhow::Context;
use carom::gpu::wgpu::{self, BufferUsages, WriteOnly};
use rayon::prelude::*;
use serde::Serialize;

use super::kernel_times::Gpu;
use super::median::median;

/// Those of a million spheres.
const BYTES: usize = 32 << 20;
/// What a thread copies at once.
const PART: usize = 1 << 18;
const MOST_THREADS: usize = 16;
const REPEATS: usize = 9;

/// Medians, in seconds.
#[derive(Serialize)]
pub(super) struct Transfers {
    bytes: usize,
    /// Copies by so many threads of the host to a mapped upload buffer.
    uploads: Vec<(usize, f64)>,
    /// A copy from the upload buffer to a storage buffer, submitted and awaited.
    copy_on_device: f64,
    /// `Queue::write_buffer` to a storage buffer, submitted and awaited.
    write_buffer: f64,
    /// A copy from a storage buffer to a mapped buffer, submitted and awaited.
    readback: f64,
    /// A copy out of that buffer, by all threads of the host.
    copy_on_host: f64,
    /// An empty submission, awaited by a call that blocks, and by calls that do not.
    empty_blocking: f64,
    empty_spinning: f64,
}

fn repeated(mut time: impl FnMut() -> anyhow::Result<f64>) -> anyhow::Result<f64> {
    let times = (0..REPEATS).map(|_| time());
    Ok(median(times.collect::<Result<_, _>>()?))
}

impl Transfers {
    pub(super) fn measure(gpu: &Gpu) -> anyhow::Result<Self> {
        let Gpu { device, queue, .. } = gpu;
        let data = vec![7_u8; BYTES];
        let buffer = |usage, mapped_at_creation| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("carom transfers"),
                size: BYTES as u64,
                usage,
                mapped_at_creation,
            })
        };
        let encoder = || device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let submit = |encoder: wgpu::CommandEncoder| queue.submit([encoder.finish()]);
        let wait = || device.poll(wgpu::PollType::wait_indefinitely());
        let storage = BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
        let storage = buffer(storage, false);

        let upload = buffer(BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC, true);
        let mut uploads = Vec::new();
        for threads in [1, 2, 4, 8, MOST_THREADS] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()?;
            let seconds = repeated(|| {
                let mut mapped = upload.get_mapped_range_mut(..)?;
                let (parts, _) = mapped.slice(..).into_chunks::<PART>();
                let parts: Vec<_> = parts.into_iter().zip(data.chunks_exact(PART)).collect();
                let clock = Instant::now();
                pool.install(|| {
                    parts.into_par_iter().for_each(|(to, from)| {
                        WriteOnly::<[u8]>::from(to).copy_from_slice(from);
                    });
                });
                Ok(clock.elapsed().as_secs_f64())
            })?;
            uploads.push((threads, seconds));
        }
        upload.unmap();

        let copy_on_device = repeated(|| {
            let mut encoder = encoder();
            encoder.copy_buffer_to_buffer(&upload, 0, &storage, 0, None);
            let clock = Instant::now();
            submit(encoder);
            wait()?;
            Ok(clock.elapsed().as_secs_f64())
        })?;
        let write_buffer = repeated(|| {
            let clock = Instant::now();
            queue.write_buffer(&storage, 0, &data);
            submit(encoder());
            wait()?;
            Ok(clock.elapsed().as_secs_f64())
        })?;

        let download = buffer(BufferUsages::MAP_READ | BufferUsages::COPY_DST, false);
        let mut read = vec![0; BYTES];
        let mut copies = Vec::new();
        let readback = repeated(|| {
            let mut encoder = encoder();
            encoder.copy_buffer_to_buffer(&storage, 0, &download, 0, None);
            let clock = Instant::now();
            submit(encoder);
            download.map_async(wgpu::MapMode::Read, .., |_| {});
            wait()?;
            let arrived = clock.elapsed().as_secs_f64();
            let mapped = download.get_mapped_range(..)?;
            let bytes: &[u8] = &mapped;
            let clock = Instant::now();
            let parts = read.par_chunks_mut(PART).zip(bytes.par_chunks(PART));
            parts.for_each(|(to, from)| to.copy_from_slice(from));
            copies.push(clock.elapsed().as_secs_f64());
            drop(mapped);
            download.unmap();
            Ok(arrived)
        })?;
        anyhow::ensure!(
            read == data,
            "the GPU returned other bytes than it was sent"
        );

        let empty_blocking = repeated(|| {
            let clock = Instant::now();
            submit(encoder());
            wait()?;
            Ok(clock.elapsed().as_secs_f64())
        })?;
        let empty_spinning = repeated(|| {
            let clock = Instant::now();
            submit(encoder());
            let polled = || device.poll(wgpu::PollType::Poll);
            while !polled().context("polling failed")?.is_queue_empty() {}
            Ok(clock.elapsed().as_secs_f64())
        })?;
        Ok(Self {
            bytes: BYTES,
            uploads,
            copy_on_device,
            write_buffer,
            readback,
            copy_on_host: median(copies),
            empty_blocking,
            empty_spinning,
        })
    }

    pub(super) fn table(&self) -> String {
        let mut text = format!(
            "\n## Transfers of {} MiB\n\n| transfer | ms | GB/s |\n|---|---:|---:|\n",
            self.bytes >> 20
        );
        let mut row = |what: &str, seconds: f64| {
            let rate = self.bytes as f64 / seconds / 1e9;
            _ = writeln!(text, "| {what} | {:.3} | {rate:.1} |", seconds * 1e3);
        };
        for &(threads, seconds) in &self.uploads {
            row(
                &format!("to the mapped upload buffer, {threads} threads"),
                seconds,
            );
        }
        row("from there, by the device", self.copy_on_device);
        row("`write_buffer`", self.write_buffer);
        row("from the device to a mapped buffer", self.readback);
        row("out of that buffer, by all threads", self.copy_on_host);
        _ = writeln!(
            text,
            "\nA device that copies from the upload buffer much faster than its bus allows has that buffer in its own \
             memory. An empty submission takes {:.3} ms if the host blocks, and {:.3} ms if it polls.",
            self.empty_blocking * 1e3,
            self.empty_spinning * 1e3
        );
        text
    }
}

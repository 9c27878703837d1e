//! Upload buffers, which carry a step's values from the host to the GPU. carom records a step
//! without access to the wgpu queue, so it cannot use `Queue::write_buffer` for this. Each
//! recording in flight has an upload buffer of its own, which keeps the values until the device has
//! copied them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::SeqCst};

use rayon::prelude::*;
use wgpu::WriteOnly;

use crate::gpu::device::context::Context;
use crate::gpu::device::shader::layout::UNIFORM_ALIGNMENT;
use crate::step::{CheckedStep, UncheckedStep};
use crate::threads;
use crate::validate::{InputSummary, summary_of};
use crate::{Error, Sphere};

const FREE: u8 = 0;
const BUSY: u8 = 1;
/// To be replaced: the encoder was dropped, or the buffer could not be mapped again.
const UNMAPPED: u8 = 2;

const COPIED_AT_ONCE: usize = 1 << 18;

/// Size in bytes of the center and the velocity of a sphere.
pub(crate) const COMPACT: usize = size_of::<[f32; 6]>();
/// Spheres that are gathered before they are written, because mapped memory takes large pieces faster.
const COMPACTED: usize = 256;
const COMPACT_AT_ONCE: usize = 32 * COMPACTED * COMPACT;

struct UploadBuffer {
    buffer: wgpu::Buffer,
    state: Arc<AtomicU8>,
}

/// Each is reused once the recording that reads it has run.
#[derive(Default)]
pub(crate) struct UploadRing {
    buffers: Vec<UploadBuffer>,
}

/// Values that the recorded commands copy from an upload buffer, in the order in which they are
/// added, to carom's buffers.
#[derive(Default)]
pub(crate) struct Upload<'a> {
    parts: Vec<(u64, &'a [u8])>,
    copies: Vec<UploadCopy>,
    size: u64,
}

struct UploadCopy {
    from: u64,
    to: wgpu::Buffer,
    offset: u64,
    size: u64,
}

impl<'a> Upload<'a> {
    /// Adds the contents of the buffer `to` as parts that follow each other. Their room is
    /// that of `to`, so that the upload buffer suffices for recordings with more values.
    pub(crate) fn add<const N: usize>(&mut self, to: &wgpu::Buffer, parts: [&'a [u8]; N]) {
        self.add_at(to, 0, parts);
    }

    /// Adds the contents of the buffer `to` from `offset` on.
    pub(crate) fn add_at<const N: usize>(
        &mut self,
        to: &wgpu::Buffer,
        offset: u64,
        parts: [&'a [u8]; N],
    ) {
        let from = self.size;
        let mut end = from;
        for bytes in parts.into_iter().filter(|bytes| !bytes.is_empty()) {
            self.parts.push((end, bytes));
            end += bytes.len() as u64;
        }
        if end > from {
            self.copies.push(UploadCopy {
                from,
                to: to.clone(),
                offset,
                size: end - from,
            });
        }
        self.size += to
            .size()
            .saturating_sub(offset)
            .next_multiple_of(wgpu::MAP_ALIGNMENT);
    }
}

/// Between two values in a uniform buffer that every device can bind.
pub(crate) fn uniform_padding<T>() -> &'static [u8] {
    const ZEROS: &[u8] = &[0; UNIFORM_ALIGNMENT as usize];
    let used = size_of::<T>().saturating_sub(1) % ZEROS.len() + 1;
    ZEROS.get(used..).unwrap_or_default()
}

/// Stores the new state of an upload buffer when it is dropped: wgpu drops the callback that
/// owns it after the submission has run, or with an encoder that is not submitted.
struct Release {
    context: Arc<Context>,
    buffer: wgpu::Buffer,
    state: Arc<AtomicU8>,
    to: u8,
}

impl Release {
    fn mapped(mut self, well: bool) {
        if well {
            self.to = FREE;
        } else {
            self.context.mapping_failed();
        }
    }
}

impl Drop for Release {
    fn drop(&mut self) {
        self.state.store(self.to, SeqCst);
    }
}

impl UploadRing {
    /// Writes `upload` to a free buffer that is large enough, of at most `most`, and unmaps
    /// it. On an error, the buffer is not in use.
    pub(crate) fn write(
        &mut self,
        context: &Arc<Context>,
        most: u32,
        upload: Upload<'_>,
    ) -> Result<Written, Error> {
        let unchecked = |_: &[u8]| InputSummary::default();
        let copy = |to: WriteOnly<'_, [u8]>, bytes: &[u8]| copy(to, bytes, unchecked).map(drop);
        self.write_by(context, most, upload, copy)
    }

    /// Writes the spheres of a step for the buffer `to`, and checks them on the way. If all have the
    /// same radius and groups, and there is a buffer `small`, this writes only their centers and
    /// velocities, [`COMPACT`] bytes each, for that one. Returns whether it has.
    pub(crate) fn write_spheres<'a>(
        &mut self,
        context: &Arc<Context>,
        most: u32,
        (to, small): (&wgpu::Buffer, Option<&wgpu::Buffer>),
        step: UncheckedStep<'a>,
    ) -> Result<(Written, CheckedStep<'a>, bool), Error> {
        let mut upload = Upload::default();
        upload.add(to, [bytemuck::cast_slice(step.spheres)]);
        let summary = |bytes: &[u8]| summary_of(bytemuck::cast_slice::<u8, Sphere>(bytes), step.dt);
        let (mut checked, mut is_compact) = (None, false);
        let copy = |mut to: WriteOnly<'_, [u8]>, bytes: &[u8]| {
            let mut found = None;
            if small.is_some() {
                found = compact(to.slice(..), step.spheres, step.dt)?;
            }
            is_compact = found.is_some();
            let found = match found {
                Some(found) => found,
                None => copy(to, bytes, summary)?,
            };
            checked = Some(step.checked_by(found)?);
            Ok(())
        };
        let mut written = self.write_by(context, most, upload, copy)?;
        if let Some(small) = small.filter(|_| is_compact) {
            written.copies = vec![UploadCopy {
                from: 0,
                to: small.clone(),
                offset: 0,
                size: (COMPACT * step.spheres.len()) as u64,
            }];
        }
        match checked {
            Some(checked) => Ok((written, checked, is_compact)),
            None => Ok((written, step.check()?, is_compact)),
        }
    }

    fn write_by(
        &mut self,
        context: &Arc<Context>,
        most: u32,
        upload: Upload<'_>,
        mut copy: impl FnMut(WriteOnly<'_, [u8]>, &[u8]) -> Result<(), Error>,
    ) -> Result<Written, Error> {
        let number = self.find(context, most, upload.size)?;
        let UploadBuffer { buffer, state } = &self.buffers[number];
        for (offset, bytes) in upload.parts {
            let range = offset..offset + bytes.len() as u64;
            match buffer.get_mapped_range_mut(range) {
                Ok(mut mapped) => copy(mapped.slice(..), bytes)?,
                Err(_) => {
                    // A free upload buffer stays mapped unless the device is lost.
                    context.lose();
                    return Err(Error::DeviceLost);
                }
            }
        }
        let unmapped = context.scoped(|| {
            buffer.unmap();
            Ok(())
        });
        if let Err(error) = unmapped {
            state.store(UNMAPPED, SeqCst);
            context.lose();
            log::debug!("carom treats the device as lost: {error}");
            return Err(Error::DeviceLost);
        }
        state.store(BUSY, SeqCst);
        Ok(Written {
            release: Release {
                context: context.clone(),
                buffer: buffer.clone(),
                state: state.clone(),
                to: UNMAPPED,
            },
            copies: upload.copies,
        })
    }

    fn find(&mut self, context: &Context, most: u32, size: u64) -> Result<usize, Error> {
        let busy = |upload: &UploadBuffer| upload.state.load(SeqCst) == BUSY;
        let number = match self.buffers.iter().position(|upload| !busy(upload)) {
            Some(number) => number,
            None if self.buffers.len() >= most as usize => {
                return Err(Error::TooManyInFlight {
                    what: "recordings",
                    limit: most,
                });
            }
            None => self.buffers.len(),
        };
        let fits = |upload: &UploadBuffer| {
            upload.buffer.size() >= size && upload.state.load(SeqCst) == FREE
        };
        if !self.buffers.get(number).is_some_and(fits) {
            let upload = create(context, size)?;
            match self.buffers.get_mut(number) {
                Some(old) => *old = upload,
                None => self.buffers.push(upload),
            }
        }
        Ok(number)
    }
}

/// Threads share the parts of [`COPIED_AT_ONCE`] bytes, of which `summary` gets each.
fn copy(
    to: WriteOnly<'_, [u8]>,
    bytes: &[u8],
    summary: impl Fn(&[u8]) -> InputSummary + Sync,
) -> Result<InputSummary, Error> {
    let (parts, mut rest) = to.into_chunks::<COPIED_AT_ONCE>();
    let from = bytes.chunks_exact(COPIED_AT_ONCE);
    let last = summary(from.remainder());
    rest.copy_from_slice(from.remainder());
    let parts: Vec<_> = parts.into_iter().zip(from).collect();
    // Otherwise, rayon would start its global pool for nothing.
    if parts.is_empty() {
        return Ok(last);
    }
    threads::run(parts.len() * COPIED_AT_ONCE, || {
        let summaries = parts.into_par_iter().map(|(part, from)| {
            let summary = summary(from);
            WriteOnly::<[u8]>::from(part).copy_from_slice(from);
            summary
        });
        Ok(summaries.reduce(|| last, InputSummary::merge))
    })
}

/// As [`copy`], but only the centers and velocities. Returns `None` if the radii or groups differ.
fn compact(
    to: WriteOnly<'_, [u8]>,
    spheres: &[Sphere],
    dt: f32,
) -> Result<Option<InputSummary>, Error> {
    let Some(first) = spheres.first() else {
        return Ok(None);
    };
    let to = to.into_slice(..COMPACT * spheres.len());
    let (parts, rest) = to.into_chunks::<COMPACT_AT_ONCE>();
    let from = spheres.chunks_exact(COMPACT_AT_ONCE / COMPACT);
    let Some(last) = compact_part(rest, from.remainder(), first, dt) else {
        return Ok(None);
    };
    let parts: Vec<_> = parts.into_iter().zip(from).collect();
    if parts.is_empty() {
        return Ok(Some(last));
    }
    threads::run(parts.len() * COMPACT_AT_ONCE, || {
        let summaries = parts
            .into_par_iter()
            .map(|(part, from)| compact_part(part.into(), from, first, dt));
        Ok(summaries.try_reduce(|| last, |one, other| Some(one.merge(other))))
    })
}

fn compact_part(
    mut to: WriteOnly<'_, [u8]>,
    spheres: &[Sphere],
    first: &Sphere,
    dt: f32,
) -> Option<InputSummary> {
    let mut written = [[0.0_f32; 6]; COMPACTED];
    let mut summary = InputSummary::default();
    let mut at = 0;
    for spheres in spheres.chunks(COMPACTED) {
        let mut alike = true;
        for (to, sphere) in written.iter_mut().zip(spheres) {
            let ([x, y, z], [u, v, w]) = (sphere.center, sphere.velocity);
            *to = [x, y, z, u, v, w];
            alike &= sphere.radius.to_bits() == first.radius.to_bits();
            alike &= sphere.groups == first.groups;
        }
        if !alike {
            return None;
        }
        summary = summary.merge(summary_of(spheres, dt));
        let bytes: &[u8] = bytemuck::cast_slice(&written[..spheres.len()]);
        to.slice(at..at + bytes.len()).copy_from_slice(bytes);
        at += bytes.len();
    }
    Some(summary)
}

fn create(context: &Context, size: u64) -> Result<UploadBuffer, Error> {
    if size > context.limits.max_buffer_size {
        return Err(Error::DeviceLimit {
            what: "the upload buffer for the spheres",
            limit: "max_buffer_size",
            needed: size,
            available: context.limits.max_buffer_size,
        });
    }
    let buffer = context.scoped(|| {
        Ok(context.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("carom upload"),
            size,
            usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: true,
        }))
    })?;
    Ok(UploadBuffer {
        buffer,
        state: Arc::new(AtomicU8::new(FREE)),
    })
}

/// If it is dropped without being recorded, the buffer stays unmapped, and is replaced.
pub(crate) struct Written {
    release: Release,
    copies: Vec<UploadCopy>,
}

impl Written {
    /// wgpu maps the upload buffer again after the submission of `encoder` has run.
    pub(crate) fn record(self, encoder: &mut wgpu::CommandEncoder) -> Submitted {
        let Self { release, copies } = self;
        for copy in copies {
            let UploadCopy {
                from,
                to,
                offset,
                size,
            } = copy;
            encoder.copy_buffer_to_buffer(&release.buffer, from, &to, offset, size);
        }
        let submitted = Submitted(release.state.clone());
        let buffer = release.buffer.clone();
        // The callback owns a reference to the buffer, without which wgpu would not map it.
        encoder.map_buffer_on_submit(&buffer, wgpu::MapMode::Write, .., move |mapped| {
            release.mapped(mapped.is_ok());
        });
        submitted
    }
}

pub(crate) struct Submitted(Arc<AtomicU8>);

impl Submitted {
    /// Its encoder was dropped, or it could not be mapped again.
    pub(crate) fn never(&self) -> bool {
        self.0.load(SeqCst) == UNMAPPED
    }

    pub(crate) fn perhaps(&self) -> bool {
        self.0.load(SeqCst) == BUSY
    }
}

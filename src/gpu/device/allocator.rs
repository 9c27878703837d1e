//! Creates GPU storage buffers within the device's limits, and records the shader variable of each
//! buffer.

use wgpu::BufferUsages;

use super::named_buffers::NamedBuffers;
use super::shader::constants::SCAN_BLOCK;
use super::shader::layout::Element;
use crate::Error;

pub(crate) struct ScanTable {
    /// The table, and for each list, the sums of its blocks of [`SCAN_BLOCK`] words, down
    /// to one block. At least two lists.
    pub(crate) levels: Vec<ScanLevel>,
}

pub(crate) struct ScanLevel {
    pub(crate) words: u64,
    pub(crate) buffer: wgpu::Buffer,
}

pub(crate) struct Allocator<'a> {
    pub(crate) device: &'a wgpu::Device,
    pub(crate) limits: &'a wgpu::Limits,
    pub(crate) named: NamedBuffers,
    pub(crate) bytes: u64,
    #[cfg(test)]
    pub(crate) all: Vec<wgpu::Buffer>,
}

fn check(limits: &wgpu::Limits, what: &'static str, needed: u64) -> Result<(), Error> {
    let named = [
        (
            "max_storage_buffer_binding_size",
            limits.max_storage_buffer_binding_size,
        ),
        ("max_buffer_size", limits.max_buffer_size),
    ];
    match named.into_iter().find(|&(_, available)| needed > available) {
        Some((limit, available)) => Err(Error::DeviceLimit {
            what,
            limit,
            needed,
            available,
        }),
        None => Ok(()),
    }
}

pub(crate) fn filled(
    device: &wgpu::Device,
    what: &'static str,
    bytes: &[u8],
    usage: BufferUsages,
) -> Result<wgpu::Buffer, Error> {
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(&format!("carom {what}")),
        size: bytes.len() as u64,
        usage,
        mapped_at_creation: true,
    });
    buffer
        .slice(..)
        .get_mapped_range_mut()
        .map_err(Error::device_failed)?
        .copy_from_slice(bytes);
    buffer.unmap();
    Ok(buffer)
}

impl<'a> Allocator<'a> {
    pub(crate) fn new(device: &'a wgpu::Device, limits: &'a wgpu::Limits) -> Self {
        Self {
            device,
            limits,
            named: NamedBuffers::default(),
            bytes: 0,
            #[cfg(test)]
            all: Vec::new(),
        }
    }

    fn buffer<T: Element>(
        &mut self,
        what: &'static str,
        count: u64,
        usage: BufferUsages,
    ) -> Result<wgpu::Buffer, Error> {
        // wgpu does not allow an empty binding.
        let size = count.max(1).saturating_mul(size_of::<T>() as u64);
        check(self.limits, what, size)?;
        let for_tests = if cfg!(test) {
            BufferUsages::COPY_SRC | BufferUsages::COPY_DST
        } else {
            BufferUsages::empty()
        };
        self.bytes += size;
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(&format!("carom {what}")),
            size,
            usage: BufferUsages::STORAGE | usage | for_tests,
            mapped_at_creation: false,
        });
        #[cfg(test)]
        self.all.push(buffer.clone());
        Ok(buffer)
    }

    pub(crate) fn nameless<T: Element>(
        &mut self,
        what: &'static str,
        count: u64,
    ) -> Result<wgpu::Buffer, Error> {
        self.buffer::<T>(what, count, BufferUsages::empty())
    }

    /// Bound to the shader variable `name`. `what` describes the buffer in error messages.
    pub(crate) fn array<T: Element>(
        &mut self,
        name: &'static str,
        what: &'static str,
        count: u64,
        usage: BufferUsages,
    ) -> Result<wgpu::Buffer, Error> {
        let buffer = self.buffer::<T>(what, count, usage)?;
        self.named.array::<T>(name, &buffer);
        Ok(buffer)
    }

    pub(crate) fn one<T: Element>(
        &mut self,
        name: &'static str,
        what: &'static str,
        usage: BufferUsages,
    ) -> Result<wgpu::Buffer, Error> {
        let buffer = self.buffer::<T>(what, 1, usage)?;
        self.named.one::<T>(name, &buffer);
        Ok(buffer)
    }

    /// As [`array`](Self::array), with `values`, which must not be empty.
    pub(crate) fn filled<T: Element>(
        &mut self,
        name: &'static str,
        what: &'static str,
        values: &[T],
    ) -> Result<(), Error> {
        check(self.limits, what, size_of_val(values) as u64)?;
        let bytes = bytemuck::cast_slice(values);
        let buffer = filled(self.device, what, bytes, BufferUsages::STORAGE)?;
        self.named.array::<T>(name, &buffer);
        Ok(())
    }

    /// Creates a table of `words` words, padded to a multiple of four, and the buffers for
    /// its prefix sum. `name` is bound to the `words` words only.
    pub(crate) fn table(
        &mut self,
        name: &'static str,
        what: &'static str,
        words: u64,
        usage: BufferUsages,
    ) -> Result<ScanTable, Error> {
        let table = self.scan_level(what, words, usage)?;
        let bytes = words.max(1) * size_of::<u32>() as u64;
        self.named.words(name, &table.buffer, [0, bytes]);
        let mut levels = vec![table];
        let mut length = words;
        // `scan_apply` always binds a buffer of block sums.
        loop {
            length = length.div_ceil(SCAN_BLOCK.into());
            levels.push(self.scan_level(what, length, usage)?);
            if length <= SCAN_BLOCK.into() {
                return Ok(ScanTable { levels });
            }
        }
    }

    fn scan_level(
        &mut self,
        what: &'static str,
        words: u64,
        usage: BufferUsages,
    ) -> Result<ScanLevel, Error> {
        Ok(ScanLevel {
            words,
            buffer: self.buffer::<[u32; 4]>(what, words.div_ceil(4), usage)?,
        })
    }
}

//! Creates storage buffers, checks their sizes against the device's limits, and records their
//! names in the shaders.

use wgpu::BufferUsages;

use super::named_buffers::NamedBuffers;
use super::shader::constants::SCAN_BLOCK;
use super::shader::layout::Element;
use crate::Error;

/// A table of words, and the buffers that its prefix sum needs.
pub(crate) struct ScanTable {
    /// The words, then the sum of each block of them, then the sum of each block of these sums,
    /// and so on until one block is left. There are at least two levels.
    pub(crate) levels: Vec<ScanLevel>,
}

/// The words of a table, or the sums of the blocks of a level.
pub(crate) struct ScanLevel {
    /// Number of words.
    pub(crate) words: u64,
    /// The words, padded to a multiple of four.
    pub(crate) buffer: wgpu::Buffer,
}

/// Creates storage buffers, and records their names.
pub(crate) struct Allocator<'a> {
    pub(crate) device: &'a wgpu::Device,
    pub(crate) limits: &'a wgpu::Limits,
    /// The named buffers created so far.
    pub(crate) named: NamedBuffers,
    /// Total size in bytes of all buffers created so far.
    pub(crate) bytes: u64,
    /// All buffers created so far. Tests fill them with noise.
    #[cfg(test)]
    pub(crate) all: Vec<wgpu::Buffer>,
}

/// Returns an error if a buffer of `needed` bytes cannot be created or bound.
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
        // A binding must not be empty.
        let size = count.max(1).saturating_mul(size_of::<T>() as u64);
        check(self.limits, what, size)?;
        // Tests fill the buffers with noise, and read them.
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

    /// Creates a buffer of `count` values that has no name in the shaders. `what` appears in its
    /// label and in errors.
    pub(crate) fn nameless<T: Element>(
        &mut self,
        what: &'static str,
        count: u64,
    ) -> Result<wgpu::Buffer, Error> {
        self.buffer::<T>(what, count, BufferUsages::empty())
    }

    /// Creates a buffer of `count` values, named `name` in the shaders.
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

    /// Creates a buffer of one value, named `name` in the shaders.
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

    /// Creates a table of `words` words, and the buffers of sums that its prefix sum needs. Only
    /// the words of the table, without the padding, have the name `name`.
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
        // A workgroup of the scan adds up the sums before its own, so there are sums of all blocks
        // even when there is one block.
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

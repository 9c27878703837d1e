//! Makes storage buffers, checked against what the device can hold, and names them.

use wgpu::BufferUsages;

use super::named_buffers::NamedBuffers;
use super::shader::constants::SCAN_BLOCK;
use super::shader::layout::Element;
use crate::Error;

/// A table of words to replace by their prefix sums, with the memory that this takes: the sums
/// of its blocks, the sums of the blocks of these sums, and so on, up to sums of one block.
pub(crate) struct ScanTable {
    pub(crate) levels: Vec<ScanLevel>,
}

/// The table itself, or sums of blocks.
pub(crate) struct ScanLevel {
    pub(crate) words: u64,
    /// Has room for whole vectors of four words.
    pub(crate) buffer: wgpu::Buffer,
}

/// Makes storage buffers, and names them.
pub(crate) struct Allocator<'a> {
    pub(crate) device: &'a wgpu::Device,
    pub(crate) limits: &'a wgpu::Limits,
    /// What has been made.
    pub(crate) named: NamedBuffers,
    /// Bytes of all that has been made.
    pub(crate) bytes: u64,
    /// All buffers, for tests to fill them with noise.
    #[cfg(test)]
    pub(crate) all: Vec<wgpu::Buffer>,
}

/// Checks that a buffer can be made and bound.
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
        // No binding is empty.
        let size = count.max(1).saturating_mul(size_of::<T>() as u64);
        check(self.limits, what, size)?;
        // Tests fill them with noise, and read them.
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

    /// A buffer of so many values that has no name of its own. `what` is for people.
    pub(crate) fn nameless<T: Element>(
        &mut self,
        what: &'static str,
        count: u64,
    ) -> Result<wgpu::Buffer, Error> {
        self.buffer::<T>(what, count, BufferUsages::empty())
    }

    /// A buffer of so many values.
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

    /// A buffer of one value.
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

    /// A table of `words` to scan. Only the words themselves have the name.
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

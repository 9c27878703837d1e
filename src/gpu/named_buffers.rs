//! Buffers under the names that shaders have for them.

use std::num::NonZeroU64;

use super::shader::bindings::Kind;
use super::shader::layout::Element;
use crate::Error;

/// A buffer, or a range of one, under a name.
#[derive(Clone)]
struct Named {
    name: &'static str,
    kind: Kind,
    buffer: wgpu::Buffer,
    offset: u64,
    /// `None` up to the end.
    size: Option<NonZeroU64>,
}

/// Buffers under the names that shaders have for them. No name stands for two.
#[derive(Clone, Default)]
pub(crate) struct NamedBuffers(Vec<Named>);

impl NamedBuffers {
    fn add<T: Element>(&mut self, name: &'static str, is_array: bool, buffer: &wgpu::Buffer) {
        self.0.push(Named {
            name,
            kind: Kind {
                element: T::WGSL,
                is_array,
            },
            buffer: buffer.clone(),
            offset: 0,
            size: None,
        });
    }

    /// Names a buffer that holds one value.
    pub(crate) fn one<T: Element>(&mut self, name: &'static str, buffer: &wgpu::Buffer) {
        self.add::<T>(name, false, buffer);
    }

    /// Names a buffer that holds any number of values.
    pub(crate) fn array<T: Element>(&mut self, name: &'static str, buffer: &wgpu::Buffer) {
        self.add::<T>(name, true, buffer);
    }

    /// The same scope with one more name, for a buffer that holds any number of values.
    pub(crate) fn with<T: Element>(mut self, name: &'static str, buffer: &wgpu::Buffer) -> Self {
        self.array::<T>(name, buffer);
        self
    }

    /// Names one value that begins at an offset in bytes.
    pub(crate) fn one_at<T: Element>(
        &mut self,
        name: &'static str,
        buffer: &wgpu::Buffer,
        offset: u64,
    ) {
        self.one::<T>(name, buffer);
        self.cut(offset, NonZeroU64::new(size_of::<T>() as u64));
    }

    /// Names the words in a range of a buffer, in bytes.
    pub(crate) fn words(&mut self, name: &'static str, buffer: &wgpu::Buffer, range: [u64; 2]) {
        let [offset, size] = range;
        self.array::<u32>(name, buffer);
        self.cut(offset, NonZeroU64::new(size));
    }

    /// Gives the name that was added last a range.
    fn cut(&mut self, offset: u64, size: Option<NonZeroU64>) {
        if let Some(named) = self.0.last_mut() {
            (named.offset, named.size) = (offset, size);
        }
    }

    /// The buffer of this name.
    pub(crate) fn buffer(&self, name: &str) -> Result<&wgpu::Buffer, Error> {
        Ok(&find(&[self], name)?.buffer)
    }
}

/// The only buffer of this name in all sources.
fn find<'a>(sources: &[&'a NamedBuffers], name: &str) -> Result<&'a Named, Error> {
    let mut found = sources
        .iter()
        .flat_map(|named| &named.0)
        .filter(|named| named.name == name);
    match (found.next(), found.next()) {
        (Some(named), None) => Ok(named),
        (None, _) => Err(Error::device(format!("carom has no buffer `{name}`"))),
        (Some(_), Some(_)) => Err(Error::device(format!("carom has two buffers `{name}`"))),
    }
}

/// What is bound to a variable of this name and type: the only buffer of that name in all
/// sources.
pub(crate) fn resolve<'a>(
    sources: &[&'a NamedBuffers],
    name: &str,
    kind: Kind,
) -> Result<wgpu::BufferBinding<'a>, Error> {
    let named = find(sources, name)?;
    if named.kind != kind {
        return Err(Error::device(format!(
            "carom's buffer `{name}` is {:?}, not {kind:?}",
            named.kind
        )));
    }
    Ok(wgpu::BufferBinding {
        buffer: &named.buffer,
        offset: named.offset,
        size: named.size,
    })
}

//! Finds a GPU buffer by the name of the shader variable to which it is bound.

use std::num::NonZeroU64;

use super::shader::bindings::BindingKind;
use super::shader::layout::Element;
use crate::Error;

#[derive(Clone)]
struct Named {
    name: &'static str,
    kind: BindingKind,
    buffer: wgpu::Buffer,
    offset: u64,
    /// In bytes. `None` up to the end of the buffer.
    size: Option<NonZeroU64>,
}

/// Buffers by the names of shader variables. A name that two buffers share is an error.
#[derive(Clone, Default)]
pub(crate) struct NamedBuffers(Vec<Named>);

impl NamedBuffers {
    fn add<T: Element>(&mut self, name: &'static str, is_array: bool, buffer: &wgpu::Buffer) {
        self.0.push(Named {
            name,
            kind: BindingKind {
                element: T::WGSL,
                is_array,
            },
            buffer: buffer.clone(),
            offset: 0,
            size: None,
        });
    }

    pub(crate) fn one<T: Element>(&mut self, name: &'static str, buffer: &wgpu::Buffer) {
        self.add::<T>(name, false, buffer);
    }

    pub(crate) fn array<T: Element>(&mut self, name: &'static str, buffer: &wgpu::Buffer) {
        self.add::<T>(name, true, buffer);
    }

    pub(crate) fn with<T: Element>(mut self, name: &'static str, buffer: &wgpu::Buffer) -> Self {
        self.array::<T>(name, buffer);
        self
    }

    /// Binds only the value at byte `offset`.
    pub(crate) fn one_at<T: Element>(
        &mut self,
        name: &'static str,
        buffer: &wgpu::Buffer,
        offset: u64,
    ) {
        self.one::<T>(name, buffer);
        self.cut(offset, NonZeroU64::new(size_of::<T>() as u64));
    }

    /// Binds a part, as an array of 32-bit words. `range` is its offset and size in bytes.
    pub(crate) fn words(&mut self, name: &'static str, buffer: &wgpu::Buffer, range: [u64; 2]) {
        let [offset, size] = range;
        self.array::<u32>(name, buffer);
        self.cut(offset, NonZeroU64::new(size));
    }

    /// For each pair of `stand_ins`, binds the first variable to the buffer of the second.
    pub(crate) fn with_stand_ins(
        &self,
        stand_ins: &[(&'static str, &'static str)],
    ) -> Result<Self, Error> {
        let mut named = self.clone();
        for &(name, other) in stand_ins {
            let found = find(&[self], other)?.clone();
            named.0.retain(|named| named.name != name);
            named.0.push(Named { name, ..found });
        }
        Ok(named)
    }

    fn cut(&mut self, offset: u64, size: Option<NonZeroU64>) {
        if let Some(named) = self.0.last_mut() {
            (named.offset, named.size) = (offset, size);
        }
    }

    /// Fails unless exactly one buffer has this name.
    pub(crate) fn buffer(&self, name: &str) -> Result<&wgpu::Buffer, Error> {
        Ok(&find(&[self], name)?.buffer)
    }
}

fn find<'a>(sources: &[&'a NamedBuffers], name: &str) -> Result<&'a Named, Error> {
    let mut found = sources
        .iter()
        .flat_map(|named| &named.0)
        .filter(|named| named.name == name);
    match (found.next(), found.next()) {
        (Some(named), None) => Ok(named),
        (None, _) => Err(Error::device(format!("carom has no `{name}` buffer"))),
        (Some(_), Some(_)) => Err(Error::device(format!("carom has two `{name}` buffers"))),
    }
}

/// Fails unless exactly one buffer of all `sources` has this name and the type `kind`.
pub(crate) fn resolve<'a>(
    sources: &[&'a NamedBuffers],
    name: &str,
    kind: BindingKind,
) -> Result<wgpu::BufferBinding<'a>, Error> {
    let named = find(sources, name)?;
    if named.kind != kind {
        return Err(Error::device(format!(
            "carom's buffer `{name}` has the type {:?}, but the shader declares {kind:?}",
            named.kind
        )));
    }
    Ok(wgpu::BufferBinding {
        buffer: &named.buffer,
        offset: named.offset,
        size: named.size,
    })
}

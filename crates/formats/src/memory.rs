//! Allocations that return an error if memory runs out. The tool `carom` uses them, too.

use std::io::{self, ErrorKind, Write};

use crate::error::{Error, Result};

/// Makes room for `count` more items of `what`.
///
/// # Errors
/// Returns an error if the memory does not suffice.
pub fn reserve<T>(list: &mut Vec<T>, count: usize, what: &str) -> Result<()> {
    list.try_reserve(count).map_err(|_| out_of_memory(what))
}

/// Adds an item to a list of `what`.
///
/// # Errors
/// Returns an error if the memory does not suffice.
pub fn push<T>(list: &mut Vec<T>, item: T, what: &str) -> Result<()> {
    if list.len() == list.capacity() {
        reserve(list, 1, what)?;
    }
    list.push(item);
    Ok(())
}

/// Returns a list of `what`.
///
/// # Errors
/// Returns an error if the memory does not suffice.
pub fn collect<T>(items: impl IntoIterator<Item = T>, what: &str) -> Result<Vec<T>> {
    let items = items.into_iter();
    let mut list = Vec::new();
    reserve(&mut list, items.size_hint().0, what)?;
    for item in items {
        push(&mut list, item, what)?;
    }
    Ok(list)
}

/// Returns the error for `what` that does not fit in memory.
pub fn out_of_memory(what: &str) -> Error {
    let cause = io::Error::from(ErrorKind::OutOfMemory);
    Error::caused(format!("there is not enough memory for {what}"), cause)
}

/// Writes to a list, whose own writer would end the program if memory runs out.
pub(crate) struct Growing<'a>(pub(crate) &'a mut Vec<u8>);

impl Write for Growing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.0.try_reserve(bytes.len());
        room.map_err(|_| io::Error::from(ErrorKind::OutOfMemory))?;
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

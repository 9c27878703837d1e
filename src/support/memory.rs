//! Allocations that return an error if memory runs out.

use bytemuck::Zeroable;
use rayon::prelude::*;

use crate::Error;

pub(crate) const LIST: &str = "the list of collisions";

pub(crate) fn allocate<T>(count: usize, what: &'static str) -> Result<Vec<T>, Error> {
    let mut vector = Vec::new();
    match vector.try_reserve_exact(count) {
        Ok(()) => Ok(vector),
        Err(_) => Err(out_of_memory::<T>(count, what)),
    }
}

/// The values are unspecified.
pub(crate) fn resized<'a, T: Zeroable + Clone>(
    used: &'a mut Vec<T>,
    count: usize,
    what: &'static str,
) -> Result<&'a mut [T], Error> {
    if used.capacity() < count {
        // So that old and new memory need not fit at the same time.
        *used = Vec::new();
        // The number of items varies a little from step to step.
        let room = count + count / 32 + 4 * count.isqrt();
        // On systems that provide zeroed pages, this writes nothing.
        *used = bytemuck::try_zeroed_vec(room).map_err(|()| out_of_memory::<T>(room, what))?;
    }
    used.resize(count, T::zeroed());
    Ok(used)
}

/// Makes room for `count` more items.
pub(crate) fn reserve<T>(list: &mut Vec<T>, count: usize, what: &'static str) -> Result<(), Error> {
    let reserved = list.try_reserve(count);
    reserved.map_err(|_| out_of_memory::<T>(list.len().saturating_add(count), what))
}

pub(crate) fn push<T>(list: &mut Vec<T>, item: T, what: &'static str) -> Result<(), Error> {
    if list.len() == list.capacity() {
        reserve(list, 1, what)?;
    }
    list.push(item);
    Ok(())
}

pub(crate) fn extend<T>(
    list: &mut Vec<T>,
    items: impl IntoIterator<Item = T>,
    what: &'static str,
) -> Result<(), Error> {
    let items = items.into_iter();
    reserve(list, items.size_hint().0, what)?;
    for item in items {
        push(list, item, what)?;
    }
    Ok(())
}

pub(crate) fn collect<T>(
    items: impl IntoIterator<Item = T>,
    what: &'static str,
) -> Result<Vec<T>, Error> {
    let mut list = Vec::new();
    extend(&mut list, items, what)?;
    Ok(list)
}

/// Does the same as [`collect`] on several threads.
pub(crate) fn collect_in_parallel<T: Send>(
    items: impl IndexedParallelIterator<Item = T>,
    what: &'static str,
) -> Result<Vec<T>, Error> {
    let mut list = allocate(items.len(), what)?;
    items.collect_into_vec(&mut list);
    Ok(list)
}

/// Returns the items of all lists, or the first error.
pub(crate) fn joined<T>(
    lists: Vec<Result<Vec<T>, Error>>,
    what: &'static str,
) -> Result<Vec<T>, Error> {
    let mut all = Vec::new();
    for list in lists {
        extend(&mut all, list?, what)?;
    }
    Ok(all)
}

pub(crate) fn filled<T: Clone>(count: usize, item: T, what: &'static str) -> Result<Vec<T>, Error> {
    let mut list = allocate(count, what)?;
    list.resize(count, item);
    Ok(list)
}

pub(crate) fn copied<T: Copy>(items: &[T], what: &'static str) -> Result<Vec<T>, Error> {
    let mut copy = allocate(items.len(), what)?;
    copy.extend_from_slice(items);
    Ok(copy)
}

pub(crate) fn out_of_memory<T>(count: usize, what: &'static str) -> Error {
    Error::OutOfMemory {
        what,
        needed: (count as u64).saturating_mul(size_of::<T>() as u64),
    }
}

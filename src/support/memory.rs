//! Allocations that return an error if memory runs out.

use bytemuck::Zeroable;

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

pub(crate) fn out_of_memory<T>(count: usize, what: &'static str) -> Error {
    Error::OutOfMemory {
        what,
        needed: (count as u64).saturating_mul(size_of::<T>() as u64),
    }
}

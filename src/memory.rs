//! Fallible allocations. The error says how much memory was needed.

use bytemuck::Zeroable;

use crate::Error;

/// Name of a list of collisions in an error message.
pub(crate) const LIST: &str = "the list of collisions";

/// Returns an empty vector with a capacity of `count` items, or [`Error::OutOfMemory`].
pub(crate) fn allocate<T>(count: usize, what: &'static str) -> Result<Vec<T>, Error> {
    let mut vector = Vec::new();
    match vector.try_reserve_exact(count) {
        Ok(()) => Ok(vector),
        Err(_) => Err(out_of_memory::<T>(count, what)),
    }
}

/// Resizes a reused vector to `count` items and returns it, or [`Error::OutOfMemory`]. The values
/// of the items are unspecified.
pub(crate) fn resized<'a, T: Zeroable + Clone>(
    used: &'a mut Vec<T>,
    count: usize,
    what: &'static str,
) -> Result<&'a mut [T], Error> {
    if used.capacity() < count {
        // Frees the old memory before the new is allocated.
        *used = Vec::new();
        // Some spare capacity, because the numbers of a moving world vary from step to step.
        let room = count + count / 32 + 4 * count.isqrt();
        // Where the system returns zeroed pages, this writes nothing.
        *used = bytemuck::try_zeroed_vec(room).map_err(|()| out_of_memory::<T>(room, what))?;
    }
    used.resize(count, T::zeroed());
    Ok(used)
}

/// Returns the error for a vector of `count` items that could not be allocated.
pub(crate) fn out_of_memory<T>(count: usize, what: &'static str) -> Error {
    Error::OutOfMemory {
        what,
        needed: (count as u64).saturating_mul(size_of::<T>() as u64),
    }
}

//! Allocations that may fail, with an error that tells how much memory was needed.

use bytemuck::Zeroable;

use crate::Error;

/// The name of a list of collisions, in an error.
pub(crate) const LIST: &str = "the list of collisions";

/// An empty vector with room for `count` items, or an error that says that memory is short.
pub(crate) fn allocate<T>(count: usize, what: &'static str) -> Result<Vec<T>, Error> {
    let mut vector = Vec::new();
    match vector.try_reserve_exact(count) {
        Ok(()) => Ok(vector),
        Err(_) => Err(out_of_memory::<T>(count, what)),
    }
}

/// A vector that was used before, with `count` items now, whatever they hold, or an error
/// that says that memory is short.
pub(crate) fn resized<'a, T: Zeroable + Clone>(
    used: &'a mut Vec<T>,
    count: usize,
    what: &'static str,
) -> Result<&'a mut [T], Error> {
    if used.capacity() < count {
        // So that the old memory is not held beside the new.
        *used = Vec::new();
        // A little more, for worlds that grow with every step, or change by chance.
        let room = count + count / 32 + 4 * count.isqrt();
        // Zeros as the system gives them, where it does.
        *used = bytemuck::try_zeroed_vec(room).map_err(|()| out_of_memory::<T>(room, what))?;
    }
    used.resize(count, T::zeroed());
    Ok(used)
}

/// The error for a vector of `count` items that there is no room for.
pub(crate) fn out_of_memory<T>(count: usize, what: &'static str) -> Error {
    Error::OutOfMemory {
        what,
        needed: (count as u64).saturating_mul(size_of::<T>() as u64),
    }
}

//! Memory that is reused from step to step, so that a step like the ones before it allocates
//! nothing.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytemuck::Zeroable;

use crate::Error;
use crate::memory::resized;

/// A vector whose memory is kept from one use to the next. Its items are not.
#[derive(Debug)]
pub(crate) struct ReusedVec<T> {
    items: Vec<T>,
    /// Uses in a row for which the vector was oversized.
    oversized_uses: u32,
}

impl<T> Default for ReusedVec<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            oversized_uses: 0,
        }
    }
}

impl<T> ReusedVec<T> {
    /// A vector is oversized when its capacity exceeds this many times the number of items
    /// needed.
    const OVERSIZED: usize = 16;
    /// A use needs at least this many items, as far as [`OVERSIZED`](Self::OVERSIZED) goes.
    const MIN_NEEDED: usize = 1 << 8;
    /// An oversized vector is freed after this many uses in a row. There may be hundreds of
    /// uses in one step, of which a single one needs all of the memory; and a vector of a
    /// [`ScratchPool`] rests whenever another one is taken.
    const MAX_OVERSIZED_USES: u32 = 1 << 12;

    /// The vector without its items.
    pub(crate) fn empty(&mut self) -> &mut Vec<T> {
        self.judge(self.items.len(), Self::MIN_NEEDED);
        self.items.clear();
        &mut self.items
    }

    /// Replaces the items.
    pub(crate) fn refill(&mut self, items: impl Iterator<Item = T>) -> &mut [T] {
        self.empty().extend(items);
        &mut self.items
    }

    /// Counts a use that needs no item. The items stay.
    pub(crate) fn rest(&mut self) {
        self.judge(0, 0);
    }

    /// Bytes of its capacity.
    pub(crate) fn bytes(&self) -> usize {
        self.items.capacity() * size_of::<T>()
    }

    /// Counts a use that needs `count` items, but at least `min`; frees the memory if the
    /// vector has been oversized for long.
    fn judge(&mut self, count: usize, min: usize) {
        if self.items.capacity() / Self::OVERSIZED <= count.max(min) {
            self.oversized_uses = 0;
        } else if self.oversized_uses < Self::MAX_OVERSIZED_USES {
            self.oversized_uses += 1;
        } else {
            *self = Self::default();
        }
    }
}

impl<T: Zeroable + Clone> ReusedVec<T> {
    /// The first `count` items, whatever they hold, or an error that says that memory is
    /// short. The vector may have more, from before, so that none has to be filled again.
    pub(crate) fn enough(&mut self, count: usize, what: &'static str) -> Result<&mut [T], Error> {
        self.judge(count, Self::MIN_NEEDED);
        if self.items.len() < count {
            resized(&mut self.items, count, what)?;
        }
        Ok(&mut self.items[..count])
    }
}

impl<T> Deref for ReusedVec<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.items
    }
}

impl<T> DerefMut for ReusedVec<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.items
    }
}

/// A pool of vectors for tasks that run one after another or side by side: as many vectors
/// as there have been tasks at once.
#[derive(Debug)]
pub(crate) struct ScratchPool<T>(Mutex<Vec<ReusedVec<T>>>);

impl<T> Default for ScratchPool<T> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<T> ScratchPool<T> {
    /// A vector that no other task has.
    pub(crate) fn take(&self) -> ScratchGuard<'_, T> {
        let mut unused = self.unused();
        let vector = unused.pop().unwrap_or_default();
        unused.iter_mut().for_each(ReusedVec::rest);
        ScratchGuard { pool: self, vector }
    }

    /// Bytes of the vectors that no task has.
    pub(crate) fn bytes(&self) -> usize {
        self.unused().iter().map(ReusedVec::bytes).sum()
    }

    fn unused(&self) -> MutexGuard<'_, Vec<ReusedVec<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A vector of a [`ScratchPool`], which goes back when the guard is dropped.
pub(crate) struct ScratchGuard<'a, T> {
    pool: &'a ScratchPool<T>,
    vector: ReusedVec<T>,
}

impl<T> Drop for ScratchGuard<'_, T> {
    fn drop(&mut self) {
        self.pool.unused().push(std::mem::take(&mut self.vector));
    }
}

impl<T> Deref for ScratchGuard<'_, T> {
    type Target = ReusedVec<T>;

    fn deref(&self) -> &ReusedVec<T> {
        &self.vector
    }
}

impl<T> DerefMut for ScratchGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut ReusedVec<T> {
        &mut self.vector
    }
}

//! Memory that carom keeps from step to step, so that similar steps allocate nothing.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytemuck::Zeroable;

use crate::Error;
use crate::memory::resized;

/// A vector that keeps its memory from use to use. Its items at first have unspecified values.
#[derive(Debug)]
pub(crate) struct ReusedVec<T> {
    items: Vec<T>,
    /// Number of successive uses, up to the latest, that needed only a small part of the vector's
    /// memory.
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
    /// A reused vector is oversized if its capacity is more than this many times the number of
    /// items needed.
    const OVERSIZED: usize = 16;
    /// A use of a reused vector that needs fewer items than this is treated as if it needed this
    /// number of items. So a small vector in use never counts as oversized. The method
    /// [`rest`](Self::rest) is different: it records that the vector is not needed, which counts as
    /// a need for 0 items.
    const MIN_NEEDED: usize = 1 << 8;
    /// A reused vector is freed if it was oversized in more than this number of successive uses. The number
    /// is large, because one step may use a vector hundreds of times and need all of its memory only once.
    const MAX_OVERSIZED_USES: u32 = 1 << 12;

    /// Clears the vector for a new use and returns it. Before that, records how many items the previous use
    /// needed: the number that the vector has. The vector is freed if it has been too large for many uses.
    pub(crate) fn empty(&mut self) -> &mut Vec<T> {
        self.judge(self.items.len(), Self::MIN_NEEDED);
        self.items.clear();
        &mut self.items
    }

    pub(crate) fn refill(&mut self, items: impl Iterator<Item = T>) -> &mut [T] {
        self.empty().extend(items);
        &mut self.items
    }

    /// Records that a vector, kept from earlier steps, is not needed now. If the vector has been
    /// too large for many uses, its memory is freed. Otherwise, it keeps its items.
    pub(crate) fn rest(&mut self) {
        self.judge(0, 0);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.items.capacity() * size_of::<T>()
    }

    /// Records a use of the vector that needs `count` items. If `count` is less than `min`, the use
    /// counts as one that needs `min` items. Frees the vector's memory if the vector has been
    /// oversized in this use and in all of the previous
    /// [`MAX_OVERSIZED_USES`](Self::MAX_OVERSIZED_USES) uses.
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
    /// Returns the first `count` items of the vector, which grows if it is shorter, or
    /// [`Error::OutOfMemory`]. The items have unspecified values, some of them from earlier uses.
    /// The vector is never shortened, because items that are cut off would later be initialized
    /// again.
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

/// A pool of vectors for parallel tasks. It has as many vectors as there were tasks at the same
/// time.
#[derive(Debug)]
pub(crate) struct ScratchPool<T>(Mutex<Vec<ReusedVec<T>>>);

impl<T> Default for ScratchPool<T> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<T> ScratchPool<T> {
    /// Takes a vector from the pool for one task. The vectors that remain in the pool count as unused
    /// ([`rest`](ReusedVec::rest)). The memory of a vector that often remains unused is freed.
    pub(crate) fn take(&self) -> ScratchGuard<'_, T> {
        let mut unused = self.unused();
        let vector = unused.pop().unwrap_or_default();
        unused.iter_mut().for_each(ReusedVec::rest);
        ScratchGuard { pool: self, vector }
    }

    /// Returns the size in bytes of the vectors that no task is using.
    pub(crate) fn bytes(&self) -> usize {
        self.unused().iter().map(ReusedVec::bytes).sum()
    }

    fn unused(&self) -> MutexGuard<'_, Vec<ReusedVec<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A vector from a [`ScratchPool`], which returns to the pool when this guard is dropped.
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

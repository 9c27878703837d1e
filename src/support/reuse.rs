//! Memory that carom keeps from step to step, so that similar steps allocate nothing.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytemuck::Zeroable;

use crate::Error;
use crate::memory::{self, resized};

/// Its items at first have unspecified values.
#[derive(Debug)]
pub(crate) struct ReusedVec<T> {
    items: Vec<T>,
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
    /// Oversized is a capacity of more than this many times the number of items needed.
    const OVERSIZED: usize = 16;
    /// Fewer items count as this number, so that a small vector in use is never oversized.
    /// [`rest`](Self::rest) counts as a need for 0.
    const MIN_NEEDED: usize = 1 << 8;
    /// After so many oversized uses in a row, a vector is freed. One step may use it
    /// hundreds of times and need all of it only once.
    const MAX_OVERSIZED_USES: u32 = 1 << 12;

    /// Clears the vector for a new use. The previous use needed the items that it has.
    pub(crate) fn empty(&mut self) -> &mut Vec<T> {
        self.judge(self.items.len(), Self::MIN_NEEDED);
        self.items.clear();
        &mut self.items
    }

    pub(crate) fn refill(&mut self, items: impl Iterator<Item = T>) -> &mut [T] {
        self.empty().extend(items);
        &mut self.items
    }

    /// Makes room for `count` items of the next use.
    pub(crate) fn room(&mut self, count: usize, what: &'static str) -> Result<(), Error> {
        let more = count.saturating_sub(self.items.len());
        memory::reserve(&mut self.items, more, what)
    }

    /// The vector is not needed now. Unless it is freed, it keeps its items.
    pub(crate) fn rest(&mut self) {
        self.judge(0, 0);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.items.capacity() * size_of::<T>()
    }

    /// Records a use that needs `count` items, or `min` if that is more.
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
    /// The first `count` items have unspecified values. The vector is never shortened,
    /// because items that are cut off would later be initialized again.
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

/// As many vectors as there were tasks at the same time.
#[derive(Debug)]
pub(crate) struct ScratchPool<T>(Mutex<Vec<ReusedVec<T>>>);

impl<T> Default for ScratchPool<T> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<T> ScratchPool<T> {
    /// Those that remain count as unused ([`rest`](ReusedVec::rest)).
    pub(crate) fn take(&self) -> ScratchGuard<'_, T> {
        let mut unused = self.unused();
        let vector = unused.pop().unwrap_or_default();
        unused.iter_mut().for_each(ReusedVec::rest);
        ScratchGuard { pool: self, vector }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.unused().iter().map(ReusedVec::bytes).sum()
    }

    fn unused(&self) -> MutexGuard<'_, Vec<ReusedVec<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns to the pool when it is dropped.
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

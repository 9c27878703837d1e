//! Memory that is kept from step to step, so that a step like those before it allocates
//! nothing.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytemuck::Zeroable;

use crate::Error;
use crate::memory::resized;

/// A vector whose memory is kept from one use to the next, but not what is in it.
#[derive(Debug)]
pub(crate) struct ReusedVec<T> {
    items: Vec<T>,
    /// Uses in a row for which it was far too large.
    idle: u32,
}

impl<T> Default for ReusedVec<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            idle: 0,
        }
    }
}

impl<T> ReusedVec<T> {
    /// Far too large is more than so many times as large as needed. So many items count as
    /// needed whenever it is used at all.
    const FAR_TOO_LARGE: usize = 16;
    const WORTH: usize = 1 << 8;
    /// After so many uses in a row it is let go. Many, for in one step there may be hundreds,
    /// of which one needs it all; and a piece of [`ScratchPool`] rests when another is taken.
    const PATIENCE: u32 = 1 << 12;

    /// Empties it, to be filled anew.
    pub(crate) fn empty(&mut self) -> &mut Vec<T> {
        self.judge(self.items.len(), Self::WORTH);
        self.items.clear();
        &mut self.items
    }

    /// Fills it anew.
    pub(crate) fn refill(&mut self, items: impl Iterator<Item = T>) -> &mut [T] {
        self.empty().extend(items);
        &mut self.items
    }

    /// Leaves it as it is once more, without a use for it.
    pub(crate) fn rest(&mut self) {
        self.judge(0, 0);
    }

    /// Bytes of it.
    pub(crate) fn bytes(&self) -> usize {
        self.items.capacity() * size_of::<T>()
    }

    /// Counts a use for `count` items, of which `worth` are taken for needed in any case; lets
    /// it go if it has been far too large for long.
    fn judge(&mut self, count: usize, worth: usize) {
        if self.items.capacity() / Self::FAR_TOO_LARGE <= count.max(worth) {
            self.idle = 0;
        } else if self.idle < Self::PATIENCE {
            self.idle += 1;
        } else {
            *self = Self::default();
        }
    }
}

impl<T: Zeroable + Clone> ReusedVec<T> {
    /// `count` elements, or an error that says that memory is short. There may be more,
    /// from before, so that none has to be filled when more are asked for again.
    pub(crate) fn enough(&mut self, count: usize, what: &'static str) -> Result<&mut [T], Error> {
        self.judge(count, Self::WORTH);
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

/// Memory for what tasks work on one after another: as many pieces as there have been
/// tasks at once.
#[derive(Debug)]
pub(crate) struct ScratchPool<T>(Mutex<Vec<ReusedVec<T>>>);

impl<T> Default for ScratchPool<T> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<T> ScratchPool<T> {
    /// One that no other task has.
    pub(crate) fn take(&self) -> ScratchGuard<'_, T> {
        let mut pieces = self.pieces();
        let kept = pieces.pop().unwrap_or_default();
        pieces.iter_mut().for_each(ReusedVec::rest);
        ScratchGuard {
            scratch: self,
            kept,
        }
    }

    /// Bytes of those that no task has.
    pub(crate) fn bytes(&self) -> usize {
        self.pieces().iter().map(ReusedVec::bytes).sum()
    }

    fn pieces(&self) -> MutexGuard<'_, Vec<ReusedVec<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One piece of it, which goes back when it is dropped.
pub(crate) struct ScratchGuard<'a, T> {
    scratch: &'a ScratchPool<T>,
    kept: ReusedVec<T>,
}

impl<T> Drop for ScratchGuard<'_, T> {
    fn drop(&mut self) {
        self.scratch.pieces().push(std::mem::take(&mut self.kept));
    }
}

impl<T> Deref for ScratchGuard<'_, T> {
    type Target = ReusedVec<T>;

    fn deref(&self) -> &ReusedVec<T> {
        &self.kept
    }
}

impl<T> DerefMut for ScratchGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut ReusedVec<T> {
        &mut self.kept
    }
}

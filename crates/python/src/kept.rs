//! Values of Python objects that calls change, one call at a time.

use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};

use crate::errors::Unusable;
use crate::pool::is_in_callback;

/// A value that one call at a time may use.
///
/// The lock is only taken while the interpreter is detached. A thread that waited for it while attached would keep the
/// holder from attaching again.
pub(crate) struct Kept<T> {
    /// The process that holds the lock, or 0. A fork may copy a locked lock, whose holder does not exist in the child.
    holder: AtomicU32,
    value: Mutex<T>,
}

impl<T> Kept<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            holder: AtomicU32::new(0),
            value: Mutex::new(value),
        }
    }

    /// Calls `work` with the value, alone.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> Result<R, Unusable> {
        let mut guard = self.lock()?;
        self.holder.store(process::id(), Ordering::Release);
        let done = work(&mut guard);
        self.holder.store(0, Ordering::Release);
        Ok(done)
    }

    fn lock(&self) -> Result<MutexGuard<'_, T>, Unusable> {
        if is_in_callback() {
            return Err(Unusable::InCallback);
        }
        match self.value.try_lock() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::Poisoned(_)) => Err(Unusable::Broken),
            Err(TryLockError::WouldBlock) => {
                let holder = self.holder.load(Ordering::Acquire);
                if holder != 0 && holder != process::id() {
                    return Err(Unusable::Forked);
                }
                self.value.lock().map_err(|_| Unusable::Broken)
            }
        }
    }
}

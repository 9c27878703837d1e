//! Results that arrive some frames late, with the application's own submits.

use std::fmt::{Debug, Formatter};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::task::Poll;

use super::decode::{Read, ReadRoom, Recorded};
use super::staging::{Copied, CopyState};
use super::status::Status;
use crate::Error;

/// The answer of a [`Ticket`].
#[derive(Debug)]
pub enum Readback<T> {
    /// The results are not there: the device has not come so far, or nothing has
    /// polled it since. Ask this ticket again.
    Pending(Ticket<T>),
    /// The results.
    Ready(T),
}

/// The number of pairs in the latest step that was read, once a step was read.
#[derive(Clone)]
pub(super) struct KnownPairs(Arc<AtomicU64>);

const UNKNOWN: u64 = u64::MAX;

impl Default for KnownPairs {
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(UNKNOWN)))
    }
}

impl KnownPairs {
    pub(super) fn get(&self) -> Option<u64> {
        Some(self.0.load(SeqCst)).filter(|&known| known != UNKNOWN)
    }
}

/// The results of one step, once the device is through with it. The application's
/// submit maps them, and they arrive when the device is polled, which each later submit
/// does too: an application that keeps two frames in flight has them two frames late.
///
/// Dropping a ticket is safe.
pub struct Ticket<T> {
    copied: Copied,
    recorded: Recorded,
    room: ReadRoom,
    known: KnownPairs,
    decode: fn(Read) -> Result<T, Error>,
}

impl<T> Debug for Ticket<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ticket")
            .field("step", &self.recorded.serial)
            .finish_non_exhaustive()
    }
}

impl<T> Ticket<T> {
    pub(super) fn new(
        copied: Copied,
        recorded: Recorded,
        room: ReadRoom,
        known: KnownPairs,
        decode: fn(Read) -> Result<T, Error>,
    ) -> Self {
        Self {
            copied,
            recorded,
            room,
            known,
            decode,
        }
    }

    /// The results, if they are there. Never blocks, and never polls the device.
    ///
    /// # Errors
    /// [`Error::NotSubmitted`] if the recording's encoder was dropped or its submit
    /// failed, [`Error::DeviceLost`], [`Error::TooManyCandidates`] for a world too
    /// crowded; [`Error::OutOfMemory`].
    pub fn try_take(self) -> Result<Readback<T>, Error> {
        match self.copied.progress() {
            CopyState::UnderWay => Ok(Readback::Pending(self)),
            _ => self.arrived().map(Readback::Ready),
        }
    }

    /// Waits for the results without blocking the thread. Natively somebody has to
    /// poll the device (each submit does) or nothing arrives; a browser does so itself.
    ///
    /// # Errors
    /// As [`try_take`](Self::try_take).
    pub async fn take(self) -> Result<T, Error> {
        poll_fn(
            |context| match self.copied.progress_or_wake(context.waker()) {
                CopyState::UnderWay => Poll::Pending,
                _ => Poll::Ready(()),
            },
        )
        .await;
        self.arrived()
    }

    /// The results of a copy that is no longer under way.
    fn arrived(self) -> Result<T, Error> {
        match self.copied.progress() {
            CopyState::NeverSubmitted => return Err(Error::NotSubmitted),
            CopyState::Mapped => {}
            CopyState::UnderWay | CopyState::Failed => return Err(Error::DeviceLost),
        }
        let read = Read::new(&self.copied.bytes()?, &self.recorded, self.room)?;
        if read.serial != self.recorded.serial {
            return Err(Error::NotSubmitted);
        }
        let uncounted = Status::INCOMPLETE - Status::TRUNCATED;
        if !read.summary.status.intersects(uncounted) {
            self.known.0.store(read.summary.found, SeqCst);
        }
        let decode = self.decode;
        // Decoding may take long; the staging buffer is free from here on.
        drop(self);
        decode(read)
    }
}

//! Tickets: readbacks in flight. Their results arrive when the device has executed the application's
//! submission.

use std::fmt::{Debug, Formatter};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::task::Poll;

use super::decode::{Read, ReadRoom, Recorded};
use super::staging::{Copied, CopyState};
use super::status::Status;
use crate::Error;

/// The result of [`Ticket::try_take`].
#[derive(Debug)]
pub enum Readback<T> {
    /// The results have not arrived: the device has not finished the step, or has not been polled
    /// since it finished. Call [`Ticket::try_take`] on this ticket again later.
    Pending(Ticket<T>),
    /// The results.
    Ready(T),
}

/// The number of pairs found in the latest step that was read back, shared by the buffers of a
/// world and their tickets. Unknown before the first readback.
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

/// A readback in flight: the results of one step, which arrive after the device has finished it.
///
/// The application's submission maps the results. The results arrive when the device is polled, and
/// each later submission also polls the device. An application that keeps two frames in flight
/// therefore receives the results two frames late.
///
/// Dropping a ticket discards its results and is safe at any time.
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

    /// Returns the results if they have arrived, or else this ticket. Never blocks, and never polls
    /// the device.
    ///
    /// # Errors
    /// - [`Error::NotSubmitted`] if the encoder of the recording or of the readback was dropped, or
    ///   if its submission failed.
    /// - [`Error::DeviceLost`] if the device is lost.
    /// - [`Error::OutOfMemory`] if the host cannot hold the results.
    ///
    /// A ticket for a list of pairs has these errors too:
    ///
    /// - [`Error::TooManyCandidates`] if the step has more candidates than
    ///   [`BufferOptions::max_candidates`](super::BufferOptions::max_candidates).
    /// - [`Error::SourceBuffer`] if a count of spheres in a buffer exceeds its `at_most` although
    ///   the buffers have room for all spheres.
    /// - [`Error::DeviceLimit`] if the device's limits do not allow reading so many pairs back.
    /// - [`Error::Device`] if the driver ended loops of a shader early.
    pub fn try_take(self) -> Result<Readback<T>, Error> {
        match self.copied.progress() {
            CopyState::UnderWay => Ok(Readback::Pending(self)),
            _ => self.arrived().map(Readback::Ready),
        }
    }

    /// Waits for the results without blocking the thread, and returns them.
    ///
    /// On native targets the results arrive only while the application polls the device. Each
    /// submission polls the device, too. A browser polls the device itself.
    ///
    /// # Errors
    /// The same as those of [`try_take`](Self::try_take).
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

    /// Decodes the results of the copy, which must no longer be in flight.
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
        // Decoding may take long, so the staging buffer is released first.
        drop(self);
        decode(read)
    }
}

//! Tickets for readbacks in flight, whose results arrive when the device has executed the
//! application's submission.

use std::fmt::{Debug, Formatter};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::task::Poll;

use super::staging::{Copied, CopyState};
use crate::Error;

/// What [`Ticket::try_take`] returns: the results of a readback if they have arrived on the host,
/// and otherwise the ticket (the readback in flight).
#[derive(Debug)]
pub enum Readback<T> {
    /// The results have not arrived yet: the device has not finished the step, or has not been
    /// polled since. Call [`Ticket::try_take`] on this ticket again later.
    Pending(Ticket<T>),
    /// The results of the readback, which have arrived on the host.
    Ready(T),
}

/// Number of entries in a list of results, as of the latest readback. All tickets for the same GPU buffers
/// share this number. It is unknown before the first readback.
#[derive(Clone)]
pub(super) struct KnownCount(Arc<AtomicU64>);

const UNKNOWN: u64 = u64::MAX;

impl Default for KnownCount {
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(UNKNOWN)))
    }
}

impl KnownCount {
    pub(super) fn get(&self) -> Option<u64> {
        Some(self.0.load(SeqCst)).filter(|&known| known != UNKNOWN)
    }

    pub(super) fn set(&self, known: u64) {
        self.0.store(known, SeqCst);
    }
}

/// Number of pairs, and of wall collisions, of the latest step that was read back.
#[derive(Clone, Default)]
pub(super) struct Known {
    pub(super) pairs: KnownCount,
    pub(super) walls: KnownCount,
}

/// A readback in flight: the results of one step, or the state of a simulation after one recording. They arrive
/// after the device has finished the step or recording.
///
/// The application's submission copies and maps the results. They arrive when the device is polled. Each
/// later submission also polls the device. So an application that has two frames in flight gets the results
/// two frames late.
///
/// Dropping a ticket discards its results, and is safe at any time.
pub struct Ticket<T> {
    copied: Copied,
    /// Serial number of the step or recording whose results are read back.
    serial: u32,
    decode: Decode<T>,
}

/// A function that makes the results of a readback from the bytes that the GPU has copied to a
/// staging buffer.
type Decode<T> = Box<dyn FnOnce(Copied) -> Result<T, Error> + Send + Sync>;

impl<T> Debug for Ticket<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ticket")
            .field("serial", &self.serial)
            .finish_non_exhaustive()
    }
}

impl<T> Ticket<T> {
    pub(super) fn new(
        copied: Copied,
        serial: u32,
        decode: impl FnOnce(Copied) -> Result<T, Error> + Send + Sync + 'static,
    ) -> Self {
        Self {
            copied,
            serial,
            decode: Box::new(decode),
        }
    }

    /// Returns the results if they have arrived, or else the ticket. Never blocks or polls the
    /// device.
    ///
    /// # Errors
    /// Returns one of these errors:
    /// - [`Error::NotSubmitted`] if the encoder of the recording or of the readback was dropped, or
    ///   if its submission failed.
    /// - [`Error::DeviceLost`] if the device is lost.
    /// - [`Error::OutOfMemory`] if the host cannot hold the results.
    ///
    /// A readback of a list of pairs can also return one of these errors:
    ///
    /// - [`Error::TooManyCandidates`] if the step has more candidates (pairs to test) than
    ///   [`BufferOptions::with_max_candidates`](super::BufferOptions::with_max_candidates).
    /// - [`Error::SourceBuffer`] if the number of spheres that the GPU read from a buffer exceeds
    ///   `at_most`, but not the capacity of carom's buffers.
    /// - [`Error::DeviceLimit`] if the step has more pairs than the device's limits allow to read
    ///   back.
    /// - [`Error::Device`] if the GPU driver ended loops of a shader early.
    pub fn try_take(self) -> Result<Readback<T>, Error> {
        match self.copied.progress() {
            CopyState::UnderWay => Ok(Readback::Pending(self)),
            _ => self.arrived().map(Readback::Ready),
        }
    }

    /// Waits for the results without blocking the thread, and returns them.
    ///
    /// On native targets the results arrive only while the application polls the device; each
    /// submission polls it too. A browser polls the device itself.
    ///
    /// # Errors
    /// Returns the same errors as [`try_take`](Self::try_take).
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

    fn arrived(self) -> Result<T, Error> {
        match self.copied.progress() {
            CopyState::NeverSubmitted => return Err(Error::NotSubmitted),
            CopyState::Mapped => {}
            CopyState::UnderWay | CopyState::Failed => return Err(Error::DeviceLost),
        }
        (self.decode)(self.copied)
    }
}

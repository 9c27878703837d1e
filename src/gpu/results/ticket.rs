//! Tickets for readbacks in flight, whose results arrive when the device has executed the
//! application's submission.

use std::fmt::{Debug, Formatter};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::task::Poll;

use super::staging::{Copied, CopyState};
use crate::Error;

/// As of the latest readback. All tickets for the same buffers share it.
#[derive(Clone)]
pub(crate) struct KnownCount(Arc<AtomicU64>);

const UNKNOWN: u64 = u64::MAX;

impl Default for KnownCount {
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(UNKNOWN)))
    }
}

impl KnownCount {
    pub(crate) fn get(&self) -> Option<u64> {
        Some(self.0.load(SeqCst)).filter(|&known| known != UNKNOWN)
    }

    pub(crate) fn set(&self, known: u64) {
        self.0.store(known, SeqCst);
    }
}

#[derive(Clone, Default)]
pub(crate) struct Known {
    pub(crate) pairs: KnownCount,
    pub(crate) grazing: KnownCount,
    pub(crate) walls: KnownCount,
}

/// A readback in flight: the results of one step, or the state of a simulation after one recording. They arrive
/// after the device has finished the step or recording.
///
/// The application's submission copies and maps the results. They arrive when the device is polled. Each
/// later submission also polls the device. So an application that has two frames in flight gets the results
/// two frames late.
///
/// A ticket returns its results or an error once. From then on, it returns [`Error::AlreadyTaken`]. Dropping a
/// ticket discards its results, and is safe at any time.
pub struct Ticket<T> {
    /// `None` after the ticket has returned results or an error.
    readback: Option<(Copied, Decode<T>)>,
    serial: u32,
}

type Decode<T> = Box<dyn FnOnce(Copied) -> Result<T, Error> + Send + Sync>;

impl<T> Debug for Ticket<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ticket")
            .field("serial", &self.serial)
            .finish_non_exhaustive()
    }
}

impl<T> Ticket<T> {
    pub(crate) fn new(
        copied: Copied,
        serial: u32,
        decode: impl FnOnce(Copied) -> Result<T, Error> + Send + Sync + 'static,
    ) -> Self {
        Self {
            readback: Some((copied, Box::new(decode))),
            serial,
        }
    }

    /// Returns the results if they have arrived, or else `None`. Never blocks or polls the device.
    ///
    /// `None` means that the device has not finished the step, or has not been polled since. Call
    /// this method again later. An error is final: a ticket that has returned one has no results.
    ///
    /// # Errors
    /// Returns one of these errors:
    /// - [`Error::AlreadyTaken`] if the ticket has already returned its results or an error.
    /// - [`Error::NotSubmitted`] if the encoder of the recording or of the readback was dropped, or
    ///   if its submission failed.
    /// - [`Error::DeviceLost`] if the device is lost.
    /// - [`Error::OutOfMemory`] if the host cannot hold the results.
    ///
    /// A readback of a list of pairs can also return one of these errors:
    ///
    /// - [`Error::Truncated`] instead of an incomplete list, if carom's buffers or the readback
    ///   have too little room for the list. [`grow`](crate::gpu::CollisionBuffers::grow) makes room for
    ///   later steps.
    /// - [`Error::TooManyCandidates`] if the step has more candidates than
    ///   [`BufferOptions::with_max_candidates`](crate::gpu::BufferOptions::with_max_candidates).
    /// - [`Error::SourceBuffer`] if the number of spheres that the GPU read from a buffer exceeds
    ///   the largest permitted number, but not the capacity of carom's buffers.
    /// - [`Error::DeviceLimit`] if the step has more pairs than the device's limits allow to read
    ///   back.
    /// - [`Error::Device`] if the GPU driver ended loops of a shader early.
    pub fn try_take(&mut self) -> Result<Option<T>, Error> {
        let (copied, _) = self.readback.as_ref().ok_or(Error::AlreadyTaken)?;
        match copied.progress() {
            CopyState::UnderWay => Ok(None),
            _ => self.arrived().map(Some),
        }
    }

    /// Waits for the results without blocking the thread, and returns them.
    ///
    /// On native targets the results arrive only while the application polls the device; each
    /// submission polls it too. A browser polls the device itself.
    ///
    /// # Errors
    /// Returns the same errors as [`try_take`](Self::try_take).
    pub async fn take(mut self) -> Result<T, Error> {
        let (copied, _) = self.readback.as_ref().ok_or(Error::AlreadyTaken)?;
        poll_fn(|context| match copied.progress_or_wake(context.waker()) {
            CopyState::UnderWay => Poll::Pending,
            _ => Poll::Ready(()),
        })
        .await;
        self.arrived()
    }

    fn arrived(&mut self) -> Result<T, Error> {
        let (copied, decode) = self.readback.take().ok_or(Error::AlreadyTaken)?;
        match copied.progress() {
            CopyState::NeverSubmitted => return Err(Error::NotSubmitted),
            CopyState::Mapped => {}
            CopyState::UnderWay | CopyState::Failed => return Err(Error::DeviceLost),
        }
        decode(copied)
    }
}

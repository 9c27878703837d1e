//! A progress bar for users at a terminal.

use std::io::{IsTerminal, stderr};
use std::thread;
use std::time::Duration;

use carom_formats::read;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Delay before the progress bar appears. Most runs end sooner.
const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);

/// A progress bar on standard error, shown only if standard error is a terminal. Dropping the value removes
/// the bar.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::hidden();
        if stderr().is_terminal() {
            let bar = bar.clone();
            // The bar ticks here, because indicatif panics if it can start no thread of its own. Without a thread,
            // there is no bar.
            let _ = thread::Builder::new().spawn(move || {
                thread::sleep(PATIENCE);
                bar.set_draw_target(ProgressDrawTarget::stderr());
                while !bar.is_finished() {
                    bar.tick();
                    thread::sleep(TICK);
                }
            });
        }
        Self(bar)
    }

    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }
}

impl read::Progress for Progress {
    fn begin(&self, what: &'static str, bytes: Option<u64>) {
        let style = match bytes {
            Some(_) => "{msg} {wide_bar} {bytes} of {total_bytes}, {eta} left",
            None => "{msg} {spinner} {elapsed}",
        };
        self.0.reset();
        match bytes {
            Some(bytes) => self.0.set_length(bytes),
            None => self.0.unset_length(),
        }
        if let Ok(style) = ProgressStyle::with_template(style) {
            self.0.set_style(style);
        }
        self.0.set_message(what);
    }

    fn advance(&self, bytes: u64) {
        self.0.inc(bytes);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

//! What is being done, for people who wait in front of a terminal.

use std::fs::File;
use std::io::{IsTerminal, stderr};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressBarIter, ProgressDrawTarget, ProgressStyle};

/// How long nothing is shown: most runs are over by then.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar on standard error, if that is a terminal. It goes when this is dropped.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// A bar that shows itself after a second.
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::hidden();
        if stderr().is_terminal() {
            let bar = bar.clone();
            thread::spawn(move || {
                thread::sleep(PATIENCE);
                bar.set_draw_target(ProgressDrawTarget::stderr());
                bar.enable_steady_tick(Duration::from_millis(100));
            });
        }
        Self(bar)
    }

    /// A file that moves the bar as it is read.
    pub(crate) fn reading(&self, file: File, what: &'static str) -> ProgressBarIter<File> {
        let length = file
            .metadata()
            .ok()
            .filter(std::fs::Metadata::is_file)
            .map(|m| m.len());
        self.stage(what, length);
        self.0.wrap_read(file)
    }

    /// Tells what is done now; `length` if its end is known.
    pub(crate) fn stage(&self, what: &'static str, length: Option<u64>) {
        let style = match length {
            Some(_) => "{msg} {wide_bar} {bytes} of {total_bytes}, {eta} left",
            None => "{msg} {spinner} {elapsed}",
        };
        self.0.reset();
        match length {
            Some(length) => self.0.set_length(length),
            None => self.0.unset_length(),
        }
        if let Ok(style) = ProgressStyle::with_template(style) {
            self.0.set_style(style);
        }
        self.0.set_message(what);
    }

    /// Prints something while the bar is out of the way.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

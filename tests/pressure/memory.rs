//! Calls in which an allocation fails, in a program that was started for it: see `tests/faults`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use carom::Error;
use fastrand::Rng;

use crate::faults::{Faults, Plan};

static FAULTS: Mutex<Option<Faults>> = Mutex::new(None);

fn faults() -> MutexGuard<'static, Option<Faults>> {
    FAULTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs the test `name` in a program whose allocations can fail.
pub(crate) fn with_failing_allocations(name: &str, test: impl FnOnce()) {
    let own = Faults::of_this_program(name).expect("a C compiler and a folder for temporary files");
    if own.is_some() {
        *faults() = own;
        test();
    }
}

/// Makes a call. In one of four, an allocation fails if there is one.
pub(crate) fn armed<R>(rng: &mut Rng, call: impl FnOnce() -> R) -> R {
    let faults = faults();
    match &*faults {
        Some(faults) if rng.u8(..4) == 0 => {
            let before = rng.i64(..30);
            let armed = faults.set(Plan {
                before,
                ..Plan::GROWING
            });
            armed.expect("the control is a file");
            let result = call();
            faults.end();
            result
        }
        _ => call(),
    }
}

/// Makes a call like [`armed`], and once more if memory was missing: it may leave nothing behind.
pub(crate) fn attempt<T>(
    rng: &mut Rng,
    mut call: impl FnMut() -> Result<T, Error>,
) -> Result<T, Error> {
    match armed(rng, &mut call) {
        Err(Error::OutOfMemory { .. }) => call(),
        result => result,
    }
}

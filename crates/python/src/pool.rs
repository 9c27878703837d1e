//! The threads on which carom works.

use std::cell::Cell;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::{Error, Unusable};

/// The most threads, unless the machine has more processors. Tens of thousands would need minutes to start.
const MOST_THREADS: usize = 1024;

fn most_threads() -> usize {
    available_parallelism().map_or(MOST_THREADS, |processors| {
        processors.get().max(MOST_THREADS)
    })
}

/// The pool, and the process in which its threads were started. A fork copies the pool, but not its threads, so a child
/// makes a pool of its own.
///
/// The lock is only taken while the interpreter is attached, and is released before it is detached. The thread that
/// forks is attached, too, so no child finds it locked.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

fn make(threads: usize) -> PyResult<Arc<ThreadPool>> {
    let builder = ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|k| format!("carom-{k}"));
    let pool = builder.build().map_err(|error| {
        Error::new_err(format!(
            "the threads could not be started: {error}; choose fewer with carom.set_threads"
        ))
    })?;
    Ok(Arc::new(pool))
}

fn replace(pool: Arc<ThreadPool>, place: &mut Option<(u32, Arc<ThreadPool>)>) {
    let old = place.replace((process::id(), pool));
    if let Some((owner, old)) = old
        && owner != process::id()
    {
        // The threads of the parent do not exist here, so they cannot be asked to end.
        std::mem::forget(old);
    }
}

fn current(_attached: Python<'_>) -> PyResult<Arc<ThreadPool>> {
    let mut place = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((owner, pool)) = &*place
        && *owner == process::id()
    {
        return Ok(pool.clone());
    }
    // A child has as many threads as its parent.
    let threads = place
        .as_ref()
        .map_or(0, |(_, pool)| pool.current_num_threads());
    if threads == 0 {
        let wanted = std::env::var("RAYON_NUM_THREADS").unwrap_or_default();
        let digits = !wanted.is_empty() && wanted.bytes().all(|byte| byte.is_ascii_digit());
        if digits
            && wanted
                .parse()
                .map_or(true, |wanted: usize| wanted > most_threads())
        {
            return Err(Error::new_err(format!(
                "RAYON_NUM_THREADS is {wanted}, but must be at most {}; correct it, or call carom.set_threads",
                most_threads()
            )));
        }
    }
    let pool = make(threads)?;
    replace(pool.clone(), &mut place);
    Ok(pool)
}

/// Sets the number of threads on which carom works.
///
/// It holds for all calls that begin later. By default, it is the number in the environment variable
/// ``RAYON_NUM_THREADS``, or else the number of processors. At most 1024 threads can be had, or as many as there are
/// processors.
#[pyfunction]
pub(crate) fn set_threads(threads: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = threads.py();
    let number = match threads.extract::<usize>() {
        Err(error) if !error.is_instance_of::<PyOverflowError>(py) => return Err(error),
        number => number.unwrap_or(0),
    };
    if number == 0 || number > most_threads() {
        return Err(PyValueError::new_err(format!(
            "the number of threads is {threads}, but must be from 1 to {}",
            most_threads()
        )));
    }
    refuse_in_callback()?;
    let pool = make(number)?;
    let mut place = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    replace(pool, &mut place);
    Ok(())
}

/// Returns the number of threads on which carom works.
#[pyfunction]
pub(crate) fn threads(py: Python<'_>) -> PyResult<usize> {
    Ok(current(py)?.current_num_threads())
}

thread_local! {
    /// Whether this thread runs code of the user in the middle of a step.
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Runs code of the user in the middle of a step: a rule, or a handler of a signal. Calls of carom in it fail at once.
/// They would wait for the step, which waits for them: for the lock of its object, or for the thread of the pool on
/// which the rule runs. A thread of the pool that waits for others may also begin another work of the step.
pub(crate) fn in_callback<R>(call: impl FnOnce() -> R) -> R {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            IN_CALLBACK.set(self.0);
        }
    }
    let _before = Before(IN_CALLBACK.replace(true));
    call()
}

pub(crate) fn is_in_callback() -> bool {
    IN_CALLBACK.get()
}

pub(crate) fn refuse_in_callback() -> PyResult<()> {
    if is_in_callback() {
        return Err(PyErr::from(Unusable::InCallback));
    }
    Ok(())
}

/// The pool for a piece of work: see [`Workers::run`].
pub(crate) struct Workers(Arc<ThreadPool>);

impl Workers {
    pub(crate) fn new(py: Python<'_>) -> PyResult<Self> {
        refuse_in_callback()?;
        Ok(Self(current(py)?))
    }

    /// Runs `work` on the threads of the pool, and waits for it. The calling thread must be detached from the
    /// interpreter. Locks that the work needs must have been taken before: a thread of the pool that waits for others
    /// may begin another work of the pool, which then waits for the lock in vain.
    pub(crate) fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.0.install(work)
    }

    /// Runs `work` on the threads of the pool, and `wait` on the calling thread meanwhile.
    pub(crate) fn run_beside(&self, work: impl FnOnce() + Send, wait: impl FnOnce()) {
        self.0.in_place_scope(|scope| {
            scope.spawn(|_| work());
            wait();
        });
    }
}

//! A detector, which keeps its memory and its GPU from step to step.

use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use carom::{Backend, Options, Step};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::{Error, of_carom};
use crate::found::{AnyFound, Found, Results};
use crate::kept::Kept;
use crate::number::Scalar;
use crate::pool::Workers;
use crate::set::{Given, GivenDomain, Set, checked, domain};
use crate::walls::{OfWalls, Walls};

/// The process that has used a GPU, or 0. Its children cannot use one: drivers do not survive a fork.
static USED_GPU: AtomicU32 = AtomicU32::new(0);

/// Why the backend "auto" is the CPU in this process, once it is known. Locked like the pool of threads.
static NO_GPU: Mutex<Option<String>> = Mutex::new(None);

fn is_child_of_gpu_user() -> bool {
    ![0, process::id()].contains(&USED_GPU.load(Ordering::Acquire))
}

/// A detector of the library, its process, and why it has its backend.
pub(crate) struct Engine {
    detector: Option<carom::Detector>,
    owner: u32,
}

impl Drop for Engine {
    fn drop(&mut self) {
        if self.is_foreign() {
            // The driver's threads exist only in the parent, so nothing may be asked of them.
            std::mem::forget(self.detector.take());
        }
    }
}

impl Engine {
    /// Returns whether the GPU of this detector belongs to the process from which this one was forked.
    fn is_foreign(&self) -> bool {
        let uses_gpu = |detector: &carom::Detector| detector.backend() == Backend::Gpu;
        self.owner != process::id() && self.detector.as_ref().is_some_and(uses_gpu)
    }

    /// Frees the detector. It must be of this process.
    pub(crate) fn give_up(&mut self) {
        self.detector = None;
    }

    pub(crate) fn detector(&mut self) -> PyResult<&mut carom::Detector> {
        if self.is_foreign() {
            return Err(forked());
        }
        let detector = self.detector.as_mut();
        detector.ok_or_else(|| Error::new_err("the detector is gone; make a new carom.Detector"))
    }
}

fn forked() -> PyErr {
    Error::new_err(
        "this process was forked from one that had used a GPU, which no driver survives; use backend=\"cpu\" here, or \
         start processes with multiprocessing.get_context(\"spawn\")",
    )
}

/// Starts a detector. The interpreter must be attached.
pub(crate) fn start(
    py: Python<'_>,
    backend: &str,
    max_candidates: Option<u64>,
    max_pairs: Option<u64>,
) -> PyResult<(Engine, String)> {
    let mut reason = None;
    let backend = match backend {
        "cpu" => Backend::Cpu,
        "gpu" if is_child_of_gpu_user() => return Err(forked()),
        "gpu" => Backend::Gpu,
        "auto" if is_child_of_gpu_user() => {
            reason = Some("this process was forked from one that had used a GPU".to_owned());
            Backend::Cpu
        }
        "auto" => {
            reason.clone_from(&NO_GPU.lock().unwrap_or_else(PoisonError::into_inner));
            match reason {
                None => Backend::Auto,
                Some(_) => Backend::Cpu,
            }
        }
        _ => {
            return Err(PyValueError::new_err(format!(
                "the backend is {backend:?}, but must be \"auto\", \"cpu\" or \"gpu\""
            )));
        }
    };
    let mut options = Options::new().with_backend(backend);
    if let Some(most) = max_candidates {
        options = options.with_max_candidates(most);
    }
    if let Some(most) = max_pairs {
        options = options.with_max_pairs(most);
    }
    let detector = checked(py.detach(|| carom::Detector::new(options)))?;
    let reason = reason.unwrap_or_else(|| detector.reason().to_owned());
    if detector.backend() == Backend::Gpu {
        USED_GPU.store(process::id(), Ordering::Release);
    } else if backend == Backend::Auto {
        *NO_GPU.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason.clone());
    }
    let engine = Engine {
        detector: Some(detector),
        owner: process::id(),
    };
    Ok((engine, reason))
}

/// Sets of earlier steps, whose memory the next step uses if no result has them any more.
///
/// The lock is only taken while the interpreter is attached, and is released before it is detached.
pub(crate) struct Spare<T>(Mutex<Vec<Arc<Set<T>>>>);

impl<T> Default for Spare<T> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

/// A result, the one before and two sets for each.
const SPARE: usize = 4;

impl<T: Scalar> Spare<T> {
    fn take(&self) -> Set<T> {
        let mut sets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let free = sets.iter().position(|set| Arc::strong_count(set) == 1);
        let set = free.and_then(|free| Arc::into_inner(sets.swap_remove(free)));
        set.unwrap_or_default()
    }

    fn give(&self, set: &Arc<Set<T>>) {
        let mut sets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sets.len() == SPARE {
            sets.remove(0);
        }
        sets.push(set.clone());
    }

    /// Copies the spheres of arrays.
    pub(crate) fn read(&self, given: &Given<'_>) -> PyResult<Arc<Set<T>>> {
        let mut set = self.take();
        set.fill(given)?;
        let set = Arc::new(set);
        self.give(&set);
        Ok(set)
    }
}

/// Memory of earlier calls.
#[derive(Default)]
pub(crate) struct Spares {
    float32: Spare<f32>,
    float64: Spare<f64>,
}

/// Numbers that a detector takes.
pub(crate) trait Detected: OfWalls {
    fn any(results: Results<Self>) -> AnyFound;
    fn spare(spares: &Spares) -> &Spare<Self>;
}

impl Detected for f32 {
    fn any(results: Results<Self>) -> AnyFound {
        AnyFound::Float32(results)
    }

    fn spare(spares: &Spares) -> &Spare<Self> {
        &spares.float32
    }
}

impl Detected for f64 {
    fn any(results: Results<Self>) -> AnyFound {
        AnyFound::Float64(results)
    }

    fn spare(spares: &Spares) -> &Spare<Self> {
        &spares.float64
    }
}

/// What the package `carom` calls a detector.
#[pyclass(frozen)]
pub(crate) struct Detector {
    engine: Kept<Engine>,
    spares: Spares,
    #[pyo3(get)]
    backend: &'static str,
    #[pyo3(get)]
    reason: String,
    #[pyo3(get)]
    adapter: Option<String>,
}

impl Detector {
    #[allow(clippy::too_many_arguments, reason = "they are those of Python")]
    fn find<T: Detected>(
        &self,
        py: Python<'_>,
        first: &Given<'_>,
        second: Option<&Given<'_>>,
        dt: f64,
        given: Option<GivenDomain>,
        walls: Option<&Walls>,
        without_separating: bool,
    ) -> PyResult<Found> {
        let spare = T::spare(&self.spares);
        let first = spare.read(first)?;
        let second = second.map(|set| spare.read(set)).transpose()?;
        let workers = Workers::new(py)?;
        let mut results = Results {
            collisions: carom::Collisions::<T>::default(),
            first,
            second,
            dt: T::rounded(dt),
            domain: domain::<T>(given),
            walls: walls.map(T::of_walls).transpose()?,
            without_separating,
        };
        py.detach(|| {
            self.engine
                .with(|engine| results.fill(engine.detector()?, &workers))
        })??;
        Ok(Found(T::any(results)))
    }
}

#[pymethods]
impl Detector {
    #[new]
    #[pyo3(signature = (backend, max_candidates=None, max_pairs=None))]
    fn new(
        py: Python<'_>,
        backend: &str,
        max_candidates: Option<u64>,
        max_pairs: Option<u64>,
    ) -> PyResult<Self> {
        let (mut engine, reason) = start(py, backend, max_candidates, max_pairs)?;
        let detector = engine.detector()?;
        Ok(Self {
            backend: match detector.backend() {
                Backend::Gpu => "gpu",
                _ => "cpu",
            },
            adapter: detector.adapter().map(str::to_owned),
            engine: Kept::new(engine),
            spares: Spares::default(),
            reason,
        })
    }

    #[allow(clippy::too_many_arguments, reason = "they are those of Python")]
    #[pyo3(signature = (first, second, dt, domain, walls, without_separating=false))]
    fn detect(
        &self,
        py: Python<'_>,
        first: Given<'_>,
        second: Option<Given<'_>>,
        dt: f64,
        domain: Option<GivenDomain>,
        walls: Option<&Walls>,
        without_separating: bool,
    ) -> PyResult<Found> {
        if first.is_float32() {
            self.find::<f32>(
                py,
                &first,
                second.as_ref(),
                dt,
                domain,
                walls,
                without_separating,
            )
        } else {
            self.find::<f64>(
                py,
                &first,
                second.as_ref(),
                dt,
                domain,
                walls,
                without_separating,
            )
        }
    }
}

/// Checks a domain and walls, as a step with them would.
#[pyfunction]
#[pyo3(signature = (domain, walls=None))]
pub(crate) fn check(
    py: Python<'_>,
    domain: Option<GivenDomain>,
    walls: Option<&Walls>,
) -> PyResult<()> {
    let center = [domain.map_or([0.0; 3], |(origin, ..)| origin)];
    let domain = crate::set::domain::<f64>(domain);
    let none = Arc::default();
    let walls = walls.map_or(Ok(none), Walls::exact)?;
    let workers = Workers::new(py)?;
    let found = py.detach(|| {
        workers.run(|| {
            let point = carom::Spheres::new(&center, carom::Values::Constant(0.0));
            let step = Step::new(point, 0.0).in_domain(&domain).with_walls(&walls);
            let options = Options::new().with_backend(Backend::Cpu);
            carom::Detector::new(options)?.detect(&step).map(drop)
        })
    });
    found.map_err(of_carom)
}

impl<T: Scalar> Results<T> {
    /// Finds the collisions on the threads of the pool. The calling thread is detached.
    fn fill(&mut self, detector: &mut carom::Detector, workers: &Workers) -> PyResult<()> {
        let Self {
            collisions,
            first,
            second,
            dt,
            domain,
            walls,
            without_separating,
        } = self;
        workers.run(|| {
            let mut step = match second {
                None => Step::new(first.spheres(), *dt),
                Some(second) => Step::between(first.spheres(), second.spheres(), *dt),
            };
            step = step.in_domain(domain);
            if let Some(walls) = walls {
                step = step.with_walls(walls);
            }
            if *without_separating {
                step = step.without_separating();
            }
            detector.detect_into(&step, collisions).map_err(of_carom)?;
            let other = second.as_ref().unwrap_or(first);
            if first.has_bodies() && other.has_bodies() {
                use carom::Touching as _;
                collisions.pairs.retain(|pair, _| {
                    let [a, b] = pair.sides().map(|index| index as usize);
                    let body = first.body(a);
                    body.is_none() || body != other.body(b)
                });
            }
            Ok(())
        })
    }
}

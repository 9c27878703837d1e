//! Spheres in, a sorted list of collisions out.

use std::time::Instant;

use crate::blocking::{Wait, block_on};
use crate::cpu::Cpu;
use crate::exact::decide_reported;
#[cfg(feature = "gpu")]
use crate::gpu::Gpu;
use crate::limits::Limits;
#[cfg(not(feature = "gpu"))]
use crate::no_gpu::Gpu;
use crate::outcome::Outcome;
use crate::reuse::ReusedVec;
use crate::step::UncheckedStep;
use crate::threads::Threads;
use crate::{
    ActiveBackend, Backend, Collision, Collisions, Error, Options, Sphere, Statistics, Step,
};

/// Finds collisions. A detector keeps its device and its buffers from step to step, so make
/// one and use it for every step.
pub struct Detector {
    options: Options,
    pool: Option<rayon::ThreadPool>,
    gpu: Option<Gpu>,
    cpu: Cpu,
    /// Why this backend is in use.
    reason: String,
    /// The copy of two sets in one slice.
    both: ReusedVec<Sphere>,
}

impl std::fmt::Debug for Detector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Detector")
            .field("options", &self.options)
            .field("adapter", &self.adapter())
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}

impl Detector {
    /// Chooses the backend and starts it.
    ///
    /// # Errors
    /// [`Error::NoAdapter`], [`Error::Device`] or [`Error::FeatureDisabled`] for
    /// [`Backend::Gpu`] without a usable one; [`Error::Threads`].
    pub fn new(options: Options) -> Result<Self, Error> {
        block_on(Self::new_async(options))
    }

    /// [`new`](Self::new), for a browser, where no thread may wait for the device.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub async fn new_async(options: Options) -> Result<Self, Error> {
        let pool = match options.threads {
            0 => None,
            threads => Some(
                rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .map_err(Error::threads)?,
            ),
        };
        let (gpu, reason) = match options.backend {
            Backend::Cpu => (None, "the CPU was asked for".to_owned()),
            Backend::Gpu => (
                Some(Gpu::new(false).await?),
                "a GPU was asked for".to_owned(),
            ),
            Backend::Auto => match Gpu::new(true).await {
                Ok(gpu) => (Some(gpu), "there is a hardware GPU".to_owned()),
                Err(Error::NoAdapter { reason, .. }) => {
                    (None, format!("no hardware GPU: {reason}"))
                }
                Err(error) => (None, format!("the GPU cannot be used: {error}")),
            },
        };
        log::info!(
            "carom runs on the {}: {reason}",
            if gpu.is_some() { "GPU" } else { "CPU" }
        );
        Ok(Self {
            options,
            pool,
            gpu,
            cpu: Cpu::default(),
            reason,
            both: ReusedVec::default(),
        })
    }

    /// The backend in use. A single step may run on the CPU all the same:
    /// [`Statistics::backend`] tells.
    pub fn backend(&self) -> ActiveBackend {
        if self.gpu.is_some() {
            ActiveBackend::Gpu
        } else {
            ActiveBackend::Cpu
        }
    }

    /// Why that backend, in a sentence.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The GPU's name as its driver gives it, and the API; `None` on the CPU.
    pub fn adapter(&self) -> Option<&str> {
        self.gpu.as_ref().map(Gpu::adapter)
    }

    /// Every pair of spheres that touches during the step.
    ///
    /// ```
    /// use carom::{Detector, Options, Sphere, Step};
    /// let targets = [Sphere::new([5.0, 0.0, 0.0], 1.0), Sphere::new([9.0, 0.0, 0.0], 1.0)];
    /// let ray = [Sphere::new([0.0; 3], 0.0).with_velocity([6.0, 0.0, 0.0])];
    /// let mut detector = Detector::new(Options::default())?;
    /// let found = detector.detect(&Step::between(&ray, &targets, 1.0))?;
    /// assert_eq!((found.pairs[0].a, found.pairs[0].b, found.pairs.len()), (0, 0, 1));
    /// # Ok::<(), carom::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Error`]; the list is complete or there is none.
    pub fn detect(&mut self, step: &Step<'_>) -> Result<Collisions, Error> {
        let mut found = Collisions::default();
        self.detect_into(step, &mut found)?;
        Ok(found)
    }

    /// The same as [`detect`](Self::detect), in the memory of a list that is no longer
    /// needed, whatever it holds: on the CPU, a step like the steps before it then allocates
    /// next to nothing.
    /// That memory never shrinks; a new list has none. After an error the list is new.
    ///
    /// ```
    /// use carom::{Collisions, Detector, Options, Sphere, Step};
    /// let mut detector = Detector::new(Options::default())?;
    /// let mut spheres = [Sphere::new([0.0; 3], 1.0).with_velocity([6.0, 0.0, 0.0]); 2];
    /// spheres[1] = Sphere::new([5.0, 0.0, 0.0], 1.0);
    /// let mut found = Collisions::default();
    /// for _ in 0..2 {
    ///     detector.detect_into(&Step::new(&spheres, 0.25), &mut found)?;
    ///     spheres[0].center[0] += 6.0 * 0.25;
    /// }
    /// assert_eq!(found.pairs[0].toi, 0.25); // at the end of the second step
    /// # Ok::<(), carom::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Error`].
    pub fn detect_into(
        &mut self,
        step: &Step<'_>,
        collisions: &mut Collisions,
    ) -> Result<(), Error> {
        block_on(self.detect_waiting(step, collisions, Wait::Block))
    }

    /// [`detect`](Self::detect) without blocking the thread while a GPU is at work.
    ///
    /// - On a GPU, natively: a thread that lives for the step waits for the device and
    ///   wakes the task, so nobody else has to poll anything. In a browser the event loop
    ///   does.
    /// - On the CPU, and for the stages on the host, the thread that polls the future does
    ///   the work.
    ///
    /// The future may be dropped at any time: the next step works, with new buffers if the
    /// device was at work.
    ///
    /// ```
    /// use carom::{Collisions, Detector, Error, Options, Sphere, Step};
    /// async fn step(spheres: &[Sphere]) -> Result<Collisions, Error> {
    ///     let mut detector = Detector::new_async(Options::default()).await?;
    ///     detector.detect_async(&Step::new(spheres, 1.0)).await
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`detect`](Self::detect).
    pub async fn detect_async(&mut self, step: &Step<'_>) -> Result<Collisions, Error> {
        let mut found = Collisions::default();
        self.detect_into_async(step, &mut found).await?;
        Ok(found)
    }

    /// [`detect_into`](Self::detect_into) without blocking the thread, as
    /// [`detect_async`](Self::detect_async). When the future is dropped midway, the list is
    /// new.
    ///
    /// # Errors
    /// As [`detect`](Self::detect).
    pub async fn detect_into_async(
        &mut self,
        step: &Step<'_>,
        collisions: &mut Collisions,
    ) -> Result<(), Error> {
        self.detect_waiting(step, collisions, Wait::Await).await
    }

    async fn detect_waiting(
        &mut self,
        step: &Step<'_>,
        collisions: &mut Collisions,
        wait: Wait,
    ) -> Result<(), Error> {
        let used = std::mem::take(collisions);
        let mut both = std::mem::take(&mut self.both);
        let found = match step.in_one_slice(&mut both) {
            Ok(step) => self.run(step, used, wait).await,
            Err(error) => Err(error),
        };
        self.both = both;
        *collisions = found?;
        Ok(())
    }

    /// Finds the collisions, in the memory of a used list.
    async fn run(
        &mut self,
        step: UncheckedStep<'_>,
        used: Collisions,
        wait: Wait,
    ) -> Result<Collisions, Error> {
        step.check_size()?;
        let UncheckedStep { spheres, sets, .. } = step;
        let Collisions {
            mut pairs,
            statistics: Statistics {
                mut reason, stages, ..
            },
            ..
        } = used;
        reason.clone_from(&self.reason);
        let limits = Limits {
            candidates: self.options.max_candidates,
            pairs: self.options.max_pairs,
        };
        let mut statistics = Statistics {
            spheres: spheres.len() as u64,
            reason,
            ..Statistics::default()
        };
        let threads = Threads(self.pool.as_ref());
        if let Some(gpu) = &mut self.gpu {
            let step = threads.run(spheres.len(), || step.check())?;
            match gpu.run(step, limits, wait).await {
                Ok((mut outcome, mut reported)) => {
                    let clock = Instant::now();
                    let count = reported.len();
                    let decide = || decide_reported(&step, &mut reported, &mut pairs);
                    outcome.grazing = threads.run(count, decide)?;
                    limits.allow_pairs(pairs.len() as u64)?;
                    outcome.stages.push(("decide", clock.elapsed()));
                    statistics.backend = ActiveBackend::Gpu;
                    statistics.adapter = Some(gpu.adapter().to_owned());
                    let statistics = completed(statistics, outcome, &pairs);
                    return Ok(Collisions::new(pairs, spheres.len(), sets, statistics));
                }
                Err(
                    error @ (Error::DeviceLimit { .. } | Error::Device { .. } | Error::DeviceLost),
                ) if self.options.backend == Backend::Auto => {
                    statistics.reason = format!("the GPU could not do it: {error}");
                    log::warn!("carom falls back to the CPU: {}", statistics.reason);
                }
                Err(error) => return Err(error),
            }
        }
        let cpu = &mut self.cpu;
        let work = || cpu.run(step.check()?, limits, threads, &mut pairs, stages);
        let outcome = threads.run(spheres.len(), work)?;
        statistics.backend = ActiveBackend::Cpu;
        let statistics = completed(statistics, outcome, &pairs);
        Ok(Collisions::new(pairs, spheres.len(), sets, statistics))
    }
}

/// The statistics of a step that is done.
fn completed(statistics: Statistics, outcome: Outcome, pairs: &[Collision]) -> Statistics {
    Statistics {
        proxies: outcome.proxies,
        levels: outcome.levels,
        slots: outcome.slots,
        candidates: outcome.candidates,
        memory: outcome.memory,
        stages: outcome.stages,
        pairs: pairs.len() as u64,
        grazing: outcome.grazing.all,
        grazing_by_integers: outcome.grazing.by_integers,
        ..statistics
    }
}

#[cfg(all(test, feature = "gpu"))]
mod tests;

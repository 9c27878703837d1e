//! The blocking API: spheres in, a sorted list of collisions out.

use std::time::Instant;

use crate::cpu::Cpu;
use crate::exact::decide_step;
use crate::gpu::Gpu;
use crate::limits::Limits;
use crate::outcome::Outcome;
use crate::reuse::ReusedVec;
use crate::shared::sets::Sets;
use crate::step::UncheckedStep;
use crate::threads::Threads;
use crate::{Collision, Collisions, Error, Sphere, Statistics};

/// Where to do the work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Backend {
    /// A hardware GPU where there is one, else the CPU: the CPU is faster than a
    /// software adapter. Falls back to the CPU when the GPU cannot hold the
    /// world, or fails. [`Statistics::reason`](crate::Statistics::reason) tells
    /// which was taken and why.
    #[default]
    Auto,
    /// A GPU, or if there is only that, a software adapter; an error otherwise.
    Gpu,
    /// The CPU.
    Cpu,
}

/// How a [`Detector`] works. The defaults suit most worlds.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where to do the work.
    pub backend: Backend,
    /// Threads of the CPU backend; 0, the default, takes those of rayon's pool: that in
    /// which the caller runs, or else the global one, which has one for each core.
    /// Worlds of up to 1024 spheres, time segments counted, are done on the caller's;
    /// rayon's global pool is started all the same, and sleeps.
    ///
    /// For many worlds at once, in tasks of rayon's, leave it at 0: a detector with threads
    /// of its own blocks the thread of the task, and starts another to wait for it, in each
    /// step of more than 1024 spheres. Without, rayon may run other tasks on the thread
    /// meanwhile, as it does wherever it waits: so a task must not hold a lock, or borrow
    /// from a `RefCell`, over a step, if other tasks want it, too.
    pub threads: usize,
    /// A world with more candidate pairs than this is refused with
    /// [`Error::TooManyCandidates`] instead of keeping the machine busy for
    /// hours. 2³⁴ by default.
    pub max_candidates: u64,
    /// A world in which more pairs than this touch is refused with
    /// [`Error::TooManyPairs`] instead of filling the memory. 2²⁸ by default.
    pub max_pairs: u64,
    /// First capacity for pairs on the GPU; it grows when it does not suffice.
    /// 0, the default, goes by the number of spheres.
    pub pair_capacity: usize,
    /// First capacity for further time segments of fast spheres on the GPU; it
    /// grows when it does not suffice. 0, the default, goes by the number of
    /// spheres.
    pub segment_capacity: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            backend: Backend::Auto,
            threads: 0,
            max_candidates: 1 << 34,
            max_pairs: 1 << 28,
            pair_capacity: 0,
            segment_capacity: 0,
        }
    }
}

/// Finds collisions. Keeps its device and buffers from call to call, so make
/// one and use it for every step.
pub struct Detector {
    options: Options,
    pool: Option<rayon::ThreadPool>,
    gpu: Option<Gpu>,
    cpu: Cpu,
    reason: String,
    /// For two sets, one behind the other.
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
    /// [`Error::NoAdapter`] or [`Error::Device`] for [`Backend::Gpu`] without a
    /// usable one; [`Error::Threads`].
    pub fn new(options: Options) -> Result<Self, Error> {
        let pool = match options.threads {
            0 => None,
            threads => Some(
                rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .map_err(|error| Error::Threads(error.to_string()))?,
            ),
        };
        let (gpu, reason) = match options.backend {
            Backend::Cpu => (None, "the CPU was asked for".to_owned()),
            Backend::Gpu => (
                Some(Gpu::new(&options, false)?),
                "a GPU was asked for".to_owned(),
            ),
            Backend::Auto => match Gpu::new(&options, true) {
                Ok(gpu) => (Some(gpu), "there is a hardware GPU".to_owned()),
                Err(Error::NoAdapter(why)) => (None, format!("no hardware GPU: {why}")),
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

    /// The backend in use: [`Backend::Gpu`] or [`Backend::Cpu`].
    pub fn backend(&self) -> Backend {
        if self.gpu.is_some() {
            Backend::Gpu
        } else {
            Backend::Cpu
        }
    }

    /// Why that one, in a sentence.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The GPU's name as its driver gives it, and the API; `None` on the CPU.
    pub fn adapter(&self) -> Option<&str> {
        self.gpu.as_ref().map(Gpu::adapter)
    }

    /// Every pair of `spheres` that touches during a step of length `dt`, but for
    /// those that their groups leave out
    /// ([`Sphere::with_groups`]).
    ///
    /// # Errors
    /// See [`Error`]; the list is whole or there is none.
    pub fn detect(&mut self, spheres: &[Sphere], dt: f32) -> Result<Collisions, Error> {
        let mut found = Collisions::default();
        self.detect_into(spheres, dt, &mut found)?;
        Ok(found)
    }

    /// The same, in the memory of a list that is done with: on the CPU, a step like
    /// those before it then allocates next to nothing. That memory never shrinks; a new
    /// list has none. After an error the list is new.
    ///
    /// ```
    /// use carom::{Collisions, Detector, Options, Sphere};
    /// let mut detector = Detector::new(Options::default())?;
    /// let mut spheres = [Sphere::new([0.0; 3], 1.0).with_velocity([6.0, 0.0, 0.0]); 2];
    /// spheres[1] = Sphere::new([5.0, 0.0, 0.0], 1.0);
    /// let mut found = Collisions::default();
    /// for _ in 0..2 {
    ///     detector.detect_into(&spheres, 0.25, &mut found)?;
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
        spheres: &[Sphere],
        dt: f32,
        found: &mut Collisions,
    ) -> Result<(), Error> {
        let used = std::mem::take(found);
        self.both.rest();
        *found = self.run(spheres, Sets::One, dt, used)?;
        Ok(())
    }

    /// Every pair of one sphere of `first` (a) and one of `second` (b) that
    /// touches during a step of length `dt`, but for those that their groups leave
    /// out.
    ///
    /// ```
    /// use carom::{Detector, Options, Sphere};
    /// let targets = [Sphere::new([5.0, 0.0, 0.0], 1.0), Sphere::new([9.0, 0.0, 0.0], 1.0)];
    /// let ray = [Sphere::new([0.0; 3], 0.0).with_velocity([6.0, 0.0, 0.0])];
    /// let found = Detector::new(Options::default())?.detect_between(&ray, &targets, 1.0)?;
    /// assert_eq!((found.pairs[0].a, found.pairs[0].b, found.pairs.len()), (0, 0, 1));
    /// # Ok::<(), carom::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Error`]; the list is whole or there is none.
    pub fn detect_between(
        &mut self,
        first: &[Sphere],
        second: &[Sphere],
        dt: f32,
    ) -> Result<Collisions, Error> {
        let mut found = Collisions::default();
        self.detect_between_into(first, second, dt, &mut found)?;
        Ok(found)
    }

    /// The same as [`detect_between`](Self::detect_between), in the memory of a list that is
    /// done with, as [`detect_into`](Self::detect_into) does it.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn detect_between_into(
        &mut self,
        first: &[Sphere],
        second: &[Sphere],
        dt: f32,
        found: &mut Collisions,
    ) -> Result<(), Error> {
        let used = std::mem::take(found);
        let mut both = std::mem::take(&mut self.both);
        let spheres = both.enough(first.len() + second.len(), "a copy of both sets")?;
        let (of_first, of_second) = spheres.split_at_mut(first.len());
        of_first.copy_from_slice(first);
        of_second.copy_from_slice(second);
        let sets = Sets::Two { first: first.len() };
        let result = self.run(spheres, sets, dt, used);
        self.both = both;
        *found = result?;
        Ok(())
    }

    /// What was `used` before is memory for what is found.
    fn run(
        &mut self,
        spheres: &[Sphere],
        sets: Sets,
        dt: f32,
        used: Collisions,
    ) -> Result<Collisions, Error> {
        let step = UncheckedStep { spheres, sets, dt };
        step.check_size()?;
        let Collisions {
            mut pairs,
            statistics: Statistics {
                mut reason, stages, ..
            },
        } = used;
        reason.clone_from(&self.reason);
        let limits = Limits {
            candidates: self.options.max_candidates,
            pairs: self.options.max_pairs,
        };
        let mut statistics = Statistics {
            spheres: spheres.len() as u64,
            first_set: sets.b_offset() as u64,
            reason,
            ..Statistics::default()
        };
        let threads = Threads(self.pool.as_ref());
        if let Some(gpu) = &mut self.gpu {
            let step = threads.run(spheres.len(), || step.check())?;
            match gpu.run(step, limits) {
                Ok((mut outcome, mut reported)) => {
                    let clock = Instant::now();
                    let count = reported.len();
                    let decide = || decide_step(&step, &mut reported, &mut pairs);
                    outcome.grazing = threads.run(count, decide)?;
                    limits.allow_pairs(pairs.len() as u64)?;
                    outcome.stages.push(("decide", clock.elapsed()));
                    statistics.backend = Backend::Gpu;
                    statistics.adapter = Some(gpu.adapter().to_owned());
                    return Ok(collisions(statistics, outcome, pairs));
                }
                Err(error @ (Error::DeviceLimit { .. } | Error::Device(_)))
                    if self.options.backend == Backend::Auto =>
                {
                    statistics.reason = format!("the GPU could not do it: {error}");
                    log::warn!("carom falls back to the CPU: {}", statistics.reason);
                }
                Err(error) => return Err(error),
            }
        }
        let cpu = &mut self.cpu;
        let work = || cpu.run(step.check()?, limits, threads, &mut pairs, stages);
        let outcome = threads.run(spheres.len(), work)?;
        statistics.backend = Backend::Cpu;
        Ok(collisions(statistics, outcome, pairs))
    }
}

/// What a user gets.
fn collisions(statistics: Statistics, outcome: Outcome, pairs: Vec<Collision>) -> Collisions {
    let statistics = Statistics {
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
    };
    Collisions { pairs, statistics }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Falling back is for devices that are too small, which only a test can
    /// make of any device.
    #[test]
    fn auto_falls_back_to_the_cpu_and_says_so_when_the_gpu_cannot_hold_the_world() {
        let options = Options {
            backend: Backend::Auto,
            ..Options::default()
        };
        let gpu = Gpu::new(&options, false)
            .unwrap_or_else(|error| panic!("this test needs an adapter: {error}"));
        let mut detector = Detector {
            options,
            pool: None,
            gpu: Some(gpu),
            cpu: Cpu::default(),
            reason: String::new(),
            both: ReusedVec::default(),
        };
        let few = vec![Sphere::new([0.0; 3], 1.0); 2];
        let found = detector
            .detect(&few, 1.0)
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            (found.pairs.len(), found.statistics.backend),
            (1, Backend::Gpu)
        );

        // A device that can bind no more than a mebibyte: half of it spheres,
        // half of it segments.
        if let Some(gpu) = &mut detector.gpu {
            gpu.limits().max_storage_buffer_binding_size = 1 << 20;
        }
        let many: Vec<Sphere> = (0..40_000)
            .map(|i| Sphere::new([(i % 200) as f32, (i / 200) as f32, 0.0], 0.4))
            .collect();
        let found = detector
            .detect(&many, 1.0)
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            (found.pairs.len(), found.statistics.backend),
            (0, Backend::Cpu)
        );
        assert!(
            found
                .statistics
                .reason
                .contains("max_storage_buffer_binding_size"),
            "{}",
            found.statistics.reason
        );
        detector.options.backend = Backend::Gpu;
        let error = detector.detect(&many, 1.0).err();
        assert!(
            matches!(error, Some(Error::DeviceLimit { .. })),
            "{error:?}"
        );
    }
}

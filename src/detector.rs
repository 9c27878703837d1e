//! The detector takes a time step of moving spheres and returns the sorted list of collisions.

use std::marker::PhantomData;

use rayon::prelude::*;

use crate::blocking::{Wait, block_on};
use crate::clock::Instant;
use crate::cpu::{BoundedWalls, Cpu, WallHits, find_at_walls};
use crate::exact::parts;
#[cfg(feature = "gpu")]
use crate::gpu::Gpu;
use crate::limits::Limits;
use crate::memory::allocate;
#[cfg(not(feature = "gpu"))]
use crate::no_gpu::NoGpu as Gpu;
use crate::number::sealed::{Family, Split};
use crate::reuse::ReusedVec;
use crate::statistics::StepOutcome;
use crate::step::UncheckedStep;
use crate::threads;
use crate::wide::{Enclosed, EnclosedMemory, WallsMemory, WideSphere, decide, decide_at_walls};
use crate::{
    Backend, Collision64, Collisions, Domain, Error, Hits, NeighborList, NeighborSearch, Number,
    Options, Sphere, Spheres, Statistics, Step, Touching, WallCollision64, Walls,
};

/// Finds the collisions of a time step, on a GPU or on the CPU.
///
/// A detector keeps its device and its working memory from step to step. Create one detector and use it for
/// every step.
///
/// The work on the CPU, which is a part of each step even with a GPU, runs in the rayon pool of the calling thread, or
/// in rayon's global pool if the calling thread is in none. To choose the number of threads, call the detector inside
/// [`rayon::ThreadPool::install`]. A step with at most 1024 spheres and time segments ([`Statistics::proxies`]) runs on
/// the calling thread alone.
///
/// Steps of many worlds may run in tasks of one pool. While a step waits for other threads, rayon may run another of
/// your tasks on the thread that waits. So a task must not hold a lock or a `RefCell` borrow during a step if your
/// other tasks need it.
pub struct Detector {
    options: Options,
    gpu: Option<Gpu>,
    cpu: Cpu,
    reason: String,
    packed: ReusedVec<Sphere>,
    bounded_walls: BoundedWalls,
    touching: Collisions,
    enclosed: EnclosedMemory,
    enclosed_walls: WallsMemory,
}

/// A step, and where its collisions go.
struct Detection<'a, 'b>(PhantomData<&'b &'a ()>);

impl<'a: 'b, 'b> Family for Detection<'a, 'b> {
    type Of<T: Number> = (&'b Step<'a, Spheres<'a, T>>, &'b mut Collisions<T>);
}

/// A search for neighbours, and where its list goes.
struct Search<'a, 'b>(PhantomData<&'b &'a ()>);

impl<'a: 'b, 'b> Family for Search<'a, 'b> {
    type Of<T: Number> = (
        &'b NeighborSearch<'a, Spheres<'a, T>>,
        &'b mut NeighborList<T>,
    );
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
    /// Creates a detector: chooses the backend (CPU or GPU) and starts it.
    ///
    /// The call blocks until the GPU device is ready. In a browser, use [`new_async`](Self::new_async).
    ///
    /// # Errors
    /// Returns [`Error::NoAdapter`], [`Error::Device`], [`Error::DeviceLost`] or [`Error::FeatureDisabled`] for
    /// [`Backend::Gpu`] if no GPU can be used.
    pub fn new(options: Options) -> Result<Self, Error> {
        block_on(Self::new_async(options))
    }

    /// Creates a detector like [`new`](Self::new), without blocking the thread, for use in a browser.
    ///
    /// # Errors
    /// Returns the same errors as [`new`](Self::new).
    pub async fn new_async(options: Options) -> Result<Self, Error> {
        let (gpu, reason) = match options.backend {
            Backend::Cpu => (None, "the CPU was requested".to_owned()),
            Backend::Gpu => (
                Some(Gpu::new(false, options.checks).await?),
                "a GPU was requested".to_owned(),
            ),
            Backend::Auto => match Gpu::new(true, options.checks).await {
                Ok(gpu) => (Some(gpu), "a hardware GPU was found".to_owned()),
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
        Ok(Self::with_backend(options, gpu, reason))
    }

    /// Returns a detector on the CPU.
    pub(crate) fn on_cpu() -> Self {
        let options = Options::new().with_backend(Backend::Cpu);
        Self::with_backend(options, None, String::new())
    }

    /// Sets the largest number of pairs of the next steps.
    pub(crate) fn limit_pairs(&mut self, most: u64) {
        self.options.max_pairs = most;
    }

    fn with_backend(options: Options, gpu: Option<Gpu>, reason: String) -> Self {
        Self {
            options,
            gpu,
            cpu: Cpu::default(),
            reason,
            packed: ReusedVec::default(),
            bounded_walls: BoundedWalls::default(),
            touching: Collisions::default(),
            enclosed: EnclosedMemory::default(),
            enclosed_walls: WallsMemory::default(),
        }
    }

    /// Returns the backend that this detector uses, never [`Backend::Auto`].
    ///
    /// With [`Backend::Auto`], single steps may still run on the CPU: see [`Statistics::backend`].
    pub fn backend(&self) -> Backend {
        if self.gpu.is_some() {
            Backend::Gpu
        } else {
            Backend::Cpu
        }
    }

    /// Returns a sentence that says why the detector uses the CPU or a GPU.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Returns the name of the GPU, as its driver reports it, with the graphics API, or `None` if the
    /// detector uses the CPU.
    pub fn adapter(&self) -> Option<&str> {
        self.gpu.as_ref().map(Gpu::adapter)
    }

    /// Finds every pair of spheres that touch during a time step.
    ///
    /// The result has each pair once, sorted by sphere indices (a, b). It lacks pairs that
    /// collision groups leave out ([`Sphere::with_groups`]).
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
    /// `detect` never returns an incomplete list of pairs. If it fails, it returns one of these
    /// errors:
    ///
    /// - [`Error::InvalidTimeStep`], [`Error::InvalidSphere`], [`Error::InvalidDomain`] or
    ///   [`Error::TooManySpheres`] for a step out of range.
    /// - [`Error::ColumnLength`] or [`Error::InvalidColumn`] for columns of [`Spheres`] that differ in
    ///   length or have no values.
    /// - [`Error::ImageOutOfRange`] or [`Error::TooManyImages`] for spheres that reach too many cells of a
    ///   periodic domain.
    /// - [`Error::TooManyCandidates`] or [`Error::TooManyPairs`] for a step beyond the limits in [`Options`].
    /// - [`Error::OutOfMemory`] or [`Error::Threads`] if the system lacks memory or threads.
    /// - [`Error::Unsupported`] for a periodic cell that is too small or too skewed for a GPU.
    /// - [`Error::DeviceLimit`], [`Error::Device`] or [`Error::DeviceLost`] if the GPU cannot do the step.
    ///   With [`Backend::Auto`], the CPU does the step instead.
    pub fn detect<T: Number>(
        &mut self,
        step: &Step<'_, Spheres<'_, T>>,
    ) -> Result<Collisions<T>, Error> {
        let mut found = Collisions::default();
        self.detect_into(step, &mut found)?;
        Ok(found)
    }

    /// Finds collisions like [`detect`](Self::detect), and writes them to an existing list.
    ///
    /// The call replaces the contents of the list and reuses its memory. On the CPU, a step that is
    /// similar to earlier steps then allocates almost no memory. The memory of the list never
    /// shrinks, except that an error empties the list and frees its memory.
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
    /// Returns the same errors as [`detect`](Self::detect).
    pub fn detect_into<T: Number>(
        &mut self,
        step: &Step<'_, Spheres<'_, T>>,
        collisions: &mut Collisions<T>,
    ) -> Result<(), Error> {
        block_on(self.detect_either(step, collisions, Wait::Block))
    }

    /// Finds collisions like [`detect`](Self::detect), without blocking the thread while a GPU works.
    ///
    /// - Whenever the future waits for a GPU, carom starts a short-lived thread. This thread polls
    ///   the GPU, so the application need not poll it. In a browser, carom starts no thread,
    ///   because the browser polls the GPU itself.
    /// - Work on the CPU occupies the thread that polls the future.
    ///
    /// The future may be dropped at any time, and the detector remains usable. If the GPU is still working on
    /// the dropped step, the next step creates new GPU buffers.
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
    /// Returns the same errors as [`detect`](Self::detect).
    pub async fn detect_async<T: Number>(
        &mut self,
        step: &Step<'_, Spheres<'_, T>>,
    ) -> Result<Collisions<T>, Error> {
        let mut found = Collisions::default();
        self.detect_into_async(step, &mut found).await?;
        Ok(found)
    }

    /// Finds collisions like [`detect_into`](Self::detect_into), without blocking the thread while a GPU
    /// works: see [`detect_async`](Self::detect_async). If the future is dropped before it completes, the
    /// list is empty.
    ///
    /// # Errors
    /// Returns the same errors as [`detect`](Self::detect).
    pub async fn detect_into_async<T: Number>(
        &mut self,
        step: &Step<'_, Spheres<'_, T>>,
        collisions: &mut Collisions<T>,
    ) -> Result<(), Error> {
        self.detect_either(step, collisions, Wait::Await).await
    }

    /// Finds the neighbours of each particle: all pairs of particles within a cutoff
    /// ([`NeighborSearch::within`]), or all spheres that touch ([`NeighborSearch::touching`]).
    ///
    /// # Errors
    /// Returns [`Error::InvalidCutoff`] for a cutoff or a skin out of range, or an error of
    /// [`detect`](Self::detect).
    pub fn find_neighbors<T: Number>(
        &mut self,
        search: &NeighborSearch<'_, Spheres<'_, T>>,
    ) -> Result<NeighborList<T>, Error> {
        let mut list = NeighborList::default();
        self.find_neighbors_into(search, &mut list)?;
        Ok(list)
    }

    /// Finds neighbours like [`find_neighbors`](Self::find_neighbors), and writes them to an
    /// existing list, whose memory it reuses. An error leaves the list empty.
    ///
    /// # Errors
    /// Returns the same errors as [`find_neighbors`](Self::find_neighbors).
    pub fn find_neighbors_into<T: Number>(
        &mut self,
        search: &NeighborSearch<'_, Spheres<'_, T>>,
        list: &mut NeighborList<T>,
    ) -> Result<(), Error> {
        block_on(self.search_either(search, list, Wait::Block))
    }

    /// Finds neighbours like [`find_neighbors`](Self::find_neighbors), without blocking the thread while a GPU
    /// works: see [`detect_async`](Self::detect_async).
    ///
    /// # Errors
    /// Returns the same errors as [`find_neighbors`](Self::find_neighbors).
    pub async fn find_neighbors_async<T: Number>(
        &mut self,
        search: &NeighborSearch<'_, Spheres<'_, T>>,
    ) -> Result<NeighborList<T>, Error> {
        let mut list = NeighborList::default();
        self.find_neighbors_into_async(search, &mut list).await?;
        Ok(list)
    }

    /// Finds neighbours like [`find_neighbors_into`](Self::find_neighbors_into), without blocking the thread
    /// while a GPU works: see [`detect_async`](Self::detect_async). If the future is dropped
    /// before it completes, the list is empty.
    ///
    /// # Errors
    /// Returns the same errors as [`find_neighbors`](Self::find_neighbors).
    pub async fn find_neighbors_into_async<T: Number>(
        &mut self,
        search: &NeighborSearch<'_, Spheres<'_, T>>,
        list: &mut NeighborList<T>,
    ) -> Result<(), Error> {
        self.search_either(search, list, Wait::Await).await
    }

    async fn detect_either<T: Number>(
        &mut self,
        step: &Step<'_, Spheres<'_, T>>,
        to: &mut Collisions<T>,
        wait: Wait,
    ) -> Result<(), Error> {
        match T::split::<Detection<'_, '_>>((step, &mut *to)) {
            Split::Float32((step, to)) => self.detect_waiting(step, to, wait).await?,
            Split::Float64((step, to)) => self.detect_wide(step, to, wait).await?,
        }
        if step.approaching {
            let left = threads::run(to.pairs.len() + to.walls.len(), || leave_out(step, to));
            if let Err(error) = left {
                *to = Collisions::default();
                return Err(error);
            }
        }
        Ok(())
    }

    async fn search_either<T: Number>(
        &mut self,
        search: &NeighborSearch<'_, Spheres<'_, T>>,
        to: &mut NeighborList<T>,
        wait: Wait,
    ) -> Result<(), Error> {
        match T::split::<Search<'_, '_>>((search, to)) {
            Split::Float32((search, to)) => self.search_waiting(search, to, wait).await,
            Split::Float64((search, to)) => self.search_wide(search, to, wait).await,
        }
    }

    async fn search_waiting(
        &mut self,
        search: &NeighborSearch<'_>,
        list: &mut NeighborList,
        wait: Wait,
    ) -> Result<(), Error> {
        let mut used = std::mem::take(list);
        let mut found = std::mem::take(&mut self.touching);
        threads::run(search.len(), || used.begin(search))?;
        let step = Step::new(used.searched(), 0.0).in_domain(search.domain());
        self.detect_waiting(&step, &mut found, wait).await?;
        threads::run(found.pairs.len(), || used.fill(&mut found))?;
        self.touching = found;
        *list = used;
        Ok(())
    }

    async fn detect_waiting(
        &mut self,
        step: &Step<'_>,
        collisions: &mut Collisions,
        wait: Wait,
    ) -> Result<(), Error> {
        let mut used = std::mem::take(collisions);
        let mut hits = WallHits {
            hits: std::mem::take(&mut used.walls.items),
            images: std::mem::take(&mut used.walls.images),
        };
        let mut packed = std::mem::take(&mut self.packed);
        let found = match step.in_one_slice(&mut packed) {
            Ok(own) => self.find(own, step.walls(), used, &mut hits, wait).await,
            Err(error) => Err(error),
        };
        self.packed = packed;
        *collisions = found?;
        collisions.walls = Hits {
            items: hits.hits,
            images: hits.images,
        };
        Ok(())
    }

    async fn find(
        &mut self,
        step: UncheckedStep<'_>,
        walls: Option<&Walls>,
        used: Collisions,
        hits: &mut WallHits,
        wait: Wait,
    ) -> Result<Collisions, Error> {
        let limits = self.limits();
        if let Some(walls) = walls {
            walls.check(step.dt, &step.domain)?;
        }
        let mut found = self.run(step, used, limits, wait).await?;
        match walls {
            None => {
                hits.hits.clear();
                hits.images.clear();
            }
            Some(walls) => {
                let clock = Instant::now();
                self.at_walls(&step, walls, limits, hits)?;
                found.statistics.stages.push(("walls", clock.elapsed()));
            }
        }
        Ok(found)
    }

    async fn search_wide(
        &mut self,
        search: &NeighborSearch<'_, Spheres<'_, f64>>,
        list: &mut NeighborList<f64>,
        wait: Wait,
    ) -> Result<(), Error> {
        let mut used = std::mem::take(list);
        let mut memory = std::mem::take(&mut self.enclosed);
        let found = self.list_wide(search, &mut memory, &mut used, wait).await;
        self.enclosed = memory;
        found?;
        *list = used;
        Ok(())
    }

    async fn list_wide(
        &mut self,
        search: &NeighborSearch<'_, Spheres<'_, f64>>,
        memory: &mut EnclosedMemory,
        list: &mut NeighborList<f64>,
        wait: Wait,
    ) -> Result<(), Error> {
        threads::run(search.len(), || list.begin(search))?;
        let searched = std::mem::take(&mut list.searched);
        let used = std::mem::take(&mut self.touching);
        let enclosed = Enclosed::at_rest(&searched, search.domain(), memory)?;
        let limits = self.limits();
        let found = self
            .run(enclosed.step, used, limits.for_enclosing(), wait)
            .await;
        let mut found = found.map_err(|error| explain(error, limits, &enclosed.domain))?;
        threads::run(found.pairs.len(), || list.fill_wide(&mut found, &enclosed))?;
        list.searched = searched;
        let pairs = list.len() / if search.full { 2 } else { 1 };
        limits.allow_pairs(pairs as u64)?;
        self.touching = found;
        Ok(())
    }

    async fn detect_wide(
        &mut self,
        step: &Step<'_, Spheres<'_, f64>>,
        collisions: &mut Collisions<f64>,
        wait: Wait,
    ) -> Result<(), Error> {
        let Collisions { pairs, walls, .. } = std::mem::take(collisions);
        let mut memory = std::mem::take(&mut self.enclosed);
        let used = std::mem::take(&mut self.touching);
        let found = self
            .decide_wide(step, &mut memory, used, (pairs, walls), wait)
            .await;
        self.enclosed = memory;
        *collisions = found?;
        Ok(())
    }

    async fn decide_wide(
        &mut self,
        step: &Step<'_, Spheres<'_, f64>>,
        memory: &mut EnclosedMemory,
        used: Collisions,
        (mut pairs, mut hits): (Hits<Collision64>, Hits<WallCollision64>),
        wait: Wait,
    ) -> Result<Collisions<f64>, Error> {
        let clock = Instant::now();
        let enclosed = Enclosed::new(step, memory)?;
        let enclosing = clock.elapsed();
        let walls = step.walls().filter(|walls| !walls.is_empty());
        if let Some(walls) = walls {
            walls.check(step.dt, &step.domain)?;
        }
        let limits = self.limits();
        let found = self
            .run(enclosed.step, used, limits.for_enclosing(), wait)
            .await;
        let mut found = found.map_err(|error| explain(error, limits, &enclosed.domain))?;
        let clock = Instant::now();
        let grazing = threads::run(found.pairs.len(), || {
            decide(&enclosed, &mut found.pairs, &mut pairs)
        })?;
        limits.allow_pairs(pairs.len() as u64)?;
        let mut statistics = std::mem::take(&mut found.statistics);
        statistics.pairs = pairs.len() as u64;
        (statistics.grazing, statistics.grazing_by_integers) = (grazing.all, grazing.by_integers);
        statistics.stages.insert(0, ("enclose", enclosing));
        statistics
            .stages
            .push(("decide in float64", clock.elapsed()));
        match walls {
            None => {
                hits.items.clear();
                hits.images.clear();
            }
            Some(walls) => {
                let clock = Instant::now();
                self.find_at_walls(&enclosed, walls, &mut hits)
                    .map_err(|error| explain(error, limits, &enclosed.domain))?;
                statistics.stages.push(("walls", clock.elapsed()));
            }
        }
        let (spheres, sets) = (enclosed.step.spheres.len(), enclosed.step.sets);
        statistics.memory += (memory.bytes() + self.enclosed_walls.bytes()) as u64;
        self.touching = found;
        let mut collisions = Collisions::new(pairs, spheres, sets, statistics);
        collisions.walls = hits;
        Ok(collisions)
    }

    fn find_at_walls(
        &mut self,
        enclosed: &Enclosed<'_>,
        walls: &Walls<f64>,
        hits: &mut Hits<WallCollision64>,
    ) -> Result<(), Error> {
        let mut memory = std::mem::take(&mut self.enclosed_walls);
        let enclosing = enclosed.at_walls(walls, &mut memory)?;
        let (step, limits) = (enclosing.step, self.limits());
        let more = limits.for_enclosing();
        threads::run(step.spheres.len(), || step.check().map(drop))?;
        let mut found = WallHits::default();
        self.at_walls(&step, &enclosing.walls, more, &mut found)?;
        decide_at_walls(enclosed, walls, &enclosing, &found, hits)?;
        enclosing.keep();
        self.enclosed_walls = memory;
        limits.allow_pairs(hits.len() as u64)
    }

    /// On the CPU with both backends.
    fn at_walls(
        &mut self,
        step: &UncheckedStep<'_>,
        walls: &Walls,
        limits: Limits,
        hits: &mut WallHits,
    ) -> Result<(), Error> {
        threads::run(step.spheres.len(), || {
            find_at_walls(walls, step, limits, hits)
        })?;
        let (bounded, cpu) = (&mut self.bounded_walls, &mut self.cpu);
        if !step.domain.is_open() {
            bounded.find(cpu, step, walls, limits, hits)?;
        }
        limits.allow_pairs(hits.hits.len() as u64)
    }

    fn limits(&self) -> Limits {
        Limits {
            candidates: self.options.max_candidates,
            pairs: self.options.max_pairs,
        }
    }

    async fn run(
        &mut self,
        step: UncheckedStep<'_>,
        used: Collisions,
        limits: Limits,
        wait: Wait,
    ) -> Result<Collisions, Error> {
        let UncheckedStep { spheres, sets, .. } = step;
        let Collisions {
            pairs:
                Hits {
                    items: mut pairs,
                    mut images,
                },
            statistics: Statistics {
                mut reason, stages, ..
            },
            ..
        } = used;
        reason.clone_from(&self.reason);
        let mut statistics = Statistics {
            spheres: spheres.len() as u64,
            reason,
            ..Statistics::default()
        };
        if let Some(gpu) = self.gpu.as_mut() {
            step.check_size()?;
            let found = gpu.run(step, limits, wait, &mut pairs, &mut images);
            match found.await {
                Ok(outcome) => {
                    limits.allow_pairs(pairs.len() as u64)?;
                    statistics.backend = Backend::Gpu;
                    statistics.adapter = Some(gpu.adapter().to_owned());
                    let statistics = completed(statistics, outcome, &pairs);
                    let pairs = Hits {
                        items: pairs,
                        images,
                    };
                    return Ok(Collisions::new(pairs, spheres.len(), sets, statistics));
                }
                Err(
                    error @ (Error::DeviceLimit { .. }
                    | Error::Device { .. }
                    | Error::DeviceLost
                    | Error::ImageOutOfRange { .. }
                    | Error::Unsupported { .. }),
                ) if self.options.backend == Backend::Auto => {
                    statistics.reason = format!("the step failed on the GPU: {error}");
                    log::warn!("carom falls back to the CPU because {}", statistics.reason);
                }
                Err(error) => return Err(error),
            }
        }
        let cpu = &mut self.cpu;
        let work = || cpu.run(step.check()?, limits, &mut pairs, &mut images, stages);
        let outcome = threads::run(spheres.len(), work)?;
        statistics.backend = Backend::Cpu;
        let statistics = completed(statistics, outcome, &pairs);
        let pairs = Hits {
            items: pairs,
            images,
        };
        Ok(Collisions::new(pairs, spheres.len(), sets, statistics))
    }
}

/// Leaves out the pairs, and the spheres at walls, that touch at the start of a step and do not approach.
fn leave_out<T: Number>(
    step: &Step<'_, Spheres<'_, T>>,
    found: &mut Collisions<T>,
) -> Result<(), Error> {
    let first = step.first.len();
    let numbers = |set: Option<Spheres<'_, T>>, index: usize| {
        let mut sphere = [T::Packed::default()];
        if let Some(set) = set {
            set.pack(index, &mut sphere);
        }
        let WideSphere {
            center,
            radius,
            velocity,
            ..
        } = T::wide(&sphere[0]);
        (center, radius, velocity)
    };
    let products = |image| step.domain.products(image);
    let other_set = step.second.or(Some(step.first));
    retain(&mut found.pairs, |pair, image| {
        let [a, b] = pair.sides().map(|index| index as usize);
        parts(
            &[numbers(Some(step.first), a), numbers(other_set, b)],
            &products(image),
        )
    })?;
    found.statistics.pairs = found.pairs.len() as u64;
    let Some(walls) = step.walls() else {
        return Ok(());
    };
    retain(&mut found.walls, |hit, image| {
        let [sphere, wall] = hit.sides().map(|index| index as usize);
        let numbers = match sphere.checked_sub(first) {
            None => numbers(Some(step.first), sphere),
            Some(index) => numbers(step.second, index),
        };
        let wall = walls.wide(wall);
        wall.is_some_and(|wall| wall.parts(&numbers, &products(image)))
    })
}

/// Keeps the hits that do not touch at the start, or do not part.
fn retain<T: Number, H: Touching<T> + Sync>(
    hits: &mut Hits<H>,
    parts: impl Fn(&H, [i32; 3]) -> bool + Sync,
) -> Result<(), Error> {
    let mut part = allocate(hits.len(), "a copy of the list")?;
    let all = hits.items.par_iter().enumerate();
    part.par_extend(all.map(|(k, hit)| hit.toi() == T::default() && parts(hit, hits.image(k))));
    let mut part = part.into_iter();
    hits.retain(|_, _| !part.next().unwrap_or(false));
    Ok(())
}

/// Turns an error about the enclosing spheres and domain into one about the given ones.
fn explain(error: Error, limits: Limits, domain: &Domain) -> Error {
    match error {
        Error::TooManyPairs { needed, .. } => Error::TooManyPairs {
            needed,
            limit: limits.pairs,
        },
        Error::InvalidDomain { .. } | Error::InvalidSphere { .. } => Error::InvalidDomain {
            problem: format!(
                "its periodic edges {:?} are nearly parallel, or much shorter than the spheres or their motions; \
                 correct them, or make an edge open with `with_periodic`",
                domain.edges()
            ),
        },
        error => error,
    }
}

fn completed(
    statistics: Statistics,
    outcome: StepOutcome,
    pairs: &[crate::Collision],
) -> Statistics {
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

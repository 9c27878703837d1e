//! The public type of a simulation, which owns the state and divides steps into substeps.

use glam::DVec3;
use rayon::prelude::*;

use super::candidate::Candidate;
use super::candidate::TouchKey;
use super::pace::{Load, Pace, least, most_impacts};
use super::path::Piece;
use super::report::{Partner, Removal};
use super::rest::Rest;
use super::rows::{SUBSTEP, push, reserve};
use super::rules::ResponseRule;
use super::separate::separate_once;
use super::setting::fall;
use super::start::Start;
use super::state::{State, copied};
use super::substep::Substep;
use super::walls::MovingWalls;
use super::{Encounter, HardSphere, Response, SimulationOptions, StepReport};
use crate::hits::sort_both;
use crate::lattice::Lattice;
use crate::limits::{CHUNK, MAX_SPHERES};
use crate::memory::{collect_in_parallel, extend, filled};
use crate::threads;
use crate::{Detector, Domain, Error, MAX_MAGNITUDE};

/// Moves hard spheres through time, so that every impact happens at its time and in its order.
///
/// Spheres move freely between impacts. When two of them meet, their velocities change along the normal, as the
/// coefficient of restitution says. The impacts of each sphere are the same, and in the same order, as if all
/// impacts were processed one after the other in the order of time. Impacts at exactly the same time are
/// processed in the order of sphere, partner and image.
///
/// The state is in float64. A step runs in the rayon pool of the calling thread or, if it is in none, in rayon's
/// global pool. The result has the same bytes for any number of threads. The units of length, time and mass are your
/// choice.
///
/// Two overlapping spheres have an impact at once if they approach each other. Otherwise they move
/// on without an impact until they are separate. [`separate`](Self::separate) moves overlapping
/// spheres apart. In a periodic domain, a sphere has no impacts with its own images, even if it is larger than the
/// cell, because they all move alike.
///
/// Discs in a plane are spheres with z = 0: if the velocities, gravity and the normals of walls have z = 0, too, all z stay
/// exactly 0.
///
/// # Saving
/// A copy (`clone`) goes on with the same bytes. With the feature `serde`, a simulation may also be written, and the
/// simulation that is read goes on with the same bytes: the text or the bytes have all that its steps depend on, which
/// includes the clock, the walls, removed spheres and the memory of contacts. Numbers are written as their bits, because
/// readers of text may round. Only the version of carom that wrote a simulation reads it. A simulation that was cut off,
/// changed, or written by another version is an error of serde with the text of [`Error::InvalidSnapshot`].
///
/// # Example
/// ```
/// use carom::{HardSphere, Simulation, SimulationOptions};
/// let left = HardSphere::new([0.0; 3], 0.5).with_velocity([2.0, 0.0, 0.0]);
/// let right = HardSphere::new([3.0, 0.0, 0.0], 0.5);
/// let mut simulation = Simulation::new(vec![left, right], SimulationOptions::new())?;
/// let report = simulation.step(2.0)?;
/// assert_eq!(report.sphere_impacts, 1);
/// assert_eq!(simulation.spheres()[0].velocity[0], 0.0);
/// // Sphere 1 was hit at time 1, and has moved by 2 since.
/// assert!((simulation.spheres()[1].center[0] - 5.0).abs() < 1e-12);
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Debug)]
pub struct Simulation {
    /// The spheres in the caller's order. In a periodic domain, their centres are wrapped into the cell.
    pub(super) spheres: Vec<HardSphere>,
    /// The same spheres in another order, in which the simulation stores neighbours close together.
    pub(super) state: State,
    pub(super) options: SimulationOptions,
    pub(super) lattice: Lattice,
    pub(super) walls: MovingWalls,
    pub(super) time: f64,
    pub(super) pace: Pace,
    pub(super) detector: Detector,
    pub(super) substep: Substep,
    pub(super) rest: Rest,
    /// The pairs that pass through each other since a rule has ignored their impact, sorted.
    pub(super) passing: Vec<TouchKey>,
    /// The contacts of the last step, sorted, if the options request them.
    pub(super) contacts: Vec<(u32, Partner)>,
}

impl Simulation {
    /// Creates a simulation at time 0. In a periodic domain, the centres are wrapped into its cell.
    ///
    /// # Errors
    /// - [`Error::InvalidHardSphere`] for a sphere with a number that is out of range, such as a mass of 0.
    /// - [`Error::InvalidSimulation`], [`Error::InvalidDomain`] or [`Error::InvalidWall`] for options that are
    ///   out of range.
    /// - [`Error::TooManySpheres`] for more than 2³⁰ spheres.
    /// - [`Error::OutOfMemory`] if the memory does not suffice.
    pub fn new(spheres: Vec<HardSphere>, options: SimulationOptions) -> Result<Self, Error> {
        if spheres.len() > MAX_SPHERES {
            return Err(Error::TooManySpheres {
                count: spheres.len(),
                limit: MAX_SPHERES,
            });
        }
        options.check(spheres.len())?;
        check_spheres(&spheres)?;
        let lattice = Lattice::new(&options.domain)?;
        let detector = Detector::on_cpu();
        let state = State::new(&spheres, !lattice.is_open(), &options)?;
        let walls = MovingWalls::new(&options.walls, &options.domain, options.one_sided_meshes)?;
        let mut simulation = Self {
            spheres,
            state,
            walls,
            options,
            lattice,
            time: 0.0,
            pace: Pace::new(),
            detector,
            substep: Substep::default(),
            rest: Rest::default(),
            passing: Vec::new(),
            contacts: Vec::new(),
        };
        simulation.place_anew();
        Ok(simulation)
    }

    /// Returns the spheres. In a periodic domain, their centres are in the cell, up to rounding.
    pub fn spheres(&self) -> &[HardSphere] {
        &self.spheres
    }

    /// Returns the centre of a sphere without wrapping into the cell of a periodic domain, so that it moves
    /// continuously, or `None` if there is no such sphere.
    pub fn unwrapped_center(&self, sphere: usize) -> Option<[f64; 3]> {
        let place = self.state.place(sphere)?;
        let cell = self.state.cells.get(place).copied().unwrap_or_default();
        let center = self.state.spheres[place].place() + self.lattice.shift(cell);
        Some(center.to_array())
    }

    /// Returns the simulated time since the simulation was created.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Returns the domain.
    pub fn domain(&self) -> &Domain {
        &self.options.domain
    }

    /// Returns the acceleration of all spheres of finite mass.
    pub fn gravity(&self) -> [f64; 3] {
        self.options.gravity.to_array()
    }

    /// Calls the function `change`, which may change the spheres, for example their velocities. A
    /// removed sphere stays removed, with a velocity of 0. [`restore`](Self::restore) puts it back.
    ///
    /// # Errors
    /// Returns [`Error::InvalidHardSphere`] if the function `change` sets a number of a sphere to a
    /// value out of range. Returns [`Error::OutOfMemory`] if the memory does not suffice. After
    /// either error, the spheres are as they were before the call.
    pub fn edit(&mut self, change: impl FnOnce(&mut [HardSphere])) -> Result<(), Error> {
        // `self.spheres` may be out of date: if the caller's rule has panicked in a step, only `self.state`
        // has the last substeps.
        self.state.export(&mut self.spheres, &self.lattice);
        let mut spheres = copied(&self.spheres)?;
        change(&mut spheres);
        for (index, sphere) in spheres.iter_mut().enumerate() {
            if self.is_removed(index) {
                sphere.velocity = [0.0; 3];
            }
        }
        if spheres == self.spheres {
            return Ok(());
        }
        check_spheres(&spheres)?;
        self.spheres = spheres;
        self.state.wrap(0.0, &self.lattice);
        self.state.import(&self.spheres);
        self.place_anew();
        Ok(())
    }

    /// Returns whether [`Outcome::Remove`](crate::Outcome::Remove) or [`remove`](Self::remove) has removed a sphere.
    ///
    /// A removed sphere takes part in nothing in this simulation. (A [`Detector`] that is given
    /// [`spheres`](Self::spheres) still finds it.) Its index remains, so the indices of the other spheres do not
    /// change. Its centre stays at the place of the removal, and its velocity is 0. So [`spheres`](Self::spheres)
    /// has the momentum and the kinetic energy of the spheres that remain, and [`StepReport::removed`] tells the
    /// velocity with which a sphere was removed.
    ///
    /// ```
    /// use carom::{HardSphere, Outcome, Response, Simulation, SimulationOptions};
    /// let bullet = HardSphere::new([0.0; 3], 0.5).with_velocity([2.0, 0.0, 0.0]);
    /// let target = HardSphere::new([3.0, 0.0, 0.0], 0.5);
    /// let mut simulation = Simulation::new(vec![bullet, target], SimulationOptions::new())?;
    /// // The target vanishes, and the bullet flies on.
    /// let report = simulation.step_with(2.0, &|encounter| {
    ///     Response::Each([Outcome::Velocity(encounter.velocities[0]), Outcome::Remove])
    /// })?;
    /// assert_eq!((report.removed[0].time, report.removed[0].sphere), (1.0, 1));
    /// assert!(simulation.is_removed(1));
    /// assert_eq!(simulation.spheres()[0].center[0], 4.0);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn is_removed(&self, sphere: usize) -> bool {
        let place = self.state.place(sphere);
        place.is_some_and(|place| self.state.removed[place])
    }

    /// Puts a removed sphere back, with its index and a new state.
    ///
    /// # Errors
    /// - [`Error::InvalidSimulation`] if `sphere` is not the index of a removed sphere.
    /// - [`Error::InvalidHardSphere`] if a number in `state` is out of range.
    pub fn restore(&mut self, sphere: usize, state: HardSphere) -> Result<(), Error> {
        if !self.is_removed(sphere) {
            let count = self.spheres.len();
            return Err(Error::InvalidSimulation {
                problem: if sphere < count {
                    format!("sphere {sphere} is not removed, so it cannot be restored")
                } else {
                    format!("there is no sphere {sphere} to restore: there are {count} spheres")
                },
            });
        }
        state.check(sphere)?;
        if let Some(place) = self.state.place(sphere) {
            self.forget_contacts(sphere);
            self.rest.forces.appear(sphere);
            self.state.restore(place, state);
        }
        self.place_anew();
        Ok(())
    }

    /// Moves spheres apart that overlap each other or a wall, in at most `passes` passes. Returns the number of
    /// passes that were needed.
    ///
    /// A pass goes over all overlaps in the order of sphere, partner and image. Two spheres move along the line
    /// of their centres until they touch, each in proportion to its inverse mass, so a sphere of infinite mass
    /// stays. A sphere that overlaps a wall moves along the wall's normal. Velocities do not change. An overlap
    /// of 10⁻⁹ of the sum of the radii is ignored. Two spheres at one point move in a direction that follows from their
    /// indices. Three or more are first put side by side in a heap like a ball, or like a disc if all z
    /// and all velocities along z are 0. Pairs that never hit each other, such as two spheres of infinite mass, may overlap.
    ///
    /// ```
    /// use carom::{HardSphere, Simulation, SimulationOptions};
    /// let balls = [0.0, 1.0, 2.0].map(|x| HardSphere::new([x, 0.0, 0.0], 0.6));
    /// let mut simulation = Simulation::new(balls.to_vec(), SimulationOptions::new())?;
    /// simulation.separate(100)?;
    /// let [a, b] = [0, 1].map(|k| simulation.spheres()[k].center[0]);
    /// assert!(b - a > 1.2 - 1e-8);
    /// # Ok::<(), carom::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Error::StillOverlapping`] if spheres still overlap after `passes` passes, and the errors of
    /// [`Detector::detect`]. After an error, all spheres are where they were before.
    pub fn separate(&mut self, passes: u32) -> Result<u32, Error> {
        threads::run(usize::MAX, || self.separate_here(passes))
    }

    /// Moves overlapping spheres apart on the threads of the current pool.
    fn separate_here(&mut self, passes: u32) -> Result<u32, Error> {
        self.substep.candidates.forget();
        self.state.sort(&self.lattice)?;
        let mut spheres = copied(&self.state.spheres)?;
        let mut deepest = None;
        for pass in 0..=passes {
            let before = copied(&spheres)?;
            let start = Start {
                spheres: &before,
                most_impacts: self.options.max_impacts(),
                ..Start::at(
                    &self.state,
                    &self.options,
                    &self.lattice,
                    &self.walls,
                    ResponseRule::default(),
                    self.time,
                )
            };
            let candidates = &mut self.substep.candidates;
            let (first, detector) = (pass == 0, &mut self.detector);
            let found = separate_once(&mut spheres, first, &start, candidates, detector);
            candidates.forget();
            deepest = found?;
            if deepest.is_none() {
                if pass > 0 {
                    self.state.spheres = before;
                    self.state.resting.fill(false);
                    self.place_anew();
                }
                return Ok(pass);
            }
        }
        let (sphere, _, depth) = deepest.unwrap_or((0, Partner::Sphere(0), 0.0));
        Err(Error::StillOverlapping {
            passes,
            sphere: sphere as usize,
            depth,
        })
    }

    /// Moves the spheres through a time `duration`, and reports the impacts. The step ends before if it reaches the limit
    /// that [`SimulationOptions::with_max_step_impacts`] sets.
    ///
    /// # Errors
    /// An error leaves the simulation at the end of the last complete substep: [`time`](Self::time) says when.
    ///
    /// - [`Error::InvalidSimulation`] for a duration that is negative, not a number or above 2⁶⁰, or that changes
    ///   [`time`](Self::time) by something else, because float64 numbers near the end are too far apart.
    /// - [`Error::InvalidHardSphere`] if a sphere may move so far that a coordinate exceeds 2⁶⁰ in magnitude, if it is so
    ///   far from the origin that float64 cannot represent its motion (numbers that are farther apart than a thousandth
    ///   of its radius, or than its motion in the step), or if the function passed to [`step_with`](Self::step_with) gives a sphere a velocity that is not finite or too
    ///   large.
    /// - [`Error::TooManyImpacts`] if spheres have more impacts in a short substep than
    ///   [`SimulationOptions::with_max_impacts`] allows, as in the collapse of inelastic spheres, or between walls that
    ///   close on a sphere.
    /// - The errors of [`Detector::detect`], such as [`Error::OutOfMemory`].
    pub fn step(&mut self, duration: f64) -> Result<StepReport, Error> {
        self.step_by(duration, ResponseRule::default(), &|| true)
    }

    /// Moves the spheres like [`step`](Self::step), and lets a function decide what each impact does.
    ///
    /// The function must be pure: its result may depend only on its argument, the [`Encounter`]
    /// (two objects that meet, before it is decided what happens). carom may call it for encounters
    /// that are later discarded, in any order and on several threads. So the function must not
    /// count or record anything: the impacts that have happened are in [`StepReport::impacts`].
    /// Encounters that the function ignores are not in this list. Two spheres that the function
    /// lets pass through each other pass until they are apart, also in later steps with a rule.
    ///
    /// If the function has to decide at random, it must compute the random number from the encounter, for example
    /// from a hash of the two indices and the bits of the time. Then it decides the same in each call.
    ///
    /// ```
    /// use carom::{HardSphere, Partner, Response, Simulation, SimulationOptions};
    /// let ball = |x: f64, v: f64| HardSphere::new([x, 0.0, 0.0], 0.5).with_velocity([v, 0.0, 0.0]);
    /// let balls = vec![ball(0.0, 1.0), ball(2.0, 0.0), ball(4.0, 0.0)];
    /// let mut simulation = Simulation::new(balls, SimulationOptions::new())?;
    /// // Sphere 1 is a ghost.
    /// let report = simulation.step_with(4.0, &|encounter| {
    ///     if encounter.sphere == 1 || encounter.partner == Partner::Sphere(1) {
    ///         Response::Ignore
    ///     } else {
    ///         Response::Bounce
    ///     }
    /// })?;
    /// assert_eq!(report.sphere_impacts, 1);
    /// assert_eq!(simulation.spheres()[2].velocity[0], 1.0);
    /// # Ok::<(), carom::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`step`](Self::step).
    pub fn step_with(
        &mut self,
        duration: f64,
        rule: &(dyn Fn(&Encounter) -> Response + Sync),
    ) -> Result<StepReport, Error> {
        self.step_by(duration, ResponseRule(Some(rule)), &|| true)
    }

    /// Moves the spheres like [`step`](Self::step) or, with a rule, like [`step_with`](Self::step_with), as long as the
    /// function `go_on` returns true. It is called before each substep. If it returns false, the step ends there, with
    /// [`StepReport::completed`] false. So a program can end a long step, for example when its user asks for it.
    ///
    /// ```
    /// use carom::{HardSphere, Simulation, SimulationOptions};
    /// let ball = HardSphere::new([0.0; 3], 0.5).with_velocity([2.0, 0.0, 0.0]);
    /// let mut simulation = Simulation::new(vec![ball], SimulationOptions::new())?;
    /// let report = simulation.step_while(1.0, None, &|| false)?;
    /// assert!(!report.completed);
    /// assert_eq!(simulation.time(), 0.0);
    /// # Ok::<(), carom::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`step`](Self::step).
    pub fn step_while(
        &mut self,
        duration: f64,
        rule: Option<&(dyn Fn(&Encounter) -> Response + Sync)>,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<StepReport, Error> {
        self.step_by(duration, ResponseRule(rule), go_on)
    }

    fn step_by(
        &mut self,
        duration: f64,
        rule: ResponseRule<'_>,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<StepReport, Error> {
        let most = f64::from(MAX_MAGNITUDE);
        if !(0.0..=most).contains(&duration) {
            return Err(Error::InvalidSimulation {
                problem: format!(
                    "the duration of the step is {duration:?}, but must be from 0.0 to {most:?}"
                ),
            });
        }
        threads::run(usize::MAX, || self.step_here(duration, rule, go_on))
    }

    /// Does a step on the threads of the current pool.
    fn step_here(
        &mut self,
        duration: f64,
        rule: ResponseRule<'_>,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<StepReport, Error> {
        self.check_resolution(duration)?;
        self.check_time(duration)?;
        let mut report = StepReport {
            wall_impulses: filled(self.options.walls.simple().len(), [0.0; 3], SUBSTEP)?,
            ..StepReport::default()
        };
        let end = self.time + duration;
        let least = least(duration, self.spheres.len());
        let mut result = Ok(());
        let most = self.options.max_step_impacts(self.spheres.len());
        let before = self.substep.candidates.work;
        let is_left = |simulation: &Self, report: &StepReport| {
            let impacts = report.sphere_impacts + report.wall_impacts + report.substeps;
            let searches = simulation.substep.candidates.work.since(before);
            impacts.saturating_add(searches) < most
        };
        while self.time < end && is_left(self, &report) && go_on() {
            match self.advance(end, least, rule, &mut report) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        report.completed = self.time >= end;
        if self.options.contacts && result.is_ok() {
            result = self.compare_contacts(&mut report);
        }
        self.state.export(&mut self.spheres, &self.lattice);
        result?;
        report.kinetic_energy = self.kinetic_energy();
        Ok(report)
    }

    /// Divides the contacts of a step by those of the step before.
    fn compare_contacts(&mut self, report: &mut StepReport) -> Result<(), Error> {
        let pairs = self.rest.forces.pairs();
        let pressing = pairs.filter(|(_, force)| *force > 0.0);
        let pressing = pressing.map(|(&(sphere, partner, _), _)| (sphere, partner));
        extend(&mut report.began, pressing, SUBSTEP)?;
        report.began.sort_unstable();
        report.began.dedup();
        let contacts = copied(&report.began)?;
        report.compare_contacts(&self.contacts)?;
        self.contacts = contacts;
        Ok(())
    }

    /// Returns the kinetic energy of all spheres of finite mass that have not been removed.
    pub fn kinetic_energy(&self) -> f64 {
        let spheres = self.state.spheres.par_chunks(CHUNK);
        let chunks = spheres.zip(self.state.removed.par_chunks(CHUNK));
        let energy = |(spheres, removed): (&[HardSphere], &[bool])| {
            let all = spheres.iter().zip(removed);
            let present = all.filter(|(_, removed)| !**removed);
            present
                .map(|(sphere, _)| sphere.kinetic_energy())
                .sum::<f64>()
        };
        // The sums of chunks are added in order, so the sum does not depend on the number of threads.
        // Without spheres, `sum` would return -0.0.
        let sum = |sum, energy| sum + energy;
        let sums = threads::ready().and_then(|()| collect_in_parallel(chunks.map(energy), SUBSTEP));
        if let Ok(sums) = sums {
            return sums.into_iter().fold(0.0, sum);
        }
        let spheres = self.state.spheres.chunks(CHUNK);
        let chunks = spheres.zip(self.state.removed.chunks(CHUNK));
        chunks.map(energy).fold(0.0, sum)
    }

    /// Returns whether gravity may accelerate only some of the spheres.
    fn is_mixed(&self) -> bool {
        let any_fixed = || self.state.spheres.par_iter().any(HardSphere::is_fixed);
        let any_rests = || self.state.resting.par_iter().any(|&rests| rests);
        any_rests() || (self.options.gravity != DVec3::ZERO && any_fixed())
    }

    /// Returns whether all spheres sleep, and no wall moves, so that nothing can happen.
    fn is_asleep(&self) -> bool {
        let forces = &self.rest.forces;
        let lies = |place: usize, sphere: &HardSphere| {
            let is_fixed = sphere.is_fixed() && sphere.motion() == DVec3::ZERO;
            is_fixed || self.state.removed[place] || forces.sleeps(self.state.ids[place])
        };
        let mut all = self.state.spheres.iter().enumerate();
        !forces.sleeping.is_empty()
            && !self.walls.any_moves()
            && all.all(|(k, sphere)| lies(k, sphere))
    }

    /// Advances the simulation by one substep, but not beyond the time `end`. Impacts do not make
    /// the substep shorter than `least`. Returns whether it has advanced: not if the substep alone has more impacts than
    /// the step may have.
    fn advance(
        &mut self,
        end: f64,
        least: f64,
        rule: ResponseRule<'_>,
        report: &mut StepReport,
    ) -> Result<bool, Error> {
        let remaining = end - self.time;
        if self.is_asleep() {
            report.rest(self.rest.forces_asleep(remaining)?);
            report.substeps += 1;
            self.time = end;
            return Ok(true);
        }
        // A substep shorter than this could leave the simulated time unchanged, because rounding
        // would discard its duration.
        let shortest = 8.0 * f64::EPSILON * end;
        let pace = self.pace.next(&self.state.spheres, &self.options);
        let pace = pace.min(self.rest.longest.unwrap_or(f64::INFINITY));
        let mut duration = pace.max(shortest).min(remaining);
        // The remaining time is divided into substeps of equal duration, so that no short one is left at the
        // end.
        let count = (remaining / duration).ceil();
        if count.is_finite() {
            duration = (remaining / count).min(remaining);
        }

        let count = self.spheres.len();
        let candidates = &self.substep.candidates;
        if !candidates.cover(self.time, duration, count) {
            self.substep.candidates.forget();
            self.state.sort(&self.lattice)?;
        }
        let mixed = self.is_mixed();
        let mut last = copied(&self.state.last)?;
        for last in &mut last {
            *last -= self.time;
        }
        loop {
            let start = Start {
                last: &last,
                duration,
                most_impacts: most_impacts(duration, shortest.max(least), &self.options),
                resting: &self.state.resting,
                rest: (!self.rest.forces.is_empty()).then_some(&self.rest.forces),
                passing: &self.passing,
                mixed,
                ..Start::at(
                    &self.state,
                    &self.options,
                    &self.lattice,
                    &self.walls,
                    rule,
                    self.time,
                )
            };
            let horizon = self.pace.horizon(duration);
            let mut accepted = true;
            let accept = |load: Load| {
                let (spheres, options) = (&self.state.spheres, &self.options);
                let limits = [shortest, least];
                accepted = self.pace.set(duration, limits, load, spheres, options);
                accepted
            };
            let result = self
                .substep
                .run(&mut self.detector, &start, horizon, accept);
            if result.is_err() || !accepted {
                self.substep.candidates.forget();
            }
            match result {
                Ok(Some(rounds)) => {
                    report.rounds += rounds;
                    break;
                }
                Ok(None) => {}
                Err(error) => {
                    let shortest = match error {
                        Error::TooManyImpacts { .. } => shortest.max(least),
                        _ => shortest,
                    };
                    let in_step = self.options.max_step_impacts(count);
                    if duration <= shortest || !is_limit(&error) {
                        let of_step = in_step <= u64::from(self.options.max_impacts());
                        if of_step && matches!(error, Error::TooManyImpacts { .. }) {
                            return Ok(false);
                        }
                        return Err(error);
                    }
                    // A shorter substep does not help if the spheres have too many images or pairs even at rest.
                    let candidates = &mut self.substep.candidates;
                    let at_rest = candidates.search(&mut self.detector, &start, 0.0);
                    candidates.forget();
                    at_rest?;
                    self.pace.shorten(duration, shortest);
                }
            }
            duration = self.pace.next(&self.state.spheres, &self.options);
        }
        self.complete(duration, end, report)?;
        self.pass(rule)?;
        self.settle(duration, rule, report)?;
        Ok(true)
    }

    /// Makes room in the report for the impacts of a substep, so that no memory can be missing after the spheres have
    /// moved.
    fn make_room(&self, report: &mut StepReport) -> Result<(), Error> {
        let islands = &self.substep.islands;
        let real = || {
            let islands = islands.list().iter();
            islands.filter(|island| !island.members.is_empty())
        };
        let impacts = real().map(|island| islands.impacts(island).len()).sum();
        if self.options.impact_list {
            reserve(&mut report.impacts, impacts)?;
        }
        if self.options.contacts {
            reserve(&mut report.began, impacts)?;
        }
        let removed = real().map(|island| islands.removed(island).len()).sum();
        reserve(&mut report.removed, removed)?;
        let missing = self.walls.len().saturating_sub(report.wall_impulses.len());
        reserve(&mut report.wall_impulses, missing)
    }

    /// Moves the spheres to the end of a substep, and adds the impacts of this substep to the
    /// report.
    fn complete(&mut self, duration: f64, end: f64, report: &mut StepReport) -> Result<(), Error> {
        self.make_room(report)?;
        let Substep {
            islands,
            candidates,
        } = &mut self.substep;
        let (islands, options) = (&*islands, &self.options);
        let (flights, units) = candidates.flights_mut();
        let time = self.time;
        let State {
            spheres,
            ids,
            last,
            removed,
            resting,
            ..
        } = &mut self.state;
        let resting = &*resting;
        let advance = |sphere: &mut HardSphere, index: u32| {
            if removed[index as usize] {
                return;
            }
            let Some(path) = islands.path(index) else {
                let rests = resting.get(index as usize).copied().unwrap_or(false);
                let falls = options.gravity != DVec3::ZERO && !rests && !sphere.is_fixed();
                *sphere = fly(&Piece::straight(sphere, falls), sphere, options, duration);
                return;
            };
            let Some(piece) = path.last() else {
                return;
            };
            match islands.removal(index) {
                None => *sphere = fly(piece, sphere, options, duration),
                Some(removal) => {
                    *sphere = fly(piece, sphere, options, removal.time);
                    sphere.velocity = [0.0; 3];
                }
            }
        };
        let all = spheres.par_iter_mut().zip(flights).zip(0..u32::MAX);
        all.for_each(|((sphere, flight), index)| {
            advance(sphere, index);
            *flight = units.flight(sphere);
        });
        if options.contact_time > 0.0 {
            let all = last.par_iter_mut().zip(0..u32::MAX);
            all.for_each(|(last, index)| {
                if let Some([_, .., piece]) = islands.path(index) {
                    *last = time + piece.start;
                }
            });
        }
        let [from, from_removed] = [report.impacts.len(), report.removed.len()];
        let mut any_removed = false;
        for island in islands.list() {
            if island.members.is_empty() {
                continue;
            }
            report.largest_island = report.largest_island.max(island.members.len());
            for impact in islands.impacts(island) {
                match impact.partner {
                    Partner::Sphere(_) => report.sphere_impacts += 1,
                    Partner::Wall(wall) => {
                        report.wall_impacts += 1;
                        report.pass(wall, impact.impulse.into());
                    }
                }
            }
            report.virial += island.virial;
            for removal in islands.removed(island) {
                any_removed = true;
                removed[removal.sphere as usize] = true;
                let sphere = ids[removal.sphere as usize];
                report.removed.push(Removal { sphere, ..*removal });
            }
            if self.options.impact_list {
                report.impacts.extend_from_slice(islands.impacts(island));
            }
            if self.options.contacts {
                let impacts = islands.impacts(island).iter();
                report
                    .began
                    .extend(impacts.map(|impact| (impact.sphere, impact.partner)));
            }
        }
        report.impacts[from..].par_sort_unstable_by(|one, other| one.order(other));
        for impact in &mut report.impacts[from..] {
            impact.time += time;
        }
        report.removed[from_removed..].sort_unstable_by(Removal::order);
        for removal in &mut report.removed[from_removed..] {
            removal.time += time;
        }
        report.substeps += 1;
        // The last substep sets the simulated time to exactly `end`, because the sum of the
        // durations of substeps has rounding errors. A substep that is too short to change the time
        // also sets it to `end`.
        let next = time + duration;
        self.time = if next > time && duration < end - time {
            next
        } else {
            end
        };

        if any_removed {
            self.substep.candidates.forget();
            for removal in &report.removed[from_removed..] {
                self.state.note_hole(removal.sphere as usize);
            }
        }
        Ok(())
    }

    /// Finds the pairs that pass through each other at the end of a substep, because a rule has ignored their impact.
    fn pass(&mut self, rule: ResponseRule<'_>) -> Result<(), Error> {
        let islands = &self.substep.islands;
        if rule.is_default() {
            self.passing.clear();
            return Ok(());
        }
        let mut passing = std::mem::take(&mut self.passing);
        let start = Start::at(
            &self.state,
            &self.options,
            &self.lattice,
            &self.walls,
            rule,
            self.time,
        );
        let setting = start.setting(&self.substep.candidates);
        let present = islands.list().iter();
        let present = present.filter(|island| !island.members.is_empty());
        for candidate in present.flat_map(|island| islands.passing(island)) {
            push(&mut passing, setting.key(candidate))?;
        }
        passing.sort_unstable();
        passing.dedup();
        let place = |id: u32| {
            self.state
                .place(id as usize)
                .and_then(|k| u32::try_from(k).ok())
        };
        passing.retain(|&(sphere, partner, image)| {
            let partner = match partner {
                Partner::Sphere(other) => place(other).map(Partner::Sphere),
                Partner::Wall(_) => Some(partner),
            };
            let (Some(sphere), Some(partner)) = (place(sphere), partner) else {
                return false;
            };
            let candidate = Candidate {
                sphere,
                partner,
                image,
            };
            let removed = |place: &u32| self.state.removed[*place as usize];
            !candidate.ends().iter().any(removed) && setting.touches(&candidate)
        });
        self.passing = passing;
        Ok(())
    }

    /// Lets the spheres that rest at the end of a substep pass what gravity owes them to what lies under them.
    fn settle(
        &mut self,
        duration: f64,
        rule: ResponseRule<'_>,
        report: &mut StepReport,
    ) -> Result<(), Error> {
        if self.state.resting.is_empty() {
            return Ok(());
        }
        let mut owed = Vec::new();
        let Substep {
            candidates,
            islands,
        } = &mut self.substep;
        let present = islands.list().iter();
        for member in present.flat_map(|island| islands.members(island)) {
            let id = self.state.ids[member.sphere as usize];
            self.rest.forces.disturb(id)?;
        }
        self.rest
            .forces
            .wake_woken(&self.state.ids, &mut Vec::new(), duration)?;
        let all = (0..u32::MAX).zip(&self.state.resting);
        let all = all.zip(&self.state.removed).zip(&self.state.ids);
        for (((sphere, &rests), removed), &id) in all {
            if self.rest.forces.sleeps(id) {
                continue;
            }
            let time = match islands.path(sphere) {
                _ if *removed => 0.0,
                None if rests => duration,
                None => 0.0,
                Some(path) => {
                    let pieces = path.iter().rev().take_while(|piece| !piece.falls);
                    pieces.last().map_or(0.0, |piece| duration - piece.start)
                }
            };
            let bears = !*removed && self.rest.forces.bears(id);
            if (time > 0.0 || bears) && !self.state.spheres[sphere as usize].is_fixed() {
                push(&mut owed, (sphere, time))?;
            }
        }
        let before = owed.len();
        for sphere in islands.waiting() {
            let place = sphere as usize;
            if !self.state.removed[place] && !self.state.spheres[place].is_fixed() {
                push(&mut owed, (sphere, 0.0))?;
            }
        }
        if owed.len() > before {
            let count = owed.len();
            // What is to be kept comes first. The second list has no size.
            sort_both(&mut owed, &mut vec![(); count], |(one, _), (other, _)| {
                one.0.cmp(&other.0)
            });
            owed.dedup_by_key(|(sphere, _)| *sphere);
        }
        let start = Start {
            passing: &self.passing,
            mixed: true,
            ..Start::at(
                &self.state,
                &self.options,
                &self.lattice,
                &self.walls,
                rule,
                self.time,
            )
        };
        let (new, passed) = self.rest.settle(&mut owed, duration, candidates, &start)?;
        for (rests, &id) in self.state.resting.iter_mut().zip(&self.state.ids) {
            *rests = self.rest.forces.sleeps(id);
        }
        let (flights, units) = candidates.flights_mut();
        for (sphere, [center, velocity], rests) in new {
            let place = sphere as usize;
            self.state.resting[place] = rests;
            let state = &mut self.state.spheres[place];
            (state.center, state.velocity) = (center.to_array(), velocity.to_array());
            flights[place] = units.flight(&self.state.spheres[place]);
        }
        report.rest(passed);
        Ok(())
    }

    /// Returns an error if a sphere is so far from the origin that float64 cannot represent its motion.
    fn check_resolution(&self, duration: f64) -> Result<(), Error> {
        let lost = |sphere: &HardSphere| {
            let center = sphere.place();
            let steps = f64::EPSILON * center.abs().max_element();
            let speed = sphere.motion().length();
            let coarse = steps > RESOLUTION * sphere.radius && sphere.radius > 0.0;
            let moved = speed * duration;
            moved > 0.0 && (coarse || (moved < 0.25 * steps && moved > 1e-9 * sphere.radius))
        };
        let all = self.state.spheres.par_iter().zip(&self.state.ids);
        let bad = all.filter(|(sphere, _)| lost(sphere));
        match bad.min_by_key(|(_, id)| **id) {
            None => Ok(()),
            Some((sphere, &id)) => Err(Error::InvalidHardSphere {
                index: id as usize,
                problem: format!(
                    "its centre {:?} is so far from the origin that float64 cannot represent its motion with the \
                     velocity {:?} in a step of {duration:?}; move all spheres and walls nearer to the origin",
                    sphere.center, sphere.velocity
                ),
            }),
        }
    }

    /// Returns an error if spheres or walls would move for another duration, because the time has a rounding error.
    fn check_time(&self, duration: f64) -> Result<(), Error> {
        let end = self.time + duration;
        let lost = (end - self.time - duration).abs() > RESOLUTION * duration;
        let fall = self.options.gravity.length() * duration;
        let moves = |sphere: &HardSphere| {
            let speed = sphere.motion().length() + if sphere.is_fixed() { 0.0 } else { fall };
            speed * duration > 1e-9 * sphere.radius
        };
        if !lost || !(self.walls.any_moves() || self.state.spheres.par_iter().any(moves)) {
            return Ok(());
        }
        Err(Error::InvalidSimulation {
            problem: format!(
                "the duration of the step is {duration:?}, but float64 numbers near the time {end:?} of its end are {:e} \
                 apart; take longer steps, or create a new simulation, whose time begins at 0",
                end.next_up() - end
            ),
        })
    }

    /// Discards the candidates and wakes what sleeps, after an edit. It may have taken away what supports a sphere, which
    /// then falls only at the end of the next substep.
    pub(super) fn outdate(&mut self) {
        self.substep.candidates.forget();
        self.rest.forces.wake();
        if self.rest.longest.is_none() && !self.rest.forces.is_empty() {
            let resting = self.state.resting.iter().zip(&self.state.spheres);
            let radii = resting.filter(|(rests, _)| **rests);
            let least = radii.fold(f64::INFINITY, |least, (_, sphere)| least.min(sphere.radius));
            self.rest.limit_fall(least, &self.options);
        }
    }

    /// Wraps all spheres into the cell of a periodic domain, and discards all candidates, after
    /// something other than a substep has moved spheres.
    fn place_anew(&mut self) {
        self.state.wrap(0.0, &self.lattice);
        self.outdate();
        self.state.export(&mut self.spheres, &self.lattice);
    }
}

impl Clone for Simulation {
    /// Returns a copy, whose steps have the same bytes.
    fn clone(&self) -> Self {
        Self {
            spheres: self.spheres.clone(),
            state: self.state.clone(),
            options: self.options.clone(),
            lattice: self.lattice,
            walls: self.walls.clone(),
            time: self.time,
            pace: self.pace.clone(),
            detector: Detector::on_cpu(),
            substep: Substep {
                candidates: self.substep.candidates.clone(),
                ..Substep::default()
            },
            rest: self.rest.clone(),
            passing: self.passing.clone(),
            contacts: self.contacts.clone(),
        }
    }
}

/// Where float64 numbers are farther apart than this share of its radius, a sphere cannot move.
const RESOLUTION: f64 = 1e-3;

/// Returns the state of a sphere on `piece`, the last piece of its path. `time` counts from the start of the
/// substep.
fn fly(piece: &Piece, sphere: &HardSphere, options: &SimulationOptions, time: f64) -> HardSphere {
    let mut center = piece.place(time);
    let mut velocity = piece.velocity;
    if piece.falls {
        center += fall(options, piece, time);
        velocity += options.gravity * time;
    }
    HardSphere {
        center: center.to_array(),
        velocity: velocity.to_array(),
        ..*sphere
    }
}

/// Returns whether a shorter substep may avoid the error, because the spheres then move less far
/// and have fewer impacts.
fn is_limit(error: &Error) -> bool {
    matches!(
        error,
        Error::TooManyImpacts { .. }
            | Error::TooManyImages { .. }
            | Error::TooManyPairs { .. }
            | Error::TooManyCandidates { .. }
            | Error::ImageOutOfRange { .. }
    )
}

fn check_spheres(spheres: &[HardSphere]) -> Result<(), Error> {
    let mut spheres = spheres.iter().enumerate();
    spheres.try_for_each(|(index, sphere)| sphere.check(index))
}

//! The duration of the next substep.

#[cfg(feature = "serde")]
use super::coded::{Coded, Coder, check};
use super::{HardSphere, SimulationOptions};

/// A search aims at no more than this number of candidate pairs for each sphere, on average. This limits the
/// duration of substeps in dilute gases, whose spheres move far between impacts.
const CANDIDATES: f64 = 5.0;

/// If a search finds this multiple of the number of candidate pairs at which it aims, and a shorter substep does not help,
/// spheres overlap so much that their pairs do not count.
const CROWDED: f64 = 8.0;

/// A search finds the candidates of at most this number of substeps of the intended duration.
const SUBSTEPS: f64 = 2.0;

/// If a substep is longer than this multiple of the duration that [`Pace::set`] chooses for the
/// next one, it is begun again with the chosen duration.
const TOO_LONG: f64 = 3.0;

/// Largest ratio of the durations of two successive substeps.
const LONGER: f64 = 2.0;

/// A substep that exceeds a limit (of candidates, images or impacts: `is_limit` in `simulation.rs`) is shortened by this
/// ratio. On a GPU, it is halved (`SHORTER` in `simulation_judge.wgsl`).
const SHORTER: f64 = 8.0;

/// Impacts do not shorten a substep to less than a certain share of its step: this number, divided
/// by the number of spheres, but at most [`MOST_SHARE`]. Otherwise spheres that are squeezed until
/// no room is left would make the substeps ever shorter, and the step would never end.
const SHARE: f64 = 0.01;
const MOST_SHARE: f64 = 1e-4;

/// In a substep that impacts can still make shorter, a sphere may have no more impacts than this number.
const MANY: u32 = 10_000;

/// Distance that the fastest sphere moves in the first substep, in mean radii.
const FIRST: f64 = 0.1;

/// A substep with too many candidates is shortened, but not so far that the fastest sphere moves
/// less than this distance, in mean radii. An even shorter substep would not have fewer candidates.
const LEAST: f64 = 0.001;

/// A substep with at most this number of candidate pairs is never begun again with a shorter
/// duration.
const FEW: usize = 1000;

/// The numbers of spheres, candidates and impacts in a substep, which determine its computing time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) spheres: usize,
    /// Number of candidates that are pairs of spheres.
    pub(crate) pairs: usize,
    /// Whether the candidates have been sought for this substep.
    pub(crate) searched: bool,
    /// Number of candidates that meet in the substep if all spheres move straight. Meetings at the very start of the
    /// substep are not counted.
    pub(crate) hits: usize,
}

/// Chooses the duration of the next substep, and the number of substeps that use the candidates of one search.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    /// Intended duration of the next substep, or `None` before the first one.
    substep: Option<f64>,
    /// Number of substeps that the candidates of the next search have to serve.
    substeps: f64,
    /// The duration of the last substep with a search, and its number of candidate pairs.
    last: Option<(f64, usize)>,
    /// Number of candidate pairs that a shorter substep would have, too, as far as is known: spheres that overlap.
    crowd: usize,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Self {
            substep: None,
            substeps: 1.0,
            last: None,
            crowd: 0,
        }
    }

    #[cfg(feature = "serde")]
    pub(crate) fn code(&mut self, coder: &mut Coder) -> Result<(), String> {
        self.substep.code(coder)?;
        self.substeps.code(coder)?;
        self.last.code(coder)?;
        self.crowd.code(coder)?;
        let valid = self.substep.is_none_or(|substep| substep > 0.0);
        check(
            valid && (1.0..=SUBSTEPS).contains(&self.substeps),
            "substeps",
        )
    }

    /// Returns the duration of the next substep.
    pub(crate) fn next(&self, spheres: &[HardSphere], options: &SimulationOptions) -> f64 {
        self.substep
            .unwrap_or_else(|| travel_time(spheres, options, FIRST))
    }

    /// Returns for how long after the start of a substep a search has to find candidates. This may
    /// include later substeps. The substep takes the time `duration`.
    pub(crate) fn horizon(&self, duration: f64) -> f64 {
        // A substep may be shorter than intended, because it ends with a step.
        let next = self.substep.unwrap_or(duration).min(LONGER * duration);
        if self.substeps > 1.0 {
            duration.max(next * self.substeps)
        } else {
            duration
        }
    }

    /// Makes the next substep shorter than the present one, which exceeds a limit.
    pub(crate) fn shorten(&mut self, duration: f64, shortest: f64) {
        self.substep = Some((duration / SHORTER).max(shortest));
        self.substeps = 1.0;
    }

    /// Chooses the duration of the next substep from the duration and the load (candidates and
    /// impacts) of the present one. Returns false if the present substep is much longer than the
    /// chosen duration. The caller then begins it again with the chosen duration. No substep is made
    /// shorter than `shortest`, and none is made shorter than `least` because of impacts.
    pub(crate) fn set(
        &mut self,
        duration: f64,
        [shortest, least]: [f64; 2],
        load: Load,
        spheres: &[HardSphere],
        options: &SimulationOptions,
    ) -> bool {
        let count = load.spheres.max(1) as f64;
        let impacts = 2.0 * load.hits as f64 / count / options.impacts_per_substep();
        let mut next = duration * impacts.recip().max(least / duration).min(LONGER);
        let mut candidates = load.pairs as f64 / count / CANDIDATES;
        if load.searched {
            let is_crowd = |(before, pairs): (f64, usize)| {
                duration < 0.9 * before && load.pairs as f64 > 0.9 * pairs as f64
            };
            self.crowd = if candidates > CROWDED && self.last.is_some_and(is_crowd) {
                load.pairs
            } else {
                self.crowd.min(load.pairs)
            };
            self.last = Some((duration, load.pairs));
            candidates -= self.crowd as f64 / count / CANDIDATES;
            let share = candidates.cbrt().recip().clamp(LONGER.recip(), LONGER);
            if self.substeps <= 1.0 && candidates > 1.0 {
                let least = travel_time(spheres, options, LEAST);
                next = next.min((duration / candidates.cbrt()).max(least));
            }
            self.substeps = (self.substeps * share).clamp(1.0, SUBSTEPS);
        }
        next = next.max(shortest);
        self.substep = Some(next);
        !(load.pairs > FEW && duration > TOO_LONG * next)
    }
}

/// Returns the duration to which impacts may shorten the substeps of a step with this duration.
pub(crate) fn least(step: f64, spheres: usize) -> f64 {
    step * (SHARE / spheres.max(1) as f64).min(MOST_SHARE)
}

/// Returns the largest number of impacts of one sphere in a substep. `shortest` is the duration below which impacts do
/// not shorten a substep.
///
/// Until a step ends with [`Error::TooManyImpacts`](crate::Error::TooManyImpacts), about ten substeps may exceed
/// the limit. So `max_impacts` is the limit only in a substep that cannot become shorter. A longer substep has at
/// most the limit [`MANY`].
pub(crate) fn most_impacts(duration: f64, shortest: f64, options: &SimulationOptions) -> u32 {
    if duration > shortest {
        options.max_impacts().min(MANY)
    } else {
        options.max_impacts()
    }
}

/// Returns the time in which a sphere moves by `radii` times the mean radius of all spheres: the
/// fastest sphere by its velocity, or a sphere at rest by gravity, whichever is sooner.
fn travel_time(spheres: &[HardSphere], options: &SimulationOptions, radii: f64) -> f64 {
    let speeds = spheres.iter().map(|sphere| sphere.motion().length());
    let fastest = speeds.fold(0.0, f64::max);
    let sum: f64 = spheres.iter().map(|sphere| sphere.radius).sum();
    let distance = radii * sum / spheres.len().max(1) as f64;
    let falling = (2.0 * distance / options.gravity.length()).sqrt();
    let time = (distance / fastest).min(falling);
    // If all radii are 0, or if neither velocities nor gravity move any sphere, this time does not limit the
    // substep.
    if time > 0.0 { time } else { f64::INFINITY }
}

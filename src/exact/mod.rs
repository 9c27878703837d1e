//! The exact answer for a pair, from the float32 inputs as they are: whether two
//! spheres touch, when and how deep, and the list that a user gets of it. For
//! both backends, so that their lists are the same bits.
//!
//! Float64 decides and rounds where its error bound allows ([`float64`]), and
//! integers elsewhere ([`integers`]). docs/exact.md has the proof.

mod float64;
mod integers;

use glam::DVec3;
use rayon::prelude::*;

pub(crate) use self::float64::sweep;
use self::float64::{Float64, just_touch};
use self::integers::Integers;
use crate::cpu::sort::sort;
use crate::memory::{LIST, resized};
use crate::sphere::{check_dt, invalid_field};
use crate::{Collision, Error, Sphere};

/// Set in [`Reported::b`] when a GPU's filter could not tell, or several time segments may
/// report the pair.
pub(crate) const GRAZING: u32 = 1 << 31;

/// A pair as the `pairs` stage reports it: indices into the whole world, a < b.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Reported {
    /// The smaller index.
    pub(crate) a: u32,
    /// The larger index, and [`GRAZING`].
    pub(crate) b: u32,
}

/// When two spheres touch, and how deep, each the float32 next to the real
/// number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Impact {
    pub(crate) toi: f32,
    pub(crate) depth: f32,
}

/// What arithmetic an answer took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Float64,
    Integers,
}

/// Whether two spheres touch in a step of length `dt`, and how that was told.
pub(crate) fn impact(a: &Sphere, b: &Sphere, dt: f32) -> (Option<Impact>, By) {
    // First, because no bound can tell it, and others fail it at the first sum or square.
    if just_touch([[a, b]; 2]) != 0 {
        return (Some(Impact::default()), By::Float64);
    }
    let pair = Float64::new(a, b);
    match pair.impact(dt) {
        Some(answer) => (answer, By::Float64),
        None => (Integers::new(a, b).impact(dt, pair.guess()), By::Integers),
    }
}

/// Where two spheres are when they first touch, but for the last bits of a
/// float64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    /// The time, however late.
    pub(crate) time: f64,
    /// Unit vector from the centre of the first to that of the second.
    pub(crate) normal: DVec3,
    /// How fast they approach along it.
    pub(crate) approach: f64,
}

/// How two spheres would first touch if they flew on for ever. `None` if they
/// never do.
pub(crate) fn first_touch(a: &Sphere, b: &Sphere) -> Option<Touch> {
    let pair = Float64::new(a, b);
    pair.first_touch()
        .or_else(|| Integers::new(a, b).first_touch())
}

/// How many distinct pairs were [`GRAZING`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Grazing {
    pub(crate) all: u64,
    /// How many of them float64 could not tell either.
    pub(crate) by_integers: u64,
}

impl Grazing {
    /// Counts one more.
    pub(crate) fn count(&mut self, by: By) {
        self.all += 1;
        self.by_integers += u64::from(by == By::Integers);
    }

    /// Both together.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            all: self.all + other.all,
            by_integers: self.by_integers + other.by_integers,
        }
    }
}

/// Pairs decided in one go.
const TASK: usize = 4096;

/// Stands where a pair does not touch: no sphere has this index.
const MISS: Collision = Collision {
    a: u32::MAX,
    b: u32::MAX,
    toi: 0.0,
    depth: 0.0,
};

/// Decides the reported pairs, and fills `pairs` with those that touch: sorted, and each
/// once. `spheres` gives the two of a pair; `split` is where the second of two sets
/// begins, 0 if there is one set.
pub(crate) fn decide(
    spheres: impl Fn(u32, u32) -> Option<[Sphere; 2]> + Sync,
    split: usize,
    dt: f32,
    reported: &mut Vec<Reported>,
    pairs: &mut Vec<Collision>,
) -> Result<Grazing, Error> {
    let split = u32::try_from(split).unwrap_or(u32::MAX);
    // A pair that several proxies reported is grazing in each of them.
    sort(reported, |pair| [pair.a, pair.b & !GRAZING]);
    let grazing = resized(pairs, reported.len(), LIST)?
        .par_chunks_mut(TASK)
        .zip(reported.par_chunks(TASK))
        .map(|(pairs, reported)| {
            let mut grazing = Grazing::default();
            for (pair, &Reported { a, b }) in pairs.iter_mut().zip(reported) {
                *pair = MISS;
                let (certain, b) = (b & GRAZING == 0, b & !GRAZING);
                let Some([one, other]) = spheres(a, b) else {
                    continue;
                };
                let (impact, by) = impact(&one, &other, dt);
                if !certain {
                    grazing.count(by);
                }
                match impact {
                    Some(Impact { toi, depth }) => {
                        *pair = Collision {
                            a,
                            b: b.saturating_sub(split),
                            toi,
                            depth,
                        };
                    }
                    None if certain => not_certain(a, b),
                    None => {}
                }
            }
            grazing
        })
        .reduce(Grazing::default, Grazing::plus);
    pairs.retain(|pair| pair.a != MISS.a);
    Ok(grazing)
}

/// The filter was certain of a pair that does not touch, which docs/exact.md proves
/// impossible. The list is right all the same.
#[cold]
fn not_certain(a: u32, b: u32) {
    log::error!("the filter was certain of ({a}, {b}), which do not touch");
}

/// When two spheres first touch during a step of length `dt`, in the unit of
/// `dt`, rounded to the nearest float32; 0 when they touch or overlap at its
/// start, `None` when they do not touch, or when a value is one that
/// [`Detector::detect`](crate::Detector::detect) refuses. Exact, as the lists
/// are. Their groups are not looked at.
///
/// ```
/// use carom::{Sphere, time_of_impact};
/// let ball = Sphere::new([0.0; 3], 1.0).with_velocity([8.0, 0.0, 0.0]);
/// let wall = Sphere::new([4.0, 0.0, 0.0], 1.0);
/// assert_eq!(time_of_impact(&ball, &wall, 0.25), Some(0.25)); // at the very end
/// assert_eq!(time_of_impact(&ball, &wall, 0.24), None);
/// ```
pub fn time_of_impact(a: &Sphere, b: &Sphere, dt: f32) -> Option<f32> {
    check_dt(dt).ok()?;
    let valid = [a, b]
        .iter()
        .all(|sphere| invalid_field(sphere, dt).is_none());
    if valid {
        impact(a, b, dt).0.map(|impact| impact.toi)
    } else {
        None
    }
}

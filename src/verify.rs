//! Verification of a list of collisions: every pair of spheres is tested in exact arithmetic,
//! without any grid.

use std::fmt;

use rayon::prelude::*;

use crate::exact::impact;
use crate::limits::MAX_SPHERES;
use crate::memory::allocate;
use crate::validate::{check_dt, check_spheres};
use crate::{Collision, Error, Sphere, Step};

/// The differences between a list of collisions and the exact list. See [`verify`].
///
/// In a step of one set, all entries of the fields have the smaller index first, even if the
/// verified list has them in the other order. If a pair that does not touch is listed twice, both
/// entries are in `invented`.
#[must_use]
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Verification {
    /// Number of pairs that were tested: all pairs of the step.
    pub tried: u64,
    /// Number of pairs that touch, except for the pairs that collision groups leave out.
    pub touching: u64,
    /// Touching pairs that are missing from the list, sorted by (a, b), with their exact times and
    /// depths.
    pub missing: Vec<Collision>,
    /// Entries of the list that are not touching pairs. Either the spheres do not touch, or
    /// collision groups leave out the pair, or an index is past the last sphere, or both indices
    /// are equal.
    pub invented: Vec<Collision>,
    /// Superfluous entries for touching pairs that are listed several times. One entry of each pair
    /// does not count as superfluous: a right entry if the list has one.
    pub repeated: Vec<Collision>,
    /// Entries of the list with a wrong time or depth, each with the right entry. A number is right
    /// if it is the float32 nearest to the exact value, bit for bit, so −0.0 is not 0.0.
    pub wrong: Vec<(Collision, Collision)>,
}

impl Verification {
    /// Returns whether the list has no mistakes. Times and depths must be right to the last bit.
    /// The order of the list does not matter.
    pub fn passed(&self) -> bool {
        self.mistakes() == 0
    }

    /// Returns the number of mistakes: missing, invented, repeated and wrong entries together.
    pub fn mistakes(&self) -> u64 {
        let Self {
            missing,
            invented,
            repeated,
            wrong,
            ..
        } = self;
        (missing.len() + invented.len() + repeated.len() + wrong.len()) as u64
    }

    fn append(mut self, mut other: Self) -> Result<Self, Error> {
        self.tried += other.tried;
        self.touching += other.touching;
        append(&mut self.missing, &mut other.missing)?;
        append(&mut self.invented, &mut other.invented)?;
        append(&mut self.repeated, &mut other.repeated)?;
        append(&mut self.wrong, &mut other.wrong)?;
        Ok(self)
    }
}

/// Moves all items from `other` to the end of `all`. Returns an error if memory runs out, which is
/// possible if many entries of a list are wrong.
fn append<T>(all: &mut Vec<T>, other: &mut Vec<T>) -> Result<(), Error> {
    all.try_reserve(other.len())
        .map_err(|_| Error::OutOfMemory {
            what: "the list of mistakes",
            needed: ((all.len() + other.len()) * size_of::<T>()) as u64,
        })?;
    all.append(other);
    Ok(())
}

/// Writes a summary, with an example for each kind of mistake.
impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = if self.passed() { "passed" } else { "failed" };
        write!(
            f,
            "{outcome}: {} of {} pairs touch",
            self.touching, self.tried
        )?;
        let kinds = [
            (self.missing.first(), self.missing.len(), "missing"),
            (self.invented.first(), self.invented.len(), "invented"),
            (self.repeated.first(), self.repeated.len(), "repeated"),
        ];
        for (first, count, kind) in kinds {
            if let Some(Collision { a, b, .. }) = first {
                write!(f, "\n{kind}: {count}, the first is ({a}, {b})")?;
            }
        }
        if let Some((listed, truth)) = self.wrong.first() {
            write!(
                f,
                "\nwrong time or depth: {}, the first is ({}, {}) with toi {:?} instead of {:?} \
                 and depth {:?} instead of {:?}",
                self.wrong.len(),
                truth.a,
                truth.b,
                listed.toi,
                truth.toi,
                listed.depth,
                truth.depth
            )?;
        }
        Ok(())
    }
}

/// Checks a list of the collisions of a step, from carom or from any other program.
///
/// The order of the list does not matter. In a step of one set, the order of the two indices in an
/// entry does not matter either.
///
/// The function tests all N·(N − 1)/2 pairs of one set, or all pairs across two sets, in parallel.
/// For 20 000 spheres it takes some seconds, or a minute if most pairs touch. Each mistake takes
/// 16 or 32 bytes of memory.
///
/// ```
/// use carom::{Collision, Sphere, Step, verify};
/// let spheres = [0.0, 1.5, 3.0].map(|x| Sphere::new([x, 0.0, 0.0], 1.0));
/// let list = [Collision { a: 0, b: 1, toi: 0.0, depth: 0.5 }];
/// let truth = verify(&Step::new(&spheres, 1.0), &list)?;
/// assert!(!truth.passed());
/// assert_eq!((truth.missing.len(), truth.missing[0].a, truth.missing[0].b), (1, 1, 2));
/// # Ok::<(), carom::Error>(())
/// ```
///
/// # Errors
/// - [`Error::InvalidTimeStep`], [`Error::InvalidSphere`] or [`Error::TooManySpheres`] for a step
///   out of range.
/// - [`Error::OutOfMemory`] if the copy of the list or the mistakes do not fit into memory.
pub fn verify(step: &Step<'_>, list: &[Collision]) -> Result<Verification, Error> {
    let (first, dt) = (step.spheres(), step.dt());
    check_dt(dt)?;
    let Some(second) = step.second_set() else {
        check_spheres(first, dt, None)?;
        let pair = |c: &Collision| Collision {
            a: c.a.min(c.b),
            b: c.a.max(c.b),
            ..*c
        };
        return compare([first, first], |a| a + 1, dt, sorted(list, pair)?);
    };
    check_spheres(first, dt, Some(0))?;
    check_spheres(second, dt, Some(1))?;
    compare([first, second], |_| 0, dt, sorted(list, |c| *c)?)
}

/// Returns a sorted copy of the list. The function `pair` puts the two indices of an entry in
/// order.
fn sorted(
    list: &[Collision],
    pair: impl Fn(&Collision) -> Collision,
) -> Result<Vec<Collision>, Error> {
    let mut copy = allocate(list.len(), "a copy of the list")?;
    copy.extend(list.iter().map(pair));
    copy.par_sort_unstable_by_key(|c| (c.a, c.b, bits(c)));
    Ok(copy)
}

/// Compares a sorted list with the exact collisions. Each sphere a of the first set is tested
/// against the spheres of the second set from index `from(a)` on.
fn compare(
    sets: [&[Sphere]; 2],
    from: impl Fn(usize) -> usize + Sync,
    dt: f32,
    list: Vec<Collision>,
) -> Result<Verification, Error> {
    if let Some(set) = sets.iter().find(|set| set.len() > MAX_SPHERES) {
        return Err(Error::TooManySpheres {
            count: set.len(),
            limit: MAX_SPHERES,
        });
    }
    let [first, second] = sets;
    let [reach, other_reach] = sets.map(|set| Reach::of_all(set, dt));
    #[allow(clippy::cast_possible_truncation, reason = "indices are below 2³⁰")]
    let rows = first.par_iter().enumerate().map(|(index, one)| {
        let a = index as u32;
        let mut row = Verification::default();
        let start = list.partition_point(|c| c.a < a);
        let mut listed = list[start..].iter().take_while(|c| c.a == a).peekable();
        let from = from(index).min(second.len());
        row.tried = (second.len() - from) as u64;
        for (b, other) in second.iter().enumerate().skip(from) {
            if reach[index].is_far(&other_reach[b]) || one.ignores(other) {
                continue;
            }
            let Some(touch) = impact(one, other, dt).0 else {
                continue;
            };
            let b = b as u32;
            let truth = Collision {
                a,
                b,
                toi: touch.toi,
                depth: touch.depth,
            };
            row.touching += 1;
            while let Some(stray) = listed.next_if(|c| c.b < b) {
                row.invented.push(*stray);
            }
            let mut entries = Vec::new();
            while let Some(entry) = listed.next_if(|c| c.b == b) {
                entries.push(*entry);
            }
            // If the list has several entries for a pair, a right one counts as its entry, and the
            // others count as repeated.
            let right = entries.iter().position(|c| bits(c) == bits(&truth));
            if let Some(right) = right {
                entries.swap_remove(right);
            } else if let Some(wrong) = entries.pop() {
                row.wrong.push((wrong, truth));
            } else {
                row.missing.push(truth);
            }
            row.repeated.append(&mut entries);
        }
        row.invented.extend(listed);
        row
    });
    let verification = rows
        .map(Ok)
        .try_reduce(Verification::default, Verification::append)?;
    let past = list.partition_point(|c| (c.a as usize) < first.len());
    verification.append(Verification {
        invented: list[past..].to_vec(),
        ..Verification::default()
    })
}

/// Returns time and depth as bits. As bits, 0.0 and −0.0 differ, and a NaN equals itself.
fn bits(c: &Collision) -> [u32; 2] {
    [c.toi.to_bits(), c.depth.to_bits()]
}

/// A ball that contains a sphere during the whole step. If two of these balls are apart, the pair
/// needs no exact test.
struct Reach {
    center: [f64; 3],
    radius: f64,
}

impl Reach {
    fn of_all(spheres: &[Sphere], dt: f32) -> Vec<Self> {
        let of = |sphere: &Sphere| {
            let speed: f64 = sphere.velocity.iter().map(|&v| f64::from(v).abs()).sum();
            Self {
                center: sphere.center.map(f64::from),
                radius: f64::from(sphere.radius) + speed * f64::from(dt),
            }
        };
        spheres.par_iter().map(of).collect()
    }

    /// Returns whether two balls are certainly apart. The margin of 10⁻⁹ is far greater than the
    /// rounding errors, which are about 10⁻¹⁶ of the compared values.
    fn is_far(&self, other: &Self) -> bool {
        let square = |k: usize| (self.center[k] - other.center[k]).powi(2);
        let reach = self.radius + other.radius;
        square(0) + square(1) + square(2) > reach * reach * (1.0 + 1e-9)
    }
}

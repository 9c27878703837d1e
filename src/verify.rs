//! A list of collisions held against the truth: every pair is tried, in exact
//! arithmetic, with no grid in between.

use std::fmt;

use rayon::prelude::*;

use crate::exact::impact;
use crate::limits::MAX_SPHERES;
use crate::memory::allocate;
use crate::validate::{check_dt, check_spheres};
use crate::{Collision, Error, Sphere};

/// How a list of collisions differs from the truth. See [`verify`].
///
/// Entries of one set are told with the smaller index first, however they were
/// listed. An entry that is listed twice for a pair that does not touch is invented
/// twice.
#[must_use]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verification {
    /// Pairs that were tried: all there are.
    pub tried: u64,
    /// Pairs that touch, but for those that their groups leave out.
    pub touching: u64,
    /// Those of them that the list lacks, sorted, with their true times and
    /// depths.
    pub missing: Vec<Collision>,
    /// What the list has of pairs that do not touch, that their groups leave out,
    /// or that are none: one sphere twice, or an index past the last sphere.
    pub invented: Vec<Collision>,
    /// What the list has more than once of pairs that do touch: all entries but
    /// one, the right one if there is one.
    pub repeated: Vec<Collision>,
    /// What the list has with another time or depth than the float32 next to the
    /// true one, bit for bit (−0.0 is not 0.0); and what it should have.
    pub wrong: Vec<(Collision, Collision)>,
}

impl Verification {
    /// Whether the list is right to the last bit, its order aside.
    pub fn passed(&self) -> bool {
        self.mistakes() == 0
    }

    /// How many entries are missing or should be otherwise.
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

    /// Adds what was found out about further pairs.
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

/// Moves all from `other` to `all`: a list that lacks everything may not fit.
fn append<T>(all: &mut Vec<T>, other: &mut Vec<T>) -> Result<(), Error> {
    all.try_reserve(other.len())
        .map_err(|_| Error::OutOfMemory {
            what: "what is wrong with the list",
            needed: ((all.len() + other.len()) * size_of::<T>()) as u64,
        })?;
    all.append(other);
    Ok(())
}

/// In words: a line for each kind of mistake, with an example.
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
                "\nwrong time or depth: {}, the first is that of ({}, {}), toi {:?} instead of \
                 {:?}, depth {:?} instead of {:?}",
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

/// Holds a list of the collisions among `spheres` in a step of length `dt`, from
/// whatever program, against the truth. Neither the order of the list matters nor
/// which of the two spheres of a pair comes first.
///
/// Tries all N·(N − 1)/2 pairs, in parallel: some seconds for 20 000 spheres, or
/// a minute when most pairs touch. What is wrong takes 16 bytes a pair, or 32.
///
/// ```
/// use carom::{Collision, Sphere, verify};
/// let spheres = [0.0, 1.5, 3.0].map(|x| Sphere::new([x, 0.0, 0.0], 1.0));
/// let list = [Collision { a: 0, b: 1, toi: 0.0, depth: 0.5 }];
/// let truth = verify(&spheres, 1.0, &list)?;
/// assert!(!truth.passed());
/// assert_eq!((truth.missing.len(), truth.missing[0].a, truth.missing[0].b), (1, 1, 2));
/// # Ok::<(), carom::Error>(())
/// ```
///
/// # Errors
/// The spheres or `dt` are invalid, or memory is short.
pub fn verify(spheres: &[Sphere], dt: f32, list: &[Collision]) -> Result<Verification, Error> {
    check_dt(dt)?;
    check_spheres(spheres, dt, None)?;
    let pair = |c: &Collision| Collision {
        a: c.a.min(c.b),
        b: c.a.max(c.b),
        ..*c
    };
    compare([spheres, spheres], |a| a + 1, dt, sorted(list, pair)?)
}

/// The same for the collisions of one sphere of `first` (a) and one of `second`
/// (b), as [`Detector::detect_between`](crate::Detector::detect_between) lists
/// them: here it matters which comes first in an entry.
///
/// # Errors
/// Those of [`verify`].
pub fn verify_between(
    first: &[Sphere],
    second: &[Sphere],
    dt: f32,
    list: &[Collision],
) -> Result<Verification, Error> {
    check_dt(dt)?;
    check_spheres(first, dt, Some(0))?;
    check_spheres(second, dt, Some(1))?;
    compare([first, second], |_| 0, dt, sorted(list, |c| *c)?)
}

fn sorted(
    list: &[Collision],
    pair: impl Fn(&Collision) -> Collision,
) -> Result<Vec<Collision>, Error> {
    let mut copy = allocate(list.len(), "a copy of the list")?;
    copy.extend(list.iter().map(pair));
    copy.par_sort_unstable_by_key(|c| (c.a, c.b, bits(c)));
    Ok(copy)
}

/// Tries sphere a of the first set against those of the second from `from(a)` on.
/// The list is sorted.
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
            // Of several, the right one stands for the pair.
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

/// 0.0 and −0.0 differ here, and a NaN equals itself.
fn bits(c: &Collision) -> [u32; 2] {
    [c.toi.to_bits(), c.depth.to_bits()]
}

/// A ball that a sphere does not leave during the step, to pass over most pairs
/// quickly.
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

    /// Surely out of reach: rounding is some 10⁻¹⁶ of what is compared.
    fn is_far(&self, other: &Self) -> bool {
        let square = |k: usize| (self.center[k] - other.center[k]).powi(2);
        let reach = self.radius + other.radius;
        square(0) + square(1) + square(2) > reach * reach * (1.0 + 1e-9)
    }
}

//! Verification of a list of collisions: a test of every pair of spheres, or of a sphere and a wall, in exact
//! arithmetic, without a grid.

mod images;
mod walls;

use std::fmt;
use std::marker::PhantomData;

use glam::DVec3;
use rayon::prelude::*;

use crate::Touching;
use crate::error::Shortest;
use crate::exact::integers::{PairIntegers, numbers};
use crate::exact::{Hit, Translation, impact, parts};
use crate::limits::MAX_SPHERES;
use crate::memory::allocate;
use crate::number::sealed::{Family, Split};
use crate::reuse::ReusedVec;
use crate::threads;
use crate::validate::{check_dt, check_spheres};
use crate::wide::{WideSphere, check, to_one};
use crate::{
    Collision, Collision64, Error, Hits, MAX_MAGNITUDE_F64, Number, Sphere, Spheres, Step,
    WallCollision, WallCollision64,
};

use self::images::{Course, Images};

pub use self::walls::verify_walls;

/// The differences between a list of collisions and the exact list, found by [`verify`] or
/// [`verify_walls`]. With `verify`, a pair is two spheres, and its image in a periodic domain is the image of
/// sphere b. With `verify_walls`, a pair is a sphere and a wall, and its image is an image of the sphere.
///
/// If the step has one set of spheres, each entry of this report has the smaller sphere index first, even if
/// the checked list has it second. If a pair that does not touch is listed twice, both entries are in
/// [`invented`](Self::invented).
#[must_use]
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Verification<T = Collision> {
    /// Number of pairs of spheres that were tested. These are all pairs of the step, whether they may touch
    /// or not. In a periodic domain, a sphere with its own images counts as a pair, too.
    pub tried: u64,
    /// Number of touching pairs, without those that collision groups leave out. In a periodic domain, each
    /// touching image counts as a pair.
    pub touching: u64,
    /// Touching pairs that the list lacks, with their exact times and depths, sorted by their sphere indices
    /// (a, b).
    pub missing: Hits<T>,
    /// Entries of the verified list that are not touching pairs of the step, for one of these
    /// reasons: the two spheres do not touch, collision groups leave out the pair, an index is past
    /// the last sphere, or the entry has the same sphere twice, without a periodic displacement.
    pub invented: Hits<T>,
    /// Superfluous entries of the verified list. If the list has a touching pair several times, all
    /// but one of its entries are superfluous. The remaining entry is one with the right time and
    /// depth, if there is any.
    pub repeated: Hits<T>,
    /// Entries of the list with a wrong time or depth, each followed by the right entry. A right number is
    /// the float32 nearest to the exact value, bit for bit, so −0.0 is wrong for 0.0.
    pub wrong: Hits<(T, T)>,
}

impl<T> Verification<T> {
    /// Returns whether the list has no mistakes. Times and depths must be right to the last bit.
    pub fn passed(&self) -> bool {
        self.mistakes() == 0
    }

    /// Returns the number of missing, invented, repeated and wrong entries together.
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
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pair: Collision64,
    image: [i32; 3],
}

#[derive(Default)]
struct Mistakes {
    tried: u64,
    touching: u64,
    missing: Vec<Entry>,
    invented: Vec<Entry>,
    repeated: Vec<Entry>,
    wrong: Vec<(Entry, Collision64)>,
}

impl Mistakes {
    fn append(mut self, mut other: Self) -> Result<Self, Error> {
        self.tried += other.tried;
        self.touching += other.touching;
        append(&mut self.missing, &mut other.missing)?;
        append(&mut self.invented, &mut other.invented)?;
        append(&mut self.repeated, &mut other.repeated)?;
        append(&mut self.wrong, &mut other.wrong)?;
        Ok(self)
    }

    /// If `periodic` is false, the result has no images.
    fn public<T>(self, periodic: bool, entry: impl Fn(&Collision64) -> T) -> Verification<T> {
        let images = |list: &[Entry]| {
            let list = if periodic { list } else { &[] };
            list.iter().map(|entry| entry.image).collect()
        };
        let hits = |list: &[Entry]| Hits {
            items: list.iter().map(|c| entry(&c.pair)).collect(),
            images: images(list),
        };
        let wrong: Vec<Entry> = self.wrong.iter().map(|(entry, _)| *entry).collect();
        let both = |(listed, truth): &(Entry, Collision64)| (entry(&listed.pair), entry(truth));
        Verification {
            tried: self.tried,
            touching: self.touching,
            missing: hits(&self.missing),
            invented: hits(&self.invented),
            repeated: hits(&self.repeated),
            wrong: Hits {
                items: self.wrong.iter().map(both).collect(),
                images: images(&wrong),
            },
        }
    }
}

fn append<T>(all: &mut Vec<T>, other: &mut Vec<T>) -> Result<(), Error> {
    all.try_reserve(other.len())
        .map_err(|_| Error::OutOfMemory {
            what: "the list of mistakes",
            needed: ((all.len() + other.len()) * size_of::<T>()) as u64,
        })?;
    all.append(other);
    Ok(())
}

impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, "pairs", Touching::wide)
    }
}

impl fmt::Display for Verification<Collision64> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, "pairs", |c| *c)
    }
}

impl fmt::Display for Verification<WallCollision> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, "pairs of a sphere and a wall", Touching::wide)
    }
}

impl fmt::Display for Verification<WallCollision64> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, "pairs of a sphere and a wall", Touching::wide)
    }
}

impl<T> Verification<T> {
    fn write(
        &self,
        f: &mut fmt::Formatter<'_>,
        pairs: &str,
        pair: impl Fn(&T) -> Collision64,
    ) -> fmt::Result {
        let outcome = if self.passed() { "passed" } else { "failed" };
        write!(
            f,
            "{outcome}: {} of {} {pairs} touch",
            self.touching, self.tried
        )?;
        let kinds = [
            (&self.missing, "missing"),
            (&self.invented, "invented"),
            (&self.repeated, "repeated"),
        ];
        for (entries, kind) in kinds {
            if let Some(Collision64 { a, b, .. }) = entries.first().map(&pair) {
                let (count, image) = (entries.len(), of_image(entries.images()));
                write!(f, "\n{kind}: {count}, the first is ({a}, {b}){image}")?;
            }
        }
        if let Some((listed, truth)) = self.wrong.first() {
            let (listed, truth) = (pair(listed), pair(truth));
            write!(
                f,
                "\nwrong time or depth: {}, the first is ({}, {}){} with toi {:?} instead of {:?} \
                 and depth {:?} instead of {:?}",
                self.wrong.len(),
                truth.a,
                truth.b,
                of_image(self.wrong.images()),
                Shortest(listed.toi),
                Shortest(truth.toi),
                Shortest(listed.depth),
                Shortest(truth.depth)
            )?;
        }
        Ok(())
    }
}

fn of_image(images: &[[i32; 3]]) -> String {
    let first = images.first();
    first.map_or_else(String::new, |image| format!(" with image {image:?}"))
}

/// Checks a list of collisions, from carom or from another program, against exact arithmetic on every pair.
///
/// In a periodic domain, the image of each entry of `pairs` is the periodic image of sphere b
/// ([`Hits::with_images`]). In open space, `pairs` has no images. Pairs that the caller has dropped from the list are
/// missing.
///
/// The entries of `pairs` may be in any order. In a step of one set, the two sphere indices of an
/// entry may also be in any order: the entry `(b, a)` with the negated image stands for the same
/// pair as `(a, b)`.
///
/// `verify` tests all N·(N − 1)/2 pairs of one set, or all pairs across two sets, in parallel. For 20 000 spheres
/// the test takes some seconds, or a minute if most pairs touch. In a periodic domain, a pair takes longer in
/// proportion to the cells that one of its spheres crosses relative to the other. In the result, each missing or wrong entry of the
/// list takes 16 bytes (32 bytes for a wrong time or depth), and 12 more bytes in a periodic domain.
///
/// ```
/// use carom::{Collision, Hits, Sphere, Step, verify};
/// let spheres = [0.0, 1.5, 3.0].map(|x| Sphere::new([x, 0.0, 0.0], 1.0));
/// let list = Hits::new(vec![Collision { a: 0, b: 1, toi: 0.0, depth: 0.5 }]);
/// let truth = verify(&Step::new(&spheres, 1.0), &list)?;
/// assert!(!truth.passed());
/// assert_eq!((truth.missing.len(), truth.missing[0].a, truth.missing[0].b), (1, 1, 2));
/// # Ok::<(), carom::Error>(())
/// ```
///
/// # Errors
/// Returns one of these errors:
/// - [`Error::InvalidTimeStep`], [`Error::InvalidSphere`] or [`Error::TooManySpheres`] if `step`
///   has an invalid time step or sphere, or too many spheres.
/// - [`Error::ColumnLength`] or [`Error::InvalidColumn`] if columns of the spheres differ in length or
///   have no values.
/// - [`Error::InvalidDomain`] if the periodic domain of `step` has an invalid number, an edge of
///   length 0 or parallel edges.
/// - [`Error::ImageOutOfRange`] or [`Error::TooManyImages`] if a sphere is so large or so fast that a test of all
///   images would take too long.
/// - [`Error::ImageCount`] if `pairs` lacks images in a periodic domain, or has images in open space.
/// - [`Error::OutOfMemory`] if memory is too short for a copy of `pairs`, or for its differences
///   from the exact list.
pub fn verify<T: Number>(
    step: &Step<'_, Spheres<'_, T>>,
    pairs: &Hits<T::Collision>,
) -> Result<Verification<T::Collision>, Error> {
    threads::ready()?;
    let one_set = step.second.is_none();
    let mut copy = allocate(pairs.len(), "a copy of the list")?;
    copy.extend(pairs.iter().map(Touching::wide));
    let images = pairs.images();
    let mistakes = match T::split::<OfStep<'_, '_>>(step) {
        Split::Float32(step) => mistakes_in_float32(step, &copy, images, one_set),
        Split::Float64(step) => mistakes_in_float64(step, &copy, images, one_set),
    }?;
    Ok(mistakes.public(!step.domain.is_open(), T::Collision::of_wide))
}

struct OfStep<'a, 'b>(PhantomData<&'b &'a ()>);

impl<'a: 'b, 'b> Family for OfStep<'a, 'b> {
    type Of<T: Number> = &'b Step<'a, Spheres<'a, T>>;
}

fn mistakes_in_float32(
    step: &Step<'_>,
    list: &[Collision64],
    images: &[[i32; 3]],
    one_set: bool,
) -> Result<Mistakes, Error> {
    let dt = step.dt();
    check_dt(dt)?;
    step.domain.check::<f32>()?;
    check_image_count(step, list.len(), images.len())?;
    let mut packed = ReusedVec::default();
    let (first, second) = step.in_slices(&mut packed)?;
    let second = if let Some(second) = second {
        check_spheres(first, dt, Some(0))?;
        check_spheres(second, dt, Some(1))?;
        second
    } else {
        check_spheres(first, dt, None)?;
        first
    };
    let list = sorted(list, images, one_set)?;
    let flight = |sphere: &Sphere| Course {
        center: DVec3::from(sphere.center.map(f64::from)),
        moved: DVec3::from(sphere.velocity.map(f64::from)) * f64::from(dt),
        radius: sphere.radius.into(),
    };
    let flights = flights_of([first, second], one_set, flight)?;
    let edges = [0, 1, 2].map(|k| step.domain.periodic_edge(k));
    let decide = |a: usize, b: usize, image: Option<[i32; 3]>| {
        let (one, other) = (&first[a], &second[b]);
        let hit = match image {
            Some(image) => impact(one, other, Translation::new(&step.domain, image), dt).0,
            None => impact(one, other, (), dt).0,
        };
        let hit = hit.map(|Hit { toi, depth }| [toi.into(), depth.into()]);
        hit.filter(|[toi, _]: &[f64; 2]| {
            let spheres = || [numbers(one), numbers(other)];
            let products = || step.domain.products(image.unwrap_or_default());
            !(step.approaching && *toi == 0.0 && parts(&spheres(), &products()))
        })
    };
    compare_pairs(one_set, &flights, edges, &list, decide, |a, b| {
        first[a].ignores(&second[b])
    })
}

fn mistakes_in_float64(
    step: &Step<'_, Spheres<'_, f64>>,
    list: &[Collision64],
    images: &[[i32; 3]],
    one_set: bool,
) -> Result<Mistakes, Error> {
    let dt = step.dt;
    if !(0.0..=MAX_MAGNITUDE_F64).contains(&dt) {
        let limit = MAX_MAGNITUDE_F64;
        return Err(Error::InvalidTimeStep { dt, limit });
    }
    step.domain.check::<f64>()?;
    step.check_columns()?;
    check_image_count(step, list.len(), images.len())?;
    let mut sets = [Vec::new(), Vec::new()];
    for (number, set) in [Some(step.first), step.second]
        .into_iter()
        .flatten()
        .enumerate()
    {
        let mut spheres: Vec<WideSphere> = allocate(set.len(), "a copy of the spheres")?;
        spheres.resize(set.len(), WideSphere::default());
        set.pack(0, &mut spheres);
        for (index, sphere) in spheres.iter().enumerate() {
            check(index, sphere, dt, (!one_set).then_some(number))?;
        }
        sets[number] = spheres;
    }
    let [first, second] = &sets;
    let second = if one_set { first } else { second };
    let list = sorted(list, images, one_set)?;
    let edges = [0, 1, 2].map(|k| step.domain.periodic_edge(k));
    // So that no square overflows.
    let length = |sphere: &WideSphere| {
        let moved = sphere
            .velocity
            .map(|v| (v * dt).abs())
            .into_iter()
            .sum::<f64>();
        (sphere
            .center
            .map(f64::abs)
            .into_iter()
            .fold(sphere.radius, f64::max))
        .max(moved)
    };
    let longest = sets.iter().flatten().map(length).fold(0.0, f64::max);
    let longest = edges
        .iter()
        .fold(longest, |most, edge| most.max(edge.abs().max_element()));
    let unit = to_one(longest);
    let flight = |sphere: &WideSphere| Course {
        center: DVec3::from(sphere.center) * unit,
        moved: DVec3::from(sphere.velocity) * dt * unit,
        radius: sphere.radius * unit,
    };
    let flights = flights_of([first, second].map(|set| &set[..]), one_set, flight)?;
    let products =
        |image: [i32; 3]| [0, 1, 2].map(|axis| [0, 1, 2].map(|k| (edges[k][axis], image[k])));
    let decide = |a: usize, b: usize, image: Option<[i32; 3]>| {
        let numbers = |sphere: &WideSphere| (sphere.center, sphere.radius, sphere.velocity);
        let spheres = [numbers(&first[a]), numbers(&second[b])];
        let image = image.unwrap_or_default();
        let vector = |of: [[f64; 3]; 2]| (DVec3::from(of[1]) - DVec3::from(of[0])) * unit;
        let shift: DVec3 = (0..3).map(|k| edges[k] * unit * f64::from(image[k])).sum();
        let p = vector([spheres[0].0, spheres[1].0]) + shift;
        let v = vector([spheres[0].2, spheres[1].2]) * dt;
        let r = (spheres[0].1 + spheres[1].1) * unit;
        let (outside, closing) = (p.length_squared() - r * r, -p.dot(v));
        // With a margin far larger than the rounding errors.
        let part = (closing / v.length_squared()).clamp(0.0, 1.0);
        let nearest = if part > 0.0 { p + v * part } else { p };
        let size: f64 = spheres
            .iter()
            .flat_map(|sphere| sphere.0)
            .map(f64::abs)
            .sum();
        let size = size * unit + shift.length() + p.length() + v.length() + r;
        // The squares of very short lengths lose digits.
        if nearest.length() > r + 1e-9 * size + 1e-150 {
            return None;
        }
        // It affects only the speed.
        let guess = if outside > 0.0 {
            let root = (closing * closing - outside * v.length_squared())
                .max(0.0)
                .sqrt();
            outside / (closing + root) * dt
        } else {
            -outside / (r + p.length()) / unit
        };
        let pair = PairIntegers::of(&spheres, &products(image));
        let hit = pair.rounded(dt, guess, f64::MAX);
        hit.filter(|&[toi, _]| {
            !(step.approaching && toi == 0.0 && parts(&spheres, &products(image)))
        })
    };
    let scaled = edges.map(|edge| edge * unit);
    compare_pairs(one_set, &flights, scaled, &list, decide, |a, b| {
        let [one, other] = [&first[a], &second[b]].map(|sphere| Sphere {
            groups: sphere.groups,
            ..Sphere::default()
        });
        one.ignores(&other)
    })
}

fn check_image_count<S>(step: &Step<'_, S>, pairs: usize, images: usize) -> Result<(), Error> {
    let expected = if step.domain.is_open() { 0 } else { pairs };
    if images == expected {
        return Ok(());
    }
    Err(Error::ImageCount { pairs, images })
}

/// In a step of one set, `(b, a)` with the negated image is `(a, b)`. The copy has the smaller
/// index first or, if they are equal, the greater image.
fn sorted(list: &[Collision64], images: &[[i32; 3]], one_set: bool) -> Result<Vec<Entry>, Error> {
    let mut copy = allocate(list.len(), "a copy of the list")?;
    copy.extend(list.iter().enumerate().map(|(index, c)| {
        let image = images.get(index).copied().unwrap_or_default();
        if !one_set || (c.a, [0; 3]) < (c.b, image) {
            return Entry { pair: *c, image };
        }
        let (a, b) = (c.b, c.a);
        Entry {
            pair: Collision64 { a, b, ..*c },
            image: image.map(i32::wrapping_neg),
        }
    }));
    copy.par_sort_unstable_by_key(|c| (key(c), bits(&c.pair)));
    Ok(copy)
}

fn key(c: &Entry) -> (u32, u32, [i32; 3]) {
    (c.pair.a, c.pair.b, c.image)
}

/// Returns the flights of two sets, or of one set.
fn flights_of<S>(
    [first, second]: [&[S]; 2],
    one_set: bool,
    flight: impl Fn(&S) -> Course,
) -> Result<[Vec<Course>; 2], Error> {
    let of = |set: &[S]| {
        let mut flights = allocate(set.len(), "the motion of the spheres")?;
        flights.extend(set.iter().map(&flight));
        Ok(flights)
    };
    Ok([of(first)?, of(if one_set { &[] } else { second })?])
}

/// Compares two sets, or one with itself if `one_set`. `flights` has the motion of the spheres,
/// and `edges` the periodic edges, in the same unit. `decide` returns the time and the depth of
/// a pair that touches.
fn compare_pairs(
    one_set: bool,
    flights: &[Vec<Course>; 2],
    edges: [DVec3; 3],
    list: &[Entry],
    decide: impl Fn(usize, usize, Option<[i32; 3]>) -> Option<[f64; 2]> + Sync,
    ignores: impl Fn(usize, usize) -> bool + Sync,
) -> Result<Mistakes, Error> {
    let [first, second] = flights;
    let second = if one_set { first } else { second };
    if let Some(set) = flights.iter().find(|set| set.len() > MAX_SPHERES) {
        return Err(Error::TooManySpheres {
            count: set.len(),
            limit: MAX_SPHERES,
        });
    }
    if edges != [DVec3::ZERO; 3] {
        let images = Images::new(edges)?;
        return compare(list, first.len(), |a, row| {
            // Also with its own images.
            let from = if one_set { a.min(second.len()) } else { 0 };
            row.mistakes.tried = (second.len() - from) as u64;
            for (b, flight) in second.iter().enumerate().skip(from) {
                if ignores(a, b) {
                    continue;
                }
                let own = one_set && a == b;
                let decide = |image| match own && image <= [0; 3] {
                    true => None,
                    false => decide(a, b, Some(image)),
                };
                let far = |limit| {
                    let way = |course: &Course| {
                        course.center.length() + course.moved.length() + course.radius
                    };
                    let own = way(&first[a]) > way(flight);
                    Error::ImageOutOfRange {
                        index: if own { a } else { b },
                        set: (!one_set).then_some(usize::from(!own)),
                        limit,
                    }
                };
                for (image, touch) in images.touching([&first[a], flight], decide, far)? {
                    row.compare(b, image, Some(touch));
                }
            }
            Ok(())
        });
    }
    let reach = |flights: &[Course]| {
        let mut reach = allocate(flights.len(), "balls around the spheres")?;
        reach.extend(flights.iter().map(Reach::of));
        Ok(reach)
    };
    let [reach, other_reach]: [Vec<Reach>; 2] = [reach(first)?, reach(second)?];
    compare(list, reach.len(), |a, row| {
        let from = if one_set { a + 1 } else { 0 };
        let from = from.min(other_reach.len());
        row.mistakes.tried = (other_reach.len() - from) as u64;
        let near = &reach[a];
        for (b, other_near) in other_reach.iter().enumerate().skip(from) {
            if !ignores(a, b) && !near.is_far(other_near) {
                row.compare(b, [0; 3], decide(a, b, None));
            }
        }
        Ok(())
    })
}

struct Row<'a> {
    a: u32,
    listed: &'a [Entry],
    mistakes: Mistakes,
}

impl Row<'_> {
    fn next_if(&mut self, has: impl Fn(&Entry) -> bool) -> Option<Entry> {
        let (first, rest) = self.listed.split_first()?;
        if !has(first) {
            return None;
        }
        self.listed = rest;
        Some(*first)
    }

    /// `touch` is the exact impact of `a` with the image `image` of `b`, or `None`. Calls
    /// must be in ascending order of `b`, and then of `image`.
    #[allow(clippy::cast_possible_truncation, reason = "indices are below 2³²")]
    fn compare(&mut self, b: usize, image: [i32; 3], touch: Option<[f64; 2]>) {
        let Some([toi, depth]) = touch else {
            return;
        };
        let (a, b) = (self.a, b as u32);
        let pair = Collision64 { a, b, toi, depth };
        let truth = Entry { pair, image };
        self.mistakes.touching += 1;
        while let Some(stray) = self.next_if(|c| key(c) < key(&truth)) {
            self.mistakes.invented.push(stray);
        }
        let mut entries = Vec::new();
        while let Some(entry) = self.next_if(|c| key(c) == key(&truth)) {
            entries.push(entry);
        }
        // One with the right time and depth counts as the pair's entry, the others as repeated.
        let right = entries.iter().position(|c| bits(&c.pair) == bits(&pair));
        if let Some(right) = right {
            entries.swap_remove(right);
        } else if let Some(wrong) = entries.pop() {
            self.mistakes.wrong.push((wrong, pair));
        } else {
            self.mistakes.missing.push(truth);
        }
        self.mistakes.repeated.append(&mut entries);
    }
}

/// In parallel over the first index a: `test` gets each a below `rows` with its entries, and
/// passes each exact impact to [`Row::compare`].
#[allow(clippy::cast_possible_truncation, reason = "indices are below 2³²")]
fn compare(
    list: &[Entry],
    rows: usize,
    test: impl Fn(usize, &mut Row<'_>) -> Result<(), Error> + Sync,
) -> Result<Mistakes, Error> {
    let row = |index: usize| -> Result<Mistakes, Error> {
        let a = index as u32;
        let start = list.partition_point(|c| c.pair.a < a);
        let end = list.partition_point(|c| c.pair.a <= a);
        let mut row = Row {
            a,
            listed: &list[start..end],
            mistakes: Mistakes::default(),
        };
        test(index, &mut row)?;
        row.mistakes.invented.extend(row.listed);
        Ok(row.mistakes)
    };
    let mistakes = (0..rows)
        .into_par_iter()
        .map(row)
        .try_reduce(Mistakes::default, Mistakes::append)?;
    let past = list.partition_point(|c| (c.pair.a as usize) < rows);
    mistakes.append(Mistakes {
        invented: list[past..].to_vec(),
        ..Mistakes::default()
    })
}

/// 0.0 and −0.0 differ, and a NaN equals itself.
fn bits(c: &Collision64) -> [u64; 2] {
    [c.toi.to_bits(), c.depth.to_bits()]
}

/// During the whole step. If two balls do not meet, their spheres need no exact test.
struct Reach {
    center: [f64; 3],
    radius: f64,
}

impl Reach {
    fn of(flight: &Course) -> Self {
        Self {
            center: flight.center.to_array(),
            radius: flight.radius + flight.moved.abs().element_sum(),
        }
    }

    /// 10⁻⁹ is far larger than the relative rounding errors of about 10⁻¹⁶.
    fn is_far(&self, other: &Self) -> bool {
        let square = |k: usize| (self.center[k] - other.center[k]).powi(2);
        let reach = self.radius + other.radius;
        let square_of_reach = (reach * reach).max(1e-290);
        square(0) + square(1) + square(2) > square_of_reach * (1.0 + 1e-9)
    }
}

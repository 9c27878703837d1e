//! Makes the float32 spheres that enclose spheres in float64.

use std::array::from_fn;

use glam::DVec3;
use rayon::prelude::*;

use super::scale::{WideScale, exponent, power};
use super::sphere::{WideSphere, without_groups};
use crate::error::Field;
use crate::lattice::{MAX_CELLS, duals, reduce};
use crate::limits::CHUNK;
use crate::memory::{allocate, collect};
use crate::number::sealed::Numbers;
use crate::reuse::ReusedVec;
use crate::shared::sets::Sets;
use crate::step::{UncheckedStep, check_count};
use crate::{Domain, Error, MAX_MAGNITUDE_F64, Sphere, Spheres, Step, threads};

/// Largest relative error of one float64 operation.
pub(super) const U: f64 = f64::EPSILON / 2.0;
/// Number of spheres, evenly spaced, of which the median centre and the median velocity are taken.
const SAMPLE: usize = 63;
/// Number of spheres that are packed and enclosed at a time, so that they stay in the cache.
const BLOCK: usize = 256;
/// Largest and smallest largest number of the enclosing spheres, 2⁵⁵ and 2⁻⁶⁰. Otherwise, another unit is chosen.
pub(super) const LARGEST: [f64; 2] = [1.0 / (1_u64 << 60) as f64, (1_u64 << 55) as f64];
/// A number that is not very large: 2²⁰⁰.
const MODERATE: f64 = f64::from_bits(1223 << 52);
/// Largest ratio of the lengths of two periodic edges: 2¹⁰⁰.
const MAX_RATIO: f64 = (1_u128 << 100) as f64;

/// Memory of the enclosing spheres, kept from step to step.
#[derive(Debug, Default)]
pub(crate) struct EnclosedMemory {
    packed: ReusedVec<WideSphere>,
    spheres: ReusedVec<Sphere>,
    wraps: ReusedVec<[i32; 3]>,
}

impl EnclosedMemory {
    pub(crate) fn bytes(&self) -> usize {
        self.packed.bytes() + self.spheres.bytes() + self.wraps.bytes()
    }
}

/// A step in float64, and the enclosing step in float32.
#[derive(Clone, Copy)]
pub(crate) struct Enclosed<'a> {
    /// The given spheres of the first and of the second set.
    pub(crate) given: [&'a [WideSphere]; 2],
    /// The domain as it is given.
    pub(crate) domain: Domain,
    pub(crate) dt: f64,
    pub(crate) scale: WideScale,
    pub(super) cell: Option<Cell64>,
    /// For each sphere, of both sets, the multiples of the given edges that were added to its centre. Empty in open
    /// space.
    pub(crate) wraps: &'a [[i32; 3]],
    pub(crate) step: UncheckedStep<'a>,
    /// Whether the magnitudes of coordinates, radii and velocities and dt are at most 2²⁰⁰.
    pub(super) is_moderate: bool,
}

/// The sets of a step in float64, before they are packed.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    /// Spheres that are used as they are, perhaps without groups.
    Packed(&'a [WideSphere], bool),
    Columns(Spheres<'a, f64>),
}

impl<'a> Source<'a> {
    fn of(spheres: Spheres<'a, f64>) -> Self {
        match spheres.records() {
            Some(records) => Self::Packed(without_groups(records), false),
            None => Self::Columns(spheres),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Packed(spheres, _) => spheres.len(),
            Self::Columns(columns) => columns.len(),
        }
    }

    fn sphere(&self, index: usize) -> WideSphere {
        let mut sphere = [WideSphere::default()];
        match self {
            Self::Packed(spheres, _) => sphere[0] = spheres[index],
            Self::Columns(columns) => columns.pack(index, &mut sphere),
        }
        sphere[0]
    }
}

impl<'a> Enclosed<'a> {
    pub(crate) fn new(
        step: &Step<'a, Spheres<'a, f64>>,
        memory: &'a mut EnclosedMemory,
    ) -> Result<Self, Error> {
        let &Step {
            first,
            second,
            dt,
            domain,
            ..
        } = step;
        if !(0.0..=MAX_MAGNITUDE_F64).contains(&dt) {
            let limit = MAX_MAGNITUDE_F64;
            return Err(Error::InvalidTimeStep { dt, limit });
        }
        domain.check::<f64>()?;
        step.check_columns()?;
        step.check_counts()?;
        let sets = match second {
            None => Sets::One,
            Some(_) => Sets::Two { first: first.len() },
        };
        let second = second.map_or(Source::Packed(&[], false), Source::of);
        Self::of([Source::of(first), second], sets, (domain, dt), memory)
    }

    /// Encloses spheres at rest.
    pub(crate) fn at_rest(
        spheres: &'a [WideSphere],
        domain: &Domain,
        memory: &'a mut EnclosedMemory,
    ) -> Result<Self, Error> {
        domain.check::<f64>()?;
        check_count(spheres.len())?;
        let sources = [Source::Packed(spheres, true), Source::Packed(&[], false)];
        Self::of(sources, Sets::One, (*domain, 0.0), memory)
    }

    fn of(
        sources: [Source<'a>; 2],
        sets: Sets,
        (domain, dt): (Domain, f64),
        memory: &'a mut EnclosedMemory,
    ) -> Result<Self, Error> {
        let EnclosedMemory {
            packed,
            spheres,
            wraps,
            ..
        } = memory;
        let count = sources[0].len() + sources[1].len();
        let cell = Cell64::new(&domain)?;
        threads::run(count, || {
            let copied = sources.map(|source| match source {
                Source::Packed(..) => 0,
                Source::Columns(columns) => columns.len(),
            });
            let mut packed = match copied {
                [0, 0] => {
                    packed.rest();
                    &mut []
                }
                [first, second] => packed.enough(first + second, "a copy of the spheres")?,
            };
            let spheres = spheres.enough(count, ENCLOSING)?;
            let wraps: &mut [[i32; 3]] = if cell.is_some() {
                wraps.enough(count, "the cells of the spheres")?
            } else {
                wraps.rest();
                &mut []
            };
            let sample = Sample::new(&sources, cell.as_ref())?;
            let size = sample.size(dt).max(cell.map_or(0.0, |cell| cell.longest()));
            let mut frame = WideFrame::new(&sample, size, 1.0, dt, cell);
            let measured = frame.enclose(&sources, packed, spheres, wraps, sets, dt)?;
            let largest = measured.largest;
            // The unit must also suit the edges of a cell.
            let least = if cell.is_some() { 0.0 } else { LARGEST[0] };
            if largest > 0.0 && !(least..=LARGEST[1]).contains(&largest) {
                let size = if largest.is_finite() {
                    largest / frame.scale.length
                } else {
                    let cell = cell.map_or(0.0, |cell| cell.size());
                    4.0 * (measured.extent + measured.speed * dt + cell)
                };
                frame = WideFrame::new(&sample, size, (1_u64 << 50) as f64, dt, cell);
                frame.enclose(&sources, packed, spheres, wraps, sets, dt)?;
            }
            let given = sources.map(|source| match source {
                Source::Packed(spheres, _) => spheres,
                Source::Columns(columns) => {
                    let (first, rest) = std::mem::take(&mut packed).split_at_mut(columns.len());
                    packed = rest;
                    first
                }
            });
            Ok(Self {
                given,
                domain,
                is_moderate: most(measured.extent, most(measured.speed, dt)) <= MODERATE,
                dt,
                scale: frame.scale,
                cell,
                wraps,
                step: UncheckedStep {
                    spheres,
                    sets,
                    dt: if dt == 0.0 { 0.0 } else { 1.0 },
                    domain: frame.domain(),
                    enclosing: true,
                },
            })
        })
    }
}

/// Some of the spheres of a step.
pub(super) struct Sample {
    pub(super) origin: DVec3,
    pub(super) drift: DVec3,
    spheres: Vec<WideSphere>,
}

impl Sample {
    /// Returns spheres that are evenly spaced in the list. The origin is the median of their centres along each axis, and
    /// the drift that of their velocities. Most spheres of a world are near them, even if a few are far away.
    pub(super) fn new(sources: &[Source<'_>; 2], cell: Option<&Cell64>) -> Result<Self, Error> {
        let first = sources[0].len();
        let count = first + sources[1].len();
        let taken = count.min(SAMPLE);
        let chosen =
            (0..taken)
                .map(|k| k * count / taken)
                .map(|index| match index.checked_sub(first) {
                    None => sources[0].sphere(index),
                    Some(index) => sources[1].sphere(index),
                });
        let mut spheres = collect(chosen, ENCLOSING)?;
        let mut along: Vec<f64> = allocate(taken, ENCLOSING)?;
        for sphere in &mut spheres {
            let center = sphere.center.into();
            if let Some(cell) = cell
                && let Some(wrap) = cell.wrap(center)
            {
                sphere.center = cell.wrapped(center, wrap).0.to_array();
            }
        }
        let mut median = |of: fn(&WideSphere) -> &[f64; 3]| {
            let mut middle = |axis: usize| {
                let numbers = spheres.iter().map(|sphere| of(sphere)[axis]);
                along.clear();
                along.extend(numbers.filter(|x| x.is_finite()));
                along.sort_unstable_by(f64::total_cmp);
                along.get(along.len() / 2).copied().unwrap_or(0.0)
            };
            DVec3::new(middle(0), middle(1), middle(2))
        };
        Ok(Self {
            origin: median(|sphere| &sphere.center),
            drift: median(|sphere| &sphere.velocity),
            spheres,
        })
    }

    /// Returns the largest length of these spheres.
    pub(super) fn size(&self, dt: f64) -> f64 {
        self.spheres.iter().fold(0.0, |most: f64, sphere| {
            let place = (DVec3::from(sphere.center) - self.origin).abs();
            let shift = ((DVec3::from(sphere.velocity) - self.drift) * dt).abs();
            most.max(place.max(shift).max_element()).max(sphere.radius)
        })
    }
}

/// Returns an error if a sphere has an invalid number.
pub(crate) fn check(
    index: usize,
    sphere: &WideSphere,
    dt: f64,
    set: Option<usize>,
) -> Result<(), Error> {
    let in_range = |x: f64| x.abs() <= MAX_MAGNITUDE_F64;
    let &WideSphere {
        center,
        velocity,
        radius,
        ..
    } = sphere;
    let fields = (0..3)
        .map(|k| (Field::Center(k), center[k]))
        .chain((0..3).map(|k| (Field::Velocity(k), velocity[k])))
        .chain((0..3).map(|k| (Field::Displacement(k), velocity[k] * dt)));
    let invalid = if radius >= 0.0 && in_range(radius) {
        fields.into_iter().find(|&(_, x)| !in_range(x))
    } else {
        Some((Field::Radius, radius))
    };
    match invalid {
        Some((field, value)) => Err(Error::InvalidSphere {
            index,
            set,
            field,
            value,
            limit: MAX_MAGNITUDE_F64,
        }),
        None => Ok(()),
    }
}

/// The lattice of a periodic domain, in float64, with edges as short as possible.
#[derive(Clone, Copy)]
pub(super) struct Cell64 {
    corner: DVec3,
    given: [DVec3; 3],
    count: usize,
    /// The short edges, each as multiples of the given edges, and in float64.
    combined: [[i64; 3]; 3],
    edges: [DVec3; 3],
    /// Bounds of the rounding errors of the short edges.
    errors: [f64; 3],
    duals: [DVec3; 3],
    /// Largest number of short edges by which a sphere is moved into the cell.
    most: i32,
    /// Whether the short edges are the given ones.
    is_plain: bool,
}

impl Cell64 {
    /// Returns `None` for open space.
    fn new(domain: &Domain) -> Result<Option<Self>, Error> {
        Self::reduced(domain, true)
    }

    /// Returns the cell with the given edges in the place of short ones.
    pub(super) fn given(domain: &Domain) -> Result<Option<Self>, Error> {
        Self::reduced(domain, false)
    }

    fn reduced(domain: &Domain, short: bool) -> Result<Option<Self>, Error> {
        if domain.is_open() {
            return Ok(None);
        }
        let given = [0, 1, 2].map(|k| domain.periodic_edge(k));
        let periodic = (0..3).filter(|&k| domain.periodic()[k]);
        let lengths = periodic.clone().map(|k| given[k].abs().max_element());
        let [shortest, longest] =
            lengths.fold([f64::MAX, 0.0], |[low, high], x| [x.min(low), x.max(high)]);
        let invalid = |problem: &str| Error::InvalidDomain {
            problem: format!("its periodic edges {:?} {problem}", domain.edges()),
        };
        if longest > shortest * MAX_RATIO {
            return Err(invalid(
                "differ in length by a factor of more than 2^100; make an edge open with `with_periodic`",
            ));
        }
        // The edges are scaled, so that no product of three of them overflows.
        let unit = power(-exponent(longest));
        let scaled = given.map(|edge| edge * unit);
        let mut combined = [[0; 3]; 3];
        let mut count = 0;
        for k in periodic {
            combined[count][k] = 1;
            count += 1;
        }
        let plain = combined;
        #[allow(clippy::cast_precision_loss, reason = "larger numbers are an error")]
        let sum = |combined: &[i64; 3]| {
            (0..3)
                .map(|k| scaled[k] * combined[k] as f64)
                .sum::<DVec3>()
        };
        if short {
            reduce(&mut combined[..count], sum);
        }
        let edges = combined.each_ref().map(sum);
        #[allow(clippy::cast_precision_loss, reason = "larger numbers are an error")]
        let errors = combined.map(|combined| {
            let terms = (0..3).map(|k| scaled[k].abs().element_sum() * combined[k].abs() as f64);
            8.0 * U * terms.sum::<f64>()
        });
        let duals = duals(edges);
        let is_dual = |k: usize, j: usize| {
            let exact = f64::from(u8::from(k == j && k < count));
            (duals[k].dot(edges[j]) - exact).abs() <= 1.0 / 1024.0
        };
        let largest = combined.as_flattened().iter().map(|n| n.abs()).max();
        let largest = largest.unwrap_or(1);
        let long = (0..count).all(|k| edges[k].length() > errors[k] * f64::from(1 << 20));
        if largest > 1 << 26 || !long || !(0..9).all(|kj| is_dual(kj / 3, kj % 3)) {
            return Err(invalid(
                "are parallel, or nearly so, and span no cell; correct them, or make an edge open with `with_periodic`",
            ));
        }
        let most = i32::try_from((1 << 28) / (3 * largest)).map_or(MAX_CELLS, |n| n.min(MAX_CELLS));
        Ok(Some(Self {
            corner: domain.origin().into(),
            given,
            count,
            combined,
            edges: edges.map(|edge| edge / unit),
            errors: errors.map(|error| error / unit),
            duals: duals.map(|dual| dual * unit),
            most,
            is_plain: combined == plain,
        }))
    }

    /// Returns the multiples of the given edges that bring a place into the cell or near it, or `None` if they are too
    /// large.
    #[inline(always)]
    fn wrap(&self, place: DVec3) -> Option<[i32; 3]> {
        let away = place - self.corner;
        let mut short = [0; 3];
        for (dual, short) in self.duals.iter().zip(&mut short) {
            let at = dual.dot(away);
            if !(0.0..1.0).contains(&at) {
                let cells = -at.floor();
                if cells.is_nan() || cells.abs() > f64::from(self.most) {
                    return None;
                }
                #[allow(clippy::cast_possible_truncation, reason = "a whole number in range")]
                let cells = cells as i32;
                *short = cells;
            }
        }
        if short == [0; 3] {
            return Some(short);
        }
        Some(self.in_given_edges(short))
    }

    /// Converts multiples of the short edges to multiples of the given edges.
    #[inline(always)]
    pub(super) fn in_given_edges(&self, image: [i32; 3]) -> [i32; 3] {
        from_fn(|k| {
            let terms = (0..3).map(|i| i64::from(image[i]) * self.combined[i][k]);
            #[allow(clippy::cast_possible_truncation, reason = "at most 2²⁸")]
            let sum = terms.sum::<i64>() as i32;
            sum
        })
    }

    pub(super) fn size(&self) -> f64 {
        let edges = self.given.iter().map(|edge| edge.abs().element_sum());
        edges.sum::<f64>() + self.corner.abs().element_sum()
    }

    /// Returns the largest component of a short edge.
    pub(super) fn longest(&self) -> f64 {
        let edges = self.edges.iter();
        edges.fold(0.0, |most: f64, edge| most.max(edge.abs().max_element()))
    }

    pub(super) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Returns a wrapped place, and a bound of the sum of the rounding errors of its components.
    #[inline(always)]
    fn wrapped(&self, place: DVec3, wrap: [i32; 3]) -> (DVec3, f64) {
        if wrap == [0; 3] {
            return (place, 0.0);
        }
        let (mut sum, mut terms) = (place, place.abs());
        for (edge, times) in self.given.into_iter().zip(wrap) {
            let term = edge * f64::from(times);
            sum += term;
            terms += term.abs();
        }
        (sum, 8.0 * U * terms.element_sum())
    }
}

/// The coordinates of the enclosing spheres: an origin, a common motion, which is taken away, and the units.
pub(super) struct WideFrame {
    pub(super) origin: DVec3,
    pub(super) drift: DVec3,
    pub(super) scale: WideScale,
    /// dt in the unit of time of the scale.
    pub(super) dt: f64,
    pub(super) cell: Option<Cell64>,
    /// The sum of the errors of the edges of the enclosing step, which are rounded.
    pub(super) rounded_edges: f64,
    /// How much the radius of a sphere grows with the distance that it reaches from the origin, because the edges of the
    /// enclosing step are rounded.
    pub(super) share: f64,
    /// Length by which each radius grows besides, in the units of the frame.
    pub(super) margin: f64,
}

impl WideFrame {
    /// Creates the frame in which the length `size` becomes about `to`.
    pub(super) fn new(sample: &Sample, size: f64, to: f64, dt: f64, cell: Option<Cell64>) -> Self {
        let scale = WideScale::new(size, to, dt);
        let rounded_edges = cell.map_or(0.0, |cell| {
            let rounded = [0, 1, 2].map(|k| {
                let edge = cell.edges[k] * scale.length;
                (edge - edge.as_vec3().as_dvec3()).length() + cell.errors[k] * scale.length
            });
            rounded.iter().sum()
        });
        let share = cell.map_or(0.0, |cell| {
            // The number of edges along which a pair is displaced, for each unit of its distance. The squares of unscaled
            // vectors might overflow. 1.01 covers the errors of the reciprocal vectors.
            let lengths = cell
                .duals
                .iter()
                .map(|&dual| (dual / scale.length).length());
            1.01 * lengths.fold(0.0, f64::max) * rounded_edges
        });
        Self {
            origin: sample.origin,
            drift: sample.drift,
            scale,
            dt: dt * scale.time,
            cell,
            rounded_edges,
            share,
            margin: 0.0,
        }
    }

    pub(super) fn domain(&self) -> Domain {
        let Some(cell) = &self.cell else {
            return Domain::open();
        };
        let single = |x: DVec3| (x * self.scale.length).as_vec3().to_array();
        // The corner of the cell only says where the stages wrap spheres. Along open directions, any place is fine.
        let away = cell.corner - self.origin;
        let corner: DVec3 = (0..cell.count)
            .map(|k| cell.edges[k] * cell.duals[k].dot(away))
            .sum();
        let periodic = [0, 1, 2].map(|k| k < cell.count);
        Domain::triclinic(single(corner), cell.edges.map(single)).with_periodic(periodic)
    }

    /// Fills `spheres` with the enclosing spheres of both sets, `packed` with copies of the given spheres that are in
    /// columns and, in a periodic domain, `wraps` with the multiples of the edges that were added to the given centres.
    fn enclose(
        &self,
        sources: &[Source<'_>; 2],
        packed: &mut [WideSphere],
        spheres: &mut [Sphere],
        wraps: &mut [[i32; 3]],
        sets: Sets,
        dt: f64,
    ) -> Result<Measured, Error> {
        let (mut packed, mut spheres, mut wraps) = (packed, spheres, wraps);
        let mut all = Measured::default();
        for (set, source) in sources.iter().enumerate() {
            let named = sets.are_two().then_some(set);
            let (of_set, rest) = std::mem::take(&mut spheres).split_at_mut(source.len());
            spheres = rest;
            let (of_wraps, rest) = std::mem::take(&mut wraps)
                .split_at_mut(if self.cell.is_some() { source.len() } else { 0 });
            wraps = rest;
            let measured = match *source {
                Source::Packed(given, has_groups) => {
                    let chunks = of_set.par_chunks_mut(CHUNK).zip(given.par_chunks(CHUNK));
                    let wraps = chunks_of(of_wraps, given.len())?;
                    let chunks = chunks.zip(wraps);
                    chunks
                        .map(|((spheres, given), wraps)| {
                            self.block(given, has_groups, spheres, wraps)
                        })
                        .reduce(Measured::default, Measured::merge)
                }
                Source::Columns(columns) => {
                    let (of_packed, rest) = std::mem::take(&mut packed).split_at_mut(source.len());
                    packed = rest;
                    let wraps = chunks_of(of_wraps, of_packed.len())?;
                    let chunks = of_set
                        .par_chunks_mut(CHUNK)
                        .zip(of_packed.par_chunks_mut(CHUNK));
                    let chunks = chunks.zip(wraps).enumerate();
                    chunks
                        .map(|(chunk, ((spheres, packed), wraps))| {
                            let mut measured = Measured::default();
                            let mut wraps = wraps;
                            let blocks = spheres.chunks_mut(BLOCK).zip(packed.chunks_mut(BLOCK));
                            for (number, (spheres, packed)) in blocks.enumerate() {
                                columns.pack(chunk * CHUNK + number * BLOCK, packed);
                                let count = if wraps.is_empty() { 0 } else { packed.len() };
                                let (of_block, rest) =
                                    std::mem::take(&mut wraps).split_at_mut(count);
                                wraps = rest;
                                measured =
                                    measured.merge(self.block(packed, true, spheres, of_block));
                            }
                            measured
                        })
                        .reduce(Measured::default, Measured::merge)
                }
            };
            if !measured.is_valid(dt) {
                self.refuse(source, dt, named)?;
            }
            all = all.merge(measured);
        }
        Ok(all)
    }

    /// Returns an error for the first sphere that is invalid or too far away.
    #[cold]
    fn refuse(&self, source: &Source<'_>, dt: f64, set: Option<usize>) -> Result<(), Error> {
        for index in 0..source.len() {
            let sphere = source.sphere(index);
            check(index, &sphere, dt, set)?;
            if let Some(cell) = &self.cell
                && cell.wrap(sphere.center.into()).is_none()
            {
                return Err(Error::ImageOutOfRange {
                    index,
                    set,
                    limit: cell.most,
                });
            }
        }
        Ok(())
    }

    /// Encloses the spheres `given`.
    #[inline(always)]
    fn block(
        &self,
        given: &[WideSphere],
        has_groups: bool,
        spheres: &mut [Sphere],
        wraps: &mut [[i32; 3]],
    ) -> Measured {
        let mut measured = Measured::default();
        let groups = |sphere: &WideSphere| if has_groups { sphere.groups } else { 0 };
        let Some(cell) = &self.cell else {
            for (sphere, given) in spheres.iter_mut().zip(given) {
                *sphere = self.sphere(given, given.center, 0.0, groups(given), &mut measured);
            }
            return measured;
        };
        for ((sphere, wrap), given) in spheres.iter_mut().zip(wraps).zip(given) {
            let center = given.center.into();
            let cells = cell.wrap(center);
            measured.far |= cells.is_none();
            *wrap = cells.unwrap_or_default();
            let (place, off) = cell.wrapped(center, *wrap);
            *sphere = self.sphere(given, place.to_array(), off, groups(given), &mut measured);
        }
        measured
    }

    /// Returns the nearest place in the enclosing step, and a bound of the sum of the errors of its components.
    pub(super) fn place(&self, place: [f64; 3]) -> ([f32; 3], f64) {
        rounded((DVec3::from(place) - self.origin) * self.scale.length)
    }

    /// Returns the nearest displacement in the enclosing step, and a bound of the sum of the errors of its components.
    pub(super) fn velocity(&self, velocity: [f64; 3]) -> ([f32; 3], f64) {
        let [first, second] = [self.dt * self.scale.speed[0], self.scale.speed[1]];
        rounded((DVec3::from(velocity) - self.drift) * first * second)
    }

    /// Returns the sphere that encloses `given`, whose wrapped centre is `place`, with components that have a sum of
    /// rounding errors of at most `off`.
    #[inline(always)]
    pub(super) fn sphere(
        &self,
        given: &WideSphere,
        place: [f64; 3],
        off: f64,
        groups: u32,
        measured: &mut Measured,
    ) -> Sphere {
        let WideScale { length, speed, .. } = self.scale;
        let motion = [self.dt * speed[0], speed[1]];
        let (origin, drift) = (self.origin.to_array(), self.drift.to_array());
        let mut center = [0.0; 3];
        let mut velocity = [0.0; 3];
        let (mut rounded, mut reach, mut largest) = (0.0, 0.0, measured.largest);
        let (mut extent, mut speeds) = (measured.extent, measured.speed);
        let mut finite = given.radius;
        for k in 0..3 {
            extent = most(extent, given.center[k].abs());
            speeds = most(speeds, given.velocity[k].abs());
            finite += given.center[k] + given.velocity[k];
            let x = (place[k] - origin[k]) * length;
            let u = (given.velocity[k] - drift[k]) * motion[0] * motion[1];
            center[k] = f32::nearest(x);
            velocity[k] = f32::nearest(u);
            rounded += (x - f64::from(center[k])).abs() + (u - f64::from(velocity[k])).abs();
            reach += x.abs() + u.abs();
            largest = most(largest, most(x.abs(), u.abs()));
        }
        let radius = given.radius * length;
        // `x` has one rounding error besides `off`, and `u` has at most three.
        let error = rounded + off * length + 4.0 * U * reach;
        let grown = radius + error + self.share * (reach + radius) + self.margin;
        measured.largest = most(largest, grown);
        measured.extent = most(extent, given.radius);
        measured.speed = speeds;
        measured.negative |= given.radius < 0.0;
        measured.sum += finite * 0.0;
        Sphere {
            center,
            // The next float32 is larger by at least half a unit in the last place, which is much more than the rounding
            // errors of this sum.
            radius: f32::nearest(grown).next_up(),
            velocity,
            groups,
        }
    }
}

/// Rounds a vector whose components have up to three rounding errors. Also returns a bound of the sum of the errors.
fn rounded(x: DVec3) -> ([f32; 3], f64) {
    let rounded = x.as_vec3();
    let error = (x - rounded.as_dvec3()).abs().element_sum() + 4.0 * U * x.abs().element_sum();
    (rounded.to_array(), error)
}

/// Returns the larger of two numbers. If `y` is NaN, it is not returned.
#[inline(always)]
fn most(x: f64, y: f64) -> f64 {
    if y > x { y } else { x }
}

const ENCLOSING: &str = "the enclosing spheres";

/// Returns the chunks of a list that has a value for each of `count` spheres, or is empty.
fn chunks_of(
    list: &mut [[i32; 3]],
    count: usize,
) -> Result<impl IndexedParallelIterator<Item = &mut [[i32; 3]]>, Error> {
    let mut all: Vec<&mut [[i32; 3]]> = allocate(count.div_ceil(CHUNK), ENCLOSING)?;
    if list.is_empty() {
        all.extend((0..count.div_ceil(CHUNK)).map(|_| &mut [][..]));
    } else {
        all.extend(list.chunks_mut(CHUNK));
    }
    Ok(all.into_par_iter())
}

/// What is found out about spheres while they are enclosed.
#[derive(Clone, Copy, Default)]
pub(super) struct Measured {
    /// The largest number of the enclosing spheres.
    pub(super) largest: f64,
    /// The largest magnitudes of a coordinate or radius and of a velocity of the given spheres.
    pub(super) extent: f64,
    pub(super) speed: f64,
    negative: bool,
    /// Whether a sphere is too many cells away.
    far: bool,
    /// 0, or NaN if any number is not finite.
    sum: f64,
}

impl Measured {
    pub(super) fn merge(self, other: Self) -> Self {
        Self {
            largest: most(self.largest, other.largest),
            extent: most(self.extent, other.extent),
            speed: most(self.speed, other.speed),
            negative: self.negative || other.negative,
            far: self.far || other.far,
            sum: self.sum + other.sum,
        }
    }

    fn is_valid(&self, dt: f64) -> bool {
        let in_range = |x: f64| x <= MAX_MAGNITUDE_F64;
        let finite = self.sum == 0.0;
        let moves = in_range(self.speed) && in_range(self.speed * dt);
        finite && !self.negative && !self.far && in_range(self.extent) && moves
    }
}

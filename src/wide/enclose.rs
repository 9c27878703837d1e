//! Makes the float32 spheres that enclose spheres in float64.

use std::array::from_fn;

use glam::DVec3;
use rayon::prelude::*;
use wide::f64x4;

use super::{WideSphere, without_groups};
use crate::error::Field;
use crate::lattice::duals;
use crate::limits::CHUNK;
use crate::number::sealed::Numbers;
use crate::reuse::ReusedVec;
use crate::shared::sets::Sets;
use crate::step::{UncheckedStep, check_count};
use crate::{Domain, Error, MAX_MAGNITUDE_F64, Sphere, Spheres, Step, threads};

/// Largest relative error of one float64 operation.
const U: f64 = f64::EPSILON / 2.0;
/// Largest number of periodic edges by which a sphere is moved into the cell. The sum of two of these numbers and of
/// the image of a pair in the cell fits in an `i32`.
const MAX_WRAP: i32 = 1 << 29;
/// Number of spheres, evenly spaced, of which the median centre and the median velocity are taken.
const SAMPLE: usize = 63;
/// Number of spheres that are packed and measured at a time, so that they stay in the cache.
const BLOCK: usize = 256;

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
    /// For each sphere, of both sets, the multiples of the periodic edges that were added to its centre. Empty in open
    /// space.
    pub(crate) wraps: &'a [[i32; 3]],
    pub(crate) step: UncheckedStep<'a>,
}

/// Powers of two that bring all lengths of a world to about 1, and dt to between 1 and 2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WideScale {
    pub(crate) length: f64,
    pub(crate) time: f64,
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
        domain.check_f64()?;
        step.check_columns()?;
        step.check_counts()?;
        let EnclosedMemory {
            packed,
            spheres,
            wraps,
        } = memory;
        let sets = match second {
            None => Sets::One,
            Some(_) => Sets::Two { first: first.len() },
        };
        let count = first.len() + second.map_or(0, |set| set.len());
        threads::run(count, || {
            let (given, extents) = pack([Some(first), second], dt, packed)?;
            let have_groups =
                [Some(first), second].map(|set| set.is_some_and(|set| set.records().is_none()));
            Self::of(
                given,
                have_groups,
                &extents,
                sets,
                (domain, dt),
                (spheres, wraps),
            )
        })
    }

    /// Encloses spheres at rest.
    pub(crate) fn at_rest(
        spheres: &'a [WideSphere],
        domain: &Domain,
        memory: &'a mut EnclosedMemory,
    ) -> Result<Self, Error> {
        domain.check_f64()?;
        check_count(spheres.len())?;
        memory.packed.rest();
        threads::run(spheres.len(), || {
            let extents = Extents::of_all(spheres);
            if !extents.is_valid(0.0) {
                check(spheres, 0.0, None)?;
            }
            let memory = (&mut memory.spheres, &mut memory.wraps);
            let given = [spheres, &[]];
            Self::of(
                given,
                [true; 2],
                &extents,
                Sets::One,
                (*domain, 0.0),
                memory,
            )
        })
    }

    fn of(
        given: [&'a [WideSphere]; 2],
        have_groups: [bool; 2],
        extents: &Extents,
        sets: Sets,
        (domain, dt): (Domain, f64),
        (spheres, wraps): (&'a mut ReusedVec<Sphere>, &'a mut ReusedVec<[i32; 3]>),
    ) -> Result<Self, Error> {
        let count = given[0].len() + given[1].len();
        let frame = WideFrame::new(given, extents, dt, Cell64::new(&domain)?);
        let spheres = spheres.enough(count, "the enclosing spheres")?;
        let wraps: &mut [[i32; 3]] = if domain.is_open() {
            wraps.rest();
            &mut []
        } else {
            wraps.enough(count, "the cells of the spheres")?
        };
        frame.enclose(given, have_groups, sets, spheres, wraps)?;
        Ok(Self {
            given,
            domain,
            dt,
            scale: frame.scale,
            wraps,
            step: UncheckedStep {
                spheres,
                sets,
                dt: if dt == 0.0 { 0.0 } else { 1.0 },
                domain: frame.domain(&domain),
            },
        })
    }
}

/// Ranges of the numbers of all spheres, in the order of [`WideSphere`]: x, y, z, velocity, radius. The last number has
/// no meaning.
struct Extents {
    valid: bool,
    low: [f64x4; 2],
    high: [f64x4; 2],
}

impl Default for Extents {
    fn default() -> Self {
        Self {
            valid: true,
            low: [f64x4::splat(f64::INFINITY); 2],
            high: [f64x4::splat(f64::NEG_INFINITY); 2],
        }
    }
}

impl Extents {
    fn of(spheres: &[WideSphere]) -> Self {
        let mut extents = Self::default();
        let limits = [f64x4::splat(MAX_MAGNITUDE_F64); 2];
        let all = f64::from_bits(u64::MAX);
        let counted = f64x4::new([all, all, all, 0.0]);
        let mut valid = f64x4::splat(all);
        for sphere in spheres {
            let &[one, two] = bytemuck::cast_ref::<WideSphere, [[f64; 4]; 2]>(sphere);
            let halves = [f64x4::new(one), f64x4::new(two) & counted];
            for k in 0..2 {
                valid &= halves[k].abs().simd_le(limits[k]);
                extents.low[k] = extents.low[k].fast_min(halves[k]);
                extents.high[k] = extents.high[k].fast_max(halves[k]);
            }
        }
        extents.valid = valid.to_bitmask() == 0b1111;
        extents
    }

    fn of_all(spheres: &[WideSphere]) -> Self {
        let chunks = spheres.par_chunks(CHUNK).map(Self::of);
        chunks.reduce(Self::default, Self::merge)
    }

    fn merge(self, other: Self) -> Self {
        Self {
            valid: self.valid && other.valid,
            low: from_fn(|k| self.low[k].fast_min(other.low[k])),
            high: from_fn(|k| self.high[k].fast_max(other.high[k])),
        }
    }

    /// Returns the least and the greatest value of number `k` of the spheres, or 0 if there are none.
    fn range(&self, k: usize) -> [f64; 2] {
        let [low, high] = [self.low, self.high].map(|halves| halves[k / 4].to_array()[k % 4]);
        if low <= high { [low, high] } else { [0.0; 2] }
    }

    fn is_valid(&self, dt: f64) -> bool {
        let mut speeds = (3..6).flat_map(|k| self.range(k));
        let slow = speeds.all(|v| (v * dt).abs() <= MAX_MAGNITUDE_F64);
        self.valid && slow && self.range(6)[0] >= 0.0
    }
}

/// Returns the spheres of both sets, in slices, and the ranges of their numbers. Checks the numbers. Columns are copied
/// into `packed`, and slices are used as they are.
fn pack<'a>(
    sets: [Option<Spheres<'a, f64>>; 2],
    dt: f64,
    packed: &'a mut ReusedVec<WideSphere>,
) -> Result<([&'a [WideSphere]; 2], Extents), Error> {
    let copied = sets.map(|set| set.filter(|set| set.records().is_none()));
    let lengths = copied.map(|set| set.map_or(0, |set| set.len()));
    let mut room = match lengths {
        [0, 0] => {
            packed.rest();
            &mut []
        }
        [first, second] => packed.enough(first + second, "a copy of the spheres")?,
    };
    let (mut given, mut all) = ([&[][..]; 2], Extents::default());
    for (number, set) in sets.into_iter().enumerate() {
        let Some(set) = set else { continue };
        let extents;
        (given[number], extents) = match set.records() {
            Some(records) => {
                let spheres = without_groups(records);
                (spheres, Extents::of_all(spheres))
            }
            None => {
                let spheres;
                (spheres, room) = std::mem::take(&mut room).split_at_mut(set.len());
                let chunks = spheres.par_chunks_mut(CHUNK).enumerate();
                let chunks = chunks.map(|(chunk, spheres)| {
                    let mut extents = Extents::default();
                    for (block, spheres) in spheres.chunks_mut(BLOCK).enumerate() {
                        set.pack(chunk * CHUNK + block * BLOCK, spheres);
                        extents = extents.merge(Extents::of(spheres));
                    }
                    extents
                });
                let extents = chunks.reduce(Extents::default, Extents::merge);
                (&*spheres, extents)
            }
        };
        if !extents.is_valid(dt) {
            let set = sets[1].map(|_| number);
            check(given[number], dt, set)?;
        }
        all = all.merge(extents);
    }
    Ok((given, all))
}

/// Returns an error for the first sphere with an invalid number, if there is one.
pub(super) fn check(spheres: &[WideSphere], dt: f64, set: Option<usize>) -> Result<(), Error> {
    let in_range = |x: f64| x.abs() <= MAX_MAGNITUDE_F64;
    for (index, sphere) in spheres.iter().enumerate() {
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
        let invalid = fields.into_iter().find(|&(_, x)| !in_range(x));
        let wrong_radius = !(radius >= 0.0 && in_range(radius));
        if let Some((field, value)) = if wrong_radius {
            Some((Field::Radius, radius))
        } else {
            invalid
        } {
            return Err(Error::InvalidSphere {
                index,
                set,
                field,
                value,
                limit: MAX_MAGNITUDE_F64,
            });
        }
    }
    Ok(())
}

/// The lattice of a periodic domain, in float64.
#[derive(Clone, Copy)]
struct Cell64 {
    corner: DVec3,
    edges: [DVec3; 3],
    duals: [DVec3; 3],
}

impl Cell64 {
    /// Returns `None` for open space.
    fn new(domain: &Domain) -> Result<Option<Self>, Error> {
        if domain.is_open() {
            return Ok(None);
        }
        let edges = from_fn(|k| domain.periodic_edge(k));
        // The edges are scaled, so that no product of three of them overflows.
        let longest = edges
            .iter()
            .fold(0.0, |most: f64, edge| most.max(edge.abs().max_element()));
        let unit = power_of_two(longest);
        let duals = duals(edges.map(|edge| edge * unit));
        let is_dual = |k: usize, j: usize| {
            let product = duals[k].dot(edges[j] * unit);
            let exact = f64::from(u8::from(k == j && edges[k] != DVec3::ZERO));
            (product - exact).abs() <= 1.0 / 1024.0
        };
        if !(0..9).all(|kj| is_dual(kj / 3, kj % 3)) {
            return Err(Error::InvalidDomain {
                problem: "its periodic edges are parallel, or nearly so, and span no cell; correct them, or make an \
                          edge open with `with_periodic`"
                    .to_owned(),
            });
        }
        Ok(Some(Self {
            corner: domain.origin().into(),
            edges,
            duals: duals.map(|dual| dual * unit),
        }))
    }

    /// Returns the multiples of the edges that bring a place into the cell or near it, or `None` if they are too large.
    #[inline(always)]
    fn wrap(&self, place: DVec3) -> Option<[i32; 3]> {
        let away = place - self.corner;
        let mut wrap = [0; 3];
        for (dual, wrap) in self.duals.iter().zip(&mut wrap) {
            let at = dual.dot(away);
            if !(0.0..1.0).contains(&at) {
                let cells = -at.floor();
                if cells.is_nan() || cells.abs() > f64::from(MAX_WRAP) {
                    return None;
                }
                #[allow(clippy::cast_possible_truncation, reason = "a whole number in range")]
                let cells = cells as i32;
                *wrap = cells;
            }
        }
        Some(wrap)
    }

    /// Returns a wrapped place, and a bound of the sum of the rounding errors of its components.
    #[inline(always)]
    fn wrapped(&self, place: DVec3, wrap: [i32; 3]) -> (DVec3, f64) {
        if wrap == [0; 3] {
            return (place, 0.0);
        }
        let (mut sum, mut terms) = (place, place.abs());
        for (edge, times) in self.edges.into_iter().zip(wrap) {
            let term = edge * f64::from(times);
            sum += term;
            terms += term.abs();
        }
        (sum, 8.0 * U * terms.element_sum())
    }
}

/// Returns the power of two that brings a positive number to between 1 and 2. It is limited, so that neither the power
/// nor its reciprocal overflows.
fn power_of_two(x: f64) -> f64 {
    let exponent = i32::try_from(x.to_bits() >> 52 & 0x7ff).unwrap_or(0);
    // The bits of the power with the opposite exponent.
    f64::from_bits(u64::try_from((2046 - exponent).clamp(23, 2023)).unwrap_or(1023) << 52)
}

/// The coordinates of the enclosing spheres: an origin, a common motion, which is taken away, and the units.
struct WideFrame {
    origin: DVec3,
    drift: DVec3,
    scale: WideScale,
    /// Factor from velocities to displacements in the units of the enclosing spheres.
    motion: f64,
    cell: Option<Cell64>,
    /// How much the radius of a sphere grows with the distance that it reaches from the origin, because the edges of the
    /// enclosing step are rounded.
    share: f64,
}

impl WideFrame {
    fn new(given: [&[WideSphere]; 2], extents: &Extents, dt: f64, cell: Option<Cell64>) -> Self {
        let place = |sphere: &WideSphere| {
            let center = DVec3::from(sphere.center);
            let wrapped = cell.and_then(|cell| Some(cell.wrapped(center, cell.wrap(center)?).0));
            wrapped.unwrap_or(center)
        };
        let origin = median(given, place);
        let drift = median(given, |sphere| sphere.velocity.into());
        let around = |first: usize, middle: DVec3| {
            (0..3).fold(0.0, |most: f64, k| {
                let [low, high] = extents.range(first + k);
                most.max(high - middle[k]).max(middle[k] - low)
            })
        };
        let mut reach = around(0, origin);
        if let Some(cell) = &cell {
            let edges = cell.edges.iter();
            let size: f64 = edges.clone().map(|edge| edge.abs().element_sum()).sum();
            let is_wrapped = edges.into_iter().all(|&edge| edge != DVec3::ZERO);
            reach = if is_wrapped {
                2.0 * size
            } else {
                3.0 * reach + 4.0 * size
            };
        }
        let [_, radius] = extents.range(6);
        let size = reach.max(radius).max(around(3, drift) * dt);
        let length = if size > 0.0 { power_of_two(size) } else { 1.0 };
        let time = if dt > 0.0 { power_of_two(dt) } else { 1.0 };
        let share = cell.map_or(0.0, |cell| {
            let rounded = cell.edges.map(|edge| {
                let edge = edge * length;
                (edge - edge.as_vec3().as_dvec3()).length()
            });
            let dual = cell
                .duals
                .iter()
                .fold(0.0, |most: f64, dual| most.max(dual.length()));
            // The number of edges along which a pair is displaced, for each unit of its distance. 1.01 covers the errors
            // of the reciprocal vectors.
            let edges = 1.01 * dual / length;
            edges * rounded.iter().sum::<f64>()
        });
        Self {
            origin,
            drift,
            scale: WideScale { length, time },
            // With very short lengths and a long step, the product may overflow, but then no sphere moves.
            motion: (dt * length).min(f64::MAX),
            cell,
            share,
        }
    }

    fn domain(&self, given: &Domain) -> Domain {
        let Some(cell) = &self.cell else {
            return Domain::open();
        };
        let single = |x: DVec3| (x * self.scale.length).as_vec3().to_array();
        let origin = single(cell.corner - self.origin);
        Domain::triclinic(origin, cell.edges.map(single)).with_periodic(given.periodic())
    }

    /// Fills `spheres` with the enclosing spheres of both sets and, in a periodic domain, `wraps` with the multiples of
    /// the edges that were added to the given centres.
    fn enclose(
        &self,
        given: [&[WideSphere]; 2],
        have_groups: [bool; 2],
        sets: Sets,
        spheres: &mut [Sphere],
        wraps: &mut [[i32; 3]],
    ) -> Result<(), Error> {
        let (mut spheres, mut wraps) = (spheres, wraps);
        for (set, (given, has_groups)) in given.into_iter().zip(have_groups).enumerate() {
            let of_set;
            (of_set, spheres) = std::mem::take(&mut spheres).split_at_mut(given.len());
            let groups = |sphere: &WideSphere| if has_groups { sphere.groups } else { 0 };
            let Some(cell) = &self.cell else {
                let chunks = of_set.par_chunks_mut(CHUNK).zip(given.par_chunks(CHUNK));
                chunks.for_each(|(spheres, given)| {
                    for (sphere, given) in spheres.iter_mut().zip(given) {
                        let center = given.center.into();
                        *sphere = self.sphere(given, center, 0.0, groups(given));
                    }
                });
                continue;
            };
            let wraps_of_set;
            (wraps_of_set, wraps) = std::mem::take(&mut wraps).split_at_mut(given.len());
            let chunks = of_set
                .par_chunks_mut(CHUNK)
                .zip(wraps_of_set.par_chunks_mut(CHUNK));
            let chunks = chunks.zip(given.par_chunks(CHUNK)).enumerate();
            let far = chunks.filter_map(|(chunk, ((spheres, wraps), given))| {
                let all = spheres.iter_mut().zip(wraps).zip(given).enumerate();
                let mut far = None;
                for (index, ((sphere, wrap), given)) in all {
                    let center = given.center.into();
                    let Some(cells) = cell.wrap(center) else {
                        far = far.or(Some(chunk * CHUNK + index));
                        continue;
                    };
                    let (place, off) = cell.wrapped(center, cells);
                    (*sphere, *wrap) = (self.sphere(given, place, off, groups(given)), cells);
                }
                far
            });
            if let Some(index) = far.min() {
                return Err(Error::ImageOutOfRange {
                    index,
                    set: sets.are_two().then_some(set),
                    limit: MAX_WRAP,
                });
            }
        }
        Ok(())
    }

    /// Returns the sphere that encloses `given`, whose wrapped centre is `place`, with components that have a sum of
    /// rounding errors of at most `off`.
    #[inline(always)]
    fn sphere(&self, given: &WideSphere, place: DVec3, off: f64, groups: u32) -> Sphere {
        let length = self.scale.length;
        let place = (place - self.origin) * length;
        let shift = (DVec3::from(given.velocity) - self.drift) * self.motion;
        let (center, velocity) = (place.as_vec3(), shift.as_vec3());
        let rounded = (place - center.as_dvec3()).abs() + (shift - velocity.as_dvec3()).abs();
        let reach = (place.abs() + shift.abs()).element_sum();
        let radius = given.radius * length;
        // `place` has one rounding error besides `off`, and `shift` has two.
        let error = rounded.element_sum() + off * length + 4.0 * U * reach;
        let radius = radius + error + self.share * (reach + radius);
        Sphere {
            center: center.to_array(),
            // The next float32 is larger by at least half a unit in the last place, which is much more than the rounding
            // errors of this sum.
            radius: f32::nearest(radius).next_up(),
            velocity: velocity.to_array(),
            groups,
        }
    }
}

/// Returns the median, along each axis, of a vector of some spheres, or 0 without spheres. Most spheres of a world are
/// near it, even if a few are far away.
fn median(given: [&[WideSphere]; 2], of: impl Fn(&WideSphere) -> DVec3) -> DVec3 {
    let count = given[0].len() + given[1].len();
    let taken = count.min(SAMPLE);
    let sample: Vec<DVec3> = (0..taken)
        .filter_map(|k| {
            let index = k * count / taken;
            let sphere = given[0]
                .get(index)
                .or_else(|| given[1].get(index - given[0].len()));
            sphere.map(&of)
        })
        .collect();
    let middle = |axis: usize| {
        let mut along: Vec<f64> = sample.iter().map(|vector| vector[axis]).collect();
        along.sort_unstable_by(f64::total_cmp);
        along.get(along.len() / 2).copied().unwrap_or(0.0)
    };
    DVec3::new(middle(0), middle(1), middle(2))
}

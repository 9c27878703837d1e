//! A set of spheres in main memory: records, or one column for each attribute.

use std::fmt;

use rayon::prelude::*;

use crate::column::{Arrays, Column, Values};
use crate::limits::CHUNK;
use crate::number::sealed::{Numbers, PackedSphere};
use crate::threads;
use crate::{Error, HardSphere, Number, Sphere};

/// So that they stay in the nearest cache while one column after the other is copied.
const BLOCK: usize = 256;

/// A set of spheres in main memory: a slice of [`Sphere`], or one [`Column`] for each attribute.
///
/// References to slices, vectors and arrays of [`Sphere`] convert to `Spheres`, and cost no copy. Columns are copied
/// in each step, once and in parallel.
///
/// The numbers `T` are float32 or float64 ([`Number`]). Slices of [`HardSphere`] convert to spheres in float64, whose
/// masses do not count.
///
/// ```
/// use carom::{Detector, Options, Spheres, Step};
/// let centers = vec![[0.0_f32, 0.0, 0.0], [5.0, 0.0, 0.0]];
/// let velocities = vec![[10.0, 0.0, 0.0], [0.0, 0.0, 0.0]];
/// let spheres = Spheres::new(&centers, 1.0).with_velocity(&velocities);
/// let found = Detector::new(Options::default())?.detect(&Step::new(spheres, 1.0))?;
/// assert_eq!(found.pairs[0].toi, 0.3);
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Spheres<'a, T: Number = f32>(Set<'a, T>);

#[derive(Clone, Copy)]
enum Set<'a, T: Numbers> {
    Records(&'a [T::Given]),
    Arrays(Arrays<'a, T>),
}

impl<T: Number> fmt::Debug for Spheres<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spheres")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

impl<'a, T: Number> Spheres<'a, T> {
    /// Returns spheres at rest that collide with every other sphere.
    ///
    /// `center` has the centre of each sphere at the start of the time step. `radius` is one radius for all spheres,
    /// or has one for each. All columns must have the same length: one value for each sphere. Otherwise, each use of
    /// the spheres leads to [`Error::ColumnLength`].
    pub fn new(
        center: impl Into<Column<'a, [T; 3]>>,
        radius: impl Into<Values<T, Column<'a, T>>>,
    ) -> Self {
        Self(Set::Arrays(Arrays {
            center: center.into(),
            radius: radius.into(),
            velocity: None,
            groups: Values::Constant(0),
        }))
    }

    /// Returns the same spheres with these velocities: see the field `velocity` of [`Sphere`]. They replace the velocities of
    /// records.
    #[must_use]
    pub fn with_velocity(self, velocity: impl Into<Column<'a, [T; 3]>>) -> Self {
        Self(Set::Arrays(Arrays {
            velocity: Some(velocity.into()),
            ..self.arrays()
        }))
    }

    /// Returns the same spheres with these collision groups: see the field `groups` of [`Sphere`]. They replace the groups of
    /// records.
    ///
    /// `groups` is one number for all spheres, or has one for each.
    #[must_use]
    pub fn with_groups(self, groups: impl Into<Values<u32, Column<'a, u32>>>) -> Self {
        Self(Set::Arrays(Arrays {
            groups: groups.into(),
            ..self.arrays()
        }))
    }

    /// Returns the number of spheres: the number of records or centres.
    pub fn len(&self) -> usize {
        match self.0 {
            Set::Records(spheres) => spheres.len(),
            Set::Arrays(arrays) => arrays.center.len(),
        }
    }

    /// Returns whether there are no spheres.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn arrays(self) -> Arrays<'a, T> {
        match self.0 {
            Set::Arrays(arrays) => arrays,
            Set::Records(spheres) => T::columns(spheres),
        }
    }

    pub(crate) fn records(self) -> Option<&'a [T::Given]> {
        match self.0 {
            Set::Records(spheres) => Some(spheres),
            Set::Arrays(_) => None,
        }
    }

    /// An error names the set `set`: 0 or 1, or `None` in a step of one set.
    pub(crate) fn check(self, set: Option<usize>) -> Result<(), Error> {
        let Set::Arrays(Arrays {
            center,
            radius,
            velocity,
            groups,
        }) = self.0
        else {
            return Ok(());
        };
        let spheres = center.len();
        center.check("centers", set, spheres)?;
        if let Values::PerSphere(radii) = radius {
            radii.check("radii", set, spheres)?;
        }
        if let Some(velocities) = velocity {
            velocities.check("velocities", set, spheres)?;
        }
        if let Values::PerSphere(groups) = groups {
            groups.check("groups", set, spheres)?;
        }
        Ok(())
    }

    /// So that a column of velocities that do not count is not read.
    pub(crate) fn without_motion(self) -> Self {
        match self.0 {
            Set::Records(_) => self,
            Set::Arrays(arrays) => Self(Set::Arrays(Arrays {
                velocity: None,
                ..arrays
            })),
        }
    }

    pub(crate) fn pack(self, first: usize, to: &mut [T::Packed]) {
        self.arrays().pack(first, to);
    }

    /// Returns the centres as a column.
    pub(crate) fn centers(self) -> Column<'a, [T; 3]> {
        self.arrays().center
    }

    #[inline(always)]
    pub(crate) fn visit<I>(
        self,
        first: usize,
        mut items: impl ExactSizeIterator<Item = I>,
        mut visit: impl FnMut(I, &T::Packed),
    ) {
        match self.0 {
            Set::Records(spheres) => {
                for (item, sphere) in items.zip(spheres.get(first..).unwrap_or_default()) {
                    visit(item, &T::packed(sphere));
                }
            }
            Set::Arrays(arrays) => {
                let mut block = [T::Packed::default(); BLOCK];
                for first in (first..first + items.len()).step_by(BLOCK) {
                    let spheres = items.len().min(BLOCK);
                    let block = &mut block[..spheres];
                    arrays.pack(first, block);
                    for (item, sphere) in items.by_ref().take(spheres).zip(&*block) {
                        visit(item, sphere);
                    }
                }
            }
        }
    }
}

impl Spheres<'_> {
    /// The threads share the packing of columns.
    pub(crate) fn copy_to(self, to: &mut [Sphere]) -> Result<(), Error> {
        match self.0 {
            Set::Records(spheres) => {
                to.copy_from_slice(spheres);
                Ok(())
            }
            Set::Arrays(arrays) => threads::run(to.len(), || {
                let chunks = to.par_chunks_mut(CHUNK).enumerate();
                chunks.for_each(|(number, chunk)| {
                    for (block, spheres) in chunk.chunks_mut(BLOCK).enumerate() {
                        arrays.pack(number * CHUNK + block * BLOCK, spheres);
                    }
                });
                Ok(())
            }),
        }
    }
}

impl<T: Numbers> Arrays<'_, T> {
    fn pack(&self, first: usize, to: &mut [T::Packed]) {
        self.center
            .copy(first, to.iter_mut().map(PackedSphere::center));
        let radii = to.iter_mut().map(PackedSphere::radius);
        match self.radius {
            Values::Constant(radius) => radii.for_each(|to| *to = radius),
            Values::PerSphere(column) => column.copy(first, radii),
        }
        let velocities = to.iter_mut().map(PackedSphere::velocity);
        match self.velocity {
            None => velocities.for_each(|to| *to = [T::default(); 3]),
            Some(column) => column.copy(first, velocities),
        }
        let all = to.iter_mut().map(PackedSphere::groups);
        match self.groups {
            Values::Constant(groups) => all.for_each(|to| *to = groups),
            Values::PerSphere(column) => column.copy(first, all),
        }
    }
}

impl<'a, T: Number> From<&Spheres<'a, T>> for Spheres<'a, T> {
    fn from(spheres: &Spheres<'a, T>) -> Self {
        *spheres
    }
}

macro_rules! from_records {
    ($number:ty: $([$($size:tt)*] for $records:ty,)*) => {$(
        impl<'a, $($size)*> From<$records> for Spheres<'a, $number> {
            fn from(spheres: $records) -> Self {
                Self(Set::Records(spheres))
            }
        }
    )*};
}

macro_rules! from_spheres {
    ($number:ty, $sphere:ty) => {
        from_records!(
            $number:
            [] for &'a [$sphere],
            [] for &'a Vec<$sphere>,
            [] for &'a Box<[$sphere]>,
            [const N: usize] for &'a [$sphere; N],
            [] for &'a mut [$sphere],
            [] for &'a mut Vec<$sphere>,
            [] for &'a mut Box<[$sphere]>,
            [const N: usize] for &'a mut [$sphere; N],
        );
    };
}

from_spheres!(f32, Sphere);
from_spheres!(f64, HardSphere);

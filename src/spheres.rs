//! A set of spheres in main memory: records, or one column for each attribute.

use std::fmt;

use rayon::prelude::*;

use crate::column::{Column, Values};
use crate::limits::CHUNK;
use crate::threads;
use crate::{Error, Sphere};

/// Number of spheres that are packed at a time, so that they stay in the processor's nearest cache while one column
/// after the other is copied.
const BLOCK: usize = 256;

/// A set of spheres in main memory: a slice of [`Sphere`], or one [`Column`] for each attribute.
///
/// References to slices, vectors and arrays of [`Sphere`] convert to `Spheres`, and cost no copy. Columns are copied
/// in each step, once and in parallel.
///
/// ```
/// use carom::{Detector, Options, Spheres, Step};
/// let centers = vec![[0.0, 0.0, 0.0], [5.0, 0.0, 0.0]];
/// let velocities = vec![[10.0, 0.0, 0.0], [0.0, 0.0, 0.0]];
/// let spheres = Spheres::new(&centers, 1.0).with_velocity(&velocities);
/// let found = Detector::new(Options::default())?.detect(&Step::new(spheres, 1.0))?;
/// assert_eq!(found.pairs[0].toi, 0.3);
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Spheres<'a>(Set<'a>);

#[derive(Clone, Copy)]
enum Set<'a> {
    Records(&'a [Sphere]),
    Arrays(Arrays<'a>),
}

#[derive(Clone, Copy)]
struct Arrays<'a> {
    center: Column<'a, [f32; 3]>,
    radius: Values<f32, Column<'a, f32>>,
    /// `None` for spheres at rest.
    velocity: Option<Column<'a, [f32; 3]>>,
    groups: Values<u32, Column<'a, u32>>,
}

impl fmt::Debug for Spheres<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spheres")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

impl<'a> Spheres<'a> {
    /// Returns spheres at rest that collide with every other sphere.
    ///
    /// `center` has the centre of each sphere at the start of the time step. `radius` is one radius for all spheres,
    /// or has one for each. All columns must have the same length: one value for each sphere. Otherwise, each use of
    /// the spheres leads to [`Error::ColumnLength`].
    pub fn new(
        center: impl Into<Column<'a, [f32; 3]>>,
        radius: impl Into<Values<f32, Column<'a, f32>>>,
    ) -> Self {
        Self(Set::Arrays(Arrays {
            center: center.into(),
            radius: radius.into(),
            velocity: None,
            groups: Values::Constant(0),
        }))
    }

    /// Returns the same spheres with these velocities: see [`Sphere::velocity`]. They replace the velocities of
    /// records.
    #[must_use]
    pub fn with_velocity(self, velocity: impl Into<Column<'a, [f32; 3]>>) -> Self {
        Self(Set::Arrays(Arrays {
            velocity: Some(velocity.into()),
            ..self.arrays()
        }))
    }

    /// Returns the same spheres with these collision groups: see [`Sphere::groups`]. They replace the groups of
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

    fn arrays(self) -> Arrays<'a> {
        match self.0 {
            Set::Arrays(arrays) => arrays,
            Set::Records(spheres) => Arrays {
                center: Column::of(spheres, |sphere| &sphere.center),
                radius: Column::of(spheres, |sphere| &sphere.radius).into(),
                velocity: Some(Column::of(spheres, |sphere| &sphere.velocity)),
                groups: Column::of(spheres, |sphere| &sphere.groups).into(),
            },
        }
    }

    /// Returns the records, or `None` for columns.
    pub(crate) fn records(self) -> Option<&'a [Sphere]> {
        match self.0 {
            Set::Records(spheres) => Some(spheres),
            Set::Arrays(_) => None,
        }
    }

    /// Checks that all columns have one value for each sphere. An error names the set `set`: 0 or 1 in a step of two
    /// sets, otherwise `None`.
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

    /// Returns the same spheres, perhaps without velocities. For uses in which velocities do not count, so that a
    /// column of them is not read.
    pub(crate) fn without_motion(self) -> Self {
        match self.0 {
            Set::Records(_) => self,
            Set::Arrays(arrays) => Self(Set::Arrays(Arrays {
                velocity: None,
                ..arrays
            })),
        }
    }

    /// Copies the spheres to a slice of the same length. The threads share the packing of columns.
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

    /// Calls `visit` for each item, with a sphere. The first item gets sphere `first`.
    #[inline(always)]
    pub(crate) fn visit<T>(
        self,
        first: usize,
        mut items: impl ExactSizeIterator<Item = T>,
        mut visit: impl FnMut(T, &Sphere),
    ) {
        match self.0 {
            Set::Records(spheres) => {
                for (item, sphere) in items.zip(spheres.get(first..).unwrap_or_default()) {
                    visit(item, sphere);
                }
            }
            Set::Arrays(arrays) => {
                let mut block = [Sphere::default(); BLOCK];
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

    /// Returns the centres as a column.
    pub(crate) fn centers(self) -> Column<'a, [f32; 3]> {
        self.arrays().center
    }
}

impl Arrays<'_> {
    /// Copies the spheres from sphere `first` on.
    fn pack(&self, first: usize, to: &mut [Sphere]) {
        self.center
            .copy(first, to.iter_mut().map(|sphere| &mut sphere.center));
        let radii = to.iter_mut().map(|sphere| &mut sphere.radius);
        match self.radius {
            Values::Constant(radius) => radii.for_each(|to| *to = radius),
            Values::PerSphere(column) => column.copy(first, radii),
        }
        let velocities = to.iter_mut().map(|sphere| &mut sphere.velocity);
        match self.velocity {
            None => velocities.for_each(|to| *to = [0.0; 3]),
            Some(column) => column.copy(first, velocities),
        }
        let all = to.iter_mut().map(|sphere| &mut sphere.groups);
        match self.groups {
            Values::Constant(groups) => all.for_each(|to| *to = groups),
            Values::PerSphere(column) => column.copy(first, all),
        }
    }
}

impl<'a> From<&Spheres<'a>> for Spheres<'a> {
    fn from(spheres: &Spheres<'a>) -> Self {
        *spheres
    }
}

macro_rules! from_records {
    ($([$($size:tt)*] for $records:ty,)*) => {$(
        impl<'a, $($size)*> From<$records> for Spheres<'a> {
            fn from(spheres: $records) -> Self {
                Self(Set::Records(spheres))
            }
        }
    )*};
}

from_records!(
    [] for &'a [Sphere],
    [] for &'a Vec<Sphere>,
    [] for &'a Box<[Sphere]>,
    [const N: usize] for &'a [Sphere; N],
    [] for &'a mut [Sphere],
    [] for &'a mut Vec<Sphere>,
    [] for &'a mut Box<[Sphere]>,
    [const N: usize] for &'a mut [Sphere; N],
);

//! One attribute of all spheres in main memory, such as their centres.

use std::fmt;
use std::marker::PhantomData;

use bytemuck::{AnyBitPattern, NoUninit};

use crate::Error;

/// An attribute of spheres: one constant for all, or one value for each.
///
/// `A` says where the values are: in a [`Column`] in main memory, or in a `gpu::Attribute`. Numbers, columns,
/// attributes, and references to slices, vectors and arrays convert to `Values`, so a caller rarely names this type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Values<T, A> {
    /// The same value for all spheres.
    Constant(T),
    /// One value for each sphere.
    PerSphere(A),
}

impl<A> From<f32> for Values<f32, A> {
    fn from(constant: f32) -> Self {
        Self::Constant(constant)
    }
}

impl<A> From<f64> for Values<f64, A> {
    fn from(constant: f64) -> Self {
        Self::Constant(constant)
    }
}

impl<A> From<u32> for Values<u32, A> {
    fn from(constant: u32) -> Self {
        Self::Constant(constant)
    }
}

/// One attribute of all spheres in main memory, such as their centres.
///
/// The values are of type `T`: `[f32; 3]` or `[f64; 3]` for centres and velocities, `f32` or `f64` for radii, and
/// `u32` for collision groups. They may lie side by side, or be fields of records. They need no alignment.
///
/// ```
/// use bytemuck::NoUninit;
/// use carom::{Column, Spheres, Step};
///
/// #[repr(C)]
/// #[derive(Clone, Copy, NoUninit)]
/// struct Particle {
///     position: [f32; 3],
///     charge: f32,
///     velocity: [f32; 3],
///     kind: u32,
/// }
///
/// fn step(particles: &[Particle]) -> Step<'_> {
///     let positions = Column::of(particles, |p| &p.position);
///     let velocities = Column::of(particles, |p| &p.velocity);
///     Step::new(Spheres::new(positions, 0.5).with_velocity(velocities), 1.0)
/// }
/// ```
///
/// A vector type of another crate that is `NoUninit`, as glam's are with its feature `bytemuck`, is a record, too:
/// `Column::of(&positions, |position| position.as_ref())`. All columns of a set of spheres are float32, or all are
/// float64.
#[derive(Clone, Copy)]
pub struct Column<'a, T> {
    /// The bytes from the start of the first value. If there are too few for all values, the column has no valid
    /// values: see [`fits`](Self::fits).
    bytes: &'a [u8],
    /// Number of bytes from the start of one value to the start of the next, at least the size of a value.
    stride: usize,
    count: usize,
    value: PhantomData<T>,
}

impl<T> fmt::Debug for Column<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column")
            .field("count", &self.count)
            .field("stride", &self.stride)
            .finish_non_exhaustive()
    }
}

impl<'a, T: AnyBitPattern> Column<'a, T> {
    /// Returns the column of one field of all records.
    ///
    /// `field` borrows the field of a record. It is called for the first record only, and the field of every record
    /// is read from the same place. If it borrows anything else than a part of the record, each use of the column
    /// leads to [`Error::InvalidColumn`].
    pub fn of<R: NoUninit>(records: &'a [R], field: impl Fn(&R) -> &T) -> Self {
        let mut bytes = bytemuck::cast_slice(records);
        if let Some(record) = records.first() {
            let (whole, part) = (&raw const *record, &raw const *field(record));
            let offset = part.addr().wrapping_sub(whole.addr());
            let room = size_of::<R>().checked_sub(size_of::<T>());
            bytes = match room {
                Some(room) if offset <= room => bytes.get(offset..).unwrap_or_default(),
                _ => &[],
            };
        }
        Self {
            bytes,
            stride: size_of::<R>().max(size_of::<T>()),
            count: records.len(),
            value: PhantomData,
        }
    }

    /// Returns the column of `count` values in foreign memory. Value i begins at byte `offset + i * stride`, in the
    /// byte order of the machine.
    ///
    /// ```
    /// use carom::{Column, Spheres};
    /// // A file has a number of 2 bytes before the three float32 of each centre.
    /// let mut file = Vec::new();
    /// for x in [0.0_f32, 1.5] {
    ///     file.extend(7_u16.to_ne_bytes());
    ///     [x, 0.0, 0.0].map(|x| file.extend(x.to_ne_bytes()));
    /// }
    /// let centers = Column::<[f32; 3]>::from_bytes(&file, 2, 2, 14)?;
    /// assert_eq!(Spheres::new(centers, 1.0).len(), 2);
    /// # Ok::<(), carom::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Error::InvalidColumn`] if the stride is less than the size of a value, or if `bytes` ends before
    /// the last value.
    pub fn from_bytes(
        bytes: &'a [u8],
        count: usize,
        offset: usize,
        stride: usize,
    ) -> Result<Self, Error> {
        let size = size_of::<T>();
        if stride < size {
            return Err(Error::InvalidColumn {
                problem: format!(
                    "has a stride of {stride} bytes, but each value takes {size} bytes; set the stride to the bytes \
                     from the start of one value to the start of the next"
                ),
            });
        }
        let column = Self {
            bytes: bytes.get(offset..).unwrap_or_default(),
            stride,
            count,
            value: PhantomData,
        };
        if column.fits() {
            return Ok(column);
        }
        let end = column.end().and_then(|end| end.checked_add(offset));
        let end = end.map_or("2^64 or later".to_owned(), |end| end.to_string());
        Err(Error::InvalidColumn {
            problem: format!(
                "is in {} bytes, but {count} values that begin at byte {offset} and are {stride} bytes apart end at \
                 byte {end}; pass more bytes, or reduce the count, the offset or the stride",
                bytes.len()
            ),
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    fn end(&self) -> Option<usize> {
        match self.count.checked_sub(1) {
            None => Some(0),
            Some(last) => last.checked_mul(self.stride)?.checked_add(size_of::<T>()),
        }
    }

    fn fits(&self) -> bool {
        self.end().is_some_and(|end| end <= self.bytes.len())
    }

    /// Checks that there is one value for each of `spheres` spheres. `what` names the attribute, and `set` is the
    /// set of the spheres in a step of two sets.
    pub(crate) fn check(
        &self,
        what: &'static str,
        set: Option<usize>,
        spheres: usize,
    ) -> Result<(), Error> {
        if self.count != spheres {
            return Err(Error::ColumnLength {
                what,
                set,
                length: self.count,
                spheres,
            });
        }
        if self.fits() {
            return Ok(());
        }
        Err(Error::InvalidColumn {
            problem: format!(
                "of the {what} has no values, because the function passed to `Column::of` returns no part of the \
                 record; return a reference to a field"
            ),
        })
    }

    /// Returns value `index`, or `None` if there is none.
    pub(crate) fn get(&self, index: usize) -> Option<T> {
        let begin = index.checked_mul(self.stride)?;
        let value = self.bytes.get(begin..begin.checked_add(size_of::<T>())?)?;
        Some(bytemuck::pod_read_unaligned(value))
    }

    /// Copies the values from value `first` on.
    pub(crate) fn copy<'t>(&self, first: usize, to: impl Iterator<Item = &'t mut T>)
    where
        T: 't,
    {
        let bytes = self.bytes.get(first.saturating_mul(self.stride)..);
        let places = bytes.unwrap_or_default().chunks(self.stride);
        for (value, place) in to.zip(places) {
            if let Some(place) = place.get(..size_of::<T>()) {
                *value = bytemuck::pod_read_unaligned(place);
            }
        }
    }
}

impl<'a, T: AnyBitPattern + NoUninit> From<&'a [T]> for Column<'a, T> {
    fn from(values: &'a [T]) -> Self {
        Self {
            bytes: bytemuck::cast_slice(values),
            stride: size_of::<T>(),
            count: values.len(),
            value: PhantomData,
        }
    }
}

impl<'a, T: AnyBitPattern + NoUninit> From<&'a Vec<T>> for Column<'a, T> {
    fn from(values: &'a Vec<T>) -> Self {
        values.as_slice().into()
    }
}

impl<'a, T: AnyBitPattern + NoUninit, const N: usize> From<&'a [T; N]> for Column<'a, T> {
    fn from(values: &'a [T; N]) -> Self {
        values.as_slice().into()
    }
}

impl<'a, T> From<Column<'a, T>> for Values<T, Column<'a, T>> {
    fn from(values: Column<'a, T>) -> Self {
        Self::PerSphere(values)
    }
}

impl<'a, T: AnyBitPattern + NoUninit> From<&'a [T]> for Values<T, Column<'a, T>> {
    fn from(values: &'a [T]) -> Self {
        Self::PerSphere(values.into())
    }
}

impl<'a, T: AnyBitPattern + NoUninit> From<&'a Vec<T>> for Values<T, Column<'a, T>> {
    fn from(values: &'a Vec<T>) -> Self {
        Self::PerSphere(values.into())
    }
}

impl<'a, T: AnyBitPattern + NoUninit, const N: usize> From<&'a [T; N]>
    for Values<T, Column<'a, T>>
{
    fn from(values: &'a [T; N]) -> Self {
        Self::PerSphere(values.into())
    }
}

/// The attributes of a set of spheres.
#[derive(Clone, Copy)]
pub struct Arrays<'a, T> {
    pub(crate) center: Column<'a, [T; 3]>,
    pub(crate) radius: Values<T, Column<'a, T>>,
    /// `None` for spheres at rest.
    pub(crate) velocity: Option<Column<'a, [T; 3]>>,
    pub(crate) groups: Values<u32, Column<'a, u32>>,
}

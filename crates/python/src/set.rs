//! A set of spheres in carom's own memory.

use bytemuck::Pod;
use carom::{Column, Domain, Spheres, Values};
use numpy::{Element, PyArray1, PyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::arrays::{array, copy, copy_rows, gather, rows};
use crate::errors::of_carom;
use crate::number::{Ball, Scalar};

/// One value for all spheres, or one for each.
#[derive(Debug)]
pub(crate) enum Each<T> {
    Same(T),
    Each(Vec<T>),
}

impl<T: Element + Pod> Each<T> {
    fn get(&self, index: usize) -> T {
        match self {
            Self::Same(value) => *value,
            Self::Each(values) => values.get(index).copied().unwrap_or(T::zeroed()),
        }
    }

    fn values(&self) -> Values<T, Column<'_, T>> {
        match self {
            Self::Same(value) => Values::Constant(*value),
            Self::Each(values) => Values::PerSphere(values.into()),
        }
    }

    /// Returns an array or a number.
    fn given(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self {
            // A number is taken in float64, which is exact for float32.
            Self::Same(value) => array(py, vec![*value])
                .bind(py)
                .get_item(0)?
                .call_method0("item"),
            Self::Each(values) => return Ok(array(py, gather(values, |value| *value)?)),
        }
        .map(Bound::unbind)
    }

    /// Replaces the values by those of an array or of a number. The memory is kept.
    fn fill(
        &mut self,
        from: &Bound<'_, PyAny>,
        what: &str,
        number: impl Fn(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> PyResult<()> {
        let Ok(array) = from.cast::<PyArray1<T>>() else {
            *self = Self::Same(number(from)?);
            return Ok(());
        };
        let mut values = match std::mem::replace(self, Self::Same(T::zeroed())) {
            Self::Each(values) => values,
            Self::Same(_) => Vec::new(),
        };
        copy(array, &mut values, what)?;
        *self = Self::Each(values);
        Ok(())
    }
}

/// The arguments of the package for one set of spheres, in this order.
#[derive(FromPyObject)]
pub(crate) struct Given<'py> {
    #[pyo3(item(0))]
    pub(crate) center: Bound<'py, PyAny>,
    #[pyo3(item(1))]
    radius: Bound<'py, PyAny>,
    #[pyo3(item(2))]
    velocity: Option<Bound<'py, PyAny>>,
    #[pyo3(item(3))]
    groups: Bound<'py, PyAny>,
    #[pyo3(item(4))]
    bodies: Option<Bound<'py, PyArray1<i64>>>,
}

impl Given<'_> {
    /// Returns whether the numbers are float32, as the package has decided.
    pub(crate) fn is_float32(&self) -> bool {
        self.center.cast::<PyArray2<f32>>().is_ok()
    }
}

/// A set of spheres. Results keep it, for points of contact.
#[derive(Debug)]
pub(crate) struct Set<T> {
    center: Vec<[T; 3]>,
    radius: Each<T>,
    velocity: Option<Vec<[T; 3]>>,
    groups: Each<u32>,
    bodies: Option<Vec<i64>>,
}

impl<T: Default> Default for Set<T> {
    fn default() -> Self {
        Self {
            center: Vec::new(),
            radius: Each::Same(T::default()),
            velocity: None,
            groups: Each::Same(0),
            bodies: None,
        }
    }
}

impl<T: Scalar> Set<T> {
    pub(crate) fn ball(&self, index: usize) -> Ball<T> {
        (self.center(index), self.radius(index), self.velocity(index))
    }

    /// Replaces the spheres by those of arrays. The memory is kept.
    pub(crate) fn fill(&mut self, given: &Given<'_>) -> PyResult<()> {
        copy_rows(columns(&given.center)?, &mut self.center, "center")?;
        let radius = |number: &Bound<'_, PyAny>| Ok(T::rounded(number.extract()?));
        self.radius.fill(&given.radius, "radius", radius)?;
        match &given.velocity {
            None => self.velocity = None,
            Some(velocity) => {
                let to = self.velocity.get_or_insert_default();
                copy_rows(columns(velocity)?, to, "velocity")?;
            }
        }
        let groups = |number: &Bound<'_, PyAny>| number.extract();
        self.groups.fill(&given.groups, "groups", groups)?;
        match &given.bodies {
            None => self.bodies = None,
            Some(bodies) => copy(bodies, self.bodies.get_or_insert_default(), "bodies")?,
        }
        Ok(())
    }
}

impl<T: Scalar> Set<T> {
    /// Returns what [`fill`](Self::fill) takes.
    pub(crate) fn given(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let copy = |values: &Vec<[T; 3]>| rows(py, gather(values, |value| *value)?);
        let velocity = self.velocity.as_ref().map(copy).transpose()?;
        let bodies = self
            .bodies
            .as_ref()
            .map(|bodies| gather(bodies, |body| *body));
        let given = (
            copy(&self.center)?,
            self.radius.given(py)?,
            velocity,
            self.groups.given(py)?,
            bodies.transpose()?.map(|bodies| array(py, bodies)),
        );
        Ok(given.into_pyobject(py)?.into_any().unbind())
    }
}

fn columns<'a, 'py, T: Scalar>(
    array: &'a Bound<'py, PyAny>,
) -> PyResult<&'a Bound<'py, PyArray2<T>>> {
    let array = array.cast::<PyArray2<T>>();
    array.map_err(|_| PyTypeError::new_err("the arrays differ in their dtypes"))
}

impl<T: Scalar> Set<T> {
    pub(crate) fn len(&self) -> usize {
        self.center.len()
    }

    pub(crate) fn spheres(&self) -> Spheres<'_, T> {
        let mut spheres = Spheres::new(&self.center, self.radius.values());
        if let Some(velocity) = &self.velocity {
            spheres = spheres.with_velocity(velocity);
        }
        match self.groups {
            Each::Same(0) => spheres,
            _ => spheres.with_groups(self.groups.values()),
        }
    }

    pub(crate) fn center(&self, index: usize) -> [T; 3] {
        self.center.get(index).copied().unwrap_or_default()
    }

    pub(crate) fn radius(&self, index: usize) -> T {
        self.radius.get(index)
    }

    pub(crate) fn velocity(&self, index: usize) -> [T; 3] {
        let velocity = self.velocity.as_ref().and_then(|all| all.get(index));
        velocity.copied().unwrap_or_default()
    }

    pub(crate) fn has_bodies(&self) -> bool {
        self.bodies.is_some()
    }

    /// Returns the body of a sphere, or `None` if it belongs to none.
    pub(crate) fn body(&self, index: usize) -> Option<i64> {
        let bodies = self.bodies.as_ref()?;
        bodies.get(index).copied().filter(|&body| body >= 0)
    }
}

/// The origin, the edges, and the edges that are periodic.
pub(crate) type GivenDomain = ([f64; 3], [[f64; 3]; 3], [bool; 3]);

pub(crate) fn domain<T: Scalar>(given: Option<GivenDomain>) -> Domain {
    given.map_or_else(Domain::open, |(origin, edges, periodic)| {
        T::domain(&Domain::triclinic_f64(origin, edges).with_periodic(periodic))
    })
}

/// Turns a result of carom into one for Python.
pub(crate) fn checked<R>(result: Result<R, carom::Error>) -> PyResult<R> {
    result.map_err(of_carom)
}

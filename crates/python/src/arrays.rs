//! NumPy arrays to vectors, and back.

use bytemuck::Pod;
use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
};
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::errors::out_of_memory;

/// A thread converts at least this many items.
const TASK: usize = 1 << 14;

/// Empties a vector, and makes room for a number of items.
pub(crate) fn room<T>(to: &mut Vec<T>, items: usize, what: &str) -> PyResult<()> {
    to.clear();
    to.try_reserve_exact(items)
        .map_err(|_| out_of_memory(items, size_of::<T>(), what))
}

/// Copies an array with one value for each sphere.
pub(crate) fn copy<T: Element + Copy>(
    array: &Bound<'_, PyArray1<T>>,
    to: &mut Vec<T>,
    what: &str,
) -> PyResult<()> {
    let array: PyReadonlyArray1<'_, T> = array.try_readonly()?;
    let view = array.as_array();
    room(to, view.len(), what)?;
    match view.as_slice() {
        Some(values) => to.extend_from_slice(values),
        None => to.extend(view.iter()),
    }
    Ok(())
}

/// Copies an array of N × 3 numbers.
pub(crate) fn copy_rows<T: Element + Copy>(
    array: &Bound<'_, PyArray2<T>>,
    to: &mut Vec<[T; 3]>,
    what: &str,
) -> PyResult<()> {
    let array: PyReadonlyArray2<'_, T> = array.try_readonly()?;
    let view = array.as_array();
    room(to, view.nrows(), what)?;
    // Not `array.as_slice()`, which takes arrays in Fortran's order, too.
    match view.as_slice() {
        Some(values) => to.extend_from_slice(values.as_chunks().0),
        None => to.extend(view.rows().into_iter().map(|row| [row[0], row[1], row[2]])),
    }
    Ok(())
}

/// Returns what `value` returns for each item, in a vector. If this is a thread of the pool, the pool shares the work.
pub(crate) fn gather<S: Sync, T: Send>(
    items: &[S],
    value: impl Fn(&S) -> T + Sync,
) -> PyResult<Vec<T>> {
    gather_indexed(items, |_, item| value(item))
}

/// Returns what `value` returns for the index of each item and the item.
pub(crate) fn gather_indexed<S: Sync, T: Send>(
    items: &[S],
    value: impl Fn(usize, &S) -> T + Sync,
) -> PyResult<Vec<T>> {
    let mut to = Vec::new();
    room(&mut to, items.len(), "the arrays of the result")?;
    if rayon::current_thread_index().is_none() {
        // Not in rayon's global pool, whose threads a forked process lacks.
        to.extend(
            items
                .iter()
                .enumerate()
                .map(|(index, item)| value(index, item)),
        );
        return Ok(to);
    }
    let all = items.par_iter().with_min_len(TASK).enumerate();
    to.par_extend(all.map(|(index, item)| value(index, item)));
    Ok(to)
}

/// Returns an array of N numbers.
pub(crate) fn array<T: Element>(py: Python<'_>, values: Vec<T>) -> Py<PyAny> {
    values.into_pyarray(py).into_any().unbind()
}

/// Returns an array of N × M numbers.
pub(crate) fn rows<T: Element + Pod, const M: usize>(
    py: Python<'_>,
    values: Vec<[T; M]>,
) -> PyResult<Py<PyAny>> {
    let count = values.len();
    let flat = values.into_flattened().into_pyarray(py);
    Ok(flat.reshape([count, M])?.into_any().unbind())
}

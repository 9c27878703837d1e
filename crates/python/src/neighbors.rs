//! Lists of neighbours.

use carom::NeighborSearch;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{array, gather, rows};
use crate::detector::{Detected, Engine, Spares, start};
use crate::errors::{Error, of_carom};
use crate::found::{images, optional_rows, statistics};
use crate::kept::Kept;
use crate::pool::Workers;
use crate::set::{Given, GivenDomain, domain};

enum AnyList {
    Float32(carom::NeighborList),
    Float64(carom::NeighborList<f64>),
}

trait Listed: Detected {
    /// Returns the list in these numbers. If it is in others, it becomes an empty one.
    fn list(list: &mut AnyList) -> Option<&mut carom::NeighborList<Self>>;
}

impl Listed for f32 {
    fn list(list: &mut AnyList) -> Option<&mut carom::NeighborList> {
        if matches!(list, AnyList::Float64(_)) {
            *list = AnyList::Float32(carom::NeighborList::default());
        }
        match list {
            AnyList::Float32(list) => Some(list),
            AnyList::Float64(_) => None,
        }
    }
}

impl Listed for f64 {
    fn list(list: &mut AnyList) -> Option<&mut carom::NeighborList<Self>> {
        if matches!(list, AnyList::Float32(_)) {
            *list = AnyList::Float64(carom::NeighborList::default());
        }
        match list {
            AnyList::Float32(_) => None,
            AnyList::Float64(list) => Some(list),
        }
    }
}

struct Inner {
    engine: Engine,
    list: AnyList,
    particles: usize,
    /// Changes with each update.
    version: u64,
    /// Whether there is a list: the last update succeeded.
    is_made: bool,
}

/// A list of neighbours, and the detector that makes it.
#[pyclass(frozen)]
pub(crate) struct Neighbors {
    inner: Kept<Inner>,
    spares: Spares,
    cutoff: Option<f64>,
    skin: f64,
    full: bool,
}

/// A column of the list.
enum Values {
    Indices(Vec<i64>),
    Float32(Vec<f32>),
    Float64(Vec<f64>),
    Vectors32(Vec<[f32; 3]>),
    Vectors64(Vec<[f64; 3]>),
    Images(Option<Vec<[i32; 3]>>),
    None,
}

/// Calls a method of the list, whichever its numbers are.
macro_rules! of_any {
    ($any:expr, $list:ident => $value:expr) => {
        match $any {
            AnyList::Float32($list) => $value,
            AnyList::Float64($list) => $value,
        }
    };
}

impl Inner {
    fn update<T: Listed>(
        &mut self,
        search: &NeighborSearch<'_, carom::Spheres<'_, T>>,
        particles: usize,
        anew: bool,
    ) -> PyResult<bool> {
        let detector = self.engine.detector()?;
        let Some(list) = T::list(&mut self.list) else {
            return Ok(false);
        };
        self.version += 1;
        if !anew && list.update(search) {
            return Ok(false);
        }
        self.particles = particles;
        self.is_made = false;
        detector
            .find_neighbors_into(search, list)
            .map_err(of_carom)?;
        self.is_made = true;
        Ok(true)
    }

    fn column(&self, letter: char) -> PyResult<Values> {
        let side = |k: usize| {
            of_any!(&self.list, list => {
                gather(list.pairs(), move |pair: &[u32; 2]| i64::from(pair[k]))
            })
        };
        Ok(match (letter, &self.list) {
            ('i', _) => Values::Indices(side(0)?),
            ('j', _) => Values::Indices(side(1)?),
            ('d', AnyList::Float32(list)) => Values::Float32(gather(list.distances(), |d| *d)?),
            ('d', AnyList::Float64(list)) => Values::Float64(gather(list.distances(), |d| *d)?),
            ('D', AnyList::Float32(list)) => Values::Vectors32(gather(list.vectors(), |d| *d)?),
            ('D', AnyList::Float64(list)) => Values::Vectors64(gather(list.vectors(), |d| *d)?),
            ('S', _) => Values::Images(of_any!(&self.list, list => images(list.pairs()))?),
            ('o', _) => {
                let mut offsets = vec![0_i64];
                offsets.try_reserve(self.particles).map_err(|_| {
                    crate::errors::out_of_memory(self.particles, 8, "the arrays of the result")
                })?;
                for particle in 0..self.particles {
                    let row = of_any!(&self.list, list => list.row(particle));
                    offsets.push(i64::try_from(row.end).unwrap_or(i64::MAX));
                }
                Values::Indices(offsets)
            }
            _ => Values::None,
        })
    }
}

impl Neighbors {
    fn search<T: Listed>(
        &self,
        py: Python<'_>,
        given: &Given<'_>,
        cell: Option<GivenDomain>,
        anew: bool,
    ) -> PyResult<bool> {
        let set = T::spare(&self.spares).read(given)?;
        let workers = Workers::new(py)?;
        py.detach(|| {
            self.inner.with(|inner| {
                workers.run(|| {
                    let spheres = set.spheres();
                    let mut search = match self.cutoff {
                        Some(cutoff) => NeighborSearch::within(spheres, T::rounded(cutoff)),
                        None => NeighborSearch::touching(spheres),
                    };
                    search = search
                        .in_domain(&domain::<T>(cell))
                        .with_skin(T::rounded(self.skin));
                    if self.full {
                        search = search.full();
                    }
                    inner.update(&search, set.len(), anew)
                })
            })
        })?
    }
}

#[pymethods]
impl Neighbors {
    /// Without a cutoff, two particles are neighbours if their spheres touch.
    #[new]
    fn new(
        py: Python<'_>,
        backend: &str,
        max_pairs: Option<u64>,
        cutoff: Option<f64>,
        skin: f64,
        full: bool,
    ) -> PyResult<Self> {
        let (engine, _) = start(py, backend, None, max_pairs)?;
        Ok(Self {
            inner: Kept::new(Inner {
                engine,
                list: AnyList::Float64(carom::NeighborList::default()),
                particles: 0,
                version: 0,
                is_made: false,
            }),
            spares: Spares::default(),
            cutoff,
            skin,
            full,
        })
    }

    /// Brings the list up to date. Returns whether it was made anew. With `anew`, it is.
    #[pyo3(signature = (particles, cell, anew))]
    fn update(
        &self,
        py: Python<'_>,
        particles: Given<'_>,
        cell: Option<GivenDomain>,
        anew: bool,
    ) -> PyResult<bool> {
        if particles.is_float32() {
            self.search::<f32>(py, &particles, cell, anew)
        } else {
            self.search::<f64>(py, &particles, cell, anew)
        }
    }

    /// Returns the version of the list, its length, and columns: `i`, `j`, `d`, `D`, `S`, or `o` for the first entry of
    /// each particle. The images are `None` in open space. If the version is the known one, columns that are `kept` are left
    /// out. With `last`, the detector is given up before, whose memory the columns may then have.
    fn columns<'py>(
        &self,
        py: Python<'py>,
        letters: &str,
        known: u64,
        kept: &str,
        last: bool,
    ) -> PyResult<(u64, usize, Bound<'py, PyDict>)> {
        let workers = Workers::new(py)?;
        let (version, length, columns) = py.detach(|| {
            self.inner.with(|inner| {
                if !inner.is_made {
                    return Err(Error::new_err(
                        "there is no list: it was not updated yet, or the last update failed; call update",
                    ));
                }
                if last {
                    inner.engine.give_up();
                }
                let is_kept = |letter| inner.version == known && kept.contains(letter);
                let fresh = letters.chars().filter(|&letter| !is_kept(letter));
                let columns = workers.run(|| {
                    let named = |letter| Ok((letter, inner.column(letter)?));
                    fresh.map(named).collect::<PyResult<Vec<_>>>()
                })?;
                Ok((inner.version, of_any!(&inner.list, list => list.len()), columns))
            })
        })??;
        let to = PyDict::new(py);
        for (letter, values) in columns {
            let column = match values {
                Values::Indices(values) => array(py, values),
                Values::Float32(values) => array(py, values),
                Values::Float64(values) => array(py, values),
                Values::Vectors32(values) => rows(py, values)?,
                Values::Vectors64(values) => rows(py, values)?,
                Values::Images(values) => optional_rows(py, values)?,
                Values::None => py.None(),
            };
            to.set_item(letter, column)?;
        }
        Ok((version, length, to))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let length = |inner: &mut Inner| of_any!(&inner.list, list => list.len());
        Ok(py.detach(|| self.inner.with(length))?)
    }

    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let of = |inner: &mut Inner| of_any!(&inner.list, list => list.statistics().clone());
        let of = py.detach(|| self.inner.with(of))?;
        statistics(py, &of)
    }
}

//! Checks lists of collisions.

use carom::{Hits, Step, Touching as _, Verification};
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::arrays::{copy, copy_rows, gather};
use crate::errors::of_carom;
use crate::found::{List, images, list};
use crate::pool::Workers;
use crate::set::{Given, GivenDomain, Set, domain};
use crate::walls::{OfWalls, Walls};

/// The columns of a list: uint32, uint32, and the numbers of the step twice; images as int32 or `None`.
#[derive(FromPyObject)]
pub(crate) struct GivenList<'py> {
    #[pyo3(item(0))]
    a: Bound<'py, PyArray1<u32>>,
    #[pyo3(item(1))]
    b: Bound<'py, PyArray1<u32>>,
    #[pyo3(item(2))]
    toi: Bound<'py, PyAny>,
    #[pyo3(item(3))]
    depth: Bound<'py, PyAny>,
    #[pyo3(item(4))]
    image: Option<Bound<'py, PyArray2<i32>>>,
}

impl GivenList<'_> {
    fn hits<T: OfWalls, H>(&self, hit: impl Fn([u32; 2], T, T) -> H) -> PyResult<Hits<H>> {
        let (mut a, mut b, mut toi, mut depth) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        copy(&self.a, &mut a, "the list")?;
        copy(&self.b, &mut b, "the list")?;
        for (column, to) in [(&self.toi, &mut toi), (&self.depth, &mut depth)] {
            let column = column.cast::<PyArray1<T>>();
            let column = column.map_err(|_| PyTypeError::new_err("the list has another dtype"))?;
            copy(column, to, "the list")?;
        }
        let mut image = Vec::new();
        if let Some(given) = &self.image {
            copy_rows(given, &mut image, "the list")?;
        }
        let sides = a.into_iter().zip(b);
        let items = sides.zip(toi.into_iter().zip(depth));
        let items = items.map(|((a, b), (toi, depth))| hit([a, b], toi, depth));
        Hits::with_images(items.collect(), image).map_err(of_carom)
    }
}

type Columns = Vec<Py<PyAny>>;
/// Whether the list passed, the pairs that were tried and that touch, a sentence, and the lists of mistakes.
type Report = (bool, u64, u64, String, Vec<Columns>);

fn columns<T: OfWalls, H: Copy + Sync>(
    hits: &[H],
    images: Option<Vec<[i32; 3]>>,
    values: impl Fn(&H) -> ([u32; 2], T, T) + Sync,
) -> PyResult<List<T>> {
    Ok((
        gather(hits, |hit| values(hit).0[0].into())?,
        gather(hits, |hit| values(hit).0[1].into())?,
        gather(hits, |hit| values(hit).1)?,
        gather(hits, |hit| values(hit).2)?,
        images,
    ))
}

fn report<T: OfWalls, H: Copy + Send + Sync>(
    py: Python<'_>,
    workers: &Workers,
    found: &Verification<H>,
    text: String,
    values: impl Fn(&H) -> ([u32; 2], T, T) + Sync,
) -> PyResult<Report> {
    let lists = py.detach(|| {
        workers.run(|| -> PyResult<_> {
            let mut lists = Vec::new();
            for hits in [&found.missing, &found.invented, &found.repeated] {
                lists.push(columns(hits, images(hits)?, &values)?);
            }
            let (listed, right): (Vec<H>, Vec<H>) = found.wrong.iter().copied().unzip();
            for hits in [listed, right] {
                lists.push(columns(&hits, images(&found.wrong)?, &values)?);
            }
            Ok(lists)
        })
    })?;
    let lists = lists
        .into_iter()
        .map(|of| list(py, of))
        .collect::<PyResult<_>>()?;
    Ok((found.passed(), found.tried, found.touching, text, lists))
}

struct Sets<T> {
    first: Set<T>,
    second: Option<Set<T>>,
}

impl<T: OfWalls> Sets<T> {
    fn new(first: &Given<'_>, second: Option<&Given<'_>>) -> PyResult<Self> {
        let set = |given: &Given<'_>| {
            let mut set = Set::default();
            set.fill(given)?;
            Ok::<_, PyErr>(set)
        };
        Ok(Self {
            first: set(first)?,
            second: second.map(set).transpose()?,
        })
    }

    fn step(&self, dt: f64, without_separating: bool) -> Step<'_, carom::Spheres<'_, T>> {
        let step = match &self.second {
            None => Step::new(self.first.spheres(), T::rounded(dt)),
            Some(second) => Step::between(self.first.spheres(), second.spheres(), T::rounded(dt)),
        };
        if without_separating {
            step.without_separating()
        } else {
            step
        }
    }
}

/// Checks a list of pairs.
#[pyfunction]
#[pyo3(signature = (given, first, second, dt, cell, without_separating=false))]
pub(crate) fn verify(
    py: Python<'_>,
    given: GivenList<'_>,
    first: Given<'_>,
    second: Option<Given<'_>>,
    dt: f64,
    cell: Option<GivenDomain>,
    without_separating: bool,
) -> PyResult<Report> {
    fn check<T: OfWalls>(
        py: Python<'_>,
        given: &GivenList<'_>,
        (first, second): (&Given<'_>, Option<&Given<'_>>),
        (dt, without_separating): (f64, bool),
        cell: Option<GivenDomain>,
    ) -> PyResult<Report>
    where
        Verification<T::Collision>: std::fmt::Display,
    {
        let hits = given.hits(T::collision)?;
        let sets = Sets::<T>::new(first, second)?;
        let domain = domain::<T>(cell);
        let workers = Workers::new(py)?;
        let found = py.detach(|| {
            workers
                .run(|| carom::verify(&sets.step(dt, without_separating).in_domain(&domain), &hits))
        });
        let found = found.map_err(of_carom)?;
        let text = found.to_string();
        report(py, &workers, &found, text, |hit: &T::Collision| {
            (hit.sides(), hit.toi(), T::depth(hit))
        })
    }
    let sets = (&first, second.as_ref());
    let dt = (dt, without_separating);
    if first.is_float32() {
        check::<f32>(py, &given, sets, dt, cell)
    } else {
        check::<f64>(py, &given, sets, dt, cell)
    }
}

/// Checks a list of spheres that touch walls.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "they are those of Python")]
#[pyo3(signature = (given, first, second, dt, cell, walls, without_separating=false))]
pub(crate) fn verify_walls(
    py: Python<'_>,
    given: GivenList<'_>,
    first: Given<'_>,
    second: Option<Given<'_>>,
    dt: f64,
    cell: Option<GivenDomain>,
    walls: &Walls,
    without_separating: bool,
) -> PyResult<Report> {
    fn check<T: OfWalls>(
        py: Python<'_>,
        given: &GivenList<'_>,
        (first, second): (&Given<'_>, Option<&Given<'_>>),
        (dt, without_separating): (f64, bool),
        cell: Option<GivenDomain>,
        walls: &Walls,
    ) -> PyResult<Report>
    where
        Verification<T::WallCollision>: std::fmt::Display,
    {
        let hits = given.hits(T::wall_collision)?;
        let sets = Sets::<T>::new(first, second)?;
        let domain = domain::<T>(cell);
        let walls = T::of_walls(walls)?;
        let workers = Workers::new(py)?;
        let found = py.detach(|| {
            workers.run(|| {
                let step = sets
                    .step(dt, without_separating)
                    .in_domain(&domain)
                    .with_walls(&walls);
                carom::verify_walls(&step, &hits)
            })
        });
        let found = found.map_err(of_carom)?;
        let text = found.to_string();
        report(py, &workers, &found, text, |hit: &T::WallCollision| {
            (hit.sides(), hit.toi(), T::wall_depth(hit))
        })
    }
    let sets = (&first, second.as_ref());
    let dt = (dt, without_separating);
    if first.is_float32() {
        check::<f32>(py, &given, sets, dt, cell, walls)
    } else {
        check::<f64>(py, &given, sets, dt, cell, walls)
    }
}

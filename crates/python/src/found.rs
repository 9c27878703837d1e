//! The results of a step, as arrays.

use std::sync::Arc;

use carom::{Backend, Contact, Domain, Feature, Hits, Partner, Touching as _};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{array, gather, gather_indexed, room, rows};
use crate::errors::of_carom;
use crate::number::Scalar;
use crate::pool::Workers;
use crate::set::Set;

/// The collisions of a step, and what the step was.
pub(crate) struct Results<T: Scalar> {
    pub(crate) collisions: carom::Collisions<T>,
    pub(crate) first: Arc<Set<T>>,
    pub(crate) second: Option<Arc<Set<T>>>,
    pub(crate) dt: T,
    pub(crate) domain: Domain,
    pub(crate) walls: Option<Arc<carom::Walls<T>>>,
    /// Whether pairs that touch at the start and move apart are left out.
    pub(crate) without_separating: bool,
}

pub(crate) enum AnyFound {
    Float32(Results<f32>),
    Float64(Results<f64>),
}

/// The results of a step.
#[pyclass(frozen)]
pub(crate) struct Found(pub(crate) AnyFound);

/// Columns of a list: the two sides, the time of impact, the depth, and the images in a periodic domain.
pub(crate) type List<T> = (Vec<i64>, Vec<i64>, Vec<T>, Vec<T>, Option<Vec<[i32; 3]>>);

pub(crate) fn images<T>(hits: &Hits<T>) -> PyResult<Option<Vec<[i32; 3]>>> {
    if hits.images().is_empty() {
        return Ok(None);
    }
    gather(hits.images(), |image| *image).map(Some)
}

fn pairs<T: Scalar>(hits: &Hits<T::Collision>) -> PyResult<List<T>> {
    Ok((
        gather(hits, |hit| hit.sides()[0].into())?,
        gather(hits, |hit| hit.sides()[1].into())?,
        gather(hits, |hit| hit.toi())?,
        gather(hits, T::depth)?,
        images(hits)?,
    ))
}

fn at_walls<T: Scalar>(hits: &Hits<T::WallCollision>) -> PyResult<List<T>> {
    Ok((
        gather(hits, |hit| hit.sides()[0].into())?,
        gather(hits, |hit| hit.sides()[1].into())?,
        gather(hits, |hit| hit.toi())?,
        gather(hits, T::wall_depth)?,
        images(hits)?,
    ))
}

type Objects = Vec<Py<PyAny>>;

/// Returns the columns of a list as arrays.
pub(crate) fn list<T: Scalar>(
    py: Python<'_>,
    (a, b, toi, depth, images): List<T>,
) -> PyResult<Objects> {
    Ok(vec![
        array(py, a),
        array(py, b),
        array(py, toi),
        array(py, depth),
        optional_rows(py, images)?,
    ])
}

pub(crate) fn optional_rows(py: Python<'_>, images: Option<Vec<[i32; 3]>>) -> PyResult<Py<PyAny>> {
    images.map_or_else(|| Ok(py.None()), |images| rows(py, images))
}

/// Points, normals, speeds, and the parts of walls.
type Points<T> = (Vec<[T; 3]>, Vec<[T; 3]>, Vec<T>, Vec<u8>, Vec<u8>);

fn contacts<T: Scalar>(contacts: &[Contact<T>]) -> PyResult<Points<T>> {
    let part = |contact: &Contact<T>| match contact.feature {
        Feature::Face => [0, 0],
        Feature::Edge(edge) => [1, edge],
        Feature::Corner(corner) => [2, corner],
    };
    Ok((
        gather(contacts, |contact| contact.point)?,
        gather(contacts, |contact| contact.normal)?,
        gather(contacts, |contact| contact.approach_speed)?,
        gather(contacts, |contact| part(contact)[0])?,
        gather(contacts, |contact| part(contact)[1])?,
    ))
}

fn point_arrays<T: Scalar>(
    py: Python<'_>,
    (point, normal, speed, feature, which): Points<T>,
) -> PyResult<Objects> {
    Ok(vec![
        rows(py, point)?,
        rows(py, normal)?,
        array(py, speed),
        array(py, feature),
        array(py, which),
    ])
}

impl<T: Scalar> Results<T> {
    fn second(&self) -> &Set<T> {
        self.second.as_ref().unwrap_or(&self.first)
    }

    fn pairs(&self, py: Python<'_>) -> PyResult<Objects> {
        let workers = Workers::new(py)?;
        let columns = py.detach(|| workers.run(|| pairs::<T>(&self.collisions.pairs)))?;
        list(py, columns)
    }

    fn at_walls(&self, py: Python<'_>) -> PyResult<Objects> {
        let workers = Workers::new(py)?;
        let columns = py.detach(|| workers.run(|| at_walls::<T>(&self.collisions.walls)))?;
        list(py, columns)
    }

    fn points(&self, py: Python<'_>) -> PyResult<Objects> {
        let workers = Workers::new(py)?;
        let hits = &self.collisions.pairs;
        let (first, second) = (&*self.first, self.second());
        let found = py.detach(|| {
            workers.run(|| {
                contacts::<T>(&gather_indexed(hits, |k, hit| {
                    let [a, b] = hit.sides().map(|side| side as usize);
                    T::contact(
                        hit,
                        [first.ball(a), second.ball(b)],
                        &self.domain,
                        hits.image(k),
                    )
                })?)
            })
        })?;
        point_arrays(py, found)
    }

    fn wall_points(&self, py: Python<'_>) -> PyResult<Objects> {
        let workers = Workers::new(py)?;
        let hits = &self.collisions.walls;
        let start = self.collisions.second_set_start();
        let no_walls = Arc::default();
        let walls = self.walls.as_ref().unwrap_or(&no_walls);
        let found = py.detach(|| {
            workers.run(|| {
                let found: Vec<Option<Contact<T>>> = gather_indexed(hits, |k, hit| {
                    let sphere = hit.sides()[0] as usize;
                    let of = match start {
                        Some(start) if sphere >= start => self.second().ball(sphere - start),
                        _ => self.first.ball(sphere),
                    };
                    T::wall_contact(hit, of, walls, &self.domain, hits.image(k))
                })?;
                // Each wall of the list is a wall of the step.
                contacts::<T>(&found.into_iter().flatten().collect::<Vec<_>>())
            })
        })?;
        point_arrays(py, found)
    }

    fn earliest(&self, py: Python<'_>) -> PyResult<Objects> {
        let workers = Workers::new(py)?;
        let (toi, partner, at_wall, image) = py.detach(|| {
            workers.run(|| -> PyResult<_> {
                let first = self.collisions.earliest().map_err(of_carom)?;
                let never = T::rounded(f64::INFINITY);
                let toi = gather(&first, |first| first.map_or(never, |first| first.toi))?;
                let partner = gather(&first, |first| match first.map(|first| first.partner) {
                    None => -1,
                    Some(Partner::Sphere(index) | Partner::Wall(index)) => i64::from(index),
                })?;
                let at_wall = gather(&first, |first| {
                    first.is_some_and(|first| matches!(first.partner, Partner::Wall(_)))
                })?;
                let image = gather(&first, |first| first.map_or([0; 3], |first| first.image))?;
                Ok((toi, partner, at_wall, image))
            })
        })?;
        Ok(vec![
            array(py, toi),
            array(py, partner),
            array(py, at_wall),
            rows(py, image)?,
        ])
    }

    fn contacts(&self, py: Python<'_>) -> PyResult<Objects> {
        let workers = Workers::new(py)?;
        let (offsets, indices) = py.detach(|| {
            workers.run(|| -> PyResult<_> {
                let contacts = self.collisions.contacts().map_err(of_carom)?;
                let (mut offsets, mut indices) = (Vec::new(), Vec::<i64>::new());
                let spheres = self.collisions.sphere_count();
                room(&mut offsets, spheres + 1, "the arrays of the result")?;
                room(
                    &mut indices,
                    2 * self.collisions.pairs.len(),
                    "the arrays of the result",
                )?;
                offsets.push(0_i64);
                for sphere in 0..spheres {
                    indices.extend(contacts.of(sphere).iter().map(|&index| i64::from(index)));
                    offsets.push(i64::try_from(indices.len()).unwrap_or(i64::MAX));
                }
                Ok((offsets, indices))
            })
        })?;
        Ok(vec![array(py, offsets), array(py, indices)])
    }

    fn changes(&self, py: Python<'_>, previous: &Self) -> PyResult<Vec<Objects>> {
        let workers = Workers::new(py)?;
        let changes = py.detach(|| {
            workers.run(|| -> PyResult<_> {
                let changes = self
                    .collisions
                    .changes_since(&previous.collisions)
                    .map_err(of_carom)?;
                [changes.began, changes.lasted, changes.ended]
                    .iter()
                    .map(|pairs| {
                        let side =
                            |k: usize| gather(pairs, move |pair: &[u32; 2]| i64::from(pair[k]));
                        Ok((side(0)?, side(1)?, images(pairs)?))
                    })
                    .collect::<PyResult<Vec<_>>>()
            })
        })?;
        let objects = changes
            .into_iter()
            .map(|(a, b, images)| Ok(vec![array(py, a), array(py, b), optional_rows(py, images)?]));
        objects.collect()
    }

    fn duration(&self) -> f64 {
        self.dt.into()
    }

    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        statistics(py, &self.collisions.statistics)
    }
}

pub(crate) fn statistics<'py>(
    py: Python<'py>,
    of: &carom::Statistics,
) -> PyResult<Bound<'py, PyDict>> {
    let to = PyDict::new(py);
    let numbers = [
        ("spheres", of.spheres),
        ("proxies", of.proxies),
        ("levels", of.levels.into()),
        ("slots", of.slots),
        ("candidates", of.candidates),
        ("pairs", of.pairs),
        ("grazing", of.grazing),
        ("grazing_by_integers", of.grazing_by_integers),
        ("memory", of.memory),
    ];
    for (name, number) in numbers {
        to.set_item(name, number)?;
    }
    let backend = match of.backend {
        Backend::Gpu => "gpu",
        _ => "cpu",
    };
    to.set_item("backend", backend)?;
    to.set_item("reason", &of.reason)?;
    to.set_item("adapter", &of.adapter)?;
    let stages = PyDict::new(py);
    for (name, time) in &of.stages {
        stages.set_item(name, time.as_secs_f64())?;
    }
    to.set_item("stages", stages)?;
    Ok(to)
}

/// Calls a method of the results, whichever their numbers are.
macro_rules! of_any {
    ($found:expr, $results:ident => $value:expr) => {
        match &$found.0 {
            AnyFound::Float32($results) => $value,
            AnyFound::Float64($results) => $value,
        }
    };
}

#[pymethods]
impl Found {
    #[getter]
    fn is_float32(&self) -> bool {
        matches!(self.0, AnyFound::Float32(_))
    }

    #[getter]
    fn dt(&self) -> f64 {
        of_any!(self, results => results.duration())
    }

    fn __len__(&self) -> usize {
        of_any!(self, results => results.collisions.pairs.len())
    }

    #[getter]
    fn wall_count(&self) -> usize {
        of_any!(self, results => results.collisions.walls.len())
    }

    /// The number of spheres in the first set, and in the second one.
    #[getter]
    fn spheres(&self) -> (usize, Option<usize>) {
        of_any!(self, results => {
            let second = results.second.as_ref().map(|set| set.len());
            (results.first.len(), second)
        })
    }

    /// The arguments `first` and `second` of [`Detector::detect`](crate::detector::Detector) that give these results.
    fn given(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, Option<Py<PyAny>>)> {
        of_any!(self, results => {
            let second = results.second.as_ref().map(|set| set.given(py));
            Ok((results.first.given(py)?, second.transpose()?))
        })
    }

    fn pairs(&self, py: Python<'_>) -> PyResult<Objects> {
        of_any!(self, results => results.pairs(py))
    }

    fn walls(&self, py: Python<'_>) -> PyResult<Objects> {
        of_any!(self, results => results.at_walls(py))
    }

    fn points(&self, py: Python<'_>) -> PyResult<Objects> {
        of_any!(self, results => results.points(py))
    }

    fn wall_points(&self, py: Python<'_>) -> PyResult<Objects> {
        of_any!(self, results => results.wall_points(py))
    }

    fn earliest(&self, py: Python<'_>) -> PyResult<Objects> {
        of_any!(self, results => results.earliest(py))
    }

    fn contacts(&self, py: Python<'_>) -> PyResult<Objects> {
        of_any!(self, results => results.contacts(py))
    }

    /// Returns `None` if the lists differ in their numbers.
    fn changes_since(&self, py: Python<'_>, previous: &Self) -> PyResult<Option<Vec<Objects>>> {
        match (&self.0, &previous.0) {
            (AnyFound::Float32(now), AnyFound::Float32(before)) => {
                now.changes(py, before).map(Some)
            }
            (AnyFound::Float64(now), AnyFound::Float64(before)) => {
                now.changes(py, before).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        of_any!(self, results => results.statistics(py))
    }
}

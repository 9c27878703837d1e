//! Simulations of hard spheres.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytemuck::{Pod, Zeroable};
use carom::{
    Domain, Encounter, HardSphere, Impact, Outcome, Partner, Removal, Response, SimulationOptions,
    StepReport,
};
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{array, copy, copy_rows, gather, rows};
use crate::errors::of_carom;
use crate::kept::Kept;
use crate::pool::Workers;
use crate::set::GivenDomain;
use crate::walls::Walls;

/// How often a step that is on its way asks whether the user wants to end it.
const PATIENCE: Duration = Duration::from_millis(50);

/// A simulation of the library.
#[pyclass(frozen)]
pub(crate) struct Simulation {
    inner: Kept<carom::Simulation>,
    domain: Option<GivenDomain>,
}

/// An impact as an entry of a structured array. The package names the fields.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct ImpactRow {
    time: f64,
    point: [f64; 3],
    normal: [f64; 3],
    impulse: [f64; 3],
    sphere: i64,
    partner: i64,
    image: [i32; 3],
    at_wall: u8,
    rest: [u8; 3],
}

/// A removal as an entry of a structured array.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct RemovalRow {
    time: f64,
    velocity: [f64; 3],
    sphere: i64,
}

fn partner(partner: Partner) -> (i64, bool) {
    match partner {
        Partner::Sphere(index) => (index.into(), false),
        Partner::Wall(wall) => (wall.into(), true),
    }
}

fn impact(impact: &Impact) -> ImpactRow {
    let (partner, at_wall) = partner(impact.partner);
    ImpactRow {
        time: impact.time,
        point: impact.point,
        normal: impact.normal,
        impulse: impact.impulse,
        sphere: impact.sphere.into(),
        partner,
        image: impact.image,
        at_wall: at_wall.into(),
        rest: [0; 3],
    }
}

fn removal(removal: &Removal) -> RemovalRow {
    RemovalRow {
        time: removal.time,
        velocity: removal.velocity,
        sphere: removal.sphere.into(),
    }
}

fn bytes<T: Pod>(py: Python<'_>, rows: &[T]) -> Py<PyAny> {
    array(py, bytemuck::cast_slice::<T, u8>(rows).to_vec())
}

fn report<'py>(py: Python<'py>, of: &StepReport) -> PyResult<Bound<'py, PyDict>> {
    let to = PyDict::new(py);
    to.set_item("sphere_impacts", of.sphere_impacts)?;
    to.set_item("wall_impacts", of.wall_impacts)?;
    to.set_item("wall_impulses", rows(py, of.wall_impulses.clone())?)?;
    to.set_item("virial", of.virial)?;
    to.set_item("kinetic_energy", of.kinetic_energy)?;
    to.set_item("completed", of.completed)?;
    to.set_item("substeps", of.substeps)?;
    to.set_item("rounds", of.rounds)?;
    to.set_item("largest_island", of.largest_island)?;
    to.set_item("removed", bytes(py, &gather(&of.removed, removal)?))?;
    to.set_item("impacts", bytes(py, &gather(&of.impacts, impact)?))?;
    Ok(to)
}

/// Reads what a rule says of one of the two objects that meet: a velocity, or that it is removed.
fn outcome(answer: &Bound<'_, PyAny>) -> PyResult<Outcome> {
    if let Ok(velocity) = answer.extract::<[f64; 3]>() {
        return Ok(Outcome::Velocity(velocity));
    }
    match answer.extract::<String>() {
        Ok(word) if word == "remove" => Ok(Outcome::Remove),
        _ => Err(PyTypeError::new_err(format!(
            "the rule says {answer} for a sphere, but must give three numbers, its new velocity, or \"remove\""
        ))),
    }
}

/// Asks a function of the user what an encounter does.
fn ask(py: Python<'_>, rule: &Py<PyAny>, meeting: &Encounter) -> PyResult<Response> {
    let (partner, at_wall) = partner(meeting.partner);
    let answer = rule.bind(py).call1((
        meeting.time,
        meeting.sphere,
        partner,
        at_wall,
        meeting.image,
        meeting.point,
        meeting.normal,
        meeting.masses,
        meeting.velocities,
        meeting.approach_speed,
    ))?;
    if answer.is_none() {
        return Ok(Response::Bounce);
    }
    if let Ok(word) = answer.extract::<String>() {
        return match &*word {
            "bounce" => Ok(Response::Bounce),
            "ignore" => Ok(Response::Ignore),
            _ => Err(PyValueError::new_err(format!(
                "the rule says {word:?}, but must return \"bounce\", \"ignore\" or two outcomes"
            ))),
        };
    }
    let (one, other) = answer.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
    Ok(Response::Each([outcome(&one)?, outcome(&other)?]))
}

/// Spheres from the columns x, y, z, vx, vy, vz, radius, mass.
fn hard_sphere([x, y, z, u, v, w, radius, mass]: [f64; 8]) -> HardSphere {
    HardSphere::new([x, y, z], radius)
        .with_velocity([u, v, w])
        .with_mass(mass)
}

/// The columns of spheres, as arrays of float64.
#[derive(FromPyObject)]
struct GivenSpheres<'py> {
    #[pyo3(item(0))]
    center: Bound<'py, PyArray2<f64>>,
    #[pyo3(item(1))]
    velocity: Bound<'py, PyArray2<f64>>,
    #[pyo3(item(2))]
    radius: Bound<'py, PyArray1<f64>>,
    #[pyo3(item(3))]
    mass: Bound<'py, PyArray1<f64>>,
}

impl GivenSpheres<'_> {
    fn spheres(&self) -> PyResult<Vec<HardSphere>> {
        let (mut center, mut velocity) = (Vec::new(), Vec::new());
        let (mut radius, mut mass) = (Vec::new(), Vec::new());
        copy_rows(&self.center, &mut center, "center")?;
        copy_rows(&self.velocity, &mut velocity, "velocity")?;
        copy(&self.radius, &mut radius, "radius")?;
        copy(&self.mass, &mut mass, "mass")?;
        let both = center.into_iter().zip(velocity);
        let all = both.zip(radius.into_iter().zip(mass));
        let spheres = all.map(|(([x, y, z], [u, v, w]), (radius, mass))| {
            hard_sphere([x, y, z, u, v, w, radius, mass])
        });
        Ok(spheres.collect())
    }
}

fn options(given: &Bound<'_, PyDict>) -> PyResult<SimulationOptions> {
    let mut options = SimulationOptions::new();
    for (name, value) in given {
        options = match &*name.extract::<String>()? {
            "restitution" => options.with_restitution(value.extract()?),
            "wall_restitution" => options.with_wall_restitution(value.extract()?),
            "contact_time" => options.with_contact_time(value.extract()?),
            "gravity" => options.with_gravity(value.extract::<[f64; 3]>()?),
            "groups" => {
                let mut groups = Vec::new();
                copy(value.cast::<PyArray1<u32>>()?, &mut groups, "groups")?;
                options.with_groups(groups)
            }
            "bodies" => {
                let mut bodies = Vec::new();
                copy(value.cast::<PyArray1<i64>>()?, &mut bodies, "bodies")?;
                let body = |&body: &i64| match u32::try_from(body) {
                    Ok(body) => Ok(Some(body)),
                    Err(_) if body < 0 => Ok(None),
                    Err(_) => Err(PyValueError::new_err(format!(
                        "a body has the number {body}, but must be less than 2**32"
                    ))),
                };
                options.with_bodies(bodies.iter().map(body).collect::<PyResult<_>>()?)
            }
            "domain" => options.with_domain(domain(Some(value.extract()?))),
            "walls" => {
                let walls = value.cast::<Walls>()?;
                options.with_walls((*walls.get().rounded()?).clone())
            }
            "impacts" if value.extract()? => options.with_impact_list(),
            "one_sided_meshes" if value.extract()? => options.with_one_sided_meshes(),
            "max_impacts" => options.with_max_impacts(value.extract()?),
            "max_step_impacts" => options.with_max_step_impacts(value.extract()?),
            "impacts_per_substep" => options.with_impacts_per_substep(value.extract()?),
            _ => options,
        };
    }
    Ok(options)
}

/// Returns the domain in float32, the numbers of the domain of a simulation.
fn domain(given: Option<GivenDomain>) -> Domain {
    crate::set::domain::<f32>(given)
}

impl Simulation {
    /// Does something with the simulation, on the threads of the pool.
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut carom::Simulation) -> R + Send,
    ) -> PyResult<R> {
        let workers = Workers::new(py)?;
        let done = py.detach(|| {
            self.inner
                .with(|simulation| workers.run(|| work(simulation)))
        });
        Ok(done?)
    }
}

#[pymethods]
impl Simulation {
    #[new]
    fn new(py: Python<'_>, spheres: GivenSpheres<'_>, given: &Bound<'_, PyDict>) -> PyResult<Self> {
        let spheres = spheres.spheres()?;
        let options = options(given)?;
        let workers = Workers::new(py)?;
        let made = py.detach(|| workers.run(|| carom::Simulation::new(spheres, options)));
        let made = made.map_err(of_carom)?;
        let domain = made.domain();
        let domain =
            (!domain.is_open()).then(|| (domain.origin(), domain.edges(), domain.periodic()));
        Ok(Self {
            inner: Kept::new(made),
            domain,
        })
    }

    /// The domain, whose numbers are float32.
    #[getter]
    fn domain(&self) -> Option<GivenDomain> {
        self.domain
    }

    #[getter]
    fn time(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |simulation| simulation.time())
    }

    #[getter]
    fn kinetic_energy(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |simulation| simulation.kinetic_energy())
    }

    /// Returns an array of N × 8 numbers: centre, velocity, radius, mass.
    fn state(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let state = self.with(py, |simulation| {
            gather(simulation.spheres(), |sphere| {
                let ([x, y, z], [u, v, w]) = (sphere.center, sphere.velocity);
                [x, y, z, u, v, w, sphere.radius, sphere.mass]
            })
        })?;
        rows(py, state?)
    }

    fn unwrapped(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let centers = self.with(py, |simulation| {
            let all = 0..simulation.spheres().len();
            let center = |k| simulation.unwrapped_center(k).unwrap_or_default();
            all.map(center).collect::<Vec<_>>()
        })?;
        rows(py, centers)
    }

    fn removed(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let removed = self.with(py, |simulation| {
            let all = 0..simulation.spheres().len();
            all.map(|k| simulation.is_removed(k)).collect::<Vec<_>>()
        })?;
        Ok(array(py, removed))
    }

    /// Replaces the state of all spheres.
    fn edit(&self, py: Python<'_>, spheres: GivenSpheres<'_>) -> PyResult<()> {
        let new = spheres.spheres()?;
        let edited = self.with(py, |simulation| {
            simulation.edit(|spheres| {
                for (sphere, new) in spheres.iter_mut().zip(new) {
                    *sphere = new;
                }
            })
        })?;
        edited.map_err(of_carom)
    }

    fn restore(&self, py: Python<'_>, sphere: usize, state: [f64; 8]) -> PyResult<()> {
        let restored = self.with(py, |simulation| {
            simulation.restore(sphere, hard_sphere(state))
        })?;
        restored.map_err(of_carom)
    }

    fn separate(&self, py: Python<'_>, passes: u32) -> PyResult<u32> {
        let passes = self.with(py, |simulation| simulation.separate(passes))?;
        passes.map_err(of_carom)
    }

    /// Moves the spheres. `rule` is a function of the package that asks the user's function.
    #[pyo3(signature = (duration, rule))]
    fn step<'py>(
        &self,
        py: Python<'py>,
        duration: f64,
        rule: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let workers = Workers::new(py)?;
        let goes_on = AtomicBool::new(true);
        let raised: Mutex<Option<PyErr>> = Mutex::new(None);
        let end = |error: PyErr| {
            goes_on.store(false, Ordering::Release);
            let mut raised = raised.lock().unwrap_or_else(PoisonError::into_inner);
            raised.get_or_insert(error);
        };
        let go_on = || goes_on.load(Ordering::Acquire);
        let answer = |meeting: &Encounter| {
            let Some(rule) = &rule else {
                return Response::Bounce;
            };
            let answer = Python::attach(|py| ask(py, rule, meeting));
            answer.unwrap_or_else(|error| {
                end(error);
                Response::Bounce
            })
        };
        let mut result = None;
        py.detach(|| {
            self.inner.with(|simulation| {
                let (done, is_done) = channel::<()>();
                let work = || {
                    let answer: &(dyn Fn(&Encounter) -> Response + Sync) = &answer;
                    let answer = rule.as_ref().map(|_| answer);
                    result = Some(simulation.step_while(duration, answer, &go_on));
                    drop(done);
                };
                workers.run_beside(work, || {
                    while let Err(RecvTimeoutError::Timeout) = is_done.recv_timeout(PATIENCE) {
                        if let Err(error) = Python::attach(|py| py.check_signals()) {
                            end(error);
                        }
                    }
                });
            })
        })?;
        if let Some(error) = raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let done = result.unwrap_or_else(|| Ok(StepReport::default()));
        report(py, &done.map_err(of_carom)?)
    }
}

//! Simulations of hard spheres.

use std::process;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{ThreadId, current, sleep};
use std::time::{Duration, Instant};

use bincode::Options as _;
use bytemuck::{Pod, Zeroable};
use carom::{
    Combine, Domain, Encounter, HardSphere, Impact, Outcome, Partner, Removal, Response,
    SimulationOptions, StepReport,
};
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::{PySystemExit, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat};

use crate::arrays::{array, copy, copy_rows, gather, gather_indexed, room, rows};
use crate::errors::{of_carom, of_snapshot};
use crate::kept::Kept;
use crate::pool::{Workers, in_callback};
use crate::set::GivenDomain;
use crate::walls::{Mesh, Parts, Walls, parts};

/// How often a step that is on its way asks whether the user wants to end it.
const PATIENCE: Duration = Duration::from_millis(50);

/// How long the end of the interpreter waits for steps in other threads.
const FAREWELL: Duration = Duration::from_secs(10);

/// The thread that is about to end the interpreter. Threads that work for others must not attach to it any more.
static CLOSER: OnceLock<ThreadId> = OnceLock::new();

/// Returns whether the interpreter is about to end, and a step of another thread must.
fn must_end(stepper: ThreadId) -> bool {
    CLOSER.get().is_some_and(|&closer| closer != stepper)
}

/// How many steps are on their way, and in which process. A fork copies the number, but not the steps.
static STEPS: AtomicU32 = AtomicU32::new(0);
static OWNER: AtomicU32 = AtomicU32::new(0);

/// A step that is on its way.
struct OnItsWay;

impl OnItsWay {
    fn new(_attached: Python<'_>) -> PyResult<Self> {
        if must_end(current().id()) {
            // Ends the thread without a word.
            return Err(PySystemExit::new_err(()));
        }
        if OWNER.swap(process::id(), Ordering::SeqCst) != process::id() {
            STEPS.store(0, Ordering::SeqCst);
        }
        STEPS.fetch_add(1, Ordering::SeqCst);
        Ok(Self)
    }
}

impl Drop for OnItsWay {
    fn drop(&mut self) {
        STEPS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Ends the steps that daemon threads have begun. The package calls this before the interpreter ends.
#[pyfunction]
pub(crate) fn close(py: Python<'_>) {
    CLOSER.get_or_init(|| current().id());
    py.detach(|| {
        let began = Instant::now();
        while OWNER.load(Ordering::SeqCst) == process::id()
            && STEPS.load(Ordering::SeqCst) > 0
            && began.elapsed() < FAREWELL
        {
            sleep(Duration::from_millis(1));
        }
    });
}

/// A simulation of the library.
#[pyclass(frozen)]
pub(crate) struct Simulation {
    inner: Kept<Inner>,
    domain: Option<GivenDomain>,
}

struct Inner {
    simulation: carom::Simulation,
    /// Changes with each call that may change the state.
    version: u64,
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

/// A contact as an entry of a structured array.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct ContactRow {
    sphere: i64,
    partner: i64,
    at_wall: u8,
    rest: [u8; 7],
}

fn contact(&(sphere, other): &(u32, Partner)) -> ContactRow {
    let (partner, at_wall) = partner(other);
    ContactRow {
        sphere: sphere.into(),
        partner,
        at_wall: at_wall.into(),
        rest: [0; 7],
    }
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

fn bytes<T: Pod>(py: Python<'_>, rows: Vec<T>) -> PyResult<Py<PyAny>> {
    let from = bytemuck::cast_slice::<T, u8>(&rows);
    let mut to = Vec::new();
    room(&mut to, from.len(), "the lists of the report")?;
    to.extend_from_slice(from);
    Ok(array(py, to))
}

fn report<'py>(
    py: Python<'py>,
    workers: &Workers,
    of: &StepReport,
) -> PyResult<Bound<'py, PyDict>> {
    let (removed, impacts, contacts) = py.detach(|| {
        workers.run(|| -> PyResult<_> {
            let mut contacts = Vec::new();
            for list in [&of.began, &of.lasted, &of.ended] {
                contacts.push(gather(list, contact)?);
            }
            let (removed, impacts) = (gather(&of.removed, removal)?, gather(&of.impacts, impact)?);
            Ok((removed, impacts, contacts))
        })
    })?;
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
    to.set_item("removed", bytes(py, removed)?)?;
    to.set_item("impacts", bytes(py, impacts)?)?;
    for (name, list) in ["began", "lasted", "ended"].into_iter().zip(contacts) {
        to.set_item(name, bytes(py, list)?)?;
    }
    Ok(to)
}

/// What a rule may return.
const ANSWERS: &str = "must return \"bounce\", \"ignore\", a restitution or two outcomes";

/// Reads what a rule says of one of the two objects that meet: a velocity, or a word.
fn outcome(answer: &Bound<'_, PyAny>) -> PyResult<Outcome> {
    if let Ok(velocity) = answer.extract::<[f64; 3]>() {
        return Ok(Outcome::Velocity(velocity));
    }
    match answer.extract::<String>().as_deref() {
        Ok("remove") => Ok(Outcome::Remove),
        Ok("keep") => Ok(Outcome::Keep),
        Ok("bounce") => Ok(Outcome::Bounce),
        _ => Err(PyTypeError::new_err(format!(
            "the rule says {} for a sphere, but must give three numbers, its new velocity, or \"keep\", \"bounce\" or \"remove\"",
            answer.repr()?
        ))),
    }
}

/// Reads a number, which is no bool, also not one of NumPy.
fn restitution(answer: &Bound<'_, PyAny>) -> Option<f64> {
    if let Ok(number) = answer.cast::<PyFloat>() {
        return Some(number.value());
    }
    let is_bool = answer.is_instance_of::<PyBool>()
        || answer
            .getattr("dtype")
            .and_then(|dtype| dtype.getattr("kind")?.extract::<String>())
            .is_ok_and(|kind| kind == "b");
    let number = answer.extract().ok();
    number.filter(|_| !is_bool)
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
                "the rule says {word:?}, but {ANSWERS}"
            ))),
        };
    }
    if let Some(restitution) = restitution(&answer) {
        return Ok(Response::BounceWith(restitution));
    }
    match answer.extract::<[Bound<'_, PyAny>; 2]>() {
        Ok([one, other]) => Ok(Response::Each([outcome(&one)?, outcome(&other)?])),
        Err(_) => Err(PyTypeError::new_err(format!(
            "the rule says {}, but {ANSWERS}: for the sphere and its partner",
            answer.repr()?
        ))),
    }
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
        let mut spheres = Vec::new();
        room(&mut spheres, all.len(), "the spheres")?;
        spheres.extend(all.map(|(([x, y, z], [u, v, w]), (radius, mass))| {
            hard_sphere([x, y, z, u, v, w, radius, mass])
        }));
        Ok(spheres)
    }
}

/// Returns the body of a number, of which a negative one is none.
fn body(body: i64) -> PyResult<Option<u32>> {
    match u32::try_from(body) {
        Ok(body) => Ok(Some(body)),
        Err(_) if body < 0 => Ok(None),
        Err(_) => Err(PyValueError::new_err(format!(
            "a body has the number {body}, but must be less than 2**32"
        ))),
    }
}

fn bodies(given: &Bound<'_, PyArray1<i64>>) -> PyResult<Vec<Option<u32>>> {
    let mut bodies = Vec::new();
    copy(given, &mut bodies, "bodies")?;
    bodies.into_iter().map(body).collect()
}

/// Copies the values of an array of one dimension.
fn values<T: numpy::Element + Copy>(given: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<T>> {
    let mut to = Vec::new();
    copy(given.cast::<PyArray1<T>>()?, &mut to, what)?;
    Ok(to)
}

fn combine(name: &str) -> PyResult<Combine> {
    Ok(match name {
        "average" => Combine::Average,
        "min" => Combine::Min,
        "multiply" => Combine::Multiply,
        "max" => Combine::Max,
        _ => {
            return Err(PyValueError::new_err(format!(
                "combine is {name:?}, but must be \"average\", \"min\", \"multiply\" or \"max\""
            )));
        }
    })
}

fn options(given: &Bound<'_, PyDict>) -> PyResult<SimulationOptions> {
    let mut options = SimulationOptions::new();
    for (name, value) in given {
        options = match &*name.extract::<String>()? {
            "restitution" => options.with_restitution(value.extract()?),
            "wall_restitution" => options.with_wall_restitution(value.extract()?),
            "contact_time" => options.with_contact_time(value.extract()?),
            "gravity" => options.with_gravity(value.extract::<[f64; 3]>()?),
            "restitutions" => {
                let (each, rule) = value.extract::<(Bound<'_, PyAny>, String)>()?;
                options.with_restitutions(values(&each, "restitution")?, combine(&rule)?)
            }
            "groups" => options.with_groups(values(&value, "groups")?),
            "bodies" => options.with_bodies(bodies(value.cast()?)?),
            "domain" => options.with_domain(domain(Some(value.extract()?))),
            "walls" => {
                let walls = value.cast::<Walls>()?;
                options.with_walls((*walls.get().rounded()?).clone())
            }
            "impacts" if value.extract()? => options.with_impact_list(),
            "contacts" if value.extract()? => options.with_contact_changes(),
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

/// How simulations are written: in a fixed order of bytes, and without bytes behind them.
fn written() -> impl bincode::Options {
    bincode::options().with_fixint_encoding()
}

fn indices(given: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let given = values::<i64>(given, "the indices")?;
    let index = |index: i64| Ok(usize::try_from(index)?);
    given.into_iter().map(index).collect()
}

/// What some spheres get, one value for each, or nothing.
struct OfSpheres {
    groups: Vec<u32>,
    bodies: Vec<Option<u32>>,
    restitutions: Vec<f64>,
}

impl OfSpheres {
    fn new(given: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut new = Self {
            groups: Vec::new(),
            bodies: Vec::new(),
            restitutions: Vec::new(),
        };
        for (name, value) in given {
            match &*name.extract::<String>()? {
                "groups" => new.groups = values(&value, "groups")?,
                "bodies" => new.bodies = bodies(value.cast()?)?,
                _ => new.restitutions = values(&value, "restitution")?,
            }
        }
        Ok(new)
    }

    fn set(
        &self,
        simulation: &mut carom::Simulation,
        spheres: &[usize],
    ) -> Result<(), carom::Error> {
        let each = || spheres.iter().copied();
        // An error, before anything is changed.
        let mut restitutions = each().zip(self.restitutions.iter().copied());
        if let Some((sphere, wrong)) = restitutions.find(|(_, e)| !(0.0..=1.0).contains(e)) {
            simulation.set_restitution_of(sphere, wrong)?;
        }
        for (sphere, &groups) in each().zip(&self.groups) {
            simulation.set_groups(sphere, groups)?;
        }
        for (sphere, &body) in each().zip(&self.bodies) {
            simulation.set_body(sphere, body)?;
        }
        for (sphere, &restitution) in each().zip(&self.restitutions) {
            simulation.set_restitution_of(sphere, restitution)?;
        }
        Ok(())
    }
}

impl Simulation {
    fn of(simulation: carom::Simulation) -> Self {
        let domain = simulation.domain();
        let domain =
            (!domain.is_open()).then(|| (domain.origin(), domain.edges(), domain.periodic()));
        Self {
            domain,
            inner: Kept::new(Inner {
                simulation,
                version: 1,
            }),
        }
    }

    /// Does something with the simulation, on the threads of the pool.
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut carom::Simulation) -> R + Send,
    ) -> PyResult<R> {
        let workers = Workers::new(py)?;
        let done = py.detach(|| {
            self.inner
                .with(|inner| workers.run(|| work(&mut inner.simulation)))
        });
        Ok(done?)
    }

    /// Changes the simulation.
    fn change<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut carom::Simulation) -> Result<R, carom::Error> + Send,
    ) -> PyResult<R> {
        let workers = Workers::new(py)?;
        let done = py.detach(|| {
            self.inner.with(|inner| {
                inner.version += 1;
                workers.run(|| work(&mut inner.simulation))
            })
        });
        done?.map_err(of_carom)
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
        Ok(Self::of(made.map_err(of_carom)?))
    }

    /// Returns a copy, which goes on with the same bytes.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        self.with(py, |simulation| simulation.clone()).map(Self::of)
    }

    /// Returns the simulation as bytes.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let written = self.with(py, |simulation| written().serialize(simulation))?;
        Ok(PyBytes::new(
            py,
            &written.map_err(|error| of_snapshot(&error))?,
        ))
    }

    /// Returns the simulation of bytes that [`snapshot`](Self::snapshot) returned.
    #[staticmethod]
    fn of_snapshot(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let workers = Workers::new(py)?;
        let read = py.detach(|| workers.run(|| written().deserialize(bytes)));
        read.map(Self::of).map_err(|error| of_snapshot(&error))
    }

    /// The domain, whose numbers are float32.
    #[getter]
    fn domain(&self) -> Option<GivenDomain> {
        self.domain
    }

    #[getter]
    fn gravity(&self, py: Python<'_>) -> PyResult<[f64; 3]> {
        self.with(py, |simulation| simulation.gravity())
    }

    #[getter]
    fn time(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |simulation| simulation.time())
    }

    #[getter]
    fn kinetic_energy(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |simulation| simulation.kinetic_energy())
    }

    /// Returns the version of the state, and an array of N × 8 numbers: centre, velocity, radius, mass. The array is left
    /// out for the version that is known.
    fn state(&self, py: Python<'_>, known: u64) -> PyResult<(u64, Option<Py<PyAny>>)> {
        let workers = Workers::new(py)?;
        let (version, state) = py.detach(|| {
            self.inner.with(|inner| {
                let state = (inner.version != known).then(|| {
                    workers.run(|| {
                        gather(inner.simulation.spheres(), |sphere| {
                            let ([x, y, z], [u, v, w]) = (sphere.center, sphere.velocity);
                            [x, y, z, u, v, w, sphere.radius, sphere.mass]
                        })
                    })
                });
                (inner.version, state)
            })
        })?;
        let state = state.transpose()?.map(|state| rows(py, state));
        Ok((version, state.transpose()?))
    }

    fn unwrapped(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let centers = self.with(py, |simulation| {
            let center = |k| simulation.unwrapped_center(k).unwrap_or_default();
            gather_indexed(simulation.spheres(), |k, _| center(k))
        })?;
        rows(py, centers?)
    }

    fn removed(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let removed = self.with(py, |simulation| {
            gather_indexed(simulation.spheres(), |k, _| simulation.is_removed(k))
        })?;
        Ok(array(py, removed?))
    }

    /// Replaces a column of all spheres: `center`, `velocity`, `radius` or `mass`.
    fn edit(&self, py: Python<'_>, name: &str, column: &Bound<'_, PyAny>) -> PyResult<()> {
        let (mut vectors, mut numbers) = (Vec::new(), Vec::new());
        match column.cast::<PyArray2<f64>>() {
            Ok(column) => copy_rows(column, &mut vectors, name)?,
            Err(_) => copy(column.cast::<PyArray1<f64>>()?, &mut numbers, name)?,
        }
        self.change(py, |simulation| {
            simulation.edit(|spheres| {
                for (sphere, new) in spheres.iter_mut().zip(vectors) {
                    match name {
                        "center" => sphere.center = new,
                        _ => sphere.velocity = new,
                    }
                }
                for (sphere, new) in spheres.iter_mut().zip(numbers) {
                    match name {
                        "radius" => sphere.radius = new,
                        _ => sphere.mass = new,
                    }
                }
            })
        })
    }

    /// Puts a sphere back. Its radius and its mass stay, unless others are given.
    #[pyo3(signature = (sphere, center, velocity, radius, mass))]
    fn restore(
        &self,
        py: Python<'_>,
        sphere: usize,
        center: [f64; 3],
        velocity: [f64; 3],
        radius: Option<f64>,
        mass: Option<f64>,
    ) -> PyResult<()> {
        self.change(py, |simulation| {
            let old = simulation.spheres().get(sphere).copied();
            let (old_radius, old_mass) = old.map_or((0.0, 1.0), |old| (old.radius, old.mass));
            let new = HardSphere::new(center, radius.unwrap_or(old_radius)).with_velocity(velocity);
            simulation.restore(sphere, new.with_mass(mass.unwrap_or(old_mass)))
        })
    }

    /// Adds spheres, all or none, and returns their indices. `given` has the names that [`of_spheres`](Self::of_spheres)
    /// takes.
    fn add(
        &self,
        py: Python<'_>,
        spheres: GivenSpheres<'_>,
        given: &Bound<'_, PyDict>,
    ) -> PyResult<Py<PyAny>> {
        let spheres = spheres.spheres()?;
        let given = OfSpheres::new(given)?;
        let added = self.change(py, |simulation| {
            // Their indices are those of the rows here.
            let check = SimulationOptions::new()
                .with_restitutions(given.restitutions.clone(), Combine::Average);
            carom::Simulation::new(spheres.clone(), check)?;
            let mut added = Vec::new();
            for sphere in spheres {
                match simulation.add(sphere) {
                    Ok(index) => added.push(index as usize),
                    Err(error) => {
                        for index in added {
                            simulation.remove(index)?;
                        }
                        return Err(error);
                    }
                }
            }
            given.set(simulation, &added)?;
            Ok(added)
        })?;
        let index = |&index: &usize| i64::try_from(index).unwrap_or(i64::MAX);
        Ok(array(py, gather(&added, index)?))
    }

    /// Removes spheres, all or none. No index is there twice.
    fn remove(&self, py: Python<'_>, spheres: &Bound<'_, PyAny>) -> PyResult<()> {
        let spheres = indices(spheres)?;
        self.change(py, |simulation| {
            let is_present = |&index: &usize| {
                index < simulation.spheres().len() && !simulation.is_removed(index)
            };
            if let Some(absent) = spheres.iter().copied().find(|index| !is_present(index)) {
                return simulation.remove(absent).map(drop);
            }
            let mut all = spheres.into_iter();
            all.try_for_each(|sphere| simulation.remove(sphere).map(drop))
        })
    }

    /// Sets `groups`, `bodies` or `restitutions` of some spheres, which are present.
    fn of_spheres(
        &self,
        py: Python<'_>,
        spheres: &Bound<'_, PyAny>,
        given: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        let spheres = indices(spheres)?;
        let given = OfSpheres::new(given)?;
        self.change(py, |simulation| given.set(simulation, &spheres))
    }

    /// Sets a number for the whole simulation.
    fn set(&self, py: Python<'_>, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if name == "gravity" {
            let gravity = value.extract::<[f64; 3]>()?;
            return self.change(py, |simulation| simulation.set_gravity(gravity));
        }
        let value = value.extract::<f64>()?;
        self.change(py, |simulation| match name {
            "restitution" => simulation.set_restitution(value),
            "wall_restitution" => simulation.set_wall_restitution(value),
            _ => simulation.set_contact_time(value),
        })
    }

    /// Returns the walls but for meshes, where they are.
    fn walls(&self, py: Python<'_>) -> PyResult<Vec<Option<Parts>>> {
        self.with(py, |simulation| {
            simulation.walls().simple().iter().map(parts).collect()
        })
    }

    /// Returns the meshes, of which the package knows the collision groups.
    fn meshes(&self, py: Python<'_>, groups: Vec<u32>) -> PyResult<Vec<Mesh>> {
        let walls = self.with(py, |simulation| simulation.walls())?;
        let meshes = walls.meshes().iter().zip(groups);
        let made = meshes.map(|(mesh, groups)| Mesh::of_simulation(mesh, groups));
        made.collect::<Result<_, _>>().map_err(of_carom)
    }

    fn set_walls(&self, py: Python<'_>, walls: &Walls) -> PyResult<()> {
        let new = walls.rounded()?;
        self.change(py, |simulation| {
            simulation.edit_walls(|walls| walls.clone_from(&new))
        })
    }

    fn enable_wall(&self, py: Python<'_>, wall: usize, enabled: bool) -> PyResult<()> {
        self.change(py, |simulation| simulation.set_wall_enabled(wall, enabled))
    }

    fn separate(&self, py: Python<'_>, passes: u32) -> PyResult<u32> {
        self.change(py, |simulation| simulation.separate(passes))
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
        let stepper = current().id();
        let go_on = || goes_on.load(Ordering::Acquire) && !must_end(stepper);
        let answer = |meeting: &Encounter| {
            let (Some(rule), true) = (&rule, go_on()) else {
                return Response::Bounce;
            };
            let answer = Python::try_attach(|py| in_callback(|| ask(py, rule, meeting)));
            answer
                .unwrap_or(Ok(Response::Bounce))
                .unwrap_or_else(|error| {
                    end(error);
                    Response::Bounce
                })
        };
        let mut result = None;
        let on_its_way = OnItsWay::new(py)?;
        py.detach(|| {
            let _on_its_way = on_its_way;
            self.inner.with(|inner| {
                inner.version += 1;
                let simulation = &mut inner.simulation;
                let (done, is_done) = channel::<()>();
                let work = || {
                    let answer: &(dyn Fn(&Encounter) -> Response + Sync) = &answer;
                    let answer = rule.as_ref().map(|_| answer);
                    result = Some(simulation.step_while(duration, answer, &go_on));
                    drop(done);
                };
                workers.run_beside(work, || {
                    while let Err(RecvTimeoutError::Timeout) = is_done.recv_timeout(PATIENCE) {
                        let signals = |py: Python<'_>| in_callback(|| py.check_signals());
                        if go_on()
                            && let Some(Err(error)) = Python::try_attach(signals)
                        {
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
        report(py, &workers, &done.map_err(of_carom)?)
    }
}

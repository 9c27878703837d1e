//! Reads the files of the command-line tool.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

use carom::{Domain, HardSphere};
use carom_formats::read::{
    Format, Frames as Selected, Input, Radii, ReadOptions, Separator, Type, World, Worlds,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{array, gather, rows};
use crate::errors::{Error, of_formats, of_tool};
use crate::pool::Workers;
use crate::set::GivenDomain;

/// The frames of a file, one after the other.
#[pyclass(frozen)]
pub(crate) struct Frames(Mutex<Worlds<'static>>);

fn format(name: &str) -> PyResult<Format> {
    Ok(match name {
        "csv" => Format::Csv,
        "lammps" => Format::Lammps,
        "lammps-data" => Format::LammpsData,
        "xyz" => Format::Xyz,
        "npy" => Format::Npy,
        "npz" => Format::Npz,
        _ => {
            return Err(PyValueError::new_err(format!(
                "the format is {name:?}, but must be \"csv\", \"lammps\", \"lammps-data\", \"xyz\", \"npy\" or \"npz\""
            )));
        }
    })
}

fn separator(name: &str) -> PyResult<Separator> {
    Ok(match name {
        "," | "comma" => Separator::Comma,
        ";" | "semicolon" => Separator::Semicolon,
        "\t" | "tab" => Separator::Tab,
        " " | "space" => Separator::Space,
        _ => {
            return Err(PyValueError::new_err(format!(
                "the separator is {name:?}, but must be \"comma\", \"semicolon\", \"tab\" or \"space\""
            )));
        }
    })
}

/// Opens the files of a series. `options` has what the package does not leave out.
#[pyfunction]
pub(crate) fn read(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    frames: &str,
    options: &Bound<'_, PyDict>,
) -> PyResult<Frames> {
    let text = |name: &str| -> PyResult<Option<String>> {
        options
            .get_item(name)?
            .map(|value| value.extract())
            .transpose()
    };
    let is = |name: &str| -> PyResult<bool> {
        let value = options.get_item(name)?;
        value.map_or(Ok(false), |value| value.extract())
    };
    let mut given = ReadOptions {
        ids: is("ids")?,
        types: is("types")?,
        centers_only: is("centers_only")?,
        at_rest: is("at_rest")?,
        open: is("open")?,
        ..ReadOptions::default()
    };
    if let Some(radius) = options.get_item("radius")? {
        given.radii = Radii::Constant(radius.extract()?);
    }
    if let Some(radii) = options.get_item("radii")? {
        let radii: Vec<(String, f64)> = radii.extract()?;
        let mut by_type = BTreeMap::new();
        for (kind, radius) in radii {
            by_type.insert(kind.parse::<Type>().map_err(of_formats)?, radius);
        }
        given.radii = Radii::ByType(by_type);
    }
    if let Some(columns) = text("columns")? {
        given.columns = Some(columns.parse().map_err(of_formats)?);
    }
    if let Some(name) = text("separator")? {
        given.separator = Some(separator(&name)?);
    }
    if let Some(cell) = options.get_item("cell")? {
        let (origin, edges, periodic): GivenDomain = cell.extract()?;
        given.cell = Some(Domain::triclinic_f64(origin, edges).with_periodic(periodic));
    }
    if let Some(periodic) = options.get_item("periodic")? {
        given.periodic = Some(periodic.extract()?);
    }
    let form = text("format")?.map(|name| format(&name)).transpose()?;
    let frames: Selected = frames.parse().map_err(of_formats)?;
    let mut inputs: Vec<Input> = paths.iter().map(|path| Input::new(path, form)).collect();
    let worlds = py.detach(|| {
        let input = match inputs.pop() {
            Some(only) if inputs.is_empty() => only,
            last => Input::series(inputs.into_iter().chain(last)),
        };
        carom_formats::read::open(&input, frames, &given, &())
    });
    Ok(Frames(Mutex::new(worlds.map_err(of_formats)?)))
}

fn columns<T: numpy::Element + bytemuck::Pod>(
    py: Python<'_>,
    spheres: &[HardSphere],
    of: impl Fn(f64) -> T + Sync + Send,
) -> PyResult<Vec<Py<PyAny>>> {
    let workers = Workers::new(py)?;
    let (center, radius, velocity) = py.detach(|| {
        workers.run(|| -> PyResult<_> {
            Ok((
                gather(spheres, |sphere| sphere.center.map(&of))?,
                gather(spheres, |sphere| of(sphere.radius))?,
                gather(spheres, |sphere| sphere.velocity.map(&of))?,
            ))
        })
    })?;
    Ok(vec![
        rows(py, center)?,
        array(py, radius),
        rows(py, velocity)?,
    ])
}

fn world<'py>(py: Python<'py>, world: &World) -> PyResult<Bound<'py, PyDict>> {
    let to = PyDict::new(py);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the numbers of such a file are float32"
    )]
    let narrow = |x: f64| x as f32;
    let spheres = if world.float32 {
        columns(py, &world.spheres, narrow)?
    } else {
        columns(py, &world.spheres, |x| x)?
    };
    for (name, column) in ["center", "radius", "velocity"].into_iter().zip(spheres) {
        to.set_item(name, column)?;
    }
    to.set_item("ids", world.ids.clone().map(|ids| array(py, ids)))?;
    let types = world.types.as_ref();
    if world.has_type_names() {
        let names = types.map(|types| types.iter().map(Type::to_string).collect::<Vec<_>>());
        to.set_item("types", names)?;
    } else {
        let number = |kind: &Type| match kind {
            Type::Number(number) => i64::from(*number),
            _ => 0,
        };
        let numbers = types.map(|types| types.iter().map(number).collect::<Vec<i64>>());
        to.set_item("types", numbers.map(|numbers| array(py, numbers)))?;
    }
    let domain = world.domain.map(|d| (d.origin(), d.edges(), d.periodic()));
    to.set_item("domain", domain)?;
    to.set_item("frame", world.frame.map(|frame| frame.number))?;
    to.set_item("timestep", world.frame.and_then(|frame| frame.step))?;
    let notes = world.notes.iter().map(|note| of_tool(note));
    to.set_item("notes", notes.collect::<Vec<_>>())?;
    Ok(to)
}

#[pymethods]
impl Frames {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let next = py.detach(|| match self.0.lock() {
            Ok(mut worlds) => worlds.next().transpose().map_err(of_formats),
            Err(_) => Err(Error::new_err(
                "an earlier read failed; open the file again",
            )),
        })?;
        next.map(|read| world(py, &read)).transpose()
    }
}

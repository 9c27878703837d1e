//! The errors of carom as Python exceptions.

use std::error::Error as _;
use std::io;

use carom::ErrorKind;
use pyo3::create_exception;
use pyo3::exceptions::{
    PyFileNotFoundError, PyMemoryError, PyOSError, PyPermissionError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;

create_exception!(
    carom,
    Error,
    PyRuntimeError,
    "A step cannot be done: it exceeds a limit, or the GPU cannot be used. The message says what to do."
);

/// What the messages of the library call by its Rust name, and what Python calls it. Longer texts come first.
const IN_PYTHON: [(&str, &str); 13] = [
    (
        "create a new device, and a new `CollisionPipeline` and new `CollisionBuffers` on it, or create a new `Detector`",
        "make a new carom.Detector",
    ),
    (
        "use a `Detector` with `Backend::Cpu` or `Backend::Auto`",
        "use backend=\"cpu\" or \"auto\"",
    ),
    (
        "use a `Detector` with `Backend::Cpu`",
        "use backend=\"cpu\"",
    ),
    ("use `Backend::Cpu`", "use backend=\"cpu\""),
    (
        "try again on a new device",
        "try again with a new carom.Detector",
    ),
    (
        "`Options::with_max_candidates` or `BufferOptions::with_max_candidates`",
        "max_candidates of carom.Detector",
    ),
    ("`Options::with_max_pairs`", "max_pairs of carom.Detector"),
    (
        "`SimulationOptions::with_contact_time`",
        "contact_time of carom.Simulation",
    ),
    (
        "`SimulationOptions::with_max_impacts`",
        "max_impacts of carom.Simulation",
    ),
    (" (`Hits::with_images`)", ""),
    ("with `with_periodic`", "with periodic"),
    (
        "carom was built without its feature `gpu`; enable it in Cargo.toml, or ",
        "this package was built without the GPU backend; ",
    ),
    (" centers", " rows in center"),
];

/// The options of the command-line tool in messages of the readers, and what the function `carom.read` calls them.
const OPTIONS: [(&str, &str); 18] = [
    (
        "--format csv, lammps, lammps-data, xyz, npy or npz",
        "format=\"csv\", \"lammps\", \"lammps-data\", \"xyz\", \"npy\" or \"npz\"",
    ),
    ("--format ", "format="),
    ("--format", "format="),
    ("--radius-by-type", "radius={type: …}"),
    ("--radius", "radius=…"),
    (
        "--columns x=NAME,y=NAME,z=NAME",
        "columns={\"x\": NAME, \"y\": NAME, \"z\": NAME}",
    ),
    ("--columns ", "columns="),
    ("--columns", "columns="),
    ("--separator ", "separator="),
    ("--separator", "separator="),
    ("--at-rest", "at_rest=True"),
    ("--frame", "frame="),
    ("--ids", "ids=True"),
    ("--types", "types=True"),
    ("--open", "open=True"),
    ("--periodic ", "periodic="),
    ("--periodic", "periodic="),
    ("--box", "box="),
];

/// Returns the exception for an error of the library.
pub(crate) fn of_carom(error: carom::Error) -> PyErr {
    let mut text = error.to_string();
    for (rust, python) in IN_PYTHON {
        text = text.replace(rust, python);
    }
    match (&error, error.kind()) {
        (carom::Error::OutOfMemory { .. }, _) => PyMemoryError::new_err(text),
        (_, ErrorKind::Input | ErrorKind::Misuse) => PyValueError::new_err(text),
        _ => Error::new_err(text),
    }
}

/// Returns the exception for an error of the readers.
pub(crate) fn of_formats(error: carom_formats::Error) -> PyErr {
    let mut text = error.to_string();
    let mut io_kind = None;
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        if let Some(error) = cause.downcast_ref::<io::Error>() {
            io_kind = Some(error.kind());
        }
        source = cause.source();
    }
    for (tool, python) in OPTIONS {
        text = text.replace(tool, python);
    }
    match (error.kind(), io_kind) {
        (carom_formats::ErrorKind::Io, Some(io::ErrorKind::NotFound)) => {
            PyFileNotFoundError::new_err(text)
        }
        (carom_formats::ErrorKind::Io, Some(io::ErrorKind::PermissionDenied)) => {
            PyPermissionError::new_err(text)
        }
        (carom_formats::ErrorKind::Io, _) => PyOSError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// Returns the exception for memory that could not be allocated.
pub(crate) fn out_of_memory(items: usize, size: usize, what: &str) -> PyErr {
    let bytes = items.saturating_mul(size);
    PyMemoryError::new_err(format!(
        "out of memory: {bytes} bytes for {what} could not be allocated; use fewer spheres per step"
    ))
}

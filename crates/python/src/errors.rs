//! The errors of carom as Python exceptions.

use std::error::Error as _;
use std::io;

use carom::ErrorKind;
use pyo3::create_exception;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    carom,
    Error,
    PyRuntimeError,
    "A step cannot be done: it exceeds a limit, or the GPU cannot be used. The message says what to do."
);

/// What the messages of the library call by its Rust name, and what Python calls it. Longer texts come first.
const IN_PYTHON: [(&str, &str); 16] = [
    (
        "request a device with a higher limit (`wgpu::DeviceDescriptor::required_limits`, up to the limits of its adapter), ",
        "",
    ),
    (", or a `Simulation` instead of `SimulationBuffers`", ""),
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
    ("the function passed to `step_with` gives", "the rule gives"),
];

/// The options of the command-line tool in messages of the readers, and what the function `carom.read` calls them.
const OPTIONS: [(&str, &str); 25] = [
    (
        "--format csv, lammps, lammps-data, xyz, npy or npz",
        "format=\"csv\", \"lammps\", \"lammps-data\", \"xyz\", \"npy\" or \"npz\"",
    ),
    ("--format ", "format="),
    ("--format", "format="),
    (
        "--periodic (ab, if the world is open along z)",
        "periodic=… (True, True, False, if the world is open along z)",
    ),
    (
        "--periodic (ab or abc)",
        "periodic=(True, True, False) or (True, True, True)",
    ),
    ("--periodic ab", "periodic=(True, True, False)"),
    ("--radius-by-type", "radius={type: …}"),
    ("=RADIUS", ": RADIUS"),
    ("--dt", "dt"),
    (
        "give the mesh of a wall with --mesh",
        "pass the mesh to carom.Mesh",
    ),
    ("--mesh", "carom.Mesh"),
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

/// Whether a word behind an option is its value, and not prose.
type IsValue = fn(&str) -> bool;

/// Options whose values Python writes in quotes.
const QUOTED: [(&str, IsValue); 3] = [
    ("--columns ", |word| word.contains([',', '=', '_'])),
    ("--separator ", |word| {
        ["comma", "semicolon", "space", "tab"].contains(&word)
    }),
    ("--format ", |word| {
        ["csv", "lammps", "lammps-data", "npy", "npz", "xyz"].contains(&word)
    }),
];

/// Returns a message of the readers in which the options of the tool are the arguments of `carom.read`.
pub(crate) fn of_tool(text: &str) -> String {
    let mut text = text.to_owned();
    // The list of all formats is one of the options, and no single value.
    for (tool, python) in &OPTIONS[..1] {
        text = text.replace(tool, python);
    }
    for (option, is_value) in QUOTED {
        let mut done = String::new();
        let mut rest = &*text;
        while let Some((before, behind)) = rest.split_once(option) {
            let end = behind.find([' ', ';', '`', '\n']).unwrap_or(behind.len());
            // A comma at the end belongs to the sentence.
            let (word, after) = behind.split_at(behind[..end].trim_end_matches(',').len());
            done += before;
            if is_value(word) && word != "x=NAME,y=NAME,z=NAME" {
                let word = word.trim_matches('"');
                done += &format!("{}=\"{word}\"", &option[2..option.len() - 1]);
                rest = after;
            } else {
                done += option;
                rest = behind;
            }
        }
        done += rest;
        text = done;
    }
    if let Some((before, behind)) = text.split_once("--frames :") {
        let end = behind.find(|x: char| !x.is_ascii_digit());
        let (number, after) = behind.split_at(end.unwrap_or(behind.len()));
        text = format!("{before}frame=slice({number}){after}");
    }
    for (tool, python) in OPTIONS {
        text = text.replace(tool, python);
    }
    text
}

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
    let mut number = None;
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        if let Some(error) = cause.downcast_ref::<io::Error>() {
            number = error.raw_os_error();
        }
        source = cause.source();
    }
    let text = of_tool(&text);
    match (error.kind(), number) {
        // Python chooses the class by the number, such as FileNotFoundError.
        (carom_formats::ErrorKind::Io, Some(number)) => PyOSError::new_err((number, text)),
        (carom_formats::ErrorKind::Io, None) => PyOSError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// Returns the exception for bytes that are no simulation.
pub(crate) fn of_snapshot(error: &bincode::ErrorKind) -> PyErr {
    PyValueError::new_err(match error {
        bincode::ErrorKind::Custom(text) if text.starts_with("the snapshot") => text.clone(),
        _ => format!(
            "the snapshot of a simulation is invalid: {error}; it has been changed or cut off; take another copy"
        ),
    })
}

/// Returns the exception for memory that could not be allocated.
pub(crate) fn out_of_memory(items: usize, size: usize, what: &str) -> PyErr {
    let bytes = items.saturating_mul(size);
    PyMemoryError::new_err(format!(
        "out of memory: {bytes} bytes for {what} could not be allocated; use fewer spheres per step"
    ))
}

/// Why a value cannot be used.
pub(crate) enum Unusable {
    /// Another thread used it while the process was forked.
    Forked,
    /// A call failed while it used the value.
    Broken,
    /// The call came in the middle of a step.
    InCallback,
}

impl From<Unusable> for PyErr {
    fn from(why: Unusable) -> Self {
        Error::new_err(match why {
            Unusable::Forked => {
                "a thread used this object while the process was forked; make a new object in the child process"
            }
            Unusable::Broken => "an earlier call failed inside carom; make a new object",
            Unusable::InCallback => {
                "carom was called from a rule, or from the handler of a signal during a step, when no object can be used; \
                 keep what you need, and call carom after the step"
            }
        })
    }
}

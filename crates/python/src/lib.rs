//! The extension module `carom._carom`, on which the Python package `carom` is built. It takes NumPy arrays that the
//! package has brought into form, and returns arrays. The folder `python` has the package, which checks shapes, explains
//! itself and is what users see.
//!
//! - Arrays are copied while the interpreter is attached, and the search runs while it is detached.
//! - Each object has a lock, which is only taken while the interpreter is detached: see the module `kept`.
//! - Work on the CPU runs in a pool of threads that belongs to this process, also after a fork: see the module `pool`.

mod arrays;
mod detector;
mod errors;
mod found;
mod kept;
mod neighbors;
mod number;
mod pool;
mod read;
mod set;
mod simulation;
mod verify;
mod walls;

use pyo3::prelude::*;

/// The functions and classes for the package `carom`.
#[pymodule]
mod _carom {
    #[pymodule_export]
    use crate::detector::{Detector, check};
    #[pymodule_export]
    use crate::errors::Error;
    #[pymodule_export]
    use crate::found::Found;
    #[pymodule_export]
    use crate::neighbors::Neighbors;
    #[pymodule_export]
    use crate::pool::{set_threads, threads};
    #[pymodule_export]
    use crate::read::{Frames, read};
    #[pymodule_export]
    use crate::simulation::{Simulation, close};
    #[pymodule_export]
    use crate::verify::{verify, verify_walls};
    #[pymodule_export]
    use crate::walls::{Mesh, Walls};
}

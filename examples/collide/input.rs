//! Opens the input and reads it by its format.

use std::fs::File;
use std::io;
use std::path::Path;

use anyhow::{Context, bail};

use crate::args::Input;
use crate::world::World;
use crate::{csv, lammps};

/// Reads all spheres of the input.
pub(crate) fn read(input: &Input) -> anyhow::Result<World> {
    match input {
        Input::Stdin => csv::read("standard input", io::stdin().lock()),
        Input::Csv(path) => csv::read(&path.display().to_string(), open(path)?),
        Input::Lammps(path) => lammps::read(&path.display().to_string(), open(path)?),
    }
}

fn open(path: &Path) -> anyhow::Result<File> {
    // Opening a directory succeeds on Unix; only reading it would fail.
    if path.is_dir() {
        bail!("{} is a directory, not a file", path.display());
    }
    File::open(path).with_context(|| format!("cannot open {}", path.display()))
}

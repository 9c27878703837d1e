//! Name and format of an input file.

use std::path::{Path, PathBuf};

use crate::read::number;

/// An input with spheres: a file or standard input, and its format.
#[derive(Clone, Debug)]
pub struct Input {
    /// Name of the input in messages.
    pub name: String,
    /// Path of the input file, or `None` for standard input.
    pub path: Option<PathBuf>,
    /// File format of the input.
    pub format: Format,
}

/// File formats from which spheres are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// CSV with a header line.
    Csv,
    /// A LAMMPS text dump.
    Lammps,
    /// XYZ or extended XYZ.
    Xyz,
    /// A NumPy array (`.npy`).
    Npy,
    /// An archive of named NumPy arrays (`.npz`).
    Npz,
}

impl Input {
    /// Describes the input at a path, without opening the file. The path `-` stands for standard input. If
    /// `format` is `None`, the file name determines the format, and standard input is CSV.
    ///
    /// # Errors
    /// Returns a message if `format` is `None` and the file name does not imply a file format.
    pub fn new(path: &Path, format: Option<Format>) -> Result<Self, String> {
        if path.as_os_str() == "-" {
            return Ok(Self {
                name: "standard input".to_owned(),
                path: None,
                format: format.unwrap_or(Format::Csv),
            });
        }
        let name = number::printable(&path.display().to_string(), 4096);
        let format = format.or_else(|| Format::from_name(path)).ok_or_else(|| {
            format!(
                "the name {name} does not tell the format: choose the format with --format csv, \
                 lammps, xyz, npy or npz, or use one of the names *.csv, *.lammpstrj, *.dump, \
                 dump.*, *.xyz, *.extxyz, *.npy and *.npz (all but *.npz may be followed by .gz)"
            )
        })?;
        Ok(Self {
            name,
            path: Some(path.to_owned()),
            format,
        })
    }
}

impl Format {
    /// Returns whether a file of this format has frames.
    pub fn has_frames(self) -> bool {
        matches!(self, Self::Lammps | Self::Xyz)
    }

    /// Returns the file format that a file name implies.
    pub fn from_name(path: &Path) -> Option<Self> {
        let packed = extension(path) == "gz";
        let plain = if packed {
            path.with_extension("")
        } else {
            path.to_owned()
        };
        match extension(&plain).as_str() {
            "csv" => Some(Self::Csv),
            "lammpstrj" | "dump" => Some(Self::Lammps),
            "xyz" | "extxyz" => Some(Self::Xyz),
            "npy" => Some(Self::Npy),
            "npz" if !packed => Some(Self::Npz),
            // A file named `dump.*` counts as a LAMMPS dump, as in LAMMPS's own examples.
            _ => plain
                .file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("dump."))
                .then_some(Self::Lammps),
        }
    }
}

pub(crate) fn extension(path: &Path) -> String {
    path.extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_imply_formats() {
        for (name, format) in [
            ("a.csv", Some(Format::Csv)),
            ("a.CSV.gz", Some(Format::Csv)),
            ("a.b.lammpstrj", Some(Format::Lammps)),
            ("pour.dump.gz", Some(Format::Lammps)),
            ("dump.pour", Some(Format::Lammps)),
            ("runs/dump.pour.1000", Some(Format::Lammps)),
            ("dump.pour.gz", Some(Format::Lammps)),
            ("melt.xyz", Some(Format::Xyz)),
            ("melt.extxyz.gz", Some(Format::Xyz)),
            ("a.npy.gz", Some(Format::Npy)),
            ("a.npz", Some(Format::Npz)),
            ("a.npz.gz", None),
            ("dump", None),
            ("pour.txt", None),
            ("csv", None),
        ] {
            assert_eq!(Format::from_name(Path::new(name)), format, "{name}");
        }
    }
}

//! Where the spheres come from, and in which format.

use std::path::{Path, PathBuf};

use crate::read::number;

/// Where the spheres come from, and in which format.
#[derive(Clone, Debug)]
pub struct Input {
    /// What it is called in messages.
    pub name: String,
    /// The file; without it, standard input.
    pub path: Option<PathBuf>,
    /// How it is written.
    pub format: Format,
}

/// A format of files with spheres.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A header and rows.
    Csv,
    /// A LAMMPS text dump.
    Lammps,
    /// A NumPy array.
    Npy,
    /// Named NumPy arrays.
    Npz,
}

impl Input {
    /// A file, or with `-` standard input. Without a format, the file's name tells; standard input
    /// is CSV.
    ///
    /// # Errors
    /// A message for a name that tells of no format.
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
                "the name {name} does not tell the format: choose one with --format csv, lammps, npy \
                 or npz (names that tell: *.csv, *.lammpstrj, *.dump, dump.*, *.npy, *.npz; all but \
                 .npz also with .gz after them)"
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
    /// The format that the name of a file tells.
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
            "npy" => Some(Self::Npy),
            "npz" if !packed => Some(Self::Npz),
            // As LAMMPS' own examples name their dumps.
            _ => plain
                .file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("dump."))
                .then_some(Self::Lammps),
        }
    }
}

/// What a name ends in, in small letters.
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
    fn names_tell_formats() {
        for (name, format) in [
            ("a.csv", Some(Format::Csv)),
            ("a.CSV.gz", Some(Format::Csv)),
            ("a.b.lammpstrj", Some(Format::Lammps)),
            ("pour.dump.gz", Some(Format::Lammps)),
            ("dump.pour", Some(Format::Lammps)),
            ("runs/dump.pour.1000", Some(Format::Lammps)),
            ("dump.pour.gz", Some(Format::Lammps)),
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

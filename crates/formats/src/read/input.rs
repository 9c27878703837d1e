//! Name and format of an input file.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::read::number;

/// An input with spheres: a file, the bytes of a file, or standard input; and its format.
#[derive(Clone, Debug)]
pub struct Input {
    name: String,
    format: Format,
    pub(crate) content: Content,
}

#[derive(Clone, Debug)]
pub(crate) enum Content {
    Path(PathBuf),
    StandardInput,
    Bytes(Bytes),
}

/// The bytes of a file. Clones share them.
#[derive(Clone)]
pub(crate) struct Bytes(Arc<Vec<u8>>);

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Arc::new(bytes))
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

/// File formats from which spheres are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    /// Returns an error if `format` is `None` and the file name does not imply a file format.
    pub fn new(path: impl AsRef<Path>, format: Option<Format>) -> Result<Self> {
        let path = path.as_ref();
        if path.as_os_str() == "-" {
            return Ok(Self {
                name: "standard input".to_owned(),
                format: format.unwrap_or(Format::Csv),
                content: Content::StandardInput,
            });
        }
        Self::named(path, format, Content::Path(path.to_owned()))
    }

    /// Describes an input of which the program has the bytes: for example, those of a file that was dropped on a
    /// page in a browser. `name` is the name that the file has or would have. If `format` is `None`, this name
    /// determines the format. As in a file, the bytes may be compressed with gzip.
    ///
    /// ```
    /// use carom_formats::read::{Format, Input};
    ///
    /// let input = Input::from_bytes("melt.xyz", "1\n\nAr 0 0 0\n", None)?;
    /// assert_eq!(input.format(), Format::Xyz);
    /// # Ok::<(), carom_formats::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if `format` is `None` and the name does not imply a file format.
    pub fn from_bytes(
        name: &str,
        bytes: impl Into<Vec<u8>>,
        format: Option<Format>,
    ) -> Result<Self> {
        let content = Content::Bytes(bytes.into().into());
        Self::named(Path::new(name), format, content)
    }

    fn named(path: &Path, format: Option<Format>, content: Content) -> Result<Self> {
        let name = number::printable(&path.display().to_string(), 4096);
        let format = format.or_else(|| Format::from_name(path)).ok_or_else(|| {
            Error::new(format!(
                "the name {name} does not tell the format: choose the format with --format csv, \
                 lammps, xyz, npy or npz, or use one of the names *.csv, *.lammpstrj, *.dump, \
                 dump.*, *.xyz, *.extxyz, *.npy and *.npz (all but *.npz may be followed by .gz)"
            ))
        })?;
        Ok(Self {
            name,
            format,
            content,
        })
    }

    /// Returns the name of the input in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the file format of the input.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the path of the input file, or `None` for bytes and for standard input.
    pub fn path(&self) -> Option<&Path> {
        match &self.content {
            Content::Path(path) => Some(path),
            Content::StandardInput | Content::Bytes(_) => None,
        }
    }
}

impl Format {
    /// Returns whether a file of this format has frames.
    pub fn has_frames(self) -> bool {
        matches!(self, Self::Lammps | Self::Xyz)
    }

    /// Returns the file format that a file name implies.
    pub fn from_name(path: impl AsRef<Path>) -> Option<Self> {
        let path = path.as_ref();
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
            assert_eq!(Format::from_name(name), format, "{name}");
        }
    }
}

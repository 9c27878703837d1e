//! Name and format of an input file.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, ErrorKind};
use crate::read::number;

/// An input with spheres: a file, the bytes of a file, standard input, or a series of inputs; and its format.
#[derive(Clone, Debug)]
pub struct Input {
    name: String,
    /// The format that the caller chose.
    format: Option<Format>,
    /// The format that the name implies.
    implied: Option<Format>,
    pub(crate) content: Content,
}

#[derive(Clone, Debug)]
pub(crate) enum Content {
    Path(PathBuf),
    StandardInput,
    Bytes(Bytes),
    Series(Vec<Input>),
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
    /// A LAMMPS data file, as `read_data` reads and `write_data` writes it.
    LammpsData,
    /// XYZ or extended XYZ.
    Xyz,
    /// A NumPy array (`.npy`).
    Npy,
    /// An archive of named NumPy arrays (`.npz`).
    Npz,
}

impl Input {
    /// Describes the input at a path, without opening the file. The path `-` stands for standard input. If
    /// `format` is `None`, the contents determine the format, and if they do not tell it, the file name does.
    pub fn new(path: impl AsRef<Path>, format: Option<Format>) -> Self {
        let path = path.as_ref();
        if path.as_os_str() == "-" {
            return Self {
                name: "standard input".to_owned(),
                format,
                implied: None,
                content: Content::StandardInput,
            };
        }
        Self::named(path, format, Content::Path(path.to_owned()))
    }

    /// Describes an input of which the program has the bytes: for example, those of a file that was dropped on a
    /// page in a browser. `name` is the name that the file has or would have. If `format` is `None`, the bytes
    /// determine the format, and if they do not tell it, the name does. As in a file, the bytes may be compressed.
    ///
    /// ```
    /// use carom_formats::read::{Format, Input};
    ///
    /// let input = Input::from_bytes("melt.xyz", "1\n\nAr 0 0 0\n", None);
    /// assert_eq!(input.format(), Some(Format::Xyz));
    /// ```
    pub fn from_bytes(name: &str, bytes: impl Into<Vec<u8>>, format: Option<Format>) -> Self {
        let content = Content::Bytes(bytes.into().into());
        Self::named(Path::new(name), format, content)
    }

    /// Describes a series of inputs, whose frames are numbered from the first input to the last. An input without
    /// frames counts as a frame.
    ///
    /// ```
    /// use carom_formats::read::{self, Frames, Input, ReadOptions};
    ///
    /// let series = Input::series([
    ///     Input::from_bytes("0.csv", "x,y,z,radius\n0,0,0,1\n", None),
    ///     Input::from_bytes("1.csv", "x,y,z,radius\n0,0,0,1\n5,0,0,1\n", None),
    /// ]);
    /// let worlds = read::open(&series, Frames::ALL, &ReadOptions::default(), &())?;
    /// let counts: Result<Vec<usize>, _> = worlds.map(|world| Ok(world?.spheres.len())).collect();
    /// assert_eq!(counts?, [1, 2]);
    /// # Ok::<(), carom_formats::Error>(())
    /// ```
    pub fn series(inputs: impl IntoIterator<Item = Self>) -> Self {
        let inputs: Vec<Self> = inputs.into_iter().collect();
        Self {
            name: format!("a series of {} files", inputs.len()),
            format: None,
            implied: None,
            content: Content::Series(inputs),
        }
    }

    fn named(path: &Path, format: Option<Format>, content: Content) -> Self {
        Self {
            name: number::shown_path(path),
            format,
            implied: Format::from_name(path),
            content,
        }
    }

    /// Returns the error for an input whose format is not known.
    pub(crate) fn unknown(&self) -> Error {
        Error::of(
            ErrorKind::Unsupported,
            format!(
                "neither the contents of {} nor its name tells the format: choose it with --format \
                 csv, lammps, lammps-data, xyz, npy or npz, or use one of the names *.csv, *.lammpstrj, *.dump, \
                 dump.*, *.xyz, *.extxyz, *.npy and *.npz (all but *.npz may be followed by .gz, \
                 .zst, .bz2 or .xz); a table of numbers without a header is read with --format csv --separator \
                 space --columns x,y,z,radius",
                self.name
            ),
        )
    }

    /// Returns the name of the input in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the format that the caller chose.
    pub(crate) fn chosen(&self) -> Option<Format> {
        self.format
    }

    /// Returns the file format that the caller chose or that the name implies, or `None` if only the contents tell it.
    pub fn format(&self) -> Option<Format> {
        self.format.or(self.implied)
    }

    /// Returns the paths of the input files: none for bytes and for standard input.
    pub fn paths(&self) -> Vec<&Path> {
        match &self.content {
            Content::Path(path) => vec![path],
            Content::StandardInput | Content::Bytes(_) => Vec::new(),
            Content::Series(inputs) => inputs.iter().flat_map(Self::paths).collect(),
        }
    }

    /// Returns whether the input may have several frames: it is a series, or its format may have frames.
    pub fn has_frames(&self) -> bool {
        matches!(self.content, Content::Series(_)) || self.format().is_none_or(Format::has_frames)
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
        let packed = ["gz", "zst", "bz2", "xz"].contains(&&*extension(path));
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
            ("dump.pour.zst", Some(Format::Lammps)),
            ("a.xyz.bz2", Some(Format::Xyz)),
            ("a.csv.XZ", Some(Format::Csv)),
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

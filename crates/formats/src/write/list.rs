//! Writes a list of colliding pairs frame by frame, to a file or to standard output.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use npyz::{DType, DTypeError, Field, NpyWriter, Serialize, TypeWrite, WriterBuilder};

use crate::read::extension;
use crate::write::columns::Columns;
use crate::write::npz::Npz;
use crate::write::output_file::OutputFile;
use crate::write::pairs::Pair;

/// File format of a list of colliding pairs.
#[derive(Clone, Copy, Debug)]
pub enum ListFormat {
    /// CSV with a header line.
    Csv,
    /// One NumPy array of records, with a field for each column of the list of pairs.
    Npy,
    /// A NumPy archive with one array for each column of the list of pairs.
    Npz,
}

/// Destination of a list of colliding pairs: a file or standard output.
#[derive(Clone, Debug)]
pub enum Target {
    /// Standard output, in CSV format.
    StandardOutput,
    /// An output file, and the format in which the list is written to it.
    File(PathBuf, ListFormat),
}

impl Target {
    /// Returns standard output for the path `-`, and otherwise a file with the format that the file name's
    /// extension implies.
    ///
    /// # Errors
    /// Returns a message if the path has none of the extensions `.csv`, `.npy` and `.npz`.
    pub fn from_path(path: PathBuf) -> Result<Self, &'static str> {
        if path.as_os_str() == "-" {
            return Ok(Self::StandardOutput);
        }
        let format = match extension(&path).as_str() {
            "csv" => ListFormat::Csv,
            "npy" => ListFormat::Npy,
            "npz" => ListFormat::Npz,
            _ => {
                return Err(
                    "the name must end in .csv, .npy or .npz, or be - for CSV on standard output",
                );
            }
        };
        Ok(Self::File(path, format))
    }

    /// Returns the path of the output file, or `None` for standard output.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::StandardOutput => None,
            Self::File(path, _) => Some(path),
        }
    }
}

/// A list of colliding pairs that is being written. An output file appears under its name only when
/// [`List::finish`] returns.
pub struct List {
    file: Option<OutputFile>,
    columns: Columns,
    rows: Rows,
}

enum Rows {
    Csv(Box<dyn Write>),
    Npy(Box<NpyWriter<Row, BufWriter<File>>>),
    Npz(Npz),
}

struct Row {
    columns: Columns,
    frame: u64,
    pair: Pair,
}

impl List {
    /// Creates an empty list of colliding pairs.
    ///
    /// # Errors
    /// Returns an error if the output file cannot be created.
    pub fn create(target: &Target, columns: Columns) -> anyhow::Result<Self> {
        let (path, format) = match target {
            Target::File(path, format) => (path, format),
            Target::StandardOutput => {
                let out = BufWriter::new(io::stdout().lock());
                let rows = Rows::csv(Box::new(out), columns).context(CANNOT_WRITE)?;
                return Ok(Self {
                    file: None,
                    columns,
                    rows,
                });
            }
        };
        let output = OutputFile::create(path)?;
        let out = BufWriter::new(output.file()?);
        let rows = match format {
            ListFormat::Csv => Rows::csv(Box::new(out), columns),
            ListFormat::Npy => Rows::npy(out, columns),
            ListFormat::Npz => Npz::create(out, columns).map(Rows::Npz),
        };
        let rows = rows.with_context(|| output.cannot_write())?;
        Ok(Self {
            file: Some(output),
            columns,
            rows,
        })
    }

    /// Appends the touching pairs of one frame of the input to the list.
    ///
    /// # Errors
    /// Returns an error if writing fails, for example because the disk is full or the output pipe is closed.
    pub fn append(&mut self, frame: u64, pairs: impl Iterator<Item = Pair>) -> anyhow::Result<()> {
        let written = self.rows.append(self.columns, frame, pairs);
        let what = || {
            let file = self.file.as_ref();
            file.map_or(CANNOT_WRITE.to_owned(), OutputFile::cannot_write)
        };
        written.with_context(what)
    }

    /// Completes the list of pairs, and gives the output file its name.
    ///
    /// # Errors
    /// Returns an error if writing fails, for example because the disk is full or the output pipe is closed.
    pub fn finish(self) -> anyhow::Result<()> {
        let Self { file, rows, .. } = self;
        match file {
            None => rows.finish().context(CANNOT_WRITE),
            Some(file) => {
                rows.finish().with_context(|| file.cannot_write())?;
                file.finish()
            }
        }
    }
}

const CANNOT_WRITE: &str = "cannot write to standard output";

impl Rows {
    fn csv(mut out: Box<dyn Write>, columns: Columns) -> io::Result<Self> {
        for (k, column) in columns.list().enumerate() {
            let comma = if k > 0 { "," } else { "" };
            write!(out, "{comma}{}", columns.name(column))?;
        }
        writeln!(out)?;
        Ok(Self::Csv(out))
    }

    fn npy(out: BufWriter<File>, columns: Columns) -> io::Result<Self> {
        let fields = columns.list().map(|column| {
            Ok(Field {
                name: columns.name(column).to_owned(),
                dtype: plain(columns.dtype(column))?,
            })
        });
        let dtype = DType::Record(fields.collect::<io::Result<_>>()?);
        let options = npyz::WriteOptions::new().dtype(dtype).writer(out);
        Ok(Self::Npy(Box::new(options.begin_1d()?)))
    }

    fn append(
        &mut self,
        columns: Columns,
        frame: u64,
        mut pairs: impl Iterator<Item = Pair>,
    ) -> io::Result<()> {
        match self {
            Self::Csv(out) => {
                for pair in pairs {
                    for (k, column) in columns.list().enumerate() {
                        let comma = if k > 0 { "," } else { "" };
                        write!(out, "{comma}{}", columns.value(column, frame, &pair))?;
                    }
                    writeln!(out)?;
                }
                Ok(())
            }
            Self::Npy(out) => out.extend(pairs.map(|pair| Row {
                columns,
                frame,
                pair,
            })),
            Self::Npz(arrays) => pairs.try_for_each(|pair| arrays.push(frame, &pair)),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Csv(mut out) => out.flush(),
            Self::Npy(out) => out.finish(),
            Self::Npz(arrays) => arrays.finish(),
        }
    }
}

pub(crate) fn plain(name: &str) -> io::Result<DType> {
    Ok(DType::Plain(name.parse().map_err(io::Error::other)?))
}

struct RowWriter;

impl Serialize for Row {
    type TypeWriter = RowWriter;

    fn writer(_: &DType) -> Result<RowWriter, DTypeError> {
        Ok(RowWriter)
    }
}

impl TypeWrite for RowWriter {
    type Value = Row;

    fn write_one<W: Write>(&self, mut out: W, row: &Row) -> io::Result<()> {
        for column in row.columns.list() {
            row.columns
                .value(column, row.frame, &row.pair)
                .write(&mut out)?;
        }
        Ok(())
    }
}

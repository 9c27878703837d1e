//! Writes a list of colliding pairs frame by frame, to a file, to standard output or to any writer.

use std::fmt;
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use npyz::{DType, DTypeError, Field, NpyWriter, Serialize, TypeWrite, WriterBuilder};

use crate::error::{Context, Error, Result};
use crate::read::extension;
use crate::write::columns::Columns;
use crate::write::npz::{Npz, Seekable, Wait, WriteSeek, plain};
use crate::write::output_file::OutputFile;
use crate::write::pairs::Pair;

/// File format of a list of colliding pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    /// Returns an error if the path has none of the extensions `.csv`, `.npy` and `.npz`.
    pub fn from_path(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        if path.as_os_str() == "-" {
            return Ok(Self::StandardOutput);
        }
        let format = match extension(&path).as_str() {
            "csv" => ListFormat::Csv,
            "npy" => ListFormat::Npy,
            "npz" => ListFormat::Npz,
            _ => {
                return Err(Error::new(
                    "the name must end in .csv, .npy or .npz, or be - for CSV on standard output",
                ));
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

/// A list of colliding pairs that is being written. It is complete when [`List::finish`] returns.
pub struct List<'a> {
    out: Out,
    columns: Columns,
    rows: Rows<'a>,
}

/// Where a list goes, for messages.
enum Out {
    StandardOutput,
    File(OutputFile),
    Writer,
}

enum Rows<'a> {
    Csv(Box<dyn Write + 'a>),
    Npy(Box<NpyWriter<Row, Seekable<'a>>>),
    Npz(Npz<'a>),
}

struct Row {
    columns: Columns,
    frame: u64,
    pair: Pair,
}

impl<'a> List<'a> {
    /// Creates an empty list of colliding pairs in a file or on standard output. The file appears under its
    /// name only when [`List::finish`] returns.
    ///
    /// # Errors
    /// Returns an error if the output file cannot be created.
    pub fn create(target: &Target, columns: Columns) -> Result<Self> {
        let (path, format) = match target {
            Target::File(path, format) => (path, format),
            Target::StandardOutput => {
                let out = BufWriter::new(io::stdout().lock());
                return Self::of(Out::StandardOutput, columns, Rows::csv(out, columns));
            }
        };
        let output = OutputFile::create(path)?;
        let file = output.file()?;
        let rows = Rows::new(file, *format, columns, Wait::InFiles);
        Self::of(Out::File(output), columns, rows)
    }

    /// Creates an empty list of colliding pairs that goes to a writer, which need not be buffered: for example,
    /// to a [`Cursor`](io::Cursor) over bytes in memory. The numbers of an `.npz` archive stay in memory until
    /// [`List::finish`].
    ///
    /// ```
    /// use carom_formats::write::{Columns, List, ListFormat, Pair};
    ///
    /// let mut bytes = std::io::Cursor::new(Vec::new());
    /// let mut list = List::to_writer(&mut bytes, ListFormat::Npy, Columns::default())?;
    /// list.append(0, [Pair { a: 3, b: 7, numbers: [0.25, 0.0, 0.0, 0.0], ..Pair::default() }])?;
    /// list.finish()?;
    /// assert!(bytes.into_inner().starts_with(b"\x93NUMPY"));
    /// # Ok::<(), carom_formats::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn to_writer(
        out: impl Write + Seek + 'a,
        format: ListFormat,
        columns: Columns,
    ) -> Result<Self> {
        let rows = Rows::new(out, format, columns, Wait::InMemory);
        Self::of(Out::Writer, columns, rows)
    }

    /// Creates an empty list of colliding pairs that goes to a writer as CSV. The writer need not be buffered,
    /// and need not seek.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn csv(out: impl Write + 'a, columns: Columns) -> Result<Self> {
        let rows = Rows::csv(BufWriter::new(out), columns);
        Self::of(Out::Writer, columns, rows)
    }

    fn of(out: Out, columns: Columns, rows: io::Result<Rows<'a>>) -> Result<Self> {
        let rows = rows.with_context(|| out.cannot_write())?;
        Ok(Self { out, columns, rows })
    }

    /// Appends the touching pairs of one frame of the input to the list. `frame` is the number of the frame. It
    /// is written if the list has a column for it.
    ///
    /// # Errors
    /// Returns an error if writing fails, for example because the disk is full or the output pipe is closed. The
    /// [`io::Error`] is the source of the error.
    pub fn append(&mut self, frame: u64, pairs: impl IntoIterator<Item = Pair>) -> Result<()> {
        let written = self.rows.append(self.columns, frame, pairs.into_iter());
        written.with_context(|| self.out.cannot_write())
    }

    /// Completes the list of pairs, and gives the output file its name.
    ///
    /// # Errors
    /// Returns an error if writing fails, for example because the disk is full or the output pipe is closed.
    pub fn finish(self) -> Result<()> {
        let Self { out, rows, .. } = self;
        rows.finish().with_context(|| out.cannot_write())?;
        match out {
            Out::File(file) => file.finish(),
            Out::StandardOutput | Out::Writer => Ok(()),
        }
    }
}

impl fmt::Debug for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List").finish_non_exhaustive()
    }
}

impl Out {
    fn cannot_write(&self) -> String {
        match self {
            Self::StandardOutput => "cannot write to standard output".to_owned(),
            Self::File(file) => file.cannot_write(),
            Self::Writer => "cannot write the list".to_owned(),
        }
    }
}

impl<'a> Rows<'a> {
    fn new(
        out: impl Write + Seek + 'a,
        format: ListFormat,
        columns: Columns,
        wait: Wait,
    ) -> io::Result<Self> {
        let seekable = |out| BufWriter::new(Box::new(out) as Box<dyn WriteSeek + 'a>);
        match format {
            ListFormat::Csv => Self::csv(BufWriter::new(out), columns),
            ListFormat::Npy => Self::npy(seekable(out), columns),
            ListFormat::Npz => Npz::create(seekable(out), columns, wait).map(Self::Npz),
        }
    }

    fn csv(mut out: impl Write + 'a, columns: Columns) -> io::Result<Self> {
        for (k, column) in columns.list().enumerate() {
            let comma = if k > 0 { "," } else { "" };
            write!(out, "{comma}{}", columns.name(column))?;
        }
        writeln!(out)?;
        Ok(Self::Csv(Box::new(out)))
    }

    fn npy(out: Seekable<'a>, columns: Columns) -> io::Result<Self> {
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
                .write(row.columns, &mut out)?;
        }
        Ok(())
    }
}

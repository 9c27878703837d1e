//! Writes a list of colliding pairs as a NumPy archive (`.npz`), with one array for each column of the list.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

use npyz::{DType, WriterBuilder};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::memory::Growing;
use crate::read::shown_path;
use crate::write::columns::{Column, Columns};
use crate::write::pairs::Pair;

/// A buffered output that can seek. The headers of NumPy arrays and archives are completed at the end.
pub(crate) type Seekable<'a> = BufWriter<Box<dyn WriteSeek + 'a>>;

pub(crate) trait WriteSeek: Write + Seek {}

impl<W: Write + Seek> WriteSeek for W {}

/// A NumPy archive. Each column is collected until the list is complete, because the header of a NumPy array
/// contains its length.
pub(crate) struct Npz<'a> {
    out: Seekable<'a>,
    columns: Columns,
    waiting: Vec<(Column, Waiting)>,
    rows: u64,
}

/// Where the numbers of a column are collected.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wait {
    InFiles,
    InMemory,
}

/// The numbers of a column that have been collected.
enum Waiting {
    InFile(BufWriter<File>),
    InMemory(Vec<u8>),
}

impl<'a> Npz<'a> {
    pub(crate) fn create(out: Seekable<'a>, columns: Columns, wait: Wait) -> io::Result<Self> {
        let waiting = columns.list().map(|column| {
            let waiting = match wait {
                Wait::InFiles => Waiting::InFile(BufWriter::new(temporary()?)),
                Wait::InMemory => Waiting::InMemory(Vec::new()),
            };
            Ok((column, waiting))
        });
        Ok(Self {
            out,
            columns,
            waiting: waiting.collect::<io::Result<_>>()?,
            rows: 0,
        })
    }

    pub(crate) fn push(&mut self, frame: u64, pair: &Pair) -> io::Result<()> {
        for (column, out) in &mut self.waiting {
            let value = self.columns.value(*column, frame, pair);
            match out {
                Waiting::InFile(out) => value.write(self.columns, out).map_err(in_temporary)?,
                Waiting::InMemory(out) => value.write(self.columns, Growing(out))?,
            }
        }
        self.rows += 1;
        Ok(())
    }

    pub(crate) fn finish(self) -> io::Result<()> {
        let mut archive = ZipWriter::new(UntilError {
            out: self.out,
            position: 0,
            has_failed: false,
        });
        // The NumPy archive is uncompressed, as by NumPy's `savez`. `large_file` allows arrays of more than 4
        // GiB.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(true);
        for (column, waiting) in self.waiting {
            archive.start_file(format!("{}.npy", self.columns.name(column)), options)?;
            npyz::WriteOptions::new_header_only()
                .dtype(plain(self.columns.dtype(column))?)
                .shape(&[self.rows])
                .writer(&mut archive)
                .write_header_only()?;
            match waiting {
                Waiting::InFile(numbers) => {
                    let numbers = numbers.into_inner().map_err(io::Error::from);
                    let mut numbers = numbers.map_err(in_temporary)?;
                    numbers.seek(SeekFrom::Start(0))?;
                    io::copy(&mut numbers, &mut archive)?;
                }
                Waiting::InMemory(numbers) => archive.write_all(&numbers)?,
            }
        }
        let mut archive = archive.finish()?;
        archive.flush()?;
        if archive.has_failed {
            return Err(io::Error::other("the archive could not be completed"));
        }
        Ok(())
    }
}

/// Passes everything on until the first error, and nothing after it. An unfinished archive completes itself when it is
/// dropped, and would print that this fails, too.
struct UntilError<'a> {
    out: Seekable<'a>,
    position: u64,
    has_failed: bool,
}

impl UntilError<'_> {
    fn seen<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        let interrupted = |error: &io::Error| error.kind() == io::ErrorKind::Interrupted;
        self.has_failed |= done.as_ref().is_err_and(|error| !interrupted(error));
        done
    }
}

impl Write for UntilError<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = if self.has_failed {
            bytes.len()
        } else {
            let written = self.out.write(bytes);
            self.seen(written)?
        };
        self.position += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.has_failed {
            return Ok(());
        }
        let flushed = self.out.flush();
        self.seen(flushed)
    }
}

impl Seek for UntilError<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if self.has_failed {
            self.position = match to {
                SeekFrom::Start(position) => position,
                SeekFrom::Current(by) | SeekFrom::End(by) => {
                    self.position.saturating_add_signed(by)
                }
            };
        } else {
            let moved = self.out.seek(to);
            self.position = self.seen(moved)?;
        }
        Ok(self.position)
    }
}

pub(crate) fn plain(name: &str) -> io::Result<DType> {
    Ok(DType::Plain(name.parse().map_err(io::Error::other)?))
}

fn temporary() -> io::Result<File> {
    tempfile::tempfile().map_err(in_temporary)
}

/// Names the folder in an error of a temporary file, which may be on another disk than the list.
fn in_temporary(error: io::Error) -> io::Error {
    let folder = shown_path(&std::env::temp_dir());
    let what = format!(
        "cannot use a temporary file in {folder}; set TMPDIR to use another folder: {error}"
    );
    io::Error::new(error.kind(), what)
}

//! Writes a list of colliding pairs as a NumPy archive (`.npz`), with one array for each column of the list.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

use npyz::{DType, WriterBuilder};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

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
                Waiting::InFile(out) => value.write(self.columns, out)?,
                Waiting::InMemory(out) => value.write(self.columns, out)?,
            }
        }
        self.rows += 1;
        Ok(())
    }

    pub(crate) fn finish(self) -> io::Result<()> {
        let mut archive = ZipWriter::new(self.out);
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
                    let mut numbers = numbers.into_inner().map_err(io::Error::from)?;
                    numbers.seek(SeekFrom::Start(0))?;
                    io::copy(&mut numbers, &mut archive)?;
                }
                Waiting::InMemory(numbers) => archive.write_all(&numbers)?,
            }
        }
        archive.finish()?.flush()
    }
}

pub(crate) fn plain(name: &str) -> io::Result<DType> {
    Ok(DType::Plain(name.parse().map_err(io::Error::other)?))
}

fn temporary() -> io::Result<File> {
    tempfile::tempfile().map_err(|error| {
        let folder = std::env::temp_dir();
        let folder = folder.display();
        io::Error::other(format!(
            "cannot create a temporary file in {folder}; set TMPDIR to use another folder: {error}"
        ))
    })
}

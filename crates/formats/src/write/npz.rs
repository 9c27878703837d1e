//! Writes a list of colliding pairs as a NumPy archive (`.npz`), with one array for each column of the list.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

use npyz::WriterBuilder;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::write::columns::{Column, Columns};
use crate::write::list::plain;
use crate::write::pairs::Pair;

/// A NumPy archive. Each column is collected in a temporary file until the list is complete, because the
/// header of a NumPy array contains its length.
pub(crate) struct Npz {
    out: BufWriter<File>,
    columns: Columns,
    waiting: Vec<(Column, BufWriter<File>)>,
    rows: u64,
}

impl Npz {
    pub(crate) fn create(out: BufWriter<File>, columns: Columns) -> io::Result<Self> {
        let folder = std::env::temp_dir();
        let temporary = || {
            tempfile::tempfile().map_err(|error| {
                let folder = folder.display();
                io::Error::other(format!(
                    "cannot create a temporary file in {folder}; set TMPDIR to use another \
                     folder: {error}"
                ))
            })
        };
        let waiting = columns
            .list()
            .map(|column| Ok((column, BufWriter::new(temporary()?))));
        Ok(Self {
            out,
            columns,
            waiting: waiting.collect::<io::Result<_>>()?,
            rows: 0,
        })
    }

    pub(crate) fn push(&mut self, frame: u64, pair: &Pair) -> io::Result<()> {
        for (column, out) in &mut self.waiting {
            self.columns.value(*column, frame, pair).write(out)?;
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
            let mut numbers = waiting.into_inner().map_err(io::Error::from)?;
            numbers.seek(SeekFrom::Start(0))?;
            archive.start_file(format!("{}.npy", self.columns.name(column)), options)?;
            npyz::WriteOptions::new_header_only()
                .dtype(plain(self.columns.dtype(column))?)
                .shape(&[self.rows])
                .writer(&mut archive)
                .write_header_only()?;
            io::copy(&mut numbers, &mut archive)?;
        }
        archive.finish()?.flush()
    }
}

//! The list of pairs as a file, and its formats: CSV, or an array of records for NumPy.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use anyhow::Context;
use npyz::{DType, DTypeError, Field, NpyWriter, Serialize, TypeWrite, WriterBuilder};

use crate::input::extension;
use crate::output::Output;
use crate::pairs::Pair;

/// A format of lists.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ListFormat {
    /// A header and rows.
    Csv,
    /// A NumPy array of records.
    Npy,
}

/// Where a list goes, and in which format.
#[derive(Clone, Debug)]
pub(crate) struct ListFile {
    pub(crate) path: PathBuf,
    format: ListFormat,
}

impl ListFile {
    /// The format goes by the name.
    pub(crate) fn from_path(path: PathBuf) -> Result<Self, &'static str> {
        let format = match extension(&path).as_str() {
            "csv" => ListFormat::Csv,
            "npy" => ListFormat::Npy,
            _ => return Err("the name must end in .csv or .npy"),
        };
        Ok(Self { path, format })
    }
}

/// Which columns a list has, besides those of the pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListColumns {
    /// Whether there is a column for the number of the frame.
    pub(crate) frames: bool,
    /// Whether a and b are ids of the input, which may be larger than rows.
    pub(crate) ids: bool,
}

/// A list that is being written.
pub(crate) struct List {
    output: Output,
    rows: Rows,
}

/// Where its rows go.
enum Rows {
    /// Lines, under a header.
    Csv(BufWriter<File>, ListColumns),
    /// Records of an array.
    Npy(Box<NpyWriter<Row, BufWriter<File>>>),
}

/// A record of an array.
pub(crate) struct Row {
    frame: u64,
    pair: Pair,
}

impl List {
    /// Begins a list.
    pub(crate) fn create(file: &ListFile, columns: ListColumns) -> anyhow::Result<Self> {
        let output = Output::create(&file.path)?;
        let out = BufWriter::new(output.file()?);
        let rows = match file.format {
            ListFormat::Csv => Rows::csv(out, columns),
            ListFormat::Npy => Rows::npy(out, columns),
        };
        let rows = rows.with_context(|| output.cannot_write())?;
        Ok(Self { output, rows })
    }

    /// Writes the pairs of a frame.
    pub(crate) fn append(
        &mut self,
        frame: u64,
        pairs: impl Iterator<Item = Pair>,
    ) -> anyhow::Result<()> {
        let written = self.rows.append(frame, pairs);
        written.with_context(|| self.output.cannot_write())
    }

    /// Gives the list its name.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let Self { output, rows } = self;
        rows.finish().with_context(|| output.cannot_write())?;
        output.finish()
    }
}

impl Rows {
    fn csv(mut out: BufWriter<File>, columns: ListColumns) -> io::Result<Self> {
        writeln!(
            out,
            "{}a,b,toi,depth",
            if columns.frames { "frame," } else { "" }
        )?;
        Ok(Self::Csv(out, columns))
    }

    fn npy(out: BufWriter<File>, columns: ListColumns) -> io::Result<Self> {
        let options = npyz::WriteOptions::new().dtype(dtype(columns)?).writer(out);
        Ok(Self::Npy(Box::new(options.begin_1d()?)))
    }

    fn append(&mut self, frame: u64, pairs: impl Iterator<Item = Pair>) -> io::Result<()> {
        match self {
            Self::Csv(out, columns) => {
                for Pair { a, b, toi, depth } in pairs {
                    if columns.frames {
                        write!(out, "{frame},")?;
                    }
                    // `{:?}` writes the fewest digits that read back as the same float32.
                    writeln!(out, "{a},{b},{toi:?},{depth:?}")?;
                }
                Ok(())
            }
            Self::Npy(out) => out.extend(pairs.map(|pair| Row { frame, pair })),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Csv(mut out, _) => out.flush(),
            Self::Npy(out) => out.finish(),
        }
    }
}

/// The type of an array's records.
fn dtype(ListColumns { frames, ids }: ListColumns) -> io::Result<DType> {
    let id = if ids { "<u8" } else { "<u4" };
    let fields = [
        ("frame", "<u4"),
        ("a", id),
        ("b", id),
        ("toi", "<f4"),
        ("depth", "<f4"),
    ];
    let fields = fields
        .into_iter()
        .skip(usize::from(!frames))
        .map(|(name, kind)| {
            let dtype = DType::Plain(kind.parse().map_err(io::Error::other)?);
            Ok(Field {
                name: name.to_owned(),
                dtype,
            })
        });
    Ok(DType::Record(fields.collect::<io::Result<_>>()?))
}

impl Serialize for Row {
    type TypeWriter = ListColumns;

    fn writer(dtype: &DType) -> Result<ListColumns, DTypeError> {
        let DType::Record(fields) = dtype else {
            return Err(DTypeError::expected_record(dtype));
        };
        // npyz hands over nothing but the type of the records, so the columns are inferred from
        // what `dtype` made of them: there are five with a frame, four without, and ids take 8
        // bytes each, rows 4.
        let frames = fields.len() == 5;
        let ids = dtype.num_bytes() == Some(if frames { 28 } else { 24 });
        Ok(ListColumns { frames, ids })
    }
}

impl TypeWrite for ListColumns {
    type Value = Row;

    fn write_one<W: Write>(&self, mut out: W, Row { frame, pair }: &Row) -> io::Result<()> {
        let short = |x: u64| {
            u32::try_from(x)
                .map(u32::to_le_bytes)
                .map_err(io::Error::other)
        };
        if self.frames {
            out.write_all(&short(*frame)?)?;
        }
        for id in [pair.a, pair.b] {
            if self.ids {
                out.write_all(&id.to_le_bytes())?;
            } else {
                out.write_all(&short(id)?)?;
            }
        }
        out.write_all(&pair.toi.to_le_bytes())?;
        out.write_all(&pair.depth.to_le_bytes())
    }
}

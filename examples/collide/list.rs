//! The list of pairs in a file: CSV or NumPy.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use npyz::{DType, DTypeError, Field, NpyWriter, Serialize, TypeWrite, WriterBuilder};

use crate::input::extension;
use crate::output::Output;
use crate::pairs::Pair;

/// What each pair has besides time and depth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// The number of its frame.
    pub(crate) frames: bool,
    /// Ids of the input, which may be larger than rows.
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
    Csv(BufWriter<File>, Form),
    /// Records of an array.
    Npy(Box<NpyWriter<Row, BufWriter<File>>>),
}

/// A record of an array.
pub(crate) struct Row {
    frame: u64,
    pair: Pair,
}

impl List {
    /// Begins a list, in the format that its name tells.
    pub(crate) fn create(path: &Path, form: Form) -> anyhow::Result<Self> {
        let output = Output::create(path)?;
        let out = BufWriter::new(output.file()?);
        let rows = if extension(path) == "npy" {
            Rows::npy(out, form)
        } else {
            Rows::csv(out, form)
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
    fn csv(mut out: BufWriter<File>, form: Form) -> io::Result<Self> {
        writeln!(
            out,
            "{}a,b,toi,depth",
            if form.frames { "frame," } else { "" }
        )?;
        Ok(Self::Csv(out, form))
    }

    fn npy(out: BufWriter<File>, form: Form) -> io::Result<Self> {
        let options = npyz::WriteOptions::new().dtype(dtype(form)?).writer(out);
        Ok(Self::Npy(Box::new(options.begin_1d()?)))
    }

    fn append(&mut self, frame: u64, pairs: impl Iterator<Item = Pair>) -> io::Result<()> {
        match self {
            Self::Csv(out, form) => {
                for Pair { a, b, toi, depth } in pairs {
                    if form.frames {
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
fn dtype(Form { frames, ids }: Form) -> io::Result<DType> {
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
    type TypeWriter = Form;

    fn writer(dtype: &DType) -> Result<Form, DTypeError> {
        let DType::Record(fields) = dtype else {
            return Err(DTypeError::expected_record(dtype));
        };
        let frames = fields.len() == 5;
        let ids = dtype.num_bytes() == Some(if frames { 28 } else { 24 });
        Ok(Form { frames, ids })
    }
}

impl TypeWrite for Form {
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

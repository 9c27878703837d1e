//! The list of pairs in a file: CSV or NumPy.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use npyz::{DType, DTypeError, Field, NpyWriter, Serialize, TypeWrite, WriterBuilder};

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
pub(crate) enum List {
    /// A row for each pair, under a header.
    Csv(BufWriter<File>, Form),
    /// An array of records.
    Npy(Box<NpyWriter<Row, BufWriter<File>>>),
}

/// A record of an array.
pub(crate) struct Row {
    frame: u64,
    pair: Pair,
}

impl List {
    /// Begins CSV.
    pub(crate) fn csv(file: File, form: Form) -> io::Result<Self> {
        let mut out = BufWriter::new(file);
        writeln!(
            out,
            "{}a,b,toi,depth",
            if form.frames { "frame," } else { "" }
        )?;
        Ok(Self::Csv(out, form))
    }

    /// Begins an array.
    pub(crate) fn npy(file: File, form: Form) -> io::Result<Self> {
        let options = npyz::WriteOptions::new()
            .dtype(dtype(form)?)
            .writer(BufWriter::new(file));
        Ok(Self::Npy(Box::new(options.begin_1d()?)))
    }

    /// Writes the pairs of a frame.
    pub(crate) fn append(
        &mut self,
        frame: u64,
        pairs: impl Iterator<Item = Pair>,
    ) -> io::Result<()> {
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

    /// Writes what is not written yet.
    pub(crate) fn finish(self) -> io::Result<()> {
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

//! Reader of NumPy array files (`.npy`):
//! <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.

use std::io::{BufReader, ErrorKind, Read};

use carom::HardSphere;
use py_literal::Value;

use crate::error::{Context, Error, Result, at, bail};
use crate::read::cell;
use crate::read::columns::Names;
use crate::read::world::UNREAD;
use crate::read::{ReadOptions, World, number};

/// Maximum length of the header of a `.npy` file in bytes, as in NumPy.
const LONGEST_HEADER: usize = 10_000;

/// Maximum nesting depth of brackets in the header of a `.npy` file, which protects the stack of the
/// recursive parser. The header of a plain array has depth 2.
const DEEPEST: usize = 4;

/// Reads spheres from an array of float32 or float64 with one row for each sphere. The columns are
/// `x y z radius vx vy vz`, or `x y z radius` for spheres at rest. If the options give the radius,
/// the columns are `x y z vx vy vz` or `x y z`. If only the centres are read, the first three columns
/// must be `x y z`. `source` names the file in messages.
///
/// # Errors
/// Returns an error if the array cannot be read, with the row and the field of an invalid number.
pub fn read(source: &str, input: impl Read, options: &ReadOptions) -> Result<World> {
    let array = Array::open(source, input)?;
    let mut world = World::new(source, Names::PLAIN, "row");
    world.domain = cell::domain(None, [false; 3], false, options)
        .map_err(|what| Error::new(format!("{source}: {what}")))?;
    if options.centers_only {
        let columns = match *array.shape {
            [_, columns @ (3 | 4 | 6 | 7)] => columns,
            _ => bail!(
                "{source}: the shape is {}, but must be (N, 3), (N, 4), (N, 6) or (N, 7), with x y \
                 z in the first three columns",
                array.shape()
            ),
        };
        let fields = [0, 1, 2, UNREAD, UNREAD, UNREAD, UNREAD];
        array.fill(
            &mut world,
            &fields[..usize::try_from(columns).map_err(Error::other)?],
        )?;
        return Ok(world);
    }
    let radius = options.radii.of_arrays(source)?;
    let fields: &[usize] = match (&*array.shape, radius) {
        ([_, 7], None) => &[0, 1, 2, 3, 4, 5, 6],
        ([_, 4], None) => &[0, 1, 2, 3],
        ([_, 6], Some(_)) => &[0, 1, 2, 4, 5, 6],
        ([_, 3], Some(_)) => &[0, 1, 2],
        (_, radius) => {
            let shape = array.shape();
            let expected = match radius {
                None => {
                    "(N, 7) for x y z radius vx vy vz or (N, 4) for x y z radius; with --radius R, \
                     (N, 6) for x y z vx vy vz or (N, 3) for x y z"
                }
                Some(_) => {
                    "(N, 6) for x y z vx vy vz or (N, 3) for x y z, because --radius is given; \
                     leave out --radius if the array has radii"
                }
            };
            bail!("{source}: the shape is {shape}, but must be {expected}");
        }
    };
    if fields.len() < 6 {
        let columns = fields.len();
        let note =
            format!("the array has {columns} columns and no velocities: every sphere is at rest");
        world.notes.push(note);
    }
    array.fill(&mut world, fields)?;
    if let Some(radius) = radius {
        world.set_radii(radius);
    }
    Ok(world)
}

/// A `.npy` file of which only the header has been read.
pub(crate) struct Array<'a, R> {
    source: &'a str,
    input: BufReader<R>,
    byte: u64,
    /// Shape of the array according to the header of the `.npy` file. If the file was cut off, it holds fewer
    /// numbers than the header says.
    pub(crate) shape: Vec<u64>,
    /// Whether the array is stored column by column (Fortran order).
    by_columns: bool,
    big_endian: bool,
    wide: bool,
    /// Number of bytes of an integer or a flag, in an array of these.
    integers: Option<usize>,
}

impl<'a, R: Read> Array<'a, R> {
    pub(crate) fn open(source: &'a str, input: R) -> Result<Self> {
        Self::open_any(source, input, false)
    }

    /// Opens an array of floating-point numbers, or also of integers or flags if `integers` is true.
    fn open_any(source: &'a str, input: R, integers: bool) -> Result<Self> {
        let mut array = Self {
            source,
            input: BufReader::with_capacity(1 << 16, input),
            byte: 0,
            shape: Vec::new(),
            by_columns: false,
            big_endian: false,
            wide: false,
            integers: None,
        };
        let magic = array.bytes(8)?;
        let version = match magic.strip_prefix(b"\x93NUMPY") {
            Some([version @ 1..=3, 0]) => *version,
            Some(version) if version.len() == 2 => {
                bail!(
                    "{source}, byte 6: the version of the format is {version:?}, but must be \
                     [1, 0], [2, 0] or [3, 0]"
                )
            }
            _ if magic.is_empty() => bail!("{source} is empty; it must be a NumPy array"),
            _ => bail!(
                "{source}, byte 0: this is not a NumPy array, which must begin with \\x93NUMPY"
            ),
        };
        let mut length = [0; 4];
        let size = if version == 1 { 2 } else { 4 };
        let start = array.byte;
        array.exact(&mut length[..size], "the length of the header")?;
        let length = u32::from_le_bytes(length) as usize;
        if length > LONGEST_HEADER {
            let what = format!(
                "the header claims to have {length} bytes, but must have at most {LONGEST_HEADER}, \
                 as in NumPy"
            );
            return Err(at(source, "byte", start, &what));
        }
        let start = array.byte;
        let header = array.bytes(length)?;
        if header.len() < length {
            let what =
                format!("the file ends within its header of {length} bytes; was it cut off?");
            return Err(at(source, "byte", array.byte, &what));
        }
        array.understand(&header, integers).map_err(|what| {
            at(
                source,
                "byte",
                start,
                &format!("{what}; the header is `{}`", number::shown(&header)),
            )
        })?;
        Ok(array)
    }

    fn understand(&mut self, header: &[u8], integers: bool) -> Result<(), String> {
        let text = std::str::from_utf8(header).map_err(|_| "the header is not text".to_owned())?;
        // A header with a backslash (an escape sequence) is rejected, because the header of a plain array has
        // none.
        let fit = depth(text) <= DEEPEST && !text.contains('\\');
        let Some(Ok(Value::Dict(entries))) = fit.then(|| text.trim_end().parse()) else {
            return Err("the header does not describe a plain array".into());
        };
        let entry = |name: &str| {
            let named = |(key, _): &&(Value, Value)| matches!(key, Value::String(k) if k == name);
            let found = entries.iter().find(named).map(|(_, value)| value);
            found.ok_or_else(|| format!("the header has no {name}"))
        };
        let Value::Boolean(by_columns) = *entry("fortran_order")? else {
            return Err("fortran_order must be True or False".into());
        };
        let (Value::Tuple(shape) | Value::List(shape)) = entry("shape")? else {
            return Err("the shape must be a tuple".into());
        };
        let length = |value: &Value| value.as_integer().and_then(|n| u64::try_from(n).ok());
        let shape: Option<Vec<u64>> = shape.iter().map(length).collect();
        let Value::String(descr) = entry("descr")? else {
            return Err(
                "the dtype is structured, but must be float32 or float64: save \
                        numpy.lib.recfunctions.structured_to_unstructured(a)"
                    .into(),
            );
        };
        (self.big_endian, self.wide) = match descr.as_str() {
            "<f4" => (false, false),
            "<f8" => (false, true),
            ">f4" => (true, false),
            ">f8" => (true, true),
            "|b1" | "|i1" | "|u1" | "<i4" | "<i8" | "<u4" if integers => {
                let bytes = descr.as_bytes();
                self.integers = bytes.last().map(|digit| usize::from(digit - b'0'));
                (false, false)
            }
            _ => {
                return Err(format!(
                    "the dtype is {}, but must be float32 or float64: save a.astype(np.float64)",
                    number::shown(descr.as_bytes())
                ));
            }
        };
        self.shape = shape.ok_or("the shape must consist of whole numbers from 0 to 2^64 - 1")?;
        self.by_columns = by_columns;
        Ok(())
    }

    /// Returns the shape in NumPy's notation, such as `(2, 7)`.
    pub(crate) fn shape(&self) -> String {
        match &*self.shape {
            [n] => format!("({n},)"),
            lengths => {
                let lengths: Vec<String> = lengths.iter().take(8).map(u64::to_string).collect();
                format!("({})", lengths.join(", "))
            }
        }
    }

    /// Reads all numbers of the array into the spheres of `world`, one row for each sphere. `fields` gives
    /// the number of a field for each column: 0 to 6 for x, y, z, radius, vx, vy and vz.
    pub(crate) fn fill(mut self, world: &mut World, fields: &[usize]) -> Result<()> {
        let (rows, columns) = match *self.shape {
            [rows] => (rows, 1),
            [rows, columns] => (rows, columns),
            _ => bail!(
                "{}: the shape is {}, but must have one or two dimensions",
                self.source,
                self.shape()
            ),
        };
        let (outer, inner) = if self.by_columns {
            (columns, rows)
        } else {
            (rows, columns)
        };
        world.float32 = !self.wide && (world.float32 || world.spheres.is_empty());
        for i in 0..outer {
            for j in 0..inner {
                let (row, column) = if self.by_columns { (j, i) } else { (i, j) };
                let x = self.number(row, rows)?;
                let index = usize::try_from(row).map_err(Error::other)?;
                if index == world.spheres.len() {
                    world.push(row, HardSphere::new([0.0; 3], 0.0))?;
                }
                let field = fields.get(usize::try_from(column).map_err(Error::other)?);
                let field = field.ok_or_else(|| Error::new("the array has too many columns"))?;
                world.set(index, *field, x)?;
            }
        }
        let mut rest = [0];
        if self.read(&mut rest)? > 0 {
            let what = format!(
                "the file goes on after the end of its array of shape {}",
                self.shape()
            );
            return Err(at(self.source, "byte", self.byte - 1, &what));
        }
        Ok(())
    }

    /// Reads all numbers of a small array, row by row, or `None` if it has more than `most` numbers.
    pub(crate) fn small(
        source: &'a str,
        input: R,
        most: u64,
    ) -> Result<Option<(Vec<u64>, Vec<f64>)>> {
        let mut array = Self::open_any(source, input, true)?;
        let count = array
            .shape
            .iter()
            .try_fold(1_u64, |all, &n| all.checked_mul(n));
        let Some(count) = count.filter(|&count| count <= most) else {
            return Ok(None);
        };
        let mut numbers = Vec::new();
        for k in 0..count {
            let x = array.number(k, count)?;
            if !x.is_finite() {
                bail!("{source}: number {k} is {x}, but must be a finite number");
            }
            numbers.push(x);
        }
        if let ([n, m], true) = (&*array.shape, array.by_columns) {
            let (n, m) = (*n, *m);
            let at = |i: u64, j: u64| usize::try_from(j * n + i).ok().and_then(|k| numbers.get(k));
            let rows = (0..n).flat_map(|i| (0..m).map(move |j| (i, j)));
            numbers = rows.filter_map(|(i, j)| at(i, j).copied()).collect();
        }
        Ok(Some((array.shape, numbers)))
    }

    fn number(&mut self, row: u64, rows: u64) -> Result<f64> {
        let mut bytes = [0; 8];
        if let Some(size) = self.integers {
            self.exact_with(&mut bytes[..size], || format!("row {row} of {rows}"))?;
            #[expect(clippy::cast_precision_loss, reason = "flags and counts are small")]
            return Ok(i64::from_le_bytes(bytes) as f64);
        }
        let size = if self.wide { 8 } else { 4 };
        let context = || format!("row {row} of {rows}");
        let bytes = {
            self.exact_with(&mut bytes[..size], context)?;
            &bytes[..size]
        };
        Ok(match (bytes.try_into(), self.big_endian) {
            (Ok(bytes), false) => f64::from_le_bytes(bytes),
            (Ok(bytes), true) => f64::from_be_bytes(bytes),
            (Err(_), big) => {
                let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
                f64::from(if big {
                    f32::from_be_bytes(bytes)
                } else {
                    f32::from_le_bytes(bytes)
                })
            }
        })
    }

    fn bytes(&mut self, count: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; count];
        let read = self.read(&mut bytes)?;
        bytes.truncate(read);
        Ok(bytes)
    }

    fn exact(&mut self, buffer: &mut [u8], what: &str) -> Result<()> {
        self.exact_with(buffer, || what.to_owned())
    }

    fn exact_with(&mut self, buffer: &mut [u8], what: impl Fn() -> String) -> Result<()> {
        match self.read(buffer)? {
            read if read == buffer.len() => Ok(()),
            _ => {
                let what = format!("the file ends within {}; was it cut off?", what());
                Err(at(self.source, "byte", self.byte, &what))
            }
        }
    }

    /// Reads bytes until the buffer is full or the file ends, and returns their number.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.input.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    let after = self.byte + filled as u64;
                    return Err(error).with_context(|| {
                        format!("cannot read {} after byte {after}", self.source)
                    });
                }
            }
        }
        self.byte += filled as u64;
        Ok(filled)
    }
}

fn depth(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut deepest = 0;
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

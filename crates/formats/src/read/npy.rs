//! Reader of NumPy array files (`.npy`):
//! <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.

use std::io::{BufReader, ErrorKind, Read};

use ::csv::ByteRecord;
use carom::HardSphere;
use py_literal::Value;

use crate::error::{Context, Error, Result, at, bail};
use crate::read::cell;
use crate::read::columns::{Columns, MOST_COLUMNS, Moment, Names, of_vector};
use crate::read::world::UNREAD;
use crate::read::{ReadOptions, World, number};

/// Maximum length of the header of a `.npy` file in bytes, as in NumPy.
const LONGEST_HEADER: usize = 10_000;

/// Maximum nesting depth of brackets in the header of a `.npy` file, which protects the stack of the
/// recursive parser. The header of a plain array has depth 2.
const DEEPEST: usize = 4;

/// The keys of the header of a `.npy` file.
const KEYS: [&str; 3] = ["descr", "fortran_order", "shape"];

/// Largest number of bytes of a record of a structured array.
const LARGEST_RECORD: usize = 1 << 20;

/// Reads spheres from an array of float32 or float64 with one row for each sphere. The columns are
/// `x y z radius vx vy vz`, or `x y z radius` for spheres at rest. If the options give the radius,
/// the columns are `x y z vx vy vz` or `x y z`. If only the centres are read, the first three columns
/// must be `x y z`. The fields of a structured array are columns with names, as in CSV; a field with several numbers is a
/// vector, as in extended XYZ. `source` names the file in messages.
///
/// # Errors
/// Returns an error if the array cannot be read, with the row and the field of an invalid number.
pub fn read(source: &str, input: impl Read, options: &ReadOptions) -> Result<World> {
    let mut array = Array::open_any(source, input, Accepted::Records)?;
    if let Some(record) = array.record.take() {
        return read_records(array, record, options);
    }
    without_names(source, options)?;
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

/// Returns an error if the options ask for what arrays without named columns do not have.
pub(crate) fn without_names(source: &str, options: &ReadOptions) -> Result<()> {
    for (asked, what) in [(options.ids, "ids"), (options.types, "types")] {
        if asked {
            bail!("{source}: NumPy arrays have no {what} of spheres; read it without {what}");
        }
    }
    if options.columns.is_some() {
        bail!("{source}: the columns of NumPy arrays have no names, so leave out --columns");
    }
    Ok(())
}

/// Reads the spheres of a structured array.
fn read_records(
    mut array: Array<'_, impl Read>,
    record: Record,
    options: &ReadOptions,
) -> Result<World> {
    let source = array.source;
    let wrong = |what: String| Error::new(format!("{source}: {what}"));
    let &[rows] = &*array.shape else {
        return Err(wrong(format!(
            "the array is structured and has the shape {}, but must have the shape (N,): save a.ravel()",
            array.shape()
        )));
    };
    let Record { mut names, fields } = record;
    if let Some(given) = &options.columns {
        given.apply(&mut names, false, false).map_err(wrong)?;
    }
    let columns = Columns::find(&names, &[Names::PLAIN.center], options).map_err(wrong)?;
    let mut world = World::new(source, columns.names, "row");
    world.domain = cell::domain(None, [false; 3], columns.is_flat(), options).map_err(wrong)?;
    world.notes.extend(columns.notes());
    world.notes.extend(columns.note_of_momenta());
    let mut moment = Moment::of(&names);
    let narrow: Vec<bool> = fields.iter().flat_map(Scalar::are_narrow).collect();
    let is_narrow = |column: usize| narrow.get(column) == Some(&true);
    world.float32 = columns.numbers().is_some_and(|mut all| all.all(is_narrow));
    let mut bytes = vec![0; fields.iter().map(Scalar::bytes).sum()];
    let (mut texts, mut text) = (ByteRecord::new(), Vec::new());
    for row in 0..rows {
        array.exact_with(&mut bytes, || format!("row {row} of {rows}"))?;
        texts.clear();
        let mut rest = &*bytes;
        for field in &fields {
            for _ in 0..field.named {
                let (number, after) = rest.split_at(field.size);
                rest = after;
                text.clear();
                field.write(number, &mut text);
                texts.push_field(&text);
            }
            rest = &rest[field.size * (field.count - field.named)..];
        }
        moment
            .check(|column| texts.get(column))
            .map_err(|what| at(source, "row", row, &what))?;
        world.parse(row, &columns, |column| texts.get(column))?;
    }
    array.end()?;
    world.check_ids()?;
    Ok(world)
}

/// The fields of a structured array, and the names of their columns.
struct Record {
    names: Vec<String>,
    fields: Vec<Scalar>,
}

/// A field of a structured array.
struct Scalar {
    /// Kind of NumPy, such as `f`, and size in bytes of each number or text of the field.
    kind: u8,
    size: usize,
    big_endian: bool,
    count: usize,
    /// Number of columns: `count`, or 0 for the bytes between fields.
    named: usize,
}

impl Record {
    /// Parses the fields, such as `('pos', '<f8', (3,))`.
    fn of(entries: &[Value]) -> Result<Self, String> {
        let mut record = Self {
            names: Vec::new(),
            fields: Vec::new(),
        };
        let mut bytes = 0_usize;
        for entry in entries {
            let (name, dtype, lengths) = match entry {
                Value::Tuple(parts) => match &**parts {
                    [name, Value::String(dtype)] => (name, dtype, &[][..]),
                    [name, Value::String(dtype), Value::Tuple(lengths)] => {
                        (name, dtype, &**lengths)
                    }
                    _ => return Err(NESTED.to_owned()),
                },
                _ => return Err(NESTED.to_owned()),
            };
            // A field may have a title and a name.
            let name = match name {
                Value::Tuple(both) => both.last(),
                name => Some(name),
            };
            let Some(Value::String(name)) = name else {
                return Err(NESTED.to_owned());
            };
            let mut field = Scalar::of(dtype).ok_or_else(|| {
                let dtype = number::shown(dtype.as_bytes());
                format!(
                    "a field has the dtype {dtype}, which is not read: save the array without it"
                )
            })?;
            let count = lengths.iter().try_fold(1_usize, |count, length| {
                let length = length.as_integer()?;
                count.checked_mul(usize::try_from(length).ok()?)
            });
            field.count = count.filter(|&n| n <= MOST_COLUMNS).unwrap_or(usize::MAX);
            bytes = bytes.saturating_add(field.size.saturating_mul(field.count));
            if bytes > LARGEST_RECORD {
                return Err(format!(
                    "a record has more than {LARGEST_RECORD} bytes or {MOST_COLUMNS} numbers"
                ));
            }
            // Padding has no name.
            if !name.is_empty() {
                field.named = field.count;
                record.names.extend(match lengths {
                    [] => vec![name.clone()],
                    _ => {
                        of_vector(name, field.count).map_err(|what| format!("the dtype {what}"))?
                    }
                });
                if record.names.len() > MOST_COLUMNS {
                    return Err(format!("a record has more than {MOST_COLUMNS} numbers"));
                }
            }
            record.fields.push(field);
        }
        Ok(record)
    }
}

/// What is wrong with fields of fields.
const NESTED: &str = "the array has fields of fields, but must have fields of numbers: save \
                      numpy.lib.recfunctions.structured_to_unstructured(a) or one array for each of them";

impl Scalar {
    /// Parses a dtype such as `<f8`.
    fn of(dtype: &str) -> Option<Self> {
        let (order, rest) = dtype.split_at_checked(1)?;
        let (kind, rest) = rest.split_at_checked(1)?;
        let digits = rest.find('[').map_or(rest, |end| &rest[..end]);
        let size: usize = digits.parse().ok()?;
        let kind = *kind.as_bytes().first()?;
        let size = match kind {
            b'U' => size.checked_mul(4)?,
            b'f' | b'i' | b'u' | b'b' | b'S' | b'V' | b'c' | b'M' | b'm' => size,
            _ => return None,
        };
        let is_order = ["<", ">", "|"].contains(&order);
        let has_order = order != "|" || size == 1 || b"SV".contains(&kind);
        (is_order && has_order).then_some(Self {
            kind,
            size,
            big_endian: order == ">",
            count: 1,
            named: 0,
        })
    }

    fn bytes(&self) -> usize {
        self.size * self.count
    }

    /// Returns whether the columns of the field are float32.
    fn are_narrow(&self) -> impl Iterator<Item = bool> {
        std::iter::repeat_n((self.kind, self.size) == (b'f', 4), self.named)
    }

    /// Writes a number or text with all its digits.
    fn write(&self, bytes: &[u8], text: &mut Vec<u8>) {
        let mut little = [0; 8];
        for (k, byte) in little.iter_mut().enumerate().take(bytes.len()) {
            *byte = if self.big_endian {
                bytes[bytes.len() - 1 - k]
            } else {
                bytes[k]
            };
        }
        let whole = u64::from_le_bytes(little);
        match (self.kind, self.size) {
            (b'f', 8) => text.extend(format!("{:?}", f64::from_le_bytes(little)).bytes()),
            (b'f', 4) => {
                let [a, b, c, d, ..] = little;
                let x = f64::from(f32::from_le_bytes([a, b, c, d]));
                text.extend(format!("{x:?}").bytes());
            }
            (b'u' | b'b', 1..=8) => text.extend(whole.to_string().bytes()),
            (b'i', size @ 1..=8) => {
                let shift = 64 - 8 * size;
                let whole = (whole << shift).cast_signed() >> shift;
                text.extend(whole.to_string().bytes());
            }
            (b'S', _) => {
                let end = bytes
                    .iter()
                    .rposition(|&byte| byte != 0)
                    .map_or(0, |last| last + 1);
                text.extend(&bytes[..end]);
            }
            (b'U', _) => {
                for letter in bytes.chunks_exact(4) {
                    let mut code = [letter[0], letter[1], letter[2], letter[3]];
                    if self.big_endian {
                        code.reverse();
                    }
                    let letter = char::from_u32(u32::from_le_bytes(code)).unwrap_or('\u{fffd}');
                    if letter != '\0' {
                        text.extend(letter.encode_utf8(&mut [0; 4]).bytes());
                    }
                }
            }
            (kind, size) => text.extend(format!("dtype {}{size}", char::from(kind)).bytes()),
        }
    }
}

/// What the elements of an array may be.
#[derive(Clone, Copy, PartialEq)]
enum Accepted {
    Floats,
    /// Also integers and flags.
    Integers,
    /// Floats, or records with fields.
    Records,
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
    /// The fields of a structured array.
    record: Option<Record>,
}

impl<'a, R: Read> Array<'a, R> {
    pub(crate) fn open(source: &'a str, input: R) -> Result<Self> {
        Self::open_any(source, input, Accepted::Floats)
    }

    fn open_any(source: &'a str, input: R, accepted: Accepted) -> Result<Self> {
        let mut array = Self {
            source,
            input: BufReader::with_capacity(1 << 16, input),
            byte: 0,
            shape: Vec::new(),
            by_columns: false,
            big_endian: false,
            wide: false,
            integers: None,
            record: None,
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
        array.understand(&header, accepted).map_err(|what| {
            at(
                source,
                "byte",
                start,
                &format!("{what}; the header is `{}`", number::shown(&header)),
            )
        })?;
        Ok(array)
    }

    fn understand(&mut self, header: &[u8], accepted: Accepted) -> Result<(), String> {
        let text = std::str::from_utf8(header)
            .map_err(|_| "the header is damaged: not all its bytes are text".to_owned())?;
        // A header with a backslash (an escape sequence) is rejected, because the header of a plain array has
        // none.
        let fit = depth(text) <= DEEPEST && !text.contains('\\');
        let Some(Ok(Value::Dict(entries))) = fit.then(|| text.trim_end().parse()) else {
            return Err(
                "the header does not describe a plain array, or one with fields of numbers".into(),
            );
        };
        // NumPy refuses other keys, too, and takes the last of two that are equal.
        for (key, _) in &entries {
            let is_known = matches!(key, Value::String(key) if KEYS.contains(&key.as_str()));
            if !is_known || entries.iter().filter(|(other, _)| other == key).count() > 1 {
                let keys = KEYS.join(", ");
                return Err(format!(
                    "the header must have each of the keys {keys} once, and no other"
                ));
            }
        }
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
        self.shape = shape.ok_or("the shape must consist of whole numbers from 0 to 2^64 - 1")?;
        self.by_columns = by_columns;
        let descr = match entry("descr")? {
            Value::String(descr) => descr,
            Value::List(fields) if accepted == Accepted::Records => {
                self.record = Some(Record::of(fields)?);
                return Ok(());
            }
            _ => {
                return Err(
                    "the dtype is structured, but must be float32 or float64: save the \
                            fields as arrays, such as a['radius']"
                        .into(),
                );
            }
        };
        (self.big_endian, self.wide) = match descr.as_str() {
            "<f4" => (false, false),
            "<f8" => (false, true),
            ">f4" => (true, false),
            ">f8" => (true, true),
            "|b1" | "|i1" | "|u1" | "<i4" | "<i8" | "<u4" if accepted == Accepted::Integers => {
                let bytes = descr.as_bytes();
                self.integers = bytes.last().map(|digit| usize::from(digit - b'0'));
                (false, false)
            }
            _ => {
                let advice = match descr.as_bytes().get(1) {
                    Some(b'O') => {
                        "these are objects of Python: save np.array(a.tolist(), dtype=np.float64)"
                    }
                    Some(b'c') => {
                        "these are complex numbers: save the part that is meant, such as a.real"
                    }
                    Some(b'U' | b'S') => {
                        "these are texts: save numbers, or flags such as np.array([True])"
                    }
                    _ => "save a.astype(np.float64)",
                };
                return Err(format!(
                    "the dtype is {}, but must be float32 or float64: {advice}",
                    number::shown(descr.as_bytes())
                ));
            }
        };
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
        self.end()
    }

    /// Returns an error unless the file ends here.
    fn end(&mut self) -> Result<()> {
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
        let mut array = Self::open_any(source, input, Accepted::Integers)?;
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

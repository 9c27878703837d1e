//! Columns of a written list of colliding pairs.

use crate::write::pairs::Pair;

/// Optional columns of a written list of colliding pairs. A list always has the columns `a`, `b`, `toi` (time
/// of impact) and `depth`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Columns {
    /// Whether the list of pairs has a column `frame`.
    pub frames: bool,
    /// Whether the columns `a` and `b` hold ids of spheres instead of row numbers. In NumPy arrays, ids are
    /// 64-bit integers and row numbers are 32-bit integers.
    pub ids: bool,
    /// Whether the list of pairs has columns `type_a` and `type_b`.
    pub types: bool,
    /// Whether the list of pairs has columns `n1`, `n2` and `n3`, which give the periodic image of sphere b.
    /// The columns `type_a` and `type_b` then come last.
    pub images: bool,
}

/// A column of a written list of colliding pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Frame,
    A,
    B,
    TypeA,
    TypeB,
    Toi,
    Depth,
    /// A component of the periodic image of sphere b, from 0 to 2.
    Image(usize),
}

/// Value of a pair in a column of the list of pairs. Integers are signed, so that the difference of two
/// integers in NumPy cannot wrap around.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    Short(i32),
    Long(i64),
    Float(f32),
}

impl Columns {
    /// Returns the columns of the list of pairs, from left to right.
    pub(crate) fn list(self) -> impl Iterator<Item = Column> {
        let all = [
            (self.frames, Column::Frame),
            (true, Column::A),
            (true, Column::B),
            (self.types && !self.images, Column::TypeA),
            (self.types && !self.images, Column::TypeB),
            (true, Column::Toi),
            (true, Column::Depth),
            (self.images, Column::Image(0)),
            (self.images, Column::Image(1)),
            (self.images, Column::Image(2)),
            (self.types && self.images, Column::TypeA),
            (self.types && self.images, Column::TypeB),
        ];
        let there = all.into_iter().filter(|(there, _)| *there);
        there.map(|(_, column)| column)
    }

    /// Returns the value of a pair in a column of the list of pairs. `frame` is the number of the frame of
    /// the pair.
    pub(crate) fn value(self, column: Column, frame: u64, pair: &Pair) -> Value {
        // Row numbers of spheres are below 2^30, so row numbers fit into 32 bits.
        let short = |x: i64| Value::Short(i32::try_from(x).unwrap_or(i32::MAX));
        let name = |x: i64| if self.ids { Value::Long(x) } else { short(x) };
        match column {
            Column::Frame => Value::Long(i64::try_from(frame).unwrap_or(i64::MAX)),
            Column::A => name(pair.a),
            Column::B => name(pair.b),
            Column::TypeA => Value::Short(pair.types[0]),
            Column::TypeB => Value::Short(pair.types[1]),
            Column::Toi => Value::Float(pair.toi),
            Column::Depth => Value::Float(pair.depth),
            Column::Image(k) => Value::Short(pair.image.get(k).copied().unwrap_or_default()),
        }
    }

    /// Returns NumPy's name of the type of the numbers in a column, such as `<i4`.
    pub(crate) fn dtype(self, column: Column) -> &'static str {
        match self.value(column, 0, &Pair::default()) {
            Value::Short(_) => "<i4",
            Value::Long(_) => "<i8",
            Value::Float(_) => "<f4",
        }
    }
}

impl Column {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Frame => "frame",
            Self::A => "a",
            Self::B => "b",
            Self::TypeA => "type_a",
            Self::TypeB => "type_b",
            Self::Toi => "toi",
            Self::Depth => "depth",
            Self::Image(0) => "n1",
            Self::Image(1) => "n2",
            Self::Image(_) => "n3",
        }
    }
}

impl Value {
    /// Writes a number in binary with the least significant byte first, as in a NumPy array.
    pub(crate) fn write(self, mut out: impl std::io::Write) -> std::io::Result<()> {
        match self {
            Self::Short(x) => out.write_all(&x.to_le_bytes()),
            Self::Long(x) => out.write_all(&x.to_le_bytes()),
            Self::Float(x) => out.write_all(&x.to_le_bytes()),
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Short(x) => write!(f, "{x}"),
            Self::Long(x) => write!(f, "{x}"),
            // The format `{:?}` prints the fewest digits that read back as the same float32.
            Self::Float(x) => write!(f, "{x:?}"),
        }
    }
}

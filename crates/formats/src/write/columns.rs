//! Describes which columns the tool writes in a list of pairs.

use crate::read::{Type, TypeName};
use crate::write::pairs::Pair;

/// What the pairs of a written list are: touching spheres, spheres at walls, or neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Subject {
    /// Spheres that touch: the list has the columns `a`, `b`, `toi` and `depth`.
    #[default]
    Collisions,
    /// Spheres that touch walls: the list has the columns `sphere`, `wall`, `toi` and `depth`.
    Walls,
    /// Neighbours: the list has the columns `i`, `j`, `dx`, `dy`, `dz` and `d`.
    Neighbors,
}

/// The columns of a list of pairs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Columns {
    /// The kind of pair that the list contains: two touching spheres, a sphere and a wall, or two
    /// neighbours. Each kind has its own first columns.
    pub subject: Subject,
    /// Whether the list has a column `frame`.
    pub frames: bool,
    /// Whether ids from the input, instead of row numbers, identify the spheres. In NumPy arrays, ids are
    /// 64-bit integers and row numbers are 32-bit integers.
    pub ids: bool,
    /// Whether the list has columns with the types of both spheres.
    pub types: bool,
    /// Whether types are names, which NumPy arrays then hold as text.
    pub type_names: bool,
    /// Whether the list of pairs has columns `n1`, `n2` and `n3`, which give the periodic image of sphere b, or of the
    /// sphere that touches a wall.
    pub images: bool,
    /// Whether times, depths, vectors and distances are written as float64. Otherwise they are float32.
    pub float64: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Frame,
    A,
    B,
    TypeA,
    TypeB,
    Number(usize),
    Image(usize),
}

/// Value of a pair in a column. Integers are signed, so that differences of integers in NumPy cannot wrap
/// around.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    Short(i32),
    Long(i64),
    Single(f32),
    Double(f64),
    Text(Type),
}

impl Columns {
    pub(crate) fn list(self) -> impl Iterator<Item = Column> {
        let neighbors = self.subject == Subject::Neighbors;
        let types_are_last = self.images || neighbors;
        let images = |there| [0, 1, 2].map(|k| (there, Column::Image(k)));
        let types = |there| [Column::TypeA, Column::TypeB].map(|column| (there, column));
        let numbers = |there, count| (0..count).map(move |k| (there, Column::Number(k)));
        let names = [
            (self.frames, Column::Frame),
            (true, Column::A),
            (true, Column::B),
        ];
        let all = (names.into_iter())
            .chain(types(self.types && !types_are_last))
            .chain(numbers(!neighbors, 2))
            .chain(images(self.images))
            .chain(numbers(neighbors, 4))
            .chain(types(self.types && types_are_last));
        all.filter(|(there, _)| *there).map(|(_, column)| column)
    }

    pub(crate) fn value(self, column: Column, frame: u64, pair: &Pair) -> Value {
        // Row numbers of spheres and numbers of walls are below 2^31, so they fit into 32 bits.
        let short = |x: i64| Value::Short(i32::try_from(x).unwrap_or(i32::MAX));
        let name = |x: i64| if self.ids { Value::Long(x) } else { short(x) };
        match column {
            Column::Frame => Value::Long(i64::try_from(frame).unwrap_or(i64::MAX)),
            Column::A => name(pair.a),
            Column::B if self.subject == Subject::Walls => short(pair.b),
            Column::B => name(pair.b),
            Column::TypeA => self.kind(pair.types[0]),
            Column::TypeB => self.kind(pair.types[1]),
            Column::Number(k) => {
                let x = pair.numbers.get(k).copied().unwrap_or_default();
                #[expect(clippy::cast_possible_truncation, reason = "the number is a float32")]
                if self.float64 {
                    Value::Double(x)
                } else {
                    Value::Single(x as f32)
                }
            }
            Column::Image(k) => Value::Short(pair.image.get(k).copied().unwrap_or_default()),
        }
    }

    fn kind(self, kind: Type) -> Value {
        match kind {
            Type::Number(number) if !self.type_names => Value::Short(number),
            kind => Value::Text(kind),
        }
    }

    pub(crate) fn name(self, column: Column) -> &'static str {
        let of = |[collisions, neighbors]: [&'static str; 2]| match self.subject {
            Subject::Collisions | Subject::Walls => collisions,
            Subject::Neighbors => neighbors,
        };
        let walls = self.subject == Subject::Walls;
        match column {
            Column::Frame => "frame",
            Column::A if walls => "sphere",
            Column::B if walls => "wall",
            Column::A => of(["a", "i"]),
            Column::B => of(["b", "j"]),
            Column::TypeA => of(["type_a", "type_i"]),
            Column::TypeB => of(["type_b", "type_j"]),
            Column::Number(0) => of(["toi", "dx"]),
            Column::Number(1) => of(["depth", "dy"]),
            Column::Number(2) => "dz",
            Column::Number(_) => "d",
            Column::Image(0) => "n1",
            Column::Image(1) => "n2",
            Column::Image(_) => "n3",
        }
    }

    /// Returns NumPy's name of the number type of a column, such as `<i4`.
    pub(crate) fn dtype(self, column: Column) -> &'static str {
        match self.value(column, 0, &Pair::default()) {
            Value::Short(_) => "<i4",
            Value::Long(_) => "<i8",
            Value::Single(_) => "<f4",
            Value::Double(_) => "<f8",
            Value::Text(_) => "<U16",
        }
    }
}

impl Value {
    /// Writes a value in binary with the least significant byte first. Text is an error unless the columns are made
    /// for names of types.
    pub(crate) fn write(
        self,
        columns: Columns,
        mut out: impl std::io::Write,
    ) -> std::io::Result<()> {
        match self {
            Self::Short(x) => out.write_all(&x.to_le_bytes()),
            Self::Long(x) => out.write_all(&x.to_le_bytes()),
            Self::Single(x) => out.write_all(&x.to_le_bytes()),
            Self::Double(x) => out.write_all(&x.to_le_bytes()),
            Self::Text(_) if !columns.type_names => Err(std::io::Error::other(
                "a type is a name, but the types of the first frame are numbers; write the list as CSV",
            )),
            Self::Text(kind) => {
                let mut text = [0_u32; TypeName::MOST];
                for (place, letter) in text.iter_mut().zip(kind.to_string().chars()) {
                    *place = letter.into();
                }
                out.write_all(&text.map(u32::to_le_bytes).concat())
            }
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Short(x) => write!(f, "{x}"),
            Self::Long(x) => write!(f, "{x}"),
            Self::Text(kind) => write!(f, "{kind}"),
            // The format `{:?}` prints the fewest digits that read back as the same number.
            Self::Single(x) => write!(f, "{x:?}"),
            Self::Double(x) => write!(f, "{x:?}"),
        }
    }
}

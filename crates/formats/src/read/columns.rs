//! Finds the columns of an input file that hold positions, radii and velocities of spheres, and reads the
//! rows.

use carom::{Field, Sphere};

use crate::read::cell::Cell;
use crate::read::{Radii, ReadOptions, number};

const MOST_SHOWN: usize = 200;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Names {
    pub(crate) center: [&'static str; 3],
    /// Column that determines the radius: `radius`, `diameter`, or `type` if the options give a radius for
    /// each type of sphere.
    pub(crate) size: &'static str,
    pub(crate) velocity: [&'static str; 3],
}

impl Names {
    pub(crate) const PLAIN: Self = Self {
        center: ["x", "y", "z"],
        size: "radius",
        velocity: ["vx", "vy", "vz"],
    };

    pub(crate) fn of(&self, field: Field) -> &'static str {
        let (names, axis) = match field {
            Field::Radius => return self.size,
            Field::Center(axis) => (self.center, axis),
            Field::Velocity(axis) | Field::Displacement(axis) => (self.velocity, axis),
        };
        names.get(axis).copied().unwrap_or("?")
    }
}

/// Columns of an input file that are read, counted from 0.
#[derive(Debug)]
pub(crate) struct Columns {
    pub(crate) names: Names,
    /// Columns of the centres. Without a column of z, the world is two-dimensional, and z is 0.
    center: [usize; 2],
    height: Option<usize>,
    size: Size,
    /// Columns of the velocity. A component without a column is read as 0.
    velocity: [Option<usize>; 3],
    centers_only: bool,
    id: Option<usize>,
    kind: Option<usize>,
    /// Simulation box to which scaled coordinates refer, or `None` for unscaled coordinates.
    cell: Option<Cell>,
}

/// Source of the radii: a column of radii or diameters, one radius for all spheres, or a column of types and
/// a radius for each type.
#[derive(Debug)]
enum Size {
    Radius(usize),
    Diameter(usize),
    Constant(f32),
    Kind(usize, Radii),
}

/// A sphere of an input file, and its id and type if the options request them.
pub(crate) struct Row {
    pub(crate) sphere: Sphere,
    pub(crate) id: Option<i64>,
    pub(crate) kind: Option<i32>,
}

#[derive(Debug)]
pub(crate) struct BadField {
    pub(crate) name: &'static str,
    /// Description of the error, written to follow the name of the field, such as "is `abc`, but must be a
    /// finite number".
    pub(crate) what: String,
}

impl Columns {
    /// Finds the columns to read among the column names of an input file. Each entry of `centers` is a set of
    /// names that the three coordinates may have, such as x, y, z. The first complete set is used.
    pub(crate) fn find(
        names: &[String],
        centers: &[[&'static str; 3]],
        options: &ReadOptions,
    ) -> Result<Self, String> {
        let mut found = None;
        let mut flat = None;
        let has = |name: &str| names.iter().any(|other| other.eq_ignore_ascii_case(name));
        let has_heights = centers.iter().any(|[_, _, z]| has(z));
        for &center in centers {
            match positions(names, center)? {
                [Some(x), Some(y), Some(z)] => found = found.or(Some((center, [x, y], Some(z)))),
                [Some(x), Some(y), None] if !has_heights => {
                    flat = flat.or(Some((center, [x, y], None)));
                }
                _ => {}
            }
        }
        let Some((center_names, center, height)) = found.or(flat) else {
            // The error message names a coordinate column that the file lacks. If the file has some
            // columns of a triple, such as x and y of x, y and z, the message names the column that
            // completes the triple.
            let partial = |center: &&[&str; 3]| center.iter().any(|name| has(name));
            let center = centers.iter().find(partial).or(centers.first());
            let absent = center.and_then(|c| c.iter().find(|&name| !has(name)));
            return Err(missing(absent.unwrap_or(&"x"), names));
        };
        let plain = Names::PLAIN;
        let (size_name, size) = if options.centers_only {
            ("radius", Size::Constant(0.0))
        } else {
            size(names, &options.radii)?
        };
        let needed = |name, option: Option<&str>| match (position(names, name)?, option) {
            (None, Some(option)) => Err(missing(&format!("{name}, which {option} needs"), names)),
            (found, option) => Ok(found.filter(|_| option.is_some())),
        };
        Ok(Self {
            names: Names {
                center: center_names,
                size: size_name,
                ..plain
            },
            center,
            height,
            size,
            velocity: if options.centers_only {
                [None; 3]
            } else {
                positions(names, plain.velocity)?
            },
            centers_only: options.centers_only,
            id: needed("id", options.ids.then_some("--ids"))?,
            kind: needed("type", options.types.then_some("--types"))?,
            cell: None,
        })
    }

    /// Marks the coordinates as scaled: as fractions of the edges of the simulation box `cell`.
    pub(crate) fn within(self, cell: Cell) -> Self {
        Self {
            cell: Some(cell),
            ..self
        }
    }

    /// Reads a sphere. The caller's function `field` returns the text in a column.
    pub(crate) fn row<'a>(
        &self,
        field: impl Fn(usize) -> Option<&'a [u8]>,
    ) -> Result<Row, BadField> {
        let field = |column| field(column).unwrap_or_default();
        let bad = |name| move |what| BadField { name, what };
        let number = |column, name| number::parse(field(column)).map_err(bad(name));
        let kind = |column| number::kind(field(column)).map_err(bad("type"));
        let mut sphere = Sphere::default();
        if let Some(cell) = &self.cell {
            let mut parts = [0.0; 3];
            for (axis, column) in self.centers() {
                parts[axis] =
                    number::parse_wide(field(column)).map_err(bad(self.names.center[axis]))?;
            }
            let axes = if self.is_flat() { 2 } else { 3 };
            for (axis, x) in cell.at(parts).into_iter().enumerate().take(axes) {
                sphere.center[axis] = number::narrow(x).map_err(bad(self.names.center[axis]))?;
            }
        } else {
            for (axis, column) in self.centers() {
                sphere.center[axis] = number(column, self.names.center[axis])?;
            }
        }
        for axis in 0..3 {
            if let Some(column) = self.velocity[axis] {
                sphere.velocity[axis] = number(column, self.names.velocity[axis])?;
            }
        }
        sphere.radius = match &self.size {
            &Size::Radius(column) => number(column, "radius")?,
            &Size::Diameter(column) => {
                number::halve(number(column, "diameter")?).map_err(bad("diameter"))?
            }
            &Size::Constant(radius) => radius,
            Size::Kind(column, radii) => {
                let kind = kind(*column)?;
                let unknown = || format!("is {kind}, but --radius-by-type lacks {kind}=RADIUS");
                radii.of_type(kind).ok_or_else(|| bad("type")(unknown()))?
            }
        };
        let id = self
            .id
            .map(|column| number::id(field(column)).map_err(bad("id")));
        Ok(Row {
            sphere,
            id: id.transpose()?,
            kind: self.kind.map(kind).transpose()?,
        })
    }

    /// Returns the axes and columns of the centres.
    fn centers(&self) -> impl Iterator<Item = (usize, usize)> {
        let [x, y] = self.center;
        [Some(x), Some(y), self.height]
            .into_iter()
            .enumerate()
            .filter_map(|(axis, column)| Some((axis, column?)))
    }

    /// Returns whether there is no column of z: z is 0.
    pub(crate) fn is_flat(&self) -> bool {
        self.height.is_none()
    }

    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        let height = self.note_of_height().into_iter();
        height.chain(self.note_of_motion())
    }

    pub(crate) fn note_of_height(&self) -> Option<String> {
        self.is_flat().then(|| {
            format!(
                "there is no column {}: the world is taken as two-dimensional, with z = 0, and open \
                 along z",
                self.names.center[2]
            )
        })
    }

    fn note_of_motion(&self) -> Option<String> {
        if self.centers_only {
            return None;
        }
        let axes = if self.is_flat() { 2 } else { 3 };
        let missing: Vec<&str> = (self.names.velocity.into_iter())
            .zip(self.velocity)
            .take(axes)
            .filter_map(|(name, column)| column.is_none().then_some(name))
            .collect();
        match missing.len() {
            0 => None,
            count if count == axes && self.velocity[2].is_none() => Some(format!(
                "there are no columns {}: every sphere is at rest",
                missing.join(", ")
            )),
            _ => Some(format!(
                "there is no column {}: these velocity components are taken as 0",
                missing.join(", ")
            )),
        }
    }
}

fn size(names: &[String], radii: &Radii) -> Result<(&'static str, Size), String> {
    let radius = position(names, "radius")?.map(|at| ("radius", Size::Radius(at)));
    let diameter = position(names, "diameter")?.map(|at| ("diameter", Size::Diameter(at)));
    let in_file = radius.or(diameter);
    let option = match radii {
        Radii::InFile => {
            return in_file.ok_or_else(|| {
                let what = missing("radius or diameter", names);
                format!("{what}; give the radii with --radius or --radius-by-type")
            });
        }
        Radii::Constant(_) => "--radius",
        Radii::ByType(_) => "--radius-by-type",
    };
    if let Some((name, _)) = in_file {
        return Err(format!("there is a column {name}, so leave out {option}"));
    }
    match radii {
        &Radii::Constant(radius) => Ok(("radius", Size::Constant(radius))),
        _ => match position(names, "type")? {
            Some(column) => Ok(("type", Size::Kind(column, radii.clone()))),
            None => Err(missing("type, which --radius-by-type needs", names)),
        },
    }
}

fn missing(what: &str, names: &[String]) -> String {
    let all = names.join(", ");
    let cut = number::printable(&all, MOST_SHOWN);
    let more = if all.chars().nth(MOST_SHOWN).is_some() {
        " ..."
    } else {
        ""
    };
    format!("there is no column {what}; the columns are {cut}{more}")
}

/// Returns the positions of three named columns, or `None` for a missing column. Two columns with the same
/// name are an error.
fn positions(names: &[String], three: [&str; 3]) -> Result<[Option<usize>; 3], String> {
    let [x, y, z] = three;
    Ok([
        position(names, x)?,
        position(names, y)?,
        position(names, z)?,
    ])
}

fn position(names: &[String], name: &str) -> Result<Option<usize>, String> {
    let mut found = names
        .iter()
        .enumerate()
        .filter(|(_, n)| n.eq_ignore_ascii_case(name))
        .map(|(i, _)| i);
    let first = found.next();
    if found.next().is_some() {
        return Err(format!(
            "there is more than one column {name}; rename or remove the others"
        ));
    }
    Ok(first)
}

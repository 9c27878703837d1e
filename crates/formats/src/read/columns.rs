//! Finds the columns of an input file that hold positions, radii and velocities of spheres, and reads the
//! rows.

use carom::{Field, HardSphere};

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
    center: [usize; 3],
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
    Constant(f64),
    Kind(usize, Radii),
}

/// A sphere of an input file, and its id and type if the options request them.
pub(crate) struct Row {
    pub(crate) sphere: HardSphere,
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
        for &center in centers {
            if let [Some(x), Some(y), Some(z)] = positions(names, center)? {
                found = found.or(Some((center, [x, y, z])));
            }
        }
        let Some((center_names, center)) = found else {
            // The error message names a coordinate column that the file lacks. If the file has some
            // columns of a triple, such as x and y of x, y and z, the message names the column that
            // completes the triple.
            let partial = |center: &&[&str; 3]| names.iter().any(|n| center.contains(&n.as_str()));
            let center = centers.iter().find(partial).or(centers.first());
            let absent = center.and_then(|c| c.iter().find(|&n| !names.iter().any(|m| m == n)));
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
        let number = |column, name| number::parse_wide(field(column)).map_err(bad(name));
        let kind = |column| number::kind(field(column)).map_err(bad("type"));
        let mut sphere = HardSphere::new([0.0; 3], 0.0);
        if let Some(cell) = &self.cell {
            let mut parts = [0.0; 3];
            for (axis, part) in parts.iter_mut().enumerate() {
                *part = number::parse_wide(field(self.center[axis]))
                    .map_err(bad(self.names.center[axis]))?;
            }
            for (axis, x) in cell.at(parts).into_iter().enumerate() {
                sphere.center[axis] = number::finite(x).map_err(bad(self.names.center[axis]))?;
            }
        } else {
            for axis in 0..3 {
                sphere.center[axis] = number(self.center[axis], self.names.center[axis])?;
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

    pub(crate) fn note(&self) -> Option<String> {
        if self.centers_only {
            return None;
        }
        let missing: Vec<&str> = (self.names.velocity.into_iter())
            .zip(self.velocity)
            .filter_map(|(name, column)| column.is_none().then_some(name))
            .collect();
        match missing.len() {
            0 => None,
            3 => Some("there are no columns vx, vy, vz: every sphere is at rest".to_owned()),
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
        .filter(|(_, n)| *n == name)
        .map(|(i, _)| i);
    let first = found.next();
    if found.next().is_some() {
        return Err(format!(
            "there is more than one column {name}; rename or remove the others"
        ));
    }
    Ok(first)
}

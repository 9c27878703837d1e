//! Which column of a file holds which number of a sphere.

use carom::{Field, Sphere};

use crate::read::cell::Cell;
use crate::read::{Radii, ReadOptions, number};

/// How much of a header that is wrong is shown.
const MOST_SHOWN: usize = 200;

/// What the fields of a sphere are called in a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names {
    pub(crate) center: [&'static str; 3],
    /// `radius`, `diameter` or, if types tell the radii, `type`.
    pub(crate) size: &'static str,
    pub(crate) velocity: [&'static str; 3],
}

impl Names {
    /// The names that carom prefers.
    pub(crate) const PLAIN: Self = Self {
        center: ["x", "y", "z"],
        size: "radius",
        velocity: ["vx", "vy", "vz"],
    };

    /// The name of a field.
    pub(crate) fn of(&self, field: Field) -> &'static str {
        let (names, axis) = match field {
            Field::Radius => return self.size,
            Field::Center(axis) => (self.center, axis),
            Field::Velocity(axis) | Field::Displacement(axis) => (self.velocity, axis),
        };
        names.get(axis).copied().unwrap_or("?")
    }
}

/// The positions of the columns carom reads.
#[derive(Debug)]
pub(crate) struct Columns {
    pub(crate) names: Names,
    center: [usize; 3],
    size: Size,
    velocity: [Option<usize>; 3],
    id: Option<usize>,
    kind: Option<usize>,
    /// What the coordinates are parts of, if they are.
    cell: Option<Cell>,
}

/// Where the radius of a sphere comes from.
#[derive(Debug)]
enum Size {
    Radius(usize),
    Diameter(usize),
    /// The same radius for all.
    Constant(f32),
    /// The type in a column, and the radii of types.
    Kind(usize, Radii),
}

/// What a row says of a sphere.
pub(crate) struct Row {
    pub(crate) sphere: Sphere,
    pub(crate) id: Option<i64>,
    pub(crate) kind: Option<i32>,
}

/// A field that is wrong: which, and a sentence about it that lacks its subject.
#[derive(Debug)]
pub(crate) struct BadField {
    pub(crate) name: &'static str,
    pub(crate) what: String,
}

impl Columns {
    /// Finds the columns by their names. `centers` are the names that the coordinates may have, the
    /// preferred ones first.
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
            // Which of them is missing, of those that are there in part.
            let partial = |center: &&[&str; 3]| names.iter().any(|n| center.contains(&n.as_str()));
            let center = centers.iter().find(partial).or(centers.first());
            let absent = center.and_then(|c| c.iter().find(|&n| !names.iter().any(|m| m == n)));
            return Err(missing(absent.unwrap_or(&"x"), names));
        };
        let plain = Names::PLAIN;
        let (size_name, size) = size(names, &options.radii)?;
        let needed = |name, option: Option<&str>| match (position(names, name)?, option) {
            (None, Some(option)) => Err(missing(&format!("{name}, which {option} takes"), names)),
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
            velocity: positions(names, plain.velocity)?,
            id: needed("id", options.ids.then_some("--ids"))?,
            kind: needed("type", options.types.then_some("--types"))?,
            cell: None,
        })
    }

    /// The same columns, with coordinates that are parts of a cell.
    pub(crate) fn within(self, cell: Cell) -> Self {
        Self {
            cell: Some(cell),
            ..self
        }
    }

    /// Reads a row; `field` gives its fields by position.
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
            for (axis, part) in parts.iter_mut().enumerate() {
                *part = number::parse_wide(field(self.center[axis]))
                    .map_err(bad(self.names.center[axis]))?;
            }
            for (axis, x) in cell.at(parts).into_iter().enumerate() {
                sphere.center[axis] = number::narrow(x).map_err(bad(self.names.center[axis]))?;
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
                let unknown = || format!("is {kind}, for which --radius-by-type has no radius");
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

    /// What to tell of columns that are not there.
    pub(crate) fn note(&self) -> Option<String> {
        let missing: Vec<&str> = (self.names.velocity.into_iter())
            .zip(self.velocity)
            .filter_map(|(name, column)| column.is_none().then_some(name))
            .collect();
        match missing.len() {
            0 => None,
            3 => Some("there are no columns vx, vy, vz: every sphere is at rest".to_owned()),
            _ => Some(format!(
                "there is no column {}: those velocities are 0",
                missing.join(", ")
            )),
        }
    }
}

/// Where the radii of spheres come from, and the name of that field.
fn size(names: &[String], radii: &Radii) -> Result<(&'static str, Size), String> {
    let radius = position(names, "radius")?.map(|at| ("radius", Size::Radius(at)));
    let diameter = position(names, "diameter")?.map(|at| ("diameter", Size::Diameter(at)));
    let in_file = radius.or(diameter);
    let option = match radii {
        Radii::InFile => {
            return in_file.ok_or_else(|| {
                let what = missing("radius or diameter", names);
                format!("{what}; --radius or --radius-by-type gives the radii instead")
            });
        }
        Radii::Constant(_) => "--radius",
        Radii::ByType(_) => "--radius-by-type",
    };
    if let Some((name, _)) = in_file {
        return Err(format!(
            "there is a column {name}, so {option} is not needed: leave it out"
        ));
    }
    match radii {
        &Radii::Constant(radius) => Ok(("radius", Size::Constant(radius))),
        _ => match position(names, "type")? {
            Some(column) => Ok(("type", Size::Kind(column, radii.clone()))),
            None => Err(missing("type, which --radius-by-type takes", names)),
        },
    }
}

/// A sentence about a column that is not there.
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

/// Where each of three names stands, if it does; an error if it stands there twice.
fn positions(names: &[String], three: [&str; 3]) -> Result<[Option<usize>; 3], String> {
    let [x, y, z] = three;
    Ok([
        position(names, x)?,
        position(names, y)?,
        position(names, z)?,
    ])
}

/// Where a name stands, if it does; an error if it stands there twice.
fn position(names: &[String], name: &str) -> Result<Option<usize>, String> {
    let mut found = names
        .iter()
        .enumerate()
        .filter(|(_, n)| *n == name)
        .map(|(i, _)| i);
    let first = found.next();
    if found.next().is_some() {
        return Err(format!("there is more than one column {name}"));
    }
    Ok(first)
}

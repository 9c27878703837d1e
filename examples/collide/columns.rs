//! Which column of a file holds which number of a sphere.

use carom::{Field, Sphere};

use crate::cell::Cell;
use crate::number;

/// How much of a header that is wrong is shown.
const MOST_SHOWN: usize = 200;

/// What the fields of a sphere are called in a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names {
    pub(crate) center: [&'static str; 3],
    /// `radius` or `diameter`.
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
    size: usize,
    velocity: [Option<usize>; 3],
    id: Option<usize>,
    /// What the coordinates are parts of, if they are.
    cell: Option<Cell>,
}

/// A field that is wrong: which, and a sentence about it that lacks its subject.
#[derive(Debug)]
pub(crate) struct BadField {
    pub(crate) name: &'static str,
    pub(crate) what: String,
}

impl Columns {
    /// Finds the columns by their names. `sizes` are the names that the size may
    /// have, the preferred one first; so are `centers`.
    pub(crate) fn find(
        names: &[String],
        centers: &[[&'static str; 3]],
        sizes: &[&'static str],
        with_ids: bool,
    ) -> Result<Self, String> {
        let missing = |what: &str| {
            let all = names.join(", ");
            let cut = number::printable(&all, MOST_SHOWN);
            let more = if all.chars().nth(MOST_SHOWN).is_some() {
                " ..."
            } else {
                ""
            };
            format!("there is no column {what}; the columns are {cut}{more}")
        };
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
            return Err(missing(absent.unwrap_or(&"x")));
        };
        let mut size = None;
        for &name in sizes {
            size = size.or(position(names, name)?.map(|at| (name, at)));
        }
        let (size_name, size) = size.ok_or_else(|| missing(&sizes.join(" or ")))?;
        let id = position(names, "id")?;
        if with_ids && id.is_none() {
            return Err(missing("id, which --ids takes"));
        }
        let plain = Names::PLAIN;
        Ok(Self {
            names: Names {
                center: center_names,
                size: size_name,
                ..plain
            },
            center,
            size,
            velocity: positions(names, plain.velocity)?,
            id: id.filter(|_| with_ids),
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

    /// Reads a sphere from a row; `field` gives its fields by position.
    pub(crate) fn sphere<'a>(
        &self,
        field: impl Fn(usize) -> Option<&'a [u8]>,
    ) -> Result<Sphere, BadField> {
        let field = |column| field(column).unwrap_or_default();
        let bad = |name| move |what| BadField { name, what };
        let number = |column, name| number::parse(field(column)).map_err(bad(name));
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
        let name = self.names.size;
        sphere.radius = number(self.size, name)?;
        if name == "diameter" {
            sphere.radius = number::halve(sphere.radius).map_err(bad(name))?;
        }
        Ok(sphere)
    }

    /// Reads the id from a row, if ids are asked for.
    pub(crate) fn id<'a>(
        &self,
        field: impl Fn(usize) -> Option<&'a [u8]>,
    ) -> Result<Option<u64>, BadField> {
        let Some(column) = self.id else {
            return Ok(None);
        };
        match number::id(field(column).unwrap_or_default()) {
            Ok(id) => Ok(Some(id)),
            Err(what) => Err(BadField { name: "id", what }),
        }
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

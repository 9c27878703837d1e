//! Which column of a file holds which number of a sphere.

use carom::{Field, Sphere};

use crate::number;

const CENTER: [&str; 3] = ["x", "y", "z"];
const VELOCITY: [&str; 3] = ["vx", "vy", "vz"];

/// The positions of the columns carom reads.
#[derive(Debug)]
pub(crate) struct Columns {
    center: [usize; 3],
    size: usize,
    /// `radius` or `diameter`.
    size_name: &'static str,
    velocity: [Option<usize>; 3],
}

/// A field that is wrong: which, and a sentence about it that lacks its subject.
#[derive(Debug)]
pub(crate) struct BadField {
    pub(crate) name: &'static str,
    pub(crate) what: String,
}

impl Columns {
    /// Finds the columns by their names. `sizes` are the names that the size may
    /// have, the preferred one first.
    pub(crate) fn find(names: &[String], sizes: &[&'static str]) -> Result<Self, String> {
        let missing = |what: &str| {
            format!(
                "there is no column {what}; the columns are {}",
                names.join(", ")
            )
        };
        let mut center = [0; 3];
        let mut velocity = [None; 3];
        for axis in 0..3 {
            center[axis] = position(names, CENTER[axis])?.ok_or_else(|| missing(CENTER[axis]))?;
            velocity[axis] = position(names, VELOCITY[axis])?;
        }
        for &size_name in sizes {
            if let Some(size) = position(names, size_name)? {
                return Ok(Self {
                    center,
                    size,
                    size_name,
                    velocity,
                });
            }
        }
        Err(missing(&sizes.join(" or ")))
    }

    /// Reads a sphere from a row; `field` gives its fields by position.
    pub(crate) fn sphere<'a>(
        &self,
        field: impl Fn(usize) -> Option<&'a [u8]>,
    ) -> Result<Sphere, BadField> {
        let number = |column, name| {
            number::parse(field(column).unwrap_or_default()).map_err(|what| BadField { name, what })
        };
        let mut sphere = Sphere::default();
        for axis in 0..3 {
            sphere.center[axis] = number(self.center[axis], CENTER[axis])?;
            if let Some(column) = self.velocity[axis] {
                sphere.velocity[axis] = number(column, VELOCITY[axis])?;
            }
        }
        let name = self.size_name;
        sphere.radius = number(self.size, name)?;
        if name == "diameter" {
            sphere.radius = number::halve(sphere.radius).map_err(|what| BadField { name, what })?;
        }
        Ok(sphere)
    }

    /// What to tell of columns that are not there.
    pub(crate) fn note(&self) -> Option<String> {
        let at_rest = self.velocity == [None; 3];
        at_rest.then(|| "there are no columns vx, vy, vz: every sphere is at rest".to_owned())
    }

    /// The name in the file of a field of a sphere.
    pub(crate) fn name(&self, field: Field) -> &'static str {
        let (names, axis) = match field {
            Field::Radius => return self.size_name,
            Field::Center(axis) => (CENTER, axis),
            Field::Velocity(axis) | Field::Displacement(axis) => (VELOCITY, axis),
        };
        names.get(axis).copied().unwrap_or("?")
    }
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

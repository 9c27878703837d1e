//! Options for reading an input file.

use std::collections::BTreeMap;

use carom::Domain;

use crate::error::{Error, Result, bail};
use crate::read::{ColumnNames, Type, number};

/// Options for reading an input file.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Whether to read the ids of the spheres from the column `id`.
    pub ids: bool,
    /// Whether to read the types of the spheres from the column `type`, or else `element` or `species`.
    pub types: bool,
    /// Where the radii of the spheres come from: the input file, or values from the caller.
    pub radii: Radii,
    /// Whether to read the centres only: all radii and velocities are then 0, and `radii` is ignored.
    pub centers_only: bool,
    /// Whether all spheres are at rest: the motion in the input is not read.
    pub at_rest: bool,
    /// Names of columns, for an input whose columns have no names or other names than the readers know.
    pub columns: Option<ColumnNames>,
    /// What separates the columns of a CSV file: a comma if `None`.
    pub separator: Option<Separator>,
    /// Whether to ignore the box of the input. Without a box from the caller (`cell`), the world is then open.
    /// A LAMMPS dump that states no box is an error unless `open` is true or `cell` is given.
    pub open: bool,
    /// The box that the caller gives, with the edges along which it is periodic, for an input without a box.
    /// If the input has a box, `cell` is an error unless `open` is true.
    pub cell: Option<Domain>,
    /// For each edge of the box, whether the world is periodic along it, instead of what the input or `cell`
    /// says.
    pub periodic: Option<[bool; 3]>,
}

impl ReadOptions {
    /// Returns whether the options say which edges of the box are periodic.
    pub(crate) fn says_so(&self) -> bool {
        self.open || self.cell.is_some() || self.periodic.is_some()
    }
}

/// What separates the columns of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Separator {
    /// One comma.
    Comma,
    /// One semicolon.
    Semicolon,
    /// One tabulator.
    Tab,
    /// One or several spaces or tabulators.
    Space,
}

/// Where the radii of the spheres come from: the input file, or values from the caller.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Radii {
    /// The radii are read from the input file, which has radii or diameters.
    #[default]
    InFile,
    /// Radius of all spheres of an input file without radii.
    Constant(f64),
    /// Radius of each type of sphere, for an input file with a column `type`, `element` or `species`
    /// but without radii.
    ByType(BTreeMap<Type, f64>),
}

impl Radii {
    /// Parses a radius for each type of sphere, from a text such as `1=0.5,2=0.8` or `Na=1,Cl=2`.
    ///
    /// # Errors
    /// Returns an error if the text is invalid or a number is out of range.
    pub fn by_type(text: &str) -> Result<Self> {
        let mut radii = BTreeMap::new();
        for part in text.split(',') {
            let Some((kind, value)) = part.split_once('=') else {
                bail!(
                    "`{}` must have the form TYPE=RADIUS, such as 1=0.5",
                    number::printable(part, 40)
                );
            };
            let kind: Type = kind.parse()?;
            if radii.insert(kind, magnitude("radius", value)?).is_some() {
                bail!("type {kind} is given twice; give each type once");
            }
        }
        Ok(Self::ByType(radii))
    }

    /// Returns the radius that the options give to all spheres of a NumPy array, or `None` if the
    /// radii are in the file. Returns an error if the options give radii by type, because NumPy
    /// arrays have no types.
    pub(crate) fn of_arrays(&self, source: &str) -> Result<Option<f64>> {
        match *self {
            Self::InFile => Ok(None),
            Self::Constant(radius) => Ok(Some(radius)),
            Self::ByType(_) => bail!("{source}: arrays have no types; use --radius"),
        }
    }

    pub(crate) fn of_type(&self, kind: Type) -> Option<f64> {
        match self {
            Self::ByType(radii) => radii.get(&kind).copied(),
            _ => None,
        }
    }
}

/// Parses a number from 0 to [`carom::MAX_MAGNITUDE_F64`], such as a radius, called `name` in messages.
///
/// # Errors
/// Returns an error if the text is invalid or the number is out of range.
pub fn magnitude(name: &str, text: &str) -> Result<f64> {
    let x =
        number::parse(text.as_bytes()).map_err(|what| Error::new(format!("the {name} {what}")))?;
    if (0.0..=carom::MAX_MAGNITUDE_F64).contains(&x) {
        Ok(x)
    } else {
        let most = carom::MAX_MAGNITUDE_F64;
        bail!("the {name} is {x:?}, but must be from 0 to {most:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radii_by_type_are_read() {
        let radii = Radii::by_type("1=0.5, 2 = 0.8").unwrap();
        assert_eq!(
            radii,
            Radii::ByType(BTreeMap::from([(1.into(), 0.5), (2.into(), 0.8)]))
        );
        assert_eq!(radii.of_type(2.into()), Some(0.8));
        assert_eq!(radii.of_type(3.into()), None);
    }

    #[test]
    fn invalid_radii_by_type_are_rejected() {
        for (text, part) in [
            ("", "TYPE=RADIUS"),
            ("0.5", "TYPE=RADIUS"),
            ("1=0.5,", "TYPE=RADIUS"),
            ("a\tb=0.5", "`a"),
            ("a=0.5,a=1", "twice"),
            ("1.5=1", "`1.5`"),
            ("-1=0.5", "`-1`"),
            ("1=0.5,1=0.6", "twice"),
            ("1=x", "`x`"),
            ("1=-1", "-1"),
            ("1=nan", "`nan`"),
            ("1=1e130", "1e130"),
        ] {
            let error = Radii::by_type(text).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}

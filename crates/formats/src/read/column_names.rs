//! Names that the caller gives to the columns of an input.

use std::str::FromStr;

use crate::error::{Error, Result, bail};
use crate::read::number;

/// Names of columns that the readers know. `_` stands for a column that is not read.
const KNOWN: [&str; 23] = [
    "x", "y", "z", "xu", "yu", "zu", "xs", "ys", "zs", "xsu", "ysu", "zsu", "radius", "diameter",
    "vx", "vy", "vz", "id", "type", "element", "species", "mass", "_",
];

/// Largest number of a column.
const MOST: usize = 1 << 16;

/// Names that the caller gives to the columns of an input: of some columns, or of all in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnNames(Given);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Given {
    /// Pairs of a name and a column: the name of the column in the input, or its number from 1.
    Some(Vec<(String, String)>),
    All(Vec<String>),
}

impl ColumnNames {
    /// Returns the names of all columns in their order, or `None` if only some columns get names. A CSV file has no
    /// header if all columns get names.
    pub(crate) fn all(&self) -> Option<&[String]> {
        match &self.0 {
            Given::Some(_) => None,
            Given::All(names) => Some(names),
        }
    }

    /// Changes the names of the columns of an input. If `is_open` is true, the input may have more columns than it
    /// names.
    pub(crate) fn apply(&self, names: &mut Vec<String>, is_open: bool) -> Result<(), String> {
        let pairs = match &self.0 {
            Given::Some(pairs) => pairs,
            Given::All(all) if is_open || names.is_empty() || all.len() == names.len() => {
                names.clone_from(all);
                return Ok(());
            }
            Given::All(all) => {
                return Err(format!(
                    "--columns names {} columns, but there are {}",
                    all.len(),
                    names.len()
                ));
            }
        };
        let mut places = Vec::new();
        for (_, column) in pairs {
            let is_name = |name: &String| name.eq_ignore_ascii_case(column);
            let place = names.iter().position(is_name).or_else(|| {
                let number: usize = column.parse().ok()?;
                let place = number.checked_sub(1)?;
                (place < names.len() || (is_open && place < MOST)).then_some(place)
            });
            let Some(place) = place else {
                return Err(format!(
                    "there is no column {}, which --columns names; the columns are {}",
                    number::printable(column, 40),
                    number::printable(&names.join(", "), 200)
                ));
            };
            places.push(place);
        }
        // A column that already has one of the new names loses it.
        for name in names.iter_mut() {
            if pairs.iter().any(|(new, _)| name.eq_ignore_ascii_case(new)) {
                name.push('\'');
            }
        }
        for ((name, _), place) in pairs.iter().zip(places) {
            while names.len() <= place {
                names.push((names.len() + 1).to_string());
            }
            names[place].clone_from(name);
        }
        Ok(())
    }
}

/// Parses the names of some columns, such as `x=Points:0,y=Points:1`, where a column without a name has its number
/// from 1, or the names of all columns in their order, such as `x,y,z,_,radius`, where `_` is not read.
impl FromStr for ColumnNames {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let check = |name: &str| {
            if KNOWN.contains(&name) {
                return Ok(name.to_owned());
            }
            bail!(
                "`{}` is not a name of a column that is read; the names are {}",
                number::printable(name, 40),
                KNOWN.join(", ")
            )
        };
        let pairs: Option<Vec<(&str, &str)>> =
            parts.iter().map(|part| part.split_once('=')).collect();
        let names: Vec<&str> = match &pairs {
            Some(pairs) => pairs.iter().map(|(name, _)| name.trim()).collect(),
            None if text.contains('=') => bail!(
                "either all columns have the form NAME=COLUMN, or none has, as in x,y,z,radius for \
                 the columns in their order"
            ),
            None => parts,
        };
        let names = names.into_iter().map(check).collect::<Result<Vec<_>>>()?;
        for (k, name) in names.iter().enumerate() {
            if name != "_" && names[..k].contains(name) {
                bail!("the column {name} is named twice");
            }
        }
        Ok(Self(match pairs {
            None => Given::All(names),
            Some(pairs) => {
                let columns = pairs
                    .into_iter()
                    .map(|(_, column)| column.trim().to_owned());
                Given::Some(names.into_iter().zip(columns).collect())
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(text: &str, names: &[&str], is_open: bool) -> Result<String, String> {
        let given: ColumnNames = text.parse().map_err(|error: Error| error.to_string())?;
        let mut names = names.iter().map(|&name| name.to_owned()).collect();
        given.apply(&mut names, is_open)?;
        Ok(names.join(" "))
    }

    #[test]
    fn columns_get_names() {
        let paraview = ["points:0", "points:1", "points:2", "r"];
        let text = "x=Points:0, y=Points:1,z=Points:2,radius=4";
        assert_eq!(applied(text, &paraview, false).unwrap(), "x y z radius");
        assert_eq!(applied("x=y,y=x", &["x", "y"], false).unwrap(), "y x");
        assert_eq!(applied("x=2", &["x", "2nd"], false).unwrap(), "x' x");
        assert_eq!(
            applied("vx=5,vy=7", &["s", "x", "y", "z"], true).unwrap(),
            "s x y z vx 6 vy"
        );
        assert_eq!(applied("x,y,z,_", &paraview, false).unwrap(), "x y z _");
        assert_eq!(applied("x,y", &[], false).unwrap(), "x y");
        for (text, part) in [
            ("x=Point", "no column Point"),
            ("x=0", "no column 0"),
            ("x=5", "no column 5"),
            ("x,y", "2 columns, but there are 4"),
            ("x=1,y", "either all"),
            ("raduis=4", "`raduis` is not a name"),
            ("x,x", "twice"),
            ("", "`` is not a name"),
        ] {
            let error = applied(text, &paraview, false).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(applied("x=99999999999", &paraview, true).is_err());
    }
}

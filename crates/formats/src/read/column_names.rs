//! Names that the caller gives to the columns of an input.

use std::str::FromStr;

use crate::error::{Error, Result, bail};
use crate::read::number;

/// Names of columns that the readers know. `_` stands for a column that is not read.
const KNOWN: [&str; 23] = [
    "x", "y", "z", "xu", "yu", "zu", "xs", "ys", "zs", "xsu", "ysu", "zsu", "radius", "diameter",
    "vx", "vy", "vz", "id", "type", "element", "species", "mass", "_",
];

/// Begins the name of a column whose name was given to another column.
pub(crate) const REPLACED: &str = "(replaced) ";

/// Returns the name that a scaled coordinate of a LAMMPS dump keeps if it gets the name of the same coordinate, or
/// `None` if the column `old` is not scaled. The name of anything else would take a fraction for a length.
fn scaled<'a>(new: &str, old: &'a str) -> Result<Option<&'a str>, String> {
    let lower = old.to_ascii_lowercase();
    let is_scaled = ["xs", "ys", "zs", "xsu", "ysu", "zsu"].contains(&&*lower);
    if !is_scaled || new == "_" || new == lower {
        return Ok(None);
    }
    if new == &lower[..1] {
        return Ok(Some(old));
    }
    Err(format!(
        "the column {old} holds fractions of an edge of the box, so it can have the name {} only, but --columns \
         calls it {new}",
        &lower[..1]
    ))
}

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
    /// names. If `is_dump` is true, a scaled coordinate of a LAMMPS dump stays scaled.
    pub(crate) fn apply(
        &self,
        names: &mut Vec<String>,
        is_open: bool,
        is_dump: bool,
    ) -> Result<(), String> {
        let renamed = |new: &str, old: Option<&String>| match old {
            Some(old) if is_dump => scaled(new, old).map(|name| name.unwrap_or(new).to_owned()),
            _ => Ok(new.to_owned()),
        };
        let pairs = match &self.0 {
            Given::Some(pairs) => pairs,
            Given::All(all) if is_open || names.is_empty() || all.len() == names.len() => {
                let new = all.iter().enumerate();
                *names = new
                    .map(|(k, new)| renamed(new, names.get(k)))
                    .collect::<Result<_, _>>()?;
                return Ok(());
            }
            Given::All(all) => {
                return Err(format!(
                    "--columns names {} columns, but there are {}; `_` is the name of a column that is not read",
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
        let old = names.clone();
        // A column that already has one of the new names loses it.
        for name in names.iter_mut() {
            if pairs.iter().any(|(new, _)| name.eq_ignore_ascii_case(new)) {
                name.insert_str(0, REPLACED);
            }
        }
        for ((name, _), place) in pairs.iter().zip(places) {
            while names.len() <= place {
                names.push((names.len() + 1).to_string());
            }
            names[place] = renamed(name, old.get(place))?;
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
            if name.is_empty() {
                bail!("a name is empty; leave out the comma");
            }
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
        if let Some((name, _)) = pairs
            .iter()
            .flatten()
            .find(|(_, column)| column.trim().is_empty())
        {
            bail!("`{name}=` names no column");
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
        given.apply(&mut names, is_open, false)?;
        Ok(names.join(" "))
    }

    #[test]
    fn columns_get_names() {
        let paraview = ["points:0", "points:1", "points:2", "r"];
        let text = "x=Points:0, y=Points:1,z=Points:2,radius=4";
        assert_eq!(applied(text, &paraview, false).unwrap(), "x y z radius");
        assert_eq!(applied("x=y,y=x", &["x", "y"], false).unwrap(), "y x");
        assert_eq!(
            applied("x=2", &["x", "2nd"], false).unwrap(),
            "(replaced) x x"
        );
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
            ("", "a name is empty"),
            ("x,y,", "a name is empty"),
            ("x=,y=2", "`x=` names no column"),
        ] {
            let error = applied(text, &paraview, false).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(applied("x=99999999999", &paraview, true).is_err());
    }

    #[test]
    fn fractions_are_no_lengths() {
        let of = |text: &str, names: &[&str]| {
            let given: ColumnNames = text.parse().unwrap();
            let mut names = names.iter().map(|&name| name.to_owned()).collect();
            given
                .apply(&mut names, false, true)
                .map(|()| names.join(" "))
        };
        let scaled = ["id", "xs", "ysu", "zs"];
        for text in ["x=xs,y=ysu,z=zs", "x=2,y=3,z=4", "id,x,y,z"] {
            assert_eq!(of(text, &scaled).unwrap(), "id xs ysu zs", "{text}");
        }
        assert_eq!(of("x=xs", &["x", "xs"]).unwrap(), "(replaced) x xs");
        assert_eq!(of("id,_,y,_", &scaled).unwrap(), "id _ ysu _");
        for text in ["x=ysu", "radius=xs", "xu=xs", "id,y,x,z"] {
            let error = of(text, &scaled).unwrap_err();
            assert!(error.contains("fractions of an edge"), "{text}: {error}");
        }
    }
}

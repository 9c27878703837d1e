//! Types of spheres: numbers, or names such as those of elements.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;
use crate::read::number;

/// The type of a sphere: a whole number, or a name such as `Na`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Type {
    /// A whole number, as LAMMPS numbers the types of its atoms.
    Number(i32),
    /// A name: a species, an element or a label.
    Name(TypeName),
}

/// The name of a type, which has at most 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeName([u8; TypeName::MOST]);

impl TypeName {
    /// Largest number of bytes of a name.
    pub const MOST: usize = 16;

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        let end = self
            .0
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(Self::MOST);
        std::str::from_utf8(&self.0[..end]).unwrap_or_default()
    }
}

impl Type {
    /// Parses a type. Text that looks like a number must be a whole number. The message of an error is written to
    /// follow the name of the field.
    pub(crate) fn parse(field: &[u8]) -> Result<Self, String> {
        let field = field.trim_ascii();
        let begins_as_number = |byte: &u8| byte.is_ascii_digit() || b"+-.".contains(byte);
        if field.first().is_none_or(begins_as_number) && !is_label(field) {
            return number::kind(field).map(Self::Number);
        }
        let text = std::str::from_utf8(field).ok();
        let is_name = |text: &&str| {
            text.len() <= TypeName::MOST
                && !text.contains(|c: char| c.is_control() || ",\"".contains(c))
        };
        let Some(text) = text.filter(is_name) else {
            return Err(format!(
                "is `{}`, but must be a whole number or a name of at most {} bytes, without commas and quotes",
                number::shown(field),
                TypeName::MOST
            ));
        };
        let mut name = [0; TypeName::MOST];
        name[..text.len()].copy_from_slice(text.as_bytes());
        Ok(Self::Name(TypeName(name)))
    }

    /// Returns whether the type is a name.
    pub fn is_name(&self) -> bool {
        matches!(self, Self::Name(_))
    }
}

/// Returns whether text that begins like a number is a name, such as `2H`: digits and then letters, but no exponent.
fn is_label(field: &[u8]) -> bool {
    field.first().is_some_and(u8::is_ascii_digit)
        && field.last().is_some_and(u8::is_ascii_alphabetic)
}

impl Default for Type {
    fn default() -> Self {
        Self::Number(0)
    }
}

impl From<i32> for Type {
    fn from(number: i32) -> Self {
        Self::Number(number)
    }
}

impl FromStr for Type {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text.as_bytes()).map_err(|what| Error::new(format!("the type {what}")))
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Name(name) => name.as_str().fmt(f),
        }
    }
}

impl fmt::Debug for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_numbers_or_names() {
        for text in [
            "1",
            "0",
            "2147483647",
            "Na",
            "H2O",
            "2H",
            "µ",
            "a long name of 1",
        ] {
            let kind: Type = text.parse().unwrap();
            assert_eq!(kind.to_string(), text);
            assert_eq!(kind.is_name(), text.parse::<i32>().is_err());
        }
        assert_eq!(" 7.0e+00 ".parse::<Type>().unwrap(), Type::Number(7));
        for text in [
            "",
            "-1",
            "1.5",
            "2147483648",
            "a,b",
            "\u{1b}[1m",
            "a name of 17 byte",
            "a\"b",
        ] {
            assert!(text.parse::<Type>().is_err(), "{text}");
        }
    }
}

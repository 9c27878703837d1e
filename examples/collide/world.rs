//! The spheres of an input, and where each of them stood.

use anyhow::{Error, anyhow};
use carom::Sphere;

use crate::columns::{BadField, Columns};
use crate::lines::Lines;

/// What was read.
#[derive(Debug)]
pub(crate) struct World {
    /// The name of the input in messages.
    pub(crate) source: String,
    /// One for each row, in order.
    pub(crate) spheres: Vec<Sphere>,
    /// Where each row stood.
    pub(crate) lines: Lines,
    /// Which field stood where.
    pub(crate) columns: Columns,
    /// What the user should know about this input.
    pub(crate) note: Option<String>,
}

impl World {
    /// A world without spheres yet.
    pub(crate) fn new(source: &str, columns: Columns) -> Self {
        Self {
            source: source.into(),
            spheres: Vec::new(),
            lines: Lines::default(),
            note: columns.note(),
            columns,
        }
    }

    /// Adds the sphere of a row; `field` gives the row's fields by position.
    pub(crate) fn push<'a>(
        &mut self,
        line: u64,
        field: impl Fn(usize) -> Option<&'a [u8]>,
    ) -> Result<(), Error> {
        let sphere = self
            .columns
            .sphere(field)
            .map_err(|BadField { name, what }| {
                at(&self.source, line, &format!("field {name} {what}"))
            })?;
        self.spheres.push(sphere);
        self.lines.push(line);
        Ok(())
    }

    /// Says an error of the library in terms of the input: carom knows indices,
    /// users know lines.
    pub(crate) fn explain(&self, error: carom::Error) -> Error {
        if let carom::Error::InvalidSphere { index, field, .. } = error
            && let Some(line) = self.lines.of(index)
        {
            return at(
                &self.source,
                line,
                &format!("field {}: {error}", self.columns.name(field)),
            );
        }
        error.into()
    }
}

/// An error about a line of the input.
pub(crate) fn at(source: &str, line: u64, what: &str) -> Error {
    anyhow!("{source}, line {line}: {what}")
}

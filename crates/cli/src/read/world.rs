//! The spheres of an input, and where each of them stood.

use anyhow::{Error, anyhow};
use carom::Sphere;

use crate::read::columns::{BadField, Columns, Names, Row};
use crate::read::lines::Lines;
use crate::read::number;

/// What was read.
#[derive(Debug)]
pub struct World {
    /// The name of the input in messages.
    pub source: String,
    /// One for each row, in order.
    pub spheres: Vec<Sphere>,
    /// What the file calls each of them, if that was asked for.
    pub ids: Option<Vec<i64>>,
    /// The type of each, if that was asked for.
    pub types: Option<Vec<i32>>,
    /// Which frame of a trajectory it is.
    pub frame: Option<Frame>,
    /// What the user should know about this input.
    pub notes: Vec<String>,
    /// What its fields are called in the file.
    names: Names,
    /// Where each row stood: on which `unit`, a line or a row.
    lines: Lines,
    unit: &'static str,
}

/// A frame of a trajectory.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Its place among the frames, from 0.
    pub number: u64,
    /// The step of the simulation that made it.
    pub step: Option<i64>,
}

impl World {
    /// A world without spheres yet, to be read from a file with so named fields.
    pub(crate) fn new(source: &str, names: Names, unit: &'static str) -> Self {
        Self {
            source: source.into(),
            spheres: Vec::new(),
            ids: None,
            types: None,
            frame: None,
            notes: Vec::new(),
            names,
            lines: Lines::default(),
            unit,
        }
    }

    /// Adds the sphere that stands in a row.
    pub(crate) fn push(&mut self, row: u64, sphere: Sphere) -> Result<(), Error> {
        if !push(&mut self.spheres, sphere) {
            return Err(self.full(row));
        }
        self.lines.push(row);
        Ok(())
    }

    /// The error for a row that does not fit the memory.
    fn full(&self, row: u64) -> Error {
        let what = format!(
            "memory is short: {} spheres came before, and more do not fit",
            self.spheres.len()
        );
        at(&self.source, self.unit, row, &what)
    }

    /// Sets a number of a sphere, counted from 0 for x to 6 for vz.
    pub(crate) fn set(&mut self, row: usize, field: usize, x: f64) -> Result<(), Error> {
        let Names {
            center: [a, b, c],
            size,
            velocity: [d, e, f],
        } = self.names;
        let x = number::narrow(x).map_err(|what| {
            let name = [a, b, c, size, d, e, f].get(field).copied().unwrap_or("?");
            at(
                &self.source,
                self.unit,
                row as u64,
                &format!("field {name} {what}"),
            )
        })?;
        if let Some(sphere) = self.spheres.get_mut(row) {
            let Sphere {
                center,
                radius,
                velocity,
                ..
            } = sphere;
            match field {
                0..3 => center[field] = x,
                3 => *radius = x,
                4..7 => velocity[field - 4] = x,
                _ => {}
            }
        }
        Ok(())
    }

    /// Gives all spheres this radius.
    pub(crate) fn set_radii(&mut self, radius: f32) {
        self.spheres
            .iter_mut()
            .for_each(|sphere| sphere.radius = radius);
    }

    /// Adds the sphere on a line; `field` gives its fields by position.
    pub(crate) fn parse<'a>(
        &mut self,
        line: u64,
        columns: &Columns,
        field: impl Fn(usize) -> Option<&'a [u8]>,
    ) -> Result<(), Error> {
        let wrong = |BadField { name, what }: BadField| {
            at(
                &self.source,
                self.unit,
                line,
                &format!("field {name} {what}"),
            )
        };
        let Row { sphere, id, kind } = columns.row(&field).map_err(wrong)?;
        self.push(line, sphere)?;
        let mut room = true;
        if let Some(id) = id {
            room &= push(self.ids.get_or_insert_default(), id);
        }
        if let Some(kind) = kind {
            room &= push(self.types.get_or_insert_default(), kind);
        }
        if room { Ok(()) } else { Err(self.full(line)) }
    }

    /// Makes sure that no two spheres have the same id.
    pub(crate) fn check_ids(&self) -> Result<(), Error> {
        let Some(ids) = &self.ids else { return Ok(()) };
        let mut rows: Vec<usize> = (0..ids.len()).collect();
        rows.sort_unstable_by_key(|&row| (ids[row], row));
        let twice = rows.windows(2).find(|pair| ids[pair[0]] == ids[pair[1]]);
        let Some(&[first, second]) = twice else {
            return Ok(());
        };
        let id = ids[second];
        let [first, second] = [first, second].map(|row| self.lines.of(row).unwrap_or_default());
        let what = format!(
            "field id is {id}, as on {} {first}; ids must differ",
            self.unit
        );
        Err(at(&self.source, self.unit, second, &what))
    }

    /// Says an error of the library in terms of the input: carom knows indices,
    /// users know lines.
    pub fn explain(&self, error: carom::Error) -> Error {
        if let carom::Error::InvalidSphere { index, field, .. } = error
            && let Some(line) = self.lines.of(index)
        {
            return at(
                &self.source,
                self.unit,
                line,
                &format!("field {}: {error}", self.names.of(field)),
            );
        }
        error.into()
    }
}

/// Adds an element, if there is memory for it.
fn push<T>(list: &mut Vec<T>, element: T) -> bool {
    let fits = list.try_reserve(1).is_ok();
    if fits {
        list.push(element);
    }
    fits
}

/// An error about a line or row of the input.
pub(crate) fn at(source: &str, unit: &str, place: u64, what: &str) -> Error {
    anyhow!("{source}, {unit} {place}: {what}")
}

//! Reader of CSV files with spheres. A header names the columns, and each further row describes a sphere.

use std::collections::HashMap;
use std::io::{BufRead, Read};

use ::csv::{ByteRecord, ReaderBuilder};

use crate::error::{Error, Result, bail};
use crate::read::cell;
use crate::read::columns::{Columns, Names};
use crate::read::frame_text::fields;
use crate::read::text::{Place, Text};
use crate::read::{ReadOptions, Separator, World, number};

/// Reads spheres from CSV. The header names the columns, in any order: `x`, `y`, `z`; `radius` or `diameter`,
/// unless the options give the radii; `vx`, `vy`, `vz` if the spheres move; `id` and `type` if the options
/// request them. Other columns are ignored. `source` is the name of the CSV text in messages.
///
/// # Errors
/// Returns an error that names the line and the field if the CSV text cannot be read.
pub fn read(source: &str, input: impl BufRead, options: &ReadOptions) -> Result<World> {
    let mut text = Text::new(source, input, Place::default());
    let mut record = ByteRecord::new();
    let separator = options.separator.unwrap_or(Separator::Comma);

    // If the caller names all columns, there is no header, but there may be lines of comments.
    let has_header = options
        .columns
        .as_ref()
        .is_none_or(|given| given.all().is_none());
    let advance = |text: &mut Text<_>, record: &mut ByteRecord| -> Result<bool> {
        loop {
            let has_row = next(text, record, separator)?;
            let is_comment = record.get(0).is_some_and(|first| first.starts_with(b"#"));
            if !has_row || has_header || !is_comment {
                return Ok(has_row);
            }
        }
    };
    let mut has_row = advance(&mut text, &mut record)?;
    if !has_row {
        bail!("{source} is empty; it must begin with a header such as x,y,z,radius,vx,vy,vz");
    }
    let mut names = names(&record);
    if let Some(given) = &options.columns {
        let applied = given.apply(&mut names, false, false);
        applied.map_err(|what| {
            let hint = hint(&record, separator).filter(|_| record.len() == 1);
            text.wrong(&hint.unwrap_or(what))
        })?;
    }
    let columns = Columns::find(&names, &[Names::PLAIN.center], options)
        .map_err(|what| text.wrong(&hint(&record, separator).unwrap_or(what)))?;

    let mut world = World::new(source, columns.names, "line");
    world.domain = cell::domain(None, [false; 3], columns.is_flat(), options)
        .map_err(|what| Error::new(format!("{source}: {what}")))?;
    world.notes.extend(columns.notes());
    let mut ended = text.is_ended();
    if has_header {
        has_row = advance(&mut text, &mut record)?;
    }
    while has_row {
        if record.len() != names.len() {
            let what = format!(
                "the line has {} fields, but the {} has {}",
                record.len(),
                if has_header { "header" } else { "first line" },
                names.len()
            );
            return Err(text.wrong(&what));
        }
        world.parse(text.place().line, &columns, |column| record.get(column))?;
        ended = text.is_ended();
        has_row = advance(&mut text, &mut record)?;
    }
    if !ended {
        world.notes.push(text.unended());
    }
    world.check_ids()?;
    Ok(world)
}

/// Reads the fields of the next CSV line that is not blank, or returns false at the end.
fn next(
    text: &mut Text<impl BufRead>,
    record: &mut ByteRecord,
    separator: Separator,
) -> Result<bool> {
    let byte = match separator {
        Separator::Comma => b',',
        Separator::Semicolon => b';',
        Separator::Tab => b'\t',
        Separator::Space => b' ',
    };
    while text.next()? {
        let line = text.line();
        if line.is_empty() {
            continue;
        }
        record.clear();
        if separator == Separator::Space {
            let fields = fields(line).map(|field| {
                let inner = field
                    .strip_prefix(b"\"")
                    .and_then(|field| field.strip_suffix(b"\""));
                inner.unwrap_or(field)
            });
            fields.for_each(|field| record.push_field(field));
            return Ok(true);
        }
        if !line.contains(&b'"') {
            line.split(|&other| other == byte)
                .for_each(|field| record.push_field(field));
            return Ok(true);
        }
        // The CSV parser gets one line at a time. Otherwise, after a missing quote, the parser would read the
        // rest of the file as one field.
        ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(byte)
            .buffer_capacity(line.len() + 1)
            .from_reader(line.chain(&b"\n"[..]))
            .read_byte_record(record)
            .map_err(Error::other)?;
        if record.as_slice().contains(&b'\n') {
            let what = "a quoted field has no closing quote on this line; add the quote";
            return Err(text.wrong(what));
        }
        return Ok(true);
    }
    Ok(false)
}

/// Returns the column names of a CSV header. A `#` before the first name is removed, because
/// NumPy's `savetxt` writes the header as a comment.
fn names(header: &ByteRecord) -> Vec<String> {
    let name = |(k, field): (usize, &[u8])| {
        let field = field.strip_prefix(b"#").filter(|_| k == 0).unwrap_or(field);
        String::from_utf8_lossy(field.trim_ascii()).into_owned()
    };
    // In a table with spaces, a `#` may stand by itself.
    let is_name = |&(k, field): &(usize, &[u8])| k > 0 || field.trim_ascii() != b"#";
    let mut names: Vec<String> = header
        .iter()
        .enumerate()
        .filter(is_name)
        .map(name)
        .collect();
    // Names that differ in the case of their letters only are the same name.
    let lower: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let mut first = HashMap::new();
    let differs = |(lower, name)| first.insert(lower, name).is_some_and(|other| other != name);
    if lower.iter().zip(&names).any(differs) {
        names = lower;
    }
    names
}

/// Returns an error message with advice if the first line shows why the file is not CSV: for example, the
/// file may be a NumPy array.
fn hint(line: &ByteRecord, separator: Separator) -> Option<String> {
    let others = [
        (&b"ITEM:"[..], "a LAMMPS dump", "lammps"),
        (b"\x93NUMPY", "a NumPy array", "npy"),
        (
            b"PK\x03\x04",
            "a zip archive, perhaps of NumPy arrays",
            "npz",
        ),
    ];
    let begins = |with: &[u8]| line.get(0).is_some_and(|first| first.starts_with(with));
    if let Some((_, what, format)) = others.into_iter().find(|(with, ..)| begins(with)) {
        return Some(format!("this is not CSV but {what}: add --format {format}"));
    }
    if separator != Separator::Comma {
        let numbers = line.iter().all(|field| number::parse(field).is_ok());
        return numbers.then(|| {
            "there is no header; name the columns in their order with --columns, as in --columns \
             x,y,z,radius"
                .to_owned()
        });
    }
    let savetxt = "in NumPy: np.savetxt(FILE, a, delimiter=\",\", header=\"x,y,z,radius\")";
    if let Some(only) = line.get(0).filter(|_| line.len() == 1) {
        let separators = [
            (b';', "semicolons", "semicolon"),
            (b'\t', "tabs", "tab"),
            (b' ', "spaces", "space"),
        ];
        let only = only.strip_prefix(b"#").unwrap_or(only).trim_ascii();
        let (_, found, name) = separators
            .into_iter()
            .find(|(byte, ..)| only.contains(byte))?;
        return Some(format!(
            "the columns are separated by {found}, but must be separated by commas unless \
             --separator {name} is given, under a header such as x,y,z,radius,vx,vy,vz unless \
             --columns names them; {savetxt}"
        ));
    }
    line.iter()
        .all(|field| number::parse(field).is_ok())
        .then(|| {
            format!(
                "there is no header; name the columns in their order with --columns, as in --columns \
             x,y,z,radius,vx,vy,vz, or in a first line; {savetxt}"
            )
        })
}

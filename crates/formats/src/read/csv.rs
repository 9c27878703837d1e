//! Reader of CSV files with spheres. A header names the columns, and each further row describes a sphere.

use std::collections::HashMap;
use std::io::{BufRead, Read};

use ::csv::{ByteRecord, ReaderBuilder};

use crate::error::{Error, Result, at, bail};
use crate::read::cell;
use crate::read::columns::{Columns, Moment, Names};
use crate::read::frame_text::fields;
use crate::read::text::{Place, Text};
use crate::read::{ReadOptions, Separator, World, number, words};

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

    // If the caller names all columns, there is no header.
    let has_header = options
        .columns
        .as_ref()
        .is_none_or(|given| given.all().is_none());
    let Begin {
        header,
        line,
        mut has_row,
        mut ended,
        box_of_comment,
    } = begin(&mut text, &mut record, separator, has_header)?;
    if let (Some((line, what)), None, false) = (box_of_comment, options.cell, options.open) {
        let what = format!(
            "{what}, but a table has no box; give it with --box and --periodic, or take the world as open with --open"
        );
        return Err(at(source, "line", line, &what));
    }
    let wrong = |what: String| at(source, "line", line, &what);
    let mut names = names(&header);
    if let Some(given) = &options.columns {
        given.apply(&mut names, false, false).map_err(|what| {
            let hint = hint(&header, separator).filter(|_| header.len() == 1);
            wrong(hint.unwrap_or(if has_header {
                what
            } else {
                format!(
                    "{what}; if the line is not a row of the table, remove it, as `tail -n +{} {source}` does",
                    line + 1
                )
            }))
        })?;
    }
    let columns = Columns::find(&names, &[Names::PLAIN.center], options)
        .map_err(|what| wrong(hint(&header, separator).unwrap_or(what)))?;

    let mut world = World::new(source, columns.names, "line");
    world.domain = cell::domain(None, [false; 3], columns.is_flat(), options)
        .map_err(|what| Error::new(format!("{source}: {what}")))?;
    world.notes.extend(columns.notes());
    if let (Some(lengths), None, false) = (words::lengths_of(&names), options.cell, options.open) {
        world.notes.push(format!(
            "the columns {} may be the box, which is not read from a table: the world is open; --box and --periodic \
             say otherwise",
            lengths.join(", ")
        ));
    }
    let mut moment = Moment::of(&names);
    let mut before = text.place().line;
    while has_row {
        let may_be_comment = !has_header || world.spheres.is_empty();
        if !(may_be_comment && is_comment(&record)) {
            let place = text.place().line;
            let most_blanks = if separator == Separator::Space { 0 } else { 1 };
            if !world.spheres.is_empty() && place - before > most_blanks + 1 {
                return Err(text.wrong(
                    "blank lines precede this row, which separate frames in tables of gnuplot; keep the rows of one \
                     frame, or remove the blank lines",
                ));
            }
            before = place;
            if record.len() != names.len() {
                let what = format!(
                    "the line has {}, but the {} has {}{}",
                    number::counted(record.len(), "field"),
                    if has_header { "header" } else { "first line" },
                    names.len(),
                    if is_comment(&record) { AMONG_ROWS } else { "" }
                );
                return Err(text.wrong(&what));
            }
            moment
                .check(|column| record.get(column))
                .map_err(|what| text.wrong(&what))?;
            let parsed = world.parse(place, &columns, |column| record.get(column));
            parsed.map_err(|error| match world.spheres.len() {
                0 if has_number(&record) => error,
                0 if has_header => error.and("If this line has units or comments, remove it."),
                0 => error.and(
                    "If this line is a header, leave out --columns, or give it the form NAME=COLUMN,…",
                ),
                _ if is_comment(&record) => error.and(AMONG_ROWS.trim_start_matches("; ")),
                _ => error,
            })?;
        }
        ended = text.is_ended();
        has_row = next(&mut text, &mut record, separator)?;
    }
    if !ended {
        world.notes.push(text.unended());
    }
    world.check_ids()?;
    Ok(world)
}

/// What is said of a comment after the first row.
const AMONG_ROWS: &str = "; a comment may stand before the first row only: if another frame begins here, keep the rows of \
                          one frame, and if not, remove the line";

/// What precedes the rows of a table.
struct Begin {
    /// The header, or without one the first row.
    header: ByteRecord,
    line: u64,
    /// Whether there is a first row, which has been read.
    has_row: bool,
    /// Whether the last line has a line end.
    ended: bool,
    /// Line of a comment that seems to give a box, and what it has.
    box_of_comment: Option<(u64, String)>,
}

/// Reads the lines before the first row: comments, and the header if there is one.
fn begin(
    text: &mut Text<impl BufRead>,
    record: &mut ByteRecord,
    separator: Separator,
    has_header: bool,
) -> Result<Begin> {
    let mut has_row = next(text, record, separator)?;
    // Excel reads such a line. A tabulator at its end is trimmed.
    let other = text.line().strip_prefix(b"sep=");
    if let Some(other) = other.filter(|other| has_row && other.len() <= 1) {
        if other != [separator.byte()].trim_ascii() {
            return Err(text.wrong(&format!(
                "the line says what separates the columns (`{}`), so give it with --separator",
                number::shown(other)
            )));
        }
        has_row = next(text, record, separator)?;
    }
    if !has_row {
        bail!(
            "{} is empty; it must begin with a header such as x,y,z,radius,vx,vy,vz",
            text.source()
        );
    }
    let mut begin = Begin {
        header: record.clone(),
        line: text.place().line,
        has_row,
        ended: text.is_ended(),
        box_of_comment: None,
    };
    let mut boxes = Vec::new();
    // The header may begin with #, as comments do. It is the first line that has the names of positions, or else the
    // last one before a number.
    let mut is_header = true;
    while begin.has_row && is_comment(record) {
        let comment = text
            .line()
            .trim_ascii_start()
            .strip_prefix(b"#")
            .unwrap_or_default();
        boxes.extend(words::box_of_comment(comment, true).map(|what| (text.place().line, what)));
        begin.has_row = next(text, record, separator)?;
        if !begin.has_row {
            break;
        }
        begin.ended = text.is_ended();
        let may_be_names = is_comment(record) || !has_number(record);
        is_header = !has_header || (may_be_names && !has_names(&begin.header));
        if is_header {
            begin.header.clone_from(record);
            begin.line = text.place().line;
        }
    }
    begin.box_of_comment = boxes.into_iter().find(|&(line, _)| line != begin.line);
    if has_header && is_header && begin.has_row {
        begin.has_row = next(text, record, separator)?;
    }
    Ok(begin)
}

/// Returns whether a line has the usual names of positions, or names in the way of Yade.
fn has_names(line: &ByteRecord) -> bool {
    let names = names(line);
    let has = |name: &str| names.iter().any(|other| other.eq_ignore_ascii_case(name));
    (has("x") && has("y")) || of_yade(line).is_some()
}

fn is_comment(record: &ByteRecord) -> bool {
    record.get(0).is_some_and(|first| first.starts_with(b"#"))
}

/// Returns whether a line has a number, perhaps between other separators.
fn has_number(record: &ByteRecord) -> bool {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b";|".contains(byte);
    record
        .iter()
        .any(|field| field.split(is_end).any(is_number))
}

fn is_number(field: &[u8]) -> bool {
    number::parse(field).is_ok()
}

/// Reads the fields of the next CSV line that is not blank, or returns false at the end.
fn next(
    text: &mut Text<impl BufRead>,
    record: &mut ByteRecord,
    separator: Separator,
) -> Result<bool> {
    let byte = separator.byte();
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
        let marks = field
            .iter()
            .take_while(|&&byte| k == 0 && byte == b'#')
            .count();
        String::from_utf8_lossy(field[marks..].trim_ascii()).into_owned()
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

/// Returns the advice for a table of Yade, whose first line names the columns, as in `#format x_y_z_r`.
fn of_yade(line: &ByteRecord) -> Option<String> {
    let fields = line
        .iter()
        .flat_map(|field| field.split(u8::is_ascii_whitespace));
    let mut words = fields.map(String::from_utf8_lossy);
    let format = words
        .next()
        .filter(|word| word == "#format")
        .and(words.next())?;
    let known = |name| match name {
        "r" => "radius",
        "x" | "y" | "z" | "id" => name,
        _ => "_",
    };
    let names: Vec<&str> = format.split('_').take(20).map(known).collect();
    let names = names.contains(&"x").then(|| names.join(","))?;
    Some(format!(
        "this is a table of Yade: add --separator tab --columns {names}"
    ))
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
    if let Some(advice) = of_yade(line) {
        return Some(advice);
    }
    if separator != Separator::Comma {
        let numbers = line.iter().all(is_number);
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
        if only.contains(&b'|') {
            let what = "the columns are separated by `|`, but must be separated by commas: `tr '|' , < FILE` replaces it";
            return Some(what.to_owned());
        }
        let (_, found, name) = separators
            .into_iter()
            .find(|(byte, ..)| only.contains(byte))?;
        return Some(format!(
            "the columns are separated by {found}, but must be separated by commas unless \
             --separator {name} is given, under a header such as x,y,z,radius,vx,vy,vz unless \
             --columns names them; a line of text before the header must be removed; {savetxt}"
        ));
    }
    line.iter().all(is_number).then(|| {
        format!(
            "there is no header; name the columns in their order with --columns, as in --columns \
             x,y,z,radius,vx,vy,vz, or in a first line; {savetxt}"
        )
    })
}

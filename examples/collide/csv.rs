//! CSV: a header that names the columns, then a row for each sphere.

use std::io::Read;

use ::csv::{ByteRecord, Reader, ReaderBuilder, Terminator};
use anyhow::{Context, bail};

use crate::columns::Columns;
use crate::world::{World, at};

/// Reads spheres from CSV; `source` names it in messages.
pub(crate) fn read(source: &str, input: impl Read) -> anyhow::Result<World> {
    // Every line ends with \n, the last one too: then a record's line is the
    // one before that which the reader has come to. A \r before it is trimmed
    // off the last field, like other white space.
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .terminator(Terminator::Any(b'\n'))
        .from_reader(input.chain(&b"\n"[..]));
    let mut record = ByteRecord::new();

    let Some(header_line) = next(source, &mut reader, &mut record)? else {
        bail!("{source} is empty; it must begin with a header such as x,y,z,radius,vx,vy,vz");
    };
    let names: Vec<String> = record.iter().map(name).collect();
    if names.iter().any(|name| name.contains('\r')) {
        return Err(at(
            source,
            header_line,
            "lines end with CR alone; save the file with LF or CRLF",
        ));
    }
    let columns =
        Columns::find(&names, &["radius"]).map_err(|what| at(source, header_line, &what))?;

    let mut world = World::new(source, columns);
    while let Some(line) = next(source, &mut reader, &mut record)? {
        if record.len() != names.len() {
            let what = format!(
                "there are {} fields, but the header has {}",
                record.len(),
                names.len()
            );
            return Err(at(source, line, &what));
        }
        world.push(line, |column| record.get(column))?;
    }
    Ok(world)
}

/// Reads the next record that is not blank, and tells its line.
fn next<R: Read>(
    source: &str,
    reader: &mut Reader<R>,
    record: &mut ByteRecord,
) -> anyhow::Result<Option<u64>> {
    while reader
        .read_byte_record(record)
        .with_context(|| format!("cannot read {source}"))?
    {
        let line = reader.position().line().saturating_sub(1);
        let bytes = record.as_slice();
        // A lost quote would make one field of all the lines up to the next.
        if bytes.contains(&b'\n') {
            let first = record.position().map_or(line, ::csv::Position::line);
            let what = "a quoted field runs over the end of the line; is a quote missing?";
            return Err(at(source, first, what));
        }
        if record.len() != 1 || !bytes.trim_ascii().is_empty() {
            return Ok(Some(line));
        }
    }
    Ok(None)
}

/// A column's name as it is looked up.
fn name(field: &[u8]) -> String {
    String::from_utf8_lossy(field.trim_ascii()).to_lowercase()
}

//! LAMMPS text dumps: <https://docs.lammps.org/dump.html>. Of a trajectory the
//! last frame is taken; earlier ones are passed over without parsing them.

use std::io::{BufRead, BufReader, Read};

use anyhow::{Context, bail};

use crate::columns::Columns;
use crate::world::{World, at};

/// One frame's atoms, as they stand in the file.
#[derive(Default)]
struct Frame {
    /// Line of its `ITEM: ATOMS`.
    line: u64,
    /// Names of the columns.
    names: Vec<String>,
    /// Atoms it says it has.
    count: u64,
    /// The lines of the atoms that it has.
    text: Vec<u8>,
    /// Whether any boundary is periodic.
    periodic: bool,
}

/// Reads the spheres of the last frame; `source` names the file in messages.
pub(crate) fn read(source: &str, input: impl Read) -> anyhow::Result<World> {
    let mut dump = Dump {
        source,
        input: BufReader::with_capacity(1 << 16, input),
        line: 0,
        text: Vec::new(),
    };
    let mut frame: Option<Frame> = None;
    let mut count = None;
    let mut periodic = false;
    while dump.next()? {
        let text = String::from_utf8_lossy(dump.text.trim_ascii()).into_owned();
        if let Some(names) = text.strip_prefix("ITEM: ATOMS") {
            let Some(count) = count.take() else {
                return Err(dump.wrong("ITEM: ATOMS without ITEM: NUMBER OF ATOMS before it"));
            };
            // The buffer of the frame before is used again.
            let mut text = frame.map(|f| f.text).unwrap_or_default();
            text.clear();
            let names = names.split_ascii_whitespace().map(String::from).collect();
            frame = Some(dump.atoms(Frame {
                line: dump.line,
                names,
                count,
                text,
                periodic,
            })?);
        } else if text == "ITEM: NUMBER OF ATOMS" {
            if !dump.next()? {
                return Err(dump.wrong("the file ends where the number of atoms should be"));
            }
            count = Some(dump.count()?);
        } else if let Some(bounds) = text.strip_prefix("ITEM: BOX BOUNDS") {
            periodic = bounds.split_ascii_whitespace().any(|word| word == "pp");
        } else if dump.line == 1 && !text.starts_with("ITEM:") {
            return Err(dump.wrong("this is no LAMMPS text dump: it must begin with ITEM:"));
        }
        // Other sections (TIMESTEP, UNITS, TIME) and their lines say nothing
        // that carom needs.
    }
    match frame {
        Some(frame) => parse(source, &frame),
        None if dump.line == 0 => bail!("{source} is empty; it must be a LAMMPS text dump"),
        None => bail!(
            "{source}, line {}: the file ends without any ITEM: ATOMS",
            dump.line
        ),
    }
}

/// Parses the atoms of a frame.
fn parse(source: &str, frame: &Frame) -> anyhow::Result<World> {
    let columns = find_columns(&frame.names).map_err(|what| at(source, frame.line, &what))?;
    let mut world = World::new(source, columns);
    let mut fields: Vec<&[u8]> = Vec::new();
    for (line, text) in (frame.line + 1..).zip(frame.text.split_inclusive(|&byte| byte == b'\n')) {
        fields.clear();
        fields.extend(
            text.split(u8::is_ascii_whitespace)
                .filter(|field| !field.is_empty()),
        );
        if fields.len() != frame.names.len() {
            let what = format!(
                "there are {} fields, but ITEM: ATOMS names {}",
                fields.len(),
                frame.names.len()
            );
            return Err(at(source, line, &what));
        }
        world.push(line, |column| fields.get(column).copied())?;
    }
    if frame.periodic {
        let across = format!(
            "{source} has periodic boundaries, but pairs across a boundary are not looked for"
        );
        world.note = Some(match world.note.take() {
            Some(note) => format!("{across}; {note}"),
            None => across,
        });
    }
    Ok(world)
}

/// Finds the columns, and names those that look right but are not.
fn find_columns(names: &[String]) -> Result<Columns, String> {
    let has = |name: &str| names.iter().any(|n| n == name);
    for axis in ["x", "y", "z"] {
        for (suffix, kind) in [
            ("s", "scaled"),
            ("u", "unwrapped"),
            ("su", "scaled unwrapped"),
        ] {
            let name = format!("{axis}{suffix}");
            if !has(axis) && has(&name) {
                return Err(format!(
                    "column {name} holds {kind} coordinates, but column {axis} is needed; dump x y z instead"
                ));
            }
        }
    }
    Columns::find(names, &["radius", "diameter"])
}

/// A dump that is read line by line.
struct Dump<'a, R> {
    source: &'a str,
    input: BufReader<R>,
    /// Number of the line last read.
    line: u64,
    /// That line.
    text: Vec<u8>,
}

impl<R: Read> Dump<'_, R> {
    /// Reads the next line; false at the end of the file.
    fn next(&mut self) -> anyhow::Result<bool> {
        self.text.clear();
        let read = self
            .input
            .read_until(b'\n', &mut self.text)
            .with_context(|| format!("cannot read {}", self.source))?;
        self.line += u64::from(read > 0);
        Ok(read > 0)
    }

    /// An error about the line last read.
    fn wrong(&self, what: &str) -> anyhow::Error {
        at(self.source, self.line, what)
    }

    /// The number of atoms on the line last read.
    fn count(&self) -> anyhow::Result<u64> {
        let text = String::from_utf8_lossy(self.text.trim_ascii());
        text.parse().map_err(|_| {
            self.wrong(&format!(
                "the number of atoms is `{text}`, but must be a whole number"
            ))
        })
    }

    /// Reads the lines of a frame's atoms as they are.
    fn atoms(&mut self, mut frame: Frame) -> anyhow::Result<Frame> {
        for read in 0..frame.count {
            if !self.next()? || self.text.starts_with(b"ITEM:") {
                let what = format!(
                    "the frame of line {} ends after {read} of {} atoms; was it cut off?",
                    frame.line, frame.count
                );
                return Err(self.wrong(&what));
            }
            frame.text.extend_from_slice(&self.text);
        }
        Ok(frame)
    }
}

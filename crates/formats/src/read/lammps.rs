//! Reader of LAMMPS text dumps: <https://docs.lammps.org/dump.html>. Each frame of a dump has the columns `x
//! y z` (or unwrapped, scaled or scaled unwrapped coordinates: `xu`, `xs`, `xsu` …); `radius` or `diameter`,
//! unless the options give the radii; `vx vy vz` if the spheres move; `id` and `type` if the options request
//! them.

use std::io::BufRead;

use crate::error::{Error, Result, bail};
use crate::read::cell::Cell;
use crate::read::columns::{Columns, Names};
use crate::read::trajectory::{FrameText, fields};
use crate::read::{ReadOptions, World, number};

/// Names of the coordinates in a LAMMPS dump, in order of preference: plain, unwrapped, scaled, and scaled
/// unwrapped.
const CENTERS: [[&str; 3]; 4] = [
    Names::PLAIN.center,
    ["xu", "yu", "zu"],
    ["xs", "ys", "zs"],
    ["xsu", "ysu", "zsu"],
];

#[derive(Default)]
pub(crate) struct Head {
    /// Timestep of the frame, if the section `ITEM: TIMESTEP` exists.
    pub(crate) step: Option<i64>,
    /// Number of atoms, if the section `ITEM: NUMBER OF ATOMS` exists.
    pub(crate) count: Option<u64>,
    cell: Option<Cell>,
    /// For each edge of the simulation box, whether the world is periodic along it, or `None` if the LAMMPS
    /// dump does not say.
    periodic: Option<[bool; 3]>,
    line: u64,
    pub(crate) names: Vec<String>,
}

/// Reads the header of the next frame of a LAMMPS dump, or returns `None` at the end. A dump without any
/// frame is an error.
pub(crate) fn head(from: &mut FrameText<impl BufRead>) -> Result<Option<Head>> {
    let mut head = Head::default();
    // Unknown lines are accepted after the first line of a frame, because a LAMMPS dump may have
    // sections that carom does not know.
    let mut within = false;
    while from.text.next()? {
        let line = from.text.line().to_vec();
        // LAMMPS ends every line with a line feed, so a line without one shows that the file was
        // cut off. The first line of the file gets no such error, because the file may not be a
        // LAMMPS dump at all.
        if !from.text.is_ended() && !line.is_empty() && (within || from.next > 0) {
            return Err(from.cut("the file ends within a line"));
        }
        if let Some(names) = line.strip_prefix(b"ITEM: ATOMS") {
            if head.count.is_none() {
                let what = "ITEM: ATOMS must come after ITEM: NUMBER OF ATOMS, which is missing";
                return Err(from.text.wrong(what));
            }
            head.line = from.text.place().line;
            head.names = fields(names)
                .map(|name| String::from_utf8_lossy(name).into_owned())
                .collect();
            return Ok(Some(head));
        } else if line == b"ITEM: TIMESTEP" {
            once(from, head.step.is_none(), "TIMESTEP")?;
            head.step = Some(whole(from, "timestep")?);
        } else if line == b"ITEM: NUMBER OF ATOMS" {
            once(from, head.count.is_none(), "NUMBER OF ATOMS")?;
            head.count = Some(whole(from, "number of atoms")?);
        } else if let Some(heading) = line.strip_prefix(b"ITEM: BOX BOUNDS") {
            head.periodic = boundaries(heading);
            head.cell = Some(cell(from, heading)?);
        } else if !line.starts_with(b"ITEM:") && !line.is_empty() && !within {
            return Err(stray(from, &line));
        }
        within |= !line.is_empty();
    }
    if within {
        return Err(from.cut("the file ends within a frame, before ITEM: ATOMS"));
    }
    if from.next == 0 {
        bail!(
            "{} is empty; it must be a LAMMPS text dump",
            from.text.source()
        );
    }
    Ok(None)
}

/// Returns an error if a section occurs twice in a frame of a LAMMPS dump. `first` tells whether
/// this is the first section with the name `section`.
fn once(from: &FrameText<impl BufRead>, first: bool, section: &str) -> Result<()> {
    if first {
        return Ok(());
    }
    let what = format!("this is a second ITEM: {section} in the frame, before ITEM: ATOMS");
    Err(from.text.wrong(&what))
}

/// Returns the error for a line of a LAMMPS dump at which a frame should begin.
fn stray(from: &FrameText<impl BufRead>, line: &[u8]) -> Error {
    if from.next == 0 {
        return from
            .text
            .wrong("this is not a LAMMPS text dump, which must begin with ITEM:");
    }
    let what = format!(
        "the line is `{}`, but must begin with ITEM:, because the frame has as many atoms as \
         its ITEM: NUMBER OF ATOMS says",
        number::shown(line)
    );
    from.text.wrong(&what)
}

/// Reads a line that contains only an integer, called `what` in messages.
fn whole<T: std::str::FromStr>(from: &mut FrameText<impl BufRead>, what: &str) -> Result<T> {
    if !from.text.next()? {
        return Err(from.cut(&format!("the file ends before the {what}")));
    }
    from.whole(what)
}

fn cell(from: &mut FrameText<impl BufRead>, heading: &[u8]) -> Result<Cell> {
    let mut lines = [const { Vec::new() }; 3];
    let first = from.text.place().line + 1;
    for line in &mut lines {
        if !from.text.next()? {
            return Err(from.cut("the file ends within ITEM: BOX BOUNDS, which has three lines"));
        }
        if !from.text.is_ended() {
            return Err(from.cut("the file ends within a line of ITEM: BOX BOUNDS"));
        }
        *line = from.text.line().to_vec();
    }
    Cell::read(heading, &lines).map_err(|(k, what)| {
        crate::read::world::at(from.text.source(), "line", first + k as u64, &what)
    })
}

/// Reads the next atom in a LAMMPS dump. `read` is the number of atoms of the frame that were read before.
pub(crate) fn atom(from: &mut FrameText<impl BufRead>, head: &Head, read: u64) -> Result<()> {
    // LAMMPS ends every line with a line feed. If the last line of a file has none, the file was
    // cut off, and the last number of this line may be incomplete. So the atom on this line counts
    // as missing.
    if from.text.next()? && from.text.is_ended() && !from.text.line().starts_with(b"ITEM:") {
        return Ok(());
    }
    let count = head.count.unwrap_or_default();
    Err(from.cut(&format!(
        "the frame with ITEM: ATOMS on line {} ends after {read} of {count} atoms",
        head.line
    )))
}

/// Returns a [`World`] without spheres for a frame of a LAMMPS dump, and the columns to read.
pub(crate) fn world(
    from: &FrameText<impl BufRead>,
    head: &Head,
    options: &ReadOptions,
) -> Result<(World, Columns)> {
    let columns = columns(from, head, options)?;
    let mut world = World::new(from.text.source(), columns.names, "line");
    world.notes = notes(from.text.source(), head, &columns);
    if let Some(cell) = &head.cell {
        let periodic = head.periodic.unwrap_or_default();
        world.domain = cell
            .domain_or_open(periodic)
            .map_err(|what| from.text.wrong(&what))?;
    }
    if from.next > 0 && !options.ids && head.names.iter().any(|name| name == "id") {
        world.notes.push(
            "LAMMPS may change the order of atoms from frame to frame, so a row number \
             identifies a sphere in one frame only; --ids lists ids instead"
                .to_owned(),
        );
    }
    Ok((world, columns))
}

fn columns(from: &FrameText<impl BufRead>, head: &Head, options: &ReadOptions) -> Result<Columns> {
    let columns =
        Columns::find(&head.names, &CENTERS, options).map_err(|what| from.text.wrong(&what))?;
    if !is_scaled(&columns) {
        return Ok(columns);
    }
    let cell = head.cell.ok_or_else(|| {
        from.text
            .wrong("scaled coordinates need ITEM: BOX BOUNDS before ITEM: ATOMS, but it is missing")
    })?;
    Ok(columns.within(cell))
}

/// Returns whether the coordinate columns are scaled: fractions of the edges of the simulation box.
fn is_scaled(columns: &Columns) -> bool {
    CENTERS[2..].contains(&columns.names.center)
}

/// Returns for each edge of the simulation box whether the world is periodic along it. The boundary codes are
/// the last three words of `heading`, the rest of the line `ITEM: BOX BOUNDS`, such as `pp pp fm`. Old dumps
/// have no boundary codes.
fn boundaries(heading: &[u8]) -> Option<[bool; 3]> {
    let words: Vec<&[u8]> = fields(heading).collect();
    let codes = words.last_chunk::<3>()?;
    let is_code = |word: &&[u8]| {
        (1..=2).contains(&word.len()) && word.iter().all(|letter| b"pfsm".contains(letter))
    };
    codes
        .iter()
        .all(is_code)
        .then(|| codes.map(|word| word[0] == b'p'))
}

/// Returns the notes for the user about unknown boundaries and missing velocities in a LAMMPS dump.
fn notes(source: &str, head: &Head, columns: &Columns) -> Vec<String> {
    let unknown = (head.cell.is_some() && head.periodic.is_none()).then(|| {
        format!(
            "{source} does not say which boundaries of its box are periodic, so all are taken as \
             open; --periodic says otherwise"
        )
    });
    unknown.into_iter().chain(columns.note()).collect()
}

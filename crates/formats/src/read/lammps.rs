//! Reader of LAMMPS text dumps: <https://docs.lammps.org/dump.html>. Each frame of a dump has the columns `x
//! y z` (or unwrapped, scaled or scaled unwrapped coordinates: `xu`, `xs`, `xsu` …); `radius` or `diameter`,
//! unless the options give the radii; `vx vy vz` if the spheres move; `id` and `type` if the options request
//! them.

use std::io::BufRead;

use crate::error::{Error, Result, at, bail};
use crate::read::cell::{self, Cell, Given};
use crate::read::columns::{Columns, Names};
use crate::read::frame_text::{FrameText, fields};
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
    /// The box, and the line `ITEM: BOX BOUNDS` that gives it.
    pub(crate) given: Given,
    box_line: u64,
    /// Line and text of the first section that is not known.
    unknown: Option<(u64, String)>,
    line: u64,
    pub(crate) names: Vec<String>,
}

/// Lines of a section that follow the line with `ITEM:`, and are not read.
#[derive(Clone, Copy, PartialEq)]
enum Skipped {
    None,
    One,
    /// Any number of lines, up to the next section.
    Any,
}

/// Reads the header of the next frame of a LAMMPS dump, or returns `None` at the end. A dump without any
/// frame is an error.
pub(crate) fn head(from: &mut FrameText<impl BufRead>) -> Result<Option<Head>> {
    let mut head = Head::default();
    let mut within = false;
    let mut skipped = Skipped::None;
    while from.text.next()? {
        let line = from.text.line().to_vec();
        // LAMMPS ends every line with a line feed, so a line without one shows that the file was
        // cut off. The first line of the file gets no such error, because the file may not be a
        // LAMMPS dump at all.
        if !from.text.is_ended() && !line.is_empty() && (within || from.next > from.first) {
            return Err(from.cut("the file ends within a line"));
        }
        if line.is_empty() {
            continue;
        }
        let Some(section) = line.strip_prefix(b"ITEM:") else {
            if skipped != Skipped::None && !is_damaged_section(&line) {
                if skipped == Skipped::One {
                    skipped = Skipped::None;
                }
                continue;
            }
            return Err(stray(from, &line, within));
        };
        within = true;
        skipped = Skipped::None;
        let words: Vec<&[u8]> = fields(section).collect();
        match *words {
            [b"ATOMS", ref names @ ..] => {
                if head.count.is_none() {
                    let what = format!(
                        "ITEM: ATOMS must come after ITEM: NUMBER OF ATOMS, which is missing{}",
                        head.hint()
                    );
                    return Err(from.text.wrong(&what));
                }
                head.line = from.text.place().line;
                if !head.given.has_any() {
                    head.given.wrong_cell = Some(match &head.unknown {
                        Some((line, text)) => (
                            *line,
                            format!(
                                "the section `{text}` is not known, and the frame has no ITEM: BOX \
                                 BOUNDS, which gives the box; correct it"
                            ),
                        ),
                        None => (
                            head.line,
                            "the frame has no ITEM: BOX BOUNDS, which gives the box".to_owned(),
                        ),
                    });
                }
                let name = |name: &&[u8]| String::from_utf8_lossy(name).into_owned();
                head.names = names.iter().map(name).collect();
                return Ok(Some(head));
            }
            [b"TIMESTEP"] => {
                once(from, head.step.is_none(), "TIMESTEP", &head)?;
                head.step = Some(whole(from, "timestep")?);
            }
            [b"NUMBER", b"OF", b"ATOMS"] => {
                once(from, head.count.is_none(), "NUMBER OF ATOMS", &head)?;
                head.count = Some(whole(from, "number of atoms")?);
            }
            [b"BOX", b"BOUNDS", ref heading @ ..] => {
                once(from, !head.given.has_any(), "BOX BOUNDS", &head)?;
                let (columns, codes) = match heading {
                    [b"abc", b"origin", codes @ ..] => (4, codes),
                    [b"xy", b"xz", b"yz", codes @ ..] => (3, codes),
                    codes => (2, codes),
                };
                head.box_line = from.text.place().line;
                match boundaries(codes) {
                    Ok(periodic) => head.given.periodic = periodic,
                    Err(what) => head.given.wrong_periodic = Some((head.box_line, what)),
                }
                match cell(from, columns)? {
                    Ok(cell) => head.given.cell = Some(cell),
                    Err(wrong) => head.given.wrong_cell = Some(wrong),
                }
            }
            [b"UNITS"] | [b"TIME"] => skipped = Skipped::One,
            [b"NUMBER", b"OF", ..] | [b"ENTRIES", ..] => {
                return Err(from.text.unsupported(&format!(
                    "`{}`: this is a dump of local data, not of atoms; write the atoms with \
                     `dump 1 all custom 100 dump.txt id type x y z`",
                    number::shown(&line)
                )));
            }
            [b"GRID", ..] => {
                return Err(from.text.unsupported(
                    "this is a dump of a grid, not of atoms; write the atoms with \
                     `dump 1 all custom 100 dump.txt id type x y z`",
                ));
            }
            _ => {
                let text = (from.text.place().line, number::shown(&line));
                head.unknown.get_or_insert(text);
                skipped = Skipped::Any;
            }
        }
    }
    if within {
        let what = "the file ends within a frame, before ITEM: ATOMS";
        return Err(from.cut(&format!("{what}{}", head.hint())));
    }
    if from.next == from.first {
        bail!(
            "{} is empty; it must be a LAMMPS text dump",
            from.text.source()
        );
    }
    Ok(None)
}

impl Head {
    /// Returns advice for an error about a section that is missing: the name of the missing section may be
    /// misspelt.
    fn hint(&self) -> String {
        match &self.unknown {
            Some((line, text)) => format!(" (the section `{text}` on line {line} is not known)"),
            None => String::new(),
        }
    }
}

/// Returns whether a line was probably meant as the beginning of a section, like `ITEM BOX BOUNDS`.
fn is_damaged_section(line: &[u8]) -> bool {
    line.get(..4)
        .is_some_and(|begin| begin.eq_ignore_ascii_case(b"item"))
}

/// Returns an error if a section occurs twice in a frame of a LAMMPS dump. `first` tells whether
/// this is the first section with the name `section`.
fn once(from: &FrameText<impl BufRead>, first: bool, section: &str, head: &Head) -> Result<()> {
    if first {
        return Ok(());
    }
    let hint = head.hint();
    let what = format!("this is a second ITEM: {section} in the frame, before ITEM: ATOMS{hint}");
    Err(from.text.wrong(&what))
}

/// Returns the error for a line of a LAMMPS dump that should begin a section. `within` tells whether the line is
/// within the header of a frame.
fn stray(from: &FrameText<impl BufRead>, line: &[u8], within: bool) -> Error {
    let line = number::shown(line);
    let what = if within {
        format!(
            "the line is `{line}`, but must begin a section of the dump, with ITEM:, such as `ITEM: BOX \
             BOUNDS`; correct it"
        )
    } else if from.next == from.first {
        "this is not a LAMMPS text dump, which must begin with ITEM:".to_owned()
    } else {
        format!(
            "the line is `{line}`, but must begin with ITEM:, because the frame has as many atoms \
             as its ITEM: NUMBER OF ATOMS says"
        )
    };
    from.text.wrong(&what)
}

/// Reads a line that contains only an integer, called `what` in messages.
fn whole<T: std::str::FromStr>(from: &mut FrameText<impl BufRead>, what: &str) -> Result<T> {
    if !from.text.next()? {
        return Err(from.cut(&format!("the file ends before the {what}")));
    }
    from.whole(what)
}

/// Reads the three lines of the box. The line and what is wrong with it are an error only if the box is used.
fn cell(from: &mut FrameText<impl BufRead>, columns: usize) -> Result<Result<Cell, (u64, String)>> {
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
        if line.starts_with(b"ITEM:") {
            let what = format!(
                "ITEM: BOX BOUNDS must be followed by three lines of bounds, but this line is `{}`; in a \
                 two-dimensional world, the bounds of z are those of a thin box around it, such as -0.5 0.5",
                number::shown(line)
            );
            return Err(from.text.wrong(&what));
        }
    }
    Ok(Cell::read(columns, &lines).map_err(|(k, what)| (first + k as u64, what)))
}

/// Reads the next atom in a LAMMPS dump. `read` is the number of atoms of the frame that were read before.
pub(crate) fn atom(from: &mut FrameText<impl BufRead>, head: &Head, read: u64) -> Result<()> {
    // If the last line of the file lacks its line end, it may be incomplete: [`Trajectory::read`] counts its
    // fields.
    if from.text.next()? && !from.text.line().starts_with(b"ITEM:") {
        if from.text.line().starts_with(b"#") {
            let line = number::shown(from.text.line());
            let what = format!("the line is `{line}`, which is not an atom; remove it");
            return Err(from.text.wrong(&what));
        }
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
    let given = &head.given;
    given.check(from.text.source(), options)?;
    let says_so = options.says_so();
    if given.cell.is_some() && given.periodic.is_none() && !says_so {
        world.notes.push(format!(
            "{} does not say which boundaries of its box are periodic, so all are taken as open; \
             --periodic says otherwise",
            from.text.source()
        ));
    }
    world.notes.extend(columns.notes());
    // LAMMPS calls z periodic in two-dimensional worlds, too.
    let has_flat_box = given.cell.is_some_and(|cell| cell.is_flat());
    let is_flat = columns.is_flat() || has_flat_box;
    let periodic = given.periodic.unwrap_or_default();
    if has_flat_box && periodic[2] && !columns.is_flat() && !says_so {
        world.notes.push(
            "the box has no height, so the world is taken as two-dimensional, and open along z"
                .to_owned(),
        );
    }
    world.domain =
        cell::domain(given.cell.as_ref(), periodic, is_flat, options).map_err(|what| {
            let periodic = options.periodic.unwrap_or(periodic);
            let edge = given.cell.and_then(|cell| cell.without_length(periodic));
            let line = match edge {
                Some(k) => head.box_line + 1 + k as u64,
                None => head.line,
            };
            at(from.text.source(), "line", line, &what)
        })?;
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
    if head.names.is_empty() {
        return Err(from.text.wrong(
            "ITEM: ATOMS names no columns, as in dumps of old versions of LAMMPS; name them with \
             --columns, as in --columns id,type,xs,ys,zs, or on this line, as in `ITEM: ATOMS id \
             type xs ys zs`",
        ));
    }
    let columns =
        Columns::find(&head.names, &CENTERS, options).map_err(|what| from.text.wrong(&what))?;
    let may_be_flat = |cell: &Cell| cell.is_flat() || cell.middle_of_layer().is_some();
    let columns = if head.given.cell.as_ref().is_some_and(may_be_flat) {
        columns.watching(&head.names)
    } else {
        columns
    };
    if !columns.are_scaled() {
        return Ok(columns);
    }
    let Some(cell) = head.given.cell else {
        let (line, what) = head.given.wrong_cell.clone().unwrap_or_default();
        let what = format!(
            "the coordinates are scaled, so they need ITEM: BOX BOUNDS before ITEM: ATOMS, but {what}"
        );
        return Err(at(from.text.source(), "line", line, &what));
    };
    if columns.are_mixed() && !cell.is_upright() {
        return Err(from.text.wrong(
            "some coordinates are scaled, and others are not, which gives no positions in a general triclinic box; \
             dump all as x y z or as xs ys zs",
        ));
    }
    Ok(columns.within(cell))
}

/// Returns for each edge of the simulation box whether the world is periodic along it, from the boundary codes of
/// a LAMMPS dump, such as `pp pp fm`. Old dumps have no codes.
fn boundaries(codes: &[&[u8]]) -> Result<Option<[bool; 3]>, String> {
    let periodic = |code: &[u8]| match code {
        b"p" | b"pp" => Some(true),
        [one] | [one, _] if !b"fsm".contains(one) => None,
        [_] => Some(false),
        [_, other] => b"fsm".contains(other).then_some(false),
        _ => None,
    };
    let found: Option<Vec<bool>> = codes.iter().map(|code| periodic(code)).collect();
    match found.as_deref() {
        Some([]) => Ok(None),
        Some(&[x, y, z]) => Ok(Some([x, y, z])),
        _ => Err(format!(
            "ITEM: BOX BOUNDS is followed by `{}`, but must be followed by three boundary codes, \
             one for each of x, y and z: pp if it is periodic, otherwise two of the letters f, s \
             and m; correct it",
            number::shown(&codes.join(&b' '))
        )),
    }
}

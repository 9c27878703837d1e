//! Reader of LAMMPS text dumps: <https://docs.lammps.org/dump.html>.

use std::collections::VecDeque;
use std::io::BufRead;

use ::csv::ByteRecord;
use anyhow::{Error, anyhow, bail};

use crate::read::cell::Cell;
use crate::read::columns::{Columns, Names};
use crate::read::text::{Place, Text};
use crate::read::{Frame, Frames, ReadOptions, World, number};

/// Names that the columns of the coordinates may have, in order of preference: plain, unwrapped,
/// scaled, and scaled unwrapped.
const CENTERS: [[&str; 3]; 4] = [
    Names::PLAIN.center,
    ["xu", "yu", "zu"],
    ["xs", "ys", "zs"],
    ["xsu", "ysu", "zsu"],
];

/// A LAMMPS dump, read frame by frame. Each frame has the columns `x y z` (or unwrapped, scaled or
/// scaled unwrapped coordinates: `xu`, `xs`, `xsu` …); `radius` or `diameter`, unless the options
/// give the radii; `vx vy vz` if the spheres move; `id` and `type` if the options request them.
pub struct Dump<'a, R> {
    text: Text<'a, R>,
    /// Number of the next frame to read, counted from 0.
    next: u64,
    /// Position in the text at which the next frame begins.
    begin: Place,
    options: ReadOptions,
}

/// The beginning of a frame in a dump.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    /// Number of the frame in the dump, counted from 0.
    pub number: u64,
    /// Position in the text at which the frame begins.
    pub place: Place,
}

/// The header of a frame: all lines before the lines of its atoms.
#[derive(Default)]
struct Head {
    /// Number in the section `ITEM: TIMESTEP`, if the header has this section.
    step: Option<i64>,
    /// Number in the section `ITEM: NUMBER OF ATOMS`, if the header has this section.
    count: Option<u64>,
    cell: Option<Cell>,
    /// For each edge of the simulation box, whether the world is periodic along it. `None` if the
    /// dump does not say.
    periodic: Option<[bool; 3]>,
    /// Line number of the line `ITEM: ATOMS`.
    line: u64,
    /// Names of the columns of the atoms.
    names: Vec<String>,
}

impl<'a, R: BufRead> Dump<'a, R> {
    /// Creates a reader of the dump in `input`. `source` names the dump in messages.
    pub fn new(source: &'a str, input: R, options: &ReadOptions) -> Self {
        Self {
            text: Text::new(source, input, Place::default()),
            next: 0,
            begin: Place::default(),
            options: options.clone(),
        }
    }

    /// Declares that the input begins at the frame `mark`, and not at the beginning of the dump.
    pub fn start_at(&mut self, mark: Mark) {
        self.text.start_at(mark.place);
        self.next = mark.number;
        self.begin = mark.place;
    }

    /// Skips all frames of the dump without parsing their atoms. Returns the number of frames, and
    /// the beginning of each of the last `most` frames.
    ///
    /// # Errors
    /// Returns an error that names the line if a frame is malformed or incomplete.
    pub fn count(mut self, most: u64) -> anyhow::Result<(u64, VecDeque<Mark>)> {
        let mut marks = VecDeque::new();
        loop {
            let mark = Mark {
                number: self.next,
                place: self.begin,
            };
            if !self.skip()? {
                return Ok((self.next, marks));
            }
            marks.push_back(mark);
            if marks.len() as u64 > most {
                marks.pop_front();
            }
        }
    }

    /// Skips all frames before the frame `number`, without parsing their atoms.
    ///
    /// # Errors
    /// Returns an error that names the line if a frame is malformed or incomplete.
    pub fn skip_to(&mut self, number: u64) -> anyhow::Result<()> {
        while self.next < number && self.skip()? {}
        Ok(())
    }

    /// Returns the error for a selection `frames` that has no frame in the dump. Reads to the end
    /// of the dump to count its frames.
    pub(crate) fn has_none_of(&mut self, frames: Frames) -> anyhow::Result<Error> {
        while self.skip()? {}
        let (source, count) = (self.text.source(), self.next);
        let last = count.saturating_sub(1);
        Ok(anyhow!(
            "there is no frame {frames} in {source}: it has {count} in all, numbered from 0 to \
             {last} (or from -{count} to -1); choose others with --frame"
        ))
    }

    /// Skips the next frame. Returns false at the end of the dump.
    fn skip(&mut self) -> anyhow::Result<bool> {
        let Some(head) = self.head()? else {
            return Ok(false);
        };
        for read in 0..head.count.unwrap_or_default() {
            self.atom(&head, read)?;
        }
        self.step();
        Ok(true)
    }

    /// Reads the next frame. Returns `None` at the end of the dump.
    ///
    /// # Errors
    /// Returns an error that names the line and the field if the frame cannot be read.
    pub fn read(&mut self) -> anyhow::Result<Option<World>> {
        let Some(head) = self.head()? else {
            return Ok(None);
        };
        let columns = self.columns(&head)?;
        let mut world = World::new(self.text.source(), columns.names, "line");
        world.frame = Some(Frame {
            number: self.next,
            step: head.step,
        });
        world.notes = notes(self.text.source(), &head, &columns);
        if let Some(cell) = &head.cell {
            let periodic = head.periodic.unwrap_or_default();
            world.domain = match cell.domain(periodic) {
                Ok(domain) => Some(domain),
                // The box has no influence on spheres in open space.
                Err(_) if periodic == [false; 3] => None,
                Err(what) => return Err(self.text.wrong(&what)),
            };
        }
        if self.next > 0 && !self.options.ids && head.names.iter().any(|name| name == "id") {
            world.notes.push(
                "LAMMPS may change the order of atoms from frame to frame, so a row number \
                 identifies a sphere in one frame only; --ids lists ids instead"
                    .to_owned(),
            );
        }
        let mut record = ByteRecord::new();
        for read in 0..head.count.unwrap_or_default() {
            self.atom(&head, read)?;
            record.clear();
            fields(self.text.line()).for_each(|field| record.push_field(field));
            if record.len() != head.names.len() {
                let what = format!(
                    "the line has {} fields, but ITEM: ATOMS names {} columns",
                    record.len(),
                    head.names.len()
                );
                return Err(self.text.wrong(&what));
            }
            world.parse(self.text.place().line, &columns, |column| {
                record.get(column)
            })?;
        }
        world.check_ids()?;
        self.step();
        Ok(Some(world))
    }

    /// Ends a frame: counts the frame, and notes the current position in the text as the beginning
    /// of the next frame.
    fn step(&mut self) {
        self.next += 1;
        self.begin = self.text.place();
    }

    /// Reads the header of the next frame: all lines before its atoms. Returns `None` at the end of
    /// the dump. A dump without any frame is an error.
    fn head(&mut self) -> anyhow::Result<Option<Head>> {
        let mut head = Head::default();
        // `within` is true after the first line of the frame that is not blank. After this line,
        // any line is accepted, because an unknown section may have arbitrary lines.
        let mut within = false;
        while self.text.next()? {
            let line = self.text.line().to_vec();
            // LAMMPS ends every line with a line feed. A line without one shows that the file was
            // cut off. The first line of the file is excepted, because the file may not be a dump
            // at all.
            if !self.text.is_ended() && !line.is_empty() && (within || self.next > 0) {
                return Err(self.cut("the file ends within a line"));
            }
            if let Some(names) = line.strip_prefix(b"ITEM: ATOMS") {
                if head.count.is_none() {
                    let what =
                        "ITEM: ATOMS must come after ITEM: NUMBER OF ATOMS, which is missing";
                    return Err(self.text.wrong(what));
                }
                head.line = self.text.place().line;
                head.names = fields(names)
                    .map(|name| String::from_utf8_lossy(name).into_owned())
                    .collect();
                return Ok(Some(head));
            } else if line == b"ITEM: TIMESTEP" {
                self.once(head.step.is_none(), "TIMESTEP")?;
                head.step = Some(self.whole("timestep")?);
            } else if line == b"ITEM: NUMBER OF ATOMS" {
                self.once(head.count.is_none(), "NUMBER OF ATOMS")?;
                head.count = Some(self.whole("number of atoms")?);
            } else if let Some(heading) = line.strip_prefix(b"ITEM: BOX BOUNDS") {
                head.periodic = boundaries(heading);
                head.cell = Some(self.cell(heading)?);
            } else if !line.starts_with(b"ITEM:") && !line.is_empty() && !within {
                return Err(self.stray(&line));
            }
            within |= !line.is_empty();
        }
        if within {
            return Err(self.cut("the file ends within a frame, before ITEM: ATOMS"));
        }
        if self.next == 0 {
            bail!(
                "{} is empty; it must be a LAMMPS text dump",
                self.text.source()
            );
        }
        Ok(None)
    }

    /// Returns an error about a repeated section of a frame, unless `first` is true.
    fn once(&self, first: bool, section: &str) -> anyhow::Result<()> {
        if first {
            return Ok(());
        }
        let what = format!("this is a second ITEM: {section} in the frame, before ITEM: ATOMS");
        Err(self.text.wrong(&what))
    }

    /// Returns the error for a line at which a frame should begin, but which does not begin with
    /// `ITEM:`.
    fn stray(&self, line: &[u8]) -> Error {
        if self.next == 0 {
            return self
                .text
                .wrong("this is not a LAMMPS text dump, which must begin with ITEM:");
        }
        let what = format!(
            "the line is `{}`, but must begin with ITEM:, because the frame has as many atoms as \
             its ITEM: NUMBER OF ATOMS says",
            number::shown(line)
        );
        self.text.wrong(&what)
    }

    /// Returns the error for a dump that ends too early. `what` describes where it ends.
    fn cut(&self, what: &str) -> Error {
        let way_out = match self.next {
            0 => String::new(),
            n => format!(" To read the last complete frame, use --frame {}", n - 1),
        };
        self.text
            .wrong(&format!("{what}; was it cut off?{way_out}"))
    }

    /// Reads a line that contains only an integer. `what` names the integer in messages.
    fn whole<T: std::str::FromStr>(&mut self, what: &str) -> anyhow::Result<T> {
        if !self.text.next()? {
            return Err(self.cut(&format!("the file ends before the {what}")));
        }
        let text = self.text.line();
        let number = std::str::from_utf8(text)
            .ok()
            .and_then(|text| text.parse().ok());
        number.ok_or_else(|| {
            let text = number::shown(text);
            self.text.wrong(&format!(
                "the {what} is `{text}`, but must be a whole number"
            ))
        })
    }

    /// Reads the simulation box from the three lines after `ITEM: BOX BOUNDS`.
    fn cell(&mut self, heading: &[u8]) -> anyhow::Result<Cell> {
        let mut lines = [const { Vec::new() }; 3];
        let first = self.text.place().line + 1;
        for line in &mut lines {
            if !self.text.next()? {
                return Err(
                    self.cut("the file ends within ITEM: BOX BOUNDS, which has three lines")
                );
            }
            if !self.text.is_ended() {
                return Err(self.cut("the file ends within a line of ITEM: BOX BOUNDS"));
            }
            *line = self.text.line().to_vec();
        }
        Cell::read(heading, &lines).map_err(|(k, what)| {
            crate::read::world::at(self.text.source(), "line", first + k as u64, &what)
        })
    }

    /// Reads the line of an atom. `read` is the number of atoms of the frame that have been read
    /// before.
    fn atom(&mut self, head: &Head, read: u64) -> anyhow::Result<()> {
        // LAMMPS ends every line with a line feed. A line without one may have lost digits, so it
        // is treated as missing.
        if self.text.next()? && self.text.is_ended() && !self.text.line().starts_with(b"ITEM:") {
            return Ok(());
        }
        let count = head.count.unwrap_or_default();
        Err(self.cut(&format!(
            "the frame with ITEM: ATOMS on line {} ends after {read} of {count} atoms",
            head.line
        )))
    }

    /// Finds the columns to read in the atoms of a frame.
    fn columns(&self, head: &Head) -> anyhow::Result<Columns> {
        let columns = Columns::find(&head.names, &CENTERS, &self.options)
            .map_err(|what| self.text.wrong(&what))?;
        if !is_scaled(&columns) {
            return Ok(columns);
        }
        let cell = head.cell.ok_or_else(|| {
            self.text.wrong(
                "scaled coordinates need ITEM: BOX BOUNDS before ITEM: ATOMS, but it is missing",
            )
        })?;
        Ok(columns.within(cell))
    }
}

/// Whether the columns have scaled coordinates: fractions of the edges of the simulation box.
fn is_scaled(columns: &Columns) -> bool {
    CENTERS[2..].contains(&columns.names.center)
}

/// Returns for each edge of the simulation box whether the world is periodic along it: the last three
/// words of `heading`, the rest of the line `ITEM: BOX BOUNDS`, such as `pp pp fm`. `None` if they
/// are no boundary codes, as in old dumps.
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

/// Returns the notes for the user about a frame: on unknown boundaries and on missing velocities.
fn notes(source: &str, head: &Head, columns: &Columns) -> Vec<String> {
    let unknown = (head.cell.is_some() && head.periodic.is_none()).then(|| {
        format!(
            "{source} does not say which boundaries of its box are periodic, so all are taken as \
             open; --periodic says otherwise"
        )
    });
    unknown.into_iter().chain(columns.note()).collect()
}

/// Splits a line into its fields, which are separated by white space.
fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|field| !field.is_empty())
}

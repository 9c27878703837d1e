//! LAMMPS text dumps: <https://docs.lammps.org/dump.html>.

use std::collections::VecDeque;
use std::io::BufRead;

use ::csv::ByteRecord;
use anyhow::{Error, anyhow, bail};

use crate::read::cell::Cell;
use crate::read::columns::{Columns, Names};
use crate::read::text::{Place, Text};
use crate::read::{Frame, Frames, ReadOptions, World, number};

/// What the coordinates may be called, the preferred ones first: as they are, unwrapped, scaled,
/// and both.
const CENTERS: [[&str; 3]; 4] = [
    Names::PLAIN.center,
    ["xu", "yu", "zu"],
    ["xs", "ys", "zs"],
    ["xsu", "ysu", "zsu"],
];

/// A dump, read frame by frame. Frames have columns `x y z` (or else unwrapped, scaled or scaled
/// unwrapped coordinates: `xu`, `xs`, `xsu` …), `radius` or `diameter`, and if they move `vx vy vz`;
/// further `id` and `type`, if the options ask for them.
pub struct Dump<'a, R> {
    text: Text<'a, R>,
    /// Number of the frame that comes next.
    next: u64,
    /// Where it begins.
    begin: Place,
    options: ReadOptions,
}

/// Where a frame stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    /// Its place among the frames, from 0.
    pub number: u64,
    /// Where it begins.
    pub place: Place,
}

/// What stands before the atoms of a frame.
#[derive(Default)]
struct Head {
    /// The step of the simulation.
    step: Option<i64>,
    /// Atoms that it says it has.
    count: Option<u64>,
    cell: Option<Cell>,
    /// Whether any boundary is periodic.
    periodic: bool,
    /// Line of its `ITEM: ATOMS`.
    line: u64,
    /// Names of the columns.
    names: Vec<String>,
}

impl<'a, R: BufRead> Dump<'a, R> {
    /// A dump that `input` holds; `source` names it in messages.
    pub fn new(source: &'a str, input: R, options: &ReadOptions) -> Self {
        Self {
            text: Text::new(source, input, Place::default()),
            next: 0,
            begin: Place::default(),
            options: options.clone(),
        }
    }

    /// Says that the input begins at this mark of the dump, not at its beginning.
    pub fn start_at(&mut self, mark: Mark) {
        self.text.start_at(mark.place);
        self.next = mark.number;
        self.begin = mark.place;
    }

    /// Passes over all frames, without parsing their atoms. Tells how many there are, and where each
    /// of the last `most` stands.
    ///
    /// # Errors
    /// What is no frame, by line.
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

    /// Passes over the frames before this one.
    ///
    /// # Errors
    /// What is no frame, by line.
    pub fn skip_to(&mut self, number: u64) -> anyhow::Result<()> {
        while self.next < number && self.skip()? {}
        Ok(())
    }

    /// The error for frames that are not there.
    pub(crate) fn has_none_of(&mut self, frames: Frames) -> anyhow::Result<Error> {
        while self.skip()? {}
        let (source, count) = (self.text.source(), self.next);
        let last = count.saturating_sub(1);
        Ok(anyhow!(
            "there is no frame {frames} in {source}: it has {count}, numbered from 0 to {last} (or \
             from -{count} to -1)"
        ))
    }

    /// Passes over a frame; false if there is none.
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

    /// Reads the next frame, if there is one.
    ///
    /// # Errors
    /// What cannot be read, by line and field.
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
        if self.next > 0 && !self.options.ids && head.names.iter().any(|name| name == "id") {
            world.notes.push(
                "LAMMPS may change the order of atoms from frame to frame: rows are those of each \
                 frame, --ids reports ids instead"
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
                    "there are {} fields, but ITEM: ATOMS names {}",
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

    /// Notes that a frame has been read.
    fn step(&mut self) {
        self.next += 1;
        self.begin = self.text.place();
    }

    /// Reads up to the atoms of the next frame, if there is one; there must be a first.
    fn head(&mut self) -> anyhow::Result<Option<Head>> {
        let mut head = Head::default();
        // Sections that are not known may have any lines.
        let mut within = false;
        while self.text.next()? {
            let line = self.text.line().to_vec();
            // LAMMPS ends every line. A file that does not even begin as a dump is no cut dump.
            if !self.text.is_ended() && !line.is_empty() && (within || self.next > 0) {
                return Err(self.cut("the file ends within a line"));
            }
            if let Some(names) = line.strip_prefix(b"ITEM: ATOMS") {
                if head.count.is_none() {
                    let what = "ITEM: ATOMS without ITEM: NUMBER OF ATOMS before it";
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
                head.periodic = fields(heading).any(|word| word == b"pp");
                head.cell = Some(self.cell(heading)?);
            } else if !line.starts_with(b"ITEM:") && !line.is_empty() && !within {
                return Err(self.stray(&line));
            }
            within |= !line.is_empty();
        }
        if within {
            return Err(self.cut("the file ends within a frame, before its ITEM: ATOMS"));
        }
        if self.next == 0 {
            bail!(
                "{} is empty; it must be a LAMMPS text dump",
                self.text.source()
            );
        }
        Ok(None)
    }

    /// An error if a section of the frame has been there.
    fn once(&self, first: bool, section: &str) -> anyhow::Result<()> {
        if first {
            return Ok(());
        }
        let what = format!("ITEM: {section} again, before the ITEM: ATOMS of the frame");
        Err(self.text.wrong(&what))
    }

    /// An error about a line where a frame should begin.
    fn stray(&self, line: &[u8]) -> Error {
        if self.next == 0 {
            return self
                .text
                .wrong("this is no LAMMPS text dump: it must begin with ITEM:");
        }
        let what = format!(
            "here stands `{}`, but after as many atoms as ITEM: NUMBER OF ATOMS says there must be \
             another ITEM:",
            number::shown(line)
        );
        self.text.wrong(&what)
    }

    /// An error about a file that ends too early.
    fn cut(&self, what: &str) -> Error {
        let way_out = match self.next {
            0 => String::new(),
            n => format!(" --frame {} takes the last whole one", n - 1),
        };
        self.text
            .wrong(&format!("{what}; was it cut off?{way_out}"))
    }

    /// Reads a line with a whole number.
    fn whole<T: std::str::FromStr>(&mut self, what: &str) -> anyhow::Result<T> {
        if !self.text.next()? {
            return Err(self.cut(&format!("the file ends where the {what} should be")));
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

    /// Reads the lines of a box.
    fn cell(&mut self, heading: &[u8]) -> anyhow::Result<Cell> {
        let mut lines = [const { Vec::new() }; 3];
        let first = self.text.place().line + 1;
        for line in &mut lines {
            if !self.text.next()? {
                return Err(self.cut("the file ends where the bounds of the box should be"));
            }
            if !self.text.is_ended() {
                return Err(self.cut("the file ends within the bounds of the box"));
            }
            *line = self.text.line().to_vec();
        }
        Cell::read(heading, &lines).map_err(|(k, what)| {
            crate::read::world::at(self.text.source(), "line", first + k as u64, &what)
        })
    }

    /// Reads the line of an atom, after `read` others.
    fn atom(&mut self, head: &Head, read: u64) -> anyhow::Result<()> {
        // LAMMPS ends every line, so what has no end may have lost digits, too.
        if self.text.next()? && self.text.is_ended() && !self.text.line().starts_with(b"ITEM:") {
            return Ok(());
        }
        let count = head.count.unwrap_or_default();
        Err(self.cut(&format!(
            "the frame of line {} ends after {read} of {count} atoms",
            head.line
        )))
    }

    /// Finds the columns of a frame.
    fn columns(&self, head: &Head) -> anyhow::Result<Columns> {
        let columns = Columns::find(&head.names, &CENTERS, &self.options)
            .map_err(|what| self.text.wrong(&what))?;
        if !is_scaled(&columns) {
            return Ok(columns);
        }
        let cell = head.cell.ok_or_else(|| {
            self.text
                .wrong("scaled coordinates need ITEM: BOX BOUNDS before them, which is not there")
        })?;
        Ok(columns.within(cell))
    }
}

/// Whether the coordinates are parts of the box.
fn is_scaled(columns: &Columns) -> bool {
    CENTERS[2..].contains(&columns.names.center)
}

/// What the user should know about a frame.
fn notes(source: &str, head: &Head, columns: &Columns) -> Vec<String> {
    let unwrapped = [CENTERS[1], CENTERS[3]].contains(&columns.names.center);
    let periodic = head.periodic.then(|| {
        let images = if unwrapped {
            ", and its coordinates are unwrapped: spheres may meet others' images, which is not seen"
        } else {
            ""
        };
        format!(
            "{source} has periodic boundaries, but pairs across a boundary are not looked for{images}"
        )
    });
    periodic.into_iter().chain(columns.note()).collect()
}

/// What stands between white space.
fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|field| !field.is_empty())
}

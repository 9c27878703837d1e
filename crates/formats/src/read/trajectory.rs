//! Reads trajectory files (LAMMPS dumps and XYZ files) frame by frame.

use std::collections::VecDeque;
use std::io::BufRead;

use ::csv::ByteRecord;

use crate::error::{Error, ErrorKind, Result};
use crate::memory::out_of_memory;
use crate::read::cell::Given;
use crate::read::columns::Columns;
use crate::read::frame_text::{FrameText, fields};
use crate::read::text::{Place, Text};
use crate::read::{Frame, Frames, ReadOptions, World, lammps, number, xyz};

/// A reader of a trajectory file.
pub struct Trajectory<R> {
    text: FrameText<R>,
    layout: Layout,
    begin: Place,
    options: ReadOptions,
    seen: Seen,
}

/// What the frames before the next one have in common.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// Whether one of them has a box.
    pub(crate) has_box: bool,
    /// Whether those that were read are two-dimensional, if their box tells it.
    is_layer: Option<bool>,
    /// Whether those that were read have no column of z.
    lacks_z: Option<bool>,
}

impl Seen {
    /// Adds a world that was read. It is an error if it has another number of dimensions than those before.
    pub(crate) fn add(&mut self, world: &World) -> Result<(), String> {
        if world.spheres.is_empty() {
            return Ok(());
        }
        if self.lacks_z.is_some_and(|lacks_z| lacks_z != world.lacks_z) {
            let [one, other] = if world.lacks_z {
                ["no", "one"]
            } else {
                ["one", "none"]
            };
            return Err(format!(
                "this frame has {one} column of z, but the frames before it have {other}; name it with --columns, as \
                 in --columns z=NAME, or read these frames by themselves with --frames"
            ));
        }
        if let (Some(before), Some(now)) = (self.is_layer, world.is_layer)
            && before != now
        {
            let [one, other] = [before, now].map(|flat| {
                if flat {
                    "two-dimensional"
                } else {
                    "three-dimensional"
                }
            });
            return Err(format!(
                "the world of this frame seems to be {other}, because of its box, but frames before it are \
                 {one}; say which edges are periodic with --periodic (ab or abc)"
            ));
        }
        self.lacks_z = Some(world.lacks_z);
        self.is_layer = world.is_layer.or(self.is_layer);
        Ok(())
    }
}

/// File formats of trajectories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// A LAMMPS text dump.
    Lammps,
    /// XYZ or extended XYZ.
    Xyz,
}

/// Number and position of a frame in a trajectory file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    /// Number of the frame in the trajectory file, counted from 0.
    pub number: u64,
    /// Position in the trajectory file at which the frame begins.
    pub place: Place,
    /// What is known of the frames before.
    pub(crate) seen: Seen,
}

enum Head {
    Lammps(lammps::Head),
    Xyz(xyz::Head),
}

impl<R: BufRead> Trajectory<R> {
    /// Creates a reader of the trajectory in `input`, called `source` in messages.
    pub fn new(layout: Layout, source: &str, input: R, options: &ReadOptions) -> Self {
        Self {
            text: FrameText {
                text: Text::new(source, input, Place::default()),
                next: 0,
                first: 0,
            },
            layout,
            begin: Place::default(),
            options: options.clone(),
            seen: Seen::default(),
        }
    }

    /// Declares that the first byte of the input is the beginning of the frame that `mark` names, and not
    /// the beginning of the file.
    pub fn start_at(&mut self, mark: Mark) {
        self.text.text.start_at(mark.place);
        self.text.next = mark.number;
        self.begin = mark.place;
        self.seen = mark.seen;
    }

    /// Numbers the frames from `first` on, which is the number of frames before this file in a series. `seen` is what is
    /// known of these.
    pub(crate) fn number_from(&mut self, first: u64, seen: Seen) {
        self.text.next = first;
        self.text.first = first;
        self.seen = seen;
    }

    /// Returns what is known of the frames before the next one.
    pub(crate) fn seen(&self) -> Seen {
        self.seen
    }

    /// Returns the number of the next frame.
    pub(crate) fn next_number(&self) -> u64 {
        self.text.next
    }

    /// Counts the frames of a trajectory without parsing the atoms. Returns the number of frames, and where
    /// each of the last frames begins. The list of beginnings has up to `most` frames. A last frame that is cut
    /// off counts, too: it is an error only when it is read.
    ///
    /// # Errors
    /// Returns an error with the line number if a frame is malformed.
    pub fn count(mut self, most: u64) -> Result<(u64, VecDeque<Mark>)> {
        let mut marks = VecDeque::new();
        match self.count_into(&mut marks, most) {
            Ok(count) => Ok((count, marks)),
            Err((error, _)) => Err(error),
        }
    }

    /// Does the same as [`Self::count`]. With an error comes the mark of the frame before the malformed one.
    /// Only that frame shows whether the error is in its atoms, which were not parsed.
    pub(crate) fn count_into(
        &mut self,
        marks: &mut VecDeque<Mark>,
        most: u64,
    ) -> Result<u64, (Error, Option<Mark>)> {
        let mut before = None;
        loop {
            let mark = Mark {
                number: self.text.next,
                place: self.begin,
                seen: self.seen,
            };
            let is_cut = match self.skip() {
                Ok(false) => return Ok(self.text.next),
                Ok(true) => false,
                Err(error) if error.kind() == ErrorKind::CutOff => true,
                Err(error) => return Err((error, before)),
            };
            if marks.try_reserve(1).is_err() {
                return Err((out_of_memory("the places of the frames"), None));
            }
            marks.push_back(mark);
            if marks.len() as u64 > most {
                marks.pop_front();
            }
            if is_cut {
                return Ok(mark.number + 1);
            }
            before = Some(mark);
        }
    }

    /// Skips all frames of a trajectory before the frame `number`, without parsing the atoms.
    ///
    /// # Errors
    /// Returns an error with the line number if a frame is malformed or incomplete.
    pub fn skip_to(&mut self, number: u64) -> Result<()> {
        while self.text.next < number && self.skip().map_err(|error| self.text.told(error))? {}
        Ok(())
    }

    pub(crate) fn has_none_of(&mut self, frames: Frames) -> Result<Error> {
        while self.skip().map_err(|error| self.text.told(error))? {}
        let (source, count) = (self.text.text.source(), self.text.next);
        let last = count.saturating_sub(1);
        Ok(Error::new(format!(
            "there is no frame {frames} in {source}: it has {count} in all, numbered from 0 to \
             {last} (or from -{count} to -1); choose others with --frame"
        )))
    }

    /// Skips the next frame, or returns false at the end of the file.
    fn skip(&mut self) -> Result<bool> {
        let Some(head) = self.head()? else {
            return Ok(false);
        };
        for read in 0..head.count() {
            self.atom(&head, read)?;
        }
        self.step();
        Ok(true)
    }

    /// Reads the next frame, or returns `None` at the end of the file.
    ///
    /// # Errors
    /// Returns an error with the line number and the field if the frame cannot be read.
    pub fn read(&mut self) -> Result<Option<World>> {
        let number = self.text.next;
        self.read_frame()
            .map_err(|error| self.text.told(error).in_frame(number))
    }

    fn read_frame(&mut self) -> Result<Option<World>> {
        let before = self.seen;
        let Some(mut head) = self.head()? else {
            return Ok(None);
        };
        if before.has_box
            && !head.given().has_any()
            && !self.options.open
            && self.options.cell.is_none()
        {
            return Err(self.text.text.wrong(
                "the frame has no box, but a frame before it has one; give the box with --box and \
                 --periodic, adding --open, or take the world as open with --open",
            ));
        }
        if let Some(given) = &self.options.columns {
            let is_open = matches!(&head, Head::Xyz(head) if head.may_have_more_columns());
            let is_dump = matches!(&head, Head::Lammps(_));
            let applied = given.apply(head.names_mut(), is_open, is_dump);
            applied.map_err(|what| self.text.text.wrong(&what))?;
        }
        let (mut world, columns) = self.world(&head)?;
        world.frame = Some(Frame {
            number: self.text.next,
            step: head.step(),
        });
        let mut record = ByteRecord::new();
        let mut more_columns = false;
        for read in 0..head.count() {
            self.atom(&head, read)?;
            let text = &self.text.text;
            record.clear();
            fields(text.line()).for_each(|field| record.push_field(field));
            let (names, where_from) = head.names();
            let is_right = match &head {
                Head::Xyz(head) if head.may_have_more_columns() => record.len() >= names.len(),
                _ => record.len() == names.len(),
            };
            more_columns |= record.len() > names.len();
            if !is_right {
                let hint = if text.line().windows(2).any(|two| two == b"\xc2\xa0") {
                    "; it has non-breaking spaces, which must be plain ones"
                } else if matches!(&head, Head::Xyz(head) if head.may_have_more_columns()) {
                    "; if there are no symbols of elements, write Properties=pos:R:3 in the line before the atoms"
                } else {
                    ""
                };
                let what = format!(
                    "the line has {}, but {where_from} names {}{hint}",
                    number::counted(record.len(), "field"),
                    number::counted(names.len(), "column")
                );
                if record.len() < names.len() && !text.is_ended() {
                    return Err(self.text.cut(&format!("{what}, and has no line end")));
                }
                return Err(text.wrong(&what));
            }
            world.parse(text.place().line, &columns, |column| record.get(column))?;
        }
        if !self.text.text.is_ended() {
            world.notes.push(self.text.text.unended());
        }
        if more_columns {
            let count = head.names().0.len();
            world.notes.push(format!(
                "the columns after column {count} are not read, because an XYZ file without \
                 Properties does not say what they are; --columns says it, as in --columns \
                 vx={},vy={},vz={}",
                count + 1,
                count + 2,
                count + 3
            ));
        }
        world.flatten(head.given(), &self.options)?;
        self.seen
            .add(&world)
            .map_err(|what| self.text.text.wrong(&what))?;
        world.check_ids()?;
        self.step();
        Ok(Some(world))
    }

    fn step(&mut self) {
        self.text.next += 1;
        self.begin = self.text.text.place();
    }

    fn head(&mut self) -> Result<Option<Head>> {
        let head = match self.layout {
            Layout::Lammps => lammps::head(&mut self.text)?.map(Head::Lammps),
            Layout::Xyz => xyz::head(&mut self.text)?.map(Head::Xyz),
        };
        self.seen.has_box |= head
            .as_ref()
            .is_some_and(|head| head.given().cell.is_some());
        Ok(head)
    }

    fn atom(&mut self, head: &Head, read: u64) -> Result<()> {
        match head {
            Head::Lammps(head) => lammps::atom(&mut self.text, head, read),
            Head::Xyz(head) => xyz::atom(&mut self.text, head, read),
        }
    }

    fn world(&self, head: &Head) -> Result<(World, Columns)> {
        match head {
            Head::Lammps(head) => lammps::world(&self.text, head, &self.options),
            Head::Xyz(head) => xyz::world(&self.text, head, &self.options),
        }
    }
}

impl Head {
    fn count(&self) -> u64 {
        match self {
            Self::Lammps(head) => head.count.unwrap_or_default(),
            Self::Xyz(head) => head.count,
        }
    }

    fn step(&self) -> Option<i64> {
        match self {
            Self::Lammps(head) => head.step,
            Self::Xyz(_) => None,
        }
    }

    fn given(&self) -> &Given {
        match self {
            Self::Lammps(head) => &head.given,
            Self::Xyz(head) => &head.given,
        }
    }

    fn names_mut(&mut self) -> &mut Vec<String> {
        match self {
            Self::Lammps(head) => &mut head.names,
            Self::Xyz(head) => &mut head.names,
        }
    }

    fn names(&self) -> (&[String], &'static str) {
        match self {
            Self::Lammps(head) => (&head.names, "ITEM: ATOMS"),
            Self::Xyz(head) => (&head.names, head.names_from()),
        }
    }
}

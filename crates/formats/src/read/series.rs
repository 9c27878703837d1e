//! Reads several inputs as one series of frames.

use std::collections::VecDeque;

use crate::error::{Error, ErrorKind, Result, bail};
use crate::read::frames::Span;
use crate::read::input::Content;
use crate::read::open::{self, Opened};
use crate::read::trajectory::Seen;
use crate::read::{Frame, Frames, Input, Progress, ReadOptions, World};

/// A reader of a series of inputs. Frames are numbered from the first input to the last.
pub(crate) struct Series<'a> {
    inputs: VecDeque<Input>,
    /// Number of all inputs.
    all: usize,
    frames: Frames,
    options: ReadOptions,
    progress: &'a dyn Progress,
    span: Span,
    /// Number of frames of the inputs before the current one.
    before: u64,
    current: Option<Opened<'a>>,
    /// The input that was opened last.
    opened: Option<Input>,
    /// What is known of the frames before.
    seen: Seen,
    found: bool,
    /// Timestep of the last frame.
    step: Option<i64>,
}

impl<'a> Series<'a> {
    pub(crate) fn new(
        inputs: &[Input],
        frames: Frames,
        options: &ReadOptions,
        progress: &'a dyn Progress,
    ) -> Result<Self> {
        let mut inputs: VecDeque<Input> = inputs.iter().cloned().collect();
        let all = inputs.len();
        let is_stream = |input: &&Input| matches!(input.content, Content::StandardInput);
        if inputs.iter().filter(is_stream).count() > 1 {
            bail!("standard input (-) can be read only once, but is given more than once");
        }
        let mut counts = Vec::new();
        if frames.count_from_the_end() {
            for input in &inputs {
                counts.push(open::count(input, options, progress)?);
            }
        }
        let nothing = Span {
            start: 0,
            end: 0,
            step: 1,
        };
        let span = frames.resolve(counts.iter().sum()).unwrap_or(nothing);
        // Inputs before the first selected frame need not be read again.
        let mut before = 0;
        for count in counts {
            if before + count > span.start {
                break;
            }
            before += count;
            inputs.pop_front();
        }
        Ok(Self {
            inputs,
            all,
            frames,
            options: options.clone(),
            progress,
            span,
            before,
            current: None,
            opened: None,
            seen: Seen::default(),
            found: false,
            step: None,
        })
    }

    /// Reads the next selected frame, or returns `None` after the last one.
    pub(crate) fn read(&mut self) -> Result<Option<World>> {
        let read = self.read_next();
        read.map_err(|error| {
            let error = match &self.opened {
                Some(input) => open::told(input, error),
                None => error,
            };
            let number = self.all - self.inputs.len();
            if error.kind() != ErrorKind::CutOff || self.inputs.is_empty() {
                return error;
            }
            error.and(&format!(
                "This is file {number} of {}; to read the files after it, leave it out",
                self.all
            ))
        })
    }

    fn read_next(&mut self) -> Result<Option<World>> {
        while self.span.start < self.span.end {
            let Some(current) = &mut self.current else {
                let Some(input) = self.inputs.pop_front() else {
                    break;
                };
                let input = self.opened.insert(input);
                let opened = open::open_alone(
                    &*input,
                    &self.options,
                    self.progress,
                    self.before,
                    self.seen,
                )?;
                self.current = Some(opened);
                continue;
            };
            let world = match current {
                Opened::World(world) if self.before == self.span.start => {
                    world.take().map(|world| *world)
                }
                Opened::World(_) => None,
                Opened::Frames(trajectory) => {
                    trajectory.skip_to(self.span.start)?;
                    trajectory.read()?
                }
            };
            match current {
                Opened::World(_) => {
                    self.before += 1;
                    self.current = None;
                }
                Opened::Frames(trajectory) if world.is_none() => {
                    self.before = trajectory.next_number();
                    self.seen = trajectory.seen();
                    self.current = None;
                }
                Opened::Frames(_) => {}
            }
            if let Some(mut world) = world {
                self.found = true;
                let has_no_frames = world.frame.is_none();
                self.number(&mut world);
                if has_no_frames
                    && self.seen.has_box
                    && world.domain.is_none()
                    && !self.options.open
                {
                    return Err(Error::new(format!(
                        "{} has no box, but a file before it in the series has one; give the box with --box and \
                         --periodic, adding --open, or take the world as open with --open",
                        world.source
                    )));
                }
                if has_no_frames {
                    let added = self.seen.add(&world);
                    added.map_err(|what| Error::new(format!("{}: {what}", world.source)))?;
                }
                self.seen.has_box |= world.domain.is_some();
                self.span.start = self.span.start.saturating_add(self.span.step);
                return Ok(Some(world));
            }
        }
        if self.found {
            return Ok(None);
        }
        Err(Error::new(format!(
            "there is no frame {} in the series of files, which has {}",
            self.frames, self.before
        )))
    }

    /// Gives a world of an input without frames its number, and notes timesteps that do not ascend.
    fn number(&mut self, world: &mut World) {
        let frame = world.frame.get_or_insert(Frame {
            number: self.span.start,
            step: None,
        });
        if let (Some(before), Some(step)) = (self.step, frame.step)
            && step < before
        {
            world.notes.push(
                "the timesteps of the series do not ascend; give the files in the order of time, as \
                 `ls -v` lists them"
                    .to_owned(),
            );
        }
        self.step = frame.step.or(self.step);
    }
}

//! Opens an input and yields its worlds.

use std::collections::VecDeque;
use std::fmt;
use std::iter::FusedIterator;

use crate::error::{Context, Result, bail};
use crate::read::frames::Span;
use crate::read::input::Content;
use crate::read::open::{Progress, Source, layout, prepare, read_whole};
use crate::read::series::Series;
use crate::read::unpack::Text;
use crate::read::{Frames, Input, Layout, ReadOptions, Trajectory, World};

/// An iterator over the worlds of an input: the spheres of a file, or of each selected frame of a trajectory.
/// The iterator yields an error if a world cannot be read, or if the input has none of the selected frames.
/// The error names the file, the line (or row) and the field. The iterator ends after an error.
pub struct Worlds<'a> {
    rest: Rest<'a>,
}

enum Rest<'a> {
    World(Option<Box<World>>),
    Series(Box<Series<'a>>),
    Frames {
        trajectory: Box<Trajectory<Text<'a>>>,
        frames: Frames,
        span: Span,
        found: bool,
    },
}

impl Worlds<'_> {
    fn read(&mut self) -> Result<Option<World>> {
        match &mut self.rest {
            Rest::World(world) => Ok(world.take().map(|world| *world)),
            Rest::Series(series) => series.read(),
            Rest::Frames {
                trajectory,
                frames,
                span,
                found,
            } => {
                if span.start < span.end {
                    trajectory.skip_to(span.start)?;
                    if let Some(world) = trajectory.read()? {
                        *found = true;
                        span.start = span.start.saturating_add(span.step);
                        return Ok(Some(world));
                    }
                }
                if *found {
                    Ok(None)
                } else {
                    Err(trajectory.has_none_of(*frames)?)
                }
            }
        }
    }
}

impl Iterator for Worlds<'_> {
    type Item = Result<World>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.read().transpose();
        if !matches!(next, Some(Ok(_))) {
            self.rest = Rest::World(None);
        }
        next
    }
}

impl FusedIterator for Worlds<'_> {}

impl fmt::Debug for Worlds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worlds").finish_non_exhaustive()
    }
}

/// Opens an input. The returned iterator reads a trajectory one frame at a time. An input that is no trajectory
/// is read at once, whichever `frames` are selected. Reports on the progress go to `progress`, which may be `&()`.
///
/// ```
/// use carom_formats::read::{self, Frames, Input, Radii, ReadOptions};
///
/// let text = "1\n\nAr 0 0 0\n2\n\nAr 0 0 0\nAr 0 0 3\n";
/// let input = Input::from_bytes("melt.xyz", text, None);
/// let options = ReadOptions {
///     radii: Radii::Constant(0.5),
///     ..ReadOptions::default()
/// };
/// for world in read::open(&input, Frames::ALL, &options, &())? {
///     let world = world?;
///     let frame = world.frame.expect("an XYZ file has frames");
///     assert_eq!(world.spheres.len() as u64, frame.number + 1);
/// }
/// # Ok::<(), carom_formats::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the input cannot be opened or read, with the file, and where possible the line (or
/// row) and the field. Ids or types of NumPy arrays, which have none, are an error, too.
pub fn open<'a>(
    input: &Input,
    frames: Frames,
    options: &ReadOptions,
    progress: &'a dyn Progress,
) -> Result<Worlds<'a>> {
    if let Content::Series(inputs) = &input.content {
        return Ok(Worlds {
            rest: Rest::Series(Box::new(Series::new(inputs, frames, options, progress)?)),
        });
    }
    let source = input.name();
    let (format, mut file) = prepare(input)?;
    if let Some(layout) = layout(format) {
        return open_frames(layout, source, file, frames, options, progress);
    }
    let only = frames.resolve(1);
    if only.is_none_or(|span| span.start > 0 || span.end == 0) {
        bail!("there is no frame {frames} in {source}: it has no frames");
    }
    let world = read_whole(format, source, &mut file, options, progress)?;
    Ok(Worlds {
        rest: Rest::World(Some(Box::new(world))),
    })
}

fn open_frames<'a>(
    layout: Layout,
    source: &str,
    mut file: Source,
    frames: Frames,
    options: &ReadOptions,
    progress: &'a dyn Progress,
) -> Result<Worlds<'a>> {
    let cannot_read = || format!("cannot read {source}");
    let (mut count, mut mark) = (0, None);
    if frames.count_from_the_end() {
        file.keep(progress)?;
        let text = file
            .text(0, "counting the frames", progress)
            .with_context(cannot_read)?;
        let mut marks = VecDeque::new();
        let mut trajectory = Trajectory::new(layout, source, text, options);
        count = match trajectory.count_into(&mut marks, frames.marks()) {
            Ok(count) => count,
            Err((error, None)) => return Err(error),
            // An error in the atoms of the frame before is the first one of the file.
            Err((error, Some(mark))) => {
                let text = file.text(mark.place.byte, "reading", progress);
                let text = text.with_context(cannot_read)?;
                let mut trajectory = Trajectory::new(layout, source, text, options);
                trajectory.start_at(mark);
                return Err(trajectory.read().err().unwrap_or(error));
            }
        };
        let start = frames.resolve(count).map_or(0, |span| span.start);
        mark = marks.into_iter().find(|mark| mark.number == start);
    }
    let begin = mark.map_or(0, |mark| mark.place.byte);
    let text = file
        .text(begin, "reading", progress)
        .with_context(cannot_read)?;
    let mut trajectory = Trajectory::new(layout, source, text, options);
    if let Some(mark) = mark {
        trajectory.start_at(mark);
    }
    let nothing = Span {
        start: 0,
        end: 0,
        step: 1,
    };
    Ok(Worlds {
        rest: Rest::Frames {
            trajectory: Box::new(trajectory),
            frames,
            span: frames.resolve(count).unwrap_or(nothing),
            found: false,
        },
    })
}

//! Messages on standard error, and frames and lists that end early.

use std::io::Write;

use carom_formats::ErrorKind;
use carom_formats::read::{World, Worlds};

use crate::progress::Progress;

/// Returns whether an error is a failed write to a pipe that its reader has closed.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let cause = error.root_cause().downcast_ref::<std::io::Error>();
    cause.is_some_and(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Writes a message to standard error. A failure to write is ignored, where `eprintln!` would panic. Control characters,
/// which may come from names of files and could change the state of a terminal, are replaced.
pub(crate) fn say(message: &str) {
    let message = message.replace(|c: char| c.is_control() && c != '\n', "\u{fffd}");
    let _ = writeln!(std::io::stderr(), "{message}");
}

/// Prints the notes about the spheres of a frame, without the notes that were printed for earlier frames.
pub(crate) fn say_new_notes(world: &World, notes: &mut Vec<String>, progress: &Progress) {
    let empty = world.spheres.is_empty().then(|| match world.frame {
        Some(frame) => format!(
            "frame {} of {} is empty: it has no particles",
            frame.number, world.source
        ),
        None => format!("{} is empty: it has no particles", world.source),
    });
    for note in world.notes.iter().chain(&empty) {
        if !notes.contains(note) {
            progress.aside(|| say(&format!("note: {note}")));
            notes.push(note.clone());
        }
    }
}

/// Returns the next frame. If it is cut off, the function stores the error in `cut_off`, and the frames end.
pub(crate) fn next_frame(
    worlds: &mut Worlds<'_>,
    cut_off: &mut Option<carom_formats::Error>,
) -> Result<Option<World>, carom_formats::Error> {
    match worlds.next().transpose() {
        Err(error) if error.kind() == ErrorKind::CutOff => {
            *cut_off = Some(error);
            Ok(None)
        }
        next => next,
    }
}

/// Returns the error of a frame that is cut off, after a note about the lists that end before it. `frames` is the
/// number of complete frames, and `has_list` says whether there are lists.
pub(crate) fn end_of_frames(
    cut_off: Option<carom_formats::Error>,
    frames: u64,
    has_list: bool,
) -> anyhow::Result<()> {
    let Some(error) = cut_off else {
        return Ok(());
    };
    if has_list {
        let name = if frames == 1 { "frame" } else { "frames" };
        say(&format!(
            "note: the list is complete for {frames} {name}, up to the one that is cut off"
        ));
    }
    Err(error.into())
}

/// Returns true after a successful write, and false if the reader of the pipe has closed the pipe. Any other
/// failure to write is returned as an error.
pub(crate) fn is_heard(written: Result<(), impl Into<anyhow::Error>>) -> anyhow::Result<bool> {
    match written.map_err(Into::into) {
        Err(error) if is_broken_pipe(&error) => Ok(false),
        other => other.map(|()| true),
    }
}

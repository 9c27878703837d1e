//! The command-line tool `carom`, which finds the colliding spheres in a file, and times the library.

mod bench;
mod collide;
mod neighbors;
mod progress;
mod read_args;
mod summary;
mod world_args;

use std::io::Write;
use std::process::ExitCode;

use carom_formats::read::World;
use clap::Parser;

use progress::Progress;

/// Finds every pair of moving spheres that touch during a time step, and when they first touch.
#[derive(Debug, Parser)]
#[command(name = "carom", version, max_term_width = 100, after_help = AFTER_HELP)]
enum Command {
    /// Find the colliding pairs in a file: CSV, LAMMPS dump, XYZ or NumPy arrays
    ///
    /// Every sphere moves with constant velocity during the time step. A pair counts if its two spheres touch
    /// or overlap at any time from 0 to the end of the step, both included. Numbers are float64,
    /// or float32 for arrays of float32 and for steps with walls, and the pairs are exact for these numbers.
    Collide(Box<collide::Args>),
    /// List the neighbours of each particle in a file: all pairs within a cutoff
    ///
    /// A pair is listed if the distance of its two centres is at most the cutoff, in the periodic box
    /// of the file or of --box, or in open space. Radii and velocities are not needed. Numbers are
    /// float64, or float32 for arrays of float32, and the pairs are exact for these numbers.
    Neighbors(Box<neighbors::Args>),
    /// Measure how fast carom runs on this machine
    ///
    /// Times carom on its benchmark scenes, or on a file. A table goes to standard error, and one JSON object
    /// for each run goes to standard output. A run of the benchmark consists of one call to warm up, which
    /// also grows the buffers, and the timed calls. Compare only times measured on the same machine. Times on
    /// a software adapter (llvmpipe, lavapipe, WARP) say nothing about any GPU.
    ///
    /// The floor of a time step is the time in which the memory can move the bytes that any method must move.
    /// Any method reads each sphere (32 bytes), writes and reads a sorted copy of each sphere (64 bytes), and
    /// writes each pair (16 bytes).
    Bench(Box<bench::Args>),
}

const AFTER_HELP: &str = "\
Examples:
  carom collide grains.csv --dt 0.001             print the first pairs
  carom collide dump.pour --dt 1e-4 --radius 0.5 --output pairs.csv
  carom neighbors melt.xyz --cutoff 3.5 --output neighbors.npz
  carom bench --scene gas --n 1000000
Run `carom collide --help`, `carom neighbors --help` or `carom bench --help` for all options.";

fn main() -> ExitCode {
    let done = match Command::parse() {
        Command::Collide(args) => {
            args.check();
            collide::run(&args)
        }
        Command::Neighbors(args) => {
            args.check();
            neighbors::run(&args)
        }
        Command::Bench(args) => {
            args.check();
            bench::run(*args).map(|()| ExitCode::SUCCESS)
        }
    };
    done.unwrap_or_else(|error| {
        // A broken pipe is no failure: programs such as `head` close their input early.
        if is_broken_pipe(&error) {
            return ExitCode::SUCCESS;
        }
        let message = format!("error: {error:#}");
        say(&message);
        // The library's error messages use the option names of the Rust interface. A note adds the name of
        // the command-line option.
        if message.contains("`Backend::Cpu`") {
            say("note: in this tool, `Backend::Cpu` is the option `--backend cpu`");
        }
        ExitCode::FAILURE
    })
}

fn exit_with_usage_error(subcommand: &str, what: String) -> ! {
    use clap::CommandFactory;

    let mut carom = Command::command();
    carom.build();
    let command = carom.find_subcommand_mut(subcommand);
    let error = clap::Error::raw(clap::error::ErrorKind::ArgumentConflict, what + "\n");
    match command {
        Some(command) => error.with_cmd(command).exit(),
        None => error.exit(),
    }
}

/// Returns whether an error is a failed write to a pipe that its reader has closed.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let cause = error.root_cause().downcast_ref::<std::io::Error>();
    cause.is_some_and(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Writes a line to standard error. A failure to write is ignored, where `eprintln!` would panic.
fn say(message: &str) {
    let _ = writeln!(std::io::stderr(), "{message}");
}

/// Prints the notes about the spheres of a frame, without the notes that were printed for earlier frames.
fn say_new_notes(world: &World, notes: &mut Vec<String>, progress: &Progress) {
    for note in &world.notes {
        if !notes.contains(note) {
            progress.aside(|| say(&format!("note: {note}")));
            notes.push(note.clone());
        }
    }
}

/// Returns true after a successful write, and false if the reader of the pipe has closed the pipe. Any other
/// failure to write is returned as an error.
fn is_heard(written: Result<(), impl Into<anyhow::Error>>) -> anyhow::Result<bool> {
    match written.map_err(Into::into) {
        Err(error) if is_broken_pipe(&error) => Ok(false),
        other => other.map(|()| true),
    }
}

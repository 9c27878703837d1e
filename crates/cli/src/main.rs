//! The command-line tool `carom`, which finds the colliding spheres in a file, and times the library.

mod bench;
mod collide;
mod progress;
mod read_args;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

/// Finds every pair of moving spheres that touch during a time step, and when they first touch.
#[derive(Debug, Parser)]
#[command(name = "carom", version, max_term_width = 100, after_help = AFTER_HELP)]
enum Command {
    /// Find the colliding pairs in a file: CSV, LAMMPS dump, XYZ or NumPy arrays
    ///
    /// Every sphere moves with constant velocity during the time step. A pair counts if its two spheres touch
    /// or overlap at any time from 0 to the end of the step, both included. Numbers are rounded once, to the
    /// nearest float32, and the pairs are exact for the rounded numbers.
    Collide(Box<collide::Args>),
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
  carom bench --scene gas --n 1000000
Run `carom collide --help` or `carom bench --help` for all options.";

fn main() -> ExitCode {
    let done = match Command::parse() {
        Command::Collide(args) => {
            args.check();
            collide::run(&args)
        }
        Command::Bench(args) => {
            args.check();
            bench::run(*args).map(|()| ExitCode::SUCCESS)
        }
    };
    done.unwrap_or_else(|error| {
        // A broken pipe is no failure: a program such as `head` closes its input when it has read enough.
        if is_broken_pipe(&error) {
            return ExitCode::SUCCESS;
        }
        let message = format!("error: {error:#}");
        say(&message);
        // Error messages of the library name options of the Rust interface. A note then gives the option of
        // the tool.
        if message.contains("`Backend::Cpu`") {
            say("note: in this tool, `Backend::Cpu` is the option `--backend cpu`");
        }
        ExitCode::FAILURE
    })
}

/// Prints the error message `what` about wrong usage of a subcommand, and ends the process with exit code 2.
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

/// Writes a line to standard error. A failure to write is ignored, because there is no place left to report
/// the failure. `eprintln!` would panic instead.
fn say(message: &str) {
    let _ = writeln!(std::io::stderr(), "{message}");
}

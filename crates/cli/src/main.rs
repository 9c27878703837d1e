//! `carom`: collides the spheres of a file, and times the library.

mod bench;
mod collide;
mod progress;
mod read_args;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

/// Finds every pair of moving spheres that touch during a time step, and when.
#[derive(Debug, Parser)]
#[command(name = "carom", version, max_term_width = 100, after_help = AFTER_HELP)]
enum Command {
    /// Find the colliding pairs of a file: CSV, LAMMPS dump or NumPy arrays
    Collide(Box<collide::Args>),
    /// Measure how fast carom is on this machine
    Bench(Box<bench::Args>),
}

const AFTER_HELP: &str = "\
Examples:
  carom collide grains.csv --dt 0.001             list the first pairs
  carom collide dump.pour --dt 1e-4 --radius 0.5 --output pairs.csv
  carom bench --scene gas --n 1000000
`carom collide --help` and `carom bench --help` explain all options.";

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
        // Whoever reads the output has seen enough, as with `| head`.
        if is_broken_pipe(&error) {
            return ExitCode::SUCCESS;
        }
        say(&format!("error: {error:#}"));
        ExitCode::FAILURE
    })
}

/// Ends the process with exit code 2, saying why these arguments do not go together.
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

/// Whether nobody reads the output any more.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let cause = error.root_cause().downcast_ref::<std::io::Error>();
    cause.is_some_and(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Writes a line to standard error. Where nobody listens there is nobody to tell, so a failure is
/// ignored, where `eprintln!` would panic.
fn say(message: &str) {
    let _ = writeln!(std::io::stderr(), "{message}");
}

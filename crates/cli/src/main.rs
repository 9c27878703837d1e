//! The command-line tool `carom`, which finds the colliding spheres in a file, and times the library.

mod bench;
mod collide;
mod neighbors;
mod progress;
mod read_args;
mod say;
mod summary;
mod world_args;

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
#[cfg(unix)]
use signal_hook::consts::SIGXFSZ;

use say::{is_broken_pipe, say};
use world_args::most_threads;

/// Finds every pair of moving spheres that touch during a time step, and when they first touch.
#[derive(Debug, Parser)]
#[command(name = "carom", version, max_term_width = 100, after_help = AFTER_HELP)]
enum Command {
    /// Find the colliding pairs in a file: CSV, LAMMPS dump, XYZ or NumPy arrays
    ///
    /// Every sphere moves with constant velocity during the time step. A pair counts if its two spheres touch
    /// or overlap at any time from 0 to the end of the step, both included. Numbers are float64,
    /// or float32 for arrays of float32, and the pairs are exact for these numbers.
    Collide(Box<collide::Args>),
    /// List the neighbours of each particle in a file: all pairs within a cutoff
    ///
    /// A pair is listed if the distance of its two centres is at most the cutoff, in the periodic box
    /// of the file or of --box, or in open space. Radii and velocities are not needed. Numbers are
    /// float64, or float32 for arrays of float32, and the pairs are exact for these numbers.
    #[command(alias = "neighbours")]
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
    full_files_are_errors();
    let done = start().and_then(|command| match command {
        None => Ok(ExitCode::SUCCESS),
        Some(command) => run(command),
    });
    done.unwrap_or_else(|error| {
        // A broken pipe is no failure: programs such as `head` close their input early.
        if is_broken_pipe(&error) {
            return ExitCode::SUCCESS;
        }
        say(&in_terms_of_the_tool(&format!("error: {error:#}")));
        ExitCode::FAILURE
    })
}

/// Returns the command, or `None` if help was asked for and is printed. Wrong usage ends the program.
fn start() -> anyhow::Result<Option<Command>> {
    match Command::try_parse() {
        Ok(command) => {
            check_threads_of_environment()?;
            Ok(Some(command))
        }
        Err(error) if error.use_stderr() => exit(&error),
        Err(help) => {
            let printed = help.print().and_then(|()| std::io::stdout().flush());
            printed.context("cannot write to standard output")?;
            Ok(None)
        }
    }
}

/// Prints what is wrong with the arguments, and ends the program.
fn exit(error: &clap::Error) -> ! {
    let unprintable = |c: char| c.is_control() && c != '\n';
    let text = error.to_string();
    if text.contains(unprintable) {
        say(&text);
        std::process::exit(error.exit_code());
    }
    error.exit()
}

/// On Unix, a process that writes more to a file than `ulimit -f` allows is killed, and leaves its temporary files,
/// unless it handles this signal. Then writing fails.
fn full_files_are_errors() {
    #[cfg(unix)]
    {
        let seen = std::sync::Arc::default();
        // A failure leaves things as they were.
        let _ = signal_hook::flag::register(SIGXFSZ, seen);
    }
}

/// Refuses more threads than can be started within some seconds.
fn check_threads_of_environment() -> anyhow::Result<()> {
    if let Ok(text) = std::env::var("RAYON_NUM_THREADS")
        && let Ok(threads) = text.parse::<usize>()
        && threads > most_threads()
    {
        anyhow::bail!(
            "RAYON_NUM_THREADS is {threads}, but must be at most {}; correct it, or leave it out for one thread \
             for each core",
            most_threads()
        );
    }
    Ok(())
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Collide(args) => {
            usage("collide", args.check());
            collide::run(&args)
        }
        Command::Neighbors(args) => {
            usage("neighbors", args.check());
            neighbors::run(&args)
        }
        Command::Bench(args) => {
            usage("bench", args.check());
            bench::run(*args).map(|()| ExitCode::SUCCESS)
        }
    }
}

/// Replaces the advice for Rust programs in an error message of the library by the options of this tool.
fn in_terms_of_the_tool(message: &str) -> String {
    const WORDS: [(&str, &str); 8] = [
        (
            "use a `Detector` with `Backend::Cpu` or `Backend::Auto`",
            "add `--backend cpu`",
        ),
        (
            "use a `Detector` with `Backend::Cpu`",
            "add `--backend cpu`",
        ),
        ("use `Backend::Cpu`", "add `--backend cpu`"),
        ("`Backend::Cpu`", "`--backend cpu`"),
        ("enable it in Cargo.toml", "install one with it"),
        (
            ", or raise `Options::with_max_candidates` or `BufferOptions::with_max_candidates`",
            "",
        ),
        (
            ", or raise `Options::with_max_pairs` if there is memory for 64 bytes per pair (160 in a \
             neighbour list)",
            ", or search fewer spheres at a time",
        ),
        ("`with_periodic`", "`--periodic`"),
    ];
    let replace = |text: String, (from, to): (&str, &str)| text.replace(from, to);
    WORDS.into_iter().fold(message.to_owned(), replace)
}

/// Ends the program if the arguments of a subcommand contradict each other.
fn usage(subcommand: &str, checked: Result<(), String>) {
    use clap::CommandFactory;

    let Err(what) = checked else { return };

    let mut carom = Command::command();
    carom.build();
    let command = carom.find_subcommand_mut(subcommand);
    let error = clap::Error::raw(clap::error::ErrorKind::ArgumentConflict, what + "\n");
    match command {
        Some(command) => exit(&error.with_cmd(command)),
        None => exit(&error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The messages of the library have Rust names in backticks with `::`, which mean nothing to the user of the
    /// tool.
    #[test]
    fn errors_are_in_the_terms_of_the_tool() {
        for (error, advice) in [
            (
                carom::Detector::new(carom::Options::new().with_max_pairs(1)).and_then(
                    |mut detector| {
                        let sphere = carom::Sphere::new([0.0; 3], 1.0);
                        detector
                            .detect(&carom::Step::new(&[sphere; 3], 1.0))
                            .map(|_| ())
                    },
                ),
                "fewer spheres at a time",
            ),
            (
                carom::Detector::new(carom::Options::new().with_max_candidates(1)).and_then(
                    |mut detector| {
                        let sphere = carom::Sphere::new([0.0; 3], 1.0);
                        detector
                            .detect(&carom::Step::new(&[sphere; 3], 1.0))
                            .map(|_| ())
                    },
                ),
                "shorten the time step",
            ),
        ] {
            let message = in_terms_of_the_tool(&error.unwrap_err().to_string());
            assert!(message.contains(advice), "{message}");
            assert!(!message.contains("::"), "{message}");
        }
    }
}

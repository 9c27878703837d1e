//! Collides the spheres of a CSV file or a LAMMPS dump.
//!
//! `cargo run --release --example collide -- INPUT [--dt T] [--output FILE.csv]`;
//! `--help` tells the rest.

mod args;
mod columns;
mod compare;
mod csv;
mod input;
mod lammps;
mod lines;
mod number;
mod output;
mod plot;
mod report;
mod verify;
mod world;

use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use std::time::Instant;

use args::Args;
use carom::{Detector, Options};
use output::Output;
use plot::Picture;
use report::Report;

fn main() -> ExitCode {
    let args = Args::parse_and_check();
    match run(&args) {
        Ok(code) => code,
        Err(error) => {
            say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let world = input::read(&args.input)?;
    if let Some(note) = &world.note {
        say(&format!("note: {note}"));
    }
    // Made before the work is done, so that a place that cannot be written to
    // does not cost a long run.
    let output = args.output.as_deref().map(Output::create).transpose()?;
    let plot = args.plot.as_deref().map(Output::create).transpose()?;

    let options = Options {
        backend: args.backend.into(),
        ..Options::default()
    };
    let mut detector = Detector::new(options)?;
    let start = Instant::now();
    let collisions = detector
        .detect(&world.spheres, args.dt)
        .map_err(|e| world.explain(e))?;
    let seconds = start.elapsed().as_secs_f64();
    // What it holds of the device's memory, the check may need.
    drop(detector);

    let verdict = args
        .verify
        .then(|| verify::verify(&world.spheres, args.dt, &collisions))
        .transpose()?;
    let report = Report {
        collisions: &collisions,
        seconds,
        verdict: verdict.as_ref(),
    };
    let printed = if args.json {
        report.json()
    } else {
        report.text(output.is_none())
    };
    match printed {
        // Whoever reads has seen enough, as with `| head`: not an error.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        other => other.map_err(|e| anyhow::anyhow!("cannot write to standard output: {e}"))?,
    }

    if let Some(failure) = verdict.and_then(|v| v.failure()) {
        // A list that is wrong is not left behind: the output stays unwritten.
        say(&format!("error: {failure}"));
        return Ok(ExitCode::FAILURE);
    }
    if let Some(output) = output {
        output.write(|file| output::write_pairs(file, &collisions.pairs))?;
    }
    if let Some(plot) = plot {
        let picture = Picture {
            source: &world.source,
            spheres: &world.spheres,
            dt: args.dt,
            pairs: &collisions.pairs,
        };
        plot.write(|file| picture.write(file))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a line to standard error. Where nobody listens there is nobody to
/// tell, so a failure is ignored, where `eprintln!` would panic.
fn say(message: &str) {
    let _ = writeln!(std::io::stderr(), "{message}");
}

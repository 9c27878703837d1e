//! Collides the spheres of a CSV file, a LAMMPS dump or NumPy arrays.
//!
//! `cargo run --release --example collide -- INPUT [--dt T] [--output FILE]`;
//! `--help` tells the rest.

mod args;
mod cell;
mod columns;
mod compare;
mod csv;
mod input;
mod lammps;
mod lines;
mod list;
mod npy;
mod npz;
mod number;
mod output;
mod pairs;
mod plot;
mod progress;
mod report;
mod text;
mod verify;
mod world;

use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use std::time::Instant;

use args::Args;
use carom::{Collisions, Detector, Options, Step};
use input::Pick;
use list::{List, ListColumns};
use output::Output;
use plot::Picture;
use progress::Progress;
use report::Report;
use world::World;

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
    let progress = Progress::new();
    let mut worlds = input::open(&args.input, args.frame, args.ids, &progress)?;
    let mut next = worlds.next()?;
    // Made before the work is done, so that a place that cannot be written to
    // does not cost a long run.
    let columns = ListColumns {
        frames: matches!(args.frame, Pick::All),
        ids: args.ids,
    };
    let list = args.output.as_ref();
    let mut list = list.map(|file| List::create(file, columns)).transpose()?;
    let mut plot = args.plot.as_deref().map(Output::create).transpose()?;
    let options = Options::new().with_backend(args.backend.into());
    let mut detector = None;
    let mut notes = Vec::new();
    while let Some(world) = next {
        // What holds of every frame is said once.
        if notes != world.notes {
            notes.clone_from(&world.notes);
            progress.aside(|| notes.iter().for_each(|note| say(&format!("note: {note}"))));
        }
        let mut ready = match detector.take() {
            Some(detector) => detector,
            None => Detector::new(options.clone())?,
        };
        progress.stage("colliding", None);
        let start = Instant::now();
        let collisions = ready
            .detect(&Step::new(&world.spheres, args.dt))
            .map_err(|error| world.explain(error))?;
        let seconds = start.elapsed().as_secs_f64();
        // What it holds of the device's memory, a check may need.
        detector = Some(ready).filter(|_| !args.verify);
        let found = (&collisions, seconds);
        if let Some(failure) = tell(args, &world, found, list.as_mut(), &progress)? {
            // A list that is wrong is not left behind: the output stays unwritten.
            progress.aside(|| say(&format!("error: {failure}")));
            return Ok(ExitCode::FAILURE);
        }
        if let Some(plot) = plot.take() {
            progress.stage("drawing", None);
            let picture = Picture {
                source: &world.source,
                spheres: &world.spheres,
                dt: args.dt,
                pairs: &collisions.pairs,
            };
            plot.write(|file| picture.write(file))?;
        }
        // Before the next is read, or both would take memory.
        drop((world, collisions));
        next = worlds.next()?;
    }
    if let Some(list) = list {
        list.finish()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks, prints and writes what was found. Tells what a check that failed has found.
fn tell(
    args: &Args,
    world: &World,
    (collisions, seconds): (&Collisions, f64),
    list: Option<&mut List>,
    progress: &Progress,
) -> anyhow::Result<Option<String>> {
    progress.stage("checking", None);
    let verdict = args
        .verify
        .then(|| verify::verify(&world.spheres, args.dt, collisions))
        .transpose()?;
    let report = Report {
        world,
        collisions,
        seconds,
        verdict: verdict.as_ref(),
    };
    // The first frame is told of if there are others.
    let frame = matches!(args.frame, Pick::All) || world.frame.is_some_and(|f| f.number > 0);
    let print = || {
        if args.json {
            report.json()
        } else {
            report.text(frame, list.is_none())
        }
    };
    match progress.aside(print) {
        // Whoever reads has seen enough, as with `| head`: not an error.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        other => other.map_err(|e| anyhow::anyhow!("cannot write to standard output: {e}"))?,
    }

    let failure = verdict.and_then(|verdict| verdict.failure());
    if failure.is_none()
        && let Some(list) = list
    {
        progress.stage("writing", None);
        let frame = world.frame.map_or(0, |frame| frame.number);
        list.append(frame, pairs::named(&collisions.pairs, world))?;
    }
    Ok(failure)
}

/// Writes a line to standard error. Where nobody listens there is nobody to
/// tell, so a failure is ignored, where `eprintln!` would panic.
fn say(message: &str) {
    let _ = writeln!(std::io::stderr(), "{message}");
}

//! `carom collide`: finds the colliding pairs of a file.

mod args;
mod compare;
mod plot;
mod report;
mod resolution;
mod verify;

use std::io::{ErrorKind, stderr, stdout};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use carom::{Collisions, Detector, Options, Step};
use carom_cli::read::{self, Frame, Progress as _, World};
use carom_cli::write::{self, Columns, List, OutputFile, Target};

pub(crate) use args::Args;
use plot::Picture;
use report::Report;

use crate::progress::Progress;
use crate::say;

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match collide(args) {
        // Whoever reads the output has seen enough, as with `| head`: not an error.
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        done => done,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let cause = error.root_cause().downcast_ref::<std::io::Error>();
    cause.is_some_and(|cause| cause.kind() == ErrorKind::BrokenPipe)
}

fn collide(args: &Args) -> anyhow::Result<ExitCode> {
    let progress = Progress::new();
    let input = args.input();
    let options = args.read_options();
    let mut worlds = read::open(&input, args.frame, &options, &progress)?;
    let mut next = worlds.next().transpose()?;
    // Made before the work is done, so that a place that cannot be written to
    // does not cost a long run.
    let columns = Columns {
        frames: args.frame.are_several(),
        ids: args.ids,
        types: args.types,
    };
    let list = args.output.as_ref();
    let mut list = list
        .map(|target| List::create(target, columns))
        .transpose()?;
    let mut plot = args.plot.as_deref().map(OutputFile::create).transpose()?;
    let options = Options::new().with_backend(args.backend.into());
    let mut detector = None;
    let mut notes = Vec::new();
    while let Some(world) = next {
        // What holds of every frame is said once.
        for note in world.notes.iter().cloned().chain(resolution::note(&world)) {
            if !notes.contains(&note) {
                progress.aside(|| say(&format!("note: {note}")));
                notes.push(note);
            }
        }
        let mut ready = match detector.take() {
            Some(detector) => detector,
            None => Detector::new(options.clone())?,
        };
        progress.begin("colliding", None);
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
        if let Some(file) = plot.take() {
            progress.begin("drawing", None);
            let picture = Picture {
                source: &world.source,
                spheres: &world.spheres,
                dt: args.dt,
                pairs: &collisions.pairs,
            };
            picture.write(&file.file()?)?;
            file.finish()?;
        }
        // Before the next is read, or both would take memory.
        drop((world, collisions));
        next = worlds.next().transpose()?;
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
    progress.begin("checking", None);
    let verdict = args
        .verify
        .then(|| verify::verify(&world.spheres, args.dt, collisions))
        .transpose()?;
    let report = Report {
        world,
        collisions,
        seconds,
        verdict: verdict.as_ref(),
        order: args.sort.into(),
        with_pairs: list.is_none(),
    };
    let printed = progress.aside(|| {
        if args.json {
            return report.json(stdout().lock());
        }
        match args.output {
            // Where the list goes, nothing else does.
            Some(Target::StandardOutput) => report.text(stderr().lock()),
            _ => report.text(stdout().lock()),
        }
    });
    match printed {
        // The list may still be wanted.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        other => other.context("cannot write to standard output")?,
    }

    let failure = verdict.and_then(|verdict| verdict.failure());
    if failure.is_none()
        && let Some(list) = list
    {
        progress.begin("writing", None);
        let frame = world.frame.map_or(0, |Frame { number, .. }| number);
        let pairs = write::named(&collisions.pairs, world, args.sort.into());
        progress.aside(|| list.append(frame, pairs))?;
    }
    Ok(failure)
}

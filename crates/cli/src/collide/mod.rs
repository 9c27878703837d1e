//! The subcommand `carom collide`, which finds the colliding pairs of spheres in a file.

mod args;
mod compare;
mod plot;
mod report;
mod resolution;
mod verify;

use std::io::{stderr, stdout};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, bail};
use carom::{
    Collision, Collisions, Detector, Domain, Hits, Options, Step, Touching, WallCollision64,
};
use carom_formats::memory::collect;
use carom_formats::read::{self, Frame, Progress as _, World};
use carom_formats::write::{self, Columns, List, OutputFile, Subject, Target};

pub(crate) use args::Args;
use plot::Picture;
use report::Report;
use verify::Verdict;

use crate::progress::Progress;
use crate::say::{end_of_frames, is_heard, next_frame, say, say_new_notes};
use crate::summary::new_backend;
use crate::world_args::{in_float32, single};

const PICTURE: &str = "the pairs of the picture";

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let progress = Progress::new();
    let input = args.input()?;
    let options = args.read_options();
    let mut worlds = read::open(&input, args.world.frame, &options, &progress)?;
    let mut next = worlds.next().transpose()?;
    // The output files are created before the search, so that a path that cannot be written is an error at
    // once.
    let first = next.as_ref().and_then(|world| world.domain);
    let images = first.is_some_and(|domain| !domain.is_open());
    let float64 = next.as_ref().is_none_or(|world| !world.float32);
    let columns = Columns {
        float64,
        subject: Subject::Collisions,
        images,
        frames: args.world.frame.are_several(),
        ids: args.world.ids,
        types: args.world.types,
        type_names: next.as_ref().is_some_and(World::has_type_names),
    };
    let list = args.output.as_ref();
    let mut list = list
        .map(|target| List::create(target, columns))
        .transpose()?;
    let wall_list = args.walls_output.as_ref().map(|target| {
        let columns = Columns {
            subject: Subject::Walls,
            types: false,
            ..columns
        };
        List::create(target, columns)
    });
    let mut wall_list = wall_list.transpose()?;
    let walls = read::walls(&args.simple_walls, &args.meshes, |x| x)?;
    let mut narrow_walls = None;
    let file = args.output.as_ref().and_then(Target::path);
    let mut plot = args.plot.as_deref().map(OutputFile::create).transpose()?;
    let options = Options::new().with_backend(args.backend.into());
    let mut detector = None;
    let (mut notes, mut is_coarse) = (Vec::new(), false);
    let (mut frames, mut cut_off) = (0, None);
    let mut backend = String::new();
    while let Some(world) = next {
        say_new_notes(&world, &mut notes, &progress);
        // Only the first note on coarse coordinates is printed. The notes of later frames would differ only
        // in their numbers.
        let float32 = world.float32;
        if float32
            && !is_coarse
            && let Some(note) = resolution::note(&world)
        {
            progress.aside(|| say(&format!("note: {note}")));
            is_coarse = true;
        }
        let mut ready = match detector.take() {
            Some(detector) => detector,
            None => Detector::new(options.clone())?,
        };
        let domain = world.domain.unwrap_or_default();
        let narrow = if float32 || plot.is_some() {
            world.in_float32()?
        } else {
            Vec::new()
        };
        progress.begin("colliding", None);
        let start = Instant::now();
        let (collisions, seconds, verdict);
        // With `--verify`, the `Detector` is dropped before the lists are checked, because the
        // check may need the GPU memory that the `Detector` holds.
        if float32 {
            let mut step = Step::new(&narrow, single(args.dt)).in_domain(&in_float32(&domain));
            if args.has_walls() {
                let walls = match narrow_walls.take() {
                    Some(walls) => walls,
                    None => read::walls(&args.simple_walls, &args.meshes, single)?,
                };
                step = step.with_walls(narrow_walls.insert(walls));
            }
            let found = ready.detect(&step).map_err(|error| world.explain(error))?;
            seconds = start.elapsed().as_secs_f64();
            detector = Some(ready).filter(|_| !args.verify);
            verdict = check(args, &progress, || verify::verify(&step, &found))?;
            collisions = widened(&found)?;
        } else {
            let mut step = Step::new(&world.spheres, args.dt).in_domain(&domain);
            if args.has_walls() {
                step = step.with_walls(&walls);
            }
            let found = ready.detect(&step).map_err(|error| world.explain(error))?;
            seconds = start.elapsed().as_secs_f64();
            detector = Some(ready).filter(|_| !args.verify);
            verdict = check(args, &progress, || verify::verify(&step, &found))?;
            collisions = found;
        }
        let report = Report {
            backend: new_backend(&collisions.statistics, &mut backend),
            world: &world,
            domain: &domain,
            collisions: &collisions,
            float32,
            seconds,
            verdict: verdict.as_ref(),
            order: args.sort.into(),
            with_pairs: list.is_none(),
            with_walls: args.has_walls().then_some(wall_list.is_none()),
        };
        let mut heard = is_heard(progress.aside(|| print(args, &report)))?;
        if let Some(failure) = verdict.as_ref().and_then(Verdict::failure) {
            // After a failed check, the unfinished output files are dropped, so that no file with wrong pairs
            // appears.
            progress.aside(|| say(&format!("error: {failure}")));
            return Ok(ExitCode::FAILURE);
        }
        let frame = world.frame.map_or(0, |Frame { number, .. }| number);
        if let Some(list) = &mut wall_list {
            progress.begin("writing", None);
            check_kind(&world, &domain, images, collisions.walls.len())?;
            list.append(frame, write::at_walls(&collisions, &world)?)?;
        }
        if let Some(list) = &mut list {
            progress.begin("writing", None);
            check_kind(&world, &domain, images, collisions.pairs.len())?;
            let pairs = write::named(&collisions, &world, args.sort.into())?;
            let written = progress.aside(|| list.append(frame, pairs));
            if file.is_some() {
                written?;
            } else {
                heard &= is_heard(written)?;
            }
        }
        if let Some(file) = plot.take() {
            progress.begin("drawing", None);
            let shown = collisions.pairs.iter().map(Collision::of_wide);
            let shown = collect(shown, PICTURE)?;
            let images = collect(collisions.pairs.images().iter().copied(), PICTURE)?;
            let shown = Hits::with_images(shown, images)?;
            let picture = Picture {
                source: &world.source,
                spheres: &narrow,
                dt: single(args.dt),
                pairs: &shown,
                domain: &in_float32(&domain),
                walls: &walls,
            };
            let drawn = picture.write(&file.file()?);
            drawn.with_context(|| file.cannot_write())?;
            file.finish()?;
        }
        // The remaining frames are not searched if the reader of standard output has closed the pipe, unless
        // an output file or a check was requested.
        if !heard && file.is_none() && wall_list.is_none() && !args.verify {
            return Ok(ExitCode::SUCCESS);
        }
        // The spheres of a frame are dropped before the next frame is read, so that only one frame is in
        // memory.
        drop((world, collisions));
        frames += 1;
        next = next_frame(&mut worlds, &mut cut_off)?;
    }
    let has_list = list.is_some() || wall_list.is_some();
    for list in [list, wall_list].into_iter().flatten() {
        list.finish()?;
    }
    end_of_frames(cut_off, frames, has_list)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns an error if a frame, which adds `entries` entries to a list, does not fit the columns of this list.
/// The first frame decides whether lists have columns for periodic images.
fn check_kind(world: &World, domain: &Domain, images: bool, entries: usize) -> anyhow::Result<()> {
    if images == domain.is_open() && entries > 0 {
        let frame = world.frame.map_or(0, |Frame { number, .. }| number);
        bail!(
            "{}: frame {frame} is {}, unlike the first frame of the list; write it to a list of its \
             own",
            world.source,
            if images { "open" } else { "periodic" }
        );
    }
    Ok(())
}

fn check(
    args: &Args,
    progress: &Progress,
    verify: impl FnOnce() -> anyhow::Result<Verdict>,
) -> anyhow::Result<Option<Verdict>> {
    if !args.verify {
        return Ok(None);
    }
    progress.begin("checking", None);
    verify().map(Some)
}

/// Returns the same list in float64.
fn widened(found: &Collisions) -> anyhow::Result<Collisions<f64>> {
    const WIDE: &str = "the list in float64";
    let images = |of: &[[i32; 3]]| collect(of.iter().copied(), WIDE);
    let pairs = collect(found.pairs.iter().map(Touching::wide), WIDE)?;
    let pairs = Hits::with_images(pairs, images(found.pairs.images())?)?;
    let mut wide = Collisions::from_pairs(pairs, found.sphere_count(), found.second_set_start())?;
    let walls = found
        .walls
        .iter()
        .map(|hit| WallCollision64::of_wide(&hit.wide()));
    wide.walls = Hits::with_images(collect(walls, WIDE)?, images(found.walls.images())?)?;
    wide.statistics = found.statistics.clone();
    Ok(wide)
}

/// Prints the report of a search, to standard error if the list of pairs goes to standard output. A closed
/// standard error is ignored, because the list must still be written.
fn print(args: &Args, report: &Report) -> anyhow::Result<()> {
    if let Some(Target::StandardOutput) = args.output {
        let printed = report.text(stderr().lock());
        return is_heard(printed.context("cannot write to standard error")).map(|_| ());
    }
    let out = stdout().lock();
    let printed = if args.json {
        report.json(out)
    } else {
        report.text(out)
    };
    printed.context("cannot write to standard output")
}

//! `carom neighbors`: lists the neighbours of each particle in a file.

mod args;

use std::io::{self, BufWriter, Write, stderr, stdout};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use carom::{Detector, Domain, HardSphere, NeighborList, NeighborSearch, Options, Statistics};
use carom_formats::read::{self, Frame, Progress as _, World};
use carom_formats::write::{self, Columns, List, Pair, Subject, Target};

pub(crate) use args::Args;

use crate::progress::Progress;
use crate::say::{end_of_frames, is_heard, next_frame, say_new_notes};
use crate::summary::{new_backend, periodic_edges, shortest};
use crate::world_args::{in_float32, single};

const SHOWN: usize = 10;

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let progress = Progress::new();
    let input = args.input();
    let options = args.read_options();
    let mut detector = Detector::new(Options::new().with_backend(args.backend.into()))?;
    // A search without particles only checks the cutoff. So an invalid cutoff is an error before
    // the input file, which may be large, is read.
    detector.find_neighbors(&NeighborSearch::within(&[] as &[HardSphere], args.cutoff))?;
    let mut worlds = read::open(&input, args.world.frame, &options, &progress)?;
    let mut next = worlds.next().transpose()?;
    let float64 = next.as_ref().is_none_or(|world| !world.float32);
    let columns = Columns {
        float64,
        subject: Subject::Neighbors,
        images: true,
        frames: args.world.frame.are_several(),
        ids: args.world.ids,
        types: args.world.types,
        type_names: next.as_ref().is_some_and(World::has_type_names),
    };
    // The output file is created before the search, so that a path that cannot be written is an error at
    // once.
    let list = args.output.as_ref();
    let mut list = list
        .map(|target| List::create(target, columns))
        .transpose()?;
    let to_file = args.output.as_ref().and_then(Target::path).is_some();
    let mut notes = Vec::new();
    let mut backend = String::new();
    let (mut frames, mut cut_off) = (0, None);
    let mut lists = (NeighborList::default(), NeighborList::default());
    while let Some(world) = next {
        say_new_notes(&world, &mut notes, &progress);
        let domain = world.domain.unwrap_or_default();
        progress.begin("searching", None);
        let start = Instant::now();
        let searched = if world.float32 {
            let (narrow, domain) = (world.in_float32()?, in_float32(&domain));
            let search = NeighborSearch::within(&narrow, single(args.cutoff)).in_domain(&domain);
            let search = if args.full { search.full() } else { search };
            detector.find_neighbors_into(&search, &mut lists.0)
        } else {
            let search = NeighborSearch::within(&world.spheres, args.cutoff).in_domain(&domain);
            let search = if args.full { search.full() } else { search };
            detector.find_neighbors_into(&search, &mut lists.1)
        };
        searched.map_err(|error| world.explain(error))?;
        let seconds = start.elapsed().as_secs_f64();
        let entries = || -> carom_formats::Result<Entries<'_>> {
            if world.float32 {
                write::neighbors(&lists.0, &world, args.full)
            } else {
                write::neighbors(&lists.1, &world, args.full)
            }
        };
        let statistics = if world.float32 {
            lists.0.statistics()
        } else {
            lists.1.statistics()
        };
        let report = Report {
            backend: new_backend(statistics, &mut backend),
            world: &world,
            domain: &domain,
            statistics,
            entries: &entries,
            full: args.full,
            seconds,
            with_entries: list.is_none(),
        };
        let printed = progress.aside(|| {
            if let Some(Target::StandardOutput) = args.output {
                report.text(stderr().lock())
            } else {
                report.text(stdout().lock())
            }
        });
        let mut heard = is_heard(printed.context("cannot print the summary"))?;
        if let Some(list) = &mut list {
            progress.begin("writing", None);
            let frame = world.frame.map_or(0, |Frame { number, .. }| number);
            let written = progress.aside(|| list.append(frame, entries()?));
            if to_file {
                written?;
            } else {
                // If standard error is closed, but the list on standard output is still read, the program
                // continues.
                heard = is_heard(written)?;
            }
        }
        if !heard && !to_file {
            return Ok(ExitCode::SUCCESS);
        }
        // The particles of a frame are dropped before the next frame is read, so that only one frame is in
        // memory.
        drop(world);
        frames += 1;
        next = next_frame(&mut worlds, &mut cut_off)?;
    }
    let has_list = list.is_some();
    if let Some(list) = list {
        list.finish()?;
    }
    end_of_frames(cut_off, frames, has_list)?;
    Ok(ExitCode::SUCCESS)
}

type Entries<'a> = Box<dyn Iterator<Item = Pair> + 'a>;

struct Report<'a> {
    /// Name of the backend, if it is another one than that of the frame before.
    backend: Option<String>,
    world: &'a World,
    domain: &'a Domain,
    statistics: &'a Statistics,
    entries: &'a dyn Fn() -> carom_formats::Result<Entries<'a>>,
    /// Whether the neighbour list has each pair twice.
    full: bool,
    seconds: f64,
    with_entries: bool,
}

impl Report<'_> {
    fn text(&self, out: impl Write) -> io::Result<()> {
        let statistics = self.statistics;
        let mut out = BufWriter::new(out);
        if let Some(Frame { number, step }) = self.world.frame {
            let step = step.map_or(String::new(), |step| format!(" (timestep {step})"));
            writeln!(out, "frame      {number}{step}")?;
        }
        if let Some(backend) = &self.backend {
            writeln!(out, "backend    {backend}")?;
        }
        writeln!(out, "particles  {}", statistics.spheres)?;
        if let Some(edges) = periodic_edges(self.domain) {
            writeln!(out, "periodic   {edges}")?;
        }
        let pairs = statistics.pairs;
        #[allow(
            clippy::cast_precision_loss,
            reason = "the mean is printed with three digits"
        )]
        let mean = 2.0 * pairs as f64 / (statistics.spheres.max(1) as f64);
        writeln!(
            out,
            "pairs      {pairs} ({mean:.3} neighbours each, on average)"
        )?;
        writeln!(out, "seconds    {:.6}", self.seconds)?;
        if self.with_entries && pairs > 0 {
            self.table(&mut out)?;
        }
        out.flush()
    }

    fn table(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "\n{:>10} {:>10} {:>4} {:>4} {:>4} {:>14} {:>14} {:>14} {:>14}",
            "i", "j", "n1", "n2", "n3", "dx", "dy", "dz", "d"
        )?;
        let entries = (self.entries)().map_err(io::Error::other)?;
        for pair in entries.take(SHOWN) {
            let Pair {
                a,
                b,
                image: [n1, n2, n3],
                numbers: [x, y, z, d],
                ..
            } = pair;
            write!(out, "{a:>10} {b:>10} {n1:>4} {n2:>4} {n3:>4}")?;
            let [x, y, z, d] = [x, y, z, d].map(|x| shortest(x, self.world.float32));
            writeln!(out, " {x:>14} {y:>14} {z:>14} {d:>14}")?;
        }
        let entries = self.statistics.pairs * if self.full { 2 } else { 1 };
        if let Some(more) = entries.checked_sub(SHOWN as u64).filter(|&more| more > 0) {
            writeln!(out, "... and {more} more; --output FILE.csv writes all")?;
        }
        Ok(())
    }
}

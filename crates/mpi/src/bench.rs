//! `carom-mpi bench`: times steps of benchmark scenes, and counts what ranks send.

use carom::{Backend, Options};
use carom_mpi::{DistributedDetector, DistributedStep, Error, Part};
use carom_scenes::Scene;
use mpi::topology::SimpleCommunicator;

use crate::args::world_args::Where;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Benchmark scene, as in `carom bench`
    #[arg(long, default_value = "gas")]
    scene: Scene,

    /// Number of spheres of all ranks
    #[arg(long, default_value_t = 1_000_000)]
    n: usize,

    /// Number of steps
    #[arg(long, default_value_t = 5)]
    steps: usize,

    /// Make a part of the world on each rank: scenes of n divided by the number of ranks, side by side
    ///
    /// Otherwise each rank makes the whole scene, and passes a range of its spheres.
    #[arg(long)]
    tiles: bool,

    /// Pass each sphere on the rank in whose region it is, from the second step on
    #[arg(long)]
    migrate: bool,

    /// Print for each step the numbers of spheres and candidates of each rank
    #[arg(long)]
    each: bool,

    /// Processor that each rank uses
    #[arg(long, value_enum, default_value = "cpu")]
    backend: Where,
}

pub(crate) fn run(comm: &SimpleCommunicator, args: &Args) -> Result<(), Error> {
    let options = Options::new().with_backend(Backend::from(args.backend));
    let mut detector = DistributedDetector::new(comm, options)?;
    let (rank, ranks) = (detector.rank(), detector.ranks());
    let range = args.n * rank / ranks..args.n * (rank + 1) / ranks;
    let mut indices: Vec<u64> = range.clone().map(|k| k as u64).collect();
    let mut spheres = if args.tiles {
        tile(args.scene, range.len(), rank, ranks)
    } else {
        args.scene.generate(args.n, 1)[range].to_vec()
    };
    if rank == 0 {
        println!(
            "{:>4} {:>9} {:>9} {:>9} {:>11} {:>7} {:>7} {:>11} {:>9} {:>8} {:>7}",
            "step",
            "seconds",
            "sending",
            "searching",
            "pairs",
            "uneven",
            "copies",
            "bytes each",
            "messages",
            "divided",
            "memory"
        );
    }
    for step in 0..args.steps {
        let is_last = step + 1 == args.steps;
        let part = if is_last {
            // As a program does that has no use for its spheres any more.
            Part::new(std::mem::take(&mut spheres), std::mem::take(&mut indices))
        } else {
            Part::new(&spheres[..], &indices[..])
        };
        let clock = std::time::Instant::now();
        let found = detector.detect(DistributedStep::<f32>::new(part, 1.0))?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a time"
        )]
        let micros = |seconds: f64| (seconds * 1e6).round() as u64;
        let seconds = detector.greatest(micros(clock.elapsed().as_secs_f64()));
        let [sending, searching] = found
            .statistics
            .seconds
            .map(|seconds| detector.greatest(micros(seconds)));
        let statistics = &found.statistics;
        let held = detector.sum(statistics.held);
        let bytes = detector.sum(statistics.bytes);
        let messages = detector.greatest(statistics.messages);
        let memory = detector.greatest(peak() * 1000 * ranks as u64 / args.n.max(1) as u64);
        if rank == 0 {
            let each = |count: u64| count as f64 / args.n.max(1) as f64;
            let [seconds, sending, searching] =
                [seconds, sending, searching].map(|x| x as f64 * 1e-6);
            println!(
                "{step:>4} {seconds:>9.4} {sending:>9.4} {searching:>9.4} {:>11} {:>7.3} {:>7.4} {:>11.3} {messages:>9} {:>8} {:>7.1}",
                statistics.pairs,
                statistics.imbalance,
                each(held) - 1.0,
                each(bytes),
                u8::from(statistics.divided),
                memory as f64 / 1000.0,
            );
        }
        let counts = [[statistics.held, statistics.search.candidates]];
        if args.each {
            detector.to_first(&counts, |counts| println!("     {counts:?}"));
        }
        drop(found);
        if args.migrate && !is_last {
            detector.migrate::<f32>(&mut spheres, &mut indices)?;
        }
    }
    Ok(())
}

/// Scene `rank` of a block of scenes.
fn tile(scene: Scene, n: usize, rank: usize, ranks: usize) -> Vec<carom::Sphere> {
    let mut spheres = scene.generate(n, rank as u64 + 1);
    let extent = |axis: usize| {
        let places = spheres.iter().map(|sphere| sphere.center[axis]);
        places.clone().fold(0.0, f32::max) - places.fold(0.0, f32::min)
    };
    let edge = [0, 1, 2].map(extent).into_iter().fold(0.0, f32::max);
    let side = (1..).find(|side| side * side * side >= ranks).unwrap_or(1);
    let place = [rank % side, rank / side % side, rank / (side * side)];
    for sphere in &mut spheres {
        for (center, place) in sphere.center.iter_mut().zip(place) {
            *center += edge * place as f32;
        }
    }
    spheres
}

/// The greatest memory of this process so far, in bytes, or 0 if the system does not tell it.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    number.unwrap_or_default() * 1024
}

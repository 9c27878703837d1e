//! Times carom's neighbour lists, one search for each line on standard input. `crates/peers/against_vesin.py`
//! runs this program beside vesin.

use std::io::{BufRead, Write, stdin, stdout};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use carom::{
    Backend, Detector, Domain, HardSphere, NeighborList, NeighborSearch, Number, Options, Sphere,
    Spheres,
};
use clap::Parser;

/// Times carom's neighbour lists on one thread.
///
/// Each line on standard input starts a search, whatever the text of the line. The search makes a
/// list that has each pair of neighbouring particles once (or twice, with `--full`), with vectors
/// and distances. For each search, the program prints the time of the search in seconds, the time of
/// carom's check that the list is still valid, and the number of entries.
#[derive(Parser)]
struct Arguments {
    /// File with the particles: x, y and z of each as little-endian float32 (or float64, with
    /// `--float64`).
    points: PathBuf,
    /// Cutoff: two particles are neighbours if their distance is at most this.
    cutoff: f64,
    /// Edge of the periodic cube, or 0 for open space.
    edge: f64,
    /// Compute in float64.
    #[arg(long)]
    float64: bool,
    /// List each pair twice, once for each of its particles as the first.
    #[arg(long)]
    full: bool,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let points = &arguments.points;
    let bytes = std::fs::read(points).with_context(|| points.display().to_string())?;
    let edge = arguments.edge;
    let domain = if edge > 0.0 {
        Domain::rectangular_f64([0.0; 3], [edge; 3])
    } else {
        Domain::open()
    };
    // carom works on this thread alone.
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread()
        .build_global()?;
    if arguments.float64 {
        let centers: Vec<[f64; 3]> = bytemuck::pod_collect_to_vec(&bytes);
        let particles: Vec<HardSphere> =
            centers.iter().map(|&at| HardSphere::new(at, 0.0)).collect();
        let search = NeighborSearch::within(&particles, arguments.cutoff);
        time(search.in_domain(&domain), arguments.full)
    } else {
        let centers: Vec<[f32; 3]> = bytemuck::pod_collect_to_vec(&bytes);
        let particles: Vec<Sphere> = centers.iter().map(|&at| Sphere::new(at, 0.0)).collect();
        #[expect(clippy::cast_possible_truncation, reason = "a float32 is needed")]
        let cutoff = arguments.cutoff as f32;
        let search = NeighborSearch::within(&particles, cutoff);
        time(search.in_domain(&domain), arguments.full)
    }
}

fn time<T: Number>(search: NeighborSearch<'_, Spheres<'_, T>>, full: bool) -> anyhow::Result<()> {
    let search = if full { search.full() } else { search };
    let mut detector = Detector::new(Options::new().with_backend(Backend::Cpu))?;
    let mut list = NeighborList::default();
    for line in stdin().lock().lines() {
        line?;
        let start = Instant::now();
        detector.find_neighbors_into(&search, &mut list)?;
        let searched = start.elapsed().as_secs_f64();
        let start = Instant::now();
        anyhow::ensure!(list.is_valid_for(&search), "the list must be valid");
        let checked = start.elapsed().as_secs_f64();
        println!("{searched} {checked} {}", list.len());
        stdout().flush()?;
    }
    Ok(())
}

//! Prints the results of `carom collide`: a summary for people, or JSON for programs.

use std::io::{self, BufWriter, Write};

use carom::{Collisions, Domain, Statistics};
use carom_formats::read::{Frame, World};
use carom_formats::write::{self, Order, Pair};
use serde::Serialize;

use super::verify::Verdict;
use crate::summary::{backend_name, periodic_edges, shortest};

const SHOWN: usize = 10;

pub(crate) struct Report<'a> {
    /// Name of the backend, if it is another one than that of the frame before.
    pub(crate) backend: Option<String>,
    pub(crate) world: &'a World,
    pub(crate) domain: &'a Domain,
    pub(crate) collisions: &'a Collisions<f64>,
    /// Whether the numbers of the list are float32.
    pub(crate) float32: bool,
    pub(crate) seconds: f64,
    pub(crate) verdict: Option<&'a Verdict>,
    pub(crate) order: Order,
    pub(crate) with_pairs: bool,
    /// Whether to print the spheres that touch walls. `None` for a step without walls.
    pub(crate) with_walls: Option<bool>,
}

#[derive(Serialize)]
struct Object<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestep: Option<i64>,
    spheres: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    periodic: Option<String>,
    pairs: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    walls: Option<usize>,
    grazing: u64,
    grazing_by_integers: u64,
    candidates: u64,
    proxies: u64,
    levels: u32,
    backend: &'static str,
    adapter: Option<&'a str>,
    reason: &'a str,
    seconds: f64,
    stages: Vec<Stage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verify: Option<&'a Verdict>,
}

/// An element of the JSON list `stages`, which keeps the order of the stages.
#[derive(Serialize)]
struct Stage {
    name: &'static str,
    seconds: f64,
}

impl Report<'_> {
    pub(crate) fn json(&self, out: impl Write) -> io::Result<()> {
        let Statistics {
            spheres,
            pairs,
            grazing,
            grazing_by_integers,
            candidates,
            proxies,
            levels,
            backend,
            reason,
            adapter,
            stages,
            ..
        } = &self.collisions.statistics;
        let frame = self.world.frame;
        let object = Object {
            frame: frame.map(|frame| frame.number),
            timestep: frame.and_then(|frame| frame.step),
            spheres: *spheres,
            periodic: periodic_edges(self.domain),
            pairs: *pairs,
            walls: self.with_walls.map(|_| self.collisions.walls.len()),
            grazing: *grazing,
            grazing_by_integers: *grazing_by_integers,
            candidates: *candidates,
            proxies: *proxies,
            levels: *levels,
            backend: backend_name(*backend),
            adapter: adapter.as_deref(),
            reason,
            seconds: self.seconds,
            stages: stages
                .iter()
                .map(|&(name, time)| Stage {
                    name,
                    seconds: time.as_secs_f64(),
                })
                .collect(),
            verify: self.verdict,
        };
        let mut out = BufWriter::new(out);
        serde_json::to_writer(&mut out, &object)?;
        writeln!(out)?;
        out.flush()
    }

    pub(crate) fn text(&self, out: impl Write) -> io::Result<()> {
        let statistics = &self.collisions.statistics;
        let pairs = &self.collisions.pairs;
        let mut out = BufWriter::new(out);
        if let Some(Frame { number, step }) = self.world.frame {
            let step = step.map_or(String::new(), |step| format!(" (timestep {step})"));
            writeln!(out, "frame    {number}{step}")?;
        }
        if let Some(backend) = &self.backend {
            writeln!(out, "backend  {backend}")?;
        }
        writeln!(out, "spheres  {}", statistics.spheres)?;
        if let Some(edges) = periodic_edges(self.domain) {
            writeln!(out, "periodic {edges}")?;
        }
        let counts = |all: usize, later: usize| {
            format!(
                "{all} ({} touch at the start, {later} meet later)",
                all - later
            )
        };
        let later = pairs.iter().filter(|pair| pair.toi > 0.0).count();
        writeln!(out, "pairs    {}", counts(pairs.len(), later))?;
        let walls = &self.collisions.walls;
        if self.with_walls.is_some() {
            let later = walls.iter().filter(|hit| hit.toi > 0.0).count();
            writeln!(out, "walls    {}", counts(walls.len(), later))?;
        }
        let by_integers = statistics.grazing_by_integers;
        writeln!(
            out,
            "grazing  {} ({} decided in float64, {by_integers} in integers)",
            statistics.grazing,
            statistics.grazing - by_integers
        )?;
        writeln!(out, "seconds  {:.6}", self.seconds)?;
        if let Some(verdict) = self.verdict {
            writeln!(out, "verify   {verdict}")?;
        }
        if self.with_pairs && !pairs.is_empty() {
            self.table(&mut out)?;
        }
        if self.with_walls == Some(true) && !walls.is_empty() {
            self.wall_table(&mut out)?;
        }
        out.flush()
    }

    fn table(&self, out: &mut impl Write) -> io::Result<()> {
        let pairs = &self.collisions.pairs;
        let with_types = self.world.types.is_some();
        write!(out, "\n{:>10} {:>10}", "a", "b")?;
        if with_types {
            write!(out, " {:>10} {:>10}", "type_a", "type_b")?;
        }
        let with_images = !self.collisions.pairs.images().is_empty();
        write!(out, " {:>16} {:>16}", "toi", "depth")?;
        if with_images {
            write!(out, " {:>4} {:>4} {:>4}", "n1", "n2", "n3")?;
        }
        writeln!(out)?;
        let named = write::named(self.collisions, self.world, self.order);
        let named = named.map_err(io::Error::other)?;
        for pair in named.take(SHOWN) {
            let Pair {
                a,
                b,
                types: [first, second],
                numbers: [toi, depth, ..],
                image: [n1, n2, n3],
            } = pair;
            write!(out, "{a:>10} {b:>10}")?;
            if with_types {
                write!(out, " {first:>10} {second:>10}")?;
            }
            let [toi, depth] = [toi, depth].map(|x| shortest(x, self.float32));
            write!(out, " {toi:>16} {depth:>16}")?;
            if with_images {
                write!(out, " {n1:>4} {n2:>4} {n3:>4}")?;
            }
            writeln!(out)?;
        }
        if pairs.len() > SHOWN {
            let more = pairs.len() - SHOWN;
            writeln!(out, "... and {more} more; --output FILE.csv writes all")?;
        }
        Ok(())
    }

    fn wall_table(&self, out: &mut impl Write) -> io::Result<()> {
        let with_images = !self.collisions.walls.images().is_empty();
        write!(
            out,
            "\n{:>10} {:>10} {:>16} {:>16}",
            "sphere", "wall", "toi", "depth"
        )?;
        if with_images {
            write!(out, " {:>4} {:>4} {:>4}", "n1", "n2", "n3")?;
        }
        writeln!(out)?;
        let at_walls = write::at_walls(self.collisions, self.world);
        let at_walls = at_walls.map_err(io::Error::other)?;
        for hit in at_walls.take(SHOWN) {
            let [toi, depth, ..] = hit.numbers;
            let [toi, depth] = [toi, depth].map(|x| shortest(x, self.float32));
            write!(out, "{:>10} {:>10} {toi:>16} {depth:>16}", hit.a, hit.b)?;
            if with_images {
                let [n1, n2, n3] = hit.image;
                write!(out, " {n1:>4} {n2:>4} {n3:>4}")?;
            }
            writeln!(out)?;
        }
        let count = self.collisions.walls.len();
        if count > SHOWN {
            let more = count - SHOWN;
            writeln!(
                out,
                "... and {more} more; --walls-output FILE.csv writes all"
            )?;
        }
        Ok(())
    }
}

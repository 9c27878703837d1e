//! Reads the benchmark results that the plots show: JSON lines from `carom bench` and `carom-peers`.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use serde::Deserialize;
use serde_json::Value;

use crate::picture::number;

#[derive(Default)]
pub(crate) struct Lines {
    pub(crate) runs: Vec<Run>,
    pub(crate) peers: Vec<Peer>,
}

#[derive(Deserialize)]
pub(crate) struct Run {
    scene: Option<String>,
    n: u64,
    dt: f64,
    at_rest: bool,
    seed: Option<u64>,
    density: Option<f64>,
    ratio: Option<f64>,
    bullets: Option<f64>,
    backend: String,
    adapter: Option<String>,
    threads: u64,
    median_seconds: f64,
}

#[derive(Deserialize)]
pub(crate) struct Peer {
    pub(crate) scene: String,
    pub(crate) n: u64,
    pub(crate) contender: String,
    pub(crate) threads: u64,
    pub(crate) ratio: Option<f64>,
}

/// A property of a benchmark run that can be on the x axis of a chart.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Part {
    N,
    Density,
    Ratio,
    Bullets,
    AtRest,
    Dt,
    Seed,
    Backend,
    Threads,
}

impl Part {
    const ALL: [Self; 9] = [
        Self::N,
        Self::Density,
        Self::Ratio,
        Self::Bullets,
        Self::AtRest,
        Self::Dt,
        Self::Seed,
        Self::Backend,
        Self::Threads,
    ];
}

impl Run {
    /// Returns the value of the property `part` of this benchmark run, if a chart can have this
    /// property on an axis. Returns `None` for other properties, and for every property if the
    /// spheres of the run come from a file.
    pub(crate) fn value(&self, part: Part) -> Option<f64> {
        self.scene.as_ref()?;
        match part {
            Part::N => Some(self.n as f64),
            Part::Density => self.density,
            Part::Ratio => self.ratio,
            Part::Bullets => self.bullets,
            _ => None,
        }
    }

    pub(crate) fn nanoseconds_a_sphere(&self) -> f64 {
        self.median_seconds / self.n.max(1) as f64 * 1e9
    }

    /// Returns whether two benchmark runs have the same scene and agree in all properties. Only the property
    /// `but` may differ.
    pub(crate) fn is_like(&self, other: &Self, but: Part) -> bool {
        let mut others = Part::ALL.into_iter().filter(|&part| part != but);
        self.scene == other.scene && others.all(|part| self.word(part) == other.word(part))
    }

    /// Returns the label of this benchmark run in a chart. `among` has all runs in the chart. The
    /// label has the scene of this run, and each property in which the runs of this scene differ,
    /// except the property `but`.
    pub(crate) fn label(&self, among: &[&Self], but: Part) -> String {
        let alike = |part| {
            let mut of_scene = among.iter().filter(|run| run.scene == self.scene);
            of_scene.all(|run| run.word(part) == self.word(part))
        };
        let told = Part::ALL
            .into_iter()
            .filter(|&part| part != but && !alike(part))
            .map(|part| self.word(part));
        let words = self.scene.iter().cloned().chain(told);
        let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
        words.join(", ")
    }

    /// Returns the text above a chart: the properties that all benchmark runs have in common. The property
    /// `but` is left out, because it is on the x axis.
    pub(crate) fn common(all: &[&Self], but: Part) -> String {
        let Some((first, others)) = all.split_first() else {
            return String::new();
        };
        let told = [Part::N, Part::AtRest, Part::Backend, Part::Threads];
        let words = told
            .into_iter()
            .filter(|&part| part != but)
            .filter(|&part| others.iter().all(|run| run.word(part) == first.word(part)))
            .map(|part| first.word(part));
        let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
        words.join(", ")
    }

    fn word(&self, part: Part) -> String {
        let of = |name, value: Option<f64>| {
            value.map_or(String::new(), |value| format!("{name} {}", number(value)))
        };
        match part {
            Part::N => format!("{} spheres", number(self.n as f64)),
            Part::Density => of("density", self.density),
            Part::Ratio => of("ratio", self.ratio),
            Part::Bullets => of("bullets", self.bullets),
            Part::AtRest if self.at_rest => "at rest".to_owned(),
            Part::AtRest => String::new(),
            Part::Dt => of("dt", Some(self.dt)),
            Part::Seed => of("seed", self.seed.map(|seed| seed as f64)),
            Part::Backend => self.adapter.clone().unwrap_or_else(|| self.backend.clone()),
            Part::Threads if self.backend != "cpu" => String::new(),
            Part::Threads if self.threads == 1 => "1 thread".to_owned(),
            Part::Threads => format!("{} threads", self.threads),
        }
    }
}

/// Reads the lines of files. A line with the key `contender` is from `carom-peers`. Any other line
/// is from `carom bench`.
///
/// # Errors
///
/// Returns an error if a file cannot be read, or if a line is neither from `carom-peers` nor from
/// `carom bench`.
pub(crate) fn read(files: &[PathBuf]) -> anyhow::Result<Lines> {
    let mut lines = Lines::default();
    for path in files {
        let text =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim().is_empty() {
                continue;
            }
            take(line, &mut lines).map_err(|error| {
                anyhow!(
                    "{}, line {number}: {error}; each line must be one that `carom bench` or \
                     `carom-peers --json` printed",
                    path.display()
                )
            })?;
        }
    }
    Ok(lines)
}

fn take(line: &str, lines: &mut Lines) -> serde_json::Result<()> {
    let value: Value = serde_json::from_str(line)?;
    if value.get("contender").is_some() {
        lines.peers.push(serde_json::from_value(value)?);
    } else {
        lines.runs.push(serde_json::from_value(value)?);
    }
    Ok(())
}

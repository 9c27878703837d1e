//! Draws plots of the output of `carom bench` and `carom-peers --json`, as SVG files.
//!
//! ```sh
//! cargo run --release -p carom-cli -- bench --n 1000,10000,100000 > bench.jsonl
//! cargo run --release -p carom-peers -- --json > peers.jsonl
//! cargo run --release -p carom-peers --bin plot -- --output docs/plots bench.jsonl peers.jsonl
//! ```

mod bars;
mod input;
mod lines;
mod picture;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use clap::Parser;

use input::{Part, Run, read};
use lines::Series;
use picture::{linear, logarithmic};

/// Draws plots of the output of `carom bench` and `carom-peers --json`, as SVG files.
///
/// From output lines of `carom bench`: the time per sphere against the number of spheres (n.svg), the density
/// (density.svg), the ratio of the radii (ratio.svg) and the distance that bullets, which are a few fast
/// spheres, move (bullets.svg). Each plot needs two or more output lines that differ only in the parameter on
/// the x axis. If several output lines have equal parameters, the last one counts.
///
/// From output lines of `carom-peers`: the time of each method relative to carom's, one plot for each number
/// of spheres N (peers-N.svg).
#[derive(Parser)]
struct Arguments {
    /// Files of JSON lines from `carom bench` or `carom-peers --json`.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Folder for the plots. Existing files with the name of a plot are overwritten.
    #[arg(long, value_name = "FOLDER")]
    output: PathBuf,
    /// Text below each plot, for example the machine and the date.
    #[arg(long, default_value = "")]
    caption: String,
}

fn main() -> anyhow::Result<()> {
    let Arguments {
        files,
        output,
        caption,
    } = Arguments::parse();
    let lines = read(&files)?;
    let mut plots = Vec::new();
    for (name, part, title, label) in [
        ("n", Part::N, "Cost against number of spheres", "spheres"),
        (
            "density",
            Part::Density,
            "Cost against density",
            "density (volume of the spheres / volume of the cube)",
        ),
        (
            "ratio",
            Part::Ratio,
            "Cost against ratio of radii",
            "largest radius / smallest radius",
        ),
        (
            "bullets",
            Part::Bullets,
            "Cost against speed of bullets",
            "distance that one sphere in a hundred moves, in diameters",
        ),
    ] {
        let (series, about) = series(&lines.runs, part);
        if series.is_empty() {
            continue;
        }
        let points = || series.iter().flat_map(|one| &one.points);
        let (x, y) = (points().map(|point| point.0), points().map(|point| point.1));
        let words = [title, &about, &caption];
        let plot = match part {
            Part::N => lines::draw(&series, words, label, (logarithmic(x), logarithmic(y))),
            Part::Ratio => lines::draw(&series, words, label, (logarithmic(x), linear(y))),
            _ => lines::draw(&series, words, label, (linear(x), linear(y))),
        };
        plots.push((format!("{name}.svg"), plot?));
    }
    let mut sizes: Vec<u64> = lines.peers.iter().map(|peer| peer.n).collect();
    sizes.sort_unstable();
    sizes.dedup();
    for n in sizes {
        let plot = bars::draw(&lines.peers, n, &caption)?;
        plots.push((format!("peers-{n}.svg"), plot));
    }
    ensure!(
        !plots.is_empty(),
        "there is nothing to draw: no line is from `carom-peers`, and no two lines of \
         `carom bench` differ in one of --n, --density, --ratio and --bullets only"
    );
    fs::create_dir_all(&output).with_context(|| format!("cannot make {}", output.display()))?;
    for (name, plot) in plots {
        let path = output.join(name);
        fs::write(&path, plot).with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}

/// Makes the lines of a chart. A line joins two or more benchmark runs that differ only in the property
/// `part`, which is on the x axis. If several runs have equal parameters, the last one counts.
fn series(runs: &[Run], part: Part) -> (Vec<Series>, String) {
    let mut groups: Vec<(&Run, Vec<(f64, f64)>)> = Vec::new();
    for run in runs {
        let Some(x) = run.value(part) else { continue };
        let point = (x, run.nanoseconds_a_sphere());
        match groups
            .iter_mut()
            .find(|(other, _)| run.is_like(other, part))
        {
            Some((_, points)) => {
                points.retain(|(other, _)| *other != x);
                points.push(point);
            }
            None => groups.push((run, vec![point])),
        }
    }
    groups.retain(|(_, points)| points.len() > 1);
    let all: Vec<&Run> = groups.iter().map(|&(run, _)| run).collect();
    let of_group = |(run, mut points): (&Run, Vec<(f64, f64)>)| {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series {
            label: run.label(&all, part),
            points,
        }
    };
    let series = groups.into_iter().map(of_group).collect();
    (series, Run::common(&all, part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(lines: &[&str]) -> Vec<Run> {
        let parsed = lines.iter().map(|line| serde_json::from_str(line));
        parsed
            .collect::<Result<_, _>>()
            .unwrap_or_else(|error| panic!("{error}"))
    }

    const GAS: &str = r#"{"scene":"gas","input":null,"n":10,"dt":1,"at_rest":false,"seed":1,
        "density":0.05,"ratio":1,"bullets":0,"backend":"cpu","threads":2,"median_seconds":1e-6}"#;

    #[test]
    fn runs_that_differ_in_one_part_form_a_series_and_a_repeat_replaces_the_earlier_run() {
        let larger = GAS.replace("\"n\":10", "\"n\":5");
        let again = larger.replace("1e-6", "2e-6");
        let still = GAS.replace("false", "true");
        let still_too = still.replace("\"n\":10", "\"n\":20");
        let runs = runs(&[GAS, &larger, &again, &still, &still_too]);
        let (series, about) = series(&runs, Part::N);
        assert_eq!(about, "cpu, 2 threads");
        let labels: Vec<&str> = series.iter().map(|one| one.label.as_str()).collect();
        assert_eq!(labels, ["gas", "gas, at rest"]);
        assert_eq!(series[0].points.len(), 2);
        assert!((series[0].points[0].1 - 400.0).abs() < 1e-9);
        assert!(super::series(&runs, Part::Density).0.is_empty());
    }

    #[test]
    fn a_label_names_the_parts_in_which_series_of_one_scene_differ() {
        let with = |n: u32, density: &str| {
            GAS.replace("\"n\":10", &format!("\"n\":{n}"))
                .replace("0.05", density)
        };
        let lines = [
            with(10, "0.1"),
            with(10, "0.2"),
            with(20, "0.1"),
            with(20, "0.2"),
        ];
        let runs = runs(&lines.each_ref().map(String::as_str));
        let labels = |part| {
            let (series, _) = series(&runs, part);
            series.into_iter().map(|one| one.label).collect()
        };
        let of_density: Vec<String> = labels(Part::Density);
        assert_eq!(of_density, ["gas, 10 spheres", "gas, 20 spheres"]);
        let of_n: Vec<String> = labels(Part::N);
        assert_eq!(of_n, ["gas, density 0.1", "gas, density 0.2"]);
    }
}

//! The break shot of a game of billiards: every impact in its order.
//!
//! `cargo run --release --example billiards -- --output billiards.svg`
//!
//! The balls slide without friction and without spin.

#[path = "../drawing/mod.rs"]
mod drawing;
mod table;

use std::path::PathBuf;

use carom::Partner;
use clap::Parser;
use glam::{DVec2, DVec3};

use crate::drawing::Drawing;
use crate::table::{CUSHIONS, Path, RADIUS, SIZE};

/// Colours of the balls of the rack. The cue ball is white.
const COLORS: [&str; 7] = [
    "#ffd23f", "#5aa9ff", "#ff6b5e", "#c28bff", "#ffa04d", "#7fe37f", "#ff9ecb",
];

#[derive(Parser)]
#[command(about = "Computes the break shot of a game of billiards")]
struct Args {
    /// Speed of the cue ball, in metres a second.
    #[arg(long, default_value_t = 9.0)]
    speed: f64,
    /// Duration, in seconds.
    #[arg(long, default_value_t = 1.2)]
    duration: f64,
    /// Write a picture of the paths, which browsers animate in slow motion.
    #[arg(long, value_name = "FILE.svg")]
    output: Option<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let mut simulation = table::start(args.speed, [0.95, 0.8])?;
    let start = simulation.spheres().to_vec();
    let report = simulation.step(args.duration)?;
    println!("  time (ms)  ball  hits               impulse (N s)");
    for impact in &report.impacts {
        let partner = match impact.partner {
            Partner::Sphere(ball) => name(ball),
            Partner::Wall(wall) => format!("{} cushion", CUSHIONS[wall as usize]),
        };
        println!(
            "{:11.4}  {:>4}  {partner:<17}  {:.4}",
            1e3 * impact.time,
            name(impact.sphere),
            DVec3::from(impact.impulse).length()
        );
    }
    println!(
        "{} impacts of two balls, {} at cushions, kinetic energy {:.3} J",
        report.sphere_impacts, report.wall_impacts, report.kinetic_energy
    );
    if let Some(path) = args.output {
        picture(&table::paths(&start, &report, args.duration)).save(&path)?;
    }
    Ok(())
}

fn name(ball: u32) -> String {
    match ball {
        0 => "cue".to_owned(),
        ball => ball.to_string(),
    }
}

fn picture(paths: &[Path]) -> Drawing {
    let half = 0.5 * DVec2::from(SIZE.map(f64::from));
    let frame = half + DVec2::splat(0.06);
    let mut drawing = Drawing::new(-frame, frame, 1000.0);
    drawing.rectangle(-frame, frame, "#5b3a21");
    drawing.rectangle(-half, half, "#1f6b4a");
    let places: Vec<Vec<_>> = paths
        .iter()
        .map(|path| {
            path.points
                .iter()
                .map(|&(t, p)| (t, p.truncate()))
                .collect()
        })
        .collect();
    let color = |ball: usize| match ball {
        0 => "#ffffff",
        ball => COLORS[(ball - 1) % COLORS.len()],
    };
    for (ball, points) in places.iter().enumerate() {
        drawing.line(points.iter().map(|point| point.1), color(ball), 0.005);
        drawing.circle(points[0].1, RADIUS, "#ffffff80", 0.003);
    }
    for (ball, points) in places.iter().enumerate() {
        drawing.moving_disc(points, RADIUS, color(ball), 8.0);
    }
    drawing
}

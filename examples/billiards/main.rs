//! The break shot of a game of billiards: every impact in its order.
//!
//! `cargo run --release --example billiards -- --output billiards.svg`
//!
//! The balls slide without friction and without spin. The picture shows each ball with the number that it has in the list.

#[path = "../drawing/mod.rs"]
mod drawing;
mod table;

use std::path::PathBuf;

use carom::Partner;
use clap::Parser;
use glam::{DVec2, DVec3};

use crate::drawing::Drawing;
use crate::table::{CUSHIONS, POCKET, POCKETS, Path, RADIUS, SIZE};

/// Colours of balls 1 to 8. Balls 9 to 15 have the first seven of them as a stripe, and the cue ball is white.
const COLORS: [&str; 8] = [
    "#f2c037", "#3f7fe0", "#e2574c", "#8a5cc2", "#f08a3c", "#3fa35c", "#9c3b3f", "#2b2b2b",
];

#[derive(Parser)]
#[command(about = "Computes the break shot of a game of billiards")]
struct Args {
    /// Speed of the cue ball, in metres a second.
    #[arg(long, default_value_t = 9.0)]
    speed: f64,
    /// Duration, in seconds.
    #[arg(long, default_value_t = 3.0)]
    duration: f64,
    /// Write a picture of the paths, which browsers animate in slow motion.
    #[arg(long, value_name = "FILE.svg")]
    output: Option<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let mut simulation = table::start(args.speed, [0.95, 0.8], true)?;
    let start = simulation.spheres().to_vec();
    let report = simulation.step_with(args.duration, &table::rule)?;
    println!("  time (ms)  ball  hits               impulse (N s)");
    for impact in &report.impacts {
        let partner = match impact.partner {
            Partner::Sphere(ball) => name(ball),
            Partner::Wall(wall) => match (wall as usize).checked_sub(CUSHIONS.len()) {
                None => format!("{} cushion", CUSHIONS[wall as usize]),
                Some(pocket) => format!("{} pocket", POCKETS[pocket].0),
            },
        };
        println!(
            "{:11.4}  {:>4}  {partner:<17}  {:.4}",
            1e3 * impact.time,
            name(impact.sphere),
            DVec3::from(impact.impulse).length()
        );
    }
    println!(
        "{} impacts of two balls, {} at cushions, {} balls in pockets, kinetic energy {:.3} J",
        report.sphere_impacts,
        report.wall_impacts - report.removed.len() as u64,
        report.removed.len(),
        report.kinetic_energy
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
    for (_, place) in POCKETS {
        let [x, y, _] = table::pocket(place).map(f64::from);
        drawing.disc(DVec2::new(x, y), POCKET, "#101512");
    }
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
    let longest = places.iter().filter_map(|points| points.last());
    let longest = longest.map(|point| point.0).fold(0.0, f64::max);
    for (ball, points) in places.iter().enumerate() {
        drawing.line(points.iter().map(|point| point.1), color(ball), 0.005);
        drawing.circle(points[0].1, RADIUS, "#ffffff80", 0.003);
    }
    for (ball, points) in places.iter().enumerate() {
        // A ball that has fallen into a pocket stays there until the picture begins again.
        let mut points = points.clone();
        points.extend(points.last().map(|&(_, place)| (longest, place)));
        match u32::try_from(ball) {
            Ok(number) if number > 0 => {
                let ball = (color(ball), number, number > 8);
                drawing.moving_ball(&points, RADIUS, ball, 8.0);
            }
            _ => drawing.moving_disc(&points, RADIUS, color(ball), 8.0),
        }
    }
    drawing
}

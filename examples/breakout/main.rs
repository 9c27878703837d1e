//! A game like Breakout in a round container, the *well*. Balls bounce off the wall of the well,
//! and off *bats*, which are small boxes. When a ball has hit a bat, the bat disappears.
//!
//! `cargo run --release --example breakout -- --output breakout.svg`
//!
//! The simulation has a hollow cylinder for the well, and a mesh of 12 triangles for each bat. The
//! balls stay in a plane.

#[path = "../drawing/mod.rs"]
mod drawing;
mod game;

use std::path::PathBuf;

use clap::Parser;
use glam::DVec2;

use crate::drawing::Drawing;
use crate::game::{Game, RADIUS, Target};

const COLORS: [&str; 4] = ["#ffd23f", "#5aa9ff", "#ff6b5e", "#7fe37f"];

#[derive(Parser)]
#[command(about = "Balls in a round well switch off the bats that they hit")]
struct Args {
    /// Number of balls.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=8))]
    balls: u32,
    /// Largest duration of the game. The well in which the balls fly has the radius 1, and the balls
    /// start with a speed of 1.
    #[arg(long, default_value_t = 60.0, value_parser = duration)]
    duration: f64,
    /// Write an animated SVG picture of the game, to be viewed in a browser.
    #[arg(long, value_name = "FILE.svg")]
    output: Option<PathBuf>,
}

fn duration(text: &str) -> Result<f64, String> {
    let duration = text.parse().map_err(|_| "not a number".to_owned())?;
    if duration >= 0.0 {
        Ok(duration)
    } else {
        Err("must be at least 0".to_owned())
    }
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let mut game = Game::new(args.balls)?;
    let bats = game.bats.len();
    println!("   time  ball  hits");
    while game.remaining() > 0 && game.simulation.time() < args.duration {
        let on: Vec<_> = game.bats.iter().map(|bat| bat.hit.is_none()).collect();
        for event in game.play()? {
            let target = match event.target {
                Target::Ball(other) => format!("ball {other}"),
                Target::Well => "the well".to_owned(),
                // A ball that hits a bat removes it, but only at the end of the frame. So all hits
                // of the bat in this frame are printed, and none in later frames.
                Target::Bat(bat) if on[bat] => format!("bat {bat}"),
                Target::Bat(_) => continue,
            };
            println!("{:7.4}  {:>4}  {target}", event.time, event.ball);
        }
    }
    game.end_paths();
    println!(
        "{} of {bats} bats are off after {:.2}",
        bats - game.remaining(),
        game.simulation.time()
    );
    if let Some(path) = args.output {
        picture(&game).save(&path)?;
    }
    Ok(())
}

fn picture(game: &Game) -> Drawing {
    let corner = DVec2::splat(1.08);
    let mut drawing = Drawing::new(-corner, corner, 800.0);
    drawing.rectangle(-corner, corner, "#20242c");
    drawing.disc(DVec2::ZERO, 1.04, "#7d8797");
    drawing.disc(DVec2::ZERO, 1.0, "#2d3440");
    for (ball, path) in game.paths.iter().enumerate() {
        let color = format!("{}38", COLORS[ball % COLORS.len()]);
        drawing.line(path.iter().map(|point| point.1), &color, 0.008);
    }
    for (number, bat) in game.bats.iter().enumerate() {
        drawing.outline(&bat.corners, "#8f9bb0", 0.005);
        let off = bat.hit.map(|time| time / game.simulation.time());
        drawing.vanishing_polygon(&bat.corners, "#b0643a", off, game.simulation.time());
        let middle = bat.corners.iter().sum::<DVec2>() / 4.0;
        drawing.colored_text(
            middle - DVec2::new(0.0, 0.018),
            &number.to_string(),
            0.05,
            "#f2f4f8",
        );
    }
    for (ball, path) in game.paths.iter().enumerate() {
        drawing.moving_disc(
            path,
            RADIUS,
            COLORS[ball % COLORS.len()],
            game.simulation.time(),
        );
    }
    drawing
}

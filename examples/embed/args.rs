//! The command-line arguments of the example `embed`.

use std::path::PathBuf;

use clap::Parser;

use crate::simulation::Rules;

/// Simulates spheres that bounce in a box with a torus, on the GPU.
///
/// Drag to turn the camera, scroll to zoom, press Space to pause, R to restart, Esc to quit.
#[derive(Parser)]
#[command(name = "embed")]
pub(crate) struct Args {
    /// Number of spheres
    #[arg(long, default_value_t = 100_000, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=4_000_000))]
    pub(crate) spheres: u32,

    /// Coefficient of restitution, from 0 to 1: speed of separation after a bounce, divided by the
    /// speed of approach before it
    #[arg(long, default_value_t = 1.0, value_name = "E", value_parser = fraction)]
    pub(crate) restitution: f32,

    /// Seed of the random initial state
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,

    /// Size of the window or the picture, in pixels
    #[arg(long, default_value = "1280x720", value_name = "WxH", value_parser = size)]
    pub(crate) size: [u32; 2],

    /// Simulate without a window, and write a picture of the last frame to --output
    #[arg(long, requires = "output")]
    pub(crate) headless: bool,

    /// Number of steps to simulate, each a sixtieth of a second long
    #[arg(long, default_value_t = 45, value_name = "K", requires = "headless")]
    pub(crate) frames: u32,

    /// PNG file for the picture
    #[arg(long, value_name = "FILE.png", requires = "headless")]
    pub(crate) output: Option<PathBuf>,
}

impl Args {
    pub(crate) fn rules(&self) -> Rules {
        Rules {
            dt: 1.0 / 60.0,
            restitution: self.restitution,
            gravity: [0.0; 3],
        }
    }
}

fn fraction(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

fn size(text: &str) -> Result<[u32; 2], String> {
    let side = |text: &str| {
        text.parse()
            .ok()
            .filter(|side| (1..=8192).contains(side))
            .ok_or_else(|| format!("expected a whole number from 1 to 8192, got `{text}`"))
    };
    let (width, height) = text
        .split_once('x')
        .ok_or("expected width and height, as in 1280x720")?;
    Ok([side(width)?, side(height)?])
}

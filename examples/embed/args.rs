//! The command line.

use std::path::PathBuf;

use clap::Parser;

use crate::simulation::Rules;

/// Spheres that bounce in a box, on the GPU.
///
/// Drag to turn, wheel to come closer, space to pause, R to restart, Esc to quit.
#[derive(Parser)]
#[command(name = "embed")]
pub(crate) struct Args {
    /// How many
    #[arg(long, default_value_t = 100_000, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=4_000_000))]
    pub(crate) spheres: u32,

    /// What a bounce leaves of the speed at which two approach, from 0 to 1
    #[arg(long, default_value_t = 1.0, value_name = "E", value_parser = fraction)]
    pub(crate) restitution: f32,

    /// Another number, another beginning
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,

    /// Of the window or the picture, in pixels
    #[arg(long, default_value = "1280x720", value_name = "WxH", value_parser = size)]
    pub(crate) size: [u32; 2],

    /// Opens no window: simulates, and writes a picture of the last frame
    #[arg(long, requires = "output")]
    pub(crate) headless: bool,

    /// Steps to simulate, a sixtieth of a second each
    #[arg(long, default_value_t = 45, value_name = "K", requires = "headless")]
    pub(crate) frames: u32,

    /// The picture
    #[arg(long, value_name = "FILE.png", requires = "headless")]
    pub(crate) output: Option<PathBuf>,
}

impl Args {
    pub(crate) fn rules(&self) -> Rules {
        Rules {
            dt: 1.0 / 60.0,
            restitution: self.restitution,
            walls: true,
        }
    }
}

fn fraction(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("not a number from 0 to 1".to_owned()),
    }
}

fn size(text: &str) -> Result<[u32; 2], String> {
    let side = |text: &str| {
        text.parse()
            .ok()
            .filter(|side| (1..=8192).contains(side))
            .ok_or_else(|| format!("{text} is not a whole number from 1 to 8192"))
    };
    let (width, height) = text.split_once('x').ok_or("not like 1280x720")?;
    Ok([side(width)?, side(height)?])
}

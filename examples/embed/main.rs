//! A hundred thousand spheres that bounce in a box, simulated on the GPU on
//! what carom finds there, and drawn from the same buffers.
//!
//! `cargo run --release --example embed`, or without a window
//! `cargo run --release --example embed -- --headless --output picture.png`;
//! `--help` tells the rest. `simulation.rs` and `simulation.wgsl` are the part that uses carom; all
//! others draw, or look after windows.

mod args;
mod camera;
mod draw;
mod gpu;
mod headless;
mod overlay;
mod simulation;
mod start;
mod text;
mod window;

use std::io::Write;
use std::process::ExitCode;

use args::Args;
use clap::Parser;

fn main() -> ExitCode {
    let args = Args::parse();
    let done = if args.headless {
        headless::run(&args)
    } else {
        window::run(&args)
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

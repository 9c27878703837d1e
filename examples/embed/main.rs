//! Simulates a hundred thousand hard spheres that bounce in a box with a torus. carom moves them on the GPU, in the
//! buffers from which the renderer draws them.
//!
//! Run the example `embed` with `cargo run --release --example embed`, or without a window with `cargo run
//! --release --example embed -- --headless --output picture.png`. The option `--help` lists all options.
//!
//! The file `simulation.rs` shows how to use carom. The other files draw the spheres or manage the window.

mod adapter;
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

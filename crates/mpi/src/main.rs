//! The tool `carom-mpi`, which does on many machines what `carom collide` and `carom neighbors` do on one.

mod args;
mod bench;
mod read;
mod tool;

use std::process::ExitCode;

use clap::Parser;
use mpi::traits::Communicator as _;

/// Finds every pair of moving spheres that touch during a time step, on many machines with MPI.
///
/// Start it with mpirun or srun. Lists have the same bytes as those of `carom`.
#[derive(Debug, Parser)]
#[command(name = "carom-mpi", version, max_term_width = 100)]
enum Command {
    /// Find the colliding pairs in a file: CSV, LAMMPS dump, XYZ or NumPy arrays
    Collide(Box<tool::CollideArgs>),
    /// List the neighbours of each particle in a file: all pairs within a cutoff
    #[command(alias = "neighbours")]
    Neighbors(Box<tool::NeighborsArgs>),
    /// Measure how fast carom runs on these ranks, and what they send
    Bench(bench::Args),
}

fn main() -> ExitCode {
    // Only the main thread calls MPI.
    let Some((universe, _)) = mpi::initialize_with_threading(mpi::Threading::Funneled) else {
        eprintln!("error: MPI cannot be started");
        return ExitCode::FAILURE;
    };
    let world = universe.world();
    let is_first = world.rank() == 0;
    let command = match Command::try_parse() {
        Ok(command) => command,
        Err(error) => {
            let code = u8::try_from(error.exit_code()).unwrap_or(2);
            // A failure to write is ignored.
            if is_first {
                let _ = error.print();
            }
            return code.into();
        }
    };
    // A rank that panics would leave the others waiting.
    let hook = std::panic::take_hook();
    let rank = world.rank();
    std::panic::set_hook(Box::new(move |info| {
        eprintln!("error: rank {rank} fails:");
        hook(info);
        mpi::topology::SimpleCommunicator::world().abort(1);
    }));
    let done = match command {
        Command::Collide(args) => tool::collide(&world, &args),
        Command::Neighbors(args) => tool::neighbors(&world, &args),
        Command::Bench(args) => bench::run(&world, &args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if is_first {
                eprintln!("error: {error}");
            }
            ExitCode::FAILURE
        }
    }
}

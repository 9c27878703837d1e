//! The example `collide`, run as a user runs it: files and arguments in; exit
//! code, standard output and standard error out.
//!
//! `cargo test` builds the example first; `cargo test --test collide` does not:
//! `cargo build --example collide` before it.

mod broken;
mod csv;
mod lammps;
mod numpy;
mod plot;
mod report;
mod run;
mod usage;
mod verify;
mod written;

//! Tests of `carom collide` through its command line.

mod broken;
mod csv;
#[cfg(target_os = "linux")]
mod failing;
#[cfg(target_os = "linux")]
#[path = "../../../../tests/faults/faults.rs"]
mod faults;
mod files;
mod lammps;
mod mesh;
mod neighbors;
mod numpy;
mod options;
mod periodic;
mod plot;
mod report;
mod run;
mod usage;
mod verify;
mod walls;
mod written;
mod xyz;

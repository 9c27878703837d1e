//! `carom collide`, run as a user runs it: files and arguments in; exit code, standard output and
//! standard error out.

mod broken;
mod csv;
mod lammps;
mod numpy;
mod options;
mod plot;
mod report;
mod run;
mod usage;
mod verify;
mod written;

//! Readers and writers of the command-line tool `carom`. They read spheres from CSV, LAMMPS dumps,
//! XYZ files and NumPy arrays, and write lists of colliding pairs as CSV or as NumPy arrays.
//!
//! ```
//! use carom_formats::read::{ReadOptions, csv};
//!
//! let text = "x,y,z,diameter\n0,0,0,2\n1.5,0,0,2\n";
//! let world = csv::read("text", text.as_bytes(), &ReadOptions::default())?;
//! assert_eq!(world.spheres[1].radius, 1.0);
//! # anyhow::Ok(())
//! ```
//!
//! A reader allocates memory only for the spheres that it has read, even if the file claims to hold more
//! spheres. If a reader cannot read a file correctly, it returns an error that names the file, the line (in
//! an array, the row) and the field.

pub mod read;
pub mod write;

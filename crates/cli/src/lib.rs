//! The readers and writers of the command-line tool `carom`: spheres from CSV, LAMMPS dumps and
//! NumPy arrays, and lists of colliding pairs as CSV or NumPy arrays.
//!
//! ```
//! use carom_cli::read::{ReadOptions, csv};
//!
//! let text = "x,y,z,diameter\n0,0,0,2\n1.5,0,0,2\n";
//! let world = csv::read("text", text.as_bytes(), &ReadOptions::default())?;
//! assert_eq!(world.spheres[1].radius, 1.0);
//! # anyhow::Ok(())
//! ```
//!
//! A file may claim any size: memory is taken only for what has been read. What cannot
//! be read right is an error that names the file, the line (of an array, the row) and the field.

pub mod read;
pub mod write;

//! Readers and writers of files for [`carom`], which finds the moving spheres that collide. The readers
//! take spheres from CSV, LAMMPS dumps, XYZ files and NumPy arrays, and triangle meshes from STL and OBJ. The
//! writers make lists of pairs, as CSV or as NumPy arrays.
//!
//! # Reading
//!
//! An [`Input`](read::Input) is a file, or the bytes of a file and its name. Its contents, or else its name, tell the
//! format.
//! [`read::open()`] returns an iterator over the [`World`](read::World)s of the input: one for each selected frame
//! of a trajectory, or the only one of another file.
//!
//! ```
//! use carom_formats::read::{self, Frames, Input, ReadOptions};
//!
//! let text = "x,y,z,diameter,vx\n0,0,0,2,0\n5,0,0,2,-4\n";
//! let input = Input::from_bytes("grains.csv", text, None);
//! let mut worlds = read::open(&input, Frames::LAST, &ReadOptions::default(), &())?;
//! let world = worlds.next().expect("a CSV file is one world")?;
//! assert_eq!(world.spheres.len(), 2);
//! assert_eq!(world.spheres[1].radius, 1.0);
//! assert_eq!(world.spheres[1].velocity, [-4.0, 0.0, 0.0]);
//! # Ok::<(), carom_formats::Error>(())
//! ```
//!
//! Nothing is converted: lengths, velocities and times are in the units of the file. Numbers are rounded once, to
//! the nearest float64, and NumPy arrays of float32 keep theirs
//! ([`World::float32`](read::World::float32)). What the user of a program should know about the file is in [`World::notes`](read::World::notes).
//!
//! # Writing
//!
//! A [`List`](write::List) is written frame by frame, to a file or to any writer. This program writes the pairs
//! that touch in each frame of a LAMMPS dump. To read and write files, it would begin with
//! `Input::new("dump.pour", None)` and `List::create(&Target::from_path("pairs.csv")?, columns)`.
//!
//! ```
//! use carom::{Backend, Detector, Options, Step};
//! use carom_formats::read::{self, Frame, Frames, Input, ReadOptions};
//! use carom_formats::write::{self, Columns, List, Order};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let dump = "\
//! ITEM: TIMESTEP
//! 100
//! ITEM: NUMBER OF ATOMS
//! 2
//! ITEM: BOX BOUNDS pp pp pp
//! 0 10
//! 0 10
//! 0 10
//! ITEM: ATOMS id x y z radius vx vy vz
//! 7 0.5 5 5 1 0 0 0
//! 8 9.0 5 5 1 0 0 0
//! ";
//! let input = Input::from_bytes("dump.pour", dump, None);
//! let options = ReadOptions {
//!     ids: true,
//!     ..ReadOptions::default()
//! };
//! let columns = Columns {
//!     frames: true,
//!     ids: true,
//!     images: true,
//!     float64: true,
//!     ..Columns::default()
//! };
//! let mut csv = Vec::new();
//! let mut list = List::csv(&mut csv, columns)?;
//! let mut detector = Detector::new(Options::new().with_backend(Backend::Cpu))?;
//! for world in read::open(&input, Frames::ALL, &options, &())? {
//!     let world = world?;
//!     let domain = world.domain.unwrap_or_default();
//!     let step = Step::new(&world.spheres, 0.001).in_domain(&domain);
//!     // An error of carom has the index of a sphere. `explain` adds the line of the file.
//!     let found = detector.detect(&step).map_err(|error| world.explain(error))?;
//!     let frame = world.frame.map_or(0, |Frame { number, .. }| number);
//!     list.append(frame, write::named(&found, &world, Order::Pair)?)?;
//! }
//! list.finish()?;
//! let csv = String::from_utf8(csv)?;
//! assert_eq!(csv, "frame,a,b,toi,depth,n1,n2,n3\n0,7,8,0.0,0.5,-1,0,0\n");
//! # Ok(())
//! # }
//! ```
//!
//! # Errors
//!
//! If a reader cannot read a file correctly, it returns an [`Error`] that names the file, the line (in an array,
//! the row) and the field. A reader allocates memory only for the spheres that it has read, even if the file
//! claims to hold more spheres. Some messages advise to use an option of the command-line tool `carom`, which
//! uses this crate, such as `--radius`. The options are those of [`ReadOptions`](read::ReadOptions) and of
//! [`Input`](read::Input), with similar names.
//!
//! # WebAssembly
//!
//! The crate starts no threads, and all readers and writers of bytes work without a file system: use
//! [`Input::from_bytes`](read::Input::from_bytes), [`mesh::read_from`](read::mesh::read_from),
//! [`List::csv`](write::List::csv) and [`List::to_writer`](write::List::to_writer). Where there is no file system,
//! functions that take a path return an error.

mod error;
#[doc(hidden)]
pub mod memory;
pub mod read;
pub mod write;

pub use error::{Error, ErrorKind, Result};

/// The example of the README, which is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

//! Readers of spheres from CSV, LAMMPS dumps and data files, XYZ files and NumPy arrays, and of triangle meshes from STL
//! and OBJ.
//!
//! [`open()`] reads all formats of spheres. Beneath it, each format has a reader of its own, which takes an
//! uncompressed input: [`csv::read`], [`data::read`], [`npy::read`], [`npz::read`], and [`Trajectory`] for LAMMPS dumps and XYZ.
//! [`mesh`] reads meshes. [`box_of`], [`wall_of`], [`magnitude`], [`Radii::by_type`] and the
//! [`FromStr`](std::str::FromStr) of [`Frames`] parse what users write on command lines.

mod cell;
mod column_names;
mod columns;
pub mod csv;
pub mod data;
mod detect;
mod elements;
mod frame_text;
mod frames;
mod input;
mod lammps;
mod lines;
pub mod mesh;
pub mod npy;
pub mod npz;
mod number;
mod open;
mod options;
mod series;
mod text;
mod trajectory;
mod types;
mod unpack;
mod walls;
mod words;
mod world;
mod worlds;
mod xyz;

pub use cell::box_of;
pub use column_names::ColumnNames;
pub use frames::Frames;
pub(crate) use input::extension;
pub use input::{Format, Input};
pub(crate) use number::shown_path;
pub use open::Progress;
pub use options::{Radii, ReadOptions, Separator, magnitude};
pub use text::Place;
pub use trajectory::{Layout, Mark, Trajectory};
pub use types::{Type, TypeName};
pub use walls::{wall_of, walls};
pub use world::{Frame, World};
pub use worlds::{Worlds, open};

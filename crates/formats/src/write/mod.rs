//! Writers of lists of pairs: CSV and NumPy arrays.

mod columns;
mod list;
mod npz;
mod output_file;
mod pairs;

pub use columns::{Columns, Subject};
pub use list::{List, ListFormat, Target};
pub use output_file::{OutputFile, is_same_file};
pub use pairs::{Order, Pair, at_walls, named, neighbors};

//! Readers of triangle meshes: STL, binary and text, and Wavefront OBJ.
//!
//! Several crates read these formats (`stl_io`, `nom_stl`, `mesh-loader`, `tobj`, `obj-rs`), but
//! none says where in the file an error is. `stl_io` takes each file that begins with `solid ` for
//! text, but many programs write binary files that begin in this way. `tobj` accepts infinities and
//! NaN. So carom has its own readers.

mod obj;
mod stl;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Error, bail};

pub use self::obj::read as read_obj;
pub use self::stl::read as read_stl;
use super::number;
use super::world::at;

/// Largest number of vertices of a mesh, and of triangles, so that an index fits in 32 bits.
const MOST: usize = u32::MAX as usize;

/// A triangle mesh. Each triangle has the indices of its three corners.
#[derive(Debug, Default)]
pub struct Mesh {
    /// Positions of the vertices. Positions that occur several times in an STL file are one vertex.
    pub vertices: Vec<[f32; 3]>,
    /// For each triangle, the indices of its corners in [`vertices`](Self::vertices).
    pub triangles: Vec<[u32; 3]>,
    places: Places,
}

/// How error messages locate a triangle in the file.
#[derive(Debug, Default)]
enum Places {
    /// If the file is binary, messages name a triangle by its number.
    #[default]
    Numbers,
    /// If the file is text, messages name a triangle by its line. This list has the line of each triangle.
    Lines(Vec<u64>),
}

impl Mesh {
    fn of_text() -> Self {
        Self {
            places: Places::Lines(Vec::new()),
            ..Self::default()
        }
    }

    /// Returns the place of a triangle in its file, for messages: "line 12" in a text file, or "triangle 3",
    /// counted from 0, in a binary file.
    pub fn place(&self, triangle: usize) -> String {
        match &self.places {
            Places::Numbers => format!("triangle {triangle}"),
            Places::Lines(lines) => match lines.get(triangle) {
                Some(line) => format!("line {line}"),
                None => format!("triangle {triangle}"),
            },
        }
    }

    /// Adds a triangle to the mesh. `line` is the line of the triangle in a text file. For a binary file,
    /// `line` is ignored.
    fn push(&mut self, corners: [u32; 3], line: u64) -> Result<(), String> {
        let [a, b, c] = corners;
        if a == b || b == c || c == a {
            return Err("two corners of the triangle are the same point, so it has no area".into());
        }
        if self.triangles.len() >= MOST {
            return Err(format!(
                "the mesh has more than {MOST} triangles, the limit"
            ));
        }
        push(&mut self.triangles, corners)?;
        if let Places::Lines(lines) = &mut self.places {
            push(lines, line)?;
        }
        Ok(())
    }

    fn add_vertex(&mut self, position: [f32; 3]) -> Result<u32, String> {
        let index = u32::try_from(self.vertices.len())
            .map_err(|_| format!("the mesh has more than {MOST} vertices, the limit"))?;
        push(&mut self.vertices, position)?;
        Ok(index)
    }

    fn check_not_empty(&self, source: &str) -> Result<(), Error> {
        if self.triangles.is_empty() {
            bail!("{source} has no triangles");
        }
        Ok(())
    }
}

/// Maps the positions of vertices to their indices in the mesh while an STL file is read. The key
/// of the map is the bits of the three coordinates.
#[derive(Default)]
struct Merged(HashMap<[u32; 3], u32>);

impl Merged {
    /// Returns the vertex of the mesh at a position. Creates the vertex if there is none.
    fn vertex(&mut self, mesh: &mut Mesh, position: [f32; 3]) -> Result<u32, String> {
        // The addition turns −0 into 0, which is the same position.
        let position = position.map(|x| x + 0.0);
        self.0.try_reserve(1).map_err(|_| out_of_memory())?;
        match self.0.entry(position.map(f32::to_bits)) {
            Entry::Occupied(vertex) => Ok(*vertex.get()),
            Entry::Vacant(entry) => Ok(*entry.insert(mesh.add_vertex(position)?)),
        }
    }
}

fn push<T>(list: &mut Vec<T>, element: T) -> Result<(), String> {
    list.try_reserve(1).map_err(|_| out_of_memory())?;
    list.push(element);
    Ok(())
}

fn out_of_memory() -> String {
    "there is not enough memory for the mesh".into()
}

/// Reads a mesh from a file. The extension of its name, `.stl` or `.obj`, tells the format.
///
/// # Errors
/// Returns an error that names the file, and the line or triangle, if the mesh cannot be read.
pub fn read(path: &Path) -> anyhow::Result<Mesh> {
    let source = path.display().to_string();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let read = match extension.to_ascii_lowercase().as_str() {
        "stl" => read_stl::<BufReader<File>>,
        "obj" => read_obj::<BufReader<File>>,
        _ => bail!("{source}: the name of a mesh must end in .stl or .obj"),
    };
    let file = File::open(path).with_context(|| format!("cannot open {source}"))?;
    read(&source, BufReader::new(file))
}

fn at_triangle(source: &str, triangle: usize, what: &str) -> Error {
    at(source, "triangle", triangle as u64, what)
}

fn position(words: &[&[u8]]) -> Result<[f32; 3], String> {
    let &[x, y, z] = words else {
        return Err("a vertex must have three numbers: x, y and z".into());
    };
    let mut position = [0.0; 3];
    for ((word, name), place) in [x, y, z]
        .into_iter()
        .zip(["x", "y", "z"])
        .zip(&mut position)
    {
        *place = number::parse(word).map_err(|what| format!("{name} of the vertex {what}"))?;
    }
    Ok(position)
}

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
use std::io::{BufRead, BufReader};
use std::path::Path;

use carom::Number;

pub use self::obj::read as read_obj;
pub use self::stl::read as read_stl;
use super::world::at;
use super::{extension, number};
use crate::error::{Context, Error, Result, bail};

/// Largest number of vertices of a mesh, and of triangles, so that an index fits in 32 bits.
const MOST: usize = u32::MAX as usize;

/// A triangle mesh as it stands in a file. [`Mesh::wall`] makes a wall of it.
#[derive(Debug, Default)]
pub struct Mesh {
    /// Positions of the vertices. Positions that occur several times in an STL file are one vertex.
    pub vertices: Vec<[f64; 3]>,
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

    /// Makes a mesh of walls for [`carom::Walls::push_mesh`], in numbers of type `T`, to which `number` rounds. `source` is
    /// the name of the file in messages.
    ///
    /// # Errors
    /// Returns an error that names the line or triangle if a number is out of the range of carom, or a
    /// triangle has no area.
    pub fn wall<T: Number>(
        mut self,
        source: &str,
        number: impl Fn(f64) -> T,
    ) -> Result<carom::Mesh<T>> {
        let vertices = std::mem::take(&mut self.vertices).into_iter();
        let vertices = vertices.map(|x| x.map(&number)).collect();
        let triangles = std::mem::take(&mut self.triangles);
        match carom::Mesh::new(vertices, triangles) {
            Err(carom::Error::InvalidTriangle {
                triangle, problem, ..
            }) => bail!(
                "{source}, {}: the triangle is invalid: {problem}",
                self.place(triangle)
            ),
            made => made.with_context(|| source),
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

    fn add_vertex(&mut self, position: [f64; 3]) -> Result<u32, String> {
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
struct Merged(HashMap<[u64; 3], u32>);

impl Merged {
    /// Returns the vertex of the mesh at a position. Creates the vertex if there is none.
    fn vertex(&mut self, mesh: &mut Mesh, position: [f64; 3]) -> Result<u32, String> {
        // The addition turns −0 into 0, which is the same position.
        let position = position.map(|x| x + 0.0);
        self.0.try_reserve(1).map_err(|_| out_of_memory())?;
        match self.0.entry(position.map(f64::to_bits)) {
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
pub fn read(path: impl AsRef<Path>) -> Result<Mesh> {
    let path = path.as_ref();
    let source = path.display().to_string();
    let read = reader(path)?;
    let file = File::open(path).with_context(|| format!("cannot open {source}"))?;
    read(&source, BufReader::new(file))
}

/// Does the same as [`read()`] for a mesh that is not in a file: for example, for the bytes of a file that was
/// dropped on a page in a browser. `name` is the name that the file would have.
///
/// ```
/// let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
/// let mesh = carom_formats::read::mesh::read_from("corner.obj", text.as_bytes())?;
/// assert_eq!(mesh.triangles, [[0, 1, 2]]);
/// # Ok::<(), carom_formats::Error>(())
/// ```
///
/// # Errors
/// Returns an error that has the name, and the line or triangle, if the mesh cannot be read.
pub fn read_from(name: &str, input: impl BufRead) -> Result<Mesh> {
    reader(Path::new(name))?(name, input)
}

/// Returns whether a name is that of a mesh: it ends in `.stl` or `.obj`, in any case.
///
/// ```
/// use carom_formats::read::mesh;
///
/// assert!(mesh::is_name("funnel.STL"));
/// assert!(!mesh::is_name("spheres.csv"));
/// ```
pub fn is_name(path: impl AsRef<Path>) -> bool {
    matches!(&*extension(path.as_ref()), "stl" | "obj")
}

/// Returns the reader of the format that the name of a mesh implies.
fn reader<R: BufRead>(name: &Path) -> Result<fn(&str, R) -> Result<Mesh>> {
    match extension(name).as_str() {
        "stl" => Ok(read_stl),
        "obj" => Ok(read_obj),
        _ => bail!(
            "{}: the name of a mesh must end in .stl or .obj",
            name.display()
        ),
    }
}

fn at_triangle(source: &str, triangle: usize, what: &str) -> Error {
    at(source, "triangle", triangle as u64, what)
}

fn position(words: &[&[u8]]) -> Result<[f64; 3], String> {
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

//! A mesh while it is read.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use carom::Number;

use crate::error::{Context, Error, Result, at, bail};
use crate::read::number;

/// Largest number of vertices of a mesh, and of triangles, so that an index fits in 32 bits.
pub(super) const MOST: usize = u32::MAX as usize;

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
    pub(super) fn of_text() -> Self {
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
    pub(super) fn push(&mut self, corners: [u32; 3], line: u64) -> Result<(), String> {
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

    pub(super) fn add_vertex(&mut self, position: [f64; 3]) -> Result<u32, String> {
        let index = u32::try_from(self.vertices.len())
            .map_err(|_| format!("the mesh has more than {MOST} vertices, the limit"))?;
        push(&mut self.vertices, position)?;
        Ok(index)
    }

    pub(super) fn check_not_empty(&self, source: &str) -> Result<(), Error> {
        if self.triangles.is_empty() {
            bail!("{source} has no triangles");
        }
        Ok(())
    }
}

/// Maps the positions of vertices to their indices in the mesh while an STL file is read. The key
/// of the map is the bits of the three coordinates.
#[derive(Default)]
pub(super) struct Merged(HashMap<[u64; 3], u32>);

impl Merged {
    /// Returns the vertex of the mesh at a position. Creates the vertex if there is none.
    pub(super) fn vertex(&mut self, mesh: &mut Mesh, position: [f64; 3]) -> Result<u32, String> {
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

pub(super) fn at_triangle(source: &str, triangle: usize, what: &str) -> Error {
    at(source, "triangle", triangle as u64, what)
}

pub(super) fn position(words: &[&[u8]]) -> Result<[f64; 3], String> {
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

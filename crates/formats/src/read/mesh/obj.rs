//! Reader of Wavefront OBJ files. Of each file, the lines `v X Y Z` (vertices) and `f A B C …` (faces) are
//! used. A face with more than three vertices is divided into triangles that share its first vertex.

use std::io::BufRead;

use super::triangles::{MOST, Mesh, position};
use crate::error::Result;
use crate::read::number;
use crate::read::text::{Place, Text};

/// Kinds of lines that do not change the triangles: normals, texture coordinates, names, materials, smoothing,
/// points and lines, and display attributes.
const IGNORED: [&[u8]; 20] = [
    b"vn",
    b"vt",
    b"vp",
    b"o",
    b"g",
    b"s",
    b"mg",
    b"usemtl",
    b"mtllib",
    b"p",
    b"l",
    b"usemap",
    b"maplib",
    b"bevel",
    b"c_interp",
    b"d_interp",
    b"lod",
    b"shadow_obj",
    b"trace_obj",
    b"mtl",
];

/// Reads a mesh from Wavefront OBJ. `source` is the name of the file in messages.
///
/// # Errors
/// Returns an error that names the line if the file cannot be read.
pub fn read<R: BufRead>(source: &str, input: R) -> Result<Mesh> {
    let mut text = Text::new(source, input, Place::default());
    let mut mesh = Mesh::of_text();
    // A face may name vertices that follow it in the file. So the largest vertex number in any face
    // is kept, with the line of this face, and checked at the end of the file.
    let mut last = (0, 0);
    while text.next()? {
        let line = text.line();
        let code = line.split(|&byte| byte == b'#').next().unwrap_or_default();
        let mut words = code
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        let Some(word) = words.next() else {
            continue;
        };
        let number = text.place().line;
        let done = if code.trim_ascii_end().ends_with(b"\\") {
            Err(
                "the line continues on the next line, which carom cannot read; join the two lines"
                    .into(),
            )
        } else if word == b"v" {
            let words: Vec<&[u8]> = words.take(3).collect();
            let added = position(&words).and_then(|position| mesh.add_vertex(position));
            added.map(|_| ())
        } else if word == b"f" {
            add_face(&mut mesh, words, number).map(|most| last = last.max((most, number)))
        } else if IGNORED.contains(&word) {
            Ok(())
        } else {
            Err(format!(
                "`{}` is not a kind of line that carom can read; a mesh has vertices (v) and polygons (f)",
                number::shown(word)
            ))
        };
        done.map_err(|what| text.wrong(&what))?;
    }
    let (most, line) = last;
    if most > mesh.vertices.len() {
        let what = format!(
            "the face names vertex {most}, but the file has {}",
            mesh.vertices.len()
        );
        return Err(crate::error::at(source, "line", line, &what));
    }
    mesh.check_not_empty(source)?;
    Ok(mesh)
}

/// Splits a face of an OBJ file into triangles, and adds them to the mesh. Returns the largest of
/// the face's vertex numbers, which are counted from 1.
fn add_face<'a>(
    mesh: &mut Mesh,
    words: impl Iterator<Item = &'a [u8]>,
    line: u64,
) -> Result<usize, String> {
    let mut most = 0;
    let (mut first, mut before) = (None, None);
    let mut count = 0;
    for word in words {
        let corner = vertex(word, mesh.vertices.len())?;
        most = most.max(corner as usize + 1);
        count += 1;
        if let (Some(first), Some(before)) = (first, before) {
            mesh.push([first, before, corner], line)?;
        }
        if first.is_none() {
            first = Some(corner);
        } else {
            before = Some(corner);
        }
    }
    if count < 3 {
        return Err(format!(
            "the face has {count} vertices, but must have at least 3"
        ));
    }
    Ok(most)
}

/// Returns the index of a vertex, counted from 0. In a face, a vertex is a number that counts from
/// 1, or a negative number that counts back from the last vertex before the face. The numbers of a
/// texture coordinate and a normal may follow, after slashes.
fn vertex(word: &[u8], count: usize) -> Result<u32, String> {
    let wrong = || {
        format!(
            "`{}` is no vertex: it must be a number from 1, or from -1 down, with the numbers of a texture \
             coordinate and a normal after slashes or without them",
            number::shown(word)
        )
    };
    let place = word.split(|&byte| byte == b'/').next().unwrap_or_default();
    let text = std::str::from_utf8(place).map_err(|_| wrong())?;
    let place: i64 = text.parse().map_err(|_| wrong())?;
    let index = match place {
        0 => return Err(wrong()),
        1.. => place - 1,
        _ => {
            let index = i64::try_from(count)
                .ok()
                .and_then(|count| count.checked_add(place));
            index.filter(|&index| index >= 0).ok_or_else(|| {
                format!("the face names the vertex {place}, but {count} vertices come before it")
            })?
        }
    };
    let index = u32::try_from(index).ok().filter(|&index| index < u32::MAX);
    index.ok_or_else(|| format!("the face names vertex {place}, but {} is the limit", MOST))
}

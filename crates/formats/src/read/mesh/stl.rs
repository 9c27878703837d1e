//! Reader of STL files. A binary file has a header of 80 bytes, the number of triangles, and 50 bytes for each
//! triangle. A text file has a `facet` with three lines `vertex X Y Z` for each triangle.

use std::io::{BufRead, Cursor, ErrorKind, Read};

use super::triangles::{self, Merged, Mesh, at_triangle};
use crate::error::{Context, Result, bail};
use crate::read::number;
use crate::read::text::{Place, Text};

const HEADER: usize = 80;
/// Number of bytes before the first triangle of a binary STL file: the header, and the number of triangles.
const HEAD: usize = HEADER + 4;
/// Number of bytes of a triangle in a binary STL file: a normal and three corners of three float32 each, and
/// two unused bytes.
const RECORD: usize = 50;

/// Reads a mesh from STL, binary or text. Normals are not used. `source` is the name of the file in messages.
///
/// # Errors
/// Returns an error that names the triangle (binary) or the line (text) if the file cannot be read.
pub fn read<R: BufRead>(source: &str, mut input: R) -> Result<Mesh> {
    let mut head = Vec::with_capacity(HEAD);
    (&mut input)
        .take(HEAD as u64)
        .read_to_end(&mut head)
        .with_context(|| format!("cannot read {source}"))?;
    if is_text(&head) {
        return read_text(source, Cursor::new(head).chain(input));
    }
    let Some(count) = head.last_chunk().filter(|_| head.len() == HEAD) else {
        bail!(
            "{source} is no STL file: it does not begin with `solid`, and is shorter than the 84 bytes that a \
             binary file begins with"
        );
    };
    read_binary(source, u32::from_le_bytes(*count), input)
}

/// Returns whether an STL file with these first bytes is a text file. Binary files may begin with
/// `solid` too, but then the most significant byte of their number of triangles is a control
/// character.
fn is_text(head: &[u8]) -> bool {
    let begin = head
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(head)
        .trim_ascii_start();
    let is_solid = begin
        .get(..5)
        .is_some_and(|word| word.eq_ignore_ascii_case(b"solid"));
    is_solid
        && head
            .iter()
            .all(|&byte| byte >= b' ' || b"\t\n\r".contains(&byte))
}

fn read_binary(source: &str, count: u32, mut input: impl BufRead) -> Result<Mesh> {
    let mut mesh = Mesh::default();
    let mut merged = Merged::default();
    for triangle in 0..count as usize {
        let mut record = [0; RECORD];
        if let Err(error) = input.read_exact(&mut record) {
            if error.kind() != ErrorKind::UnexpectedEof {
                return Err(error).with_context(|| format!("cannot read {source}"));
            }
            let what = format!(
                "the file ends before the end of this triangle, but its header announces {count} triangles; \
                 check that the file was not cut off"
            );
            return Err(at_triangle(source, triangle, &what));
        }
        add_record(&mut mesh, &mut merged, &record)
            .map_err(|what| at_triangle(source, triangle, &what))?;
    }
    let rest = input
        .fill_buf()
        .with_context(|| format!("cannot read {source}"))?;
    if !rest.is_empty() {
        bail!(
            "{source} goes on after its last triangle: its header announces {count} triangles, {} bytes",
            HEAD as u64 + RECORD as u64 * u64::from(count)
        );
    }
    mesh.check_not_empty(source)?;
    Ok(mesh)
}

fn add_record(mesh: &mut Mesh, merged: &mut Merged, record: &[u8; RECORD]) -> Result<(), String> {
    let (numbers, _) = record.as_chunks::<4>();
    let mut corners = [0; 3];
    for (corner, index) in corners.iter_mut().enumerate() {
        let mut position = [0.0; 3];
        for (axis, x) in position.iter_mut().enumerate() {
            // The three numbers of the normal come before the corners, and are skipped.
            *x = f32::from_le_bytes(numbers[3 + 3 * corner + axis]).into();
            if !f64::is_finite(*x) {
                let name = ["x", "y", "z"][axis];
                return Err(format!(
                    "{name} of corner {corner} is {x}, but must be a finite number"
                ));
            }
        }
        *index = merged.vertex(mesh, position)?;
    }
    mesh.push(corners, 0)
}

/// The part of a text file that is being read.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Inside {
    File,
    Solid,
    Facet,
    Loop,
}

fn read_text(source: &str, input: impl BufRead) -> Result<Mesh> {
    let mut text = Text::new(source, input, Place::default());
    let mut mesh = Mesh::of_text();
    let mut merged = Merged::default();
    let mut inside = Inside::File;
    let mut corners: Vec<u32> = Vec::with_capacity(3);
    let mut first = 0;
    while text.next()? {
        let line = text.line();
        if line.is_empty() {
            continue;
        }
        let mut words = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        let word = words.next().unwrap_or_default().to_ascii_lowercase();
        inside = match (inside, &word[..]) {
            (Inside::File, b"solid") => Inside::Solid,
            (Inside::Solid, b"endsolid") => Inside::File,
            (Inside::Solid, b"facet") => {
                first = text.place().line;
                corners.clear();
                Inside::Facet
            }
            (Inside::Facet, b"outer") if corners.is_empty() => Inside::Loop,
            (Inside::Loop, b"vertex") => {
                let index = position(words)
                    .and_then(|position| merged.vertex(&mut mesh, position))
                    .and_then(|index| match corners.len() {
                        3 => Err(
                            "this is the fourth vertex of a facet, but facets must be triangles"
                                .into(),
                        ),
                        _ => Ok(index),
                    });
                corners.push(index.map_err(|what| text.wrong(&what))?);
                Inside::Loop
            }
            (Inside::Loop, b"endloop") => Inside::Facet,
            (Inside::Facet, b"endfacet") => {
                let &[a, b, c] = &corners[..] else {
                    let what = format!("the facet has {} vertices instead of 3", corners.len());
                    return Err(text.wrong(&what));
                };
                let pushed = mesh.push([a, b, c], first);
                pushed.map_err(|what| text.wrong(&what))?;
                Inside::Solid
            }
            _ => return Err(text.wrong(&unexpected(inside, line))),
        };
    }
    if inside != Inside::File {
        return Err(text.wrong(
            "the file ends within a solid, without `endsolid`; check that the file was not cut off",
        ));
    }
    mesh.check_not_empty(source)?;
    Ok(mesh)
}

fn unexpected(inside: Inside, line: &[u8]) -> String {
    let expected = match inside {
        Inside::File => "`solid`",
        Inside::Solid => "`facet` or `endsolid`",
        Inside::Facet => "`outer loop`, and `endfacet` after it",
        Inside::Loop => "`vertex` or `endloop`",
    };
    format!(
        "`{}` stands where {expected} must stand",
        number::shown(line)
    )
}

fn position<'a>(words: impl Iterator<Item = &'a [u8]>) -> Result<[f64; 3], String> {
    let words: Vec<&[u8]> = words.take(4).collect();
    if words.len() != 3 {
        return Err("a vertex must have three numbers: x, y and z".into());
    }
    triangles::position(&words)
}

//! Reader of Wavefront OBJ files. Of each file, the lines `v X Y Z` (vertices) and `f A B C …` (faces) are
//! used. A face with more than three vertices is divided into triangles, which share its first vertex if this gives the
//! area of the face, as it does if the face is convex.

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
    let mut later = Vec::new();
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
            let added = add_face(&mut mesh, &mut later, words, number);
            added.map(|most| last = last.max((most, number)))
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
    for Later {
        corners,
        first,
        line,
    } in later
    {
        let divided = divide(&mesh.vertices, &corners);
        let divided = divided.map_err(|what| crate::error::at(source, "line", line, &what))?;
        let places = mesh.triangles.iter_mut().skip(first);
        places
            .zip(divided)
            .for_each(|(place, triangle)| *place = triangle);
    }
    mesh.check_not_empty(source)?;
    Ok(mesh)
}

/// A face with vertices that follow it in the file, and the first of its triangles, which are divided at the end.
struct Later {
    corners: Vec<u32>,
    first: usize,
    line: u64,
}

/// Splits a face of an OBJ file into triangles, and adds them to the mesh. Returns the largest of
/// the face's vertex numbers, which are counted from 1.
fn add_face<'a>(
    mesh: &mut Mesh,
    later: &mut Vec<Later>,
    words: impl Iterator<Item = &'a [u8]>,
    line: u64,
) -> Result<usize, String> {
    let corners = words.map(|word| vertex(word, mesh.vertices.len()));
    let corners = corners.collect::<Result<Vec<u32>, String>>()?;
    if corners.len() < 3 {
        return Err(format!(
            "the face has {} vertices, but must have at least 3",
            corners.len()
        ));
    }
    let most = corners
        .iter()
        .map(|&corner| corner as usize + 1)
        .max()
        .unwrap_or_default();
    let first = mesh.triangles.len();
    let triangles = if corners.len() > 3 && most <= mesh.vertices.len() {
        divide(&mesh.vertices, &corners)?
    } else {
        fan(&corners).collect()
    };
    for triangle in triangles {
        mesh.push(triangle, line)?;
    }
    if corners.len() > 3 && most > mesh.vertices.len() {
        later.push(Later {
            corners,
            first,
            line,
        });
    }
    Ok(most)
}

/// Returns the triangles that share the first corner of a face.
fn fan(corners: &[u32]) -> impl Iterator<Item = [u32; 3]> {
    corners
        .windows(2)
        .skip(1)
        .map(|pair| [corners[0], pair[0], pair[1]])
}

/// Largest number of corners of a face that is not convex, because dividing it takes time.
const MOST_CORNERS: usize = 256;

/// Divides a face into triangles: those that share its first corner, or if these lie outside the face, others, by
/// cutting off one corner after the other.
fn divide(vertices: &[[f64; 3]], corners: &[u32]) -> Result<Vec<[u32; 3]>, String> {
    let at = |corner: u32| vertices.get(corner as usize).copied().unwrap_or_default();
    // The normal by Newell's method, whose length is twice the area.
    let origin = at(corners[0]);
    let away = |corner: u32| {
        let point = at(corner);
        [0, 1, 2].map(|k| point[k] - origin[k])
    };
    let mut normal = [0.0; 3];
    for (k, &corner) in corners.iter().enumerate() {
        let (one, other) = (away(corner), away(corners[(k + 1) % corners.len()]));
        for (axis, sum) in normal.iter_mut().enumerate() {
            let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
            *sum += one[j] * other[k] - one[k] * other[j];
        }
    }
    let axis = (0..3).fold(0, |most, k| {
        if normal[k].abs() > normal[most].abs() {
            k
        } else {
            most
        }
    });
    let area = normal[axis];
    // Twice the area of a triangle in the plane of two axes, relative to that of the face.
    let part = |[a, b, c]: [u32; 3]| {
        let [a, b, c] = [a, b, c].map(|corner| {
            let point = away(corner);
            [point[(axis + 1) % 3], point[(axis + 2) % 3]]
        });
        ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / area
    };
    let rounding = 1e-12;
    let smallest = fan(corners).map(part).fold(f64::INFINITY, f64::min);
    let is_plane = area.abs() > 0.0 && area.is_finite();
    let is_fan = !is_plane || smallest >= -rounding;
    if !is_plane || smallest > rounding || (is_fan && corners.len() > MOST_CORNERS) {
        return Ok(fan(corners).collect());
    }
    if corners.len() > MOST_CORNERS {
        return Err(format!(
            "the polygon is not convex, and has more than {MOST_CORNERS} corners; divide it into triangles"
        ));
    }
    let mut rest = corners.to_vec();
    let mut triangles = Vec::new();
    while rest.len() > 3 {
        let count = rest.len();
        let ear = |k: &usize| {
            [
                rest[(k + count - 1) % count],
                rest[*k],
                rest[(k + 1) % count],
            ]
        };
        let is_ear = |k: &usize| {
            let [a, b, c] = ear(k);
            let is_inside = |point: u32| {
                let is_corner = [a, b, c].iter().any(|&corner| at(corner) == at(point));
                !is_corner
                    && [[a, b, point], [b, c, point], [c, a, point]]
                        .into_iter()
                        .all(|side| part(side) >= 0.0)
            };
            part([a, b, c]) > rounding && !rest.iter().any(|&point| is_inside(point))
        };
        let Some(k) = (0..count).find(is_ear) else {
            break;
        };
        triangles.push(ear(&k));
        rest.remove(k);
    }
    triangles.push([rest[0], rest[1], rest[2]]);
    if rest.len() == 3 && part([rest[0], rest[1], rest[2]]) > 0.0 {
        return Ok(triangles);
    }
    if is_fan {
        return Ok(fan(corners).collect());
    }
    Err("the polygon crosses itself, or is far from flat; divide it into triangles".to_owned())
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

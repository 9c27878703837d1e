//! Tests of the readers of triangle meshes.

use std::path::Path;

use carom_formats::read::mesh::{Mesh, read, read_obj, read_stl};

use crate::run::{Folder, Test};

fn data(name: &str) -> carom_formats::Result<Mesh> {
    read(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/data")
            .join(name),
    )
}

/// Returns the corners of all triangles in float32, to which binary files are rounded.
#[allow(clippy::cast_possible_truncation, reason = "rounding is intended")]
fn corners(mesh: &Mesh) -> Vec<[[f32; 3]; 3]> {
    let triangles = mesh.triangles.iter();
    triangles
        .map(|indices| indices.map(|index| mesh.vertices[index as usize].map(|x| x as f32)))
        .collect()
}

#[test]
fn one_mesh_in_three_formats_has_the_same_triangles() -> Test {
    let meshes = [
        data("icosphere.stl")?,
        data("icosphere-text.stl")?,
        data("icosphere.obj")?,
    ];
    for mesh in &meshes {
        assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (42, 80));
        assert_eq!(corners(mesh), corners(&meshes[0]));
    }
    // All vertices are on a sphere of radius 2, and the mesh is closed: each edge is used once in each direction.
    for [x, y, z] in &meshes[0].vertices {
        assert!(((x * x + y * y + z * z).sqrt() - 2.0).abs() < 1e-6);
    }
    let mut edges = std::collections::HashSet::new();
    for &[a, b, c] in &meshes[0].triangles {
        assert!(edges.insert([a, b]) && edges.insert([b, c]) && edges.insert([c, a]));
    }
    assert!(edges.iter().all(|&[a, b]| edges.contains(&[b, a])));
    assert_eq!(meshes[0].place(3), "triangle 3");
    assert_eq!(meshes[1].place(3), "line 23");
    Ok(())
}

#[test]
fn obj_faces_are_read_in_all_their_forms() -> Test {
    let vertices = "\u{feff}# a square\nv 0 0 0\nv 1 0 0 1.0\nv 1 1 0 0.5 0.5 0.5\r\nv 0 1 -0\nvt 0 0\nvn 0 0 1\n";
    let square = [[0, 1, 2], [0, 2, 3]];
    for faces in [
        "o square\ng\nusemtl blue\ns off\nf 1 2 3 4",
        "f 1/1 2/1 3/1 4/1 # after the face\n",
        "f 1//1 2//1 3//1 4//1",
        "f 1/1/1 2/1/1 3/1/1\nf -4 -2 -1",
    ] {
        let mesh = read_obj("a.obj", format!("{vertices}{faces}").as_bytes())?;
        assert_eq!(mesh.triangles, square, "{faces}");
        assert_eq!(mesh.vertices.len(), 4);
    }
    // Faces that are not convex: of the fan at the first corner, a triangle would lie outside. An L has a notch at vertex
    // 6, and of an arrow, the notch is its third vertex or its first.
    let l_shape = "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\n";
    let arrow = "v 0 0 0\nv 2 0 3\nv 0.5 0 0.5\nv 3 0 2\n";
    for (vertices, face, area) in [
        (l_shape, "f 1 2 3 4 5 6\n", 3.0),
        (l_shape, "f 2 3 4 5 6 1\n", 3.0),
        (l_shape, "f 5 4 3 2 1 6\n", 3.0),
        // The notch (0.5, 0.5) leaves two triangles of the area 0.25 each.
        (arrow, "f 2 3 4 1\n", 0.5),
        (arrow, "f 1 2 3 4\n", 0.5),
        // A corner in the middle of an edge.
        (
            "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\n",
            "f 1 2 3 4 5\n",
            4.0,
        ),
    ] {
        let count = face.split(' ').count() - 3;
        for text in [format!("{vertices}{face}"), format!("{face}{vertices}")] {
            let mesh = read_obj("a.obj", text.as_bytes())?;
            assert_eq!(mesh.triangles.len(), count);
            let corners = mesh
                .triangles
                .iter()
                .map(|triangle| triangle.map(|k| mesh.vertices[k as usize]));
            let areas = corners.map(|[a, b, c]| {
                let [u, v] =
                    [b, c].map(|p| glam::DVec3::from_array(p) - glam::DVec3::from_array(a));
                u.cross(v)
            });
            let areas: Vec<glam::DVec3> = areas.collect();
            // The triangles have the same orientation, and the area of the face.
            let sum: glam::DVec3 = areas.iter().sum();
            assert!((0.5 * sum.length() - area).abs() < 1e-12, "{text}: {sum}");
            assert!(areas.iter().all(|one| one.dot(sum) > 0.0), "{text}");
        }
    }
    let crossed = "v 0 0 0\nv 4 4 0\nv 4 0 0\nv 0 3 0\nf 1 2 3 4\n";
    let error = read_obj("a.obj", crossed.as_bytes())
        .expect_err("crossed")
        .to_string();
    assert!(
        error.starts_with("a.obj, line 5: the polygon crosses itself"),
        "{error}"
    );
    // In an OBJ file, a face may come before the vertices that it names.
    let mesh = read_obj("a.obj", &b"f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0"[..])?;
    assert_eq!(
        (&mesh.triangles[..], mesh.place(0)),
        (&[[0, 1, 2]][..], "line 1".into())
    );
    Ok(())
}

/// Returns a binary STL file with these triangles, each given by its three corners. The number of triangles
/// that the file states is `count`, which may be wrong.
fn binary(header: &[u8], count: u32, triangles: &[[f32; 9]]) -> Vec<u8> {
    let mut file = header.to_vec();
    file.resize(80, b' ');
    file.extend(count.to_le_bytes());
    for corners in triangles {
        file.extend([0.0_f32; 3].iter().flat_map(|x| x.to_le_bytes()));
        file.extend(corners.iter().flat_map(|x| x.to_le_bytes()));
        file.extend([0; 2]);
    }
    file
}

const CORNERS: [f32; 9] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, -0.0];

#[test]
fn binary_stl_may_begin_with_solid() -> Test {
    let mesh = read_stl("a.stl", &binary(b"solid exported", 1, &[CORNERS])[..])?;
    assert_eq!(
        corners(&mesh),
        [[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]
    );
    Ok(())
}

#[test]
fn defects_of_binary_stl_are_named() {
    let mut flawed = CORNERS;
    flawed[4] = f32::NAN;
    let mut doubled = CORNERS;
    doubled[3] = -0.0;
    let cases = [
        (
            b"carom".to_vec(),
            "a.stl is no STL file: it does not begin with `solid`",
        ),
        (Vec::new(), "a.stl is no STL file"),
        (binary(b"", 0, &[]), "a.stl has no triangles"),
        (
            binary(b"", u32::MAX, &[CORNERS]),
            "a.stl, triangle 1: the file ends before the end of this triangle, but its header announces 4294967295",
        ),
        (
            binary(b"", 1, &[CORNERS, CORNERS]),
            "a.stl goes on after its last triangle",
        ),
        (
            binary(b"", 2, &[CORNERS, flawed]),
            "a.stl, triangle 1: y of corner 1 is NaN, but must be a finite number",
        ),
        (
            binary(b"", 2, &[CORNERS, doubled]),
            "a.stl, triangle 1: two corners of the triangle are the same point",
        ),
    ];
    for (file, expected) in cases {
        let error = read_stl("a.stl", &file[..])
            .expect_err(expected)
            .to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

const TEXT: &str = "solid a b\n facet normal nan nan nan\n  OUTER LOOP\n   vertex 0 0 0\n   vertex 1 0 0\n   \
                    vertex 0 1e0 0\n  endloop\n endfacet\n\nendsolid\n";

#[test]
fn defects_of_text_stl_are_named() -> Test {
    assert_eq!(
        read_stl("a.stl", format!("{TEXT}{TEXT}").as_bytes())?
            .triangles
            .len(),
        2
    );
    let cases = [
        (
            "1 0 0",
            "inf 0 0",
            "a.stl, line 5: x of the vertex is `inf`, but must be a finite number",
        ),
        (
            "1 0 0",
            "1e309 0 0",
            "a.stl, line 5: x of the vertex is `1e309`, but a float64 holds at most",
        ),
        (
            "1 0 0",
            "1 0",
            "a.stl, line 5: a vertex must have three numbers",
        ),
        (
            "1 0 0",
            "1 0 0 0",
            "a.stl, line 5: a vertex must have three numbers",
        ),
        (
            "vertex 1 0 0",
            "vertex",
            "a.stl, line 5: a vertex must have three numbers",
        ),
        (
            "1 0 0",
            "0 0 -0",
            "a.stl, line 8: two corners of the triangle are the same point",
        ),
        (
            "vertex 1 0 0\n",
            "",
            "a.stl, line 7: the facet has 2 vertices instead of 3",
        ),
        (
            "1 0 0",
            "1 0 0\nvertex 1 1 0",
            "a.stl, line 7: this is the fourth vertex of a facet",
        ),
        (
            "endloop",
            "endlop",
            "a.stl, line 7: `endlop` stands where `vertex` or `endloop` must stand",
        ),
        (
            "endsolid\n",
            "",
            "a.stl, line 9: the file ends within a solid, without `endsolid`",
        ),
        (
            " facet",
            "endsolid\n facet",
            "a.stl, line 3: `facet normal nan nan nan` stands where `solid`",
        ),
    ];
    for (from, to, expected) in cases {
        assert!(TEXT.contains(from));
        let file = TEXT.replacen(from, to, 1);
        let error = read_stl("a.stl", file.as_bytes())
            .expect_err(expected)
            .to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    let empty = read_stl("a.stl", &b"solid\nendsolid"[..]).expect_err("no triangles");
    assert_eq!(empty.to_string(), "a.stl has no triangles");
    Ok(())
}

#[test]
fn defects_of_obj_are_named() {
    let vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    let cases = [
        ("", "a.obj has no triangles"),
        (
            "v 1 nan 0",
            "a.obj, line 4: y of the vertex is `nan`, but must be a finite number",
        ),
        ("v 1 2", "a.obj, line 4: a vertex must have three numbers"),
        (
            "f 1 2",
            "a.obj, line 4: the face has 2 vertices, but must have at least 3",
        ),
        ("f", "a.obj, line 4: the face has 0 vertices"),
        (
            "f 1 2 2",
            "a.obj, line 4: two corners of the triangle are the same point",
        ),
        (
            "f 1 2 4\nf 1 2 3",
            "a.obj, line 4: the face names vertex 4, but the file has 3",
        ),
        ("f 1 2 0", "a.obj, line 4: `0` is no vertex"),
        ("f 1 2 x/1", "a.obj, line 4: `x/1` is no vertex"),
        (
            "f 1 2 -4",
            "a.obj, line 4: the face names the vertex -4, but 3 vertices come before it",
        ),
        (
            "f 1 2 -9223372036854775808",
            "a.obj, line 4: the face names the vertex -9223372036854775808",
        ),
        (
            "f 1 2 9223372036854775807",
            "a.obj, line 4: the face names vertex 9223372036854775807, but",
        ),
        (
            "f 1 2 \\\n3",
            "a.obj, line 4: the line continues on the next line",
        ),
        (
            "curv 0 1 1 2",
            "a.obj, line 4: `curv` is not a kind of line that carom can read",
        ),
    ];
    for (line, expected) in cases {
        let file = format!("{vertices}{line}");
        let error = read_obj("a.obj", file.as_bytes())
            .expect_err(expected)
            .to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn the_extension_tells_the_format_of_a_mesh() {
    let error = |name| data(name).expect_err(name).to_string();
    assert!(error("ase.xyz").ends_with("the name of a mesh must end in .stl or .obj"));
    assert!(error("missing.OBJ").starts_with("cannot open "));
    // A compressed file.
    let folder = Folder::new("packed-mesh").unwrap();
    let text = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, text).unwrap();
    let gzip = gzip.finish().unwrap();
    for name in ["a.obj.gz", "a.obj"] {
        let path = folder.file(name, &gzip).unwrap();
        assert_eq!(
            carom_formats::read::mesh::read(path).unwrap().triangles,
            [[0, 1, 2]]
        );
    }
    let error = carom_formats::read::mesh::read_from("a.obj", &gzip[..]).unwrap_err();
    assert!(error.to_string().contains("compressed"), "{error}");
}

//! Walls from the command line: walls of simple shapes as text, and triangle meshes from files.

use std::path::PathBuf;

use carom::{Number, Wall, Walls};

use super::{mesh, number};
use crate::error::{Error, Result, bail};

/// Parses a wall of a simple shape: the name of the shape, and its numbers.
///
/// # Errors
/// Returns an error if the text does not describe a wall, or if a number of the wall is out
/// of range.
pub fn wall_of(text: &str) -> Result<Wall<f64>> {
    let mut words = text.split([' ', ',', '\t']).filter(|word| !word.is_empty());
    let shape = words.next().unwrap_or_default();
    let numbers: Vec<f64> = words
        .map(|word| number::parse(word.as_bytes()))
        .collect::<Result<_, _>>()
        .map_err(|what: String| Error::new(format!("a number of the wall {what}")))?;
    let count = |expected: &str| {
        let given = numbers.len();
        Error::new(format!(
            "the wall `{shape}` has {given} numbers, but must have {expected}"
        ))
    };
    Ok(match (shape, &numbers[..]) {
        ("plane", &[x, y, z, offset]) => Wall::half_space([x, y, z], offset),
        ("sphere", &[x, y, z, radius]) => Wall::sphere([x, y, z], radius),
        ("sphere-inside", &[x, y, z, radius]) => Wall::sphere_inside([x, y, z], radius),
        ("cylinder", &[x, y, z, a, b, c, radius]) => Wall::cylinder([x, y, z], [a, b, c], radius),
        ("cylinder-inside", &[x, y, z, a, b, c, radius]) => {
            Wall::cylinder_inside([x, y, z], [a, b, c], radius)
        }
        ("plane", _) => return Err(count("4 (a normal and an offset)")),
        ("sphere" | "sphere-inside", _) => return Err(count("4 (a centre and a radius)")),
        ("cylinder" | "cylinder-inside", _) => {
            return Err(count(
                "7 (a point and a direction of the axis, and a radius)",
            ));
        }
        _ => {
            bail!(
                "`{shape}` is no shape of a wall; the shapes are plane, sphere, sphere-inside, cylinder \
                 and cylinder-inside"
            );
        }
    })
}

/// Returns the walls of simple shapes, and then the triangles of mesh files, in numbers of type `T`, to which `number` rounds.
///
/// # Errors
/// Returns an error that names the file if a mesh cannot be read or a triangle is invalid.
pub fn walls<T: Number>(
    simple: &[Wall<f64>],
    meshes: &[PathBuf],
    number: impl Fn(f64) -> T,
) -> Result<Walls<T>> {
    let simple = simple.iter().map(|wall| wall.shape().map(&number));
    let mut walls: Walls<T> = simple.collect();
    for path in meshes {
        let mesh = mesh::read(path)?;
        walls.push_mesh(mesh.wall(&number::shown_path(path), &number)?);
    }
    Ok(walls)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walls_are_parsed() {
        let plane = Wall::half_space([0.0, 0.5, 1.0], -2.0);
        assert_eq!(wall_of("plane 0 0.5 1 -2").unwrap(), plane);
        assert_eq!(wall_of(" plane 0, 0.5, 1, -2 ").unwrap(), plane);
        let ball = Wall::sphere([1.0, 2.0, 3.0], 4.0);
        assert_eq!(wall_of("sphere 1 2 3 4").unwrap(), ball);
        let pipe = Wall::cylinder_inside([1.0, 2.0, 3.0], [0.0, 0.0, 1.0], 4.0);
        assert_eq!(wall_of("cylinder-inside 1 2 3 0 0 1 4").unwrap(), pipe);
    }

    #[test]
    fn invalid_walls_are_rejected() {
        for (text, part) in [
            ("", "`` is no shape of a wall"),
            (
                "box 0 0 0 1 1 1",
                "`box` is no shape of a wall; the shapes are plane",
            ),
            (
                "plane 0 0 1",
                "has 3 numbers, but must have 4 (a normal and an offset)",
            ),
            (
                "sphere 0 0 1 2 3",
                "has 5 numbers, but must have 4 (a centre and a radius)",
            ),
            ("cylinder 0 0 1 2", "has 4 numbers, but must have 7"),
            ("plane 0 0 x 1", "a number of the wall"),
            ("plane 0 0 nan 1", "a number of the wall"),
        ] {
            let error = wall_of(text).expect_err("an invalid wall").to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}

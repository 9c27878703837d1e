//! NumPy's archives of named arrays, `.npz`.

use std::io::{Read, Seek};

use anyhow::{Context, bail};
use zip::ZipArchive;

use crate::columns::Names;
use crate::npy::Array;
use crate::world::World;

/// What an archive calls the fields of a sphere.
const NAMES: Names = Names {
    center: ["position[0]", "position[1]", "position[2]"],
    size: "radius",
    velocity: ["velocity[0]", "velocity[1]", "velocity[2]"],
};

/// Reads spheres from the arrays `position`, `radius` and, if they move, `velocity`; `source` names
/// the file in messages.
pub(crate) fn read(source: &str, input: impl Read + Seek) -> anyhow::Result<World> {
    let mut archive = ZipArchive::new(input).with_context(|| {
        format!("{source} is no archive of NumPy arrays (.npz), or was cut off")
    })?;
    let mut world = World::new(source, NAMES, "row");
    array(
        source,
        &mut archive,
        "position",
        Some(3),
        None,
        0,
        &mut world,
    )?;
    let rows = world.spheres.len() as u64;
    array(
        source,
        &mut archive,
        "radius",
        None,
        Some(rows),
        3,
        &mut world,
    )?;
    if archive.index_for_name("velocity.npy").is_some() {
        array(
            source,
            &mut archive,
            "velocity",
            Some(3),
            Some(rows),
            4,
            &mut world,
        )?;
    } else {
        world
            .notes
            .push("there is no array velocity: every sphere is at rest".to_owned());
    }
    Ok(world)
}

/// Puts an array's numbers into the spheres, from a field on. It must have this many columns, or be
/// a plain list; and as many rows as there are spheres.
fn array(
    source: &str,
    archive: &mut ZipArchive<impl Read + Seek>,
    name: &str,
    columns: Option<u64>,
    rows: Option<u64>,
    field: usize,
    world: &mut World,
) -> anyhow::Result<()> {
    let file = format!("{name}.npy");
    if archive.index_for_name(&file).is_none() {
        let names = archive.file_names().take(10).filter_map(Result::ok);
        let mut names: Vec<String> = names
            .map(|name| name.strip_suffix(".npy").unwrap_or(&name).to_owned())
            .collect();
        names.sort_unstable();
        bail!(
            "{source}: there is no array {name}; the arrays are {}",
            crate::number::printable(&names.join(", "), 200)
        );
    }
    let file = archive
        .by_name(&file)
        .with_context(|| format!("cannot read array {name} of {source}"))?;
    let source = format!("{source}, array {name}");
    let array = Array::open(&source, file)?;
    let right = match (&*array.shape, columns) {
        (&[n], None) => rows.is_none_or(|rows| rows == n),
        (&[n, m], Some(columns)) => m == columns && rows.is_none_or(|rows| rows == n),
        _ => false,
    };
    if !right {
        let rows = rows.map_or("N".to_owned(), |rows| rows.to_string());
        let columns = columns.map_or(String::new(), |columns| format!(" {columns}"));
        bail!(
            "{source}: the shape is {}, but must be ({rows},{columns})",
            array.shape()
        );
    }
    array.fill(world, field)
}

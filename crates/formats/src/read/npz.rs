//! Reader of NumPy archives of named arrays (`.npz`).

use std::io::{Read, Seek};

use zip::ZipArchive;

use crate::error::{Context, Error, Result, bail};
use crate::read::cell;
use crate::read::columns::Names;
use crate::read::npy::Array;
use crate::read::{ReadOptions, World};

const NAMES: Names = Names {
    center: ["position[0]", "position[1]", "position[2]"],
    size: "radius",
    velocity: ["velocity[0]", "velocity[1]", "velocity[2]"],
};

/// Reads spheres from the arrays of a NumPy archive: `position` (N, 3), `radius` (N,) unless the options give
/// the radius, and `velocity` (N, 3) if the spheres move. Other arrays are ignored. `source` is the name of
/// the archive in messages.
///
/// # Errors
/// Returns an error if the archive cannot be read, with the array and the row of an invalid number.
pub fn read(source: &str, input: impl Read + Seek, options: &ReadOptions) -> Result<World> {
    let mut archive = ZipArchive::new(input).with_context(|| {
        format!("{source} is not an archive of NumPy arrays (.npz), or was cut off")
    })?;
    let mut world = World::new(source, NAMES, "row");
    world.domain = cell::domain(None, [false; 3], false, options)
        .map_err(|what| Error::new(format!("{source}: {what}")))?;
    array(
        source,
        &mut archive,
        "position",
        Some(3),
        None,
        0,
        &mut world,
    )?;
    if options.centers_only {
        return Ok(world);
    }
    let rows = Some(world.spheres.len() as u64);
    let radius = options.radii.of_arrays(source)?;
    match (radius, has(&archive, "radius")) {
        (None, _) => array(source, &mut archive, "radius", None, rows, 3, &mut world)?,
        (Some(radius), false) => world.set_radii(radius),
        (Some(_), true) => {
            bail!("{source}: there is an array radius, so leave out --radius")
        }
    }
    if has(&archive, "velocity") {
        array(
            source,
            &mut archive,
            "velocity",
            Some(3),
            rows,
            4,
            &mut world,
        )?;
    } else {
        let note = format!("{}: every sphere is at rest", absent("velocity", &archive));
        world.notes.push(note);
    }
    Ok(world)
}

fn has(archive: &ZipArchive<impl Read + Seek>, name: &str) -> bool {
    archive.index_for_name(&format!("{name}.npy")).is_some()
}

fn absent(name: &str, archive: &ZipArchive<impl Read + Seek>) -> String {
    let names = archive.file_names().take(10).filter_map(Result::ok);
    let mut names: Vec<String> = names
        .map(|name| name.strip_suffix(".npy").unwrap_or(&name).to_owned())
        .collect();
    names.sort_unstable();
    format!(
        "there is no array {name} (the arrays are {})",
        crate::read::number::printable(&names.join(", "), 200)
    )
}

/// Reads an array of a NumPy archive into consecutive fields of the spheres. Fields 0 to 6 are x, y, z,
/// radius, vx, vy and vz. The array must have `columns` columns (one dimension if `None`) and `rows` rows
/// (any number if `None`).
fn array(
    source: &str,
    archive: &mut ZipArchive<impl Read + Seek>,
    name: &str,
    columns: Option<u64>,
    rows: Option<u64>,
    field: usize,
    world: &mut World,
) -> Result<()> {
    let file = format!("{name}.npy");
    if !has(archive, name) {
        let advice = match name {
            "radius" => "; add it, or give the radius of all spheres with --radius",
            _ => "; carom reads the arrays position, radius and, if the spheres move, velocity",
        };
        bail!("{source}: {}{advice}", absent(name, archive));
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
    let fields: Vec<usize> = (field..field + 3).collect();
    array.fill(world, &fields[..columns.map_or(1, |_| 3)])
}

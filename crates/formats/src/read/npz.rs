//! Reader of NumPy archives of named arrays (`.npz`).

use std::io::{self, Read, Seek};

use zip::read::ZipFile;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use crate::error::{Error, ErrorKind, Result, bail};
use crate::read::cell::{self, Cell, Given};
use crate::read::columns::Names;
use crate::read::npy::Array;
use crate::read::words::{self, Motion};
use crate::read::{ReadOptions, World, number};

const NAMES: Names = Names {
    center: ["position[0]", "position[1]", "position[2]"],
    size: "radius",
    velocity: ["velocity[0]", "velocity[1]", "velocity[2]"],
};

/// Reads spheres from the arrays of a NumPy archive: `position` (N, 3), `radius` (N,) or `diameter` (N,) unless the
/// options give the radius, and `velocity` (N, 3) if the spheres move. The names may be in the plural. `cell`, `box`,
/// `lattice` or `dimensions` is the box: three edges (3, 3), three lengths (3,), or six numbers (6,), which are three
/// lengths and either the angles α, β, γ or the tilt factors xy, xz, yz. `pbc` (3,) says which edges are periodic.
/// Other arrays are ignored. `source` is the name of the archive in messages.
///
/// # Errors
/// Returns an error if the archive cannot be read, with the array and the row of an invalid number.
pub fn read(source: &str, input: impl Read + Seek, options: &ReadOptions) -> Result<World> {
    let mut archive = ZipArchive::new(input).map_err(|error| match error {
        ZipError::Io(error) => Error::caused(format!("cannot read {source}"), error),
        _ => Error::new(format!(
            "{source} is not an archive of NumPy arrays (.npz), or is damaged or cut off (if it is compressed \
             once more, as in .npz.gz, decompress it first)"
        )),
    })?;
    let others = archive.file_names().filter_map(Result::ok);
    let other: Option<String> = others.map(|name| name.into_owned()).next();
    if names(&archive).is_empty() {
        let what = match other {
            None => "is an empty archive; save the arrays position, radius and, if the spheres move, velocity"
                .to_owned(),
            // Spreadsheets are archives, too.
            Some(_) if archive.index_for_name("[Content_Types].xml").is_some() => {
                "is a spreadsheet or another document, which is not read; save it as CSV".to_owned()
            }
            Some(other) => format!(
                "is a zip archive with {}, and not one of NumPy arrays: unzip it first",
                number::printable(&other, 80)
            ),
        };
        return Err(Error::of(
            ErrorKind::Unsupported,
            format!("{source} {what}"),
        ));
    }
    let mut world = World::new(source, NAMES, "row");
    let cell = cell_of(source, &mut archive, options)?;
    let periodic = flags(source, &mut archive)?;
    let has_flat_box = cell.is_some_and(|cell| cell.is_flat());
    let says_so = options.says_so();
    let of_file = periodic.unwrap_or([cell.is_some(); 3]);
    let other_name = names(&archive)
        .into_iter()
        .find(|name| words::is_periodicity(name));
    // Without a box, flags that are all false say nothing else than that.
    let mut is_open = || match &other_name {
        Some(name) if cell.is_none() => {
            let flags = small(source, &mut archive, name, 3);
            flags.is_ok_and(|flags| {
                flags.is_some_and(|(_, flags)| flags.iter().all(|flag| *flag == 0.0))
            })
        }
        _ => false,
    };
    if let (Some(name), None, false, false) = (&other_name, periodic, says_so, is_open()) {
        bail!(
            "{source}: the array {} may say which edges are periodic, but this must be an array pbc of three flags{}; \
             save it so, say it with --box and --periodic, or take the world as open with --open",
            number::printable(name, 40),
            if cell.is_none() {
                ", beside the box"
            } else {
                ""
            }
        );
    }
    if has_flat_box && of_file[2] && !says_so {
        let note =
            "the box has no height, so the world is taken as two-dimensional, and open along z";
        world.notes.push(note.to_owned());
    } else if cell.is_some() && periodic.is_none() && !says_so {
        world.notes.push(format!(
            "{source} has a box without pbc, which means that it is periodic along all edges; \
             --periodic says otherwise"
        ));
    }
    if cell.is_none() && periodic.is_some_and(|flags| flags != [false; 3]) && !says_so {
        bail!(
            "{source}: pbc says that the world is periodic, but there is no array {}, which gives the box; give it \
             with --box and --periodic, or take the world as open with --open",
            BOXES.join(", ")
        );
    }
    if cell.is_none() && periodic.is_none() && !says_so {
        world.notes.push(cell::without_box("archive"));
    }
    world.domain = cell::domain(cell.as_ref(), of_file, has_flat_box, options)
        .map_err(|what| Error::new(format!("{source}: {what}")))?;
    let name_of = |archive: &_, known: &[&str]| {
        name_of(archive, known).map_err(|what| Error::new(format!("{source}: {what}")))
    };
    let position = name_of(&archive, &POSITIONS)?;
    array(
        source,
        &mut archive,
        &position,
        Some(3),
        None,
        0,
        &mut world,
    )?;
    let rows = Some(world.spheres.len() as u64);
    let velocity = name_of(&archive, &VELOCITIES)?;
    let has_velocity = has(&archive, &velocity);
    let given = Given {
        cell,
        periodic,
        is_certain: periodic.is_some(),
        ..Given::default()
    };
    let may_be_flat = |cell: &Cell| cell.is_flat() || cell.middle_of_layer().is_some();
    if has_velocity && !says_so && cell.as_ref().is_some_and(may_be_flat) {
        let float32 = world.float32;
        array(
            source,
            &mut archive,
            &velocity,
            Some(3),
            rows,
            4,
            &mut world,
        )?;
        world.float32 = float32;
        for sphere in &mut world.spheres {
            world.leaves_plane |= sphere.velocity[2] != 0.0;
            sphere.velocity = [0.0; 3];
        }
    }
    world.flatten(&given, options)?;
    if options.centers_only {
        return Ok(world);
    }
    let given = options.radii.of_arrays(source)?;
    let radius = name_of(&archive, &["radius", "radii"])?;
    let diameter = name_of(&archive, &["diameter", "diameters"])?;
    let in_file = [&radius, &diameter]
        .into_iter()
        .find(|name| has(&archive, name));
    match (given, in_file) {
        (None, Some(name)) if *name == diameter => {
            array(source, &mut archive, name, None, rows, 3, &mut world)?;
            world.halve_radii(&diameter)?;
        }
        (None, _) => {
            array(source, &mut archive, &radius, None, rows, 3, &mut world)?;
            if has(&archive, &diameter) {
                let float32 = world.float32;
                array(source, &mut archive, &diameter, None, rows, 4, &mut world)?;
                world.float32 = float32;
                world.compare_radii(&diameter)?;
            }
        }
        (Some(radius), None) => world.set_radii(radius),
        (Some(_), Some(name)) => {
            bail!("{source}: there is an array {name}, so leave out --radius")
        }
    }
    if options.at_rest {
        return Ok(world);
    }
    if has_velocity {
        let momenta = name_of(&archive, &["momenta", "momentum"])?;
        if has(&archive, &momenta) {
            bail!(
                "{source}: the arrays {velocity} and {momenta} both give the motion; save only {velocity}"
            );
        }
        array(
            source,
            &mut archive,
            &velocity,
            Some(3),
            rows,
            4,
            &mut world,
        )?;
        return Ok(world);
    }
    if let Some((name, motion)) = other_motion(source, &mut archive)? {
        let way_out = match motion {
            Motion::Velocity => "save them so",
            Motion::Momentum => "save them so: velocity = momenta / masses[:, None]",
        };
        bail!(
            "{source}: the array {} seems to describe motion, but the velocities must be in an array velocity; \
             {way_out}, or take all spheres as at rest with --at-rest",
            number::printable(&name, 40)
        );
    }
    let note = format!("{}: every sphere is at rest", absent("velocity", &archive));
    world.notes.push(note);
    Ok(world)
}

/// Returns an array that seems to hold motion, but is not read.
fn other_motion(
    source: &str,
    archive: &mut ZipArchive<impl Read + Seek>,
) -> Result<Option<(String, Motion)>> {
    let names = names(archive);
    if let Some((place, motion)) = words::motion_of(&names, false) {
        return Ok(names.into_iter().nth(place).map(|name| (name, motion)));
    }
    for name in names {
        let components = [1, 2, 3].map(|k| format!("{name} {k}"));
        let Some((_, motion)) = words::motion_of(&components, false) else {
            continue;
        };
        let file = open(source, archive, &name)?;
        if let Ok(array) = Array::open(source, file)
            && matches!(*array.shape, [_, 2 | 3])
        {
            return Ok(Some((name, motion)));
        }
    }
    Ok(None)
}

/// Names of the arrays of positions and of velocities.
const POSITIONS: [&str; 4] = ["position", "positions", "pos", "coordinates"];
const VELOCITIES: [&str; 5] = ["velocity", "velocities", "vel", "vels", "velo"];

/// Returns the name of the array that has one of these names, perhaps in another case, or else the first of the names. Two
/// such arrays are an error.
fn name_of(archive: &ZipArchive<impl Read + Seek>, known: &[&str]) -> Result<String, String> {
    let mut found = names(archive);
    found.retain(|name| known.iter().any(|known| known.eq_ignore_ascii_case(name)));
    match &mut *found {
        [] => Ok(known
            .first()
            .map_or(String::new(), |name| (*name).to_owned())),
        [name] => Ok(std::mem::take(name)),
        names => Err(format!(
            "the arrays {} have the same meaning; save only the one that is meant",
            number::printable(&names.join(", "), 200)
        )),
    }
}

/// A file in an archive, whose errors are in the words of the tool.
struct File<'a, R: Read>(ZipFile<'a, R>);

const DAMAGED: &str = "the archive is damaged or cut off; copy or write it again";

impl<R: Read> Read for File<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(told)
    }
}

/// Returns an error in the words of the tool, unless it is one of the operating system.
fn told(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        None if error.kind() != io::ErrorKind::Interrupted => io::Error::new(error.kind(), DAMAGED),
        _ => error,
    }
}

fn open<'a, R: Read + Seek>(
    source: &str,
    archive: &'a mut ZipArchive<R>,
    name: &str,
) -> Result<File<'a, R>> {
    let unsupported = || {
        Error::of(
            ErrorKind::Unsupported,
            format!(
                "the array {name} of {source} is compressed or encrypted in a way that is not read; save the archive with \
                 numpy.savez or numpy.savez_compressed"
            ),
        )
    };
    let file = archive.by_name(&format!("{name}.npy"));
    let file = file.map_err(|error| match error {
        ZipError::UnsupportedArchive(_) | ZipError::CompressionMethodNotSupported(_) => {
            unsupported()
        }
        ZipError::Io(error) => {
            Error::caused(format!("cannot read array {name} of {source}"), told(error))
        }
        _ => Error::new(format!("cannot read array {name} of {source}: {DAMAGED}")),
    })?;
    match file.compression() {
        CompressionMethod::Stored | CompressionMethod::Deflated => Ok(File(file)),
        _ => Err(unsupported()),
    }
}

/// Names of arrays that are the box.
const BOXES: [&str; 4] = ["cell", "box", "lattice", "dimensions"];

/// Returns an array that may be the box, although it has none of the names of boxes.
fn other_box(names: &[String]) -> Option<&str> {
    let is_other = |name: &&String| {
        words::is_box(name) && !words::is_periodicity(name) && !name.eq_ignore_ascii_case("pbc")
    };
    let single = names.iter().find(is_other).map(String::as_str);
    single.or_else(|| words::lengths_of(names).map(|[first, ..]| first))
}

/// Returns the box of an archive. An array that is not read, but whose name says that it may be the box, is an error.
fn cell_of(
    source: &str,
    archive: &mut ZipArchive<impl Read + Seek>,
    options: &ReadOptions,
) -> Result<Option<Cell>> {
    if options.open {
        return Ok(None);
    }
    let names = names(archive);
    let found: Vec<&String> = names
        .iter()
        .filter(|name| BOXES.iter().any(|other| other.eq_ignore_ascii_case(name)))
        .collect();
    let name = match *found {
        [] => {
            if let (Some(name), None) = (other_box(&names), options.cell) {
                bail!(
                    "{source}: the array {} may be the box, but the box must have one of the names {}; \
                     save it so, give the box with --box and --periodic, or take the world as open \
                     with --open",
                    number::printable(name, 40),
                    BOXES.join(", ")
                );
            }
            return Ok(None);
        }
        [name] => name,
        _ => bail!(
            "{source}: there is more than one box: {}; leave out all but one, or ignore them with --open",
            found
                .iter()
                .map(|name| name.as_str())
                .collect::<Vec<_>>()
                .join(", ")
        ),
    };
    let Some((shape, numbers)) = small(source, archive, name, 9)? else {
        return Ok(None);
    };
    let is_angle = |x: &f64| (10.0..=170.0).contains(x);
    let is_tilt = |x: &f64| x.abs() <= 5.0;
    let edges = match (&*shape, &*numbers) {
        ([3, 3], &[a, b, c, d, e, f, g, h, i]) => [[a, b, c], [d, e, f], [g, h, i]],
        ([3], &[x, y, z]) => [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]],
        ([6], &[a, b, c, ref angles @ ..]) if angles.iter().all(is_angle) => {
            let numbers = [a, b, c, angles[0], angles[1], angles[2]];
            let cell = Cell::of_angles([0.0; 3], numbers);
            return cell
                .map(Some)
                .map_err(|what| Error::new(format!("{source}, array {name}: {what}")));
        }
        // HOOMD's box: the tilt factors are in units of the lengths.
        ([6], &[x, y, z, ref tilts @ ..]) if tilts.iter().all(is_tilt) => {
            let [xy, xz, yz] = [tilts[0], tilts[1], tilts[2]];
            [[x, 0.0, 0.0], [xy * y, y, 0.0], [xz * z, yz * z, z]]
        }
        _ => bail!(
            "{source}, array {name}: the box must be three edges (3, 3), three lengths (3,), three lengths \
             and the angles α, β, γ from 10 to 170 degrees (6,), or three lengths and the tilt factors xy, \
             xz, yz up to 5 (6,); give it with --box and --periodic, and add --open"
        ),
    };
    // HOOMD's box is around the origin. Where a periodic box begins makes no difference to the pairs.
    let is_centered = name.eq_ignore_ascii_case("box");
    let origin = if is_centered {
        [0, 1, 2].map(|k| -0.5 * (edges[0][k] + edges[1][k] + edges[2][k]))
    } else {
        [0.0; 3]
    };
    Ok(Some(Cell::new(origin, edges)))
}

/// Returns the array `pbc`, if there is one.
fn flags(source: &str, archive: &mut ZipArchive<impl Read + Seek>) -> Result<Option<[bool; 3]>> {
    let pbc = name_of(archive, &["pbc"]).map_err(|what| Error::new(format!("{source}: {what}")))?;
    if !has(archive, &pbc) {
        return Ok(None);
    }
    match small(source, archive, &pbc, 3)?
        .as_ref()
        .map(|(_, flags)| &**flags)
    {
        Some(&[a, b, c]) => Ok(Some([a != 0.0, b != 0.0, c != 0.0])),
        Some(&[all]) => Ok(Some([all != 0.0; 3])),
        _ => bail!("{source}, array pbc: the shape must be (3,)"),
    }
}

/// Reads an array of at most `most` numbers.
fn small(
    source: &str,
    archive: &mut ZipArchive<impl Read + Seek>,
    name: &str,
    most: u64,
) -> Result<Option<(Vec<u64>, Vec<f64>)>> {
    let file = open(source, archive, name)?;
    let source = format!("{source}, array {name}");
    match Array::small(&source, file, most)? {
        Some(array) => Ok(Some(array)),
        None => bail!("{source}: the array has more than {most} numbers"),
    }
}

fn names(archive: &ZipArchive<impl Read + Seek>) -> Vec<String> {
    let names = archive.file_names().filter_map(Result::ok);
    names
        .filter_map(|name| name.strip_suffix(".npy").map(str::to_owned))
        .collect()
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
    if !has(archive, name) {
        let advice = match name {
            "radius" | "radii" => "; add it, or give the radius of all spheres with --radius",
            _ => "; carom reads the arrays position, radius and, if the spheres move, velocity",
        };
        bail!("{source}: {}{advice}", absent(name, archive));
    }
    let file = open(source, archive, name)?;
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

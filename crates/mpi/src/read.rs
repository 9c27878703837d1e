//! Reads the spheres of a file: each rank a range of its bytes where the format allows, otherwise rank 0 the whole file.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;

use carom::Domain;
use carom_formats::read::{self, Format, Frames, Input, ReadOptions, World};
use carom_mpi::{DistributedDetector, Error};

/// The spheres that this rank has read.
pub(crate) struct Given {
    pub(crate) world: World,
    /// Index of the first one.
    pub(crate) first: u64,
    pub(crate) float32: bool,
    pub(crate) domain: Domain,
    /// Whether all ranks have read, each a part.
    pub(crate) in_parts: bool,
}

/// How a file is divided into ranges.
#[derive(Clone, Debug)]
enum Ranges {
    /// Rows of an array: the header, where the numbers of rows are in it, the bytes of a row, and the rows.
    Rows(Vec<u8>, Range<usize>, u64, u64),
    /// Lines after a header.
    Lines(Vec<u8>, u64),
}

/// The longest line that may be cut by the end of a range.
const LONGEST: u64 = 1 << 16;

pub(crate) fn read(
    detector: &DistributedDetector,
    input: &Input,
    frame: Frames,
    options: &ReadOptions,
) -> Result<Given, Error> {
    let paths = input.paths();
    let ranges = match paths[..] {
        [path] if detector.ranks() > 1 => ranges(input, path, options),
        _ => None,
    };
    // All ranks must see the same file.
    let is_divided = detector.sum(u64::from(ranges.is_none())) == 0;
    if let (true, Some(ranges), [path]) = (is_divided, ranges, &paths[..]) {
        let own = own_bytes(&ranges, path, [detector.rank(), detector.ranks()]);
        let world = own.and_then(|bytes| {
            let part = Input::from_bytes(input.name(), bytes, Some(ranges.format()));
            read::open(&part, Frames::LAST, options, &())
                .ok()?
                .next()?
                .ok()
        });
        // If a part is unusual, rank 0 reads the whole file, and so its errors are those of `carom`.
        if detector.sum(u64::from(world.is_none())) == 0
            && let Some(world) = world
        {
            let first = detector.sum_before(world.spheres.len() as u64);
            return Ok(Given {
                first,
                float32: world.float32,
                domain: world.domain.unwrap_or_default(),
                world,
                in_parts: true,
            });
        }
    }
    let is_first = detector.rank() == 0;
    let world = is_first.then(|| whole(input, frame, options)).transpose();
    let world = detector.agree(world)?;
    let float32 = world.as_ref().is_some_and(|world| world.float32);
    let float32 = detector.sum(u64::from(float32)) > 0;
    let domain = world
        .as_ref()
        .and_then(|world| world.domain)
        .unwrap_or_default();
    let domain = shared(detector, &domain);
    let empty = || {
        let header = Input::from_bytes("nothing.csv", "x,y,z,radius\n", Some(Format::Csv));
        whole(&header, Frames::LAST, &ReadOptions::default())
    };
    let world = match world {
        Some(world) => Ok(world),
        None => empty(),
    };
    Ok(Given {
        world: detector.agree(world)?,
        first: 0,
        float32,
        domain,
        in_parts: false,
    })
}

/// Reads all of a file.
pub(crate) fn whole(input: &Input, frame: Frames, options: &ReadOptions) -> Result<World, String> {
    let read = || {
        let mut worlds = read::open(input, frame, options, &())?;
        worlds.next().transpose()
    };
    let world = read().map_err(|error| format!("{error:?}"))?;
    world.ok_or_else(|| format!("{} has no such frame", input.name()))
}

/// The domain of rank 0.
fn shared(detector: &DistributedDetector, domain: &Domain) -> Domain {
    let edges = domain.edges();
    let numbers = [domain.origin(), edges[0], edges[1], edges[2]];
    let mut bytes: Vec<u8> = numbers
        .as_flattened()
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    bytes.extend(domain.periodic().map(u8::from));
    let bytes = detector.tell(&bytes);
    let number = |k: usize| {
        let bytes = bytes
            .get(8 * k..8 * k + 8)
            .and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0.0, f64::from_le_bytes)
    };
    let [origin, a, b, c] = [0, 1, 2, 3].map(|row| [0, 1, 2].map(|k| number(3 * row + k)));
    let periodic = [0, 1, 2].map(|k| bytes.get(96 + k) == Some(&1));
    Domain::triclinic_f64(origin, [a, b, c]).with_periodic(periodic)
}

impl Ranges {
    fn format(&self) -> Format {
        match self {
            Self::Rows(..) => Format::Npy,
            Self::Lines(..) => Format::Csv,
        }
    }
}

/// `None` for a file that rank 0 must read as a whole.
fn ranges(input: &Input, path: &Path, options: &ReadOptions) -> Option<Ranges> {
    if options.ids || options.types || options.columns.is_some() || !path.is_file() {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let mut head = Vec::new();
    std::io::Read::by_ref(&mut file)
        .take(LONGEST)
        .read_to_end(&mut head)
        .ok()?;
    if head.starts_with(b"\x93NUMPY\x01\0") {
        if input.format().is_some_and(|format| format != Format::Npy) {
            return None;
        }
        return rows(&head, length);
    }
    let is_csv = input.format() == Some(Format::Csv);
    if !is_csv || options.separator != Some(read::Separator::Comma) {
        return None;
    }
    let end = head.iter().position(|&byte| byte == b'\n')? + 1;
    head.truncate(end);
    let names = std::str::from_utf8(&head).ok()?.trim_end();
    // Other columns may have something to say about the whole file.
    let known =
        |name: &str| ["x", "y", "z", "radius", "diameter", "vx", "vy", "vz"].contains(&name);
    names
        .split(',')
        .all(known)
        .then_some(Ranges::Lines(head, length))
}

/// A plain array of rows.
fn rows(head: &[u8], length: u64) -> Option<Ranges> {
    let size = usize::from(u16::from_le_bytes([*head.get(8)?, *head.get(9)?])) + 10;
    let header = head.get(..size)?;
    let text = std::str::from_utf8(header.get(10..)?).ok()?;
    if !text.contains("'fortran_order': False") {
        return None;
    }
    let number = match () {
        () if text.contains("f4'") => 4,
        () if text.contains("f8'") => 8,
        () => return None,
    };
    let shape = text.find("'shape': (")? + 10;
    let end = shape + text[shape..].find(',')?;
    let close = end + text[end..].find(')')?;
    let rows: u64 = text[shape..end].parse().ok()?;
    let columns: u64 = text[end + 1..close].trim().parse().ok()?;
    let row = columns.checked_mul(number).filter(|&row| row > 0)?;
    let is_whole = rows.checked_mul(row)?.checked_add(size as u64)? == length;
    is_whole.then(|| Ranges::Rows(header.to_vec(), 10 + shape..10 + end, row, rows))
}

/// The bytes of a file that has only the spheres of one rank.
fn own_bytes(ranges: &Ranges, path: &Path, [rank, ranks]: [usize; 2]) -> Option<Vec<u8>> {
    let mut file = File::open(path).ok()?;
    let share = |all: u64, rank: usize| {
        u64::try_from(u128::from(all) * rank as u128 / ranks as u128).unwrap_or(all)
    };
    match ranges {
        Ranges::Rows(header, place, row, rows) => {
            let range = share(*rows, rank)..share(*rows, rank + 1);
            let width = place.len();
            let mut bytes = header.clone();
            let count = format!("{:<width$}", range.end - range.start);
            // Spaces are at the end, where a comma follows.
            bytes.splice(place.clone(), count.bytes());
            file.seek(SeekFrom::Start(header.len() as u64 + range.start * row))
                .ok()?;
            let size = (range.end - range.start) * row;
            bytes.try_reserve_exact(usize::try_from(size).ok()?).ok()?;
            file.take(size).read_to_end(&mut bytes).ok()?;
            Some(bytes)
        }
        Ranges::Lines(header, length) => {
            let all = length - header.len() as u64;
            // A line belongs to the rank in whose range its first byte is.
            let [begin, end] = [rank, rank + 1].map(|rank| share(all, rank));
            let at = header.len() as u64;
            let from = begin.saturating_sub(1);
            let size = (end - from).checked_add(LONGEST)?;
            file.seek(SeekFrom::Start(at + from)).ok()?;
            let mut bytes = Vec::new();
            bytes
                .try_reserve_exact(usize::try_from(size.min(all - from)).ok()?)
                .ok()?;
            file.take(size).read_to_end(&mut bytes).ok()?;
            let after_line = |place: u64| {
                if place == 0 {
                    return Some(0);
                }
                // The byte before a line is a line end.
                let before = usize::try_from(place - 1 - from).ok()?;
                let found = bytes.get(before..)?.iter().position(|&byte| byte == b'\n');
                let is_end = from + bytes.len() as u64 >= all;
                found
                    .map(|k| before + k + 1)
                    .or(is_end.then_some(bytes.len()))
            };
            let own = after_line(begin)?..after_line(end)?;
            let own = bytes.get(own)?;
            let is_odd = |pair: &[u8]| matches!(pair, b"\n\n" | b"\n\r");
            let is_plain = !own.contains(&b'#')
                && !own.contains(&b'"')
                && !own.windows(2).any(is_odd)
                && !own.starts_with(b"\n")
                && !own.starts_with(b"\r");
            is_plain.then(|| [header, own].concat())
        }
    }
}

//! Lists that are written to full disks, and files that are cut off or damaged.

use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};

use carom_formats::read::{self, Frames, Input, ReadOptions, csv};
use carom_formats::write::{Columns, List, ListFormat, Pair};
use fastrand::Rng;

use crate::Tally;

/// A disk with room for some bytes.
struct Disk {
    bytes: Cursor<Vec<u8>>,
    room: usize,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let end = self.bytes.position() as usize + bytes.len();
        if end > self.room {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Disk {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

fn write(disk: &mut Disk, format: ListFormat, pairs: &[Pair]) -> carom_formats::Result<()> {
    let mut list = List::to_writer(disk, format, Columns::default())?;
    for part in pairs.chunks(7) {
        list.append(0, part.iter().copied())?;
    }
    list.finish()
}

pub(crate) fn write_and_read(rng: &mut Rng, tally: &mut Tally) {
    let pair = |k: i64| Pair {
        a: k,
        b: k + 1,
        numbers: [0.125 * k as f64, 0.0, 0.0, 0.0],
        ..Pair::default()
    };
    let pairs: Vec<_> = (0..rng.i64(..60)).map(pair).collect();
    let format = [ListFormat::Csv, ListFormat::Npy, ListFormat::Npz][rng.usize(..3)];
    let disk = |room| Disk {
        bytes: Cursor::new(Vec::new()),
        room,
    };
    let mut large = disk(usize::MAX);
    write(&mut large, format, &pairs).expect("there is room");
    let needed = large.bytes.into_inner();
    let mut small = disk(rng.usize(..2 * needed.len()));
    let written = tally.note(write(&mut small, format, &pairs));
    // No list is complete without room for it.
    if written.is_some() {
        assert_eq!(small.bytes.into_inner(), needed);
    } else {
        assert!(small.room < needed.len());
    }
    read_damaged(rng, tally);
}

/// Fails after some bytes.
struct Broken<'a>(&'a [u8]);

impl Read for Broken<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.0.read(into)? {
            0 if !into.is_empty() => Err(io::Error::other("the disk is broken")),
            count => Ok(count),
        }
    }
}

fn read_damaged(rng: &mut Rng, tally: &mut Tally) {
    let count = rng.usize(1..20);
    let mut text = "id,x,y,z,radius\n".to_owned();
    for k in 0..count {
        text += &format!("{k}.0,{k}.5,{},1e0,0.25\n", rng.f64());
    }
    let options = ReadOptions {
        ids: true,
        ..ReadOptions::default()
    };
    let mut bytes = text.into_bytes();
    let broken = io::BufReader::new(Broken(&bytes));
    csv::read("broken.csv", broken, &options).expect_err("the disk is broken");
    let whole = csv::read("whole.csv", &*bytes, &options).expect("the text is valid");
    assert_eq!(whole.spheres.len(), count);
    match rng.u8(..3) {
        0 => bytes.truncate(rng.usize(..bytes.len())),
        1 => {
            let at = rng.usize(..bytes.len());
            bytes[at] = rng.u8(..);
        }
        _ => {}
    }
    let input = Input::from_bytes("damaged.csv", bytes, None);
    let worlds = read::open(&input, Frames::ALL, &options, &());
    let Some(worlds) = tally.note(worlds) else {
        return;
    };
    for world in worlds {
        if let Some(world) = tally.note(world) {
            let numbers = |sphere: &carom::HardSphere| [sphere.center, [sphere.radius; 3]].concat();
            assert!(world.spheres.iter().flat_map(numbers).all(f64::is_finite));
        }
    }
}

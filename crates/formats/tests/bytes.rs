//! Bytes in memory are read and written like files.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use carom_formats::read::{self, Frames, Input, Radii, ReadOptions, mesh};
use carom_formats::write::{Columns, List, ListFormat, Pair, Target};
use carom_formats::{Error, Result};

/// Reads an input, and returns what it contains, or the error.
fn contents(input: Input, frames: Frames, options: &ReadOptions) -> String {
    let read =
        || -> Result<Vec<read::World>> { read::open(&input, frames, options, &())?.collect() };
    format!("{:?}", read())
}

#[test]
fn bytes_are_read_like_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/data");
    let given = ReadOptions {
        radii: Radii::Constant(0.5),
        ..ReadOptions::default()
    };
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let name = path.to_str().unwrap();
        for options in [&ReadOptions::default(), &given] {
            for frames in [Frames::LAST, Frames::ALL, Frames::One(0), Frames::One(9)] {
                let file = contents(Input::new(&path, None), frames, options);
                let memory = Input::from_bytes(name, bytes.clone(), None);
                assert_eq!(contents(memory, frames, options), file, "{name}");
                files += usize::from(file.starts_with("Ok"));
            }
        }
        let of_memory = format!("{:?}", mesh::read_from(name, &bytes[..]));
        assert_eq!(of_memory, format!("{:?}", mesh::read(&path)), "{name}");
    }
    assert!(files > 100, "{files}");
}

#[test]
fn ids_or_types_of_arrays_are_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/data");
    for name in ["c-f4.npy", "packed.npz"] {
        let input = Input::new(folder.join(name), None);
        for (ids, types, what) in [(true, false, "ids"), (false, true, "types")] {
            let options = ReadOptions {
                ids,
                types,
                ..ReadOptions::default()
            };
            let error = read::open(&input, Frames::LAST, &options, &()).unwrap_err();
            let message = error.to_string();
            assert!(
                message.contains(name) && message.contains(what),
                "{message}"
            );
        }
        assert!(read::open(&input, Frames::LAST, &ReadOptions::default(), &()).is_ok());
    }
}

#[test]
fn lists_in_memory_are_the_same_as_files() {
    let folder = tempfile::tempdir().unwrap();
    let columns = Columns {
        frames: true,
        ids: true,
        types: true,
        images: true,
        ..Columns::default()
    };
    let pair = |a| Pair {
        a,
        b: 9,
        image: [-1, 0, 2],
        types: [3.into(), 4.into()],
        numbers: [0.25, 0.5, 0.0, 0.0],
    };
    let fill = |mut list: List<'_>| {
        list.append(0, [pair(1), pair(2)])?;
        list.append(5, [pair(3)])?;
        list.finish()
    };
    for (name, format) in [
        ("list.csv", ListFormat::Csv),
        ("list.npy", ListFormat::Npy),
        ("list.npz", ListFormat::Npz),
    ] {
        let path = folder.path().join(name);
        let target = Target::from_path(&path).unwrap();
        fill(List::create(&target, columns).unwrap()).unwrap();
        let mut memory = Cursor::new(Vec::new());
        fill(List::to_writer(&mut memory, format, columns).unwrap()).unwrap();
        assert_eq!(memory.into_inner(), fs::read(path).unwrap(), "{name}");
    }
    let mut csv = Vec::new();
    fill(List::csv(&mut csv, columns).unwrap()).unwrap();
    assert_eq!(csv, fs::read(folder.path().join("list.csv")).unwrap());
}

#[test]
fn a_list_that_cannot_be_written_is_an_error() {
    let mut room = [0; 10];
    let error = List::to_writer(
        Cursor::new(&mut room[..]),
        ListFormat::Csv,
        Columns::default(),
    )
    .and_then(List::finish)
    .unwrap_err();
    assert_eq!(error.to_string(), "cannot write the list");
    let source = std::error::Error::source(&error).unwrap();
    assert!(source.is::<std::io::Error>());
}

#[test]
fn no_world_follows_an_error() {
    let text = "1\n\nAr 0 0 0\n1\n\nAr 0 0 x\n1\n\nAr 0 0 0\n";
    let input = Input::from_bytes("a.xyz", text, None);
    let options = ReadOptions {
        radii: Radii::Constant(0.5),
        ..ReadOptions::default()
    };
    for (frames, worlds) in [(Frames::ALL, 2), (Frames::One(3), 1)] {
        let worlds_read: Vec<Result<_>> =
            read::open(&input, frames, &options, &()).unwrap().collect();
        assert_eq!(worlds_read.len(), worlds, "{frames}");
        assert!(worlds_read.last().unwrap().is_err());
    }
}

#[test]
fn readers_pass_between_threads() {
    fn passes<T: Send + 'static>() {}
    passes::<read::Worlds<'static>>();
    passes::<Error>();
}

//! Tests of `carom collide` with NumPy arrays as input and as output.

use crate::run::{CSV, Folder, Test, run};
use std::fs;
use std::io::{Cursor, Write};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Returns the contents of a `.npy` file with the given number type, shape and data.
fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    with_header(&header, data)
}

fn with_header(header: &str, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(header.len()).unwrap_or(u16::MAX);
    [
        b"\x93NUMPY\x01\x00",
        &length.to_le_bytes()[..],
        header.as_bytes(),
        data,
    ]
    .concat()
}

fn floats(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn doubles(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn npz(files: &[(&str, Vec<u8>)]) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, contents) in files {
        archive.start_file(*name, SimpleFileOptions::default())?;
        archive.write_all(contents)?;
    }
    Ok(archive.finish()?.into_inner())
}

/// Two overlapping spheres at rest, with the rows `x y z radius`.
const TWO: [f32; 8] = [0.0, 0.0, 0.0, 1.0, 1.5, 0.0, 0.0, 1.0];

#[test]
fn errors_in_arrays_name_file_row_and_field() -> Test {
    let folder = Folder::new("bad-npy")?;
    let good = npy("<f4", "(2, 4)", &floats(&TWO));
    let mut with_nan = TWO;
    with_nan[5] = f32::NAN;
    let mut negative = TWO;
    negative[7] = -1.0;
    let deep = "(".repeat(9000);
    let cases: &[(&str, Vec<u8>, &[&str])] = &[
        ("empty", Vec::new(), &["empty"]),
        (
            "something else",
            "something else\n".into(),
            &["byte 0", "NUMPY"],
        ),
        (
            "unknown version",
            b"\x93NUMPY\x07\x01??".to_vec(),
            &["byte 6", "[7, 1]"],
        ),
        (
            "header of gigabytes",
            b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}".to_vec(),
            &["byte 8", "4294967295", "10000"],
        ),
        (
            "short header",
            good[..60].to_vec(),
            &["byte 60", "header", "cut off"],
        ),
        (
            "noise for a header",
            with_header("\u{1}\u{2}", b""),
            &["byte 10", "plain array"],
        ),
        (
            "deep header",
            with_header(&deep, b""),
            &["byte 10", "plain array"],
        ),
        (
            "header that takes exponential time to parse",
            with_header(&format!("{{'descr': {}", "[".repeat(40)), b""),
            &["byte 10", "plain array"],
        ),
        (
            "no shape",
            with_header("{'descr': '<f4', 'fortran_order': False}", b""),
            &["no shape"],
        ),
        (
            "two dtypes",
            with_header(
                "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), 'descr': '<f8'}",
                &floats(&TWO),
            ),
            &["byte 10", "descr, fortran_order, shape once"],
        ),
        (
            "another key",
            with_header(
                "{'descr': '<f4', 'fortran_order': False, 'order': 0, 'shape': (2, 4)}",
                &floats(&TWO),
            ),
            &["byte 10", "no other"],
        ),
        (
            "negative length",
            npy("<f4", "(-2, 4)", b""),
            &["byte 10", "shape", "whole numbers from 0"],
        ),
        (
            "length past 2^64",
            npy("<f4", "(99999999999999999999, 4)", b""),
            &["byte 10", "shape"],
        ),
        (
            "whole numbers",
            npy("<i4", "(2, 4)", b""),
            &["<i4", "float32"],
        ),
        ("objects", npy("|O", "(2, 4)", b""), &["|O", "float32"]),
        (
            "one dimension",
            npy("<f4", "(8,)", b""),
            &["(8,)", "(N, 7)"],
        ),
        (
            "five columns",
            npy("<f4", "(2, 5)", b""),
            &["(2, 5)", "(N, 7)"],
        ),
        (
            "three dimensions",
            npy("<f4", "(2, 4, 1)", b""),
            &["(2, 4, 1)", "(N, 4)"],
        ),
        (
            "10^12 rows",
            npy("<f4", "(1000000000000, 7)", &floats(&TWO)),
            &["row 1 of 1000000000000", "cut off"],
        ),
        (
            "most rows",
            npy("<f8", "(18446744073709551615, 7)", b"1234"),
            &["row 0 of 18446744073709551615"],
        ),
        (
            "one number too few",
            good[..good.len() - 4].to_vec(),
            &["row 1 of 2", "byte 98"],
        ),
        (
            "one byte too many",
            [&good[..], b"!"].concat(),
            &["goes on", "(2, 4)"],
        ),
        (
            "NaN",
            npy("<f4", "(2, 4)", &floats(&with_nan)),
            &["row 1", "field y", "NaN"],
        ),
        (
            "infinite",
            npy(
                "<f8",
                "(1, 4)",
                &doubles(&[0.0, 0.0, f64::NEG_INFINITY, 1.0]),
            ),
            &["row 0", "field z", "-inf"],
        ),
        (
            "too large",
            npy("<f8", "(1, 4)", &doubles(&[1e101, 0.0, 0.0, 1.0])),
            &["row 0", "field x", "1e101", "at most 1e100"],
        ),
        (
            "negative radius",
            npy("<f4", "(2, 4)", &floats(&negative)),
            &["row 1", "field radius", "-1"],
        ),
    ];
    for (name, bytes, parts) in cases {
        let input = folder.file("bad.npy", bytes)?;
        let run = run(&[&input, "--backend", "cpu"])?;
        run.expect_error(name, 1, parts);
        run.expect_error(name, 1, &[&input]);
    }
    Ok(())
}

#[test]
fn errors_in_archives_name_file_array_and_row() -> Test {
    let folder = Folder::new("bad-npz")?;
    let position = || npy("<f4", "(2, 3)", &floats(&[0.0, 0.0, 0.0, 1.5, 0.0, 0.0]));
    let radius = |first: f32| npy("<f4", "(2,)", &floats(&[first, 1.0]));
    let whole = npz(&[("position.npy", position()), ("radius.npy", radius(1.0))])?;
    assert_eq!(
        folder.pairs(&folder.file("good.npz", &whole)?)?,
        "a,b,toi,depth\n0,1,0.0,0.5\n"
    );
    let mut other_bytes = whole.clone();
    other_bytes[100] ^= 1;
    let cases: &[(&str, Vec<u8>, &[&str])] = &[
        ("empty", Vec::new(), &["archive"]),
        ("something else", "something else\n".into(), &["archive"]),
        (
            "no radius",
            npz(&[("position.npy", position())])?,
            &["no array radius", "position"],
        ),
        (
            "no arrays",
            npz(&[("x.txt", b"x".to_vec())])?,
            &["zip archive with x.txt", "unzip it"],
        ),
        (
            "other length",
            npz(&[
                ("position.npy", position()),
                ("radius.npy", npy("<f4", "(3,)", &[0; 12])),
            ])?,
            &["array radius", "(3,)", "(2,)"],
        ),
        (
            "two columns",
            npz(&[
                ("position.npy", npy("<f4", "(2, 2)", &[0; 16])),
                ("radius.npy", radius(1.0)),
            ])?,
            &["array position", "(2, 2)", "(N, 3)"],
        ),
        (
            "10^12 rows",
            npz(&[
                ("position.npy", npy("<f4", "(1000000000000, 3)", &[0; 24])),
                ("radius.npy", radius(1.0)),
            ])?,
            &["array position", "row 2 of 1000000000000"],
        ),
        (
            "NaN",
            npz(&[
                ("position.npy", position()),
                ("radius.npy", radius(f32::NAN)),
            ])?,
            &["row 0", "field radius", "NaN"],
        ),
        (
            "velocity out of range",
            npz(&[
                ("position.npy", position()),
                ("radius.npy", radius(1.0)),
                (
                    "velocity.npy",
                    npy("<f4", "(2, 3)", &floats(&[0.0, 0.0, 0.0, 0.0, 2e18, 0.0])),
                ),
            ])?,
            &["row 1", "field velocity[1]", "2e18"],
        ),
        ("a bit flipped", other_bytes, &["array position"]),
    ];
    for (name, bytes, parts) in cases {
        let input = folder.file("bad.npz", bytes)?;
        let run = run(&[&input, "--backend", "cpu"])?;
        run.expect_error(name, 1, parts);
        run.expect_error(name, 1, &[&input]);
    }
    Ok(())
}

#[test]
fn lists_are_written_as_arrays() -> Test {
    let folder = Folder::new("npy-out")?;
    let output = folder.path("pairs.npy")?;
    let pair = [0.3_f64.to_le_bytes(), 0.0_f64.to_le_bytes()].concat();
    let input = folder.file("world.csv", CSV)?;
    let rows = [&0_i32.to_le_bytes()[..], &1_i32.to_le_bytes(), &pair].concat();
    let named = "id,x,y,z,radius,vx\n9,0,0,0,1,10\n7,5,0,0,1,0\n8,0,90,0,1,0\n";
    let named = folder.file("named.csv", named)?;
    let ids = [&7_i64.to_le_bytes()[..], &9_i64.to_le_bytes(), &pair].concat();
    for (args, fields, data) in [
        (
            &[input.as_str()][..],
            "[('a', '<i4'), ('b', '<i4'), ('toi', '<f8'), ('depth', '<f8'), ]",
            rows,
        ),
        (
            &[&named, "--ids"],
            "[('a', '<i8'), ('b', '<i8'), ('toi', '<f8'), ('depth', '<f8'), ]",
            ids,
        ),
    ] {
        let args = [args, &["--backend", "cpu", "--output", &output]].concat();
        run(&args)?.expect_success("npy");
        let written = fs::read(&output)?;
        assert_eq!(written[..8], *b"\x93NUMPY\x01\x00");
        let header = String::from_utf8_lossy(&written[10..written.len() - data.len()]);
        assert!(header.contains(fields), "{header}");
        assert!(header.contains("'shape': (1,)"), "{header}");
        assert_eq!(written[written.len() - data.len()..], data);
        assert_eq!(
            (written.len() - data.len()) % 64,
            0,
            "the data must be aligned as in NumPy's files"
        );
    }
    Ok(())
}

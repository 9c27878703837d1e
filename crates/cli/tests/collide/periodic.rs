//! Tests of `carom collide` with periodic boxes.

use crate::run::{Folder, Test, run};
use std::fs;

/// CSV of three spheres, of which two overlap by 0.5 across the face x = 0 of a periodic box from 0 to 10.
const CSV: &str = "id,type,x,y,z,radius\n9,1,9,5,5,1\n7,2,0.5,5,5,1\n8,1,5,5,5,1\n";
const BOX: &str = "0 0 0 10 10 10";

/// Returns a LAMMPS dump with the spheres of the constant [`CSV`]. The argument `bounds` is
/// appended to the line `ITEM: BOX BOUNDS` of the dump.
fn dump(bounds: &str) -> String {
    format!(
        "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n3\nITEM: BOX BOUNDS{bounds}\n\
         0 10\n0 10\n0 10\nITEM: ATOMS id type x y z radius\n\
         9 1 9 5 5 1\n7 2 0.5 5 5 1\n8 1 5 5 5 1\n"
    )
}

fn list(folder: &Folder, args: &[&str]) -> Result<String, Box<dyn std::error::Error>> {
    let output = folder.path("pairs.csv")?;
    let more = ["--backend", "cpu", "--output", &output];
    run(&[args, &more].concat())?.expect_success(&args.join(" "));
    Ok(fs::read_to_string(output)?)
}

#[test]
fn lists_have_columns_for_the_image() -> Test {
    let folder = Folder::new("image-columns")?;
    let csv = folder.file("world.csv", CSV)?;
    let world = [csv.as_str(), "--box", BOX, "--periodic", "abc"];
    let more = |args: &[&str]| list(&folder, &[&world, args].concat());
    assert_eq!(more(&[])?, "a,b,toi,depth,n1,n2,n3\n0,1,0.0,0.5,1,0,0\n");
    // With `--ids`, the smaller id comes first. Here the second sphere of the file has the smaller id, so the
    // sign of the periodic image is reversed.
    let ids = "a,b,toi,depth,n1,n2,n3\n7,9,0.0,0.5,-1,0,0\n";
    assert_eq!(more(&["--ids"])?, ids);
    let types = "a,b,toi,depth,n1,n2,n3,type_a,type_b\n0,1,0.0,0.5,1,0,0,1,2\n";
    assert_eq!(more(&["--types"])?, types);

    let on_gpu = folder.path("gpu.csv")?;
    let more = ["--backend", "gpu", "--output", &on_gpu];
    run(&[&world[..], &more].concat())?.expect_success("on a GPU");
    assert_eq!(fs::read_to_string(on_gpu)?, list(&folder, &world)?);

    let run = run(&[&world[..], &["--backend", "cpu", "--verify"]].concat())?;
    run.expect_success("summary");
    for part in ["periodic abc\n", "pairs    1 ", "verify"] {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
    Ok(())
}

#[test]
fn arrays_have_fields_for_the_image() -> Test {
    let folder = Folder::new("image-arrays")?;
    let csv = folder.file("world.csv", CSV)?;
    let output = folder.path("pairs.npy")?;
    let world = [csv.as_str(), "--box", BOX, "--periodic", "a"];
    run(&[&world[..], &["--output", &output]].concat())?.expect_success("npy");
    let written = fs::read(&output)?;
    let fields = "[('a', '<i4'), ('b', '<i4'), ('toi', '<f8'), ('depth', '<f8'), \
                  ('n1', '<i4'), ('n2', '<i4'), ('n3', '<i4'), ]";
    let header = String::from_utf8_lossy(&written);
    assert!(header.contains(fields), "{header}");
    let mut record = [0_i32, 1].map(i32::to_le_bytes).concat();
    record.extend([0.0_f64, 0.5].map(f64::to_le_bytes).concat());
    record.extend([1_i32, 0, 0].map(i32::to_le_bytes).concat());
    assert!(written.ends_with(&record));

    let archive = folder.path("pairs.npz")?;
    run(&[&world[..], &["--output", &archive]].concat())?.expect_success("npz");
    let written = fs::read(&archive)?;
    for name in ["n1.npy", "n2.npy", "n3.npy"] {
        let found = written
            .windows(name.len())
            .any(|part| part == name.as_bytes());
        assert!(found, "{name}");
    }
    Ok(())
}

#[test]
fn a_dump_says_which_boundaries_are_periodic() -> Test {
    let folder = Folder::new("dump-boundaries")?;
    let periodic = "a,b,toi,depth,n1,n2,n3\n0,1,0.0,0.5,1,0,0\n";
    let none_periodic = "a,b,toi,depth,n1,n2,n3\n";
    let open = "a,b,toi,depth\n";
    for (bounds, args, expected) in [
        (" pp pp pp", &[][..], periodic),
        (" pp ff sm", &[], periodic),
        (" p f p", &[], periodic),
        (" ff pp pp", &[], none_periodic),
        (" ff fs mm", &[], open),
        ("", &[], open),
        (" pp pp pp", &["--open"], open),
        (" pp pp pp", &["--periodic", "bc"], none_periodic),
        (" ff ff ff", &["--periodic", "a"], periodic),
        ("", &["--periodic", "ca"], periodic),
        (
            " ff ff ff",
            &["--open", "--box", BOX, "--periodic", "a"],
            periodic,
        ),
    ] {
        let input = folder.file("world.dump", dump(bounds))?;
        let found = list(&folder, &[&[input.as_str()], args].concat())?;
        assert_eq!(found, expected, "{bounds} {args:?}");
    }
    let old = folder.file("old.dump", dump(""))?;
    let old = run(&[&old])?;
    assert_eq!(
        old.stderr.matches("which boundaries").count(),
        1,
        "{}",
        old.stderr
    );
    Ok(())
}

#[test]
fn a_box_may_have_edges_of_any_direction_and_a_negative_corner() -> Test {
    let folder = Folder::new("box-edges")?;
    let csv = folder.file("world.csv", CSV)?;
    for cell in ["-1 -2 -3 10 10 10", "-1,-2,-3, 0,10,1, -10,0,0, 0 1 10"] {
        let found = list(&folder, &[&csv, "--box", cell, "--periodic", "abc"])?;
        assert_eq!(found.lines().count(), 2, "{cell}: {found}");
    }
    Ok(())
}

#[test]
fn boxes_that_do_not_fit_are_errors() -> Test {
    let folder = Folder::new("bad-boxes")?;
    let csv = folder.file("world.csv", CSV)?;
    let dump = folder.file("world.dump", dump(" pp pp pp"))?;
    for (args, code, parts) in [
        (&[csv.as_str(), "--box", BOX][..], 2, &["--periodic"][..]),
        (&[&csv, "--box", "0 0 0 1 1", "--periodic", "a"], 2, &["5"]),
        (
            &[&csv, "--box", "0 0 0 1 one 1", "--periodic", "a"],
            2,
            &["`one`"],
        ),
        (
            &[&csv, "--box", BOX, "--periodic", "xy"],
            2,
            &["`xy`", "a, b and c"],
        ),
        (
            &[&csv, "--box", BOX, "--periodic", "aa"],
            2,
            &["at most once"],
        ),
        (
            &[&dump, "--open", "--periodic", "a"],
            2,
            &["--open", "--box"],
        ),
        (&[&csv, "--periodic", "a"], 1, &[&csv, "no box", "--box"]),
        (
            &[&dump, "--box", BOX, "--periodic", "a"],
            1,
            &[&dump, "has a box", "--open"],
        ),
        (
            &[&csv, "--box", "0 0 0 10 0 10", "--periodic", "ab"],
            1,
            &["edge b", "length 0", "--periodic"],
        ),
    ] {
        run(args)?.expect_error(&args.join(" "), code, parts);
    }
    Ok(())
}

#[test]
fn a_list_is_not_continued_in_another_kind_of_space() -> Test {
    let folder = Folder::new("changing-box")?;
    let frames = dump(" pp pp pp") + &dump(" ff ff ff").replace("0.5 5 5 1", "8 5 5 1");
    let input = folder.file("world.dump", frames)?;
    let output = folder.path("pairs.csv")?;
    let run = run(&[&input, "--frames", "all", "--output", &output])?;
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    for part in ["frame 1", "open", "list of its own"] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    assert!(fs::metadata(output).is_err());
    Ok(())
}

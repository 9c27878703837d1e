//! Tests of `carom collide` with valid and invalid LAMMPS dumps.

use crate::run::{Folder, PAIRS, Test, run};

fn dump(columns: &str, atoms: &[&str]) -> String {
    let count = atoms.len();
    let atoms = atoms.join("\n");
    format!(
        "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n{count}\nITEM: BOX BOUNDS ff ff ff\n\
         0 100\n0 100\n0 100\nITEM: ATOMS {columns}\n{atoms}\n"
    )
}

#[test]
fn a_world_without_spheres_has_an_empty_list() -> Test {
    let folder = Folder::new("none")?;
    let csv = folder.file("none.csv", "x,y,z,radius\n")?;
    assert_eq!(folder.pairs(&csv)?, "a,b,toi,depth\n");
    let lammps = folder.file("none.dump", dump("x y z radius", &[]))?;
    assert_eq!(folder.pairs(&lammps)?, "a,b,toi,depth\n");
    Ok(())
}

#[test]
fn lammps_dumps_are_read_in_all_their_forms() -> Test {
    let folder = Folder::new("lammps")?;
    let last = dump("x y z radius vx", &["0 0 0 1 10", "5 0 0 1 0"]);
    let forms = [
        (
            "radius",
            dump(
                "id type x y z vx vy vz radius",
                &["1 1 0 0 0 10 0 0 1", "2 1 5 0 0 0 0 0 1"],
            ),
        ),
        (
            "diameter",
            dump("id diameter z y x vx", &["1 2 0 0 0 10", "2 2 0 0 5 0"]),
        ),
        (
            "last frame",
            dump("x y z radius", &["0 0 0 9", "1 0 0 9", "2 0 0 nonsense"]) + &last,
        ),
        (
            "further sections",
            format!("ITEM: UNITS\nsi\nITEM: TIME\n0.5\n{last}\n"),
        ),
        (
            "CRLF, tabs",
            last.replace('\n', "\r\n").replace("0 0 0 1", "0\t0  0\t1"),
        ),
    ];
    for (name, text) in forms {
        for file in ["world.lammpstrj", "world.Dump"] {
            let input = folder.file(file, &text)?;
            assert_eq!(folder.pairs(&input)?, PAIRS, "{name}");
        }
    }
    Ok(())
}

#[test]
fn errors_in_dumps_name_file_line_and_field() -> Test {
    let folder = Folder::new("bad-lammps")?;
    let good = dump("x y z radius", &["0 0 0 1", "5 0 0 1"]);
    let cases: &[(&str, String, &[&str])] = &[
        ("empty", String::new(), &["empty"]),
        (
            "something else",
            "something else\n".into(),
            &["line 1", "ITEM:"],
        ),
        (
            "no atoms",
            "ITEM: TIMESTEP\n0\n".into(),
            &["line 2", "ITEM: ATOMS"],
        ),
        (
            "misspelt number of atoms",
            good.replace("NUMBER OF", "NUMBERS OF"),
            &[
                "line 9",
                "NUMBER OF ATOMS",
                "`ITEM: NUMBERS OF ATOMS` on line 3",
            ],
        ),
        (
            "no number of atoms",
            "ITEM: ATOMS x y z radius\n0 0 0 1\n".into(),
            &["line 1", "NUMBER OF ATOMS"],
        ),
        (
            "bad number of atoms",
            good.replace("ATOMS\n2", "ATOMS\nmany"),
            &["line 4", "`many`"],
        ),
        (
            "cut off",
            good.replace("ATOMS\n2", "ATOMS\n3"),
            &["line 11", "2 of 3"],
        ),
        (
            "huge number",
            good.replace("ATOMS\n2", "ATOMS\n18446744073709551615"),
            &["line 11", "2 of 18446744073709551615"],
        ),
        (
            "too few fields",
            good.replace("5 0 0 1", "5 0 0"),
            &["line 11", "3 fields", "4"],
        ),
        (
            "too many fields",
            good.replace("5 0 0 1", "5 0 0 1 1"),
            &["line 11", "5 fields", "4"],
        ),
        (
            "word",
            good.replace("5 0 0 1", "5 0 up 1"),
            &["line 11", "field z", "`up`"],
        ),
        (
            "nan",
            good.replace("5 0 0 1", "5 nan 0 1"),
            &["line 11", "field y", "`nan`"],
        ),
        (
            "scaled, without a box",
            good.replace("x y z", "xs ys zs")
                .replace("BOX BOUNDS", "WALLS"),
            &["line 5", "scaled", "BOX BOUNDS", "`ITEM: WALLS"],
        ),
        (
            "part of a box",
            good.replace("0 100\n0 100\n0 100", "0 100\n0\n0 100"),
            &["line 7", "1 number,", "2"],
        ),
        (
            "word in a box",
            good.replace("0 100\n0 100\n0 100", "0 100\n0 100\n0 wide"),
            &["line 8", "box", "`wide`"],
        ),
        (
            "scaled out of range",
            good.replace("x y z", "xs ys zs")
                .replace("5 0 0 1", "5 0 1e307 1"),
            &["line 11", "field zs", "must be a finite number"],
        ),
        (
            "mixed coordinates",
            good.replace("x y z", "x yu yz"),
            &["line 9", "no column y", "yu"],
        ),
        (
            "the last line is cut off",
            good.trim_end_matches(" 1\n").into(),
            &["line 11", "3 fields", "4 columns", "cut off"],
        ),
        (
            "more atoms than said",
            good.replace("ATOMS\n2", "ATOMS\n1"),
            &["line 11", "`5 0 0 1`", "ITEM: NUMBER OF ATOMS"],
        ),
        (
            "begun frame",
            good.clone() + "ITEM: TIMESTEP\n1\nITEM: NUMBER OF ATOMS\n",
            &["line 14", "cut off", "--frame 0"],
        ),
        (
            "bad timestep",
            good.replace("TIMESTEP\n0", "TIMESTEP\nsoon"),
            &["line 2", "`soon`"],
        ),
        (
            "frame without atoms",
            format!("ITEM: TIMESTEP\n0\n{good}"),
            &["line 3", "second ITEM: TIMESTEP"],
        ),
        ("Mac lines", good.replace('\n', "\r"), &["line 1", "CR"]),
        (
            "no size",
            good.replace("radius", "mass"),
            &["line 9", "radius or diameter"],
        ),
        (
            "negative diameter",
            dump("x y z diameter", &["0 0 0 -3"]),
            &["line 10", "field diameter", "-1.5"],
        ),
        (
            "no half",
            dump("x y z diameter", &["0 0 0 5e-324"]),
            &["line 10", "field diameter", "5e-324"],
        ),
    ];
    for (name, text, parts) in cases {
        let input = folder.file("bad.dump", text)?;
        let run = run(&[&input, "--backend", "cpu"])?;
        run.expect_error(name, 1, parts);
        run.expect_error(name, 1, &[&input]);
        // A run of `carom collide` that fails in a later frame leaves no file with the pairs of earlier
        // frames, unless the file is only cut off there.
        let output = folder.path("pairs.csv")?;
        let all = ["--frames", "all", "--backend", "cpu", "--output"];
        let all = crate::run::run(&[&[input.as_str()], &all[..], &[output.as_str()]].concat())?;
        assert_eq!(all.code, Some(1), "{name}: {}", all.stderr);
        assert!(all.stderr.contains(&input), "{name}: {}", all.stderr);
        let files = if *name == "begun frame" { 2 } else { 1 };
        assert_eq!(std::fs::read_dir(&folder.0)?.count(), files, "{name}");
        let _ = std::fs::remove_file(output);
    }
    Ok(())
}

#[test]
fn ids_are_listed_and_must_be_unique() -> Test {
    let folder = Folder::new("ids")?;
    let good = dump("id x y z radius vx", &["7 0 0 0 1 10", "3 5 0 0 1 0"]);
    let output = folder.path("pairs.csv")?;
    let input = folder.file("ids.dump", &good)?;
    run(&[&input, "--ids", "--backend", "cpu", "--output", &output])?.expect_success("--ids");
    assert_eq!(
        std::fs::read_to_string(&output)?,
        "a,b,toi,depth\n3,7,0.3,0.0\n"
    );
    let cases: &[(&str, String, &[&str])] = &[
        (
            "twice",
            good.replace("3 5 0", "7 5 0"),
            &["line 11", "field id is 7", "line 10"],
        ),
        (
            "negative",
            good.replace("3 5 0", "-3 5 0"),
            &["line 11", "field id", "`-3`"],
        ),
        (
            "none",
            good.replace("id x", "mass x"),
            &["line 9", "no column id"],
        ),
    ];
    for (name, text, parts) in cases {
        let input = folder.file("bad.dump", text)?;
        run(&[&input, "--ids"])?.expect_error(name, 1, parts);
        run(&[&input, "--backend", "cpu"])?.expect_success(name);
    }
    Ok(())
}

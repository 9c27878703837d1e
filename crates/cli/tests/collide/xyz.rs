//! Tests of `carom collide` with XYZ files.

use crate::run::{Folder, PAIRS, Test, run};
use std::fs;

fn xyz(comment: &str, atoms: &[&str]) -> String {
    let count = atoms.len();
    let atoms = atoms.join("\n");
    format!("{count}\n{comment}\n{atoms}\n")
}

const COLUMNS: &str = "Properties=species:S:1:pos:R:3:radius:R:1:velo:R:3";
const ATOMS: [&str; 2] = ["Fe 0 0 0 1 10 0 0", "Fe 5 0 0 1 0 0 0"];

#[test]
fn xyz_files_are_read_in_all_their_forms() -> Test {
    let folder = Folder::new("xyz")?;
    let last = xyz(COLUMNS, &ATOMS);
    let forms = [
        ("extended", last.clone()),
        ("vel", last.replace("velo", "vel")),
        (
            "diameter",
            xyz(
                "Properties=mass:R:1:diameter:R:1:vel:R:3:pos:R:3",
                &["1 2 10 0 0 0 0 0", "1 2 0 0 0 5 0 0"],
            ),
        ),
        (
            "columns that are not read",
            xyz(
                "Properties=stress:R:2:pos:R:3:fixed:L:1:radius:R:1:velo:R:3",
                &["0 0 0 0 0 T 1 10 0 0", "1 1 5 0 0 F 1 0 0 0"],
            ),
        ),
        (
            "other keys",
            xyz(
                &format!("note=\"a \\\"b\\\" =c\" flag  'k 1' = {{1 2}} t=[[1], [2]] {COLUMNS}"),
                &ATOMS,
            ),
        ),
        (
            "an open box",
            xyz(
                &format!("Lattice=\"9 0 0 0 9 0 0 0 9\" pbc=\"F F F\" {COLUMNS}"),
                &ATOMS,
            ),
        ),
        (
            "pbc without a box",
            xyz(&format!("pbc=\"F F F\" {COLUMNS}"), &ATOMS),
        ),
        (
            "last frame",
            xyz("Properties=pos:R:3", &["nonsense 0 0"]) + &last,
        ),
        (
            "CRLF, tabs",
            last.replace('\n', "\r\n").replace("Fe 0 0", "Fe\t0  0"),
        ),
        ("no last line end", last.trim_end().into()),
        ("blank lines at the end", last.clone() + "\n \n"),
    ];
    for (name, text) in forms {
        for file in ["world.xyz", "world.ExtXYZ"] {
            let input = folder.file(file, &text)?;
            assert_eq!(folder.pairs(&input)?, PAIRS, "{name}");
        }
    }
    Ok(())
}

#[test]
fn plain_xyz_files_need_a_radius() -> Test {
    let folder = Folder::new("plain-xyz")?;
    for comment in ["", "a comment with an \"unclosed quote", "energy = 3"] {
        let input = folder.file("plain.xyz", xyz(comment, &["H 0 0 0", "H 1.5 0 0"]))?;
        run(&[&input])?.expect_error(comment, 1, &["line 2", "radius", "--radius"]);
        let run = run(&[&input, "--radius", "1", "--backend", "cpu"])?;
        run.expect_success(comment);
        assert!(run.stdout.contains("pairs    1 "), "{}", run.stdout);
        assert!(run.stderr.contains("at rest"), "{}", run.stderr);
    }
    Ok(())
}

#[test]
fn a_lattice_is_periodic_unless_pbc_says_otherwise() -> Test {
    let folder = Folder::new("xyz-box")?;
    let periodic = "a,b,toi,depth,n1,n2,n3\n0,1,0.0,0.5,1,0,0\n";
    let none_periodic = "a,b,toi,depth,n1,n2,n3\n";
    let open = "a,b,toi,depth\n";
    for (header, args, expected) in [
        ("", &[][..], periodic),
        ("pbc=\"T T T\"", &[], periodic),
        ("pbc=[True, false, 0]", &[], periodic),
        ("pbc=\"F T T\"", &[], none_periodic),
        ("pbc=\"F F F\"", &[], open),
        ("pbc=\"T T T\" Origin=\"-1 -1 -1\"", &[], periodic),
        ("pbc=\"T T T\"", &["--open"], open),
        ("pbc=\"F F F\"", &["--periodic", "a"], periodic),
    ] {
        let comment =
            format!("Lattice=\"10 0 0 0 10 0 0 0 10\" {header} Properties=pos:R:3:radius:R:1");
        let text = xyz(&comment, &["9 5 5 1", "0.5 5 5 1", "5 5 5 1"]);
        let input = folder.file("world.xyz", text)?;
        let output = folder.path("pairs.csv")?;
        let more = ["--backend", "cpu", "--output", &output];
        run(&[&[input.as_str()], args, &more].concat())?.expect_success(header);
        assert_eq!(fs::read_to_string(&output)?, expected, "{header} {args:?}");
    }
    Ok(())
}

#[test]
fn errors_in_xyz_files_name_file_line_and_field() -> Test {
    let folder = Folder::new("bad-xyz")?;
    let good = xyz(COLUMNS, &ATOMS);
    let with = |comment: &str| xyz(&format!("{COLUMNS} {comment}"), &ATOMS);
    let cases: &[(&str, String, &[&str])] = &[
        ("empty", String::new(), &["empty"]),
        (
            "something else",
            "something else\n".into(),
            &["line 1", "number of atoms"],
        ),
        (
            "no comment",
            "2\n".into(),
            &["line 1", "comment", "cut off"],
        ),
        (
            "cut off",
            good.replacen('2', "3", 1),
            &["line 4", "2 of 3", "line 1"],
        ),
        (
            "huge number",
            good.replacen('2', "18446744073709551615", 1),
            &["line 4", "2 of 18446744073709551615"],
        ),
        (
            "negative number",
            good.replacen('2', "-2", 1),
            &["line 1", "`-2`"],
        ),
        (
            "more atoms than said",
            good.replacen('2', "1", 1),
            &["line 4", "`Fe 5 0 0 1 0 0 0`"],
        ),
        (
            "too few fields",
            good.replace("5 0 0 1 0 0 0", "5 0 0 1 0 0"),
            &["line 4", "7 fields", "8"],
        ),
        (
            "word",
            good.replace("Fe 5", "Fe up"),
            &["line 4", "field x", "`up`"],
        ),
        (
            "nan",
            good.replace("10 0 0", "10 nan 0"),
            &["line 3", "field vy", "`nan`"],
        ),
        (
            "no positions",
            good.replace("pos:", "coords:"),
            &["line 2", "pos:R:3", "\"x=coords 1,y=coords 2,z=coords 3\""],
        ),
        (
            "no size",
            good.replace("radius", "mass"),
            &["line 2", "radius or diameter"],
        ),
        (
            "two sizes",
            good.replace("velo:R:3", "radius:R:1:f:R:2"),
            &["line 2", "more than one", "radius"],
        ),
        (
            "positions of one dimension",
            good.replace("pos:R:3", "pos:R:1"),
            &["line 2", "pos", "3", "2"],
        ),
        (
            "a part is missing",
            good.replace("radius:R:1", "radius:R"),
            &["line 2", "NAME:TYPE:COLUMNS"],
        ),
        (
            "unknown type",
            good.replace("radius:R", "radius:X"),
            &["line 2", "radius", "`X`"],
        ),
        (
            "no columns",
            good.replace("radius:R:1", "radius:R:0"),
            &["line 2", "radius", "`0`"],
        ),
        (
            "too many columns",
            good.replace("radius:R:1", "radius:R:99999999999"),
            &["line 2", "65536"],
        ),
        (
            "short lattice",
            with("Lattice=\"1 0 0\""),
            &["line 2", "Lattice", "3", "9"],
        ),
        (
            "word in a lattice",
            with("Lattice=\"1 0 0 0 wide 0 0 0 1\""),
            &["line 2", "Lattice", "`wide`"],
        ),
        (
            "two lattices",
            with("Lattice=\"1\" Lattice=\"1\""),
            &["line 2", "Lattice", "more than once"],
        ),
        (
            "flat lattice",
            with("Lattice=\"1 0 0 0 0 0 0 0 1\""),
            &["line 2", "edge b", "length 0", "--periodic"],
        ),
        (
            "huge lattice",
            with("Lattice=\"1e999 0 0 0 1 0 0 0 1\""),
            &["line 2", "Lattice", "1e999"],
        ),
        (
            "short origin",
            with("Origin=\"0 0\""),
            &["line 2", "Origin", "2", "3"],
        ),
        (
            "bad pbc",
            with("pbc=\"T T maybe\""),
            &["line 2", "pbc", "`T T maybe`"],
        ),
        (
            "unclosed quote",
            with("note=\"abc"),
            &["line 2", "closing \""],
        ),
        (
            "unclosed bracket",
            with("note=[1 [2]"),
            &["line 2", "closing ]"],
        ),
        (
            "begun frame",
            good.clone() + "2\n",
            &["line 5", "cut off", "--frame 0"],
        ),
    ];
    for (name, text, parts) in cases {
        let input = folder.file("bad.xyz", text)?;
        let run = run(&[&input, "--backend", "cpu"])?;
        run.expect_error(name, 1, parts);
        run.expect_error(name, 1, &[&input]);
    }
    Ok(())
}

#[test]
fn frames_of_xyz_files_are_chosen_as_in_dumps() -> Test {
    let folder = Folder::new("xyz-frames")?;
    let far = xyz(COLUMNS, &["Fe 0 0 0 1 0 0 0", "Fe 50 0 0 1 0 0 0"]);
    let input = folder.file("run.xyz", far.clone() + &xyz(COLUMNS, &ATOMS) + &far)?;
    let output = folder.path("pairs.csv")?;
    for (frames, expected) in [
        ("all", "frame,a,b,toi,depth\n1,0,1,0.3,0.0\n"),
        ("-2", "a,b,toi,depth\n0,1,0.3,0.0\n"),
        ("2", "a,b,toi,depth\n"),
    ] {
        let args = [
            &input,
            "--frame",
            frames,
            "--backend",
            "cpu",
            "--output",
            &output,
        ];
        run(&args)?.expect_success(frames);
        assert_eq!(fs::read_to_string(&output)?, expected, "{frames}");
    }
    run(&[&input, "--frame", "3"])?.expect_error("none", 1, &["frame 3", "3 in all"]);
    Ok(())
}

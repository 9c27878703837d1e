//! Tests of the tool with files as other programs write them, and with damaged ones. The numbers that are expected
//! follow from the few coordinates in each file.

use std::error::Error;
use std::fs;

use crate::run::{Folder, Run, Test, run_as_it_is};

fn neighbors(args: &[&str]) -> Result<Run, Box<dyn Error>> {
    run_as_it_is(&[&["neighbors", "--backend", "cpu"], args].concat())
}

fn collide(args: &[&str]) -> Result<Run, Box<dyn Error>> {
    run_as_it_is(&[&["collide", "--backend", "cpu"], args].concat())
}

/// Returns the list without its header, after checking that standard error contains `notes`, and that it is empty if
/// there are no notes.
fn rows(run: &Run, notes: &[&str]) -> String {
    run.expect_success("a list");
    for note in notes {
        assert!(run.stderr.contains(note), "no `{note}` in: {}", run.stderr);
    }
    if notes.is_empty() {
        assert!(!run.stderr.contains("note:"), "{}", run.stderr);
    }
    let (_, rows) = run.stdout.split_once('\n').unwrap_or_default();
    rows.to_owned()
}

/// Returns the neighbours in a file within a cutoff.
fn list(folder: &Folder, name: &str, text: &str, args: &[&str], notes: &[&str]) -> String {
    let input = folder.file(name, text).unwrap();
    let run = neighbors(&[&[&input, "--output", "-"], args].concat()).unwrap();
    rows(&run, notes)
}

/// Fails unless a search for neighbours ends with an error that contains the file name and all `parts`.
fn expect_error(folder: &Folder, name: &str, text: &str, args: &[&str], parts: &[&str]) {
    let input = folder.file(name, text).unwrap();
    let run = neighbors(&[&[&input, "--cutoff", "1"], args].concat()).unwrap();
    run.expect_error(text, 1, parts);
    run.expect_error(text, 1, &[&input]);
    assert!(!run.stderr.contains("::"), "a Rust name in: {}", run.stderr);
}

/// Two atoms 0.25 apart across the face x = 0 of a periodic box from 0 to 4.
const NEAR: [&str; 2] = ["1 1 0.125 0 0", "2 1 3.875 0 0"];

fn frame(step: u32, boundaries: &str, columns: &str, atoms: &[&str]) -> String {
    let count = atoms.len();
    let atoms: String = atoms.iter().map(|atom| format!("{atom}\n")).collect();
    format!(
        "ITEM: TIMESTEP\n{step}\nITEM: NUMBER OF ATOMS\n{count}\n{boundaries}\n0 4\n0 4\n0 4\n\
         ITEM: ATOMS {columns}\n{atoms}"
    )
}

fn near(boundaries: &str) -> String {
    frame(0, boundaries, "id type x y z", &NEAR)
}

/// The pair of [`NEAR`].
const PAIR: &str = "0,1,-1,0,0,-0.25,0.0,0.0,0.25\n";

#[test]
fn a_dump_with_a_damaged_box_is_never_an_open_world() {
    let folder = Folder::new("dump-box").unwrap();
    let args = ["--cutoff", "1"];
    let good = near("ITEM: BOX BOUNDS pp pp pp");
    assert_eq!(list(&folder, "a.dump", &good, &args, &[]), PAIR);
    for (boundaries, parts) in [
        (
            "ITEM BOX BOUNDS pp pp pp",
            &["line 5", "`ITEM BOX BOUNDS pp pp pp`", "ITEM:"][..],
        ),
        (
            "item: box bounds pp pp pp",
            &["line 5", "`item: box bounds pp pp pp`"],
        ),
        ("BOX BOUNDS pp pp pp", &["line 5", "`BOX BOUNDS pp pp pp`"]),
        (
            "ITEM: BOX BOUND pp pp pp",
            &["line 5", "`ITEM: BOX BOUND pp pp pp`", "--box", "--open"],
        ),
        ("ITEM: BOX", &["line 5", "`ITEM: BOX`", "BOX BOUNDS"]),
        (
            "ITEM: BOX BOUNDS pp pf pp",
            &["line 5", "`pp pf pp`", "pp", "--periodic", "--open"],
        ),
        ("ITEM: BOX BOUNDS pp pp pp pp", &["line 5", "`pp pp pp pp`"]),
        ("ITEM: BOX BOUNDS PP PP PP", &["line 5", "`PP PP PP`"]),
        ("ITEM: BOX BOUNDS pp pp", &["line 5", "`pp pp`"]),
        ("ITEM: BOX BOUNDS pp pp fp", &["line 5", "`pp pp fp`"]),
        (
            "ITEM: BOX BOUNDS xy xz pp pp pp",
            &["line 5", "`xy xz pp pp pp`"],
        ),
        (
            "ITEM: BOX BOUNDS xy xz yz pp pp pp",
            &["line 6", "2 numbers", "3"],
        ),
    ] {
        expect_error(&folder, "a.dump", &near(boundaries), &[], parts);
    }
    let none = good.replace("ITEM: BOX BOUNDS pp pp pp\n0 4\n0 4\n0 4\n", "");
    expect_error(
        &folder,
        "a.dump",
        &none,
        &[],
        &["line 5", "no ITEM: BOX BOUNDS", "--box", "--open"],
    );
    let turned = good.replacen("0 4", "4 0", 1);
    expect_error(&folder, "a.dump", &turned, &[], &["line 6", "upper bound"]);
    let twice = good.replace(
        "ITEM: ATOMS",
        "ITEM: BOX BOUNDS pp pp pp\n0 1\n0 1\n0 1\nITEM: ATOMS",
    );
    expect_error(
        &folder,
        "a.dump",
        &twice,
        &[],
        &["line 9", "second ITEM: BOX BOUNDS"],
    );

    // The ways out that the errors name.
    let open = ["--cutoff", "1", "--open"];
    let given = ["--cutoff", "1", "--box", "0 0 0 4 4 4", "--periodic", "abc"];
    for text in [&none, &near("ITEM: BOX BOUND pp pp pp")] {
        assert_eq!(list(&folder, "a.dump", text, &open, &[]), "");
        assert_eq!(list(&folder, "a.dump", text, &given, &[]), PAIR);
    }
    let typo = near("ITEM: BOX BOUNDS pp pf pp");
    assert_eq!(list(&folder, "a.dump", &typo, &open, &[]), "");
    let edges = ["--cutoff", "1", "--periodic", "abc"];
    assert_eq!(list(&folder, "a.dump", &typo, &edges, &[]), PAIR);
    // Old dumps name no boundaries, which is no damage.
    let old = near("ITEM: BOX BOUNDS");
    assert_eq!(
        list(
            &folder,
            "a.dump",
            &old,
            &args,
            &["does not say which boundaries"]
        ),
        ""
    );
    assert_eq!(list(&folder, "a.dump", &old, &edges, &[]), PAIR);
}

#[test]
fn dumps_that_are_not_of_atoms_are_named() {
    let folder = Folder::new("local").unwrap();
    let good = near("ITEM: BOX BOUNDS pp pp pp");
    let local = good
        .replace("NUMBER OF ATOMS", "NUMBER OF ENTRIES")
        .replace("ATOMS id type x y z", "ENTRIES index c_1[1] c_1[2]");
    let bonds = local.replace("ENTRIES", "BONDS");
    for text in [&local, &bonds] {
        expect_error(
            &folder,
            "a.dump",
            text,
            &[],
            &["line 3", "local data, not of atoms", "custom"],
        );
    }
    let grid = "ITEM: TIMESTEP\n0\nITEM: BOX BOUNDS pp pp pp\n0 4\n0 4\n0 4\nITEM: DIMENSION\n3\n\
                ITEM: GRID SIZE nx ny nz\n1 1 1\nITEM: GRID CELLS f_1\n0\n";
    expect_error(
        &folder,
        "a.dump",
        grid,
        &[],
        &["line 9", "a grid, not of atoms"],
    );
    let nameless = good.replace("ATOMS id type x y z", "ATOMS");
    let parts = [
        "line 9",
        "names no columns",
        "`ITEM: ATOMS id type xs ys zs`",
    ];
    expect_error(&folder, "a.dump", &nameless, &[], &parts);
}

#[test]
fn errors_name_the_first_wrong_line() {
    let folder = Folder::new("first-line").unwrap();
    let boundaries = "ITEM: BOX BOUNDS pp pp pp";
    let comment = near(boundaries).replace("2 1 3.875", "#####\n2 1 3.875");
    let columns = "id type x y z";
    // The frame has more lines than atoms, because of a line in its middle.
    let long = near(boundaries).replace("2 1 3.875", "2 1 3.875 0\n2 1 3.875");
    let first = frame(0, boundaries, columns, &NEAR);
    for frames in [
        &["--frame", "-1"][..],
        &["--frame", "0"],
        &["--frames", "all"],
    ] {
        let parts = ["line 11", "`#####`", "not an atom"];
        expect_error(&folder, "a.dump", &comment, frames, &parts);
        expect_error(
            &folder,
            "a.dump",
            &long,
            frames,
            &["line 11", "4 fields", "5 columns"],
        );
    }
    let later = first + &long;
    expect_error(
        &folder,
        "a.dump",
        &later,
        &[],
        &["line 22", "4 fields", "5 columns"],
    );
}

#[test]
fn a_last_line_without_a_line_end_is_read() {
    let folder = Folder::new("no-end").unwrap();
    let good = near("ITEM: BOX BOUNDS pp pp pp");
    let args = ["--cutoff", "1"];
    let ended = good.trim_end();
    assert_eq!(
        list(
            &folder,
            "a.dump",
            ended,
            &args,
            &["no line end", "incomplete"]
        ),
        PAIR
    );
    let parts = ["line 11", "4 fields", "5 columns", "cut off"];
    expect_error(
        &folder,
        "a.dump",
        ended.strip_suffix(" 0").unwrap(),
        &[],
        &parts,
    );
    let xyz = "2\n\nA 0 0 0\nA 0.5 0 0";
    assert_eq!(
        list(&folder, "a.xyz", xyz, &args, &["no line end"])
            .lines()
            .count(),
        1
    );
    let parts = ["line 4", "3 fields", "4 columns", "cut off"];
    expect_error(
        &folder,
        "a.xyz",
        xyz.strip_suffix(" 0").unwrap(),
        &[],
        &parts,
    );
}

#[test]
fn a_last_frame_that_is_cut_off_does_not_cost_the_others() -> Test {
    let folder = Folder::new("last-frame")?;
    let boundaries = "ITEM: BOX BOUNDS pp pp pp";
    let columns = "id type x y z radius vx vy vz";
    let atoms = ["1 1 0.125 0 0 0.2 0 0 0", "2 1 3.875 0 0 0.1 0 0 0"];
    let whole = frame(0, boundaries, columns, &atoms);
    let dump = |cut: usize| whole.clone() + &whole[..whole.len() - cut];
    let xyz = "2\n\nA 0 0 0\nA 0.5 0 0\n";
    let xyz = |cut: usize| xyz.to_owned() + &xyz[..xyz.len() - cut];
    let output = folder.path("list.csv")?;
    for (name, text) in [
        ("a.dump", dump(22)),
        ("a.dump", dump(60)),
        ("a.dump", dump(whole.len() - 5)),
        ("a.xyz", xyz(10)),
        ("a.xyz", xyz(17)),
    ] {
        let input = folder.file(name, &text)?;
        let args = [
            input.as_str(),
            "--cutoff",
            "1",
            "--output",
            &output,
            "--frames",
        ];
        for frames in [":-1", "0", "-2"] {
            neighbors(&[&args[..], &[frames]].concat())?.expect_success(frames);
            assert_eq!(fs::read_to_string(&output)?.lines().count(), 2, "{frames}");
            fs::remove_file(&output)?;
        }
        for frames in ["-1", "last", "1"] {
            let run = neighbors(&[&args[..], &[frames]].concat())?;
            run.expect_error(frames, 1, &["cut off", "--frame 0", &input]);
            assert!(fs::metadata(&output).is_err());
        }
        for frames in ["all", "0:", "-2:"] {
            let run = neighbors(&[&args[..], &[frames]].concat())?;
            assert_eq!(run.code, Some(1), "{}", run.stderr);
            for part in ["complete for 1 frame,", "error: ", "cut off", &input] {
                assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
            }
            assert_eq!(fs::read_to_string(&output)?.lines().count(), 2, "{frames}");
            fs::remove_file(&output)?;
        }
    }
    let input = folder.file("a.dump", dump(22))?;
    let walls = folder.path("walls.csv")?;
    let args = [
        "--dt",
        "1",
        "--frames",
        "all",
        "--output",
        &output,
        "--walls-output",
        &walls,
    ];
    let run = collide(
        &[
            &[input.as_str(), "--open", "--wall", "plane 1 0 0 0"],
            &args[..],
        ]
        .concat(),
    )?;
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(
        run.stderr.contains("complete for 1 frame,"),
        "{}",
        run.stderr
    );
    for (list, lines) in [(&output, 1), (&walls, 2)] {
        assert_eq!(fs::read_to_string(list)?.lines().count(), lines);
    }
    // A frame that is wrong in another way leaves no list.
    fs::remove_file(&output)?;
    let input = folder.file(
        "a.dump",
        whole.clone() + &whole.replace("1 1 0.125", "1 1 near"),
    )?;
    let wrong = neighbors(&[
        &input, "--cutoff", "1", "--frames", "all", "--output", &output,
    ])?;
    assert_eq!(wrong.code, Some(1));
    assert!(fs::metadata(&output).is_err());
    Ok(())
}

#[test]
fn a_periodic_edge_without_length_is_an_error_of_the_file() {
    let folder = Folder::new("no-length").unwrap();
    for (lattice, edge) in [
        ("3 0 0 0 3 0 0 0 0", "edge c"),
        ("0 0 0 0 3 0 0 0 3", "edge a"),
    ] {
        let text = format!(
            "1\nLattice=\"{lattice}\" Properties=species:S:1:pos:R:3 pbc=\"T T T\"\nA 0 0 0\n"
        );
        let parts = ["line 2", edge, "length 0", "--periodic", "--open"];
        expect_error(&folder, "a.xyz", &text, &[], &parts);
    }
}

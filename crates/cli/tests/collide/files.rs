//! Tests of the tool with files as other programs write them, and with damaged ones. The numbers that are expected
//! follow from the few coordinates in each file.

use std::error::Error;
use std::fs;

use crate::run::{Folder, Run, Test, run_as_it_is, run_with, run_with_input};
use crate::written::data;

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

/// Returns an XYZ file of two atoms 0.25 apart across a face of a box of edge 4, as in [`NEAR`].
fn near_xyz(comment: &str) -> String {
    format!("2\n{comment}\nAr 0.125 0 0\nAr 3.875 0 0\n")
}

const SPECIES: &str = "Properties=species:S:1:pos:R:3";

#[test]
fn every_form_of_a_lattice_is_the_box() {
    let folder = Folder::new("lattices").unwrap();
    let args = ["--cutoff", "1"];
    for lattice in [
        "Lattice=\"4 0 0 0 4 0 0 0 4\"",
        "lattice=\"4 0 0 0 4 0 0 0 4\"",
        "LATTICE = '4.0 0 0  0 4.0 0  0 0 4.0'",
        "Lattice={4 0 0 0 4 0 0 0 4}",
        "Lattice=\"4, 0, 0, 0, 4, 0, 0, 0, 4\"",
        "Lattice=4,0,0,0,4,0,0,0,4",
        "Lattice=[4,0,0,0,4,0,0,0,4]",
        "Lattice=[[4,0,0],[0,4,0],[0,0,4]]",
        "Lattice=[[4, 0, 0], [0, 4, 0], [0, 0, 4]]",
        "Lattice=[[4 0 0] [0 4 0] [0 0 4]]",
        "Lattice=\"[[4.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 4.0]]\"",
        "Lattice=\"0.4D+01 0.D0 0d0 0 4D0 0 0 0 4.0d+00\"",
    ] {
        for pbc in ["pbc=\"T T T\"", "PBC=[T,T,T]"] {
            for rest in [
                SPECIES.to_owned(),
                format!("Origin=[-1,-1,-1] {SPECIES}"),
                String::new(),
            ] {
                let text = near_xyz(&format!("{lattice} {pbc} {rest}"));
                assert_eq!(list(&folder, "a.xyz", &text, &args, &[]), PAIR, "{text}");
            }
        }
        let text = near_xyz(&format!("{lattice} {}", SPECIES.to_lowercase()));
        let notes = ["Lattice without pbc"];
        assert_eq!(list(&folder, "a.xyz", &text, &args, &notes), PAIR, "{text}");
    }
    for (lattice, part) in [
        ("Lattice=[[4,0],[0,0,4,0],[0,0,4]]", "9 numbers in 3 rows"),
        ("Lattice=[4,0,0,,4,0,0,0,4]", "a comma without a number"),
        ("Lattice=[,4,0,0,0,4,0,0,0,4]", "a comma without a number"),
        ("Lattice=[[4,0,0],[0,4,0]]", "6 numbers in 2 rows"),
        ("Lattice=[4,0,0,0,4,0,0,0,4", "closing ]"),
        ("Lattice=\"4 0 0 0 4 0 0 0 4]\"", "bracket"),
        ("Lattice=\"4 0 0 4\"", "4 numbers"),
        ("Lattice=\"\"", "0 numbers"),
        (
            "Lattice=\"1 0 0 0 1 0 0 0 1\" lattice=\"1 0 0 0 1 0 0 0 1\"",
            "more than once",
        ),
        (
            "Lattice=\"4 0 0 0 4 0 0 0 4\" Origin=[1,2]",
            "Origin has 2 numbers",
        ),
        // Keys that name the box in another way.
        ("cell=\"4 0 0 0 4 0 0 0 4\"", "the key `cell`"),
        ("Box=[4,4,4]", "the key `Box`"),
        ("latice=\"4 0 0 0 4 0 0 0 4\"", "the key `latice`"),
        ("Lattice: 4 0 0 0 4 0 0 0 4", "the key `Lattice`"),
        ("unit_cell 4 4 4", "the key `unit_cell`"),
        ("dimensions=\"4 4 4 90 90 90\"", "the key `dimensions`"),
        ("boxsize=4", "the key `boxsize`"),
        ("L=4", "the key `L`"),
        ("Tv_1=\"4 0 0\" Tv_2=\"0 4 0\"", "the key `Tv_1`"),
        ("a=4 b=4 c=4 alpha=90", "the keys `a`, `b`, `c`"),
        (
            "_JSON {\"Lattice\": [[4,0,0],[0,4,0],[0,0,4]]}",
            "the key `Lattice`",
        ),
        ("pbc=\"T F F\"", "there is no Lattice"),
        ("Lattice=4 0 0 0 4 0 0 0 4", "has 1 number,"),
        (
            "Lattice=\"4 0 0 8 0 0 0 0 4\"",
            "edges a and b of the box are parallel",
        ),
        (
            "Lattice=\"4 0 0 0 4 0 4 4 0\"",
            "edges of the box are in one plane",
        ),
        (
            "Lattice=\"4 0 0 0 4 0 0 0 4\" pbc:\"F F F\"",
            "pbc without `=`",
        ),
    ] {
        let text = near_xyz(&format!("{lattice} {SPECIES}"));
        expect_error(&folder, "a.xyz", &text, &[], &["line 2", part]);
    }
    // The ways out. A word of a plain comment is no box.
    let other = near_xyz(&format!("cell=\"4 0 0 0 4 0 0 0 4\" {SPECIES}"));
    let given = ["--cutoff", "1", "--box", "0 0 0 4 4 4", "--periodic", "abc"];
    assert_eq!(list(&folder, "a.xyz", &other, &given, &[]), PAIR);
    assert_eq!(
        list(&folder, "a.xyz", &other, &["--cutoff", "1", "--open"], &[]),
        ""
    );
    for comment in [
        "an fcc lattice of argon in a box",
        "lattice constant 4.05",
        "cell 2 of 3",
    ] {
        assert_eq!(
            list(&folder, "a.xyz", &near_xyz(comment), &args, &["has no box"]),
            "",
            "{comment}"
        );
    }
}

#[test]
fn every_usual_form_of_pbc_is_read() {
    let folder = Folder::new("pbc").unwrap();
    let box_of = |pbc: &str| near_xyz(&format!("Lattice=\"4 0 0 0 4 0 0 0 4\" {pbc} {SPECIES}"));
    for pbc in [
        "pbc=\"T F F\"",
        "pbc=\"TFF\"",
        "pbc=TFF",
        "pbc='T F F'",
        "pbc=\"t f f\"",
        "pbc=\"1 0 0\"",
        "pbc=\"100\"",
        "pbc=\"True False False\"",
        "pbc=\"true,false,false\"",
        "pbc=[T, F, F]",
        "pbc={T F F}",
        "pbc=\"[True, False, False]\"",
        "pbc=[true, false, false]",
        "PBC=\"TRUE FALSE FALSE\"",
        "pbc=T",
        "Pbc=\"True\"",
    ] {
        assert_eq!(
            list(&folder, "a.xyz", &box_of(pbc), &["--cutoff", "1"], &[]),
            PAIR,
            "{pbc}"
        );
    }
    for pbc in ["pbc=\"FTT\"", "pbc=[F,T,T]", "pbc=F", "pbc=\"0 1 1\""] {
        assert_eq!(
            list(&folder, "a.xyz", &box_of(pbc), &["--cutoff", "1"], &[]),
            "",
            "{pbc}"
        );
    }
    for pbc in [
        "pbc=\"TT\"",
        "pbc=\"T T\"",
        "pbc=\"T T T T\"",
        "pbc=\"TTX\"",
        "pbc=\"p p p\"",
        "pbc=\"\"",
    ] {
        let parts = ["line 2", "pbc is `", "\"T T F\"", "\"TTF\"", "[T, T, F]"];
        expect_error(&folder, "a.xyz", &box_of(pbc), &[], &parts);
    }
}

#[test]
fn exponents_of_fortran_are_numbers() {
    let folder = Folder::new("fortran").unwrap();
    let args = ["--cutoff", "1"];
    let xyz = near_xyz("Lattice=\"4.D0 0 0 0 4 0 0 0 4\" pbc=\"T T T\"");
    let xyz = xyz
        .replace("0.125 0 0", "1.25D-01 0.0d+00 0D0")
        .replace("3.875", "0.3875d1");
    assert_eq!(list(&folder, "a.xyz", &xyz, &args, &[]), PAIR);
    let csv = "id,x,y,z\n1.D0,0.0D+00,0,0\n2,5.0D-1,0,0\n";
    let found = list(&folder, "a.csv", csv, &["--cutoff", "1", "--ids"], &[]);
    assert_eq!(found, "1,2,0,0,0,0.5,0.0,0.0,0.5\n");
    let dump = near("ITEM: BOX BOUNDS pp pp pp").replace("0 4\n", "0.0D0 0.4D+01\n");
    assert_eq!(list(&folder, "a.dump", &dump, &args, &[]), PAIR);
    for bad in [
        "D1", "1D", "1DD1", "1D1.5", "0x1D", "1D1D1", "d", "1d+", "InfD0",
    ] {
        let csv = format!("x,y,z\n0,{bad},0\n");
        expect_error(&folder, "a.csv", &csv, &[], &["line 2", "field y", bad]);
    }
    expect_error(
        &folder,
        "a.csv",
        "x,y,z\n0,1D999,0\n",
        &[],
        &["line 2", "field y", "1D999"],
    );
}

#[test]
fn further_columns_of_plain_xyz_yield_a_note() {
    let folder = Folder::new("more-columns").unwrap();
    let args = ["--cutoff", "4"];
    let pair = "0,1,0,0,0,3.0,0.0,0.0,3.0\n";
    let text = "2\n\nA 0 0 0 1 0 0\nA 3 0 0 0 0 0\n";
    let notes = ["columns after column 4 are not read", "--columns"];
    assert_eq!(list(&folder, "a.xyz", text, &args, &notes), pair);
    assert_eq!(
        list(&folder, "a.xyz", "2\n\nA 0 0 0 q\nA 3 0 0\n", &args, &notes),
        pair
    );
    expect_error(
        &folder,
        "a.xyz",
        "1\n\nA 0 0\n",
        &[],
        &["line 3", "3 fields", "4"],
    );
    // With Properties, every column has a name.
    let named = format!("1\n{SPECIES}\nA 0 0 0 1\n");
    expect_error(
        &folder,
        "a.xyz",
        &named,
        &[],
        &["line 3", "5 fields", "4 columns"],
    );
}

#[test]
fn two_dimensional_files_are_read_with_a_note() -> Test {
    let folder = Folder::new("flat")?;
    // Three particles in a plane. The pairs within 2.5 are 0 and 1, and 0 and 2 across x = 0.
    let expected =
        "0,1,0,0,0,1.0,0.0,0.0,1.0\n0,2,-1,0,0,-1.5,0.0,0.0,1.5\n1,2,-1,0,0,-2.5,0.0,0.0,2.5\n";
    let frame = |bounds: &str, columns: &str, z: &str| {
        let atom = |id, x| format!("{id} 1 {x} 1{z}\n");
        format!(
            "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n3\nITEM: BOX BOUNDS pp pp pp\n0 10\n0 10\n{bounds}\n\
             ITEM: ATOMS id type {columns}\n{}{}{}",
            atom(1, 1.0),
            atom(2, 2.0),
            atom(3, 9.5)
        )
    };
    let args = ["--cutoff", "2.5"];
    let note = ["two-dimensional"];
    for (bounds, columns, z) in [
        ("-0.5 0.5", "x y z", " 0"),
        ("-0.25 0.25", "x y z", " 0"),
        ("-0.1 0.1", "x y z", " 0"),
        ("0 1", "x y z", " 0.5"),
        ("0 0", "x y z", " 0"),
        ("-0.5 0.5", "x y", ""),
        ("-5 5", "x y", ""),
        ("0 0", "xu yu", ""),
    ] {
        let text = frame(bounds, columns, z);
        assert_eq!(
            list(&folder, "a.dump", &text, &args, &note),
            expected,
            "{text}"
        );
    }
    let scaled = frame("3 4", "xs ys", "")
        .replace(" 1.0 1", " 0.1 0.1")
        .replace(" 1 1 1", " 1 0.1 0.1");
    let scaled = scaled
        .replace("1 1 1 1\n", "1 1 0.1 0.1\n")
        .replace("2 1 2 1\n", "2 1 0.2 0.1\n");
    let scaled = scaled.replace("3 1 9.5 1\n", "3 1 0.95 0.1\n");
    let run = neighbors(&[
        &folder.file("a.dump", &scaled)?,
        "--cutoff",
        "2.6",
        "--output",
        "-",
    ])?;
    assert_eq!(rows(&run, &note).lines().count(), 3);

    // A thin box that is a three-dimensional world: an atom is out of the plane, the layer is not thin, or the user
    // says so.
    let with_images = |text: &str, args: &[&str]| {
        let found = list(&folder, "a.dump", text, args, &[]);
        assert!(found.contains("0,0,0,0,1,"), "{text}");
    };
    let layer = frame("-0.5 0.5", "x y z", " 0");
    // Most of the atoms are in the middle, so a note says how the world is read.
    for away in ["0.25", "0.001", "1"] {
        let text = layer.replace("2 1 2 1 0", &format!("2 1 2 1 {away}"));
        let found = list(
            &folder,
            "a.dump",
            &text,
            &args,
            &["three-dimensional", "--periodic ab"],
        );
        assert!(found.contains("0,0,0,0,1,"), "{text}");
    }
    // All are in one plane, but not in the middle.
    let text = layer.replace("-0.5 0.5", "-0.5 0.75");
    let found = list(
        &folder,
        "a.dump",
        &text,
        &args,
        &["three-dimensional", "--periodic ab"],
    );
    assert!(found.contains("0,0,0,0,1,"), "{text}");
    with_images(&layer.replace("-0.5 0.5", "-3 3"), &["--cutoff", "6"]);
    with_images(&layer, &["--cutoff", "2.5", "--periodic", "abc"]);
    let one = "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS pp pp pp\n-1 1\n-1 1\n-1 1\n\
               ITEM: ATOMS x y z\n0 0 0\n";
    with_images(one, &["--cutoff", "2"]);

    let xyz = |head: &str, z: &str| format!("3\n{head}\nA 1 1{z}\nA 2 1{z}\nA 9.5 1{z}\n");
    for head in [
        "Lattice=\"10 0 0 10\" Properties=species:S:1:pos:R:2 pbc=\"T T\"",
        "Lattice=[[10,0],[0,10]] Properties=species:S:1:pos:R:2 pbc=\"T T F\"",
        "Lattice=\"10 0 0 0 10 0 0 0 1\" Properties=species:S:1:pos:R:2 pbc=\"T T T\"",
        "Lattice=\"10 0 0 10\" Origin=\"-1 -1\" Properties=species:S:1:pos:R:2",
    ] {
        assert_eq!(
            list(&folder, "a.xyz", &xyz(head, ""), &args, &note),
            expected,
            "{head}"
        );
    }
    let layer =
        "Lattice=\"10 0 0 0 10 0 0 0 1\" Origin=\"0 0 -0.5\" Properties=species:S:1:pos:R:3";
    assert_eq!(
        list(&folder, "a.xyz", &xyz(layer, " 0"), &args, &note),
        expected
    );
    // If pbc says so, a layer of a crystal has images along z.
    let crystal = xyz(&format!("{layer} pbc=\"T T T\""), " 0");
    let found = list(&folder, "a.xyz", &crystal, &args, &[]);
    assert!(found.contains("0,0,0,0,1,"), "{found}");

    let given = [
        "--cutoff",
        "2.5",
        "--box",
        "0 0 0 10 10 0",
        "--periodic",
        "ab",
    ];
    assert_eq!(
        list(&folder, "a.csv", "x,y\n1,1\n2,1\n9.5,1\n", &given, &note),
        expected
    );
    let open = list(
        &folder,
        "a.csv",
        "x,y\n1,1\n2,1\n9.5,1\n",
        &["--cutoff", "1"],
        &note,
    );
    assert_eq!(open, "0,1,0,0,0,1.0,0.0,0.0,1.0\n");

    // Discs in a thin box touch each other, but not their own images along z.
    let input = folder.file("a.dump", frame("-0.5 0.5", "x y z", " 0"))?;
    let run = collide(&[&input, "--dt", "1", "--radius", "0.56", "--output", "-"])?;
    let found = rows(&run, &["two-dimensional", "at rest"]);
    assert!(
        found.starts_with("0,1,0.0,") && found.lines().count() == 1,
        "{found}"
    );
    let moving = frame("-0.5 0.5", "x y vx vy", " 1 0").replace("9.5 1 1 0", "9.5 1 3 0");
    let input = folder.file("a.dump", moving)?;
    let run = collide(&[&input, "--dt", "0.75", "--radius", "0.25", "--output", "-"])?;
    // The gap of 1.5 − 0.5 between particles 2 and 0 closes at the speed 2.
    assert_eq!(rows(&run, &note), "0,2,0.5,0.0,-1,0,0\n");
    assert!(!run.stderr.contains("vz"), "{}", run.stderr);

    // Spheres that move along z are in a three-dimensional world, for both commands.
    let rising =
        frame("-0.5 0.5", "x y z vx vy vz", " 0 0 0 0").replace("9.5 1 0 0 0 0", "9.5 1 0 0 0 3");
    let still = rising.replace("0 0 0 3", "0 0 0 0");
    let periods = [
        ("1.5", rising.as_str(), "periodic   abc"),
        ("1.5", &still, "periodic   ab\n"),
    ];
    for (cutoff, text, expected) in periods {
        let input = folder.file("a.dump", text)?;
        let run = neighbors(&[&input, "--cutoff", cutoff])?;
        assert!(run.stdout.contains(expected), "{}", run.stdout);
        for at_rest in [&[][..], &["--at-rest"]] {
            let run = collide(&[&[&input, "--dt", "0.1", "--radius", "0.1"], at_rest].concat())?;
            assert!(
                run.stdout
                    .contains(expected.trim_start_matches("periodic   ")),
                "{}",
                run.stdout
            );
        }
    }
    // Without z, no sphere can move along z, and in a box without height all have one z.
    let contradiction = frame("-0.5 0.5", "x y vx vy vz", " 1 0 3");
    let input = folder.file("a.dump", contradiction)?;
    let run = collide(&[&input, "--dt", "0.1", "--radius", "0.1"])?;
    run.expect_error(
        "vz",
        1,
        &["line 10", "field vz is 3", "no column z", "z=NAME"],
    );
    // Unless the file itself says that the world is open along z, as ASE does for slabs and molecules.
    let heights = frame("0 0", "x y z", " 0").replace("9.5 1 0", "9.5 1 2");
    let slab = heights.replace("pp pp pp", "pp pp ff");
    let two = "0,1,0,0,0,1.0,0.0,0.0,1.0\n";
    assert_eq!(
        list(&folder, "a.dump", &slab, &["--cutoff", "1.25"], &[]),
        two
    );
    for (head, expected) in [
        (
            "Lattice=\"10 0 0 0 10 0 0 0 0\" pbc=\"T T F\"",
            "0,1,0,0,0,0.0,0.0,0.5,0.5\n0,2,-1,0,0,-0.5,0.0,0.0,0.5\n",
        ),
        (
            "Lattice=\"10 0 0 0 0 0 0 0 0\" pbc=\"T F F\"",
            "0,1,0,0,0,0.0,0.0,0.5,0.5\n0,2,-1,0,0,-0.5,0.0,0.0,0.5\n",
        ),
        (
            "Lattice=\"0 0 0 0 0 0 0 0 0\" pbc=\"F F F\"",
            "0,1,0,0,0,0.0,0.0,0.5,0.5\n",
        ),
    ] {
        let text = format!(
            "3\n{head} Properties=species:S:1:pos:R:3\nA 0.25 5 0\nA 0.25 5 0.5\nA 9.75 5 0\n"
        );
        assert_eq!(
            list(&folder, "a.xyz", &text, &["--cutoff", "0.625"], &[]),
            expected,
            "{head}"
        );
    }
    let parts = ["no height", "one z", "--periodic"];
    expect_error(&folder, "a.dump", &heights, &[], &parts);
    list(
        &folder,
        "a.dump",
        &heights,
        &["--cutoff", "1", "--periodic", "ab"],
        &[],
    );
    // A series does not change between the two.
    let layer = frame("-0.5 0.5", "x y z", " 0");
    let series = layer.clone() + &layer.replace("9.5 1 0", "9.5 1 0.25");
    let input = folder.file("a.dump", &series)?;
    let run = neighbors(&[&input, "--cutoff", "1", "--frames", "all"])?;
    assert_eq!(run.code, Some(1));
    for part in ["(frame 1)", "three-dimensional", "--periodic"] {
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
    for periodic in ["ab", "abc"] {
        let args = ["--cutoff", "1", "--periodic", periodic, "--frames", "all"];
        list(&folder, "a.dump", &series, &args, &["order of atoms"]);
    }
    Ok(())
}

#[test]
fn coordinates_of_dumps_may_be_of_any_kind() {
    let folder = Folder::new("kinds").unwrap();
    // The two atoms of `NEAR`, in a box from 0 to 4, whose faces x = 0 are 0.25 apart.
    let bounds = "ITEM: BOX BOUNDS pp pp pp";
    for (columns, atoms) in [
        ("xs y z", ["0.03125 0 0", "0.96875 0 0"]),
        ("xs ys zs", ["0.03125 0 0", "0.96875 0 0"]),
        ("x ys zs", ["0.125 0 0", "3.875 0 0"]),
        ("xu y zs", ["0.125 0 0", "-0.125 0 0"]),
        ("xsu yu z", ["0.03125 0 0", "-0.03125 0 0"]),
    ] {
        let text = frame(0, bounds, columns, &atoms);
        let args = ["--cutoff", "1"];
        let found = list(&folder, "a.dump", &text, &args, &[]);
        assert!(
            found.starts_with("0,1,") && found.ends_with(",0,0,-0.25,0.0,0.0,0.25\n"),
            "{found}"
        );
        let names: Vec<&str> = columns.split(' ').collect();
        let named = [
            format!("x={},y={},z={}", names[0], names[1], names[2]),
            "x=1,y=2,z=3".to_owned(),
        ];
        for named in named {
            let args = ["--cutoff", "1", "--columns", &named];
            assert_eq!(
                list(&folder, "a.dump", &text, &args, &[]),
                found,
                "{columns}"
            );
        }
    }
    // In a triclinic box with xy = 2 and yz = 1, y is not scaled: the fraction of b follows from y and z.
    let tilted = |columns: &str, atoms: &[&str]| {
        frame(0, "ITEM: BOX BOUNDS xy xz yz pp pp pp", columns, atoms).replacen(
            "0 4\n0 4\n0 4\n",
            "0 6 2\n0 5 0\n0 4 1\n",
            1,
        )
    };
    // (1, 2, 1): fractions c = 1/4, b = (2 − 1/4)/4 = 7/16, a = (1 − 2·7/16)/4 = 1/32.
    let expected = list(
        &folder,
        "a.dump",
        &tilted("x y z", &["1 2 1", "1.5 2 1"]),
        &["--cutoff", "1"],
        &[],
    );
    assert!(expected.contains(",0.5,0.0,0.0,0.5"), "{expected}");
    for (columns, atoms) in [
        ("xs y z", ["0.03125 2 1", "0.15625 2 1"]),
        ("xs ys z", ["0.03125 0.4375 1", "0.15625 0.4375 1"]),
        ("x ys zs", ["1 0.4375 0.25", "1.5 0.4375 0.25"]),
        ("xs y zs", ["0.03125 2 0.25", "0.15625 2 0.25"]),
    ] {
        let text = tilted(columns, &atoms);
        assert_eq!(
            list(&folder, "a.dump", &text, &["--cutoff", "1"], &[]),
            expected,
            "{columns}"
        );
    }
    // A fraction is no other coordinate.
    let text = frame(0, bounds, "xs ys zs", &["0 0 0"]);
    let parts = ["line 9", "fractions of an edge", "calls it y"];
    expect_error(&folder, "a.dump", &text, &["--columns", "y=xs"], &parts);
    let general = frame(
        0,
        "ITEM: BOX BOUNDS abc origin pp pp pp",
        "xs y z",
        &["0 0 0"],
    )
    .replacen("0 4\n0 4\n0 4\n", "0 4 0 0\n-4 0 0 0\n0 0 4 0\n", 1);
    expect_error(
        &folder,
        "a.dump",
        &general,
        &[],
        &["line 9", "general triclinic"],
    );
}

#[test]
fn options_replace_a_box_that_cannot_be_read() {
    let folder = Folder::new("replaced").unwrap();
    let open = ["--cutoff", "1", "--open"];
    let given = [
        "--cutoff",
        "1",
        "--open",
        "--box",
        "0 0 0 4 4 4",
        "--periodic",
        "abc",
    ];
    let edges = ["--cutoff", "1", "--periodic", "abc"];
    let xyz = |comment: &str| near_xyz(&format!("{comment} {SPECIES}"));
    for comment in [
        "Lattice=\"4 4 4\"",
        "Lattice=\"4 0 0 0 4 0 0 0 x\" pbc=\"T T T\"",
        "Lattice=\"4 0 0 0 4 0 0 0 4\" Origin=\"0 0\"",
        "Lattice=\"4 0 0 0 4 0 0 0 4\" Lattice=\"5 0 0 0 4 0 0 0 4\"",
        "Lattice=\"4 0 0 0 0 0 0 0 4\"",
        "pbc=\"T T T\"",
        "cell=\"4 4 4\"",
        "pbc=\"pp pp pp\" cell=\"4 4 4\"",
    ] {
        let text = xyz(comment);
        expect_error(&folder, "a.xyz", &text, &[], &["line 2", "--open"]);
        assert_eq!(list(&folder, "a.xyz", &text, &open, &[]), "", "{comment}");
        assert_eq!(
            list(&folder, "a.xyz", &text, &given, &[]),
            PAIR,
            "{comment}"
        );
    }
    let bad = xyz("Lattice=\"4 0 0 0 4 0 0 0 4\" pbc=\"pp pp pp\"");
    expect_error(
        &folder,
        "a.xyz",
        &bad,
        &[],
        &["line 2", "pbc is `pp pp pp`", "--periodic"],
    );
    let other = xyz("Lattice=\"4 0 0 0 4 0 0 0 4\" periodic=\"F F F\"");
    expect_error(
        &folder,
        "a.xyz",
        &other,
        &[],
        &["line 2", "key `periodic`", "pbc=\"T T T\"", "--periodic"],
    );
    assert_eq!(list(&folder, "a.xyz", &other, &edges, &[]), PAIR);
    assert_eq!(list(&folder, "a.xyz", &bad, &open, &[]), "");
    assert_eq!(list(&folder, "a.xyz", &bad, &edges, &[]), PAIR);
    assert_eq!(list(&folder, "a.xyz", &bad, &given, &[]), PAIR);
    let dump = near("ITEM: BOX BOUNDS pp pp pp").replacen("0 4\n", "0 four\n", 1);
    expect_error(
        &folder,
        "a.dump",
        &dump,
        &[],
        &["line 6", "`four`", "--open"],
    );
    assert_eq!(list(&folder, "a.dump", &dump, &open, &[]), "");
    assert_eq!(list(&folder, "a.dump", &dump, &given, &[]), PAIR);
    // The line of the edge that has no length, and a box of two lines.
    let flat = near("ITEM: BOX BOUNDS pp pp pp").replacen("0 4\n0 4\n", "0 4\n2 2\n", 1);
    expect_error(
        &folder,
        "a.dump",
        &flat,
        &[],
        &["line 7", "edge b", "length 0"],
    );
    let two = near("ITEM: BOX BOUNDS pp pp").replacen("0 4\n", "", 1);
    expect_error(
        &folder,
        "a.dump",
        &two,
        &[],
        &["line 8", "three lines of bounds", "-0.5 0.5"],
    );
    // Scaled coordinates are fractions of the given box, if the file has none.
    let scaled =
        near("ITEM: BOX BOUNDS pp pp pp").replace("ITEM: BOX BOUNDS pp pp pp\n0 4\n0 4\n0 4\n", "");
    let scaled = scaled
        .replace("x y z", "xs ys zs")
        .replace("0.125", "0.03125")
        .replace("3.875", "0.96875");
    let parts = [
        "line 5",
        "scaled",
        "no ITEM: BOX BOUNDS",
        "--box and --periodic",
    ];
    expect_error(&folder, "a.dump", &scaled, &[], &parts);
    assert_eq!(list(&folder, "a.dump", &scaled, &given, &[]), PAIR);
    // Comments of plain XYZ that are the numbers of a box.
    for comment in ["4.0 4.0 4.0", "0 4 0 4 0 4", "4 0 0 0 4 0 0 0 4"] {
        let text = near_xyz(comment);
        expect_error(
            &folder,
            "a.xyz",
            &text,
            &[],
            &["line 2", "nothing but", "Lattice", "--box"],
        );
        assert_eq!(list(&folder, "a.xyz", &text, &given, &[]), PAIR);
    }
}

#[test]
fn a_frame_does_not_lose_its_box() {
    let folder = Folder::new("lost-box").unwrap();
    let boxed = near_xyz(&format!(
        "Lattice=\"4 0 0 0 4 0 0 0 4\" pbc=\"T T T\" {SPECIES}"
    ));
    let series = boxed.clone() + &near_xyz("step 2");
    let parts = [
        "line 6",
        "no box",
        "frame before",
        "--box",
        "--open",
        "(frame 1)",
    ];
    for frames in ["last", "1", "-1:"] {
        expect_error(&folder, "a.xyz", &series, &["--frames", frames], &parts);
    }
    assert_eq!(
        list(
            &folder,
            "a.xyz",
            &series,
            &["--cutoff", "1", "--frame", "0"],
            &[]
        ),
        PAIR
    );
    let open = ["--cutoff", "1", "--open", "--frames", "all"];
    assert_eq!(list(&folder, "a.xyz", &series, &open, &[]), "");
    // Over several files, too.
    let first = folder.file("0.xyz", &boxed).unwrap();
    let second = folder.file("1.xyz", near_xyz("step 2")).unwrap();
    let table = folder.file("2.csv", "x,y,z\n0,0,0\n").unwrap();
    for other in [&second, &table] {
        let run = neighbors(&[&first, other, "--cutoff", "1", "--frames", "all"]).unwrap();
        assert_eq!(run.code, Some(1));
        assert!(
            run.stderr.contains("no box") && run.stderr.contains(other.as_str()),
            "{}",
            run.stderr
        );
    }
}

/// Returns the collisions in a file in a step, as rows of the list.
fn collisions(folder: &Folder, name: &str, text: &str, args: &[&str], notes: &[&str]) -> String {
    let input = folder.file(name, text).unwrap();
    let run = collide(&[&[&input, "--output", "-"], args].concat()).unwrap();
    rows(&run, notes)
}

/// Fails unless a search for collisions ends with an error that contains the file name and all `parts`.
fn expect_no_motion(folder: &Folder, name: &str, text: &str, parts: &[&str]) {
    let input = folder.file(name, text).unwrap();
    let run = collide(&[&input, "--dt", "3", "--radius", "1"]).unwrap();
    run.expect_error(text, 1, parts);
    run.expect_error(text, 1, &[&input]);
    // The way out.
    let rest = collide(&[&input, "--dt", "3", "--radius", "1", "--at-rest"]).unwrap();
    rest.expect_success(text);
    assert!(!rest.stderr.contains("at rest"), "{}", rest.stderr);
    assert!(rest.stdout.contains("pairs    0"), "{}", rest.stdout);
}

const BOX_OF_20: &str = "Lattice=\"20 0 0 0 20 0 0 0 20\" pbc=\"T T T\"";
/// Two spheres of radius 1 at x = 0 and 5, which meet at this time if they move at the speeds 1 and −1.
const MEETING: &str = "0,1,1.5,0.0,0,0,0\n";
const STEP: [&str; 4] = ["--dt", "3", "--radius", "1"];

#[test]
fn motion_of_xyz_files_is_not_lost() {
    let folder = Folder::new("motion").unwrap();
    let xyz = |properties: &str, atoms: [&str; 2]| {
        format!(
            "2\n{BOX_OF_20} Properties={properties}\n{}\n{}\n",
            atoms[0], atoms[1]
        )
    };
    let positions = ["Ar 0 0 0 1 0 0", "Ar 5 0 0 -1 0 0"];
    for name in [
        "velo",
        "vel",
        "velocity",
        "velocities",
        "Velocities",
        "VELO",
        "vels",
    ] {
        let text = xyz(&format!("species:S:1:pos:R:3:{name}:R:3"), positions);
        assert_eq!(
            collisions(&folder, "a.xyz", &text, &STEP, &[]),
            MEETING,
            "{name}"
        );
        let flat = text
            .replace("pos:R:3", "pos:R:2")
            .replace(&format!("{name}:R:3"), &format!("{name}:R:2"));
        let flat = flat
            .replace(" 0 0 0 1 0 0", " 0 0 1 0")
            .replace(" 5 0 0 -1 0 0", " 5 0 -1 0");
        let found = collisions(&folder, "a.xyz", &flat, &STEP, &["two-dimensional"]);
        assert_eq!(found, MEETING, "{name}");
    }
    let scalars = xyz("species:S:1:pos:R:3:vx:R:1:vy:R:1:vz:R:1", positions);
    assert_eq!(collisions(&folder, "a.xyz", &scalars, &STEP, &[]), MEETING);
    // Momenta, as ASE writes them. The masses of argon and hydrogen are 39.948 and 1.008.
    for (properties, atoms) in [
        (
            "species:S:1:pos:R:3:momenta:R:3",
            ["Ar 0 0 0 39.948 0 0", "H 5 0 0 -1.008 0 0"],
        ),
        (
            "Species:S:1:Position:R:3:Momentum:R:3",
            ["Ar 0 0 0 39.948 0 0", "H 5 0 0 -1.008 0 0"],
        ),
        (
            "Z:I:1:pos:R:3:momenta:R:3",
            ["18 0 0 0 39.948 0 0", "1 5 0 0 -1.008 0 0"],
        ),
        (
            "species:S:1:pos:R:3:momenta:R:3:masses:R:1",
            ["Ar 0 0 0 2 0 0 2", "Ar 5 0 0 -4 0 0 4"],
        ),
        (
            "mass:R:1:species:S:1:pos:R:3:momenta:R:3",
            ["2 A 0 0 0 2 0 0", "4 B 5 0 0 -4 0 0"],
        ),
        (
            "mass:R:1:species:S:1:pos:R:3:momenta:R:3:masses:R:1",
            ["2 A 0 0 0 2 0 0 2.0001", "4 B 5 0 0 -4 0 0 4"],
        ),
        // Deuterium and tritium.
        (
            "species:S:1:pos:R:3:momenta:R:3",
            ["D 0 0 0 2.014101777844 0 0", "T 5 0 0 -3.01604928132 0 0"],
        ),
    ] {
        let by = if properties.contains("mass") {
            "masses;"
        } else {
            "the standard masses of the elements;"
        };
        let notes = [&format!("momenta divided by {by}"), "10.18 fs"];
        let found = collisions(&folder, "a.xyz", &xyz(properties, atoms), &STEP, &notes);
        assert_eq!(found, MEETING, "{properties}");
    }
    // A velocity without z.
    let without_z = xyz(
        "species:S:1:pos:R:3:velo:R:2",
        ["A 0 0 0 1 0", "A 5 0 0 -1 0"],
    );
    let note = ["no column vz", "taken as 0"];
    assert_eq!(
        collisions(&folder, "a.xyz", &without_z, &STEP, &note),
        MEETING
    );
    // Velocities go before momenta.
    let both = xyz(
        "species:S:1:pos:R:3:momenta:R:3:velo:R:3",
        ["A 0 0 0 9 9 9 1 0 0", "A 5 0 0 9 9 9 -1 0 0"],
    );
    assert_eq!(collisions(&folder, "a.xyz", &both, &STEP, &[]), MEETING);
    for (properties, atoms, parts) in [
        (
            "species:S:1:pos:R:3:momenta:R:3",
            ["A 0 0 0 1 0 0", "A 5 0 0 -1 0 0"],
            &["line 3", "field species", "`A`", "mass", "--at-rest"][..],
        ),
        (
            "species:S:1:pos:R:3:momenta:R:3",
            ["Na 0 0 0 1 0 0", "NA 5 0 0 -1 0 0"],
            &["line 4", "field species", "`NA`", "must be an element"],
        ),
        (
            "mass:R:1:species:S:1:pos:R:3:momenta:R:3:masses:R:1",
            ["2 A 0 0 0 2 0 0 2", "4 B 5 0 0 -4 0 0 4.01"],
            &[
                "line 4",
                "field mass is 4",
                "masses is 4.01",
                "--columns _=masses",
            ],
        ),
        (
            "species:S:1:pos:R:3:velo:R:3:vel:R:3",
            ["A 0 0 0 1 0 0 1 0 0", "A 5 0 0 1 0 0 1 0 0"],
            &["line 2", "column vx (columns 5 and 8)", "--columns vx=5"],
        ),
        (
            "Z:I:1:pos:R:3:momenta:R:3",
            ["1 0 0 0 1 0 0", "119 5 0 0 -1 0 0"],
            &["line 4", "field Z", "`119`", "--at-rest"],
        ),
        (
            "pos:R:3:momenta:R:3",
            ["0 0 0 1 0 0", "5 0 0 -1 0 0"],
            &["line 2", "no masses and no species", "--at-rest"],
        ),
        (
            "mass:R:1:pos:R:3:momenta:R:3",
            ["1 0 0 0 1 0 0", "0 5 0 0 -1 0 0"],
            &["line 4", "field mass", "larger than 0"],
        ),
        (
            "species:S:1:pos:R:3:p:R:3",
            ["Ar 0 0 0 1 0 0", "Ar 5 0 0 -1 0 0"],
            &[
                "line 2",
                "column p 1",
                "a momentum",
                "divide it by the mass",
                "--at-rest",
            ],
        ),
        (
            "species:S:1:pos:R:3:px:R:1:py:R:1:pz:R:1",
            ["Ar 0 0 0 1 0 0", "Ar 5 0 0 -1 0 0"],
            &["line 2", "column px", "divide it by the mass", "--at-rest"],
        ),
        (
            "species:S:1:pos:R:3:MD_velocities:R:3",
            ["Ar 0 0 0 1 0 0", "Ar 5 0 0 -1 0 0"],
            &[
                "line 2",
                "--columns \"vx=MD_velocities 1,vy=MD_velocities 2,vz=MD_velocities 3\"",
            ],
        ),
        (
            "species:S:1:pos:R:3:V:R:3",
            ["Ar 0 0 0 1 0 0", "Ar 5 0 0 -1 0 0"],
            &["line 2", "--columns \"vx=V 1,vy=V 2,vz=V 3\"", "--at-rest"],
        ),
        (
            "species:S:1:pos:R:3:speed:R:1",
            ["Ar 0 0 0 1", "Ar 5 0 0 1"],
            &["line 2", "column speed", "--at-rest"],
        ),
    ] {
        expect_no_motion(&folder, "a.xyz", &xyz(properties, atoms), parts);
    }
    // A file without motion keeps its note, and a search for neighbours needs none.
    let rest = near_xyz(&format!("{BOX_OF_20} {SPECIES}"));
    assert_eq!(
        collisions(&folder, "a.xyz", &rest, &STEP, &["every sphere is at rest"]),
        ""
    );
    let momenta = xyz(
        "species:S:1:pos:R:3:momenta:R:3",
        ["A 0 0 0 1 0 0", "A 5 0 0 -1 0 0"],
    );
    assert_eq!(
        list(&folder, "a.xyz", &momenta, &["--cutoff", "5"], &[])
            .lines()
            .count(),
        1
    );
    // The angular velocity is no motion of the centre.
    let spinning = xyz("species:S:1:pos:R:3:angular_velocity:R:3", positions);
    assert_eq!(
        collisions(&folder, "a.xyz", &spinning, &STEP, &["at rest"]),
        ""
    );
    // Further columns of plain XYZ can be named.
    let plain = "2\n\nA 0 0 0 1 0 0\nA 5 0 0 -1 0 0\n";
    let named = [&STEP[..], &["--columns", "vx=5,vy=6,vz=7"]].concat();
    assert_eq!(
        collisions(&folder, "a.xyz", plain, &named, &["has no box"]),
        "0,1,1.5,0.0\n"
    );
    assert_eq!(
        collisions(
            &folder,
            "a.xyz",
            plain,
            &STEP,
            &["column 4 are not read", "at rest"]
        ),
        ""
    );
}

#[test]
fn motion_of_tables_and_dumps_is_not_lost() {
    let folder = Folder::new("motion-tables").unwrap();
    for (header, named) in [
        ("vel_x,vel_y,vel_z", "vx=vel_x,vy=vel_y,vz=vel_z"),
        (
            "Velocity:0,Velocity:1,Velocity:2",
            "vx=Velocity:0,vy=Velocity:1,vz=Velocity:2",
        ),
        ("px,py,pz", "vx=px,vy=py,vz=pz"),
        ("v_x,v_y,v_z", "vx=v_x,vy=v_y,vz=v_z"),
        ("Vx (m/s),Vy (m/s),Vz (m/s)", "vx=4,vy=5,vz=6"),
        ("U:0,U:1,U:2", "vx=U:0,vy=U:1,vz=U:2"),
        ("\"initial_velocities 1\",b,c", "vx=4,vy=5,vz=6"),
        ("velocity[0],velocity[1],velocity[2]", "vx=4,vy=5,vz=6"),
        ("f_v[1],f_velocity[2],a", "vx=4,vy=5,vz=6"),
        ("\"vx [m/s]\",\"vy [m/s]\",\"vz [m/s]\"", "vx=4,vy=5,vz=6"),
        ("u,v,w", "vx=u,vy=v,vz=w"),
        ("linVel_0,linVel_1,linVel_2", "vx=linVel_0,vy=5,vz=6"),
        ("xdot,ydot,zdot", "vx=xdot,vy=ydot,vz=zdot"),
        ("vcmx,vcmy,vcmz", "vx=vcmx,vy=vcmy,vz=vcmz"),
    ] {
        let text = format!("x,y,z,{header}\n0,0,0,1,0,0\n5,0,0,-1,0,0\n");
        let way_out = if header.starts_with('p') {
            "divide it by the mass"
        } else {
            "--columns "
        };
        let parts = ["line 1", "seems to describe motion", way_out, "--at-rest"];
        expect_no_motion(&folder, "a.csv", &text, &parts);
        let args = [&STEP[..], &["--columns", named]].concat();
        assert_eq!(
            collisions(&folder, "a.csv", &text, &args, &[]),
            "0,1,1.5,0.0\n",
            "{header}"
        );
    }
    // The command that the error shows.
    let named = [
        ("Vels 1,Vels 2,Vels 3", "\"vx=Vels 1,vy=Vels 2,vz=Vels 3\""),
        ("v_x,v_y,v_z", "vx=v_x,vy=v_y,vz=v_z"),
    ];
    for (header, shown) in named {
        let text = format!("x,y,z,{header}\n0,0,0,1,0,0\n5,0,0,-1,0,0\n");
        expect_no_motion(&folder, "a.csv", &text, &[&format!("--columns {shown}")]);
        let args = [&STEP[..], &["--columns", shown.trim_matches('"')]].concat();
        assert_eq!(
            collisions(&folder, "a.csv", &text, &args, &[]),
            "0,1,1.5,0.0\n"
        );
    }
    // A part of the motion is named, and the rest is forgotten.
    let partly = "x,y,z,px,py,pz\n0,0,0,1,0,0\n5,0,0,-1,0,0\n";
    let input = folder.file("a.csv", partly).unwrap();
    let run = collide(&[&[&input, "--columns", "vx=px"], &STEP[..]].concat()).unwrap();
    run.expect_error(partly, 1, &["column py seems", "--at-rest"]);
    // Units in the header.
    let units = "x [m],y [m],z [m],vx [m/s],vy [m/s],vz [m/s]\n0,0,0,1,0,0\n5,0,0,-1,0,0\n";
    let shown = "x=x [m],y=y [m],z=z [m]";
    expect_error(
        &folder,
        "a.csv",
        units,
        &[],
        &[&format!("--columns \"{shown}\"")],
    );
    let input = folder.file("a.csv", units).unwrap();
    let run = collide(&[&[&input, "--columns", shown], &STEP[..]].concat()).unwrap();
    run.expect_error(
        units,
        1,
        &["vx [m/s] seems", "--columns \"vx=vx [m/s],vy=vy [m/s]"],
    );
    let text = "x,y,z,omega_x,angvel,v_x,pressure,p1,v1,level\n0,0,0,1,1,1,1,1,1,1\n";
    assert_eq!(collisions(&folder, "a.csv", text, &STEP, &["at rest"]), "");
    let dump = frame(
        0,
        "ITEM: BOX BOUNDS ff ff ff",
        "id x y z VX v_mass[2] c_3",
        &["1 0 0 0 1 0 0", "2 5 0 0 -1 0 0"],
    );
    assert_eq!(
        collisions(&folder, "a.dump", &dump, &STEP, &["no column vy, vz"]),
        "0,1,1.5,0.0\n"
    );
    expect_no_motion(
        &folder,
        "a.dump",
        &dump.replace("v_mass", "v_vel"),
        &["line 9", "v_vel[2]", "--columns", "--at-rest"],
    );
    let dump = dump.replace("VX", "f_vel[1]");
    expect_no_motion(
        &folder,
        "a.dump",
        &dump,
        &["line 9", "f_vel[1]", "--columns", "--at-rest"],
    );
}

#[test]
fn columns_can_be_named() {
    let folder = Folder::new("columns").unwrap();
    let pair = "0,1,0,0,0,1.0,0.0,0.0,1.0\n";
    let paraview = "\"Points:0\",\"Points:1\",\"Points:2\",\"radius\"\n0,0,0,1\n1,0,0,1\n";
    let parts = [
        "line 1",
        "no column x",
        "--columns x=Points:0,y=Points:1,z=Points:2",
    ];
    expect_error(&folder, "a.csv", paraview, &[], &parts);
    let named = [
        "--cutoff",
        "1",
        "--columns",
        "x=Points:0,y=Points:1,z=Points:2",
    ];
    assert_eq!(list(&folder, "a.csv", paraview, &named, &[]), pair);
    let wrong = ["--columns", "x=Points:0,y=Points:1,z=Points:3"];
    expect_error(
        &folder,
        "a.csv",
        paraview,
        &wrong,
        &["line 1", "no column Points:3", "Points:2"],
    );
    let bare = "0,0,0,7\n1,0,0,7\n";
    expect_error(
        &folder,
        "a.csv",
        bare,
        &[],
        &["line 1", "no header", "--columns x,y,z"],
    );
    assert_eq!(
        list(
            &folder,
            "a.csv",
            bare,
            &["--cutoff", "1", "--columns", "x,y,z,_"],
            &[]
        ),
        pair
    );
    expect_error(
        &folder,
        "a.csv",
        bare,
        &["--columns", "x,y,z"],
        &["line 1", "names 3 columns", "4"],
    );
    // An old dump.
    let dump = near("ITEM: BOX BOUNDS pp pp pp").replace("ATOMS id type x y z", "ATOMS");
    let args = ["--cutoff", "1", "--columns", "id,type,x,y,z"];
    assert_eq!(list(&folder, "a.dump", &dump, &args, &[]), PAIR);
    // A name of the file that is given to another column is not read.
    let swapped = ["--cutoff", "1", "--columns", "x=xu"];
    assert_eq!(
        list(
            &folder,
            "a.csv",
            "x,y,z,xu\n0,0,0,0\n9,0,0,1\n",
            &swapped,
            &[]
        ),
        pair
    );
    let run = neighbors(&["a.csv", "--cutoff", "1", "--columns", "raduis=1"]).unwrap();
    run.expect_error("typo", 2, &["`raduis` is not a name", "radius"]);
}

#[test]
fn contents_tell_the_format_and_the_compression() -> Test {
    let folder = Folder::new("contents")?;
    let dump = near("ITEM: BOX BOUNDS pp pp pp");
    let xyz = near_xyz(&format!(
        "Lattice=\"4 0 0 0 4 0 0 0 4\" pbc=\"T T T\" {SPECIES}"
    ));
    let args = ["--cutoff", "1"];
    for text in [&dump, &xyz] {
        for name in [
            "dump.melt.1000",
            "a.trj",
            "nothing",
            "a.txt.gz",
            "a.csv",
            "a.npz",
        ] {
            assert_eq!(list(&folder, name, text, &args, &[]), PAIR, "{name}");
        }
    }
    let csv = "id,x,y,z\n1,0,0,0\n2,0.5,0,0\n";
    assert_eq!(
        list(&folder, "table.txt", csv, &args, &[]),
        "0,1,0,0,0,0.5,0.0,0.0,0.5\n"
    );
    // Standard input, which can be read only once.
    for text in [&dump, &xyz] {
        let dump = text.as_bytes();
        let run = run_with(
            &[
                "-",
                "--dt",
                "1",
                "--radius",
                "0.2",
                "--backend",
                "cpu",
                "--output",
                "-",
            ],
            dump,
            &[],
        )?;
        assert_eq!(rows(&run, &["at rest"]).lines().count(), 1);
    }
    // Other names of compressed files, several parts, and a part of Zstandard that is skipped.
    let expected = folder.pairs(&data("packed.dump.gz"))?;
    let zst = fs::read(data("packed.dump.zst"))?;
    let skippable = b"\x5a\x2a\x4d\x18\x03\x00\x00\x00abc";
    let with_skippable = [&skippable[..], &zst, &skippable[..]].concat();
    let mut contents = vec![with_skippable];
    for name in [
        "packed.dump.gz",
        "packed.dump.zst",
        "packed.dump.bz2",
        "packed.dump.xz",
    ] {
        contents.push(fs::read(data(name))?);
    }
    for bytes in &contents {
        let input = folder.file("anything", bytes)?;
        assert_eq!(folder.pairs(&input)?, expected);
        let run = run_with(
            &["-", "--backend", "cpu", "--dt", "1", "--output", "-"],
            bytes,
            &[],
        )?;
        assert_eq!(run.stdout, expected);
        let twice = folder.file("twice", [&bytes[..], bytes].concat())?;
        let run = neighbors(&[&twice, "--cutoff", "0.5", "--frames", "all"])?;
        run.expect_success("two parts");
        assert!(run.stdout.contains("frame      1 "), "{}", run.stdout);
    }
    // A wrong byte is an error, because of the checksum.
    for (name, bytes) in ["gz", "zst", "bz2", "xz"].into_iter().zip(&contents[1..]) {
        let mut damaged = bytes.clone();
        let middle = damaged.len() / 2;
        damaged[middle] ^= 4;
        let input = folder.file(name, damaged)?;
        let args = [&input, "--cutoff", "1", "--format", "lammps"];
        neighbors(&args)?.expect_error(name, 1, &[&input]);
    }
    Ok(())
}

/// The name of a program, and bytes that it compressed.
type Compressed = (&'static str, Vec<u8>);

/// Compresses bytes as `gzip`, `xz`, `zstd` and `bzip2 -1` do.
fn compressed(bytes: &[u8]) -> Result<[Compressed; 4], Box<dyn Error>> {
    use std::io::Write;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(bytes)?;
    let mut xz = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(1))?;
    xz.write_all(bytes)?;
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(bytes)?;
    Ok([
        ("gzip", gzip.finish()?),
        ("xz", xz.finish()?),
        ("zstd", ruzstd::encoding::compress_to_vec(bytes, level)),
        ("bzip2", bzip2.finish()?),
    ])
}

#[test]
fn compressed_files_that_are_cut_off_keep_the_frames_before() -> Test {
    let folder = Folder::new("cut-packed")?;
    let mut random = fastrand::Rng::with_seed(47);
    let frames: Vec<String> = (0..4)
        .map(|step| {
            let atoms: Vec<String> = (1..=3000)
                .map(|id| {
                    let [x, y, z] = [(); 3].map(|()| 40.0 * random.f64());
                    format!("{id} 1 {x:.5} {y:.5} {z:.5}")
                })
                .collect();
            let atoms: Vec<&str> = atoms.iter().map(String::as_str).collect();
            let text = frame(step, "ITEM: BOX BOUNDS pp pp pp", "id type x y z", &atoms);
            text.replace("0 4\n", "0 40\n")
        })
        .collect();
    let whole = frames.concat();
    let plain = folder.file("plain.dump", &whole)?;
    let output = folder.path("list.csv")?;
    let list = |input: &str, frames: &str| -> Result<(Run, String), Box<dyn Error>> {
        let args = [
            input, "--cutoff", "1", "--output", &output, "--frames", frames,
        ];
        let run = neighbors(&args)?;
        let list = fs::read_to_string(&output).unwrap_or_default();
        let _ = fs::remove_file(&output);
        Ok((run, list))
    };
    let mut lists = Vec::new();
    for count in 0..4 {
        lists.push(list(&plain, &format!(":{}", count + 1))?.1);
    }
    assert!(lists[3].lines().count() > 1000, "{}", lists[3].len());
    assert!(lists[3].starts_with(&lists[2]));
    for (name, bytes) in compressed(whole.as_bytes())? {
        // The blocks of bzip2 have 100 kB, and those of Zstandard 128 KiB. The others are not read in blocks.
        let least = if matches!(name, "gzip" | "xz") { 3 } else { 2 };
        let begin = &bytes[..bytes.len() * 7 / 8];
        let input = folder.file("dump.1000", begin)?;
        let (run, found) = list(&input, "all")?;
        assert_eq!(run.code, Some(1), "{name}: {}", run.stderr);
        let said = |count: &usize| {
            run.stderr
                .contains(&format!("complete for {count} frames, up to"))
        };
        let count = (least..4).find(said).ok_or(run.stderr.clone())?;
        assert!(found == lists[count - 1], "{name}: a wrong list");
        let cut = format!("the {name} data are cut off");
        for part in [&cut, &input, &format!("--frame {}", count - 1)] {
            assert!(run.stderr.contains(part), "{name}: {}", run.stderr);
        }
        assert_eq!(list(&input, ":-1")?.1, lists[count - 1], "{name}");
        list(&input, "0")?.0.expect_success(name);
        // The same bytes from a pipe.
        for frames in ["all", ":-1"] {
            let args = ["-", "--cutoff", "1", "--output", "-", "--frames", frames];
            let args = [&["neighbors", "--backend", "cpu"], &args[..]].concat();
            let run = run_with_input(&args, begin)?;
            assert_eq!(run.code, Some(i32::from(frames == "all")), "{}", run.stderr);
            assert!(run.stdout == lists[count - 1], "{name}: a wrong list");
        }
        // In a series, the message tells which file it is.
        let args = [&plain, &input, &plain, "--cutoff", "1", "--frames", "all"];
        let run = neighbors(&args)?;
        let number = 4 + count;
        let kept = format!("--frames :{number}");
        for part in [&cut, &input, &kept, "file 2 of 3", "leave it out"] {
            assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
        }
        // Damage is told from a cut, and leaves no list.
        let mut damaged = bytes.clone();
        let last = damaged.len() - if name == "zstd" { 2 } else { 30 };
        damaged[last] ^= 0x55;
        let input = folder.file("damaged", damaged)?;
        let (run, found) = list(&input, "all")?;
        assert_eq!((run.code, &*found), (Some(1), ""), "{name}: {}", run.stderr);
        assert!(!run.stderr.contains("cut off"), "{name}: {}", run.stderr);
    }
    Ok(())
}

#[test]
fn what_is_wrong_with_compressed_files_is_named() -> Test {
    use std::io::Write;
    let folder = Folder::new("wrong-packed")?;
    let dump = near("ITEM: BOX BOUNDS pp pp pp");
    let expect = |bytes: &[u8], parts: &[&str]| -> Test {
        let input = folder.file("a.trj", bytes)?;
        let run = neighbors(&[&input, "--cutoff", "1"])?;
        run.expect_error(parts[0], 1, &[parts, &[input.as_str()]].concat());
        assert!(!run.stderr.contains("neither"), "{}", run.stderr);
        Ok(())
    };
    for (name, bytes) in compressed(dump.as_bytes())? {
        // Zeros, with which tapes and other media are filled, are no data.
        let padded = [&bytes[..], &[0; 512]].concat();
        let input = folder.file("padded", padded)?;
        let run = neighbors(&[&input, "--cutoff", "1", "--output", "-"])?;
        assert_eq!(rows(&run, &[]), PAIR, "{name}");
        let cut = format!("the {name} data are cut off");
        expect(&bytes[..8], &[&cut])?;
        expect(&bytes[..bytes.len() - 1], &[&cut])?;
        expect(&[&bytes[..], &bytes[..2]].concat(), &[&cut])?;
        let follow = format!("other bytes follow the {name} data");
        expect(&[&bytes[..], b"garbage"].concat(), &[&follow])?;
        let [_, (_, twice), ..] = compressed(&bytes)?;
        expect(&twice, &["is compressed twice"])?;
        let [.., (_, nothing)] = compressed(b"")?;
        expect(&nothing, &["is empty"])?;
        // The signature is left, and what follows is no header or block.
        let damaged = [&bytes[..6], &[0xff; 64]].concat();
        expect(&damaged, &[&format!("the {name} data are damaged")])?;
    }
    // Data that are not compressed well: a wrong byte is found in the text before the checksum is.
    let mut stored = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    stored.write_all(dump.repeat(2).as_bytes())?;
    let stored = stored.finish()?;
    for (wrong, what) in [
        ("ITEM: BOX", "line 5"),
        ("ITEM: TIMESTEP", "line 1"),
        ("3.875", "line 11"),
    ] {
        let mut damaged = stored.clone();
        let place = damaged
            .windows(wrong.len())
            .position(|part| part == wrong.as_bytes());
        damaged[place.ok_or("no place")?] = b'?';
        let input = folder.file("a.dump", &damaged)?;
        let run = neighbors(&[&input, "--cutoff", "1", "--frame", "0"])?;
        run.expect_error(wrong, 1, &[what, "The cause: the gzip data are damaged"]);
        let run = neighbors(&[&input, "--cutoff", "1", "--frame", "-2"])?;
        run.expect_error(wrong, 1, &["the gzip data are damaged"]);
        let series = neighbors(&[&input, &input, "--cutoff", "1", "--frame", "0"])?;
        series.expect_error(wrong, 1, &[what, "The cause: the gzip data are damaged"]);
    }
    expect(b"", &["is empty"])?;
    for (bytes, what) in [
        (&b"\x1f\x9d\x90"[..], "gzip -dc"),
        (b"\x04\x22\x4d\x18", "lz4 -dc"),
        (b"\x5d\x00\x00\x80\x00", "--format=lzma"),
        (b"7z\xbc\xaf\x27\x1c", "7z x"),
        (b"ply\nformat ascii 1.0\n", "CloudCompare"),
    ] {
        expect(bytes, &[what])?;
    }
    let tar = [&[b'a'; 257][..], b"ustar"].concat();
    expect(&tar, &["tar -xf"])?;
    let archive = npz(&[("x", "<f8", "()", vec![0; 8])]);
    let [(_, packed), ..] = compressed(&archive)?;
    expect(&packed, &["compressed again", "gunzip"])?;
    let args = ["neighbors", "--backend", "cpu", "--cutoff", "1", "-"];
    run_with_input(&args, b"")?.expect_error("empty", 1, &["standard input is empty"]);
    let twice = [&args[..], &["-"]].concat();
    run_with_input(&twice, b"")?.expect_error("twice", 1, &["standard input (-)", "once"]);
    Ok(())
}

#[test]
fn compressed_files_expand_within_a_limit() -> Test {
    use std::io::Write;
    let folder = Folder::new("bomb")?;
    // 400 MB of blank lines in about 300 bytes of bzip2, which compresses them twice as well as the limit allows.
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    let blank = vec![b'\n'; 1 << 20];
    for _ in 0..100 {
        bzip2.write_all(&blank)?;
    }
    let bytes = bzip2.finish()?;
    assert!(bytes.len() < 10_000, "{}", bytes.len());
    let input = folder.file("bomb.csv", bytes)?;
    let run = neighbors(&[&input, "--cutoff", "1"])?;
    run.expect_error("bomb", 1, &[&input, "beyond the limit", "decompress it"]);
    // A frame of Zstandard that asks for a window of 2 GiB.
    let window = b"\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00";
    let input = folder.file("window.csv", window)?;
    neighbors(&[&input, "--cutoff", "1"])?.expect_error("window", 1, &[&input]);
    Ok(())
}

#[test]
fn several_files_are_one_series() -> Test {
    let folder = Folder::new("series")?;
    let boundaries = "ITEM: BOX BOUNDS pp pp pp";
    // Frame k of the series has its pair if k is even.
    let dump = |k: u32| {
        let text = frame(10 * k, boundaries, "id type x y z", &NEAR);
        if k.is_multiple_of(2) {
            text
        } else {
            text.replace("0.125", "2.125")
        }
    };
    let [a, b, c] = [
        folder.file("dump.0", dump(0) + &dump(1))?,
        folder.file("dump.1", dump(2))?,
        folder.file("dump.2", dump(3) + &dump(4))?,
    ];
    let files = [a.as_str(), &b, &c];
    let found = |files: &[&str], frames: &str, notes: &[&str]| -> String {
        let args = [
            files,
            &[
                "--cutoff", "1", "--output", "-", "--ids", "--frames", frames,
            ],
        ]
        .concat();
        rows(&neighbors(&args).unwrap(), notes)
    };
    let pair = |k: u32| format!("{k},{}", PAIR.replacen("0,1", "1,2", 1));
    let all = pair(0) + &pair(2) + &pair(4);
    assert_eq!(found(&files, "all", &[]), all);
    assert_eq!(found(&files, "-4:", &[]), pair(2) + &pair(4));
    assert_eq!(found(&files, ":-1", &[]), pair(0) + &pair(2));
    assert_eq!(found(&files, "1:4", &[]), pair(2));
    assert_eq!(found(&files, "::4", &[]), pair(0) + &pair(4));
    assert_eq!(found(&files, "2", &[]), PAIR.replacen("0,1", "1,2", 1));
    assert_eq!(found(&files, "last", &[]), PAIR.replacen("0,1", "1,2", 1));
    assert_eq!(found(&files, "-2", &[]), "");
    assert_eq!(
        found(&[&a, &c, &b], "all", &["do not ascend"])
            .lines()
            .count(),
        3
    );
    let none = [&files[..], &["--cutoff", "1", "--frame", "5"]].concat();
    neighbors(&none)?.expect_error("none", 1, &["no frame 5", "has 5"]);
    let tables = [
        folder.file("0.csv", "x,y,z\n0,0,0\n0.5,0,0\n")?,
        folder.file("1.csv", "x,y,z\n0,0,0\n9,0,0\n")?,
        folder.file("2.csv", "x,y,z\n0,0,0\n0.25,0,0\n")?,
    ];
    let args = ["--cutoff", "1", "--output", "-", "--frames", "all"];
    let run = neighbors(&[&tables.each_ref().map(String::as_str)[..], &args].concat())?;
    let expected = "0,0,1,0,0,0,0.5,0.0,0.0,0.5\n2,0,1,0,0,0,0.25,0.0,0.0,0.25\n";
    assert_eq!(rows(&run, &[]), expected);
    let overwritten = [
        &tables[0], &tables[1], "--cutoff", "1", "--output", &tables[1],
    ];
    neighbors(&overwritten)?.expect_error("overwrite", 2, &["overwrite"]);
    // An error names the file of the series and its line.
    let bad = folder.file("bad.csv", "x,y,z\n0,0,up\n")?;
    let run = neighbors(&[&tables[0], &bad, "--cutoff", "1", "--frames", "all"])?;
    assert_eq!(run.code, Some(1));
    assert!(
        run.stderr.contains(&format!("{bad}, line 2: field z")),
        "{}",
        run.stderr
    );
    let empty = folder.file("empty.dump", "")?;
    let run = neighbors(&[&a, &empty, "--cutoff", "1", "--frames", "all"])?;
    assert!(run.stderr.contains("is empty"), "{}", run.stderr);
    Ok(())
}

/// Returns a `.npz` archive. Each array has a name, a dtype, a shape as Python writes it, and its bytes.
fn npz(arrays: &[(&str, &str, &str, Vec<u8>)]) -> Vec<u8> {
    use std::io::Write;
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, dtype, shape, bytes) in arrays {
        let header =
            format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let length = u16::try_from(header.len()).unwrap().to_le_bytes();
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(format!("{name}.npy"), options).unwrap();
        let parts = [&b"\x93NUMPY\x01\x00"[..], &length, header.as_bytes(), bytes];
        archive.write_all(&parts.concat()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn f8(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

#[test]
fn a_table_with_several_frames_is_an_error() -> Test {
    let folder = Folder::new("moments")?;
    for (name, other) in [("frame", "1"), ("Time", "0.5"), ("t", "1"), ("step", "20")] {
        let text = |last: &str| format!("x,y,z,{name}\n0,0,0,0\n5,0,0,0\n0.5,0,0,{last}\n");
        let parts = [
            "line 4",
            &format!("field {name} is `{other}`"),
            "several frames",
            &format!("_={name}"),
        ];
        expect_error(&folder, "a.csv", &text(other), &[], &parts);
        let pair = "0,2,0,0,0,0.5,0.0,0.0,0.5\n";
        let ignored = ["--cutoff", "1", "--columns", &format!("_={name}")];
        assert_eq!(list(&folder, "a.csv", &text(other), &ignored, &[]), pair);
        assert_eq!(
            list(&folder, "a.csv", &text("0"), &["--cutoff", "1"], &[]),
            pair
        );
    }
    // A temperature.
    assert_eq!(
        list(
            &folder,
            "a.csv",
            "x,y,T\n0,0,1\n0.5,0,2\n",
            &["--cutoff", "1"],
            &["two-dimensional"]
        ),
        "0,1,0,0,0,0.5,0.0,0.0,0.5\n"
    );
    let array = records("('x', '<f8'), ('y', '<f8'), ('frame', '<i4')", 2, &[0; 39]);
    let mut array = array;
    array.push(1);
    let input = folder.file("a.npy", &array)?;
    neighbors(&[&input, "--cutoff", "1"])?.expect_error(
        "npy",
        1,
        &["row 1", "field frame", "several frames"],
    );
    Ok(())
}

/// Returns a structured array: its fields as Python writes them, the number of its records, and their bytes.
fn records(fields: &str, count: usize, bytes: &[u8]) -> Vec<u8> {
    let header =
        format!("{{'descr': [{fields}], 'fortran_order': False, 'shape': ({count},), }}\n");
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    [&b"\x93NUMPY\x01\x00"[..], &length, header.as_bytes(), bytes].concat()
}

#[test]
fn structured_arrays_are_tables() -> Test {
    let folder = Folder::new("records")?;
    let find = |array: &[u8], args: &[&str], notes: &[&str]| {
        let input = folder.file("a.npy", array).unwrap();
        rows(
            &collide(&[&[&input, "--dt", "3", "--output", "-"], args].concat()).unwrap(),
            notes,
        )
    };
    // The names count, not the order.
    let scalars = "('vx', '<f8'), ('z', '<f8'), ('x', '<f8'), ('y', '<f8'), ('vy', '<f8'), ('vz', '<f8'), \
                   ('radius', '<f8')";
    let numbers = f8(&[
        1.0, 0.0, 0.0, 0.1, 0.0, 0.0, 1.0, -1.0, 0.0, 5.0, 0.1, 0.0, 0.0, 1.0,
    ]);
    assert_eq!(
        find(&records(scalars, 2, &numbers), &[], &[]),
        "0,1,1.5,0.0\n"
    );
    // Vectors, bytes between fields, ids, types, a complex number that is not read, and both orders of bytes.
    let fields = "('pos', '>f4', (3,)), ('', '|V3'), ('id', '<i2'), ('species', '<U2'), ('c', '<c16'), \
                  (('a title', 'velocity'), '<f8', (3,)), ('label', '|S3'), ('r', '<u1')";
    let mut bytes = Vec::new();
    for (x, id, name, v) in [(0.0_f32, 300_i16, "Ar", 1.0), (5.0, 7, "H", -1.0)] {
        bytes.extend([x, 0.1, 0.2].map(f32::to_be_bytes).concat());
        bytes.extend(b"???");
        bytes.extend(id.to_le_bytes());
        let mut letters = name.chars().map(u32::from).chain([0, 0]);
        bytes.extend(
            [letters.next(), letters.next()]
                .map(|c| c.unwrap().to_le_bytes())
                .concat(),
        );
        bytes.extend([0xff; 16]);
        bytes.extend(f8(&[v, 0.0, 0.0]));
        bytes.extend(b"x\0\0\x01");
    }
    let array = records(fields, 2, &bytes);
    let args = ["--columns", "radius=r", "--ids", "--types"];
    assert_eq!(find(&array, &args, &[]), "7,300,H,Ar,1.5,0.0\n");
    // Numbers of float32 stay float32: 0.1 + 0.2 there is not 0.3 of float64.
    let narrow = "('x', '<f4'), ('y', '<f4'), ('z', '<f4'), ('mass', '<f8')";
    let [mut near, mut record] = [Vec::new(), Vec::new()];
    for x in [0.0_f32, 0.3] {
        record.clear();
        record.extend([x, 0.0, 0.0].map(f32::to_le_bytes).concat());
        record.extend(1_f64.to_le_bytes());
        near.extend(&record);
    }
    let input = folder.file("a.npy", records(narrow, 2, &near))?;
    let run = neighbors(&[&input, "--cutoff", "0.3", "--output", "-"])?;
    assert_eq!(rows(&run, &[]), "0,1,0,0,0,0.3,0.0,0.0,0.3\n");
    let flat = records("('x', '<f8'), ('y', '<f8')", 2, &f8(&[0.0, 0.0, 0.5, 0.0]));
    let input = folder.file("a.npy", flat)?;
    let run = neighbors(&[&input, "--cutoff", "1", "--output", "-"])?;
    assert_eq!(
        rows(&run, &["two-dimensional"]),
        "0,1,0,0,0,0.5,0.0,0.0,0.5\n"
    );

    for (array, parts) in [
        (
            records(scalars, 3, &numbers),
            &["row 2 of 3", "cut off"][..],
        ),
        (records(scalars, 1, &numbers), &["goes on after the end"]),
        (
            records("('x', '<f8'), ('y', '|O')", 1, &[0; 16]),
            &["dtype |O", "is not read"],
        ),
        (
            records("('p', [('x', '<f8'), ('y', '<f8')])", 1, &[0; 16]),
            &["plain array", "fields of numbers"],
        ),
        (
            records("('x', '<f8', (99999999999,)), ('y', '<f8')", 1, &[0; 16]),
            &["1048576 bytes"],
        ),
        (
            records("('x', '|S1000000000')", 1, &[0; 16]),
            &["1048576 bytes"],
        ),
        (
            records("('x', '<f8'), ('y', '<c16')", 1, &[0; 24]),
            &["row 0", "field y", "`dtype c16`"],
        ),
        (
            records("('x', '<f8'), ('y', '<f8')", 1, &f8(&[0.0, f64::NAN])),
            &["row 0", "field y", "`NaN`"],
        ),
        (
            records("('u', '<f8'), ('v', '<f8')", 1, &f8(&[0.0, 0.0])),
            &["no column x", "are u, v"],
        ),
    ] {
        let input = folder.file("a.npy", &array)?;
        let run = neighbors(&[&input, "--cutoff", "1"])?;
        run.expect_error(&String::from_utf8_lossy(&array), 1, parts);
    }
    Ok(())
}

#[test]
fn a_radius_beside_another_diameter_is_an_error() -> Test {
    let folder = Folder::new("both-sizes")?;
    let of =
        |diameter: &str| format!("x,y,z,radius,diameter\n0,0,0,0.75,1.5\n1,0,0,0.75,{diameter}\n");
    let find = |diameter: &str, args: &[&str]| {
        let args = [&["--dt", "0"], args].concat();
        collisions(&folder, "a.csv", &of(diameter), &args, &["at rest"])
    };
    // At the distance 1, the spheres overlap by 2 × 0.75 − 1. With the radii 0.75 and 0.125, they do not touch.
    let pair = "0,1,0.0,0.5\n";
    assert_eq!(find("1.5", &[]), pair);
    assert_eq!(find("1.50001", &[]), pair);
    assert_eq!(find("0.25", &["--columns", "_=diameter"]), pair);
    assert_eq!(find("0.25", &["--columns", "_=radius"]), "");
    let input = folder.file("a.csv", of("0.25"))?;
    let parts = [
        "line 3",
        "field diameter is 0.25",
        "twice the radius, which is 0.75",
        "_=diameter",
    ];
    collide(&[&input, "--dt", "0"])?.expect_error("csv", 1, &parts);
    let array = |diameters: &[f64]| {
        npz(&[
            (
                "position",
                "<f8",
                "(2, 3)",
                f8(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
            ),
            ("radius", "<f8", "(2,)", f8(&[0.75, 0.75])),
            ("diameter", "<f8", "(2,)", f8(diameters)),
        ])
    };
    let input = folder.file("a.npz", array(&[1.5, 1.5]))?;
    let run = collide(&[&input, "--dt", "0", "--output", "-"])?;
    assert_eq!(rows(&run, &["at rest"]), pair);
    let input = folder.file("a.npz", array(&[1.5, 0.25]))?;
    let parts = [
        "row 1",
        "diameter is 0.25",
        "twice the radius, which is 0.75",
    ];
    collide(&[&input, "--dt", "0"])?.expect_error("npz", 1, &parts);
    Ok(())
}

#[test]
fn archives_that_are_not_read_name_a_remedy() -> Test {
    use std::io::Write;
    let folder = Folder::new("archives")?;
    let position = || {
        (
            "position",
            "<f8",
            "(2, 3)",
            f8(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
        )
    };
    let named = |name| (name, "<f8", "(2, 3)", f8(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]));
    let zip_of = |files: &[&str]| {
        let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for name in files {
            archive
                .start_file(*name, zip::write::SimpleFileOptions::default())
                .unwrap();
            archive.write_all(b"1\n\nH 0 0 0\n").unwrap();
        }
        archive.finish().unwrap().into_inner()
    };
    // Both headers of a file in the archive have the method of its compression, 12 for bzip2.
    let mut other_method = npz(&[position()]);
    for (signature, at) in [(b"PK\x03\x04", 8), (b"PK\x01\x02", 10)] {
        let begin = other_method
            .windows(4)
            .position(|four| four == signature)
            .unwrap();
        other_method[begin + at] = 12;
    }
    for (bytes, parts) in [
        (
            other_method,
            &["array position", "encrypted in a way", "numpy.savez"][..],
        ),
        (
            zip_of(&[]),
            &["empty archive", "save the arrays position, radius"],
        ),
        (zip_of(&["a.xyz"]), &["zip archive with a.xyz", "unzip it"]),
        (
            zip_of(&["[Content_Types].xml", "xl/workbook.xml"]),
            &["spreadsheet", "as CSV"],
        ),
        (
            npz(&[position(), named("positions")]),
            &["position, positions", "same meaning"],
        ),
        (npz(&[position(), named("POSITION")]), &["same meaning"]),
        (
            npz(&[("position", "|O", "(2, 3)", vec![0; 48])]),
            &["array position", "|O", "objects of Python", "a.tolist()"],
        ),
        (
            npz(&[("position", "<c16", "(1, 3)", vec![0; 48])]),
            &["complex", "a.real"],
        ),
        (
            npz(&[("position", "<i8", "(1, 3)", vec![0; 24])]),
            &["<i8", "a.astype(np.float64)"],
        ),
    ] {
        let input = folder.file("a.npz", &bytes)?;
        let run = neighbors(&[&input, "--cutoff", "1"])?;
        run.expect_error(&format!("{parts:?}"), 1, parts);
        run.expect_error(&format!("{parts:?}"), 1, &[&input]);
    }
    // A wrong byte in the first header, in the data, and in the last one.
    let whole = npz(&[position(), ("radius", "<f8", "(2,)", f8(&[1.0, 1.0]))]);
    for place in [2, 26, 60, 100, whole.len() / 2, whole.len() - 60] {
        let mut damaged = whole.clone();
        damaged[place] ^= 0x20;
        let input = folder.file("a.npz", &damaged)?;
        let run = collide(&[&input, "--dt", "1"])?;
        run.expect_error(&format!("byte {place}"), 1, &[&input]);
        for word in ["zip", "Zip archive:", "stream", "checksum", "::"] {
            assert!(
                !run.stderr.replace(&input, "").contains(word),
                "{}",
                run.stderr
            );
        }
    }
    let of_box = |name| (name, "<f8", "(3,)", f8(&[4.0, 4.0, 4.0]));
    let flags = |name, dtype| (name, dtype, "(3,)", b"FFF".to_vec());
    for (arrays, parts) in [
        (
            vec![position(), of_box("L")],
            &["array L may be the box", "--box"][..],
        ),
        (vec![position(), of_box("Lx")], &["array Lx may be the box"]),
        (
            vec![position(), of_box("cell"), flags("periodic", "|b1")],
            &["array periodic", "array pbc", "--periodic"],
        ),
        (
            vec![position(), of_box("cell"), flags("pbc", "|S1")],
            &["array pbc", "|S1", "np.array([True])"],
        ),
    ] {
        let input = folder.file("a.npz", npz(&arrays))?;
        neighbors(&[&input, "--cutoff", "1"])?.expect_error(&format!("{parts:?}"), 1, parts);
    }
    // A molecule of ASE, which has no box.
    let molecule = npz(&[
        (
            "positions",
            "<f8",
            "(2, 3)",
            f8(&[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]),
        ),
        ("cell", "<f8", "(3, 3)", f8(&[0.0; 9])),
        ("pbc", "|b1", "(3,)", vec![0; 3]),
    ]);
    let input = folder.file("a.npz", molecule)?;
    let run = neighbors(&[&input, "--cutoff", "1", "--output", "-"])?;
    assert_eq!(rows(&run, &[]), "0,1,0,0,0,0.0,0.0,1.0,1.0\n");
    let velocities = npz(&[position(), named("velocity"), named("vel")]);
    let input = folder.file("a.npz", velocities)?;
    let run = collide(&[&input, "--dt", "1", "--radius", "1"])?;
    run.expect_error("velocities", 1, &["velocity, vel", "same meaning"]);
    let mut array = records("('x', '<f8'), ('y', '<f8')", 0, b"");
    array[12] = 0xff;
    let input = folder.file("a.npy", &array)?;
    let run = neighbors(&[&input, "--cutoff", "1"])?;
    run.expect_error("damaged", 1, &["byte 10", "the header is damaged"]);
    Ok(())
}

#[test]
fn boxes_of_archives_are_used() -> Test {
    let folder = Folder::new("npz-box")?;
    let position = (
        "position",
        "<f8",
        "(2, 3)",
        f8(&[0.125, 0.0, 0.0, 3.875, 0.0, 0.0]),
    );
    let pbc = |flags: [u8; 3]| ("pbc", "|b1", "(3,)", flags.to_vec());
    let cell = (
        "cell",
        "<f8",
        "(3, 3)",
        f8(&[4.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 4.0]),
    );
    let find = |arrays: &[(&str, &str, &str, Vec<u8>)], args: &[&str], notes: &[&str]| {
        let input = folder.file("a.npz", npz(arrays)).unwrap();
        rows(
            &neighbors(&[&[&input, "--cutoff", "1", "--output", "-"], args].concat()).unwrap(),
            notes,
        )
    };
    assert_eq!(
        find(&[position.clone(), cell.clone(), pbc([1; 3])], &[], &[]),
        PAIR
    );
    assert_eq!(
        find(&[position.clone(), cell.clone(), pbc([1, 0, 0])], &[], &[]),
        PAIR
    );
    assert_eq!(
        find(&[position.clone(), cell.clone(), pbc([0, 1, 1])], &[], &[]),
        ""
    );
    assert_eq!(
        find(
            &[position.clone(), cell.clone(), pbc([1; 3])],
            &["--open"],
            &[]
        ),
        ""
    );
    for (name, shape, numbers) in [
        ("cell", "(3,)", &[4.0, 4.0, 4.0][..]),
        ("Cell", "(3,)", &[4.0, 4.0, 4.0]),
        ("lattice", "(3,)", &[4.0, 4.0, 4.0]),
        ("box", "(6,)", &[4.0, 4.0, 4.0, 0.0, 0.0, 0.0]),
        ("box", "(6,)", &[4.0, 4.0, 8.0, 0.5, 0.25, 0.0]),
        ("dimensions", "(6,)", &[4.0, 4.0, 4.0, 90.0, 90.0, 90.0]),
        ("dimensions", "(6,)", &[4.0, 5.0, 6.0, 80.0, 70.0, 60.0]),
    ] {
        let given = (name, "<f8", shape, f8(numbers));
        assert_eq!(
            find(&[position.clone(), given], &[], &["without pbc"]),
            PAIR,
            "{name} {numbers:?}"
        );
    }
    let flat = (
        "box",
        "<f4",
        "(6,)",
        [4.0_f32, 4.0, 0.0, 0.0, 0.0, 0.0]
            .into_iter()
            .flat_map(f32::to_le_bytes)
            .collect(),
    );
    assert_eq!(
        find(&[position.clone(), flat], &[], &["two-dimensional"]),
        PAIR
    );
    // The tilt factor xy = 0.5 displaces the images along b by 2 along x: the image of the second particle at
    // (3.875, 0) is at (5.875 - 4, 4).
    let tilted = ("box", "<f8", "(6,)", f8(&[4.0, 4.0, 9.0, 0.5, 0.0, 0.0]));
    let pair = find(
        &[
            (
                "position",
                "<f8",
                "(2, 3)",
                f8(&[0.0, 0.0, 0.0, 2.0, 3.5, 0.0]),
            ),
            tilted,
        ],
        &[],
        &["without pbc"],
    );
    assert_eq!(pair, "0,1,0,-1,0,0.0,-0.5,0.0,0.5\n");
    for (name, shape, numbers, parts) in [
        (
            "cell",
            "(6,)",
            &[4.0, 4.0, 4.0, 90.0, 90.0, 1.0][..],
            &["array cell", "--box"][..],
        ),
        (
            "cell",
            "(6,)",
            &[4.0, 4.0, 4.0, 30.0, 30.0, 90.0],
            &["array cell", "no box has the angles"],
        ),
        ("cell", "(2,)", &[4.0, 4.0], &["array cell", "(3, 3)"]),
        (
            "cell",
            "(3,)",
            &[4.0, f64::NAN, 4.0],
            &["array cell", "finite"],
        ),
        (
            "simulation_box",
            "(3,)",
            &[4.0, 4.0, 4.0],
            &["simulation_box", "cell, box", "--box", "--open"],
        ),
        (
            "unit_cell",
            "(3,)",
            &[4.0, 4.0, 4.0],
            &["the array unit_cell", "cell, box"],
        ),
    ] {
        let input = folder.file(
            "a.npz",
            npz(&[position.clone(), (name, "<f8", shape, f8(numbers))]),
        )?;
        neighbors(&[&input, "--cutoff", "1"])?.expect_error(name, 1, parts);
    }
    let two = [
        position.clone(),
        cell.clone(),
        ("box", "<f8", "(3,)", f8(&[4.0; 3])),
    ];
    let input = folder.file("a.npz", npz(&two))?;
    neighbors(&[&input, "--cutoff", "1"])?.expect_error("two", 1, &["more than one box", "--open"]);

    // The names of ASE and HOOMD, and motion that is not read.
    let plural = (
        "positions",
        "<f8",
        "(2, 3)",
        f8(&[0.0, 0.0, 0.0, 5.0, 0.0, 0.0]),
    );
    let velocities = (
        "velocities",
        "<f8",
        "(2, 3)",
        f8(&[1.0, 0.0, 0.0, -1.0, 0.0, 0.0]),
    );
    let diameter = ("diameter", "<f8", "(2,)", f8(&[2.0; 2]));
    let input = folder.file(
        "a.npz",
        npz(&[plural.clone(), velocities.clone(), diameter]),
    )?;
    let run = collide(&[&input, "--dt", "3", "--output", "-"])?;
    assert_eq!(
        rows(&run, &["the archive has no box", "--box"]),
        "0,1,1.5,0.0\n"
    );
    let momenta = ("momenta", velocities.1, velocities.2, velocities.3);
    let input = folder.file("a.npz", npz(&[plural, momenta]))?;
    let run = collide(&[&input, "--dt", "3", "--radius", "1"])?;
    run.expect_error("momenta", 1, &["array momenta", "velocity", "--at-rest"]);
    collide(&[&input, "--dt", "3", "--radius", "1", "--at-rest"])?.expect_success("at rest");
    Ok(())
}

#[test]
fn tables_may_have_other_separators() {
    let folder = Folder::new("separators").unwrap();
    let pair = "0,1,0,0,0,1.0,0.0,0.0,1.0\n";
    let with = |separator: &'static str, columns: Option<&'static str>| {
        let names = columns
            .map(|columns| vec!["--columns", columns])
            .unwrap_or_default();
        [
            vec!["--cutoff", "1", "--format", "csv", "--separator", separator],
            names,
        ]
        .concat()
    };
    for (text, separator) in [
        ("x;y;z;radius\n0;0;0;1\n1;0;0;1\n", "semicolon"),
        ("x\ty\tz\tradius\n0\t0\t0\t1\n1\t0\t0\t1\n", "tab"),
        ("x y z radius\n0 0 0 1\n1 0 0 1\n", "space"),
        ("# x y z radius\n 0  0  0 1\n 1 0 0\t1\n", "space"),
        ("#x \"y\" z r\n0 0 0 1\n1 0 0 1\n", "space"),
    ] {
        let parts = [
            "line 1",
            "separated by",
            &format!("--separator {separator}"),
        ];
        expect_error(&folder, "a.csv", text, &[], &parts);
        assert_eq!(
            list(&folder, "a.csv", text, &with(separator, None), &[]),
            pair,
            "{text}"
        );
    }
    // Clouds of points, and what Yade and MercuryDPM write.
    let cloud = "0 0 0\n1 0 0\n1 5 0\n";
    let parts = [
        "line 1",
        "`0 0 0`",
        "--format csv --separator space --columns x,y,z",
    ];
    expect_error(&folder, "cloud.xyz", cloud, &[], &parts);
    assert_eq!(
        list(
            &folder,
            "cloud.xyz",
            cloud,
            &with("space", Some("x,y,z")),
            &[]
        ),
        pair
    );
    let yade = "#format x_y_z_r\n#no comment\n0\t0\t0\t1\n1\t0\t0\t1\n";
    assert_eq!(
        list(
            &folder,
            "a.txt",
            yade,
            &with("tab", Some("x,y,z,radius")),
            &[]
        ),
        pair
    );
    let mercury = "0 0 0 1 0 0 0.5 0 0 0 0 0 0 0\n1 0 0 -1 0 0 0.5 0 0 0 0 0 0 0\n";
    let columns = "x,y,z,vx,vy,vz,radius,_,_,_,_,_,_,_";
    assert_eq!(
        list(
            &folder,
            "a.data",
            mercury,
            &with("space", Some(columns)),
            &[]
        ),
        pair
    );
    expect_error(
        &folder,
        "a.csv",
        "x;y;z\n0,5;0;0\n",
        &["--separator", "semicolon"],
        &["line 2", "`0,5`", "decimal point"],
    );
    for (text, args, parts) in [
        (
            yade,
            &[][..],
            &[
                "line 1",
                "a table of Yade",
                "--separator tab --columns x,y,z,radius",
            ][..],
        ),
        (
            "#format id_x_y_z_r_matId\n0\t0\t0\t0\t1\t0\n",
            &["--separator", "tab"],
            &["line 1", "--columns id,x,y,z,radius,_"],
        ),
        (
            "2 0 0 0 0 1 1 1\n0 0 0 1\n",
            &[
                "--format",
                "csv",
                "--separator",
                "space",
                "--columns",
                "x,y,z,radius",
            ],
            &["line 1", "names 4 columns, but there are 8", "tail -n +2 "],
        ),
        (
            "x,y,z\n\"1,000.5\",0,0\n",
            &[],
            &["line 2", "`1,000.5`", "without commas"],
        ),
        (
            "x|y|z\n0|0|0\n",
            &["--format", "csv"],
            &["line 1", "separated by `|`", "tr '|' ,"],
        ),
        ("x,y,z\nm,m,m\n0,0,0\n", &[], &["line 2", "`m`", "units"]),
        (
            "x,y,z\n0,0,0\n# end\n",
            &[],
            &[
                "line 3",
                "1 field,",
                "before the first row",
                "another frame",
                "remove the line",
            ],
        ),
        (
            "x,y,z\n0,0,0\n",
            &["--columns", "x,y,z"],
            &["line 1", "`x`", "leave out --columns"],
        ),
        (
            "sep=;\nx;y;z\n0;0;0\n",
            &["--format", "csv"],
            &["line 1", "`;`", "--separator"],
        ),
        (
            "# a\n# b\n",
            &["--format", "csv"],
            &["line 2", "no column x"],
        ),
        (
            "#a\n",
            &["--format", "csv", "--columns", "x,y"],
            &["line 1", "names 2 columns"],
        ),
        (
            "x y z\n0 0 0\n",
            &[],
            &["line 1", "separated by spaces", "--separator space"],
        ),
    ] {
        expect_error(&folder, "a.txt", text, args, parts);
    }
}

#[test]
fn lines_before_the_header_of_a_table_are_skipped() {
    let folder = Folder::new("before-header").unwrap();
    for (text, args) in [
        ("# made by a program, 2026\nx,y,z\n0,0,0\n1,0,0\n", &[][..]),
        ("# made by a program\n# x,y,z\n0,0,0\n1,0,0\n", &[]),
        ("## made by a program\n## x,y,z\n0,0,0\n1,0,0\n", &[]),
        ("x,y,z\n# m,m,m\n0,0,0\n1,0,0\n", &[]),
        (
            "sep=\t\nx\ty\tz\n0\t0\t0\n1\t0\t0\n",
            &["--separator", "tab"],
        ),
        ("# first, second\n#x,y,z\n# m,m,m\n0,0,0\n1,0,0\n", &[]),
        (
            "#Points:0,b,c\n0,0,0\n1,0,0\n",
            &["--columns", "x=Points:0,y=b,z=c"],
        ),
        (
            "# made\nPoints:0,b,c\n0,0,0\n1,0,0\n",
            &["--columns", "x=Points:0,y=b,z=c"],
        ),
        ("sep=,\nx,y,z\n0,0,0\n1,0,0\n", &[]),
        (
            "sep=;\nx;y;z\n0;0;0\n1;0;0\n",
            &["--separator", "semicolon"],
        ),
        ("# made\n0,0,0\n# amid\n1,0,0\n", &["--columns", "x,y,z"]),
        ("# x y z\n0 0 0\n1 0 0\n", &["--separator", "space"]),
    ] {
        let args = [&["--cutoff", "1", "--format", "csv"], args].concat();
        assert_eq!(
            list(&folder, "a.txt", text, &args, &[]),
            "0,1,0,0,0,1.0,0.0,0.0,1.0\n",
            "{text}"
        );
    }
    // An empty table, and one that ends without a line end.
    let boxed = "# box: 4 4 4\nx,y,z\n0.125,0,0\n3.875,0,0\n";
    let parts = [
        "line 1",
        "key `box` with 3 numbers",
        "--box and --periodic",
        "--open",
    ];
    expect_error(&folder, "a.csv", boxed, &[], &parts);
    assert_eq!(
        list(&folder, "a.csv", boxed, &["--cutoff", "1", "--open"], &[]),
        ""
    );
    let given = ["--cutoff", "1", "--box", "0 0 0 4 4 4", "--periodic", "abc"];
    assert_eq!(list(&folder, "a.csv", boxed, &given, &[]), PAIR);
    let columns = "x,y,z,Lx,Ly,Lz\n0.125,0,0,4,4,4\n3.875,0,0,4,4,4\n";
    let note = ["Lx, Ly, Lz may be the box", "--box and --periodic"];
    assert_eq!(
        list(&folder, "a.csv", columns, &["--cutoff", "1"], &note),
        ""
    );
    assert_eq!(list(&folder, "a.csv", columns, &given, &[]), PAIR);
    for text in ["# a\nx,y,z\n", "#x,y,z\n", "x,y,z\n"] {
        assert_eq!(
            list(&folder, "a.csv", text, &["--cutoff", "1"], &["is empty"]),
            ""
        );
    }
    let note = ["last line", "no line end"];
    let found = list(
        &folder,
        "a.csv",
        "# a\nx,y,z\n0,0,0\n1,0,0",
        &["--cutoff", "1"],
        &note,
    );
    assert_eq!(found, "0,1,0,0,0,1.0,0.0,0.0,1.0\n");
}

#[test]
fn a_box_may_have_angles() {
    let folder = Folder::new("angles").unwrap();
    // In a hexagonal box, the second particle is at a + b − (0.5, 0, 0), so its image is at distance 0.5.
    let csv = "x,y,z\n0,0,0\n1.5,3.4641016,0\n";
    let args = [
        "--cutoff",
        "1",
        "--box",
        "0 0 0 4 4 4 90 90 120",
        "--periodic",
        "abc",
    ];
    let found = list(&folder, "a.csv", csv, &args, &[]);
    assert!(
        found.starts_with("0,1,-1,-1,0,-0.500000000000000"),
        "{found}"
    );
    for (cell, part) in [
        ("0 0 0 4 4 4 90 90", "8 numbers"),
        ("0 0 0 4 4 4 90 90 180", "between 0 and 180"),
        ("0 0 0 4 4 4 30 30 90", "no box has the angles"),
    ] {
        let run =
            neighbors(&["a.csv", "--cutoff", "1", "--box", cell, "--periodic", "abc"]).unwrap();
        run.expect_error(cell, 2, &[part]);
    }
}

#[test]
fn files_of_formats_that_are_not_read_name_a_conversion() -> Test {
    let folder = Folder::new("foreign")?;
    let pdb = "HEADER    X\nCRYST1   10.000   10.000   10.000  90.00  90.00  90.00 P 1\n\
               ATOM      1  H   MOL     1       0.000   0.000   0.000\n";
    let gro = "title\n    1\n    1SOL     OW    1   0.230   0.628   0.113\n   1.8 1.8 1.8\n";
    let poscar = "Si\n1.0\n5.4 0 0\n0 5.4 0\n0 0 5.4\nSi\n1\nDirect\n0 0 0\n";
    let yaml = "---\ncreator: LAMMPS\ntimestep: 0\n";
    let gsd = [&b"\xdf\x65\xdf\x65\xdf\x65\xdf\x65"[..], &[0; 300]].concat();
    let dcd = [&b"T\x00\x00\x00CORD"[..], &[0; 300]].concat();
    let old_dump = {
        let whole = [100_i64.to_le_bytes(), 2_i64.to_le_bytes()].concat();
        let flags = [0_i32, 0, 0, 1, 1, 2, 2].map(i32::to_le_bytes).concat();
        [whole, flags, f8(&[0.0, 1.0])].concat()
    };
    let cube = "title\n\n 2 0 0 0\n 10 1 0 0\n 10 0 1 0\n 10 0 0 1\n 1 1.0 0 0 0\n 1 1.0 0 0 1\n";
    let config = "title\n 2 1 2 0.5\n 9 0 0\n 0 9 0\n 0 0 9\nAr 1\n 0 0 0\n 1 0 0\nAr 2\n";
    let sdf =
        "\n  program\n\n  1  0  0  0  0  0  0  0  0  0999 V2000\n    0.0    0.0    0.0 O   0  0\n";
    let mercury =
        "2 0.5 0 0 0 10 10 10\n0 0 0 1 0 0 0.5 0 0 0 0 0 0 0\n4 0 0 -1 0 0 0.5 0 0 0 0 0 0 0\n";
    let columns = "x,y,z,vx,vy,vz,radius,_,_,_,_,_,_,_";
    for (name, bytes, parts) in [
        (
            "a.pdb",
            pdb.as_bytes(),
            &["a PDB file", "format='PDB'", "trajectory[-1]", "dimensions=t.dimensions", "--box \"0 0 0 10.000 10.000 10.000 90.00 90.00 90.00\" --periodic abc"][..],
        ),
        (
            "a.crd",
            b"* TITLE\n*\n    1\n    1    1 HOH  OH2    1.00000   5.00000   5.00000 SEG  1      0.00000\n",
            &["CHARMM", "format='CRD'"],
        ),
        (
            "a.gen",
            b"2 C\nGa As\n1 1 0 0 0\n2 2 1 1 1\n",
            &["a GEN file of DFTB+", "ase convert -i gen"],
        ),
        (
            "a.cif",
            b"data_x\n_cell_length_a 5\nloop_\n",
            &["a CIF file", "ase convert"],
        ),
        (
            "a.gro",
            gro.as_bytes(),
            &["a GRO file", "format='GRO'", "velocities=v", "Å/ps"],
        ),
        ("POSCAR", poscar.as_bytes(), &["POSCAR", "ase convert"]),
        ("a.gsd", &gsd, &["a GSD file", "gsd.hoomd", "numpy.savez", "one series"]),
        ("a.dcd", &dcd, &["a DCD", "MDAnalysis"]),
        (
            "dump.yaml",
            yaml.as_bytes(),
            &["YAML dump", "dump 1 all custom"],
        ),
        (
            "dump.bin",
            b"\xf6\xff\xff\xff\xff\xff\xff\xffDUMPCUSTOM\x01",
            &["binary LAMMPS dump", "binary2txt"],
        ),
        (
            "a.vtk",
            b"# vtk DataFile Version 3.0\n",
            &["a VTK file", "--columns"],
        ),
        ("old.bin", &old_dump, &["binary LAMMPS dump", "binary2txt"]),
        (
            "a.trr",
            b"\0\0\x07\xc9\0",
            &["a TRR", "velocities=v"],
        ),
        (
            "a.cube",
            cube.as_bytes(),
            &["a cube", "ase convert -i cube"],
        ),
        ("CONFIG", config.as_bytes(), &["DL_POLY", "OVITO"]),
        ("a.sdf", sdf.as_bytes(), &["SDF", "ase convert -i sdf"]),
        (
            "a.xsf",
            b"ATOMS\n1 0 0 0\n1 1 0 0\n",
            &["an XSF file", "ase convert -i xsf"],
        ),
        (
            "a.in",
            b"&control\n/\nATOMIC_POSITIONS angstrom\nH 0 0 0\n",
            &["Quantum ESPRESSO", "ase convert -i espresso-in"],
        ),
        (
            "a.pcd",
            b"VERSION .7\nFIELDS x y z\n",
            &["a PCD", "CloudCompare"],
        ),
        ("a.png", b"\x89PNG\r\n\x1a\n", &["a picture"]),
        (
            "a.txyz",
            b"2 title\n1 H 0 0 0 1 2\n2 H 1 0 0 1 1\n",
            &["Tinker", "format='TXYZ'"],
        ),
        (
            "b.xyz",
            b"2\n1 H 0 0 0 1 2\n2 H 1 0 0 1 1\n",
            &["Tinker", "format='TXYZ'"],
        ),
        (
            "XDATCAR",
            b"Si\n1.0\n5.4 0 0\n0 5.4 0\n0 0 5.4\nSi\n1\nDirect configuration= 1\n0 0 0\n",
            &["XDATCAR", "ase convert -i vasp-xdatcar"],
        ),
        (
            "OUTCAR",
            b" vasp.5.4.4.18Apr17\n",
            &["OUTCAR", "ase convert -i vasp-out"],
        ),
        (
            "vasprun.xml",
            b"<?xml version=\"1.0\"?>\n<modeling>\n",
            &["vasprun.xml", "ase convert -i vasp-xml"],
        ),
        ("a.cfg", b"Number of particles = 2\n", &["AtomEye", "OVITO"]),
        (
            "a.parquet",
            b"PAR1\x15\x04",
            &["a Parquet file", "pandas.read_parquet('"],
        ),
        (
            "a.mat",
            b"MATLAB 5.0 MAT-file",
            &["a MATLAB file", "scipy.io.loadmat"],
        ),
        ("a.pkl", b"\x80\x04\x95", &["a pickle", "numpy.savez"]),
        (
            "a.json",
            b"{\n \"x\": 1\n}\n",
            &["a JSON file", "CSV", "ase convert -i json"],
        ),
        (
            "a.xml",
            b"<?xml version=\"1.0\"?>\n<hoomd_xml>\n",
            &["an XML file", "numpy.savez"],
        ),
        (
            "a.vtu",
            b"<?xml version=\"1.0\"?>\n<VTKFile>\n",
            &["VTK", "--columns"],
        ),
        (
            "a.imd",
            b"#F A 0 0 0 3 0 0\n#C x y z\n",
            &["an IMD file", "OVITO"],
        ),
        (
            "a.stl",
            b"solid a\n  facet normal 0 0 1\n",
            &["a mesh", "--mesh"],
        ),
        (
            "a.obj",
            b"# a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
            &["a mesh", "--mesh"],
        ),
        (
            "a.data",
            mercury.as_bytes(),
            &["MercuryDPM", "tail -n 2 ", columns],
        ),
        (
            "a.dat",
            b"0 0 0\n",
            &["neither", "--separator space --columns x,y,z"],
        ),
    ] {
        let input = folder.file(name, bytes)?;
        let run = neighbors(&[&input, "--cutoff", "1"])?;
        run.expect_error(name, 1, parts);
        run.expect_error(name, 1, &[&input]);
    }
    // What the error about MercuryDPM says: the last frame, as `tail -n 2` prints it.
    let (_, table) = mercury.split_once('\n').unwrap();
    let args = [
        "--format",
        "csv",
        "--separator",
        "space",
        "--columns",
        columns,
        "--dt",
        "3",
    ];
    assert_eq!(
        collisions(&folder, "out.txt", table, &args, &[]),
        "0,1,1.5,0.0\n"
    );
    Ok(())
}

/// Two atoms as in [`NEAR`], which meet at their image at the time 0.125 if their radii are 0.0625.
fn data_file(style: &str, atoms: [&str; 2]) -> String {
    format!(
        "LAMMPS data file\n\n2 atoms\n2 atom types\n0 bonds # none\n\n0 4 xlo xhi\n0 4 ylo yhi # b\n0.0 4.0 zlo zhi\n\n\
         Masses\n\n1 1.0\n2 2.5 # Cl\n\nPair Coeffs # lj/cut\n\n1 1 1\n2 1 1\n\nAtoms{style}\n\n{}\n{}\n\nVelocities\n\n\
         2 0.5 0 0 0 0 1\n1 -0.5 0 0 0 0 1\n\nBonds\n\n",
        atoms[0], atoms[1]
    )
}

#[test]
fn data_files_of_lammps_are_read() -> Test {
    let folder = Folder::new("data")?;
    let args = ["--cutoff", "1"];
    let notes = ["does not say which edges", "--periodic"];
    let step = ["--dt", "1", "--radius", "0.0625"];
    let meeting = "0,1,0.125,";
    for (style, atoms) in [
        (" # atomic", ["1 1 0.125 0 0", "2 1 3.875 0 0"]),
        (
            " #atomic",
            ["1 1 0.125 0 0 0 0 0", "2 1 3.875 0 0 -1 0 1 # far"],
        ),
        (" # charge", ["1 1 -1 0.125 0 0", "2 1 1 3.875 0 0"]),
        (" # bond", ["1 7 1 0.125 0 0", "2 7 1 3.875 0 0"]),
        (" # angle", ["1 7 1 0.125 0 0", "2 7 1 3.875 0 0"]),
        (
            " # molecular",
            ["1 7 1 0.125 0 0 0 0 0", "2 7 1 3.875 0 0 0 0 0"],
        ),
        (" # full", ["1 7 1 -1 0.125 0 0", "2 7 1 1 3.875 0 0"]),
    ] {
        let text = data_file(style, atoms);
        for name in ["a.data", "data.melt", "a.lmp", "a.csv"] {
            assert_eq!(list(&folder, name, &text, &args, &notes), PAIR, "{style}");
        }
        let found = collisions(&folder, "a.data", &text, &step, &notes);
        assert!(found.starts_with(meeting), "{style}: {found}");
        let named = ["--cutoff", "1", "--ids", "--types"];
        let found = list(&folder, "a.data", &text, &named, &notes);
        assert_eq!(
            found,
            PAIR.replacen("0,1", "1,2", 1).replace('\n', ",1,1\n"),
            "{style}"
        );
        assert_eq!(
            list(&folder, "a.data", &text, &["--cutoff", "1", "--open"], &[]),
            ""
        );
        let edges = ["--cutoff", "1", "--periodic", "bc"];
        assert_eq!(list(&folder, "a.data", &text, &edges, &[]), "");
    }
    // Diameters, and the columns of an unknown style.
    let spheres = data_file(
        " # sphere",
        ["1 1 0.125 1 0.125 0 0", "2 1 0.125 1 3.875 0 0"],
    );
    let found = collisions(&folder, "a.data", &spheres, &["--dt", "1"], &notes);
    assert!(found.starts_with(meeting), "{found}");
    for style in ["", " # mine", " # hybrid sphere"] {
        let text = data_file(style, ["1 9 1 0.125 0 0", "2 9 1 3.875 0 0"]);
        let parts = [
            "line 21",
            "atom style",
            "atomic, charge",
            "--columns id,type,x,y,z",
        ];
        expect_error(&folder, "a.data", &text, &[], &parts);
        let args = ["--cutoff", "1", "--columns", "id,_,type,x,y,z"];
        assert_eq!(list(&folder, "a.data", &text, &args, &notes), PAIR);
    }
    // Types with labels.
    let good = data_file(" # atomic", ["1 1 0.125 0 0", "2 2 3.875 0 0"]);
    let labels = good.replace("Masses", "Atom Type Labels\n\n1 Na\n2 Cl\n\nMasses");
    let types = ["--cutoff", "1", "--types"];
    assert!(list(&folder, "a.data", &labels, &types, &notes).ends_with(",Na,Cl\n"));
    assert!(list(&folder, "a.data", &good, &types, &notes).ends_with(",1,2\n"));
    let by_label = labels.replace("2 2 3.875", "2 Cl 3.875");
    assert!(list(&folder, "a.data", &by_label, &types, &notes).ends_with(",Na,Cl\n"));
    for radii in ["Na=0.0625,Cl=0.0625", "1=0.0625,2=0.0625"] {
        let step = ["--dt", "1", "--radius-by-type", radii];
        let found = collisions(&folder, "a.data", &labels, &step, &notes);
        assert!(found.starts_with(meeting), "{found}");
    }
    // Tilted boxes: b is (2, 4, 0), so the image of (2.25, 3.75, 0) along -b is (0.25, -0.25, 0).
    let atoms = ["1 1 0.25 0 0", "2 1 2.25 3.75 0"];
    let tilted = data_file(" # atomic", atoms).replace("\n\nMasses", "\n2 0 0 xy xz yz\n\nMasses");
    let expected = "0,1,0,-1,0,0.0,-0.25,0.0,0.25\n";
    assert_eq!(list(&folder, "a.data", &tilted, &args, &notes), expected);
    let general = data_file(" # atomic", atoms).replace(
        "0 4 xlo xhi\n0 4 ylo yhi # b\n0.0 4.0 zlo zhi",
        "4 0 0 avec\n2 4 0 bvec\n0 0 4 cvec\n0 0 0 abc origin",
    );
    assert_eq!(list(&folder, "a.data", &general, &args, &notes), expected);
    // A two-dimensional world.
    let flat = good.replace("0.0 4.0 zlo", "-0.1 0.1 zlo");
    assert_eq!(
        list(&folder, "a.data", &flat, &args, &["two-dimensional"]),
        PAIR
    );
    let rising = flat.replace("2 0.5 0 0 0", "2 0.5 0 3 0");
    assert!(list(&folder, "a.data", &rising, &args, &["three-dimensional"]).contains("0,0,0,0,1,"));
    // Without velocities, and damaged.
    let still = &good[..good.find("Velocities").unwrap_or_default()];
    collisions(&folder, "a.data", still, &step, &["no section Velocities"]);
    for (text, parts) in [
        (
            good.replace("0 4 xlo xhi", "0 4 xlo xhl"),
            &["line 7", "`0 4 xlo xhl`", "not known", "--box"][..],
        ),
        (
            good.replace("0 4 xlo xhi", "0 4 5 xlo xhi"),
            &["line 7", "`xlo xhi` must have two numbers", "--open"],
        ),
        (
            good.replace("0 4 xlo xhi", "4 0 xlo xhi"),
            &["line 7", "upper bound"],
        ),
        (
            good.replace("2 atoms", "3 atoms"),
            &["line 26", "1 field,", "id type x y z"],
        ),
        (
            good.replace("2 atoms", "1 atoms"),
            &["line 24", "section Atoms has more lines than the 1 atoms"],
        ),
        (
            good.replace("1 -0.5 0 0 0 0 1", "1 -0.5 0 0 0 0 1\n3 0 0 0"),
            &[
                "line 30",
                "section Velocities has more lines than the 2 atoms",
            ],
        ),
        (
            good.replace("0 4 xlo xhi\n0 4 ylo yhi # b\n0.0 4.0 zlo zhi\n", ""),
            &["lacks the box", "--box"],
        ),
        (
            good.replace("2 2 3.875", "2 2 far"),
            &["line 24", "field x", "`far`"],
        ),
        (
            good.replace("2 2 3.875", "1 2 3.875"),
            &["line 24", "id 1", "more than once"],
        ),
        (
            good.replace("2 2 3.875 0 0", "2 2 3.875 0 0 1"),
            &["line 24", "6 fields", "image flags"],
        ),
    ] {
        expect_error(
            &folder,
            "a.data",
            &text,
            &["--format", "lammps-data"],
            parts,
        );
    }
    for (text, parts) in [
        (
            good.replace("2 0.5 0 0", "2 0.5 up 0"),
            &["line 28", "field vy", "`up`"][..],
        ),
        (
            good.replace("1 -0.5", "2 -0.5"),
            &["line 29", "id 2", "more than once"],
        ),
        (
            good.replace("1 -0.5", "9 -0.5"),
            &["line 29", "no atom with the id 9"],
        ),
        (
            good[..good.len() - 30].to_owned(),
            &["1 of 2 velocities", "cut off"],
        ),
        (
            still[..still.len() - 15].to_owned(),
            &["1 of 2 atoms", "cut off"],
        ),
    ] {
        let input = folder.file("a.data", &text)?;
        let run = collide(&[&[input.as_str()], &step[..]].concat())?;
        run.expect_error(&text, 1, parts);
    }
    // The ways out of a damaged box.
    let damaged = good.replace("0 4 xlo xhi", "0 four xlo xhi");
    expect_error(
        &folder,
        "a.data",
        &damaged,
        &[],
        &["line 7", "`0 four xlo xhi`", "--open"],
    );
    let given = [
        "--cutoff",
        "1",
        "--open",
        "--box",
        "0 0 0 4 4 4",
        "--periodic",
        "abc",
    ];
    assert_eq!(list(&folder, "a.data", &damaged, &given, &[]), PAIR);
    Ok(())
}

#[test]
fn types_may_be_names() -> Test {
    let folder = Folder::new("type-names")?;
    let dump = frame(
        0,
        "ITEM: BOX BOUNDS ff ff ff",
        "id type element x y z",
        &["1 1 Na 0 0 0", "2 2 Cl 3 0 0"],
    );
    let element = dump.replace("id type element", "id mol element");
    let labels = dump.replace("id type element", "id mol type");
    let xyz = "2\n\nNa 0 0 0\nCl 3 0 0\n";
    let csv = "x,y,z,species\n0,0,0,Na\n3,0,0,Cl\n";
    for (name, text, notes) in [
        ("a.dump", &*element, &[][..]),
        ("a.dump", &labels, &[]),
        ("a.xyz", xyz, &["no box"]),
        ("a.csv", csv, &[]),
    ] {
        let args = ["--cutoff", "4", "--types"];
        assert_eq!(
            list(&folder, name, text, &args, notes),
            "0,1,0,0,0,3.0,0.0,0.0,3.0,Na,Cl\n"
        );
        let step = ["--dt", "1", "--radius-by-type", "Na=1,Cl=2", "--types"];
        let found = collisions(&folder, name, text, &step, &["at rest"]);
        assert_eq!(found, "0,1,Na,Cl,0.0,0.0\n", "{text}");
        let input = folder.file(name, text)?;
        let run = collide(&[&input, "--dt", "1", "--radius-by-type", "Na=1"])?;
        run.expect_error(text, 1, &["field type is Cl", "lacks Cl=RADIUS"]);
        // NumPy arrays hold names as text of 16 characters in UTF-32.
        let text_of = |name: &str| -> Vec<u8> {
            let mut bytes: Vec<u8> = name
                .chars()
                .flat_map(|c| u32::from(c).to_le_bytes())
                .collect();
            bytes.resize(64, 0);
            bytes
        };
        let output = folder.path("list.npy")?;
        neighbors(&[&[input.as_str()], &args[..], &["--output", &output]].concat())?
            .expect_success("npy");
        let written = fs::read(&output)?;
        assert!(written.ends_with(&[text_of("Na"), text_of("Cl")].concat()));
        assert!(
            String::from_utf8_lossy(&written).contains("('type_i', '<U16'), ('type_j', '<U16')")
        );
        let output = folder.path("list.npz")?;
        neighbors(&[&[input.as_str()], &args[..], &["--output", &output]].concat())?
            .expect_success("npz");
        let mut archive = zip::ZipArchive::new(fs::File::open(&output)?)?;
        let mut array = Vec::new();
        std::io::Read::read_to_end(&mut archive.by_name("type_j.npy")?, &mut array)?;
        assert!(array.ends_with(&text_of("Cl")));
    }
    // Numbers stay numbers if the file has both, and radii by name are those of the names.
    let args = ["--cutoff", "4", "--types"];
    assert!(list(&folder, "a.dump", &dump, &args, &[]).ends_with(",1,2\n"));
    for by_type in ["Na=1,Cl=2", "1=1,2=2"] {
        let step = ["--dt", "1", "--radius-by-type", by_type];
        assert_eq!(
            collisions(&folder, "a.dump", &dump, &step, &["at rest"])
                .lines()
                .count(),
            1
        );
    }
    let long = csv.replace("Cl", "a name that is too long");
    expect_error(
        &folder,
        "a.csv",
        &long,
        &["--types"],
        &["line 3", "field type", "16 bytes"],
    );
    expect_error(
        &folder,
        "a.csv",
        "x,y,z\n0,0,0\n",
        &["--types"],
        &["type, element or species", "--types"],
    );
    // Names after numbers fit into CSV only.
    let mixed = folder.file("a.dump", dump.replace("element", "mol") + &labels)?;
    let output = folder.path("mixed.npy")?;
    let args = [
        mixed.as_str(),
        "--cutoff",
        "4",
        "--types",
        "--frames",
        "all",
        "--output",
    ];
    let run = neighbors(&[&args[..], &[&output]].concat())?;
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains("as CSV"), "{}", run.stderr);
    let run = neighbors(&[&args[..], &["-"]].concat())?;
    assert!(rows(&run, &["order of atoms"]).ends_with(",Na,Cl\n"));
    Ok(())
}

/// The script `tests/against_programs.py` wrote these files with other programs. `programs.csv` has the neighbours, and
/// `programs-times.csv` the collisions, that it found with NumPy in the numbers it gave to these programs.
#[test]
fn files_of_other_programs_have_their_pairs() -> Test {
    let expected = fs::read_to_string(data("programs.csv"))?;
    let times = fs::read_to_string(data("programs-times.csv"))?;
    assert!(expected.lines().count() > 100 && times.lines().count() > 10);
    for name in [
        "ase-momenta.xyz",
        "ase.npz",
        "lammps.dump",
        "ovito.xyz",
        "mdanalysis.npz",
        "lammps-written.data",
        "ase.data.gz",
    ] {
        let input = data(&format!("programs-{name}"));
        let run = neighbors(&[&input, "--cutoff", "2.5", "--output", "-"])?;
        run.expect_success(name);
        let first = |line: &str| line.split(',').take(5).collect::<Vec<_>>().join(",");
        let found: Vec<String> = run.stdout.lines().map(first).collect();
        assert_eq!(found, expected.lines().collect::<Vec<_>>(), "{name}");
        let run = collide(&[&input, "--dt", "0.5", "--radius", "0.4", "--output", "-"])?;
        run.expect_success(name);
        assert_eq!(run.stdout.lines().count(), times.lines().count(), "{name}");
        for (found, expected) in run.stdout.lines().zip(times.lines()).skip(1) {
            let found: Vec<&str> = found.split(',').collect();
            let expected: Vec<&str> = expected.split(',').collect();
            assert_eq!([&found[..2], &found[4..]].concat(), expected[..5], "{name}");
            let [found, expected]: [f64; 2] = [found[2].parse()?, expected[5].parse()?];
            assert!(
                (found - expected).abs() < 1e-4,
                "{name}: {found} {expected}"
            );
        }
    }
    Ok(())
}

#[test]
fn damaged_headers_of_data_files_are_errors() -> Test {
    let folder = Folder::new("data-header")?;
    let args = ["--cutoff", "1"];
    let notes = ["does not say which edges"];
    // Without the tilt, the image along -b would be (2.25, -0.25, 0), which is far away.
    let tilted = data_file(" # atomic", ["1 1 0.25 0 0", "2 1 2.25 3.75 0"])
        .replace("\n\nMasses", "\n2 0 0 xy xz yz\n\nMasses");
    let expected = "0,1,0,-1,0,0.0,-0.25,0.0,0.25\n";
    assert_eq!(list(&folder, "a.data", &tilted, &args, &notes), expected);
    for line in [
        "2 0 0 xy xz",
        "2 0 0 XY XZ YZ",
        "2 0 0",
        "2, 0, 0 xy xz yz",
        "2 XY XZ YZ",
        "2 0 xy xz yz",
        "2 0 0 xy xz yz zz",
        "2 0 0 xy yz xz",
        "2 foos",
        "2 0 0 tilt",
        "0 5 xlo xhi",
        "2 atoms",
        "2 0 0 avec",
        "0 0 0 abc origin",
        "-0.5 0.5 wlo whi",
        "2.5 bonds",
        "2 0 0 xy xz yz\n2 0 0 xy xz yz",
    ] {
        let text = tilted.replace("2 0 0 xy xz yz", line);
        let parts = ["a.data, line ", "--box", "--open"];
        expect_error(
            &folder,
            "a.data",
            &text,
            &["--format", "lammps-data"],
            &parts,
        );
        // The way out.
        let given = [
            "--cutoff",
            "1",
            "--open",
            "--box",
            "0 0 0 4 0 0 2 4 0 0 0 4",
            "--periodic",
            "abc",
        ];
        let given = [&given[..], &["--format", "lammps-data"]].concat();
        assert_eq!(
            list(&folder, "a.data", &text, &given, &[]),
            expected,
            "{line}"
        );
    }
    // Other numbers of the header, and rows that begin with the label of a type.
    let known = "0 bonds\n1 bond types\n3 extra bond per atom\n0 crossterms\n2 extra special per atom\n0 ellipsoids";
    let more = tilted
        .replace("2 0 0 xy", &format!("{known}\n2 0 0 xy"))
        .replace("0 bonds # none\n", "");
    let more = more.replace(
        "Masses",
        "Atom Type Labels\n\n1 C\n2 H\n\nPair Coeffs # lj\n\nC 1 2\n2 1 2\n\nMasses",
    );
    let more = more.replace("\n1 1.0\n", "\nC 12.01\n");
    assert_eq!(list(&folder, "a.data", &more, &args, &notes), expected);
    // Sections.
    let step = ["--dt", "1", "--radius", "0.0625"];
    for name in [
        "velocities",
        "VELOCITIES",
        "Velocity",
        "Velocities:",
        "Veloc",
        "Velocities 2",
        "Molecules",
        "atom type labels",
    ] {
        let text = data_file(" # atomic", NEAR).replace("Velocities", name);
        let input = folder.file("a.data", &text)?;
        let run = collide(&[&[input.as_str()], &step[..]].concat())?;
        run.expect_error(
            name,
            1,
            &[
                "line 26",
                &format!("`{name}`"),
                "no section",
                "Velocities",
                "correct it",
            ],
        );
    }
    let text = data_file(" # atomic", NEAR);
    let cut = &text[..text.find("Velocities").unwrap_or_default() + 5];
    let input = folder.file("a.data", cut)?;
    collide(&[&[input.as_str()], &step[..]].concat())?.expect_error(
        "cut",
        1,
        &["`Veloc`", "was it cut off?"],
    );
    let twice = format!("{text}\nVelocities\n\n1 0 0 0\n2 0 0 0\n");
    let input = folder.file("a.data", &twice)?;
    collide(&[&[input.as_str()], &step[..]].concat())?.expect_error(
        "twice",
        1,
        &["second section Velocities"],
    );
    Ok(())
}

#[test]
fn a_comment_that_gives_a_box_is_never_an_open_world() {
    let folder = Folder::new("comments").unwrap();
    for comment in [
        "# CELL(abcABC):    4.00000     4.00000     4.00000    90.00000    90.00000    90.00000  Step:           0  \
         Bead:       0 positions{angstrom}  cell{angstrom}",
        "# CELL{GENH}: 4 0 0 0 4 0 0 0 4",
        "CELL(abcABC)=4 4 4 90 90 90",
        "CRYST1    4.000    4.000    4.000  90.00  90.00  90.00 P 1",
        "Cell vectors: 4 0 0 0 4 0 0 0 4",
        "PBC: 4 4 4",
        "pbc 4 4 4",
        "box size: 4",
        "box length 4",
        "box-length=4",
        "h_matrix=\"4 0 0 0 4 0 0 0 4\"",
        "VEC1=\"4 0 0\" VEC2=\"0 4 0\" VEC3=\"0 0 4\"",
        "a=\"4 0 0\" b=\"0 4 0\" c=\"0 0 4\"",
        "a1=\"4 0 0\" a2=\"0 4 0\" a3=\"0 0 4\"",
        "lattice_a=4 lattice_b=4 lattice_c=4",
        "ax=4 ay=0 az=0 bx=0 by=4 bz=0 cx=0 cy=0 cz=4",
        "domain=\"4 4 4\"",
        "size=\"4 4 4\"",
        "(4.0, 4.0, 4.0)",
        "0 0 0 4 4 4",
        "4x4x4",
        "4 4 4 Angstrom",
        "pbc T T T",
        "periodic=xyz",
        "Periodic: 4 4 4",
    ] {
        for text in [
            near_xyz(comment),
            near_xyz(&format!("Properties=species:S:1:pos:R:3 {comment}")),
        ] {
            // In extended XYZ, numbers alone are no box.
            if text.contains("Properties")
                && comment.starts_with(|c: char| c.is_ascii_digit() || c == '(')
            {
                continue;
            }
            expect_error(
                &folder,
                "a.xyz",
                &text,
                &[],
                &["line 2", "the comment has", "--open"],
            );
            let given = [
                "--cutoff",
                "1",
                "--open",
                "--box",
                "0 0 0 4 4 4",
                "--periodic",
                "abc",
            ];
            assert_eq!(
                list(&folder, "a.xyz", &text, &given, &[]),
                PAIR,
                "{comment}"
            );
        }
    }
    // Without any box, a note says that the world is open, but not if the file or an option says it.
    let args = ["--cutoff", "1"];
    for comment in [
        "",
        "Atoms. Timestep: 0",
        "created 2026-11-27 12:30:05",
        "energy=-1.5 stress=\"1 2 3 4 5 6 7 8 9\"",
    ] {
        let text = near_xyz(comment);
        assert_eq!(
            list(
                &folder,
                "a.xyz",
                &text,
                &args,
                &["has no box", "is open", "--box and --periodic"]
            ),
            ""
        );
        assert_eq!(
            list(&folder, "a.xyz", &text, &["--cutoff", "1", "--open"], &[]),
            ""
        );
        let given = ["--cutoff", "1", "--box", "0 0 0 4 4 4", "--periodic", "abc"];
        assert_eq!(list(&folder, "a.xyz", &text, &given, &[]), PAIR);
    }
    assert_eq!(
        list(&folder, "a.xyz", &near_xyz("pbc=\"F F F\""), &args, &[]),
        ""
    );
    let example = ["--periodic", "abc"];
    expect_error(
        &folder,
        "a.xyz",
        &near_xyz(""),
        &example,
        &["--box \"0 0 0 10 10 10\" --periodic abc"],
    );
    // Edges of the box among the atoms.
    for edge in ["Tv 4 0 0", "TV 4 0 0", "VEC1 4 0 0", "Tv_1 4 0 0"] {
        for text in [
            format!("3\n\nAr 0.125 0 0\nAr 3.875 0 0\n{edge}\n"),
            format!("2\n\nAr 0.125 0 0\nAr 3.875 0 0\n{edge}\n"),
        ] {
            let parts = ["line 5", edge, "an edge of the box", "Lattice="];
            expect_error(&folder, "a.xyz", &text, &[], &parts);
        }
    }
    let last = "3\nProperties=pos:R:3:species:S:1\n0 0 0 Te\n1 0 0 V\n9 0 0 Tv\n";
    expect_error(
        &folder,
        "a.xyz",
        last,
        &[],
        &["line 5", "an edge of the box"],
    );
    // Archives.
    let position = (
        "position",
        "<f8",
        "(2, 3)",
        f8(&[0.125, 0.0, 0.0, 3.875, 0.0, 0.0]),
    );
    let four = f8(&[4.0; 3]);
    for array in [
        (
            "bounds",
            "<f8",
            "(3, 2)",
            f8(&[0.0, 4.0, 0.0, 4.0, 0.0, 4.0]),
        ),
        ("domain", "<f8", "(3,)", four.clone()),
        ("L", "<f8", "(3,)", four.clone()),
        ("sizes", "<f8", "(3,)", four.clone()),
        ("h_matrix", "<f8", "(3,)", four),
        ("periodic", "|b1", "(3,)", vec![1, 1, 1]),
    ] {
        let input = folder
            .file("a.npz", npz(&[position.clone(), array.clone()]))
            .unwrap();
        let run = neighbors(&[&input, "--cutoff", "1"]).unwrap();
        run.expect_error(
            array.0,
            1,
            &[&format!("array {}", array.0), "may", "--box", "--open"],
        );
        neighbors(&[&input, "--cutoff", "1", "--open"])
            .unwrap()
            .expect_success(array.0);
    }
    let flags = ("periodic", "|b1", "(3,)", vec![0, 0, 0]);
    let input = folder.file("a.npz", npz(&[position, flags])).unwrap();
    let run = neighbors(&[&input, "--cutoff", "1", "--output", "-"]).unwrap();
    assert_eq!(rows(&run, &["the archive has no box"]), "");
}

#[test]
fn a_triclinic_dump_is_no_inverted_box() {
    let folder = Folder::new("inverted").unwrap();
    let text = frame(
        0,
        "ITEM: BOX BOUNDS xy xz yz pp pp pp",
        "id type x y z",
        &NEAR,
    );
    for (bounds, line) in [
        ("0 1 -2\n0 4 0\n0 4 0", "line 6"),
        ("0 2 0\n0 4 3\n0 4 0", "line 6"),
        ("0 4 0\n0 1 0\n0 4 2", "line 7"),
    ] {
        let text = text.replace("0 4\n0 4\n0 4", bounds);
        expect_error(
            &folder,
            "a.dump",
            &text,
            &[],
            &[line, "tilt", "--box", "--open"],
        );
    }
    // The largest tilts that fit: x from 0 to 6 with xy = 2 is an edge of 4.
    let good = text.replace("0 4\n0 4\n0 4", "0 6 2\n0 4 0\n0 4 0");
    assert_eq!(
        list(&folder, "a.dump", &good, &["--cutoff", "1"], &[]),
        PAIR
    );
}

#[test]
fn motion_in_a_plane_and_under_other_names_is_not_lost() -> Test {
    let folder = Folder::new("motion-2d")?;
    for (header, rows) in [
        ("x,y,u,v", "0,0,1,0\n5,0,-1,0"),
        ("x,y,v1,v2", "0,0,1,0\n5,0,-1,0"),
        ("x,y,U:0,U:1", "0,0,1,0\n5,0,-1,0"),
        ("x,y,ux,uy", "0,0,1,0\n5,0,-1,0"),
    ] {
        let text = format!("{header}\n{rows}\n");
        let named: Vec<&str> = header.split(',').skip(2).collect();
        let columns = format!("vx={},vy={}", named[0], named[1]);
        expect_no_motion(
            &folder,
            "a.csv",
            &text,
            &["seems to describe motion", &format!("--columns {columns}")],
        );
        // The advice is right: the spheres meet when their centres are 2 apart.
        let args = ["--dt", "3", "--radius", "1", "--columns", &columns];
        let found = collisions(&folder, "a.csv", &text, &args, &["two-dimensional"]);
        assert_eq!(found, "0,1,1.5,0.0\n", "{header}");
    }
    for (header, row) in [
        ("x,y,z,v,v,v", "0,0,0,1,0,0"),
        ("x,y,z,mom_x,mom_y,mom_z", "0,0,0,1,0,0"),
        ("x,y,z,px_mom,py_mom,pz_mom", "0,0,0,1,0,0"),
        ("x,y,z,momx,momy,momz", "0,0,0,1,0,0"),
        ("x,y,z,part_vx,part_vy,part_vz", "0,0,0,1,0,0"),
        ("x,y,z,dxdt,dydt,dzdt", "0,0,0,1,0,0"),
        ("x,y,z,ux,uy", "0,0,0,1,0"),
    ] {
        expect_no_motion(
            &folder,
            "a.csv",
            &format!("{header}\n{row}\n"),
            &["seems to describe motion"],
        );
    }
    for vector in [
        "pos:R:2:v:R:2",
        "pos:R:2:U:R:2",
        "pos:R:2:p:R:2",
        "pos:R:3:v:R:2",
        "pos:R:3:v:R:1",
        "pos:R:3:mom:R:3",
        "pos:R:3:v0:R:3",
        "pos:R:3:rdot:R:3",
    ] {
        let count: usize = vector
            .split(':')
            .filter_map(|part| part.parse::<usize>().ok())
            .sum();
        let text = format!("1\nProperties={vector}\n{}\n", "0 ".repeat(count));
        expect_no_motion(
            &folder,
            "a.xyz",
            &text,
            &["seems to describe motion", "--at-rest"],
        );
    }
    let array = records(
        "('x', '<f8'), ('y', '<f8'), ('radius', '<f8'), ('V', '<f8', (2,))",
        1,
        &f8(&[0.0; 5]),
    );
    let input = folder.file("a.npy", array)?;
    collide(&[&input, "--dt", "1"])?.expect_error(
        "npy",
        1,
        &["column V 1", "seems to describe motion"],
    );
    // Unwrapped positions beside others are no motion.
    for columns in [
        "id x y z xu yu zu radius",
        "id xs ys zs xu yu zu radius",
        "id xu yu zu x y z radius",
    ] {
        let rows = if columns.starts_with("id xs") {
            ["1 0.25 0 0 1 0 0 1", "2 0.5 0 0 2 0 0 1"]
        } else {
            ["1 1 0 0 1 0 0 1", "2 2 0 0 2 0 0 1"]
        };
        let text = frame(0, "ITEM: BOX BOUNDS ff ff ff", columns, &rows);
        let notes = ["every sphere is at rest"];
        assert_eq!(
            collisions(&folder, "a.dump", &text, &["--dt", "1"], &notes),
            "0,1,0.0,1.0\n",
            "{columns}"
        );
    }
    // Velocities and momenta must agree.
    let both = |momentum: &str| {
        format!(
            "2\nProperties=species:S:1:pos:R:3:velo:R:3:momenta:R:3:mass:R:1\n\
                 Ar 0 0 0 1 0 0 {momentum} 0 0 2\nAr 5 0 0 -1 0 0 -2 0 0 2\n"
        )
    };
    let step = ["--dt", "3", "--radius", "1"];
    for momentum in ["2", "2.0002"] {
        assert_eq!(
            collisions(&folder, "a.xyz", &both(momentum), &step, &["no box"]),
            "0,1,1.5,0.0\n"
        );
    }
    let input = folder.file("a.xyz", both("4"))?;
    collide(&[&[input.as_str()], &step[..]].concat())?.expect_error(
        "momenta",
        1,
        &[
            "line 3",
            "field momenta 1",
            "divided by the mass is 2",
            "vx is 1",
            "--columns",
        ],
    );
    let ways_out = [
        ("_=momenta 1,_=momenta 2,_=momenta 3", "0,1,1.5,0.0\n"),
        ("_=vx,_=vy,_=vz", "0,1,1.0,0.0\n"),
    ];
    for (columns, expected) in ways_out {
        let args = [&step[..], &["--columns", columns]].concat();
        assert_eq!(
            collisions(&folder, "a.xyz", &both("4"), &args, &["no box"]),
            expected
        );
    }
    let three = |name| (name, "<f8", "(1, 3)", f8(&[0.0; 3]));
    let input = folder.file(
        "a.npz",
        npz(&[three("position"), three("velocity"), three("momenta")]),
    )?;
    collide(&[&[input.as_str()], &step[..]].concat())?.expect_error(
        "npz",
        1,
        &["velocity and momenta", "save only"],
    );
    for name in ["mom", "v0", "V", "p"] {
        let input = folder.file("a.npz", npz(&[three("position"), three(name)]))?;
        collide(&[&[input.as_str()], &step[..]].concat())?.expect_error(
            name,
            1,
            &[name, "seems to describe motion"],
        );
    }
    Ok(())
}

#[test]
fn frames_of_a_table_or_a_series_are_not_mixed() -> Test {
    let folder = Folder::new("mixed-frames")?;
    for name in [
        "time (s)",
        "Time [s]",
        "t (s)",
        "time/s",
        "time_s",
        "time_ps",
        "Time:0",
        "TimeValue",
        "frame number",
        "Frame #",
        "step_number",
        "md_step",
        "tstep",
        "nstep",
        "iteration",
        "iter",
        "cycle",
        "snap",
        "sim_time",
    ] {
        let text = format!("x,y,z,{name}\n0,0,0,0\n0.5,0,0,1\n");
        let parts = [
            "line 3",
            &format!("field {name} is `1`"),
            "several frames",
            &format!("_={name}"),
        ];
        expect_error(&folder, "a.csv", &text, &[], &parts);
        let ignored = ["--cutoff", "1", "--columns", &format!("_={name}")];
        assert_eq!(
            list(&folder, "a.csv", &text, &ignored, &[]),
            "0,1,0,0,0,0.5,0.0,0.0,0.5\n",
            "{name}"
        );
    }
    // A second column numbers the frames.
    let text = "x,y,z,time,frame\n0,0,0,0,0\n0.5,0,0,0,1\n";
    expect_error(
        &folder,
        "a.csv",
        text,
        &[],
        &["line 3", "field frame is `1`"],
    );
    // Ids that come again, and blank lines between the rows.
    let text = "id,x,y,z\n1,0,0,0\n2,9,0,0\n1,0.5,0,0\n2,9,1,0\n";
    expect_error(
        &folder,
        "a.csv",
        text,
        &[],
        &["line 4", "field id is `1` again", "several frames", "_=id"],
    );
    let ignored = ["--cutoff", "0.5", "--columns", "_=id"];
    assert_eq!(
        list(&folder, "a.csv", text, &ignored, &[]),
        "0,2,0,0,0,0.5,0.0,0.0,0.5\n"
    );
    let unset = "id,x,y,z\n0,0,0,0\n0,0.5,0,0\n";
    assert!(!list(&folder, "a.csv", unset, &["--cutoff", "1"], &[]).is_empty());
    for (text, args) in [
        ("x y z\n0 0 0\n\n0.5 0 0\n", &["--separator", "space"][..]),
        ("x,y,z\n0,0,0\n\n\n0.5,0,0\n", &[]),
    ] {
        expect_error(
            &folder,
            "a.txt",
            text,
            &[&["--format", "csv"], args].concat(),
            &["blank lines", "one frame"],
        );
    }
    // A comment that says that the world is periodic.
    for comment in ["periodic T T T", "pbc=\"T T T\"", "pbc T T T", "pbc=1 1 1"] {
        let text = format!("# {comment}\nx,y,z\n0,0,0\n0.5,0,0\n");
        expect_error(
            &folder,
            "a.csv",
            &text,
            &[],
            &["line 1", "a table has no box", "--box"],
        );
    }
    // Times of the spheres themselves.
    let text = "x,y,z,contact_time\n0,0,0,0\n0.5,0,0,1\n";
    assert!(!list(&folder, "a.csv", text, &["--cutoff", "1"], &[]).is_empty());
    let blocks = "x y z\n0 0 0\n# frame 1\n0.5 0 0\n";
    let space = ["--separator", "space"];
    expect_error(
        &folder,
        "a.txt",
        blocks,
        &space,
        &[
            "line 3",
            "another frame begins",
            "keep the rows of one frame",
        ],
    );

    // Frames of two and of three dimensions, in any order, in one file and in two.
    let pp = "ITEM: BOX BOUNDS pp pp pp";
    let deep = frame(0, pp, "id type x y z", &NEAR);
    let thin = deep.replace("0 4\n0 4\n0 4", "0 4\n0 4\n-0.5 0.5");
    let flat = deep.replace("0 4\n0 4\n0 4", "0 4\n0 4\n0 0");
    let no_z = frame(0, pp, "id type x y", &["1 1 0.125 0", "2 1 3.875 0"]);
    let csv = ["x,y\n0,0\n0.5,0\n", "x,y,z\n0,0,0\n0.5,0,0\n"].map(str::to_owned);
    let extended = |count: usize| {
        format!(
            "1\nProperties=pos:R:{count}\n{}\n",
            "0 ".repeat(count).trim_end()
        )
    };
    for (name, one, other) in [
        ("dump", &deep, &thin),
        ("dump", &deep, &flat),
        ("dump", &deep, &no_z),
        ("csv", &csv[0], &csv[1]),
        ("xyz", &extended(2), &extended(3)),
        ("dump", &no_z, &thin),
    ] {
        for [one, other] in [[one, other], [other, one]] {
            let (first, second) = (
                folder.file(&format!("1.{name}"), one)?,
                folder.file(&format!("2.{name}"), other)?,
            );
            let joined = folder.file(&format!("3.{name}"), format!("{one}{other}"))?;
            let files = if name == "csv" {
                vec![vec![&*first, &*second]]
            } else {
                vec![vec![&*first, &*second], vec![&*joined]]
            };
            for files in files {
                let run = neighbors(&[&files[..], &["--cutoff", "1", "--frames", "all"]].concat())?;
                assert_eq!(run.code, Some(1), "{one}{other}{}", run.stderr);
                assert!(run.stderr.contains("frame"), "{}", run.stderr);
                let parts = ["-dimensional", "column of z"];
                assert!(
                    parts.iter().any(|part| run.stderr.contains(part)),
                    "{}",
                    run.stderr
                );
            }
        }
    }
    // The way out, and frames of one kind.
    let joined = format!("{deep}{thin}");
    let all = ["--cutoff", "1", "--frames", "all", "--periodic", "abc"];
    assert!(
        list(&folder, "a.dump", &joined, &all, &["order of atoms"]).starts_with("0,0,1,-1,0,0")
    );
    let joined = format!("{flat}{thin}");
    let all = ["--cutoff", "0.5", "--frames", "all"];
    let found = list(&folder, "a.dump", &joined, &all, &["two-dimensional"]);
    assert_eq!(found, format!("0,{PAIR}1,{PAIR}"));
    Ok(())
}

#[test]
fn small_faults_are_told_as_they_are() -> Test {
    let folder = Folder::new("told")?;
    // A compressed file that ends within its mark.
    for (name, begin) in [
        ("xz", &b"\xfd7zXZ"[..]),
        ("zstd", b"\x28\xb5\x2f"),
        ("bzip2", b"BZ"),
    ] {
        let input = folder.file("a.bin", begin)?;
        neighbors(&[&input, "--cutoff", "1"])?.expect_error(
            name,
            1,
            &[&format!("the {name} data are cut off")],
        );
    }
    // An empty frame.
    let run = neighbors(&[
        &folder.file("a.xyz", "1\n\nAr 0 0 0\n0\n\n")?,
        "--cutoff",
        "1",
    ])?;
    run.expect_success("empty");
    assert!(
        run.stderr.contains("note: frame 1 of ") && run.stderr.contains("no particles"),
        "{}",
        run.stderr
    );
    let run = neighbors(&[&folder.file("a.csv", "x,y,z\n")?, "--cutoff", "1"])?;
    assert!(run.stderr.contains("no particles"), "{}", run.stderr);
    // Options of another subcommand, another spelling, and a line that does not change.
    let input = folder.file("a.csv", "x,y,z\n0,0,0\n0.5,0,0\n")?;
    for option in [
        ["--radius", "1"],
        ["--dt", "1"],
        ["--radius-by-type", "1=2"],
    ] {
        let run = neighbors(&[&[input.as_str(), "--cutoff", "1"], &option[..]].concat())?;
        run.expect_error(option[0], 2, &["centres only", "leave out", "--cutoff"]);
    }
    let run = run_as_it_is(&["neighbours", &input, "--cutoff", "1", "--output", "-"])?;
    assert_eq!(rows(&run, &[]), "0,1,0,0,0,0.5,0.0,0.0,0.5\n");
    let run = neighbors(&[&input, &input, "--cutoff", "1", "--frames", "all"])?;
    assert_eq!(
        (
            run.stdout.matches("backend").count(),
            run.stdout.matches("particles").count()
        ),
        (1, 2)
    );
    let moving = folder.file("b.csv", "x,y,z,radius,vx,vy,vz\n0,0,0,1,0,0,0\n")?;
    let run = collide(&[&moving, &moving, "--dt", "1", "--frames", "all"])?;
    assert_eq!(
        (
            run.stdout.matches("backend").count(),
            run.stdout.matches("spheres  ").count()
        ),
        (1, 2)
    );
    Ok(())
}

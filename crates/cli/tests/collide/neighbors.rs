//! Tests of `carom neighbors`.

use std::error::Error;
use std::fs;

use crate::run::{Folder, Run, Test, run_as_it_is};

/// Three particles in a box from 0 to 10 in each direction, without radii. Particles 0 and 1 are 1.5
/// apart across the face x = 0.
const CSV: &str = "id,type,x,y,z\n9,1,9,5,5\n7,2,0.5,5,5\n8,1,5,5,8\n";
const BOX: [&str; 4] = ["--box", "0 0 0 10 10 10", "--periodic", "abc"];

fn neighbors(args: &[&str]) -> Result<Run, Box<dyn Error>> {
    run_as_it_is(&[&["neighbors", "--backend", "cpu"], args].concat())
}

fn list(args: &[&str]) -> Result<String, Box<dyn Error>> {
    let run = neighbors(&[args, &["--output", "-"]].concat())?;
    run.expect_success(&args.join(" "));
    Ok(run.stdout)
}

#[test]
fn lists_have_images_vectors_and_distances() -> Test {
    let folder = Folder::new("neighbors")?;
    let csv = folder.file("world.csv", CSV)?;
    let head = "i,j,n1,n2,n3,dx,dy,dz,d\n";
    let world = [&[csv.as_str(), "--cutoff", "1.5"], &BOX[..]].concat();
    let more = |args: &[&str]| list(&[&world, args].concat());
    assert_eq!(more(&[])?, format!("{head}0,1,1,0,0,1.5,0.0,0.0,1.5\n"));
    let full = "0,1,1,0,0,1.5,0.0,0.0,1.5\n1,0,-1,0,0,-1.5,0.0,0.0,1.5\n";
    assert_eq!(more(&["--full"])?, format!("{head}{full}"));
    // With `--ids`, the smaller id comes first. Here the second particle of the file has the smaller id.
    let ids = "7,9,-1,0,0,-1.5,0.0,0.0,1.5\n";
    assert_eq!(more(&["--ids"])?, format!("{head}{ids}"));
    let full = "7,9,-1,0,0,-1.5,0.0,0.0,1.5\n9,7,1,0,0,1.5,0.0,0.0,1.5\n";
    assert_eq!(more(&["--ids", "--full"])?, format!("{head}{full}"));
    let types = "i,j,n1,n2,n3,dx,dy,dz,d,type_i,type_j\n7,9,-1,0,0,-1.5,0.0,0.0,1.5,2,1\n";
    assert_eq!(more(&["--ids", "--types"])?, types);
    let open = list(&[&csv, "--cutoff", "5"])?;
    assert_eq!(open, format!("{head}0,2,0,0,0,-4.0,0.0,3.0,5.0\n"));
    Ok(())
}

#[test]
fn summaries_count_pairs_and_show_the_first() -> Test {
    let folder = Folder::new("neighbors-summary")?;
    let csv = folder.file("world.csv", CSV)?;
    for kind in [&[][..], &["--full"]] {
        let args = [&[csv.as_str(), "--cutoff", "1.5"], &BOX[..], kind].concat();
        let run = neighbors(&args)?;
        run.expect_success("summary");
        let parts = [
            "particles  3\n",
            "periodic   abc\n",
            "pairs      1 (0.667 neighbours each",
            "            1.5            0.0            0.0            1.5\n",
        ];
        for part in parts {
            assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
        }
        assert!(!run.stderr.contains("note"), "{}", run.stderr);
    }
    Ok(())
}

#[test]
fn a_particle_is_a_neighbor_of_its_own_images() -> Test {
    let folder = Folder::new("neighbors-own")?;
    let csv = folder.file("one.csv", "x,y,z,radius,vx\n0.5,0.5,0.5,99,nan\n")?;
    let args = [
        &csv,
        "--cutoff",
        "1",
        "--box",
        "0 0 0 1 2 3",
        "--periodic",
        "ab",
    ];
    assert_eq!(
        list(&args)?,
        "i,j,n1,n2,n3,dx,dy,dz,d\n0,0,1,0,0,1.0,0.0,0.0,1.0\n"
    );
    let full = list(&[&args[..], &["--full"]].concat())?;
    assert!(
        full.contains("\n0,0,-1,0,0,-1.0,0.0,0.0,1.0\n0,0,1,0,0,"),
        "{full}"
    );
    Ok(())
}

#[test]
fn the_box_and_the_frames_of_a_file_are_used() -> Test {
    let folder = Folder::new("neighbors-frames")?;
    let frame = |x: f32| {
        format!(
            "2\nLattice=\"10 0 0 0 10 0 0 0 10\" pbc=\"T T F\" Properties=species:S:1:pos:R:3\n\
             Ar 0.5 1 1\nAr {x} 1 1\n"
        )
    };
    let xyz = folder.file("two.xyz", frame(9.0) + &frame(2.0))?;
    let all = list(&[&xyz, "--cutoff", "2", "--frames", "all"])?;
    let rows = "0,0,1,-1,0,0,-1.5,0.0,0.0,1.5\n1,0,1,0,0,0,1.5,0.0,0.0,1.5\n";
    assert_eq!(all, format!("frame,i,j,n1,n2,n3,dx,dy,dz,d\n{rows}"));
    let open = list(&[&xyz, "--cutoff", "2", "--frame", "0", "--open"])?;
    assert_eq!(open.lines().count(), 1, "{open}");
    Ok(())
}

#[test]
fn only_the_centres_of_arrays_are_read() -> Test {
    let folder = Folder::new("neighbors-arrays")?;
    for columns in [3, 4, 6, 7] {
        let row = |x: f32| [&[x, 0.0, 0.0], &[f32::NAN; 4][..columns - 3]].concat();
        let numbers: Vec<u8> = [row(1.0), row(3.0)]
            .concat()
            .into_iter()
            .flat_map(f32::to_le_bytes)
            .collect();
        let header =
            format!("{{'descr': '<f4', 'fortran_order': False, 'shape': (2, {columns}), }}");
        let header = format!("{header:<117}\n");
        let length = u16::try_from(header.len())?.to_le_bytes();
        let start = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes()].concat();
        let npy = folder.file("points.npy", [start, numbers].concat())?;
        let found = list(&[&npy, "--cutoff", "2"])?;
        assert_eq!(
            found,
            "i,j,n1,n2,n3,dx,dy,dz,d\n0,1,0,0,0,2.0,0.0,0.0,2.0\n"
        );
        let output = folder.path("list.npy")?;
        neighbors(&[&npy, "--cutoff", "2", "--output", &output])?.expect_success("npy");
        let written = fs::read(&output)?;
        let names = "[('i', '<i4'), ('j', '<i4'), ('n1', '<i4'), ('n2', '<i4'), ('n3', '<i4'), \
                     ('dx', '<f4'), ('dy', '<f4'), ('dz', '<f4'), ('d', '<f4'), ]";
        let text = String::from_utf8_lossy(&written);
        assert!(text.contains(names), "{text}");
        let record = [0_i32, 1, 0, 0, 0].map(i32::to_le_bytes).concat();
        let vector = [2.0_f32, 0.0, 0.0, 2.0].map(f32::to_le_bytes).concat();
        assert!(written.ends_with(&[record, vector].concat()));
    }
    let five = "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 5), }";
    let five = format!("{five:<117}\n");
    let start = [b"\x93NUMPY\x01\x00v\x00", five.as_bytes()].concat();
    let npy = folder.file("five.npy", start)?;
    neighbors(&[&npy, "--cutoff", "2"])?.expect_error("five", 1, &["(0, 5)", "(N, 3)"]);
    Ok(())
}

#[test]
fn wrong_usage_and_wrong_input_are_errors() -> Test {
    let folder = Folder::new("neighbors-errors")?;
    let csv = folder.file("world.csv", CSV)?;
    let with = |cutoff| neighbors(&[&csv, "--cutoff", cutoff]);
    neighbors(&[&csv])?.expect_error("no cutoff", 2, &["--cutoff"]);
    with("-1")?.expect_error("negative", 2, &["cutoff is -1.0"]);
    with("nan")?.expect_error("nan", 2, &["`nan`"]);
    with("1e-310")?.expect_error("tiny", 1, &["cutoff is 1e-310"]);
    let output = [csv.as_str(), "--cutoff", "1", "--output", &csv];
    neighbors(&output)?.expect_error("overwrite", 2, &["overwrite the input"]);
    assert_eq!(fs::read_to_string(&csv)?, CSV);
    let frame = [csv.as_str(), "--cutoff", "1", "--frame", "0"];
    neighbors(&frame)?.expect_error("frame", 2, &["no frames"]);
    let bad = folder.file("bad.csv", "x,y,z\n1,2,3\n1,2,inf\n")?;
    neighbors(&[&bad, "--cutoff", "1"])?.expect_error("bad", 1, &["line 3", "field z"]);
    // The cutoff is checked before the file is read.
    neighbors(&[&bad, "--cutoff", "1e-310"])?.expect_error("tiny", 1, &["cutoff is 1e-310"]);
    Ok(())
}

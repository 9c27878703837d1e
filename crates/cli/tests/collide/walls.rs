//! Tests of `carom collide` with walls.

use std::fs;

use crate::run::{CSV, Folder, Test, run, run_with};

const FLOOR: &str = "plane 0 0 2 -4";
const CPU: [&str; 4] = ["--format", "csv", "--backend", "cpu"];

/// A mesh with a square at x = 4, which is made of two triangles, and one more triangle at x = −6.
const OBJ: &str = "v 4 -9 -9\nv 4 9 -9\nv 4 9 9\nv 4 -9 9\nv -6 -9 -9\nv -6 9 0\nv -6 0 9\n\
    f 1 2 3 4\nf 5 6 7\n";

fn args<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["-"];
    args.extend(CPU);
    args.extend(more);
    args
}

#[test]
fn walls_are_listed_in_order() -> Test {
    let folder = Folder::new("walls")?;
    let mesh = folder.file("square.obj", OBJ)?;
    let output = folder.path("walls.csv")?;
    let more = [
        "--wall",
        "plane -1 0 0 -8",
        "--mesh",
        &mesh,
        "--wall",
        "sphere-inside 0 0 0 10.5",
        "--wall",
        FLOOR,
        "--walls-output",
        &output,
    ];
    let ran = run_with(&args(&more), CSV.as_bytes(), &[])?;
    ran.expect_success("walls");
    // Sphere 2 is far outside of wall 1, a hollow sphere, so its penetration depth is large.
    let expected = "sphere,wall,toi,depth\n0,0,0.7,0.0\n0,1,0.95,0.0\n0,3,0.3,0.0\n0,4,0.3,0.0\n\
        1,3,0.0,0.0\n1,4,0.0,0.0\n2,1,0.0,80.5\n";
    assert_eq!(fs::read_to_string(output)?, expected);
    assert!(
        ran.stdout
            .contains("walls    7 (3 touch at the start, 4 meet later)"),
        "{}",
        ran.stdout
    );
    Ok(())
}

#[test]
fn the_report_has_walls() -> Test {
    let ran = run_with(&args(&["--wall", "plane 1 0 0 -0.5"]), CSV.as_bytes(), &[])?;
    ran.expect_success("walls");
    assert!(ran.stdout.contains("sphere       wall"), "{}", ran.stdout);
    let ran = run_with(
        &args(&["--wall", "plane 1 0 0 -0.5", "--json"]),
        CSV.as_bytes(),
        &[],
    )?;
    assert!(ran.stdout.contains("\"walls\":2,"), "{}", ran.stdout);
    let ran = run_with(&args(&["--json"]), CSV.as_bytes(), &[])?;
    assert!(!ran.stdout.contains("\"walls\":"), "{}", ran.stdout);
    Ok(())
}

#[test]
fn walls_meet_periodic_images_and_ids() -> Test {
    let folder = Folder::new("periodic-walls")?;
    let csv = "x,y,z,radius,id\n9.5,5,5,1,70\n5,5,5,1,30\n";
    let output = folder.path("walls.csv")?;
    let more = [
        "--box",
        "0 0 0 10 10 10",
        "--periodic",
        "ab",
        "--ids",
        "--wall",
        "sphere 0.25 5 5 0.5",
        "--wall",
        "plane 0 0 1 4.5",
        "--walls-output",
        &output,
    ];
    run_with(&args(&more), csv.as_bytes(), &[])?.expect_success("periodic walls");
    let expected = "sphere,wall,toi,depth,n1,n2,n3\n30,1,0.0,0.5,0,0,0\n70,0,0.0,0.75,-1,0,0\n\
        70,1,0.0,0.5,0,0,0\n";
    assert_eq!(fs::read_to_string(output)?, expected);
    Ok(())
}

#[test]
fn an_array_of_wall_collisions_has_the_same_columns() -> Test {
    let folder = Folder::new("wall-array")?;
    let output = folder.path("walls.npy")?;
    let more = ["--wall", "plane 1 0 0 -0.5", "--walls-output", &output];
    run_with(&args(&more), CSV.as_bytes(), &[])?.expect_success("an array");
    let bytes = fs::read(output)?;
    let length = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8_lossy(&bytes[..length]).into_owned();
    for column in [
        "('sphere', '<i4')",
        "('wall', '<i4')",
        "('toi', '<f8')",
        "('depth', '<f8')",
    ] {
        assert!(header.contains(column), "{header}");
    }
    assert!(header.contains("(2,)"), "{header}");
    assert_eq!(bytes[length..].len(), 2 * 24);
    Ok(())
}

#[test]
fn verify_checks_walls() -> Test {
    let folder = Folder::new("verified-walls")?;
    let mesh = folder.file("square.obj", OBJ)?;
    let more = ["--wall", FLOOR, "--mesh", &mesh, "--verify"];
    let ran = run_with(&args(&more), CSV.as_bytes(), &[])?;
    ran.expect_success("checked walls");
    let told = "; 12 pairs of a sphere and a wall by exact arithmetic\n";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
    let ran = run_with(
        &args(&[&more[..], &["--json"]].concat()),
        CSV.as_bytes(),
        &[],
    )?;
    assert!(
        ran.stdout
            .contains("\"checked_at_walls\":12,\"differing\":0"),
        "{}",
        ran.stdout
    );
    Ok(())
}

/// Checks that `--verify` does not pass if there are too many spheres and walls to test each pair of them.
#[test]
fn too_many_walls_are_not_checked() -> Test {
    let folder = Folder::new("many-walls")?;
    let rows: String = (0..2001).map(|i| format!("{i},0,0,0.25\n")).collect();
    let input = folder.file("many.csv", format!("x,y,z,radius\n{rows}"))?;
    let triangles = "f 1 2 3\n".repeat(200_000);
    let mesh = folder.file(
        "many.obj",
        format!("v 0 0 9\nv 1 0 9\nv 0 1 9\n{triangles}"),
    )?;
    let ran = run(&[&input, "--backend", "cpu", "--mesh", &mesh, "--verify"])?;
    ran.expect_error("unchecked", 1, &["nothing was checked", "200000 walls"]);
    Ok(())
}

#[test]
fn walls_are_drawn() -> Test {
    let folder = Folder::new("drawn-walls")?;
    let mesh = folder.file("square.obj", OBJ)?;
    let [without, with] = [folder.path("a.png")?, folder.path("b.png")?];
    let walls = [
        "--mesh",
        &mesh,
        "--wall",
        "cylinder 2 0 0 0 1 0 1",
        "--wall",
        "cylinder 2 0 0 0 0 1 1",
        "--wall",
        FLOOR,
        "--wall",
        "plane 1 1 0 2",
        "--wall",
        "sphere 0 0 0 1e18",
        "--plot",
        &with,
    ];
    run_with(&args(&["--plot", &without]), CSV.as_bytes(), &[])?.expect_success("without");
    run_with(&args(&walls), CSV.as_bytes(), &[])?.expect_success("with");
    assert!(
        fs::read(without)? != fs::read(with)?,
        "the pictures are the same"
    );
    Ok(())
}

#[test]
fn wrong_walls_are_named() -> Test {
    let folder = Folder::new("wrong-walls")?;
    let input = folder.file("spheres.csv", CSV)?;
    let flat = folder.file("flat.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n")?;
    let missing = folder.path("missing.stl")?;
    let usage: [(&[&str], &str); 5] = [
        (&["--wall", "plane 0 0 1"], "must have 4"),
        (&["--wall", "cone 0 0 1"], "no shape of a wall"),
        (&["--wall", "plane 0 0 1 nan"], "a number of the wall"),
        (&["--walls-output", "walls.csv"], "needs walls"),
        (
            &["--wall", FLOOR, "--walls-output", "walls.txt"],
            "must end in .csv",
        ),
    ];
    for (more, what) in usage {
        run(&[&[&input[..]], more].concat())?.expect_error(what, 2, &[what]);
    }
    let invalid: [(&[&str], &[&str]); 4] = [
        (
            &["--wall", "plane 0 0 0 1"],
            &["wall 0 is invalid", "its normal is 0"],
        ),
        (
            &["--wall", FLOOR, "--wall", "sphere 0 0 0 -1"],
            &["wall 1 is invalid", "its radius"],
        ),
        (&["--mesh", &flat], &["flat.obj", "line 4", "no area"]),
        (&["--mesh", &missing], &["missing.stl"]),
    ];
    for (more, what) in invalid {
        run(&[&[&input[..]], more].concat())?.expect_error(what[0], 1, what);
    }
    Ok(())
}

/// The numbers of text are decided in float64. Float32 would round these coordinates to steps of 0.5.
#[test]
fn walls_are_decided_in_float64() -> Test {
    let folder = Folder::new("wide-walls")?;
    let csv = "x,y,z,radius\n1,1,4582300.125,0.125\n1,1,4582300.12500001,0.125\n";
    let obj = "v 0 0 4582300\nv 9 0 4582300\nv 0 9 4582300\nf 1 2 3\n";
    let mesh = folder.file("floor.obj", obj)?;
    let output = folder.path("walls.csv")?;
    let floor = "plane 0 0 0.5 2291150";
    let more = [
        "--dt",
        "0",
        "--wall",
        floor,
        "--mesh",
        &mesh,
        "--verify",
        "--walls-output",
        &output,
    ];
    let ran = run_with(&args(&more), csv.as_bytes(), &[])?;
    ran.expect_success("walls");
    assert!(!ran.stderr.contains("float32"), "{}", ran.stderr);
    assert_eq!(
        fs::read_to_string(output)?,
        "sphere,wall,toi,depth\n0,0,0.0,0.0\n0,1,0.0,0.0\n"
    );
    Ok(())
}

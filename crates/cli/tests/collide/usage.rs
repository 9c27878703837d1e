//! Tests of wrong usage and the help texts of `carom`.

use crate::run::{CSV, Folder, Test, run, run_as_it_is};
use serde_json::Value;
use std::fs;

#[test]
fn files_that_cannot_be_used_are_named() -> Test {
    let folder = Folder::new("files")?;
    let missing = folder.path("missing.csv")?;
    run(&[&missing])?.expect_error("missing", 1, &[&missing]);
    let directory = folder.path("directory.csv")?;
    fs::create_dir(&directory)?;
    run(&[&directory])?.expect_error("directory", 1, &[&directory, "is a directory"]);
    let input = folder.file("world.csv", CSV)?;
    let nowhere = folder.path("nowhere/pairs.csv")?;
    run(&[&input, "--output", &nowhere])?.expect_error("output", 1, &[&nowhere]);
    run(&[&input, "--output", &directory])?.expect_error(
        "output",
        1,
        &[&directory, "is a directory"],
    );
    Ok(())
}

#[test]
fn wrong_usage_exits_with_2() -> Test {
    let folder = Folder::new("usage")?;
    let input = folder.file("world.csv", CSV)?;
    let cases: &[(&[&str], &str)] = &[
        (&[], "INPUT"),
        (&[&input, "--dt"], "--dt"),
        (&[&input, "--dt", "soon"], "`soon`"),
        (&[&input, "--dt", "-1"], "from 0"),
        (&[&input, "--dt", "nan"], "`nan`"),
        (&[&input, "--dt", "1e130"], "from 0"),
        (&[&input, "--backend", "tpu"], "tpu"),
        (&[&input, "--output", "pairs.txt"], ".csv"),
        (&[&input, "--plot", "picture.jpg"], ".png"),
        (&[&input, "--plot", "picture"], ".png"),
        (&[&input, "--output", &input], "overwrite the input"),
        (&[&input, "--frame", "0"], "no frames"),
        (
            &["world.dump", "--frame", "all", "--plot", "world.png"],
            "one frame",
        ),
        (&["world.dump", "--frame", "first"], "START:END"),
        (&["world.dump", "--frames", "1:2:0"], "1 or more"),
        (
            &["world.dump", "--frames", "0:2", "--plot", "world.png"],
            "one frame",
        ),
        (&["world.npz", "--ids"], "column id"),
        (&["world.npz", "--types"], "column type"),
        (&["world.npz", "--radius-by-type", "1=2"], "column type"),
        (
            &[&input, "--radius", "1", "--radius-by-type", "1=2"],
            "--radius",
        ),
        (&[&input, "--radius", "-1"], "from 0"),
        (&[&input, "--radius", "wide"], "`wide`"),
        (&[&input, "--radius-by-type", "1"], "TYPE=RADIUS"),
        (&[&input, "--format", "txt"], "lammps"),
        (&[&input, "--sort", "depth"], "time"),
        (&[&input, "--output", "-", "--json"], "standard output"),
        (&[&input, "--frobnicate"], "--frobnicate"),
    ];
    for (args, part) in cases {
        run(args)?.expect_error(&format!("{args:?}"), 2, &[part]);
    }
    assert_eq!(
        fs::read_to_string(&input)?,
        CSV,
        "the input must not change"
    );
    Ok(())
}

#[test]
fn the_time_step_is_required() -> Test {
    for args in [
        &["collide", "world.csv"][..],
        &["bench", "--input", "world.csv"],
    ] {
        run_as_it_is(args)?.expect_error(&format!("{args:?}"), 2, &["--dt"]);
    }
    Ok(())
}

#[test]
fn help_names_the_subcommands() -> Test {
    let run = run_as_it_is(&["--help"])?;
    run.expect_success("--help");
    for part in ["collide", "bench", "--dt"] {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
    Ok(())
}

#[test]
fn help_of_collide_names_columns_and_exit_codes() -> Test {
    let run = run_as_it_is(&["collide", "--help"])?;
    run.expect_success("--help");
    for part in [
        "radius",
        "LAMMPS",
        "diameter",
        "vx",
        "a,b,toi,depth",
        "--verify",
        ".npz",
        "--frame",
        "--ids",
        "Exit codes",
    ] {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
    Ok(())
}

#[test]
fn only_pairs_within_the_time_step_are_found() -> Test {
    let folder = Folder::new("dt")?;
    let input = folder.file("world.csv", CSV)?;
    for (dt, pairs) in [("0", 0), ("0.29", 0), ("0.31", 1), ("5e-1", 1)] {
        let run = run(&[&input, "--backend", "cpu", "--json", "--dt", dt])?;
        run.expect_success(dt);
        assert_eq!(
            serde_json::from_str::<Value>(&run.stdout)?["pairs"],
            pairs,
            "{dt}"
        );
    }
    Ok(())
}

//! Tests of `carom collide` with input files that NumPy, LAMMPS and ASE wrote.

use crate::run::{Folder, Test, run};
use std::error::Error;
use std::fs;

pub(crate) fn data(name: &str) -> String {
    format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Runs `carom collide` with a file in `crates/cli/tests/data`, and returns the touching pairs without the
/// header.
fn list(folder: &Folder, name: &str, options: &[&str]) -> Result<Vec<String>, Box<dyn Error>> {
    let output = folder.path("list.csv")?;
    let input = data(name);
    let mut args = vec![input.as_str(), "--backend", "cpu", "--output", &output];
    args.extend(options);
    run(&args)?.expect_success(name);
    Ok(fs::read_to_string(output)?
        .lines()
        .skip(1)
        .map(String::from)
        .collect())
}

/// Fails unless two lists have the same pairs and almost the same numbers. Numbers may differ slightly,
/// because LAMMPS rounds scaled coordinates differently.
fn expect_alike(name: &str, found: &[String], expected: &[String]) -> Test {
    assert!(
        expected.len() >= 10,
        "{name}: the list is too short for a meaningful test"
    );
    assert_eq!(
        found.len(),
        expected.len(),
        "{name}: {found:?} {expected:?}"
    );
    for (found, expected) in found.iter().zip(expected) {
        let split = |line: &str| -> Vec<String> { line.split(',').map(String::from).collect() };
        let [found, expected] = [split(found), split(expected)];
        assert_eq!(found[..2], expected[..2], "{name}");
        for k in 2..4 {
            let [found, expected]: [f64; 2] = [found[k].parse()?, expected[k].parse()?];
            assert!(
                (found - expected).abs() < 1e-5,
                "{name}: {found} {expected}"
            );
        }
    }
    Ok(())
}

#[test]
fn files_written_by_lammps_and_ase_are_read_correctly() -> Test {
    let folder = Folder::new("lammps-wrote")?;
    for (name, truth) in [
        ("plain.lammpstrj", "wrapped.csv"),
        ("frames.lammpstrj", "wrapped.csv"),
        ("order.dump", "wrapped.csv"),
        ("diameter.dump", "wrapped.csv"),
        ("scaled.dump", "wrapped.csv"),
        ("packed.dump.gz", "wrapped.csv"),
        ("packed.dump.zst", "wrapped.csv"),
        ("packed.dump.bz2", "wrapped.csv"),
        ("packed.dump.xz", "wrapped.csv"),
        ("unwrapped.dump", "unwrapped.csv"),
        ("scaled-unwrapped.dump", "unwrapped.csv"),
        ("tilted.dump", "tilted.csv"),
        ("tilted-scaled.dump", "tilted.csv"),
        ("tilted-scaled-unwrapped.dump", "tilted-unwrapped.csv"),
        ("turned-scaled.dump", "turned.dump"),
        ("ase.xyz", "tilted.csv"),
    ] {
        let found = list(&folder, name, &["--ids", "--open"])?;
        // The option `--open` ignores the periodic box of a file, and has no effect on a CSV file.
        let expected = list(&folder, truth, &["--ids", "--open"])?;
        expect_alike(name, &found, &expected)?;
    }
    Ok(())
}

#[test]
fn the_box_of_a_file_is_periodic_as_lammps_and_ase_wrote_it() -> Test {
    let folder = Folder::new("lammps-boxes")?;
    let rectangular = "-1 2 -7 4 4 5";
    let tilted = "-1 2 -7 4 0 0 1.2 4 0 -0.8 1.5 5";
    for (name, truth, cell) in [
        ("plain.lammpstrj", "wrapped.csv", rectangular),
        ("scaled.dump", "wrapped.csv", rectangular),
        ("unwrapped.dump", "unwrapped.csv", rectangular),
        ("tilted.dump", "tilted.csv", tilted),
        ("ase.xyz", "tilted.csv", tilted),
        (
            "tilted-scaled-unwrapped.dump",
            "tilted-unwrapped.csv",
            tilted,
        ),
    ] {
        let found = list(&folder, name, &["--ids", "--verify"])?;
        let given = ["--ids", "--box", cell, "--periodic", "abc"];
        let expected = list(&folder, truth, &given)?;
        expect_alike(name, &found, &expected)?;
        let images = |lines: &[String]| -> Vec<String> {
            let columns = |line: &String| line.splitn(5, ',').nth(4).map(String::from);
            lines.iter().filter_map(columns).collect()
        };
        assert_eq!(images(&found), images(&expected), "{name}");
        assert!(
            images(&found).iter().any(|image| image != "0,0,0"),
            "{name}"
        );
        let some = list(&folder, name, &["--ids", "--periodic", "ac"])?;
        let open_along_b = |image: &&String| image.split(',').nth(1) == Some("0");
        assert!(
            images(&some).iter().all(|image| open_along_b(&image)),
            "{name}"
        );
        assert!(some.len() < found.len(), "{name}");
    }
    Ok(())
}

/// Checks carom's touching pairs and their periodic images against LAMMPS. No pair is so close to tangency
/// that the rounding to float32 could matter.
#[test]
fn pairs_and_images_are_those_of_lammps() -> Test {
    let folder = Folder::new("lammps-pairs")?;
    let found = list(&folder, "touching.dump", &["--ids", "--dt", "0"])?;
    let columns = |line: &String| -> String {
        let fields: Vec<&str> = line.split(',').collect();
        [&fields[..2], &fields[4..]].concat().join(",")
    };
    let found: Vec<String> = found.iter().map(columns).collect();
    let truth = std::fs::read_to_string(data("touching.csv"))?;
    let truth: Vec<&str> = truth.lines().skip(1).collect();
    assert!(truth.len() > 100);
    assert_eq!(found, truth);
    Ok(())
}

/// Checks the spheres that touch walls against LAMMPS: a floor, a side wall, a pipe, a ball and a rod. No sphere
/// is so close to tangency that the rounding to float32 could matter.
#[test]
fn spheres_at_walls_are_those_of_lammps() -> Test {
    let folder = Folder::new("lammps-walls")?;
    let output = folder.path("walls.csv")?;
    let input = data("at-walls.dump");
    let mut args = vec![
        &*input,
        "--ids",
        "--dt",
        "0",
        "--backend",
        "cpu",
        "--walls-output",
        &*output,
    ];
    for wall in [
        "plane 0 0 1 0",
        "plane 1 0 0 -4",
        "cylinder-inside 0 0 0 0 0 1 6",
        "sphere 1 0 0 3",
        "cylinder -1 0 5 0 1 0 1",
    ] {
        args.extend(["--wall", wall]);
    }
    run(&args)?.expect_success("at-walls.dump");
    let found = std::fs::read_to_string(output)?;
    let columns = |line: &str| line.split(',').take(2).collect::<Vec<_>>().join(",");
    let found: Vec<String> = found.lines().map(columns).collect();
    let truth = std::fs::read_to_string(data("at-walls.csv"))?;
    let truth: Vec<&str> = truth.lines().collect();
    for wall in 0..5 {
        let of_wall = format!(",{wall}");
        let count = truth.iter().filter(|line| line.ends_with(&of_wall)).count();
        assert!(count > 10, "wall {wall}: {count}");
    }
    assert_eq!(found, truth);
    Ok(())
}

#[test]
fn frames_are_chosen_by_number() -> Test {
    let folder = Folder::new("frames")?;
    let all = list(&folder, "frames.lammpstrj", &["--frames", "all", "--ids"])?;
    for frame in ["0", "1", "2"] {
        let one = list(&folder, "frames.lammpstrj", &["--frame", frame, "--ids"])?;
        let begin = format!("{frame},");
        let part: Vec<&str> = all
            .iter()
            .filter_map(|line| line.strip_prefix(&begin))
            .collect();
        assert_eq!(one, part, "{frame}");
        assert!(!one.is_empty(), "{frame}");
    }
    let last = list(&folder, "frames.lammpstrj", &["--ids"])?;
    assert_eq!(
        last,
        list(&folder, "frames.lammpstrj", &["--frame", "2", "--ids"])?
    );
    let input = data("frames.lammpstrj");
    run(&[&input, "--frame", "3"])?.expect_error("frame 3", 1, &[&input, "no frame 3", "0 to 2"]);

    let json = run(&[&input, "--backend", "cpu", "--frame", "all", "--json"])?;
    json.expect_success("--json");
    let objects: Result<Vec<serde_json::Value>, _> =
        json.stdout.lines().map(serde_json::from_str).collect();
    let told: Vec<_> = objects?
        .iter()
        .map(|object| (object["frame"].as_u64(), object["timestep"].as_u64()))
        .collect();
    assert_eq!(
        told,
        [(Some(0), Some(0)), (Some(1), Some(20)), (Some(2), Some(40))]
    );
    let note = "order of atoms";
    assert_eq!(json.stderr.matches(note).count(), 1, "{}", json.stderr);
    let text = run(&[&input, "--backend", "cpu", "--frame", "1"])?;
    assert!(
        text.stdout.starts_with("frame    1 (timestep 20)\n"),
        "{}",
        text.stdout
    );
    Ok(())
}

#[test]
fn arrays_written_by_numpy_are_read_correctly() -> Test {
    let folder = Folder::new("numpy-wrote")?;
    let truth = list(&folder, "numpy.csv", &[])?;
    assert!(truth.len() >= 10, "{truth:?}");
    let single = |field: &str| match field.parse::<f64>() {
        #[allow(clippy::cast_possible_truncation, reason = "rounding is intended")]
        Ok(x) if field.contains('.') => format!("{:?}", x as f32),
        _ => field.to_owned(),
    };
    let line = |line: &String| line.split(',').map(single).collect::<Vec<_>>().join(",");
    let narrow: Vec<String> = truth.iter().map(line).collect();
    for name in [
        "c-f4.npy",
        "c-f8.npy",
        "c-f4-big.npy",
        "c-f8-big.npy",
        "fortran-f4.npy",
        "fortran-f8.npy",
        "fortran-f4-big.npy",
        "fortran-f8-big.npy",
        "version-2.npy",
        "records.npy",
        "plain.npz",
        "packed.npz",
        "savetxt.csv",
    ] {
        // A list of spheres in float32 is in float32. `savetxt` has written nine digits.
        let found = list(&folder, name, &[])?;
        match name {
            name if name.contains("f4") || name == "records.npy" => {
                assert_eq!(found, narrow, "{name}")
            }
            "savetxt.csv" => {
                assert_eq!(found.len(), truth.len());
                for (line, truth) in found.iter().zip(&truth) {
                    for (x, truth) in line.split(',').zip(truth.split(',')) {
                        let [x, truth]: [f64; 2] = [x.parse()?, truth.parse()?];
                        assert!((x - truth).abs() < 1e-8, "{line}");
                    }
                }
            }
            _ => assert!(found == truth || found == narrow, "{name}"),
        }
    }
    let at_rest = list(&folder, "at-rest.npy", &[])?;
    assert!(
        at_rest.iter().all(|line| line.contains(",0.0,")),
        "{at_rest:?}"
    );
    assert!(
        at_rest.len() > 2 && at_rest.len() < truth.len(),
        "{at_rest:?}"
    );
    assert_eq!(list(&folder, "at-rest.npz", &[])?, at_rest);
    Ok(())
}

#[test]
fn errors_about_unreadable_files_name_a_remedy() -> Test {
    for (name, parts) in [
        ("integers.npy", ["<i8", "float64", "astype"]),
        (
            "savetxt-spaces.csv",
            ["line 1", "spaces", "delimiter=\",\""],
        ),
        ("savetxt-bare.csv", ["line 1", "no header", "header="]),
    ] {
        let input = data(name);
        let run = run(&[&input])?;
        run.expect_error(name, 1, &parts);
        run.expect_error(name, 1, &[&input]);
    }
    Ok(())
}

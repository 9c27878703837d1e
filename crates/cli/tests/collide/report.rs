//! Tests of the summary and the list of pairs of `carom collide`.

use crate::run::{CSV, Folder, PAIRS, Test, run, start};
use serde_json::Value;
use std::fs;

#[test]
fn numbers_in_the_list_read_back_unchanged() -> Test {
    let folder = Folder::new("round-trip")?;
    let mut text = String::from("x,y,z,radius,vx,vy,vz\n");
    let mut expected = Vec::new();
    for (k, scale) in [1e-12_f32, 1e-3, 1.0, 7e5, 3e11].into_iter().enumerate() {
        // Different pairs are far apart along y. The time of impact of a pair is about its gap divided by the
        // speed.
        let y = [0.0, 1e13, 2e13, 3e13, 4e13][k];
        let (x, speed) = (3.7 * scale, 2.9 * scale);
        text += &format!("0,{y},0,{scale},{speed},0,0\n{x},{y},0,{scale},0,0,0\n");
        let parsed = |x: f32| x.to_string().parse::<f64>();
        let radius = parsed(scale)?;
        let sphere = |x: f64| carom::HardSphere::new([x, y, 0.0], radius);
        let spheres = [
            sphere(0.0).with_velocity([parsed(speed)?, 0.0, 0.0]),
            sphere(parsed(x)?),
        ];
        let mut detector = carom::Detector::new(carom::Options::default())?;
        let touching = detector.detect(&carom::Step::new(&spheres, 1.0))?;
        let toi = touching.pairs.first().ok_or("they touch")?.toi;
        expected.push((2 * k, 2 * k + 1, toi));
    }
    let list = folder.pairs(&folder.file("scales.csv", text)?)?;
    let mut found = Vec::new();
    for row in list.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        let &[a, b, toi, depth] = fields.as_slice() else {
            return Err(row.into());
        };
        assert_eq!(depth, "0.0");
        found.push((
            a.parse::<usize>()?,
            b.parse::<usize>()?,
            toi.parse::<f64>()?,
        ));
    }
    assert_eq!(found, expected);
    Ok(())
}

#[test]
fn json_output_is_one_object_with_all_keys() -> Test {
    let folder = Folder::new("json")?;
    let input = folder.file("world.csv", CSV)?;
    let run = run(&[&input, "--backend", "cpu", "--json"])?;
    run.expect_success("--json");
    let object: Value = serde_json::from_str(&run.stdout)?;
    for key in ["candidates", "proxies", "levels", "grazing", "reason"] {
        assert!(!object[key].is_null(), "{key}: {object}");
    }
    assert_eq!(object["spheres"], 3);
    assert_eq!(object["pairs"], 1);
    assert_eq!(object["backend"], "cpu");
    assert!(
        object.get("adapter").is_some_and(Value::is_null),
        "{object}"
    );
    assert!(
        object["seconds"]
            .as_f64()
            .is_some_and(|seconds| seconds >= 0.0),
        "{object}"
    );
    let stages = object["stages"].as_array().ok_or("stages")?;
    assert!(!stages.is_empty(), "{object}");
    assert!(
        stages
            .iter()
            .all(|s| s["name"].is_string() && s["seconds"].is_number()),
        "{object}"
    );
    Ok(())
}

#[test]
fn the_summary_shows_ten_pairs() -> Test {
    let folder = Folder::new("summary")?;
    let rows: String = (0..12).map(|i| format!("{i},0,0,0.5\n")).collect();
    let input = folder.file("row.csv", format!("x,y,z,radius\n{rows}"))?;
    let run = run(&[&input, "--backend", "cpu"])?;
    run.expect_success("summary");
    for part in [
        "backend  cpu (",
        "spheres  12\n",
        "pairs    11 (11 touch at the start, 0 meet later)\n",
        "grazing  ",
        "seconds  ",
        "and 1 more",
    ] {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
    let starts_with_index = |line: &&str| {
        line.split_whitespace()
            .next()
            .is_some_and(|w| w.parse::<u32>().is_ok())
    };
    assert_eq!(
        run.stdout.lines().filter(starts_with_index).count(),
        10,
        "{}",
        run.stdout
    );
    Ok(())
}

#[test]
fn output_replaces_a_file_only_on_success_and_leaves_no_other_file() -> Test {
    let folder = Folder::new("output")?;
    let input = folder.file("world.csv", CSV)?;
    folder.file("pairs.csv", "what was there before\n")?;
    assert_eq!(folder.pairs(&input)?, PAIRS);
    let bad = folder.file("bad.csv", "x,y,z,radius\n0,0,0,-1\n")?;
    let output = folder.path("pairs.csv")?;
    run(&[&bad, "--backend", "cpu", "--output", &output])?.expect_error("bad", 1, &["line 2"]);
    assert_eq!(
        fs::read_to_string(&output)?,
        PAIRS,
        "a failed run must not change the old file"
    );
    let mut left: Vec<_> = fs::read_dir(&folder.0)?
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["bad.csv", "pairs.csv", "world.csv"]);
    Ok(())
}

#[test]
fn a_closed_pipe_is_not_an_error() -> Test {
    let folder = Folder::new("pipe")?;
    let input = folder.file("world.csv", CSV)?;
    let mut child = start(&[&input])?;
    drop(child.stdout.take());
    let output = child.wait_with_output()?;
    assert_eq!(String::from_utf8(output.stderr)?, "");
    assert_eq!(output.status.code(), Some(0));
    Ok(())
}

#[test]
fn no_progress_bar_is_written_to_a_pipe() -> Test {
    let mut child = start(&["-"])?;
    std::thread::sleep(std::time::Duration::from_millis(1300));
    std::io::Write::write_all(&mut child.stdin.take().ok_or("no input")?, CSV.as_bytes())?;
    let output = child.wait_with_output()?;
    assert_eq!(String::from_utf8(output.stderr)?, "");
    assert_eq!(output.status.code(), Some(0));
    Ok(())
}

//! Tests of `carom bench --gpu-report` on a small number of spheres. A software adapter is enough.
#![cfg(feature = "native")]

use std::error::Error;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

#[test]
fn the_report_has_all_scenes_checked_and_all_worlds_timed() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let output = Command::new(env!("CARGO_BIN_EXE_carom"))
        .args(["bench", "--backend", "gpu", "--n", "300", "--repeats", "1"])
        .arg("--bandwidth=100")
        .arg("--gpu-report")
        .arg(folder.path())
        .output()?;
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    let report: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("report.json"))?)?;
    assert!(report["adapter"].is_string());
    // Both files are written beside their places, and then renamed.
    assert_eq!(fs::read_dir(folder.path())?.count(), 2);
    let rows = |key: &str| report[key].as_array().cloned().unwrap_or_default();
    let (checks, timings) = (rows("checks"), rows("timings"));
    assert_eq!((checks.len(), timings.len()), (8, 10));
    let table = fs::read_to_string(folder.path().join("report.md"))?;
    let transfers = &report["transfers"];
    let uploads = transfers["uploads"].as_array().cloned().unwrap_or_default();
    assert_eq!(uploads.len(), 5);
    for time in uploads
        .iter()
        .map(|upload| &upload[1])
        .chain([&transfers["readback"]])
    {
        assert!(time.as_f64() > Some(0.0), "{transfers}");
    }
    assert!(table.contains("| to the mapped upload buffer, 16 threads |"));
    for check in checks {
        assert!(check["failure"].is_null(), "{check}");
        assert!(check["pairs"].as_u64() > Some(0), "{check}");
        let scene = check["scene"].as_str().unwrap_or_default();
        assert!(table.contains(&format!(
            "| {scene} | 300 | {} | identical |",
            check["pairs"]
        )));
    }
    for timing in timings {
        let measured = &timing["measured"];
        assert!(measured["median_seconds"].as_f64() > Some(0.0), "{timing}");
        assert!(measured["floor_seconds"].as_f64() > Some(0.0), "{timing}");
        assert!(measured["cpu_seconds"].as_f64() > Some(0.0), "{timing}");
        let kernels = measured["kernels"].as_array().cloned().unwrap_or_default();
        let has = |name: &str| {
            let of_name = |kernel: &&Value| kernel["name"] == name;
            kernels.iter().find(of_name).cloned().unwrap_or_default()
        };
        // The software adapter lavapipe has timestamps, so the time of each kernel is known.
        assert!(has("pairs")["seconds"].as_f64() > Some(0.0), "{timing}");
        assert_eq!(has("pairs")["workgroup_size"], 64, "{timing}");
        assert_eq!(has("plan")["dispatches"], 1, "{timing}");
    }
    Ok(())
}

#[test]
fn a_report_on_the_cpu_is_refused() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let output = Command::new(env!("CARGO_BIN_EXE_carom"))
        .args(["bench", "--backend", "cpu", "--gpu-report"])
        .arg(folder.path().join("out"))
        .output()?;
    assert_eq!(output.status.code(), Some(2));
    assert!(!folder.path().join("out").exists());
    Ok(())
}

/// Checks that a report ends at its time limit. Without the limit, the benchmark would repeat the
/// step of each world a million times, and run for hours.
#[test]
fn a_report_ends_at_its_time_limit_and_names_what_it_left_out() -> Result<(), Box<dyn Error>> {
    for (seconds, may_be_timed) in [("0", false), ("8", true)] {
        let folder = tempfile::tempdir()?;
        let start = Instant::now();
        let output = Command::new(env!("CARGO_BIN_EXE_carom"))
            .args([
                "bench",
                "--backend",
                "gpu",
                "--n",
                "300",
                "--repeats",
                "1000000",
            ])
            .args(["--within", seconds, "--gpu-report"])
            .arg(folder.path())
            .output()?;
        assert!(start.elapsed() < Duration::from_secs(120));
        assert_eq!(output.status.code(), Some(1));
        let report: Value =
            serde_json::from_str(&fs::read_to_string(folder.path().join("report.json"))?)?;
        let rows = |key: &str| report[key].as_array().cloned().unwrap_or_default();
        let table = fs::read_to_string(folder.path().join("report.md"))?;
        let is_named = |what: &str| table.contains(&format!("- {what}\n"));
        let is_left_out = |row: &Value| row["failure"] == "left out because of the time limit";
        for check in rows("checks") {
            let what = format!(
                "the comparison of the lists of `{}`",
                check["scene"].as_str().unwrap_or_default()
            );
            assert_eq!(is_left_out(&check), is_named(&what), "{check}");
            assert!(may_be_timed || is_left_out(&check), "{check}");
        }
        let timings = rows("timings");
        assert_eq!((rows("checks").len(), timings.len()), (8, 10));
        for timing in &timings {
            let world = format!(
                "`{}` with 300 spheres",
                timing["scene"].as_str().unwrap_or_default()
            );
            assert_ne!(
                is_left_out(timing),
                timing["measured"].is_object(),
                "{timing}"
            );
            assert!(may_be_timed || is_left_out(timing), "{timing}");
            if is_left_out(timing) {
                assert!(is_named(&world), "{timing}");
                continue;
            }
            let calls = timing["measured"]["calls"].as_u64().unwrap_or_default();
            assert!(calls > 0, "{timing}");
            let missing = format!("{} of 1000000 calls of {world}", 1_000_000 - calls);
            assert!(is_named(&missing), "{timing}");
            let has_kernels = timing["measured"]["kernels"].is_array();
            assert_ne!(has_kernels, is_named(&format!("the kernels of {world}")));
            let has_cpu = timing["measured"]["cpu_seconds"].is_f64();
            assert_ne!(has_cpu, is_named(&format!("the CPU on {world}")));
        }
        assert!(is_left_out(&timings[9]));
    }
    Ok(())
}

//! Tests of `carom bench --gpu-report` on a small number of spheres. A software adapter is enough.
#![cfg(feature = "native")]

use std::error::Error;
use std::fs;
use std::process::Command;

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
    let rows = |key: &str| report[key].as_array().cloned().unwrap_or_default();
    let (checks, timings) = (rows("checks"), rows("timings"));
    assert_eq!((checks.len(), timings.len()), (8, 8));
    let table = fs::read_to_string(folder.path().join("report.md"))?;
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
